// SPDX-License-Identifier: GPL-2.0-only
/* bad_tunable: has a tunable of its own whose default is out of its range; refused before it is loaded. */
#include "memsec.bpf.h"

struct bad_tunables {
	__u64 good MEMSEC_TUNABLE(pages, 1, 16, "Fine");
	__u64 small MEMSEC_TUNABLE(pages, 1, 16, "Not in its range");
};

MEMSEC_OWN(struct bad_tunables, .good = 16, .small = 0);

SEC("struct_ops/teardown")
__u64 BPF_PROG(bad_tunable_teardown, const struct memsec_teardown_ctx *t)
{
	return memsec_own_of(memsec_params_of(t->cgroup_id))->small;
}

SEC(".struct_ops.link")
struct memsec_ops bad_tunable = {
	.name = "bad_tunable",
	.abi = MEMSEC_ABI,
	.teardown = (void *)bad_tunable_teardown,
};
