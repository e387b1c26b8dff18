// SPDX-License-Identifier: GPL-2.0-only
/*
 * stamp: wants to be asked at every page, and notes when it first decides by other parameters than before.
 * tests/bench/reload.c reads it.
 */
#include "memsec.bpf.h"
#include "calls.h"
#include "stamp.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stamp);
} stamps SEC(".maps");

SEC("struct_ops/teardown")
__u64 BPF_PROG(stamp_teardown, const struct memsec_teardown_ctx *t)
{
	const struct memsec_params *params = memsec_params_of(t->cgroup_id);
	__u64 batch = params->teardown.batch;
	__u32 first = 0;
	struct stamp *stamp = bpf_map_lookup_elem(&stamps, &first);

	if (stamp && stamp->batch != batch) {
		stamp->ns = bpf_ktime_get_ns();
		stamp->batch = batch;
	}
	calls_count(CALLS_TEARDOWN);
	return 1;
}

SEC(".struct_ops.link")
struct memsec_ops stamp = {
	.name = "stamp",
	.abi = MEMSEC_ABI,
	.teardown = (void *)stamp_teardown,
};
