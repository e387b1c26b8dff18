/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * facts.h: what facts amount to, for several policies.
 */
#ifndef MEMSEC_POLICIES_FACTS_H
#define MEMSEC_POLICIES_FACTS_H

#include "memsec.bpf.h"

#define PAGE_SIZE	4096
/* What is split is this large, or more. */
#define ENTRY_PAGES	512

/* Pages that the owner may still take beyond what is split for it when this is. */
static __always_inline __u64 pages_left(const struct memsec_directmap_ctx *d, int down)
{
	__u64 room = (down ? d->pfn : -(d->pfn + d->pages)) % ENTRY_PAGES;
	__u64 seen_to = d->done + d->pages + room + d->ahead;

	if (!d->total)
		return MEMSEC_DIRECTMAP_MAX_AHEAD;
	return d->total > seen_to ? d->total - seen_to : 0;
}

/* Whole entries that one guest has: a mapping of 2 MiB of them is safe. */
static __always_inline int is_whole(const struct memsec_directmap_ctx *d)
{
	return d->kind == MEMSEC_DIRECTMAP_GUEST && (d->pfn | d->pages) % ENTRY_PAGES == 0;
}

/* The answer to memsec_ops.xpfo that xpfo.protect asks for. */
static __always_inline __u64 protected_memory(__u64 protect)
{
	switch (protect) {
	case MEMSEC_PROTECT_NONE:
		return 0;
	case MEMSEC_PROTECT_ANONYMOUS:
		return MEMSEC_XPFO_ANON;
	default:
		return MEMSEC_XPFO_ALL;
	}
}

static __always_inline __u64 min_of(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

static __always_inline __u64 max_of(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

#endif /* MEMSEC_POLICIES_FACTS_H */
