// SPDX-License-Identifier: GPL-2.0-only
/*
 * adaptive: what the facts ask for, with no numbers to set.
 *
 * Of the policy files it takes what is no matter of speed: teardown.max_hold,
 * directmap.whole, keyid.flush and xpfo.protect. Everything else it decides by
 * rules, each of which memsec_decision shows by its name.
 *
 * teardown: how long to keep the lock and the CPU
 *	first		the price of a page is not known yet: a few
 *	scarce		hardly any EPC is free, so others evict or wait until there
 *			is: as long as is allowed
 *	busy		there is, and a task waits for the CPU: a short time
 *	calm		nobody waits: a longer one
 *
 * directmap: what to split beyond what is needed
 *	whole		2 MiB that are one guest's stay in one piece
 *	pools		memory of xpfo, which comes back: nothing
 *	begins		an owner whose size is known, with little so far: 64 MiB
 *	grows		as much again as the owner has
 *	ends		all that it can still take
 *	enough		1 GiB is split ahead of it: nothing
 *
 * directmap_collapse: when to put 2 MiB back together
 *	many		1 GiB or more is not needed: after 2 s
 *	few		after 30 s
 *
 * keyid: what a CPU keeps for a KeyID
 *	flush		keyid.flush says always: nothing
 *	match		few pages had to be flushed: as many as were given back
 *	mismatch	one of 16 or more had to be: twice that, and a search
 *
 * keyid_recycle: when to flush all caches
 *	price		it would take more than 1 % of the time: later
 *	scarce		fewer can be taken than wait for it: now
 *	idle		none was taken or given up for 10 s: now
 *	wait		none of these yet
 *
 * xpfo
 *	protect		what xpfo.protect says
 *
 * xpfo_pool: what to keep for those who want memory next
 *	memory		hardly any is free: nothing
 *	begins		nothing is known: a batch
 *	waits		somebody had to wait: twice what is wanted
 *	demand		what is wanted in a tenth of a second
 *	idle		nothing is wanted: half of what there is
 */
#include "facts.h"

#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_SEC	(1000 * NSEC_PER_MSEC)

/* Pages to learn the price from: at most 0.4 ms where a page takes 25 us. */
#define FIRST_BATCH	16
#define BUSY_NS		(NSEC_PER_MSEC / 4)
#define CALM_NS		NSEC_PER_MSEC

#define BEGIN_AHEAD	(64ULL << 20 >> 12)

#define MANY_RANGES	512
#define MANY_NS		(2 * NSEC_PER_SEC)
#define FEW_NS		(30 * NSEC_PER_SEC)

/* 16 MiB for a KeyID on each CPU. */
#define MAX_CACHE	4096
#define SEARCH		32

#define IDLE_NS		(10 * NSEC_PER_SEC)

#define DEMAND_NS	(NSEC_PER_SEC / 10)
#define BEGIN_POOL	256

static __always_inline __u64 hold_ns(const struct memsec_teardown_ctx *t)
{
	__u64 longest = min_of(memsec_params_of(t->cgroup_id)->teardown.max_hold_ns, t->max_hold_ns);

	if (t->pool_free < t->pool_total / 16) {
		MEMSEC_RULE(t, "scarce");
		return longest;
	}
	if (t->need_resched) {
		MEMSEC_RULE(t, "busy");
		return min_of(longest, BUSY_NS);
	}
	MEMSEC_RULE(t, "calm");
	return min_of(longest, CALM_NS);
}

SEC("struct_ops/teardown")
__u64 BPF_PROG(adaptive_teardown, const struct memsec_teardown_ctx *t)
{
	__u64 pages;

	if (!t->page_ns) {
		MEMSEC_RULE(t, "first");
		return FIRST_BATCH;
	}
	pages = hold_ns(t) / t->page_ns;
	return max_of(1, min_of(pages, MEMSEC_TEARDOWN_MAX_BATCH));
}

/* Without regard to what the owner can still take. */
static __always_inline __u64 wanted_ahead(const struct memsec_directmap_ctx *d)
{
	if (d->total && d->done < BEGIN_AHEAD) {
		MEMSEC_RULE(d, "begins");
		return BEGIN_AHEAD;
	}
	MEMSEC_RULE(d, "grows");
	return d->done;
}

SEC("struct_ops/directmap")
__u64 BPF_PROG(adaptive_directmap, const struct memsec_directmap_ctx *d)
{
	int down = d->direction < 0;
	__u64 left = pages_left(d, down);
	__u64 ahead;

	if (is_whole(d) && memsec_params_of(d->cgroup_id)->directmap.whole == MEMSEC_WHOLE_LEAVE) {
		MEMSEC_RULE(d, "whole");
		return MEMSEC_DIRECTMAP_LEAVE;
	}
	if (d->kind == MEMSEC_DIRECTMAP_XPFO) {
		MEMSEC_RULE(d, "pools");
		return MEMSEC_DIRECTMAP_EXACT;
	}
	if (d->ahead >= MEMSEC_DIRECTMAP_MAX_AHEAD) {
		MEMSEC_RULE(d, "enough");
		return MEMSEC_DIRECTMAP_EXACT;
	}
	ahead = min_of(wanted_ahead(d), MEMSEC_DIRECTMAP_MAX_AHEAD - d->ahead);
	if (ahead > left) {
		MEMSEC_RULE(d, "ends");
		ahead = left;
	}
	if (!ahead)
		return MEMSEC_DIRECTMAP_EXACT;
	return down ? ahead | MEMSEC_DIRECTMAP_DOWN : ahead;
}

