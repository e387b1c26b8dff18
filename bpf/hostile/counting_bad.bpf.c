// SPDX-License-Identifier: GPL-2.0-only
/* counting_bad: counts its calls like "counting", and every answer is out of range. */
#include "memsec.bpf.h"
#include "calls.h"

SEC("struct_ops.s/exit")
void BPF_PROG(counting_bad_exit)
{
	calls_count(CALLS_EXIT);
}

SEC("struct_ops/teardown")
__u64 BPF_PROG(counting_bad_teardown, const struct memsec_teardown_ctx *t)
{
	calls_count(CALLS_TEARDOWN);
	return 0;
}

SEC(".struct_ops.link")
struct memsec_ops counting_bad = {
	.name = "counting_bad",
	.abi = MEMSEC_ABI,
	.exit = (void *)counting_bad_exit,
	.teardown = (void *)counting_bad_teardown,
};
