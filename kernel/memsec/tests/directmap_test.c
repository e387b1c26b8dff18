// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec KUnit: taking pages out of the direct map of this kernel and giving
 * them back.
 */
#include <kunit/static_stub.h>
#include <kunit/test-bug.h>
#include <linux/mm.h>
#include <linux/set_memory.h>
#include <linux/time64.h>

#include "directmap_fixture.h"

static const struct memsec_ops mute = {
	.name = "mute",
	.abi = MEMSEC_ABI,
};

struct request {
	const char *desc;
	unsigned long at;
	unsigned long pages;
	unsigned int splits;
};

static const struct request requests[] = {
	{ "first page", 0, 1, 1 },
	{ "second page", 1, 1, 1 },
	{ "in the middle", 200, 100, 1 },
	{ "last page of an entry", DM_BLOCK - 1, 1, 1 },
	{ "over the border", DM_BLOCK - 1, 2, 2 },
	{ "first page of the next", DM_BLOCK, 1, 1 },
	{ "an entry", 0, DM_BLOCK, 1 },
	{ "an entry and a page", 0, DM_BLOCK + 1, 2 },
	{ "two entries", 0, 2 * DM_BLOCK, 2 },
	{ "last page", 2 * DM_BLOCK - 1, 1, 1 },
};

KUNIT_ARRAY_PARAM_DESC(request, requests, desc);

/* One lock hold and one flush, whatever has to be split. */
static void range_is_taken_and_given_back(struct kunit *test)
{
	const struct request *request = test->param_value;
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);
	unsigned long pfn = area->pfn + request->at;

	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, pfn, request->pages), 0);
	dm_expect_counted(test, "requests", 1);
	dm_expect_counted(test, "splits", request->splits);
	dm_expect_counted(test, "lock_holds", 1);
	dm_expect_counted(test, "tlb_flushes", 1);
	dm_expect_counted(test, "secretmem_pages", request->pages);
	dm_expect_counted(test, "direct_map_2m", -(u64)request->splits * PMD_SIZE);
	dm_expect_counted(test, "direct_map_4k", (u64)request->splits * PMD_SIZE);
	dm_expect_area(test, area, pfn, request->pages);

	memsec_directmap_give_back(SECRETMEM, pfn, request->pages);
	dm_expect_area(test, area, 0, 0);
	dm_expect_counted(test, "lock_holds", 2);
	dm_expect_counted(test, "tlb_flushes", 1);
	dm_expect_counted(test, "secretmem_pages", 0);
	dm_expect_counted(test, "unused_ranges", request->splits);
	dm_expect_counted(test, "asked", 0);
}

static void second_page_splits_nothing(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn + 7, 1), 0);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn + 8, 1), 0);
	dm_expect_counted(test, "splits", 1);
	dm_expect_counted(test, "lock_holds", 2);
	dm_expect_counted(test, "tlb_flushes", 2);
	dm_expect_area(test, area, area->pfn + 7, 2);
	memsec_directmap_give_back(SECRETMEM, area->pfn + 7, 1);
	dm_expect_area(test, area, area->pfn + 8, 1);
	dm_expect_counted(test, "unused_ranges", 0);
	memsec_directmap_give_back(SECRETMEM, area->pfn + 8, 1);
	dm_expect_area(test, area, 0, 0);
}

/* A guest's pages stay mapped, by entries of their own. */
static void guest_pages_stay_mapped(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn + 3, 1), 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn + 3), PG_LEVEL_4K);
	dm_expect_area(test, area, 0, 0);
	dm_expect_counted(test, "splits", 1);
	dm_expect_counted(test, "tlb_flushes", 1);
	dm_expect_counted(test, "guest_pages", 1);

	/* No flush where nothing changed. */
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn + 4, 1), 0);
	dm_expect_counted(test, "tlb_flushes", 1);
	memsec_directmap_give_back(GUEST, area->pfn + 3, 2);
}

