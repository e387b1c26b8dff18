// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: how many pages to tear down before others may run.
 *
 * A policy answers with a budget. The time for which the lock and the CPU may
 * be kept is bounded whatever the answer, by max_hold_us since the CPU was last
 * offered to others. To keep to it without a clock read for each page, the
 * budget is cut into chunks, with one read at the end of each. A chunk is as
 * long as the rest of the time allows if each page costs as much as a page can
 * cost: twice the worst seen recently in this teardown, or PAGE_NS if that is
 * more. What pages cost can jump within one enclave (a page that was evicted
 * needs no EREMOVE), so cheap pages are no reason to believe in cheap pages.
 *
 * As time runs out chunks get short and clock reads frequent. The last quarter
 * of the time is therefore left unused: with it most of the reads are avoided.
 * The price is a break somewhat early.
 */
#include <linux/kstrtox.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/time64.h>
#include <linux/topology.h>

#include "events.h"
#include "internal.h"

/* What a page is expected to cost at worst, before one costs more. */
#define PAGE_NS		(40 * NSEC_PER_USEC)

/* Pages in the first chunk: they may cost more than PAGE_NS. */
#define FIRST_CHUNK	16

MEMSEC_ASKED(teardown);
MEMSEC_COUNTER(teardown, clamped);
MEMSEC_COUNTER(teardown, teardowns);
MEMSEC_COUNTER(teardown, pages);
MEMSEC_COUNTER(teardown, breaks);
MEMSEC_COUNTER(teardown, forced_breaks);
MEMSEC_COUNTER(teardown, rescheds);

static MEMSEC_LIMIT(max_hold, max_hold_us, 50, 60000000, 4000);

static atomic64_t longest_hold = ATOMIC64_INIT(0);

static ssize_t longest_hold_ns_show(struct kobject *kobj,
				    struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&longest_hold));
}

static ssize_t longest_hold_ns_store(struct kobject *kobj,
				     struct kobj_attribute *attr,
				     const char *buf, size_t count)
{
	u64 value;
	int ret;

	ret = kstrtou64(buf, 0, &value);
	if (ret)
		return ret;

	if (value)
		return -EINVAL;

	atomic64_set(&longest_hold, 0);

	return count;
}

static struct kobj_attribute longest_hold_ns = __ATTR_RW(longest_hold_ns);

static struct attribute *teardown_attrs[] = {
	&teardown_asked.attr.attr,
	&teardown_clamped.attr.attr,
	&teardown_teardowns.attr.attr,
	&teardown_pages.attr.attr,
	&teardown_breaks.attr.attr,
	&teardown_forced_breaks.attr.attr,
	&teardown_rescheds.attr.attr,
	&longest_hold_ns.attr,
	&max_hold.attr.attr,
	NULL,
};

struct memsec_mechanism memsec_teardown_mechanism = {
	.group = {
		.name = "teardown",
		.attrs = teardown_attrs,
	},
	.asked = &teardown_asked,
	.clamped = &teardown_clamped,
};

static u64 max_hold_ns(void)
{
	return memsec_limit(&max_hold) * NSEC_PER_USEC;
}

/*
 * Pages that surely fit into the rest of the time. 0 when it is time for a
 * break.
 */
static u64 pages_that_fit(const struct memsec_teardown *td, u64 now)
{
	u64 limit = max_hold_ns();
	u64 used = now - td->cpu_ns;
	u64 pages;

	if (used >= limit - limit / 4)
		return 0;

	pages = div64_u64(limit - used, max(PAGE_NS, 2 * td->worst_ns));

	return td->worst_ns ? pages : min(pages, FIRST_CHUNK);
}

/* At least one page: a teardown has to come to its end. */
static void start_chunk(struct memsec_teardown *td, u64 pages, u64 now)
{
	td->chunk = clamp(pages, 1, td->budget);
	td->budget -= td->chunk;
	td->left = td->chunk;
	td->chunk_ns = now;
}

static void start_batch(struct memsec_teardown *td, bool resched)
{
	u64 now;

	if (!td->policed) {
		td->chunk = td->batch;
		td->left = td->batch;
		return;
	}

	now = memsec_clock_ns();
	td->now_ns = now;
	td->lock_ns = now;
	if (resched)
		td->cpu_ns = now;
	start_chunk(td, pages_that_fit(td, now), now);
}

