// SPDX-License-Identifier: GPL-2.0-only

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus-value.h"
#include "memsecctl-client.h"
#include "util.h"

#define BUS_NAME CLIENT_BUS_NAME
#define MANAGER_PATH CLIENT_MANAGER_PATH
#define MANAGER_INTERFACE CLIENT_MANAGER_INTERFACE
#define MECHANISM_INTERFACE "org.memsec1.Mechanism"
#define POLICY_PATH MANAGER_PATH "/policy"
#define POLICY_INTERFACE CLIENT_POLICY_INTERFACE
#define TUNABLES_INTERFACE "org.memsec1.Tunables"

#define ERROR_INVALID_POLICY "org.memsec1.Error.InvalidPolicy"

/* A little longer than memsecd waits for polkit. */
#define QUESTION_TIMEOUT_USEC (UINT64_C(125) * 1000 * 1000)

#define _cleanup_bus_error_ _cleanup_(sd_bus_error_free)
#define _cleanup_bus_message_ _cleanup_(sd_bus_message_unrefp)

OwnTunables *own_keys = NULL;

DEFINE_TRIVIAL_CLEANUP_FUNC(OwnTunables *, own_tunables_unref)

static void number_list_done(NumberList *l) {
        for (size_t i = 0; i < l->n_items; i++)
                free(l->items[i].name);

        free(l->items);
        *l = (NumberList) {};
}

void mechanism_done(Mechanism *m) {
        free(m->name);
        number_list_done(&m->counters);
        number_list_done(&m->limits);
        *m = (Mechanism) {};
}

void manager_done(Manager *m) {
        free(m->version);
        free(m->state);
        free(m->policy);
        free(m->error);
        strv_free(m->files);
        *m = (Manager) {};
}

void unit_list_done(UnitList *l) {
        for (size_t i = 0; i < l->n_items; i++) {
                free(l->items[i].name);
                free(l->items[i].values);
        }

        free(l->items);
        *l = (UnitList) {};
}

void tuning_list_done(TuningList *l) {
        for (size_t i = 0; i < l->n_items; i++) {
                free(l->items[i].unit);
                free(l->items[i].signal);
                free(l->items[i].measure);
                free(l->items[i].state);
        }

        free(l->items);
        *l = (TuningList) {};
}

static ExitStatus not_running(void) {
        fprintf(stderr, "memsecd is not running; start it with: systemctl start memsecd\n");
        return STATUS_NOT_ATTACHED;
}

