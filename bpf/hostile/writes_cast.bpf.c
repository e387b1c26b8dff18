// SPDX-License-Identifier: GPL-2.0-only
/* writes_cast: writes to what it says are facts; refused when loaded. */
#include "memsec.bpf.h"

extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym;

SEC("struct_ops/teardown")
__u64 BPF_PROG(writes_cast_teardown, struct memsec_teardown_ctx *t)
{
	struct memsec_teardown_ctx *other;

	other = bpf_rdonly_cast((void *)t->cgroup_id, bpf_core_type_id_kernel(struct memsec_teardown_ctx));
	MEMSEC_RULE(other, "cast");
	return 1;
}

SEC(".struct_ops.link")
struct memsec_ops writes_cast = {
	.name = "writes_cast",
	.abi = MEMSEC_ABI,
	.teardown = (void *)writes_cast_teardown,
};
