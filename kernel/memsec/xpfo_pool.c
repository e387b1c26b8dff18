// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: pools of pages outside the direct map.
 *
 * Taking pages out of the direct map needs a lock that there is one of, and
 * interrupts every CPU. It is done for many pages that are next to each other
 * at a time, which wait in a pool until somebody wants one. Pages that come back
 * are cleared and wait again; they are mapped nowhere in between.
 *
 * Each CPU has a pool of pages of its node, and each node one for those who want
 * its memory and run elsewhere. A page in a pool has no reference, and all of
 * free_pages_prepare() behind it: as one of the page allocator's, but that the
 * page allocator does not know it. What leaves a pool, to somebody or to the page
 * allocator, passes post_alloc_hook().
 *
 * Pages are freed in any context. What a pool then holds too much is given back
 * by its worker, which refills it ahead, too. All goes back when no policy is
 * attached, when memory is short or to be removed, and when the CPU goes.
 *
 * The way of a page that is allocated from a pool and freed to it: two holds of
 * the pool's lock, which other CPUs take only to give its pages back, and, for
 * clearing it, a window.
 */
#include <linux/cpuhotplug.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/init.h>
#include <linux/list_sort.h>
#include <linux/log2.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/page-isolation.h>
#include <linux/poison.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/topology.h>
#include <mm/internal.h>

#include "events.h"
#include "xpfo.h"

/* How many pages to give back without a break. */
#define CHUNK		512

/* How often a pool is refilled for somebody who gets nothing of it. */
#define MAX_TRIES	8

static DEFINE_PER_CPU(struct xpfo_pool, cpu_pools);
static struct xpfo_pool *node_pools __ro_after_init;

/* This CPU's, when the memory is near; that the task goes on elsewhere does no harm. */
static struct xpfo_pool *pool_for(int nid)
{
	return nid == numa_mem_id() ? raw_cpu_ptr(&cpu_pools) : &node_pools[nid];
}

static int order_index(unsigned int order)
{
	if (!order)
		return 0;

	return order == HPAGE_PMD_ORDER ? 1 : -1;
}

/* In free pages somebody may look for a pattern. */
static bool pages_are_poisoned(void)
{
	return page_poisoning_enabled_static();
}

static struct page *pool_take(struct xpfo_pool *pool, int i)
{
	unsigned long irqflags;
	struct page *page;

	spin_lock_irqsave(&pool->lock, irqflags);
	page = list_first_entry_or_null(&pool->free[i], struct page, lru);
	if (page) {
		list_del(&page->lru);
		pool->pages -= 1UL << page_private(page);
	}
	spin_unlock_irqrestore(&pool->lock, irqflags);

	return page;
}

/* The page allocator's way to make a page somebody's. */
static struct page *prepare_page(struct page *page, unsigned int order,
				 gfp_t gfp)
{
	/* It is clear, unless that is not how free pages are to be. */
	if (!pages_are_poisoned())
		gfp &= ~__GFP_ZERO;
	post_alloc_hook(page, order, gfp);
	set_page_refcounted(page);
	if (order && (gfp & __GFP_COMP))
		prep_compound_page(page, order);
	clear_page_pfmemalloc(page);

	return page;
}

/* Less than half of a batch is left. */
static bool runs_low(const struct xpfo_pool *pool)
{
	unsigned long batch = READ_ONCE(pool->batch);

	return READ_ONCE(pool->pages) < min(batch, READ_ONCE(pool->keep)) / 2;
}

static void pool_call_worker(struct xpfo_pool *pool)
{
	queue_work(system_unbound_wq, &pool->work);
}

/**
 * xpfo_pool_alloc() - Get a page that is not in the direct map
 * @nid: the NUMA node
 * @gfp: as for alloc_pages()
 * @order: how many pages, log2
 *
 * Context: Any.
 * Return: the first of them; NULL when no pool of the node has any.
 */
struct page *xpfo_pool_alloc(int nid, gfp_t gfp, unsigned int order)
{
	struct xpfo_pool *pool = pool_for(nid);
	int i = order_index(order);
	struct page *page;

	if (i < 0)
		return NULL;

