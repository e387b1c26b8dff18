// SPDX-License-Identifier: GPL-2.0-only
/* protect: all memory of everybody leaves the direct map. */
#include "memsec.bpf.h"

#define BATCH	64ULL
#define POOL	512ULL

SEC("struct_ops/xpfo")
__u64 BPF_PROG(protect_xpfo, const struct memsec_xpfo_ctx *x)
{
	return MEMSEC_XPFO_ALL;
}

SEC("struct_ops/xpfo_pool")
__u64 BPF_PROG(protect_xpfo_pool, const struct memsec_xpfo_pool_ctx *p)
{
	return BATCH | POOL << MEMSEC_XPFO_POOL_SHIFT;
}

SEC(".struct_ops.link")
struct memsec_ops protect = {
	.name = "protect",
	.abi = MEMSEC_ABI,
	.xpfo = (void *)protect_xpfo,
	.xpfo_pool = (void *)protect_xpfo_pool,
};
