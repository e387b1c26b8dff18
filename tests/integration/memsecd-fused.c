// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsecd and the fuse: when the kernel detaches a policy, memsecd says so at once and attaches it again
 * only when asked for.
 */

#include <stdlib.h>
#include <systemd/sd-bus.h>

#include "enclave.h"
#include "sysfs.h"
#include "tap.h"
#include "util.h"

#define HOSTILE "/usr/lib/memsec/tests/policies/zero.bpf.o"

/* One question an enclave, for which the default is more than these. */
#define PAGES 16

/* A limit for a broken memsecd, never waited for otherwise. */
#define SIGNAL_TIMEOUT_USEC (60 * UINT64_C(1000000))

static void run(const char *command) {
        if (system(command) != 0)
                tap_bail_out(command);
}

static void release_enclave(void) {
        Enclave *e;

        if (enclave_build(PAGES, 1, &e) < 0)
                tap_bail_out("no enclave");
        enclave_free(e);
}

static void is_kernel_state(const char *expected, const char *what) {
        char text[64];

        if (sysfs_read_text("state", text, sizeof(text)) < 0)
                tap_bail_out("no /sys/kernel/memsec");
        tap_is_text(text, expected, what);
}

static char *property(sd_bus *bus, const char *name) {
        char *value;

        if (sd_bus_get_property_string(bus, "org.memsec1", "/org/memsec1", "org.memsec1.Manager", name, NULL,
                                       &value) < 0)
                tap_bail_out("memsecd does not answer");

        return value;
}

static void is_property(sd_bus *bus, const char *name, const char *expected, const char *what) {
        _cleanup_free_ char *value = property(bus, name);

        tap_is_text(value, expected, what);
}

static void set_policy(sd_bus *bus, const char *policy) {
        if (sd_bus_set_property(bus, "org.memsec1", "/org/memsec1", "org.memsec1.Manager", "Policy", NULL,
                                "s", policy) < 0)
                tap_bail_out("cannot set the policy");
}

typedef struct Signals {
        unsigned n_changed, n_fused;
        char policy[64];        /* of the last PolicyFused */
} Signals;

static int on_changed(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        Signals *signals = userdata;

        signals->n_changed++;
        return 0;
}

static int on_fused(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        Signals *signals = userdata;
        const char *policy;

        if (sd_bus_message_read(message, "s", &policy) < 0)
                tap_bail_out("PolicyFused has no policy");

        signals->n_fused++;
        snprintf(signals->policy, sizeof(signals->policy), "%s", policy);
        return 0;
}

/* Whether *N grew, by a signal, before the time was over. */
static bool wait_for_signal(sd_bus *bus, const unsigned *n) {
        for (;;) {
                int r;

                r = sd_bus_process(bus, NULL);
                if (r < 0)
                        tap_bail_out("the bus is gone");
                if (*n > 0)
                        return true;
                if (r == 0 && sd_bus_wait(bus, SIGNAL_TIMEOUT_USEC) == 0)
                        return false;
        }
}

static void test_fuse(sd_bus *bus) {
        _cleanup_free_ char *error = NULL;
        Signals signals = {};

        set_policy(bus, HOSTILE);
        is_property(bus, "State", "attached", "a hostile policy is attached");

        if (sd_bus_match_signal(bus, NULL, "org.memsec1", "/org/memsec1", "org.freedesktop.DBus.Properties",
                                "PropertiesChanged", on_changed, &signals) < 0 ||
            sd_bus_match_signal(bus, NULL, "org.memsec1", "/org/memsec1", "org.memsec1.Manager",
                                "PolicyFused", on_fused, &signals) < 0)
                tap_bail_out("cannot listen");

        release_enclave();
        tap_ok(wait_for_signal(bus, &signals.n_fused), "a signal tells that the fuse blew");
        tap_is_text(signals.policy, HOSTILE, "and which policy it was");
        tap_ok(wait_for_signal(bus, &signals.n_changed), "properties change");
        is_property(bus, "State", "fused", "the state says so");
        is_property(bus, "Policy", HOSTILE, "the policy is still named");
        error = property(bus, "Error");
        tap_ok(strstr(error, "too many of its answers were out of range"), "the error says why");
        is_kernel_state("fused", "the kernel has the same state");
}

static void test_restart(sd_bus *bus) {
        release_enclave();
        run("pid=$(systemctl show --property=MainPID --value memsecd); kill -KILL $pid; "
            "until [ $(systemctl show --property=MainPID --value memsecd) != $pid ] && "
            "systemctl is-active --quiet memsecd; do sleep 0.1; done");
        is_property(bus, "State", "fused", "after a crash the policy is not attached again");
        is_kernel_state("fused", "nor is any other");
}

static void test_again(sd_bus *bus) {
        set_policy(bus, HOSTILE);
        is_property(bus, "State", "attached", "it is attached again when asked for");
        release_enclave();
        run("until memsecctl status | grep -q 'State: fused'; do sleep 0.1; done");

        run("memsecctl set teardown.batch=64");
        is_property(bus, "State", "fused", "a tunable can be set, which attaches nothing");

        run("memsecctl reset");
        is_property(bus, "State", "attached", "memsecctl reset attaches the policy of the files");
        is_property(bus, "Policy", "fixed", "which is a good one");
        is_property(bus, "Error", "", "and the error is gone");
        is_kernel_state("attached", "the kernel has it");
        release_enclave();
        is_kernel_state("attached", "and keeps it");
}

/* Twice it blew, and after the crash the next instance finds that it had. */
static void test_journal(void) {
        tap_ok(system("id=$(grep -B 1 '^Subject: The kernel dropped' "
                      "/usr/lib/systemd/catalog/memsec.catalog | sed -n 's/^-- //p'); "
                      "journalctl --sync; test $(journalctl --quiet --unit=memsecd "
                      "--output=cat MESSAGE_ID=$id MEMSEC_POLICY=" HOSTILE " | wc -l) -eq 3") == 0,
               "one message in the journal each time that memsecd learned of it");
}

int main(void) {
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        uint64_t limit;

        if (sysfs_read("fuse_limit", &limit) < 0 || sysfs_write("fuse_limit", 0) < 0)
                tap_bail_out("no fuse");

        run("systemctl start memsecd");
        if (sd_bus_open_system(&bus) < 0)
                tap_bail_out("no bus");

        test_fuse(bus);
        test_restart(bus);
        test_again(bus);

        test_journal();

        run("systemctl stop memsecd");
        (void) sysfs_write("fuse_limit", limit);
        return tap_done();
}