	if (!order)
		WRITE_ONCE(pool->wanted, READ_ONCE(pool->wanted) + 1);
	page = pool_take(pool, i);
	/* Who finds nothing and can wait does not wait for the worker. */
	if (!order && runs_low(pool) &&
	    (page || !gfpflags_allow_blocking(gfp)))
		pool_call_worker(pool);

	return page ? prepare_page(page, order, gfp) : NULL;
}

static void clear_pages(struct page *page, unsigned int pages)
{
	unsigned int i;

	if (pages_are_poisoned() || want_init_on_free())
		return;

	for (i = 0; i < pages; i++)
		clear_highpage(page + i);
}

/*
 * Put pages into a pool, or in the queue to the page allocator when somebody
 * wants the memory that they are in. Returns whether something is to go there.
 */
static bool pool_put(struct xpfo_pool *pool, struct page *page,
		     unsigned int order)
{
	int i = is_migrate_isolate_page(page) ? -1 : order_index(order);
	unsigned long irqflags;
	bool back;

	set_page_private(page, order);
	spin_lock_irqsave(&pool->lock, irqflags);
	if (i < 0) {
		list_add(&page->lru, &pool->back);
		back = true;
	} else {
		list_add(&page->lru, &pool->free[i]);
		pool->pages += 1UL << order;
		back = pool->pages > READ_ONCE(pool->keep);
	}
	spin_unlock_irqrestore(&pool->lock, irqflags);

	return back;
}

/**
 * memsec_xpfo_freed() - Somebody freed pages that are not in the direct map
 * @page: the first of them
 * @order: how many, log2
 *
 * Context: Any.
 * Return: true; they are not the page allocator's.
 */
bool memsec_xpfo_freed(struct page *page, unsigned int order)
{
	struct xpfo_pool *pool = pool_for(page_to_nid(page));

	clear_pages(page, 1 << order);
	WRITE_ONCE(pool->freed, READ_ONCE(pool->freed) + (1 << order));
	memsec_count_add(&xpfo_freed, 1 << order);
	if (pool_put(pool, page, order))
		pool_call_worker(pool);

	return true;
}

/* A block of at most 1 << *@order pages, without an effort for more than one. */
static struct page *alloc_block(int nid, gfp_t gfp, unsigned int *order)
{
	gfp_t plain = (gfp & ~__GFP_COMP) | __GFP_THISNODE | __GFP_NOWARN |
		      __GFP_ZERO;
	struct page *page;

	for (; *order; (*order)--) {
		page = alloc_pages_node(nid, plain & ~__GFP_DIRECT_RECLAIM,
					*order);
		if (page)
			return page;
	}

	return alloc_pages_node(nid, plain, 0);
}

/* Not more than fits into the pool, but for a page that is wanted now. */
static unsigned int refill_order(const struct xpfo_pool *pool)
{
	unsigned long room = READ_ONCE(pool->keep) + 1;
	unsigned long have = READ_ONCE(pool->pages);
	unsigned long pages = min_t(unsigned long, READ_ONCE(pool->batch),
				    room > have ? room - have : 1);

	return ilog2(max(pages, 1UL));
}

/* From the page allocator's hands back into them. */
static void free_prepared(struct page *page, unsigned int order)
{
	post_alloc_hook(page, order, 0);
	set_page_refcounted(page);
	__free_pages(page, order);
}

/* Take a block of pages out of the direct map, into a pool. */
static int refill(struct xpfo_pool *pool, gfp_t gfp, bool waited)
{
	unsigned int order = refill_order(pool);
	struct page *page;
	unsigned int i;
	int ret;

	page = alloc_block(pool->nid, gfp, &order);
	if (!page)
		return -ENOMEM;

	split_page(page, order);
	for (i = 0; i < 1 << order; i++) {
		set_page_count(page + i, 0);
		if (WARN_ON_ONCE(!free_pages_prepare(page + i, 0)))
			return -EFAULT;
	}

	ret = xpfo_take(page, 1 << order);
	for (i = 0; i < 1 << order; i++) {
		if (ret)
			free_prepared(page + i, 0);
		else
			pool_put(pool, page + i, 0);
	}
	memsec_count_add(&xpfo_refills, 1);
	trace_memsec_xpfo_refill(pool->nid, pool->cpu, 1 << order, waited, ret);

	return ret;
}

