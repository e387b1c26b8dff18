// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies that the kernel must refuse: with which errno, and that nothing changes.
 */

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "loader.h"
#include "sysfs.h"
#include "tap.h"

static void is_state(const char *state, const char *policy, const char *what) {
        char text[64];

        if (sysfs_read_text("state", text, sizeof(text)) < 0)
                tap_bail_out("no /sys/kernel/memsec/state");
        tap_is_text(text, state, what);

        if (sysfs_read_text("policy", text, sizeof(text)) < 0)
                tap_bail_out("no /sys/kernel/memsec/policy");
        tap_is_text(text, policy, "and the policy's name is right");
}

/* The kernel log from here on. */
static int open_kernel_log(void) {
        int fd;

        fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 || lseek(fd, 0, SEEK_END) < 0)
                tap_bail_out("no /dev/kmsg");

        return fd;
}

static bool kernel_log_has(int fd, const char *text) {
        char record[8192];
        ssize_t n;

        while ((n = read(fd, record, sizeof(record) - 1)) > 0 || errno == EPIPE) {
                if (n <= 0)
                        continue;

                record[n] = '\0';
                if (strstr(record, text))
                        return true;
        }

        return false;
}

/* Refused when it is attached. */
static void test_attach(const char *name, int expected, const char *why) {
        _policy_cleanup_ Policy *p = NULL;

        if (!tap_is_errno(policy_load(name, &p), 0, why))
                return;

        tap_is_errno(policy_attach(p), expected, "is refused");
}

/* Refused by the verifier, which says SAYS. */
static void test_load(const char *name, int expected, const char *says, const char *why) {
        _policy_cleanup_ Policy *p = NULL;

        tap_is_errno(policy_load(name, &p), expected, why);
        if (!tap_ok(strstr(policy_log(), says), "and the reason is given: %s", says))
                fputs(policy_log(), stderr);
}

static void test_wrong_abi(void) {
        int log = open_kernel_log();

        test_attach("wrong_abi", -EPROTONOSUPPORT, "a policy for another ABI");
        tap_ok(kernel_log_has(log, "policy wrong_abi is for ABI 2, this kernel has 1"),
               "and the kernel log tells both ABIs");
        (void) close(log);
}

static void test_init_fails(void) {
        _policy_cleanup_ Policy *p = NULL;

        if (!tap_is_errno(policy_load("init_fails", &p), 0, "a policy whose init() fails"))
                return;

        tap_is_errno(policy_attach(p), -ENODATA, "is refused with what init() returned");
        tap_is(policy_calls(p, POLICY_INIT), 1, "init() was called once");
        tap_is(policy_calls(p, POLICY_EXIT), 0, "exit() was not called");
        tap_is(policy_calls(p, POLICY_TEARDOWN), 0, "it was asked nothing");
}

static void test_busy(void) {
        _policy_cleanup_ Policy *first = NULL, *second = NULL;

        if (!tap_is_errno(policy_run("fixed", &first), 0, "fixed is attached"))
                return;

        is_state("attached", "fixed", "the kernel says so");
        if (!tap_is_errno(policy_load("counting", &second), 0, "a second policy"))
                return;

        tap_is_errno(policy_attach(second), -EBUSY, "is refused while there is one");
        tap_is(policy_calls(second, POLICY_INIT), 0, "its init() was not called");
        tap_ok(!policy_was_dropped(first, 0), "the first one's link is alive");
        is_state("attached", "fixed", "fixed goes on");

        policy_detach(first);
        tap_is_errno(policy_attach(second), 0, "the second one is taken when the first is gone");
        is_state("attached", "counting", "the kernel says so");
}

int main(void) {
        if (policy_alone() < 0)
                tap_bail_out("something else has a policy attached");

        test_wrong_abi();
        test_attach("bad_flags", -EINVAL, "a policy with an unknown flag");
        test_attach("no_name", -EINVAL, "a policy without a name");
        test_attach("bad_name", -EINVAL, "a policy with a blank in its name");
        test_attach("no_link", -EOPNOTSUPP, "a policy to be attached without a link");
        test_init_fails();
        test_load("sleepable", -EINVAL, "attach to unsupported member teardown of struct memsec_ops",
                  "a teardown() that may sleep is refused");
        test_load("writes_ctx", -EACCES, "only read is supported",
                  "a policy that writes to the facts is refused");
        test_load("writes_past", -EACCES, "only read is supported",
                  "a policy that writes behind the rule is refused");
        test_load("writes_cast", -EACCES, "only read is supported",
                  "a policy that writes to what it says are facts is refused");
        is_state("detached", "", "after all of these nothing is attached");

        test_busy();
        is_state("detached", "", "in the end nothing is attached");

        return tap_done();
}
