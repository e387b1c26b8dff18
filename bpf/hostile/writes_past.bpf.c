// SPDX-License-Identifier: GPL-2.0-only
/* writes_past: writes a rule longer than there is room for; refused when loaded. */
#include "memsec.bpf.h"

SEC("struct_ops/teardown")
__u64 BPF_PROG(writes_past_teardown, struct memsec_teardown_ctx *t)
{
	__u64 *rule = t->rule;

	rule[MEMSEC_RULE_WORDS] = ~0ULL;
	return 1;
}

SEC(".struct_ops.link")
struct memsec_ops writes_past = {
	.name = "writes_past",
	.abi = MEMSEC_ABI,
	.teardown = (void *)writes_past_teardown,
};
