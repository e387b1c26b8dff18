// SPDX-License-Identifier: GPL-2.0-only
/*
 * mine: large batches while the CPU is idle, small ones while somebody waits
 * for it.
 *
 * Change what it decides and which numbers it takes. memsec_ops.h has all
 * questions, with the facts that come with them and the answers that there are;
 * memsec.bpf.h says how a policy is written.
 */
#include "memsec.bpf.h"

/* Numbers of this policy's own: mine.calm_batch and mine.busy_batch. */
struct mine_tunables {
	__u64 calm_batch MEMSEC_TUNABLE(pages, 1, 1048576, "Pages torn down at once while no task waits");
	__u64 busy_batch MEMSEC_TUNABLE(pages, 1, 1048576, "Pages torn down at once while a task waits");
};

MEMSEC_OWN(struct mine_tunables, .calm_batch = 4096, .busy_batch = 64);

SEC("struct_ops/teardown")
__u64 BPF_PROG(mine_teardown, const struct memsec_teardown_ctx *t)
{
	const struct memsec_params *params = memsec_params_of(t->cgroup_id);
	const struct mine_tunables *mine = memsec_own_of(params);

	if (t->need_resched) {
		MEMSEC_RULE(t, "busy");
		return mine->busy_batch;
	}
	MEMSEC_RULE(t, "calm");
	return mine->calm_batch;
}

/* The name is the one in /sys/kernel/memsec/policy, of at most 15 letters. */
SEC(".struct_ops.link")
struct memsec_ops mine = {
	.name = "mine",
	.abi = MEMSEC_ABI,
	.teardown = (void *)mine_teardown,
};
