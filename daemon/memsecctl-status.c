// SPDX-License-Identifier: GPL-2.0-only

#include <stdio.h>
#include <stdlib.h>

#include "memsecctl-status.h"
#include "util.h"

#define _cleanup_bus_ _cleanup_(sd_bus_flush_close_unrefp)

static ExitStatus out_of_memory(void) {
        fprintf(stderr, "Out of memory\n");
        return STATUS_FAILED;
}

void status_done(Status *status) {
        manager_done(&status->manager);
        unit_list_done(&status->units);
        tuning_list_done(&status->tuning);
        for (size_t i = 0; i < status->n_mechanisms; i++)
                mechanism_done(status->mechanisms + i);

        free(status->mechanisms);
        free(status->values);
}

/* Everything about the mechanisms that there are keys for. */
static ExitStatus fetch_mechanisms(sd_bus *bus, Status *status) {
        _cleanup_strv_free_ char **names = NULL;
        ExitStatus s;

        if (key_spec_children("", &names) < 0)
                return out_of_memory();

        status->values = calloc(keys_count(own_keys), sizeof(uint64_t));
        status->mechanisms = calloc(strv_length(names), sizeof(Mechanism));
        if (!status->values || !status->mechanisms)
                return out_of_memory();

        for (size_t i = 0; i < keys_count(own_keys); i++) {
                s = client_get_key(bus, keys_at(own_keys, i), status->values + i);
                if (s != STATUS_OK)
                        return s;
        }

        for (char **name = names; *name; name++) {
                s = client_get_mechanism(bus, *name, status->mechanisms + status->n_mechanisms++);
                if (s != STATUS_OK)
                        return s;
        }

        return STATUS_OK;
}

ExitStatus status_fetch(Status *status) {
        _cleanup_bus_ sd_bus *bus = NULL;
        ExitStatus s;

        s = client_connect(&bus);
        if (s == STATUS_OK)
                s = client_get_manager(bus, &status->manager);
        if (s == STATUS_OK)
                s = fetch_mechanisms(bus, status);
        if (s == STATUS_OK)
                s = client_get_units(bus, &status->units);
        if (s == STATUS_OK)
                s = client_get_tuning(bus, &status->tuning);

        return s;
}
