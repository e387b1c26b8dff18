/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec: what the policy side of the direct map, directmap.c, the side of the
 * page tables, directmap_map.c and directmap_collapse.c, and the books about
 * who holds what, directmap_owners.c, have in common.
 */
#ifndef _MM_MEMSEC_DIRECTMAP_H
#define _MM_MEMSEC_DIRECTMAP_H

#include <linux/list.h>
#include <linux/memsec.h>
#include <linux/pgtable.h>
#include <linux/timerqueue.h>
#include <asm/sections.h>

struct cgroup;

#define DIRECTMAP_2M_PAGES	(PMD_SIZE / PAGE_SIZE)
#define DIRECTMAP_1G_PAGES	(PUD_SIZE / PAGE_SIZE)

/**
 * struct directmap_account - what a cgroup holds, of one kind
 * @kind: why
 * @cgroup: the cgroup, referenced; NULL in a kernel without cgroups
 * @cgroup_id: its id
 * @owners: owners that there are, with pages or without
 * @held: pages now; under cpa_lock
 * @most: pages at most so far; under cpa_lock
 *
 * There is one while there are owners or pages or the cgroup, whatever goes last.
 */
struct directmap_account {
	enum memsec_directmap_kind kind;
	struct cgroup *cgroup;
	u64 cgroup_id;
	unsigned int owners;
	u64 held;
	u64 most;
};

/**
 * union directmap_page_accounts - whose each page of a block is
 * @list: while it is a spare one
 * @of: the account of each page that is held
 */
union directmap_page_accounts {
	struct list_head list;
	struct directmap_account *of[DIRECTMAP_2M_PAGES];
};

/**
 * struct directmap_block - a range that one entry mapped, or could map
 * @list: while it is not in the table of blocks, or in the hands of the worker
 * @due: in a queue of unused blocks; expires when to ask about it
 * @queue: which
 * @pfn: its first page
 * @level: of the entry, PG_LEVEL_2M or PG_LEVEL_1G
 * @table: the page table that took the place of the entry; NULL when memsec did
 *	not split it
 * @prot: of the entry for which the table is filled
 * @held: pages that must not be mapped by such an entry; of 2 MiB only
 * @account: where all of those are counted, if @accounts is NULL
 * @accounts: where each of them is, since they are not all of one account
 * @unused_ns: since when there are none
 * @kind: why the range was split last
 * @cgroup_id: for whom
 * @ahead_of: the id of the owner for whom it was split ahead, until pages are
 *	held
 * @collapse: the policy wants it back in one piece
 */
struct directmap_block {
	struct list_head list;
	struct timerqueue_node due;
	struct timerqueue_head *queue;
	unsigned long pfn;
	int level;
	struct page *table;
	pgprot_t prot;
	unsigned int held;
	struct directmap_account *account;
	union directmap_page_accounts *accounts;
	u64 unused_ns;
	enum memsec_directmap_kind kind;
	u64 cgroup_id;
	u64 ahead_of;
	bool collapse;
};

/**
 * struct directmap_op - an operation on a range
 * @kind: why
 * @cgroup_id: for whom
 * @owner: id of the owner
 * @account: where to count pages that it takes
 * @pfn: first page
 * @end: the page after the last
 * @ahead: first page to split ahead
 * @ahead_end: the page after the last of those
 * @seen_ahead: pages that the owner had ahead when it asked
 * @reserved: how many it counts more while it goes ahead
 * @split: entries of 2 MiB have to be split, not only larger ones
 * @unmap: pages have to be unmapped
 * @later: but by directmap_unmap(), when all of the range is held
 * @spare: blocks that may be needed, with page tables
 * @spare_accounts: what a block needs that comes to be of more than one account
 * @want_accounts: how many more of those are needed
 * @splits: entries split
 * @splits_1g: how many of those were of 1 GiB
 * @splits_ahead: how many of them were not needed for this range
 * @went_ahead: blocks split ahead, less those of before that are held now
 * @lock_holds: how often cpa_lock was taken
 * @tlb_flushes: of all CPUs
 */
