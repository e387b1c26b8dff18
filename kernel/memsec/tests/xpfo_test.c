// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec KUnit: memory outside the direct map, the pools it comes from, and the
 * windows by which it is reached. The pages are real, and so is the direct map.
 */
#include <kunit/static_stub.h>
#include <linux/highmem.h>
#include <linux/mempolicy.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../xpfo.h"
#include "fake.h"

#define x_mech		(&memsec_xpfo_mechanism)

#define BATCH		64
#define KEEP		256
#define GFP_OWNER	(GFP_HIGHUSER_MOVABLE | __GFP_ZERO)
#define HUGE_PAGES	HPAGE_PMD_NR

/* How long a worker may take. */
#define PATIENCE	(20 * HZ)

/* What the policy answers, and how often it was asked. */
static u64 x_answer;
static u64 x_pool_answer;
static u64 x_asked;
static struct memsec_xpfo_pool_ctx x_pool_ctx;

static struct fake_holder holder;

static const char *const counters[] = {
	"asked", "clamped", "failed", "followed", "allocated", "freed", "taken",
	"returned", "tlb_flushes", "refills", "waits", "windows", "kmaps",
};

static u64 noted[ARRAY_SIZE(counters)];

static u64 x_xpfo(const struct memsec_xpfo_ctx *ctx)
{
	x_asked++;

	return x_answer;
}

static u64 x_xpfo_pool(const struct memsec_xpfo_pool_ctx *ctx)
{
	if (ctx->cpu == raw_smp_processor_id())
		x_pool_ctx = *ctx;

	return x_pool_answer;
}

static const struct memsec_ops x_policy = {
	.name = "test",
	.abi = MEMSEC_ABI,
	.xpfo = x_xpfo,
	.xpfo_pool = x_xpfo_pool,
};

static void note_counters(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(counters); i++)
		noted[i] = fake_read(test, x_mech, counters[i]);
}

static u64 counted(struct kunit *test, const char *name)
{
	int i = match_string(counters, ARRAY_SIZE(counters), name);

	return fake_read(test, x_mech, name) - noted[i];
}

static void expect_counted(struct kunit *test, const char *name, u64 n)
{
	KUNIT_EXPECT_EQ_MSG(test, counted(test, name), n, "%s", name);
}

static bool wait_for_pools(struct kunit *test, u64 pages)
{
	unsigned long end = jiffies + PATIENCE;

	while (xpfo_pools_held() > pages && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);

	return xpfo_pools_held() <= pages;
}

static void x_attach(struct kunit *test, u64 answer, u64 batch, u64 keep)
{
	x_answer = answer;
	x_pool_answer = batch | keep << MEMSEC_XPFO_POOL_SHIFT;
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &x_policy), 0);
	/* Whatever workers are at. */
	xpfo_pools_drain();
	KUNIT_ASSERT_EQ(test, xpfo_pools_held(), 0);
	/* On one CPU there is one pool. */
	migrate_disable();
	note_counters(test);
}

static int x_test_init(struct kunit *test)
{
	fake_holder_init(&holder);
	x_asked = 0;

	return 0;
}

static void x_test_exit(struct kunit *test)
{
	if (current->migration_disabled)
		migrate_enable();
	fake_detach(&holder);
	xpfo_pools_drain();
	KUNIT_EXPECT_EQ(test, xpfo_pools_held(), 0);
	KUNIT_EXPECT_EQ(test, xpfo_protected(), 0);
}

static struct folio *x_alloc(struct kunit *test, unsigned int order)
{
	struct folio *folio = memsec_xpfo_alloc(GFP_OWNER, order, NULL, 0);

	KUNIT_ASSERT_NOT_NULL(test, folio);

	return folio;
}

/* Can the kernel read it as it can read everything else? */
static bool is_readable(const void *addr)
{
	u64 value;

	return !copy_from_kernel_nofault(&value, addr, sizeof(value));
}

static bool page_is_readable(struct page *page)
{
	return is_readable(page_address(page));
}

static void fill(struct page *page, int c)
{
	void *addr = kmap_local_page(page);

	memset(addr, c, PAGE_SIZE);
	kunmap_local(addr);
}

