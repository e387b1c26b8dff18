// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec KUnit: when all caches are flushed for KeyIDs.
 *
 * Pools of the tests', beside those of this kernel, a policy that answers what
 * the tests want, and a worker that comes when they say so.
 */
#include <kunit/static_stub.h>
#include <kunit/test-bug.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/time64.h>

#include "../keyid.h"
#include "fake.h"

#define k_mech		(&memsec_keyid_mechanism)

/* What a flush of all caches takes, by the clock of the tests. */
#define FLUSH_NS	(3 * NSEC_PER_MSEC)

/**
 * struct r_pool - a pool of a test
 * @pool: as memsec knows it
 * @facts: what count() says
 * @recycles: how often all that is dirty was to be recycled
 * @error: what comes of it, 0 when it works
 * @lock: what is held, if the pool has a lock
 * @unlocked: calls without it
 * @counts: how often somebody counted
 * @asked: how often the policy was asked about the pool
 * @wait: what it answers
 * @ctx: what it was told last
 */
struct r_pool {
	struct memsec_keyid_pool pool;
	struct memsec_keyid_recycle_ctx facts;
	int recycles;
	int error;
	struct mutex lock; /* the pool's */
	int unlocked;
	int counts;
	u64 asked;
	u64 wait;
	struct memsec_keyid_recycle_ctx ctx;
};

/* By kind. About this kernel's own KeyIDs it is only asked. */
static struct r_pool r_pools[MEMSEC_KEYID_NR] = {
	[MEMSEC_KEYID_TME] = { .wait = MEMSEC_RECYCLE_NEVER },
};

static struct r_pool *const sev = &r_pools[MEMSEC_KEYID_SEV];
static struct r_pool *const es = &r_pools[MEMSEC_KEYID_SEV_ES];
static struct r_pool *const tme = &r_pools[MEMSEC_KEYID_TME];

static struct fake_holder holder;
static struct fake_clock *r_clock;
static int calls;
static unsigned long last_delay;

static const char *const counters[] = {
	"asked", "clamped", "recycles", "recycled", "recycle_ns",
};

static u64 noted[ARRAY_SIZE(counters)];

static struct r_pool *r_pool_of(struct memsec_keyid_pool *pool)
{
	return container_of(pool, struct r_pool, pool);
}

static void check_lock(struct r_pool *p)
{
	p->unlocked += p->pool.lock && !mutex_is_locked(p->pool.lock);
}

static void r_count(struct memsec_keyid_pool *pool,
		    struct memsec_keyid_recycle_ctx *ctx)
{
	struct r_pool *p = r_pool_of(pool);

	check_lock(p);
	p->counts++;
	ctx->total = p->facts.total;
	ctx->free = p->facts.free;
	ctx->dirty = p->facts.dirty;
	ctx->retiring = p->facts.retiring;
}

static int r_recycle(struct memsec_keyid_pool *pool)
{
	struct r_pool *p = r_pool_of(pool);
	int dirty = p->facts.dirty;

	check_lock(p);
	WRITE_ONCE(p->recycles, p->recycles + 1);
	r_clock->now += FLUSH_NS;
	if (p->error)
		return p->error;

	p->facts.free += dirty;
	p->facts.dirty = 0;

	return dirty;
}

static u64 r_answer(const struct memsec_keyid_recycle_ctx *ctx)
{
	struct r_pool *p = &r_pools[ctx->kind];

	WRITE_ONCE(p->asked, p->asked + 1);
	p->ctx = *ctx;

	return READ_ONCE(p->wait);
}

static const struct memsec_ops r_policy = {
	.name = "r",
	.abi = MEMSEC_ABI,
	.keyid_recycle = r_answer,
};

static const struct memsec_ops policy_of_nothing = {
	.name = "nothing",
	.abi = MEMSEC_ABI,
};

static void r_attach(struct kunit *test, u64 wait)
{
	sev->wait = wait;
	es->wait = wait;
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &r_policy), 0);
}