static void giga_entry(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_1G);

	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn + 9, 1), 0);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.entry_pages, DIRECTMAP_1G_PAGES);
	dm_expect_counted(test, "splits", 2);
	dm_expect_counted(test, "splits_1g", 1);
	dm_expect_counted(test, "lock_holds", 1);
	dm_expect_counted(test, "tlb_flushes", 1);
	dm_expect_counted(test, "direct_map_1g", -(u64)PUD_SIZE);
	dm_expect_counted(test, "direct_map_2m", PUD_SIZE - PMD_SIZE);
	dm_expect_counted(test, "direct_map_4k", PMD_SIZE);
	dm_expect_area(test, area, area->pfn + 9, 1);

	memsec_directmap_give_back(SECRETMEM, area->pfn + 9, 1);
	dm_pass_after(test, 0);
	dm_expect_counted(test, "collapses", 1);
	dm_expect_counted(test, "collapses_1g", 1);
	dm_expect_counted(test, "direct_map_1g", 0);
	dm_expect_counted(test, "direct_map_2m", 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_1G);
	dm_expect_area(test, area, 0, 0);
}

/* Other pages that the same entry of 1 GiB maps. */
static struct dm_area *giga_neighbour(struct kunit *test, struct dm_area *area)
{
	struct dm_area *other = dm_area_alloc(test, 9);

	KUNIT_ASSERT_NOT_NULL(test, other);
	if (area->pfn / DIRECTMAP_1G_PAGES != other->pfn / DIRECTMAP_1G_PAGES)
		kunit_skip(test, "the pages are not of one entry");

	return other;
}

static void giga_entry_with_neighbours(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_1G);
	struct dm_area *other = giga_neighbour(test, area);

	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, 1), 0);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, other->pfn, 1), 0);
	dm_expect_counted(test, "splits_1g", 1);
	memsec_directmap_give_back(SECRETMEM, area->pfn, 1);
	dm_pass_after(test, 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_2M);
	dm_expect_counted(test, "collapses_1g", 0);
	memsec_directmap_give_back(SECRETMEM, other->pfn, 1);
	dm_pass_after(test, 0);
	dm_expect_counted(test, "collapses_1g", 1);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_1G);
}

/* A larger entry than what the guest owns is not left. */
static void giga_entry_is_not_left(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_1G);

	dm_attach(test, MEMSEC_DIRECTMAP_LEAVE, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn, DM_BLOCK), 0);
	KUNIT_EXPECT_NE(test, dm_level_of(area->pfn), PG_LEVEL_1G);
	memsec_directmap_give_back(GUEST, area->pfn, DM_BLOCK);
	dm_pass_after(test, 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_1G);
}

static void giga_entry_with_a_guest(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_1G);
	struct dm_area *other = giga_neighbour(test, area);

	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, other->pfn, 1), 0);
	dm_script.answer = MEMSEC_DIRECTMAP_LEAVE;
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn, DM_BLOCK), 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_2M);
	memsec_directmap_give_back(SECRETMEM, other->pfn, 1);
	dm_pass_after(test, 0);
	dm_expect_counted(test, "collapses", 1);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_2M);

	memsec_directmap_give_back(GUEST, area->pfn, DM_BLOCK);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, other->pfn, 1), 0);
	memsec_directmap_give_back(SECRETMEM, other->pfn, 1);
	dm_pass_after(test, 0);
	dm_expect_counted(test, "collapses_1g", 1);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_1G);
}

struct direction {
	const char *desc;
	u64 answer;
	unsigned int from;
	unsigned int ahead;
	const char *max;
};

static const struct direction directions[] = {
	{ "up", DM_BLOCK, 0, 1, "262144" },
	{ "down", DM_BLOCK | MEMSEC_DIRECTMAP_DOWN, 1, 1, "262144" },
	{ "one page is an entry", 1, 0, 1, "262144" },
	{ "not allowed", DM_BLOCK, 0, 0, "0" },
};

KUNIT_ARRAY_PARAM_DESC(direction, directions, desc);

