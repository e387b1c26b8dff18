// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec KUnit: ASIDs in the bitmaps of KVM.
 *
 * Nothing above the bitmaps is exercised: SEV needs a CPU and a firmware that
 * have it. What is here goes from taking an ASID that is not free to the
 * bitmaps after the flush, which the tests only count.
 */
#include <kunit/test-bug.h>
#include <linux/bitmap.h>

#include <linux/memsec_asid.h>

#include "../keyid.h"
#include "fake.h"

#define k_mech		(&memsec_keyid_mechanism)

/* SEV-ES guests have 1 to 5, SEV guests 6 to 64: more than a word of bits. */
#define ES_MIN		1
#define ES_MAX		5
#define SEV_MIN		6
#define SEV_MAX		64
#define NR		(SEV_MAX + 1)

/**
 * struct a_machine - the ASIDs of a machine
 * @used: which are taken
 * @reclaim: which of them were given up
 * @flushes: of all caches
 * @error: what comes of a flush, 0 when it works
 */
struct a_machine {
	DECLARE_BITMAP(used, NR);
	DECLARE_BITMAP(reclaim, NR);
	int flushes;
	int error;
};

static struct a_machine *a_machine(void)
{
	return kunit_get_current_test()->priv;
}

static unsigned int a_min(const struct memsec_keyid_pool *pool)
{
	return pool->kind == MEMSEC_KEYID_SEV_ES ? ES_MIN : SEV_MIN;
}

static unsigned int a_max(const struct memsec_keyid_pool *pool)
{
	return pool->kind == MEMSEC_KEYID_SEV_ES ? ES_MAX : SEV_MAX;
}

/* As KVM does. */
static int a_recycle(struct memsec_keyid_pool *pool)
{
	struct a_machine *m = a_machine();

	if (!memsec_asids_set(m->reclaim, a_min(pool), a_max(pool)))
		return -EBUSY;

	m->flushes++;

	return m->error ?: memsec_asids_recycle(m->used, m->reclaim, NR);
}

static struct memsec_keyid_pool sev = {
	.kind = MEMSEC_KEYID_SEV,
	.recycle = a_recycle,
};

static struct memsec_keyid_pool es = {
	.kind = MEMSEC_KEYID_SEV_ES,
	.recycle = a_recycle,
};

static int take(struct memsec_keyid_pool *pool)
{
	return memsec_asid_take(pool, a_machine()->used, a_min(pool),
				a_max(pool));
}

static void take_all(struct kunit *test, struct memsec_keyid_pool *pool)
{
	int asid;

	for (asid = a_min(pool); asid <= a_max(pool); asid++)
		KUNIT_ASSERT_EQ(test, take(pool), asid);
}

static void give_up(unsigned int asid)
{
	__set_bit(asid, a_machine()->reclaim);
}

static void expect_counts(struct kunit *test, struct memsec_keyid_pool *pool,
			  u64 free, u64 dirty)
{
	struct memsec_keyid_recycle_ctx ctx = { .retiring = 1 };

	memsec_asids_count(a_machine()->used, a_machine()->reclaim,
			   a_min(pool), a_max(pool), &ctx);
	KUNIT_EXPECT_EQ(test, ctx.total, a_max(pool) - a_min(pool) + 1);
	KUNIT_EXPECT_EQ(test, ctx.free, free);
	KUNIT_EXPECT_EQ(test, ctx.dirty, dirty);
	KUNIT_EXPECT_EQ(test, ctx.retiring, 0);
}

static void free_one_is_taken_without_flush(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, take(&es), ES_MIN);
	KUNIT_EXPECT_EQ(test, take(&sev), SEV_MIN);
	give_up(SEV_MIN);
	KUNIT_EXPECT_EQ(test, take(&sev), SEV_MIN + 1);
	expect_counts(test, &es, 4, 0);
	expect_counts(test, &sev, 57, 1);
	KUNIT_EXPECT_EQ(test, a_machine()->flushes, 0);
}

