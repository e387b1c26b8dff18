// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: when to split the kernel's direct map and when to put it together.
 *
 * Memory that is somebody's alone must not be reached through a large entry of
 * the direct map. Taking a range splits the entries that map it. Splitting is
 * dear: it takes a lock that there is one of and interrupts every CPU. So when
 * an entry has to be split, a policy may choose to split those next to it too.
 *
 * What was split and is needed no more is queued, and a worker asks about it.
 * With no policy to ask it stays split, as Linux does it. The worker is paced
 * by the grace periods after which it may free page tables, and freezes with
 * user space, for hibernation saves the tables.
 */
#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/set_memory.h>
#include <linux/time64.h>
#include <linux/workqueue.h>

#include "directmap.h"
#include "events.h"
#include "internal.h"

/* Pages come back in droves: wait for some more before asking. */
#define COLLAPSE_DELAY	msecs_to_jiffies(20)

MEMSEC_ASKED(directmap);
MEMSEC_COUNTER(directmap, clamped);
MEMSEC_COUNTER(directmap, overruled);
MEMSEC_COUNTER(directmap, requests);
MEMSEC_COUNTER(directmap, failed);
MEMSEC_COUNTER(directmap, splits);
MEMSEC_COUNTER(directmap, splits_1g);
MEMSEC_COUNTER(directmap, splits_ahead);
MEMSEC_COUNTER(directmap, collapses);
MEMSEC_COUNTER(directmap, collapses_1g);
MEMSEC_COUNTER(directmap, collapses_refused);
MEMSEC_COUNTER(directmap, lock_holds);
MEMSEC_COUNTER(directmap, tlb_flushes);

static MEMSEC_LIMIT(max_chunk, max_chunk_pages, DIRECTMAP_2M_PAGES,
		    MEMSEC_DIRECTMAP_MAX_AHEAD, 0x8000);
static MEMSEC_LIMIT(max_ahead, max_ahead_pages, 0, MEMSEC_DIRECTMAP_MAX_AHEAD,
		    MEMSEC_DIRECTMAP_MAX_AHEAD);
static MEMSEC_LIMIT(max_collapses, max_collapses_per_pass, 1, 4096, 64);

MEMSEC_GAUGE(directmap, secretmem_pages, directmap_held(MEMSEC_DIRECTMAP_SECRETMEM));
MEMSEC_GAUGE(directmap, guest_pages, directmap_held(MEMSEC_DIRECTMAP_GUEST));
MEMSEC_GAUGE(directmap, xpfo_pages, directmap_held(MEMSEC_DIRECTMAP_XPFO));
MEMSEC_GAUGE(directmap, unused_ranges, directmap_unused());
MEMSEC_GAUGE(directmap, direct_map_4k, direct_map_bytes(PG_LEVEL_4K));
MEMSEC_GAUGE(directmap, direct_map_2m, direct_map_bytes(PG_LEVEL_2M));
MEMSEC_GAUGE(directmap, direct_map_1g, direct_map_bytes(PG_LEVEL_1G));

static struct attribute *directmap_attrs[] = {
	&directmap_asked.attr.attr,
	&directmap_clamped.attr.attr,
	&directmap_overruled.attr.attr,
	&directmap_requests.attr.attr,
	&directmap_failed.attr.attr,
	&directmap_splits.attr.attr,
	&directmap_splits_1g.attr.attr,
	&directmap_splits_ahead.attr.attr,
	&directmap_collapses.attr.attr,
	&directmap_collapses_1g.attr.attr,
	&directmap_collapses_refused.attr.attr,
	&directmap_lock_holds.attr.attr,
	&directmap_tlb_flushes.attr.attr,
	&directmap_secretmem_pages.attr,
	&directmap_guest_pages.attr,
	&directmap_xpfo_pages.attr,
	&directmap_unused_ranges.attr,
	&directmap_direct_map_4k.attr,
	&directmap_direct_map_2m.attr,
	&directmap_direct_map_1g.attr,
	&max_chunk.attr.attr,
	&max_ahead.attr.attr,
	&max_collapses.attr.attr,
	NULL,
};