static u64 r_counted(struct kunit *test, const char *name)
{
	int i = match_string(counters, ARRAY_SIZE(counters), name);

	KUNIT_ASSERT_GE(test, i, 0);

	return fake_read(test, k_mech, name) - noted[i];
}

/* One more was given up. */
static void one_more(struct r_pool *p)
{
	p->facts.dirty++;
	memsec_keyid_pool_changed(&p->pool);
}

/* The worker comes then. */
static u64 look_after(struct kunit *test, u64 ns)
{
	struct fake_clock *clock = test->priv;

	clock->now += ns;

	return keyid_recycle_look();
}

static void r_register(struct r_pool *p, enum memsec_keyid_kind kind)
{
	*p = (struct r_pool) {
		.pool = {
			.kind = kind,
			.count = r_count,
			.recycle = r_recycle,
		},
		.facts = { .total = 9, .free = 4, .retiring = 2 },
		.wait = MEMSEC_RECYCLE_NEVER,
	};
	mutex_init(&p->lock);
	memsec_keyid_pool_register(&p->pool);
}

static void facts_are_told(struct kunit *test)
{
	r_attach(test, MEMSEC_RECYCLE_NEVER);
	one_more(sev);
	one_more(sev);
	look_after(test, 5);
	KUNIT_EXPECT_EQ(test, sev->asked, 1);
	KUNIT_EXPECT_EQ(test, sev->ctx.kind, MEMSEC_KEYID_SEV);
	KUNIT_EXPECT_EQ(test, sev->ctx.total, 9);
	KUNIT_EXPECT_EQ(test, sev->ctx.free, 4);
	KUNIT_EXPECT_EQ(test, sev->ctx.dirty, 2);
	KUNIT_EXPECT_EQ(test, sev->ctx.retiring, 2);
	KUNIT_EXPECT_EQ(test, sev->ctx.idle_ns, 5);
	KUNIT_EXPECT_EQ(test, sev->ctx.dirty_ns, 0);
	KUNIT_EXPECT_EQ(test, sev->ctx.last_ns, 0);
	KUNIT_EXPECT_EQ(test, es->asked, 0);
	KUNIT_EXPECT_EQ(test, r_counted(test, "asked"), 1 + tme->asked);
}

/* Dirty since the first got dirty, idle since the last did. */
static void times_go_on(struct kunit *test)
{
	r_attach(test, 100);
	one_more(sev);
	look_after(test, 0);
	look_after(test, 100);
	KUNIT_EXPECT_EQ(test, sev->ctx.idle_ns, 100);
	KUNIT_EXPECT_EQ(test, sev->ctx.dirty_ns, 100);
	one_more(sev);
	look_after(test, 7);
	KUNIT_EXPECT_EQ(test, sev->ctx.idle_ns, 7);
	KUNIT_EXPECT_EQ(test, sev->ctx.dirty_ns, 107);

	sev->wait = MEMSEC_RECYCLE_NOW;
	look_after(test, 100);
	KUNIT_EXPECT_EQ(test, sev->ctx.dirty_ns, 207);
	KUNIT_EXPECT_EQ(test, sev->recycles, 1);
	one_more(sev);
	look_after(test, 1);
	KUNIT_EXPECT_EQ(test, sev->ctx.dirty_ns, 0);
	KUNIT_EXPECT_EQ(test, sev->ctx.last_ns, FLUSH_NS);
}

/* Who needed one and found none free recycled what was dirty. */
static void dirty_ends_when_others_recycle(struct kunit *test)
{
	r_attach(test, MEMSEC_RECYCLE_NEVER);
	one_more(sev);
	look_after(test, 0);
	KUNIT_EXPECT_EQ(test, memsec_keyid_pool_recycle(&sev->pool), 1);
	one_more(sev);
	look_after(test, 100);
	KUNIT_EXPECT_EQ(test, sev->ctx.dirty_ns, 0);
	KUNIT_EXPECT_EQ(test, sev->ctx.last_ns, FLUSH_NS);
}

