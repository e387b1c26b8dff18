/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The loops of the model at work. A loop looks at its signal once a period while the kernel asks policies
 * something; from when a period has passed without a question until the next one, it sleeps.
 */

#include "manager.h"

/* Begin with the model's loops, and forget those that were there. */
void manager_tune_start(Manager *m);
void manager_tune_free(Manager *m);

/* Somebody has set the tunable, of everyone when UNIT is NULL, or else of what that pattern stands for. */
void manager_tune_set_by_hand(Manager *m, const char *unit, const KeySpec *spec);

/* The getter of the property "Tuning". */
int property_get_tuning(sd_bus *bus, const char *path, const char *interface, const char *property,
                        sd_bus_message *reply, void *userdata, sd_bus_error *error);