static void directmap_policy_changed(void);

struct memsec_mechanism memsec_directmap_mechanism = {
	.group = {
		.name = "directmap",
		.attrs = directmap_attrs,
	},
	.asked = &directmap_asked,
	.clamped = &directmap_clamped,
	.policy_changed = directmap_policy_changed,
};

/**
 * directmap_count() - Count what an operation did
 * @op: the operation
 *
 * Context: Any.
 */
void directmap_count(const struct directmap_op *op)
{
	memsec_count_add(&directmap_splits, op->splits);
	memsec_count_add(&directmap_splits_1g, op->splits_1g);
	memsec_count_add(&directmap_splits_ahead, op->splits_ahead);
	memsec_count_add(&directmap_lock_holds, op->lock_holds);
	memsec_count_add(&directmap_tlb_flushes, op->tlb_flushes);
}

/**
 * directmap_max_chunk() - How much to do in one hold of cpa_lock
 *
 * Context: Any.
 * Return: pages.
 */
unsigned long directmap_max_chunk(void)
{
	return memsec_limit(&max_chunk);
}

/* A guest's memory may be read and written by nobody else, but be mapped. */
static bool kind_unmaps(enum memsec_directmap_kind kind)
{
	return kind != MEMSEC_DIRECTMAP_GUEST;
}

/*
 * Is it safe not to split? It is for guest memory of which nothing smaller
 * than 2 MiB belongs to somebody else: the RMP checks accesses through larger
 * entries as accesses to 2 MiB.
 */
static bool leave_is_safe(enum memsec_directmap_kind kind, unsigned long pfn,
			  unsigned long end)
{
	return kind == MEMSEC_DIRECTMAP_GUEST &&
	       IS_ALIGNED(pfn | end, DIRECTMAP_2M_PAGES);
}

static bool answer_is_valid(u64 answer)
{
	u64 pages = lower_32_bits(answer);
	u64 flags = answer - pages;

	if (answer == MEMSEC_DIRECTMAP_LEAVE)
		return true;
	if (!pages)
		return answer == MEMSEC_DIRECTMAP_EXACT;

	return pages <= MEMSEC_DIRECTMAP_MAX_AHEAD &&
	       !(flags & ~MEMSEC_DIRECTMAP_DOWN);
}

/* Where an owner's requests lead to. */
static void owner_follow(struct memsec_directmap_owner *owner,
			 unsigned long pfn)
{
	unsigned long block = pfn / DIRECTMAP_2M_PAGES;
	unsigned long last = READ_ONCE(owner->block);
	int direction = 0;

	if (block == last)
		return;

	if (block == last + 1)
		direction = 1;
	else if (block + 1 == last)
		direction = -1;

	WRITE_ONCE(owner->block, block);
	if (direction && direction == READ_ONCE(owner->direction))
		WRITE_ONCE(owner->sequence, READ_ONCE(owner->sequence) + 1);
	else
		WRITE_ONCE(owner->sequence, direction ? 1 : 0);
	WRITE_ONCE(owner->direction, direction);
}

static void fill_ctx(const struct directmap_op *op,
		     struct memsec_directmap_owner *owner,
		     unsigned long entry_pages,
		     struct memsec_directmap_ctx *ctx)
{
	*ctx = (struct memsec_directmap_ctx) {
		.kind = op->kind,
		.nid = pfn_to_nid(op->pfn),
		.pfn = op->pfn,
		.pages = op->end - op->pfn,
		.entry_pages = entry_pages,
		.total = READ_ONCE(owner->total),
		.done = atomic_long_read(&owner->done),
		.sequence = READ_ONCE(owner->sequence),
		.cgroup_id = owner->cgroup_id,
		.map_4k = direct_map_bytes(PG_LEVEL_4K),
		.map_2m = direct_map_bytes(PG_LEVEL_2M),
		.map_1g = direct_map_bytes(PG_LEVEL_1G),
		.direction = READ_ONCE(owner->direction),
		.ahead = op->seen_ahead,
	};
}

