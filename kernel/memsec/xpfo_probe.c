// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: read memory by the direct map, to see that it cannot be read.
 *
 * Two files in debugfs, memsec/xpfo_probe and memsec/xpfo_ret2dir. What is
 * written to them is the number of a page.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/uaccess.h>

static int read_pfn(const char __user *buf, size_t count, unsigned long *pfn)
{
	int ret;

	ret = kstrtoul_from_user(buf, count, 0, pfn);
	if (ret)
		return ret;

	return pfn_valid(*pfn) ? 0 : -EINVAL;
}

/* Whether the page can be read: -EFAULT when it cannot. */
static ssize_t probe_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *pos)
{
	unsigned long pfn;
	u64 value;
	int ret;

	ret = read_pfn(buf, count, &pfn);
	if (!ret)
		ret = copy_from_kernel_nofault(&value, pfn_to_kaddr(pfn),
					       sizeof(value));

	return ret ?: count;
}

/* What a bug does that takes an address of a user's page for the kernel's. */
static ssize_t ret2dir_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *pos)
{
	unsigned long pfn;
	int ret;

	ret = read_pfn(buf, count, &pfn);
	if (!ret)
		(void)READ_ONCE(*(u64 *)pfn_to_kaddr(pfn));

	return ret ?: count;
}

static const struct file_operations probe_fops = {
	.open = simple_open,
	.write = probe_write,
};

static const struct file_operations ret2dir_fops = {
	.open = simple_open,
	.write = ret2dir_write,
};

static int __init xpfo_probe_init(void)
{
	struct dentry *dir = debugfs_create_dir("memsec", NULL);

	debugfs_create_file("xpfo_probe", 0200, dir, NULL, &probe_fops);
	debugfs_create_file("xpfo_ret2dir", 0200, dir, NULL, &ret2dir_fops);

	return 0;
}
late_initcall(xpfo_probe_init);
