// SPDX-License-Identifier: GPL-2.0-only
/* random: any number, of any magnitude, in and out of range. */
#include "memsec.bpf.h"

SEC("struct_ops/teardown")
__u64 BPF_PROG(random_teardown, const struct memsec_teardown_ctx *t)
{
	__u64 bits = (__u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();

	return bits >> (bpf_get_prandom_u32() % 64);
}

SEC(".struct_ops.link")
struct memsec_ops random = {
	.name = "random",
	.abi = MEMSEC_ABI,
	.teardown = (void *)random_teardown,
};
