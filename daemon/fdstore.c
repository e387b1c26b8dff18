// SPDX-License-Identifier: GPL-2.0-only

#include <systemd/sd-daemon.h>

#include "fdstore.h"

void stored_fds_done(StoredFds *fds) {
        safe_close(fds->link_fd);
        safe_close(fds->ops_fd);
        safe_close(fds->params_fd);
        safe_close(fds->state_fd);
        *fds = STORED_FDS_NONE;
}

static int *fd_by_name(StoredFds *fds, const char *name) {
        if (streq(name, FDSTORE_LINK))
                return &fds->link_fd;
        if (streq(name, FDSTORE_OPS))
                return &fds->ops_fd;
        if (streq(name, FDSTORE_PARAMS))
                return &fds->params_fd;
        if (streq(name, FDSTORE_STATE))
                return &fds->state_fd;

        return NULL;
}

int fdstore_receive(StoredFds *ret) {
        _cleanup_strv_free_ char **names = NULL;
        StoredFds fds = STORED_FDS_NONE;
        int n;

        n = sd_listen_fds_with_names(/* unset_environment= */ true, &names);
        if (n < 0)
                return n;

        for (int i = 0; i < n; i++) {
                int *fd = fd_by_name(&fds, names[i]);

                if (fd && *fd < 0)
                        *fd = SD_LISTEN_FDS_START + i;
                else
                        safe_close(SD_LISTEN_FDS_START + i);
        }

        *ret = fds;
        return 0;
}

int fdstore_replace(const char *name, int fd) {
        _cleanup_free_ char *message = NULL;
        int r;

        if (asprintf(&message, "FDSTOREREMOVE=1\nFDNAME=%s", name) < 0) {
                message = NULL;
                return -ENOMEM;
        }

        r = sd_notify(/* unset_environment= */ false, message);
        if (r < 0 || fd < 0)
                return r;

        free(message);
        /* Polled descriptors are dropped on EPOLLERR, and a BPF map always says EPOLLERR. */
        if (asprintf(&message, "FDSTORE=1\nFDPOLL=0\nFDNAME=%s", name) < 0) {
                message = NULL;
                return -ENOMEM;
        }

        return sd_pid_notify_with_fds(0, /* unset_environment= */ false, message, &fd, 1);
}
