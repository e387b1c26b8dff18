/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <systemd/sd-bus.h>

#include "policy.h"

/* Values as they are on the bus: there durations are in µs, as everywhere in systemd. */

uint64_t value_to_bus(const KeySpec *spec, uint64_t value);

/* -ERANGE: no value that SPEC allows. */
int value_from_bus(const KeySpec *spec, uint64_t value, uint64_t *ret);

/* Sets ERROR to what SPEC, called NAME, expects instead of VALUE, and returns a negative errno. */
int bus_value_error(const KeySpec *spec, const char *name, uint64_t value, sd_bus_error *error);
