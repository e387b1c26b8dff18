/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "manager.h"

/* The object of the policy, with an interface whose properties are the tunables that it has of its own. */
int policy_bus_add(Manager *m);

/* Tell what is different, and have the properties be those of the policy in force. */
int policy_bus_announce(Manager *m);

PolicyBus *policy_bus_free(PolicyBus *object);
