// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec KUnit: pages whose entries in the direct map the tests split.
 *
 * The worker is not called: the tests do what it does, when they want it.
 */
#include <kunit/static_stub.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/uaccess.h>

#include "directmap_fixture.h"

struct dm_script dm_script;
struct memsec_directmap_owner dm_owner;

static u64 scripted(const struct memsec_directmap_ctx *ctx)
{
	dm_script.asked++;
	dm_script.ctx = *ctx;
	atomic_long_add(dm_script.meanwhile, &dm_owner.ahead);

	return dm_script.answer;
}

static u64 scripted_collapse(const struct memsec_directmap_collapse_ctx *ctx)
{
	dm_script.asked_collapse++;
	dm_script.collapse = *ctx;

	return dm_script.wait;
}

const struct memsec_ops dm_policy = {
	.name = "scripted",
	.abi = MEMSEC_ABI,
	.directmap = scripted,
	.directmap_collapse = scripted_collapse,
};

struct fake_holder dm_holder;
/* A guest, and a file that has no inode. */
struct memsec_directmap_owner dm_file;

/* The counters, and what they were when the test began. */
static const char *const names[] = {
	"asked", "clamped", "overruled", "requests", "failed", "splits",
	"splits_1g", "splits_ahead", "collapses", "collapses_1g",
	"collapses_refused", "lock_holds", "tlb_flushes", "direct_map_4k",
	"direct_map_2m", "direct_map_1g", "secretmem_pages", "guest_pages",
	"unused_ranges",
};

static u64 before[ARRAY_SIZE(names)];

/**
 * dm_note_counters() - Counters begin at zero from here on
 * @test: the test
 */
void dm_note_counters(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		before[i] = fake_read(test, dm_mech, names[i]);
}

/**
 * dm_counted() - How much a counter or gauge changed
 * @test: fails when there is no such file
 * @name: the file
 *
 * Return: the difference, which may have wrapped.
 */
u64 dm_counted(struct kunit *test, const char *name)
{
	int i = match_string(names, ARRAY_SIZE(names), name);

	KUNIT_ASSERT_GE(test, i, 0);

	return fake_read(test, dm_mech, name) - before[i];
}

/**
 * dm_expect_counted() - A counter or gauge changed by so much
 * @test: fails when it did not
 * @name: the file
 * @n: the difference
 */
void dm_expect_counted(struct kunit *test, const char *name, u64 n)
{
	KUNIT_EXPECT_EQ_MSG(test, dm_counted(test, name), n, "%s", name);
}

static void nobody_comes(unsigned long delay)
{
}

/* For the suites: before each test. */
int dm_test_init(struct kunit *test)
{
	memset(&dm_script, 0, sizeof(dm_script));
	fake_holder_init(&dm_holder);
	fake_clock_start(test);
	kunit_activate_static_stub(test, directmap_call_worker, nobody_comes);
	dm_note_counters(test);

	return memsec_directmap_owner_init(&dm_owner, GUEST, NULL) ?:
	       memsec_directmap_owner_init(&dm_file, SECRETMEM, NULL);
}

/**
 * dm_attach() - Have the policy answer, attached if it is not
 * @test: the test
 * @answer: about splits
 * @wait: about collapses
 */
void dm_attach(struct kunit *test, u64 answer, u64 wait)
{
	dm_script.answer = answer;
	dm_script.wait = wait;
	if (!dm_holder.ops)
		KUNIT_ASSERT_EQ(test, fake_attach(&dm_holder, &dm_policy), 0);
}

/**
 * dm_pass_after() - Let time pass, and then the pass of the worker happen
 * @test: the test
 * @ns: the time
 */
void dm_pass_after(struct kunit *test, u64 ns)
{
	struct fake_clock *clock = test->priv;

	clock->now += ns;
	directmap_collapse_pass();
}

/* After each: nothing is left split. */
void dm_test_exit(struct kunit *test)
{
	int tries = TRIES;

	fake_detach(&dm_holder);
	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	while (directmap_unused() && tries--)
		dm_pass_after(test, DIRECTMAP_ASK_AGAIN_NS);
	KUNIT_EXPECT_EQ(test, directmap_unused(), 0);
	fake_detach(&dm_holder);
	memsec_directmap_owner_exit(&dm_owner);
	memsec_directmap_owner_exit(&dm_file);
	fake_write(test, dm_mech, "max_chunk_pages", "32768");
	fake_write(test, dm_mech, "max_ahead_pages", "262144");
	fake_write(test, dm_mech, "max_collapses_per_pass", "64");
}

