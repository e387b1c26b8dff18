// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: decisions of confidential-memory code, made by a policy.
 *
 * What has to be there before any policy: the command line, the files in
 * /sys/kernel/memsec and the tracepoints.
 */
#define pr_fmt(fmt) "memsec: " fmt

#include <kunit/static_stub.h>
#include <linux/cgroup.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/kstrtox.h>
#include <linux/printk.h>
#include <linux/proc_fs.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "internal.h"

#define CREATE_TRACE_POINTS
#include "events.h"

struct kobject *memsec_kobj;

/* /proc/memsec, for tables; NULL when it was not made. */
struct proc_dir_entry *memsec_proc_dir;

static struct memsec_mechanism *const mechanisms[] = {
	&memsec_teardown_mechanism,
#ifdef CONFIG_MEMSEC_DIRECTMAP
	&memsec_directmap_mechanism,
#endif
#ifdef CONFIG_MEMSEC_KEYID
	&memsec_keyid_mechanism,
#endif
#ifdef CONFIG_MEMSEC_XPFO
	&memsec_xpfo_mechanism,
#endif
};

static bool off __ro_after_init;

static int __init memsec_setup(char *arg)
{
	if (arg && !strcmp(arg, "off"))
		off = true;
	else
		pr_warn("memsec=%s on the command line is ignored, only memsec=off is known\n",
			arg ?: "");

	return 0;
}
early_param("memsec", memsec_setup);

/**
 * memsec_off() - Did the command line turn memsec off?
 *
 * Context: Any.
 * Return: true when no policy may be attached.
 */
bool memsec_off(void)
{
	KUNIT_STATIC_STUB_REDIRECT(memsec_off);

	return off;
}

/**
 * memsec_clock_ns() - The clock of limits and facts
 *
 * Context: Any but NMI.
 * Return: monotonic time in ns.
 */
u64 memsec_clock_ns(void)
{
	KUNIT_STATIC_STUB_REDIRECT(memsec_clock_ns);

	return ktime_get_ns();
}

/**
 * memsec_owner_cgroup() - Whom to call the owner of an object
 *
 * To be called when the object is created: whoever releases it later may be
 * another task, or a kernel thread.
 *
 * Context: Any.
 * Return: cgroup v2 id of the current task; 0 in a kernel without cgroups.
 */
u64 memsec_owner_cgroup(void)
{
#ifdef CONFIG_CGROUPS
	guard(rcu)();

	return cgroup_id(task_dfl_cgroup(current));
#else
	return 0;
#endif
}

/**
 * memsec_policy_changed() - What policies said may be out of date
 *
 * Context: Process context.
 */
void memsec_policy_changed(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mechanisms); i++) {
		if (mechanisms[i]->policy_changed)
			mechanisms[i]->policy_changed();
	}
}

/**
 * memsec_counter_sum() - Read a counter
 * @counter: the counter
 *
 * Context: Any.
 * Return: the sum over all CPUs.
 */
u64 memsec_counter_sum(const struct memsec_counter *counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(counter->count, cpu));

	return sum;
}

/**
 * memsec_counter_show() - The file of a counter
 * @kobj: the directory
 * @attr: in a struct memsec_counter
 * @buf: where to write
 *
 * Context: Process context.
 * Return: bytes written.
 */
ssize_t memsec_counter_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	struct memsec_counter *counter = container_of(attr, struct memsec_counter,
						      attr);

	return sysfs_emit(buf, "%llu\n", memsec_counter_sum(counter));
}

static void memsec_wake(struct irq_work *work)
{
	struct memsec_mechanism *mech = container_of(work,
						     struct memsec_mechanism,
						     wake);

	sysfs_notify_dirent(mech->asked_node);
}

