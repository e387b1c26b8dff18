// SPDX-License-Identifier: GPL-2.0-only
/*
 * The direct map of this kernel follows its RMP, in a boot with memsec.rmp=1.
 */
#include <kunit/static_stub.h>
#include <linux/memsec_emulation.h>
#include <linux/mm.h>
#include <linux/pfn.h>
#include <linux/string.h>
#include <asm/sev.h>

#include "../../memsec/tests/directmap_fixture.h"
#include "../rmp_model.h"

#define GPA		0x40000000ULL
#define ASID		7

static int rmp_directmap_init(struct kunit *test)
{
	if (!memsec_rmp_emulated())
		kunit_skip(test, "not booted with memsec.rmp=1");

	return dm_test_init(test);
}

static void rmp_directmap_exit(struct kunit *test)
{
	if (memsec_rmp_emulated())
		dm_test_exit(test);
}

static int make_private(u64 pfn, enum pg_level level)
{
	return rmp_make_private(pfn, GPA, level, ASID, false, &dm_owner);
}

/* Would a write of the host to the page fault? */
static bool write_faults(u64 pfn)
{
	return rmp_model_write_faults(&rmp_model_table, pfn, dm_level_of(pfn));
}

static u64 violations(const struct dm_area *area)
{
	return rmp_model_violations(&rmp_model_table, area->pfn);
}

static bool is_private(u64 pfn)
{
	bool assigned = false;
	int level;

	return !snp_lookup_rmpentry(pfn, &assigned, &level) && assigned;
}

static void private_page_has_an_entry(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	u64 pfn = area->pfn + 3;

	KUNIT_ASSERT_EQ(test, make_private(pfn, PG_LEVEL_4K), 0);
	KUNIT_EXPECT_TRUE(test, is_private(pfn));
	KUNIT_EXPECT_FALSE(test, is_private(pfn + 1));
	KUNIT_EXPECT_EQ(test, dm_level_of(pfn), PG_LEVEL_4K);
	KUNIT_EXPECT_EQ(test, violations(area), 0);
	KUNIT_EXPECT_TRUE(test, write_faults(pfn));
	KUNIT_EXPECT_FALSE(test, write_faults(pfn + 1));
	dm_expect_counted(test, "guest_pages", 1);
	dm_expect_counted(test, "tlb_flushes", 1);

	KUNIT_ASSERT_EQ(test, rmp_make_shared(pfn, PG_LEVEL_4K), 0);
	KUNIT_EXPECT_FALSE(test, is_private(pfn));
	dm_expect_counted(test, "guest_pages", 0);
	dm_expect_counted(test, "unused_ranges", 1);

	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	dm_pass_after(test, 0);
	KUNIT_EXPECT_TRUE(test, dm_area_is_large(area, PG_LEVEL_2M));
	KUNIT_EXPECT_FALSE(test, write_faults(pfn));
	dm_expect_area(test, area, 0, 0);
}

static void large_private_page_leaves_the_entry(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, make_private(area->pfn, PG_LEVEL_2M), 0);
	dm_expect_counted(test, "splits", 0);
	dm_expect_counted(test, "guest_pages", DM_BLOCK);
	KUNIT_EXPECT_EQ(test, violations(area), 0);
	KUNIT_EXPECT_TRUE(test, write_faults(area->pfn + 9));
	KUNIT_ASSERT_EQ(test, rmp_make_shared(area->pfn, PG_LEVEL_2M), 0);
	dm_expect_counted(test, "guest_pages", 0);
	dm_expect_area(test, area, 0, 0);
}

static void smashed_page_splits_the_entry(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	u64 pfn;

	KUNIT_ASSERT_EQ(test, make_private(area->pfn, PG_LEVEL_2M), 0);
	KUNIT_ASSERT_EQ(test, psmash(area->pfn), 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_4K);
	KUNIT_EXPECT_EQ(test, violations(area), 0);
	dm_expect_counted(test, "splits", 1);
	dm_expect_counted(test, "guest_pages", DM_BLOCK);

	/* It is held as before: nothing collapses under it. */
	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	for (pfn = area->pfn; pfn < area->pfn + DM_BLOCK - 1; pfn++)
		KUNIT_ASSERT_EQ(test, rmp_make_shared(pfn, PG_LEVEL_4K), 0);
	dm_pass_after(test, 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(pfn), PG_LEVEL_4K);
	KUNIT_EXPECT_FALSE(test, write_faults(area->pfn));
	KUNIT_EXPECT_TRUE(test, write_faults(pfn));

	KUNIT_ASSERT_EQ(test, rmp_make_shared(pfn, PG_LEVEL_4K), 0);
	dm_expect_counted(test, "guest_pages", 0);
	dm_pass_after(test, 0);
	KUNIT_EXPECT_TRUE(test, dm_area_is_large(area, PG_LEVEL_2M));
	dm_expect_area(test, area, 0, 0);
}

