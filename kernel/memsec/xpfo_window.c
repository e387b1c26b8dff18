// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: how the kernel reaches memory that is not in the direct map.
 *
 * By a window: an entry of the fixmap that belongs to one CPU and, while a task
 * is at it, to that task. It is opened and closed without a lock and without
 * interrupting other CPUs, in any context; a switch to another task closes it
 * until the task comes back. What is counted on the way is one instruction.
 *
 * The price of that: another CPU may load the entry into its TLB while the
 * window is open, though no code of it uses the address, and keep it when this
 * CPU has closed the window. Then only its speculation can reach the page, until
 * that entry leaves its TLB.
 *
 * kmap() is for those who keep the address, and pass it on. They get a mapping
 * in the vmalloc area, which is undone by a worker: kunmap() may not wait for
 * other CPUs. The page is not freed before.
 */
#include <linux/highmem.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>
#include <asm/tlbflush.h>

#include "xpfo.h"

/**
 * struct xpfo_kmap - a page that somebody mapped to stay
 * @page: the page, referenced
 * @addr: where
 * @users: how many kunmap() are to come
 * @dead: in the list of those that are to be unmapped
 */
struct xpfo_kmap {
	struct page *page;
	void *addr;
	unsigned long users;
	struct llist_node dead;
};

/* By pfn. */
static DEFINE_XARRAY(kmaps);
static LLIST_HEAD(dead_kmaps);

/**
 * memsec_xpfo_open() - Open a window to a page
 * @page: the page
 * @prot: how to map it
 *
 * Context: Any but NMI. Not more than KM_MAX_IDX at a time, nested.
 * Return: where it can be reached, by this task on this CPU, until
 *	kunmap_local().
 */
void *memsec_xpfo_open(struct page *page, pgprot_t prot)
{
	memsec_count_add(&xpfo_windows, 1);

	return __kmap_local_pfn_prot(page_to_pfn(page), prot);
}
EXPORT_SYMBOL_GPL(memsec_xpfo_open);

/**
 * memsec_xpfo_to_page() - What a window shows
 * @addr: an address in it
 *
 * Context: Any; whoever opened it has not closed it.
 * Return: the page.
 */
struct page *memsec_xpfo_to_page(const void *addr)
{
	return pte_page(ptep_get(virt_to_kpte((unsigned long)addr)));
}
EXPORT_SYMBOL_GPL(memsec_xpfo_to_page);

static void *kmap_use(struct page *page)
{
	struct xpfo_kmap *kmap;
	void *addr = NULL;

	xa_lock(&kmaps);
	kmap = xa_load(&kmaps, page_to_pfn(page));
	if (kmap) {
		kmap->users++;
		addr = kmap->addr;
	}
	xa_unlock(&kmaps);

	return addr;
}

static struct xpfo_kmap *kmap_new(struct page *page)
{
	struct xpfo_kmap *kmap;

	kmap = kzalloc(sizeof(*kmap), GFP_KERNEL | __GFP_NOFAIL);
	kmap->page = page;
	kmap->users = 1;
	/* kmap() does not fail, it waits. */
	while (!(kmap->addr = vmap(&page, 1, VM_MAP, PAGE_KERNEL)))
		schedule_timeout_uninterruptible(1);
	get_page(page);

	return kmap;
}

static void kmap_free(struct xpfo_kmap *kmap)
{
	unsigned long addr = (unsigned long)kmap->addr;

	vunmap(kmap->addr);
	flush_tlb_kernel_range(addr, addr + PAGE_SIZE);
	put_page(kmap->page);
	kfree(kmap);
}

/**
 * memsec_xpfo_kmap() - Map a page to stay
 * @page: the page, which the caller has a reference to
 *
 * Context: Process context, may sleep.
 * Return: where everybody can reach it until memsec_xpfo_kunmap().
 */
void *memsec_xpfo_kmap(struct page *page)
{
	struct xpfo_kmap *kmap;
	void *addr;

	while (!(addr = kmap_use(page))) {
		kmap = kmap_new(page);
		if (!xa_insert(&kmaps, page_to_pfn(page), kmap,
			       GFP_KERNEL | __GFP_NOFAIL)) {
			memsec_count_add(&xpfo_kmaps, 1);
			return kmap->addr;
		}
		/* Somebody else was faster. */
		kmap_free(kmap);
	}

	return addr;
}
EXPORT_SYMBOL_GPL(memsec_xpfo_kmap);

static void kunmap_work_fn(struct work_struct *work)
{
	struct xpfo_kmap *kmap, *next;

	llist_for_each_entry_safe(kmap, next, llist_del_all(&dead_kmaps), dead)
		kmap_free(kmap);
}

static DECLARE_WORK(kunmap_work, kunmap_work_fn);

/**
 * memsec_xpfo_kunmap() - A page is not needed any more where it was mapped
 * @page: the page
 *
 * Context: Process context. Does not sleep.
 */
void memsec_xpfo_kunmap(struct page *page)
{
	struct xpfo_kmap *kmap;

	xa_lock(&kmaps);
	kmap = xa_load(&kmaps, page_to_pfn(page));
	if (WARN_ON_ONCE(!kmap) || --kmap->users)
		kmap = NULL;
	else
		__xa_erase(&kmaps, page_to_pfn(page));
	xa_unlock(&kmaps);
	if (!kmap)
		return;

	llist_add(&kmap->dead, &dead_kmaps);
	schedule_work(&kunmap_work);
}
EXPORT_SYMBOL_GPL(memsec_xpfo_kunmap);
