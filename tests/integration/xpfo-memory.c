// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of whom the policy names is not in the kernel's direct map: its owner reads it, the kernel cannot.
 * Nor is what takes its place. Whoever gets the pages next sees nothing of it.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "child.h"
#include "pages.h"
#include "sysfs.h"
#include "tap.h"
#include "xpfo.h"

#define PAGES 2000
#define BYTES ((size_t) PAGES * XPFO_PAGE_SIZE)

static void test_protected(const uint8_t *before) {
        uint64_t pages = xpfo_counter("allocated");
        uint8_t *data = xpfo_map(PAGES);

        tap_ok(xpfo_all_protected(data, PAGES), "what is allocated now the kernel cannot read");
        tap_ok(pages_are_intact(data, PAGES), "its owner can");
        tap_ok(xpfo_counter("allocated") >= pages + PAGES, "and it is counted");
        tap_ok(xpfo_none_protected(before, PAGES), "what was allocated before stays as it was");
        tap_ok(munmap(data, BYTES) == 0, "it is freed");
        data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        tap_ok(pages_are_zero(data, PAGES), "and what comes next is zero");
        tap_ok(xpfo_all_protected(data, PAGES), "and protected");
        (void) munmap(data, BYTES);
}

static bool write_to_all(uint8_t *data) {
        for (size_t i = 0; i < PAGES; i++)
                data[i * XPFO_PAGE_SIZE] ^= 0xff;

        return xpfo_all_protected(data, PAGES);
}

static void test_fork(void) {
        uint8_t *data = xpfo_map(PAGES);
        uint64_t windows = xpfo_counter("windows");
        pid_t pid = child_fork();

        if (pid == 0)
                _exit(pages_are_intact(data, PAGES) && write_to_all(data) ? EXIT_SUCCESS : EXIT_FAILURE);
        tap_ok(child_passed(pid), "a child has what its parent had, and its copies are protected");
        tap_ok(xpfo_counter("windows") >= windows + PAGES, "for which windows were opened");
        tap_ok(pages_are_intact(data, PAGES), "the parent has it still");
        tap_ok(xpfo_all_protected(data, PAGES), "and protected");

        pid = child_fork();
        if (pid == 0) {
                (void) pause();
                _exit(EXIT_SUCCESS);
        }
        (void) write_to_all(data);
        tap_ok(write_to_all(data) && pages_are_intact(data, PAGES),
               "the copies that a parent gets are protected");
        (void) kill(pid, SIGKILL);
        tap_ok(child_died_of(pid, SIGKILL), "a child is killed");
        (void) munmap(data, BYTES);
}

static void test_exec(void) {
        static char text[100000];
        pid_t pid;

        memset(text, 'x', sizeof(text) - 1);
        pid = child_fork();
        if (pid == 0) {
                (void) setenv("TEXT", text, true);
                (void) execl("/bin/sh", "sh", "-c", "[ ${#TEXT} = 99999 ] && [ \"$1\" = \"$TEXT\" ]", "sh",
                             text, NULL);
                _exit(EXIT_FAILURE);
        }
        tap_ok(child_passed(pid), "a program gets its arguments and its environment");
}

