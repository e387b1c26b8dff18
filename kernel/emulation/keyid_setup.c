// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shadow of this machine's memory, the instructions that change it, and its
 * files.
 */
#define pr_fmt(fmt) "memsec: " fmt

#include <linux/bitfield.h>
#include <linux/bug.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/memblock.h>
#include <linux/memsec_emulation.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/sysfs.h>
#include <linux/vmalloc.h>

#include "emulation.h"
#include "keyid_model.h"

/* WBINVD takes as long as it takes to write back the largest caches there are. */
#define WBINVD_MAX_NS	100000000

static unsigned int keyids __ro_after_init;

static struct keyid_shadow machine;

static DEFINE_PER_CPU(u64, clflush_page_count);
static DEFINE_PER_CPU(u64, wbinvd_count);
static DEFINE_PER_CPU(u64, pconfig_count);
static struct instruction insn_clflush_page =
	INSTRUCTION(clflush_page, &clflush_page_count);
static struct instruction insn_wbinvd =
	INSTRUCTION_UP_TO(wbinvd, &wbinvd_count, WBINVD_MAX_NS);
static struct instruction insn_pconfig = INSTRUCTION(pconfig, &pconfig_count);

/* Follow what happens to pages. A key, so that benchmarks can do without. */
static DEFINE_STATIC_KEY_FALSE(keyid_check);

/* A test that corrupts memory on purpose wants no warning. */
MEMSEC_LIMIT(keyid_model_warn, warn, 0, 1, 1);
MEMSEC_COUNTER(keyid, violations);

/**
 * keyid_model_parse() - What memsec.keyid= on the command line says
 * @arg: the value, NULL when there is none
 *
 * Context: Any.
 * Return: how many KeyIDs beside 0, or a negative errno.
 */
int keyid_model_parse(const char *arg)
{
	u8 number;
	int ret;

	if (!arg)
		return -EINVAL;
	ret = kstrtou8(arg, 10, &number);
	if (ret)
		return ret;

	return number <= KEYID_MODEL_MAX ? number : -ERANGE;
}

static int __init keyid_model_wanted(char *arg)
{
	int number = keyid_model_parse(arg);

	if (number < 0)
		pr_err("memsec.keyid=%s on the command line is ignored, expected a number of KeyIDs from 0 to %d\n",
		       arg ?: "", KEYID_MODEL_MAX);
	keyids = max(number, 0);

	return 0;
}
early_param("memsec.keyid", keyid_model_wanted);

/**
 * memsec_keyid_emulated() - How many KeyIDs are modelled in this boot?
 *
 * Context: Any, after early parameters were parsed.
 * Return: how many there are beside 0; 0 when they are not modelled.
 */
unsigned int memsec_keyid_emulated(void)
{
	return keyids;
}

/**
 * memsec_keyid_model_violations() - How often hardware would have corrupted a page
 *
 * Context: Any.
 * Return: the sum.
 */
u64 memsec_keyid_model_violations(void)
{
	return memsec_counter_sum(&keyid_violations);
}

static void report(const struct keyid_violations *bad, unsigned int keyid,
		   const char *what, const char *expected)
{
	if (likely(!bad->count))
		return;

	memsec_count_add(&keyid_violations, bad->count);
	WARN_ONCE(memsec_limit(&keyid_model_warn),
		  "memsec: KeyID %u %s: expected %s, found %s KeyID %u at pfn %#lx, of %llu such pages\n",
		  keyid, what, expected,
		  bad->found & KEYID_PAGE_RELEASED ? "lines left by" :
						     "a page of",
		  (unsigned int)FIELD_GET(KEYID_PAGE_KEYID, bad->found),
		  bad->pfn, bad->count);
}

/**
 * memsec_keyid_model_access() - Somebody can reach pages by a KeyID from now on
 * @pfn: the first page
 * @pages: how many
 * @keyid: the KeyID
 *
 * To be called before a page is handed to somebody, and before the kernel maps
 * it for itself.
 *
 * Context: Any. The caller owns the pages.
 */
void memsec_keyid_model_access(unsigned long pfn, unsigned int pages,
			       unsigned int keyid)
{
	struct keyid_violations bad = { };

	if (!static_branch_unlikely(&keyid_check))
		return;

	keyid_shadow_access(&machine, pfn, pages, keyid, &bad);
	report(&bad, keyid, "gets access", "no lines of another");
}

/**
 * memsec_keyid_model_release() - Nobody reaches pages by a KeyID any more
 * @pfn: the first page
 * @pages: how many
 * @keyid: the KeyID
 *
 * Lines may be left, until they are flushed.
 *
 * Context: Any. The caller owns the pages.
 */
