// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec KUnit: what memsec.directmap=4k does, to a part of this kernel's
 * direct map.
 */
#include <kunit/static_stub.h>
#include <linux/mm.h>
#include <linux/time64.h>

#include "directmap_fixture.h"

static bool it_does(void)
{
	return true;
}

static void range_is_split_chunk_by_chunk(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, fake_write(test, dm_mech, "max_chunk_pages",
					 "512"), 0);
	directmap_split_all(area->pfn, area->pfn + area->pages);
	dm_expect_counted(test, "splits", 2);
	dm_expect_counted(test, "lock_holds", 2);
	dm_expect_counted(test, "tlb_flushes", 2);
	dm_expect_counted(test, "direct_map_2m", -(u64)2 * PMD_SIZE);
	dm_expect_counted(test, "direct_map_4k", 2 * PMD_SIZE);
	KUNIT_EXPECT_TRUE(test, dm_area_is_large(area, PG_LEVEL_4K));
	dm_expect_area(test, area, 0, 0);

	dm_note_counters(test);
	directmap_split_all(area->pfn, area->pfn + area->pages);
	dm_expect_counted(test, "splits", 0);
	dm_expect_counted(test, "tlb_flushes", 0);
}

static void kernel_is_left_alone(struct kunit *test)
{
	unsigned long pfn = round_down(PHYS_PFN(__pa_symbol(_text)), DM_BLOCK);

	if (dm_level_of(pfn) != PG_LEVEL_2M)
		kunit_skip(test, "the kernel is not mapped by entries of 2 MiB");

	directmap_split_all(pfn, pfn + DM_BLOCK);
	KUNIT_EXPECT_EQ(test, dm_level_of(pfn), PG_LEVEL_2M);
	dm_expect_counted(test, "splits", 0);
}

static void nothing_is_put_back(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);

	kunit_activate_static_stub(test, directmap_stays_split, it_does);
	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	directmap_split_all(area->pfn, area->pfn + DM_BLOCK);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, area->pages), 0);
	dm_expect_counted(test, "splits", 2);
	dm_expect_counted(test, "secretmem_pages", area->pages);
	dm_expect_area(test, area, area->pfn, area->pages);

	memsec_directmap_give_back(SECRETMEM, area->pfn, area->pages);
	dm_expect_counted(test, "secretmem_pages", 0);
	dm_expect_counted(test, "unused_ranges", 0);
	dm_pass_after(test, DIRECTMAP_ASK_AGAIN_NS);
	KUNIT_EXPECT_EQ(test, dm_script.asked_collapse, 0);
	KUNIT_EXPECT_TRUE(test, dm_area_is_large(area, PG_LEVEL_4K));
	dm_expect_area(test, area, 0, 0);
}

static struct kunit_case directmap_boot_test_cases[] = {
	KUNIT_CASE(range_is_split_chunk_by_chunk),
	KUNIT_CASE(kernel_is_left_alone),
	KUNIT_CASE(nothing_is_put_back),
	{}
};

static struct kunit_suite directmap_boot_test_suite = {
	.name = "memsec_directmap_boot",
	.init = dm_test_init,
	.exit = dm_test_exit,
	.test_cases = directmap_boot_test_cases,
};

kunit_test_suite(directmap_boot_test_suite);
