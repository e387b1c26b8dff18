// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the modelled EPC comes from and what the CPU says about it.
 */
#define pr_fmt(fmt) "memsec: " fmt

#include <linux/cpufeature.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kmemleak.h>
#include <linux/memblock.h>
#include <linux/memsec_emulation.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/sizes.h>
#include <asm/cpuid.h>
#include <asm/sgx.h>

#include "emulation.h"
#include "sgx_model.h"

/* The driver keeps 64 pages free; with less than this nothing useful fits. */
#define MIN_SIZE	SZ_1M

/* CPUID.12H.0: SGX1 and SGX2. */
#define CPUID_LEAVES	GENMASK(1, 0)
/* CPUID.12H.2 ECX: the section has confidentiality and integrity protection. */
#define CPUID_PROTECTED	1

DEFINE_STATIC_KEY_FALSE(memsec_sgx_model);

static phys_addr_t epc_phys __ro_after_init;
static u64 epc_size __initdata;

static int __init sgx_model_size(char *arg)
{
	char *end = arg;

	if (arg)
		epc_size = memparse(arg, &end);
	if (!arg || end == arg || *end) {
		pr_err("memsec.sgx=%s on the command line is ignored, expected a size such as 64M\n",
		       arg ?: "");
		epc_size = 0;
	} else if (epc_size && epc_size < MIN_SIZE) {
		pr_err("memsec.sgx=%s on the command line is ignored, the least is 1M\n",
		       arg);
		epc_size = 0;
	}
	epc_size = PAGE_ALIGN_DOWN(epc_size);

	return 0;
}
early_param("memsec.sgx", sgx_model_size);

/**
 * sgx_model_reserve() - Begin to model SGX if the command line says so
 *
 * Context: See memsec_emulation_reserve().
 */
void __init sgx_model_reserve(void)
{
	unsigned long nr_pages = PFN_DOWN(epc_size);

	if (!epc_size)
		return;

	sgx_model_epc.epcm = memblock_alloc(nr_pages * sizeof(struct sgx_epcm),
					    SMP_CACHE_BYTES);
	if (sgx_model_epc.epcm)
		epc_phys = memblock_phys_alloc(epc_size, PMD_SIZE);
	if (!epc_phys) {
		pr_err("memsec.sgx: there is no free memory range of %llu MiB, SGX is not emulated\n",
		       epc_size >> 20);
		if (sgx_model_epc.epcm)
			memblock_free(sgx_model_epc.epcm,
				      nr_pages * sizeof(struct sgx_epcm));
		return;
	}
	/* Enclaves fill it; there are no pointers to look for. */
	kmemleak_ignore_phys(epc_phys);

	sgx_model_epc.base = __va(epc_phys);
	sgx_model_epc.nr_pages = nr_pages;

	setup_force_cpu_cap(X86_FEATURE_SGX);
	setup_force_cpu_cap(X86_FEATURE_SGX1);
	setup_force_cpu_cap(X86_FEATURE_SGX2);
	setup_force_cpu_cap(X86_FEATURE_SGX_LC);
	static_branch_enable(&memsec_sgx_model);
	memsec_emulation_announce("SGX");
}

/**
 * memsec_sgx_cpuid() - CPUID leaf 12H, of the model or of the CPU
 * @subleaf: 0 is features, 1 attributes, 2 and up EPC sections
 * @eax: register after the instruction
 * @ebx: register after the instruction
 * @ecx: register after the instruction
 * @edx: register after the instruction
 *
 * Context: Any.
 */
void memsec_sgx_cpuid(unsigned int subleaf, u32 *eax, u32 *ebx, u32 *ecx,
		      u32 *edx)
{
	u64 size = PFN_PHYS(sgx_model_epc.nr_pages);

	*eax = 0;
	*ebx = 0;
	*ecx = 0;
	*edx = 0;

	switch (subleaf) {
	case 0:
		*eax = CPUID_LEAVES;
		*ebx = SGX_MISC_EXINFO;
		*edx = SGX_MODEL_SIZE_LOG2_64 << 8 | SGX_MODEL_SIZE_LOG2_32;
		break;
	case 1:
		*eax = SGX_MODEL_ATTRIBUTES;
		*ecx = SGX_MODEL_XFRM;
		break;
	case SGX_CPUID_EPC:
		*eax = lower_32_bits(epc_phys) | SGX_CPUID_EPC_SECTION;
		*ebx = upper_32_bits(epc_phys);
		*ecx = lower_32_bits(size) | CPUID_PROTECTED;
		*edx = upper_32_bits(size);
		break;
	}
}