/* One flush for all that were given up, of both ranges, and for no others. */
static void none_free_recycles_all(struct kunit *test)
{
	static const unsigned int given_up[] = {
		ES_MIN + 1, ES_MAX, SEV_MIN, 63, SEV_MAX,
	};
	struct a_machine *m = a_machine();
	u64 recycles = fake_read(test, k_mech, "recycles");
	u64 recycled = fake_read(test, k_mech, "recycled");
	DECLARE_BITMAP(expected, NR);
	int i;

	take_all(test, &es);
	take_all(test, &sev);
	bitmap_copy(expected, m->used, NR);
	for (i = 0; i < ARRAY_SIZE(given_up); i++) {
		give_up(given_up[i]);
		__clear_bit(given_up[i], expected);
	}
	expect_counts(test, &es, 0, 2);
	expect_counts(test, &sev, 0, 3);

	KUNIT_EXPECT_EQ(test, take(&es), ES_MIN + 1);
	__set_bit(ES_MIN + 1, expected);
	KUNIT_EXPECT_EQ(test, m->flushes, 1);
	KUNIT_EXPECT_TRUE(test, bitmap_equal(m->used, expected, NR));
	KUNIT_EXPECT_TRUE(test, bitmap_empty(m->reclaim, NR));
	expect_counts(test, &es, 1, 0);
	expect_counts(test, &sev, 3, 0);
	KUNIT_EXPECT_EQ(test, fake_read(test, k_mech, "recycles"),
			recycles + 1);
	KUNIT_EXPECT_EQ(test, fake_read(test, k_mech, "recycled"),
			recycled + ARRAY_SIZE(given_up));

	KUNIT_EXPECT_EQ(test, take(&sev), SEV_MIN);
	KUNIT_EXPECT_EQ(test, take(&sev), 63);
	KUNIT_EXPECT_EQ(test, take(&sev), SEV_MAX);
	KUNIT_EXPECT_EQ(test, take(&es), ES_MAX);
	KUNIT_EXPECT_EQ(test, m->flushes, 1);
	KUNIT_EXPECT_EQ(test, take(&sev), -EBUSY);
	KUNIT_EXPECT_EQ(test, take(&es), -EBUSY);
	KUNIT_EXPECT_EQ(test, m->flushes, 1);
}

/* Nor does what was given up in the other range help. */
static void nothing_to_reclaim_is_busy(struct kunit *test)
{
	struct a_machine *m = a_machine();

	take_all(test, &es);
	take_all(test, &sev);
	KUNIT_EXPECT_EQ(test, take(&es), -EBUSY);
	give_up(SEV_MIN);
	KUNIT_EXPECT_EQ(test, take(&es), -EBUSY);
	KUNIT_EXPECT_EQ(test, m->flushes, 0);
	expect_counts(test, &sev, 0, 1);
	KUNIT_EXPECT_EQ(test, take(&sev), SEV_MIN);
	give_up(ES_MAX);
	KUNIT_EXPECT_EQ(test, take(&sev), -EBUSY);
	KUNIT_EXPECT_EQ(test, m->flushes, 1);
	KUNIT_EXPECT_EQ(test, bitmap_weight(m->used, NR), SEV_MAX);
}

static void failed_flush_is_busy(struct kunit *test)
{
	struct a_machine *m = a_machine();

	take_all(test, &es);
	give_up(ES_MAX);
	m->error = -EIO;
	KUNIT_EXPECT_EQ(test, take(&es), -EBUSY);
	KUNIT_EXPECT_EQ(test, m->flushes, 1);
	expect_counts(test, &es, 0, 1);
	m->error = 0;
	KUNIT_EXPECT_EQ(test, take(&es), ES_MAX);
}

/* Firmware can leave no ASIDs to SEV guests. */
static void empty_range_has_none(struct kunit *test)
{
	struct memsec_keyid_recycle_ctx ctx;
	struct a_machine *m = a_machine();

	bitmap_fill(m->used, NR);
	bitmap_fill(m->reclaim, NR);
	memsec_asids_count(m->used, m->reclaim, SEV_MAX, SEV_MAX - 2, &ctx);
	KUNIT_EXPECT_EQ(test, ctx.total, 0);
	KUNIT_EXPECT_EQ(test, ctx.free, 0);
	KUNIT_EXPECT_EQ(test, ctx.dirty, 0);
}

static int asid_test_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct a_machine), GFP_KERNEL);

	return test->priv ? 0 : -ENOMEM;
}

static struct kunit_case asid_cases[] = {
	KUNIT_CASE(free_one_is_taken_without_flush),
	KUNIT_CASE(none_free_recycles_all),
	KUNIT_CASE(nothing_to_reclaim_is_busy),
	KUNIT_CASE(failed_flush_is_busy),
	KUNIT_CASE(empty_range_has_none),
	{}
};

static struct kunit_suite asid_suite = {
	.name = "memsec_keyid_asid",
	.init = asid_test_init,
	.test_cases = asid_cases,
};

kunit_test_suite(asid_suite);
