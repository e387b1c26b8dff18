/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <systemd/sd-bus.h>

#include "policy.h"

/*
 * Values as they are on the bus: a number, with durations in µs as everywhere in systemd, or the word of a
 * choice. Functions return 0 or a negative errno.
 */

/* The D-Bus type of SPEC's values. */
const char *bus_value_type(const KeySpec *spec);

int bus_value_append(sd_bus_message *m, const KeySpec *spec, uint64_t value);

/* Reads a value of SPEC, which is called NAME in an error. Sets ERROR when it is none that SPEC allows. */
int bus_value_read(sd_bus_message *m, const KeySpec *spec, const char *name, uint64_t *ret,
                   sd_bus_error *error);

/* The same, in a variant. */
int bus_value_append_variant(sd_bus_message *m, const KeySpec *spec, uint64_t value);
int bus_value_read_variant(sd_bus_message *m, const KeySpec *spec, const char *name, uint64_t *ret,
                           sd_bus_error *error);
