// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec KUnit: putting the direct map of this kernel back together.
 */
#include <kunit/static_stub.h>
#include <kunit/test-bug.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/set_memory.h>
#include <linux/time64.h>

#include "directmap_fixture.h"

static void unused_range_is_collapsed(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, 3), 0);
	memsec_directmap_give_back(SECRETMEM, area->pfn, 2);
	dm_pass_after(test, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, dm_script.asked_collapse, 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_4K);

	memsec_directmap_give_back(SECRETMEM, area->pfn + 2, 1);
	dm_note_counters(test);
	dm_pass_after(test, 0);
	KUNIT_EXPECT_EQ(test, dm_script.asked_collapse, 1);
	dm_expect_counted(test, "collapses", 1);
	dm_expect_counted(test, "lock_holds", 1);
	dm_expect_counted(test, "tlb_flushes", 1);
	dm_expect_counted(test, "direct_map_2m", PMD_SIZE);
	dm_expect_counted(test, "direct_map_4k", -(u64)PMD_SIZE);
	KUNIT_EXPECT_EQ(test, directmap_unused(), 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_2M);
	dm_expect_area(test, area, 0, 0);
}

static void pass_is_bounded(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, fake_write(test, dm_mech, "max_collapses_per_pass",
					 "1"), 0);
	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, 2 * DM_BLOCK), 0);
	memsec_directmap_give_back(SECRETMEM, area->pfn, 2 * DM_BLOCK);
	dm_pass_after(test, 0);
	dm_expect_counted(test, "collapses", 1);
	dm_pass_after(test, 0);
	dm_expect_counted(test, "collapses", 2);
}

static void wait_is_kept(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	struct fake_clock *clock = test->priv;
	u64 next;

	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, 5 * NSEC_PER_SEC);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, 1), 0);
	memsec_directmap_give_back(SECRETMEM, area->pfn, 1);
	dm_pass_after(test, 0);
	KUNIT_EXPECT_EQ(test, dm_script.asked_collapse, 1);
	dm_pass_after(test, 5 * NSEC_PER_SEC - 1);
	KUNIT_EXPECT_EQ(test, dm_script.asked_collapse, 1);
	dm_script.wait = MEMSEC_COLLAPSE_NEVER;
	dm_pass_after(test, 1);
	KUNIT_EXPECT_EQ(test, dm_script.asked_collapse, 2);
	/* Never is until the policy is another one. */
	dm_pass_after(test, 10 * MEMSEC_COLLAPSE_MAX_WAIT);
	KUNIT_EXPECT_EQ(test, dm_script.asked_collapse, 2);
	KUNIT_EXPECT_FALSE(test, directmap_next_due(&next));
	dm_script.wait = MEMSEC_COLLAPSE_MAX_WAIT;
	fake_detach(&dm_holder);
	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_MAX_WAIT);
	dm_pass_after(test, 0);
	KUNIT_EXPECT_EQ(test, dm_script.asked_collapse, 3);
	KUNIT_EXPECT_TRUE(test, directmap_next_due(&next));
	KUNIT_EXPECT_EQ(test, next, clock->now + MEMSEC_COLLAPSE_MAX_WAIT);
	dm_expect_counted(test, "clamped", 0);
	dm_expect_counted(test, "collapses", 0);
}

static const u64 bad_waits[] = {
	MEMSEC_COLLAPSE_MAX_WAIT + 1, S64_MAX, 1ULL << 63,
	MEMSEC_COLLAPSE_NEVER - 1,
};

/* Out of range is never. */
static void wait_out_of_range_is_replaced(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	int i;
	u64 next;

	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NEVER);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, 1), 0);
	memsec_directmap_give_back(SECRETMEM, area->pfn, 1);
	for (i = 0; i < ARRAY_SIZE(bad_waits); i++) {
		dm_script.wait = bad_waits[i];
		KUNIT_EXPECT_EQ(test, memsec_policy_update(&dm_policy, &dm_policy),
				0);
		dm_pass_after(test, 0);
		KUNIT_EXPECT_EQ(test, dm_script.asked_collapse, i + 1);
		dm_expect_counted(test, "clamped", i + 1);
		KUNIT_EXPECT_FALSE(test, directmap_next_due(&next));
	}
	dm_expect_counted(test, "collapses", 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_4K);
}