static bool is_filled(struct page *page, int c)
{
	void *addr = kmap_local_page(page);
	bool filled = !memchr_inv(addr, c, PAGE_SIZE);

	kunmap_local(addr);

	return filled;
}

/* Who is asked, how often, and what an answer is worth. */
static void x_answers(struct kunit *test)
{
	struct mm_struct *mm = mm_alloc();

	KUNIT_ASSERT_NOT_NULL(test, mm);
	x_attach(test, MEMSEC_XPFO_ANON, BATCH, KEEP);
	KUNIT_EXPECT_TRUE(test, memsec_xpfo_asks(mm, MEMSEC_XPFO_ANON));
	KUNIT_EXPECT_FALSE(test, memsec_xpfo_asks(mm, MEMSEC_XPFO_SHMEM));
	KUNIT_EXPECT_TRUE(test, memsec_xpfo_asks(mm, MEMSEC_XPFO_SWAP));
	KUNIT_EXPECT_EQ(test, x_asked, 1);

	x_answer = MEMSEC_XPFO_ALL + 1;
	KUNIT_EXPECT_TRUE(test, memsec_xpfo_asks(mm, MEMSEC_XPFO_ANON));
	memsec_policy_changed();
	KUNIT_EXPECT_FALSE(test, memsec_xpfo_asks(mm, MEMSEC_XPFO_ANON));
	KUNIT_EXPECT_EQ(test, x_asked, 2);
	KUNIT_EXPECT_GE(test, counted(test, "clamped"), 1);

	x_answer = MEMSEC_XPFO_SHMEM;
	memsec_policy_changed();
	KUNIT_EXPECT_TRUE(test, memsec_xpfo_asks(mm, MEMSEC_XPFO_SHMEM));
	fake_detach(&holder);
	KUNIT_EXPECT_FALSE(test, memsec_xpfo_asks(mm, MEMSEC_XPFO_SHMEM));
	mmput(mm);
}

/* A batch for one TLB flush, and the rest of it without any. */
static void x_batch(struct kunit *test)
{
	struct folio *folios[BATCH];
	int i;

	x_attach(test, MEMSEC_XPFO_ALL, BATCH, KEEP);
	for (i = 0; i < BATCH / 2; i++)
		folios[i] = x_alloc(test, 0);
	expect_counted(test, "taken", BATCH);
	expect_counted(test, "tlb_flushes", 1);
	expect_counted(test, "waits", 1);
	expect_counted(test, "allocated", BATCH / 2);
	KUNIT_EXPECT_EQ(test, xpfo_protected(), BATCH / 2);
	for (i = 0; i < BATCH / 2; i++) {
		KUNIT_EXPECT_FALSE(test, page_is_readable(&folios[i]->page));
		KUNIT_EXPECT_TRUE(test, is_filled(&folios[i]->page, 0));
		folio_put(folios[i]);
	}
	expect_counted(test, "freed", BATCH / 2);
	KUNIT_EXPECT_EQ(test, xpfo_protected(), 0);
	KUNIT_EXPECT_GE(test, xpfo_pools_held(), BATCH);
}

/* What comes back is cleared, stays outside, and is given again. */
static void x_reuse(struct kunit *test)
{
	struct folio *folio, *next;

	x_attach(test, MEMSEC_XPFO_ALL, BATCH, KEEP);
	folio = x_alloc(test, 0);
	fill(&folio->page, 0x5a);
	KUNIT_EXPECT_TRUE(test, is_filled(&folio->page, 0x5a));
	folio_put(folio);
	KUNIT_EXPECT_FALSE(test, page_is_readable(&folio->page));

	next = x_alloc(test, 0);
	KUNIT_EXPECT_PTR_EQ(test, next, folio);
	KUNIT_EXPECT_TRUE(test, is_filled(&next->page, 0));
	KUNIT_EXPECT_FALSE(test, page_is_readable(&next->page));
	expect_counted(test, "tlb_flushes", 1);
	folio_put(next);
}

