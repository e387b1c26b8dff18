/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec: ASIDs of encrypted guests, as KVM has them: in bitmaps by ASID.
 *
 * A bit of @used is set from when the ASID is taken until it is recycled, one
 * of @reclaim from when it was given up until then. A range of ASIDs is of one
 * kind of guests; all ranges are recycled at once. The caller holds a lock.
 */
#ifndef _LINUX_MEMSEC_ASID_H
#define _LINUX_MEMSEC_ASID_H

#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/memsec_keyid.h>

static inline unsigned int memsec_asids_set(const unsigned long *bitmap,
					    unsigned int min, unsigned int max)
{
	unsigned int asid = min;
	unsigned int n = 0;

	for_each_set_bit_from(asid, bitmap, max + 1)
		n++;

	return n;
}

/**
 * memsec_asids_count() - Count the ASIDs of a range
 * @used: which are taken
 * @reclaim: which of them were given up
 * @min: the first of the range
 * @max: the last, less than @min when the range is empty
 * @ctx: gets total, free, dirty and retiring
 *
 * Context: Any.
 */
static inline void memsec_asids_count(const unsigned long *used,
				      const unsigned long *reclaim,
				      unsigned int min, unsigned int max,
				      struct memsec_keyid_recycle_ctx *ctx)
{
	ctx->total = min <= max ? max - min + 1 : 0;
	ctx->free = ctx->total - memsec_asids_set(used, min, max);
	ctx->dirty = memsec_asids_set(reclaim, min, max);
	ctx->retiring = 0;
}

/**
 * memsec_asids_recycle() - Caches were flushed: what was given up is free
 * @used: which are taken
 * @reclaim: which of them were given up
 * @nr: how many bits they have
 *
 * Context: Any.
 * Return: how many can be taken that could not before.
 */
static inline int memsec_asids_recycle(unsigned long *used,
				       unsigned long *reclaim, unsigned int nr)
{
	unsigned int n = bitmap_weight(reclaim, nr);

	bitmap_xor(used, used, reclaim, nr);
	bitmap_zero(reclaim, nr);

	return n;
}

/**
 * memsec_asid_take() - Take an ASID of a range
 * @pool: recycled once when none is free
 * @used: which are taken
 * @min: the first of the range
 * @max: the last
 *
 * Context: What the pool's recycle() needs.
 * Return: the ASID; -EBUSY when there is none.
 */
static inline int memsec_asid_take(struct memsec_keyid_pool *pool,
				   unsigned long *used,
				   unsigned int min, unsigned int max)
{
	unsigned int asid = find_next_zero_bit(used, max + 1, min);

	if (asid > max && memsec_keyid_pool_recycle(pool) > 0)
		asid = find_next_zero_bit(used, max + 1, min);
	if (asid > max)
		return -EBUSY;

	__set_bit(asid, used);

	return asid;
}

#endif /* _LINUX_MEMSEC_ASID_H */
