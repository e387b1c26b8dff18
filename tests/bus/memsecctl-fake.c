// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsecctl-fake STATE: a memsecd that needs no kernel, for tests/bus/memsecctl.
 *
 * It is in STATE, keeps what is set, and refuses as memsecd can: Reload() fails for a policy "broken", the
 * policy "absent" cannot be loaded, and a batch of 13, of a unit too, is denied as if the caller were not
 * root. Of units it says what was set last, and that other.service has a batch of 1. In the state "busy" its
 * counters go on with each look at them.
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>

#include "util.h"

typedef struct Fake {
        const char *state;
        uint64_t looks;         /* at the counters, while busy */
        char *policy;
        uint64_t batch;
        uint64_t max_hold_usec;
        uint64_t ahead;
        char *direction;
        uint64_t collapse_after_usec;
        uint64_t unit_batch;            /* of whatever unit */
        char *unit;                     /* whose batch was set last, or NULL */
} Fake;

static int get_policy(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                      const char *property _unused_, sd_bus_message *reply, void *userdata,
                      sd_bus_error *error _unused_) {
        Fake *fake = userdata;

        return sd_bus_message_append(reply, "s", fake->policy);
}

static int set_policy(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                      const char *property _unused_, sd_bus_message *value, void *userdata,
                      sd_bus_error *error) {
        Fake *fake = userdata;
        const char *policy;
        int r;

        r = sd_bus_message_read(value, "s", &policy);
        if (r < 0)
                return r;

        if (streq(policy, "absent"))
                return sd_bus_error_set(error, "org.memsec1.Error.Load", "there is no policy 'absent'");

        return free_and_strdup(&fake->policy, policy);
}

static int get_text(sd_bus *bus _unused_, const char *path, const char *interface _unused_,
                    const char *property, sd_bus_message *reply, void *userdata,
                    sd_bus_error *error _unused_) {
        Fake *fake = userdata;

        if (streq(property, "State"))
                return sd_bus_message_append(reply, "s", fake->state);
        if (streq(property, "Version"))
                return sd_bus_message_append(reply, "s", "47.11");
        if (streq(property, "Whole"))
                return sd_bus_message_append(reply, "s", "leave");
        if (streq(property, "Flush"))
                return sd_bus_message_append(reply, "s", "on-mismatch");
        if (streq(property, "Protect"))
                return sd_bus_message_append(reply, "s", "none");
        if (streq(property, "Name"))
                return sd_bus_message_append(reply, "s", strrchr(path, '/') + 1);

        return sd_bus_message_append(reply, "s", streq(fake->state, "fused") ? "the fuse blew" : "");
}

static int get_abi(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                   const char *property _unused_, sd_bus_message *reply, void *userdata _unused_,
                   sd_bus_error *error _unused_) {
        return sd_bus_message_append(reply, "u", 1);
}

static int get_files(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                     const char *property _unused_, sd_bus_message *reply, void *userdata _unused_,
                     sd_bus_error *error _unused_) {
        return sd_bus_message_append(reply, "as", 2, "/usr/lib/memsec/policy.yaml",
                                     "/etc/memsec/policy.yaml");
}

static int get_numbers(sd_bus *bus _unused_, const char *path, const char *interface _unused_,
                       const char *property, sd_bus_message *reply, void *userdata,
                       sd_bus_error *error _unused_) {
        Fake *fake = userdata;

        if (streq(property, "Limits"))
                return sd_bus_message_append(reply, "a{st}", 1, "max_hold_us", UINT64_C(4000));

        if (streq(fake->state, "busy") && endswith(path, "/teardown")) {
                fake->looks++;
                return sd_bus_message_append(reply, "a{st}", 4, "asked", fake->looks * 1000,
                                             "pages", UINT64_MAX, "longest_hold_ns", fake->looks * 5,
                                             "reset", UINT64_MAX - fake->looks);
        }

        return sd_bus_message_append(reply, "a{st}", 2, "asked", UINT64_C(11),
                                     endswith(path, "/directmap") ? "secretmem_pages" :
                                     endswith(path, "/keyid") ? "keyids_free" : "pages", UINT64_MAX);
}