SEC("struct_ops/directmap_collapse")
__u64 BPF_PROG(adaptive_directmap_collapse, const struct memsec_directmap_collapse_ctx *d)
{
	__u64 after;

	if (d->unused_ranges >= MANY_RANGES) {
		MEMSEC_RULE(d, "many");
		after = MANY_NS;
	} else {
		MEMSEC_RULE(d, "few");
		/* Not longer than others may need to become many. */
		after = d->unused_ns < MANY_NS ? d->unused_ns + MANY_NS : FEW_NS;
	}
	return d->unused_ns < after ? after - d->unused_ns : MEMSEC_COLLAPSE_NOW;
}

SEC("struct_ops/keyid")
__u64 BPF_PROG(adaptive_keyid, const struct memsec_keyid_ctx *k)
{
	__u64 returned = max_of(k->cached, k->freed);

	if (memsec_params_of(k->cgroup_id)->keyid.flush == MEMSEC_FLUSH_ALWAYS) {
		MEMSEC_RULE(k, "flush");
		return MEMSEC_KEYID_FLUSH;
	}
	if (k->flushed * 16 < k->allocated || !k->flushed) {
		MEMSEC_RULE(k, "match");
		return min_of(returned, MAX_CACHE);
	}
	MEMSEC_RULE(k, "mismatch");
	return min_of(2 * max_of(returned, k->allocated), MAX_CACHE) |
	       (__u64)SEARCH << MEMSEC_KEYID_SEARCH_SHIFT;
}

SEC("struct_ops/keyid_recycle")
__u64 BPF_PROG(adaptive_keyid_recycle, const struct memsec_keyid_recycle_ctx *k)
{
	__u64 earliest = min_of(100 * k->last_ns, MEMSEC_RECYCLE_MAX_WAIT);

	if (k->dirty_ns < earliest) {
		MEMSEC_RULE(k, "price");
		return earliest - k->dirty_ns;
	}
	if (k->free < k->dirty) {
		MEMSEC_RULE(k, "scarce");
		return MEMSEC_RECYCLE_NOW;
	}
	if (k->idle_ns >= IDLE_NS) {
		MEMSEC_RULE(k, "idle");
		return MEMSEC_RECYCLE_NOW;
	}
	MEMSEC_RULE(k, "wait");
	return IDLE_NS - k->idle_ns;
}

SEC("struct_ops/xpfo")
__u64 BPF_PROG(adaptive_xpfo, const struct memsec_xpfo_ctx *x)
{
	MEMSEC_RULE(x, "protect");
	return protected_memory(memsec_params_of(x->cgroup_id)->xpfo.protect);
}

/* Pages that the pool is to hold, if there is memory for that. */
static __always_inline __u64 wanted_pool(const struct memsec_xpfo_pool_ctx *p)
{
	__u64 soon = p->elapsed_ns ? p->wanted * DEMAND_NS / p->elapsed_ns : p->wanted;

	if (p->waits) {
		MEMSEC_RULE(p, "waits");
		return 2 * max_of(soon, BEGIN_POOL);
	}
	if (!p->elapsed_ns) {
		MEMSEC_RULE(p, "begins");
		return BEGIN_POOL;
	}
	if (p->wanted) {
		MEMSEC_RULE(p, "demand");
		return max_of(soon, BEGIN_POOL);
	}
	MEMSEC_RULE(p, "idle");
	return p->pages / 2;
}

SEC("struct_ops/xpfo_pool")
__u64 BPF_PROG(adaptive_xpfo_pool, const struct memsec_xpfo_pool_ctx *p)
{
	__u64 cpus = p->cpus ? p->cpus : 1;
	__u64 pool = min_of(wanted_pool(p), MEMSEC_XPFO_MAX_POOL);

	if (p->free < p->total / 16) {
		MEMSEC_RULE(p, "memory");
		return MEMSEC_XPFO_DEFAULT_BATCH;
	}
	pool = min_of(pool, p->free / 8 / cpus);
	return (pool < MEMSEC_XPFO_MAX_BATCH ? MEMSEC_XPFO_DEFAULT_BATCH : MEMSEC_XPFO_MAX_BATCH) |
	       pool << MEMSEC_XPFO_POOL_SHIFT;
}

SEC(".struct_ops.link")
struct memsec_ops adaptive = {
	.name = "adaptive",
	.abi = MEMSEC_ABI,
	.teardown = (void *)adaptive_teardown,
	.directmap = (void *)adaptive_directmap,
	.directmap_collapse = (void *)adaptive_directmap_collapse,
	.keyid = (void *)adaptive_keyid,
	.keyid_recycle = (void *)adaptive_keyid_recycle,
	.xpfo = (void *)adaptive_xpfo,
	.xpfo_pool = (void *)adaptive_xpfo_pool,
};
