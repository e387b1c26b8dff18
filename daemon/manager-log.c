// SPDX-License-Identifier: GPL-2.0-only

#include "log.h"
#include "manager-log.h"

/* Whose call is being answered, as text to be freed, or NULL. Of a signal's sender nobody asks. */
static char *caller_uid(sd_bus *bus) {
        _cleanup_(sd_bus_creds_unrefp) sd_bus_creds *creds = NULL;
        sd_bus_message *call = sd_bus_get_current_message(bus);
        char *text;
        uid_t uid;

        if (!call || sd_bus_query_sender_creds(call, SD_BUS_CREDS_EUID, &creds) < 0 ||
            sd_bus_creds_get_euid(creds, &uid) < 0 || asprintf(&text, "%u", uid) < 0)
                return NULL;

        return text;
}

void manager_log_reloaded(Manager *m) {
        _cleanup_free_ char *uid = caller_uid(m->bus);

        log_full(LOG_INFO, &(LogFields) { .id = MESSAGE_RELOADED, .caller_uid = uid },
                 "Policy files are read and in force.");
}

void manager_log_set(Manager *m, const char *unit, const char *key, const char *value) {
        _cleanup_free_ char *uid = caller_uid(m->bus);

        log_full(LOG_INFO, &(LogFields) {
                .id = MESSAGE_SET,
                .unit = unit,
                .key = key,
                .value = value,
                .caller_uid = uid,
        }, "%s=%s%s%s was set by user %s.", key, value, unit ? " of " : "", unit ?: "", uid ?: "unknown");
}

void manager_log_set_tunable(Manager *m, const char *unit, const KeySpec *spec, uint64_t value) {
        _cleanup_free_ char *text = NULL;

        if (value_format(spec, value, &text) >= 0)
                manager_log_set(m, unit, spec->path, text);
}