/* Nothing is kept: it goes back into the direct map, without what was in it. */
static void x_give_back(struct kunit *test)
{
	struct folio *folio;
	struct page *page;

	x_attach(test, MEMSEC_XPFO_ALL, 1, 0);
	folio = x_alloc(test, 0);
	page = &folio->page;
	expect_counted(test, "taken", 1);
	expect_counted(test, "tlb_flushes", 1);
	fill(page, 0x5a);
	get_page(page);
	folio_put(folio);
	KUNIT_EXPECT_FALSE(test, page_is_readable(page));
	KUNIT_EXPECT_TRUE(test, is_filled(page, 0x5a));

	put_page(page);
	KUNIT_EXPECT_TRUE(test, wait_for_pools(test, 0));
	KUNIT_EXPECT_TRUE(test, page_is_readable(page));
	expect_counted(test, "returned", 1);
}

/* A pool holds no more than it may, whatever comes back. */
static void x_keep(struct kunit *test)
{
	static struct folio *folios[4 * BATCH];
	int i;

	x_attach(test, MEMSEC_XPFO_ALL, BATCH, BATCH);
	for (i = 0; i < ARRAY_SIZE(folios); i++)
		folios[i] = x_alloc(test, 0);
	for (i = 0; i < ARRAY_SIZE(folios); i++)
		folio_put(folios[i]);
	KUNIT_EXPECT_TRUE(test, wait_for_pools(test, BATCH));
	KUNIT_EXPECT_GT(test, xpfo_pools_held(), 0);
	KUNIT_EXPECT_GE(test, x_pool_ctx.cpus, 1);
	KUNIT_EXPECT_EQ(test, x_pool_ctx.total, totalram_pages());

	xpfo_pools_drain();
	KUNIT_EXPECT_EQ(test, xpfo_pools_held(), 0);
	for (i = 0; i < ARRAY_SIZE(folios); i++)
		KUNIT_EXPECT_TRUE(test, page_is_readable(&folios[i]->page));
}

static void free_folio(void *folio)
{
	folio_put(folio);
}

/* The last reference may go in an interrupt. */
static void x_free_in_interrupt(struct kunit *test)
{
	struct folio *folio;

	x_attach(test, MEMSEC_XPFO_ALL, BATCH, KEEP);
	folio = x_alloc(test, 0);
	fill(&folio->page, 0x5a);
	smp_call_function_single(smp_processor_id(), free_folio, folio, 1);
	expect_counted(test, "freed", 1);
	KUNIT_EXPECT_PTR_EQ(test, x_alloc(test, 0), folio);
	KUNIT_EXPECT_TRUE(test, is_filled(&folio->page, 0));
	folio_put(folio);
}

static void x_huge(struct kunit *test)
{
	struct folio *folio;
	int i;

	x_attach(test, MEMSEC_XPFO_ALL, BATCH, HUGE_PAGES);
	folio = x_alloc(test, HPAGE_PMD_ORDER);
	expect_counted(test, "taken", HUGE_PAGES);
	expect_counted(test, "tlb_flushes", 1);
	for (i = 0; i < HUGE_PAGES; i++) {
		if (page_is_readable(folio_page(folio, i)) ||
		    !PageHighMem(folio_page(folio, i)) ||
		    !is_filled(folio_page(folio, i), 0))
			break;
		fill(folio_page(folio, i), i);
	}
	KUNIT_EXPECT_EQ(test, i, HUGE_PAGES);
	KUNIT_EXPECT_TRUE(test, folio_test_partial_kmap(folio));
	folio_put(folio);

	KUNIT_EXPECT_PTR_EQ(test, x_alloc(test, HPAGE_PMD_ORDER), folio);
	expect_counted(test, "tlb_flushes", 1);
	for (i = 0; i < HUGE_PAGES; i++)
		KUNIT_EXPECT_TRUE(test, is_filled(folio_page(folio, i), 0));
	folio_put(folio);
}

