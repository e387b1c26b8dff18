// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec KUnit: the life of a KeyID, what pages carry, and what is kept for it.
 */
#include <kunit/static_stub.h>
#include <kunit/test-bug.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/memsec_emulation.h>
#include <linux/mm.h>
#include <linux/page-flags.h>

#include "keyid_fixture.h"

#define CACHE(_pages)	((u64)(_pages))
#define SEARCH(_depth)	((u64)(_depth) << MEMSEC_KEYID_SEARCH_SHIFT)
#define HUGE_ORDER	(PMD_SHIFT - PAGE_SHIFT)

static struct page *k_alloc(struct kunit *test, struct memsec_keyid *keyid)
{
	struct page *page = memsec_keyid_alloc_pages(keyid, GFP_KERNEL, 0);

	KUNIT_ASSERT_NOT_NULL(test, page);

	return page;
}

static void each_taker_has_another(struct kunit *test)
{
	struct memsec_keyid *keyids[K_MAX];
	unsigned int free = keyid_in_state(KEYID_FREE) +
			    keyid_in_state(KEYID_DIRTY);
	unsigned int i, j;

	for (i = 0; i < free; i++) {
		keyids[i] = k_take(test);
		k_expect_state(test, keyids[i], KEYID_USED);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_PTR_NE(test, keyids[i], keyids[j]);
	}

	KUNIT_EXPECT_EQ(test, PTR_ERR(memsec_keyid_take(false)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, k_counted(test, "exhausted"), 1);
	KUNIT_EXPECT_EQ(test, fake_read(test, k_mech, "keyids_used"), free);
}

/* One flush of all caches for all that were given up. */
static void all_are_recycled_at_once(struct kunit *test)
{
	unsigned int n = keyid_total();
	unsigned int i;
	u64 recycles;

	for (i = 0; i < n; i++)
		k_take(test);
	for (i = 1; i <= n; i++)
		k_retire(keyid_of(i));
	KUNIT_EXPECT_EQ(test, keyid_in_state(KEYID_DIRTY), n);

	recycles = k_counted(test, "recycles");
	for (i = 0; i < n; i++)
		k_take(test);
	KUNIT_EXPECT_EQ(test, k_counted(test, "recycles") - recycles, 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR(memsec_keyid_take(false)), -ENOSPC);
}

static int others_recycle(struct memsec_keyid_pool *pool)
{
	kunit_deactivate_static_stub(kunit_get_current_test(),
				     memsec_keyid_pool_recycle);
	memsec_keyid_pool_recycle(pool);

	return memsec_keyid_pool_recycle(pool);
}

/* While somebody waits to recycle, another does. */
static void what_others_recycled_is_taken(struct kunit *test)
{
	struct memsec_keyid *keyid;
	unsigned int i;

	for (i = 0; i < keyid_total(); i++)
		keyid = k_take(test);
	k_retire(keyid);

	kunit_activate_static_stub(test, memsec_keyid_pool_recycle,
				   others_recycle);
	KUNIT_EXPECT_PTR_EQ(test, k_take(test), keyid);
	KUNIT_EXPECT_EQ(test, k_counted(test, "exhausted"), 0);
}

/* The last to be given up: who comes next does not go without. */
static void taking_waits_for_what_retires_empty(struct kunit *test)
{
	struct memsec_keyid *keyid;
	unsigned int i;

	for (i = 0; i < keyid_total(); i++)
		keyid = k_take(test);

	memsec_keyid_retire(keyid);
	KUNIT_EXPECT_PTR_EQ(test, k_take(test), keyid);
}

static void page_outlives_its_owner(struct kunit *test)
{
	struct memsec_keyid *keyid;
	struct page *page;
	unsigned int i;

	for (i = 0; i < keyid_total(); i++)
		keyid = k_take(test);

	page = k_alloc(test, keyid);
	get_page(page);
	memsec_keyid_free_pages(keyid, page, 0);
	k_retire(keyid);
	k_expect_state(test, keyid, KEYID_RETIRING);
	KUNIT_EXPECT_EQ(test, keyid_count_pages(keyid), 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR(memsec_keyid_take(false)), -ENOSPC);
	k_expect_state(test, keyid, KEYID_RETIRING);

	put_page(page);
	KUNIT_EXPECT_EQ(test, keyid_count_pages(keyid), 0);
	k_expect_state(test, keyid, KEYID_DIRTY);
	KUNIT_EXPECT_PTR_EQ(test, k_take(test), keyid);
}

struct waiter {
	struct memsec_keyid *keyid;
	struct completion done;
};

static int take_and_wait(void *data)
{
	struct waiter *waiter = data;

	waiter->keyid = memsec_keyid_take(true);
	complete(&waiter->done);

	return 0;
}

static void who_waits_gets_the_next(struct kunit *test)
{
	static struct waiter waiter;
	struct memsec_keyid *keyid;
	struct task_struct *task;
	struct page *page;
	unsigned int i;

	init_completion(&waiter.done);

	for (i = 0; i < keyid_total(); i++)
		keyid = k_take(test);
	page = k_alloc(test, keyid);

	task = kthread_run(take_and_wait, &waiter, "memsec-keyid-wait");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);

	get_page(page);
	memsec_keyid_free_pages(keyid, page, 0);
	k_retire(keyid);
	KUNIT_EXPECT_FALSE(test, completion_done(&waiter.done));
	put_page(page);

	KUNIT_ASSERT_TRUE(test, wait_for_completion_timeout(&waiter.done,
							    10 * HZ));
	KUNIT_ASSERT_PTR_EQ(test, waiter.keyid, keyid);
	k_retire(keyid);
}

