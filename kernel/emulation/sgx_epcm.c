// SPDX-License-Identifier: GPL-2.0-only
/*
 * The enclave page cache map: what the CPU knows of each EPC page.
 */
#include <linux/mm.h>
#include <linux/string.h>

#include "sgx_model.h"

/**
 * sgx_epcm_find() - Find the entry of an EPC page
 * @epc: page cache
 * @addr: any address in the page
 *
 * Context: Any.
 * Return: the entry, or NULL when @addr is not in @epc.
 */
struct sgx_epcm *sgx_epcm_find(struct sgx_epc *epc, const void *addr)
{
	unsigned long offset = (unsigned long)addr - (unsigned long)epc->base;

	if (PFN_DOWN(offset) >= epc->nr_pages)
		return NULL;

	return &epc->epcm[PFN_DOWN(offset)];
}

/**
 * sgx_epcm_page() - The contents of an EPC page
 * @epc: page cache
 * @page: entry of the page
 *
 * Context: Any.
 * Return: address of the first byte.
 */
void *sgx_epcm_page(struct sgx_epc *epc, const struct sgx_epcm *page)
{
	return epc->base + PFN_PHYS(page - epc->epcm);
}

/**
 * sgx_epcm_lock() - Take a page for one leaf alone
 * @page: entry of the page
 *
 * A CPU does not wait for another leaf, it gives up: so does the model.
 *
 * Context: Preemption disabled.
 * Return: false when another leaf uses the page.
 */
bool sgx_epcm_lock(struct sgx_epcm *page)
{
	int free = 0;

	return atomic_try_cmpxchg_acquire(&page->lock, &free, -1);
}

/**
 * sgx_epcm_unlock() - Undo sgx_epcm_lock()
 * @page: entry of the page
 *
 * Context: Preemption disabled.
 */
void sgx_epcm_unlock(struct sgx_epcm *page)
{
	atomic_set_release(&page->lock, 0);
}

/**
 * sgx_epcm_lock_shared() - Take a page that a leaf refers to
 * @page: entry of the page
 *
 * Context: Preemption disabled.
 * Return: false when a leaf has the page for itself.
 */
bool sgx_epcm_lock_shared(struct sgx_epcm *page)
{
	return atomic_inc_unless_negative(&page->lock);
}

/**
 * sgx_epcm_unlock_shared() - Undo sgx_epcm_lock_shared()
 * @page: entry of the page
 *
 * Context: Preemption disabled.
 */
void sgx_epcm_unlock_shared(struct sgx_epcm *page)
{
	atomic_dec_return_release(&page->lock);
}

/**
 * sgx_epcm_set() - Make a page valid
 * @page: entry of the page, locked
 * @type: page type
 * @state: SECINFO.FLAGS bits R, W, X, PENDING, MODIFIED and PR
 * @addr: linear address in the enclave, 0 when the page has none
 * @secs: owner, locked or shared; NULL when the page has none
 *
 * Context: Preemption disabled.
 */
void sgx_epcm_set(struct sgx_epcm *page, enum sgx_page_type type, u64 state,
		  u64 addr, struct sgx_epcm *secs)
{
	page->type = type;
	page->state = state & SGX_MODEL_STATE_MASK;
	page->addr = addr;
	page->blocked = false;
	page->secs = secs;
	atomic_long_set(&page->children, 0);
	atomic64_set(&page->epoch, 0);
	if (secs)
		atomic_long_inc(&secs->children);
	/* sgx_epcm_used() reads it without the lock. */
	WRITE_ONCE(page->valid, true);
}

/**
 * sgx_epcm_clear() - Make a page invalid and overwrite its contents
 * @epc: page cache
 * @page: entry of the page, locked
 *
 * Context: Preemption disabled.
 */
void sgx_epcm_clear(struct sgx_epc *epc, struct sgx_epcm *page)
{
	memset64(sgx_epcm_page(epc, page), SGX_MODEL_POISON,
		 PAGE_SIZE / sizeof(u64));
	WRITE_ONCE(page->valid, false);
	/* Nothing may use the SECS after its last child is gone. */
	if (page->secs)
		atomic_long_dec_return_release(&page->secs->children);
	page->secs = NULL;
}

/**
 * sgx_epcm_used() - Count valid pages
 * @epc: page cache
 *
 * Context: Process context.
 * Return: number of pages, exact when no leaf runs meanwhile.
 */
unsigned long sgx_epcm_used(const struct sgx_epc *epc)
{
	unsigned long i, used = 0;

	for (i = 0; i < epc->nr_pages; i++)
		used += READ_ONCE(epc->epcm[i].valid);

	return used;
}

/**
 * sgx_model_reachable() - May the model read an operand in normal memory?
 * @addr: address of the operand
 *
 * The driver gives ENCLS kernel addresses of memory it holds. KVM gives user
 * addresses when it runs ENCLS for a guest, but it offers guests only what the
 * real CPU has, so those are faults here.
 *
 * Context: Any.
 * Return: true for kernel addresses.
 */
bool sgx_model_reachable(u64 addr)
{
	return addr >= TASK_SIZE_MAX;
}
