// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes use memory and are forked on all CPUs while policies that protect it come and go and change
 * their mind, while CPUs come and go and while memory is short: nothing is lost or seen by others.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child.h"
#include "pages.h"
#include "sysfs.h"
#include "tap.h"
#include "xpfo.h"

#define PAGES 700
#define BYTES ((size_t) PAGES * XPFO_PAGE_SIZE)
#define CHILDREN 3
#define ROUNDS 30

/* Rounds that each child completed, and when to stop. */
typedef struct Shared {
        atomic_bool stop;
        atomic_uint rounds[CHILDREN];
} Shared;

static Shared *shared;
static pid_t children[CHILDREN];

static int write_file(const char *path, const char *text) {
        int fd = open(path, O_WRONLY | O_CLOEXEC), r;

        if (fd < 0)
                return -errno;

        r = write(fd, text, strlen(text)) < 0 ? -errno : 0;
        (void) close(fd);
        return r;
}

/* New memory is zero, holds what is written to it, and so does a child's copy of it. Exits when not. */
static void use_memory(int flags) {
        uint8_t *data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
        pid_t pid;

        if (data == MAP_FAILED || !pages_are_zero(data, PAGES))
                _exit(EXIT_FAILURE);
        pages_fill(data, PAGES);
        pid = fork();
        if (pid < 0)
                _exit(EXIT_FAILURE);
        if (pid == 0) {
                for (size_t i = 0; flags == MAP_PRIVATE && i < PAGES; i += 2)
                        data[i * XPFO_PAGE_SIZE] ^= 1;
                _exit(EXIT_SUCCESS);
        }
        if (!child_passed(pid) || !pages_are_intact(data, PAGES) || munmap(data, BYTES) < 0)
                _exit(EXIT_FAILURE);
}

/* Before there is any protection: what the test itself uses is the same all the time. */
static void start_children(void) {
        shared->stop = false;

        for (size_t i = 0; i < CHILDREN; i++) {
                shared->rounds[i] = 0;
                children[i] = child_fork();
                if (children[i] > 0)
                        continue;

                do {
                        use_memory(i == 0 ? MAP_SHARED : MAP_PRIVATE);
                        shared->rounds[i]++;
                } while (!shared->stop);
                _exit(EXIT_SUCCESS);
        }
}

static bool all_worked(void) {
        bool worked = true;

        for (size_t i = 0; i < CHILDREN; i++)
                worked &= shared->rounds[i] > 0;

        return worked;
}

/* A slow machine is waited for, until each child has come round once at least. */
static void stop_children(void) {
        bool passed = true, worked;

        for (unsigned i = 0; !(worked = all_worked()) && i < 600; i++)
                (void) usleep(100000);

        shared->stop = true;
        for (size_t i = 0; i < CHILDREN; i++)
                passed &= child_passed(children[i]);
        tap_ok(passed, "memory held what was written, all the time");
        tap_ok(worked, "whoever used it");
}

/* Others keep what they got meanwhile. */
static void nothing_is_lost(void) {
        uint64_t missing = UINT64_MAX, held;

        tap_is_errno(sysfs_wait("xpfo/pool_pages", 0), 0, "the pools are empty");
        for (unsigned i = 0; missing != 0 && i < 100; i++) {
                if (sysfs_read("directmap/xpfo_pages", &held) < 0)
                        tap_bail_out("no counters");
                missing = xpfo_counter("taken") - xpfo_counter("returned") - held;
                (void) usleep(i == 0 ? 0 : 100000);
        }
        tap_is(missing, 0, "what left the direct map is somebody's, or came back");
}

/* Each is attached, asked, and goes. Some do not know what they want, and may lose their fuse. */
static void test_policies(void) {
        static const char *const names[] = { "protect", "random", "greedy", "alternating", "one", "zero" };
        unsigned n = 0;

        start_children();
        for (unsigned i = 0; i < ROUNDS; i++) {
                Policy *p;

                if (policy_run(names[i % (sizeof(names) / sizeof(names[0]))], &p) < 0)
                        continue;
                (void) usleep(30000);
                n++;
                policy_free(p);
        }
        tap_is(n, ROUNDS, "policies come and go");
        stop_children();
        nothing_is_lost();
}

/* The same policy says something else every moment. */
static void test_flips(void) {
        struct memsec_params params = { .xpfo = { .batch = 16, .pool = 1 << 20 } };
        Policy *p;
        bool set = true;

        if (policy_run("fixed", &p) < 0)
                tap_bail_out("cannot attach a policy");
        start_children();
        for (unsigned i = 0; i < 4 * ROUNDS; i++) {
                params.xpfo.protect = i % 3;
                params.xpfo.batch = 1 << i % 10;
                params.xpfo.pool = (uint64_t) (i % 5) << 20;
                set &= policy_set_params(p, 0, &params) >= 0;
                (void) usleep(10000);
        }
        tap_ok(set, "a policy changes its mind");
        stop_children();
        policy_free(p);
        nothing_is_lost();
}

static void test_cpus(void) {
        Policy *p = xpfo_protect_all();
        bool ok = true;

        start_children();
        for (unsigned i = 0; i < ROUNDS / 3; i++) {
                ok &= write_file("/sys/devices/system/cpu/cpu1/online", "0") == 0;
                (void) usleep(20000);
                ok &= write_file("/sys/devices/system/cpu/cpu1/online", "1") == 0;
        }
        tap_ok(ok, "a CPU comes and goes");
        stop_children();
        policy_free(p);
        nothing_is_lost();
}

/* What pools hold is for who needs it. */
static void test_pressure(void) {
        Policy *p = xpfo_protect_all();
        uint64_t returned = xpfo_counter("returned");

        start_children();
        for (unsigned i = 0; i < ROUNDS; i++)
                (void) write_file("/proc/sys/vm/drop_caches", "2");
        tap_ok(xpfo_counter("returned") > returned, "pools give back what they hold when memory is short");
        stop_children();
        policy_free(p);
        nothing_is_lost();
}

int main(void) {
        if (policy_alone() < 0)
                tap_bail_out("cannot stop memsecd");

        shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED)
                tap_bail_out("no memory");

        *shared = (Shared) {};
        test_policies();
        test_flips();
        test_cpus();
        test_pressure();
        return tap_done();
}
