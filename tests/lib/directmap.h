/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What tests of the kernel's direct map share. All end the test when they cannot do what they say. */

#include <stdint.h>

#include "loader.h"

/* A counter or gauge of the mechanism. */
uint64_t directmap_counter(const char *name);

/* Wait until NAME does not change. What the worker does is counted a moment after it is done. */
void directmap_wait_until_stays(const char *name);

/* What P has for everyone. */
void directmap_set_params(Policy *p, const struct memsec_directmap_params *directmap);

/* How much P splits ahead, in bytes, and how long, in ns, or MEMSEC_NEVER, before it puts back. */
void directmap_set(Policy *p, uint64_t ahead, uint64_t collapse_after_ns);

/* Have P put everything back that nobody needs split. */
void directmap_put_back(Policy *p);