/**
 * dm_level_of() - How a page is mapped
 * @pfn: the page
 *
 * Return: the level of its entry.
 */
unsigned int dm_level_of(unsigned long pfn)
{
	unsigned int level;

	lookup_address((unsigned long)pfn_to_kaddr(pfn), &level);

	return level;
}

static void area_free(void *data)
{
	struct dm_area *area = data;

	__free_pages(pfn_to_page(area->pfn), area->order);
}

/**
 * dm_area_is_large() - Are all pages mapped by entries of a level?
 * @area: the pages
 * @level: the level
 *
 * Return: whether they are.
 */
bool dm_area_is_large(const struct dm_area *area, unsigned int level)
{
	unsigned long pfn;

	for (pfn = area->pfn; pfn < area->pfn + area->pages; pfn += DM_BLOCK) {
		if (dm_level_of(pfn) != level)
			return false;
	}

	return true;
}

/**
 * dm_area_alloc() - Allocate pages until the test ends
 * @test: the test
 * @order: how many
 *
 * Return: the pages; NULL when there are none.
 */
struct dm_area *dm_area_alloc(struct kunit *test, unsigned int order)
{
	struct dm_area *area = kunit_kzalloc(test, sizeof(*area), GFP_KERNEL);
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_NOWARN, order);

	if (!area || !page)
		return NULL;

	area->order = order;
	area->pfn = page_to_pfn(page);
	area->pages = 1UL << order;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, area_free, area),
			0);

	return area;
}

/**
 * dm_area_find() - Allocate pages that large entries map, and fill them
 * @test: skipped when there are none
 * @order: how many
 * @level: of the entries
 *
 * Return: the pages.
 */
struct dm_area *dm_area_find(struct kunit *test, unsigned int order,
			     unsigned int level)
{
	struct dm_area *area;
	int tries = TRIES;
	u64 *word;

	do {
		area = dm_area_alloc(test, order);
	} while (area && !dm_area_is_large(area, level) && tries--);
	if (!area || !dm_area_is_large(area, level))
		kunit_skip(test, "no memory mapped by entries of level %u",
			   level);

	for (word = pfn_to_kaddr(area->pfn);
	     word < (u64 *)pfn_to_kaddr(area->pfn + area->pages); word++)
		*word = (unsigned long)word * 3;

	return area;
}

/**
 * dm_page_is_intact() - Does a page hold what dm_area_find() wrote?
 * @pfn: the page
 *
 * Return: whether it does.
 */
bool dm_page_is_intact(unsigned long pfn)
{
	u64 *word = pfn_to_kaddr(pfn);
	int i;

	for (i = 0; i < PAGE_SIZE / sizeof(*word); i++) {
		if (word[i] != (unsigned long)(word + i) * 3)
			return false;
	}

	return true;
}

/**
 * dm_page_faults() - Is a page out of the reach of the kernel?
 * @pfn: the page
 *
 * Return: whether reading it faults.
 */
bool dm_page_faults(unsigned long pfn)
{
	u64 word;

	return copy_from_kernel_nofault(&word, pfn_to_kaddr(pfn),
					sizeof(word)) != 0;
}

/**
 * dm_expect_area() - All pages are there, but those that must not be
 * @test: fails otherwise
 * @area: the pages
 * @pfn: the first that must fault
 * @pages: how many must
 */
void dm_expect_area(struct kunit *test, const struct dm_area *area,
		    unsigned long pfn, unsigned long pages)
{
	unsigned long bad = 0;
	unsigned long i;

	for (i = area->pfn; i < area->pfn + area->pages; i++) {
		if (i >= pfn && i < pfn + pages)
			bad += !dm_page_faults(i);
		else
			bad += dm_page_faults(i) || !dm_page_is_intact(i);
	}
	KUNIT_EXPECT_EQ(test, bad, 0);
}

/**
 * dm_take() - Take pages for dm_owner or, of a file, dm_file
 * @kind: why
 * @pfn: first page
 * @pages: number of pages
 *
 * Return: what memsec_directmap_take() returned.
 */
int dm_take(enum memsec_directmap_kind kind, unsigned long pfn,
	    unsigned long pages)
{
	return memsec_directmap_take(kind == GUEST ? &dm_owner : &dm_file, kind,
				     pfn, pages);
}
