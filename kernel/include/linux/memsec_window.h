/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec: how kmap() and its like reach memory that is not in the direct map.
 *
 * Included nearly everywhere, so it includes nearly nothing.
 */
#ifndef _LINUX_MEMSEC_WINDOW_H
#define _LINUX_MEMSEC_WINDOW_H

#include <linux/pgtable.h>
#include <linux/types.h>

struct page;

#ifdef CONFIG_MEMSEC_XPFO

#include <asm/fixmap.h>

void *memsec_xpfo_open(struct page *page, pgprot_t prot);
struct page *memsec_xpfo_to_page(const void *addr);
void *memsec_xpfo_kmap(struct page *page);
void memsec_xpfo_kunmap(struct page *page);
void kunmap_local_indexed(const void *vaddr);

/**
 * memsec_xpfo_is_window() - Is an address one that kmap_local_page() gave?
 * @addr: the address
 *
 * Return: true when it is in a window, not in the direct map.
 */
static __always_inline bool memsec_xpfo_is_window(const void *addr)
{
	unsigned long lowest = __fix_to_virt(FIX_KMAP_END);

	return (unsigned long)addr - lowest <
	       (FIX_KMAP_END - FIX_KMAP_BEGIN + 1) * PAGE_SIZE;
}

/**
 * memsec_xpfo_close() - Close what kmap_local_page() or kmap_atomic() gave.
 * @addr: the address; one in the direct map is left alone
 */
static __always_inline void memsec_xpfo_close(const void *addr)
{
	if (memsec_xpfo_is_window(addr))
		kunmap_local_indexed(addr);
}

#else

static inline void *memsec_xpfo_open(struct page *page, pgprot_t prot)
{
	return NULL;
}

static inline struct page *memsec_xpfo_to_page(const void *addr)
{
	return NULL;
}

static inline void *memsec_xpfo_kmap(struct page *page)
{
	return NULL;
}

static inline void memsec_xpfo_kunmap(struct page *page)
{
}

static inline bool memsec_xpfo_is_window(const void *addr)
{
	return false;
}

static inline void memsec_xpfo_close(const void *addr)
{
}

#endif /* CONFIG_MEMSEC_XPFO */

#endif /* _LINUX_MEMSEC_WINDOW_H */
