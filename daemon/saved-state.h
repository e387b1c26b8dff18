/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "policy.h"
#include "util.h"

/*
 * What the next instance must know of this one and cannot read from the kernel, as text in a memory file
 * that the service manager keeps together with the link: "NAME=VALUE" lines, tunables by their path. Names
 * that are not known are ignored, so that a newer and an older memsecd can follow each other.
 */
typedef struct SavedState {
        PolicyModel *model;
        char **files;
        char *object;           /* see policy_object_identity() */
        uint32_t map_id;        /* the struct_ops map that "params" belongs to */
        bool stopped;           /* ended when asked to, not by a crash */
} SavedState;

void saved_state_done(SavedState *state);
#define _cleanup_saved_state_ _cleanup_(saved_state_done)

/* An empty memory file. Returns a descriptor or a negative errno. */
int saved_state_open(void);

/* Replaces the contents of FD. */
int saved_state_write(int fd, const SavedState *state);

/* -EBADMSG: not written by saved_state_write(). */
int saved_state_read(int fd, SavedState *ret);
