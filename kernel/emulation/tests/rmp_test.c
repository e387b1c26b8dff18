// SPDX-License-Identifier: GPL-2.0-only
/*
 * RMPUPDATE and PSMASH on a small table of each test's own.
 */
#include <kunit/test.h>
#include <linux/bitfield.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "../rmp_model.h"

/* Two times 2 MiB. */
#define PAGES		(2 * RMP_2M_PAGES)

#define GPA		0x40000000ULL
#define ASID		7

static const struct rmp_state private_4k = {
	.assigned = 1, .asid = ASID, .gpa = GPA,
};

static const struct rmp_state private_2m = {
	.assigned = 1, .asid = ASID, .gpa = GPA, .pagesize = RMP_PG_SIZE_2M,
};

static const struct rmp_state shared_4k;
static const struct rmp_state shared_2m = { .pagesize = RMP_PG_SIZE_2M };

static int update(struct kunit *test, u64 pfn, const struct rmp_state *state)
{
	return rmp_model_update(test->priv, pfn << PAGE_SHIFT, state);
}

static int smash(struct kunit *test, u64 pfn)
{
	return rmp_model_psmash(test->priv, pfn << PAGE_SHIFT);
}

static u64 entry(struct kunit *test, u64 pfn)
{
	struct rmp_table *rmp = test->priv;

	return rmp->entries[pfn].lo;
}

static bool table_is_clear(struct kunit *test)
{
	struct rmp_table *rmp = test->priv;

	return !memchr_inv(rmp->entries, 0, PAGES * sizeof(*rmp->entries));
}

static int rmp_test_init(struct kunit *test)
{
	struct rmp_table *rmp = kunit_kzalloc(test, sizeof(*rmp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rmp);
	rmp->nr_pages = PAGES;
	rmp->entries = kunit_kcalloc(test, PAGES, sizeof(*rmp->entries),
				     GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rmp->entries);
	test->priv = rmp;

	return 0;
}

static void page_is_assigned_and_given_up(struct kunit *test)
{
	u64 want = RMP_ASSIGNED | FIELD_PREP(RMP_ASID, ASID) | GPA;

	KUNIT_ASSERT_EQ(test, update(test, 3, &private_4k), 0);
	KUNIT_EXPECT_EQ(test, entry(test, 3), want);
	KUNIT_EXPECT_EQ(test, entry(test, 2), 0);
	KUNIT_EXPECT_EQ(test, entry(test, 4), 0);

	KUNIT_ASSERT_EQ(test, update(test, 3, &shared_4k), 0);
	KUNIT_EXPECT_TRUE(test, table_is_clear(test));
}

static void large_page_is_assigned_and_given_up(struct kunit *test)
{
	int i;

	KUNIT_ASSERT_EQ(test, update(test, RMP_2M_PAGES, &private_2m), 0);
	for (i = 0; i < RMP_2M_PAGES; i++) {
		u64 want = RMP_ASSIGNED | RMP_2M | FIELD_PREP(RMP_ASID, ASID) |
			   (GPA + i * PAGE_SIZE);

		KUNIT_ASSERT_EQ(test, entry(test, RMP_2M_PAGES + i), want);
	}
	KUNIT_EXPECT_EQ(test, entry(test, RMP_2M_PAGES - 1), 0);

	KUNIT_ASSERT_EQ(test, update(test, RMP_2M_PAGES, &shared_2m), 0);
	KUNIT_EXPECT_TRUE(test, table_is_clear(test));
}

struct bad {
	const char *desc;
	u64 paddr;
	struct rmp_state state;
};

static const struct bad bad_inputs[] = {
	{ "beyond the table", PAGES << PAGE_SHIFT, { } },
	{ "not a page", 8, { } },
	{ "not 2 MiB", PAGE_SIZE, { .pagesize = RMP_PG_SIZE_2M } },
	{ "no such size", 0, { .pagesize = 2 } },
	{ "neither assigned nor not", 0, { .assigned = 2 } },
	{ "neither immutable nor not", 0, { .assigned = 1, .immutable = 2 } },
	{ "reserved", 0, { .assigned = 1, .rsvd = 1 } },
	{ "ASID too large", 0, { .assigned = 1, .asid = 1024 } },
	{ "GPA too large", 0, { .assigned = 1, .gpa = 1ULL << 51 } },
	{ "GPA is not a page", 0, { .assigned = 1, .gpa = 1 } },
	{ "GPA is not 2 MiB", 0,
	  { .assigned = 1, .gpa = 4096, .pagesize = RMP_PG_SIZE_2M } },
	{ "nobody's and immutable", 0, { .immutable = 1 } },
	{ "nobody's with an ASID", 0, { .asid = 1 } },
	{ "nobody's with a GPA", 0, { .gpa = GPA } },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_inputs, desc);

static void bad_input_changes_nothing(struct kunit *test)
{
	const struct bad *bad = test->param_value;

	KUNIT_EXPECT_EQ(test,
			rmp_model_update(test->priv, bad->paddr, &bad->state),
			RMP_FAIL_INPUT);
	KUNIT_EXPECT_TRUE(test, table_is_clear(test));
}

static void immutable_entry_stays(struct kunit *test)
{
	struct rmp_state state = private_4k;
	u64 before;

	state.immutable = 1;
	KUNIT_ASSERT_EQ(test, update(test, 3, &state), 0);
	before = entry(test, 3);
	KUNIT_EXPECT_EQ(test, update(test, 3, &shared_4k), RMP_FAIL_PERMISSION);
	KUNIT_EXPECT_EQ(test, update(test, 3, &private_4k), RMP_FAIL_PERMISSION);
	KUNIT_EXPECT_EQ(test, entry(test, 3), before);

	state = private_2m;
	state.immutable = 1;
	KUNIT_ASSERT_EQ(test, update(test, RMP_2M_PAGES, &state), 0);
	KUNIT_EXPECT_EQ(test, update(test, RMP_2M_PAGES, &shared_2m),
			RMP_FAIL_PERMISSION);
	KUNIT_EXPECT_EQ(test, smash(test, RMP_2M_PAGES), RMP_FAIL_PERMISSION);
	KUNIT_EXPECT_NE(test, entry(test, RMP_2M_PAGES) & RMP_2M, 0);
}

static void sizes_must_not_overlap(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, update(test, 0, &private_2m), 0);
	KUNIT_EXPECT_EQ(test, update(test, 0, &shared_4k), RMPUPDATE_FAIL_OVERLAP);
	KUNIT_EXPECT_EQ(test, update(test, 5, &shared_4k), RMPUPDATE_FAIL_OVERLAP);
	KUNIT_EXPECT_EQ(test, update(test, 5, &private_4k), RMPUPDATE_FAIL_OVERLAP);
	KUNIT_EXPECT_EQ(test, update(test, RMP_2M_PAGES, &private_4k), 0);

	KUNIT_EXPECT_EQ(test, update(test, RMP_2M_PAGES, &private_2m),
			RMPUPDATE_FAIL_OVERLAP);
	KUNIT_EXPECT_EQ(test, update(test, RMP_2M_PAGES, &shared_2m),
			RMPUPDATE_FAIL_OVERLAP);

	/* What was given up does not bind. */
	KUNIT_EXPECT_EQ(test, update(test, 0, &shared_2m), 0);
	KUNIT_EXPECT_EQ(test, update(test, 5, &private_4k), 0);
	KUNIT_EXPECT_EQ(test, update(test, RMP_2M_PAGES, &shared_4k), 0);
	KUNIT_EXPECT_EQ(test, update(test, RMP_2M_PAGES, &private_2m), 0);
}

