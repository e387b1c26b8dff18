// SPDX-License-Identifier: GPL-2.0-only
/*
 * ENCLS: from the leaf number to the model, with a count and a cost per leaf.
 */
#include <linux/export.h>
#include <linux/kobject.h>
#include <linux/memsec_emulation.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sysfs.h>
#include <linux/timekeeping.h>

#include "../memsec/internal.h"
#include "emulation.h"
#include "sgx_model.h"

#define NR_LEAVES	(EMODT + 1)
#define MAX_COST_NS	1000000

/* The page cache that the SGX driver uses. */
struct sgx_epc sgx_model_epc;

static DEFINE_PER_CPU(u64 [NR_LEAVES], leaf_counts);

/**
 * struct sgx_leaf - what sysfs has of a leaf
 * @cost: the time it takes at least, in ns; 0 to take what the model takes
 * @count: how often it ran, failures included
 */
struct sgx_leaf {
	struct memsec_limit cost;
	struct memsec_counter count;
};

#define SGX_LEAF(_leaf, _name)						\
	[_leaf] = {							\
		.cost = {						\
			.attr = __ATTR(_name##_ns, 0644,		\
				       memsec_limit_show,		\
				       memsec_limit_store),		\
			.max = MAX_COST_NS,				\
		},							\
		.count = {						\
			.attr = __ATTR(_name##_count, 0444,		\
				       memsec_counter_show, NULL),	\
		},							\
	}

static struct sgx_leaf leaves[NR_LEAVES] = {
	SGX_LEAF(ECREATE, ecreate),
	SGX_LEAF(EADD, eadd),
	SGX_LEAF(EINIT, einit),
	SGX_LEAF(EREMOVE, eremove),
	SGX_LEAF(EDGBRD, edbgrd),
	SGX_LEAF(EDGBWR, edbgwr),
	SGX_LEAF(EEXTEND, eextend),
	SGX_LEAF(ELDU, eldu),
	SGX_LEAF(EBLOCK, eblock),
	SGX_LEAF(EPA, epa),
	SGX_LEAF(EWB, ewb),
	SGX_LEAF(ETRACK, etrack),
	SGX_LEAF(EAUG, eaug),
	SGX_LEAF(EMODPR, emodpr),
	SGX_LEAF(EMODT, emodt),
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
 * Nothing else runs on the CPU before an instruction ends, hence the disabled
 * preemption. The cost is counted from the beginning, so what the model itself
 * takes is part of it, and a cost below that has no effect: EWB and ELDU look
 * at every word of a page, EREMOVE overwrites each. Both clock and loop go by
 * instructions executed when the machine is a virtual one that counts them.
 *
 * Context: Any.
 * Return: 0, an SGX error code, or a fault: SGX_ENCLS_FAULT_FLAG and a trap
 * number.
 */
int memsec_sgx_encls(unsigned int leaf, unsigned long rbx, unsigned long rcx,
		     unsigned long rdx, unsigned long *rbx_out)
{
	u64 cost, begin = 0;
	int ret;

	if (leaf >= NR_LEAVES)
		return SGX_MODEL_GP;

	preempt_disable();
	cost = memsec_limit(&leaves[leaf].cost);
	if (cost)
		begin = ktime_get_mono_fast_ns();

	ret = encls(leaf, rbx, rcx, rdx, rbx_out);
	this_cpu_inc(leaf_counts[leaf]);

	/* No cpu_relax(): an emulated CPU leaves its own loop for that. */
	while (cost && ktime_get_mono_fast_ns() - begin < cost)
		;
	preempt_enable();

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
		leaves[leaf].count.count = &leaf_counts[leaf];
		sysfs_attr_init(&leaves[leaf].cost.attr.attr);
		sysfs_attr_init(&leaves[leaf].count.attr.attr);
		sgx_attrs[n++] = &leaves[leaf].cost.attr.attr;
		sgx_attrs[n++] = &leaves[leaf].count.attr.attr;
	}

	return sysfs_create_group(memsec_emulation_kobj(), &sgx_group);
}
fs_initcall(sgx_model_sysfs_init);