/* Each is asked about once again, however few at a time, in spite of changes. */
static void other_numbers_are_asked_for_at_once(struct kunit *test)
{
	struct dm_area *areas[] = {
		dm_area_find(test, 10, PG_LEVEL_2M),
		dm_area_find(test, 10, PG_LEVEL_2M),
	};
	static const u64 asked[] = { 1, 2, 3, 4, 5, 6, 7, 8, 8 };
	int i;

	KUNIT_ASSERT_EQ(test, fake_write(test, dm_mech, "max_collapses_per_pass",
					 "1"), 0);
	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NEVER);
	for (i = 0; i < ARRAY_SIZE(areas); i++) {
		KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, areas[i]->pfn,
					      areas[i]->pages), 0);
		memsec_directmap_give_back(SECRETMEM, areas[i]->pfn,
					   areas[i]->pages);
	}
	for (i = 0; i < 6; i++)
		dm_pass_after(test, 0);
	KUNIT_EXPECT_EQ(test, dm_script.asked_collapse, 4);

	dm_script.asked_collapse = 0;
	KUNIT_EXPECT_EQ(test, memsec_policy_update(&dm_policy, &dm_policy), 0);
	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		dm_pass_after(test, 0);
		KUNIT_EXPECT_EQ(test, dm_script.asked_collapse, asked[i]);
		/* They change again when half of them has been asked about. */
		if (i == 1)
			KUNIT_EXPECT_EQ(test, memsec_policy_update(&dm_policy,
								   &dm_policy),
					0);
		if (i == 3)
			dm_script.wait = MEMSEC_COLLAPSE_NOW;
	}
	dm_expect_counted(test, "collapses", 4);
}

/* What a page of a range can be that keeps the range from being collapsed. */
struct oddity {
	const char *desc;
	int (*make)(unsigned long addr);
	int (*undo)(unsigned long addr);
};

static int make_ro(unsigned long addr)
{
	return set_memory_ro(addr, 1);
}

static int make_rw(unsigned long addr)
{
	return set_memory_rw(addr, 1);
}

static int make_uc(unsigned long addr)
{
	return set_memory_uc(addr, 1);
}

static int make_wb(unsigned long addr)
{
	return set_memory_wb(addr, 1);
}

static int make_absent(unsigned long addr)
{
	return set_direct_map_invalid_noflush(virt_to_page((void *)addr));
}

static int make_present(unsigned long addr)
{
	return set_direct_map_default_noflush(virt_to_page((void *)addr));
}

static int map_neighbour(unsigned long addr)
{
	unsigned int level;
	pte_t *pte = lookup_address(addr, &level);

	set_pte(pte, pfn_pte(pte_pfn(*pte) ^ 1, pte_pgprot(*pte)));
	flush_tlb_all();

	return 0;
}

static const struct oddity oddities[] = {
	{ "read-only", make_ro, make_rw },
	{ "uncached", make_uc, make_wb },
	{ "not present", make_absent, make_present },
	{ "another page", map_neighbour, map_neighbour },
};

KUNIT_ARRAY_PARAM_DESC(oddity, oddities, desc);

static void odd_range_is_not_collapsed(struct kunit *test)
{
	const struct oddity *oddity = test->param_value;
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	static const unsigned long at[] = { 0, 100, DM_BLOCK - 1 };
	unsigned long addr;
	int i;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		addr = (unsigned long)pfn_to_kaddr(area->pfn + at[i]);
		dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
		KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn + 50, 1), 0);
		KUNIT_ASSERT_EQ(test, oddity->make(addr), 0);
		memsec_directmap_give_back(SECRETMEM, area->pfn + 50, 1);
		dm_pass_after(test, 0);
		dm_expect_counted(test, "collapses", i);
		dm_expect_counted(test, "collapses_refused", i + 1);
		KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_4K);

		KUNIT_ASSERT_EQ(test, oddity->undo(addr), 0);
		dm_pass_after(test, DIRECTMAP_ASK_AGAIN_NS);
		dm_expect_counted(test, "collapses", i + 1);
		KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_2M);
		dm_expect_area(test, area, 0, 0);
	}
}

static void all_pages(unsigned long addr, int (*what)(unsigned long addr))
{
	int i;

	for (i = 0; i < DM_BLOCK; i++)
		what(addr + i * PAGE_SIZE);
}

/* All pages are alike, in that none of them is there. */
static void absent_range_is_not_collapsed(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	unsigned long addr = (unsigned long)pfn_to_kaddr(area->pfn);

	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, 1), 0);
	memsec_directmap_give_back(SECRETMEM, area->pfn, 1);
	all_pages(addr, make_absent);
	dm_pass_after(test, 0);
	dm_expect_counted(test, "collapses_refused", 1);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_4K);
	all_pages(addr, make_present);
	dm_expect_area(test, area, 0, 0);
}

