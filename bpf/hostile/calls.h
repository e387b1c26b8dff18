/* SPDX-License-Identifier: GPL-2.0-only */
/* A map that counts the calls of each callback. tests/integration/policyctl.c reads it. */
#ifndef MEMSEC_TEST_CALLS_H
#define MEMSEC_TEST_CALLS_H

enum {
	CALLS_INIT,
	CALLS_EXIT,
	CALLS_TEARDOWN,
	CALLS_NR,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CALLS_NR);
	__type(key, __u32);
	__type(value, __u64);
} calls SEC(".maps");

static __always_inline void calls_count(__u32 which)
{
	__u64 *count = bpf_map_lookup_elem(&calls, &which);

	if (count)
		__sync_fetch_and_add(count, 1);
}

#endif /* MEMSEC_TEST_CALLS_H */
