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

/*
 * Facts end in a rule, which is the only part that a policy may write: why it
 * answers as it does, in a few characters for people. NUL only if there is room.
 */
#define MEMSEC_RULE_LEN		16
#define MEMSEC_RULE_WORDS	(MEMSEC_RULE_LEN / 8)

/**
 * enum memsec_question - what a policy can be asked
 * @MEMSEC_ASK_TEARDOWN: memsec_ops.teardown
 * @MEMSEC_ASK_DIRECTMAP: memsec_ops.directmap
 * @MEMSEC_ASK_DIRECTMAP_COLLAPSE: memsec_ops.directmap_collapse
 * @MEMSEC_ASK_KEYID: memsec_ops.keyid
 * @MEMSEC_ASK_KEYID_RECYCLE: memsec_ops.keyid_recycle
 * @MEMSEC_ASK_XPFO: memsec_ops.xpfo
 * @MEMSEC_ASK_XPFO_POOL: memsec_ops.xpfo_pool
 * @MEMSEC_ASK_NR: number of questions
 */
enum memsec_question {
	MEMSEC_ASK_TEARDOWN,
	MEMSEC_ASK_DIRECTMAP,
	MEMSEC_ASK_DIRECTMAP_COLLAPSE,
	MEMSEC_ASK_KEYID,
	MEMSEC_ASK_KEYID_RECYCLE,
	MEMSEC_ASK_XPFO,
	MEMSEC_ASK_XPFO_POOL,
	MEMSEC_ASK_NR,
};

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
 * @rule: see MEMSEC_RULE_LEN
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
	__u64 rule[MEMSEC_RULE_WORDS];
};

/**
 * enum memsec_directmap_kind - why pages leave the kernel's direct map
 * @MEMSEC_DIRECTMAP_SECRETMEM: memory of memfd_secret(2), unmapped
 * @MEMSEC_DIRECTMAP_GUEST: private memory of a guest, which stays mapped but by
 *	no entry larger than what the guest owns
 * @MEMSEC_DIRECTMAP_XPFO: memory that is its user's alone, unmapped
 * @MEMSEC_DIRECTMAP_NR: number of kinds
 */
enum memsec_directmap_kind {
	MEMSEC_DIRECTMAP_SECRETMEM,
	MEMSEC_DIRECTMAP_GUEST,
	MEMSEC_DIRECTMAP_XPFO,
	MEMSEC_DIRECTMAP_NR,
};

/*
 * The answer to memsec_ops.directmap: MEMSEC_DIRECTMAP_EXACT, the number of
 * pages beyond those asked for whose entries to split too, up to
 * MEMSEC_DIRECTMAP_MAX_AHEAD, or MEMSEC_DIRECTMAP_LEAVE. Anything else is out
 * of range and replaced by the default.
 */
/* Split what is needed and nothing else. The default, but for what is safe to leave. */
#define MEMSEC_DIRECTMAP_EXACT		0ULL
/* 1 GiB. Pages are rounded up to whole 2 MiB. */
#define MEMSEC_DIRECTMAP_MAX_AHEAD	0x40000ULL
/* The pages ahead are those below, not those above. */
#define MEMSEC_DIRECTMAP_DOWN		0x100000000ULL
/* Split nothing. Overruled where that would not be safe. */
#define MEMSEC_DIRECTMAP_LEAVE		0x200000000ULL

/**
 * struct memsec_directmap_ctx - facts for memsec_ops.directmap
 * @kind: why, enum memsec_directmap_kind
 * @nid: NUMA node of the pages
 * @pfn: the first page
 * @pages: number of pages
 * @entry_pages: pages that the largest entry covers that maps any of them
 * @total: pages that the owner can have, 0 when that is not known
 * @done: pages that the owner took so far, without these
 * @sequence: how many requests in a row went on to the next 2 MiB in one
 *	direction
 * @cgroup_id: cgroup v2 id of the owner
 * @map_4k: bytes of the direct map that are mapped by 4 KiB entries
 * @map_2m: by 2 MiB entries
 * @map_1g: by 1 GiB entries
 * @direction: 1 when that direction is up, -1 when it is down, 0 when there is
 *	none
 * @ahead: pages that were split ahead for the owner and that it has not come to
 * @rule: see MEMSEC_RULE_LEN
 *
 * The question is asked only when a page is mapped by an entry larger than it.
 */
struct memsec_directmap_ctx {
	__u32 kind;
	__s32 nid;
	__u64 pfn;
	__u64 pages;
	__u64 entry_pages;
	__u64 total;
	__u64 done;
	__u64 sequence;
	__u64 cgroup_id;
	__u64 map_4k;
	__u64 map_2m;
	__u64 map_1g;
	__s32 direction;
	__u64 ahead;
	__u64 rule[MEMSEC_RULE_WORDS];
};

/*
 * The answer to memsec_ops.directmap_collapse: ns until the next question about
 * this range, up to MEMSEC_COLLAPSE_MAX_WAIT, or one of these. Anything else is
 * out of range and replaced by the default, which is never. When the policy is
 * replaced, or by itself because its numbers changed, the kernel asks at once.
 */