static void same_keyid_needs_no_flush(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page = k_alloc(test, keyid);

	KUNIT_EXPECT_LE(test, k_flushed(keyid), 1);
	KUNIT_ASSERT_TRUE(test, k_free_and_find(keyid, page, 0, __GFP_KEYID));
	KUNIT_EXPECT_TRUE(test, keyid_page_carries(keyid, page));
	KUNIT_EXPECT_EQ(test, keyid_count_pages(keyid), 0);
	keyid_page_prepare(keyid, page, 0, __GFP_KEYID);
	KUNIT_EXPECT_LE(test, k_flushed(keyid), 1);
	KUNIT_EXPECT_EQ(test, keyid_count_pages(keyid), 1);
	memsec_keyid_free_pages(keyid, page, 0);
}

static void another_keyid_needs_a_flush(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct memsec_keyid *other = k_take(test);
	struct page *page = k_alloc(test, keyid);

	KUNIT_ASSERT_TRUE(test, k_free_and_find(keyid, page, 0, __GFP_KEYID));
	KUNIT_EXPECT_FALSE(test, keyid_page_carries(other, page));
	keyid_page_prepare(other, page, 0, __GFP_KEYID);
	KUNIT_EXPECT_EQ(test, k_flushed(other), 1);
	KUNIT_EXPECT_EQ(test, keyid_count_pages(keyid), 0);
	KUNIT_EXPECT_EQ(test, keyid_count_pages(other), 1);
	memsec_keyid_free_pages(other, page, 0);
}

static void everybody_else_needs_a_flush(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page = k_alloc(test, keyid);

	KUNIT_ASSERT_TRUE(test, k_free_and_find(keyid, page, 0, 0));
	KUNIT_EXPECT_FALSE(test, keyid_page_carries(keyid, page));
	KUNIT_EXPECT_GE(test, k_counted(test, "flushes"), 1);
	__free_page(page);
}

/* All that was left in caches went with one flush of all. */
static void recycled_pages_are_clean(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page = k_alloc(test, keyid);

	KUNIT_ASSERT_TRUE(test, k_free_and_find(keyid, page, 0, __GFP_KEYID));
	k_retire(keyid);
	k_recycle();
	KUNIT_EXPECT_TRUE(test, keyid_page_carries(keyid, page));
	keyid = k_take(test);
	KUNIT_EXPECT_TRUE(test, keyid_page_carries(keyid, page));
	keyid_page_prepare(keyid, page, 0, __GFP_KEYID);
	KUNIT_EXPECT_EQ(test, k_flushed(keyid), 0);
	memsec_keyid_free_pages(keyid, page, 0);
}

