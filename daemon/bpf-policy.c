// SPDX-License-Identifier: GPL-2.0-only

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <sys/stat.h>
#include <linux/types.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf-policy.h"
#include "libbpf-log.h"
#include "log.h"
#include "memsec_ops.h"

#define PARAMS_MAP "memsec_params"

DEFINE_TRIVIAL_CLEANUP_FUNC(struct bpf_object *, bpf_object__close)

void bpf_policy_done(BpfPolicy *policy) {
        safe_close(policy->link_fd);
        safe_close(policy->ops_fd);
        safe_close(policy->params_fd);
        free(policy->object);
        *policy = BPF_POLICY_NONE;
}

int bpf_object_path(const char *root, const char *policy, char **ret) {
        int r;

        if (*policy == '/')
                r = asprintf(ret, "%s%s", root ?: "", policy);
        else
                r = asprintf(ret, "%s" MEMSEC_LIBDIR "/policies/%s.bpf.o", root ?: "", policy);

        return r < 0 ? -ENOMEM : 0;
}

int bpf_object_identity(const char *path, char **ret) {
        struct stat st;

        if (stat(path, &st) < 0)
                return -errno;

        if (asprintf(ret, "%ju:%ju:%jd:%jd.%09ld", (uintmax_t) st.st_dev, (uintmax_t) st.st_ino,
                     (intmax_t) st.st_size, (intmax_t) st.st_mtim.tv_sec, st.st_mtim.tv_nsec) < 0)
                return -ENOMEM;

        return 0;
}

/* The type of the value of a map, as the object's BTF names it. */
static const char *map_type_name(struct bpf_object *object, struct bpf_map *map) {
        const struct btf *btf = bpf_object__btf(object);
        const struct btf_type *type = btf ? btf__type_by_id(btf, bpf_map__btf_value_type_id(map)) : NULL;

        return (type ? btf__name_by_offset(btf, type->name_off) : NULL) ?: "";
}

/* The one struct_ops map of an object that was opened but not yet loaded. */
static int find_ops(struct bpf_object *object, struct bpf_map **ret, char **ret_error) {
        struct bpf_map *map, *found = NULL;
        const struct memsec_ops *ops;
        size_t size;

        bpf_object__for_each_map(map, object) {
                if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS)
                        continue;
                if (found)
                        return error_set(ret_error, -EINVAL,
                                         "expected one struct memsec_ops, found also '%s'",
                                         bpf_map__name(map));
                found = map;
        }

        if (!found)
                return error_set(ret_error, -EINVAL, "expected a struct memsec_ops, found none");
        if (!streq(map_type_name(object, found), "memsec_ops"))
                return error_set(ret_error, -EINVAL, "expected a struct memsec_ops, found '%s' of type '%s'",
                                 bpf_map__name(found), map_type_name(object, found));
        if (!(bpf_map__map_flags(found) & BPF_F_LINK))
                return error_set(ret_error, -EINVAL,
                                 "expected '%s' in section '.struct_ops.link', found it in '.struct_ops'",
                                 bpf_map__name(found));

        ops = bpf_map__initial_value(found, &size);
        if (!ops || size < offsetof(struct memsec_ops, flags))
                return error_set(ret_error, -EINVAL, "struct memsec_ops '%s' is too short",
                                 bpf_map__name(found));
        if (ops->abi != MEMSEC_ABI)
                return error_set(ret_error, -EINVAL, "expected ABI %u in '%s', found %u",
                                 MEMSEC_ABI, bpf_map__name(found), ops->abi);

        *ret = found;
        return 0;
}

/* The parameters map of an object that was opened but not yet loaded; *ret is NULL when it has none. */
static int find_params(struct bpf_object *object, struct bpf_map **ret, char **ret_error) {
        struct bpf_map *map = bpf_object__find_map_by_name(object, PARAMS_MAP), *inner;

        if (map) {
                inner = bpf_map__inner_map(map);
                if (bpf_map__type(map) != BPF_MAP_TYPE_HASH_OF_MAPS ||
                    bpf_map__key_size(map) != sizeof(uint64_t) ||
                    !inner || bpf_map__type(inner) != BPF_MAP_TYPE_ARRAY)
                        return error_set(ret_error, -EINVAL,
                                         "map '" PARAMS_MAP "' is not a hash of arrays with a 64-bit key");

                if (bpf_map__value_size(inner) != sizeof(struct memsec_params))
                        return error_set(ret_error, -EINVAL,
                                         "expected parameters of %zu bytes, found %" PRIu32
                                         ": built for another version of memsec",
                                         sizeof(struct memsec_params), bpf_map__value_size(inner));
        }

        *ret = map;
        return 0;
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

static int open_and_load(const char *path, const ParamsTable *params, struct bpf_object **ret,
                         struct bpf_map **ret_ops, struct bpf_map **ret_params, char **ret_error) {
        _cleanup_(bpf_object__closep) struct bpf_object *object = NULL;
        int r;

        object = bpf_object__open_file(path, NULL);
        if (!object)
                return error_set(ret_error, -errno, "cannot be read as a BPF object: %m");

        r = find_ops(object, ret_ops, ret_error);
        if (r < 0)
                return r;

        r = find_params(object, ret_params, ret_error);
        if (r < 0)
                return r;

        r = bpf_object__load(object);
        if (r < 0) {
                errno = -r;
                return error_set(ret_error, r, "the kernel refuses the program: %m");
        }

        if (*ret_params) {
                r = bpf_policy_put_params(bpf_map__fd(*ret_params), params);
                if (r < 0) {
                        errno = -r;
                        return error_set(ret_error, r, "cannot fill map '" PARAMS_MAP "': %m");
                }
        }

        *ret = TAKE_PTR(object);
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

static int attach_object(BpfPolicy *policy, const char *path, const ParamsTable *params,
                         char **ret_error) {
        _cleanup_(bpf_object__closep) struct bpf_object *object = NULL;
        struct bpf_map *ops = NULL, *params_map = NULL;
        _cleanup_(bpf_policy_done) BpfPolicy new = BPF_POLICY_NONE;
        int fd, r;

        /* Before the file is read: a change while it is read must not go unnoticed. */
        r = bpf_object_identity(path, &new.object);
        if (r < 0) {
                errno = -r;
                return error_set(ret_error, r, "%m");
        }

        r = open_and_load(path, params, &object, &ops, &params_map, ret_error);
        if (r < 0)
                return r;

        r = keep_maps(&new, ops, params_map);
        if (r < 0) {
                errno = -r;
                return error_set(ret_error, r, "%m");
        }

        fd = attach_or_update(policy, ops);
        if (fd < 0) {
                errno = -fd;
                return error_set(ret_error, fd, "the kernel refuses to attach it: %m");
        }

        if (fd == policy->link_fd)
                policy->link_fd = -1;

        new.link_fd = fd;
        (void) bpf_policy_link_map_id(fd, &new.map_id);

        bpf_policy_done(policy);
        *policy = new;
        new = BPF_POLICY_NONE;
        return 0;
}

int bpf_policy_attach(BpfPolicy *policy, const char *path, const ParamsTable *params, char **ret_error) {
        _cleanup_free_ char *reason = NULL, *log = NULL;
        int r;

        libbpf_log_begin();
        r = attach_object(policy, path, params, &reason);
        log = libbpf_log_end();

        /* libbpf has read all types of the kernel, some megabytes that will not be needed again. */
        (void) malloc_trim(0);

        if (r < 0)
                return error_set(ret_error, r, "%s: %s%s%s", path, reason ?: "out of memory",
                                 log && *log ? "\n" : "", log ?: "");
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