/* Says why WHAT ("Cannot reload") failed, and what a user can do about it. */
static ExitStatus report(const char *what, const sd_bus_error *error, int r) {
        if (sd_bus_error_has_names(error, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
                return not_running();

        if (sd_bus_error_has_names(error, SD_BUS_ERROR_ACCESS_DENIED,
                                   SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED)) {
                fprintf(stderr, "%s: permission denied: %s\n", what, error->message);
                return STATUS_FAILED;
        }

        /* The text is one "file:line:column: message" line an error, which editors take as it is. */
        if (sd_bus_error_has_name(error, ERROR_INVALID_POLICY)) {
                size_t n = strlen(error->message);

                fprintf(stderr, "%s%s", error->message, n > 0 && error->message[n - 1] == '\n' ? "" : "\n");
                return STATUS_FAILED;
        }

        fprintf(stderr, "%s: %s\n", what, error->message ?: strerror(-r));
        return STATUS_FAILED;
}

static ExitStatus out_of_memory(void) {
        fprintf(stderr, "Out of memory\n");
        return STATUS_FAILED;
}

/* Where somebody sits at a terminal, polkit may ask for a password, and there is time to type it. */
static int allow_questions(sd_bus *bus) {
        int r;

        if (!isatty(STDIN_FILENO))
                return 0;

        r = sd_bus_set_allow_interactive_authorization(bus, true);
        if (r < 0)
                return r;

        return sd_bus_set_method_call_timeout(bus, QUESTION_TIMEOUT_USEC);
}

int client_is_running(sd_bus *bus) {
        int r;

        r = sd_bus_get_name_creds(bus, BUS_NAME, 0, NULL);
        if (r == -ENXIO)
                return false;

        return r < 0 ? r : true;
}

/* Adds the next one. Returns 0 when there is no further one. */
static int read_description(sd_bus_message *m, OwnTunables *own) {
        _cleanup_free_ char *error = NULL;
        _cleanup_strv_free_ char **tags = NULL;
        const char *name, *bus_name;
        int r;

        r = sd_bus_message_enter_container(m, 'r', "ssas");
        if (r <= 0)
                return r;

        r = sd_bus_message_read(m, "ss", &name, &bus_name);
        if (r >= 0)
                r = sd_bus_message_read_strv(m, &tags);
        if (r >= 0)
                r = own_tunables_add(own, name, tags, &error);
        if (r >= 0)
                r = sd_bus_message_exit_container(m);

        return r < 0 ? r : 1;
}

static int read_own(sd_bus_message *m, const char *policy, OwnTunables **ret) {
        _cleanup_(own_tunables_unrefp) OwnTunables *own = NULL;
        int r;

        r = own_tunables_new(policy, &own);
        if (r >= 0)
                r = sd_bus_message_enter_container(m, 'a', "(ssas)");
        while (r > 0)
                r = read_description(m, own);
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        if (r < 0)
                return r;

        *ret = own->n_specs > 0 ? TAKE_PTR(own) : NULL;
        return 0;
}

static int fetch_own(sd_bus *bus, sd_bus_error *error) {
        _cleanup_(own_tunables_unrefp) OwnTunables *own = NULL;
        _cleanup_bus_message_ sd_bus_message *reply = NULL;
        _cleanup_free_ char *name = NULL;
        int r;

        r = sd_bus_get_property_string(bus, BUS_NAME, POLICY_PATH, POLICY_INTERFACE, "Name", error, &name);
        if (r >= 0)
                r = sd_bus_get_property(bus, BUS_NAME, POLICY_PATH, POLICY_INTERFACE, "Tunables", error,
                                        &reply, "a(ssas)");
        if (r < 0)
                return r;

        r = read_own(reply, name, &own);
        if (r < 0)
                return r;

        /* Those that were found before stay, since somebody may have kept one of their specs. */
        if (!own_tunables_equal(own, own_keys))
                own_keys = TAKE_PTR(own);
        return 0;
}

void client_find_own(void) {
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;

        if (sd_bus_open_system(&bus) >= 0 && client_is_running(bus) > 0)
                (void) fetch_own(bus, &error);
}

ExitStatus client_connect(sd_bus **ret) {
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        int r;

        r = sd_bus_open_system(ret);
        if (r >= 0)
                r = allow_questions(*ret);
        if (r < 0) {
                fprintf(stderr, "Cannot connect to the system bus: %s\n", strerror(-r));
                return STATUS_FAILED;
        }

        /* A call would start a memsecd that the administrator stopped, and so attach a policy. */
        r = client_is_running(*ret);
        if (r < 0)
                return report("Cannot find memsecd", &SD_BUS_ERROR_NULL, r);
        if (r == 0)
                return not_running();

        /* An older memsecd has no such object. */
        r = fetch_own(*ret, &error);
        if (r < 0 &&
            !sd_bus_error_has_names(&error, SD_BUS_ERROR_UNKNOWN_OBJECT, SD_BUS_ERROR_UNKNOWN_METHOD,
                                    SD_BUS_ERROR_UNKNOWN_INTERFACE, SD_BUS_ERROR_UNKNOWN_PROPERTY))
                return report("Cannot ask memsecd for the policy's tunables", &error, r);

        return STATUS_OK;
}

static ExitStatus get_string(sd_bus *bus, const char *property, char **ret) {
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        int r;

        r = sd_bus_get_property_string(bus, BUS_NAME, MANAGER_PATH, MANAGER_INTERFACE, property, &error,
                                       ret);
        if (r < 0)
                return report("Cannot ask memsecd", &error, r);

        return STATUS_OK;
}

ExitStatus client_get_manager(sd_bus *bus, Manager *ret) {
        const struct {
                const char *property;
                char **ret;
        } strings[] = {
                { "Version", &ret->version },
                { "State",   &ret->state   },
                { "Policy",  &ret->policy  },
                { "Error",   &ret->error   },
        };
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        ExitStatus s;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(strings); i++) {
                s = get_string(bus, strings[i].property, strings[i].ret);
                if (s != STATUS_OK)
                        return s;
        }

        r = sd_bus_get_property_trivial(bus, BUS_NAME, MANAGER_PATH, MANAGER_INTERFACE, "Abi", &error, 'u',
                                        &ret->abi);
        if (r >= 0)
                r = sd_bus_get_property_strv(bus, BUS_NAME, MANAGER_PATH, MANAGER_INTERFACE, "Files", &error,
                                             &ret->files);
        if (r < 0)
                return report("Cannot ask memsecd", &error, r);

        return STATUS_OK;
}

bool counter_is_gauge(const char *name) {
        static const char *const amounts[] = {
                "cached_pages", "guest_pages", "pool_pages", "protected_pages",
                "secretmem_pages", "unused_ranges", "used_pages", "xpfo_pages"
        };
        static const char *const prefixes[] = { "asids_", "direct_map_", "keyids", "last_", "longest_" };

        for (size_t i = 0; i < ELEMENTSOF(amounts); i++)
                if (streq(name, amounts[i]))
                        return true;

        for (size_t i = 0; i < ELEMENTSOF(prefixes); i++)
                if (startswith(name, prefixes[i]))
                        return true;

        return false;
}

static int number_list_add(NumberList *l, const char *name, uint64_t value) {
        NamedNumber *longer;
        char *copy;

        longer = reallocarray(l->items, l->n_items + 1, sizeof(NamedNumber));
        if (!longer)
                return -ENOMEM;
        l->items = longer;

        copy = strdup(name);
        if (!copy)
                return -ENOMEM;

        l->items[l->n_items++] = (NamedNumber) { .name = copy, .value = value };
        return 0;
}

static int read_numbers(sd_bus_message *m, NumberList *ret) {
        const char *name;
        uint64_t value;
        int r;

        r = sd_bus_message_enter_container(m, 'a', "{st}");
        if (r < 0)
                return r;

        while ((r = sd_bus_message_read(m, "{st}", &name, &value)) > 0) {
                r = number_list_add(ret, name, value);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;

        return sd_bus_message_exit_container(m);
}

static char *mechanism_path(const char *name) {
        char *path;

        return asprintf(&path, MANAGER_PATH "/mechanism/%s", name) < 0 ? NULL : path;
}

static ExitStatus get_numbers(sd_bus *bus, const char *path, const char *property, NumberList *ret) {
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_bus_message_ sd_bus_message *reply = NULL;
        int r;

        r = sd_bus_get_property(bus, BUS_NAME, path, MECHANISM_INTERFACE, property, &error, &reply, "a{st}");
        if (r >= 0)
                r = read_numbers(reply, ret);
        if (r < 0)
                return report("Cannot ask memsecd", &error, r);

        return STATUS_OK;
}

ExitStatus client_get_mechanism(sd_bus *bus, const char *name, Mechanism *ret) {
        _cleanup_free_ char *path = NULL;
        ExitStatus s;

        path = mechanism_path(name);
        ret->name = strdup(name);
        if (!path || !ret->name)
                return out_of_memory();

        s = get_numbers(bus, path, "Counters", &ret->counters);
        if (s != STATUS_OK)
                return s;

        return get_numbers(bus, path, "Limits", &ret->limits);
}

ExitStatus client_get_policy(sd_bus *bus, char **ret) {
        return get_string(bus, "Policy", ret);
}

ExitStatus client_set_policy(sd_bus *bus, const char *policy) {
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        int r;

        r = sd_bus_set_property(bus, BUS_NAME, MANAGER_PATH, MANAGER_INTERFACE, "Policy", &error, "s",
                                policy);
        if (r < 0)
                return report("Cannot set policy", &error, r);

        return STATUS_OK;
}

/*
 * Where the property of a key is: "teardown.batch" is at /mechanism/teardown, of org.memsec1.Teardown, and
 * all that a policy has of its own is at /policy.
 */
static int key_address(const KeySpec *spec, char **ret_path, char **ret_interface) {
        _cleanup_free_ char *mechanism = NULL, *path = NULL, *interface = NULL;

        if (key_is_own(spec)) {
                *ret_path = strdup(POLICY_PATH);
                *ret_interface = strdup(TUNABLES_INTERFACE);
                return *ret_path && *ret_interface ? 0 : -ENOMEM;
        }

        mechanism = strndup(spec->path, strcspn(spec->path, "."));
        if (!mechanism)
                return -ENOMEM;

        path = mechanism_path(mechanism);
        if (!path)
                return -ENOMEM;

        if (asprintf(&interface, "org.memsec1.%c%s", toupper((unsigned char) mechanism[0]),
                     mechanism + 1) < 0) {
                interface = NULL;
                return -ENOMEM;
        }

        *ret_path = TAKE_PTR(path);
        *ret_interface = TAKE_PTR(interface);
        return 0;
}

const KeySpec *client_find_key(const char *path, const char *interface, const char *property) {
        for (size_t i = 0; i < keys_count(own_keys); i++) {
                const KeySpec *spec = keys_at(own_keys, i);
                _cleanup_free_ char *spec_path = NULL, *spec_interface = NULL;

                if (!streq(spec->bus_name, property) || key_address(spec, &spec_path, &spec_interface) < 0)
                        continue;

                if (streq(spec_path, path) && streq(spec_interface, interface))
                        return spec;
        }

        return NULL;
}

ExitStatus client_get_key(sd_bus *bus, const KeySpec *spec, uint64_t *ret) {
        _cleanup_free_ char *path = NULL, *interface = NULL;
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_bus_message_ sd_bus_message *reply = NULL;
        int r;

        if (key_address(spec, &path, &interface) < 0)
                return out_of_memory();

        r = sd_bus_get_property(bus, BUS_NAME, path, interface, spec->bus_name, &error, &reply,
                                bus_value_type(spec));
        if (r >= 0)
                r = bus_value_read(reply, spec, spec->path, ret, &error);
        if (r < 0)
                return report("Cannot ask memsecd", &error, r);

        return STATUS_OK;
}

ExitStatus client_set_key(sd_bus *bus, const KeySpec *spec, uint64_t value) {
        _cleanup_free_ char *path = NULL, *interface = NULL, *what = NULL;
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_bus_message_ sd_bus_message *m = NULL;
        int r;

        if (key_address(spec, &path, &interface) < 0)
                return out_of_memory();

        if (asprintf(&what, "Cannot set %s", spec->path) < 0) {
                what = NULL;
                return out_of_memory();
        }

        r = sd_bus_message_new_method_call(bus, &m, BUS_NAME, path, "org.freedesktop.DBus.Properties",
                                           "Set");
        if (r >= 0)
                r = sd_bus_message_append(m, "ss", interface, spec->bus_name);
        if (r >= 0)
                r = bus_value_append_variant(m, spec, value);
        if (r >= 0)
                r = sd_bus_call(bus, m, 0, &error, NULL);
        if (r < 0)
                return report(what, &error, r);

        return STATUS_OK;
}

/*
 * Reads the next entry of an a{sv} of paths. Returns 0 when there is no further one. *ret is NULL for a path
 * that only a newer memsecd knows.
 */
static int read_value(sd_bus_message *m, const KeySpec **ret, uint64_t *ret_value) {
        const char *path;
        int r;

        r = sd_bus_message_enter_container(m, 'e', "sv");
        if (r <= 0)
                return r;

        r = sd_bus_message_read(m, "s", &path);
        if (r < 0)
                return r;

        *ret = keys_find(own_keys, path);
        r = *ret ? bus_value_read_variant(m, *ret, path, ret_value, NULL) : sd_bus_message_skip(m, "v");
        if (r < 0)
                return r;

        r = sd_bus_message_exit_container(m);
        return r < 0 ? r : 1;
}

static int read_values(sd_bus_message *m, uint64_t *values) {
        const KeySpec *spec;
        uint64_t value;
        int r;

        r = sd_bus_message_enter_container(m, 'a', "{sv}");
        if (r < 0)
                return r;

        while ((r = read_value(m, &spec, &value)) > 0)
                if (spec)
                        values[key_index(spec)] = value;
        if (r < 0)
                return r;

        return sd_bus_message_exit_container(m);
}

/* Returns 0 when there is no further one. */
static int read_unit(sd_bus_message *m, UnitList *l) {
        const char *name;
        Unit *longer, *unit;
        int r;

        r = sd_bus_message_enter_container(m, 'r', "sta{sv}");
        if (r <= 0)
                return r;

        longer = reallocarray(l->items, l->n_items + 1, sizeof(Unit));
        if (!longer)
                return -ENOMEM;

        l->items = longer;
        unit = longer + l->n_items++;
        *unit = (Unit) { .values = calloc(keys_count(own_keys), sizeof(uint64_t)) };
        if (!unit->values)
                return -ENOMEM;

        r = sd_bus_message_read(m, "st", &name, &unit->cgroup_id);
        if (r < 0)
                return r;

        unit->name = strdup(name);
        if (!unit->name)
                return -ENOMEM;

        r = read_values(m, unit->values);
        if (r < 0)
                return r;

        r = sd_bus_message_exit_container(m);
        return r < 0 ? r : 1;
}

static int read_tuning_members(sd_bus_message *m, Tuning *tuning) {
        const char *key, *unit, *signal, *measure, *state;
        int r;

        r = sd_bus_message_read(m, "ss", &key, &unit);
        if (r < 0)
                return r;

        tuning->spec = keys_find(own_keys, key);
        if (!tuning->spec)
                return -EBADMSG;

        r = bus_value_read_variant(m, tuning->spec, key, &tuning->value, NULL);
        if (r >= 0)
                r = sd_bus_message_read(m, "sdtss", &signal, &tuning->measured, &tuning->target, &measure,
                                        &state);
        if (r >= 0)
                r = free_and_strdup(&tuning->unit, unit);
        if (r >= 0)
                r = free_and_strdup(&tuning->signal, signal);
        if (r >= 0)
                r = free_and_strdup(&tuning->measure, measure);
        if (r >= 0)
                r = free_and_strdup(&tuning->state, state);

        return r;
}

/* Returns 0 when there is no further one. */
static int read_tuning(sd_bus_message *m, TuningList *l) {
        Tuning *longer;
        int r;

        r = sd_bus_message_enter_container(m, 'r', "ssvsdtss");
        if (r <= 0)
                return r;

        longer = reallocarray(l->items, l->n_items + 1, sizeof(Tuning));
        if (!longer)
                return -ENOMEM;

        l->items = longer;
        longer[l->n_items] = (Tuning) {};
        r = read_tuning_members(m, longer + l->n_items++);
        if (r < 0)
                return r;

        r = sd_bus_message_exit_container(m);
        return r < 0 ? r : 1;
}

ExitStatus client_get_tuning(sd_bus *bus, TuningList *ret) {
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_bus_message_ sd_bus_message *reply = NULL;
        int r;

        r = sd_bus_get_property(bus, BUS_NAME, MANAGER_PATH, MANAGER_INTERFACE, "Tuning", &error, &reply,
                                "a(ssvsdtss)");

        /* An older memsecd tunes nothing. */
        if (r < 0 && sd_bus_error_has_name(&error, SD_BUS_ERROR_UNKNOWN_PROPERTY))
                return STATUS_OK;

        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'a', "(ssvsdtss)");
        while (r > 0)
                r = read_tuning(reply, ret);

        return r < 0 ? report("Cannot ask memsecd", &error, r) : STATUS_OK;
}

static int compare_units(const void *a, const void *b) {
        return strcmp(((const Unit *) a)->name, ((const Unit *) b)->name);
}

ExitStatus client_get_units(sd_bus *bus, UnitList *ret) {
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_bus_message_ sd_bus_message *reply = NULL;
        int r;

        r = sd_bus_get_property(bus, BUS_NAME, MANAGER_PATH, MANAGER_INTERFACE, "Units", &error, &reply,
                                "a(sta{sv})");
        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'a', "(sta{sv})");
        while (r >= 0) {
                r = read_unit(reply, ret);
                if (r == 0)
                        break;
        }
        if (r < 0)
                return report("Cannot ask memsecd", &error, r);

        if (ret->n_items > 0)
                qsort(ret->items, ret->n_items, sizeof(Unit), compare_units);
        return STATUS_OK;
}