void memsec_keyid_model_release(unsigned long pfn, unsigned int pages,
				unsigned int keyid)
{
	struct keyid_violations bad = { };

	if (!static_branch_unlikely(&keyid_check))
		return;

	keyid_shadow_release(&machine, pfn, pages, keyid, &bad);
	report(&bad, keyid, "is released", "a page of its own");
}

/**
 * memsec_keyid_model_flush() - CLFLUSH of all lines of a page
 * @pfn: the page
 * @keyid: the KeyID of the mapping through which it is done
 *
 * Context: Any. The caller owns the page.
 */
void memsec_keyid_model_flush(unsigned long pfn, unsigned int keyid)
{
	u64 begin = instruction_begin(&insn_clflush_page);

	if (static_branch_unlikely(&keyid_check))
		keyid_shadow_flush(&machine, pfn, keyid);
	instruction_end(&insn_clflush_page, begin);
}

static void wbinvd_here(void *unused)
{
	instruction_end(&insn_wbinvd, instruction_begin(&insn_wbinvd));
}

/**
 * memsec_keyid_model_flush_all() - WBINVD on every CPU
 *
 * Context: Process context. Waits for all CPUs.
 */
void memsec_keyid_model_flush_all(void)
{
	u64 number = keyid_shadow_flush_all_begin(&machine);

	on_each_cpu(wbinvd_here, NULL, true);
	keyid_shadow_flush_all_end(&machine, number);
}

/**
 * memsec_keyid_model_program() - PCONFIG: a KeyID gets a new key
 * @keyid: the KeyID
 *
 * Context: Process context.
 */
void memsec_keyid_model_program(unsigned int keyid)
{
	struct keyid_violations bad = { };

	if (static_branch_unlikely(&keyid_check))
		keyid_shadow_program(&machine, keyid, &bad);
	instruction_end(&insn_pconfig, instruction_begin(&insn_pconfig));
	report(&bad, keyid, "gets a new key", "no lines of it");
}

/**
 * memsec_keyid_model_stop_checking() - Do not follow what happens to pages
 *
 * For good: what happened meanwhile would not be known.
 *
 * Context: Process context, may sleep.
 */
void memsec_keyid_model_stop_checking(void)
{
	static_branch_disable(&keyid_check);
}

static ssize_t check_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%d\n", static_key_enabled(&keyid_check));
}

/* What happened while it was off is not known, so it cannot be turned on again. */
static ssize_t check_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	u64 value;
	int ret;

	ret = kstrtou64(buf, 0, &value);
	if (ret)
		return ret;

	if (value > 1)
		return -ERANGE;
	if (!value)
		memsec_keyid_model_stop_checking();
	else if (!static_key_enabled(&keyid_check))
		return -EBUSY;

	return count;
}

/* Walks of the whole shadow, by the one who reads. */
static ssize_t held_pages_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", keyid_shadow_held_pages(&machine));
}

static ssize_t lines_pages_show(struct kobject *kobj,
				struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", keyid_shadow_lines_pages(&machine));
}

static struct kobj_attribute check_attr = __ATTR_RW(check);
static struct kobj_attribute held_pages_attr = __ATTR_RO(held_pages);
static struct kobj_attribute lines_pages_attr = __ATTR_RO(lines_pages);

static struct attribute *keyid_attrs[] = {
	&insn_clflush_page.cost.attr.attr,
	&insn_clflush_page.count.attr.attr,
	&insn_wbinvd.cost.attr.attr,
	&insn_wbinvd.count.attr.attr,
	&insn_pconfig.cost.attr.attr,
	&insn_pconfig.count.attr.attr,
	&check_attr.attr,
	&keyid_model_warn.attr.attr,
	&keyid_violations.attr.attr,
	&held_pages_attr.attr,
	&lines_pages_attr.attr,
	NULL,
};

static const struct attribute_group keyid_group = {
	.name = "keyid",
	.attrs = keyid_attrs,
};

/**
 * memsec_keyid_model_start() - Begin to follow what happens to pages
 *
 * All of memory counts as KeyID 0's at this moment, and not flushed.
 *
 * Context: An initcall after subsys_initcall(), once, when
 *	memsec_keyid_emulated() is not 0.
 * Return: 0 or a negative errno.
 */
int memsec_keyid_model_start(void)
{
	struct kobject *kobj = memsec_emulation_kobj();
	int ret;

	machine.pages = vzalloc(array_size(max_pfn, sizeof(*machine.pages)));
	if (!machine.pages || !kobj)
		return -ENOMEM;

	machine.nr_pages = max_pfn;
	ret = sysfs_create_group(kobj, &keyid_group);
	if (ret)
		return ret;

	static_branch_enable(&keyid_check);
	memsec_emulation_announce("TME-MK");

	return 0;
}
