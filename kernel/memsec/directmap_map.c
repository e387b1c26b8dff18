// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: the page tables of the direct map.
 *
 * Locking. Everything in this file that changes does so under cpa_lock, which
 * serializes it with set_memory_*() and its like too: the entries, the tables
 * of blocks and the queue of unused ones. Memory is allocated before, and what
 * was allocated is looked at again under the lock.
 *
 * Splitting. A large entry is replaced by a table that says the same, and all
 * TLBs are flushed once, still under cpa_lock: while some CPU may use the large
 * translation, nobody can give one of the small ones other attributes. Pages
 * that are unmapped in the same hold need no flush before: what is not mapped
 * is in no TLB, so at no time does a CPU have two translations that differ.
 */
#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pgalloc.h>
#include <linux/rcupdate.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmstat.h>
#include <linux/xarray.h>
#include <asm/tlbflush.h>

#include "directmap.h"
#include "internal.h"

/* What unmapping a page clears, and what mapping it again sets. */
#define UNMAPPED_BITS	(_PAGE_PRESENT | _PAGE_RW | _PAGE_DIRTY | _PAGE_GLOBAL)
#define MAPPED_BITS	(_PAGE_PRESENT | _PAGE_RW | _PAGE_DIRTY |	\
			 directmap_global_bit())

/* More often than this the tables do not change under somebody's hands. */
#define MAX_TRIES	16

/* By their pfn divided by their pages. Changed under cpa_lock. */
static DEFINE_XARRAY(blocks_2m);
static DEFINE_XARRAY(blocks_1g);

static u64 held_pages[MEMSEC_DIRECTMAP_NR];

static struct xarray *blocks_of(int level)
{
	return level == PG_LEVEL_1G ? &blocks_1g : &blocks_2m;
}

/* Where a block is in its table. */
static unsigned long index_of(unsigned long pfn, int level)
{
	return pfn / directmap_block_pages(level);
}

/**
 * directmap_block_find() - The block that a page is in
 * @pfn: the page
 * @level: PG_LEVEL_2M or PG_LEVEL_1G
 *
 * Context: Under cpa_lock, but for a guess.
 * Return: the block; NULL when there is none.
 */
struct directmap_block *directmap_block_find(unsigned long pfn, int level)
{
	return xa_load(blocks_of(level), index_of(pfn, level));
}

/**
 * directmap_block_any_held() - Is a page held of what an entry of 1 GiB maps?
 * @pfn: the first page of that
 *
 * Context: Under cpa_lock.
 * Return: whether one is.
 */
bool directmap_block_any_held(unsigned long pfn)
{
	unsigned long last = index_of(pfn + DIRECTMAP_1G_PAGES - 1, PG_LEVEL_2M);
	struct directmap_block *block;
	unsigned long index;

	xa_for_each_range(&blocks_2m, index, block,
			  index_of(pfn, PG_LEVEL_2M), last) {
		if (block->held)
			return true;
	}

	return false;
}

/**
 * directmap_block_forget() - Nobody is to find a block any more
 * @block: the block
 *
 * Context: Under cpa_lock.
 */
void directmap_block_forget(struct directmap_block *block)
{
	xa_erase(blocks_of(block->level), index_of(block->pfn, block->level));
}

/* The entry that maps a page; NULL when there is none. */
static pte_t *entry_find(unsigned long pfn, unsigned int *level)
{
	pte_t *entry = lookup_address((unsigned long)pfn_to_kaddr(pfn), level);

	return entry && !pte_none(*entry) ? entry : NULL;
}

/*
 * The level of the entry that maps a page when it is larger than a page, and
 * its attributes; else PG_LEVEL_4K. Without cpa_lock: as it was a moment ago.
 */
static int entry_level(unsigned long pfn, pgprot_t *prot)
{
	unsigned int level;
	pte_t *entry;
	pmd_t value;

	guard(rcu)();

	entry = entry_find(pfn, &level);
	if (!entry || level == PG_LEVEL_4K)
		return PG_LEVEL_4K;

	/* The attributes are where they are in an entry of 1 GiB, too. */
	value = READ_ONCE(*(pmd_t *)entry);
	if (!(pmd_flags(value) & _PAGE_PRESENT) || !pmd_leaf(value))
		return PG_LEVEL_4K;

	*prot = pmd_pgprot(value);

	return level;
}

/* The same of an entry that has to be split: what is left has at most 2 MiB. */
static int level_to_split(const struct directmap_op *op, unsigned long pfn,
			  pgprot_t *prot)
{
	int level = entry_level(pfn, prot);

	return op->split || level == PG_LEVEL_1G ? level : PG_LEVEL_4K;
}

