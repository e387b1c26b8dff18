// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory management moves memory that is not in the direct map as it moves any other, and what takes its
 * place is not in the direct map.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/swap.h>

#include "cgroup.h"
#include "child.h"
#include "pages.h"
#include "sysfs.h"
#include "tap.h"
#include "xpfo.h"

#define PAGES 2048
#define BYTES ((size_t) PAGES * XPFO_PAGE_SIZE)
#define HUGE_PAGES 512
#define HUGE ((size_t) HUGE_PAGES * XPFO_PAGE_SIZE)
#define SWAP_FILE "/var/tmp/xpfo-swap"

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static int write_text(const char *path, const char *text) {
        int fd = open(path, O_WRONLY | O_CLOEXEC), r;

        if (fd < 0)
                return -errno;

        r = write(fd, text, strlen(text)) < 0 ? -errno : 0;
        (void) close(fd);
        return r;
}

static bool is_protected(const uint8_t *data, size_t n) {
        return pages_are_intact(data, n) && xpfo_all_protected(data, n);
}

static size_t count_present(const uint8_t *data, size_t n) {
        size_t present = 0;

        for (size_t i = 0; i < n; i++)
                present += xpfo_pfn(0, data + i * XPFO_PAGE_SIZE) != 0;

        return present;
}

static void swap_on(void) {
        if (system("dd if=/dev/zero of=" SWAP_FILE " bs=1M count=64 status=none && chmod 600 " SWAP_FILE
                   " && mkswap -q " SWAP_FILE) != 0 ||
            swapon(SWAP_FILE, 0) < 0)
                tap_bail_out("no swap");
}

static void test_swap(const char *how) {
        uint8_t *data = xpfo_map(PAGES);

        tap_ok(madvise(data, BYTES, MADV_PAGEOUT) == 0 && count_present(data, PAGES) < PAGES / 2,
               "%s: memory is swapped out", how);
        tap_ok(is_protected(data, PAGES), "and comes back as it was, protected");

        (void) madvise(data, BYTES, MADV_PAGEOUT);
        tap_ok(count_present(data, PAGES) < PAGES / 2, "and out again");
        tap_ok(swapoff(SWAP_FILE) == 0, "whoever says that all has to come back");
        tap_ok(is_protected(data, PAGES), "it is as it was, protected");
        (void) munmap(data, BYTES);
        (void) swapon(SWAP_FILE, 0);
}

static void test_shared_swap(void) {
        uint8_t *data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        pages_fill(data, PAGES);
        tap_ok(madvise(data, BYTES, MADV_PAGEOUT) == 0 && count_present(data, PAGES) < PAGES / 2,
               "shared memory is swapped out");
        tap_ok(is_protected(data, PAGES), "and comes back as it was, protected");
        (void) munmap(data, BYTES);
}

static void test_compaction(void) {
        uint8_t *data = xpfo_map((size_t) 4 * PAGES);

        /* Free every other page, so that there is something to do. */
        for (size_t i = 0; i < 4 * PAGES; i += 2)
                (void) madvise(data + i * XPFO_PAGE_SIZE, XPFO_PAGE_SIZE, MADV_DONTNEED);
        tap_is_errno(write_text("/proc/sys/vm/compact_memory", "1"), 0, "memory is compacted");
        for (size_t i = 0; i < 4 * PAGES; i += 2)
                data[i * XPFO_PAGE_SIZE] = 1;
        pages_fill(data, (size_t) 4 * PAGES);
        tap_ok(is_protected(data, (size_t) 4 * PAGES), "all is as it was, protected");
        (void) munmap(data, 4 * BYTES);
}

/* Memory that begins where a huge page can. */
static uint8_t *map_huge(int flags) {
        uint8_t *data = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE, flags, -1, 0);

        if (data == MAP_FAILED)
                tap_bail_out("no memory");

        return (uint8_t *) (((uintptr_t) data + HUGE - 1) / HUGE * HUGE);
}

static void test_huge_pages(void) {
        uint8_t *data = map_huge(MAP_PRIVATE | MAP_ANONYMOUS);

        tap_ok(madvise(data, HUGE, MADV_HUGEPAGE) == 0, "a huge page is asked for");
        pages_fill(data, HUGE_PAGES);
        tap_ok(is_protected(data, HUGE_PAGES), "it is protected");
        tap_ok(madvise(data + HUGE / 2, XPFO_PAGE_SIZE, MADV_DONTNEED) == 0, "a page of it is given back");
        tap_ok(is_protected(data, HUGE_PAGES / 2), "what is left is as it was");
        tap_ok(munmap(data, HUGE / 4) == 0, "and a quarter");
        tap_ok(xpfo_all_protected(data + HUGE / 4, HUGE_PAGES / 4), "the rest stays protected");
        (void) munmap(data + HUGE / 4, HUGE - HUGE / 4);
}

