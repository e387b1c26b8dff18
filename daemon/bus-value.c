// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>

#include "bus-value.h"
#include "util.h"

#define NSEC_PER_USEC UINT64_C(1000)

uint64_t value_to_bus(const KeySpec *spec, uint64_t value) {
        return spec->type == KEY_DURATION && !value_is_never(spec, value) ? value / NSEC_PER_USEC : value;
}

int value_from_bus(const KeySpec *spec, uint64_t value, uint64_t *ret) {
        if (spec->type == KEY_DURATION && !value_is_never(spec, value)) {
                if (value > UINT64_MAX / NSEC_PER_USEC)
                        return -ERANGE;
                value *= NSEC_PER_USEC;
        }

        if (!value_in_range(spec, value))
                return -ERANGE;

        *ret = value;
        return 0;
}

int bus_value_error(const KeySpec *spec, const char *name, uint64_t value, sd_bus_error *error) {
        _cleanup_free_ char *expected = NULL;
        int r;

        r = value_expected(spec, &expected);
        if (r < 0)
                return r;

        return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s: expected %s, found %" PRIu64 "%s",
                                 name, expected, value, spec->type == KEY_DURATION ? "us" : "");
}
