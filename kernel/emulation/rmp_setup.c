// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of the modelled RMP, and its files.
 */
#define pr_fmt(fmt) "memsec: " fmt

#include <linux/atomic.h>
#include <linux/bitfield.h>
#include <linux/bug.h>
#include <linux/cc_platform.h>
#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/memblock.h>
#include <linux/memsec_emulation.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/pfn.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/set_memory.h>
#include <linux/sysfs.h>
#include <linux/vmalloc.h>
#include <asm/sev.h>

#include "emulation.h"
#include "rmp_model.h"

DEFINE_STATIC_KEY_FALSE(memsec_rmp_model);

/* That of the machine. */
struct rmp_table rmp_model_table;

static bool wanted __initdata;

static int __init rmp_model_wanted(char *arg)
{
	if (!arg || kstrtobool(arg, &wanted))
		pr_err("memsec.rmp=%s on the command line is ignored, expected 0 or 1\n",
		       arg ?: "");

	return 0;
}
early_param("memsec.rmp", rmp_model_wanted);

static DEFINE_PER_CPU(u64, rmpupdate_count);
static DEFINE_PER_CPU(u64, psmash_count);
static struct instruction insn_rmpupdate = INSTRUCTION(rmpupdate, &rmpupdate_count);
static struct instruction insn_psmash = INSTRUCTION(psmash, &psmash_count);

/* Look at the direct map after each instruction. */
static MEMSEC_LIMIT(check, check, 0, 1, 1);
MEMSEC_COUNTER(rmp, violations);

static void check_2m(u64 pfn)
{
	u64 bad = rmp_model_violations(&rmp_model_table, pfn);

	memsec_count_add(&rmp_violations, bad);
	WARN_ONCE(bad, "memsec: RMP: %llu private pages in the 2 MiB at pfn %#llx are in a larger entry of the direct map\n",
		  bad, ALIGN_DOWN(pfn, RMP_2M_PAGES));
}

/**
 * memsec_rmpupdate() - RMPUPDATE on the model
 * @paddr: physical address of the page, RAX
 * @state: the new entry, RCX
 *
 * Context: Any but interrupts.
 * Return: EAX.
 */
int memsec_rmpupdate(u64 paddr, const struct rmp_state *state)
{
	u64 begin = instruction_begin(&insn_rmpupdate);
	int ret = rmp_model_update(&rmp_model_table, paddr, state);

	instruction_end(&insn_rmpupdate, begin);
	if (!ret && memsec_limit(&check))
		check_2m(PHYS_PFN(paddr));

	return ret;
}

/**
 * memsec_psmash() - PSMASH on the model
 * @paddr: physical address of the 2 MiB, RAX
 *
 * Context: Any but interrupts.
 * Return: EAX.
 */
int memsec_psmash(u64 paddr)
{
	u64 begin = instruction_begin(&insn_psmash);
	int ret = rmp_model_psmash(&rmp_model_table, paddr);

	instruction_end(&insn_psmash, begin);
	if (!ret && memsec_limit(&check))
		check_2m(PHYS_PFN(paddr));

	return ret;
}

/**
 * memsec_rmp_asid() - An ASID for a guest that has none
 *
 * The model can tell guests apart by them, no more: those that are alive at a
 * time may have the same.
 *
 * Context: Any.
 * Return: one that a guest can have.
 */
u32 memsec_rmp_asid(void)
{
	static atomic_t last;

	return 1 + (u32)atomic_inc_return(&last) % FIELD_MAX(RMP_ASID);
}

static u64 count_table(u64 (*count)(u64 pfn))
{
	u64 sum = 0;
	u64 pfn;

	for (pfn = 0; pfn < rmp_model_table.nr_pages; pfn += RMP_2M_PAGES) {
		sum += count(pfn);
		cond_resched();
	}

	return sum;
}

static u64 count_assigned_2m(u64 pfn)
{
	return rmp_model_table.entries[pfn].lo & RMP_2M ? RMP_2M_PAGES : 0;
}

static u64 count_assigned(u64 pfn)
{
	u64 n = 0;
	int i;

	for (i = 0; i < RMP_2M_PAGES; i++)
		n += rmp_model_table.entries[pfn + i].lo & RMP_ASSIGNED;

	return n;
}

static u64 count_violations(u64 pfn)
{
	return rmp_model_violations(&rmp_model_table, pfn);
}

/* A walk of the whole table, by the one who reads. */
static ssize_t violations_now_show(struct kobject *kobj,
				   struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", count_table(count_violations));
}

static ssize_t assigned_pages_show(struct kobject *kobj,
				   struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", count_table(count_assigned));
}

static ssize_t assigned_2m_pages_show(struct kobject *kobj,
				      struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", count_table(count_assigned_2m));
}

/* Writing a page's number says whether a write of the host to it would fault. */
static ssize_t host_write_store(struct kobject *kobj,
				struct kobj_attribute *attr, const char *buf,
				size_t count)
{
	unsigned int level;
	u64 pfn;
	int ret;

	ret = kstrtou64(buf, 0, &pfn);
	if (ret)
		return ret;

	if (pfn >= rmp_model_table.nr_pages || !pfn_valid(pfn))
		return -ERANGE;
	if (!lookup_address((unsigned long)pfn_to_kaddr(pfn), &level))
		return -ENXIO;
	if (rmp_model_write_faults(&rmp_model_table, pfn, level))
		return -EFAULT;

	return count;
}

static struct kobj_attribute violations_now_attr = __ATTR_RO(violations_now);
static struct kobj_attribute assigned_pages_attr = __ATTR_RO(assigned_pages);
static struct kobj_attribute assigned_2m_pages_attr = __ATTR_RO(assigned_2m_pages);
static struct kobj_attribute host_write_attr = __ATTR_WO(host_write);

static struct attribute *rmp_attrs[] = {
	&insn_rmpupdate.cost.attr.attr,
	&insn_rmpupdate.count.attr.attr,
	&insn_psmash.cost.attr.attr,
	&insn_psmash.count.attr.attr,
	&check.attr.attr,
	&rmp_violations.attr.attr,
	&violations_now_attr.attr,
	&assigned_pages_attr.attr,
	&assigned_2m_pages_attr.attr,
	&host_write_attr.attr,
	NULL,
};

static const struct attribute_group rmp_group = {
	.name = "rmp",
	.attrs = rmp_attrs,
};

/*
 * After the IOMMU's driver had its say about SNP, and before there are guests.
 */
static int __init rmp_model_init(void)
{
	u64 nr_pages = ALIGN(max_pfn, RMP_2M_PAGES);
	int ret;

	if (!wanted)
		return 0;
	if (cc_platform_has(CC_ATTR_HOST_SEV_SNP)) {
		pr_err("memsec.rmp: the machine has an RMP, it is not emulated\n");
		return -EBUSY;
	}

	rmp_model_table.entries = vzalloc(nr_pages * sizeof(struct rmp_entry));
	if (!rmp_model_table.entries || !memsec_emulation_kobj())
		return -ENOMEM;

	rmp_model_table.nr_pages = nr_pages;
	ret = snp_use_rmptable(rmp_model_table.entries, nr_pages - 1);
	if (ret)
		return ret;

	static_branch_enable(&memsec_rmp_model);
	memsec_emulation_announce("SEV-SNP");

	return sysfs_create_group(memsec_emulation_kobj(), &rmp_group);
}
device_initcall(rmp_model_init);
