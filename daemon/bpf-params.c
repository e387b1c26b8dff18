// SPDX-License-Identifier: GPL-2.0-only

/*
 * The parameters of a policy. The kernel waits for an RCU grace period once a system call, so that programs
 * no longer see what was there before: hence batches.
 */

#include <linux/types.h>

#include <bpf/bpf.h>

#include "bpf-policy.h"

/* Entries of a batch. Each may need a descriptor until it is in the map. */
#define BATCH_MAX 256

void params_table_done(ParamsTable *table) {
        free(table->items);
        *table = (ParamsTable) {};
}

int params_table_add(ParamsTable *table, uint64_t cgroup_id, const struct memsec_params *params) {
        ParamsEntry *longer;

        longer = reallocarray(table->items, table->n_items + 1, sizeof(ParamsEntry));
        if (!longer)
                return -ENOMEM;

        table->items = longer;
        table->items[table->n_items++] = (ParamsEntry) { .cgroup_id = cgroup_id, .params = *params };
        return 0;
}

static int inner_map_new(const struct memsec_params *params) {
        _cleanup_close_ int fd = -1;
        uint32_t first = 0;

        fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "memsec_values", sizeof(first), sizeof(*params), 1, NULL);
        if (fd < 0)
                return -errno;

        if (bpf_map_update_elem(fd, &first, params, BPF_ANY) < 0)
                return -errno;

        return TAKE_FD(fd);
}

/* The map of an earlier entry with the same parameters, or -1: instances of a template share theirs. */
static int find_inner_map(const ParamsEntry *entries, size_t i, const int fds[]) {
        for (size_t k = 0; k < i; k++)
                if (memcmp(&entries[k].params, &entries[i].params, sizeof(struct memsec_params)) == 0)
                        return fds[k];

        return -1;
}

/* Puts up to BATCH_MAX entries. A reader has either the old inner map or the new one. */
static int put_batch(int params_fd, const ParamsEntry *entries, uint32_t n) {
        int fds[BATCH_MAX] = {}, own[BATCH_MAX], r = 0;
        uint64_t ids[BATCH_MAX] = {};
        size_t n_own = 0;

        for (size_t i = 0; i < n; i++) {
                ids[i] = entries[i].cgroup_id;
                fds[i] = find_inner_map(entries, i, fds);
                if (fds[i] >= 0)
                        continue;

                fds[i] = inner_map_new(&entries[i].params);
                if (fds[i] < 0) {
                        r = fds[i];
                        break;
                }

                own[n_own++] = fds[i];
        }

        if (r >= 0)
                r = RET_NERRNO(bpf_map_update_batch(params_fd, ids, fds, &n, NULL));

        while (n_own > 0)
                safe_close(own[--n_own]);

        return r;
}

int bpf_policy_put_params(int params_fd, const ParamsTable *params) {
        int r;

        for (size_t i = 0; i < params->n_items; i += BATCH_MAX) {
                size_t left = params->n_items - i;

                r = put_batch(params_fd, params->items + i, left < BATCH_MAX ? left : BATCH_MAX);
                if (r < 0)
                        return r;
        }

        return 0;
}

int bpf_policy_drop_params(int params_fd, const uint64_t *ids, size_t n_ids) {
        while (n_ids > 0) {
                uint32_t n = n_ids;

                if (bpf_map_delete_batch(params_fd, ids, &n, NULL) < 0) {
                        if (errno != ENOENT)
                                return -errno;

                        /* It has removed N, and found no next one. */
                        n++;
                }

                ids += n;
                n_ids -= n;
        }

        return 0;
}

static bool has_entry(const ParamsTable *params, uint64_t cgroup_id) {
        for (size_t i = 0; i < params->n_items; i++)
                if (params->items[i].cgroup_id == cgroup_id)
                        return true;

        return false;
}

/* Whatever is in the map and not in PARAMS. */
static int list_others(int params_fd, const ParamsTable *params, uint64_t **ret, size_t *ret_n) {
        _cleanup_free_ uint64_t *ids = NULL;
        uint64_t id, *previous = NULL;
        size_t n = 0;

        /* No more than these fit into the map, and nobody else puts any there. */
        ids = calloc(MEMSEC_PARAMS_MAX, sizeof(uint64_t));
        if (!ids)
                return -ENOMEM;

        while (n < MEMSEC_PARAMS_MAX && bpf_map_get_next_key(params_fd, previous, &id) == 0) {
                if (!has_entry(params, id))
                        ids[n++] = id;
                previous = &id;
        }

        *ret = TAKE_PTR(ids);
        *ret_n = n;
        return 0;
}

int bpf_policy_replace_params(int params_fd, const ParamsTable *params) {
        _cleanup_free_ uint64_t *others = NULL;
        size_t n_others;
        int r;

        r = list_others(params_fd, params, &others, &n_others);
        if (r < 0)
                return r;

        /* First, because the map may be too small for both. */
        r = bpf_policy_drop_params(params_fd, others, n_others);
        if (r < 0)
                return r;

        return bpf_policy_put_params(params_fd, params);
}
