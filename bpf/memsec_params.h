/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * struct memsec_params: the numbers memsecd hands to a policy.
 *
 * Compiled into BPF policies and into memsecd. One struct a mechanism, all
 * fields u64, in the unit their name ends in. The schema in policy/schema.c
 * describes every field to people; adding a tunable is a field here, a row
 * there and its use in a policy. What a policy has of its own, its object
 * describes.
 */
#ifndef MEMSEC_PARAMS_H
#define MEMSEC_PARAMS_H

/* Keys of the map that holds them are cgroup ids, and this for all others. */
#define MEMSEC_EVERYONE		0ULL
/* Keys that it takes. */
#define MEMSEC_PARAMS_MAX	4096

/* Tunables that a policy can have of its own. */
#define MEMSEC_OWN_MAX		16
/* The section that says which they are, and what they are when nobody has set them. */
#define MEMSEC_OWN_SECTION	".rodata.memsec_own"

/* A time that does not come. */
#define MEMSEC_NEVER		(~0ULL)

/* What the schema and, without memsecd, a policy start from. */
#define MEMSEC_TEARDOWN_DEFAULT_BATCH		4096
#define MEMSEC_TEARDOWN_DEFAULT_MAX_HOLD_NS	4000000
#define MEMSEC_DIRECTMAP_DEFAULT_AHEAD		0
#define MEMSEC_DIRECTMAP_DEFAULT_DIRECTION	MEMSEC_DIRECTION_FOLLOW
#define MEMSEC_DIRECTMAP_DEFAULT_WHOLE		MEMSEC_WHOLE_LEAVE
#define MEMSEC_DIRECTMAP_DEFAULT_COLLAPSE_NS	MEMSEC_NEVER
#define MEMSEC_KEYID_DEFAULT_FLUSH		MEMSEC_FLUSH_ON_MISMATCH
#define MEMSEC_KEYID_DEFAULT_SEARCH		0
#define MEMSEC_KEYID_DEFAULT_CACHE		0
#define MEMSEC_KEYID_DEFAULT_RECYCLE_AT		0
#define MEMSEC_KEYID_DEFAULT_RECYCLE_IDLE_NS	MEMSEC_NEVER
#define MEMSEC_XPFO_DEFAULT_PROTECT		MEMSEC_PROTECT_NONE
#define MEMSEC_XPFO_DEFAULT_PAGES		128
#define MEMSEC_XPFO_DEFAULT_POOL		(16 * 1024 * 1024)

/* Where to split ahead. */
enum memsec_directmap_direction {
	MEMSEC_DIRECTION_FOLLOW,	/* where the owner goes */
	MEMSEC_DIRECTION_UP,
	MEMSEC_DIRECTION_DOWN,
};

/* What to do with a mapping that need not be split. */
enum memsec_directmap_whole {
	MEMSEC_WHOLE_LEAVE,
	MEMSEC_WHOLE_SPLIT,
};

/* When to flush what pages of a KeyID left in caches. */
enum memsec_keyid_flush {
	MEMSEC_FLUSH_ON_MISMATCH,	/* when the next owner has another KeyID */
	MEMSEC_FLUSH_ALWAYS,		/* when they are freed */
};

/* Which memory is not in the direct map. */
enum memsec_xpfo_protect {
	MEMSEC_PROTECT_NONE,
	MEMSEC_PROTECT_ANONYMOUS,
	MEMSEC_PROTECT_ALL,		/* shmem and guest_memfd too */
};

struct memsec_teardown_params {
	__u64 batch;		/* pages between two lock breaks */
	__u64 max_hold_ns;	/* longest time under the lock */
};

struct memsec_directmap_params {
	__u64 ahead;			/* bytes beyond what is needed whose mappings are split too */
	__u64 direction;		/* enum memsec_directmap_direction */
	__u64 whole;			/* enum memsec_directmap_whole */
	__u64 collapse_after_ns;	/* time unused after which mappings are put back, or MEMSEC_NEVER */
};

struct memsec_keyid_params {
	__u64 flush;			/* enum memsec_keyid_flush */
	__u64 search;			/* free pages to look at for one that carries the KeyID */
	__u64 cache;			/* bytes that all CPUs together keep for a KeyID */
	__u64 recycle_at;		/* how many dirty ones are enough to recycle all; 0 if no number is */
	__u64 recycle_idle_ns;		/* time with none taken or given up after which they are, or MEMSEC_NEVER */
};

struct memsec_xpfo_params {
	__u64 protect;			/* enum memsec_xpfo_protect */
	__u64 batch;			/* pages that leave the direct map at a time */
	__u64 pool;			/* bytes that all CPUs together keep outside of it for the next who wants some */
};

struct memsec_params {
	struct memsec_teardown_params teardown;
	struct memsec_directmap_params directmap;
	struct memsec_keyid_params keyid;
	struct memsec_xpfo_params xpfo;
	__u64 own[MEMSEC_OWN_MAX];	/* the policy's own ones: see MEMSEC_OWN() */
};

#endif /* MEMSEC_PARAMS_H */
