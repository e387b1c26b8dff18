// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fuse: a policy with too many answers out of range within a second is detached by the kernel, and never
 * another one.
 */

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "enclave.h"
#include "loader.h"
#include "sysfs.h"
#include "tap.h"

#define LIMIT_DEFAULT 100

/* One question an enclave: the default is more than these, and the kernel needs no break of its own. */
#define PAGES 16
#define MAX_HOLD_US_FOREVER UINT64_C(60000000)
#define MAX_HOLD_US_DEFAULT 4000

/* Time for the kernel to detach; it takes a moment when it works at all. */
#define DROP_TIMEOUT_MS (60 * 1000)

#define RACES 50

static uint64_t counter(const char *name) {
        uint64_t value;

        if (sysfs_read(name, &value) < 0)
                tap_bail_out("no counters");

        return value;
}

static void set(const char *name, uint64_t value) {
        if (sysfs_write(name, value) < 0)
                tap_bail_out("cannot set a limit");
}

static void set_limit(uint64_t limit) {
        set("fuse_limit", limit);
}

static void release_enclave(void) {
        Enclave *e;

        if (enclave_build(PAGES, 1, &e) < 0)
                tap_bail_out("no enclave");
        enclave_free(e);
}

static void is_text(const char *file, const char *expected, const char *what) {
        char text[64];

        if (sysfs_read_text(file, text, sizeof(text)) < 0)
                tap_bail_out("no /sys/kernel/memsec");
        tap_is_text(text, expected, what);
}

/* As many answers out of range as are allowed, however long they take. */
static void test_below(const char *name) {
        _policy_cleanup_ Policy *p = NULL;
        uint64_t clamped = counter("teardown/clamped");

        set_limit(3);
        tap_note("%s, three bad answers allowed", name);
        if (!tap_is_errno(policy_run(name, &p), 0, "the policy is attached"))
                return;

        for (unsigned i = 0; i < 3; i++)
                release_enclave();

        tap_is(counter("teardown/clamped") - clamped, 3, "each bad answer is counted");
        tap_ok(!policy_was_dropped(p, 100), "at the limit the policy stays");
        is_text("state", "attached", "and the state says so");
}

static void test_above(const char *name) {
        _policy_cleanup_ Policy *p = NULL, *next = NULL;
        uint64_t asked;

        set_limit(0);
        tap_note("%s, no bad answer allowed", name);
        if (!tap_is_errno(policy_run(name, &p), 0, "the policy is attached"))
                return;

        release_enclave();
        is_text("state", "fused", "one bad answer blows the fuse");
        is_text("policy", "", "the policy is gone");
        tap_ok(policy_was_dropped(p, DROP_TIMEOUT_MS), "its link gets EPOLLHUP");

        asked = counter("teardown/asked");
        release_enclave();
        tap_is(counter("teardown/asked"), asked, "it is asked no more");
        is_text("state", "fused", "the state stays");

        if (!tap_is_errno(policy_load("counting", &next), 0, "another policy"))
                return;
        tap_is_errno(policy_update(p, next), -ENOLINK, "cannot take over the dead link");
        tap_is_errno(policy_attach(next), 0, "but can be attached");
        is_text("state", "attached", "the state says so");

        policy_detach(p);
        tap_ok(!policy_was_dropped(next, 100), "closing the dead link does not detach it");
        release_enclave();
        tap_ok(policy_calls(next, POLICY_TEARDOWN) > 0, "and it is asked");
}

static void test_exit_is_called(void) {
        _policy_cleanup_ Policy *p = NULL;

        set_limit(0);
        if (!tap_is_errno(policy_run("counting_bad", &p), 0, "a bad policy that counts is attached"))
                return;

        release_enclave();
        tap_ok(policy_was_dropped(p, DROP_TIMEOUT_MS), "the fuse detaches it");
        tap_is(policy_calls(p, POLICY_TEARDOWN), 1, "it was asked once");
        tap_is(policy_calls(p, POLICY_EXIT), 1, "its exit() was called once");
        policy_detach(p);
        tap_is(policy_calls(p, POLICY_EXIT), 1, "and not again when its link was closed");
}

/* The kernel detaches in a worker of the CPU on which the fuse blew: keep it away from there for now. */
static void go_before_workers(void) {
        const struct sched_param first = { .sched_priority = 1 };
        cpu_set_t here;

        CPU_ZERO(&here);
        CPU_SET(sched_getcpu(), &here);
        if (sched_setaffinity(0, sizeof(here), &here) < 0 || sched_setscheduler(0, SCHED_FIFO, &first) < 0)
                tap_bail_out("cannot become a real-time task");
}

/* The fuse of BAD blows; before the kernel can detach it BAD is gone and NEXT is there. */
static void test_late(void) {
        _policy_cleanup_ Policy *bad = NULL, *next = NULL;
        unsigned n_updated = 0, n_dropped = 0;

        set_limit(0);
        if (!tap_is_errno(policy_load("zero", &bad), 0, "a bad policy") ||
            !tap_is_errno(policy_load("counting", &next), 0, "and a good one"))
                return;

        go_before_workers();
        for (unsigned i = 0; i < RACES; i++) {
                if (policy_attach(bad) < 0)
                        tap_bail_out("cannot attach the bad policy");

                release_enclave();
                n_updated += policy_update(bad, next) != -ENOLINK;
                policy_detach(bad);
                if (policy_attach(next) < 0)
                        tap_bail_out("cannot attach the good policy");

                /* Now the worker may run. */
                n_dropped += policy_was_dropped(next, 20);
                policy_detach(next);
        }

        tap_is(n_updated, 0, "a blown policy cannot be updated");
        tap_is(n_dropped, 0, "a late fuse never detaches the policy that came after");
        is_text("state", "detached", "and the last one left in order");
}

int main(void) {
        uint64_t used = counter("emulation/sgx/epc_used");

        if (policy_alone() < 0)
                tap_bail_out("something else has a policy attached");

        tap_ok(sysfs_write("fuse_limit", UINT64_MAX) == -ERANGE, "a limit out of range is refused");

        set("teardown/max_hold_us", MAX_HOLD_US_FOREVER);

        test_below("zero");
        test_below("max");
        test_above("zero");
        test_above("max");
        test_exit_is_called();
        test_late();

        set("teardown/max_hold_us", MAX_HOLD_US_DEFAULT);
        set_limit(LIMIT_DEFAULT);
        tap_is_errno(sysfs_wait("emulation/sgx/epc_used", used), 0, "every EPC page is free again");

        return tap_done();
}
