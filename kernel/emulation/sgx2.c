// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ENCLS leaves that change initialized enclaves (SGX2).
 *
 * What they change waits for the enclave's EACCEPT. ENCLU is not modelled, so
 * it waits for ever.
 */
#include <linux/align.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "sgx_model.h"

static bool enclave_initialized(struct sgx_epc *epc,
				const struct sgx_epcm *secs)
{
	return sgx_epcm_secs(epc, secs)->arch.attributes & SGX_ATTR_INIT;
}

/* EAUG with the page locked and free, the SECS locked and its type checked. */
static int eaug_locked(struct sgx_epc *epc, const struct sgx_pageinfo *pginfo,
		       struct sgx_epcm *page, struct sgx_epcm *secs_page)
{
	const struct sgx_secs *secs = &sgx_epcm_secs(epc, secs_page)->arch;

	if (!enclave_initialized(epc, secs_page))
		return SGX_MODEL_GP;
	/* Below the base the difference is huge. */
	if (pginfo->addr - secs->base >= secs->size)
		return SGX_MODEL_GP;

	clear_page(sgx_epcm_page(epc, page));
	sgx_epcm_set(page, SGX_PAGE_TYPE_REG,
		     SGX_SECINFO_R | SGX_SECINFO_W | SGX_MODEL_PENDING,
		     pginfo->addr, secs_page);
	return 0;
}

/**
 * sgx_model_eaug() - EAUG, SDM 40.3: add a zeroed page to an enclave
 * @epc: page cache
 * @pginfo: PAGEINFO with SECS and linear address
 * @addr: EPC page
 *
 * Context: Preemption disabled.
 * Return: 0, or a fault: #PF when @addr is no unused EPC page or the SECS is
 * none, #GP for the rest.
 */
int sgx_model_eaug(struct sgx_epc *epc, const struct sgx_pageinfo *pginfo,
		   void *addr)
{
	struct sgx_epcm *page, *secs;
	int ret;

	if (!IS_ALIGNED((unsigned long)pginfo, sizeof(*pginfo)) ||
	    !PAGE_ALIGNED(addr))
		return SGX_MODEL_GP;
	page = sgx_epcm_find(epc, addr);
	if (!page)
		return SGX_MODEL_PF;
	if (!PAGE_ALIGNED(pginfo->secs) || !PAGE_ALIGNED(pginfo->addr) ||
	    pginfo->contents || pginfo->metadata)
		return SGX_MODEL_GP;
	secs = sgx_epcm_find(epc, (void *)(unsigned long)pginfo->secs);
	if (!secs)
		return SGX_MODEL_PF;

	if (!sgx_epcm_lock(page))
		return SGX_MODEL_GP;
	ret = SGX_MODEL_PF;
	if (page->valid)
		goto unlock_page;
	ret = SGX_MODEL_GP;
	if (!sgx_epcm_lock_shared(secs))
		goto unlock_page;
	ret = SGX_MODEL_PF;
	if (sgx_epcm_is(secs, SGX_PAGE_TYPE_SECS))
		ret = eaug_locked(epc, pginfo, page, secs);
	sgx_epcm_unlock_shared(secs);
unlock_page:
	sgx_epcm_unlock(page);
	return ret;
}

static int check_operands(const struct sgx_secinfo *secinfo, const void *addr)
{
	if (!IS_ALIGNED((unsigned long)secinfo, sizeof(*secinfo)) ||
	    !PAGE_ALIGNED(addr))
		return SGX_MODEL_GP;
	if (!sgx_model_reachable((unsigned long)secinfo))
		return SGX_MODEL_PF;
	if ((secinfo->flags & SGX_SECINFO_RESERVED_MASK) ||
	    memchr_inv(secinfo->reserved, 0, sizeof(secinfo->reserved)))
		return SGX_MODEL_GP;

	return 0;
}