static void test_collapse(int flags, const char *what) {
        uint8_t *data = map_huge(flags | MAP_ANONYMOUS);

        (void) madvise(data, HUGE, MADV_NOHUGEPAGE);
        pages_fill(data, HUGE_PAGES);
        (void) madvise(data, HUGE, MADV_HUGEPAGE);
        tap_ok(madvise(data, HUGE, MADV_COLLAPSE) == 0, "pages of %s memory become a huge one", what);
        tap_ok(is_protected(data, HUGE_PAGES), "which is protected");
        (void) munmap(data, HUGE);
}

static uint64_t ksm_shared(void) {
        FILE *f = fopen("/sys/kernel/mm/ksm/pages_sharing", "r");
        uint64_t n = 0;

        if (!f || fscanf(f, "%" SCNu64, &n) != 1)
                tap_bail_out("no KSM");
        (void) fclose(f);
        return n;
}

static void test_ksm(void) {
        uint8_t *data = xpfo_map(PAGES);

        for (size_t i = 1; i < PAGES; i++)
                memcpy(data + i * XPFO_PAGE_SIZE, data, XPFO_PAGE_SIZE);
        tap_ok(madvise(data, BYTES, MADV_MERGEABLE) == 0, "equal pages can be merged");
        (void) write_text("/sys/kernel/mm/ksm/pages_to_scan", "10000");
        (void) write_text("/sys/kernel/mm/ksm/run", "1");
        for (size_t i = 0; i < 600 && ksm_shared() < PAGES / 2; i++)
                (void) usleep(100000);
        tap_ok(ksm_shared() >= PAGES / 2, "and are");
        tap_ok(xpfo_all_protected(data, PAGES), "they are protected");
        pages_fill(data, PAGES);
        tap_ok(is_protected(data, PAGES), "and so are the copies of who writes to them");
        (void) write_text("/sys/kernel/mm/ksm/run", "2");
        (void) munmap(data, BYTES);
}

static void test_poison(void) {
        uint8_t *data = xpfo_map(PAGES);
        pid_t pid = child_fork();

        if (pid == 0) {
                data = xpfo_map(1);
                if (madvise(data, XPFO_PAGE_SIZE, MADV_HWPOISON) < 0)
                        _exit(EXIT_FAILURE);
                data[0] = 1;
                _exit(EXIT_SUCCESS);
        }
        tap_ok(child_died_of(pid, SIGBUS), "who has a page with an error is told");
        tap_ok(madvise(data, 16 * XPFO_PAGE_SIZE, MADV_SOFT_OFFLINE) == 0,
               "pages that may get errors are replaced");
        tap_ok(is_protected(data, PAGES), "and the others are as they were");
        (void) munmap(data, BYTES);
}

/* What cannot be protected is told. */
static void test_hugetlb(void) {
        uint64_t unprotected = xpfo_counter("unprotected");
        uint8_t *data;

        if (write_text("/proc/sys/vm/nr_hugepages", "2") < 0)
                tap_bail_out("no hugetlbfs");
        data = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
        if (!tap_ok(data != MAP_FAILED, "a page of hugetlbfs is to be had"))
                return;
        pages_fill(data, HUGE_PAGES);
        tap_ok(xpfo_none_protected(data, HUGE_PAGES), "it is not protected");
        tap_is(xpfo_counter("unprotected"), unprotected + HUGE_PAGES, "which is counted");
        (void) munmap(data, HUGE);
        (void) write_text("/proc/sys/vm/nr_hugepages", "0");
}

static void test_sleep(void) {
        tap_is_errno(write_text("/sys/power/state", "disk"), -EBUSY,
                     "there is no hibernation while memory is protected");
}

int main(void) {
        _policy_cleanup_ Policy *p = xpfo_protect_all();

        swap_on();
        test_swap("disk");
        test_shared_swap();
        tap_is_errno(write_text("/sys/module/zswap/parameters/enabled", "1"), 0, "zswap is turned on");
        test_swap("zswap");
        test_shared_swap();
        (void) swapoff(SWAP_FILE);
        (void) unlink(SWAP_FILE);
        test_compaction();
        test_huge_pages();
        test_collapse(MAP_PRIVATE, "private");
        test_collapse(MAP_SHARED, "shared");
        test_ksm();
        test_poison();
        test_hugetlb();
        test_sleep();
        tap_ok(!policy_was_dropped(p, 0), "the policy was there all the time");
        return tap_done();
}
