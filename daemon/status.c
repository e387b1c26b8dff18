// SPDX-License-Identifier: GPL-2.0-only

#include "status.h"

const char *state_to_string(State state) {
        static const char *const names[] = {
                [STATE_UNSUPPORTED] = "unsupported",
                [STATE_DETACHED]    = "detached",
                [STATE_ATTACHED]    = "attached",
                [STATE_FUSED]       = "fused",
        };

        return names[state];
}

void status_done(Status *status) {
        policy_model_free(status->model);
        strv_free(status->files);
        free(status->error);
        *status = (Status) {};
}

int status_copy(Status *dest, const Status *status) {
        _cleanup_(status_done) Status copy = { .state = status->state };
        int r;

        r = policy_model_copy(status->model, &copy.model);
        if (r < 0)
                return r;

        for (char **file = status->files; file && *file; file++) {
                r = strv_extend(&copy.files, *file);
                if (r < 0)
                        return r;
        }

        r = free_and_strdup(&copy.error, status->error);
        if (r < 0)
                return r;

        status_done(dest);
        *dest = copy;
        copy = (Status) {};
        return 0;
}
