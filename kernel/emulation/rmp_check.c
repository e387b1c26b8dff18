// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hardware would do when the host writes to its memory.
 */
#include <linux/cleanup.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/set_memory.h>

#include "rmp_model.h"

/**
 * rmp_model_write_faults() - Would a write of the host fault?
 * @rmp: the table
 * @pfn: the page written to
 * @level: of the entry that maps it in the host
 *
 * A write through an entry of more than 4 KiB counts as one to all of the 2 MiB
 * around it, APM volume 2, 15.36.10.
 *
 * Context: Any but interrupts.
 * Return: whether it would.
 */
bool rmp_model_write_faults(struct rmp_table *rmp, u64 pfn, unsigned int level)
{
	bool faults;

	rmp_lock(rmp, pfn);
	faults = level == PG_LEVEL_4K ? rmp->entries[pfn].lo & RMP_ASSIGNED :
					rmp_any_assigned(rmp, pfn);
	rmp_unlock(rmp, pfn);

	return faults;
}

/* The level of the entry through which a page can be written; 0 when it cannot. */
static unsigned int writable_level(u64 pfn)
{
	unsigned int level;
	pte_t *entry;
	pte_t value;

	guard(rcu)();

	entry = lookup_address((unsigned long)pfn_to_kaddr(pfn), &level);
	if (!entry)
		return 0;

	value = READ_ONCE(*entry);

	return pte_present(value) && pte_write(value) ? level : 0;
}

/**
 * rmp_model_violations() - Entries of 2 MiB that the direct map is too coarse for
 * @rmp: the table
 * @pfn: a page in the 2 MiB
 *
 * No entry of the direct map that can be written through may be larger than the
 * entry of an assigned page. The direct map is to be as fine before an entry
 * becomes so, and until it is so no more; so it has to be while none changes.
 *
 * Context: Any but interrupts.
 * Return: how many.
 */
u64 rmp_model_violations(struct rmp_table *rmp, u64 pfn)
{
	const struct rmp_entry *entry;
	unsigned int level;
	u64 bad = 0;
	int i;

	pfn = ALIGN_DOWN(pfn, RMP_2M_PAGES);
	entry = &rmp->entries[pfn];

	rmp_lock(rmp, pfn);
	level = writable_level(pfn);
	if (entry->lo & RMP_2M)
		bad = level > PG_LEVEL_2M;
	else if (level > PG_LEVEL_4K)
		for (i = 0; i < RMP_2M_PAGES; i++)
			bad += !!(entry[i].lo & RMP_ASSIGNED);
	rmp_unlock(rmp, pfn);

	return bad;
}
