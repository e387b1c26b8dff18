// SPDX-License-Identifier: GPL-2.0-only
/*
 * zero: no pages at all, the direct map left as it is, and nothing kept: out of range, unsafe or dear. No
 * answers about xpfo, for the reason that max has none.
 */
#include "memsec.bpf.h"

SEC("struct_ops/teardown")
__u64 BPF_PROG(zero_teardown, const struct memsec_teardown_ctx *t)
{
	return 0;
}

SEC("struct_ops/directmap")
__u64 BPF_PROG(zero_directmap, const struct memsec_directmap_ctx *d)
{
	return MEMSEC_DIRECTMAP_LEAVE;
}

SEC("struct_ops/directmap_collapse")
__u64 BPF_PROG(zero_directmap_collapse, const struct memsec_directmap_collapse_ctx *d)
{
	return MEMSEC_COLLAPSE_NOW;
}

SEC("struct_ops/keyid")
__u64 BPF_PROG(zero_keyid, const struct memsec_keyid_ctx *k)
{
	return MEMSEC_KEYID_FLUSH;
}

SEC("struct_ops/keyid_recycle")
__u64 BPF_PROG(zero_keyid_recycle, const struct memsec_keyid_recycle_ctx *k)
{
	return MEMSEC_RECYCLE_NEVER;
}

SEC(".struct_ops.link")
struct memsec_ops zero = {
	.name = "zero",
	.abi = MEMSEC_ABI,
	.teardown = (void *)zero_teardown,
	.directmap = (void *)zero_directmap,
	.directmap_collapse = (void *)zero_directmap_collapse,
	.keyid = (void *)zero_keyid,
	.keyid_recycle = (void *)zero_keyid_recycle,
};
