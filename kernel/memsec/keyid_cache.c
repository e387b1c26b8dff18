// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: memory of a KeyID, and pages that are kept for it.
 *
 * A page that goes back to the page allocator is found by anybody, and flushed
 * when that is somebody else. What a CPU keeps for the KeyID comes back as it
 * was: no flush, no lock that is shared. How much it keeps and how hard it
 * looks for pages that carry the KeyID is asked once in MEMSEC_KEYID_BATCH
 * requests.
 *
 * Kept pages are in use: they are counted, and charged to whom they were
 * allocated for. They go back when the KeyID retires, when memory is short and
 * when their CPU goes.
 */
#include <linux/cpuhotplug.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/shrinker.h>
#include <linux/workqueue.h>

#include "keyid.h"

static int order_index(unsigned int order)
{
	if (!order)
		return 0;

	return order == PMD_SHIFT - PAGE_SHIFT ? 1 : -1;
}

static unsigned int index_order(int i)
{
	return i ? PMD_SHIFT - PAGE_SHIFT : 0;
}

/* Those who race for the last of a batch may count below 0. */
static bool batch_is_over(const struct keyid_cpu *c)
{
	return READ_ONCE(c->left) - 1 >= MEMSEC_KEYID_BATCH ||
	       c->seq != keyid_policy_seq();
}

/* This CPU's part. That the task goes to another one meanwhile does no harm. */
static struct keyid_cpu *this_cpu_of(struct memsec_keyid *keyid)
{
	struct keyid_cpu *c = raw_cpu_ptr(keyid->cpus);

	if (!memsec_attached()) {
		if (unlikely(c->answer))
			keyid_forget_answer(keyid, c);
	} else if (batch_is_over(c)) {
		keyid_ask(keyid, c);
		c->left = MEMSEC_KEYID_BATCH;
	} else {
		c->left--;
	}

	return c;
}

static struct page *kept_page(struct keyid_cpu *c, unsigned int order)
{
	int i = order_index(order);
	struct page *page;

	if (i < 0 || !READ_ONCE(c->cached))
		return NULL;

	spin_lock(&c->lock);
	page = list_first_entry_or_null(&c->free[i], struct page, lru);
	if (page) {
		list_del(&page->lru);
		c->cached -= 1 << order;
	}
	spin_unlock(&c->lock);

	return page;
}

static bool keep_page(struct keyid_cpu *c, struct page *page, unsigned int order)
{
	unsigned long max = keyid_max_cached(c);
	int i = order_index(order);

	if (i < 0 || READ_ONCE(c->cached) + (1 << order) > max)
		return false;
	/* Somebody else has it, or nobody should get it again, or it is far. */
	if (page_count(page) != 1 || PageHWPoison(page) ||
	    page_to_nid(page) != numa_mem_id())
		return false;

	spin_lock(&c->lock);
	list_add(&page->lru, &c->free[i]);
	c->cached += 1 << order;
	spin_unlock(&c->lock);

	return true;
}

/* Give back what is kept beyond @max pages. Returns how many pages those were. */
static unsigned long trim(struct keyid_cpu *c, unsigned long max)
{
	unsigned long pages = 0;
	struct page *page;
	int i;

	for (i = KEYID_ORDERS - 1; i >= 0; i--) {
		while (READ_ONCE(c->cached) > max &&
		       (page = kept_page(c, index_order(i)))) {
			__free_pages(page, index_order(i));
			pages += 1 << index_order(i);
		}
	}

	return pages;
}

/* What a CPU keeps goes by what the policy says now, also where nobody asks. */
static void trim_by_policy(struct memsec_keyid *keyid)
{
	struct keyid_cpu *c;
	int cpu;

	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(keyid->cpus, cpu);
		if (!READ_ONCE(c->cached))
			continue;

		if (memsec_attached())
			keyid_ask(keyid, c);
		else
			keyid_forget_answer(keyid, c);
		trim(c, keyid_max_cached(c));
	}
}

static void trim_work_fn(struct work_struct *work)
{
	struct memsec_keyid *keyid;
	unsigned int id;

	for (id = 1; (keyid = keyid_of(id)); id++)
		trim_by_policy(keyid);
}

struct work_struct keyid_trim_work = __WORK_INITIALIZER(keyid_trim_work,
							trim_work_fn);

/**
 * keyid_cache_policy_changed() - What is kept may be too much
 *
 * Context: Any.
 */
void keyid_cache_policy_changed(void)
{
	schedule_work(&keyid_trim_work);
}

/**
 * keyid_cache_drain() - Give all pages back that are kept for a KeyID
 * @keyid: the KeyID
 *
 * Context: Process context.
 */
void keyid_cache_drain(struct memsec_keyid *keyid)
{
	int cpu;

	for_each_possible_cpu(cpu)
		trim(per_cpu_ptr(keyid->cpus, cpu), 0);
}

/*
 * Look at some free pages for one that needs no flush; the first has to do when
 * there is none.
 */
