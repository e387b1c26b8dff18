// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>

#include "bus-value.h"
#include "util.h"

#define NSEC_PER_USEC UINT64_C(1000)

const char *bus_value_type(const KeySpec *spec) {
        return spec->type == KEY_CHOICE ? "s" : "t";
}

static bool is_time(const KeySpec *spec, uint64_t value) {
        return spec->type == KEY_DURATION && !value_is_never(spec, value);
}

int bus_value_append(sd_bus_message *m, const KeySpec *spec, uint64_t value) {
        if (spec->type == KEY_CHOICE)
                return sd_bus_message_append(m, "s", spec->choices[value]);

        return sd_bus_message_append(m, "t", is_time(spec, value) ? value / NSEC_PER_USEC : value);
}

static int read_choice(sd_bus_message *m, const KeySpec *spec, const char *name, uint64_t *ret,
                       sd_bus_error *error) {
        _cleanup_free_ char *reason = NULL;
        const char *word;
        int r;

        r = sd_bus_message_read(m, "s", &word);
        if (r < 0)
                return r;

        r = value_parse(spec, word, ret, &reason);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s: %s", name, reason);

        return 0;
}

static int read_number(sd_bus_message *m, const KeySpec *spec, const char *name, uint64_t *ret,
                       sd_bus_error *error) {
        _cleanup_free_ char *expected = NULL;
        uint64_t number, value;
        bool too_large = false;
        int r;

        r = sd_bus_message_read(m, "t", &number);
        if (r < 0)
                return r;

        value = number;
        if (is_time(spec, value))
                too_large = __builtin_mul_overflow(value, NSEC_PER_USEC, &value);
        if (!too_large && value_in_range(spec, value)) {
                *ret = value;
                return 0;
        }

        r = value_expected(spec, &expected);
        if (r < 0)
                return r;

        return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s: expected %s, found %" PRIu64 "%s",
                                 name, expected, number, spec->type == KEY_DURATION ? "us" : "");
}

int bus_value_read(sd_bus_message *m, const KeySpec *spec, const char *name, uint64_t *ret,
                   sd_bus_error *error) {
        return (spec->type == KEY_CHOICE ? read_choice : read_number)(m, spec, name, ret, error);
}

int bus_value_append_variant(sd_bus_message *m, const KeySpec *spec, uint64_t value) {
        int r;

        r = sd_bus_message_open_container(m, 'v', bus_value_type(spec));
        if (r < 0)
                return r;

        r = bus_value_append(m, spec, value);
        if (r < 0)
                return r;

        return sd_bus_message_close_container(m);
}

int bus_value_read_variant(sd_bus_message *m, const KeySpec *spec, const char *name, uint64_t *ret,
                           sd_bus_error *error) {
        const char *type;
        int r;

        r = sd_bus_message_peek_type(m, NULL, &type);
        if (r < 0)
                return r;
        if (!streq(type, bus_value_type(spec)))
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                                         "%s: expected type '%s', found type '%s'", name,
                                         bus_value_type(spec), type);

        r = sd_bus_message_enter_container(m, 'v', type);
        if (r < 0)
                return r;

        r = bus_value_read(m, spec, name, ret, error);
        if (r < 0)
                return r;

        return sd_bus_message_exit_container(m);
}