/* What is read-only as a whole stays so. */
static void read_only_range_is_collapsed(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	unsigned long addr = (unsigned long)pfn_to_kaddr(area->pfn);
	unsigned int level;

	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, area->pfn, 1), 0);
	KUNIT_ASSERT_EQ(test, set_memory_ro(addr, DM_BLOCK), 0);
	memsec_directmap_give_back(GUEST, area->pfn, 1);
	dm_pass_after(test, 0);
	dm_expect_counted(test, "collapses", 1);
	KUNIT_EXPECT_FALSE(test, pte_write(*lookup_address(addr, &level)));
	KUNIT_EXPECT_EQ(test, level, PG_LEVEL_2M);
	KUNIT_ASSERT_EQ(test, set_memory_rw(addr, DM_BLOCK), 0);
	dm_expect_area(test, area, 0, 0);
}

/* Whoever split it may count on small entries. */
static void what_others_split_stays_split(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, set_memory_4k((unsigned long)
					    pfn_to_kaddr(area->pfn), 1), 0);
	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, 1), 0);
	dm_expect_counted(test, "asked", 0);
	dm_expect_counted(test, "splits", 0);
	dm_expect_area(test, area, area->pfn, 1);
	memsec_directmap_give_back(SECRETMEM, area->pfn, 1);
	dm_expect_counted(test, "unused_ranges", 0);
	dm_pass_after(test, DIRECTMAP_ASK_AGAIN_NS);
	KUNIT_EXPECT_EQ(test, dm_script.asked_collapse, 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_4K);
}

static void collapse_after(struct kunit *test, void (*what)(unsigned long pfn),
			   unsigned long pfn)
{
	struct directmap_pass pass = {
		.dead = LIST_HEAD_INIT(pass.dead),
	};
	struct fake_clock *clock = test->priv;
	struct directmap_block *block;
	LIST_HEAD(due);

	directmap_due(&due, 1, clock->now);
	KUNIT_ASSERT_FALSE(test, list_empty(&due));
	block = list_first_entry(&due, struct directmap_block, list);
	block->collapse = true;
	what(pfn);
	directmap_collapse(&due, &pass);
	KUNIT_EXPECT_EQ(test, pass.collapsed, 0);
	KUNIT_EXPECT_EQ(test, pass.refused, 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(pfn), PG_LEVEL_4K);
}

static void use(unsigned long pfn)
{
	KUNIT_EXPECT_EQ(kunit_get_current_test(), dm_take(GUEST, pfn, 1), 0);
}

static void use_for_a_moment(unsigned long pfn)
{
	use(pfn);
	memsec_directmap_give_back(GUEST, pfn, 1);
}

/* A page is taken after the policy said now and before it is done. */
static void range_in_use_again_is_not_collapsed(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	use_for_a_moment(area->pfn);
	collapse_after(test, use, area->pfn + 1);
	dm_expect_counted(test, "unused_ranges", 0);
	memsec_directmap_give_back(GUEST, area->pfn + 1, 1);
	dm_expect_counted(test, "unused_ranges", 1);

	/* What the policy said, it said about another time. */
	collapse_after(test, use_for_a_moment, area->pfn + 2);
	dm_expect_counted(test, "unused_ranges", 1);
}

/* With memory that is removed the table goes, and not by memsec. */
static void table_that_is_gone_is_forgotten(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	unsigned long addr = (unsigned long)pfn_to_kaddr(area->pfn);
	struct page *table;
	unsigned int level;
	pmd_t large;
	pmd_t *pmd;

	pmd = (pmd_t *)lookup_address(addr, &level);
	large = *pmd;
	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, 1), 0);
	memsec_directmap_give_back(SECRETMEM, area->pfn, 1);
	table = pmd_page(*pmd);
	set_pmd(pmd, large);
	update_page_count(PG_LEVEL_2M, 1);
	update_page_count(PG_LEVEL_4K, -DM_BLOCK);
	flush_tlb_all();

	dm_pass_after(test, 0);
	__free_page(table);
	dm_expect_counted(test, "collapses", 0);
	dm_expect_counted(test, "direct_map_2m", 0);
	dm_expect_counted(test, "unused_ranges", 0);
	dm_expect_area(test, area, 0, 0);
}

