// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/memsec_keyid: memory under a KeyID is one's own, holds what was written and goes when nobody has it;
 * what would corrupt it or asks for nonsense is refused. Whatever policy is attached.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <uapi/linux/memsec_keyid.h>

#include "child.h"
#include "keyid.h"
#include "sysfs.h"
#include "tap.h"

#define PAGES 300
#define MAX_KEYIDS 64
#define NOBODY 65534

/* One that was given up is free or dirty as soon as its pages are counted. */
static void wait_until_given_up(void) {
        tap_is_errno(sysfs_wait("keyid/used_pages", 0), 0, "no page carries a KeyID");
        tap_is_errno(sysfs_wait("keyid/keyids_retiring", 0), 0, "and each could be taken");
}

static uint64_t keys_made(void) {
        uint64_t count;

        if (sysfs_read("emulation/keyid/pconfig_count", &count) < 0)
                tap_bail_out("KeyIDs are not modelled");

        return count;
}

static void test_one(void) {
        _keyid_cleanup_ Keyid k = {};
        uint64_t allocated = keyid_counter("allocated"), keys = keys_made();

        if (!tap_is_errno(keyid_map(PAGES, &k), 0, "memory under a KeyID is mapped"))
                return;
        tap_is(keys_made(), keys + 1, "which has a new key");

        tap_ok(keyid_number(k.fd) > 0, "the KeyID has a number");
        tap_is(keyid_bytes(k.fd), 0, "it has no memory yet");
        tap_ok(pages_are_zero(k.data, PAGES), "it begins as zeros");
        tap_is(keyid_bytes(k.fd), PAGES * PAGES_SIZE, "what is touched it has");
        tap_ok(keyid_counter("allocated") >= allocated + PAGES, "and is counted");
        pages_fill(k.data, PAGES);
        tap_ok(pages_are_intact(k.data, PAGES), "it holds what was written");

        tap_is_errno(keyid_discard(k.fd, PAGES_SIZE, PAGES_SIZE), 0, "a page is discarded");
        tap_is(keyid_bytes(k.fd), (PAGES - 1) * PAGES_SIZE, "which it has no more");
        tap_ok(pages_are_zero(k.data + PAGES_SIZE, 1), "and finds zeros instead");
        tap_ok(pages_are_intact(k.data, 1), "the one before is as it was");
        keyid_unmap(&k);
        wait_until_given_up();
}

/* The file goes on when its first owner is gone. */
static void test_shared(void) {
        _keyid_cleanup_ Keyid k = {};
        pid_t pid;

        if (!tap_is_errno(keyid_map(PAGES, &k), 0, "memory is mapped before a fork"))
                return;

        pid = child_fork();
        if (pid == 0) {
                Keyid other;

                if (keyid_map_file(k.fd, PAGES, &other) < 0)
                        _exit(EXIT_FAILURE);
                pages_fill(other.data, PAGES);
                _exit(pages_are_intact(k.data, PAGES) ? EXIT_SUCCESS : EXIT_FAILURE);
        }
        tap_ok(child_passed(pid), "the child writes to it, by a mapping of its own");
        tap_ok(pages_are_intact(k.data, PAGES), "the parent reads it");
}

static void send_fd(int sock, int fd) {
        char control[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
        struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
        struct msghdr msg = {
                .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
        };
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof(int));
        if (sendmsg(sock, &msg, 0) != 1)
                tap_bail_out("cannot send a file");
}

static int receive_fd(int sock) {
        char control[CMSG_SPACE(sizeof(int))], byte;
        struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
        struct msghdr msg = {
                .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
        };
        int fd;

        if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&msg))
                return -1;

        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
        return fd;
}

