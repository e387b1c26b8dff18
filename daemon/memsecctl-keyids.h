/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* KeyIDs and who has them, as the kernel says in /proc/memsec/keyids. */

#include <stddef.h>
#include <stdint.h>

#include "memsecctl-table.h"

typedef struct KeyidState {
        uint64_t number;
        char *state;            /* "free", "used", "retiring" or "dirty" */
        uint64_t memory, kept;  /* bytes in use, and of those how many are kept for the next who asks */
        Cgroup cgroup;          /* who took it last; its path is NULL when it is free */
} KeyidState;

typedef struct Keyids {
        KeyidState *items;
        size_t n_items;
} Keyids;

void keyids_done(Keyids *keyids);

/* ROOT is put before /proc, or NULL. */
ExitStatus keyids_load(const char *root, Keyids *ret);