/* No alias of the kernel is put together, whoever got hold of a page there. */
static void kernel_is_not_collapsed(struct kunit *test)
{
	unsigned long pfn = PHYS_PFN(__pa_symbol(_text));

	if (dm_level_of(pfn) != PG_LEVEL_2M)
		kunit_skip(test, "the kernel is not mapped by a large entry");

	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, dm_take(GUEST, pfn, 1), 0);
	KUNIT_EXPECT_EQ(test, dm_level_of(pfn), PG_LEVEL_4K);
	memsec_directmap_give_back(GUEST, pfn, 1);
	dm_expect_counted(test, "guest_pages", 0);
	dm_expect_counted(test, "unused_ranges", 0);
	dm_pass_after(test, DIRECTMAP_ASK_AGAIN_NS);
	KUNIT_EXPECT_EQ(test, dm_level_of(pfn), PG_LEVEL_4K);
}

/**
 * struct reader - a thread that looks at an entry and stays there
 * @task: the thread
 * @pfn: the page
 * @locks: it is in a read-side critical section of RCU meanwhile
 * @there: it has found the entry
 * @leave: it may leave
 * @same: the entry maps the page still
 */
struct reader {
	struct task_struct *task;
	unsigned long pfn;
	bool locks;
	struct completion there;
	bool leave;
	bool same;
};

static void reader_stay(struct reader *reader)
{
	unsigned int level;
	pte_t *pte;

	pte = lookup_address((unsigned long)pfn_to_kaddr(reader->pfn), &level);
	complete(&reader->there);
	while (!READ_ONCE(reader->leave))
		cpu_relax();
	reader->same = pte_pfn(*pte) == reader->pfn;
}

static int reader_fn(void *data)
{
	struct reader *reader = data;

	if (reader->locks) {
		rcu_read_lock();
		reader_stay(reader);
		rcu_read_unlock();
	} else {
		reader_stay(reader);
	}

	while (!kthread_should_stop())
		msleep(20);

	return 0;
}

static int pass_fn(void *done)
{
	directmap_collapse_pass();
	complete_all(done);

	return 0;
}

static const bool reader_locks[] = { true, false };

static void reader_desc(const bool *locks, char *desc)
{
	strscpy(desc, *locks ? "under RCU" : "under nothing",
		KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(reader, reader_locks, reader_desc);

/* What a walker of the tables found is there until the walker is not. */
static void table_outlives_its_readers(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	const bool *locks = test->param_value;
	struct reader reader = { .pfn = area->pfn + 1, .locks = *locks };
	DECLARE_COMPLETION_ONSTACK(done);
	struct task_struct *pass;
	struct page *table;
	unsigned int level;

	if (num_online_cpus() < 2)
		kunit_skip(test, "the reader needs a CPU");

	/* A thread of its own has the real clock, by which nothing is due. */
	kunit_deactivate_static_stub(test, memsec_clock_ns);
	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	KUNIT_ASSERT_EQ(test, dm_take(SECRETMEM, area->pfn, 1), 0);
	memsec_directmap_give_back(SECRETMEM, area->pfn, 1);
	table = virt_to_page(lookup_address((unsigned long)
					    pfn_to_kaddr(area->pfn), &level));
	get_page(table);

	init_completion(&reader.there);
	reader.task = kthread_run(reader_fn, &reader, "memsec_reader");
	wait_for_completion(&reader.there);
	pass = kthread_run(pass_fn, &done, "memsec_pass");
	while (!dm_counted(test, "collapses"))
		msleep(20);
	/* However long it is waited for, the table is not freed. */
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&done, HZ / 2), 0);
	KUNIT_EXPECT_EQ(test, page_count(table), 2);
	WRITE_ONCE(reader.leave, true);
	kthread_stop(reader.task);
	KUNIT_EXPECT_TRUE(test, reader.same);

	wait_for_completion(&done);
	KUNIT_EXPECT_EQ(test, page_count(table), 1);
	put_page(table);
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_2M);
}

/**
 * struct rival - a thread that works on its own pages of a range of many
 * @task: the thread
 * @pfn: its first page
 * @pages: how many it has
 * @walks: it has none, and walks the tables
 * @rounds: what it did
 * @bad: what it found wrong
 */
struct rival {
	struct task_struct *task;
	unsigned long pfn;
	unsigned long pages;
	bool walks;
	unsigned long rounds;
	unsigned long bad;
};

