// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the models share: when memory is reserved, what is said about them and
 * where their files are.
 */
#define pr_fmt(fmt) "memsec: " fmt

#include <linux/kobject.h>
#include <linux/memsec_emulation.h>
#include <linux/panic.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/timekeeping.h>

#include "emulation.h"

static struct kobject *emulation_kobj;

/**
 * memsec_emulation_reserve() - Set aside the memory of the models
 *
 * Each model takes what the command line asks for. A model begins here, so
 * that the CPU features it claims are known before anything looks at them.
 *
 * Context: setup_arch(), when memblock can allocate and the direct map exists.
 */
void __init memsec_emulation_reserve(void)
{
	sgx_model_reserve();
}

/**
 * memsec_emulation_announce() - Say that a model runs, and taint the kernel
 * @what: what is modelled
 *
 * The taint is TAINT_CPU_OUT_OF_SPEC: the kernel believes in CPU features that
 * the CPU does not have.
 *
 * Context: Any.
 */
void memsec_emulation_announce(const char *what)
{
	pr_warn("**********************************************************\n");
	pr_warn("%s IS EMULATED AND PROTECTS NOTHING: NO ENCRYPTION,\n", what);
	pr_warn("NO MEASUREMENT, NO ISOLATION. FOR TESTS ONLY.\n");
	pr_warn("**********************************************************\n");
	add_taint(TAINT_CPU_OUT_OF_SPEC, LOCKDEP_STILL_OK);
}

/**
 * memsec_emulation_kobj() - The directory of the models in sysfs
 *
 * Context: Process context, initcalls after subsys_initcall().
 * Return: /sys/kernel/memsec/emulation, or NULL when there is no memory.
 */
struct kobject *memsec_emulation_kobj(void)
{
	if (!emulation_kobj && memsec_kobj)
		emulation_kobj = kobject_create_and_add("emulation",
							memsec_kobj);

	return emulation_kobj;
}

/**
 * instruction_begin() - An instruction begins
 * @instruction: which
 *
 * Nothing else runs on the CPU before an instruction ends, hence the disabled
 * preemption.
 *
 * Context: Any. Disables preemption until instruction_end().
 * Return: for that.
 */
u64 instruction_begin(struct instruction *instruction)
{
	preempt_disable();

	return memsec_limit(&instruction->cost) ? ktime_get_mono_fast_ns() : 0;
}

/**
 * instruction_end() - An instruction ends, when it has taken its time
 * @instruction: which
 * @begin: what instruction_begin() returned
 *
 * The cost is counted from the beginning, so what the model itself takes is
 * part of it, and a cost below that has no effect. Both clock and loop go by
 * instructions executed when the machine is a virtual one that counts them.
 *
 * Context: Any.
 */
void instruction_end(struct instruction *instruction, u64 begin)
{
	u64 cost = memsec_limit(&instruction->cost);

	memsec_count_add(&instruction->count, 1);
	/* No cpu_relax(): an emulated CPU leaves its own loop for that. */
	while (begin && ktime_get_mono_fast_ns() - begin < cost)
		;
	preempt_enable();
}
