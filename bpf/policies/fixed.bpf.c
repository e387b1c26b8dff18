// SPDX-License-Identifier: GPL-2.0-only
/*
 * fixed: the numbers of the policy files, whoever asks and whatever the load.
 *
 * A batch of teardown is cut so that it should not hold the lock longer than
 * max_hold says, judged by what a page took so far.
 *
 * Each rule has the name of the number that decides.
 */
#include "facts.h"

/* Pages to learn the price from: at most 0.4 ms where a page takes 25 us. */
#define FIRST_BATCH	16

SEC("struct_ops/teardown")
__u64 BPF_PROG(fixed_teardown, const struct memsec_teardown_ctx *t)
{
	const struct memsec_params *params = memsec_params_of(t->cgroup_id);
	__u64 limit = t->page_ns ? params->teardown.max_hold_ns / t->page_ns : FIRST_BATCH;
	__u64 batch = params->teardown.batch;

	if (batch <= limit) {
		MEMSEC_RULE(t, "batch");
		return batch;
	}
	if (t->page_ns)
		MEMSEC_RULE(t, "max_hold");
	else
		MEMSEC_RULE(t, "first");
	return limit ? limit : 1;
}

static __always_inline int goes_down(const struct memsec_directmap_ctx *d, __u64 direction)
{
	return direction == MEMSEC_DIRECTION_FOLLOW ? d->direction < 0 : direction == MEMSEC_DIRECTION_DOWN;
}

/* Where it is told to, and not further than the owner can go. */
SEC("struct_ops/directmap")
__u64 BPF_PROG(fixed_directmap, const struct memsec_directmap_ctx *d)
{
	const struct memsec_directmap_params *params = &memsec_params_of(d->cgroup_id)->directmap;
	int down = goes_down(d, params->direction);
	__u64 left = pages_left(d, down);
	__u64 ahead = params->ahead / PAGE_SIZE;

	if (is_whole(d) && params->whole == MEMSEC_WHOLE_LEAVE) {
		MEMSEC_RULE(d, "whole");
		return MEMSEC_DIRECTMAP_LEAVE;
	}
	MEMSEC_RULE(d, "ahead");
	if (ahead > left) {
		MEMSEC_RULE(d, "left");
		ahead = left;
	}
	ahead = min_of(ahead, MEMSEC_DIRECTMAP_MAX_AHEAD);
	if (!ahead)
		return MEMSEC_DIRECTMAP_EXACT;
	return down ? ahead | MEMSEC_DIRECTMAP_DOWN : ahead;
}

SEC("struct_ops/directmap_collapse")
__u64 BPF_PROG(fixed_directmap_collapse, const struct memsec_directmap_collapse_ctx *d)
{
	__u64 after = memsec_params_of(d->cgroup_id)->directmap.collapse_after_ns;

	MEMSEC_RULE(d, "collapse.after");
	if (after == MEMSEC_NEVER)
		return MEMSEC_COLLAPSE_NEVER;
	return d->unused_ns < after ? after - d->unused_ns : MEMSEC_COLLAPSE_NOW;
}

/* Every CPU keeps its share. */
SEC("struct_ops/keyid")
__u64 BPF_PROG(fixed_keyid, const struct memsec_keyid_ctx *k)
{
	const struct memsec_keyid_params *params = &memsec_params_of(k->cgroup_id)->keyid;
	__u64 cpus = k->cpus ? k->cpus : 1;
	__u64 cache = min_of(params->cache / PAGE_SIZE / cpus, MEMSEC_KEYID_MAX_CACHE);
	__u64 search = min_of(params->search, MEMSEC_KEYID_MAX_SEARCH);

	if (params->flush == MEMSEC_FLUSH_ALWAYS)
		MEMSEC_RULE(k, "flush");
	else
		MEMSEC_RULE(k, "cache");
	return cache | search << MEMSEC_KEYID_SEARCH_SHIFT |
	       (params->flush == MEMSEC_FLUSH_ALWAYS ? MEMSEC_KEYID_FLUSH : 0);
}

/* All that is dirty is recycled at once, so the numbers are everyone's. */
SEC("struct_ops/keyid_recycle")
__u64 BPF_PROG(fixed_keyid_recycle, const struct memsec_keyid_recycle_ctx *k)
{
	const struct memsec_keyid_params *params = &memsec_params_of(MEMSEC_EVERYONE)->keyid;
	__u64 idle = params->recycle_idle_ns;

	if (params->recycle_at && k->dirty >= params->recycle_at) {
		MEMSEC_RULE(k, "recycle.at");
		return MEMSEC_RECYCLE_NOW;
	}
	MEMSEC_RULE(k, "recycle.idle");
	if (idle == MEMSEC_NEVER)
		return MEMSEC_RECYCLE_NEVER;
	return k->idle_ns < idle ? idle - k->idle_ns : MEMSEC_RECYCLE_NOW;
}

SEC("struct_ops/xpfo")
__u64 BPF_PROG(fixed_xpfo, const struct memsec_xpfo_ctx *x)
{
	MEMSEC_RULE(x, "protect");
	return protected_memory(memsec_params_of(x->cgroup_id)->xpfo.protect);
}

/* Pools are nobody's, so the numbers are everyone's. Every CPU keeps its share. */
SEC("struct_ops/xpfo_pool")
__u64 BPF_PROG(fixed_xpfo_pool, const struct memsec_xpfo_pool_ctx *p)
{
	const struct memsec_xpfo_params *params = &memsec_params_of(MEMSEC_EVERYONE)->xpfo;
	__u64 cpus = p->cpus ? p->cpus : 1;
	__u64 pool = min_of(params->pool / PAGE_SIZE / cpus, MEMSEC_XPFO_MAX_POOL);

	MEMSEC_RULE(p, "pool");
	return params->batch | pool << MEMSEC_XPFO_POOL_SHIFT;
}

SEC(".struct_ops.link")
struct memsec_ops fixed = {
	.name = "fixed",
	.abi = MEMSEC_ABI,
	.teardown = (void *)fixed_teardown,
	.directmap = (void *)fixed_directmap,
	.directmap_collapse = (void *)fixed_directmap_collapse,
	.keyid = (void *)fixed_keyid,
	.keyid_recycle = (void *)fixed_keyid_recycle,
	.xpfo = (void *)fixed_xpfo,
	.xpfo_pool = (void *)fixed_xpfo_pool,
};