static void ahead_is_split_in_the_same_go(struct kunit *test)
{
	const struct direction *dir = test->param_value;
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);
	unsigned long pfn = area->pfn + dir->from * DM_BLOCK + 5;

	KUNIT_ASSERT_EQ(test, fake_write(test, dm_mech, "max_ahead_pages",
					 dir->max), 0);
	dm_attach(test, dir->answer, MEMSEC_COLLAPSE_NEVER);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, pfn, 1), 0);
	dm_expect_counted(test, "splits", 1 + dir->ahead);
	dm_expect_counted(test, "splits_ahead", dir->ahead);
	dm_expect_counted(test, "lock_holds", 1);
	dm_expect_counted(test, "tlb_flushes", 1);
	dm_expect_counted(test, "unused_ranges", dir->ahead);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn + !dir->from * DM_BLOCK),
			dir->ahead ? PG_LEVEL_4K : PG_LEVEL_2M);
	dm_expect_area(test, area, pfn, 1);
	memsec_directmap_give_back(SECRETMEM, pfn, 1);
}

/* Entries split ahead spare the requests that follow a split and its flush. */
static void ahead_is_used(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);

	dm_attach(test, DM_BLOCK, MEMSEC_COLLAPSE_NEVER);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn, 1), 0);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn + DM_BLOCK, 1), 0);
	dm_expect_counted(test, "asked", 1);
	dm_expect_counted(test, "splits", 2);
	dm_expect_counted(test, "tlb_flushes", 1);
	dm_expect_counted(test, "unused_ranges", 0);
	memsec_directmap_give_back(GUEST, area->pfn, 1);
	memsec_directmap_give_back(GUEST, area->pfn + DM_BLOCK, 1);
}

/* Two that ask at a time must not both go as far as one may. */
static void stale_answer_is_exact(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);

	dm_attach(test, DM_BLOCK, MEMSEC_COLLAPSE_NEVER);
	dm_script.meanwhile = DM_BLOCK;
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn, 1), 0);
	dm_expect_counted(test, "splits", 1);
	dm_expect_counted(test, "splits_ahead", 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&dm_owner.ahead), DM_BLOCK);
	memsec_directmap_give_back(GUEST, area->pfn, 1);
}

/* What is split ahead counts for its owner until the owner comes to it. */
static void ahead_is_counted(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);
	struct dm_area *next = dm_area_find(test, 10, PG_LEVEL_2M);
	struct memsec_directmap_owner other;

	KUNIT_ASSERT_EQ(test, memsec_directmap_owner_init(&other, GUEST, NULL),
			0);
	dm_attach(test, DM_BLOCK, MEMSEC_COLLAPSE_NEVER);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn, 1), 0);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.ahead, 0);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, next->pfn, 1), 0);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.ahead, DM_BLOCK);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&dm_owner.ahead), 2 * DM_BLOCK);

	/* A page is enough, and others' pages are none. */
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn + DM_BLOCK, 1), 0);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn + DM_BLOCK + 1, 1), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&dm_owner.ahead), DM_BLOCK);
	KUNIT_ASSERT_EQ(test, memsec_directmap_take(&other, GUEST, next->pfn +
						    DM_BLOCK, 1), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&other.ahead), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&dm_owner.ahead), DM_BLOCK);
	dm_expect_counted(test, "splits_ahead", 2);

	memsec_directmap_give_back(GUEST, area->pfn, 1);
	memsec_directmap_give_back(GUEST, area->pfn + DM_BLOCK, 2);
	memsec_directmap_give_back(GUEST, next->pfn, 1);
	memsec_directmap_give_back(GUEST, next->pfn + DM_BLOCK, 1);
	memsec_directmap_owner_exit(&other);
}

struct answer {
	const char *desc;
	u64 answer;
	bool valid;
	bool overruled;
};

