// SPDX-License-Identifier: GPL-2.0-only

#include "fdstore.h"
#include "log.h"
#include "saved-state.h"
#include "takeover.h"

static int keep_state_fd(Manager *m) {
        if (m->state_fd >= 0)
                return 0;

        m->state_fd = saved_state_open();
        if (m->state_fd < 0)
                return m->state_fd;

        return fdstore_replace(FDSTORE_STATE, m->state_fd);
}

int takeover_save(Manager *m, bool stopped) {
        /* Before the first attachment there is nothing that a next instance cannot read from the files. */
        if (m->state_fd < 0)
                return 0;

        return saved_state_write(m->state_fd, &(SavedState) {
                .model = m->status.model,
                .files = m->status.files,
                .object = m->policy.object,
                .map_id = m->policy.map_id,
                .stopped = stopped,
        });
}

int takeover_keep(Manager *m, bool new_link) {
        int r;

        /* A link in the store is left there: taken out for a moment, only this process would hold it. */
        if (new_link) {
                r = fdstore_replace(FDSTORE_LINK, m->policy.link_fd);
                if (r < 0)
                        return r;
        }

        r = fdstore_replace(FDSTORE_OPS, m->policy.ops_fd);
        if (r < 0)
                return r;

        r = fdstore_replace(FDSTORE_PARAMS, m->policy.params_fd);
        if (r < 0)
                return r;

        r = keep_state_fd(m);
        if (r < 0)
                return r;

        /* Last: its map id says that the descriptors stored are those of the program attached. */
        return takeover_save(m, /* stopped= */ false);
}

int takeover_forget(Manager *m) {
        int r;

        r = takeover_save(m, /* stopped= */ false);
        if (r < 0)
                return r;

        r = fdstore_replace(FDSTORE_LINK, -1);
        if (r < 0)
                return r;

        r = fdstore_replace(FDSTORE_OPS, -1);
        if (r < 0)
                return r;

        return fdstore_replace(FDSTORE_PARAMS, -1);
}

/* Is the stored parameters map that of the program attached? Then it holds the saved values from here on. */
static bool resume_params(Manager *m, const SavedState *saved) {
        ParamsEntry everyone = { .cgroup_id = MEMSEC_EVERYONE, .params = saved->model->params };
        uint32_t map_id;
        int r;

        r = bpf_policy_link_map_id(m->policy.link_fd, &map_id);
        if (r < 0 || map_id != saved->map_id)
                return false;

        if (m->policy.params_fd < 0)
                return true;

        /* Also fails when this version has other parameters than the one that loaded the program. */
        return bpf_policy_put_params(m->policy.params_fd, &(ParamsTable) { &everyone, 1 }) >= 0 &&
                bpf_policy_ask_again(&m->policy) >= 0;
}

static Takeover take_policy(Manager *m, StoredFds *fds, SavedState *saved) {
        m->policy.ops_fd = TAKE_FD(fds->ops_fd);
        m->policy.params_fd = TAKE_FD(fds->params_fd);

        if (!resume_params(m, saved)) {
                m->policy.ops_fd = safe_close(m->policy.ops_fd);
                m->policy.params_fd = safe_close(m->policy.params_fd);
                return TAKEOVER_MISMATCH;
        }

        m->policy.map_id = saved->map_id;
        m->policy.object = TAKE_PTR(saved->object);
        return TAKEOVER_RUNNING;
}

int takeover_receive(Manager *m, Takeover *ret) {
        _cleanup_stored_fds_ StoredFds fds = STORED_FDS_NONE;
        _cleanup_saved_state_ SavedState saved = {};
        Takeover takeover = TAKEOVER_LOST;
        int r;

        r = fdstore_receive(&fds);
        if (r < 0)
                return r;

        if (bpf_policy_link_alive(fds.link_fd))
                m->policy.link_fd = TAKE_FD(fds.link_fd);

        if (fds.state_fd < 0) {
                *ret = TAKEOVER_NOTHING;
                return 0;
        }

        m->state_fd = TAKE_FD(fds.state_fd);
        r = saved_state_read(m->state_fd, &saved);
        if (r == -EBADMSG) {
                log_warning("The state of the previous instance is damaged; the policy files are read.");
                *ret = TAKEOVER_NOTHING;
                return 0;
        }
        if (r < 0)
                return r;

        if (m->policy.link_fd >= 0)
                takeover = take_policy(m, &fds, &saved);

        policy_model_free(m->status.model);
        m->status.model = TAKE_PTR(saved.model);
        strv_free(m->status.files);
        m->status.files = TAKE_PTR(saved.files);

        *ret = saved.stopped ? TAKEOVER_NOTHING : takeover;
        return 0;
}