static u64 ask(const struct directmap_op *op,
	       struct memsec_directmap_owner *owner, unsigned long entry_pages,
	       u64 fallback)
{
	struct memsec_directmap_ctx ctx;
	struct memsec_policy *policy;
	u64 answer;

	guard(rcu)();

	policy = memsec_policy_get();
	if (!policy || !policy->ops->directmap)
		return fallback;

	fill_ctx(op, owner, entry_pages, &ctx);
	answer = policy->ops->directmap(&ctx);

	return memsec_policy_clamp(policy, MEMSEC_ASK_DIRECTMAP, &ctx, answer,
				   answer_is_valid(answer), fallback);
}

/*
 * Others may ask for the same owner meanwhile. Who finds that it has more ahead
 * now than the policy was told goes without, so that it never has too much.
 */
static void reserve_ahead(struct directmap_op *op,
			  struct memsec_directmap_owner *owner)
{
	long pages = op->ahead_end - op->ahead;
	long seen = op->seen_ahead;

	if (atomic_long_try_cmpxchg(&owner->ahead, &seen, seen + pages))
		op->reserved = pages;
	else
		op->ahead_end = op->ahead;
}

/* The whole 2 MiB that follow the range, or go before it. */
static void set_ahead(struct directmap_op *op, u64 answer)
{
	unsigned long first = round_down(op->pfn, DIRECTMAP_2M_PAGES);
	unsigned long last = round_up(op->end, DIRECTMAP_2M_PAGES);
	unsigned long pages = min(lower_32_bits(answer),
				  memsec_limit(&max_ahead));

	pages = round_up(pages, DIRECTMAP_2M_PAGES);
	if (answer & MEMSEC_DIRECTMAP_DOWN) {
		op->ahead = first - min(pages, first);
		op->ahead_end = first;
	} else {
		op->ahead = last;
		op->ahead_end = min(last + pages, max_pfn);
	}
}

static void decide(struct directmap_op *op, struct memsec_directmap_owner *owner)
{
	unsigned long entry_pages = directmap_entry_pages(op->pfn, op->end);
	bool safe = leave_is_safe(op->kind, op->pfn, op->end);
	u64 fallback = safe ? MEMSEC_DIRECTMAP_LEAVE : MEMSEC_DIRECTMAP_EXACT;
	u64 answer = fallback;

	op->seen_ahead = atomic_long_read(&owner->ahead);
	if (entry_pages > 1 && memsec_attached())
		answer = ask(op, owner, entry_pages, fallback);

	op->split = answer != MEMSEC_DIRECTMAP_LEAVE;
	if (!op->split && !safe) {
		memsec_count_add(&directmap_overruled, 1);
		op->split = true;
	} else if (op->split && answer) {
		set_ahead(op, answer);
		reserve_ahead(op, owner);
	}
}

/* Hold the range chunk by chunk, all of it or none. */
static int hold_chunks(struct directmap_op *op,
		       struct memsec_directmap_owner *owner)
{
	unsigned long chunk = directmap_max_chunk();
	struct directmap_op part = *op;
	int ret = 0;

	for (; part.pfn < op->end; part.pfn = part.end) {
		part.end = min(round_down(part.pfn + chunk, DIRECTMAP_2M_PAGES),
			       op->end);
		part.later = part.end - part.pfn != op->end - op->pfn;
		ret = directmap_hold(&part);
		if (ret)
			break;
		/* Ahead of the first chunk, not of each. */
		part.ahead_end = part.ahead;
	}

