// SPDX-License-Identifier: GPL-2.0-only

#include "bus-value.h"
#include "manager-bus.h"
#include "policy-bus.h"

#define POLICY_PATH BUS_PATH "/policy"
#define POLICY_INTERFACE "org.memsec1.Policy"
#define TUNABLES_INTERFACE "org.memsec1.Tunables"

/* The interface that there is at the moment, none for a policy without tunables of its own. */
struct PolicyBus {
        OwnTunables *own;       /* that the table was made from */
        sd_bus_vtable *vtable;
        sd_bus_slot *slot;
};

DEFINE_TRIVIAL_CLEANUP_FUNC(PolicyBus *, policy_bus_free)

static const KeySpec *spec_by_property(const Manager *m, const char *property) {
        const OwnTunables *own = m->status.model->own;

        for (size_t i = 0; own && i < own->n_specs; i++)
                if (streq(own->specs[i].bus_name, property))
                        return own->specs + i;

        return NULL;
}

static int property_get_tunable(sd_bus *bus, const char *path, const char *interface, const char *property,
                                sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;
        const KeySpec *spec = spec_by_property(m, property);

        if (!spec)
                return -ENOENT;

        return bus_value_append(reply, spec, key_spec_get(spec, &m->status.model->params));
}

static int property_set_tunable(sd_bus *bus, const char *path, const char *interface, const char *property,
                                sd_bus_message *message, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;
        const KeySpec *spec = spec_by_property(m, property);
        uint64_t value;
        int r;

        if (!spec)
                return -ENOENT;

        r = bus_value_read(message, spec, spec->bus_name, &value, error);
        if (r < 0)
                return r;

        return manager_set_tunable(m, spec, value, error);
}

static int property_get_name(sd_bus *bus, const char *path, const char *interface, const char *property,
                             sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        _cleanup_free_ char *name = NULL;
        Manager *m = userdata;
        int r;

        r = policy_short_name(m->status.model->policy, &name);
        if (r < 0)
                return r;

        return sd_bus_message_append(reply, "s", name);
}

static int append_description(sd_bus_message *reply, const OwnTunables *own, size_t i) {
        int r;

        r = sd_bus_message_open_container(reply, 'r', "ssas");
        if (r >= 0)
                r = sd_bus_message_append(reply, "ss", own_name(own->specs + i), own->specs[i].bus_name);
        if (r >= 0)
                r = sd_bus_message_append_strv(reply, own->tags[i]);
        if (r < 0)
                return r;

        return sd_bus_message_close_container(reply);
}

static int property_get_tunables(sd_bus *bus, const char *path, const char *interface, const char *property,
                                 sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        const OwnTunables *own = ((Manager *) userdata)->status.model->own;
        int r;

        r = sd_bus_message_open_container(reply, 'a', "(ssas)");
        if (r < 0)
                return r;

        for (size_t i = 0; own && i < own->n_specs; i++) {
                r = append_description(reply, own, i);
                if (r < 0)
                        return r;
        }

        return sd_bus_message_close_container(reply);
}

static const sd_bus_vtable policy_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Name", "s", property_get_name, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Tunables", "a(ssas)", property_get_tunables, 0,
                        SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_VTABLE_END
};

/* A writable property for each. Who may write is up to the authorizer. */
static sd_bus_vtable *tunables_vtable(const OwnTunables *own) {
        sd_bus_vtable *vtable;
        size_t n = 0;

        vtable = calloc(own->n_specs + 2, sizeof(sd_bus_vtable));
        if (!vtable)
                return NULL;

        vtable[n++] = (sd_bus_vtable) SD_BUS_VTABLE_START(0);
        for (size_t i = 0; i < own->n_specs; i++)
                vtable[n++] = (sd_bus_vtable) SD_BUS_WRITABLE_PROPERTY(
                                own->specs[i].bus_name, bus_value_type(own->specs + i),
                                property_get_tunable, property_set_tunable, 0,
                                SD_BUS_VTABLE_UNPRIVILEGED | SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE);
        vtable[n] = (sd_bus_vtable) SD_BUS_VTABLE_END;

        return vtable;
}

PolicyBus *policy_bus_free(PolicyBus *object) {
        if (!object)
                return NULL;

        sd_bus_slot_unref(object->slot);
        free(object->vtable);
        own_tunables_unref(object->own);
        free(object);
        return NULL;
}

/* Puts the interface of what the policy has now in the place of that of before. */
static int replace_interface(Manager *m) {
        _cleanup_(policy_bus_freep) PolicyBus *new = NULL;
        OwnTunables *own = m->status.model->own;
        int r;

        new = calloc(1, sizeof(PolicyBus));
        if (!new)
                return -ENOMEM;

        new->own = own_tunables_ref(own);
        m->policy_bus = policy_bus_free(m->policy_bus);
        if (own) {
                new->vtable = tunables_vtable(own);
                if (!new->vtable)
                        return -ENOMEM;

                r = sd_bus_add_object_vtable(m->bus, &new->slot, POLICY_PATH, TUNABLES_INTERFACE,
                                             new->vtable, m);
                if (r < 0)
                        return r;
        }

        m->policy_bus = TAKE_PTR(new);
        return 0;
}

int policy_bus_add(Manager *m) {
        return sd_bus_add_object_vtable(m->bus, NULL, POLICY_PATH, POLICY_INTERFACE, policy_vtable, m);
}

static int announce_policy(Manager *m) {
        const char *changed[3] = {};
        size_t n = 0;

        if (!streq(m->status.model->policy, m->told.model->policy))
                changed[n++] = "Name";
        if (!own_tunables_equal(m->status.model->own, m->told.model->own))
                changed[n++] = "Tunables";

        /* Of an empty list nothing is said. */
        return sd_bus_emit_properties_changed_strv(m->bus, POLICY_PATH, POLICY_INTERFACE, (char **) changed);
}

/* Of tunables that were not there before all are told. */
static int announce_tunables(Manager *m) {
        const PolicyModel *now = m->status.model, *told = m->told.model;
        const char *changed[MEMSEC_OWN_MAX + 1] = {};
        size_t n = 0;

        for (size_t i = 0; now->own && i < now->own->n_specs; i++) {
                const KeySpec *spec = now->own->specs + i;

                if (!own_tunables_equal(now->own, told->own) ||
                    key_spec_get(spec, &now->params) != key_spec_get(spec, &told->params))
                        changed[n++] = spec->bus_name;
        }

        if (n == 0)
                return 0;

        return sd_bus_emit_properties_changed_strv(m->bus, POLICY_PATH, TUNABLES_INTERFACE,
                                                   (char **) changed);
}

int policy_bus_announce(Manager *m) {
        OwnTunables *shown = m->policy_bus ? m->policy_bus->own : NULL;
        int r = 0;

        if (shown != m->status.model->own)
                r = replace_interface(m);
        if (r >= 0)
                r = announce_policy(m);
        if (r >= 0)
                r = announce_tunables(m);

        return r;
}
