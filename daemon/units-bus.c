// SPDX-License-Identifier: GPL-2.0-only

#include "bus-value.h"
#include "manager.h"
#include "units-bus.h"

#define ALL_KEYS UINT64_MAX

static int append_param(sd_bus_message *reply, const KeySpec *spec, uint64_t value) {
        int r;

        r = sd_bus_message_open_container(reply, 'e', "sv");
        if (r < 0)
                return r;

        r = sd_bus_message_append(reply, "s", spec->path);
        if (r < 0)
                return r;

        r = bus_value_append_variant(reply, spec, value);
        if (r < 0)
                return r;

        return sd_bus_message_close_container(reply);
}

static int append_params(sd_bus_message *reply, const OwnTunables *own, const struct memsec_params *params,
                         uint64_t keys) {
        int r;

        r = sd_bus_message_open_container(reply, 'a', "{sv}");
        if (r < 0)
                return r;

        for (size_t i = 0; i < keys_count(own); i++) {
                const KeySpec *spec = keys_at(own, i);

                if (!(keys & (UINT64_C(1) << i)))
                        continue;

                r = append_param(reply, spec, key_spec_get(spec, params));
                if (r < 0)
                        return r;
        }

        return sd_bus_message_close_container(reply);
}

static int append_unit(sd_bus_message *reply, const OwnTunables *own, const UnitCgroup *item) {
        int r;

        r = sd_bus_message_open_container(reply, 'r', "sta{sv}");
        if (r < 0)
                return r;

        r = sd_bus_message_append(reply, "st", unit_cgroup_name(item), item->id);
        if (r < 0)
                return r;

        r = append_params(reply, own, &item->params, ALL_KEYS);
        if (r < 0)
                return r;

        return sd_bus_message_close_container(reply);
}

int property_get_units(sd_bus *bus, const char *path, const char *interface, const char *property,
                       sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        const Manager *m = userdata;
        const Units *units = m->units;
        int r;

        r = sd_bus_message_open_container(reply, 'a', "(sta{sv})");
        if (r < 0)
                return r;

        for (size_t i = 0; units && i < units->n_items; i++) {
                const UnitCgroup *item = units->items + i;

                if (!item->has_params || item->gone_usec > 0 || !unit_cgroup_name(item))
                        continue;

                r = append_unit(reply, m->status.model->own, item);
                if (r < 0)
                        return r;
        }

        return sd_bus_message_close_container(reply);
}

static int append_settings(sd_bus_message *reply, const OwnTunables *own, const UnitSettings *settings) {
        int r;

        r = sd_bus_message_open_container(reply, 'r', "sa{sv}");
        if (r < 0)
                return r;

        r = sd_bus_message_append(reply, "s", settings->pattern);
        if (r < 0)
                return r;

        r = append_params(reply, own, &settings->params, settings->keys);
        if (r < 0)
                return r;

        return sd_bus_message_close_container(reply);
}

int property_get_unit_settings(sd_bus *bus, const char *path, const char *interface, const char *property,
                               sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        const PolicyModel *model = ((Manager *) userdata)->status.model;
        int r;

        r = sd_bus_message_open_container(reply, 'a', "(sa{sv})");
        if (r < 0)
                return r;

        for (size_t i = 0; i < model->n_units; i++) {
                r = append_settings(reply, model->own, model->units + i);
                if (r < 0)
                        return r;
        }

        return sd_bus_message_close_container(reply);
}

/* What UNIT has, or would have if it ran and no slice had a say. */
static int unit_params(Manager *m, const char *unit, struct memsec_params *ret) {
        const UnitCgroup *item = units_find(m->units, unit);
        char *path;

        if (item) {
                *ret = item->params;
                return 0;
        }

        /* The underscore is systemd's mark that the rest is a name as it is. */
        if (asprintf(&path, "/_%s", unit) < 0)
                return -ENOMEM;

        (void) policy_model_cgroup_params(m->status.model, path, ret);
        free(path);
        return 0;
}

int method_get_unit(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        struct memsec_params params;
        Manager *m = userdata;
        const char *unit;
        int r;

        r = sd_bus_message_read(message, "s", &unit);
        if (r < 0)
                return r;

        if (!unit_name_is_valid(unit))
                return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
                                        "Expected the name of a .service, .slice or .scope.");

        r = unit_params(m, unit, &params);
        if (r < 0)
                return r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;

        r = append_params(reply, m->status.model->own, &params, ALL_KEYS);
        if (r < 0)
                return r;

        return sd_bus_message_send(reply);
}

int method_set_unit(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        _cleanup_free_ char *reason = NULL;
        Manager *m = userdata;
        const char *unit, *key;
        const KeySpec *spec;
        uint64_t value;
        int r;

        r = sd_bus_message_read(message, "ss", &unit, &key);
        if (r < 0)
                return r;

        r = unit_pattern_check(unit, &reason);
        if (r == -EINVAL)
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "unit: %s", reason);
        if (r < 0)
                return r;

        spec = keys_find(m->status.model->own, key);
        if (!spec)
                return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
                                        "key: expected a tunable such as 'teardown.batch'");

        r = bus_value_read_variant(message, spec, key, &value, error);
        if (r < 0)
                return r;

        r = manager_set_unit(m, unit, spec, value, error);
        if (r < 0)
                return r;

        return sd_bus_reply_method_return(message, NULL);
}
