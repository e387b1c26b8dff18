/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Memory that is not in the kernel's direct map, seen from outside. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "loader.h"

#define XPFO_PAGE_SIZE 4096

/* The number of the page at ADDRESS of PID, 0 for this process; 0 when none is there. */
uint64_t xpfo_pfn(pid_t pid, const void *address);

/* Whether the kernel can read a page by the direct map: 1, 0, or a negative errno. */
int xpfo_pfn_is_readable(uint64_t pfn);

/* The same of the page at ADDRESS of this process. */
int xpfo_is_readable(const void *address);

/* How many of N_PAGES pages from DATA on are there and cannot be read. */
size_t xpfo_count_protected(const void *data, size_t n_pages);

/* Whether that is all of them, or none. */
bool xpfo_all_protected(const void *data, size_t n_pages);
bool xpfo_none_protected(const void *data, size_t n_pages);

/* Anonymous memory, each page written to; ends the test when there is none. */
uint8_t *xpfo_map(size_t n_pages);

/* Attach a policy that protects all memory of everybody, in the place of what was attached. */
Policy *xpfo_protect_all(void);

/* A number of /sys/kernel/memsec/xpfo; ends the test when there is none. */
uint64_t xpfo_counter(const char *name);
