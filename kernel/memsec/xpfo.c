// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: which memory of users is not in the direct map (XPFO).
 *
 * A policy names the cgroups. It is asked once for each, and the answer is kept
 * in the cgroup until the policy or its numbers change, so that an allocation
 * costs a branch and a load. From then on the pages of folios that are allocated
 * for the cgroup carry a flag, by which the rest of the kernel takes them for
 * highmem: see memsec_xpfo_page(). What was allocated before stays where it is.
 *
 * A folio is protected before it holds anything: when it is allocated, or when
 * it is made to take the place of one that is protected. When that fails, the
 * allocation fails; no memory is handed out that is less protected than asked.
 *
 * The flag and the direct map go together: a page is unmapped, all TLBs are
 * flushed, and then it gets the flag; it is mapped again before it loses it.
 */
#define pr_fmt(fmt) "memsec: " fmt

#include <kunit/static_stub.h>
#include <linux/cc_platform.h>
#include <linux/cgroup.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/cpuset.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/memcontrol.h>
#include <linux/mempolicy.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/suspend.h>
#include <linux/swap.h>
#include <mm/internal.h>

#include "directmap.h"
#include "events.h"
#include "xpfo.h"

struct static_key_false memsec_xpfo_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(memsec_xpfo_key);

MEMSEC_ASKED(xpfo);
MEMSEC_COUNTER(xpfo, clamped);
MEMSEC_COUNTER(xpfo, failed);
MEMSEC_COUNTER(xpfo, followed);
MEMSEC_COUNTER(xpfo, unprotected);
MEMSEC_COUNTER_SHARED(xpfo, allocated);
MEMSEC_COUNTER_SHARED(xpfo, freed);
MEMSEC_COUNTER_SHARED(xpfo, taken);
MEMSEC_COUNTER_SHARED(xpfo, returned);
MEMSEC_COUNTER_SHARED(xpfo, tlb_flushes);
MEMSEC_COUNTER_SHARED(xpfo, refills);
MEMSEC_COUNTER_SHARED(xpfo, waits);
MEMSEC_COUNTER_SHARED(xpfo, windows);
MEMSEC_COUNTER_SHARED(xpfo, kmaps);

MEMSEC_GAUGE(xpfo, protected_pages, xpfo_protected());
MEMSEC_GAUGE(xpfo, pool_pages, xpfo_pools_held());

static MEMSEC_LIMIT(max_batch, max_batch_pages, 1, MEMSEC_XPFO_MAX_BATCH,
		    MEMSEC_XPFO_MAX_BATCH);
static MEMSEC_LIMIT(max_pool, max_pool_pages, 0, MEMSEC_XPFO_MAX_POOL,
		    MEMSEC_XPFO_MAX_POOL);

static struct attribute *xpfo_attrs[] = {
	&xpfo_asked.attr.attr,
	&xpfo_clamped.attr.attr,
	&xpfo_failed.attr.attr,
	&xpfo_followed.attr.attr,
	&xpfo_unprotected.attr.attr,
	&xpfo_allocated.attr.attr,
	&xpfo_freed.attr.attr,
	&xpfo_taken.attr.attr,
	&xpfo_returned.attr.attr,
	&xpfo_tlb_flushes.attr.attr,
	&xpfo_refills.attr.attr,
	&xpfo_waits.attr.attr,
	&xpfo_windows.attr.attr,
	&xpfo_kmaps.attr.attr,
	&xpfo_protected_pages.attr,
	&xpfo_pool_pages.attr,
	&max_batch.attr.attr,
	&max_pool.attr.attr,
	NULL,
};

static void xpfo_policy_changed(void);

struct memsec_mechanism memsec_xpfo_mechanism = {
	.group = {
		.name = "xpfo",
		.attrs = xpfo_attrs,
	},
	.asked = &xpfo_asked,
	.clamped = &xpfo_clamped,
	.policy_changed = xpfo_policy_changed,
};

/* All that is protected counts for the kernel: pools have no other owner. */
static struct memsec_directmap_owner owner;

/* There are pools. */
static bool started __ro_after_init;

/* Of what the policy said last; 0 is of nothing. */
static atomic_long_t seq = ATOMIC_LONG_INIT(1);

/* What a cgroup keeps: the answer in the lowest bits, the number above them. */
#define ANSWER_BITS	3

/* A number that changes when what policies said is out of date. */
static unsigned long policy_seq(void)
{
	return atomic_long_read(&seq) & (ULONG_MAX >> ANSWER_BITS);
}

