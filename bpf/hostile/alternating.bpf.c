// SPDX-License-Identifier: GPL-2.0-only
/* alternating: an answer in range, then one that is not, by turns. */
#include "memsec.bpf.h"

/* One past the end of the range. */
#define INVALID	(MEMSEC_TEARDOWN_MAX_BATCH + 1)

static __u32 turn;

SEC("struct_ops/teardown")
__u64 BPF_PROG(alternating_teardown, const struct memsec_teardown_ctx *t)
{
	return __sync_fetch_and_add(&turn, 1) & 1 ? INVALID : 64;
}

SEC("struct_ops/directmap")
__u64 BPF_PROG(alternating_directmap, const struct memsec_directmap_ctx *d)
{
	return __sync_fetch_and_add(&turn, 1) & 1 ? MEMSEC_DIRECTMAP_DOWN : 512;
}

SEC("struct_ops/directmap_collapse")
__u64 BPF_PROG(alternating_directmap_collapse, const struct memsec_directmap_collapse_ctx *d)
{
	return __sync_fetch_and_add(&turn, 1) & 1 ? MEMSEC_COLLAPSE_MAX_WAIT + 1 : MEMSEC_COLLAPSE_NOW;
}

SEC("struct_ops/keyid")
__u64 BPF_PROG(alternating_keyid, const struct memsec_keyid_ctx *k)
{
	return __sync_fetch_and_add(&turn, 1) & 1 ? MEMSEC_KEYID_MAX_CACHE + 1 : 64;
}

SEC("struct_ops/keyid_recycle")
__u64 BPF_PROG(alternating_keyid_recycle, const struct memsec_keyid_recycle_ctx *k)
{
	return __sync_fetch_and_add(&turn, 1) & 1 ? MEMSEC_RECYCLE_MAX_WAIT + 1 : MEMSEC_RECYCLE_NOW;
}

SEC("struct_ops/xpfo")
__u64 BPF_PROG(alternating_xpfo, const struct memsec_xpfo_ctx *x)
{
	return __sync_fetch_and_add(&turn, 1) & 1 ? MEMSEC_XPFO_ALL + 1 : MEMSEC_XPFO_ALL;
}

SEC("struct_ops/xpfo_pool")
__u64 BPF_PROG(alternating_xpfo_pool, const struct memsec_xpfo_pool_ctx *p)
{
	return __sync_fetch_and_add(&turn, 1) & 1 ? 0 : 64 | 64ULL << MEMSEC_XPFO_POOL_SHIFT;
}

SEC(".struct_ops.link")
struct memsec_ops alternating = {
	.name = "alternating",
	.abi = MEMSEC_ABI,
	.teardown = (void *)alternating_teardown,
	.directmap = (void *)alternating_directmap,
	.directmap_collapse = (void *)alternating_directmap_collapse,
	.keyid = (void *)alternating_keyid,
	.keyid_recycle = (void *)alternating_keyid_recycle,
	.xpfo = (void *)alternating_xpfo,
	.xpfo_pool = (void *)alternating_xpfo_pool,
};
