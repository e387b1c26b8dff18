// SPDX-License-Identifier: GPL-2.0-only
/*
 * ENCLS: from the leaf number to the model, with a count and a cost per leaf.
 */
#include <linux/export.h>
#include <linux/kobject.h>
#include <linux/memsec_emulation.h>
#include <linux/percpu.h>
#include <linux/sysfs.h>

#include "emulation.h"
#include "sgx_model.h"

#define NR_LEAVES	(EMODT + 1)

/* The page cache that the SGX driver uses. */
struct sgx_epc sgx_model_epc;

static DEFINE_PER_CPU(u64 [NR_LEAVES], leaf_counts);

static struct instruction leaves[NR_LEAVES] = {
	[ECREATE] = INSTRUCTION(ecreate, &leaf_counts[ECREATE]),
	[EADD] = INSTRUCTION(eadd, &leaf_counts[EADD]),
	[EINIT] = INSTRUCTION(einit, &leaf_counts[EINIT]),
	[EREMOVE] = INSTRUCTION(eremove, &leaf_counts[EREMOVE]),
	[EDGBRD] = INSTRUCTION(edbgrd, &leaf_counts[EDGBRD]),
	[EDGBWR] = INSTRUCTION(edbgwr, &leaf_counts[EDGBWR]),
	[EEXTEND] = INSTRUCTION(eextend, &leaf_counts[EEXTEND]),
	[ELDU] = INSTRUCTION(eldu, &leaf_counts[ELDU]),
	[EBLOCK] = INSTRUCTION(eblock, &leaf_counts[EBLOCK]),
	[EPA] = INSTRUCTION(epa, &leaf_counts[EPA]),
	[EWB] = INSTRUCTION(ewb, &leaf_counts[EWB]),
	[ETRACK] = INSTRUCTION(etrack, &leaf_counts[ETRACK]),
	[EAUG] = INSTRUCTION(eaug, &leaf_counts[EAUG]),
	[EMODPR] = INSTRUCTION(emodpr, &leaf_counts[EMODPR]),
	[EMODT] = INSTRUCTION(emodt, &leaf_counts[EMODT]),
};

static int encls(unsigned int leaf, unsigned long rbx, unsigned long rcx,
		 unsigned long rdx, unsigned long *rbx_out)
{
	struct sgx_epc *epc = &sgx_model_epc;
	void *addr = (void *)rcx;

	switch (leaf) {
	case ECREATE:
		return sgx_model_ecreate(epc, (void *)rbx, addr);
	case EADD:
		return sgx_model_eadd(epc, (void *)rbx, addr);
	case EINIT:
		return sgx_model_einit(epc, (void *)rbx, addr, (void *)rdx);
	case EREMOVE:
		return sgx_model_eremove(epc, addr);
	case EDGBRD:
		return sgx_model_edbgrd(epc, addr, rbx_out);
	case EDGBWR:
		return sgx_model_edbgwr(epc, addr, rbx);
	case EEXTEND:
		return sgx_model_eextend(epc, (void *)rbx, addr);
	case ELDU:
		return sgx_model_eldu(epc, (void *)rbx, addr, (void *)rdx);
	case EBLOCK:
		return sgx_model_eblock(epc, addr);
	case EPA:
		return sgx_model_epa(epc, rbx, addr);
	case EWB:
		return sgx_model_ewb(epc, (void *)rbx, addr, (void *)rdx);
	case ETRACK:
		return sgx_model_etrack(epc, addr);
	case EAUG:
		return sgx_model_eaug(epc, (void *)rbx, addr);
	case EMODPR:
		return sgx_model_emodpr(epc, (void *)rbx, addr);
	case EMODT:
		return sgx_model_emodt(epc, (void *)rbx, addr);
	default:
		return SGX_MODEL_GP;
	}
}

/**
 * memsec_sgx_encls() - Run one ENCLS leaf on the model
 * @leaf: leaf number, EAX
 * @rbx: first operand
 * @rcx: second operand
 * @rdx: third operand
 * @rbx_out: RBX after EDBGRD, else unused
 *
 * What the model itself takes: EWB and ELDU look at every word of a page,
 * EREMOVE overwrites each.
 *
 * Context: Any.
 * Return: 0, an SGX error code, or a fault: SGX_ENCLS_FAULT_FLAG and a trap
 * number.
 */
int memsec_sgx_encls(unsigned int leaf, unsigned long rbx, unsigned long rcx,
		     unsigned long rdx, unsigned long *rbx_out)
{
	u64 begin;
	int ret;

	if (leaf >= NR_LEAVES)
		return SGX_MODEL_GP;

	begin = instruction_begin(&leaves[leaf]);
	ret = encls(leaf, rbx, rcx, rdx, rbx_out);
	instruction_end(&leaves[leaf], begin);

	return ret;
}

static ssize_t epc_total_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *buf)
{
	return sysfs_emit(buf, "%lu\n", sgx_model_epc.nr_pages);
}

static ssize_t epc_used_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%lu\n", sgx_epcm_used(&sgx_model_epc));
}

static struct kobj_attribute epc_total_attr = __ATTR_RO(epc_total);
static struct kobj_attribute epc_used_attr = __ATTR_RO(epc_used);

/* Two files a leaf, two of the page cache, and the end. */
static struct attribute *sgx_attrs[2 * NR_LEAVES + 3];

static const struct attribute_group sgx_group = {
	.name = "sgx",
	.attrs = sgx_attrs,
};

static int __init sgx_model_sysfs_init(void)
{
	unsigned int leaf, n = 0;

	if (!memsec_sgx_emulated())
		return 0;
	if (!memsec_emulation_kobj())
		return -ENOMEM;

	sgx_attrs[n++] = &epc_total_attr.attr;
	sgx_attrs[n++] = &epc_used_attr.attr;
	for (leaf = 0; leaf < NR_LEAVES; leaf++) {
		/* Leaf 7 is ELDB, which Linux does not use. */
		if (!leaves[leaf].cost.attr.attr.name)
			continue;
		sysfs_attr_init(&leaves[leaf].cost.attr.attr);
		sysfs_attr_init(&leaves[leaf].count.attr.attr);
		sgx_attrs[n++] = &leaves[leaf].cost.attr.attr;
		sgx_attrs[n++] = &leaves[leaf].count.attr.attr;
	}

	return sysfs_create_group(memsec_emulation_kobj(), &sgx_group);
}
fs_initcall(sgx_model_sysfs_init);
