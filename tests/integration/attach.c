// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies come, change and go while enclaves are released on all CPUs: every EPC page is freed, the kernel
 * has nothing to complain about, and the counters are exact.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enclave.h"
#include "loader.h"
#include "sysfs.h"
#include "tap.h"

/* Pages of an enclave: with the VA pages it needs, not a multiple of any batch used here. */
#define PAGES 700

/* Slots for evicted pages in a VA page; the enclave's SECS needs one as well. */
#define VA_SLOTS 512
#define VA_PAGES ((PAGES + 1 + VA_SLOTS - 1) / VA_SLOTS)

/* Rounds of attach, updates, detach. */
#define ROUNDS 100

/* Enclaves that each CPU releases at least while policies change, and exactly while one stays. */
#define RELEASES 20

/* Bits of /proc/sys/kernel/tainted: died, warned, locked up. */
#define TAINT_SPLAT (1u << 7 | 1u << 9 | 1u << 14)

/* What the releasing processes share with the test. */
typedef struct Shared {
        atomic_bool stop;
        atomic_uint n_releases[CPU_SETSIZE];
} Shared;

static Shared *shared;
static cpu_set_t cpus;

static uint64_t counter(const char *name) {
        uint64_t value;

        if (sysfs_read(name, &value) < 0)
                tap_bail_out("no counters");

        return value;
}

static unsigned read_taint(void) {
        unsigned taint = 0;
        FILE *f;

        f = fopen("/proc/sys/kernel/tainted", "re");
        if (!f || fscanf(f, "%u", &taint) != 1)
                tap_bail_out("no /proc/sys/kernel/tainted");

        (void) fclose(f);
        return taint & TAINT_SPLAT;
}

/* A process on CPU that releases enclaves, N or (0) until it is to stop. */
static void release_on(int cpu, unsigned n) {
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        if (sched_setaffinity(0, sizeof(set), &set) < 0)
                _exit(EXIT_FAILURE);

        for (unsigned i = 0; n > 0 ? i < n : !shared->stop; i++) {
                Enclave *e;

                if (enclave_build(PAGES, i, &e) < 0 || enclave_check(e, 0, 1, i) < 0)
                        _exit(EXIT_FAILURE);

                enclave_free(e);
                shared->n_releases[cpu]++;
        }

        _exit(EXIT_SUCCESS);
}

static void start_releasing(unsigned n) {
        shared->stop = false;

        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
                if (!CPU_ISSET(cpu, &cpus))
                        continue;

                shared->n_releases[cpu] = 0;
                switch (fork()) {
                case -1:
                        tap_bail_out("cannot fork");
                case 0:
                        release_on(cpu, n);
                }
        }
}

/* Returns how many of the processes failed. */
static unsigned wait_for_all(void) {
        unsigned n_failed = 0;
        int status;

        while (wait(&status) > 0)
                if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS)
                        n_failed++;

        return n_failed;
}

/* Has every CPU released enough? True also when one of the processes is gone, which is a failure. */
static bool released_enough(void) {
        siginfo_t gone = {};

        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
                if (CPU_ISSET(cpu, &cpus) && shared->n_releases[cpu] < RELEASES)
                        return waitid(P_ALL, 0, &gone, WEXITED | WNOHANG | WNOWAIT) == 0 && gone.si_pid != 0;

        return true;
}

/* A policy is attached, replaced twice and detached. Returns whether each step worked. */
static bool do_round(Policy *first, Policy *second, Policy *third) {
        if (policy_attach(first) < 0 || policy_update(first, second) < 0 || policy_update(second, third) < 0)
                return false;

        policy_detach(third);
        return true;
}

static void test_changing(void) {
        _policy_cleanup_ Policy *first = NULL, *second = NULL, *third = NULL;
        uint64_t asked = counter("teardown/asked");
        unsigned n_good = 0, n_rounds = 0;

        if (!tap_is_errno(policy_load("counting", &first), 0, "a policy that counts") ||
            !tap_is_errno(policy_load("fixed", &second), 0, "fixed") ||
            !tap_is_errno(policy_load("one", &third), 0, "and a policy that is asked for every page"))
                return;

        start_releasing(0);
        do
                n_good += do_round(first, second, third);
        while (n_good == ++n_rounds && (n_rounds < ROUNDS || !released_enough()));
        shared->stop = true;

        tap_is(wait_for_all(), 0, "enclaves could be built, used and released all the time");
        tap_is(n_good, n_rounds, "policies could be attached, replaced and detached all the time");
        tap_is(policy_calls(first, POLICY_INIT), n_rounds, "init() was called once each time");
        tap_is(policy_calls(first, POLICY_EXIT), n_rounds, "exit() was called once each time");
        tap_ok(counter("teardown/asked") > asked, "and they were asked");
        tap_note("%u rounds", n_rounds);
}

static void test_counters(void) {
        uint64_t asked = counter("teardown/asked"), pages = counter("teardown/pages");
        uint64_t teardowns = counter("teardown/teardowns"), clamped = counter("teardown/clamped");
        uint64_t eremoves = counter("emulation/sgx/eremove_count");
        uint64_t used = counter("emulation/sgx/epc_used");
        _policy_cleanup_ Policy *p = NULL;
        unsigned n = RELEASES * CPU_COUNT(&cpus);

        if (!tap_is_errno(policy_run("counting", &p), 0, "one policy stays attached"))
                return;

        start_releasing(RELEASES);
        tap_is(wait_for_all(), 0, "enclaves could be built and released");
        tap_is_errno(sysfs_wait("emulation/sgx/epc_used", used), 0, "every EPC page is free");

        tap_is(counter("teardown/teardowns") - teardowns, n, "each release is counted");
        tap_is(counter("teardown/pages") - pages, n * (PAGES + VA_PAGES), "each page is counted once");
        tap_is(counter("emulation/sgx/eremove_count") - eremoves, n * (PAGES + VA_PAGES + 1),
               "and was removed once, like the SECS");
        tap_is(counter("teardown/asked") - asked, policy_calls(p, POLICY_TEARDOWN),
               "each question is counted once");
        tap_is(counter("teardown/clamped") - clamped, 0, "no answer was out of range");
}

int main(void) {
        uint64_t used = counter("emulation/sgx/epc_used");
        unsigned taint = read_taint();

        if (policy_alone() < 0)
                tap_bail_out("something else has a policy attached");

        shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED || sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
                tap_bail_out("cannot begin");

        tap_note("%d CPUs", CPU_COUNT(&cpus));
        test_changing();
        tap_is_errno(sysfs_wait("emulation/sgx/epc_used", used), 0, "every EPC page is free again");
        test_counters();
        tap_is(read_taint(), taint, "no splat");

        return tap_done();
}