static int __init memsec_add(struct memsec_mechanism *mech)
{
	struct kernfs_node *dir;
	int ret;

	ret = sysfs_create_group(memsec_kobj, &mech->group);
	if (ret)
		return ret;

	init_irq_work(&mech->wake, memsec_wake);
	dir = sysfs_get_dirent(memsec_kobj->sd, mech->group.name);
	mech->asked_node = sysfs_get_dirent(dir, mech->asked->attr.attr.name);
	sysfs_put(dir);

	return mech->asked_node ? 0 : -ENOENT;
}

/**
 * memsec_asked_show() - The file of the answers that policies gave
 * @kobj: the directory
 * @attr: in the @asked of a mechanism
 * @buf: where to write
 *
 * From here on who polls the file is woken by the next answer.
 *
 * Context: Process context.
 * Return: bytes written.
 */
ssize_t memsec_asked_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mechanisms); i++) {
		if (attr == &mechanisms[i]->asked->attr)
			WRITE_ONCE(mechanisms[i]->watched, true);
	}
	/* Pairs with the one of wake_watchers(). */
	smp_mb();

	return memsec_counter_show(kobj, attr, buf);
}

/**
 * memsec_limit_show() - Read the file of a limit
 * @kobj: the directory
 * @attr: in a struct memsec_limit
 * @buf: where to write
 *
 * Context: Process context.
 * Return: bytes written.
 */
ssize_t memsec_limit_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	struct memsec_limit *limit = container_of(attr, struct memsec_limit,
						  attr);

	return sysfs_emit(buf, "%llu\n", memsec_limit(limit));
}

/**
 * memsec_limit_store() - Write the file of a limit
 * @kobj: the directory
 * @attr: in a struct memsec_limit
 * @buf: what was written
 * @count: its length in bytes
 *
 * Context: Process context.
 * Return: @count; -EINVAL when it is not a number; -ERANGE when it is not
 *	within the limit's own limits.
 */
ssize_t memsec_limit_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	struct memsec_limit *limit = container_of(attr, struct memsec_limit,
						  attr);
	u64 value;
	int ret;

	ret = kstrtou64(buf, 0, &value);
	if (ret)
		return ret;

	if (value < limit->min || value > limit->max)
		return -ERANGE;

	WRITE_ONCE(limit->value, value);

	return count;
}

static ssize_t abi_show(struct kobject *kobj, struct kobj_attribute *attr,
			char *buf)
{
	return sysfs_emit(buf, "%u\n", MEMSEC_ABI);
}

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%s\n", memsec_policy_state());
}

static ssize_t policy_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	char name[MEMSEC_OPS_NAME_LEN];

	memsec_policy_name(name);

	return sysfs_emit(buf, "%s\n", name);
}

static ssize_t programs_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	int len = memsec_policy_programs(buf);

	return len + sysfs_emit_at(buf, len, "\n");
}

static struct kobj_attribute abi_attr = __ATTR_RO(abi);
static struct kobj_attribute state_attr = __ATTR_RO(state);
static struct kobj_attribute policy_attr = __ATTR_RO(policy);
static struct kobj_attribute programs_attr = __ATTR_RO(programs);

static const struct attribute *memsec_attrs[] = {
	&abi_attr.attr,
	&state_attr.attr,
	&policy_attr.attr,
	&programs_attr.attr,
	&memsec_fuse_limit.attr.attr,
	NULL,
};

static int __init memsec_init(void)
{
	int ret;
	int i;

	memsec_proc_dir = proc_mkdir("memsec", NULL);
	memsec_kobj = kobject_create_and_add("memsec", kernel_kobj);
	if (!memsec_kobj)
		return -ENOMEM;

	ret = sysfs_create_files(memsec_kobj, memsec_attrs);
	for (i = 0; !ret && i < ARRAY_SIZE(mechanisms); i++)
		ret = memsec_add(mechanisms[i]);
	if (ret) {
		kobject_put(memsec_kobj);
		memsec_kobj = NULL;
		return ret;
	}

	if (memsec_off())
		pr_info("off: no policy can be attached\n");

	return 0;
}
subsys_initcall(memsec_init);
