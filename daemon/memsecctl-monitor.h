/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdbool.h>

#include "memsecctl-client.h"

/*
 * Prints a line for each change that memsecd announces, with JSON an object, until interrupted. With UNIT,
 * those of the unit's settings, whatever they come from.
 */
ExitStatus monitor_changes(const char *unit, bool json);