/**
 * directmap_entry_pages() - How large are the entries that map a range?
 * @pfn: first page
 * @end: the page after the last
 *
 * Context: Any. The answer can be out of date at once.
 * Return: the pages that the largest of them maps.
 */
unsigned long directmap_entry_pages(unsigned long pfn, unsigned long end)
{
	int level = PG_LEVEL_4K;
	pgprot_t prot;

	for (; pfn < end; pfn = round_down(pfn, DIRECTMAP_2M_PAGES) +
				DIRECTMAP_2M_PAGES)
		level = max(level, entry_level(pfn, &prot));

	return directmap_block_pages(level);
}

/* Fill the table of a block so that it says what an entry with @prot says. */
static void block_fill(struct directmap_block *block, pgprot_t prot)
{
	void *table = page_address(block->table);
	pmd_t *pmd = table;
	pte_t *pte = table;
	int i;

	block->prot = prot;
	if (block->level == PG_LEVEL_1G) {
		for (i = 0; i < PTRS_PER_PMD; i++)
			set_pmd(pmd + i, pfn_pmd(block->pfn +
						 i * DIRECTMAP_2M_PAGES, prot));
		return;
	}

	prot = pgprot_large_2_4k(prot);
	for (i = 0; i < PTRS_PER_PTE; i++)
		set_pte(pte + i, pfn_pte(block->pfn + i, prot));
}

/**
 * directmap_block_free() - Free a block and its table
 * @block: the block, which nobody can find
 *
 * Context: Any.
 */
void directmap_block_free(struct directmap_block *block)
{
	if (block->table)
		__free_page(block->table);
	kfree(block->accounts);
	kfree(block);
}

/**
 * directmap_block_new() - Make a block
 * @pfn: its first page
 * @level: of its entry, PG_LEVEL_2M or PG_LEVEL_1G
 * @table: with a page table, not filled yet
 * @gfp: how to allocate
 *
 * Context: As @gfp says.
 * Return: the block; NULL when there is no memory.
 */
struct directmap_block *directmap_block_new(unsigned long pfn, int level,
					    bool table, gfp_t gfp)
{
	struct directmap_block *block;

	KUNIT_STATIC_STUB_REDIRECT(directmap_block_new, pfn, level, table, gfp);

	block = kzalloc(sizeof(*block), gfp);
	if (!block)
		return NULL;

	block->pfn = pfn;
	block->level = level;
	timerqueue_init(&block->due);
	if (table)
		block->table = alloc_page(gfp);
	if ((table && !block->table) ||
	    xa_reserve(blocks_of(level), index_of(pfn, level), gfp)) {
		directmap_block_free(block);
		return NULL;
	}

	return block;
}

static int spare_add(struct directmap_op *op, unsigned long pfn, int level,
		     const pgprot_t *prot, gfp_t gfp)
{
	struct directmap_block *block;

	block = directmap_block_new(pfn, level, prot, gfp);
	if (!block)
		return -ENOMEM;

	block->kind = op->kind;
	block->cgroup_id = op->cgroup_id;
	if (prot)
		block_fill(block, *prot);
	list_add_tail(&block->list, &op->spare);

	return 0;
}

static struct directmap_block *spare_take(struct directmap_op *op,
					  unsigned long pfn, int level,
					  bool table)
{
	struct directmap_block *block;

	list_for_each_entry(block, &op->spare, list) {
		if (block->pfn == pfn && block->level == level &&
		    !!block->table == table) {
			list_del(&block->list);
			return block;
		}
	}

	return NULL;
}

/* Free what was not needed. Others may have reserved the same places. */
static void spare_drop(struct directmap_op *op)
{
	struct directmap_block *block;
	struct directmap_block *next;

	list_for_each_entry_safe(block, next, &op->spare, list) {
		xa_release(blocks_of(block->level),
			   index_of(block->pfn, block->level));
		directmap_block_free(block);
	}
	INIT_LIST_HEAD(&op->spare);
}