#define MEMSEC_COLLAPSE_NOW		0ULL
#define MEMSEC_COLLAPSE_MAX_WAIT	3600000000000ULL
#define MEMSEC_COLLAPSE_NEVER		(~0ULL)

/**
 * struct memsec_directmap_collapse_ctx - facts for memsec_ops.directmap_collapse
 * @kind: why the range was split, enum memsec_directmap_kind
 * @nid: NUMA node of the range
 * @pfn: its first page
 * @pages: number of pages, all of which are mapped again
 * @unused_ns: ns for which nobody needed the range split
 * @cgroup_id: cgroup v2 id of who needed it last
 * @unused_ranges: number of ranges that nobody needs split
 * @rule: see MEMSEC_RULE_LEN
 *
 * The question is asked soon after the last page of a range came back, and
 * again after the time that the answer tells. Never is until the policy is
 * replaced, or by itself: that says that its numbers are others.
 */
struct memsec_directmap_collapse_ctx {
	__u32 kind;
	__s32 nid;
	__u64 pfn;
	__u64 pages;
	__u64 unused_ns;
	__u64 cgroup_id;
	__u64 unused_ranges;
	__u64 rule[MEMSEC_RULE_WORDS];
};

/**
 * enum memsec_keyid_kind - what an encryption key is found by
 * @MEMSEC_KEYID_TME: KeyIDs of Intel TME-MK, or of its model
 * @MEMSEC_KEYID_SEV: ASIDs of SEV guests
 * @MEMSEC_KEYID_SEV_ES: ASIDs of SEV-ES and SEV-SNP guests
 * @MEMSEC_KEYID_NR: number of kinds
 */
enum memsec_keyid_kind {
	MEMSEC_KEYID_TME,
	MEMSEC_KEYID_SEV,
	MEMSEC_KEYID_SEV_ES,
	MEMSEC_KEYID_NR,
};

/*
 * The answer to memsec_ops.keyid, which holds until the next question: how many
 * pages this CPU may keep for the KeyID, up to MEMSEC_KEYID_MAX_CACHE; how many
 * free pages to look at for one that carries the KeyID, up to
 * MEMSEC_KEYID_MAX_SEARCH, in the bits from MEMSEC_KEYID_SEARCH_SHIFT on; and
 * MEMSEC_KEYID_FLUSH. Anything else is out of range and replaced by the default,
 * which is 0: nothing of it.
 */
/* 1 GiB. */
#define MEMSEC_KEYID_MAX_CACHE		0x40000ULL
#define MEMSEC_KEYID_SEARCH_SHIFT	32
#define MEMSEC_KEYID_MAX_SEARCH		256ULL
/* Flush pages when they are freed, not when the next owner has another KeyID. */
#define MEMSEC_KEYID_FLUSH		0x8000000000000000ULL

/**
 * struct memsec_keyid_ctx - facts for memsec_ops.keyid
 * @keyid: the KeyID
 * @nid: NUMA node of the CPU
 * @allocated: pages that were allocated for the KeyID on this CPU since the
 *	previous question
 * @freed: pages that were freed to its cache or to the page allocator
 * @flushed: pages that were flushed, at allocation or when they were freed
 * @cached: pages that this CPU keeps for the KeyID
 * @total: pages that were allocated for it on this CPU since it was taken
 * @cpus: CPUs that are online
 * @keyids_free: KeyIDs that can be taken at once
 * @cgroup_id: cgroup v2 id of who took the KeyID
 * @rule: see MEMSEC_RULE_LEN
 *
 * The question is asked on a CPU when it first allocates or frees memory of the
 * KeyID, and then every MEMSEC_KEYID_BATCH requests, and when the policy or its
 * numbers changed.
 */
struct memsec_keyid_ctx {
	__u32 keyid;
	__s32 nid;
	__u64 allocated;
	__u64 freed;
	__u64 flushed;
	__u64 cached;
	__u64 total;
	__u64 cpus;
	__u64 keyids_free;
	__u64 cgroup_id;
	__u64 rule[MEMSEC_RULE_WORDS];
};

/* Requests on a CPU, of pages of any order, until the next question. */
#define MEMSEC_KEYID_BATCH		64

/*
 * The answer to memsec_ops.keyid_recycle: ns until the next question, up to
 * MEMSEC_RECYCLE_MAX_WAIT, or one of these. Anything else is out of range and
 * replaced by the default, which is never: then they are recycled when one is
 * needed and none is free. Whenever one more gets dirty the kernel asks again.
 */
#define MEMSEC_RECYCLE_NOW		0ULL
#define MEMSEC_RECYCLE_MAX_WAIT		3600000000000ULL
#define MEMSEC_RECYCLE_NEVER		(~0ULL)

