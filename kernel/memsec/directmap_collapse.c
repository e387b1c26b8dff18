// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: putting entries of the direct map back together.
 *
 * All of it under cpa_lock, like directmap_map.c.
 *
 * Only a table that memsec put there is ever replaced, by an entry
 * that says what all its entries say. Then TLBs and paging-structure caches are
 * flushed, under cpa_lock too. Others walk these tables without any lock
 * (lookup_address()), with interrupts on or off, and may be preempted while
 * they do. They do not sleep: when a grace period of RCU and one of tasks RCU
 * have gone by, nobody has a pointer into the table and it is freed. Those who
 * do sleep while they walk (ptdump) hold the mmap lock of init_mm for writing.
 */
#include <linux/memory_hotplug.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/pgalloc.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <asm/tlbflush.h>

#include "directmap.h"
#include "internal.h"

/*
 * Bits that say nothing about what may be done with the memory. Others who map
 * pages again (set_direct_map_default_noflush()) leave the last one cleared.
 */
#define IGNORED_BITS	(_PAGE_ACCESSED | _PAGE_DIRTY | _PAGE_GLOBAL)

/*
 * Those of 2 MiB with a table and no held pages, by when to ask about them. What
 * was said about those in the other queue was said by a policy that has changed.
 */
static struct timerqueue_head queues[2] = {
	{ .rb_root = RB_ROOT_CACHED },
	{ .rb_root = RB_ROOT_CACHED },
};

static struct timerqueue_head *unused = &queues[0];
static struct timerqueue_head *others = &queues[1];
static bool policy_changed;
static u64 n_unused;

static void queue_add(struct directmap_block *block, u64 expires)
{
	block->queue = unused;
	block->due.expires = expires;
	timerqueue_add(unused, &block->due);
}

/* The block to ask about first, and when; NULL when there is none. */
static struct directmap_block *queue_first(u64 *expires)
{
	struct timerqueue_node *node;

	if (policy_changed && !timerqueue_getnext(others)) {
		swap(unused, others);
		policy_changed = false;
	}

	*expires = 0;
	node = timerqueue_getnext(others);
	if (!node) {
		node = timerqueue_getnext(unused);
		if (!node)
			return NULL;
		*expires = node->expires;
	}

	return container_of(node, struct directmap_block, due);
}

/**
 * directmap_block_used() - A block is going to hold pages
 * @block: the block
 *
 * Context: Under cpa_lock, before @block->held grows.
 */
void directmap_block_used(struct directmap_block *block)
{
	if (timerqueue_node_queued(&block->due))
		timerqueue_del(block->queue, &block->due);
	if (block->table && !block->held)
		n_unused--;
}

/**
 * directmap_block_unused() - A block holds no pages, or no more
 * @block: the block; freed when it is not to be collapsed, because memsec did
 *	not split its entry, or that maps the kernel, or is to stay split
 *
 * Context: Under cpa_lock.
 */
void directmap_block_unused(struct directmap_block *block)
{
	if (!block->table || directmap_stays_split() ||
	    directmap_is_kernel(block->pfn, DIRECTMAP_2M_PAGES)) {
		directmap_block_forget(block);
		block->table = NULL;
		directmap_block_free(block);
		return;
	}

	n_unused++;
	block->unused_ns = memsec_clock_ns();
	queue_add(block, block->unused_ns);
}

/**
 * directmap_unused() - Ranges that memsec split and nobody needs split
 *
 * Context: Any.
 * Return: their number.
 */
u64 directmap_unused(void)
{
	return READ_ONCE(n_unused);
}

/**
 * directmap_ask_again() - What the policy said about unused blocks is out of date
 *
 * Context: Process context.
 */
void directmap_ask_again(void)
{
	spin_lock(&cpa_lock);
	policy_changed = true;
	spin_unlock(&cpa_lock);
}

/**
 * directmap_due() - Take the unused blocks that it is time to ask about
 * @due: where to put them
 * @max: how many
 * @now: the time
 *
 * They are the caller's until directmap_collapse(): nobody else frees blocks.
 * They may be used again meanwhile.
 *
 * Context: Process context.
 */
void directmap_due(struct list_head *due, unsigned int max, u64 now)
{
	struct directmap_block *block;
	u64 expires;

	spin_lock(&cpa_lock);
	while (max-- && (block = queue_first(&expires)) && expires <= now) {
		timerqueue_del(block->queue, &block->due);
		list_add_tail(&block->list, due);
	}
	spin_unlock(&cpa_lock);
}

/**
 * directmap_next_due() - When is it time to ask again?
 * @ns: the time
 *
 * Context: Process context.
 * Return: false when there is nothing to ask about.
 */
bool directmap_next_due(u64 *ns)
{
	bool found;

	spin_lock(&cpa_lock);
	found = queue_first(ns);
	spin_unlock(&cpa_lock);

	return found && *ns != MEMSEC_COLLAPSE_NEVER;
}

/* What an entry has to say to stand for all entries of a table. */
static pgprotval_t merged_flags(pgprotval_t flags)
{
	flags &= ~IGNORED_BITS;
	flags |= _PAGE_ACCESSED | directmap_global_bit();

	/* Read-only and dirty would be a shadow stack. */
	return flags & _PAGE_RW ? flags | _PAGE_DIRTY : flags;
}

static bool same_flags(pgprotval_t a, pgprotval_t b)
{
	return (a & _PAGE_PRESENT) && !((a ^ b) & ~IGNORED_BITS);
}

