// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is not in the direct map goes where any other does: through pipes and sockets, to and from
 * other processes, into core dumps.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "child.h"
#include "pages.h"
#include "tap.h"
#include "xpfo.h"

#define PAGES 64
#define BYTES ((size_t) PAGES * XPFO_PAGE_SIZE)

static uint8_t *source, *target;

/* TARGET has become what SOURCE is, and both are protected; begins anew. */
static void copied(const char *how) {
        tap_ok(pages_are_intact(target, PAGES) && pages_are_intact(source, PAGES), "%s", how);
        tap_ok(xpfo_all_protected(target, PAGES) && xpfo_all_protected(source, PAGES),
               "%s: all stays protected", how);
        memset(target, 0, BYTES);
}

/* The write(2) of a child. */
static pid_t child_writes(int fd) {
        pid_t pid = child_fork();

        if (pid > 0)
                return pid;

        for (size_t done = 0; done < BYTES;) {
                ssize_t n = write(fd, source + done, BYTES - done);

                if (n <= 0)
                        _exit(EXIT_FAILURE);
                done += (size_t) n;
        }
        _exit(EXIT_SUCCESS);
}

static void read_all(int fd) {
        for (size_t done = 0; done < BYTES;) {
                ssize_t n = read(fd, target + done, BYTES - done);

                if (n <= 0)
                        break;
                done += (size_t) n;
        }
}

static void test_pipe(void) {
        int fds[2];
        pid_t pid;

        if (pipe2(fds, O_CLOEXEC) < 0)
                tap_bail_out("no pipe");

        pid = child_writes(fds[1]);
        read_all(fds[0]);
        copied("a pipe");
        tap_ok(child_passed(pid), "and it was all");
        (void) close(fds[0]);
        (void) close(fds[1]);
}

/* A pipe that has the pages themselves, read, copied to another one, and spliced to a file. */
static void test_vmsplice(void) {
        const struct iovec iov = { .iov_base = source, .iov_len = BYTES };
        int a[2], b[2], fd;

        if (pipe2(a, O_CLOEXEC) < 0 || pipe2(b, O_CLOEXEC) < 0 || fcntl(a[1], F_SETPIPE_SZ, 2 * BYTES) < 0 ||
            fcntl(b[1], F_SETPIPE_SZ, 2 * BYTES) < 0)
                tap_bail_out("no pipe");

        tap_ok(vmsplice(a[1], &iov, 1, 0) == (ssize_t) BYTES, "vmsplice(2)");
        tap_ok(tee(a[0], b[1], BYTES, 0) == (ssize_t) BYTES, "tee(2)");
        read_all(a[0]);
        copied("what is read from the pipe");

        fd = memfd_create("xpfo", MFD_CLOEXEC);
        tap_ok(splice(b[0], NULL, fd, NULL, BYTES, 0) == (ssize_t) BYTES, "splice(2)");
        (void) lseek(fd, 0, SEEK_SET);
        read_all(fd);
        copied("what is read from the file");

        (void) lseek(fd, 0, SEEK_SET);
        tap_ok(splice(fd, NULL, a[1], NULL, BYTES, 0) == (ssize_t) BYTES, "splice(2) from a file");
        read_all(a[0]);
        copied("what is read from the pipe then");
        for (size_t i = 0; i < 2; i++) {
                (void) close(a[i]);
                (void) close(b[i]);
        }
        (void) close(fd);
}

static void test_sockets(void) {
        int fds[2], fd = memfd_create("xpfo", MFD_CLOEXEC);
        off_t at = 0;
        pid_t pid;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 || fd < 0)
                tap_bail_out("no sockets");

        pid = child_writes(fds[1]);
        read_all(fds[0]);
        copied("a socket");
        tap_ok(child_passed(pid), "and it was all");

        (void) pwrite(fd, source, BYTES, 0);
        pid = child_fork();
        if (pid == 0) {
                while (at < (off_t) BYTES && sendfile(fds[1], fd, &at, BYTES - (size_t) at) > 0)
                        ;
                _exit(EXIT_SUCCESS);
        }
        read_all(fds[0]);
        copied("sendfile(2) of shared memory");
        tap_ok(child_passed(pid), "and it was all");
        (void) close(fds[0]);
        (void) close(fds[1]);
        (void) close(fd);
}

static void test_vectors(void) {
        int fd = memfd_create("xpfo", MFD_CLOEXEC);
        struct iovec iov[PAGES];

        for (size_t i = 0; i < PAGES; i++)
                iov[i] = (struct iovec) { source + i * XPFO_PAGE_SIZE, XPFO_PAGE_SIZE };
        tap_ok(pwritev(fd, iov, PAGES, 0) == (ssize_t) BYTES, "writev(2)");
        for (size_t i = 0; i < PAGES; i++)
                iov[i].iov_base = target + i * XPFO_PAGE_SIZE;
        tap_ok(preadv(fd, iov, PAGES, 0) == (ssize_t) BYTES, "readv(2)");
        copied("both");
        (void) close(fd);
}

/* A child that has SOURCE, and nothing in TARGET. */
static pid_t child_waits(void) {
        pid_t pid = child_fork();

        if (pid == 0) {
                source[0] ^= 0;
                for (;;)
                        (void) pause();
        }

        return pid;
}

