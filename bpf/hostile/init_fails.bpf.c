// SPDX-License-Identifier: GPL-2.0-only
/* init_fails: its init() refuses; then it must never be asked and exit() never be called. */
#include <asm-generic/errno.h>
#include "memsec.bpf.h"
#include "calls.h"

SEC("struct_ops.s/init")
int BPF_PROG(init_fails_init)
{
	calls_count(CALLS_INIT);
	return -ENODATA;
}

SEC("struct_ops.s/exit")
void BPF_PROG(init_fails_exit)
{
	calls_count(CALLS_EXIT);
}

SEC("struct_ops/teardown")
__u64 BPF_PROG(init_fails_teardown, const struct memsec_teardown_ctx *t)
{
	calls_count(CALLS_TEARDOWN);
	return 1;
}

SEC(".struct_ops.link")
struct memsec_ops init_fails = {
	.name = "init_fails",
	.abi = MEMSEC_ABI,
	.init = (void *)init_fails_init,
	.exit = (void *)init_fails_exit,
	.teardown = (void *)init_fails_teardown,
};
