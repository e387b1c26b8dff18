// SPDX-License-Identifier: GPL-2.0-only
/*
 * fixed: how often it is asked follows from its parameters alone, its unit's or everyone's, and a change of
 * them has effect while it is attached.
 */

#include "cgroup.h"
#include "enclave.h"
#include "loader.h"
#include "sysfs.h"
#include "tap.h"

/* Of the enclave, and the VA pages it needs, which count like them. */
#define PAGES 1000
#define VA_PAGES 2
#define ALL_PAGES (PAGES + VA_PAGES)

/* The first answer, from which fixed learns what a page costs. */
#define FIRST_BATCH 16

#define FOREVER_NS UINT64_C(60000000000)
#define FOREVER_US UINT64_C(60000000)
#define MAX_HOLD_US_DEFAULT 4000

static uint64_t counter(const char *name) {
        uint64_t value;

        if (sysfs_read(name, &value) < 0)
                tap_bail_out("no counters");

        return value;
}

/* The questions of the release of one enclave. */
static uint64_t release_enclave(void) {
        uint64_t asked = counter("teardown/asked");
        Enclave *e;

        if (enclave_build(PAGES, 1, &e) < 0)
                tap_bail_out("no enclave");

        enclave_free(e);
        return counter("teardown/asked") - asked;
}

/* One question before the first page, and one each time that the pages of an answer are done. */
static uint64_t questions(uint64_t batch) {
        if (batch <= FIRST_BATCH)
                return 1 + ALL_PAGES / batch;

        return 1 + 1 + (ALL_PAGES - FIRST_BATCH) / batch;
}

static void set_params(Policy *p, uint64_t cgroup_id, uint64_t batch, uint64_t max_hold_ns) {
        const struct memsec_params params = {
                .teardown = { .batch = batch, .max_hold_ns = max_hold_ns },
        };

        if (policy_set_params(p, cgroup_id, &params) < 0)
                tap_bail_out("cannot set parameters");
}

int main(void) {
        _policy_cleanup_ Policy *p = NULL;
        uint64_t used = counter("emulation/sgx/epc_used"), clamped = counter("teardown/clamped");
        uint64_t cgroup = cgroup_own();

        if (policy_alone() < 0 || policy_run("fixed", &p) < 0)
                tap_bail_out("cannot attach");

        /* The kernel would ask at each of its own breaks too. */
        if (sysfs_write("teardown/max_hold_us", FOREVER_US) < 0)
                tap_bail_out("cannot set max_hold_us");

        set_params(p, 0, 100, FOREVER_NS);
        tap_is(release_enclave(), questions(100), "the batch is everyone's");
        set_params(p, 0, 10, FOREVER_NS);
        tap_is(release_enclave(), questions(10), "another one has effect at once");
        set_params(p, 0, 1 << 20, FOREVER_NS);
        tap_is(release_enclave(), questions(1 << 20), "the largest one is possible");
        set_params(p, 0, 100, 1);
        tap_is(release_enclave(), 1 + 1 + ALL_PAGES - FIRST_BATCH, "no time for a page gives one page");

        set_params(p, 0, 100, FOREVER_NS);
        set_params(p, cgroup, 50, FOREVER_NS);
        tap_is(release_enclave(), questions(50), "the unit's batch goes before everyone's");
        set_params(p, cgroup + 1, 25, FOREVER_NS);
        tap_is(release_enclave(), questions(50), "another unit's does not");

        tap_is(counter("teardown/clamped"), clamped, "no answer was out of range");
        tap_is_errno(sysfs_wait("emulation/sgx/epc_used", used), 0, "every EPC page is free again");

        (void) sysfs_write("teardown/max_hold_us", MAX_HOLD_US_DEFAULT);
        return tap_done();
}
