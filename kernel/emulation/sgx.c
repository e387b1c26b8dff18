// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ENCLS leaves that build, measure, debug and remove enclaves.
 *
 * Each leaf checks its operands in the order of the SDM's pseudocode, because
 * software sees which of two faults comes first.
 */
#include <linux/align.h>
#include <linux/bitops.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "sgx_model.h"

/* Sizes of PAGEINFO and SECINFO are their alignments as well. */
#define PAGEINFO_ALIGN		sizeof(struct sgx_pageinfo)
#define SECINFO_ALIGN		sizeof(struct sgx_secinfo)
#define EINITTOKEN_ALIGN	512

/* Bytes of a TCS that the debug leaves may reach, SDM 37.8. */
#define TCS_LIMIT		(PAGE_SIZE - SGX_TCS_RESERVED_SIZE)

/* Constants that begin a SIGSTRUCT, SDM 37.13. */
static const u64 sigstruct_header1[2] = {
	0x000000e100000006ULL, 0x0000000000010000ULL
};

static const u64 sigstruct_header2[2] = {
	0x0000006000000101ULL, 0x0000000100000060ULL
};

static u64 secinfo_type(const struct sgx_secinfo *secinfo)
{
	return (secinfo->flags & SGX_SECINFO_PAGE_TYPE_MASK) >> 8;
}

static bool secinfo_reserved(const struct sgx_secinfo *secinfo)
{
	return (secinfo->flags & SGX_SECINFO_RESERVED_MASK) ||
	       memchr_inv(secinfo->reserved, 0, sizeof(secinfo->reserved));
}

static bool secs_fields_valid(const struct sgx_secs *secs)
{
	bool mode64 = secs->attributes & SGX_ATTR_MODE64BIT;
	unsigned int max = mode64 ? SGX_MODEL_SIZE_LOG2_64 : SGX_MODEL_SIZE_LOG2_32;

	if (secs->xfrm != SGX_MODEL_XFRM ||
	    (secs->attributes & ~SGX_MODEL_ATTRIBUTES) ||
	    (secs->miscselect & SGX_MISC_RESERVED_MASK))
		return false;

	/* x87 and SSE state, MISC and GPR regions are less than a page. */
	if (!secs->ssa_frame_size)
		return false;

	if (secs->size < 2 * PAGE_SIZE || !is_power_of_2(secs->size) ||
	    secs->size >= BIT_ULL(max) || (secs->base & (secs->size - 1)))
		return false;

	if (!mode64 && (secs->base >> 32))
		return false;

	/* Both belong to key separation and sharing, which is not offered. */
	if (secs->config_svn ||
	    memchr_inv(secs->config_id, 0, sizeof(secs->config_id)))
		return false;

	return !memchr_inv(secs->reserved1, 0, sizeof(secs->reserved1)) &&
	       !memchr_inv(secs->reserved2, 0, sizeof(secs->reserved2)) &&
	       !memchr_inv(secs->reserved3, 0, sizeof(secs->reserved3)) &&
	       !memchr_inv(secs->reserved4, 0, sizeof(secs->reserved4));
}

/**
 * sgx_model_ecreate() - ECREATE, SDM 40.3: make an EPC page a SECS
 * @epc: page cache
 * @pginfo: PAGEINFO with the source SECS and a SECINFO
 * @addr: EPC page
 *
 * Context: Preemption disabled.
 * Return: 0, or a fault: #PF when @addr is no unused EPC page, #GP for the rest.
 */