static void test_other_process(void) {
        const struct iovec local = { .iov_base = target, .iov_len = BYTES };
        const struct iovec remote = { .iov_base = source, .iov_len = BYTES };
        off_t at = (off_t) (uintptr_t) target;
        pid_t pid = child_waits();
        char path[64];
        int fd;

        tap_ok(process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t) BYTES, "process_vm_readv(2)");
        copied("what is read");
        tap_ok(process_vm_writev(pid, &remote, 1, &local, 1, 0) == (ssize_t) BYTES, "process_vm_writev(2)");
        tap_ok(process_vm_readv(pid, &local, 1, &local, 1, 0) == (ssize_t) BYTES, "and read from there");
        copied("what was written");
        tap_ok(xpfo_pfn_is_readable(xpfo_pfn(pid, source)) == 0, "what the child has then is protected");

        (void) snprintf(path, sizeof(path), "/proc/%d/mem", (int) pid);
        fd = open(path, O_RDWR | O_CLOEXEC);
        tap_ok(pwrite(fd, source, BYTES, at) == (ssize_t) BYTES, "/proc/PID/mem is written");
        tap_ok(pread(fd, target, BYTES, at) == (ssize_t) BYTES, "and read");
        copied("/proc/PID/mem");
        tap_ok(xpfo_pfn_is_readable(xpfo_pfn(pid, target)) == 0, "what was written there is protected");
        (void) close(fd);

        tap_ok(ptrace(PTRACE_ATTACH, pid, NULL, NULL) == 0 && waitpid(pid, NULL, 0) == pid, "ptrace(2)");
        errno = 0;
        tap_ok(ptrace(PTRACE_PEEKDATA, pid, source + 8, NULL) == *(long *) (source + 8) && errno == 0,
               "peek");
        tap_ok(ptrace(PTRACE_POKEDATA, pid, target + 8, (void *) 4711) == 0 &&
               ptrace(PTRACE_PEEKDATA, pid, target + 8, NULL) == 4711, "poke");
        (void) kill(pid, SIGKILL);
        tap_ok(child_died_of(pid, SIGKILL), "the child goes");
}

static long futex(uint32_t *word, int op, uint32_t value) {
        return syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

static void test_futex(void) {
        uint32_t *word = mmap(NULL, XPFO_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                              0);
        pid_t pid;

        *word = 1;
        tap_ok(xpfo_all_protected(word, 1), "a shared word is protected");
        pid = child_fork();
        if (pid == 0) {
                while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == 1)
                        (void) futex(word, FUTEX_WAIT, 1);
                _exit(EXIT_SUCCESS);
        }
        (void) usleep(50000);
        __atomic_store_n(word, 2, __ATOMIC_SEQ_CST);
        (void) futex(word, FUTEX_WAKE, 1);
        tap_ok(child_passed(pid), "who waits for it to change is woken");
        tap_ok(futex((uint32_t *) source, FUTEX_WAIT_PRIVATE, ~*(uint32_t *) source) < 0 && errno == EAGAIN,
               "a private word is compared");
        (void) munmap(word, XPFO_PAGE_SIZE);
}

static void test_userfaultfd(void) {
        struct uffdio_api api = { .api = UFFD_API };
        uint8_t *data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct uffdio_register reg = {
                .range = { (uintptr_t) data, BYTES },
                .mode = UFFDIO_REGISTER_MODE_MISSING,
        };
        struct uffdio_copy copy = { .dst = (uintptr_t) data, .src = (uintptr_t) source, .len = BYTES / 2 };
        struct uffdio_zeropage zero = { .range = { (uintptr_t) data + BYTES / 2, BYTES / 2 } };
        int fd = (int) syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

        if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &reg) < 0)
                tap_bail_out("no userfaultfd");

        tap_ok(ioctl(fd, UFFDIO_COPY, &copy) == 0 && pages_are_intact(data, PAGES / 2),
               "userfaultfd(2) copies");
        tap_ok(xpfo_all_protected(data, PAGES / 2), "what it gives is protected");
        tap_ok(ioctl(fd, UFFDIO_ZEROPAGE, &zero) == 0 && pages_are_zero(data + BYTES / 2, PAGES / 2),
               "and zeroes");
        (void) munmap(data, BYTES);
        (void) close(fd);
}

/* Whether FILE has SOURCE somewhere, at the beginning of a page. */
static bool file_has_source(const char *file) {
        static uint8_t page[XPFO_PAGE_SIZE];
        int fd = open(file, O_RDONLY | O_CLOEXEC);
        size_t n = 0;

        if (fd < 0)
                return false;

        while (n < PAGES && read(fd, page, sizeof(page)) == (ssize_t) sizeof(page))
                n = memcmp(page, source + n * XPFO_PAGE_SIZE, sizeof(page)) == 0 ? n + 1 : 0;
        (void) close(fd);
        return n == PAGES;
}

static void test_core_dump(void) {
        const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
        char saved[256] = "", file[] = "/var/tmp/xpfo-core";
        FILE *f = fopen("/proc/sys/kernel/core_pattern", "r+");
        pid_t pid;

        if (!f || !fgets(saved, sizeof(saved), f))
                tap_bail_out("no core dumps");
        rewind(f);
        (void) fputs(file, f);
        (void) fflush(f);

        pid = child_fork();
        if (pid == 0) {
                (void) setrlimit(RLIMIT_CORE, &unlimited);
                abort();
        }
        tap_ok(child_died_of(pid, SIGABRT), "a process dumps core");
        tap_ok(file_has_source(file), "and its memory is in there");
        (void) unlink(file);
        rewind(f);
        (void) fputs(saved, f);
        (void) fclose(f);
}

int main(void) {
        _policy_cleanup_ Policy *p = xpfo_protect_all();

        source = xpfo_map(PAGES);
        target = xpfo_map(PAGES);
        memset(target, 0, BYTES);

        test_pipe();
        test_vmsplice();
        test_sockets();
        test_vectors();
        test_other_process();
        test_futex();
        test_userfaultfd();
        test_core_dump();
        tap_is(xpfo_counter("failed"), 0, "nothing failed");
        tap_ok(!policy_was_dropped(p, 0), "the policy was there all the time");
        return tap_done();
}