static const struct answer answers[] = {
	{ "exact", MEMSEC_DIRECTMAP_EXACT, true, false },
	{ "leave", MEMSEC_DIRECTMAP_LEAVE, true, true },
	{ "more than most", MEMSEC_DIRECTMAP_MAX_AHEAD + 1, false, false },
	{ "largest half", U32_MAX, false, false },
	{ "largest", U64_MAX, false, false },
	{ "direction alone", MEMSEC_DIRECTMAP_DOWN, false, false },
	{ "leave and pages", MEMSEC_DIRECTMAP_LEAVE | 512, false, false },
	{ "leave and direction",
	  MEMSEC_DIRECTMAP_LEAVE | MEMSEC_DIRECTMAP_DOWN, false, false },
	{ "next flag", 512 | MEMSEC_DIRECTMAP_LEAVE << 1, false, false },
	{ "last flag", 1ULL << 63, false, false },
};

KUNIT_ARRAY_PARAM_DESC(answer, answers, desc);

static void answer_is_obeyed_or_replaced(struct kunit *test)
{
	const struct answer *answer = test->param_value;
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	dm_attach(test, answer->answer, MEMSEC_COLLAPSE_NEVER);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn + 1, 1), 0);
	dm_expect_counted(test, "asked", 1);
	dm_expect_counted(test, "clamped", !answer->valid);
	dm_expect_counted(test, "overruled", answer->overruled);
	dm_expect_counted(test, "splits", 1);
	dm_expect_area(test, area, area->pfn + 1, 1);
	memsec_directmap_give_back(SECRETMEM, area->pfn + 1, 1);
}

static void leave_is_obeyed_where_it_is_safe(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	dm_attach(test, MEMSEC_DIRECTMAP_LEAVE, MEMSEC_COLLAPSE_NEVER);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn, DM_BLOCK), 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_2M);
	dm_expect_counted(test, "splits", 0);
	dm_expect_counted(test, "overruled", 0);
	memsec_directmap_give_back(GUEST, area->pfn, DM_BLOCK);

	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn, DM_BLOCK - 1), 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_4K);
	dm_expect_counted(test, "overruled", 1);
	memsec_directmap_give_back(GUEST, area->pfn, DM_BLOCK - 1);
}

/* Others may split what was left, and it must not become large under them. */
static void left_entry_that_is_split_later(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);

	dm_attach(test, MEMSEC_DIRECTMAP_LEAVE, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn + DM_BLOCK, DM_BLOCK), 0);
	dm_script.answer = DM_BLOCK;
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn, 1), 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn + DM_BLOCK), PG_LEVEL_4K);
	dm_expect_counted(test, "unused_ranges", 0);
	dm_pass_after(test, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn + DM_BLOCK), PG_LEVEL_4K);
	memsec_directmap_give_back(GUEST, area->pfn + DM_BLOCK, DM_BLOCK);
	memsec_directmap_give_back(GUEST, area->pfn, 1);
	dm_pass_after(test, NSEC_PER_SEC);
	KUNIT_EXPECT_TRUE(test, dm_area_is_large(area, PG_LEVEL_2M));
}

static void default_is_what_linux_does(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, fake_attach(&dm_holder, &mute), 0);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn, DM_BLOCK), 0);
	dm_expect_counted(test, "splits", 0);
	dm_expect_counted(test, "tlb_flushes", 0);
	memsec_directmap_give_back(GUEST, area->pfn, DM_BLOCK);

	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, 1), 0);
	dm_expect_counted(test, "splits", 1);
	memsec_directmap_give_back(SECRETMEM, area->pfn, 1);
	dm_pass_after(test, 3600 * NSEC_PER_SEC);
	dm_expect_counted(test, "collapses", 0);
	dm_expect_counted(test, "asked", 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_4K);
}

