/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec: decisions of confidential-memory code, made by a policy.
 *
 * The in-kernel API for code that asks. See include/linux/memsec_ops.h for
 * what a policy is asked.
 */
#ifndef _LINUX_MEMSEC_H
#define _LINUX_MEMSEC_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include <linux/memsec_ops.h>

struct directmap_account;
struct inode;
struct kobject;

/**
 * struct memsec_pool - where torn-down pages go back to
 * @free: free pages, kept by the pool's owner
 * @total: all pages; constant after boot
 */
struct memsec_pool {
	const atomic_long_t *free;
	unsigned long total;
};

/**
 * struct memsec_teardown - one teardown in progress, on its caller's stack
 * @left: pages of the current chunk still to do
 * @chunk: pages of the current chunk
 * @done: pages done, without those of the current chunk
 * @batch: pages between two breaks with no policy
 * @total: the most pages there can be to do
 * @cgroup_id: cgroup v2 id of the owner
 * @pool: where the pages go
 * @kind: what is torn down
 * @questions: how often a policy was asked
 *
 * The members below are valid once @questions is not zero.
 *
 * @policed: the current batch is a policy's
 * @out_of_time: the next break comes before the budget is used up
 * @breaks: lock breaks since the first question
 * @budget: pages the policy allowed beyond the current chunk
 * @counted: pages already in the counters
 * @begin_ns: when the first question was asked
 * @lock_ns: when the caller may have taken its lock
 * @cpu_ns: when this CPU was last offered to others
 * @chunk_ns: when the current chunk began
 * @now_ns: the clock when it was last read
 * @busy_ns: time spent on the pages done since the first question
 * @busy_pages: pages done in @busy_ns
 * @worst_ns: what a page costs at worst, seen recently
 * @longest_ns: longest hold so far
 */
struct memsec_teardown {
	u64 left;
	u64 chunk;
	u64 done;
	u64 batch;
	u64 total;
	u64 cgroup_id;
	const struct memsec_pool *pool;
	enum memsec_teardown_kind kind;
	u32 questions;
	bool policed;
	bool out_of_time;
	u64 breaks;
	u64 budget;
	u64 counted;
	u64 begin_ns;
	u64 lock_ns;
	u64 cpu_ns;
	u64 chunk_ns;
	u64 now_ns;
	u64 busy_ns;
	u64 busy_pages;
	u64 worst_ns;
	u64 longest_ns;
};

/**
 * struct memsec_directmap_owner - whose pages leave the direct map
 * @cgroup_id: cgroup v2 id of the owner
 * @total: pages that it can have, 0 when that is not known
 * @done: pages that it took so far
 * @ahead: pages that were split ahead for it and that it has not come to
 * @id: tells it from others, of before too
 * @block: the 2 MiB in which its last page was
 * @sequence: how often it went on to the next 2 MiB in the same direction
 * @direction: 1 for up, -1 for down, 0 for none
 * @account: where its pages are counted
 * @inode: of the file that it is, NULL when it is none
 * @list: in the list of files
 *
 * Embedded in a file or a guest. @block, @sequence and @direction are a guess of
 * what comes next: threads that race for them make it a worse guess and nothing
 * else.
 */
struct memsec_directmap_owner {
	u64 cgroup_id;
	u64 total;
	atomic_long_t done;
	atomic_long_t ahead;
	u64 id;
	unsigned long block;
	unsigned long sequence;
	int direction;
	struct directmap_account *account;
	struct inode *inode;
	struct list_head list;
};

#ifdef CONFIG_MEMSEC

DECLARE_STATIC_KEY_FALSE(memsec_key);

/* /sys/kernel/memsec, for directories below it; NULL when it was not made. */
extern struct kobject *memsec_kobj;

/**
 * memsec_attached() - Is a policy attached?
 *
 * A static branch. The answer can be out of date at once: it chooses between
 * the built-in path and asking, which copes with a policy that just left.
 *
 * Context: Any.
 * Return: true when decisions have to ask.
 */
static __always_inline bool memsec_attached(void)
{
	return static_branch_unlikely(&memsec_key);
}

u64 memsec_owner_cgroup(void);

#else

static __always_inline bool memsec_attached(void)
{
	return false;
}

static inline u64 memsec_owner_cgroup(void)
{
	return 0;
}

#endif /* CONFIG_MEMSEC */

void memsec_teardown_ask_first(struct memsec_teardown *td);
bool memsec_teardown_chunk_end(struct memsec_teardown *td);
void memsec_teardown_ask_next(struct memsec_teardown *td);
void memsec_teardown_erase(struct memsec_teardown *td, struct xarray *xa);
void memsec_teardown_account(struct memsec_teardown *td);

/**
 * memsec_teardown_default() - Pages between two breaks with no policy
 * @kind: what is torn down
 *
 * Return: what Linux does, in pages.
 */
static __always_inline u64 memsec_teardown_default(enum memsec_teardown_kind kind)
{
	switch (kind) {
	case MEMSEC_TEARDOWN_SGX_ENCL:
		return XA_CHECK_SCHED;
	default:
		return 1;
	}
}

