// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: what memory under a KeyID costs, for bench-keyid.
 *
 * A KUnit suite because it has to run in the kernel, natively in UML, where a
 * flush has its price, and in a VM that counts instructions. It does nothing
 * unless the command line has keyid_bench.run=1. Prints lines of the form
 * "bench<TAB>GROUP<TAB>MODE<TAB>KEY=VALUE ...", with ns of all repetitions.
 *
 * The tight loop: allocate, touch or not, free, again and again. Each page
 * comes back to its KeyID, which is what KeyIDs that repeat means.
 *
 * The mix, which resembles a parallel build: processes come and go, each of one
 * of the owners; few owners have most of them (Zipf), few processes are large
 * (half of the size, twice as often), most are the youngest when they end and a
 * few live long. One in four is KeyID 0's: page cache, page tables, slabs.
 */
#include <linux/ktime.h>
#include <linux/memsec_emulation.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>

#include "keyid_fixture.h"

static bool run;
module_param(run, bool, 0);

#define REPEATS		15

#define TIGHT_PAIRS	20000
#define TIGHT_HUGE	40
#define HUGE_ORDER	(PMD_SHIFT - PAGE_SHIFT)

#define MIX_STEPS	3000
#define MIX_LIVE	24
#define MIX_OWNERS	6
#define MIX_MAX_PAGES	512
#define SEED		4711

/* What a CPU may keep: 4 MiB. */
#define CACHE		(2ULL << HUGE_ORDER)
#define SEARCH		(32ULL << MEMSEC_KEYID_SEARCH_SHIFT)

/**
 * struct mode - a way to have memory
 * @name: what it is called
 * @keyids: there are KeyIDs; all that follows is for them
 * @others: allocate by KeyID 0 nevertheless
 * @answer: what the policy says
 */
struct mode {
	const char *name;
	bool keyids;
	bool others;
	u64 answer;
};

static const struct mode modes[] = {
	{ .name = "no encryption" },
	{ .name = "KeyID 0", .keyids = true, .others = true },
	{ .name = "flush always", .keyids = true, .answer = MEMSEC_KEYID_FLUSH },
	{ .name = "on mismatch", .keyids = true },
	{ .name = "search 32", .keyids = true, .answer = SEARCH },
	{ .name = "cache 4 MiB", .keyids = true, .answer = CACHE },
};

/* One owner's memory in a mode. */
static struct page *bench_alloc(const struct mode *mode,
				struct memsec_keyid *keyid, unsigned int order)
{
	if (!mode->keyids || mode->others || !keyid)
		return alloc_pages(GFP_KERNEL | (order ? __GFP_COMP : 0), order);

	return memsec_keyid_alloc_pages(keyid, GFP_KERNEL, order);
}

static void bench_free(const struct mode *mode, struct memsec_keyid *keyid,
		       struct page *page, unsigned int order)
{
	if (!mode->keyids || mode->others || !keyid)
		__free_pages(page, order);
	else
		memsec_keyid_free_pages(keyid, page, order);
}

static void mode_begin(struct kunit *test, const struct mode *mode)
{
	if (!mode->keyids)
		static_branch_disable(&memsec_keyid_key);
	else
		k_attach(test, mode->answer, MEMSEC_RECYCLE_NEVER);
}

static void mode_end(const struct mode *mode)
{
	if (!mode->keyids)
		static_branch_enable(&memsec_keyid_key);
	else
		k_detach();
}

static u64 tight_loop(struct kunit *test, const struct mode *mode,
		      struct memsec_keyid *keyid, unsigned int order,
		      unsigned int pairs, bool touch)
{
	u64 begin = ktime_get_ns();
	struct page *page;

	while (pairs--) {
		page = bench_alloc(mode, keyid, order);
		KUNIT_ASSERT_NOT_NULL(test, page);
		if (touch)
			memset(page_address(page), 0x5a, PAGE_SIZE << order);
		bench_free(mode, keyid, page, order);
	}

	return ktime_get_ns() - begin;
}

static void tight(struct kunit *test, const char *group,
		  const struct mode *mode, unsigned int order, bool touch)
{
	unsigned int pairs = order ? TIGHT_HUGE : TIGHT_PAIRS;
	struct memsec_keyid *keyid = k_take(test);
	u64 flushes, ns;
	int i;

	mode_begin(test, mode);
	tight_loop(test, mode, keyid, order, 2, touch);
	for (i = 0; i < REPEATS; i++) {
		flushes = memsec_counter_sum(&keyid_flushes);
		ns = tight_loop(test, mode, keyid, order, pairs, touch);
		flushes = memsec_counter_sum(&keyid_flushes) - flushes;
		pr_info("bench\t%s\t%s\tns=%llu pages=%u requests=%u flushes=%llu\n",
			group, mode->name, ns, pairs << order, pairs, flushes);
	}
	mode_end(mode);
	k_retire(keyid);
}

/* A process, and what it has. */
struct mix_process {
	struct memsec_keyid *keyid;
	unsigned int pages;
	struct page *page[MIX_MAX_PAGES];
};