static void test_moves(void) {
        uint8_t *data = xpfo_map(PAGES), *moved;

        tap_ok(mprotect(data, BYTES, PROT_READ) == 0 && pages_are_intact(data, PAGES) &&
               mprotect(data, BYTES, PROT_READ | PROT_WRITE) == 0, "mprotect(2)");
        moved = mremap(data, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
        tap_ok(moved != MAP_FAILED && pages_are_intact(moved, PAGES), "mremap(2)");
        tap_ok(xpfo_all_protected(moved, PAGES), "it stays protected");
        tap_ok(mlock(moved, BYTES) == 0 && pages_are_intact(moved, PAGES) && munlock(moved, BYTES) == 0,
               "mlock(2)");
        tap_ok(madvise(moved, BYTES, MADV_FREE) == 0, "MADV_FREE");
        pages_fill(moved, PAGES);
        tap_ok(pages_are_intact(moved, PAGES), "what is written then stays");
        tap_ok(madvise(moved, BYTES, MADV_DONTNEED) == 0 && pages_are_zero(moved, PAGES), "MADV_DONTNEED");
        (void) munmap(moved, 2 * BYTES);
}

static void test_shmem(void) {
        uint8_t *data, *copy = xpfo_map(PAGES);
        int fd = memfd_create("xpfo", MFD_CLOEXEC);

        if (fd < 0 || ftruncate(fd, (off_t) BYTES) < 0)
                tap_bail_out("no memfd");

        data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (data == MAP_FAILED)
                tap_bail_out("no mapping");
        pages_fill(data, PAGES);
        tap_ok(xpfo_all_protected(data, PAGES), "shared memory is protected");
        memset(copy, 0, BYTES);
        tap_ok(pread(fd, copy, BYTES, 0) == (ssize_t) BYTES && pages_are_intact(copy, PAGES),
               "read(2) reads it");
        memset(data, 0, BYTES);
        tap_ok(pwrite(fd, copy, BYTES, 0) == (ssize_t) BYTES && pages_are_intact(data, PAGES),
               "write(2) writes it");
        tap_ok(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 100, XPFO_PAGE_SIZE) == 0 &&
               data[99] == copy[99] && data[100] == 0 && data[XPFO_PAGE_SIZE + 99] == 0 &&
               data[XPFO_PAGE_SIZE + 100] == copy[XPFO_PAGE_SIZE + 100],
               "a hole is punched where it was asked for");
        tap_ok(ftruncate(fd, 100) == 0 && ftruncate(fd, (off_t) BYTES) == 0 && data[99] == copy[99] &&
               data[100] == 0, "and what was cut off is zero");
        (void) munmap(data, BYTES);
        tap_ok(pwrite(fd, copy, BYTES, 0) == (ssize_t) BYTES, "a file is written without a mapping");
        data = mmap(NULL, BYTES, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
        tap_ok(xpfo_all_protected(data, PAGES) && pages_are_intact(data, PAGES), "and is protected");
        (void) munmap(data, BYTES);
        (void) munmap(copy, BYTES);
        (void) close(fd);
}

/* Those who have memory when the policy goes keep it as it is. */
static void test_detach(Policy *p) {
        uint8_t *data = xpfo_map(PAGES), *next;

        (void) policy_free(p);
        tap_ok(xpfo_all_protected(data, PAGES) && pages_are_intact(data, PAGES),
               "without the policy what is protected stays so");
        tap_is_errno(sysfs_wait("xpfo/pool_pages", 0), 0, "and the pools get empty");
        (void) munmap(data, BYTES);
        tap_is_errno(sysfs_wait("xpfo/pool_pages", 0), 0, "what is freed does not stay in them");
        next = xpfo_map(PAGES);
        tap_ok(xpfo_none_protected(next, PAGES), "and new memory is as ever");
        (void) munmap(next, BYTES);
}

static void test_reuse(void) {
        uint8_t *data = mmap(NULL, 4 * BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

        tap_ok(pages_are_zero(data, (size_t) 4 * PAGES), "in which there is nothing of it");
        (void) munmap(data, 4 * BYTES);
}

int main(void) {
        uint8_t *before;
        Policy *p;

        if (policy_alone() < 0)
                tap_bail_out("cannot stop memsecd");

        before = xpfo_map(PAGES);
        /* khugepaged could take it, and what it makes later is protected. */
        (void) madvise(before, BYTES, MADV_NOHUGEPAGE);
        tap_ok(xpfo_none_protected(before, PAGES), "without a policy the kernel can read all");
        p = xpfo_protect_all();
        test_protected(before);
        test_fork();
        test_exec();
        test_moves();
        test_shmem();
        test_detach(p);
        test_reuse();
        return tap_done();
}
