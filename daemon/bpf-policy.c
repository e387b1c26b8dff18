// SPDX-License-Identifier: GPL-2.0-only

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <linux/types.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf-policy.h"
#include "libbpf-log.h"
#include "log.h"
#include "memsec_ops.h"
#include "object.h"

void bpf_policy_done(BpfPolicy *policy) {
        safe_close(policy->link_fd);
        safe_close(policy->ops_fd);
        safe_close(policy->params_fd);
        free(policy->object);
        *policy = BPF_POLICY_NONE;
}

/* Only the descriptor is kept, because a struct bpf_link cannot be made again from a stored descriptor. */
static int attach_ops(struct bpf_map *ops) {
        struct bpf_link *link;
        int fd;

        link = bpf_map__attach_struct_ops(ops);
        if (!link)
                return -errno;

        fd = bpf_link__fd(link);
        bpf_link__disconnect(link);
        bpf_link__destroy(link);
        return fd;
}

/*
 * Attaching while another policy is attached fills the map, so that a link can be updated to it, and then
 * fails with EBUSY. Returns the link's descriptor: that of POLICY, or a new one when it has none or its link
 * was detached meanwhile.
 */
static int attach_or_update(BpfPolicy *policy, struct bpf_map *ops) {
        int fd;

        fd = attach_ops(ops);
        if (fd != -EBUSY || policy->link_fd < 0)
                return fd;

        if (bpf_link_update(policy->link_fd, bpf_map__fd(ops), NULL) < 0)
                return errno == ENOLINK ? -EBUSY : -errno;

        return policy->link_fd;
}

/* Have the kernel check the program, and give it PARAMS. */
static int load_object(const PolicyObject *object, const ParamsTable *params, char **ret_error) {
        int r;

        r = bpf_object__load(object->object);
        if (r < 0)
                return error_set(ret_error, r, "the kernel refuses the program: %s", strerror(-r));

        if (!object->params)
                return 0;

        r = bpf_policy_put_params(bpf_map__fd(object->params), params);
        if (r < 0)
                return error_set(ret_error, r, "cannot fill map '" PARAMS_MAP "': %s", strerror(-r));

        return 0;
}

/* The descriptors of the maps end with the object: keep others. */
static int keep_maps(BpfPolicy *policy, struct bpf_map *ops, struct bpf_map *params) {
        policy->ops_fd = fcntl(bpf_map__fd(ops), F_DUPFD_CLOEXEC, 3);
        if (policy->ops_fd < 0)
                return -errno;

        if (!params)
                return 0;

        policy->params_fd = fcntl(bpf_map__fd(params), F_DUPFD_CLOEXEC, 3);
        return policy->params_fd < 0 ? -errno : 0;
}

static int attach_object(BpfPolicy *policy, PolicyObject *object, const ParamsTable *params,
                         char **ret_error) {
        _cleanup_(bpf_policy_done) BpfPolicy new = BPF_POLICY_NONE;
        int fd, r;

        r = load_object(object, params, ret_error);
        if (r < 0)
                return r;

        r = keep_maps(&new, object->ops, object->params);
        if (r < 0)
                return error_set(ret_error, r, "%s", strerror(-r));

        fd = attach_or_update(policy, object->ops);
        if (fd < 0)
                return error_set(ret_error, fd, "the kernel refuses to attach it: %s", strerror(-fd));

        if (fd == policy->link_fd)
                policy->link_fd = -1;

        new.link_fd = fd;
        new.object = TAKE_PTR(object->identity);
        (void) bpf_policy_link_map_id(fd, &new.map_id);

        bpf_policy_done(policy);
        *policy = new;
        new = BPF_POLICY_NONE;
        return 0;
}

/* The same, with what libbpf and the verifier say of it. */
static int attach_logged(BpfPolicy *policy, PolicyObject *object, const ParamsTable *params,
                         char **ret_error) {
        _cleanup_free_ char *reason = NULL, *log = NULL;
        bool is_summary;
        int r;

        libbpf_log_begin();
        r = attach_object(policy, object, params, &reason);
        log = libbpf_log_end(&is_summary);
        if (r < 0 && is_summary)
                return error_set(ret_error, r, "the kernel refuses %s", log);
        if (r < 0)
                return error_set(ret_error, r, "%s%s%s", reason ?: "out of memory",
                                 log && *log ? "\n" : "", log ?: "");
        return r;
}

int bpf_policy_attach(BpfPolicy *policy, const char *name, const char *path, const OwnTunables *own,
                      const ParamsTable *params, char **ret_error) {
        _cleanup_policy_object_ PolicyObject object = {};
        _cleanup_free_ char *reason = NULL;
        int r;

        r = policy_object_open(name, path, &object, &reason);
        if (r >= 0 && !own_tunables_equal(object.own, own))
                r = error_set(&reason, -ESTALE, "was replaced while it was read; try again");
        if (r >= 0)
                r = attach_logged(policy, &object, params, &reason);

        /* libbpf has read all types of the kernel, some megabytes that will not be needed again. */
        policy_object_done(&object);
        (void) malloc_trim(0);

        if (r < 0)
                return error_set(ret_error, r, "%s: %s", path, reason ?: "out of memory");
        return r;
}

int bpf_policy_ask_again(const BpfPolicy *policy) {
        LIBBPF_OPTS(bpf_link_update_opts, same, .flags = BPF_F_REPLACE, .old_map_fd = policy->ops_fd);

        if (policy->ops_fd < 0)
                return 0;

        /* A policy that is gone is asked nothing. */
        if (bpf_link_update(policy->link_fd, policy->ops_fd, &same) < 0 && errno != ENOLINK)
                return -errno;

        return 0;
}

bool bpf_policy_link_alive(int link_fd) {
        struct pollfd p = { .fd = link_fd };

        return link_fd >= 0 && poll(&p, 1, 0) == 0;
}

int bpf_policy_link_map_id(int link_fd, uint32_t *ret) {
        struct bpf_link_info info = {};
        uint32_t size = sizeof(info);

        if (bpf_link_get_info_by_fd(link_fd, &info, &size) < 0)
                return -errno;

        if (info.type != BPF_LINK_TYPE_STRUCT_OPS)
                return -EINVAL;

        *ret = info.struct_ops.map_id;
        return 0;
}