static int get_key(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                   const char *property _unused_, sd_bus_message *reply, void *userdata,
                   sd_bus_error *error _unused_) {
        uint64_t *key = userdata;

        return sd_bus_message_append(reply, "t", *key);
}

/* Numbers that no test sets: a time is never, all others are 0. */
static int get_fixed(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                     const char *property, sd_bus_message *reply, void *userdata _unused_,
                     sd_bus_error *error _unused_) {
        if (streq(property, "Batch"))
                return sd_bus_message_append(reply, "t", UINT64_C(128));
        if (streq(property, "Pool"))
                return sd_bus_message_append(reply, "t", UINT64_C(16777216));

        return sd_bus_message_append(reply, "t", endswith(property, "USec") ? UINT64_MAX : UINT64_C(0));
}

static int set_key(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                   const char *property _unused_, sd_bus_message *value, void *userdata,
                   sd_bus_error *error) {
        uint64_t *key = userdata, number;
        int r;

        r = sd_bus_message_read(value, "t", &number);
        if (r < 0)
                return r;

        if (number == 13)
                return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED, "Access denied");

        *key = number;
        return 0;
}

static int get_word(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                    const char *property _unused_, sd_bus_message *reply, void *userdata,
                    sd_bus_error *error _unused_) {
        char **word = userdata;

        return sd_bus_message_append(reply, "s", *word);
}

static int set_word(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                    const char *property _unused_, sd_bus_message *value, void *userdata,
                    sd_bus_error *error _unused_) {
        const char *word;
        int r;

        r = sd_bus_message_read(value, "s", &word);
        return r < 0 ? r : free_and_strdup(userdata, word);
}

static int append_unit(Fake *fake, sd_bus_message *reply) {
        return sd_bus_message_append(reply, "a{sv}", 14, "teardown.batch", "t", fake->unit_batch,
                                     "teardown.max_hold", "t", fake->max_hold_usec,
                                     "directmap.ahead", "t", fake->ahead,
                                     "directmap.direction", "s", fake->direction,
                                     "directmap.whole", "s", "leave",
                                     "directmap.collapse.after", "t", fake->collapse_after_usec,
                                     "keyid.flush", "s", "on-mismatch",
                                     "keyid.search", "t", UINT64_C(0),
                                     "keyid.cache", "t", UINT64_C(0),
                                     "keyid.recycle.at", "t", UINT64_C(0),
                                     "keyid.recycle.idle", "t", UINT64_MAX,
                                     "xpfo.protect", "s", "none",
                                     "xpfo.batch", "t", UINT64_C(128),
                                     "xpfo.pool", "t", UINT64_C(16777216));
}

static int get_units(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                     const char *property _unused_, sd_bus_message *reply, void *userdata,
                     sd_bus_error *error _unused_) {
        static const char *const names[] = { "b.service", "a@1.service" };
        int r;

        r = sd_bus_message_open_container(reply, 'a', "(sta{sv})");
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(names); i++) {
                r = sd_bus_message_open_container(reply, 'r', "sta{sv}");
                if (r >= 0)
                        r = sd_bus_message_append(reply, "st", names[i], (uint64_t) 70 + i);
                if (r >= 0)
                        r = append_unit(userdata, reply);
                if (r >= 0)
                        r = sd_bus_message_close_container(reply);
        }
        if (r < 0)
                return r;

        return sd_bus_message_close_container(reply);
}

static int get_tuning(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                      const char *property _unused_, sd_bus_message *reply, void *userdata,
                      sd_bus_error *error _unused_) {
        Fake *fake = userdata;

        return sd_bus_message_append(reply, "a(ssvsdtss)", 2,
                                     "teardown.batch", "", "t", fake->batch,
                                     "cpu pressure of b.service", 9.84, UINT64_C(5), "%", "moving",
                                     "teardown.max_hold", "a@.service", "t", fake->max_hold_usec,
                                     "teardown.breaks", -1.0, UINT64_C(200), "/s", "waiting");
}

