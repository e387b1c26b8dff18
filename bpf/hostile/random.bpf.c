// SPDX-License-Identifier: GPL-2.0-only
/* random: any number, of any magnitude, in and out of range. */
#include "memsec.bpf.h"

static __always_inline __u64 any_number(void)
{
	__u64 bits = (__u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();

	return bits >> (bpf_get_prandom_u32() % 64);
}

SEC("struct_ops/teardown")
__u64 BPF_PROG(random_teardown, const struct memsec_teardown_ctx *t)
{
	return any_number();
}

SEC("struct_ops/directmap")
__u64 BPF_PROG(random_directmap, const struct memsec_directmap_ctx *d)
{
	return any_number();
}

SEC("struct_ops/directmap_collapse")
__u64 BPF_PROG(random_directmap_collapse, const struct memsec_directmap_collapse_ctx *d)
{
	return any_number();
}

SEC("struct_ops/keyid")
__u64 BPF_PROG(random_keyid, const struct memsec_keyid_ctx *k)
{
	return any_number();
}

SEC("struct_ops/keyid_recycle")
__u64 BPF_PROG(random_keyid_recycle, const struct memsec_keyid_recycle_ctx *k)
{
	return any_number();
}

SEC("struct_ops/xpfo")
__u64 BPF_PROG(random_xpfo, const struct memsec_xpfo_ctx *x)
{
	return any_number();
}

SEC("struct_ops/xpfo_pool")
__u64 BPF_PROG(random_xpfo_pool, const struct memsec_xpfo_pool_ctx *p)
{
	return any_number();
}

SEC(".struct_ops.link")
struct memsec_ops random = {
	.name = "random",
	.abi = MEMSEC_ABI,
	.teardown = (void *)random_teardown,
	.directmap = (void *)random_directmap,
	.directmap_collapse = (void *)random_directmap_collapse,
	.keyid = (void *)random_keyid,
	.keyid_recycle = (void *)random_keyid_recycle,
	.xpfo = (void *)random_xpfo,
	.xpfo_pool = (void *)random_xpfo_pool,
};