static void facts_are_told(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);

	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, 5 * NSEC_PER_SEC);
	dm_owner.cgroup_id = 77;
	dm_owner.total = 1234;
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn, 2), 0);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.kind, GUEST);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.pfn, area->pfn);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.pages, 2);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.entry_pages, DM_BLOCK);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.total, 1234);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.done, 0);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.cgroup_id, 77);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.direction, 0);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.sequence, 0);

	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn + DM_BLOCK, 1), 0);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.done, 2);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.direction, 1);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.sequence, 1);
	KUNIT_EXPECT_EQ(test, dm_script.ctx.map_2m,
			fake_read(test, dm_mech, "direct_map_2m") + PMD_SIZE);

	memsec_directmap_give_back(GUEST, area->pfn + DM_BLOCK, 1);
	dm_pass_after(test, 3 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, dm_script.asked_collapse, 1);
	KUNIT_EXPECT_EQ(test, dm_script.collapse.kind, GUEST);
	KUNIT_EXPECT_EQ(test, dm_script.collapse.pfn, area->pfn + DM_BLOCK);
	KUNIT_EXPECT_EQ(test, dm_script.collapse.pages, DM_BLOCK);
	KUNIT_EXPECT_EQ(test, dm_script.collapse.cgroup_id, 77);
	KUNIT_EXPECT_EQ(test, dm_script.collapse.unused_ns, 3 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, dm_script.collapse.unused_ranges, 1);
	memsec_directmap_give_back(GUEST, area->pfn, 2);
}

static void owner_is_followed(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	static const struct {
		int step;
		int direction;
		unsigned long sequence;
	} steps[] = {
		{ 0, 0, 0 }, { 1, 1, 1 }, { 0, 1, 1 }, { 1, 1, 2 }, { 1, 1, 3 },
		{ -1, -1, 1 }, { -1, -1, 2 }, { 5, 0, 0 }, { -1, -1, 1 },
	};
	int i;

	/* Only the pfn counts, so any allocated page will do. */
	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NEVER);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn, 1), 0);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		dm_owner.block = area->pfn / DM_BLOCK - steps[i].step;
		KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn + 1 + i, 1), 0);
		KUNIT_EXPECT_EQ(test, dm_owner.direction, steps[i].direction);
		KUNIT_EXPECT_EQ(test, dm_owner.sequence, steps[i].sequence);
	}
	memsec_directmap_give_back(GUEST, area->pfn, 1 + ARRAY_SIZE(steps));
}

/* Allocations that succeed before the first that fails. */
static unsigned int allocations;
/* Done by somebody else between the allocations and the operation. */
static void (*meanwhile)(unsigned long pfn);

static struct directmap_block *watched_block_new(unsigned long pfn, int level,
						 bool table, gfp_t gfp)
{
	void (*now)(unsigned long pfn) = meanwhile;
	struct directmap_block *block;

	if (!allocations)
		return NULL;

	allocations--;
	meanwhile = NULL;
	kunit_deactivate_static_stub(kunit_get_current_test(),
				     directmap_block_new);
	block = directmap_block_new(pfn, level, table, gfp);
	if (now)
		now(pfn);
	kunit_activate_static_stub(kunit_get_current_test(),
				   directmap_block_new, watched_block_new);

	return block;
}

static void fail_after(struct kunit *test, unsigned int n)
{
	allocations = n;
	meanwhile = NULL;
	kunit_activate_static_stub(test, directmap_block_new,
				   watched_block_new);
}

static void do_meanwhile(struct kunit *test, void (*what)(unsigned long pfn))
{
	fail_after(test, UINT_MAX);
	meanwhile = what;
}

static void make_block_ro(unsigned long pfn)
{
	set_memory_ro((unsigned long)pfn_to_kaddr(pfn), DM_BLOCK);
}

/* The table says what the entry says when it is split, not what it said. */
static void entry_that_changes_meanwhile(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	unsigned long addr = (unsigned long)pfn_to_kaddr(area->pfn);
	unsigned int level;

	do_meanwhile(test, make_block_ro);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn + 1, 1), 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_4K);
	KUNIT_EXPECT_FALSE(test, pte_write(*lookup_address(addr, &level)));
	memsec_directmap_give_back(GUEST, area->pfn + 1, 1);
	KUNIT_ASSERT_EQ(test, set_memory_rw(addr, DM_BLOCK), 0);
	dm_expect_area(test, area, 0, 0);
}

static void split_block_by_others(unsigned long pfn)
{
	set_memory_4k((unsigned long)pfn_to_kaddr(pfn), 1);
}