/**
 * struct memsec_keyid_recycle_ctx - facts for memsec_ops.keyid_recycle
 * @kind: what is to be recycled, enum memsec_keyid_kind
 * @total: how many there are
 * @free: how many can be taken at once
 * @dirty: how many only wait for the flush of all caches
 * @retiring: how many were given up while pages still carry them
 * @idle_ns: ns for which none was taken or given up
 * @dirty_ns: ns for which one was dirty and not recycled
 * @last_ns: ns that the last recycling took, 0 when there was none
 * @rule: see MEMSEC_RULE_LEN
 *
 * All that is dirty is recycled at once, by one flush of the caches of every
 * CPU, which is felt by all that run there.
 */
struct memsec_keyid_recycle_ctx {
	__u32 kind;
	__u64 total;
	__u64 free;
	__u64 dirty;
	__u64 retiring;
	__u64 idle_ns;
	__u64 dirty_ns;
	__u64 last_ns;
	__u64 rule[MEMSEC_RULE_WORDS];
};

/*
 * The answer to memsec_ops.xpfo: which memory of a cgroup leaves the kernel's
 * direct map, none or any of these. Anything else is out of range and replaced
 * by the default, which is none. Memory that was allocated before stays as it is.
 */
#define MEMSEC_XPFO_ANON	0x1ULL	/* anonymous memory */
#define MEMSEC_XPFO_SHMEM	0x2ULL	/* tmpfs, memfd, SysV and shared anonymous */
#define MEMSEC_XPFO_GUEST	0x4ULL	/* guest_memfd */
#define MEMSEC_XPFO_ALL		0x7ULL

/**
 * struct memsec_xpfo_ctx - facts for memsec_ops.xpfo
 * @cgroup_id: cgroup v2 id of whom the memory is for
 * @protected: pages of all cgroups that are not in the direct map
 * @total: pages of memory that there are
 * @rule: see MEMSEC_RULE_LEN
 *
 * The question is asked once for each cgroup, when memory is first allocated for
 * it, and again when the policy or its numbers changed.
 */
struct memsec_xpfo_ctx {
	__u64 cgroup_id;
	__u64 protected;
	__u64 total;
	__u64 rule[MEMSEC_RULE_WORDS];
};

/*
 * The answer to memsec_ops.xpfo_pool: how many pages to take out of the direct
 * map at a time, 1 to MEMSEC_XPFO_MAX_BATCH, for which all TLBs are flushed once;
 * and how many the pool may hold of pages that nobody has, up to
 * MEMSEC_XPFO_MAX_POOL, in the bits from MEMSEC_XPFO_POOL_SHIFT on. Anything else
 * is out of range and replaced by the default, MEMSEC_XPFO_DEFAULT_BATCH and none.
 */
#define MEMSEC_XPFO_MAX_BATCH		512ULL
#define MEMSEC_XPFO_DEFAULT_BATCH	64ULL
#define MEMSEC_XPFO_POOL_SHIFT		32
/* 1 GiB. */
#define MEMSEC_XPFO_MAX_POOL		0x40000ULL

/**
 * struct memsec_xpfo_pool_ctx - facts for memsec_ops.xpfo_pool
 * @nid: NUMA node of the pool's pages
 * @cpu: the CPU whose pool it is, -1 for those who want memory of the node and
 *	run elsewhere
 * @pages: pages that the pool holds
 * @wanted: single pages that somebody wanted since the previous question,
 *	whether it had any or not
 * @freed: pages that it got back
 * @waits: how often somebody had to wait for a refill
 * @elapsed_ns: ns since the previous question, 0 at the first
 * @cpus: CPUs that are online
 * @protected: pages of all cgroups that are not in the direct map
 * @free: free pages of memory
 * @total: pages of memory that there are
 * @rule: see MEMSEC_RULE_LEN
 *
 * The question is asked when the pool is refilled or gives pages back, and when
 * the policy or its numbers changed.
 */
struct memsec_xpfo_pool_ctx {
	__s32 nid;
	__s32 cpu;
	__u64 pages;
	__u64 wanted;
	__u64 freed;
	__u64 waits;
	__u64 elapsed_ns;
	__u64 cpus;
	__u64 protected;
	__u64 free;
	__u64 total;
	__u64 rule[MEMSEC_RULE_WORDS];
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
 * @directmap: what to split of the direct map
 * @directmap_collapse: when to put an entry of the direct map back together
 * @keyid: how to keep pages of a KeyID for it
 * @keyid_recycle: when to flush all caches, so that KeyIDs can be taken again
 * @xpfo: which memory of a cgroup leaves the direct map
 * @xpfo_pool: how many pages to take out of it at a time, and to keep out
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
	__u64 (*directmap)(const struct memsec_directmap_ctx *ctx);
	__u64 (*directmap_collapse)(const struct memsec_directmap_collapse_ctx *ctx);
	__u64 (*keyid)(const struct memsec_keyid_ctx *ctx);
	__u64 (*keyid_recycle)(const struct memsec_keyid_recycle_ctx *ctx);
	__u64 (*xpfo)(const struct memsec_xpfo_ctx *ctx);
	__u64 (*xpfo_pool)(const struct memsec_xpfo_pool_ctx *ctx);
};

#endif /* _LINUX_MEMSEC_OPS_H */