/**
 * memsec_teardown_begin() - Begin to tear down the pages of an object
 * @td: the teardown, on the caller's stack
 * @kind: what is torn down
 * @total: the most pages there can be to do
 * @pool: where the pages go back to
 * @cgroup_id: cgroup v2 id of the task that created the object
 *
 * The loop over the pages looks like this, with or without a lock:
 *
 *	memsec_teardown_begin(&td, ...);
 *	lock();
 *	for each page {
 *		free the page;
 *		if (memsec_teardown_step(&td)) {
 *			unlock();
 *			memsec_teardown_break(&td);
 *			lock();
 *		}
 *	}
 *	unlock();
 *	memsec_teardown_array(&td, ...);	if the pages are in an XArray
 *	memsec_teardown_end(&td);
 *
 * The locking rule: memsec never touches the caller's lock. Begin, break and
 * end are called without it, because a policy runs in them and a break sleeps;
 * step is called with it. Whoever drops the lock in the middle of the object
 * also knows what to save first (xas_pause()), and sparse can check the pairs.
 *
 * Context: Process context, no spinlock held.
 */
static inline void memsec_teardown_begin(struct memsec_teardown *td,
					 enum memsec_teardown_kind kind,
					 u64 total,
					 const struct memsec_pool *pool,
					 u64 cgroup_id)
{
	td->batch = memsec_teardown_default(kind);
	td->left = td->batch;
	td->chunk = td->batch;
	td->done = 0;
	td->total = total;
	td->cgroup_id = cgroup_id;
	td->pool = pool;
	td->kind = kind;
	td->questions = 0;
	td->policed = false;
	td->out_of_time = false;

	if (memsec_attached())
		memsec_teardown_ask_first(td);
}

/**
 * memsec_teardown_step() - One page was torn down
 * @td: the teardown
 *
 * Context: Any, usually under the caller's lock. Does not sleep.
 * Return: true when the caller has to drop its lock and call
 *	memsec_teardown_break().
 */
static __always_inline bool memsec_teardown_step(struct memsec_teardown *td)
{
	if (likely(--td->left))
		return false;

	return !memsec_attached() || memsec_teardown_chunk_end(td);
}

/**
 * memsec_teardown_break() - Let others run between two batches
 * @td: the teardown
 *
 * Asks the policy and gives up the CPU if somebody else needs it. On a fully
 * preemptible kernel cond_resched() does nothing: there the caller's unlock
 * before this is what lets others run.
 *
 * Context: Process context, no spinlock held. May sleep.
 */
static inline void memsec_teardown_break(struct memsec_teardown *td)
{
	if (memsec_attached()) {
		memsec_teardown_ask_next(td);
		return;
	}

	td->done += td->chunk;
	td->policed = false;
	td->chunk = td->batch;
	td->left = td->batch;
	cond_resched();
}

/**
 * memsec_teardown_array() - Destroy the array of the pages
 * @td: the teardown, with the array's lock dropped for good
 * @xa: the array; what its entries point to is no longer used
 *
 * xa_destroy() keeps the lock until the last node is freed, which takes about
 * 1 us for 64 pages. Here the limits of a teardown hold for that too.
 *
 * Context: Process context, no spinlock held. May sleep.
 */
static inline void memsec_teardown_array(struct memsec_teardown *td,
					 struct xarray *xa)
{
	if (IS_ENABLED(CONFIG_MEMSEC) && td->questions)
		memsec_teardown_erase(td, xa);
	else
		xa_destroy(xa);
}

/**
 * memsec_teardown_end() - The last page was torn down
 * @td: the teardown
 *
 * Context: Process context, no spinlock held.
 */
static inline void memsec_teardown_end(struct memsec_teardown *td)
{
	if (IS_ENABLED(CONFIG_MEMSEC) && td->questions)
		memsec_teardown_account(td);
}

#ifdef CONFIG_MEMSEC_DIRECTMAP

/*
 * What the direct map's own code lends to memsec: the lock that serializes
 * changes of the kernel's page tables, and how much is mapped by entries of a
 * size.
 */
extern spinlock_t cpa_lock;
unsigned long direct_map_bytes(int level);

int memsec_directmap_owner_init(struct memsec_directmap_owner *owner,
				enum memsec_directmap_kind kind,
				struct inode *inode);
void memsec_directmap_owner_exit(struct memsec_directmap_owner *owner);
int memsec_directmap_take(struct memsec_directmap_owner *owner,
			  enum memsec_directmap_kind kind, unsigned long pfn,
			  unsigned long pages);
void memsec_directmap_give_back(enum memsec_directmap_kind kind,
				unsigned long pfn, unsigned long pages);
int memsec_directmap_split(unsigned long pfn, unsigned long pages);

#else

#include <linux/mm.h>
#include <linux/set_memory.h>
#include <asm/tlbflush.h>

static inline int
memsec_directmap_owner_init(struct memsec_directmap_owner *owner,
			    enum memsec_directmap_kind kind,
			    struct inode *inode)
{
	return 0;
}

static inline void
memsec_directmap_owner_exit(struct memsec_directmap_owner *owner)
{
}

static inline int memsec_directmap_take(struct memsec_directmap_owner *owner,
					enum memsec_directmap_kind kind,
					unsigned long pfn, unsigned long pages)
{
	struct page *page = pfn_to_page(pfn);
	unsigned long address = (unsigned long)page_address(page);
	int ret;

	VM_WARN_ON_ONCE(pages != 1);

	ret = set_direct_map_invalid_noflush(page);
	if (!ret)
		flush_tlb_kernel_range(address, address + PAGE_SIZE);

	return ret;
}

static inline void memsec_directmap_give_back(enum memsec_directmap_kind kind,
					      unsigned long pfn,
					      unsigned long pages)
{
	VM_WARN_ON_ONCE(pages != 1);

	set_direct_map_default_noflush(pfn_to_page(pfn));
}

static inline int memsec_directmap_split(unsigned long pfn,
					 unsigned long pages)
{
	return 0;
}

#endif /* CONFIG_MEMSEC_DIRECTMAP */

#endif /* _LINUX_MEMSEC_H */