int sgx_model_ecreate(struct sgx_epc *epc, const struct sgx_pageinfo *pginfo,
		      void *addr)
{
	const struct sgx_secinfo *secinfo;
	union sgx_model_secs *secs;
	struct sgx_epcm *page;
	int ret;

	if (!IS_ALIGNED((unsigned long)pginfo, PAGEINFO_ALIGN) ||
	    !PAGE_ALIGNED(addr))
		return SGX_MODEL_GP;
	page = sgx_epcm_find(epc, addr);
	if (!page)
		return SGX_MODEL_PF;
	if (!PAGE_ALIGNED(pginfo->contents) ||
	    !IS_ALIGNED(pginfo->metadata, SECINFO_ALIGN) ||
	    pginfo->addr || pginfo->secs)
		return SGX_MODEL_GP;
	if (!sgx_model_reachable(pginfo->contents) ||
	    !sgx_model_reachable(pginfo->metadata))
		return SGX_MODEL_PF;

	secinfo = (void *)(unsigned long)pginfo->metadata;
	if (secinfo_reserved(secinfo) ||
	    secinfo_type(secinfo) != SGX_PAGE_TYPE_SECS)
		return SGX_MODEL_GP;

	if (!sgx_epcm_lock(page))
		return SGX_MODEL_GP;
	ret = SGX_MODEL_PF;
	if (page->valid)
		goto unlock;

	secs = addr;
	memcpy(secs, (void *)(unsigned long)pginfo->contents, PAGE_SIZE);
	ret = SGX_MODEL_GP;
	if (!secs_fields_valid(&secs->arch))
		goto unlock;

	memset(secs->arch.mrenclave, 0, sizeof(secs->arch.mrenclave));
	memset(secs->arch.mrsigner, 0, sizeof(secs->arch.mrsigner));
	secs->arch.isv_prod_id = 0;
	secs->arch.isv_svn = 0;
	secs->words[SGX_MODEL_EID] = atomic64_inc_return(&epc->last_eid);
	sgx_epcm_set(page, SGX_PAGE_TYPE_SECS, 0, 0, NULL);
	ret = 0;
unlock:
	sgx_epcm_unlock(page);
	return ret;
}

/*
 * The stand-in for MRENCLAVE depends on what was added and in which order, but
 * anybody can forge it.
 */
static void measure(union sgx_model_secs *secs, u64 what, const u64 *data,
		    unsigned int nr)
{
	u64 digest;

	memcpy(&digest, secs->arch.mrenclave, sizeof(digest));
	digest = (digest ^ what) * 0x100000001b3ULL;
	while (nr--)
		digest = (digest ^ *data++) * 0x100000001b3ULL;
	memcpy(secs->arch.mrenclave, &digest, sizeof(digest));
}

/* EADD, EEXTEND and EINIT exclude each other on one enclave. */
static bool measuring_lock(struct sgx_epcm *secs)
{
	return !atomic_xchg_acquire(&secs->measuring, 1);
}

static void measuring_unlock(struct sgx_epcm *secs)
{
	atomic_set_release(&secs->measuring, 0);
}

static bool tcs_valid(const struct sgx_tcs *tcs, const struct sgx_secs *secs)
{
	if (memchr_inv(tcs->reserved, 0, sizeof(tcs->reserved)) ||
	    (tcs->flags & SGX_TCS_RESERVED_MASK))
		return false;

	return (secs->attributes & SGX_ATTR_MODE64BIT) ||
	       ((tcs->fs_limit & 0xfff) == 0xfff &&
		(tcs->gs_limit & 0xfff) == 0xfff);
}

/* EADD with the page and the SECS locked and their types checked. */
static int eadd_locked(struct sgx_epc *epc, const struct sgx_pageinfo *pginfo,
		       struct sgx_epcm *page, struct sgx_epcm *secs_page)
{
	const struct sgx_secinfo *secinfo =
		(void *)(unsigned long)pginfo->metadata;
	union sgx_model_secs *secs = sgx_epcm_secs(epc, secs_page);
	void *contents = sgx_epcm_page(epc, page);
	u64 type = secinfo_type(secinfo);
	u64 perm = secinfo->flags & SGX_SECINFO_PERMISSION_MASK;
	struct sgx_tcs *tcs = contents;

	memcpy(contents, (void *)(unsigned long)pginfo->contents, PAGE_SIZE);

	if (type == SGX_PAGE_TYPE_TCS && !tcs_valid(tcs, &secs->arch))
		return SGX_MODEL_GP;
	if (type == SGX_PAGE_TYPE_REG &&
	    (perm & SGX_SECINFO_W) && !(perm & SGX_SECINFO_R))
		return SGX_MODEL_GP;
	/* Below the base the difference is huge. */
	if (pginfo->addr - secs->arch.base >= secs->arch.size)
		return SGX_MODEL_GP;

	if (!measuring_lock(secs_page))
		return SGX_MODEL_GP;
	if (secs->arch.attributes & SGX_ATTR_INIT) {
		measuring_unlock(secs_page);
		return SGX_MODEL_GP;
	}