static void none_dirty_ends_it_too(struct kunit *test)
{
	r_attach(test, MEMSEC_RECYCLE_NEVER);
	one_more(sev);
	look_after(test, 0);
	sev->facts.dirty = 0;
	memsec_keyid_pool_changed(&sev->pool);
	look_after(test, 100);
	KUNIT_EXPECT_EQ(test, sev->asked, 1);
	one_more(sev);
	look_after(test, 100);
	KUNIT_EXPECT_EQ(test, sev->asked, 2);
	KUNIT_EXPECT_EQ(test, sev->ctx.dirty_ns, 0);
}

/* The clock was looked at before somebody else took one. */
static void changes_meanwhile_are_no_time_ago(struct kunit *test)
{
	r_attach(test, MEMSEC_RECYCLE_NEVER);
	one_more(sev);
	sev->pool.idle_ns += 10;
	sev->pool.dirty_ns = sev->pool.idle_ns;
	look_after(test, 0);
	KUNIT_EXPECT_EQ(test, sev->ctx.idle_ns, 0);
	KUNIT_EXPECT_EQ(test, sev->ctx.dirty_ns, 0);
}

static void now_recycles(struct kunit *test)
{
	r_attach(test, MEMSEC_RECYCLE_NOW);
	es->wait = MEMSEC_RECYCLE_NEVER;
	one_more(sev);
	one_more(sev);
	one_more(es);
	KUNIT_EXPECT_EQ(test, look_after(test, 0), MEMSEC_RECYCLE_NEVER);
	KUNIT_EXPECT_EQ(test, sev->recycles, 1);
	KUNIT_EXPECT_EQ(test, sev->facts.dirty, 0);
	KUNIT_EXPECT_EQ(test, es->recycles, 0);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycles"), 1);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycled"), 2);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycle_ns"), FLUSH_NS);
	KUNIT_EXPECT_EQ(test, fake_read(test, k_mech, "last_recycle_ns"),
			FLUSH_NS);

	/* All is said and done. */
	look_after(test, MEMSEC_RECYCLE_MAX_WAIT);
	KUNIT_EXPECT_EQ(test, sev->asked, 1);
	KUNIT_EXPECT_EQ(test, sev->recycles, 1);
}

/* The last one counts, not the sum. */
static void last_recycling_is_shown(struct kunit *test)
{
	struct fake_clock *clock = test->priv;

	r_attach(test, MEMSEC_RECYCLE_NOW);
	one_more(sev);
	look_after(test, 0);
	clock->tick = 1;
	one_more(sev);
	look_after(test, 0);
	clock->tick = 0;
	KUNIT_EXPECT_EQ(test, fake_read(test, k_mech, "last_recycle_ns"),
			FLUSH_NS + 1);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycles"), 2);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycled"), 2);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycle_ns"), 2 * FLUSH_NS + 1);
}

static const u64 waits[] = {
	1, 5 * NSEC_PER_SEC, MEMSEC_RECYCLE_MAX_WAIT,
};

static void wait_is_kept(struct kunit *test)
{
	struct fake_clock *clock = test->priv;
	int i;

	r_attach(test, waits[0]);
	one_more(sev);
	look_after(test, 0);
	for (i = 0; i < ARRAY_SIZE(waits); i++) {
		sev->asked = 0;
		sev->wait = waits[i];
		one_more(sev);
		KUNIT_EXPECT_EQ(test, look_after(test, 0),
				clock->now + waits[i]);
		KUNIT_EXPECT_EQ(test, sev->asked, 1);
		KUNIT_EXPECT_EQ(test, look_after(test, waits[i] - 1),
				clock->now + 1);
		KUNIT_EXPECT_EQ(test, sev->asked, 1);
		KUNIT_EXPECT_EQ(test, look_after(test, 1),
				clock->now + waits[i]);
		KUNIT_EXPECT_EQ(test, sev->asked, 2);
	}
	KUNIT_EXPECT_EQ(test, r_counted(test, "clamped"), 0);
	KUNIT_EXPECT_EQ(test, sev->recycles, 0);
}

