// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ENCLS leaves that move EPC pages to normal memory and back.
 *
 * Hardware encrypts an evicted page and authenticates it with AES-GCM. Here the
 * contents are combined with a key stream that anybody can compute, so that a
 * page which comes back without ELDU is plainly wrong, and a checksum stands
 * in for the MAC. It finds every change of a single word; it stops nobody.
 */
#include <linux/align.h>
#include <linux/bitops.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "sgx_model.h"

#define PCMD_ALIGN	sizeof(struct sgx_pcmd)

/* Odd, so that a multiplication loses nothing. */
#define MIX		0x9e3779b97f4a7c15ULL

/* What the MAC covers besides the contents. */
struct mac_header {
	u64 eid;
	u64 addr;
	u64 flags;
	u64 version;
};

static u64 mac_begin(const struct mac_header *header)
{
	u64 mac = MIX;

	mac = (mac ^ header->eid) * MIX;
	mac = (mac ^ header->addr) * MIX;
	mac = (mac ^ header->flags) * MIX;
	mac = (mac ^ header->version) * MIX;
	return mac ^ (mac >> 32);
}

/* Both return the MAC of the plain text. */
static u64 page_encode(u64 *dst, const u64 *src, const struct mac_header *header)
{
	u64 mac = mac_begin(header), key = header->version * MIX;
	unsigned int i;

	for (i = 0; i < PAGE_SIZE / sizeof(u64); i++) {
		mac = (mac ^ src[i]) * MIX;
		dst[i] = src[i] ^ key;
	}

	return mac;
}

static u64 page_decode(u64 *dst, const u64 *src, const struct mac_header *header)
{
	u64 mac = mac_begin(header), key = header->version * MIX;
	unsigned int i;

	for (i = 0; i < PAGE_SIZE / sizeof(u64); i++) {
		dst[i] = src[i] ^ key;
		mac = (mac ^ dst[i]) * MIX;
	}

	return mac;
}

static bool has_owner(u64 type)
{
	return type == SGX_PAGE_TYPE_REG || type == SGX_PAGE_TYPE_TCS ||
	       type == SGX_PAGE_TYPE_TRIM;
}

static u64 secs_eid(struct sgx_epc *epc, const struct sgx_epcm *secs)
{
	return sgx_epcm_secs(epc, secs)->words[SGX_MODEL_EID];
}

/**
 * sgx_model_epa() - EPA, SDM 40.3: make an EPC page an empty version array
 * @epc: page cache
 * @type: must be SGX_PAGE_TYPE_VA
 * @addr: EPC page
 *
 * Context: Preemption disabled.
 * Return: 0, or a fault: #PF when @addr is no unused EPC page, #GP for the rest.
 */
int sgx_model_epa(struct sgx_epc *epc, unsigned long type, void *addr)
{
	struct sgx_epcm *page;
	int ret = SGX_MODEL_PF;

	if (type != SGX_PAGE_TYPE_VA || !PAGE_ALIGNED(addr))
		return SGX_MODEL_GP;
	page = sgx_epcm_find(epc, addr);
	if (!page)
		return SGX_MODEL_PF;
	if (!sgx_epcm_lock(page))
		return SGX_MODEL_GP;

	if (!page->valid) {
		clear_page(addr);
		sgx_epcm_set(page, SGX_PAGE_TYPE_VA, 0, 0, NULL);
		ret = 0;
	}

	sgx_epcm_unlock(page);
	return ret;
}

static int eblock_locked(struct sgx_epcm *page)
{
	if (!page->valid)
		return SGX_PG_INVLD;
	if (page->type == SGX_PAGE_TYPE_SECS)
		return SGX_PG_IS_SECS;
	if (!has_owner(page->type))
		return SGX_NOTBLOCKABLE;
	if (page->blocked)
		return SGX_BLKSTATE;

	page->blocked = true;
	page->blocked_at = atomic64_read(&page->secs->epoch);
	return 0;
}

/**
 * sgx_model_eblock() - EBLOCK, SDM 40.3: forbid new translations of a page
 * @epc: page cache
 * @addr: EPC page
 *
 * SGX_ENTRYEPOCH_LOCKED cannot happen, ETRACK does not wait for anything.
 *
 * Context: Preemption disabled.
 * Return: 0, SGX_EPC_PAGE_CONFLICT, SGX_PG_INVLD, SGX_PG_IS_SECS,
 * SGX_NOTBLOCKABLE, SGX_BLKSTATE when it is blocked, or a fault.
 */
int sgx_model_eblock(struct sgx_epc *epc, void *addr)
{
	struct sgx_epcm *page;
	int ret;

	if (!PAGE_ALIGNED(addr))
		return SGX_MODEL_GP;
	page = sgx_epcm_find(epc, addr);
	if (!page)
		return SGX_MODEL_PF;
	if (!sgx_epcm_lock(page))
		return SGX_EPC_PAGE_CONFLICT;

	ret = eblock_locked(page);
	sgx_epcm_unlock(page);
	return ret;
}

