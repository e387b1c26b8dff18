/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of the SGX page cache and of the ENCLS leaves that Linux uses.
 *
 * Modelled: the EPCM (the CPU's table of EPC pages), who owns which page, page
 * types and permissions, version arrays, block and track, what each leaf
 * checks, returns and faults on, and the conflicts of leaves that run on the
 * same page at the same time.
 *
 * Not modelled: encryption, MRENCLAVE (a checksum stands in for it), RSA
 * signatures, launch tokens, and ENCLU: no CPU is ever inside an enclave.
 * Software reads and writes EPC pages with ordinary loads and stores, which
 * hardware would turn into abort-page accesses.
 *
 * Section numbers in comments are those of the Intel SDM, volume 3D, in the
 * edition of May 2018 (325462-067). Later editions have the same sections in
 * chapters of other numbers.
 */
#ifndef _MM_MEMSEC_EMULATION_SGX_H
#define _MM_MEMSEC_EMULATION_SGX_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <asm/sgx.h>
#include <asm/trapnr.h>

/* What a leaf returns for a fault; see SGX_ENCLS_FAULT_FLAG. */
#define SGX_MODEL_GP		((int)(SGX_ENCLS_FAULT_FLAG | X86_TRAP_GP))
#define SGX_MODEL_PF		((int)(SGX_ENCLS_FAULT_FLAG | X86_TRAP_PF))

/* Error codes that the driver has no name for, SDM table 40-4. */
enum sgx_model_error {
	SGX_INVALID_SIG_STRUCT		= 1,
	SGX_INVALID_ATTRIBUTE		= 2,
	SGX_BLKSTATE			= 3,
	SGX_NOTBLOCKABLE		= 5,
	SGX_PG_INVLD			= 6,
	SGX_MAC_COMPARE_FAIL		= 9,
	SGX_PAGE_NOT_BLOCKED		= 10,
	SGX_VA_SLOT_OCCUPIED		= 12,
	SGX_PG_IS_SECS			= 18,
	SGX_PAGE_NOT_DEBUGGABLE		= 21,
};

/* SECINFO.FLAGS bits that only the CPU sets, SDM 37.11. */
#define SGX_MODEL_PENDING	BIT(3)
#define SGX_MODEL_MODIFIED	BIT(4)
#define SGX_MODEL_PR		BIT(5)
#define SGX_MODEL_STATE_MASK	GENMASK(5, 0)

/* ATTRIBUTES that ECREATE accepts, XFRM likewise: x87 and SSE. */
#define SGX_MODEL_ATTRIBUTES	(SGX_ATTR_DEBUG | SGX_ATTR_MODE64BIT | \
				 SGX_ATTR_PROVISIONKEY | SGX_ATTR_EINITTOKENKEY)
#define SGX_MODEL_XFRM		3ULL

/* log2 of the largest enclave, 32-bit and 64-bit. */
#define SGX_MODEL_SIZE_LOG2_32	31
#define SGX_MODEL_SIZE_LOG2_64	36

/* Contents of a page that holds nothing: a use after free is plain to see. */
#define SGX_MODEL_POISON	0x5ca1ab1e0ddba11fULL

/**
 * struct sgx_epcm - the CPU's knowledge of one EPC page
 * @lock: 0 is free, -1 one leaf owns the page, n > 0 that many leaves read it
 * @measuring: the SECS's measurement is being updated, SECS pages only
 * @valid: the page is in use
 * @blocked: no new translations, EBLOCK
 * @type: enum sgx_page_type
 * @state: SECINFO.FLAGS without the type: R, W, X, PENDING, MODIFIED, PR
 * @addr: linear address in the enclave
 * @secs: owner; NULL for SECS and VA pages
 * @blocked_at: @epoch of @secs when the page was blocked
 * @children: pages that name this one in @secs, SECS pages only
 * @epoch: number of ETRACKs so far, SECS pages only
 *
 * All but @lock, @children, @epoch and @measuring change under @lock held
 * exclusively. A page cannot lose its SECS: EREMOVE and EWB of a SECS refuse
 * while there are children.
 */
