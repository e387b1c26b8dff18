/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "manager.h"

/* What the journal gets to know of what somebody asked for, with who that was. */

void manager_log_reloaded(Manager *m);

/* KEY is "policy" or the path of a tunable; UNIT is NULL for everyone's. */
void manager_log_set(Manager *m, const char *unit, const char *key, const char *value);

void manager_log_set_tunable(Manager *m, const char *unit, const KeySpec *spec, uint64_t value);
