/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdint.h>

#include "policy.h"
#include "util.h"

/* The policy that memsecd holds attached. Only the descriptors are kept, not libbpf's objects. */
typedef struct BpfPolicy {
        int link_fd;            /* the attachment, -1 when there is none */
        int ops_fd;             /* the struct_ops map behind it, -1 when it is not known */
        int params_fd;          /* the map "memsec_params" of its program, -1 when it takes none */
        uint32_t map_id;        /* of that struct_ops map */
        char *object;           /* policy_object_identity() of the file it was loaded from */
} BpfPolicy;

#define BPF_POLICY_NONE ((BpfPolicy) { .link_fd = -1, .ops_fd = -1, .params_fd = -1 })

/* The parameters of a cgroup, or of everyone else. */
typedef struct ParamsEntry {
        uint64_t cgroup_id;     /* or MEMSEC_EVERYONE */
        struct memsec_params params;
} ParamsEntry;

typedef struct ParamsTable {
        ParamsEntry *items;
        size_t n_items;
} ParamsTable;

void params_table_done(ParamsTable *table);
#define _cleanup_params_table_ _cleanup_(params_table_done)

/* 0 or -ENOMEM. */
int params_table_add(ParamsTable *table, uint64_t cgroup_id, const struct memsec_params *params);

void bpf_policy_done(BpfPolicy *policy);

/*
 * Load the object of the policy NAME at PATH, whose own tunables must be OWN, give it PARAMS and attach it,
 * or put it in the place of the program that POLICY holds attached, with no moment without one. Nothing is
 * changed on failure. -EBUSY: another program is attached and it is not POLICY's. *ret_error, to be freed,
 * says what was wrong.
 */
int bpf_policy_attach(BpfPolicy *policy, const char *name, const char *path, const OwnTunables *own,
                      const ParamsTable *params, char **ret_error);

/* Set the parameters in PARAMS, of each cgroup at once, and leave others. */
int bpf_policy_put_params(int params_fd, const ParamsTable *params);

/* Make PARAMS all that there is. */
int bpf_policy_replace_params(int params_fd, const ParamsTable *params);

/* Leave the cgroups in IDS everyone's parameters. */
int bpf_policy_drop_params(int params_fd, const uint64_t *ids, size_t n_ids);

/* Have the kernel ask again what it asked with the parameters of before. */
int bpf_policy_ask_again(const BpfPolicy *policy);

/* Whether the kernel still asks the policy behind the link. */
bool bpf_policy_link_alive(int link_fd);

/* The id of the struct_ops map behind a live link. */
int bpf_policy_link_map_id(int link_fd, uint32_t *ret);
