// SPDX-License-Identifier: GPL-2.0-only
/* counting: a well-behaved policy that counts how often each callback is called. */
#include "memsec.bpf.h"
#include "calls.h"

SEC("struct_ops.s/init")
int BPF_PROG(counting_init)
{
	calls_count(CALLS_INIT);
	return 0;
}

SEC("struct_ops.s/exit")
void BPF_PROG(counting_exit)
{
	calls_count(CALLS_EXIT);
}

SEC("struct_ops/teardown")
__u64 BPF_PROG(counting_teardown, const struct memsec_teardown_ctx *t)
{
	calls_count(CALLS_TEARDOWN);
	return 256;
}

SEC(".struct_ops.link")
struct memsec_ops counting = {
	.name = "counting",
	.abi = MEMSEC_ABI,
	.init = (void *)counting_init,
	.exit = (void *)counting_exit,
	.teardown = (void *)counting_teardown,
};
