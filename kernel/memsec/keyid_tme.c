// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: KeyIDs of Intel TME-MK.
 *
 * NOT TESTED ON HARDWARE: no test machine has TME-MK. Numbers of sections are
 * those of the Intel SDM, volume 3 and 4, and of the specification of Intel
 * Architecture Memory Encryption Technologies (MKTME).
 *
 * A KeyID is the upper bits of a physical address, below what CPUID calls the
 * width of one. Firmware sets how many bits that are. The kernel's direct map
 * has KeyID 0, so pages of other KeyIDs are reached through a page of kernel
 * addresses that each CPU has for this, mapped for as long as it takes with
 * interrupts off.
 *
 * CLFLUSH flushes the lines of the address that a mapping translates to, its
 * KeyID included. Reads of the direct map that the CPU makes ahead of time can
 * bring in lines of KeyID 0 of any page at any time. They are never dirty, but
 * they must not be there when the page is KeyID 0's again.
 */
#define pr_fmt(fmt) "memsec: " fmt

#include <linux/bitfield.h>
#include <linux/cacheflush.h>
#include <linux/cpu.h>
#include <linux/cpufeature.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include <asm/cpuid.h>
#include <asm/msr.h>
#include <asm/tlbflush.h>

#include "keyid.h"

/* IA32_TME_CAPABILITY and IA32_TME_ACTIVATE, volume 4, table 2-2. */
#define MSR_TME_CAPABILITY		0x981
#define MSR_TME_ACTIVATE		0x982
#define TME_LOCKED			BIT_ULL(0)
#define TME_ENABLED			BIT_ULL(1)
#define TME_KEYID_BITS			GENMASK_ULL(35, 32)
/* Those of them that are TDX's. */
#define TME_TDX_KEYID_BITS		GENMASK_ULL(39, 36)
/* Which algorithms KeyIDs may use; in both registers, at other places. */
#define TME_CAPABLE_ALGORITHMS		GENMASK_ULL(15, 0)
#define TME_ALGORITHMS			GENMASK_ULL(63, 48)
#define TME_CAPABLE_KEYS		GENMASK_ULL(50, 36)

/* CPUID leaf 0x1B: targets of PCONFIG. */
#define CPUID_PCONFIG			0x1b
#define PCONFIG_SUBLEAF_TYPE		GENMASK(11, 0)
#define PCONFIG_SUBLEAF_TARGET		1
#define PCONFIG_TARGET_MKTME		1

/* PCONFIG, volume 2: the leaf that programs a key, and what it is given. */
#define PCONFIG_MKTME_KEY_PROGRAM	0
#define KEYID_SET_KEY_RANDOM		1
#define KEY_CTRL_COMMAND		GENMASK(7, 0)
#define KEY_CTRL_ALGORITHM		GENMASK(23, 8)

struct mktme_key_program {
	u16 keyid;
	u32 keyid_ctrl;
	u8 reserved[58];
	u8 key_field_1[64];
	u8 key_field_2[64];
} __packed __aligned(256);

static_assert(sizeof(struct mktme_key_program) == 256);

/* The page of a CPU through which it reaches pages by a KeyID. */
struct window {
	void *address;
	pte_t *pte;
};

static DEFINE_PER_CPU(struct window, windows);

static u64 keyid_bits(unsigned int id)
{
	return (u64)id << boot_cpu_data.x86_phys_bits;
}

static bool pconfig_has_mktme(void)
{
	u32 eax, ebx, ecx, edx;
	u32 subleaf;

	for (subleaf = 0;; subleaf++) {
		cpuid_count(CPUID_PCONFIG, subleaf, &eax, &ebx, &ecx, &edx);
		if ((eax & PCONFIG_SUBLEAF_TYPE) != PCONFIG_SUBLEAF_TARGET)
			return false;
		if (ebx == PCONFIG_TARGET_MKTME || ecx == PCONFIG_TARGET_MKTME ||
		    edx == PCONFIG_TARGET_MKTME)
			return true;
	}
}

/* As many as the KeyID bits that are not TDX's can tell apart, and have keys. */
static unsigned int tme_count(void)
{
	u64 activate, capability;
	unsigned int bits;

	if (!boot_cpu_has(X86_FEATURE_TME) || !boot_cpu_has(X86_FEATURE_PCONFIG))
		return 0;
	if (rdmsrl_safe(MSR_TME_ACTIVATE, &activate) ||
	    rdmsrl_safe(MSR_TME_CAPABILITY, &capability))
		return 0;
	if (!(activate & TME_LOCKED) || !(activate & TME_ENABLED) ||
	    !pconfig_has_mktme())
		return 0;

	bits = FIELD_GET(TME_KEYID_BITS, activate) -
	       FIELD_GET(TME_TDX_KEYID_BITS, activate);

	return min((1U << bits) - 1, FIELD_GET(TME_CAPABLE_KEYS, capability));
}

static int window_set(pte_t *pte, unsigned long address, void *data)
{
	struct window *window = data;

	window->address = (void *)address;
	window->pte = pte;

	return 0;
}

