/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <systemd/sd-bus.h>

/* Units on the bus: members of org.memsec1.Manager. */

int property_get_units(sd_bus *bus, const char *path, const char *interface, const char *property,
                       sd_bus_message *reply, void *userdata, sd_bus_error *error);
int property_get_unit_settings(sd_bus *bus, const char *path, const char *interface, const char *property,
                               sd_bus_message *reply, void *userdata, sd_bus_error *error);

int method_get_unit(sd_bus_message *message, void *userdata, sd_bus_error *error);
int method_set_unit(sd_bus_message *message, void *userdata, sd_bus_error *error);