ExitStatus client_get_unit(sd_bus *bus, const char *unit, uint64_t *values) {
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_bus_message_ sd_bus_message *reply = NULL;
        int r;

        r = sd_bus_call_method(bus, BUS_NAME, MANAGER_PATH, MANAGER_INTERFACE, "GetUnit", &error, &reply,
                               "s", unit);
        if (r >= 0)
                r = read_values(reply, values);
        if (r < 0)
                return report("Cannot ask memsecd", &error, r);

        return STATUS_OK;
}

/* Adds what the next statement says, if it is of PATTERN. Returns 0 when there is no further one. */
static int read_unit_settings(sd_bus_message *m, const char *pattern, UnitSettings *settings) {
        const KeySpec *spec;
        const char *name;
        uint64_t value;
        int r;

        r = sd_bus_message_enter_container(m, 'r', "sa{sv}");
        if (r <= 0)
                return r;

        r = sd_bus_message_read(m, "s", &name);
        if (r >= 0)
                r = sd_bus_message_enter_container(m, 'a', "{sv}");
        if (r < 0)
                return r;

        while ((r = read_value(m, &spec, &value)) > 0) {
                if (!spec || !streq(name, pattern))
                        continue;

                settings->keys |= UINT64_C(1) << key_index(spec);
                key_spec_set(spec, &settings->params, value);
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        if (r >= 0)
                r = sd_bus_message_exit_container(m);

        return r < 0 ? r : 1;
}

ExitStatus client_get_unit_settings(sd_bus *bus, const char *pattern, UnitSettings *ret) {
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_bus_message_ sd_bus_message *reply = NULL;
        int r;

        *ret = (UnitSettings) {};
        r = sd_bus_get_property(bus, BUS_NAME, MANAGER_PATH, MANAGER_INTERFACE, "UnitSettings", &error,
                                &reply, "a(sa{sv})");
        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'a', "(sa{sv})");
        while (r > 0)
                r = read_unit_settings(reply, pattern, ret);
        if (r < 0)
                return report("Cannot ask memsecd", &error, r);

        return STATUS_OK;
}

ExitStatus client_set_unit_key(sd_bus *bus, const char *unit, const KeySpec *spec, uint64_t value) {
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_bus_message_ sd_bus_message *m = NULL;
        _cleanup_free_ char *what = NULL;
        int r;

        if (asprintf(&what, "Cannot set %s of %s", spec->path, unit) < 0) {
                what = NULL;
                return out_of_memory();
        }

        r = sd_bus_message_new_method_call(bus, &m, BUS_NAME, MANAGER_PATH, MANAGER_INTERFACE, "SetUnit");
        if (r >= 0)
                r = sd_bus_message_append(m, "ss", unit, spec->path);
        if (r >= 0)
                r = bus_value_append_variant(m, spec, value);
        if (r >= 0)
                r = sd_bus_call(bus, m, 0, &error, NULL);
        if (r < 0)
                return report(what, &error, r);

        return STATUS_OK;
}

ExitStatus client_reload(sd_bus *bus) {
        _cleanup_bus_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        int r;

        r = sd_bus_call_method(bus, BUS_NAME, MANAGER_PATH, MANAGER_INTERFACE, "Reload", &error, NULL, NULL);
        if (r < 0)
                return report("Cannot reload", &error, r);

        return STATUS_OK;
}