/**
 * xpfo_protected() - What is protected now
 *
 * Context: Any.
 * Return: pages that somebody has and that are not in the direct map.
 */
u64 xpfo_protected(void)
{
	u64 held = directmap_held(MEMSEC_DIRECTMAP_XPFO);
	u64 pool = xpfo_pools_held();

	return held > pool ? held - pool : 0;
}

static bool policy_asks(void)
{
	struct memsec_policy *policy;

	guard(rcu)();

	policy = memsec_policy_get();

	return policy && policy->ops->xpfo;
}

/*
 * The key is turned before any page can be protected, and stays: there are pages
 * for as long as somebody has them.
 */
static void xpfo_policy_changed(void)
{
	if (!started)
		return;
	if (policy_asks())
		static_branch_enable(&memsec_xpfo_key);
	atomic_long_inc(&seq);
	xpfo_pools_policy_changed();
}

static u64 ask_cgroup(struct cgroup *cgroup)
{
	struct memsec_xpfo_ctx ctx;
	struct memsec_policy *policy;
	u64 answer;

	policy = memsec_policy_get();
	if (!policy || !policy->ops->xpfo ||
	    !static_key_enabled(&memsec_xpfo_key))
		return 0;

	ctx = (struct memsec_xpfo_ctx) {
		.cgroup_id = cgroup_id(cgroup),
		.protected = xpfo_protected(),
		.total = totalram_pages(),
	};
	answer = policy->ops->xpfo(&ctx);

	return memsec_policy_clamp(policy, MEMSEC_ASK_XPFO, &ctx, answer,
				   !(answer & ~MEMSEC_XPFO_ALL), 0);
}

/* Under RCU. */
static u64 cgroup_answer(struct cgroup *cgroup)
{
	unsigned long now = policy_seq();
	unsigned long kept = READ_ONCE(cgroup->memsec_xpfo);
	u64 answer;

	if (likely(kept >> ANSWER_BITS == now))
		return kept & MEMSEC_XPFO_ALL;

	answer = ask_cgroup(cgroup);
	WRITE_ONCE(cgroup->memsec_xpfo, now << ANSWER_BITS | answer);

	return answer;
}

/**
 * memsec_xpfo_asks() - Is memory of an owner to be protected?
 * @mm: the owner's
 * @what: any of MEMSEC_XPFO_ANON and its like
 *
 * Context: Any.
 * Return: whether it is.
 */
bool memsec_xpfo_asks(struct mm_struct *mm, u64 what)
{
	struct task_struct *task;

	/* What the RMP protects it knows by where it is in the direct map. */
	if (what == MEMSEC_XPFO_GUEST && cc_platform_has(CC_ATTR_HOST_SEV_SNP))
		return false;

	guard(rcu)();

	task = rcu_dereference(mm->owner);

	return task && (cgroup_answer(task_dfl_cgroup(task)) & what);
}
EXPORT_SYMBOL_GPL(memsec_xpfo_asks);

static bool pool_answer_is_valid(u64 answer)
{
	u64 batch = lower_32_bits(answer);
	u64 keep = answer >> MEMSEC_XPFO_POOL_SHIFT;

	return batch && batch <= MEMSEC_XPFO_MAX_BATCH &&
	       keep <= MEMSEC_XPFO_MAX_POOL;
}

static u64 ask_pool(const struct xpfo_pool *pool, u64 now)
{
	struct memsec_xpfo_pool_ctx ctx;
	struct memsec_policy *policy;
	u64 answer;

	guard(rcu)();

	policy = memsec_policy_get();
	if (!policy || !policy->ops->xpfo_pool)
		return MEMSEC_XPFO_DEFAULT_BATCH;

	ctx = (struct memsec_xpfo_pool_ctx) {
		.nid = pool->nid,
		.cpu = pool->cpu,
		.pages = READ_ONCE(pool->pages),
		.wanted = READ_ONCE(pool->wanted),
		.freed = READ_ONCE(pool->freed),
		.waits = READ_ONCE(pool->waits),
		.elapsed_ns = pool->asked_ns ? now - pool->asked_ns : 0,
		.cpus = num_online_cpus(),
		.protected = xpfo_protected(),
		.free = nr_free_pages(),
		.total = totalram_pages(),
	};
	answer = policy->ops->xpfo_pool(&ctx);

	return memsec_policy_clamp(policy, MEMSEC_ASK_XPFO_POOL, &ctx, answer,
				   pool_answer_is_valid(answer),
				   MEMSEC_XPFO_DEFAULT_BATCH);
}

