/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "manager.h"

/* A change of parameters in two steps, with the kernel in between. */
typedef struct UnitsChange {
        Units *units;           /* what is to be followed from then on */
        ParamsTable params;     /* everyone's, and of what there is */
} UnitsChange;

void units_change_done(UnitsChange *change);
#define _cleanup_units_change_ _cleanup_(units_change_done)

/* See what MODEL gives to whom. */
int manager_units_prepare(Manager *m, const PolicyModel *model, UnitsChange *ret, sd_bus_error *error);

/* It is in force: follow the units, which are those of the status's model. Takes them from CHANGE. */
void manager_units_commit(Manager *m, UnitsChange *change);

/* There is no map any more. */
void manager_units_forget(Manager *m);

/* Give the map taken over what the status's model says, and follow the units. */
void manager_units_resume(Manager *m);
