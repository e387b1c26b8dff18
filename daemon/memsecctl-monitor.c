// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "bus-value.h"
#include "memsecctl-monitor.h"
#include "memsecctl-show.h"
#include "util.h"

#define _cleanup_bus_ _cleanup_(sd_bus_flush_close_unrefp)
#define _cleanup_event_ _cleanup_(sd_event_unrefp)

typedef struct Monitor {
        sd_event *event;
        bool json;
        const char *unit;       /* or NULL */
        uint64_t *values;       /* the unit's, one for each key */
        bool known;             /* there are values */
} Monitor;

/* Prints CHANGE, which happened now, at once: who reads a pipe wants to see it when it happens. */
static int print_change(Monitor *monitor, const Change *change) {
        show_change(change, monitor->json);

        return fflush(stdout) == 0 ? 0 : -errno;
}

/* The property of the Manager that is called NAME: which key it is, and its text. */
static int read_manager_property(sd_bus_message *m, const char *name, Change *ret) {
        static const struct {
                const char *property;
                const char *key;
        } strings[] = {
                { "State",  "state"  },
                { "Policy", "policy" },
                { "Error",  "error"  },
        };

        for (size_t i = 0; i < ELEMENTSOF(strings); i++)
                if (streq(strings[i].property, name)) {
                        ret->key = strings[i].key;
                        return sd_bus_message_read(m, "v", "s", &ret->text);
                }

        if (streq(name, "Files")) {
                int r;

                r = sd_bus_message_enter_container(m, 'v', "as");
                if (r < 0)
                        return r;

                ret->key = "files";
                r = sd_bus_message_read_strv(m, &ret->list);
                if (r < 0)
                        return r;

                return sd_bus_message_exit_container(m);
        }

        return sd_bus_message_skip(m, "v");
}

/* The policy may be another one, with other tunables of its own: then all values are new. */
static void find_own_again(Monitor *monitor) {
        OwnTunables *before = TAKE_PTR(own_keys);

        client_find_own();
        if (!own_tunables_equal(before, own_keys))
                monitor->known = false;

        own_tunables_unref(before);
}

/* A policy has other tunables of its own than the one before. What they are called is told next. */
static int read_policy_property(sd_bus_message *m, const char *name, Monitor *monitor) {
        if (streq(name, "Tunables"))
                find_own_again(monitor);

        return sd_bus_message_skip(m, "v");
}

static int read_property(sd_bus_message *m, const char *interface, const char *name, Monitor *monitor,
                         Change *ret) {
        if (streq(interface, CLIENT_MANAGER_INTERFACE))
                return read_manager_property(m, name, ret);
        if (streq(interface, CLIENT_POLICY_INTERFACE))
                return read_policy_property(m, name, monitor);

        ret->spec = client_find_key(sd_bus_message_get_path(m), interface, name);
        if (!ret->spec)
                return sd_bus_message_skip(m, "v");

        ret->key = ret->spec->path;
        return bus_value_read_variant(m, ret->spec, name, &ret->value, NULL);
}

/* One entry of the dictionary of changed properties. */
static int read_entry(sd_bus_message *m, const char *interface, Monitor *monitor) {
        _cleanup_(change_done) Change change = {};
        const char *name;
        int r;

        r = sd_bus_message_read(m, "s", &name);
        if (r < 0)
                return r;

        r = read_property(m, interface, name, monitor, &change);
        if (r < 0)
                return r;

        return change.key ? print_change(monitor, &change) : 0;
}

static int read_changes(sd_bus_message *m, Monitor *monitor) {
        const char *interface;
        int r;

        r = sd_bus_message_read(m, "s", &interface);
        if (r < 0)
                return r;

        r = sd_bus_message_enter_container(m, 'a', "{sv}");
        if (r < 0)
                return r;

        while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
                r = read_entry(m, interface, monitor);
                if (r < 0)
                        return r;

                r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }

        return r;
}

