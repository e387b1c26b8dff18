/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "manager.h"

#define BUS_NAME "org.memsec1"
#define BUS_PATH "/org/memsec1"
#define MANAGER_INTERFACE "org.memsec1.Manager"

/* Put all objects on the connection. */
int manager_bus_add_objects(Manager *m);

/* Connect to the system bus, put all objects there and take the name. */
int manager_bus_connect(Manager *m);

/* Emit the signal that the kernel dropped POLICY because of its answers. */
void manager_bus_tell_fused(Manager *m, const char *policy);

/* Emit PropertiesChanged for what differs from what was told before, and nothing else. */
void manager_bus_announce(Manager *m);
