/* SPDX-License-Identifier: GPL-2.0-only */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"

struct Policy {
        struct bpf_object *object;
        struct bpf_link *link;
};

static int log_error(int error, const char *what) {
        fprintf(stderr, "policy: %s: %s\n", what, strerror(-error));
        return error;
}

static int set_params(struct bpf_object *object, const struct memsec_params *params) {
        const uint64_t everyone = 0;
        const uint32_t first = 0;
        int outer, inner, r;

        outer = bpf_object__find_map_fd_by_name(object, "memsec_params");
        if (outer < 0)
                return log_error(outer, "finding the map memsec_params");

        inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bench_params", sizeof(first), sizeof(*params), 1, NULL);
        if (inner < 0)
                return log_error(-errno, "creating the parameters");

        r = bpf_map_update_elem(inner, &first, params, BPF_ANY);
        if (r >= 0)
                r = bpf_map_update_elem(outer, &everyone, &inner, BPF_ANY);
        /* The outer map holds the inner one. */
        (void) close(inner);

        return r < 0 ? log_error(r, "setting the parameters") : 0;
}

static int attach(struct bpf_object *object, struct bpf_link **ret) {
        struct bpf_map *map;

        bpf_object__for_each_map(map, object) {
                if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS)
                        continue;

                *ret = bpf_map__attach_struct_ops(map);
                return *ret ? 0 : log_error(-errno, "attaching");
        }

        return log_error(-ENOENT, "finding the struct memsec_ops");
}

int policy_attach(const char *path, const struct memsec_params *params, Policy **ret) {
        Policy *p;
        int r;

        p = calloc(1, sizeof(*p));
        if (!p)
                return log_error(-ENOMEM, path);

        p->object = bpf_object__open(path);
        if (!p->object) {
                r = log_error(-errno, path);
                goto fail;
        }

        r = bpf_object__load(p->object);
        if (r < 0) {
                (void) log_error(r, path);
                goto fail;
        }

        if (params) {
                r = set_params(p->object, params);
                if (r < 0)
                        goto fail;
        }

        r = attach(p->object, &p->link);
        if (r < 0)
                goto fail;

        *ret = p;
        return 0;

fail:
        policy_detach(p);
        return r;
}

Policy *policy_detach(Policy *p) {
        if (!p)
                return NULL;

        (void) bpf_link__destroy(p->link);
        bpf_object__close(p->object);
        free(p);
        return NULL;
}
