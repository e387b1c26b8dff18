// SPDX-License-Identifier: GPL-2.0-only
/* max: U64_MAX, all flags and all pages there are, every answer out of range. */
#include "memsec.bpf.h"

SEC("struct_ops/teardown")
__u64 BPF_PROG(max_teardown, const struct memsec_teardown_ctx *t)
{
	return ~0ULL;
}

SEC("struct_ops/directmap")
__u64 BPF_PROG(max_directmap, const struct memsec_directmap_ctx *d)
{
	return ~0ULL;
}

SEC("struct_ops/directmap_collapse")
__u64 BPF_PROG(max_directmap_collapse, const struct memsec_directmap_collapse_ctx *d)
{
	return ~0ULL - 1;
}

SEC("struct_ops/keyid")
__u64 BPF_PROG(max_keyid, const struct memsec_keyid_ctx *k)
{
	return ~0ULL;
}

SEC("struct_ops/keyid_recycle")
__u64 BPF_PROG(max_keyid_recycle, const struct memsec_keyid_recycle_ctx *k)
{
	return ~0ULL - 1;
}

SEC("struct_ops/xpfo")
__u64 BPF_PROG(max_xpfo, const struct memsec_xpfo_ctx *x)
{
	return ~0ULL;
}

SEC("struct_ops/xpfo_pool")
__u64 BPF_PROG(max_xpfo_pool, const struct memsec_xpfo_pool_ctx *p)
{
	return ~0ULL;
}

SEC(".struct_ops.link")
struct memsec_ops max = {
	.name = "max",
	.abi = MEMSEC_ABI,
	.teardown = (void *)max_teardown,
	.directmap = (void *)max_directmap,
	.directmap_collapse = (void *)max_directmap_collapse,
	.keyid = (void *)max_keyid,
	.keyid_recycle = (void *)max_keyid_recycle,
	.xpfo = (void *)max_xpfo,
	.xpfo_pool = (void *)max_xpfo_pool,
};