/**
 * xpfo_pool_refill() - Take pages out of the direct map and get one of them
 * @nid: the NUMA node
 * @gfp: as for alloc_pages()
 *
 * Context: Process context, may sleep.
 * Return: the page; NULL when there is no memory.
 */
struct page *xpfo_pool_refill(int nid, gfp_t gfp)
{
	struct xpfo_pool *pool = pool_for(nid);
	struct page *page = NULL;
	int tries = MAX_TRIES;

	WRITE_ONCE(pool->waits, READ_ONCE(pool->waits) + 1);
	memsec_count_add(&xpfo_waits, 1);
	xpfo_ask_pool(pool);
	/* Others may be faster to get what this brings. */
	while (!page && tries-- && !refill(pool, gfp, true)) {
		page = pool_take(pool, 0);
		if (page)
			prepare_page(page, 0, gfp);
	}
	/* The policy may have changed meanwhile. */
	if (READ_ONCE(pool->pages) > READ_ONCE(pool->keep))
		pool_call_worker(pool);

	return page;
}

/* Move the last of a list. Returns how many pages that is. */
static unsigned long collect_one(struct list_head *from, struct list_head *to)
{
	struct page *page = list_last_entry(from, struct page, lru);

	list_move(&page->lru, to);

	return 1UL << page_private(page);
}

/* Up to CHUNK pages that are too much, the oldest first. Returns how many. */
static unsigned long collect(struct xpfo_pool *pool, unsigned long keep,
			     struct list_head *pages)
{
	unsigned long irqflags;
	unsigned long count = 0;
	unsigned long n;
	int i;

	spin_lock_irqsave(&pool->lock, irqflags);
	while (count < CHUNK && !list_empty(&pool->back))
		count += collect_one(&pool->back, pages);
	for (i = 0; i < XPFO_POOL_ORDERS; i++) {
		while (count < CHUNK && pool->pages > keep &&
		       !list_empty(&pool->free[i])) {
			n = collect_one(&pool->free[i], pages);
			pool->pages -= n;
			count += n;
		}
	}
	spin_unlock_irqrestore(&pool->lock, irqflags);

	return count;
}

static int by_pfn(void *priv, const struct list_head *a,
		  const struct list_head *b)
{
	return page_to_pfn(list_entry(a, struct page, lru)) >
	       page_to_pfn(list_entry(b, struct page, lru));
}

/* The page after the last of those that follow the first of a list. */
static unsigned long range_end(const struct list_head *pages)
{
	struct page *page = list_first_entry(pages, struct page, lru);
	unsigned long end = page_to_pfn(page);

	list_for_each_entry(page, pages, lru) {
		if (page_to_pfn(page) != end)
			break;
		end += 1UL << page_private(page);
	}

	return end;
}

/* Map pages again, range by range, and free them. */
static void give_back(struct list_head *pages)
{
	struct page *page;
	unsigned long end;
	unsigned long pfn;
	unsigned int order;

	list_sort(NULL, pages, by_pfn);
	while (!list_empty(pages)) {
		pfn = page_to_pfn(list_first_entry(pages, struct page, lru));
		end = range_end(pages);
		memsec_directmap_give_back(MEMSEC_DIRECTMAP_XPFO, pfn, end - pfn);
		memsec_count_add(&xpfo_returned, end - pfn);
		trace_memsec_xpfo_return(pfn, end - pfn);
		for (; pfn < end; pfn += 1UL << order) {
			page = list_first_entry(pages, struct page, lru);
			order = page_private(page);
			list_del(&page->lru);
			xpfo_unmark(page, 1 << order);
			free_prepared(page, order);
		}
	}
}

/* Returns how many pages went. */
static unsigned long trim(struct xpfo_pool *pool, unsigned long keep)
{
	unsigned long count, sum = 0;
	LIST_HEAD(pages);

	while ((count = collect(pool, keep, &pages))) {
		give_back(&pages);
		sum += count;
		cond_resched();
	}

	return sum;
}

/* Have a pool as the policy wants it. */
static void pool_work_fn(struct work_struct *work)
{
	struct xpfo_pool *pool = container_of(work, struct xpfo_pool, work);
	bool wanted = READ_ONCE(pool->wanted);

	xpfo_ask_pool(pool);
	trim(pool, READ_ONCE(pool->keep));
	while (wanted && runs_low(pool)) {
		if (refill(pool, GFP_HIGHUSER_MOVABLE, false))
			break;
	}
}