/* Neither a page nor worth a TLB flush. */
static void x_small_folios(struct kunit *test)
{
	struct folio *folio;

	x_attach(test, MEMSEC_XPFO_ALL, BATCH, KEEP);
	KUNIT_EXPECT_NULL(test, memsec_xpfo_alloc(GFP_OWNER, 1, NULL, 0));
	KUNIT_EXPECT_NULL(test, memsec_xpfo_alloc(GFP_OWNER, XPFO_MIN_ORDER - 1,
						  NULL, 0));
	folio = x_alloc(test, XPFO_MIN_ORDER);
	KUNIT_EXPECT_FALSE(test, page_is_readable(&folio->page));
	folio_put(folio);
	/* Of this size none are kept. */
	KUNIT_EXPECT_TRUE(test, wait_for_pools(test, 0));
}

static int take_fails(struct page *page, unsigned int pages)
{
	return -ENOMEM;
}

/* What cannot be protected is not given. */
static void x_failure(struct kunit *test)
{
	struct folio *plain, *folio;

	x_attach(test, MEMSEC_XPFO_ALL, 1, 0);
	plain = folio_alloc(GFP_HIGHUSER_MOVABLE, 0);
	KUNIT_ASSERT_NOT_NULL(test, plain);
	folio = x_alloc(test, 0);

	kunit_activate_static_stub(test, xpfo_take, take_fails);
	KUNIT_EXPECT_NULL(test, memsec_xpfo_alloc(GFP_OWNER, 0, NULL, 0));
	KUNIT_EXPECT_NULL(test, memsec_xpfo_alloc(GFP_OWNER, HPAGE_PMD_ORDER,
						  NULL, 0));
	KUNIT_EXPECT_EQ(test, memsec_xpfo_follow(folio, plain), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, page_is_readable(&plain->page));
	kunit_deactivate_static_stub(test, xpfo_take);
	folio_put(folio);
	folio_put(plain);
}