	if (ret && part.pfn > op->pfn) {
		part.end = part.pfn;
		part.pfn = op->pfn;
		part.unmap = false;
		directmap_release(&part);
	} else if (!ret && op->unmap && part.later) {
		part.pfn = op->pfn;
		part.end = op->end;
		directmap_unmap(&part, chunk);
	}
	atomic_long_add(part.went_ahead * (long)DIRECTMAP_2M_PAGES - op->reserved,
			&owner->ahead);
	directmap_count(&part);
	part.pfn = op->pfn;
	trace_memsec_directmap_take(&part, op->end - op->pfn, ret);

	return ret;
}

static void collapse_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(collapse_work, collapse_work_fn);

/* The worker was told to come soon: telling it again would put it off. */
static bool called;

/**
 * directmap_call_worker() - Have the worker come
 * @delay: when, in jiffies
 *
 * Context: Any.
 */
void directmap_call_worker(unsigned long delay)
{
	KUNIT_STATIC_STUB_REDIRECT(directmap_call_worker, delay);

	mod_delayed_work(system_freezable_wq, &collapse_work, delay);
}

static void collapse_soon(void)
{
	if (memsec_attached() && directmap_unused() && !READ_ONCE(called) &&
	    !xchg(&called, true))
		directmap_call_worker(COLLAPSE_DELAY);
}

/**
 * memsec_directmap_take() - Take pages out of the direct map
 * @owner: whose they become
 * @kind: why; the owner's
 * @pfn: first page
 * @pages: number of pages; they are the caller's and mapped
 *
 * Afterwards no entry of the direct map reaches beyond what @kind allows: the
 * pages are not mapped at all, or, of a guest, by entries that map nothing
 * else. No stale translation is left on any CPU.
 *
 * Context: Process context, no spinlock held. May sleep.
 * Return: 0; -ENOMEM; -EBUSY when one of the pages is not mapped. On error
 *	nothing was taken.
 */
int memsec_directmap_take(struct memsec_directmap_owner *owner,
			  enum memsec_directmap_kind kind, unsigned long pfn,
			  unsigned long pages)
{
	struct directmap_op op = {
		.kind = kind,
		.cgroup_id = owner->cgroup_id,
		.owner = owner->id,
		.account = owner->account,
		.pfn = pfn,
		.end = pfn + pages,
		.unmap = kind_unmaps(kind),
	};
	int ret;

	VM_WARN_ON_ONCE(kind != owner->account->kind);

	owner_follow(owner, pfn);
	decide(&op, owner);
	ret = hold_chunks(&op, owner);
	if (ret) {
		memsec_count_add(&directmap_failed, 1);
		return ret;
	}

	collapse_soon();
	atomic_long_add(pages, &owner->done);
	memsec_count_add(&directmap_requests, 1);

	return 0;
}

/**
 * memsec_directmap_split() - Have a range mapped by entries of 4 KiB
 * @pfn: first page
 * @pages: number of pages
 *
 * For pages that were taken when they could be left in a larger entry, and
 * cannot any more. They stay taken. Others may be put back into a large entry
 * as soon as the policy likes.
 *
 * Context: Process context, no spinlock held. May sleep.
 * Return: 0 or -ENOMEM.
 */
int memsec_directmap_split(unsigned long pfn, unsigned long pages)
{
	struct directmap_op op = {
		.kind = MEMSEC_DIRECTMAP_GUEST,
		.pfn = pfn,
		.end = pfn + pages,
		.split = true,
	};
	int ret = directmap_split(&op);

	directmap_count(&op);
	if (ret)
		memsec_count_add(&directmap_failed, 1);

	return ret;
}

static void directmap_policy_changed(void)
{
	directmap_ask_again();
	directmap_call_worker(0);
}

/**
 * memsec_directmap_give_back() - Pages may be in the direct map again
 * @kind: why they were taken
 * @pfn: first page
 * @pages: number of pages, all of which were taken
 *
 * Cannot fail.
 *
 * Context: Process context, no spinlock held. Does not sleep.
 */
