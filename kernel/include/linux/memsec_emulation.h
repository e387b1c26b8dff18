/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Software models of confidential-memory instructions.
 *
 * The calls that existing kernel code makes. A model takes the place of the
 * instruction, and of what CPUID and MSRs say about it, and of nothing above.
 */
#ifndef _LINUX_MEMSEC_EMULATION_H
#define _LINUX_MEMSEC_EMULATION_H

#include <linux/jump_label.h>
#include <linux/types.h>

#ifdef CONFIG_MEMSEC_EMULATION
void memsec_emulation_reserve(void);
#else
static inline void memsec_emulation_reserve(void) { }
#endif

#ifdef CONFIG_MEMSEC_EMULATION_SGX

DECLARE_STATIC_KEY_FALSE(memsec_sgx_model);

/**
 * memsec_sgx_emulated() - Is SGX modelled in this boot?
 *
 * Context: Any, after the memory for models was reserved in setup_arch().
 * Return: true when ENCLS goes to the model.
 */
static inline bool memsec_sgx_emulated(void)
{
	return static_branch_unlikely(&memsec_sgx_model);
}

int memsec_sgx_encls(unsigned int leaf, unsigned long rbx, unsigned long rcx,
		     unsigned long rdx, unsigned long *rbx_out);
void memsec_sgx_cpuid(unsigned int subleaf, u32 *eax, u32 *ebx, u32 *ecx,
		      u32 *edx);

#else

static inline bool memsec_sgx_emulated(void)
{
	return false;
}

static inline int memsec_sgx_encls(unsigned int leaf, unsigned long rbx,
				   unsigned long rcx, unsigned long rdx,
				   unsigned long *rbx_out)
{
	return 0;
}

static inline void memsec_sgx_cpuid(unsigned int subleaf, u32 *eax, u32 *ebx,
				    u32 *ecx, u32 *edx) { }

#endif /* CONFIG_MEMSEC_EMULATION_SGX */

struct rmp_state;

#ifdef CONFIG_MEMSEC_EMULATION_RMP

DECLARE_STATIC_KEY_FALSE(memsec_rmp_model);

/**
 * memsec_rmp_emulated() - Is the RMP of SEV-SNP modelled in this boot?
 *
 * Context: Any.
 * Return: true when RMPUPDATE and PSMASH go to the model.
 */
static inline bool memsec_rmp_emulated(void)
{
	return static_branch_unlikely(&memsec_rmp_model);
}

int memsec_rmpupdate(u64 paddr, const struct rmp_state *state);
int memsec_psmash(u64 paddr);
u32 memsec_rmp_asid(void);

#else

static inline bool memsec_rmp_emulated(void)
{
	return false;
}

static inline int memsec_rmpupdate(u64 paddr, const struct rmp_state *state)
{
	return 0;
}

static inline int memsec_psmash(u64 paddr)
{
	return 0;
}

static inline u32 memsec_rmp_asid(void)
{
	return 0;
}

#endif /* CONFIG_MEMSEC_EMULATION_RMP */

#ifdef CONFIG_MEMSEC_EMULATION_KEYID

unsigned int memsec_keyid_emulated(void);
u64 memsec_keyid_model_violations(void);
void memsec_keyid_model_stop_checking(void);
int memsec_keyid_model_start(void);
void memsec_keyid_model_access(unsigned long pfn, unsigned int pages,
			       unsigned int keyid);
void memsec_keyid_model_release(unsigned long pfn, unsigned int pages,
				unsigned int keyid);
void memsec_keyid_model_flush(unsigned long pfn, unsigned int keyid);
void memsec_keyid_model_flush_all(void);
void memsec_keyid_model_program(unsigned int keyid);

#else

static inline unsigned int memsec_keyid_emulated(void)
{
	return 0;
}

static inline int memsec_keyid_model_start(void)
{
	return 0;
}

static inline void memsec_keyid_model_access(unsigned long pfn,
					     unsigned int pages,
					     unsigned int keyid) { }

static inline void memsec_keyid_model_release(unsigned long pfn,
					      unsigned int pages,
					      unsigned int keyid) { }

static inline void memsec_keyid_model_flush(unsigned long pfn,
					    unsigned int keyid) { }

static inline void memsec_keyid_model_flush_all(void) { }

static inline void memsec_keyid_model_program(unsigned int keyid) { }

#endif /* CONFIG_MEMSEC_EMULATION_KEYID */

#endif /* _LINUX_MEMSEC_EMULATION_H */