static void unsafe_leave_is_overruled(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	dm_attach(test, MEMSEC_DIRECTMAP_LEAVE, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, make_private(area->pfn, PG_LEVEL_4K), 0);
	dm_expect_counted(test, "overruled", 1);
	KUNIT_EXPECT_EQ(test, violations(area), 0);
	KUNIT_ASSERT_EQ(test, rmp_make_shared(area->pfn, PG_LEVEL_4K), 0);
}

/* A page is taken when it becomes private and given back when it is no more. */
static void pages_count_once(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, rmp_make_shared(area->pfn, PG_LEVEL_4K), 0);
	dm_expect_counted(test, "guest_pages", 0);
	KUNIT_ASSERT_EQ(test, make_private(area->pfn, PG_LEVEL_4K), 0);
	KUNIT_ASSERT_EQ(test, make_private(area->pfn, PG_LEVEL_4K), 0);
	dm_expect_counted(test, "guest_pages", 1);
	KUNIT_ASSERT_EQ(test, rmp_make_shared(area->pfn, PG_LEVEL_4K), 0);
	KUNIT_ASSERT_EQ(test, rmp_make_shared(area->pfn, PG_LEVEL_4K), 0);
	dm_expect_counted(test, "guest_pages", 0);
}

/* Those of the firmware, too, whoever gives them up. */
static void firmware_pages_count(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, rmp_make_private(area->pfn, 0, PG_LEVEL_4K, 0,
					       false, NULL), 0);
	dm_expect_counted(test, "guest_pages", 1);
	KUNIT_EXPECT_EQ(test, violations(area), 0);
	KUNIT_ASSERT_EQ(test, rmp_make_shared(area->pfn, PG_LEVEL_4K), 0);
	dm_expect_counted(test, "guest_pages", 0);
}

static struct directmap_block *no_memory(unsigned long pfn, int level,
					 bool table, gfp_t gfp)
{
	return NULL;
}

static void no_memory_leaves_the_page_shared(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	kunit_activate_static_stub(test, directmap_block_new, no_memory);
	KUNIT_EXPECT_NE(test, make_private(area->pfn, PG_LEVEL_4K), 0);
	KUNIT_EXPECT_FALSE(test, is_private(area->pfn));
	dm_expect_counted(test, "guest_pages", 0);
	dm_expect_counted(test, "splits", 0);
	kunit_deactivate_static_stub(test, directmap_block_new);
}

static void no_memory_does_not_smash(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, make_private(area->pfn, PG_LEVEL_2M), 0);
	kunit_activate_static_stub(test, directmap_block_new, no_memory);
	KUNIT_EXPECT_EQ(test, psmash(area->pfn), -ENOMEM);
	kunit_deactivate_static_stub(test, directmap_block_new);
	KUNIT_EXPECT_EQ(test, violations(area), 0);
	KUNIT_ASSERT_EQ(test, rmp_make_shared(area->pfn, PG_LEVEL_2M), 0);
}

/* Does the checker see what it is there for? */
static void checker_sees_a_coarse_map(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	struct rmp_state state = { .assigned = 1, .asid = ASID, .gpa = GPA };
	u64 paddr = PFN_PHYS(area->pfn + 3);

	KUNIT_ASSERT_EQ(test, rmp_model_update(&rmp_model_table, paddr, &state), 0);
	KUNIT_EXPECT_EQ(test, violations(area), 1);
	KUNIT_EXPECT_TRUE(test, write_faults(area->pfn));

	memset(&state, 0, sizeof(state));
	KUNIT_ASSERT_EQ(test, rmp_model_update(&rmp_model_table, paddr, &state), 0);
	KUNIT_EXPECT_EQ(test, violations(area), 0);
	KUNIT_EXPECT_FALSE(test, write_faults(area->pfn));
}

static struct kunit_case rmp_directmap_cases[] = {
	KUNIT_CASE(private_page_has_an_entry),
	KUNIT_CASE(large_private_page_leaves_the_entry),
	KUNIT_CASE(smashed_page_splits_the_entry),
	KUNIT_CASE(unsafe_leave_is_overruled),
	KUNIT_CASE(pages_count_once),
	KUNIT_CASE(firmware_pages_count),
	KUNIT_CASE(no_memory_leaves_the_page_shared),
	KUNIT_CASE(no_memory_does_not_smash),
	KUNIT_CASE(checker_sees_a_coarse_map),
	{ }
};

static struct kunit_suite rmp_directmap_suite = {
	.name = "memsec_rmp_directmap",
	.init = rmp_directmap_init,
	.exit = rmp_directmap_exit,
	.test_cases = rmp_directmap_cases,
};

kunit_test_suite(rmp_directmap_suite);