static void page_of_a_huge_one_is_like_any(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page;
	int i;

	page = memsec_keyid_alloc_pages(keyid, GFP_KERNEL, HUGE_ORDER);
	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_EQ(test, keyid_count_pages(keyid), 1 << HUGE_ORDER);
	KUNIT_ASSERT_TRUE(test, k_free_and_find(keyid, page, HUGE_ORDER, __GFP_KEYID));
	KUNIT_EXPECT_EQ(test, keyid_count_pages(keyid), 0);
	for (i = 0; i < 1 << HUGE_ORDER; i++)
		KUNIT_EXPECT_TRUE(test, keyid_page_carries(keyid, page + i));
	__free_pages(page, HUGE_ORDER);
	KUNIT_EXPECT_EQ(test, keyid_count_pages(keyid), 0);
}

#ifdef CONFIG_CONTIG_ALLOC
/* Memory that is taken off the free lists by its address goes another way. */
static void contiguous_memory_is_flushed_too(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	unsigned long pfn;
	struct page *page;
	int i;

	page = memsec_keyid_alloc_pages(keyid, GFP_KERNEL, HUGE_ORDER);
	KUNIT_ASSERT_NOT_NULL(test, page);
	memsec_keyid_free_pages(keyid, page, HUGE_ORDER);

	pfn = page_to_pfn(page);
	if (alloc_contig_range(pfn, pfn + (1 << HUGE_ORDER), MIGRATE_MOVABLE,
			       GFP_KERNEL))
		kunit_skip(test, "others use the memory around it");
	for (i = 0; i < 1 << HUGE_ORDER; i++)
		KUNIT_EXPECT_FALSE(test, keyid_page_carries(keyid, page + i));
	free_contig_range(pfn, 1 << HUGE_ORDER);
}
#endif

static void new_memory_is_zero(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page;
	int i;

	k_attach(test, CACHE(8), MEMSEC_RECYCLE_NEVER);
	for (i = 0; i < 2; i++) {
		page = memsec_keyid_alloc_pages(keyid, GFP_KERNEL | __GFP_ZERO, 0);
		KUNIT_ASSERT_NOT_NULL(test, page);
		KUNIT_EXPECT_NULL(test, memchr_inv(page_address(page), 0, PAGE_SIZE));
		memset(page_address(page), 0x5a, PAGE_SIZE);
		memsec_keyid_free_pages(keyid, page, 0);
	}
	KUNIT_EXPECT_EQ(test, k_counted(test, "cache_hits"), 1);
}

static void poisoned_page_is_no_reason_to_keep_a_keyid(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page = k_alloc(test, keyid);

	if (!IS_ENABLED(CONFIG_MEMORY_FAILURE))
		kunit_skip(test, "no page is ever poisoned in this kernel");
	k_attach(test, CACHE(8), MEMSEC_RECYCLE_NEVER);
	SetPageHWPoison(page);
	memsec_keyid_free_pages(keyid, page, 0);
	KUNIT_EXPECT_EQ(test, keyid_count_cached(keyid), 0);
	KUNIT_EXPECT_EQ(test, keyid_count_pages(keyid), 0);
	k_retire(keyid);
	k_expect_state(test, keyid, KEYID_DIRTY);
	ClearPageHWPoison(page);
}

static void cache_keeps_what_it_may(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *pages[10];
	int i;

	k_attach(test, CACHE(4), MEMSEC_RECYCLE_NEVER);
	migrate_disable();
	for (i = 0; i < 10; i++)
		pages[i] = k_alloc(test, keyid);
	for (i = 0; i < 10; i++)
		memsec_keyid_free_pages(keyid, pages[i], 0);
	KUNIT_EXPECT_EQ(test, keyid_count_cached(keyid), 4);
	KUNIT_EXPECT_EQ(test, keyid_count_pages(keyid), 4);

	pages[0] = k_alloc(test, keyid);
	KUNIT_EXPECT_EQ(test, k_counted(test, "cache_hits"), 1);
	KUNIT_EXPECT_LE(test, k_flushed(keyid), 10);
	memsec_keyid_free_pages(keyid, pages[0], 0);
	migrate_enable();

	k_retire(keyid);
	KUNIT_EXPECT_EQ(test, keyid_count_cached(keyid), 0);
	k_expect_state(test, keyid, KEYID_DIRTY);
}

