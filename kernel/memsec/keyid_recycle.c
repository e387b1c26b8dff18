// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: when to flush all caches, so that KeyIDs and ASIDs can be taken again.
 *
 * Who needs one and finds none recycles by itself, and waits as long as it
 * takes. A policy may have it done before: a worker asks when one was taken or
 * given up, and when the time has come that the policy told. With no policy, or
 * with nothing to recycle, the worker does not run.
 */
#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/time64.h>
#include <linux/workqueue.h>

#include "events.h"
#include "keyid.h"

/* KeyIDs are given up in droves: wait for some more before asking. */
#define RECYCLE_DELAY	msecs_to_jiffies(20)
/* What could not be recycled is not tried again before. */
#define RETRY_NS	NSEC_PER_SEC

static LIST_HEAD(pools);
/* Protects the list, and pools on it from being taken away. */
static DEFINE_MUTEX(pools_lock);

static u64 last_recycling_ns;

static void recycle_work_fn(struct work_struct *work);
struct delayed_work keyid_recycle_work =
	__DELAYED_WORK_INITIALIZER(keyid_recycle_work, recycle_work_fn, 0);

/* The worker was told to come soon: telling it again would put it off. */
static bool called;

/**
 * keyid_recycle_call_worker() - Have the worker come
 * @delay: when, in jiffies
 *
 * Context: Any.
 */
void keyid_recycle_call_worker(unsigned long delay)
{
	KUNIT_STATIC_STUB_REDIRECT(keyid_recycle_call_worker, delay);

	mod_delayed_work(system_freezable_wq, &keyid_recycle_work, delay);
}

/* A worker that was called already sees what was written before. */
static void recycle_soon(void)
{
	if (memsec_attached() && !xchg(&called, true))
		keyid_recycle_call_worker(RECYCLE_DELAY);
}

/**
 * keyid_recycle_policy_changed() - Ask again
 *
 * Context: Any.
 */
void keyid_recycle_policy_changed(void)
{
	keyid_recycle_call_worker(0);
}

/**
 * memsec_keyid_pool_register() - Have a policy recycle a pool
 * @pool: the pool
 *
 * Context: Process context, may sleep.
 */
void memsec_keyid_pool_register(struct memsec_keyid_pool *pool)
{
	pool->idle_ns = memsec_clock_ns();
	pool->dirty_ns = 0;
	pool->last_ns = 0;
	pool->retry_ns = 0;
	pool->changed = true;

	scoped_guard(mutex, &pools_lock)
		list_add_tail(&pool->list, &pools);
	recycle_soon();
}
EXPORT_SYMBOL_GPL(memsec_keyid_pool_register);

/**
 * memsec_keyid_pool_unregister() - Have a pool alone
 * @pool: the pool, which nobody uses afterwards
 *
 * Context: Process context. Waits for a recycling to end.
 */
void memsec_keyid_pool_unregister(struct memsec_keyid_pool *pool)
{
	guard(mutex)(&pools_lock);

	list_del(&pool->list);
}
EXPORT_SYMBOL_GPL(memsec_keyid_pool_unregister);

/**
 * memsec_keyid_pool_changed() - One was taken, given up or got dirty
 * @pool: the pool, registered
 *
 * Context: Any.
 */
void memsec_keyid_pool_changed(struct memsec_keyid_pool *pool)
{
	WRITE_ONCE(pool->idle_ns, memsec_clock_ns());
	WRITE_ONCE(pool->changed, true);
	recycle_soon();
}
EXPORT_SYMBOL_GPL(memsec_keyid_pool_changed);

static void note_recycling(struct memsec_keyid_pool *pool, u64 ns)
{
	WRITE_ONCE(pool->last_ns, ns);
	WRITE_ONCE(pool->dirty_ns, 0);
}

/**
 * memsec_keyid_pool_recycle() - Recycle all that is dirty
 * @pool: the pool
 *
 * Context: Process context, may sleep. The pool's lock is held, if it has one.
 * Return: how many can be taken that could not before; a negative errno.
 */
int memsec_keyid_pool_recycle(struct memsec_keyid_pool *pool)
{
	u64 begin, ns;
	int recycled;

	KUNIT_STATIC_STUB_REDIRECT(memsec_keyid_pool_recycle, pool);

	begin = memsec_clock_ns();
	recycled = pool->recycle(pool);
	ns = memsec_clock_ns() - begin;
	if (recycled <= 0)
		return recycled;

	note_recycling(pool, ns);
	if (pool->along)
		note_recycling(pool->along, ns);
	WRITE_ONCE(last_recycling_ns, ns);
	memsec_count_add(&keyid_recycles, 1);
	memsec_count_add(&keyid_recycled, recycled);
	memsec_count_add(&keyid_recycle_ns, ns);
	trace_memsec_keyid_recycle(pool->kind, recycled, ns);

	return recycled;
}
EXPORT_SYMBOL_GPL(memsec_keyid_pool_recycle);

static int lock_and_recycle(struct memsec_keyid_pool *pool)
{
	int recycled;

	if (pool->lock)
		mutex_lock(pool->lock);
	recycled = memsec_keyid_pool_recycle(pool);
	if (pool->lock)
		mutex_unlock(pool->lock);

	return recycled;
}

static void lock_and_count(struct memsec_keyid_pool *pool,
			   struct memsec_keyid_recycle_ctx *ctx)
{
	if (pool->lock)
		mutex_lock(pool->lock);
	pool->count(pool, ctx);
	if (pool->lock)
		mutex_unlock(pool->lock);
}