/* The worker comes for the first of all. */
static void soonest_is_come_for(struct kunit *test)
{
	struct fake_clock *clock = test->priv;

	r_attach(test, 0);
	sev->wait = 500;
	es->wait = 300;
	one_more(sev);
	one_more(es);
	KUNIT_EXPECT_EQ(test, look_after(test, 0), clock->now + 300);
	es->wait = MEMSEC_RECYCLE_NEVER;
	KUNIT_EXPECT_EQ(test, look_after(test, 300), clock->now + 200);
	KUNIT_EXPECT_EQ(test, es->asked, 2);
	KUNIT_EXPECT_EQ(test, sev->asked, 1);
}

static void never_is_until_something_changes(struct kunit *test)
{
	r_attach(test, MEMSEC_RECYCLE_NEVER);
	one_more(sev);
	KUNIT_EXPECT_EQ(test, look_after(test, 0), MEMSEC_RECYCLE_NEVER);
	KUNIT_EXPECT_EQ(test, look_after(test, 10 * MEMSEC_RECYCLE_MAX_WAIT),
			MEMSEC_RECYCLE_NEVER);
	KUNIT_EXPECT_EQ(test, sev->asked, 1);

	/* One more. */
	one_more(sev);
	look_after(test, 0);
	KUNIT_EXPECT_EQ(test, sev->asked, 2);
	look_after(test, 0);
	KUNIT_EXPECT_EQ(test, sev->asked, 2);

	/* Other numbers of the policy. */
	memsec_policy_changed();
	look_after(test, 0);
	KUNIT_EXPECT_EQ(test, sev->asked, 3);
	look_after(test, 0);
	KUNIT_EXPECT_EQ(test, sev->asked, 3);

	/* Another policy, about all that is dirty. */
	one_more(es);
	fake_detach(&holder);
	r_attach(test, MEMSEC_RECYCLE_NOW);
	look_after(test, 0);
	KUNIT_EXPECT_EQ(test, sev->recycles, 1);
	KUNIT_EXPECT_EQ(test, es->recycles, 1);
	KUNIT_EXPECT_EQ(test, r_counted(test, "clamped"), 0);
}

static void one_more_ends_a_wait(struct kunit *test)
{
	r_attach(test, MEMSEC_RECYCLE_MAX_WAIT);
	one_more(sev);
	look_after(test, 0);
	sev->wait = MEMSEC_RECYCLE_NOW;
	look_after(test, 1);
	KUNIT_EXPECT_EQ(test, sev->recycles, 0);
	one_more(sev);
	look_after(test, 1);
	KUNIT_EXPECT_EQ(test, sev->recycles, 1);
}

static const u64 bad_waits[] = {
	MEMSEC_RECYCLE_MAX_WAIT + 1, S64_MAX, 1ULL << 63,
	MEMSEC_RECYCLE_NEVER - 1,
};

/* Out of range is never. */
static void wait_out_of_range_is_replaced(struct kunit *test)
{
	int i;

	r_attach(test, MEMSEC_RECYCLE_NEVER);
	for (i = 0; i < ARRAY_SIZE(bad_waits); i++) {
		sev->wait = bad_waits[i];
		one_more(sev);
		KUNIT_EXPECT_EQ(test, look_after(test, 0),
				MEMSEC_RECYCLE_NEVER);
		KUNIT_EXPECT_EQ(test, r_counted(test, "clamped"), i + 1);
		look_after(test, 10 * MEMSEC_RECYCLE_MAX_WAIT);
		KUNIT_EXPECT_EQ(test, sev->asked, i + 1);
	}
	KUNIT_EXPECT_EQ(test, sev->recycles, 0);
}

