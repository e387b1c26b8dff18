// SPDX-License-Identifier: GPL-2.0-only
/*
 * fixed: the batch of the policy files, whoever asks and whatever the load.
 *
 * It is cut so that it should not hold the lock longer than max_hold says,
 * judged by what a page took so far.
 */
#include "memsec.bpf.h"

/* Pages to learn the price from: at most 0.4 ms where a page takes 25 us. */
#define FIRST_BATCH	16

SEC("struct_ops/teardown")
__u64 BPF_PROG(fixed_teardown, const struct memsec_teardown_ctx *t)
{
	const struct memsec_params *params = memsec_params_of(t->cgroup_id);
	__u64 limit = t->page_ns ? params->teardown.max_hold_ns / t->page_ns : FIRST_BATCH;
	__u64 batch = params->teardown.batch;

	if (batch > limit)
		batch = limit;
	return batch ? batch : 1;
}

SEC(".struct_ops.link")
struct memsec_ops fixed = {
	.name = "fixed",
	.abi = MEMSEC_ABI,
	.teardown = (void *)fixed_teardown,
};
