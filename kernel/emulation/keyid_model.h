/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of memory encryption with several keys, TME-MK: where software that
 * flushes too little would lose data on hardware.
 *
 * Caches hold lines by address and KeyID, and nothing keeps the lines of two
 * KeyIDs of one page coherent. A line that was left behind by one KeyID can be
 * written back at any time, over what was written by another, and after its
 * KeyID got a new key.
 *
 * Modelled: a shadow of memory that knows for each page who can reach it and
 * what may be left of it in caches, from what software does and not from what
 * it believes; CLFLUSH, WBINVD and PCONFIG as far as they change that.
 *
 * Not modelled: encryption, and caches. A page that could be reached by a KeyID
 * counts as one with lines of it. Software reads and writes with ordinary loads
 * and stores, and nothing is lost: what would be is counted.
 *
 * Intel's description is 336907, Intel Architecture Memory Encryption
 * Technologies; PCONFIG is in the SDM, volume 2.
 */
#ifndef _MM_MEMSEC_EMULATION_KEYID_H
#define _MM_MEMSEC_EMULATION_KEYID_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/types.h>

#include "../memsec/internal.h"

/* The most KeyIDs beside 0 that are modelled. */
#define KEYID_MODEL_MAX		63

/*
 * What is known of a page. Zero is a page at boot: KeyID 0's, with lines. It is
 * free or in use since then; nobody said.
 */
#define KEYID_PAGE_KEYID	GENMASK_ULL(14, 0)
/* Between access and release. */
#define KEYID_PAGE_HELD		BIT_ULL(15)
/* Nobody reaches it, but lines may be left. */
#define KEYID_PAGE_RELEASED	BIT_ULL(16)
/* One that is released: its lines were flushed, by address. */
#define KEYID_PAGE_FLUSHED	BIT_ULL(17)
/* One that is released: how many flushes of all caches had begun then. */
#define KEYID_PAGE_EPOCH	GENMASK_ULL(63, 18)

/**
 * struct keyid_shadow - what is known of memory
 * @pages: KEYID_PAGE_KEYID and so on, one a page
 * @nr_pages: how many; calls for others are ignored
 * @begun: how many flushes of all caches have begun; each is called by its number
 * @ended: the last one that has ended
 *
 * There is no lock: a page is changed by whoever owns it.
 */
struct keyid_shadow {
	u64 *pages;
	unsigned long nr_pages;
	atomic64_t begun;
	atomic64_t ended;
};

/**
 * struct keyid_violations - pages that hardware would corrupt
 * @count: how many
 * @pfn: the first
 * @found: what was known of it
 */
struct keyid_violations {
	u64 count;
	unsigned long pfn;
	u64 found;
};

/* keyid.c */
void keyid_shadow_access(struct keyid_shadow *shadow, unsigned long pfn,
			 unsigned int pages, unsigned int keyid,
			 struct keyid_violations *bad);
void keyid_shadow_release(struct keyid_shadow *shadow, unsigned long pfn,
			  unsigned int pages, unsigned int keyid,
			  struct keyid_violations *bad);
void keyid_shadow_flush(struct keyid_shadow *shadow, unsigned long pfn,
			unsigned int keyid);
u64 keyid_shadow_flush_all_begin(struct keyid_shadow *shadow);
void keyid_shadow_flush_all_end(struct keyid_shadow *shadow, u64 number);
void keyid_shadow_program(const struct keyid_shadow *shadow, unsigned int keyid,
			  struct keyid_violations *bad);
u64 keyid_shadow_held_pages(const struct keyid_shadow *shadow);
u64 keyid_shadow_lines_pages(const struct keyid_shadow *shadow);

/* keyid_setup.c */
extern struct memsec_limit keyid_model_warn;

int keyid_model_parse(const char *arg);

#endif /* _MM_MEMSEC_EMULATION_KEYID_H */