static void nothing_dirty_is_no_question(struct kunit *test)
{
	r_attach(test, MEMSEC_RECYCLE_NOW);
	memsec_keyid_pool_changed(&sev->pool);
	KUNIT_EXPECT_EQ(test, look_after(test, 0), MEMSEC_RECYCLE_NEVER);
	memsec_policy_changed();
	KUNIT_EXPECT_EQ(test, look_after(test, NSEC_PER_SEC),
			MEMSEC_RECYCLE_NEVER);
	KUNIT_EXPECT_EQ(test, sev->asked, 0);
	KUNIT_EXPECT_EQ(test, sev->recycles, 0);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycles"), 0);
}

/* However much changes, a flush that does not work is not done all the time. */
static void failure_is_retried_after_a_second(struct kunit *test)
{
	struct fake_clock *clock = test->priv;

	r_attach(test, MEMSEC_RECYCLE_NOW);
	sev->error = -EIO;
	one_more(sev);
	KUNIT_EXPECT_EQ(test, look_after(test, 0), clock->now + NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, sev->recycles, 1);

	one_more(sev);
	memsec_policy_changed();
	KUNIT_EXPECT_EQ(test, look_after(test, NSEC_PER_SEC - 1),
			clock->now + 1);
	KUNIT_EXPECT_EQ(test, sev->recycles, 1);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycles"), 0);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycle_ns"), 0);

	/* Another pool has nothing to do with that. */
	one_more(es);
	look_after(test, 0);
	KUNIT_EXPECT_EQ(test, es->recycles, 1);

	sev->error = 0;
	KUNIT_EXPECT_EQ(test, look_after(test, 1), MEMSEC_RECYCLE_NEVER);
	KUNIT_EXPECT_EQ(test, sev->recycles, 2);
	KUNIT_EXPECT_EQ(test, sev->ctx.dirty_ns, NSEC_PER_SEC + 2 * FLUSH_NS);
	KUNIT_EXPECT_EQ(test, sev->ctx.last_ns, 0);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycled"), 3);
}

static void failure_is_retried_without_a_change(struct kunit *test)
{
	r_attach(test, MEMSEC_RECYCLE_NOW);
	sev->error = -EBUSY;
	one_more(sev);
	look_after(test, 0);
	look_after(test, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, sev->recycles, 2);
}

static void nobody_to_ask_recycles_nothing(struct kunit *test)
{
	one_more(sev);
	KUNIT_EXPECT_EQ(test, look_after(test, 0), MEMSEC_RECYCLE_NEVER);
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &policy_of_nothing), 0);
	KUNIT_EXPECT_EQ(test, look_after(test, 0), MEMSEC_RECYCLE_NEVER);
	KUNIT_EXPECT_EQ(test, sev->recycles, 0);
	KUNIT_EXPECT_EQ(test, r_counted(test, "asked"), 0);

	/* By itself, for who needs one: that works and counts all the same. */
	KUNIT_EXPECT_EQ(test, memsec_keyid_pool_recycle(&sev->pool), 1);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycles"), 1);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycled"), 1);
	KUNIT_EXPECT_EQ(test, memsec_keyid_pool_recycle(&sev->pool), 0);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycles"), 1);
	sev->error = -EIO;
	KUNIT_EXPECT_EQ(test, memsec_keyid_pool_recycle(&sev->pool), -EIO);
	KUNIT_EXPECT_EQ(test, r_counted(test, "recycles"), 1);
}

/* Nobody is bothered with no policy, and one call is enough for many changes. */
static void worker_is_called(struct kunit *test)
{
	one_more(sev);
	KUNIT_EXPECT_EQ(test, calls, 0);

	r_attach(test, MEMSEC_RECYCLE_NEVER);
	KUNIT_EXPECT_EQ(test, calls, 1);
	KUNIT_EXPECT_EQ(test, last_delay, 0);
	one_more(sev);
	KUNIT_EXPECT_EQ(test, calls, 2);
	KUNIT_EXPECT_GT(test, last_delay, 0);
	one_more(sev);
	one_more(es);
	KUNIT_EXPECT_EQ(test, calls, 2);
	memsec_policy_changed();
	KUNIT_EXPECT_EQ(test, calls, 3);
	KUNIT_EXPECT_EQ(test, last_delay, 0);
}

