// SPDX-License-Identifier: GPL-2.0-only

#include "log.h"
#include "manager-bus.h"
#include "manager-tune.h"
#include "mechanism-bus.h"
#include "policy-bus.h"
#include "units-bus.h"

static int property_get_state(sd_bus *bus, const char *path, const char *interface, const char *property,
                              sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;

        return sd_bus_message_append(reply, "s", state_to_string(m->status.state));
}

static int property_get_policy(sd_bus *bus, const char *path, const char *interface, const char *property,
                               sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;

        return sd_bus_message_append(reply, "s", m->status.model->policy);
}

static int property_set_policy(sd_bus *bus, const char *path, const char *interface, const char *property,
                               sd_bus_message *value, void *userdata, sd_bus_error *error) {
        _cleanup_free_ char *reason = NULL;
        Manager *m = userdata;
        const char *policy;
        int r;

        r = sd_bus_message_read(value, "s", &policy);
        if (r < 0)
                return r;

        r = policy_name_check(policy, &reason);
        if (r == -EINVAL)
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "Policy: %s", reason);
        if (r < 0)
                return r;

        return manager_set_policy(m, policy, error);
}

static int property_get_error(sd_bus *bus, const char *path, const char *interface, const char *property,
                              sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;

        return sd_bus_message_append(reply, "s", m->status.error ?: "");
}

static int property_get_files(sd_bus *bus, const char *path, const char *interface, const char *property,
                              sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;
        int r;

        r = sd_bus_message_open_container(reply, 'a', "s");
        if (r < 0)
                return r;

        for (char **file = m->status.files; file && *file; file++) {
                _cleanup_free_ char *name = strdup(*file);

                if (!name)
                        return -ENOMEM;

                text_make_printable(name);
                r = sd_bus_message_append(reply, "s", name);
                if (r < 0)
                        return r;
        }

        return sd_bus_message_close_container(reply);
}

static int property_get_version(sd_bus *bus, const char *path, const char *interface, const char *property,
                                sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        return sd_bus_message_append(reply, "s", MEMSEC_VERSION);
}

static int method_reload(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;
        int r;

        r = manager_reload(m, error);
        if (r < 0)
                return r;

        return sd_bus_reply_method_return(message, NULL);
}

/* Reading is for everybody; who may do the rest is up to the authorizer, not to sd-bus. */
static const sd_bus_vtable manager_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_reload,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetUnit", SD_BUS_ARGS("s", unit), SD_BUS_RESULT("a{sv}", settings),
                                method_get_unit, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("SetUnit", SD_BUS_ARGS("s", unit, "s", key, "v", value), SD_BUS_NO_RESULT,
                                method_set_unit, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL_WITH_ARGS("PolicyFused", SD_BUS_ARGS("s", policy), 0),
        SD_BUS_PROPERTY("Version", "s", property_get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Abi", "u", NULL, offsetof(Manager, abi), SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("State", "s", property_get_state, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_WRITABLE_PROPERTY("Policy", "s", property_get_policy, property_set_policy, 0,
                                 SD_BUS_VTABLE_UNPRIVILEGED | SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Error", "s", property_get_error, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Files", "as", property_get_files, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Units", "a(sta{sv})", property_get_units, 0, 0),
        SD_BUS_PROPERTY("UnitSettings", "a(sa{sv})", property_get_unit_settings, 0,
                        SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION),
        SD_BUS_PROPERTY("Tuning", "a(ssvsdtss)", property_get_tuning, 0,
                        SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION),
        SD_BUS_VTABLE_END
};

static bool strv_equal(char *const *a, char *const *b) {
        size_t n = strv_length(a);

        if (n != strv_length(b))
                return false;

        for (size_t i = 0; i < n; i++)
                if (!streq(a[i], b[i]))
                        return false;

        return true;
}

/* Both are of models with the same OWN. */
static bool settings_equal(const UnitSettings *a, const UnitSettings *b, const OwnTunables *own) {
        if (a->keys != b->keys || !streq(a->pattern, b->pattern))
                return false;

        for (size_t i = 0; i < keys_count(own); i++) {
                const KeySpec *spec = keys_at(own, i);

                if (a->keys & (UINT64_C(1) << i) &&
                    key_spec_get(spec, &a->params) != key_spec_get(spec, &b->params))
                        return false;
        }

        return true;
}

static bool units_equal(const PolicyModel *a, const PolicyModel *b) {
        if (a->n_units != b->n_units || !own_tunables_equal(a->own, b->own))
                return false;

        for (size_t i = 0; i < a->n_units; i++)
                if (!settings_equal(a->units + i, b->units + i, a->own))
                        return false;

        return true;
}

static int announce_manager(Manager *m) {
        const Status *now = &m->status, *told = &m->told;
        const char *changed[7] = {};
        size_t n = 0;

        if (now->state != told->state)
                changed[n++] = "State";
        if (!streq(now->model->policy, told->model->policy))
                changed[n++] = "Policy";
        if (!streq(now->error ?: "", told->error ?: ""))
                changed[n++] = "Error";
        if (!strv_equal(now->files, told->files))
                changed[n++] = "Files";
        if (!units_equal(now->model, told->model))
                changed[n++] = "UnitSettings";
        if (m->tunings_changed)
                changed[n++] = "Tuning";

        /* Of an empty list nothing is said. */
        return sd_bus_emit_properties_changed_strv(m->bus, BUS_PATH, MANAGER_INTERFACE, (char **) changed);
}

void manager_bus_tell_fused(Manager *m, const char *policy) {
        int r;

        r = sd_bus_emit_signal(m->bus, BUS_PATH, MANAGER_INTERFACE, "PolicyFused", "s", policy);
        if (r < 0)
                log_warning("Cannot tell on the bus that the kernel dropped the policy: %s", strerror(-r));
}

void manager_bus_announce(Manager *m) {
        int r;

        r = announce_manager(m);
        if (r >= 0)
                r = mechanism_bus_announce(m);
        if (r >= 0)
                r = policy_bus_announce(m);
        if (r >= 0)
                r = status_copy(&m->told, &m->status);
        if (r >= 0)
                m->tunings_changed = false;
        if (r < 0)
                log_warning("Cannot announce what changed on the bus: %s", strerror(-r));
}

int manager_bus_add_objects(Manager *m) {
        int r;

        r = sd_bus_add_object_vtable(m->bus, NULL, BUS_PATH, MANAGER_INTERFACE, manager_vtable, m);
        if (r < 0)
                return r;

        r = mechanism_bus_add(m);
        if (r < 0)
                return r;

        return policy_bus_add(m);
}

int manager_bus_connect(Manager *m) {
        int r;

        r = sd_bus_open_system(&m->bus);
        if (r < 0) {
                log_error("Cannot connect to the system bus: %s", strerror(-r));
                return r;
        }

        /* The policy runs on; the service manager starts memsecd again when there is a bus again. */
        r = sd_bus_set_exit_on_disconnect(m->bus, true);
        if (r < 0)
                return r;

        r = sd_bus_attach_event(m->bus, m->event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                return r;

        r = authorizer_new(m->bus, &m->authorizer);
        if (r < 0)
                return r;

        r = manager_bus_add_objects(m);
        if (r < 0)
                return r;

        r = sd_bus_request_name(m->bus, BUS_NAME, 0);
        if (r < 0)
                log_error("Cannot take the name " BUS_NAME " on the system bus: %s", strerror(-r));

        return r;
}