/* Do all entries of the table map the block, and alike? Then how. */
static bool uniform_2m(struct directmap_block *block, pgprot_t *prot)
{
	pte_t *pte = page_address(block->table);
	pgprotval_t flags = pte_flags(*pte);
	int i;

	for (i = 0; i < PTRS_PER_PTE; i++) {
		if (!same_flags(pte_flags(pte[i]), flags) ||
		    pte_pfn(pte[i]) != block->pfn + i)
			return false;
	}
	*prot = pgprot_4k_2_large(__pgprot(merged_flags(flags)));
	pgprot_val(*prot) |= _PAGE_PSE;

	return true;
}

static bool uniform_1g(struct directmap_block *block, pgprot_t *prot)
{
	pmd_t *pmd = page_address(block->table);
	pgprotval_t flags = pmd_flags(*pmd);
	int i;

	for (i = 0; i < PTRS_PER_PMD; i++) {
		if (!pmd_leaf(pmd[i]) || !same_flags(pmd_flags(pmd[i]), flags) ||
		    pmd_pfn(pmd[i]) != block->pfn + i * DIRECTMAP_2M_PAGES)
			return false;
	}
	*prot = __pgprot(merged_flags(flags));

	return true;
}

static pud_t *pud_find(unsigned long pfn)
{
	unsigned long address = (unsigned long)pfn_to_kaddr(pfn);
	pgd_t *pgd = pgd_offset_k(address);
	p4d_t *p4d;

	if (pgd_none(*pgd))
		return NULL;

	p4d = p4d_offset(pgd, address);
	if (p4d_none(*p4d) || p4d_leaf(*p4d) || !p4d_present(*p4d))
		return NULL;

	return pud_offset(p4d, address);
}

static bool has_table(const struct directmap_block *block)
{
	pud_t *pud = pud_find(block->pfn);
	pmd_t *pmd;

	if (!pud || !pud_present(*pud) || pud_leaf(*pud))
		return false;
	if (block->level == PG_LEVEL_1G)
		return pud_page(*pud) == block->table;

	pmd = pmd_offset(pud, (unsigned long)pfn_to_kaddr(block->pfn));

	return pmd_present(*pmd) && !pmd_leaf(*pmd) &&
	       pmd_page(*pmd) == block->table;
}

static void entry_set_large(struct directmap_block *block, pgprot_t prot)
{
	pud_t *pud = pud_find(block->pfn);

	if (block->level == PG_LEVEL_1G)
		set_pud(pud, pfn_pud(block->pfn, prot));
	else
		set_pmd(pmd_offset(pud, (unsigned long)pfn_to_kaddr(block->pfn)),
			pfn_pmd(block->pfn, prot));
	update_page_count(block->level, 1);
	update_page_count(block->level - 1, -PTRS_PER_PTE);
}

static void bury(struct directmap_block *block, struct directmap_pass *pass)
{
	directmap_block_forget(block);
	list_add_tail(&block->list, &pass->dead);
}

static void collapse_1g(unsigned long pfn, struct directmap_pass *pass)
{
	struct directmap_block *block = directmap_block_find(pfn, PG_LEVEL_1G);
	pgprot_t prot;

	if (!block || !has_table(block) || !uniform_1g(block, &prot) ||
	    directmap_block_any_held(block->pfn))
		return;

	entry_set_large(block, prot);
	bury(block, pass);
	pass->collapsed_1g++;
}

/* @block is unused, and on no list. */
static void collapse_2m(struct directmap_block *block,
			struct directmap_pass *pass)
{
	pgprot_t prot;

	if (!has_table(block)) {
		/* The memory was removed, and the table with it. */
		n_unused--;
		block->table = NULL;
		bury(block, pass);
		return;
	}

	if (!uniform_2m(block, &prot)) {
		queue_add(block, memsec_clock_ns() + DIRECTMAP_ASK_AGAIN_NS);
		pass->refused++;
		return;
	}

	n_unused--;
	entry_set_large(block, prot);
	bury(block, pass);
	pass->collapsed++;
	collapse_1g(block->pfn, pass);
}

static void collapse_locked(struct list_head *due, struct directmap_pass *pass)
{
	struct directmap_block *block;
	struct directmap_block *next;

	list_for_each_entry_safe(block, next, due, list) {
		list_del(&block->list);
		/* Used again since it was taken out of the queue. */
		if (block->held || timerqueue_node_queued(&block->due))
			continue;

		if (block->collapse)
			collapse_2m(block, pass);
		else
			queue_add(block, block->due.expires);
	}

	if (pass->collapsed)
		flush_tlb_all();
}

/**
 * directmap_collapse() - Put entries back together
 * @due: blocks from directmap_due(); those that are not to be collapsed have
 *	the time of the next question in due.expires
 * @pass: what was done
 *
 * One hold of cpa_lock, and one TLB flush if anything was collapsed.
 *
 * Context: Process context, may sleep.
 */
void directmap_collapse(struct list_head *due, struct directmap_pass *pass)
{
	get_online_mems();
	mmap_read_lock(&init_mm);
	spin_lock(&cpa_lock);
	collapse_locked(due, pass);
	spin_unlock(&cpa_lock);
	mmap_read_unlock(&init_mm);
	put_online_mems();
}

/**
 * directmap_free() - Free blocks that were collapsed, and their tables
 * @dead: the blocks
 *
 * Context: Process context. Sleeps until nobody can be walking the tables.
 */
void directmap_free(struct list_head *dead)
{
	struct directmap_block *block;
	struct directmap_block *next;

	if (list_empty(dead))
		return;

	synchronize_rcu();
	synchronize_rcu_tasks();

	list_for_each_entry_safe(block, next, dead, list) {
		if (block->table && block->level == PG_LEVEL_1G)
			paravirt_release_pmd(page_to_pfn(block->table));
		else if (block->table)
			paravirt_release_pte(page_to_pfn(block->table));
		directmap_block_free(block);
	}
}
