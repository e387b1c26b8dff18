/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The files under /sys/kernel/memsec. NAME is the path below it. All return a negative errno and say on
 * stderr what failed.
 */

#include <stddef.h>
#include <stdint.h>

int sysfs_read(const char *name, uint64_t *ret);
int sysfs_write(const char *name, uint64_t value);

/* The first line without its newline. */
int sysfs_read_text(const char *name, char *buffer, size_t size);

/*
 * Wait until NAME is EXPECTED, for what the kernel finishes by itself. 0, or -ETIMEDOUT when it is still
 * another number after a time in which it surely should have become so.
 */
int sysfs_wait(const char *name, uint64_t expected);
