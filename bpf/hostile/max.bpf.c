// SPDX-License-Identifier: GPL-2.0-only
/*
 * max: U64_MAX, all flags and all pages there are, every answer out of range. But none about xpfo: those are
 * wanted at any time, and tests count bad ones.
 */
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

SEC(".struct_ops.link")
struct memsec_ops max = {
	.name = "max",
	.abi = MEMSEC_ABI,
	.teardown = (void *)max_teardown,
	.directmap = (void *)max_directmap,
	.directmap_collapse = (void *)max_directmap_collapse,
	.keyid = (void *)max_keyid,
	.keyid_recycle = (void *)max_keyid_recycle,
};