/**
 * xpfo_ask_pool() - Ask how a pool is to be kept
 * @pool: the pool
 *
 * Others may ask at the same time, and what they are told be out of date when
 * they get to write it down: whoever wrote last sees to it that it is not.
 *
 * Context: Process context.
 */
void xpfo_ask_pool(struct xpfo_pool *pool)
{
	unsigned long asked;
	u64 answer;
	u64 now;

	do {
		asked = policy_seq();
		now = memsec_clock_ns();
		answer = ask_pool(pool, now);
		WRITE_ONCE(pool->batch, min(lower_32_bits(answer),
					    memsec_limit(&max_batch)));
		WRITE_ONCE(pool->keep, min(answer >> MEMSEC_XPFO_POOL_SHIFT,
					   memsec_limit(&max_pool)));
		/* Before looking whether the policy has changed. */
		smp_mb();
	} while (asked != policy_seq());

	WRITE_ONCE(pool->wanted, 0);
	WRITE_ONCE(pool->freed, 0);
	WRITE_ONCE(pool->waits, 0);
	pool->asked_ns = now;
}

/**
 * xpfo_take() - Take pages out of the direct map
 * @page: the first of them, which nobody else can reach
 * @pages: how many
 *
 * Context: Process context, may sleep.
 * Return: 0 or a negative errno.
 */
int xpfo_take(struct page *page, unsigned int pages)
{
	unsigned int flags;
	unsigned int i;
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(xpfo_take, page, pages);

	/* All CPUs are waited for. */
	might_sleep();
	lockdep_assert_irqs_enabled();

	/* Whatever the caller may wait for, tables are not worth I/O. */
	flags = memalloc_noio_save();
	ret = memsec_directmap_take(&owner, MEMSEC_DIRECTMAP_XPFO,
				    page_to_pfn(page), pages);
	memalloc_noio_restore(flags);
	if (ret) {
		memsec_count_add(&xpfo_failed, 1);
		return ret;
	}

	for (i = 0; i < pages; i++)
		set_bit(PG_arch_3, &page[i].flags);
	memsec_count_add(&xpfo_taken, pages);
	memsec_count_add(&xpfo_tlb_flushes, 1);

	return 0;
}

/**
 * xpfo_unmark() - Pages are in the direct map again
 * @page: the first of them
 * @pages: how many
 *
 * Context: Any.
 */
void xpfo_unmark(struct page *page, unsigned int pages)
{
	unsigned int i;

	for (i = 0; i < pages; i++)
		clear_bit(PG_arch_3, &page[i].flags);
}

/**
 * memsec_xpfo_take() - Protect a folio
 * @folio: the folio, which nobody else can reach
 *
 * Context: Process context, may sleep.
 * Return: 0 or a negative errno.
 */
int memsec_xpfo_take(struct folio *folio)
{
	long pages = folio_nr_pages(folio);
	int ret = xpfo_take(&folio->page, pages);

	if (ret)
		return ret;

	memsec_count_add(&xpfo_followed, pages);
	memsec_count_add(&xpfo_allocated, pages);

	return 0;
}

/**
 * memsec_xpfo_protect() - Protect a folio when memory of its cgroup is
 * @folio: the folio, which nobody else can reach
 * @cgroup: whose it will be
 * @what: what it is for, MEMSEC_XPFO_ANON and its like
 *
 * Context: Process context, may sleep.
 * Return: 0; or a negative errno when it has to be protected and cannot be.
 */
int memsec_xpfo_protect(struct folio *folio, struct cgroup *cgroup, u64 what)
{
	bool wanted;

	if (!memsec_attached() || memsec_xpfo_page(&folio->page))
		return 0;

	scoped_guard(rcu)
		wanted = cgroup_answer(cgroup) & what;

	return wanted ? memsec_xpfo_take(folio) : 0;
}

/**
 * memsec_xpfo_protect_mm() - Protect a folio when memory of its owner is
 * @folio: the folio, which nobody else can reach
 * @mm: whose it will be
 * @what: what it is for, MEMSEC_XPFO_ANON and its like
 *
 * Context: Process context, may sleep.
 * Return: 0; or a negative errno when it has to be protected and cannot be.
 */
int memsec_xpfo_protect_mm(struct folio *folio, struct mm_struct *mm, u64 what)
{
	if (!memsec_attached() || memsec_xpfo_page(&folio->page) ||
	    !memsec_xpfo_asks(mm, what))
		return 0;

	return memsec_xpfo_take(folio);
}

/**
 * memsec_xpfo_unprotected() - Somebody gets memory that cannot be protected
 * @mm: whose it is
 * @pages: how much
 *
 * Context: Any.
 */