/* Somebody else could still reach it when it comes back. */
static void pinned_page_is_not_kept(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page = k_alloc(test, keyid);

	k_attach(test, CACHE(4), MEMSEC_RECYCLE_NEVER);
	get_page(page);
	memsec_keyid_free_pages(keyid, page, 0);
	KUNIT_EXPECT_EQ(test, keyid_count_cached(keyid), 0);
	KUNIT_EXPECT_EQ(test, keyid_count_pages(keyid), 1);
	put_page(page);
	KUNIT_EXPECT_EQ(test, keyid_count_pages(keyid), 0);
}

static void cache_has_an_upper_limit(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page = k_alloc(test, keyid);

	KUNIT_ASSERT_EQ(test, fake_write(test, k_mech, "max_cache_pages", "0"), 0);
	k_attach(test, CACHE(4), MEMSEC_RECYCLE_NEVER);
	memsec_keyid_free_pages(keyid, page, 0);
	KUNIT_EXPECT_EQ(test, keyid_count_cached(keyid), 0);
	KUNIT_EXPECT_EQ(test, fake_write(test, k_mech, "max_cache_pages", "0x40000"), 0);
}

/* Who detaches a policy wants nothing kept on its word. */
static void cache_goes_with_its_policy(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page = k_alloc(test, keyid);
	struct page *other = k_alloc(test, keyid);

	k_attach(test, CACHE(4), MEMSEC_RECYCLE_NEVER);
	migrate_disable();
	memsec_keyid_free_pages(keyid, page, 0);
	KUNIT_EXPECT_EQ(test, keyid_count_cached(keyid), 1);
	k_detach();
	memsec_keyid_free_pages(keyid, other, 0);
	KUNIT_EXPECT_EQ(test, keyid_count_cached(keyid), 0);
	migrate_enable();
}

/* Nobody has to free anything for that. */
static void cache_is_cut_when_numbers_change(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *pages[4];
	int i;

	k_attach(test, CACHE(4), MEMSEC_RECYCLE_NEVER);
	migrate_disable();
	for (i = 0; i < 4; i++)
		pages[i] = k_alloc(test, keyid);
	for (i = 0; i < 4; i++)
		memsec_keyid_free_pages(keyid, pages[i], 0);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, keyid_count_cached(keyid), 4);

	k_script.answer = CACHE(3);
	memsec_policy_changed();
	flush_work(&keyid_trim_work);
	KUNIT_EXPECT_EQ(test, keyid_count_cached(keyid), 3);

	k_detach();
	flush_work(&keyid_trim_work);
	KUNIT_EXPECT_EQ(test, keyid_count_cached(keyid), 0);
}

static void huge_pages_are_kept_too(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page;

	k_attach(test, CACHE(1 << HUGE_ORDER), MEMSEC_RECYCLE_NEVER);
	migrate_disable();
	page = memsec_keyid_alloc_pages(keyid, GFP_KERNEL, HUGE_ORDER);
	KUNIT_ASSERT_NOT_NULL(test, page);
	memsec_keyid_free_pages(keyid, page, HUGE_ORDER);
	KUNIT_EXPECT_EQ(test, keyid_count_cached(keyid), 1 << HUGE_ORDER);
	KUNIT_EXPECT_PTR_EQ(test, memsec_keyid_alloc_pages(keyid, GFP_KERNEL, HUGE_ORDER), page);
	memsec_keyid_free_pages(keyid, page, HUGE_ORDER);
	migrate_enable();
}

static void search_finds_what_carries_the_keyid(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page = k_alloc(test, keyid);
	struct page *plain = alloc_page(GFP_KERNEL);
	struct page *found;

	KUNIT_ASSERT_NOT_NULL(test, plain);
	k_attach(test, SEARCH(MEMSEC_KEYID_MAX_SEARCH), MEMSEC_RECYCLE_NEVER);

	/* The last to be freed is the first to be allocated. */
	scoped_guard(preempt) {
		memsec_keyid_free_pages(keyid, page, 0);
		__free_page(plain);
		found = memsec_keyid_alloc_pages(keyid, GFP_NOWAIT, 0);
	}
	KUNIT_EXPECT_PTR_EQ(test, found, page);
	KUNIT_EXPECT_GE(test, k_counted(test, "searched"), 1);
	KUNIT_EXPECT_EQ(test, k_counted(test, "search_hits"), 1);
	KUNIT_EXPECT_LE(test, k_flushed(keyid), 1);
	memsec_keyid_free_pages(keyid, found, 0);
}