/* Call @fn for each pool. */
static void all_pools(void (*fn)(struct xpfo_pool *pool))
{
	int i;

	for_each_possible_cpu(i)
		fn(per_cpu_ptr(&cpu_pools, i));
	for (i = 0; node_pools && i < nr_node_ids; i++)
		fn(&node_pools[i]);
}

/**
 * xpfo_pools_policy_changed() - What pools hold may be too much
 *
 * Context: Any.
 */
void xpfo_pools_policy_changed(void)
{
	all_pools(pool_call_worker);
}

/**
 * xpfo_pools_held() - What pools hold
 *
 * Context: Any.
 * Return: pages in all pools.
 */
u64 xpfo_pools_held(void)
{
	u64 pages = 0;
	int i;

	for_each_possible_cpu(i)
		pages += READ_ONCE(per_cpu(cpu_pools, i).pages);
	for (i = 0; node_pools && i < nr_node_ids; i++)
		pages += READ_ONCE(node_pools[i].pages);

	return pages;
}

static void drain(struct xpfo_pool *pool)
{
	flush_work(&pool->work);
	trim(pool, 0);
}

/**
 * xpfo_pools_drain() - Give back all that pools hold
 *
 * Context: Process context, may sleep.
 */
void xpfo_pools_drain(void)
{
	all_pools(drain);
}

static unsigned long shrink_count(struct shrinker *shrinker,
				  struct shrink_control *sc)
{
	return xpfo_pools_held() ?: SHRINK_EMPTY;
}

static unsigned long shrink_scan(struct shrinker *shrinker,
				 struct shrink_control *sc)
{
	unsigned long pages = 0;
	int i;

	for_each_possible_cpu(i) {
		pages += trim(per_cpu_ptr(&cpu_pools, i), 0);
		if (pages >= sc->nr_to_scan)
			return pages;
	}
	for (i = 0; i < nr_node_ids; i++)
		pages += trim(&node_pools[i], 0);

	return pages ?: SHRINK_STOP;
}

static int cpu_dead(unsigned int cpu)
{
	trim(per_cpu_ptr(&cpu_pools, cpu), 0);

	return 0;
}

/* What is in a pool cannot be moved; what is freed from now on goes back at once. */
static int memory_event(struct notifier_block *nb, unsigned long event,
			void *data)
{
	if (event == MEM_GOING_OFFLINE)
		xpfo_pools_drain();

	return NOTIFY_OK;
}

static void __init pool_init(struct xpfo_pool *pool, int nid, int cpu)
{
	int i;

	spin_lock_init(&pool->lock);
	for (i = 0; i < XPFO_POOL_ORDERS; i++)
		INIT_LIST_HEAD(&pool->free[i]);
	INIT_LIST_HEAD(&pool->back);
	INIT_WORK(&pool->work, pool_work_fn);
	pool->batch = 1;
	pool->nid = nid;
	pool->cpu = cpu;
}

static int __init pools_start(void)
{
	struct shrinker *shrinker;
	int ret;

	shrinker = shrinker_alloc(0, "memsec-xpfo");
	if (!shrinker)
		return -ENOMEM;

	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "memsec:xpfo",
					NULL, cpu_dead);
	if (ret < 0) {
		shrinker_free(shrinker);
		return ret;
	}

	shrinker->count_objects = shrink_count;
	shrinker->scan_objects = shrink_scan;
	shrinker_register(shrinker);
	hotplug_memory_notifier(memory_event, DEFAULT_CALLBACK_PRI);

	return 0;
}

/**
 * xpfo_pools_init() - Make pools, with nothing in them
 *
 * Context: Process context, may sleep.
 * Return: 0 or a negative errno.
 */
int __init xpfo_pools_init(void)
{
	int i;

	node_pools = kcalloc(nr_node_ids, sizeof(*node_pools), GFP_KERNEL);
	if (!node_pools)
		return -ENOMEM;

	for_each_possible_cpu(i)
		pool_init(per_cpu_ptr(&cpu_pools, i), cpu_to_mem(i), i);
	for (i = 0; i < nr_node_ids; i++)
		pool_init(&node_pools[i], i, -1);

	return pools_start();
}