static int append_batch(sd_bus_message *reply, const char *unit, uint64_t batch) {
        return sd_bus_message_append(reply, "(sa{sv})", unit, 1, "teardown.batch", "t", batch);
}

static int get_unit_settings(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                             const char *property _unused_, sd_bus_message *reply, void *userdata,
                             sd_bus_error *error _unused_) {
        Fake *fake = userdata;
        int r;

        r = sd_bus_message_open_container(reply, 'a', "(sa{sv})");
        if (r >= 0)
                r = append_batch(reply, "other.service", 1);
        if (r >= 0 && fake->unit)
                r = append_batch(reply, fake->unit, fake->unit_batch);
        if (r < 0)
                return r;

        return sd_bus_message_close_container(reply);
}

static int get_unit(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(m, &reply);
        if (r >= 0)
                r = append_unit(userdata, reply);
        if (r < 0)
                return r;

        return sd_bus_message_send(reply);
}

static int set_unit(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *unit, *key;
        Fake *fake = userdata;
        uint64_t value;
        int r;

        r = sd_bus_message_read(m, "ssv", &unit, &key, "t", &value);
        if (r < 0)
                return r;

        if (value == 13)
                return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED, "Access denied");

        if (streq(key, "teardown.batch")) {
                fake->unit_batch = value;
                r = free_and_strdup(&fake->unit, unit);
                if (r < 0)
                        return r;
        } else
                fake->max_hold_usec = value;

        return sd_bus_reply_method_return(m, NULL);
}

static int reload(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Fake *fake = userdata;

        if (streq(fake->policy, "broken"))
                return sd_bus_error_set(error, "org.memsec1.Error.InvalidPolicy",
                                        "/etc/memsec/policy.yaml:3:9: one\n"
                                        "/etc/memsec/policy.yaml:4:9: two");

        fake->batch = 4096;
        return sd_bus_reply_method_return(m, NULL);
}

#define WRITABLE(name, signature, get, set, offset)                                     \
        SD_BUS_WRITABLE_PROPERTY(name, signature, get, set, offset,                     \
                                 SD_BUS_VTABLE_UNPRIVILEGED | SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)

static const sd_bus_vtable manager_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Version", "s", get_text, 0, 0),
        SD_BUS_PROPERTY("State", "s", get_text, 0, 0),
        WRITABLE("Policy", "s", get_policy, set_policy, 0),
        SD_BUS_PROPERTY("Abi", "u", get_abi, 0, 0),
        SD_BUS_PROPERTY("Error", "s", get_text, 0, 0),
        SD_BUS_PROPERTY("Files", "as", get_files, 0, 0),
        SD_BUS_PROPERTY("Units", "a(sta{sv})", get_units, 0, 0),
        SD_BUS_PROPERTY("Tuning", "a(ssvsdtss)", get_tuning, 0, 0),
        SD_BUS_PROPERTY("UnitSettings", "a(sa{sv})", get_unit_settings, 0, 0),
        SD_BUS_METHOD("Reload", NULL, NULL, reload, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("GetUnit", "s", "a{sv}", get_unit, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("SetUnit", "ssv", NULL, set_unit, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END
};

static const sd_bus_vtable mechanism_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Name", "s", get_text, 0, 0),
        SD_BUS_PROPERTY("Counters", "a{st}", get_numbers, 0, 0),
        SD_BUS_PROPERTY("Limits", "a{st}", get_numbers, 0, 0),
        SD_BUS_VTABLE_END
};

static const sd_bus_vtable teardown_vtable[] = {
        SD_BUS_VTABLE_START(0),
        WRITABLE("Batch", "t", get_key, set_key, offsetof(Fake, batch)),
        WRITABLE("MaxHoldUSec", "t", get_key, set_key, offsetof(Fake, max_hold_usec)),
        SD_BUS_VTABLE_END
};

static const sd_bus_vtable directmap_vtable[] = {
        SD_BUS_VTABLE_START(0),
        WRITABLE("Ahead", "t", get_key, set_key, offsetof(Fake, ahead)),
        WRITABLE("Direction", "s", get_word, set_word, offsetof(Fake, direction)),
        SD_BUS_PROPERTY("Whole", "s", get_text, 0, 0),
        WRITABLE("CollapseAfterUSec", "t", get_key, set_key, offsetof(Fake, collapse_after_usec)),
        SD_BUS_VTABLE_END
};

static const sd_bus_vtable keyid_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Flush", "s", get_text, 0, 0),
        SD_BUS_PROPERTY("Search", "t", get_fixed, 0, 0),
        SD_BUS_PROPERTY("Cache", "t", get_fixed, 0, 0),
        SD_BUS_PROPERTY("RecycleAt", "t", get_fixed, 0, 0),
        SD_BUS_PROPERTY("RecycleIdleUSec", "t", get_fixed, 0, 0),
        SD_BUS_VTABLE_END
};