void memsec_directmap_give_back(enum memsec_directmap_kind kind,
				unsigned long pfn, unsigned long pages)
{
	struct directmap_op op = {
		.kind = kind,
		.pfn = pfn,
		.unmap = kind_unmaps(kind),
	};
	unsigned long chunk = directmap_max_chunk();
	unsigned long end = pfn + pages;

	for (; op.pfn < end; op.pfn = op.end) {
		op.end = min(op.pfn + chunk, end);
		directmap_release(&op);
	}
	directmap_count(&op);
	collapse_soon();
}

static bool wait_is_valid(u64 answer)
{
	return answer <= MEMSEC_COLLAPSE_MAX_WAIT ||
	       answer == MEMSEC_COLLAPSE_NEVER;
}

static u64 ask_collapse(const struct directmap_block *block, u64 now)
{
	struct memsec_directmap_collapse_ctx ctx;
	struct memsec_policy *policy;
	u64 answer;

	guard(rcu)();

	policy = memsec_policy_get();
	if (!policy || !policy->ops->directmap_collapse)
		return MEMSEC_COLLAPSE_NEVER;

	ctx = (struct memsec_directmap_collapse_ctx) {
		.kind = block->kind,
		.nid = pfn_to_nid(block->pfn),
		.pfn = block->pfn,
		.pages = DIRECTMAP_2M_PAGES,
		.unused_ns = now - block->unused_ns,
		.cgroup_id = block->cgroup_id,
		.unused_ranges = directmap_unused(),
	};
	answer = policy->ops->directmap_collapse(&ctx);

	return memsec_policy_clamp(policy, MEMSEC_ASK_DIRECTMAP_COLLAPSE, &ctx,
				   answer, wait_is_valid(answer),
				   MEMSEC_COLLAPSE_NEVER);
}

static void ask_about(struct list_head *due, u64 now)
{
	struct directmap_block *block;
	u64 wait;

	list_for_each_entry(block, due, list) {
		wait = ask_collapse(block, now);
		block->collapse = wait == MEMSEC_COLLAPSE_NOW;
		block->due.expires = wait == MEMSEC_COLLAPSE_NEVER ?
				     wait : now + wait;
	}
}

static bool policy_collapses(void)
{
	struct memsec_policy *policy;

	guard(rcu)();

	policy = memsec_policy_get();

	return policy && policy->ops->directmap_collapse;
}

static void count_pass(const struct directmap_pass *pass)
{
	memsec_count_add(&directmap_collapses, pass->collapsed);
	memsec_count_add(&directmap_collapses_1g, pass->collapsed_1g);
	memsec_count_add(&directmap_collapses_refused, pass->refused);
	memsec_count_add(&directmap_lock_holds, 1);
	if (pass->collapsed)
		memsec_count_add(&directmap_tlb_flushes, 1);
	if (pass->collapsed || pass->refused)
		trace_memsec_directmap_collapse(pass);
}

/**
 * directmap_collapse_pass() - Ask about the blocks that are due
 *
 * Context: Process context, may sleep. One at a time.
 */
void directmap_collapse_pass(void)
{
	struct directmap_pass pass = {
		.dead = LIST_HEAD_INIT(pass.dead),
	};
	u64 now = memsec_clock_ns();
	LIST_HEAD(due);

	directmap_due(&due, memsec_limit(&max_collapses), now);
	if (list_empty(&due))
		return;

	ask_about(&due, now);
	directmap_collapse(&due, &pass);
	count_pass(&pass);
	directmap_free(&pass.dead);
}

static void collapse_work_fn(struct work_struct *work)
{
	u64 now;
	u64 next;

	WRITE_ONCE(called, false);
	if (!policy_collapses())
		return;

	directmap_collapse_pass();
	if (!directmap_next_due(&next))
		return;

	/* Whatever a policy answers, the CPU is not for questions alone. */
	now = memsec_clock_ns();
	queue_delayed_work(system_freezable_wq, &collapse_work,
			   next > now ? nsecs_to_jiffies(next - now) + 1 : 1);
}