	if (type == SGX_PAGE_TYPE_TCS) {
		perm = 0;
		tcs->state = 0;
		tcs->flags &= ~(u64)SGX_TCS_DBGOPTIN;
		tcs->ssa_index = 0;
		tcs->exit_addr = 0;
	}

	measure(secs, pginfo->addr - secs->arch.base, &secinfo->flags, 1);
	sgx_epcm_set(page, type, perm, pginfo->addr, secs_page);
	measuring_unlock(secs_page);
	return 0;
}

/**
 * sgx_model_eadd() - EADD, SDM 40.3: add a page to an uninitialized enclave
 * @epc: page cache
 * @pginfo: PAGEINFO with source page, SECINFO, SECS and linear address
 * @addr: EPC page
 *
 * Context: Preemption disabled.
 * Return: 0, or a fault: #PF when @addr is no unused EPC page or the SECS is
 * none, #GP for the rest.
 */
int sgx_model_eadd(struct sgx_epc *epc, const struct sgx_pageinfo *pginfo,
		   void *addr)
{
	const struct sgx_secinfo *secinfo;
	struct sgx_epcm *page, *secs;
	int ret;

	if (!IS_ALIGNED((unsigned long)pginfo, PAGEINFO_ALIGN) ||
	    !PAGE_ALIGNED(addr))
		return SGX_MODEL_GP;
	page = sgx_epcm_find(epc, addr);
	if (!page)
		return SGX_MODEL_PF;
	if (!PAGE_ALIGNED(pginfo->contents) || !PAGE_ALIGNED(pginfo->secs) ||
	    !IS_ALIGNED(pginfo->metadata, SECINFO_ALIGN) ||
	    !PAGE_ALIGNED(pginfo->addr))
		return SGX_MODEL_GP;
	secs = sgx_epcm_find(epc, (void *)(unsigned long)pginfo->secs);
	if (!secs || !sgx_model_reachable(pginfo->contents) ||
	    !sgx_model_reachable(pginfo->metadata))
		return SGX_MODEL_PF;

	secinfo = (void *)(unsigned long)pginfo->metadata;
	if (secinfo_reserved(secinfo) ||
	    (secinfo_type(secinfo) != SGX_PAGE_TYPE_REG &&
	     secinfo_type(secinfo) != SGX_PAGE_TYPE_TCS))
		return SGX_MODEL_GP;

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
		ret = eadd_locked(epc, pginfo, page, secs);
	sgx_epcm_unlock_shared(secs);
unlock_page:
	sgx_epcm_unlock(page);
	return ret;
}

/**
 * sgx_model_eextend() - EEXTEND, SDM 40.3: measure 256 bytes of a page
 * @epc: page cache
 * @secs_addr: SECS of the enclave
 * @addr: first byte
 *
 * Context: Preemption disabled.
 * Return: 0, or a fault: #PF when @addr is in no regular or TCS page or
 * @secs_addr not in the EPC, #GP for the rest.
 */
int sgx_model_eextend(struct sgx_epc *epc, void *secs_addr, void *addr)
{
	unsigned int offset = offset_in_page(addr);
	struct sgx_epcm *page, *secs_page;
	union sgx_model_secs *secs;
	int ret;

	if (!PAGE_ALIGNED(secs_addr))
		return SGX_MODEL_GP;
	secs_page = sgx_epcm_find(epc, secs_addr);
	if (!secs_page)
		return SGX_MODEL_PF;
	if (!IS_ALIGNED(offset, 256))
		return SGX_MODEL_GP;
	page = sgx_epcm_find(epc, addr);
	if (!page)
		return SGX_MODEL_PF;

	if (!sgx_epcm_lock_shared(page))
		return SGX_MODEL_GP;
	ret = SGX_MODEL_PF;
	if (!sgx_epcm_is(page, SGX_PAGE_TYPE_REG) &&
	    !sgx_epcm_is(page, SGX_PAGE_TYPE_TCS))
		goto unlock;
	ret = SGX_MODEL_GP;
	if (page->secs != secs_page || !measuring_lock(secs_page))
		goto unlock;

	secs = sgx_epcm_secs(epc, secs_page);
	if (!(secs->arch.attributes & SGX_ATTR_INIT)) {
		measure(secs, page->addr - secs->arch.base + offset, addr,
			256 / sizeof(u64));
		ret = 0;
	}
	measuring_unlock(secs_page);
unlock:
	sgx_epcm_unlock_shared(page);
	return ret;
}

