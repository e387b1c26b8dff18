/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec: memory under a KeyID of one's own.
 *
 * Memory that is encrypted with a key is reached through mappings that carry
 * the KeyID of that key. Caches hold lines by address and KeyID, and nothing
 * keeps the lines of two KeyIDs of one page coherent: whoever reaches a page by
 * another KeyID than before has to flush its lines first.
 */
#ifndef _LINUX_MEMSEC_KEYID_H
#define _LINUX_MEMSEC_KEYID_H

#include <linux/gfp_types.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/memsec_ops.h>
#include <linux/types.h>

struct memsec_keyid;
struct mutex;
struct page;
struct page_ext_operations;
struct vm_area_struct;

/*
 * For alloc_pages(): whoever allocates prepares the pages for a KeyID, so they
 * come with what the last owner's KeyID may have left in caches. It is the bit
 * that gfp_types.h has no use for.
 */
#define __GFP_KEYID	((__force gfp_t)BIT(___GFP_UNUSED_BIT))

/**
 * struct memsec_keyid_pool - KeyIDs or ASIDs that are recycled together
 * @kind: what they are
 * @count: fill in total, free, dirty and retiring; called in process context
 * @recycle: flush all caches and free what was dirty before; called in process
 *	context, may sleep; returns how many, or a negative errno
 * @lock: held around both of them, NULL for none
 * @along: the pool of which all that is dirty is recycled too, NULL for none
 * @list: in the list of pools
 * @idle_ns: when one was last taken or given up
 * @dirty_ns: since when there has been a dirty one, 0 when there is none
 * @last_ns: what the last recycling took, in ns
 * @next_ns: when to ask the policy again
 * @retry_ns: not to ask before, because recycling failed
 * @changed: to ask before that, because one was taken, given up or got dirty
 * @seq: the policy, or its numbers, that was asked last
 *
 * The owner sets what comes before @list; the others belong to memsec.
 */
struct memsec_keyid_pool {
	enum memsec_keyid_kind kind;
	void (*count)(struct memsec_keyid_pool *pool,
		      struct memsec_keyid_recycle_ctx *ctx);
	int (*recycle)(struct memsec_keyid_pool *pool);
	struct mutex *lock; /* of what they look at */
	struct memsec_keyid_pool *along;
	struct list_head list;
	u64 idle_ns;
	u64 dirty_ns;
	u64 last_ns;
	u64 next_ns;
	u64 retry_ns;
	bool changed;
	unsigned int seq;
};

#ifdef CONFIG_MEMSEC_KEYID

DECLARE_STATIC_KEY_FALSE(memsec_keyid_key);

extern struct page_ext_operations memsec_keyid_page_ext_ops;

void memsec_keyid_allocated(struct page *page, unsigned int order, gfp_t gfp);
void memsec_keyid_freed(struct page *page, unsigned int order);

void memsec_keyid_pool_register(struct memsec_keyid_pool *pool);
void memsec_keyid_pool_unregister(struct memsec_keyid_pool *pool);
void memsec_keyid_pool_changed(struct memsec_keyid_pool *pool);
int memsec_keyid_pool_recycle(struct memsec_keyid_pool *pool);

struct memsec_keyid *memsec_keyid_take(bool wait);
void memsec_keyid_retire(struct memsec_keyid *keyid);
struct page *memsec_keyid_alloc_pages(struct memsec_keyid *keyid, gfp_t gfp,
				      unsigned int order);
void memsec_keyid_free_pages(struct memsec_keyid *keyid, struct page *page,
			     unsigned int order);

/**
 * memsec_keyid_alloc_hook() - Pages leave the page allocator
 * @page: the first of them
 * @order: how many, log2
 * @gfp: how they were asked for
 *
 * Whatever KeyID they carried, the new owner can reach them by KeyID 0.
 *
 * Context: Any.
 */
static __always_inline void memsec_keyid_alloc_hook(struct page *page,
						    unsigned int order,
						    gfp_t gfp)
{
	if (static_branch_unlikely(&memsec_keyid_key))
		memsec_keyid_allocated(page, order, gfp);
}

/**
 * memsec_keyid_free_hook() - Pages come back to the page allocator
 * @page: the first of them
 * @order: how many, log2
 *
 * Context: Any.
 */
static __always_inline void memsec_keyid_free_hook(struct page *page,
						   unsigned int order)
{
	if (static_branch_unlikely(&memsec_keyid_key))
		memsec_keyid_freed(page, order);
}

#else

static inline void memsec_keyid_alloc_hook(struct page *page,
					   unsigned int order, gfp_t gfp)
{
}

static inline void memsec_keyid_free_hook(struct page *page,
					  unsigned int order)
{
}

static inline void memsec_keyid_pool_register(struct memsec_keyid_pool *pool)
{
}

static inline void memsec_keyid_pool_unregister(struct memsec_keyid_pool *pool)
{
}

static inline void memsec_keyid_pool_changed(struct memsec_keyid_pool *pool)
{
}

static inline int memsec_keyid_pool_recycle(struct memsec_keyid_pool *pool)
{
	return pool->recycle(pool);
}

#endif /* CONFIG_MEMSEC_KEYID */

#endif /* _LINUX_MEMSEC_KEYID_H */
