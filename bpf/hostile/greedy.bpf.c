// SPDX-License-Identifier: GPL-2.0-only
/* greedy: the largest batch and never a reschedule: valid, and as unfair as can be. */
#include "memsec.bpf.h"

SEC("struct_ops/teardown")
__u64 BPF_PROG(greedy_teardown, const struct memsec_teardown_ctx *t)
{
	return MEMSEC_TEARDOWN_MAX_BATCH | MEMSEC_TEARDOWN_NO_RESCHED;
}

SEC(".struct_ops.link")
struct memsec_ops greedy = {
	.name = "greedy",
	.abi = MEMSEC_ABI,
	.teardown = (void *)greedy_teardown,
};
