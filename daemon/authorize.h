/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <systemd/sd-bus.h>

#include "util.h"

/*
 * Who may change something over the bus: root, memsecd's own user, and whom polkit allows
 * "org.memsec1.manage".
 *
 * polkit may wait for a password. A call that needs its answer is put aside until then, and memsecd goes on
 * with others. So sd-bus must not check privileges of its own: what may be called by anyone has to be marked
 * SD_BUS_VTABLE_UNPRIVILEGED, and is refused here unless it only reads.
 */
typedef struct Authorizer Authorizer;

/* From now on, every call on BUS is checked before it is dispatched. */
int authorizer_new(sd_bus *bus, Authorizer **ret);

/* Drops the calls that wait, without an answer. */
Authorizer *authorizer_free(Authorizer *a);

DEFINE_TRIVIAL_CLEANUP_FUNC(Authorizer *, authorizer_free)
