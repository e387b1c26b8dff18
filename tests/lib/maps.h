/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The maps of a policy that memsecd has loaded, for root. All return a negative errno. */

#include <stdint.h>

/* What bpf/hostile/calls.h counts of teardown, as a key of "calls". */
#define MAP_CALLS_TEARDOWN 2

/* The descriptor of the newest map of that name. */
int map_open(const char *name, int *ret_fd);

/* The value of KEY of an array; for a hash the key has as many bits as the map says. */
int map_read(int fd, uint64_t key, void *ret);

/* What "memsec_params" has for CGROUP_ID, 0 for everyone. */
struct memsec_params;
int map_read_params(uint64_t cgroup_id, struct memsec_params *ret);