/* Then it is theirs. */
static void entry_that_others_split_meanwhile(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	do_meanwhile(test, split_block_by_others);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn + 1, 1), 0);
	dm_expect_counted(test, "splits", 0);
	dm_expect_area(test, area, area->pfn + 1, 1);
	memsec_directmap_give_back(SECRETMEM, area->pfn + 1, 1);
	dm_expect_counted(test, "unused_ranges", 0);
	dm_expect_area(test, area, 0, 0);
}

static void take_last_page(unsigned long pfn)
{
	KUNIT_EXPECT_EQ(kunit_get_current_test(),
			dm_take(SECRETMEM, pfn + DM_BLOCK - 1, 1), 0);
}

static void entry_that_a_neighbour_splits_meanwhile(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	do_meanwhile(test, take_last_page);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, DM_BLOCK - 1), 0);
	dm_expect_counted(test, "splits", 1);
	dm_expect_counted(test, "secretmem_pages", DM_BLOCK);
	dm_expect_area(test, area, area->pfn, DM_BLOCK);
	memsec_directmap_give_back(SECRETMEM, area->pfn, DM_BLOCK - 1);
	dm_expect_counted(test, "unused_ranges", 0);
	dm_expect_area(test, area, area->pfn + DM_BLOCK - 1, 1);
	memsec_directmap_give_back(SECRETMEM, area->pfn + DM_BLOCK - 1, 1);
	dm_expect_counted(test, "unused_ranges", 1);
}

static void failed_allocation_changes_nothing(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);
	unsigned int n;

	for (n = 0; n < 2; n++) {
		fail_after(test, n);
		KUNIT_EXPECT_EQ(test, dm_take(SECRETMEM, area->pfn, 2 * DM_BLOCK),
				-ENOMEM);
		dm_expect_counted(test, "failed", n + 1);
		dm_expect_counted(test, "requests", 0);
		dm_expect_counted(test, "splits", 0);
		dm_expect_counted(test, "secretmem_pages", 0);
		KUNIT_EXPECT_TRUE(test, dm_area_is_large(area, PG_LEVEL_2M));
		dm_expect_area(test, area, 0, 0);
	}
	fail_after(test, 2);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, 2 * DM_BLOCK), 0);
	memsec_directmap_give_back(SECRETMEM, area->pfn, 2 * DM_BLOCK);
}

static void failed_second_chunk_gives_back_the_first(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, fake_write(test, dm_mech, "max_chunk_pages", "512"),
			0);
	fail_after(test, 1);
	KUNIT_EXPECT_EQ(test, dm_take(SECRETMEM, area->pfn, 2 * DM_BLOCK), -ENOMEM);
	dm_expect_counted(test, "secretmem_pages", 0);
	dm_expect_counted(test, "unused_ranges", 1);
	dm_expect_area(test, area, 0, 0);
	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	dm_pass_after(test, 0);
	KUNIT_EXPECT_TRUE(test, dm_area_is_large(area, PG_LEVEL_2M));
}

static void large_range_is_taken_in_chunks(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, fake_write(test, dm_mech, "max_chunk_pages", "512"),
			0);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn + 1, 2 * DM_BLOCK - 2), 0);
	dm_expect_counted(test, "splits", 2);
	/* Two chunks to split, two to unmap; a flush a split, and one for all. */
	dm_expect_counted(test, "lock_holds", 4);
	dm_expect_counted(test, "tlb_flushes", 3);
	dm_expect_counted(test, "secretmem_pages", 2 * DM_BLOCK - 2);
	dm_expect_area(test, area, area->pfn + 1, 2 * DM_BLOCK - 2);
	memsec_directmap_give_back(SECRETMEM, area->pfn + 1, 2 * DM_BLOCK - 2);
	dm_expect_counted(test, "lock_holds", 6);
	dm_expect_area(test, area, 0, 0);
}

static void failed_allocation_ahead_is_no_error(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);

	dm_attach(test, DM_BLOCK, MEMSEC_COLLAPSE_NEVER);
	fail_after(test, 1);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, 1), 0);
	dm_expect_counted(test, "splits", 1);
	dm_expect_counted(test, "splits_ahead", 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn + DM_BLOCK), PG_LEVEL_2M);
	memsec_directmap_give_back(SECRETMEM, area->pfn, 1);
}

