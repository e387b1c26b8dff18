/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The object of a policy: a file, and what libbpf makes of it before the kernel sees any of it. */

#include <bpf/libbpf.h>

#include "policy.h"

/* The map that takes the parameters. */
#define PARAMS_MAP "memsec_params"

typedef struct PolicyObject {
        struct bpf_object *object;
        struct bpf_map *ops;            /* the one struct memsec_ops */
        struct bpf_map *params;         /* NULL when it takes none */
        OwnTunables *own;               /* NULL when it has none */
        char *identity;                 /* see policy_object_identity() */
} PolicyObject;

/* The file of POLICY, which policy_name_check() has taken, below ROOT or NULL. To be freed. 0 or -ENOMEM. */
int policy_object_path(const char *root, const char *policy, char **ret);

/* Text that differs when the file at PATH was replaced or written to. To be freed. */
int policy_object_identity(const char *path, char **ret);

/*
 * Open the object of POLICY at PATH. It must be a regular file, no link to one, that belongs to root or to
 * the caller, as must its directory, and that nobody else may write. Returns 0, or a negative errno and then
 * *ret_error (to be freed) says what was expected, without PATH.
 */
int policy_object_open(const char *policy, const char *path, PolicyObject *ret, char **ret_error);

void policy_object_done(PolicyObject *object);
#define _cleanup_policy_object_ _cleanup_(policy_object_done)

/*
 * Find the tunables of POLICY's own in the BTF of its object; the section that has their defaults is the
 * SIZE bytes at VALUES. Results as above.
 */
struct btf;
int own_tunables_from_btf(const struct btf *btf, const void *values, size_t size, const char *policy,
                          OwnTunables **ret, char **ret_error);
