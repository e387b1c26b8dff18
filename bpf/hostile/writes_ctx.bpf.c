// SPDX-License-Identifier: GPL-2.0-only
/* writes_ctx: writes to the facts; refused when loaded. */
#include "memsec.bpf.h"

SEC("struct_ops/teardown")
__u64 BPF_PROG(writes_ctx_teardown, struct memsec_teardown_ctx *t)
{
	t->max_hold_ns = ~0ULL;
	return 1;
}

SEC(".struct_ops.link")
struct memsec_ops writes_ctx = {
	.name = "writes_ctx",
	.abi = MEMSEC_ABI,
	.teardown = (void *)writes_ctx_teardown,
};