static void pool_is_locked(struct kunit *test)
{
	sev->pool.lock = &sev->lock;
	r_attach(test, MEMSEC_RECYCLE_NOW);
	one_more(sev);
	look_after(test, 0);
	KUNIT_EXPECT_EQ(test, sev->recycles, 1);
	fake_read(test, k_mech, "asids_free");
	KUNIT_EXPECT_EQ(test, sev->unlocked, 0);
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&sev->lock));
}

/* One flush for two kinds. */
static void pools_are_recycled_along(struct kunit *test)
{
	sev->pool.along = &es->pool;
	r_attach(test, MEMSEC_RECYCLE_NEVER);
	one_more(sev);
	one_more(es);
	look_after(test, 0);
	KUNIT_EXPECT_EQ(test, memsec_keyid_pool_recycle(&sev->pool), 1);
	one_more(es);
	look_after(test, 50);
	KUNIT_EXPECT_EQ(test, es->ctx.dirty_ns, 0);
	KUNIT_EXPECT_EQ(test, es->ctx.last_ns, FLUSH_NS);
}

/* KeyIDs of this kernel's own memory are none of them. */
static void asids_are_counted(struct kunit *test)
{
	sev->facts.free = 3;
	es->facts.free = 5;
	sev->facts.dirty = 20;
	es->facts.dirty = 70;
	KUNIT_EXPECT_EQ(test, fake_read(test, k_mech, "asids_free"), 8);
	KUNIT_EXPECT_EQ(test, fake_read(test, k_mech, "asids_dirty"), 90);
	memsec_keyid_pool_unregister(&es->pool);
	KUNIT_EXPECT_EQ(test, fake_read(test, k_mech, "asids_free"), 3);
	KUNIT_EXPECT_EQ(test, fake_read(test, k_mech, "asids_dirty"), 20);
	memsec_keyid_pool_register(&es->pool);
}

static void unregistered_pool_is_left_alone(struct kunit *test)
{
	r_attach(test, MEMSEC_RECYCLE_NOW);
	one_more(sev);
	one_more(es);
	memsec_keyid_pool_unregister(&sev->pool);
	look_after(test, 0);
	KUNIT_EXPECT_EQ(test, sev->asked, 0);
	KUNIT_EXPECT_EQ(test, sev->recycles, 0);
	KUNIT_EXPECT_EQ(test, es->recycles, 1);

	/* It comes as if it was new, and is asked about without a change. */
	sev->pool.last_ns = 1;
	sev->pool.dirty_ns = 1;
	sev->pool.retry_ns = U64_MAX;
	sev->pool.next_ns = MEMSEC_RECYCLE_NEVER;
	sev->pool.changed = false;
	sev->pool.seq = keyid_policy_seq();
	calls = 0;
	memsec_keyid_pool_register(&sev->pool);
	look_after(test, 4);
	KUNIT_EXPECT_EQ(test, sev->recycles, 1);
	KUNIT_EXPECT_EQ(test, sev->ctx.idle_ns, 4);
	KUNIT_EXPECT_EQ(test, sev->ctx.dirty_ns, 0);
	KUNIT_EXPECT_EQ(test, sev->ctx.last_ns, 0);
}

/* However long it takes. */
static void wait_for_recycles(struct kunit *test, int n)
{
	int tries;

	for (tries = 3000; READ_ONCE(sev->recycles) < n && tries; tries--)
		schedule_timeout_uninterruptible(msecs_to_jiffies(20));
	flush_delayed_work(&keyid_recycle_work);
	KUNIT_ASSERT_EQ(test, sev->recycles, n);
}