/* Who cannot wait gets what there is, and there is some soon. */
static void x_nowait(struct kunit *test)
{
	gfp_t gfp = GFP_NOWAIT | __GFP_HIGHMEM;
	unsigned long end = jiffies + PATIENCE;
	struct folio *folio;

	x_attach(test, MEMSEC_XPFO_ALL, BATCH, KEEP);
	KUNIT_EXPECT_NULL(test, memsec_xpfo_alloc(gfp, 0, NULL, 0));
	while (!xpfo_pools_held() && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	folio = memsec_xpfo_alloc(gfp, 0, NULL, 0);
	KUNIT_ASSERT_NOT_NULL(test, folio);
	KUNIT_EXPECT_FALSE(test, page_is_readable(&folio->page));
	expect_counted(test, "waits", 0);
	folio_put(folio);
}

/* What takes the place of a page is as that is. */
static void x_follow(struct kunit *test)
{
	struct folio *plain, *other, *folio;

	x_attach(test, MEMSEC_XPFO_ALL, BATCH, KEEP);
	plain = folio_alloc(GFP_HIGHUSER_MOVABLE, 0);
	other = folio_alloc(GFP_HIGHUSER_MOVABLE, 0);
	KUNIT_ASSERT_NOT_NULL(test, plain);
	KUNIT_ASSERT_NOT_NULL(test, other);
	folio = x_alloc(test, 0);

	KUNIT_EXPECT_EQ(test, memsec_xpfo_follow(plain, other), 0);
	KUNIT_EXPECT_TRUE(test, page_is_readable(&other->page));
	KUNIT_EXPECT_EQ(test, memsec_xpfo_follow(plain, folio), 0);
	KUNIT_EXPECT_FALSE(test, page_is_readable(&folio->page));
	KUNIT_EXPECT_EQ(test, memsec_xpfo_follow(folio, other), 0);
	KUNIT_EXPECT_FALSE(test, page_is_readable(&other->page));
	expect_counted(test, "followed", 1);
	folio_put(folio);
	folio_put(other);
	folio_put(plain);
}

/* Several at once, and nothing is left of them when they are closed. */
static void x_windows(struct kunit *test)
{
	struct folio *folios[3];
	u8 *windows[3];
	int i;

	x_attach(test, MEMSEC_XPFO_ALL, BATCH, KEEP);
	for (i = 0; i < 3; i++) {
		folios[i] = x_alloc(test, 0);
		fill(&folios[i]->page, i + 1);
	}
	note_counters(test);
	for (i = 0; i < 3; i++) {
		windows[i] = kmap_local_page(&folios[i]->page);
		KUNIT_EXPECT_TRUE(test, memsec_xpfo_is_window(windows[i]));
		KUNIT_EXPECT_PTR_EQ(test, kmap_to_page(windows[i]),
				    &folios[i]->page);
	}
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_NULL(test, memchr_inv(windows[i], i + 1, PAGE_SIZE));
	for (i = 2; i >= 0; i--) {
		kunmap_local(windows[i]);
		KUNIT_EXPECT_FALSE(test, is_readable(windows[i]));
		folio_put(folios[i]);
	}
	/* And those in which they were cleared. */
	expect_counted(test, "windows", 2 * 3);
	KUNIT_EXPECT_FALSE(test, memsec_xpfo_is_window(test));
}

struct x_interrupt {
	struct page *page;
	bool is_filled;
};

static void look_in_interrupt(void *data)
{
	struct x_interrupt *i = data;

	i->is_filled = is_filled(i->page, 2);
}

/* A task that has a window open is interrupted, and gives the CPU to others. */
static void x_window_stays(struct kunit *test)
{
	struct x_interrupt interrupt;
	struct folio *one, *two;
	u8 *window;

	x_attach(test, MEMSEC_XPFO_ALL, BATCH, KEEP);
	one = x_alloc(test, 0);
	two = x_alloc(test, 0);
	fill(&one->page, 1);
	fill(&two->page, 2);
	interrupt.page = &two->page;

	window = kmap_local_page(&one->page);
	smp_call_function_single(smp_processor_id(), look_in_interrupt,
				 &interrupt, 1);
	KUNIT_EXPECT_TRUE(test, interrupt.is_filled);
	KUNIT_EXPECT_NULL(test, memchr_inv(window, 1, PAGE_SIZE));
	schedule_timeout_uninterruptible(2);
	KUNIT_EXPECT_NULL(test, memchr_inv(window, 1, PAGE_SIZE));
	kunmap_local(window);
	KUNIT_EXPECT_FALSE(test, is_readable(window));
	folio_put(one);
	folio_put(two);
}

/* kmap() is for everybody, until the last who called it is done. */
static void x_kmap(struct kunit *test)
{
	unsigned long end = jiffies + PATIENCE;
	struct folio *folio;
	u8 *addr;

	x_attach(test, MEMSEC_XPFO_ALL, BATCH, KEEP);
	folio = x_alloc(test, 0);
	fill(&folio->page, 3);
	addr = memsec_xpfo_kmap(&folio->page);
	KUNIT_EXPECT_PTR_EQ(test, memsec_xpfo_kmap(&folio->page), (void *)addr);
	KUNIT_EXPECT_NULL(test, memchr_inv(addr, 3, PAGE_SIZE));
	memsec_xpfo_kunmap(&folio->page);
	KUNIT_EXPECT_TRUE(test, is_readable(addr));
	KUNIT_EXPECT_FALSE(test, page_is_readable(&folio->page));
	memsec_xpfo_kunmap(&folio->page);
	while (is_readable(addr) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_FALSE(test, is_readable(addr));
	expect_counted(test, "kmaps", 1);
	folio_put(folio);
}

static struct kunit_case x_cases[] = {
	KUNIT_CASE(x_answers),
	KUNIT_CASE(x_batch),
	KUNIT_CASE(x_reuse),
	KUNIT_CASE(x_give_back),
	KUNIT_CASE(x_keep),
	KUNIT_CASE(x_free_in_interrupt),
	KUNIT_CASE(x_huge),
	KUNIT_CASE(x_small_folios),
	KUNIT_CASE(x_failure),
	KUNIT_CASE(x_nowait),
	KUNIT_CASE(x_follow),
	KUNIT_CASE(x_windows),
	KUNIT_CASE(x_window_stays),
	KUNIT_CASE(x_kmap),
	{}
};

static struct kunit_suite x_suite = {
	.name = "memsec_xpfo",
	.init = x_test_init,
	.exit = x_test_exit,
	.test_cases = x_cases,
};

kunit_test_suite(x_suite);