static void unmapped_page_is_refused(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn + 5, 1), 0);
	KUNIT_EXPECT_EQ(test, dm_take(SECRETMEM, area->pfn + 4, 3), -EBUSY);
	dm_expect_counted(test, "failed", 1);
	dm_expect_counted(test, "secretmem_pages", 1);
	dm_expect_area(test, area, area->pfn + 5, 1);
	memsec_directmap_give_back(SECRETMEM, area->pfn + 5, 1);
}

static void refused_range_of_others_is_forgotten(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	struct page *page = pfn_to_page(area->pfn);

	KUNIT_ASSERT_EQ(test, set_direct_map_invalid_noflush(page), 0);
	KUNIT_EXPECT_EQ(test, dm_take(SECRETMEM, area->pfn, 2), -EBUSY);
	KUNIT_EXPECT_NULL(test, directmap_block_find(area->pfn, PG_LEVEL_2M));
	KUNIT_ASSERT_EQ(test, set_direct_map_default_noflush(page), 0);
	dm_expect_area(test, area, 0, 0);
}

/* Not even when the policy goes so far. */
static void kernel_is_not_split_ahead(struct kunit *test)
{
	unsigned long pfn = PHYS_PFN(__pa_symbol(_text));
	unsigned long below = round_down(pfn, DM_BLOCK) - DM_BLOCK;

	if (dm_level_of(below) != PG_LEVEL_2M || dm_level_of(pfn) != PG_LEVEL_2M)
		kunit_skip(test, "the kernel is not mapped by a large entry");

	dm_attach(test, DM_BLOCK, MEMSEC_COLLAPSE_NEVER);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, below, 1), 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(below), PG_LEVEL_4K);
	KUNIT_EXPECT_EQ(test, dm_level_of(pfn), PG_LEVEL_2M);
	memsec_directmap_give_back(GUEST, below, 1);
}

static struct kunit_case directmap_test_cases[] = {
	KUNIT_CASE_PARAM(range_is_taken_and_given_back, request_gen_params),
	KUNIT_CASE(second_page_splits_nothing),
	KUNIT_CASE(guest_pages_stay_mapped),
	KUNIT_CASE(giga_entry),
	KUNIT_CASE(giga_entry_with_neighbours),
	KUNIT_CASE(giga_entry_is_not_left),
	KUNIT_CASE(giga_entry_with_a_guest),
	KUNIT_CASE_PARAM(ahead_is_split_in_the_same_go, direction_gen_params),
	KUNIT_CASE(ahead_is_used),
	KUNIT_CASE(stale_answer_is_exact),
	KUNIT_CASE(ahead_is_counted),
	KUNIT_CASE_PARAM(answer_is_obeyed_or_replaced, answer_gen_params),
	KUNIT_CASE(leave_is_obeyed_where_it_is_safe),
	KUNIT_CASE(left_entry_that_is_split_later),
	KUNIT_CASE(default_is_what_linux_does),
	KUNIT_CASE(facts_are_told),
	KUNIT_CASE(owner_is_followed),
	KUNIT_CASE(entry_that_changes_meanwhile),
	KUNIT_CASE(entry_that_others_split_meanwhile),
	KUNIT_CASE(entry_that_a_neighbour_splits_meanwhile),
	KUNIT_CASE(failed_allocation_changes_nothing),
	KUNIT_CASE(failed_second_chunk_gives_back_the_first),
	KUNIT_CASE(large_range_is_taken_in_chunks),
	KUNIT_CASE(failed_allocation_ahead_is_no_error),
	KUNIT_CASE(unmapped_page_is_refused),
	KUNIT_CASE(refused_range_of_others_is_forgotten),
	KUNIT_CASE(kernel_is_not_split_ahead),
	{}
};

static struct kunit_suite directmap_test_suite = {
	.name = "memsec_directmap",
	.init = dm_test_init,
	.exit = dm_test_exit,
	.test_cases = directmap_test_cases,
};

kunit_test_suite(directmap_test_suite);