/**
 * sgx_model_etrack() - ETRACK, SDM 40.3: begin a tracking epoch
 * @epc: page cache
 * @secs_addr: SECS of the enclave
 *
 * The previous epoch has always ended, no CPU is ever inside an enclave. So
 * SGX_PREV_TRK_INCMPL cannot happen.
 *
 * Context: Preemption disabled.
 * Return: 0, or a fault: #PF when @secs_addr is no SECS, #GP for the rest.
 */
int sgx_model_etrack(struct sgx_epc *epc, void *secs_addr)
{
	struct sgx_epcm *page;
	int ret = SGX_MODEL_PF;

	if (!PAGE_ALIGNED(secs_addr))
		return SGX_MODEL_GP;
	page = sgx_epcm_find(epc, secs_addr);
	if (!page)
		return SGX_MODEL_PF;
	if (!sgx_epcm_lock_shared(page))
		return SGX_MODEL_GP;

	if (sgx_epcm_is(page, SGX_PAGE_TYPE_SECS)) {
		atomic64_inc(&page->epoch);
		ret = 0;
	}

	sgx_epcm_unlock_shared(page);
	return ret;
}

/* Operands that EWB and ELDU have in common; both pages are looked up. */
static int paging_operands(struct sgx_epc *epc,
			   const struct sgx_pageinfo *pginfo, void *addr,
			   u64 *slot, struct sgx_epcm **page,
			   struct sgx_epcm **va)
{
	if (!IS_ALIGNED((unsigned long)pginfo, sizeof(*pginfo)) ||
	    !PAGE_ALIGNED(addr))
		return SGX_MODEL_GP;
	*page = sgx_epcm_find(epc, addr);
	if (!*page)
		return SGX_MODEL_PF;
	if (!IS_ALIGNED((unsigned long)slot, sizeof(*slot)))
		return SGX_MODEL_GP;
	*va = sgx_epcm_find(epc, slot);
	if (!*va)
		return SGX_MODEL_PF;
	if (!PAGE_ALIGNED(pginfo->contents) ||
	    !IS_ALIGNED(pginfo->metadata, PCMD_ALIGN))
		return SGX_MODEL_GP;
	if (!sgx_model_reachable(pginfo->contents) ||
	    !sgx_model_reachable(pginfo->metadata))
		return SGX_MODEL_PF;

	return 0;
}

/* May the page be evicted now? Returns 0 or why not. */
static int ewb_check(const struct sgx_epcm *page)
{
	if (has_owner(page->type)) {
		if (!page->blocked)
			return SGX_PAGE_NOT_BLOCKED;
		/* A CPU may still use translations from before the block. */
		if (atomic64_read(&page->secs->epoch) == page->blocked_at)
			return SGX_NOT_TRACKED;
	} else if (page->type == SGX_PAGE_TYPE_SECS &&
		   atomic_long_read_acquire(&page->children)) {
		return SGX_CHILD_PRESENT;
	}

	return 0;
}

/* EWB with both pages locked and valid. */
static int ewb_locked(struct sgx_epc *epc, struct sgx_pageinfo *pginfo,
		      struct sgx_epcm *page, u64 *slot)
{
	struct sgx_pcmd *pcmd = (void *)(unsigned long)pginfo->metadata;
	struct mac_header header = {
		.addr = page->addr,
		.flags = page->state | (u64)page->type << 8,
	};
	u64 mac, eid = 0;
	int ret;

	ret = ewb_check(page);
	if (ret)
		return ret;

	header.version = atomic64_inc_return(&epc->last_version);
	if (page->secs) {
		eid = secs_eid(epc, page->secs);
		header.eid = eid;
	} else if (page->type == SGX_PAGE_TYPE_SECS) {
		/* For software only: the MAC of a SECS is bound to no enclave. */
		eid = secs_eid(epc, page);
	}

	mac = page_encode((void *)(unsigned long)pginfo->contents,
			  sgx_epcm_page(epc, page), &header);

	memset(pcmd, 0, sizeof(*pcmd));
	pcmd->secinfo.flags = header.flags;
	pcmd->enclave_id = eid;
	memcpy(pcmd->mac, &mac, sizeof(mac));
	pginfo->addr = page->addr;

	/* An occupied slot is reported and lost, the page is evicted. */
	if (*slot)
		ret = SGX_VA_SLOT_OCCUPIED;
	*slot = header.version;
	sgx_epcm_clear(epc, page);
	return ret;
}

/**
 * sgx_model_ewb() - EWB, SDM 40.3: evict an EPC page to normal memory
 * @epc: page cache
 * @pginfo: PAGEINFO with destination page and PCMD; its address is written
 * @addr: EPC page
 * @slot: slot in a version array
 *
 * Context: Preemption disabled.
 * Return: 0, SGX_PAGE_NOT_BLOCKED, SGX_NOT_TRACKED when the enclave was not
 * tracked since the page was blocked, SGX_CHILD_PRESENT, SGX_VA_SLOT_OCCUPIED,
 * or a fault: #PF when one of the pages is not what it must be, #GP for the
 * rest.
 */