/* Addresses of a page a CPU, and where the page tables have them. */
static int tme_start(void)
{
	struct vm_struct *area;
	unsigned long address;
	int cpu;
	int ret;

	area = get_vm_area(nr_cpu_ids * PAGE_SIZE, VM_IOREMAP);
	if (!area)
		return -ENOMEM;

	for_each_possible_cpu(cpu) {
		address = (unsigned long)area->addr + cpu * PAGE_SIZE;
		ret = apply_to_page_range(&init_mm, address, PAGE_SIZE,
					  window_set, &per_cpu(windows, cpu));
		if (ret)
			return ret;
	}
	pr_warn("TME-MK: this code was never run on hardware\n");

	return 0;
}

static void *window_open(unsigned long pfn, unsigned int id,
			 unsigned long *flags)
{
	pgprot_t prot = __pgprot(pgprot_val(PAGE_KERNEL) | keyid_bits(id));
	struct window *window;

	local_irq_save(*flags);
	window = this_cpu_ptr(&windows);
	set_pte(window->pte, pfn_pte(pfn, prot));

	return window->address;
}

/* Other CPUs may have translated the address ahead of time; they do not use it. */
static void window_close(unsigned long flags)
{
	struct window *window = this_cpu_ptr(&windows);

	pte_clear(&init_mm, (unsigned long)window->address, window->pte);
	flush_tlb_one_kernel((unsigned long)window->address);
	local_irq_restore(flags);
}

static void tme_flush(unsigned long pfn, unsigned int id)
{
	unsigned long flags;

	if (id) {
		clflush_cache_range(window_open(pfn, id, &flags), PAGE_SIZE);
		window_close(flags);
	}
	clflush_cache_range(pfn_to_kaddr(pfn), PAGE_SIZE);
}

static void tme_flush_all(void)
{
	wbinvd_on_all_cpus();
}

static void tme_clear(unsigned long pfn, unsigned int id)
{
	unsigned long flags;

	clear_page(window_open(pfn, id, &flags));
	window_close(flags);
}

static void tme_copy(unsigned long pfn, unsigned int id, unsigned int offset,
		     void *buf, unsigned int len, bool write)
{
	unsigned long flags;
	void *kaddr = window_open(pfn, id, &flags) + offset;

	memcpy(write ? kaddr : buf, write ? buf : kaddr, len);
	window_close(flags);
}

static pgprot_t tme_prot(pgprot_t prot, unsigned int id)
{
	return __pgprot(pgprot_val(prot) | keyid_bits(id));
}

/* ZF is set, and EAX says why, when the CPU could not do it. */
static int pconfig(struct mktme_key_program *program)
{
	u32 error = PCONFIG_MKTME_KEY_PROGRAM;
	bool failed;

	asm volatile(".byte 0x0f, 0x01, 0xc5"
		     : "+a" (error), CC_OUT(z) (failed)
		     : "b" (program)
		     : "memory", "ecx", "edx");

	return failed ? error : 0;
}

static int program_here(void *data)
{
	return pconfig(data);
}

/* One CPU of each package: the keys are the package's, for its memory. */
static int program_packages(struct mktme_key_program *program)
{
	int cpu, ret;

	guard(cpus_read_lock)();

	for_each_online_cpu(cpu) {
		if (cpumask_first_and(topology_core_cpumask(cpu),
				      cpu_online_mask) != cpu)
			continue;

		ret = smp_call_on_cpu(cpu, program_here, program, false);
		if (ret) {
			pr_err("PCONFIG: error %d for KeyID %u on CPU %d\n",
			       ret, program->keyid, cpu);
			return -EIO;
		}
	}

	return 0;
}

static int tme_program(unsigned int id)
{
	struct mktme_key_program *program __free(kfree) = NULL;
	u64 activate, capability;
	u64 algorithms;

	rdmsrl(MSR_TME_ACTIVATE, activate);
	rdmsrl(MSR_TME_CAPABILITY, capability);
	algorithms = FIELD_GET(TME_ALGORITHMS, activate) &
		     FIELD_GET(TME_CAPABLE_ALGORITHMS, capability);
	if (!algorithms)
		return -EIO;

	program = kzalloc(sizeof(*program), GFP_KERNEL);
	if (!program)
		return -ENOMEM;

	/* The first that is allowed: AES-XTS 128, when there is no other rule. */
	program->keyid = id;
	program->keyid_ctrl = FIELD_PREP(KEY_CTRL_COMMAND, KEYID_SET_KEY_RANDOM) |
			      FIELD_PREP(KEY_CTRL_ALGORITHM,
					 algorithms & -algorithms);

	return program_packages(program);
}

const struct keyid_backend keyid_tme = {
	.count = tme_count,
	.start = tme_start,
	.program = tme_program,
	.flush = tme_flush,
	.flush_all = tme_flush_all,
	.clear = tme_clear,
	.copy = tme_copy,
	.prot = tme_prot,
};
