/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdbool.h>

#include "memsecctl-client.h"

/* Prints a line for each change that memsecd announces, with JSON an object, until interrupted. */
ExitStatus monitor_changes(bool json);