static void search_ends(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page;

	k_attach(test, SEARCH(16), MEMSEC_RECYCLE_NEVER);
	page = k_alloc(test, keyid);
	KUNIT_EXPECT_LE(test, k_counted(test, "searched"), 16);
	KUNIT_EXPECT_EQ(test, keyid_count_pages(keyid), 1);
	memsec_keyid_free_pages(keyid, page, 0);
}

static void search_has_an_upper_limit(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page;

	KUNIT_ASSERT_EQ(test, fake_write(test, k_mech, "max_search", "0"), 0);
	k_attach(test, SEARCH(16), MEMSEC_RECYCLE_NEVER);
	page = k_alloc(test, keyid);
	KUNIT_EXPECT_EQ(test, k_counted(test, "searched"), 0);
	memsec_keyid_free_pages(keyid, page, 0);
	KUNIT_EXPECT_EQ(test, fake_write(test, k_mech, "max_search", "256"), 0);
}

static void eager_policy_flushes_what_is_freed(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page;
	u64 flushed;

	k_attach(test, MEMSEC_KEYID_FLUSH, MEMSEC_RECYCLE_NEVER);
	page = k_alloc(test, keyid);
	flushed = k_flushed(keyid);
	KUNIT_ASSERT_TRUE(test, k_free_and_find(keyid, page, 0, __GFP_KEYID));
	KUNIT_EXPECT_EQ(test, k_flushed(keyid), flushed + 1);
	KUNIT_EXPECT_FALSE(test, keyid_page_carries(keyid, page));
	__free_page(page);
}

static void eagerness_goes_with_its_policy(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page;

	k_attach(test, MEMSEC_KEYID_FLUSH, MEMSEC_RECYCLE_NEVER);
	migrate_disable();
	page = k_alloc(test, keyid);
	k_detach();
	KUNIT_ASSERT_TRUE(test, k_free_and_find(keyid, page, 0, __GFP_KEYID));
	migrate_enable();
	KUNIT_EXPECT_TRUE(test, keyid_page_carries(keyid, page));
	__free_page(page);
}

static void policy_is_asked_once_a_batch(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page;
	int i;

	k_attach(test, CACHE(4), MEMSEC_RECYCLE_NEVER);
	migrate_disable();
	for (i = 0; i < 2 * MEMSEC_KEYID_BATCH; i++) {
		page = k_alloc(test, keyid);
		memsec_keyid_free_pages(keyid, page, 0);
	}
	migrate_enable();
	KUNIT_EXPECT_LE(test, k_script.asked, 4);
	KUNIT_EXPECT_GE(test, k_script.asked, 3);
	KUNIT_EXPECT_EQ(test, k_script.ctx.keyid, keyid->id);
	KUNIT_EXPECT_EQ(test, k_script.ctx.cgroup_id, keyid->cgroup_id);
	KUNIT_EXPECT_GT(test, k_script.ctx.allocated, 0);
	KUNIT_EXPECT_LE(test, k_script.ctx.allocated, MEMSEC_KEYID_BATCH);
	KUNIT_EXPECT_GE(test, k_script.ctx.total, MEMSEC_KEYID_BATCH);
	KUNIT_EXPECT_GE(test, k_counted(test, "asked"), k_script.asked);
}

/* Two that took the last of a batch at a time leave this behind. */
static void policy_is_asked_again_after_a_race(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page;

	k_attach(test, CACHE(0), MEMSEC_RECYCLE_NEVER);
	migrate_disable();
	page = k_alloc(test, keyid);
	KUNIT_EXPECT_EQ(test, k_script.asked, 1);
	raw_cpu_ptr(keyid->cpus)->left = UINT_MAX;
	memsec_keyid_free_pages(keyid, page, 0);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, k_script.asked, 2);
}

