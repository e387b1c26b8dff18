/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What a loop looks at: a number that grows, of the kernel's memsec or of its pressure stall information. */

#include "policy.h"

/*
 * Stall time in µs, or events. ROOT is put before /sys, or NULL. *cgroup, NULL at first and to be freed, is
 * where the unit was found. A negative errno when the number cannot be read; -ENOENT: there is no such unit
 * or counter now.
 */
int tune_signal_read(const char *root, const TuneLoop *loop, char **cgroup, uint64_t *ret);

/* What GROWTH in that time comes to, in what tune_measure() says. */
double tune_signal_rate(const TuneLoop *loop, uint64_t growth, uint64_t usec);
