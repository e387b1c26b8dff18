// SPDX-License-Identifier: GPL-2.0-only
/* sleepable: a decision that could sleep; refused when loaded. */
#include "memsec.bpf.h"

SEC("struct_ops.s/teardown")
__u64 BPF_PROG(sleepable_teardown, const struct memsec_teardown_ctx *t)
{
	return 1;
}

SEC(".struct_ops.link")
struct memsec_ops sleepable = {
	.name = "sleepable",
	.abi = MEMSEC_ABI,
	.teardown = (void *)sleepable_teardown,
};