static void change_of_numbers_is_asked_for_at_once(struct kunit *test)
{
	struct memsec_keyid *keyid = k_take(test);
	struct page *page;

	k_attach(test, CACHE(0), MEMSEC_RECYCLE_NEVER);
	migrate_disable();
	page = k_alloc(test, keyid);
	KUNIT_EXPECT_EQ(test, k_script.asked, 1);
	k_script.answer = CACHE(4);
	memsec_policy_changed();
	memsec_keyid_free_pages(keyid, page, 0);
	KUNIT_EXPECT_EQ(test, k_script.asked, 2);
	KUNIT_EXPECT_EQ(test, keyid_count_cached(keyid), 1);
	migrate_enable();
}

struct bad_answer {
	const char *desc;
	u64 answer;
};

static const struct bad_answer bad_answers[] = {
	{ "cache too large", MEMSEC_KEYID_MAX_CACHE + 1 },
	{ "search too long", SEARCH(MEMSEC_KEYID_MAX_SEARCH + 1) },
	{ "all bits", ~0ULL },
	{ "a bit that means nothing", BIT_ULL(62) },
};

KUNIT_ARRAY_PARAM_DESC(bad_answer, bad_answers, desc);

static void bad_answer_is_nothing_of_it(struct kunit *test)
{
	const struct bad_answer *bad = test->param_value;
	struct memsec_keyid *keyid = k_take(test);
	struct page *page;

	k_attach(test, bad->answer, MEMSEC_RECYCLE_NEVER);
	page = k_alloc(test, keyid);
	memsec_keyid_free_pages(keyid, page, 0);
	KUNIT_EXPECT_EQ(test, k_counted(test, "clamped"), 1);
	KUNIT_EXPECT_EQ(test, k_counted(test, "searched"), 0);
	KUNIT_EXPECT_EQ(test, keyid_count_cached(keyid), 0);
}

static struct kunit_case keyid_cases[] = {
	KUNIT_CASE(each_taker_has_another),
	KUNIT_CASE(all_are_recycled_at_once),
	KUNIT_CASE(what_others_recycled_is_taken),
	KUNIT_CASE(taking_waits_for_what_retires_empty),
	KUNIT_CASE(page_outlives_its_owner),
	KUNIT_CASE(who_waits_gets_the_next),
	KUNIT_CASE(same_keyid_needs_no_flush),
	KUNIT_CASE(another_keyid_needs_a_flush),
	KUNIT_CASE(everybody_else_needs_a_flush),
	KUNIT_CASE(recycled_pages_are_clean),
	KUNIT_CASE(page_of_a_huge_one_is_like_any),
#ifdef CONFIG_CONTIG_ALLOC
	KUNIT_CASE(contiguous_memory_is_flushed_too),
#endif
	KUNIT_CASE(new_memory_is_zero),
	KUNIT_CASE(poisoned_page_is_no_reason_to_keep_a_keyid),
	KUNIT_CASE(cache_keeps_what_it_may),
	KUNIT_CASE(pinned_page_is_not_kept),
	KUNIT_CASE(cache_has_an_upper_limit),
	KUNIT_CASE(cache_goes_with_its_policy),
	KUNIT_CASE(cache_is_cut_when_numbers_change),
	KUNIT_CASE(huge_pages_are_kept_too),
	KUNIT_CASE(search_finds_what_carries_the_keyid),
	KUNIT_CASE(search_ends),
	KUNIT_CASE(search_has_an_upper_limit),
	KUNIT_CASE(eager_policy_flushes_what_is_freed),
	KUNIT_CASE(eagerness_goes_with_its_policy),
	KUNIT_CASE(policy_is_asked_once_a_batch),
	KUNIT_CASE(policy_is_asked_again_after_a_race),
	KUNIT_CASE(change_of_numbers_is_asked_for_at_once),
	KUNIT_CASE_PARAM(bad_answer_is_nothing_of_it, bad_answer_gen_params),
	{}
};

static struct kunit_suite keyid_suite = {
	.name = "memsec_keyid",
	.init = k_test_init,
	.exit = k_test_exit,
	.test_cases = keyid_cases,
};

kunit_test_suite(keyid_suite);
