/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * struct memsec_ops: the questions the kernel asks a memsec policy.
 *
 * This header is the ABI between the kernel and BPF policies. It is compiled
 * both in the kernel and, through bpf/memsec.bpf.h, into BPF objects, where
 * CO-RE relocates every access. Members are appended, never moved or removed:
 * an old policy then keeps running on a newer kernel, and a new policy can ask
 * bpf_core_field_exists() on an older one.
 */
#ifndef _LINUX_MEMSEC_OPS_H
#define _LINUX_MEMSEC_OPS_H

/* The version a policy must put into memsec_ops.abi. */
#define MEMSEC_ABI		1

/* Size of memsec_ops.name, with the terminating NUL. */
#define MEMSEC_OPS_NAME_LEN	16

/**
 * enum memsec_teardown_kind - what is being torn down
 * @MEMSEC_TEARDOWN_SGX_ENCL: the pages of an SGX enclave, under the spinlock of
 *	the enclave's page array
 * @MEMSEC_TEARDOWN_SGX_VEPC: the pages of a virtual EPC, no lock held
 * @MEMSEC_TEARDOWN_NR: number of kinds
 */
enum memsec_teardown_kind {
	MEMSEC_TEARDOWN_SGX_ENCL,
	MEMSEC_TEARDOWN_SGX_VEPC,
	MEMSEC_TEARDOWN_NR,
};

/*
 * The answer to memsec_ops.teardown: the number of pages until the next
 * question, 1 to MEMSEC_TEARDOWN_MAX_BATCH, and flags in the upper half.
 * Anything else is out of range and replaced by the default.
 */
#define MEMSEC_TEARDOWN_MAX_BATCH	0x100000ULL
/* Break the lock now, but keep the CPU. Ignored when it was kept too long. */
#define MEMSEC_TEARDOWN_NO_RESCHED	0x100000000ULL

/**
 * struct memsec_teardown_ctx - facts for memsec_ops.teardown
 * @kind: what is torn down, enum memsec_teardown_kind
 * @nid: NUMA node of the CPU that tears down
 * @total: pages the object can hold, the most there can be to do
 * @done: pages torn down so far
 * @held_ns: ns the lock was held since the previous question, 0 at the first
 * @elapsed_ns: ns since the first question of this teardown
 * @page_ns: mean ns a page took so far in this teardown, 0 at the first question
 * @max_hold_ns: ns after which the kernel breaks the lock whatever the answer
 * @pool_free: free pages of the pool the pages go back to
 * @pool_total: all pages of that pool
 * @cgroup_id: cgroup v2 id of the owner, the task that created the object
 * @need_resched: 1 when a reschedule is pending on this CPU, else 0
 *
 * The question is asked at the beginning and at every break, with the lock
 * dropped.
 */
struct memsec_teardown_ctx {
	__u32 kind;
	__s32 nid;
	__u64 total;
	__u64 done;
	__u64 held_ns;
	__u64 elapsed_ns;
	__u64 page_ns;
	__u64 max_hold_ns;
	__u64 pool_free;
	__u64 pool_total;
	__u64 cgroup_id;
	__u32 need_resched;
};

/**
 * struct memsec_ops - a policy
 * @name: name of the policy, letters, digits, '_' and '.'
 * @abi: MEMSEC_ABI
 * @flags: none defined, must be 0
 * @init: called once before the policy is asked anything; may sleep; a negative
 *	errno refuses the attachment
 * @exit: called once after the policy was asked for the last time; may sleep
 * @teardown: how many pages to tear down until the next question
 *
 * Every callback is optional: a missing one means the built-in default. The
 * decisions are asked under RCU and cannot sleep.
 */
struct memsec_ops {
	char name[MEMSEC_OPS_NAME_LEN];
	__u32 abi;
	__u32 flags;
	__s32 (*init)(void);
	void (*exit)(void);
	__u64 (*teardown)(const struct memsec_teardown_ctx *ctx);
};

#endif /* _LINUX_MEMSEC_OPS_H */