static bool sigstruct_valid(const struct sgx_sigstruct *sig)
{
	return !memcmp(sig->header.header1, sigstruct_header1,
		       sizeof(sigstruct_header1)) &&
	       !memcmp(sig->header.header2, sigstruct_header2,
		       sizeof(sigstruct_header2)) &&
	       (!sig->header.vendor || sig->header.vendor == 0x8086) &&
	       sig->exponent == 3 &&
	       !memchr_inv(sig->header.reserved1, 0,
			   sizeof(sig->header.reserved1)) &&
	       !memchr_inv(sig->body.reserved2, 0, sizeof(sig->body.reserved2)) &&
	       !memchr_inv(sig->body.reserved3, 0, sizeof(sig->body.reserved3)) &&
	       !memchr_inv(sig->reserved4, 0, sizeof(sig->reserved4));
}

/* What the signer requires of the enclave, under the signer's masks. */
static bool sigstruct_allows(const struct sgx_sigstruct_body *body,
			     const struct sgx_secs *secs)
{
	return !((secs->attributes ^ body->attributes) & body->attributes_mask) &&
	       !((secs->xfrm ^ body->xfrm) & body->xfrm_mask) &&
	       !((secs->miscselect ^ body->miscselect) & body->misc_mask);
}

/**
 * sgx_model_einit() - EINIT, SDM 40.3: end the build of an enclave
 * @epc: page cache
 * @sig: SIGSTRUCT
 * @secs_addr: SECS of the enclave
 * @token: EINITTOKEN
 *
 * The RSA signature, the measurement and the launch key are not checked. A
 * valid launch token cannot be: it would be signed with a key of the CPU.
 *
 * Context: Preemption disabled.
 * Return: 0, SGX_INVALID_SIG_STRUCT, SGX_INVALID_ATTRIBUTE,
 * SGX_INVALID_EINITTOKEN, or a fault: #PF when @secs_addr is no SECS, #GP for
 * the rest.
 */
int sgx_model_einit(struct sgx_epc *epc, const struct sgx_sigstruct *sig,
		    void *secs_addr, const void *token)
{
	struct sgx_epcm *page;
	struct sgx_secs *secs;
	int ret;

	if (!PAGE_ALIGNED(sig) || !PAGE_ALIGNED(secs_addr) ||
	    !IS_ALIGNED((unsigned long)token, EINITTOKEN_ALIGN))
		return SGX_MODEL_GP;
	page = sgx_epcm_find(epc, secs_addr);
	if (!page || !sgx_model_reachable((unsigned long)sig) ||
	    !sgx_model_reachable((unsigned long)token))
		return SGX_MODEL_PF;
	if (!sigstruct_valid(sig))
		return SGX_INVALID_SIG_STRUCT;

	if (!sgx_epcm_lock_shared(page))
		return SGX_MODEL_GP;
	ret = SGX_MODEL_PF;
	if (!sgx_epcm_is(page, SGX_PAGE_TYPE_SECS))
		goto unlock;
	ret = SGX_MODEL_GP;
	if (!measuring_lock(page))
		goto unlock;

	secs = secs_addr;
	if (secs->attributes & SGX_ATTR_INIT) {
		ret = SGX_MODEL_GP;
	} else if (!sigstruct_allows(&sig->body, secs)) {
		ret = SGX_INVALID_ATTRIBUTE;
	} else if (*(const u32 *)token & 1) {
		ret = SGX_INVALID_EINITTOKEN;
	} else {
		secs->isv_prod_id = sig->body.isvprodid;
		secs->isv_svn = sig->body.isvsvn;
		secs->attributes |= SGX_ATTR_INIT;
		ret = 0;
	}
	measuring_unlock(page);
unlock:
	sgx_epcm_unlock_shared(page);
	return ret;
}

/**
 * sgx_model_eremove() - EREMOVE, SDM 40.3: make an EPC page unused
 * @epc: page cache
 * @addr: EPC page
 *
 * SGX_ENCLAVE_ACT cannot happen, no CPU is ever inside an enclave.
 *
 * Context: Preemption disabled.
 * Return: 0 also when the page is unused, SGX_CHILD_PRESENT for a SECS that
 * has pages, or a fault.
 */
