// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is not in the direct map is written to a disk and read from it, by the page cache and by the
 * device itself. Once more on a kernel that has all transfers go through bounce buffers.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "pages.h"
#include "tap.h"
#include "xpfo.h"

#define PAGES 256
#define BYTES ((size_t) PAGES * XPFO_PAGE_SIZE)
#define FILENAME "/var/tmp/xpfo-io"

static uint8_t *source, *target;

static void read_back(const char *how) {
        tap_ok(pages_are_intact(target, PAGES) && pages_are_intact(source, PAGES), "%s", how);
        tap_ok(xpfo_all_protected(target, PAGES) && xpfo_all_protected(source, PAGES),
               "%s: all stays protected", how);
        memset(target, 0, BYTES);
}

static int open_file(int flags) {
        int fd = open(FILENAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | flags, 0600);

        if (fd < 0)
                tap_bail_out("no file");

        return fd;
}

/* Nothing of the file is in the page cache. */
static void forget(int fd) {
        if (fsync(fd) < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
                tap_bail_out("cannot write back");
}

static void test_page_cache(void) {
        int fd = open_file(0);
        uint8_t *map;

        tap_ok(pwrite(fd, source, BYTES, 0) == (ssize_t) BYTES, "a file is written");
        forget(fd);
        tap_ok(pread(fd, target, BYTES, 0) == (ssize_t) BYTES, "and read");
        read_back("by the page cache");

        map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
        tap_ok(map != MAP_FAILED && pages_are_intact(map, PAGES) && xpfo_none_protected(map, PAGES),
               "pages of files are not protected");
        for (size_t i = 0; i < PAGES; i++)
                *(volatile uint8_t *) (map + i * XPFO_PAGE_SIZE) = source[i * XPFO_PAGE_SIZE];
        tap_ok(pages_are_intact(map, PAGES) && xpfo_all_protected(map, PAGES), "private copies of them are");
        (void) munmap(map, BYTES);
        (void) close(fd);
}

static void test_direct(void) {
        int fd = open_file(O_DIRECT);
        struct iovec iov[PAGES];

        tap_ok(pwrite(fd, source, BYTES, 0) == (ssize_t) BYTES, "the disk reads what is written");
        tap_ok(pread(fd, target, BYTES, 0) == (ssize_t) BYTES, "and writes what is read");
        read_back("O_DIRECT");

        /* Now the pages are not next to each other. */
        for (size_t i = 0; i < PAGES; i++)
                iov[i] = (struct iovec) { source + (PAGES - 1 - i) * XPFO_PAGE_SIZE, XPFO_PAGE_SIZE };
        tap_ok(pwritev(fd, iov, PAGES, 0) == (ssize_t) BYTES, "page by page it is written");
        for (size_t i = 0; i < PAGES; i++)
                iov[i].iov_base = target + (PAGES - 1 - i) * XPFO_PAGE_SIZE;
        tap_ok(preadv(fd, iov, PAGES, 0) == (ssize_t) BYTES, "and read");
        read_back("O_DIRECT of many pages");

        tap_ok(pwrite(fd, source, BYTES, 0) == (ssize_t) BYTES &&
               pread(fd, target + 512, BYTES - 512, 512) == (ssize_t) BYTES - 512 &&
               pread(fd, target, 512, 0) == 512, "and sectors inside of pages");
        read_back("O_DIRECT of sectors");
        (void) close(fd);
}

static void aio(aio_context_t context, int fd, uint16_t opcode, uint8_t *data) {
        struct iocb iocb = {
                .aio_fildes = (uint32_t) fd,
                .aio_lio_opcode = opcode,
                .aio_buf = (uintptr_t) data,
                .aio_nbytes = BYTES,
        }, *iocbs = &iocb;
        struct io_event event = {};

        tap_ok(syscall(SYS_io_submit, context, 1, &iocbs) == 1 &&
               syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1 && event.res == (int64_t) BYTES,
               "AIO %s", opcode == IOCB_CMD_PWRITE ? "writes" : "reads");
}

static void test_aio(void) {
        aio_context_t context = 0;
        int fd = open_file(O_DIRECT);

        if (!tap_ok(syscall(SYS_io_setup, 1, &context) == 0, "io_setup(2)"))
                return;

        aio(context, fd, IOCB_CMD_PWRITE, source);
        aio(context, fd, IOCB_CMD_PREAD, target);
        read_back("AIO");
        (void) syscall(SYS_io_destroy, context);
        (void) close(fd);
}

/* A ring with one entry. */
typedef struct Uring {
        int fd;
        struct io_uring_params params;
        uint8_t *sq, *cq;
        struct io_uring_sqe *sqe;
} Uring;

static void *uring_map(const Uring *u, off_t what) {
        return mmap(NULL, XPFO_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, u->fd, what);
}

static bool uring_open(Uring *u) {
        *u = (Uring) {};
        u->fd = (int) syscall(SYS_io_uring_setup, 1, &u->params);
        if (u->fd < 0)
                return false;

        u->sq = uring_map(u, IORING_OFF_SQ_RING);
        u->cq = uring_map(u, IORING_OFF_CQ_RING);
        u->sqe = uring_map(u, IORING_OFF_SQES);
        return u->sq != MAP_FAILED && u->cq != MAP_FAILED && u->sqe != MAP_FAILED;
}

/* What one operation says: bytes, or a negative errno. */
static int uring_do(Uring *u, const struct io_uring_sqe *sqe) {
        uint32_t *tail = (uint32_t *) (u->sq + u->params.sq_off.tail);
        uint32_t *head = (uint32_t *) (u->cq + u->params.cq_off.head);
        struct io_uring_cqe *cqes = (struct io_uring_cqe *) (u->cq + u->params.cq_off.cqes);
        uint32_t mask = *(uint32_t *) (u->cq + u->params.cq_off.ring_mask);
        int res;

        *u->sqe = *sqe;
        ((uint32_t *) (u->sq + u->params.sq_off.array))[0] = 0;
        __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
        if (syscall(SYS_io_uring_enter, u->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
                return -errno;

        res = cqes[*head & mask].res;
        __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
        return res;
}

static void test_io_uring(void) {
        const struct iovec buffers[] = { { source, BYTES }, { target, BYTES } };
        struct io_uring_sqe sqe = { .len = BYTES };
        Uring u;

        if (!tap_ok(uring_open(&u), "io_uring_setup(2)"))
                return;

        tap_ok(syscall(SYS_io_uring_register, u.fd, IORING_REGISTER_BUFFERS, buffers, 2) == 0,
               "buffers are registered");
        for (size_t direct = 0; direct < 2; direct++) {
                sqe.fd = open_file(direct ? O_DIRECT : 0);
                sqe.opcode = IORING_OP_WRITE_FIXED;
                sqe.addr = (uintptr_t) source;
                sqe.buf_index = 0;
                tap_ok(uring_do(&u, &sqe) == (int) BYTES, "io_uring writes");
                sqe.opcode = IORING_OP_READ_FIXED;
                sqe.addr = (uintptr_t) target;
                sqe.buf_index = 1;
                tap_ok(uring_do(&u, &sqe) == (int) BYTES, "io_uring reads");
                read_back(direct ? "io_uring with O_DIRECT" : "io_uring");
                (void) close(sqe.fd);
        }
        (void) close(u.fd);
}

/* Pages that are next to each other, of which some are protected and some are not, in one transfer. */
static void test_mixed(Policy **p) {
        uint8_t *plain;
        int fd = open_file(O_DIRECT);
        struct iovec iov[PAGES];

        *p = policy_free(*p);
        plain = xpfo_map(PAGES);
        tap_ok(xpfo_none_protected(plain, PAGES), "memory without protection");
        for (size_t i = 0; i < PAGES; i++)
                iov[i] = (struct iovec) { (i % 2 ? plain : source) + i * XPFO_PAGE_SIZE, XPFO_PAGE_SIZE };
        tap_ok(pwritev(fd, iov, PAGES, 0) == (ssize_t) BYTES, "is written with other");
        memset(plain, 0, BYTES);
        for (size_t i = 0; i < PAGES; i++)
                iov[i].iov_base = (i % 2 ? target : plain) + i * XPFO_PAGE_SIZE;
        tap_ok(preadv(fd, iov, PAGES, 0) == (ssize_t) BYTES, "and read");
        for (size_t i = 0; i < PAGES; i += 2)
                memcpy(target + i * XPFO_PAGE_SIZE, plain + i * XPFO_PAGE_SIZE, XPFO_PAGE_SIZE);
        read_back("of both kinds");
        (void) munmap(plain, BYTES);
        (void) close(fd);
}

int main(void) {
        _policy_cleanup_ Policy *p = xpfo_protect_all();

        source = xpfo_map(PAGES);
        target = xpfo_map(PAGES);
        memset(target, 0, BYTES);

        test_page_cache();
        test_direct();
        test_aio();
        test_io_uring();
        test_mixed(&p);
        (void) unlink(FILENAME);
        tap_is(xpfo_counter("failed"), 0, "nothing failed");
        return tap_done();
}