/* A change of whatever slice or glob can be one of the unit, and memsecd tells what that comes to. */
static int ask_unit(sd_bus *bus, Monitor *monitor, bool print) {
        _cleanup_free_ uint64_t *values = NULL;
        int r;

        r = client_is_running(bus);
        if (r <= 0)
                return r;

        find_own_again(monitor);
        values = calloc(keys_count(own_keys), sizeof(uint64_t));
        if (!values)
                return -ENOMEM;

        if (client_get_unit(bus, monitor->unit, values) != STATUS_OK)
                return -EIO;

        for (size_t i = 0; r >= 0 && print && i < keys_count(own_keys); i++) {
                const KeySpec *spec = keys_at(own_keys, i);
                const Change change = { .key = spec->path, .spec = spec, .value = values[i] };

                if (!monitor->known || values[i] != monitor->values[i])
                        r = print_change(monitor, &change);
        }

        free_and_replace(monitor->values, values);
        monitor->known = true;
        return r;
}

static int on_properties_changed(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Monitor *monitor = userdata;
        int r;

        if (monitor->unit)
                r = ask_unit(sd_bus_message_get_bus(m), monitor, /* print= */ true);
        else
                r = read_changes(m, monitor);
        if (r == -ENOMEM)
                fprintf(stderr, "Out of memory\n");
        else if (r < 0)
                fprintf(stderr, "Cannot show a change: %s\n", strerror(-r));

        return r < 0 ? sd_event_exit(monitor->event, STATUS_FAILED) : 0;
}

/* memsecd has come or gone; it comes with values of its own. */
static int on_name_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Monitor *monitor = userdata;
        const char *name, *old_owner, *new_owner;
        Change change = { .key = "memsecd" };
        int r;

        r = sd_bus_message_read(m, "sss", &name, &old_owner, &new_owner);
        if (r < 0)
                return r;

        monitor->known = false;
        change.text = *new_owner ? "running" : "gone";
        r = print_change(monitor, &change);
        return r < 0 ? sd_event_exit(monitor->event, STATUS_FAILED) : 0;
}

static int add_matches(sd_bus *bus, Monitor *monitor) {
        int r;

        r = sd_bus_add_match(bus, NULL,
                             "type='signal',sender='" CLIENT_BUS_NAME "',"
                             "path_namespace='" CLIENT_MANAGER_PATH "',"
                             "interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'",
                             on_properties_changed, monitor);
        if (r < 0)
                return r;

        return sd_bus_add_match(bus, NULL,
                                "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                                "interface='org.freedesktop.DBus',member='NameOwnerChanged',"
                                "arg0='" CLIENT_BUS_NAME "'",
                                on_name_owner_changed, monitor);
}

static int prepare(sd_bus *bus, Monitor *monitor) {
        int r;

        r = sd_event_add_signal(monitor->event, NULL, SIGINT | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
        if (r < 0)
                return r;

        r = sd_event_add_signal(monitor->event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
        if (r < 0)
                return r;

        r = sd_bus_attach_event(bus, monitor->event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                return r;

        r = sd_bus_set_exit_on_disconnect(bus, true);
        if (r < 0)
                return r;

        return add_matches(bus, monitor);
}

static void monitor_done(Monitor *monitor) {
        free(monitor->values);
}

ExitStatus monitor_changes(const char *unit, bool json) {
        _cleanup_event_ sd_event *event = NULL;
        _cleanup_bus_ sd_bus *bus = NULL;
        _cleanup_(monitor_done) Monitor monitor = { .unit = unit, .json = json };
        int r;

        if (unit && !unit_name_is_valid(unit)) {
                fprintf(stderr, "Expected the name of a .service, .slice or .scope, found '%s'.\n", unit);
                return STATUS_USAGE;
        }

        /* It need not run: that it starts is a change to be shown. */
        r = sd_bus_open_system(&bus);
        if (r < 0) {
                fprintf(stderr, "Cannot connect to the system bus: %s\n", strerror(-r));
                return STATUS_FAILED;
        }

        r = sd_event_default(&event);
        if (r >= 0) {
                monitor.event = event;
                r = prepare(bus, &monitor);
        }
        if (r >= 0)
                client_find_own();
        if (r >= 0 && unit)
                r = ask_unit(bus, &monitor, /* print= */ false);
        if (r >= 0) {
                fprintf(stderr, "Monitoring memsecd; interrupt to end.\n");
                r = sd_event_loop(event);
        }
        if (r < 0) {
                fprintf(stderr, "Cannot monitor memsecd: %s\n", strerror(-r));
                return STATUS_FAILED;
        }

        return r == 0 ? STATUS_OK : STATUS_FAILED;
}
