// SPDX-License-Identifier: GPL-2.0-only

#include "bus-value.h"
#include "kernel.h"
#include "manager-bus.h"
#include "mechanism-bus.h"

#define MECHANISM_INTERFACE "org.memsec1.Mechanism"

/* By the name before the '.' of KeySpec.path, which is that of the kernel's directory too. */
static const struct {
        const char *name;
        const char *path;
        const char *interface;
} mechanisms[] = {
        { "teardown", BUS_PATH "/mechanism/teardown", "org.memsec1.Teardown" },
        { "directmap", BUS_PATH "/mechanism/directmap", "org.memsec1.Directmap" },
        { "keyid", BUS_PATH "/mechanism/keyid", "org.memsec1.Keyid" },
        { "xpfo", BUS_PATH "/mechanism/xpfo", "org.memsec1.Xpfo" },
};

struct MechanismObject {
        Manager *manager;
        const char *name;
        sd_bus_vtable *vtable;  /* of its tunables */
};

static bool spec_belongs_to(const KeySpec *spec, const char *mechanism) {
        const char *rest = startswith(spec->path, mechanism);

        return rest && *rest == '.';
}

static const KeySpec *spec_by_property(const MechanismObject *object, const char *property) {
        for (size_t i = 0; i < n_key_specs; i++)
                if (spec_belongs_to(key_specs + i, object->name) && streq(key_specs[i].bus_name, property))
                        return key_specs + i;

        return NULL;
}

static int property_get_tunable(sd_bus *bus, const char *path, const char *interface, const char *property,
                                sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        MechanismObject *object = userdata;
        const KeySpec *spec = spec_by_property(object, property);

        return bus_value_append(reply, spec, key_spec_get(spec, &object->manager->status.model->params));
}

static int property_set_tunable(sd_bus *bus, const char *path, const char *interface, const char *property,
                                sd_bus_message *message, void *userdata, sd_bus_error *error) {
        MechanismObject *object = userdata;
        const KeySpec *spec = spec_by_property(object, property);
        uint64_t value;
        int r;

        r = bus_value_read(message, spec, spec->bus_name, &value, error);
        if (r < 0)
                return r;

        return manager_set_tunable(object->manager, spec, value, error);
}

/* In a mechanism's directory the limits are the files "max_…"; all others count or measure. */
static bool is_limit(const KernelValue *value) {
        return startswith(value->name, "max_");
}

static int append_values(MechanismObject *object, sd_bus_message *reply, bool limits) {
        _cleanup_kernel_values_ KernelValues values = {};
        int r;

        r = kernel_values_read(object->manager->root, object->name, &values);
        if (r < 0)
                return r;

        r = sd_bus_message_open_container(reply, 'a', "{st}");
        if (r < 0)
                return r;

        for (size_t i = 0; i < values.n_items; i++) {
                if (is_limit(values.items + i) != limits)
                        continue;

                r = sd_bus_message_append(reply, "{st}", values.items[i].name, values.items[i].value);
                if (r < 0)
                        return r;
        }

        return sd_bus_message_close_container(reply);
}

static int property_get_counters(sd_bus *bus, const char *path, const char *interface, const char *property,
                                 sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        return append_values(userdata, reply, /* limits= */ false);
}

static int property_get_limits(sd_bus *bus, const char *path, const char *interface, const char *property,
                               sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        return append_values(userdata, reply, /* limits= */ true);
}

static int property_get_name(sd_bus *bus, const char *path, const char *interface, const char *property,
                             sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        MechanismObject *object = userdata;

        return sd_bus_message_append(reply, "s", object->name);
}

static const sd_bus_vtable mechanism_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Name", "s", property_get_name, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Counters", "a{st}", property_get_counters, 0, 0),
        SD_BUS_PROPERTY("Limits", "a{st}", property_get_limits, 0, 0),
        SD_BUS_VTABLE_END
};

/* A writable property for each row of the mechanism. Who may write is up to the authorizer. */
static sd_bus_vtable *tunables_vtable(const char *mechanism) {
        sd_bus_vtable *vtable;
        size_t n = 0;

        vtable = calloc(n_key_specs + 2, sizeof(sd_bus_vtable));
        if (!vtable)
                return NULL;

        vtable[n++] = (sd_bus_vtable) SD_BUS_VTABLE_START(0);
        for (size_t i = 0; i < n_key_specs; i++)
                if (spec_belongs_to(key_specs + i, mechanism))
                        vtable[n++] = (sd_bus_vtable) SD_BUS_WRITABLE_PROPERTY(
                                        key_specs[i].bus_name, bus_value_type(key_specs + i),
                                        property_get_tunable, property_set_tunable, 0,
                                        SD_BUS_VTABLE_UNPRIVILEGED | SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE);
        vtable[n] = (sd_bus_vtable) SD_BUS_VTABLE_END;

        return vtable;
}

MechanismObject *mechanism_objects_free(MechanismObject *objects) {
        for (size_t i = 0; objects && i < ELEMENTSOF(mechanisms); i++)
                free(objects[i].vtable);

        free(objects);
        return NULL;
}

static int add_object(Manager *m, size_t i) {
        MechanismObject *object = m->mechanisms + i;
        int r;

        *object = (MechanismObject) {
                .manager = m,
                .name = mechanisms[i].name,
                .vtable = tunables_vtable(mechanisms[i].name),
        };
        if (!object->vtable)
                return -ENOMEM;

        r = sd_bus_add_object_vtable(m->bus, NULL, mechanisms[i].path, MECHANISM_INTERFACE, mechanism_vtable,
                                     object);
        if (r < 0)
                return r;

        return sd_bus_add_object_vtable(m->bus, NULL, mechanisms[i].path, mechanisms[i].interface,
                                        object->vtable, object);
}

int mechanism_bus_add(Manager *m) {
        int r;

        m->mechanisms = calloc(ELEMENTSOF(mechanisms), sizeof(MechanismObject));
        if (!m->mechanisms)
                return -ENOMEM;

        for (size_t i = 0; i < ELEMENTSOF(mechanisms); i++) {
                r = add_object(m, i);
                if (r < 0)
                        return r;
        }

        return 0;
}

static int announce_object(Manager *m, size_t i) {
        _cleanup_free_ const char **changed = NULL;
        size_t n = 0;

        changed = calloc(n_key_specs + 1, sizeof(char *));
        if (!changed)
                return -ENOMEM;

        for (size_t k = 0; k < n_key_specs; k++)
                if (spec_belongs_to(key_specs + k, mechanisms[i].name) &&
                    key_spec_get(key_specs + k, &m->status.model->params) !=
                    key_spec_get(key_specs + k, &m->told.model->params))
                        changed[n++] = key_specs[k].bus_name;

        /* Of an empty list nothing is said. */
        return sd_bus_emit_properties_changed_strv(m->bus, mechanisms[i].path, mechanisms[i].interface,
                                                   (char **) changed);
}

int mechanism_bus_announce(Manager *m) {
        int r;

        for (size_t i = 0; i < ELEMENTSOF(mechanisms); i++) {
                r = announce_object(m, i);
                if (r < 0)
                        return r;
        }

        return 0;
}
