// SPDX-License-Identifier: GPL-2.0-only
/*
 * memfd_secret(2): its pages hold what was written, the kernel cannot read them, and all of them come back.
 * Whatever policy is attached.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>

#include "child.h"
#include "secretmem.h"
#include "sysfs.h"
#include "tap.h"

#define PAGES 700
#define CHILDREN 4

static uint64_t held(void) {
        uint64_t pages;

        if (sysfs_read("directmap/secretmem_pages", &pages) < 0)
                tap_bail_out("no counters");

        return pages;
}

/* Reads this process's memory by way of the kernel. */
static int read_by_kernel(const void *from, uint8_t to[static SECRETMEM_PAGE_SIZE]) {
        int fd, r;

        fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                tap_bail_out("no /proc");

        r = pread(fd, to, SECRETMEM_PAGE_SIZE, (uintptr_t) from) < 0 ? -errno : 0;
        (void) close(fd);
        return r;
}

static void test_kernel_cannot_read(const Secret *s) {
        uint8_t plain[SECRETMEM_PAGE_SIZE], page[SECRETMEM_PAGE_SIZE] = {};

        memset(plain, 0x5a, sizeof(plain));
        tap_is_errno(read_by_kernel(plain, page), 0, "plain memory can be read by way of the kernel");
        tap_ok(memcmp(plain, page, sizeof(page)) == 0, "and is what it is");
        tap_is_errno(read_by_kernel(s->data, page), -EIO, "secret memory cannot");
}

static void test_one_process(void) {
        _secretmem_cleanup_ Secret s = {};
        uint64_t before = held();

        if (!tap_is_errno(secretmem_map(PAGES, &s), 0, "a secret file is mapped"))
                return;

        tap_is(held(), before, "which takes no page yet");
        secretmem_fill(&s);
        tap_is(held(), before + PAGES, "each page written to is taken");
        tap_ok(secretmem_is_intact(&s), "and holds what was written");
        test_kernel_cannot_read(&s);

        tap_ok(ftruncate(s.fd, SECRETMEM_PAGE_SIZE) < 0 && errno == EINVAL, "it cannot be truncated");
        tap_ok(secretmem_is_intact(&s), "and is as it was");
        secretmem_unmap(&s);
        tap_is_errno(sysfs_wait("directmap/secretmem_pages", before), 0, "and all pages come back");
}

static void test_fork(void) {
        _secretmem_cleanup_ Secret s = {};
        uint64_t before = held();
        pid_t pid;

        if (!tap_is_errno(secretmem_map(PAGES, &s), 0, "one is mapped before a fork"))
                return;

        pid = child_fork();
        if (pid == 0) {
                secretmem_fill(&s);
                _exit(EXIT_SUCCESS);
        }
        tap_ok(child_passed(pid), "the child writes to it");
        tap_ok(secretmem_is_intact(&s), "the parent reads it");
        tap_is(held(), before + PAGES, "and the pages stay with the parent");
        secretmem_unmap(&s);
        tap_is_errno(sysfs_wait("directmap/secretmem_pages", before), 0, "until it lets go");
}

/* All fault the same pages in, each from another end. */
static void test_race(void) {
        _secretmem_cleanup_ Secret s = {};
        pid_t children[CHILDREN];
        uint64_t before = held();
        bool passed = true;

        if (!tap_is_errno(secretmem_map(PAGES, &s), 0, "one is mapped for many"))
                return;

        for (size_t i = 0; i < CHILDREN; i++) {
                children[i] = child_fork();
                if (children[i] > 0)
                        continue;

                for (size_t k = 0; k < PAGES; k++) {
                        size_t page = (i % 2 ? PAGES - 1 - k : k) * SECRETMEM_PAGE_SIZE;

                        s.data[page + i] = i + 1;
                }
                _exit(EXIT_SUCCESS);
        }
        for (size_t i = 0; i < CHILDREN; i++)
                passed &= child_passed(children[i]);
        tap_ok(passed, "they write to it at once");
        tap_is(held(), before + PAGES, "each page is taken once");

        for (size_t k = 0; k < PAGES; k++)
                for (size_t i = 0; i < CHILDREN; i++)
                        passed &= s.data[k * SECRETMEM_PAGE_SIZE + i] == i + 1;
        tap_ok(passed, "and holds what all of them wrote");
}

static void test_killed(void) {
        const struct timespec moment = { .tv_nsec = 10000000 };
        uint64_t before = held();
        Secret s;
        pid_t pid;

        pid = child_fork();
        if (pid == 0) {
                if (secretmem_map(PAGES, &s) < 0)
                        _exit(EXIT_FAILURE);
                for (;;)
                        secretmem_fill(&s);
        }
        while (held() == before)
                (void) nanosleep(&moment, NULL);
        (void) kill(pid, SIGKILL);
        tap_ok(child_died_of(pid, SIGKILL), "a process is killed while it takes pages");
        tap_is_errno(sysfs_wait("directmap/secretmem_pages", before), 0, "all pages come back");
}

int main(void) {
        uint64_t before = held();

        if (secretmem_allow() < 0)
                tap_bail_out("cannot raise RLIMIT_MEMLOCK");

        test_one_process();
        test_fork();
        test_race();
        test_killed();
        tap_is_errno(sysfs_wait("directmap/secretmem_pages", before), 0, "nothing is left");
        return tap_done();
}