void memsec_xpfo_unprotected(struct mm_struct *mm, unsigned long pages)
{
	if (!memsec_xpfo_asks(mm, MEMSEC_XPFO_SWAP))
		return;

	memsec_count_add(&xpfo_unprotected, pages);
	trace_memsec_xpfo_unprotected(pages);
}

/* Is it here that memory is to be? What tasks have by default is "preferred". */
static bool is_local(const struct mempolicy *pol, int nid)
{
	return !pol || pol->mode == MPOL_LOCAL ||
	       (pol->mode == MPOL_PREFERRED && node_isset(nid, pol->nodes));
}

/* Where memory is allocated without further ado; NUMA_NO_NODE if it is not. */
static int local_node(const struct mempolicy *pol, gfp_t gfp)
{
	int nid = numa_mem_id();

	if (!is_local(pol, nid) || (gfp & __GFP_THISNODE) ||
	    !cpuset_zone_allowed(NODE_DATA(nid)->node_zones, gfp))
		return NUMA_NO_NODE;

	return nid;
}

/*
 * The page allocator says on which node, and a pool of that node gives the page,
 * if it has one.
 */
static struct folio *alloc_where_told(gfp_t gfp, unsigned int order,
				      struct mempolicy *pol, pgoff_t ilx)
{
	struct folio *folio;
	struct page *page;

	folio = pol ? folio_alloc_mpol_noprof(gfp, order, pol, ilx,
					      numa_node_id()) :
		      folio_alloc_noprof(gfp, order);
	if (!folio)
		return NULL;

	page = xpfo_pool_alloc(folio_nid(folio), gfp, order);
	if (page) {
		folio_put(folio);
		return page_rmappable_folio(page);
	}
	if (gfpflags_allow_blocking(gfp) &&
	    !xpfo_take(&folio->page, folio_nr_pages(folio)))
		return folio;

	folio_put(folio);

	return NULL;
}

static struct folio *alloc_local(gfp_t gfp, unsigned int order, int nid)
{
	struct page *page = xpfo_pool_alloc(nid, gfp, order);

	if (!page && !order && gfpflags_allow_blocking(gfp))
		page = xpfo_pool_refill(nid, gfp);

	return page ? page_rmappable_folio(page) : NULL;
}

/**
 * memsec_xpfo_alloc() - Allocate a folio that is protected
 * @gfp: as for folio_alloc_mpol()
 * @order: how many pages, log2
 * @pol: from which nodes, NULL for the near one
 * @ilx: index for interleaving
 *
 * Folios that are neither a page nor large enough to be worth a TLB flush are
 * not to be had: their owner then asks for single pages.
 *
 * Context: As @gfp says. Who cannot sleep gets what a pool has.
 * Return: the folio; NULL when there is no memory, or it cannot be protected.
 */
struct folio *memsec_xpfo_alloc(gfp_t gfp, unsigned int order,
				struct mempolicy *pol, pgoff_t ilx)
{
	struct folio *folio = NULL;
	int nid;

	if (order && order < XPFO_MIN_ORDER)
		return NULL;

	gfp |= __GFP_COMP;
	nid = local_node(pol, gfp);
	if (nid != NUMA_NO_NODE)
		folio = alloc_local(gfp, order, nid);
	if (!folio)
		folio = alloc_where_told(gfp, order, pol, ilx);
	if (folio)
		memsec_count_add(&xpfo_allocated, 1 << order);

	return folio;
}
EXPORT_SYMBOL_GPL(memsec_xpfo_alloc);

/* What is saved of memory would be in the clear, and cannot be read. */
static int sleep_event(struct notifier_block *nb, unsigned long event,
		       void *data)
{
	if ((event == PM_HIBERNATION_PREPARE || event == PM_RESTORE_PREPARE) &&
	    directmap_held(MEMSEC_DIRECTMAP_XPFO)) {
		pr_warn("no hibernation while memory of users is not in the direct map\n");
		return notifier_from_errno(-EBUSY);
	}

	return NOTIFY_OK;
}

static struct notifier_block sleep_notifier = {
	.notifier_call = sleep_event,
};

static int __init xpfo_init(void)
{
	int ret;

	ret = memsec_directmap_owner_init(&owner, MEMSEC_DIRECTMAP_XPFO, NULL);
	if (!ret)
		ret = xpfo_pools_init();
	if (ret) {
		pr_err("memory of users stays in the direct map: error %d\n", ret);
		return ret;
	}

	started = true;
	register_pm_notifier(&sleep_notifier);

	return 0;
}
subsys_initcall_sync(xpfo_init);