static struct page *search(struct memsec_keyid *keyid, gfp_t gfp,
			   unsigned int order, unsigned int depth)
{
	struct page *page = alloc_pages(gfp, order);
	struct page *next, *found = page;
	LIST_HEAD(seen);

	/* Reclaim no memory for a mere look. */
	gfp = (gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_NOWARN;
	while (page && depth-- && !keyid_page_carries(keyid, page)) {
		list_add(&page->lru, &seen);
		page = alloc_pages(gfp, order);
		memsec_count_add(&keyid_searched, 1);
	}
	if (page && page != found) {
		memsec_count_add(&keyid_search_hits, 1);
		found = page;
	}

	list_for_each_entry_safe(page, next, &seen, lru) {
		list_del(&page->lru);
		if (page != found)
			__free_pages(page, order);
	}

	return found;
}

static void clear_pages(struct memsec_keyid *keyid, struct page *page,
			unsigned int order)
{
	unsigned int i;

	for (i = 0; i < 1 << order; i++)
		keyid_backend->clear(page_to_pfn(page) + i, keyid->id);
}

/**
 * memsec_keyid_alloc_pages() - Allocate memory that a KeyID is used for
 * @keyid: the KeyID, which the caller has taken
 * @gfp: as for alloc_pages()
 * @order: how many pages, log2
 *
 * The pages can be reached by mappings with the KeyID, and by no other: what
 * the direct map shows of them is not what they hold. They are unmovable.
 *
 * Context: As @gfp says.
 * Return: the first page; NULL when there is no memory.
 */
struct page *memsec_keyid_alloc_pages(struct memsec_keyid *keyid, gfp_t gfp,
				      unsigned int order)
{
	struct keyid_cpu *c = this_cpu_of(keyid);
	struct page *page = kept_page(c, order);
	gfp_t plain = (gfp & ~(__GFP_ZERO | __GFP_MOVABLE)) | __GFP_KEYID;

	if (order)
		plain |= __GFP_COMP;
	if (page) {
		memsec_count_add(&keyid_cache_hits, 1);
		memsec_count_add(&keyid_flushes_avoided, 1 << order);
	} else {
		page = search(keyid, plain, order, keyid_search_depth(c));
		if (!page)
			return NULL;
		keyid_page_prepare(keyid, page, order, plain);
	}

	if (gfp & __GFP_ZERO)
		clear_pages(keyid, page, order);
	memsec_count_add(&keyid_allocated, 1 << order);
	c->allocated += 1 << order;
	c->total += 1 << order;

	return page;
}

/**
 * memsec_keyid_free_pages() - Free memory that a KeyID was used for
 * @keyid: the KeyID
 * @page: what memsec_keyid_alloc_pages() returned; mapped nowhere
 * @order: what it was allocated with
 *
 * Somebody else may still have a reference: then it is freed with the last one.
 *
 * Context: Process context. Does not sleep.
 */
void memsec_keyid_free_pages(struct memsec_keyid *keyid, struct page *page,
			     unsigned int order)
{
	struct keyid_cpu *c = this_cpu_of(keyid);

	c->freed += 1 << order;
	if (!keep_page(c, page, order))
		__free_pages(page, order);
	if (unlikely(READ_ONCE(c->cached) > keyid_max_cached(c)))
		trim(c, keyid_max_cached(c));
}

static unsigned long shrink_count(struct shrinker *shrinker,
				  struct shrink_control *sc)
{
	struct memsec_keyid *keyid;
	unsigned long pages = 0;
	unsigned int id;

	for (id = 1; (keyid = keyid_of(id)); id++)
		pages += keyid_count_cached(keyid);

	return pages ?: SHRINK_EMPTY;
}

static unsigned long shrink_scan(struct shrinker *shrinker,
				 struct shrink_control *sc)
{
	struct memsec_keyid *keyid;
	unsigned long pages = 0;
	struct keyid_cpu *c;
	unsigned int id;
	int cpu;

	for (id = 1; (keyid = keyid_of(id)); id++) {
		for_each_possible_cpu(cpu) {
			c = per_cpu_ptr(keyid->cpus, cpu);
			pages += trim(c, 0);
			if (pages >= sc->nr_to_scan)
				return pages;
		}
	}

	return pages ?: SHRINK_STOP;
}

static int cpu_dead(unsigned int cpu)
{
	struct memsec_keyid *keyid;
	unsigned int id;

	for (id = 1; (keyid = keyid_of(id)); id++)
		trim(per_cpu_ptr(keyid->cpus, cpu), 0);

	return 0;
}

/**
 * keyid_cache_init() - A KeyID keeps no pages
 * @keyid: the KeyID, new
 *
 * Context: Any.
 */
void __init keyid_cache_init(struct memsec_keyid *keyid)
{
	struct keyid_cpu *c;
	int cpu;
	int i;

	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(keyid->cpus, cpu);
		spin_lock_init(&c->lock);
		for (i = 0; i < KEYID_ORDERS; i++)
			INIT_LIST_HEAD(&c->free[i]);
	}
}

/**
 * keyid_cache_start() - Have kept pages go when memory or a CPU does
 *
 * Context: Process context, may sleep.
 * Return: 0 or a negative errno.
 */
int __init keyid_cache_start(void)
{
	struct shrinker *shrinker;
	int ret;

	shrinker = shrinker_alloc(0, "memsec-keyid");
	if (!shrinker)
		return -ENOMEM;

	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "memsec:keyid",
					NULL, cpu_dead);
	if (ret < 0) {
		shrinker_free(shrinker);
		return ret;
	}

	shrinker->count_objects = shrink_count;
	shrinker->scan_objects = shrink_scan;
	shrinker_register(shrinker);

	return 0;
}
