/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of the RMP, the table of who owns which page in SEV-SNP, and of the
 * instructions with which a hypervisor changes it.
 *
 * Modelled: for each page whether it is assigned, to which ASID, at which GPA,
 * in a 4 KiB or a 2 MiB entry, and whether it is immutable; what RMPUPDATE and
 * PSMASH check and return; and which writes of the host would fault.
 *
 * Not modelled: encryption, the pages that belong to the firmware, VMPLs,
 * PVALIDATE and RMPADJUST, which only guests execute. Software reads and writes
 * private pages with ordinary loads and stores; rmp_model_write_faults() says
 * where hardware would stop it.
 *
 * The instructions are described in AMD's APM, volume 3, PSMASH and RMPUPDATE,
 * the checks of accesses in volume 2, 15.36.10.
 */
#ifndef _MM_MEMSEC_EMULATION_RMP_H
#define _MM_MEMSEC_EMULATION_RMP_H

#include <linux/bits.h>
#include <linux/pgtable.h>
#include <linux/types.h>
#include <asm/sev.h>

/* Results in EAX. RMPUPDATE_FAIL_OVERLAP is in asm/sev.h. */
#define RMP_FAIL_INPUT		1
#define RMP_FAIL_PERMISSION	2

/* Where the processors that Linux knows have what is in an entry. */
#define RMP_ASSIGNED		BIT_ULL(0)
#define RMP_2M			BIT_ULL(1)
#define RMP_IMMUTABLE		BIT_ULL(2)
#define RMP_GPA			GENMASK_ULL(50, 12)
#define RMP_ASID		GENMASK_ULL(60, 51)

/* In the part of the first entry of 2 MiB that is the processor's own. */
#define RMP_LOCK_BIT		63

#define RMP_2M_PAGES		PTRS_PER_PMD

/**
 * struct rmp_entry - what is known of a page
 * @lo: RMP_ASSIGNED and so on
 * @hi: zero, but for the lock
 */
struct rmp_entry {
	u64 lo;
	unsigned long hi;
};

/**
 * struct rmp_table - an RMP
 * @entries: an entry a page, in whole 2 MiB
 * @nr_pages: how many
 */
struct rmp_table {
	struct rmp_entry *entries;
	u64 nr_pages;
};

/* rmp.c */
void rmp_lock(struct rmp_table *rmp, u64 pfn) __acquires(bitlock);
void rmp_unlock(struct rmp_table *rmp, u64 pfn) __releases(bitlock);
bool rmp_any_assigned(const struct rmp_table *rmp, u64 pfn);
int rmp_model_update(struct rmp_table *rmp, u64 paddr,
		     const struct rmp_state *state);
int rmp_model_psmash(struct rmp_table *rmp, u64 paddr);

/* rmp_check.c */
bool rmp_model_write_faults(struct rmp_table *rmp, u64 pfn, unsigned int level);
u64 rmp_model_violations(struct rmp_table *rmp, u64 pfn);

/* rmp_setup.c */
extern struct rmp_table rmp_model_table;

#endif /* _MM_MEMSEC_EMULATION_RMP_H */