struct directmap_op {
	enum memsec_directmap_kind kind;
	u64 cgroup_id;
	u64 owner;
	struct directmap_account *account;
	unsigned long pfn;
	unsigned long end;
	unsigned long ahead;
	unsigned long ahead_end;
	long seen_ahead;
	long reserved;
	bool split;
	bool unmap;
	bool later;
	struct list_head spare;
	struct list_head spare_accounts;
	unsigned int want_accounts;
	unsigned int splits;
	unsigned int splits_1g;
	unsigned int splits_ahead;
	int went_ahead;
	unsigned int lock_holds;
	unsigned int tlb_flushes;
};

/**
 * struct directmap_pass - what a pass of the collapse did
 * @dead: blocks to free when nobody can be walking their tables
 * @collapsed: entries of 2 MiB put back
 * @collapsed_1g: entries of 1 GiB put back
 * @refused: blocks whose pages are not mapped alike
 */
struct directmap_pass {
	struct list_head dead;
	unsigned int collapsed;
	unsigned int collapsed_1g;
	unsigned int refused;
};

/* How long a block is left alone whose pages are not mapped alike. */
#define DIRECTMAP_ASK_AGAIN_NS	(30ULL * NSEC_PER_SEC)

/* directmap.c */
void directmap_count(const struct directmap_op *op);
unsigned long directmap_max_chunk(void);
void directmap_call_worker(unsigned long delay);
void directmap_collapse_pass(void);

/* directmap_boot.c */
bool directmap_stays_split(void);
void directmap_split_all(unsigned long pfn, unsigned long end);

/* directmap_map.c */
struct directmap_block *directmap_block_find(unsigned long pfn, int level);
bool directmap_block_any_held(unsigned long pfn);
void directmap_block_forget(struct directmap_block *block);
void directmap_block_free(struct directmap_block *block);
unsigned long directmap_entry_pages(unsigned long pfn, unsigned long end);
struct directmap_block *directmap_block_new(unsigned long pfn, int level,
					    bool table, gfp_t gfp);
int directmap_hold(struct directmap_op *op);
int directmap_split(struct directmap_op *op);
void directmap_unmap(struct directmap_op *op, unsigned long chunk);
void directmap_release(struct directmap_op *op);
u64 directmap_held(enum memsec_directmap_kind kind);

/* directmap_owners.c */
struct cgroup *directmap_cgroup_get(void);
struct directmap_account *directmap_account_find(enum memsec_directmap_kind kind,
						 u64 cgroup_id);
void directmap_accounts_prune(void);
union directmap_page_accounts *directmap_page_accounts_new(void);
int directmap_accounts_prepare(struct directmap_op *op);
int directmap_accounts_attach(struct directmap_op *op);
void directmap_accounts_drop(struct directmap_op *op);
void directmap_account_hold(struct directmap_op *op,
			    struct directmap_block *block, unsigned long pfn,
			    unsigned long pages);
void directmap_account_release(struct directmap_block *block,
			       unsigned long pfn, unsigned long pages);

/* directmap_collapse.c */
void directmap_block_used(struct directmap_block *block);
void directmap_block_unused(struct directmap_block *block);
u64 directmap_unused(void);
void directmap_ask_again(void);
void directmap_due(struct list_head *due, unsigned int max, u64 now);
bool directmap_next_due(u64 *ns);
void directmap_collapse(struct list_head *due, struct directmap_pass *pass);
void directmap_free(struct list_head *dead);

#ifdef CONFIG_MEMSEC_DIRECTMAP

static inline unsigned long directmap_block_pages(int level)
{
	return page_level_size(level) / PAGE_SIZE;
}

/* Kernel text runs elsewhere; its alias in the direct map is not for us to merge. */
static inline bool directmap_is_kernel(unsigned long pfn, unsigned long pages)
{
	return pfn <= PHYS_PFN(__pa_symbol(_end)) &&
	       pfn + pages > PHYS_PFN(__pa_symbol(_text));
}

static inline pteval_t directmap_global_bit(void)
{
	return __default_kernel_pte_mask & _PAGE_GLOBAL;
}

#endif /* CONFIG_MEMSEC_DIRECTMAP */

#endif /* _MM_MEMSEC_DIRECTMAP_H */
