// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: what it costs to reach memory outside the direct map, and to allocate
 * it, for bench-xpfo.
 *
 * A KUnit suite because it has to run in the kernel, in a VM that counts
 * instructions. It does nothing unless the command line has xpfo_bench.run=1.
 * Prints lines of the form "bench<TAB>GROUP<TAB>MODE<TAB>KEY=VALUE ...".
 */
#include <linux/highmem.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "../xpfo.h"
#include "fake.h"

static bool run;
module_param(run, bool, 0);

#define REPEATS		5
#define WINDOWS		20000
#define PAGES		4000

static struct fake_holder holder;

/* What the policy says of pools. */
static u64 pool_answer;

static u64 bench_xpfo(const struct memsec_xpfo_ctx *ctx)
{
	return MEMSEC_XPFO_ALL;
}

static u64 bench_xpfo_pool(const struct memsec_xpfo_pool_ctx *ctx)
{
	return pool_answer;
}

static const struct memsec_ops bench_policy = {
	.name = "bench",
	.abi = MEMSEC_ABI,
	.xpfo = bench_xpfo,
	.xpfo_pool = bench_xpfo_pool,
};

static void attach(struct kunit *test, u64 batch, u64 keep)
{
	pool_answer = batch | keep << MEMSEC_XPFO_POOL_SHIFT;
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &bench_policy), 0);
	/* Workers see to the pools first. */
	schedule_timeout_uninterruptible(HZ / 10);
}

static void print(const char *group, const char *mode, u64 ns, u64 requests,
		  u64 flushes)
{
	pr_info("bench\t%s\t%s\tns=%llu requests=%llu flushes=%llu\n", group,
		mode, ns, requests, flushes);
}

/* Reach a page, and leave it alone. */
static void reach(const char *mode, struct page *page)
{
	u64 begin;
	int i, r;

	for (r = 0; r < REPEATS; r++) {
		begin = ktime_get_ns();
		for (i = 0; i < WINDOWS; i++)
			kunmap_local(kmap_local_page(page));
		print("a page reached", mode, ktime_get_ns() - begin, WINDOWS, 0);
	}
}

static void reached(struct kunit *test)
{
	struct folio *plain = folio_alloc(GFP_HIGHUSER_MOVABLE, 0);
	struct folio *folio;

	KUNIT_ASSERT_NOT_NULL(test, plain);
	reach("no policy", &plain->page);
	attach(test, 64, 64);
	reach("in the direct map", &plain->page);
	folio = memsec_xpfo_alloc(GFP_HIGHUSER_MOVABLE, 0, NULL, 0);
	KUNIT_ASSERT_NOT_NULL(test, folio);
	reach("not in it", &folio->page);
	folio_put(folio);
	folio_put(plain);
	fake_detach(&holder);
}

static struct folio *get(bool protect)
{
	gfp_t gfp = GFP_HIGHUSER_MOVABLE | __GFP_ZERO;

	return protect ? memsec_xpfo_alloc(gfp, 0, NULL, 0) :
			 folio_alloc(gfp, 0);
}

/* Processes get what others gave back: all is allocated, then all freed. */
static void allocate(struct kunit *test, const char *mode, bool protect)
{
	struct folio **folios = kunit_kcalloc(test, PAGES, sizeof(*folios),
					      GFP_KERNEL);
	u64 begin, flushes;
	int i, r;

	KUNIT_ASSERT_NOT_NULL(test, folios);
	for (r = 0; r < REPEATS; r++) {
		flushes = memsec_counter_sum(&xpfo_tlb_flushes);
		begin = ktime_get_ns();
		for (i = 0; i < PAGES; i++)
			folios[i] = get(protect);
		for (i = 0; i < PAGES; i++) {
			if (folios[i])
				folio_put(folios[i]);
			cond_resched();
		}
		print("pages allocated and freed", mode,
		      ktime_get_ns() - begin, PAGES,
		      memsec_counter_sum(&xpfo_tlb_flushes) - flushes);
	}
}

static void allocated(struct kunit *test)
{
	allocate(test, "in the direct map", false);
	attach(test, 1, 0);
	allocate(test, "batch 1, no pool", true);
	fake_detach(&holder);
	attach(test, 128, 4096);
	allocate(test, "batch 128, pool 16 MiB", true);
	fake_detach(&holder);
}

static int bench_init(struct kunit *test)
{
	if (!run)
		kunit_skip(test, "xpfo_bench.run=1 on the command line runs it");

	fake_holder_init(&holder);

	return 0;
}

static struct kunit_case bench_cases[] = {
	KUNIT_CASE_SLOW(reached),
	KUNIT_CASE_SLOW(allocated),
	{}
};

static struct kunit_suite bench_suite = {
	.name = "memsec_xpfo_bench",
	.init = bench_init,
	.test_cases = bench_cases,
};

kunit_test_suite(bench_suite);
