// SPDX-License-Identifier: GPL-2.0-only
/*
 * RMPUPDATE and PSMASH.
 *
 * The processor locks what it works on. Here that is the 2 MiB of the entry,
 * because an entry of a page and one of 2 MiB must not be changed at a time.
 */
#include <linux/align.h>
#include <linux/processor.h>
#include <linux/bit_spinlock.h>
#include <linux/bitfield.h>

#include "rmp_model.h"

static struct rmp_entry *first_entry(const struct rmp_table *rmp, u64 pfn)
{
	return &rmp->entries[ALIGN_DOWN(pfn, RMP_2M_PAGES)];
}

/**
 * rmp_lock() - Keep the entries of 2 MiB as they are
 * @rmp: the table
 * @pfn: a page in the 2 MiB
 *
 * Context: Any but interrupts. Disables preemption until rmp_unlock().
 */
void rmp_lock(struct rmp_table *rmp, u64 pfn)
	__acquires(bitlock)
{
	bit_spin_lock(RMP_LOCK_BIT, &first_entry(rmp, pfn)->hi);
}

/**
 * rmp_unlock() - Let others change the entries of 2 MiB
 * @rmp: the table
 * @pfn: a page in the 2 MiB
 *
 * Context: After rmp_lock().
 */
void rmp_unlock(struct rmp_table *rmp, u64 pfn)
	__releases(bitlock)
{
	bit_spin_unlock(RMP_LOCK_BIT, &first_entry(rmp, pfn)->hi);
}

/**
 * rmp_any_assigned() - Is a page of 2 MiB assigned?
 * @rmp: the table
 * @pfn: a page in the 2 MiB
 *
 * Context: After rmp_lock().
 * Return: whether one is.
 */
bool rmp_any_assigned(const struct rmp_table *rmp, u64 pfn)
{
	const struct rmp_entry *entry = first_entry(rmp, pfn);
	int i;

	for (i = 0; i < RMP_2M_PAGES; i++) {
		if (entry[i].lo & RMP_ASSIGNED)
			return true;
	}

	return false;
}

static bool state_is_valid(const struct rmp_state *state)
{
	if (state->assigned > 1 || state->pagesize > RMP_PG_SIZE_2M ||
	    state->immutable > 1 || state->rsvd ||
	    state->asid > FIELD_MAX(RMP_ASID) || (state->gpa & ~RMP_GPA))
		return false;
	if (state->pagesize == RMP_PG_SIZE_2M && !IS_ALIGNED(state->gpa, PMD_SIZE))
		return false;

	/* Nobody's page has no address in a guest. */
	return state->assigned ||
	       (!state->immutable && !state->asid && !state->gpa);
}

static bool input_is_valid(const struct rmp_table *rmp, u64 paddr, bool large)
{
	return paddr < rmp->nr_pages << PAGE_SHIFT &&
	       IS_ALIGNED(paddr, large ? PMD_SIZE : PAGE_SIZE);
}

static int update_locked(struct rmp_table *rmp, u64 pfn,
			 const struct rmp_state *state)
{
	bool large = state->pagesize == RMP_PG_SIZE_2M;
	const struct rmp_entry *first = first_entry(rmp, pfn);
	struct rmp_entry *entry = &rmp->entries[pfn];
	u64 lo = 0;
	int i;

	if (entry->lo & RMP_IMMUTABLE)
		return RMP_FAIL_PERMISSION;

	/* One that is assigned stays of its size until it is smashed or given up. */
	if (large ? !(first->lo & RMP_2M) && rmp_any_assigned(rmp, pfn) :
		    !!(first->lo & RMP_2M))
		return RMPUPDATE_FAIL_OVERLAP;

	if (state->assigned)
		lo = RMP_ASSIGNED | (large ? RMP_2M : 0) |
		     (state->immutable ? RMP_IMMUTABLE : 0) |
		     FIELD_PREP(RMP_ASID, state->asid) | state->gpa;

	for (i = 0; i < (large ? RMP_2M_PAGES : 1); i++)
		WRITE_ONCE(entry[i].lo, lo ? lo + i * PAGE_SIZE : 0);

	return 0;
}

/**
 * rmp_model_update() - RMPUPDATE, APM volume 3
 * @rmp: the table
 * @paddr: physical address of the page, RAX
 * @state: the new entry, RCX
 *
 * Context: Any but interrupts.
 * Return: EAX.
 */
int rmp_model_update(struct rmp_table *rmp, u64 paddr,
		     const struct rmp_state *state)
{
	u64 pfn = paddr >> PAGE_SHIFT;
	int ret;

	if (!state_is_valid(state) ||
	    !input_is_valid(rmp, paddr, state->pagesize == RMP_PG_SIZE_2M))
		return RMP_FAIL_INPUT;

	rmp_lock(rmp, pfn);
	ret = update_locked(rmp, pfn, state);
	rmp_unlock(rmp, pfn);

	return ret;
}

static int psmash_locked(struct rmp_table *rmp, u64 pfn)
{
	struct rmp_entry *entry = &rmp->entries[pfn];
	int i;

	if (!(entry->lo & RMP_2M))
		return RMP_FAIL_INPUT;
	if (entry->lo & RMP_IMMUTABLE)
		return RMP_FAIL_PERMISSION;

	for (i = 0; i < RMP_2M_PAGES; i++)
		WRITE_ONCE(entry[i].lo, entry[i].lo & ~RMP_2M);

	return 0;
}

/**
 * rmp_model_psmash() - PSMASH, APM volume 3: 512 entries take the place of one
 * @rmp: the table
 * @paddr: physical address of the 2 MiB, RAX
 *
 * Context: Any but interrupts.
 * Return: EAX.
 */
int rmp_model_psmash(struct rmp_table *rmp, u64 paddr)
{
	u64 pfn = paddr >> PAGE_SHIFT;
	int ret;

	if (!input_is_valid(rmp, paddr, true))
		return RMP_FAIL_INPUT;

	rmp_lock(rmp, pfn);
	ret = psmash_locked(rmp, pfn);
	rmp_unlock(rmp, pfn);

	return ret;
}