static void rival_take(struct rival *rival)
{
	unsigned long pfn = rival->pfn + rival->rounds % rival->pages;

	if (memsec_directmap_take(&dm_file, SECRETMEM, pfn, 1)) {
		rival->bad++;
		return;
	}
	rival->bad += !dm_page_faults(pfn);
	memsec_directmap_give_back(SECRETMEM, pfn, 1);
	rival->bad += dm_page_faults(pfn) || !dm_page_is_intact(pfn);
}

static int rival_fn(void *data)
{
	struct rival *rival = data;
	unsigned long pfn;

	while (!kthread_should_stop()) {
		pfn = rival->pfn + rival->rounds % rival->pages;
		if (rival->walks)
			rival->bad += !kernel_page_present(pfn_to_page(pfn));
		else
			rival_take(rival);
		rival->rounds++;
		/* Let the range be unused at times, and grace periods end. */
		if (rival->walks && rival->rounds % 8)
			cond_resched_tasks_rcu_qs();
		else
			usleep_range(100, 300);
	}

	return 0;
}

struct company {
	const char *desc;
	bool policies_change;
};

static const struct company companies[] = {
	{ "alone", false },
	{ "with policies that come and go", true },
};

KUNIT_ARRAY_PARAM_DESC(company, companies, desc);

static void change_policies(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, memsec_policy_update(&dm_policy, &dm_policy), 0);
	fake_detach(&dm_holder);
	dm_attach(test, DM_BLOCK, MEMSEC_COLLAPSE_NOW);
}

static void rivals_and_the_worker(struct kunit *test)
{
	const struct company *company = test->param_value;
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	struct rival rivals[4];
	int tries = 3000;
	int i;

	/* The real worker, by the real clock. */
	kunit_deactivate_static_stub(test, memsec_clock_ns);
	kunit_deactivate_static_stub(test, directmap_call_worker);
	dm_attach(test, MEMSEC_DIRECTMAP_EXACT, MEMSEC_COLLAPSE_NOW);
	for (i = 0; i < ARRAY_SIZE(rivals); i++) {
		rivals[i] = (struct rival) {
			.pfn = area->pfn + 100 * i,
			.pages = 100,
			.walks = i == 3,
		};
		rivals[i].task = kthread_run(rival_fn, rivals + i,
					     "memsec_rival/%d", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(rivals[i].task));
	}
	while (dm_counted(test, "collapses") < 5 && tries--) {
		schedule_timeout_uninterruptible(msecs_to_jiffies(20));
		if (company->policies_change)
			change_policies(test);
	}
	for (i = 0; i < ARRAY_SIZE(rivals); i++) {
		kthread_stop(rivals[i].task);
		KUNIT_EXPECT_GT(test, rivals[i].rounds, 0);
		KUNIT_EXPECT_EQ(test, rivals[i].bad, 0);
	}
	KUNIT_EXPECT_GE(test, dm_counted(test, "collapses"), 5);

	for (tries = 3000; directmap_unused() && tries; tries--)
		schedule_timeout_uninterruptible(msecs_to_jiffies(20));
	KUNIT_EXPECT_EQ(test, dm_level_of(area->pfn), PG_LEVEL_2M);
	dm_expect_counted(test, "direct_map_4k", 0);
	dm_expect_area(test, area, 0, 0);
}

static struct kunit_case directmap_collapse_test_cases[] = {
	KUNIT_CASE(unused_range_is_collapsed),
	KUNIT_CASE(pass_is_bounded),
	KUNIT_CASE(wait_is_kept),
	KUNIT_CASE(wait_out_of_range_is_replaced),
	KUNIT_CASE(other_numbers_are_asked_for_at_once),
	KUNIT_CASE_PARAM(odd_range_is_not_collapsed, oddity_gen_params),
	KUNIT_CASE(absent_range_is_not_collapsed),
	KUNIT_CASE(read_only_range_is_collapsed),
	KUNIT_CASE(what_others_split_stays_split),
	KUNIT_CASE(range_in_use_again_is_not_collapsed),
	KUNIT_CASE(table_that_is_gone_is_forgotten),
	KUNIT_CASE(kernel_is_not_collapsed),
	KUNIT_CASE_PARAM(table_outlives_its_readers, reader_gen_params),
	KUNIT_CASE_PARAM(rivals_and_the_worker, company_gen_params),
	{}
};

static struct kunit_suite directmap_collapse_test_suite = {
	.name = "memsec_directmap_collapse",
	.init = dm_test_init,
	.exit = dm_test_exit,
	.test_cases = directmap_collapse_test_cases,
};

kunit_test_suite(directmap_collapse_test_suite);
