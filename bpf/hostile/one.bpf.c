// SPDX-License-Identifier: GPL-2.0-only
/* one: one page a question: valid, and the most questions there can be. */
#include "memsec.bpf.h"

SEC("struct_ops/teardown")
__u64 BPF_PROG(one_teardown, const struct memsec_teardown_ctx *t)
{
	return 1;
}

SEC(".struct_ops.link")
struct memsec_ops one = {
	.name = "one",
	.abi = MEMSEC_ABI,
	.teardown = (void *)one_teardown,
};