/* The real worker, by the real clock. */
static void worker_comes_when_it_is_time(struct kunit *test)
{
	int tries;

	kunit_deactivate_static_stub(test, memsec_clock_ns);
	kunit_deactivate_static_stub(test, keyid_recycle_call_worker);
	r_attach(test, NSEC_PER_MSEC);
	one_more(sev);
	for (tries = 3000; READ_ONCE(sev->asked) < 4 && tries; tries--)
		schedule_timeout_uninterruptible(msecs_to_jiffies(20));
	KUNIT_ASSERT_GE(test, sev->asked, 4);
	KUNIT_EXPECT_EQ(test, sev->recycles, 0);

	WRITE_ONCE(sev->wait, MEMSEC_RECYCLE_NOW);
	wait_for_recycles(test, 1);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&keyid_recycle_work));
	one_more(sev);
	wait_for_recycles(test, 2);
}

static void worker_has_nothing_to_do_with_nobody_to_ask(struct kunit *test)
{
	kunit_deactivate_static_stub(test, keyid_recycle_call_worker);
	one_more(sev);
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &policy_of_nothing), 0);
	flush_delayed_work(&keyid_recycle_work);
	KUNIT_EXPECT_EQ(test, sev->counts, 0);

	fake_detach(&holder);
	keyid_recycle_policy_changed();
	flush_delayed_work(&keyid_recycle_work);
	KUNIT_EXPECT_EQ(test, sev->counts, 0);
}

static void call(unsigned long delay)
{
	calls++;
	last_delay = delay;
}

static int recycle_test_init(struct kunit *test)
{
	int i;

	if (memsec_attached())
		kunit_skip(test, "a policy is attached");

	/* The real worker was called before: it has nobody to ask. */
	flush_delayed_work(&keyid_recycle_work);
	r_clock = fake_clock_start(test);
	fake_holder_init(&holder);
	kunit_activate_static_stub(test, keyid_recycle_call_worker, call);
	r_register(sev, MEMSEC_KEYID_SEV);
	r_register(es, MEMSEC_KEYID_SEV_ES);
	calls = 0;
	tme->asked = 0;
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		noted[i] = fake_read(test, k_mech, counters[i]);

	return 0;
}

static void recycle_test_exit(struct kunit *test)
{
	if (!test->priv)
		return;

	fake_detach(&holder);
	memsec_keyid_pool_unregister(&sev->pool);
	memsec_keyid_pool_unregister(&es->pool);
	/* Whoever changes something next calls it again. */
	mod_delayed_work(system_freezable_wq, &keyid_recycle_work, 0);
	flush_delayed_work(&keyid_recycle_work);
}

static struct kunit_case recycle_cases[] = {
	KUNIT_CASE(facts_are_told),
	KUNIT_CASE(times_go_on),
	KUNIT_CASE(dirty_ends_when_others_recycle),
	KUNIT_CASE(none_dirty_ends_it_too),
	KUNIT_CASE(changes_meanwhile_are_no_time_ago),
	KUNIT_CASE(now_recycles),
	KUNIT_CASE(last_recycling_is_shown),
	KUNIT_CASE(wait_is_kept),
	KUNIT_CASE(soonest_is_come_for),
	KUNIT_CASE(never_is_until_something_changes),
	KUNIT_CASE(one_more_ends_a_wait),
	KUNIT_CASE(wait_out_of_range_is_replaced),
	KUNIT_CASE(nothing_dirty_is_no_question),
	KUNIT_CASE(failure_is_retried_after_a_second),
	KUNIT_CASE(failure_is_retried_without_a_change),
	KUNIT_CASE(nobody_to_ask_recycles_nothing),
	KUNIT_CASE(worker_is_called),
	KUNIT_CASE(pool_is_locked),
	KUNIT_CASE(pools_are_recycled_along),
	KUNIT_CASE(asids_are_counted),
	KUNIT_CASE(unregistered_pool_is_left_alone),
	KUNIT_CASE(worker_comes_when_it_is_time),
	KUNIT_CASE(worker_has_nothing_to_do_with_nobody_to_ask),
	{}
};

static struct kunit_suite recycle_suite = {
	.name = "memsec_keyid_recycle",
	.init = recycle_test_init,
	.exit = recycle_test_exit,
	.test_cases = recycle_cases,
};

kunit_test_suite(recycle_suite);
