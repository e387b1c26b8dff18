// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replacing a running policy: who is asked, init() and exit(), and what happens when the new one is refused.
 */

#include <errno.h>

#include "enclave.h"
#include "loader.h"
#include "sysfs.h"
#include "tap.h"

#define PAGES 600

/* Releases an enclave, so that the policy is asked. */
static void release_enclave(void) {
        Enclave *e;

        if (enclave_build(PAGES, 1, &e) < 0)
                tap_bail_out("no enclave");
        enclave_free(e);
}

static void is_policy(const char *name, const char *what) {
        char text[64];

        if (sysfs_read_text("policy", text, sizeof(text)) < 0)
                tap_bail_out("no /sys/kernel/memsec/policy");
        tap_is_text(text, name, what);
}

/* Tries to put NAME in the place of RUNNING, which has to go on. */
static void test_refused(Policy *running, const char *name, int expected, const char *why) {
        _policy_cleanup_ Policy *next = NULL;
        uint64_t asked;

        if (!tap_is_errno(policy_load(name, &next), 0, why))
                return;

        tap_is_errno(policy_update(running, next), expected, "is refused");
        is_policy("counting", "the old one runs");
        tap_is(policy_calls(running, POLICY_EXIT), 0, "its exit() was not called");
        tap_ok(!policy_was_dropped(running, 0), "its link is alive");

        asked = policy_calls(running, POLICY_TEARDOWN);
        release_enclave();
        tap_ok(policy_calls(running, POLICY_TEARDOWN) > asked, "and it is asked");
}

static void test_update(void) {
        _policy_cleanup_ Policy *old = NULL, *next = NULL;
        uint64_t asked, asked_next;

        if (!tap_is_errno(policy_run("counting", &old), 0, "a policy is attached"))
                return;
        tap_is(policy_calls(old, POLICY_INIT), 1, "its init() was called once");

        test_refused(old, "init_fails", -ENODATA, "a new one whose init() fails");
        test_refused(old, "wrong_abi", -EPROTONOSUPPORT, "a new one for another ABI");
        test_refused(old, "bad_flags", -EINVAL, "a new one with an unknown flag");
        tap_is_errno(policy_update(old, old), 0, "a policy can say that its numbers changed");
        is_policy("counting", "and stays");
        tap_is(policy_calls(old, POLICY_INIT), 1, "its init() is not called again");
        tap_is(policy_calls(old, POLICY_EXIT), 0, "nor its exit()");

        if (!tap_is_errno(policy_load("counting", &next), 0, "another instance is loaded"))
                return;
        tap_is_errno(policy_update(old, next), 0, "and takes over");
        tap_is(policy_calls(old, POLICY_EXIT), 1, "the old one's exit() was called once");
        tap_is(policy_calls(next, POLICY_INIT), 1, "the new one's init() was called once");

        asked = policy_calls(old, POLICY_TEARDOWN);
        asked_next = policy_calls(next, POLICY_TEARDOWN);
        release_enclave();
        tap_is(policy_calls(old, POLICY_TEARDOWN), asked, "the old one is asked no more");
        tap_ok(policy_calls(next, POLICY_TEARDOWN) > asked_next, "the new one is asked");

        policy_detach(next);
        tap_is(policy_calls(next, POLICY_EXIT), 1, "the new one's exit() was called once, on detach");
        tap_is(policy_calls(old, POLICY_EXIT), 1, "the old one's was not called again");
        is_policy("", "no policy is left");
}

/* A policy may have fewer callbacks than the one it replaces. */
static void test_empty(void) {
        _policy_cleanup_ Policy *old = NULL, *next = NULL;
        uint64_t asked, asked_before;

        if (!tap_is_errno(policy_run("counting", &old), 0, "a policy is attached") ||
            !tap_is_errno(policy_load("empty", &next), 0, "one without callbacks"))
                return;

        tap_is_errno(policy_update(old, next), 0, "can replace it");
        if (sysfs_read("teardown/asked", &asked_before) < 0)
                tap_bail_out("no counters");
        release_enclave();
        if (sysfs_read("teardown/asked", &asked) < 0)
                tap_bail_out("no counters");
        tap_is(asked, asked_before, "and then nobody is asked");
}

int main(void) {
        uint64_t used;

        if (policy_alone() < 0)
                tap_bail_out("something else has a policy attached");
        if (sysfs_read("emulation/sgx/epc_used", &used) < 0)
                tap_bail_out("no modelled EPC");

        test_update();
        test_empty();
        tap_is_errno(sysfs_wait("emulation/sgx/epc_used", used), 0, "every EPC page is free again");

        return tap_done();
}