int sgx_model_ewb(struct sgx_epc *epc, struct sgx_pageinfo *pginfo, void *addr,
		  u64 *slot)
{
	struct sgx_epcm *page, *va;
	int ret;

	ret = paging_operands(epc, pginfo, addr, slot, &page, &va);
	if (ret)
		return ret;
	if (pginfo->addr || pginfo->secs)
		return SGX_MODEL_GP;

	if (!sgx_epcm_lock(page))
		return SGX_MODEL_GP;
	/* A slot in the page itself ends here too. */
	ret = SGX_MODEL_GP;
	if (!sgx_epcm_lock_shared(va))
		goto unlock_page;
	ret = SGX_MODEL_PF;
	if (page->valid && sgx_epcm_is(va, SGX_PAGE_TYPE_VA))
		ret = ewb_locked(epc, pginfo, page, slot);
	sgx_epcm_unlock_shared(va);
unlock_page:
	sgx_epcm_unlock(page);
	return ret;
}

/* ELDU with the page free, the slot's page a version array, the SECS locked. */
static int eldu_locked(struct sgx_epc *epc, const struct sgx_pageinfo *pginfo,
		       struct sgx_epcm *page, struct sgx_epcm *secs, u64 *slot)
{
	const struct sgx_pcmd *pcmd = (void *)(unsigned long)pginfo->metadata;
	struct mac_header header = {
		.eid = secs ? secs_eid(epc, secs) : 0,
		.addr = pginfo->addr,
		.flags = pcmd->secinfo.flags,
		/* No page was evicted with version 0, an empty slot. */
		.version = *slot,
	};
	void *contents = sgx_epcm_page(epc, page);
	u64 mac;

	mac = page_decode(contents, (void *)(unsigned long)pginfo->contents,
			  &header);
	if (memcmp(pcmd->mac, &mac, sizeof(mac))) {
		/* Nothing of what failed to authenticate stays in the EPC. */
		memset64(contents, SGX_MODEL_POISON, PAGE_SIZE / sizeof(u64));
		return SGX_MAC_COMPARE_FAIL;
	}

	*slot = 0;
	sgx_epcm_set(page, header.flags >> 8, header.flags, header.addr, secs);
	return 0;
}

/* ELDU with the page locked and free and the slot's page a version array. */
static int eldu_with_owner(struct sgx_epc *epc,
			   const struct sgx_pageinfo *pginfo,
			   struct sgx_epcm *page, u64 *slot)
{
	const struct sgx_pcmd *pcmd = (void *)(unsigned long)pginfo->metadata;
	struct sgx_epcm *secs;
	int ret = SGX_MODEL_PF;

	if (!has_owner((pcmd->secinfo.flags & SGX_SECINFO_PAGE_TYPE_MASK) >> 8))
		return eldu_locked(epc, pginfo, page, NULL, slot);

	if (!PAGE_ALIGNED(pginfo->secs))
		return SGX_MODEL_GP;
	secs = sgx_epcm_find(epc, (void *)(unsigned long)pginfo->secs);
	if (!secs)
		return SGX_MODEL_PF;
	if (!sgx_epcm_lock_shared(secs))
		return SGX_MODEL_GP;
	if (sgx_epcm_is(secs, SGX_PAGE_TYPE_SECS))
		ret = eldu_locked(epc, pginfo, page, secs, slot);
	sgx_epcm_unlock_shared(secs);
	return ret;
}

/**
 * sgx_model_eldu() - ELDU, SDM 40.3: load an evicted page, unblocked
 * @epc: page cache
 * @pginfo: PAGEINFO with source page, PCMD, SECS and linear address
 * @addr: EPC page
 * @slot: slot in a version array; emptied
 *
 * Context: Preemption disabled.
 * Return: 0, SGX_MAC_COMPARE_FAIL when contents, PCMD, address, owner or
 * version are not those that were evicted, or a fault: #PF when one of the
 * pages is not what it must be, #GP for the rest.
 */
int sgx_model_eldu(struct sgx_epc *epc, const struct sgx_pageinfo *pginfo,
		   void *addr, u64 *slot)
{
	struct sgx_epcm *page, *va;
	int ret;

	ret = paging_operands(epc, pginfo, addr, slot, &page, &va);
	if (ret)
		return ret;

	if (!sgx_epcm_lock(page))
		return SGX_MODEL_GP;
	/* A slot in the page itself ends here too. */
	ret = SGX_MODEL_GP;
	if (!sgx_epcm_lock_shared(va))
		goto unlock_page;
	ret = SGX_MODEL_PF;
	if (!page->valid && sgx_epcm_is(va, SGX_PAGE_TYPE_VA))
		ret = eldu_with_owner(epc, pginfo, page, slot);
	sgx_epcm_unlock_shared(va);
unlock_page:
	sgx_epcm_unlock(page);
	return ret;
}
