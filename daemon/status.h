/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "policy.h"
#include "util.h"

typedef enum State {
        STATE_UNSUPPORTED,      /* a kernel without memsec, with it turned off, or with another ABI */
        STATE_DETACHED,
        STATE_ATTACHED,
        STATE_FUSED,            /* the kernel dropped the policy because of its answers */
} State;

/* "unsupported", "detached" and so on, as on the bus. */
const char *state_to_string(State state);

/* All that the bus shows and that can change. */
typedef struct Status {
        State state;
        PolicyModel *model;     /* what is in force, or would be with a policy attached */
        char **files;           /* that the model was read from */
        char *error;            /* of the last reload or change of policy, NULL when it succeeded */
} Status;

void status_done(Status *status);

/* Makes *DEST, which may be zeroed memory, a copy. 0 or -ENOMEM, and then *DEST is unchanged. */
int status_copy(Status *dest, const Status *status);

DEFINE_TRIVIAL_CLEANUP_FUNC(PolicyModel *, policy_model_free)