int sgx_model_eremove(struct sgx_epc *epc, void *addr)
{
	struct sgx_epcm *page;
	int ret = 0;

	if (!PAGE_ALIGNED(addr))
		return SGX_MODEL_GP;
	page = sgx_epcm_find(epc, addr);
	if (!page)
		return SGX_MODEL_PF;
	if (!sgx_epcm_lock(page))
		return SGX_MODEL_GP;

	if (sgx_epcm_is(page, SGX_PAGE_TYPE_SECS) &&
	    atomic_long_read_acquire(&page->children))
		ret = SGX_CHILD_PRESENT;
	else if (page->valid)
		sgx_epcm_clear(epc, page);

	sgx_epcm_unlock(page);
	return ret;
}

/* The checks that EDBGRD and EDBGWR share, with the page locked. */
static int debug_check(struct sgx_epc *epc, const struct sgx_epcm *page)
{
	if (page->state & (SGX_MODEL_PENDING | SGX_MODEL_MODIFIED))
		return SGX_PAGE_NOT_DEBUGGABLE;
	if (!(sgx_epcm_secs(epc, page->secs)->arch.attributes & SGX_ATTR_DEBUG))
		return SGX_MODEL_GP;

	return 0;
}

/**
 * sgx_model_edbgrd() - EDBGRD, SDM 40.3: read 8 bytes of a debug enclave
 * @epc: page cache
 * @addr: address in the EPC
 * @data: what was read; of a version array only whether the slot is used
 *
 * Context: Preemption disabled.
 * Return: 0, SGX_PAGE_NOT_DEBUGGABLE for a page that waits for EACCEPT, or a
 * fault: #PF when there is no page to read, #GP when the enclave is no debug
 * enclave.
 */
int sgx_model_edbgrd(struct sgx_epc *epc, void *addr, unsigned long *data)
{
	struct sgx_epcm *page;
	int ret;

	if (!IS_ALIGNED((unsigned long)addr, sizeof(u64)))
		return SGX_MODEL_GP;
	page = sgx_epcm_find(epc, addr);
	if (!page)
		return SGX_MODEL_PF;
	if (!sgx_epcm_lock_shared(page))
		return SGX_MODEL_GP;

	ret = SGX_MODEL_PF;
	if (sgx_epcm_is(page, SGX_PAGE_TYPE_VA)) {
		*data = *(u64 *)addr ? ULONG_MAX : 0;
		ret = 0;
	} else if (sgx_epcm_is(page, SGX_PAGE_TYPE_REG) ||
		   sgx_epcm_is(page, SGX_PAGE_TYPE_TCS)) {
		ret = debug_check(epc, page);
		if (!ret && page->type == SGX_PAGE_TYPE_TCS &&
		    offset_in_page(addr) >= TCS_LIMIT)
			ret = SGX_MODEL_GP;
		if (!ret)
			*data = READ_ONCE(*(u64 *)addr);
	}

	sgx_epcm_unlock_shared(page);
	return ret;
}

/**
 * sgx_model_edbgwr() - EDBGWR, SDM 40.3: write 8 bytes of a debug enclave
 * @epc: page cache
 * @addr: address in the EPC; of a TCS only its flags
 * @data: what to write
 *
 * Context: Preemption disabled.
 * Return: as sgx_model_edbgrd().
 */
int sgx_model_edbgwr(struct sgx_epc *epc, void *addr, unsigned long data)
{
	struct sgx_epcm *page;
	int ret;

	if (!IS_ALIGNED((unsigned long)addr, sizeof(u64)))
		return SGX_MODEL_GP;
	page = sgx_epcm_find(epc, addr);
	if (!page)
		return SGX_MODEL_PF;
	if (!sgx_epcm_lock_shared(page))
		return SGX_MODEL_GP;

	ret = SGX_MODEL_PF;
	if (sgx_epcm_is(page, SGX_PAGE_TYPE_REG) ||
	    sgx_epcm_is(page, SGX_PAGE_TYPE_TCS)) {
		ret = debug_check(epc, page);
		if (!ret && page->type == SGX_PAGE_TYPE_TCS &&
		    offset_in_page(addr) != offsetof(struct sgx_tcs, flags))
			ret = SGX_MODEL_GP;
		if (!ret)
			WRITE_ONCE(*(u64 *)addr, data);
	}

	sgx_epcm_unlock_shared(page);
	return ret;
}