static bool wait_is_valid(u64 answer)
{
	return answer <= MEMSEC_RECYCLE_MAX_WAIT ||
	       answer == MEMSEC_RECYCLE_NEVER;
}

static u64 ask_recycle(const struct memsec_keyid_recycle_ctx *ctx)
{
	struct memsec_policy *policy;
	u64 answer;

	guard(rcu)();

	policy = memsec_policy_get();
	if (!policy || !policy->ops->keyid_recycle)
		return MEMSEC_RECYCLE_NEVER;

	answer = policy->ops->keyid_recycle(ctx);

	return memsec_policy_clamp(policy, MEMSEC_ASK_KEYID_RECYCLE, ctx,
				   answer, wait_is_valid(answer),
				   MEMSEC_RECYCLE_NEVER);
}

/* What begins right now may do so after somebody looked at the clock. */
static u64 ns_since(u64 begin, u64 now)
{
	return now - min(begin, now);
}

/* Since when the worker has seen a dirty one. */
static u64 dirty_since(struct memsec_keyid_pool *pool, bool dirty, u64 now)
{
	u64 since = READ_ONCE(pool->dirty_ns);

	if (dirty && since)
		return since;

	since = dirty ? now : 0;
	WRITE_ONCE(pool->dirty_ns, since);

	return since;
}

/* How long to wait until the next question. */
static u64 ask_about(struct memsec_keyid_pool *pool, u64 now)
{
	struct memsec_keyid_recycle_ctx ctx = {
		.kind = pool->kind,
		.idle_ns = ns_since(READ_ONCE(pool->idle_ns), now),
		.last_ns = READ_ONCE(pool->last_ns),
	};

	lock_and_count(pool, &ctx);
	ctx.dirty_ns = ns_since(dirty_since(pool, ctx.dirty, now), now);

	return ctx.dirty ? ask_recycle(&ctx) : MEMSEC_RECYCLE_NEVER;
}

static bool is_due(struct memsec_keyid_pool *pool, u64 now)
{
	unsigned int seq = keyid_policy_seq();
	bool changed;

	if (now < pool->retry_ns)
		return false;

	changed = xchg(&pool->changed, false) || pool->seq != seq;
	pool->seq = seq;

	return changed || pool->next_ns <= now;
}

/* When to ask again: none is dirty now, or flushing does not work. */
static u64 recycle_now(struct memsec_keyid_pool *pool)
{
	if (lock_and_recycle(pool) >= 0)
		return MEMSEC_RECYCLE_NEVER;

	pool->retry_ns = memsec_clock_ns() + RETRY_NS;

	return pool->retry_ns;
}

/* Asks if it is time to, and does what the policy says. */
static void look_at(struct memsec_keyid_pool *pool)
{
	u64 now = memsec_clock_ns();
	u64 wait;

	if (!is_due(pool, now))
		return;

	wait = ask_about(pool, now);
	if (wait == MEMSEC_RECYCLE_NOW)
		pool->next_ns = recycle_now(pool);
	else
		pool->next_ns = wait == MEMSEC_RECYCLE_NEVER ? wait : now + wait;
}

/**
 * keyid_recycle_look() - Ask about the pools for which it is time
 *
 * Context: Process context, may sleep.
 * Return: when to come again, MEMSEC_RECYCLE_NEVER for when it is called.
 */
u64 keyid_recycle_look(void)
{
	struct memsec_keyid_pool *pool;
	u64 next = MEMSEC_RECYCLE_NEVER;

	guard(mutex)(&pools_lock);

	list_for_each_entry(pool, &pools, list) {
		look_at(pool);
		next = min(next, pool->next_ns);
	}

	return next;
}

static bool policy_recycles(void)
{
	struct memsec_policy *policy;

	guard(rcu)();

	policy = memsec_policy_get();

	return policy && policy->ops->keyid_recycle;
}

static void recycle_work_fn(struct work_struct *work)
{
	u64 now, next;

	WRITE_ONCE(called, false);
	if (!policy_recycles())
		return;

	next = keyid_recycle_look();
	if (next == MEMSEC_RECYCLE_NEVER)
		return;

	/* Whatever a policy answers, the CPU is not for questions alone. */
	now = memsec_clock_ns();
	queue_delayed_work(system_freezable_wq, &keyid_recycle_work,
			   next > now ? nsecs_to_jiffies(next - now) + 1 : 1);
}

/**
 * keyid_last_recycling_ns() - How long the last recycling took
 *
 * Context: Any.
 * Return: ns; 0 when there was none.
 */
u64 keyid_last_recycling_ns(void)
{
	return READ_ONCE(last_recycling_ns);
}

/**
 * keyid_count_asids() - Count ASIDs of all kinds
 * @free: how many can be taken at once
 * @dirty: how many only wait to be recycled
 *
 * Context: Process context, may sleep.
 */
void keyid_count_asids(u64 *free, u64 *dirty)
{
	struct memsec_keyid_recycle_ctx ctx;
	struct memsec_keyid_pool *pool;

	*free = 0;
	*dirty = 0;

	guard(mutex)(&pools_lock);

	list_for_each_entry(pool, &pools, list) {
		if (pool->kind == MEMSEC_KEYID_TME)
			continue;
		lock_and_count(pool, &ctx);
		*free += ctx.free;
		*dirty += ctx.dirty;
	}
}