/* Allocate what a range may need: tables, and blocks to hold its pages. */
static int prepare(struct directmap_op *op, unsigned long from,
		   unsigned long to, bool hold, gfp_t gfp)
{
	unsigned long giga = ULONG_MAX;
	unsigned long pfn;
	pgprot_t prot;
	int level;
	int ret;

	for (pfn = round_down(from, DIRECTMAP_2M_PAGES); pfn < to;
	     pfn += DIRECTMAP_2M_PAGES) {
		ret = 0;
		level = level_to_split(op, pfn, &prot);
		if (level == PG_LEVEL_1G &&
		    giga != round_down(pfn, DIRECTMAP_1G_PAGES)) {
			giga = round_down(pfn, DIRECTMAP_1G_PAGES);
			ret = spare_add(op, giga, level, &prot, gfp);
		}
		if (!ret && level != PG_LEVEL_4K)
			ret = spare_add(op, pfn, PG_LEVEL_2M, &prot, gfp);
		else if (hold && !directmap_block_find(pfn, PG_LEVEL_2M))
			ret = spare_add(op, pfn, PG_LEVEL_2M, NULL, gfp);
		if (ret)
			return ret;
	}

	return 0;
}

static int block_store(struct directmap_op *op, struct directmap_block *spare)
{
	void *old = xa_store(blocks_of(spare->level),
			     index_of(spare->pfn, spare->level), spare,
			     GFP_NOWAIT);

	if (!xa_is_err(old))
		return 0;

	/* Somebody else gave up the place that was reserved for both. */
	list_add(&spare->list, &op->spare);

	return -EAGAIN;
}

/*
 * The block of @spare gets its table. There may be one already that holds
 * pages, or one whose table went with memory that was removed.
 */
static struct directmap_block *block_add_table(struct directmap_op *op,
					       struct directmap_block *spare)
{
	struct directmap_block *block = directmap_block_find(spare->pfn, spare->level);

	if (!block)
		return block_store(op, spare) ? NULL : spare;

	if (block->level == PG_LEVEL_2M && block->table && !block->held)
		directmap_block_used(block);
	block->table = spare->table;
	spare->table = NULL;
	list_add_tail(&spare->list, &op->spare);

	return block;
}

static void entry_set_table(pte_t *entry, struct directmap_block *block)
{
	unsigned long pfn = page_to_pfn(block->table);
	u64 value = __pa(page_address(block->table)) | _KERNPG_TABLE;

	/* The table is read by others as soon as it can be found. */
	smp_wmb();
	if (block->level == PG_LEVEL_1G) {
		paravirt_alloc_pmd(&init_mm, pfn);
		set_pud((pud_t *)entry, __pud(value));
		count_vm_event(DIRECT_MAP_LEVEL3_SPLIT);
	} else {
		paravirt_alloc_pte(&init_mm, pfn);
		set_pmd((pmd_t *)entry, __pmd(value));
		count_vm_event(DIRECT_MAP_LEVEL2_SPLIT);
	}
	update_page_count(block->level, -1);
	update_page_count(block->level - 1, PTRS_PER_PTE);
}

/* Split the entry that maps a block, until there is none that is too large. */
static int split_block(struct directmap_op *op, unsigned long pfn)
{
	struct directmap_block *block;
	unsigned int found;
	pgprot_t prot;
	int level;

	while ((level = entry_level(pfn, &prot)) != PG_LEVEL_4K) {
		block = spare_take(op, round_down(pfn, directmap_block_pages(level)),
				   level, true);
		if (block && pgprot_val(block->prot) != pgprot_val(prot))
			block_fill(block, prot);
		if (block)
			block = block_add_table(op, block);
		if (!block)
			return -EAGAIN;

		entry_set_table(entry_find(pfn, &found), block);
		op->splits++;
		if (level == PG_LEVEL_1G)
			op->splits_1g++;
		else if (!block->held)
			directmap_block_unused(block);
	}

	return 0;
}

static void split_ahead(struct directmap_op *op)
{
	unsigned int before = op->splits;
	struct directmap_block *block;
	unsigned int so_far;
	unsigned long pfn;

	for (pfn = op->ahead; pfn < op->ahead_end; pfn += DIRECTMAP_2M_PAGES) {
		if (directmap_is_kernel(pfn, DIRECTMAP_2M_PAGES))
			continue;

		so_far = op->splits;
		if (split_block(op, pfn))
			break;
		if (op->splits == so_far)
			continue;

		block = directmap_block_find(pfn, PG_LEVEL_2M);
		if (block)
			block->ahead_of = op->owner;
		op->went_ahead++;
	}
	op->splits_ahead += op->splits - before;
}

/* The end of the part of the range that is in the block of @pfn. */
static unsigned long part_end(const struct directmap_op *op, unsigned long pfn)
{
	return min(round_down(pfn, DIRECTMAP_2M_PAGES) + DIRECTMAP_2M_PAGES,
		   op->end);
}

