/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "manager.h"

/* One object a mechanism, with an interface whose properties are the rows of key_specs. */
int mechanism_bus_add(Manager *m);
int mechanism_bus_announce(Manager *m);

MechanismObject *mechanism_objects_free(MechanismObject *objects);