struct sgx_epcm {
	atomic_t lock;
	atomic_t measuring;
	bool valid;
	bool blocked;
	u8 type;
	u8 state;
	u64 addr;
	struct sgx_epcm *secs;
	u64 blocked_at;
	atomic_long_t children;
	atomic64_t epoch;
};

/**
 * struct sgx_epc - a page cache
 * @base: first page, in the kernel's address space
 * @nr_pages: number of pages
 * @epcm: one entry a page
 * @last_eid: the enclave identifier given out last
 * @last_version: the page version given out last; 0 means an empty VA slot
 */
struct sgx_epc {
	void *base;
	unsigned long nr_pages;
	struct sgx_epcm *epcm;
	atomic64_t last_eid;
	atomic64_t last_version;
};

/**
 * union sgx_model_secs - what the CPU keeps in a SECS page
 * @arch: the part that software gives to ECREATE
 * @words: all of the page; @words[SGX_MODEL_EID] is the enclave identifier
 */
union sgx_model_secs {
	struct sgx_secs arch;
	u64 words[PAGE_SIZE / sizeof(u64)];
};

#define SGX_MODEL_EID	(PAGE_SIZE / sizeof(u64) - 1)

/* sgx_epcm.c */
struct sgx_epcm *sgx_epcm_find(struct sgx_epc *epc, const void *addr);
void *sgx_epcm_page(struct sgx_epc *epc, const struct sgx_epcm *page);
bool sgx_epcm_lock(struct sgx_epcm *page);
void sgx_epcm_unlock(struct sgx_epcm *page);
bool sgx_epcm_lock_shared(struct sgx_epcm *page);
void sgx_epcm_unlock_shared(struct sgx_epcm *page);
void sgx_epcm_set(struct sgx_epcm *page, enum sgx_page_type type, u64 state,
		  u64 addr, struct sgx_epcm *secs);
void sgx_epcm_clear(struct sgx_epc *epc, struct sgx_epcm *page);
unsigned long sgx_epcm_used(const struct sgx_epc *epc);
bool sgx_model_reachable(u64 addr);

static inline union sgx_model_secs *sgx_epcm_secs(struct sgx_epc *epc,
						  const struct sgx_epcm *secs)
{
	return sgx_epcm_page(epc, secs);
}

static inline bool sgx_epcm_is(const struct sgx_epcm *page,
			       enum sgx_page_type type)
{
	return page->valid && page->type == type;
}

/* sgx.c */
int sgx_model_ecreate(struct sgx_epc *epc, const struct sgx_pageinfo *pginfo,
		      void *addr);
int sgx_model_eadd(struct sgx_epc *epc, const struct sgx_pageinfo *pginfo,
		   void *addr);
int sgx_model_eextend(struct sgx_epc *epc, void *secs_addr, void *addr);
int sgx_model_einit(struct sgx_epc *epc, const struct sgx_sigstruct *sig,
		    void *secs_addr, const void *token);
int sgx_model_eremove(struct sgx_epc *epc, void *addr);
int sgx_model_edbgrd(struct sgx_epc *epc, void *addr, unsigned long *data);
int sgx_model_edbgwr(struct sgx_epc *epc, void *addr, unsigned long data);

/* sgx_paging.c */
int sgx_model_epa(struct sgx_epc *epc, unsigned long type, void *addr);
int sgx_model_eblock(struct sgx_epc *epc, void *addr);
int sgx_model_etrack(struct sgx_epc *epc, void *secs_addr);
int sgx_model_ewb(struct sgx_epc *epc, struct sgx_pageinfo *pginfo, void *addr,
		  u64 *slot);
int sgx_model_eldu(struct sgx_epc *epc, const struct sgx_pageinfo *pginfo,
		   void *addr, u64 *slot);

/* sgx2.c */
int sgx_model_eaug(struct sgx_epc *epc, const struct sgx_pageinfo *pginfo,
		   void *addr);
int sgx_model_emodpr(struct sgx_epc *epc, const struct sgx_secinfo *secinfo,
		     void *addr);
int sgx_model_emodt(struct sgx_epc *epc, const struct sgx_secinfo *secinfo,
		    void *addr);

/* sgx_encls.c */
extern struct sgx_epc sgx_model_epc;

#endif /* _MM_MEMSEC_EMULATION_SGX_H */
