// SPDX-License-Identifier: GPL-2.0-only
/*
 * Secret memory and that of guests is taken and given back on all CPUs while policies that split ahead and
 * put back come and go, while CPUs do, and while the kernel finds no memory for its tables: nothing is lost
 * or half done, the kernel has nothing to complain about, and its mapping is whole again at the end.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "child.h"
#include "directmap.h"
#include "guest.h"
#include "loader.h"
#include "secretmem.h"
#include "sysfs.h"
#include "tap.h"

#define PAGES 600
#define CHILDREN 3
#define ROUNDS 30
#define AHEAD (UINT64_C(16) << 20)

/* Rounds that each child completed, and when to stop. */
typedef struct Shared {
        atomic_bool stop;
        atomic_uint rounds[CHILDREN];
} Shared;

static Shared *shared;
static pid_t children[CHILDREN];

static uint64_t counter(const char *name) {
        uint64_t value;

        if (sysfs_read(name, &value) < 0)
                tap_bail_out("no counters");

        return value;
}

static int write_file(const char *path, const char *text) {
        int fd, r;

        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;

        r = write(fd, text, strlen(text)) < 0 ? -errno : 0;
        (void) close(fd);
        return r;
}

static void use_secret_memory(void) {
        _secretmem_cleanup_ Secret s = {};

        if (secretmem_map(PAGES, &s) < 0)
                _exit(EXIT_FAILURE);
        secretmem_fill(&s);
        if (!secretmem_is_intact(&s))
                _exit(EXIT_FAILURE);
}

static void use_guest_memory(void) {
        _guest_cleanup_ Guest *g = NULL;
        const uint64_t size = PAGES * GUEST_PAGE_SIZE;

        if (guest_create(size, 1, &g) < 0 || guest_prefault(g, 0, 0, size) < 0 ||
            guest_discard(g, 100 * GUEST_PAGE_SIZE, GUEST_PAGE_SIZE) < 0)
                _exit(EXIT_FAILURE);
}

static void start_children(void) {
        shared->stop = false;

        for (size_t i = 0; i < CHILDREN; i++) {
                shared->rounds[i] = 0;
                children[i] = child_fork();
                if (children[i] > 0)
                        continue;

                do {
                        if (i == 0)
                                use_guest_memory();
                        else
                                use_secret_memory();
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
        tap_ok(passed, "secret memory held what was written, all the time");
        tap_ok(worked, "whoever used it");
        tap_is_errno(sysfs_wait("directmap/secretmem_pages", 0), 0, "all pages come back");
        tap_is_errno(sysfs_wait("directmap/guest_pages", 0), 0, "those of guests, too");
        tap_is(counter("emulation/rmp/violations"), 0, "no private page was in too large an entry");
}

/* A policy that splits ahead and puts back at once. Returns NULL when it cannot be attached. */
static Policy *busy_policy(void) {
        Policy *p;

        if (policy_run("fixed", &p) < 0)
                return NULL;

        directmap_set(p, AHEAD, 0);
        return p;
}

/* ROUNDS at least, and until something was put together; but not for ever. */
static bool goes_on(unsigned i, uint64_t collapses) {
        return i < ROUNDS || (i < 20 * ROUNDS && counter("directmap/collapses") == collapses);
}

static void test_policies(void) {
        uint64_t collapses = counter("directmap/collapses");
        unsigned i, n = 0;

        tap_note("policies come and go");
        start_children();
        for (i = 0; goes_on(i, collapses); i++) {
                _policy_cleanup_ Policy *p = busy_policy();

                n += !!p;
                (void) usleep(50000);
        }
        stop_children();
        tap_is(n, i, "each could be attached");
        tap_ok(counter("directmap/collapses") > collapses, "and the mapping was put together now and then");
}

static void test_cpus(void) {
        _policy_cleanup_ Policy *p = busy_policy();
        uint64_t collapses = counter("directmap/collapses");
        unsigned i, n = 0;

        tap_note("CPUs come and go");
        if (!tap_ok(p, "a policy is attached"))
                return;

        start_children();
        for (i = 0; goes_on(i, collapses); i++) {
                n += write_file("/sys/devices/system/cpu/cpu1/online", "0") >= 0;
                (void) usleep(20000);
                n += write_file("/sys/devices/system/cpu/cpu1/online", "1") >= 0;
                (void) usleep(20000);
        }
        stop_children();
        tap_is(n, 2 * i, "as often as it was asked for");
        tap_ok(counter("directmap/collapses") > collapses, "and the mapping was put together meanwhile");
}

static int write_setting(const char *kind, const char *setting, const char *value) {
        char path[128];

        (void) snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", kind, setting);
        return write_file(path, value);
}

/* Some allocations of a KIND fail, one in INTERVAL, of those who want it. */
static int make_it_fail(const char *kind, const char *interval) {
        static const char *const settings[][2] = {
                { "task-filter", "Y" },
                { "ignore-gfp-wait", "N" },
                { "verbose", "0" },
                { "probability", "100" },
                { "times", "8" },
        };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < sizeof(settings) / sizeof(settings[0]); i++)
                r = write_setting(kind, settings[i][0], settings[i][1]);
        if (r >= 0 && strcmp(kind, "fail_page_alloc") == 0)
                r = write_setting(kind, "min-order", "0");
        if (r >= 0)
                r = write_setting(kind, "interval", interval);

        return r;
}

/* The kernel tries a fault again for which it had no memory. */
static void use_without_memory(void) {
        _secretmem_cleanup_ Secret s = {};

        if (secretmem_map(PAGES, &s) < 0 || write_file("/proc/self/make-it-fail", "1") < 0)
                _exit(EXIT_FAILURE);
        secretmem_fill(&s);
        _exit(secretmem_is_intact(&s) ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* All kinds of failures, in turn. Adds to N the children, and to N_PASSED those with what they wanted. */
static void run_without_memory(unsigned *n, unsigned *n_passed) {
        static const char *const kinds[] = { "failslab", "fail_page_alloc" };
        static const char *const intervals[] = { "1", "2", "3", "4", "5" };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                for (size_t k = 0; k < sizeof(intervals) / sizeof(intervals[0]); k++) {
                        pid_t pid;

                        if (make_it_fail(kinds[i], intervals[k]) < 0)
                                continue;

                        (*n)++;
                        pid = child_fork();
                        if (pid == 0)
                                use_without_memory();
                        *n_passed += child_passed(pid);
                        (void) write_setting(kinds[i], "probability", "0");
                }
}

/* Where others have split just now, nothing has to be allocated: tried until something was. */
static void test_no_memory(void) {
        uint64_t failed = counter("directmap/failed");
        _policy_cleanup_ Policy *p = busy_policy();
        unsigned n_passed = 0, n = 0;

        tap_note("no memory for tables");
        if (!tap_ok(p, "a policy is attached"))
                return;

        start_children();
        for (unsigned i = 0; i < ROUNDS && counter("directmap/failed") == failed; i++)
                run_without_memory(&n, &n_passed);
        stop_children();

        if (n == 0)
                tap_note("this kernel cannot be made to fail");
        else {
                tap_is(n_passed, n, "memory is secret, and right, when it comes late");
                tap_ok(counter("directmap/failed") > failed, "which it did");
        }
}

int main(void) {
        Policy *p;

        shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED || secretmem_allow() < 0 || policy_alone() < 0)
                tap_bail_out("cannot begin");

        test_policies();
        test_cpus();
        test_no_memory();

        p = busy_policy();
        tap_is_errno(sysfs_wait("directmap/unused_ranges", 0), 0, "the mapping is put back together");
        policy_free(p);
        return tap_done();
}
