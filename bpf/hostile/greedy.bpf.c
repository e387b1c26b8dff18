// SPDX-License-Identifier: GPL-2.0-only
/* greedy: the most of everything, at once, and never a reschedule: valid, and as unfair as can be. */
#include "memsec.bpf.h"

SEC("struct_ops/teardown")
__u64 BPF_PROG(greedy_teardown, const struct memsec_teardown_ctx *t)
{
	return MEMSEC_TEARDOWN_MAX_BATCH | MEMSEC_TEARDOWN_NO_RESCHED;
}

SEC("struct_ops/directmap")
__u64 BPF_PROG(greedy_directmap, const struct memsec_directmap_ctx *d)
{
	return MEMSEC_DIRECTMAP_MAX_AHEAD;
}

SEC("struct_ops/directmap_collapse")
__u64 BPF_PROG(greedy_directmap_collapse, const struct memsec_directmap_collapse_ctx *d)
{
	return MEMSEC_COLLAPSE_NOW;
}

SEC("struct_ops/keyid")
__u64 BPF_PROG(greedy_keyid, const struct memsec_keyid_ctx *k)
{
	return MEMSEC_KEYID_MAX_CACHE | MEMSEC_KEYID_MAX_SEARCH << MEMSEC_KEYID_SEARCH_SHIFT;
}

SEC("struct_ops/keyid_recycle")
__u64 BPF_PROG(greedy_keyid_recycle, const struct memsec_keyid_recycle_ctx *k)
{
	return MEMSEC_RECYCLE_NOW;
}

SEC("struct_ops/xpfo")
__u64 BPF_PROG(greedy_xpfo, const struct memsec_xpfo_ctx *x)
{
	return MEMSEC_XPFO_ALL;
}

SEC("struct_ops/xpfo_pool")
__u64 BPF_PROG(greedy_xpfo_pool, const struct memsec_xpfo_pool_ctx *p)
{
	return MEMSEC_XPFO_MAX_BATCH | MEMSEC_XPFO_MAX_POOL << MEMSEC_XPFO_POOL_SHIFT;
}

SEC(".struct_ops.link")
struct memsec_ops greedy = {
	.name = "greedy",
	.abi = MEMSEC_ABI,
	.teardown = (void *)greedy_teardown,
	.directmap = (void *)greedy_directmap,
	.directmap_collapse = (void *)greedy_directmap_collapse,
	.keyid = (void *)greedy_keyid,
	.keyid_recycle = (void *)greedy_keyid_recycle,
	.xpfo = (void *)greedy_xpfo,
	.xpfo_pool = (void *)greedy_xpfo_pool,
};