static const sd_bus_vtable xpfo_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Protect", "s", get_text, 0, 0),
        SD_BUS_PROPERTY("Batch", "t", get_fixed, 0, 0),
        SD_BUS_PROPERTY("Pool", "t", get_fixed, 0, 0),
        SD_BUS_VTABLE_END
};

static int add_mechanism(sd_bus *bus, const char *path, const char *interface, const sd_bus_vtable *vtable,
                         Fake *fake) {
        int r;

        r = sd_bus_add_object_vtable(bus, NULL, path, "org.memsec1.Mechanism", mechanism_vtable, fake);
        if (r < 0)
                return r;

        return sd_bus_add_object_vtable(bus, NULL, path, interface, vtable, fake);
}

static int serve(Fake *fake) {
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int r;

        r = sd_bus_open_system(&bus);
        if (r < 0)
                return r;

        r = sd_bus_add_object_vtable(bus, NULL, "/org/memsec1", "org.memsec1.Manager", manager_vtable, fake);
        if (r < 0)
                return r;

        r = add_mechanism(bus, "/org/memsec1/mechanism/teardown", "org.memsec1.Teardown", teardown_vtable,
                          fake);
        if (r < 0)
                return r;

        r = add_mechanism(bus, "/org/memsec1/mechanism/directmap", "org.memsec1.Directmap", directmap_vtable,
                          fake);
        if (r < 0)
                return r;

        r = add_mechanism(bus, "/org/memsec1/mechanism/keyid", "org.memsec1.Keyid", keyid_vtable, fake);
        if (r < 0)
                return r;

        r = add_mechanism(bus, "/org/memsec1/mechanism/xpfo", "org.memsec1.Xpfo", xpfo_vtable, fake);
        if (r < 0)
                return r;

        r = sd_bus_request_name(bus, "org.memsec1", 0);
        if (r < 0)
                return r;

        /* Who waits for this line can call. */
        puts("ready");
        fflush(stdout);

        for (;;) {
                r = sd_bus_process(bus, NULL);
                if (r == 0)
                        r = sd_bus_wait(bus, UINT64_MAX);
                if (r < 0)
                        return r;
        }
}

int main(int argc, char **argv) {
        Fake fake = { .state = argc > 1 ? argv[1] : "attached", .batch = 4096, .max_hold_usec = 500,
                      .unit_batch = 8, .collapse_after_usec = UINT64_MAX };
        int r;

        fake.policy = strdup("fixed");
        fake.direction = strdup("follow");
        if (!fake.policy || !fake.direction)
                return EXIT_FAILURE;

        r = serve(&fake);
        fprintf(stderr, "Cannot serve: %s\n", strerror(-r));
        free(fake.policy);
        free(fake.unit);
        free(fake.direction);
        return EXIT_FAILURE;
}