/* Nothing that cannot be taken back happens here: splits say what was there. */
static int split_range(struct directmap_op *op)
{
	struct directmap_block *block;
	unsigned long base;
	unsigned long pfn;
	pgprot_t prot;
	int ret = 0;

	for (pfn = op->pfn; pfn < op->end; pfn = part_end(op, pfn)) {
		base = round_down(pfn, DIRECTMAP_2M_PAGES);
		if (level_to_split(op, base, &prot) != PG_LEVEL_4K)
			ret = split_block(op, base);
		if (!ret && !directmap_block_find(base, PG_LEVEL_2M)) {
			block = spare_take(op, base, PG_LEVEL_2M, false);
			ret = block ? block_store(op, block) : -EAGAIN;
		}
		if (ret)
			return ret;
	}

	return 0;
}

/* The entry of a page that is mapped by one of its own; NULL when it is not. */
static pte_t *page_entry(unsigned long pfn)
{
	unsigned int level;
	pte_t *entry = entry_find(pfn, &level);

	return entry && level == PG_LEVEL_4K ? entry : NULL;
}

static bool all_mapped(struct directmap_op *op)
{
	unsigned long pfn;
	pte_t *entry;

	for (pfn = op->pfn; pfn < op->end; pfn++) {
		entry = page_entry(pfn);
		if (!entry || !(pte_flags(*entry) & _PAGE_PRESENT))
			return false;
	}

	return true;
}

static void change_pages(unsigned long pfn, unsigned long end, pteval_t set,
			 pteval_t clear)
{
	pteval_t flags;
	pte_t *entry;

	for (; pfn < end; pfn++) {
		entry = page_entry(pfn);
		if (WARN_ON_ONCE(!entry))
			continue;

		flags = (pte_flags(*entry) & ~clear) | set;
		set_pte(entry, pfn_pte(pfn, __pgprot(flags)));
	}
}

static void hold_pages(struct directmap_op *op)
{
	struct directmap_block *block;
	unsigned long next;
	unsigned long pfn;

	for (pfn = op->pfn; pfn < op->end; pfn = next) {
		next = part_end(op, pfn);
		block = directmap_block_find(pfn, PG_LEVEL_2M);
		directmap_block_used(block);
		if (block->ahead_of && block->ahead_of == op->owner)
			op->went_ahead--;
		block->ahead_of = 0;
		directmap_account_hold(op, block, pfn, next - pfn);
		block->held += next - pfn;
		block->kind = op->kind;
		block->cgroup_id = op->cgroup_id;
	}
	held_pages[op->kind] += op->end - op->pfn;
}

/* Blocks that were made to hold pages which they do not hold after all. */
static void drop_empty(struct directmap_op *op)
{
	struct directmap_block *block;
	unsigned long pfn;

	for (pfn = op->pfn; pfn < op->end; pfn = part_end(op, pfn)) {
		block = directmap_block_find(pfn, PG_LEVEL_2M);
		if (block && !block->held && !block->table)
			directmap_block_unused(block);
	}
}

static int hold_locked(struct directmap_op *op)
{
	unsigned int before = op->splits;
	int ret;

	lockdep_assert_held(&cpa_lock);

	ret = directmap_accounts_attach(op);
	if (!ret)
		ret = split_range(op);
	if (!ret && op->unmap && !all_mapped(op))
		ret = -EBUSY;
	if (ret) {
		drop_empty(op);
	} else {
		hold_pages(op);
		split_ahead(op);
		if (op->unmap && !op->later)
			change_pages(op->pfn, op->end, 0, UNMAPPED_BITS);
	}

	if (op->splits != before) {
		flush_tlb_all();
		op->tlb_flushes++;
	}

	return ret;
}

static int split_locked(struct directmap_op *op)
{
	unsigned int before = op->splits;
	unsigned long pfn;
	int ret = 0;

	for (pfn = op->pfn; !ret && pfn < op->end; pfn = part_end(op, pfn))
		ret = split_block(op, round_down(pfn, DIRECTMAP_2M_PAGES));
	if (op->splits != before) {
		flush_tlb_all();
		op->tlb_flushes++;
	}

	return ret;
}

static void flush_range(struct directmap_op *op)
{
	flush_tlb_kernel_range((unsigned long)pfn_to_kaddr(op->pfn),
			       (unsigned long)pfn_to_kaddr(op->end));
	op->tlb_flushes++;
}

