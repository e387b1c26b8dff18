/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "util.h"

/*
 * The service manager's store of file descriptors. What is in it outlives a crash and a restart of memsecd;
 * the manager closes it, and thereby detaches the policy, when the service is stopped.
 */
typedef struct StoredFds {
        int link_fd;
        int ops_fd;
        int params_fd;
        int state_fd;
} StoredFds;

#define STORED_FDS_NONE ((StoredFds) { -1, -1, -1, -1 })
#define FDSTORE_LINK "link"
#define FDSTORE_OPS "ops"
#define FDSTORE_PARAMS "params"
#define FDSTORE_STATE "state"

void stored_fds_done(StoredFds *fds);
#define _cleanup_stored_fds_ _cleanup_(stored_fds_done)

/* What the previous instance left; closes what it does not know. To be called once. */
int fdstore_receive(StoredFds *ret);

/* Keep FD, -1 for none, as the only one of NAME. Without a service manager nothing is kept. */
int fdstore_replace(const char *name, int fd);
