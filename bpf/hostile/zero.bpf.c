// SPDX-License-Identifier: GPL-2.0-only
/* zero: no pages at all, every answer out of range. */
#include "memsec.bpf.h"

SEC("struct_ops/teardown")
__u64 BPF_PROG(zero_teardown, const struct memsec_teardown_ctx *t)
{
	return 0;
}

SEC(".struct_ops.link")
struct memsec_ops zero = {
	.name = "zero",
	.abi = MEMSEC_ABI,
	.teardown = (void *)zero_teardown,
};