static int emodpr_locked(struct sgx_epc *epc, struct sgx_epcm *page, u64 perm)
{
	if (!page->valid)
		return SGX_MODEL_PF;
	/*
	 * The type comes second: software learns from the #PF of a trimmed
	 * page that the enclave has accepted the trimming.
	 */
	if (page->state & (SGX_MODEL_PENDING | SGX_MODEL_MODIFIED))
		return SGX_PAGE_NOT_MODIFIABLE;
	if (page->type != SGX_PAGE_TYPE_REG)
		return SGX_MODEL_PF;
	if (!enclave_initialized(epc, page->secs))
		return SGX_MODEL_GP;

	page->state &= perm | ~SGX_SECINFO_PERMISSION_MASK;
	page->state |= SGX_MODEL_PR;
	return 0;
}

/**
 * sgx_model_emodpr() - EMODPR, SDM 40.3: take permissions of a page away
 * @epc: page cache
 * @secinfo: SECINFO with the permissions that may stay
 * @addr: EPC page
 *
 * Context: Preemption disabled.
 * Return: 0, SGX_PAGE_NOT_MODIFIABLE for a page that waits for EACCEPT,
 * SGX_EPC_PAGE_CONFLICT, or a fault: #PF when @addr is no regular page, #GP
 * for the rest.
 */
int sgx_model_emodpr(struct sgx_epc *epc, const struct sgx_secinfo *secinfo,
		     void *addr)
{
	struct sgx_epcm *page;
	int ret;

	ret = check_operands(secinfo, addr);
	if (ret)
		return ret;
	page = sgx_epcm_find(epc, addr);
	if (!page)
		return SGX_MODEL_PF;
	if ((secinfo->flags & SGX_SECINFO_W) && !(secinfo->flags & SGX_SECINFO_R))
		return SGX_MODEL_GP;

	if (!sgx_epcm_lock(page))
		return SGX_EPC_PAGE_CONFLICT;
	ret = emodpr_locked(epc, page,
			    secinfo->flags & SGX_SECINFO_PERMISSION_MASK);
	sgx_epcm_unlock(page);
	return ret;
}

static int emodt_locked(struct sgx_epc *epc, struct sgx_epcm *page, u64 type)
{
	if (!page->valid)
		return SGX_MODEL_PF;
	if (page->type != SGX_PAGE_TYPE_REG &&
	    !(page->type == SGX_PAGE_TYPE_TCS && type == SGX_PAGE_TYPE_TRIM))
		return SGX_MODEL_PF;
	if (page->state & (SGX_MODEL_PENDING | SGX_MODEL_MODIFIED))
		return SGX_PAGE_NOT_MODIFIABLE;
	if (!enclave_initialized(epc, page->secs))
		return SGX_MODEL_GP;

	page->type = type;
	page->state = SGX_MODEL_MODIFIED;
	return 0;
}

/**
 * sgx_model_emodt() - EMODT, SDM 40.3: change the type of a page
 * @epc: page cache
 * @secinfo: SECINFO with the new type, TCS or TRIM
 * @addr: EPC page
 *
 * Context: Preemption disabled.
 * Return: 0, SGX_PAGE_NOT_MODIFIABLE for a page that waits for EACCEPT,
 * SGX_EPC_PAGE_CONFLICT, or a fault: #PF when @addr is neither a regular page
 * nor a TCS to be trimmed, #GP for the rest.
 */
int sgx_model_emodt(struct sgx_epc *epc, const struct sgx_secinfo *secinfo,
		    void *addr)
{
	struct sgx_epcm *page;
	u64 type;
	int ret;

	ret = check_operands(secinfo, addr);
	if (ret)
		return ret;
	page = sgx_epcm_find(epc, addr);
	if (!page)
		return SGX_MODEL_PF;
	type = (secinfo->flags & SGX_SECINFO_PAGE_TYPE_MASK) >> 8;
	if (type != SGX_PAGE_TYPE_TCS && type != SGX_PAGE_TYPE_TRIM)
		return SGX_MODEL_GP;

	if (!sgx_epcm_lock(page))
		return SGX_EPC_PAGE_CONFLICT;
	ret = emodt_locked(epc, page, type);
	sgx_epcm_unlock(page);
	return ret;
}
