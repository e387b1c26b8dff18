/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A policy attached by the benchmark itself, so that nothing else need run beside it. */

#include <linux/types.h>

#include "memsec_params.h"

typedef struct Policy Policy;

/*
 * Load the object at PATH and attach it; it decides until policy_detach(). PARAMS are the numbers for everyone,
 * NULL leaves the policy its own. Returns a negative errno and says on stderr what failed.
 */
int policy_attach(const char *path, const struct memsec_params *params, Policy **ret);

Policy *policy_detach(Policy *p);
