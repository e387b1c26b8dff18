/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec: what the questions about memory of users, xpfo.c, the pools,
 * xpfo_pool.c, and the windows, xpfo_window.c, have in common.
 */
#ifndef _MM_MEMSEC_XPFO_H
#define _MM_MEMSEC_XPFO_H

#include <linux/huge_mm.h>
#include <linux/list.h>
#include <linux/memsec_xpfo.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "internal.h"

/* A folio of less than this costs too much of a TLB flush of its own. */
#define XPFO_MIN_ORDER	6

/* Orders of which a pool gives pages: 0 and that of huge pages. */
#define XPFO_POOL_ORDERS	2

/**
 * struct xpfo_pool - pages outside the direct map that nobody has
 * @lock: protects the lists and @pages; taken in any context
 * @free: pages to give, cleared, by the index of their order
 * @back: pages to give back
 * @pages: how many there are in @free
 * @batch: pages to take out of the direct map at a time
 * @keep: how many to hold
 * @asked_ns: when the policy was asked, 0 when it never was
 * @wanted: single pages that somebody wanted since, whether there were any or not
 * @freed: pages that came back since
 * @waits: how often somebody waited for a refill since
 * @nid: NUMA node of the pages
 * @cpu: whose pool it is, -1 for all others on the node
 * @work: refills ahead, and gives back
 *
 * What is counted since the policy was asked is a guess: those who race count
 * for each other.
 */
struct xpfo_pool {
	spinlock_t lock; /* of the lists and @pages */
	struct list_head free[XPFO_POOL_ORDERS];
	struct list_head back;
	unsigned long pages;
	unsigned int batch;
	unsigned long keep;
	u64 asked_ns;
	unsigned long wanted;
	unsigned long freed;
	unsigned long waits;
	int nid;
	int cpu;
	struct work_struct work;
};

/* xpfo.c */
extern struct memsec_counter xpfo_allocated;
extern struct memsec_counter xpfo_freed;
extern struct memsec_counter xpfo_taken;
extern struct memsec_counter xpfo_returned;
extern struct memsec_counter xpfo_tlb_flushes;
extern struct memsec_counter xpfo_refills;
extern struct memsec_counter xpfo_waits;
extern struct memsec_counter xpfo_windows;
extern struct memsec_counter xpfo_kmaps;

void xpfo_ask_pool(struct xpfo_pool *pool);
int xpfo_take(struct page *page, unsigned int pages);
void xpfo_unmark(struct page *page, unsigned int pages);
u64 xpfo_protected(void);

/* xpfo_pool.c */
struct page *xpfo_pool_alloc(int nid, gfp_t gfp, unsigned int order);
struct page *xpfo_pool_refill(int nid, gfp_t gfp);
void xpfo_pools_policy_changed(void);
u64 xpfo_pools_held(void);
void xpfo_pools_drain(void);
int xpfo_pools_init(void);

#endif /* _MM_MEMSEC_XPFO_H */