/* Splitting ahead is worth no effort to get memory, and no error. */
static int prepare_all(struct directmap_op *op)
{
	int ret = prepare(op, op->pfn, op->end, true, GFP_KERNEL);

	if (!ret)
		ret = directmap_accounts_prepare(op);
	if (!ret)
		prepare(op, op->ahead, op->ahead_end, false,
			GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);

	return ret;
}

static int hold_once(struct directmap_op *op)
{
	unsigned int before = op->splits;
	int ret = prepare_all(op);

	if (ret)
		return ret;

	spin_lock(&cpa_lock);
	op->lock_holds++;
	ret = hold_locked(op);
	spin_unlock(&cpa_lock);
	if (!ret && op->unmap && !op->later && op->splits == before)
		flush_range(op);

	return ret;
}

static int split_once(struct directmap_op *op)
{
	int ret = prepare(op, op->pfn, op->end, false, GFP_KERNEL);

	if (ret)
		return ret;

	spin_lock(&cpa_lock);
	op->lock_holds++;
	ret = split_locked(op);
	spin_unlock(&cpa_lock);

	return ret;
}

/* Again when the tables are no longer those that memory was allocated for. */
static int until_done(struct directmap_op *op,
		      int (*once)(struct directmap_op *op))
{
	int tries = MAX_TRIES;
	int ret;

	INIT_LIST_HEAD(&op->spare);
	INIT_LIST_HEAD(&op->spare_accounts);
	op->want_accounts = 0;
	do {
		ret = once(op);
		spare_drop(op);
	} while (ret == -EAGAIN && --tries);
	directmap_accounts_drop(op);

	return ret == -EAGAIN ? -ENOMEM : ret;
}

/**
 * directmap_hold() - Take a range out of large entries, and unmap it
 * @op: the operation; splits and unmaps as it says
 *
 * One hold of cpa_lock, and one TLB flush if anything has to be flushed; another
 * hold when what was allocated before turns out not to be enough. The range
 * counts as held until directmap_release(), and cannot be collapsed.
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOMEM; -EBUSY when a page to unmap is not mapped. On any error
 *	no page is held or unmapped.
 */
int directmap_hold(struct directmap_op *op)
{
	return until_done(op, hold_once);
}

/**
 * directmap_split() - Split the entries that map a range
 * @op: the operation; @split is set
 *
 * What is held stays so. One hold of cpa_lock, and at most one TLB flush.
 *
 * Context: Process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int directmap_split(struct directmap_op *op)
{
	return until_done(op, split_once);
}

/**
 * directmap_unmap() - Unmap pages that are held
 * @op: the operation
 * @chunk: pages for one hold of cpa_lock
 *
 * Context: Process context.
 */
void directmap_unmap(struct directmap_op *op, unsigned long chunk)
{
	unsigned long pfn;

	for (pfn = op->pfn; pfn < op->end; pfn += chunk) {
		spin_lock(&cpa_lock);
		op->lock_holds++;
		change_pages(pfn, min(pfn + chunk, op->end), 0, UNMAPPED_BITS);
		spin_unlock(&cpa_lock);
		cond_resched();
	}
	flush_range(op);
}

static void release_locked(struct directmap_op *op)
{
	struct directmap_block *block;
	unsigned long next;
	unsigned long pfn;

	if (op->unmap)
		change_pages(op->pfn, op->end, MAPPED_BITS, 0);

	for (pfn = op->pfn; pfn < op->end; pfn = next) {
		next = part_end(op, pfn);
		block = directmap_block_find(pfn, PG_LEVEL_2M);
		if (WARN_ON_ONCE(!block || block->held < next - pfn))
			continue;

		block->held -= next - pfn;
		directmap_account_release(block, pfn, next - pfn);
		held_pages[op->kind] -= next - pfn;
		if (!block->held)
			directmap_block_unused(block);
	}
}

/**
 * directmap_release() - The range may be in large entries again, and is mapped
 * @op: the operation; maps the pages when they were unmapped
 *
 * Needs no memory and no TLB flush: a page that is not mapped is in no TLB.
 *
 * Context: Process context.
 */
void directmap_release(struct directmap_op *op)
{
	spin_lock(&cpa_lock);
	op->lock_holds++;
	release_locked(op);
	spin_unlock(&cpa_lock);
}

/**
 * directmap_held() - Pages that may not be in large entries
 * @kind: why
 *
 * Context: Any.
 * Return: their number.
 */
u64 directmap_held(enum memsec_directmap_kind kind)
{
	return READ_ONCE(held_pages[kind]);
}