static void receive_and_check(int sock) {
        Keyid k;

        if (keyid_map_file(receive_fd(sock), PAGES, &k) < 0)
                _exit(EXIT_FAILURE);
        _exit(pages_are_intact(k.data, PAGES) ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void test_sent(void) {
        Keyid k;
        int socks[2];
        pid_t pid;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0)
                tap_bail_out("no sockets");

        pid = child_fork();
        if (pid == 0)
                receive_and_check(socks[1]);

        if (!tap_is_errno(keyid_map(PAGES, &k), 0, "memory is mapped to be sent"))
                return;
        pages_fill(k.data, PAGES);
        send_fd(socks[0], k.fd);
        keyid_unmap(&k);
        tap_ok(child_passed(pid), "who was sent the file has what the sender, who is gone, wrote");
        (void) close(socks[0]);
        (void) close(socks[1]);
        wait_until_given_up();
}

static int open_by(int fd, unsigned long flags) {
        int r = ioctl(fd, MEMSEC_KEYID_OPEN, flags);

        return r < 0 ? -errno : r;
}

/* What it has from its parent is none of its own. */
static void wait_for_one(int fd, const int *fds, int n) {
        int r;

        for (int i = 0; i < n; i++)
                (void) close(fds[i]);
        r = open_by(fd, MEMSEC_KEYID_WAIT);
        _exit(r >= 0 && keyid_number(r) > 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void on_signal(int sig) {
}

static void test_signal(int fd) {
        const struct sigaction action = { .sa_handler = on_signal };
        const struct itimerspec soon = { .it_value.tv_nsec = 50000000 };
        struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
        timer_t timer;

        (void) sigaction(SIGALRM, &action, NULL);
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 || timer_settime(timer, 0, &soon, NULL) < 0)
                tap_bail_out("no timers");
        tap_is_errno(open_by(fd, MEMSEC_KEYID_WAIT), -EINTR, "a signal ends the wait");
        (void) timer_delete(timer);
}

static void test_exhausted(void) {
        const struct timespec moment = { .tv_nsec = 100000000 };
        int fds[MAX_KEYIDS], fd, n, status;
        uint64_t exhausted = keyid_counter("exhausted"), keyids = keyid_counter("keyids");
        pid_t pid;

        fd = open(KEYID_DEVICE, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                tap_bail_out("no device");
        tap_is_errno(keyid_number(fd), -EBADFD, "a file for reading has no KeyID");

        for (n = 0; n < MAX_KEYIDS && (fds[n] = keyid_open()) >= 0; n++)
                for (int i = 0; i < n; i++)
                        if (keyid_number(fds[i]) == keyid_number(fds[n]))
                                tap_ok(false, "each has another KeyID");
        tap_is(n, keyids, "all KeyIDs are taken");
        tap_is_errno(n < MAX_KEYIDS ? fds[n] : 0, -ENOSPC, "the next one goes without");
        tap_is_errno(open_by(fd, 0), -ENOSPC, "in both ways");
        tap_is(keyid_counter("exhausted"), exhausted + 2, "which is counted");
        test_signal(fd);

        pid = child_fork();
        if (pid == 0)
                wait_for_one(fd, fds, n);
        (void) nanosleep(&moment, NULL);
        tap_ok(waitpid(pid, &status, WNOHANG) == 0, "who wants to waits");
        (void) close(fds[0]);
        tap_ok(child_passed(pid), "until one is given up");

        for (int i = 1; i < n; i++)
                (void) close(fds[i]);
        (void) close(fd);
        wait_until_given_up();
}

/* What the kernel or a device would reach by itself, by KeyID 0. */
static void test_nothing_reaches_it_otherwise(const Keyid *k) {
        struct iovec iov = { .iov_base = k->data, .iov_len = PAGES_SIZE };
        int pipes[2], fd;

        if (pipe2(pipes, O_CLOEXEC) < 0)
                tap_bail_out("no pipes");
        tap_ok(vmsplice(pipes[1], &iov, 1, 0) < 0 && errno == EFAULT, "it cannot be spliced into a pipe");
        tap_ok(write(pipes[1], k->data, 100) == 100, "but written");
        tap_ok(read(pipes[0], k->data + PAGES_SIZE, 100) == 100, "and read to");
        tap_ok(memcmp(k->data, k->data + PAGES_SIZE, 100) == 0, "and is what it is");

        fd = open("/dev/vda", O_RDONLY | O_DIRECT | O_CLOEXEC);
        tap_ok(fd >= 0 && pread(fd, k->data, PAGES_SIZE, 0) < 0 && errno == EFAULT,
               "a disk does not read to it by itself");
        if (fd >= 0)
                (void) close(fd);
        tap_ok(madvise(k->data, PAGES_SIZE, MADV_PAGEOUT) < 0 && errno == EINVAL, "it is not swapped out");
        (void) close(pipes[0]);
        (void) close(pipes[1]);
}

/* A debugger reads and writes it as its owner does. */
static void test_debugged(const Keyid *k) {
        long word, expected;
        void *read_only;
        int status;
        pid_t pid;

        pages_fill(k->data, PAGES);
        read_only = mmap(NULL, PAGES_SIZE, PROT_READ, MAP_SHARED, k->fd, 0);
        memcpy(&expected, k->data + 2 * PAGES_SIZE, sizeof(expected));
        pid = child_fork();
        if (pid == 0)
                for (;;)
                        (void) pause();

        if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0 || waitpid(pid, &status, 0) != pid)
                tap_bail_out("no ptrace");
        word = ptrace(PTRACE_PEEKDATA, pid, k->data + 2 * PAGES_SIZE, NULL);
        tap_is(word, expected, "a debugger sees what its owner sees");
        tap_ok(ptrace(PTRACE_POKEDATA, pid, k->data + 2 * PAGES_SIZE, ~expected) >= 0, "and writes to it");
        memcpy(&word, k->data + 2 * PAGES_SIZE, sizeof(word));
        tap_is(word, ~expected, "so that its owner sees that");
        tap_ok(ptrace(PTRACE_POKEDATA, pid, read_only, ~expected) < 0, "but not where that is read-only");
        tap_ok(pages_are_intact(k->data, 2), "which stays as it was");
        (void) kill(pid, SIGKILL);
        (void) child_died_of(pid, SIGKILL);
        (void) munmap(read_only, PAGES_SIZE);
}

static void test_refused(const Keyid *k) {
        static const uint64_t ranges[][2] = {
                { 0, 0 }, { 1, PAGES_SIZE }, { 0, PAGES_SIZE - 1 }, { UINT64_C(1) << 63, PAGES_SIZE },
                { -PAGES_SIZE, PAGES_SIZE }, { PAGES_SIZE, -PAGES_SIZE },
        };
        void *p;

        p = mmap(NULL, PAGES_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, k->fd, 0);
        tap_ok(p == MAP_FAILED && errno == EINVAL, "a private copy is refused");
        p = mmap(NULL, 0, PROT_READ, MAP_SHARED, k->fd, 0);
        tap_ok(p == MAP_FAILED && errno == EINVAL, "so is nothing");
        p = mmap(NULL, SIZE_MAX - PAGES_SIZE, PROT_READ, MAP_SHARED, k->fd, 0);
        tap_ok(p == MAP_FAILED && errno == ENOMEM, "and more than there are addresses");
        for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
                tap_is_errno(keyid_discard(k->fd, ranges[i][0], ranges[i][1]), -EINVAL,
                             "a range that is none cannot be discarded");
        tap_is_errno(keyid_discard(k->fd, 0, UINT64_C(1) << 40), 0, "one larger than all memory can");
        tap_is(keyid_bytes(k->fd), 0, "and then it has none");

        tap_ok(ioctl(k->fd, MEMSEC_KEYID_GET_INFO, NULL) < 0 && errno == EFAULT, "no address is an error");
        tap_ok(ioctl(k->fd, MEMSEC_KEYID_DISCARD, NULL) < 0 && errno == EFAULT, "also for a range");
        tap_ok(ioctl(k->fd, _IO(MEMSEC_KEYID_MAGIC, 99)) < 0 && errno == ENOTTY, "so is an unknown call");
        tap_is_errno(open_by(k->fd, 1 << 7), -EINVAL, "and an unknown flag");
        tap_ok(open(KEYID_DEVICE, O_WRONLY | O_CLOEXEC) < 0 && errno == EINVAL, "nobody only writes");
}

static void test_users(void) {
        struct stat st;
        pid_t pid;

        tap_ok(stat(KEYID_DEVICE, &st) >= 0 && (st.st_mode & 0777) == 0600, "the device is root's");
        pid = child_fork();
        if (pid == 0) {
                if (setuid(NOBODY) < 0)
                        _exit(EXIT_FAILURE);
                _exit(keyid_open() == -EACCES ? EXIT_SUCCESS : EXIT_FAILURE);
        }
        tap_ok(child_passed(pid), "others are refused");

        (void) chmod(KEYID_DEVICE, 0666);
        pid = child_fork();
        if (pid == 0) {
                Keyid k;

                if (setuid(NOBODY) < 0 || keyid_map(PAGES, &k) < 0)
                        _exit(EXIT_FAILURE);
                pages_fill(k.data, PAGES);
                _exit(pages_are_intact(k.data, PAGES) ? EXIT_SUCCESS : EXIT_FAILURE);
        }
        tap_ok(child_passed(pid), "until the administrator lets them");
        (void) chmod(KEYID_DEVICE, 0600);
        wait_until_given_up();
}

static void test_killed(void) {
        const struct timespec moment = { .tv_nsec = 10000000 };
        pid_t pid;
        Keyid k;

        pid = child_fork();
        if (pid == 0) {
                if (keyid_map(PAGES, &k) < 0)
                        _exit(EXIT_FAILURE);
                for (;;) {
                        pages_fill(k.data, PAGES);
                        (void) keyid_discard(k.fd, 0, PAGES * PAGES_SIZE);
                }
        }
        while (keyid_counter("used_pages") == 0)
                (void) nanosleep(&moment, NULL);
        (void) kill(pid, SIGKILL);
        tap_ok(child_died_of(pid, SIGKILL), "a process is killed while it takes pages");
        wait_until_given_up();
}

int main(void) {
        uint64_t violations = keyid_violations();
        _keyid_cleanup_ Keyid k = {};

        test_one();
        test_shared();
        wait_until_given_up();
        test_sent();
        test_exhausted();
        test_users();
        test_killed();

        if (tap_is_errno(keyid_map(PAGES, &k), 0, "memory is mapped once more")) {
                test_nothing_reaches_it_otherwise(&k);
                test_debugged(&k);
                test_refused(&k);
                keyid_unmap(&k);
        }
        wait_until_given_up();
        tap_is(keyid_violations(), violations, "hardware would have corrupted nothing");
        return tap_done();
}
