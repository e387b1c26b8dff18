// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pages.h"
#include "sysfs.h"
#include "tap.h"
#include "xpfo.h"

#define PROBE "/sys/kernel/debug/memsec/xpfo_probe"

/* Of an entry of /proc/PID/pagemap. */
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_PFN ((UINT64_C(1) << 55) - 1)

uint64_t xpfo_pfn(pid_t pid, const void *address) {
        char path[64] = "/proc/self/pagemap";
        uint64_t entry = 0;
        off_t at = (off_t) ((uintptr_t) address / XPFO_PAGE_SIZE * sizeof(entry));
        int fd;

        if (pid != 0)
                (void) snprintf(path, sizeof(path), "/proc/%d/pagemap", (int) pid);

        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                tap_bail_out("no pagemap");

        if (pread(fd, &entry, sizeof(entry), at) != sizeof(entry))
                entry = 0;
        (void) close(fd);
        return entry & PAGEMAP_PRESENT ? entry & PAGEMAP_PFN : 0;
}

int xpfo_pfn_is_readable(uint64_t pfn) {
        static int fd = -1;
        char text[32];
        int n;

        if (fd < 0)
                fd = open(PROBE, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                tap_bail_out("no " PROBE);

        n = snprintf(text, sizeof(text), "%" PRIu64 "\n", pfn);
        if (pwrite(fd, text, (size_t) n, 0) >= 0)
                return 1;

        return errno == EFAULT ? 0 : -errno;
}

int xpfo_is_readable(const void *address) {
        uint64_t pfn = xpfo_pfn(0, address);

        return pfn == 0 ? -ENOENT : xpfo_pfn_is_readable(pfn);
}

static size_t count(const void *data, size_t n_pages, int readable) {
        size_t n = 0;

        for (size_t i = 0; i < n_pages; i++)
                n += xpfo_is_readable((const uint8_t *) data + i * XPFO_PAGE_SIZE) == readable;

        return n;
}

size_t xpfo_count_protected(const void *data, size_t n_pages) {
        return count(data, n_pages, 0);
}

bool xpfo_all_protected(const void *data, size_t n_pages) {
        return count(data, n_pages, 0) == n_pages;
}

bool xpfo_none_protected(const void *data, size_t n_pages) {
        return count(data, n_pages, 1) == n_pages;
}

uint8_t *xpfo_map(size_t n_pages) {
        uint8_t *data = mmap(NULL, n_pages * XPFO_PAGE_SIZE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (data == MAP_FAILED)
                tap_bail_out("no memory");

        pages_fill(data, n_pages);
        return data;
}

Policy *xpfo_protect_all(void) {
        Policy *p;

        if (policy_alone() < 0 || policy_run("protect", &p) < 0)
                tap_bail_out("cannot attach a policy");

        return p;
}

uint64_t xpfo_counter(const char *name) {
        char path[64];
        uint64_t value;

        (void) snprintf(path, sizeof(path), "xpfo/%s", name);
        if (sysfs_read(path, &value) < 0)
                tap_bail_out("no counters");

        return value;
}
