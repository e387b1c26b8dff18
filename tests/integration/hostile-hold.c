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

/*
 * A limit, and pages enough that a release in one go takes longer at any cost below. But not more: between
 * the last page and the VA pages the driver destroys the XArray of the pages, which takes 1 us for 64 pages
 * and cannot be interrupted.
 */
typedef struct Limit {
        uint64_t max_hold_us;
        size_t n_pages;
} Limit;

#define NSEC_PER_USEC UINT64_C(1000)
#define MAX_HOLD_US_DEFAULT 4000
#define MAX_HOLD_US_NONE 60000000
#define PAGES_NONE 6000
#define LIMIT_NEVER UINT32_MAX
#define LIMIT_DEFAULT 100

static const char *const policies[] = {
        "fixed", "counting", "one", "greedy", "zero", "max", "random", "alternating",
};

static const uint64_t eremove_costs_ns[] = { 2000, 20000 };

static const Limit limits[] = {
        { .max_hold_us = 500, .n_pages = 1500 },
        { .max_hold_us = MAX_HOLD_US_DEFAULT, .n_pages = 6000 },
};

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
static uint64_t release_and_measure(size_t n_pages) {
        uint64_t used = counter("emulation/sgx/epc_used");
        Enclave *e;

        if (enclave_build(n_pages, 1, &e) < 0)
                tap_bail_out("no enclave");

        set("teardown/longest_hold_ns", 0);
        enclave_free(e);
        if (sysfs_wait("emulation/sgx/epc_used", used) < 0)
                tap_bail_out("EPC pages are lost");

        return counter("teardown/longest_hold_ns");
}

static void test_limit(const char *name, const Limit *limit) {
        uint64_t longest;

        set("teardown/max_hold_us", limit->max_hold_us);
        longest = release_and_measure(limit->n_pages);
        tap_ok(longest > 0 && longest <= limit->max_hold_us * NSEC_PER_USEC,
               "%s: held for %" PRIu64 " ns, at most %" PRIu64 " us are allowed", name, longest,
               limit->max_hold_us);
}

static void test_policy(const char *name) {
        _policy_cleanup_ Policy *p = NULL;

        if (!tap_is_errno(policy_run(name, &p), 0, name))
                return;

        for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
                test_limit(name, limits + i);
}

/* Without a limit to speak of a greedy policy must show what the limit is good for. */
static void test_no_limit(uint64_t eremove_ns) {
        _policy_cleanup_ Policy *p = NULL;
        uint64_t longest;

        if (!tap_is_errno(policy_run("greedy", &p), 0, "greedy, with no limit to speak of"))
                return;

        set("teardown/max_hold_us", MAX_HOLD_US_NONE);
        longest = release_and_measure(PAGES_NONE);
        tap_ok(longest >= PAGES_NONE * eremove_ns, "holds the lock for the whole release, %" PRIu64 " ns",
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
