/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Numbers under /sys/kernel/memsec, for benchmarks. NAME is the path below it. Both return a negative errno and
 * say on stderr what failed.
 */

#include <stdint.h>

int sysfs_read(const char *name, uint64_t *ret);
int sysfs_write(const char *name, uint64_t value);