static bool answer_is_valid(u64 answer)
{
	u64 pages = lower_32_bits(answer);
	u64 flags = answer - pages;

	return pages && pages <= MEMSEC_TEARDOWN_MAX_BATCH &&
	       !(flags & ~MEMSEC_TEARDOWN_NO_RESCHED);
}

static void fill_ctx(const struct memsec_teardown *td, u64 held_ns, u64 now,
		     struct memsec_teardown_ctx *ctx)
{
	*ctx = (struct memsec_teardown_ctx) {
		.kind = td->kind,
		.nid = numa_node_id(),
		.total = td->total,
		.done = td->done,
		.held_ns = held_ns,
		.elapsed_ns = now - td->begin_ns,
		.max_hold_ns = max_hold_ns(),
		.pool_free = atomic_long_read(td->pool->free),
		.pool_total = td->pool->total,
		.cgroup_id = td->cgroup_id,
		.need_resched = need_resched(),
	};
	if (td->busy_pages)
		ctx->page_ns = div64_u64(td->busy_ns, td->busy_pages);
}

/*
 * Ask the policy. Sets the budget. Returns the flags of the answer, none when
 * there is nobody to ask and the next batch is the default.
 */
static u64 ask(struct memsec_teardown *td, u64 held_ns, u64 now)
{
	struct memsec_teardown_ctx ctx;
	struct memsec_policy *policy;
	u64 answer;

	guard(rcu)();

	policy = memsec_policy_get();
	td->policed = policy && policy->ops->teardown;
	if (!td->policed)
		return 0;

	if (!td->questions++) {
		td->breaks = 0;
		td->counted = 0;
		td->begin_ns = now;
		td->cpu_ns = now;
		td->busy_ns = 0;
		td->busy_pages = 0;
		td->worst_ns = 0;
		td->longest_ns = 0;
	}

	fill_ctx(td, held_ns, now, &ctx);
	answer = policy->ops->teardown(&ctx);
	answer = memsec_policy_clamp(policy, MEMSEC_ASK_TEARDOWN, &ctx, answer,
				     answer_is_valid(answer), td->batch);
	td->budget = lower_32_bits(answer);

	return answer & MEMSEC_TEARDOWN_NO_RESCHED;
}

static void note_hold(struct memsec_teardown *td, u64 held_ns)
{
	s64 longest = atomic64_read(&longest_hold);

	td->longest_ns = max(td->longest_ns, held_ns);
	while (held_ns > longest &&
	       !atomic64_try_cmpxchg(&longest_hold, &longest, held_ns))
		;
}

static void count_pages(struct memsec_teardown *td)
{
	memsec_count_add(&teardown_pages, td->done - td->counted);
	td->counted = td->done;
}

/*
 * Move the pages of the current chunk to the done ones. When they were a
 * policy's, note what they cost.
 */
static void settle(struct memsec_teardown *td)
{
	u64 pages = td->chunk - td->left;
	u64 spent;

	td->done += pages;
	td->chunk = 0;
	td->left = 0;
	if (!td->policed || !pages)
		return;

	td->now_ns = memsec_clock_ns();
	spent = td->now_ns - td->chunk_ns;
	td->busy_ns += spent;
	td->busy_pages += pages;
	/*
	 * Forget slowly: an interrupt or a hypervisor that took the CPU for a
	 * while must not make all later chunks short.
	 */
	td->worst_ns = max(div64_u64(spent, pages),
			   td->worst_ns - td->worst_ns / 8);
}

static void note_break(struct memsec_teardown *td, u64 held_ns, bool forced,
		       bool resched)
{
	td->breaks++;
	note_hold(td, held_ns);
	count_pages(td);
	memsec_count_add(&teardown_breaks, 1);
	if (forced)
		memsec_count_add(&teardown_forced_breaks, 1);
	if (resched)
		memsec_count_add(&teardown_rescheds, 1);
	trace_memsec_teardown_break(td, held_ns, forced, resched);
}

/**
 * memsec_teardown_ask_first() - Ask before the first page
 * @td: the teardown
 *
 * For memsec_teardown_begin().
 *
 * Context: Process context, no spinlock held.
 */
void memsec_teardown_ask_first(struct memsec_teardown *td)
{
	ask(td, 0, memsec_clock_ns());
	start_batch(td, false);
}