/**
 * struct mix - the mixed workload
 * @mode: how memory is had
 * @owners: their KeyIDs, those who have most first
 * @random: where it goes on
 * @live: processes, the youngest last
 * @nr: how many
 * @allocated: pages that were allocated
 */
struct mix {
	const struct mode *mode;
	struct memsec_keyid *owners[MIX_OWNERS];
	struct rnd_state random;
	struct mix_process *live[MIX_LIVE];
	unsigned int nr;
	u64 allocated;
};

static unsigned int mix_random(struct mix *mix, unsigned int below)
{
	return prandom_u32_state(&mix->random) % below;
}

/* The second owner has half of what the first has, the third a third. */
static struct memsec_keyid *mix_owner(struct mix *mix)
{
	static const unsigned int weights[MIX_OWNERS] = { 60, 30, 20, 15, 12, 10 };
	unsigned int at = mix_random(mix, 147);
	int i = 0;

	if (!mix_random(mix, 4))
		return NULL;

	while (at >= weights[i])
		at -= weights[i++];

	return mix->owners[i];
}

static unsigned int mix_size(struct mix *mix)
{
	unsigned int pages = MIX_MAX_PAGES >> (mix_random(mix, 512) ?
			     9 - __ffs(mix_random(mix, 512) | 512) : 0);

	return pages / 2 + mix_random(mix, pages / 2 + 1) + 1;
}

static void mix_fork(struct kunit *test, struct mix *mix, struct mix_process *p)
{
	unsigned int i;

	p->keyid = mix_owner(mix);
	p->pages = min(mix_size(mix), MIX_MAX_PAGES);
	for (i = 0; i < p->pages; i++) {
		p->page[i] = bench_alloc(mix->mode, p->keyid, 0);
		KUNIT_ASSERT_NOT_NULL(test, p->page[i]);
	}
	mix->allocated += p->keyid ? p->pages : 0;
	mix->live[mix->nr++] = p;
}

static struct mix_process *mix_exit(struct mix *mix, unsigned int at)
{
	struct mix_process *p = mix->live[at];
	unsigned int i;

	for (i = 0; i < p->pages; i++)
		bench_free(mix->mode, p->keyid, p->page[i], 0);
	mix->nr--;
	memmove(mix->live + at, mix->live + at + 1,
		(mix->nr - at) * sizeof(*mix->live));

	return p;
}

static u64 mix_steps(struct kunit *test, struct mix *mix,
		     struct mix_process *processes)
{
	u64 begin = ktime_get_ns();
	unsigned int i, at;

	for (i = 0; i < MIX_LIVE; i++)
		mix_fork(test, mix, processes + i);
	for (i = 0; i < MIX_STEPS; i++) {
		at = mix_random(mix, 4) ? mix->nr - 1 - mix_random(mix, 4) :
		     mix_random(mix, mix->nr);
		mix_fork(test, mix, mix_exit(mix, at));
	}
	while (mix->nr)
		mix_exit(mix, mix->nr - 1);

	return ktime_get_ns() - begin;
}

static void mixed(struct kunit *test, const struct mode *mode)
{
	struct mix_process *processes;
	struct mix mix = { .mode = mode };
	u64 flushes, ns;
	int i;

	processes = kvcalloc(MIX_LIVE, sizeof(*processes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, processes);
	for (i = 0; i < MIX_OWNERS; i++)
		mix.owners[i] = k_take(test);

	mode_begin(test, mode);
	for (i = 0; i < REPEATS; i++) {
		prandom_seed_state(&mix.random, SEED + i);
		mix.allocated = 0;
		flushes = memsec_counter_sum(&keyid_flushes);
		ns = mix_steps(test, &mix, processes);
		flushes = memsec_counter_sum(&keyid_flushes) - flushes;
		pr_info("bench\tmixed owners\t%s\tns=%llu pages=%llu requests=%llu flushes=%llu\n",
			mode->name, ns, mix.allocated, mix.allocated, flushes);
	}
	mode_end(mode);
	for (i = 0; i < MIX_OWNERS; i++)
		k_retire(mix.owners[i]);
	kvfree(processes);
}

static void tight_loops(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		tight(test, "order 0", modes + i, 0, false);
		tight(test, "order 0, written", modes + i, 0, true);
		tight(test, "order 9", modes + i, HUGE_ORDER, false);
		tight(test, "order 9, written", modes + i, HUGE_ORDER, true);
	}
}

static void mixed_owners(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		mixed(test, modes + i);
}

static int bench_init(struct kunit *test)
{
	if (!run)
		kunit_skip(test, "keyid_bench.run=1 on the command line runs it");

	memsec_keyid_model_stop_checking();

	return k_test_init(test);
}

static struct kunit_case bench_cases[] = {
	KUNIT_CASE_SLOW(tight_loops),
	KUNIT_CASE_SLOW(mixed_owners),
	{}
};

static struct kunit_suite bench_suite = {
	.name = "memsec_keyid_bench",
	.init = bench_init,
	.exit = k_test_exit,
	.test_cases = bench_cases,
};

kunit_test_suite(bench_suite);
