// SPDX-License-Identifier: GPL-2.0-only

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/types.h>
#include <string.h>

#include "maps.h"
#include "memsec_params.h"
#include "util.h"

static bool has_name(int fd, const char *name) {
        struct bpf_map_info info = {};
        uint32_t size = sizeof(info);

        return bpf_map_get_info_by_fd(fd, &info, &size) >= 0 && streq(info.name, name);
}

int map_open(const char *name, int *ret_fd) {
        _cleanup_close_ int found = -1;
        uint32_t id = 0;

        while (bpf_map_get_next_id(id, &id) >= 0) {
                _cleanup_close_ int fd = bpf_map_get_fd_by_id(id);

                if (fd < 0 || !has_name(fd, name))
                        continue;

                safe_close(found);
                found = TAKE_FD(fd);
        }

        if (found < 0)
                return -ENOENT;

        *ret_fd = TAKE_FD(found);
        return 0;
}

int map_read(int fd, uint64_t key, void *ret) {
        /* The lowest bits come first. */
        return bpf_map_lookup_elem(fd, &key, ret) < 0 ? -errno : 0;
}

int map_read_params(uint64_t cgroup_id, struct memsec_params *ret) {
        _cleanup_close_ int outer = -1, inner = -1;
        uint32_t id;
        int r;

        r = map_open("memsec_params", &outer);
        if (r >= 0)
                r = map_read(outer, cgroup_id, &id);
        if (r < 0)
                return r;

        inner = bpf_map_get_fd_by_id(id);
        return inner < 0 ? -errno : map_read(inner, 0, ret);
}
