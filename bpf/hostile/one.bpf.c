// SPDX-License-Identifier: GPL-2.0-only
/* one: one page, or ns, a question: valid, and the most questions there can be. */
#include "memsec.bpf.h"

SEC("struct_ops/teardown")
__u64 BPF_PROG(one_teardown, const struct memsec_teardown_ctx *t)
{
	return 1;
}

SEC("struct_ops/directmap")
__u64 BPF_PROG(one_directmap, const struct memsec_directmap_ctx *d)
{
	return 1;
}

SEC("struct_ops/directmap_collapse")
__u64 BPF_PROG(one_directmap_collapse, const struct memsec_directmap_collapse_ctx *d)
{
	return 1;
}

SEC("struct_ops/keyid")
__u64 BPF_PROG(one_keyid, const struct memsec_keyid_ctx *k)
{
	return 1 | 1ULL << MEMSEC_KEYID_SEARCH_SHIFT;
}

SEC("struct_ops/keyid_recycle")
__u64 BPF_PROG(one_keyid_recycle, const struct memsec_keyid_recycle_ctx *k)
{
	return 1;
}

SEC("struct_ops/xpfo")
__u64 BPF_PROG(one_xpfo, const struct memsec_xpfo_ctx *x)
{
	return 1;
}

SEC("struct_ops/xpfo_pool")
__u64 BPF_PROG(one_xpfo_pool, const struct memsec_xpfo_pool_ctx *p)
{
	return 1;
}

SEC(".struct_ops.link")
struct memsec_ops one = {
	.name = "one",
	.abi = MEMSEC_ABI,
	.teardown = (void *)one_teardown,
	.directmap = (void *)one_directmap,
	.directmap_collapse = (void *)one_directmap_collapse,
	.keyid = (void *)one_keyid,
	.keyid_recycle = (void *)one_keyid_recycle,
	.xpfo = (void *)one_xpfo,
	.xpfo_pool = (void *)one_xpfo_pool,
};
