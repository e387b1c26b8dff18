/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec: memory of users that is not in the direct map (XPFO).
 *
 * What the memory management asks and tells. memsec_xpfo_page() is in
 * linux/page-flags.h, and how to reach such pages in linux/memsec_window.h.
 */
#ifndef _LINUX_MEMSEC_XPFO_H
#define _LINUX_MEMSEC_XPFO_H

#include <linux/memsec.h>
#include <linux/page-flags.h>

struct cgroup;
struct folio;
struct mempolicy;
struct mm_struct;
struct page;

/* What comes back from swap may have been any of these. */
#define MEMSEC_XPFO_SWAP	(MEMSEC_XPFO_ANON | MEMSEC_XPFO_SHMEM)

#ifdef CONFIG_MEMSEC_XPFO

bool memsec_xpfo_asks(struct mm_struct *mm, u64 what);
struct folio *memsec_xpfo_alloc(gfp_t gfp, unsigned int order,
				struct mempolicy *pol, pgoff_t ilx);
bool memsec_xpfo_freed(struct page *page, unsigned int order);
int memsec_xpfo_take(struct folio *folio);
int memsec_xpfo_protect(struct folio *folio, struct cgroup *cgroup, u64 what);
int memsec_xpfo_protect_mm(struct folio *folio, struct mm_struct *mm, u64 what);
void memsec_xpfo_unprotected(struct mm_struct *mm, unsigned long pages);

/**
 * memsec_xpfo_wanted() - Is memory to be allocated outside the direct map?
 * @mm: whose it will be; NULL for the kernel's
 * @what: what for, MEMSEC_XPFO_ANON and its like
 * @gfp: how it is allocated; without __GFP_HIGHMEM the allocator cannot reach
 *	it in another way
 *
 * Context: Any.
 * Return: true when memsec_xpfo_alloc() has to be used.
 */
static __always_inline bool memsec_xpfo_wanted(struct mm_struct *mm, u64 what,
					       gfp_t gfp)
{
	return memsec_attached() && mm && (gfp & __GFP_HIGHMEM) &&
	       memsec_xpfo_asks(mm, what);
}

/**
 * memsec_xpfo_not_for() - Somebody gets memory that cannot leave the direct map
 * @mm: whose it is
 * @pages: how much
 *
 * Context: Any.
 */
static __always_inline void memsec_xpfo_not_for(struct mm_struct *mm,
						unsigned long pages)
{
	if (memsec_attached())
		memsec_xpfo_unprotected(mm, pages);
}

/**
 * memsec_xpfo_free_hook() - Pages are freed
 * @page: the first of them, with nothing left to do but to give it to whom
 *	wants one
 * @order: how many, log2
 *
 * Context: Any.
 * Return: true when they are memsec's now, not the page allocator's.
 */
static __always_inline bool memsec_xpfo_free_hook(struct page *page,
						  unsigned int order)
{
	return memsec_xpfo_page(page) && memsec_xpfo_freed(page, order);
}

/**
 * memsec_xpfo_follow() - A folio takes the place of another
 * @old: the one that holds the data
 * @new: the one that will, which nobody else can reach yet
 *
 * Context: Process context, may sleep.
 * Return: 0; or a negative errno when @old is protected and @new cannot be.
 */
static __always_inline int memsec_xpfo_follow(struct folio *old,
					      struct folio *new)
{
	if (!memsec_xpfo_page(&old->page) || memsec_xpfo_page(&new->page))
		return 0;

	return memsec_xpfo_take(new);
}

#else

static inline bool memsec_xpfo_wanted(struct mm_struct *mm, u64 what, gfp_t gfp)
{
	return false;
}

static inline struct folio *memsec_xpfo_alloc(gfp_t gfp, unsigned int order,
					      struct mempolicy *pol,
					      pgoff_t ilx)
{
	return NULL;
}

static inline void memsec_xpfo_not_for(struct mm_struct *mm,
				       unsigned long pages)
{
}

static inline bool memsec_xpfo_free_hook(struct page *page, unsigned int order)
{
	return false;
}

static inline int memsec_xpfo_follow(struct folio *old, struct folio *new)
{
	return 0;
}

static inline int memsec_xpfo_protect(struct folio *folio,
				      struct cgroup *cgroup, u64 what)
{
	return 0;
}

static inline int memsec_xpfo_protect_mm(struct folio *folio,
					 struct mm_struct *mm, u64 what)
{
	return 0;
}

#endif /* CONFIG_MEMSEC_XPFO */

#endif /* _LINUX_MEMSEC_XPFO_H */
