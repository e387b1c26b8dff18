// SPDX-License-Identifier: GPL-2.0-only
/* complex: more branches in a row than the verifier follows; refused when loaded. */
#include "memsec.bpf.h"

SEC("struct_ops/teardown")
__u64 BPF_PROG(complex_teardown, const struct memsec_teardown_ctx *t)
{
	__u64 total = t->total;

	asm volatile(".rept 8200\n"
		     "if %0 == 7 goto +0\n"
		     ".endr"
		     : : "r"(total));
	return 1;
}

SEC(".struct_ops.link")
struct memsec_ops complex = {
	.name = "complex",
	.abi = MEMSEC_ABI,
	.teardown = (void *)complex_teardown,
};