static void smashed_page_keeps_its_owner(struct kunit *test)
{
	int i;

	KUNIT_ASSERT_EQ(test, update(test, 0, &private_2m), 0);
	KUNIT_ASSERT_EQ(test, smash(test, 0), 0);
	for (i = 0; i < RMP_2M_PAGES; i++)
		KUNIT_ASSERT_EQ(test, entry(test, i),
				RMP_ASSIGNED | FIELD_PREP(RMP_ASID, ASID) |
				(GPA + i * PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, update(test, 5, &shared_4k), 0);
	KUNIT_EXPECT_EQ(test, update(test, 0, &shared_2m),
			RMPUPDATE_FAIL_OVERLAP);
}

static void only_large_pages_are_smashed(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, smash(test, 0), RMP_FAIL_INPUT);
	KUNIT_EXPECT_EQ(test, smash(test, 1), RMP_FAIL_INPUT);
	KUNIT_EXPECT_EQ(test, smash(test, PAGES), RMP_FAIL_INPUT);
	KUNIT_EXPECT_TRUE(test, table_is_clear(test));
	KUNIT_ASSERT_EQ(test, update(test, 0, &private_4k), 0);
	KUNIT_EXPECT_EQ(test, smash(test, 0), RMP_FAIL_INPUT);
}

static void host_writes_fault(struct kunit *test)
{
	struct rmp_table *rmp = test->priv;

	KUNIT_EXPECT_FALSE(test, rmp_model_write_faults(rmp, 3, PG_LEVEL_4K));
	KUNIT_EXPECT_FALSE(test, rmp_model_write_faults(rmp, 3, PG_LEVEL_2M));
	KUNIT_ASSERT_EQ(test, update(test, 3, &private_4k), 0);

	KUNIT_EXPECT_TRUE(test, rmp_model_write_faults(rmp, 3, PG_LEVEL_4K));
	KUNIT_EXPECT_FALSE(test, rmp_model_write_faults(rmp, 4, PG_LEVEL_4K));
	/* As a write of 2 MiB, a write next to it does. */
	KUNIT_EXPECT_TRUE(test, rmp_model_write_faults(rmp, 4, PG_LEVEL_2M));
	KUNIT_EXPECT_TRUE(test, rmp_model_write_faults(rmp, 4, PG_LEVEL_1G));
	KUNIT_EXPECT_FALSE(test, rmp_model_write_faults(rmp, RMP_2M_PAGES,
							PG_LEVEL_1G));
}

static struct kunit_case rmp_cases[] = {
	KUNIT_CASE(page_is_assigned_and_given_up),
	KUNIT_CASE(large_page_is_assigned_and_given_up),
	KUNIT_CASE_PARAM(bad_input_changes_nothing, bad_gen_params),
	KUNIT_CASE(immutable_entry_stays),
	KUNIT_CASE(sizes_must_not_overlap),
	KUNIT_CASE(smashed_page_keeps_its_owner),
	KUNIT_CASE(only_large_pages_are_smashed),
	KUNIT_CASE(host_writes_fault),
	{ }
};

static struct kunit_suite rmp_suite = {
	.name = "memsec_rmp",
	.init = rmp_test_init,
	.test_cases = rmp_cases,
};

kunit_test_suite(rmp_suite);
