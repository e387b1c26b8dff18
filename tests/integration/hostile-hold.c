// SPDX-License-Identifier: GPL-2.0-only
/*
 * No policy keeps the lock of an enclave longer than max_hold_us.
 *
 * Only where one instruction is one ns of the clock (tests/vm/run --icount): elsewhere the machine decides
 * too how long a hold is, by taking the CPU away.
 */

#include <errno.h>

#include "enclave.h"
#include "loader.h"
#include "sysfs.h"
#include "tap.h"

#define NSEC_PER_USEC UINT64_C(1000)
#define MAX_HOLD_US_DEFAULT 4000
#define MAX_HOLD_US_NONE 60000000
/* A release in one go takes longer than either limit, at any cost below. */
#define PAGES 6000
#define LIMIT_NEVER UINT32_MAX
#define LIMIT_DEFAULT 100

static const char *const policies[] = {
        "fixed", "counting", "one", "greedy", "zero", "max", "random", "alternating",
};

static const uint64_t eremove_costs_ns[] = { 2000, 20000 };

static const uint64_t limits_us[] = { 500, MAX_HOLD_US_DEFAULT };

static uint64_t counter(const char *name) {
        uint64_t value;

        if (sysfs_read(name, &value) < 0)
                tap_bail_out("no counters");

        return value;
}

static void set(const char *name, uint64_t value) {
        if (sysfs_write(name, value) < 0)
                tap_bail_out("cannot set a cost or a limit");
}

/* The longest hold in the release of an enclave. */
static uint64_t release_and_measure(void) {
        uint64_t used = counter("emulation/sgx/epc_used");
        Enclave *e;

        if (enclave_build(PAGES, 1, &e) < 0)
                tap_bail_out("no enclave");

        set("teardown/longest_hold_ns", 0);
        enclave_free(e);
        if (sysfs_wait("emulation/sgx/epc_used", used) < 0)
                tap_bail_out("EPC pages are lost");

        return counter("teardown/longest_hold_ns");
}

static void test_limit(const char *name, uint64_t limit_us) {
        uint64_t longest;

        set("teardown/max_hold_us", limit_us);
        longest = release_and_measure();
        tap_ok(longest > 0 && longest <= limit_us * NSEC_PER_USEC,
               "%s: held for %" PRIu64 " ns, at most %" PRIu64 " us are allowed", name, longest,
               limit_us);
}

static void test_policy(const char *name) {
        _policy_cleanup_ Policy *p = NULL;

        if (!tap_is_errno(policy_run(name, &p), 0, name))
                return;

        for (size_t i = 0; i < sizeof(limits_us) / sizeof(limits_us[0]); i++)
                test_limit(name, limits_us[i]);
}

/* Without a limit to speak of a greedy policy must show what the limit is good for. */
static void test_no_limit(uint64_t eremove_ns) {
        _policy_cleanup_ Policy *p = NULL;
        uint64_t longest;

        if (!tap_is_errno(policy_run("greedy", &p), 0, "greedy, with no limit to speak of"))
                return;

        set("teardown/max_hold_us", MAX_HOLD_US_NONE);
        longest = release_and_measure();
        tap_ok(longest >= PAGES * eremove_ns, "holds the lock for the whole release, %" PRIu64 " ns",
               longest);
}

static bool clock_counts_instructions(void) {
        char line[4096] = "";
        FILE *f;

        f = fopen("/proc/cmdline", "re");
        if (!f || !fgets(line, sizeof(line), f))
                tap_bail_out("no /proc/cmdline");

        (void) fclose(f);
        return strstr(line, "memsec-vm.icount");
}

int main(void) {
        uint64_t cost;

        if (!clock_counts_instructions()) {
                puts("ok 1 - hold limits # SKIP need the clock of tests/vm/run --icount\n1..1");
                return EXIT_SUCCESS;
        }

        cost = counter("emulation/sgx/eremove_ns");
        if (policy_alone() < 0)
                tap_bail_out("something else has a policy attached");

        set("fuse_limit", LIMIT_NEVER);

        for (size_t i = 0; i < sizeof(eremove_costs_ns) / sizeof(eremove_costs_ns[0]); i++) {
                tap_note("EREMOVE takes %" PRIu64 " ns", eremove_costs_ns[i]);
                set("emulation/sgx/eremove_ns", eremove_costs_ns[i]);
                for (size_t j = 0; j < sizeof(policies) / sizeof(policies[0]); j++)
                        test_policy(policies[j]);
                test_no_limit(eremove_costs_ns[i]);
        }

        set("emulation/sgx/eremove_ns", cost);
        set("teardown/max_hold_us", MAX_HOLD_US_DEFAULT);
        set("fuse_limit", LIMIT_DEFAULT);
        return tap_done();
}
