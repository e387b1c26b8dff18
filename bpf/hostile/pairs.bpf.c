// SPDX-License-Identifier: GPL-2.0-only
/*
 * pairs: looks at each question whether its parameters belong together, as pairs.h says, and stay what they
 * are while it looks. Where they do not it answers 0, which is out of range, so that the kernel counts it.
 */
#include "memsec.bpf.h"
#include "pairs.h"

#define NSEC_PER_USEC	1000
#define LOOKS		32

static __always_inline int is_torn(__u64 batch, __u64 max_hold_ns)
{
	return batch <= PAIRS_MAX && max_hold_ns <= PAIRS_MAX * NSEC_PER_USEC &&
	       max_hold_ns != batch * NSEC_PER_USEC;
}

SEC("struct_ops/teardown")
__u64 BPF_PROG(pairs_teardown, const struct memsec_teardown_ctx *t)
{
	const volatile struct memsec_params *params = memsec_params_of(t->cgroup_id);
	__u64 batch = params->teardown.batch;
	__u64 max_hold_ns = params->teardown.max_hold_ns;
	int i;

	for (i = 0; i < LOOKS; i++)
		if (params->teardown.batch != batch || params->teardown.max_hold_ns != max_hold_ns)
			return 0;

	return is_torn(batch, max_hold_ns) ? 0 : 1;
}

SEC(".struct_ops.link")
struct memsec_ops pairs = {
	.name = "pairs",
	.abi = MEMSEC_ABI,
	.teardown = (void *)pairs_teardown,
};