/**
 * memsec_teardown_chunk_end() - Go on with the next chunk, or have a break?
 * @td: the teardown, with no pages left in its chunk
 *
 * For memsec_teardown_step().
 *
 * Context: Any, usually under the caller's lock. Does not sleep.
 * Return: true when it is time for a break.
 */
bool memsec_teardown_chunk_end(struct memsec_teardown *td)
{
	u64 pages;

	if (!td->policed)
		return true;

	settle(td);
	if (!td->budget)
		return true;

	pages = pages_that_fit(td, td->now_ns);
	if (!pages) {
		td->out_of_time = true;
		return true;
	}

	start_chunk(td, pages, td->now_ns);

	return false;
}

/**
 * memsec_teardown_ask_next() - A break, with the next question
 * @td: the teardown
 *
 * For memsec_teardown_break(). An answer with MEMSEC_TEARDOWN_NO_RESCHED keeps
 * the CPU only as long as max_hold_us allows, like the lock.
 *
 * Context: Process context, no spinlock held. May sleep.
 */
void memsec_teardown_ask_next(struct memsec_teardown *td)
{
	bool policed = td->policed;
	bool forced = policed && td->out_of_time;
	u64 held_ns;
	bool resched;
	u64 flags;
	u64 now;

	settle(td);
	td->out_of_time = false;
	now = policed ? td->now_ns : memsec_clock_ns();
	held_ns = policed ? now - td->lock_ns : 0;

	flags = ask(td, held_ns, now);
	/* How long the CPU was kept is known only after a policy's batch. */
	resched = !(flags & MEMSEC_TEARDOWN_NO_RESCHED) || !policed ||
		  !pages_that_fit(td, now);
	if (td->questions)
		note_break(td, held_ns, forced, resched);
	if (resched)
		cond_resched();

	start_batch(td, resched);
}

/* Whatever comes next is another hold. */
static void next_hold(struct memsec_teardown *td, bool resched)
{
	if (td->policed)
		note_hold(td, memsec_clock_ns() - td->lock_ns);
	if (resched)
		cond_resched();

	td->lock_ns = memsec_clock_ns();
	td->chunk_ns = td->lock_ns;
	if (resched)
		td->cpu_ns = td->lock_ns;
}

/*
 * How many indices to erase at a time: those of a node, or of 64, which takes
 * about 64 us and a tenth of the instructions, where the limit leaves room.
 */
static unsigned int erase_order(void)
{
	return max_hold_ns() < NSEC_PER_MSEC ? XA_CHUNK_SHIFT :
					       2 * XA_CHUNK_SHIFT;
}

/* Free what is at @xas. Moves on to what comes next. */
static void erase_some(struct xa_state *xas, unsigned int order)
{
	unsigned long next = (xas->xa_index | (BIT(order) - 1)) + 1;

	xas_set_order(xas, xas->xa_index, order);
	xas_store(xas, NULL);
	xas_set_order(xas, next, 0);
}

/**
 * memsec_teardown_erase() - Destroy an XArray within the limits
 * @td: the teardown, in which a policy was asked
 * @xa: the array
 *
 * For memsec_teardown_array(). The budget is for pages and stays as it is.
 *
 * Context: Process context, no spinlock held. May sleep.
 */
void memsec_teardown_erase(struct memsec_teardown *td, struct xarray *xa)
{
	unsigned int order = erase_order();
	XA_STATE(xas, xa, 0);
	u64 left = td->left;

	settle(td);
	td->chunk = left;
	td->left = left;
	next_hold(td, false);

	xas_lock(&xas);
	while (xas_find(&xas, ULONG_MAX)) {
		erase_some(&xas, order);
		if (pages_that_fit(td, memsec_clock_ns()))
			continue;

		xas_unlock(&xas);
		next_hold(td, true);
		xas_lock(&xas);
	}
	xas_unlock(&xas);
	next_hold(td, false);
}

/**
 * memsec_teardown_account() - Count what was done
 * @td: the teardown, in which a policy was asked
 *
 * For memsec_teardown_end().
 *
 * Context: Any.
 */
void memsec_teardown_account(struct memsec_teardown *td)
{
	settle(td);
	if (td->policed)
		note_hold(td, td->now_ns - td->lock_ns);
	else
		td->now_ns = memsec_clock_ns();

	count_pages(td);
	memsec_count_add(&teardown_teardowns, 1);
	trace_memsec_teardown(td, td->now_ns - td->begin_ns);
}
