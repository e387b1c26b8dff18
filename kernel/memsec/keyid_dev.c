// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: /dev/memsec_keyid, memory under a KeyID of one's own.
 *
 * Pages are mapped by page frame number, with the KeyID in the entries of the
 * page tables. So nothing but user space reaches them: get_user_pages() and
 * what follows from it (O_DIRECT, vmsplice(2), RDMA) refuses such mappings, and
 * reclaim, migration, compaction and huge pages pass them by. They would reach
 * the pages through the direct map, by KeyID 0.
 */
#define pr_fmt(fmt) "memsec: " fmt

#include <linux/anon_inodes.h>
#include <linux/cleanup.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>
#include <uapi/linux/memsec_keyid.h>

#include "keyid.h"

/**
 * struct keyid_file - a file with a KeyID
 * @keyid: the KeyID
 * @pages: its memory, by page of the file
 * @nr_pages: how many pages that are; under @lock or the array's
 * @lock: shared while a page is mapped, exclusive while some are taken away
 * @mapping: where it is mapped; that of the device is everybody's
 */
struct keyid_file {
	struct memsec_keyid *keyid;
	struct xarray pages;
	unsigned long nr_pages;
	struct rw_semaphore lock;
	struct address_space mapping;
};

static struct keyid_file *keyid_file_new(bool wait)
{
	struct keyid_file *kf;
	void *ret;

	kf = kzalloc(sizeof(*kf), GFP_KERNEL_ACCOUNT);
	if (!kf)
		return ERR_PTR(-ENOMEM);

	kf->keyid = memsec_keyid_take(wait);
	if (IS_ERR(kf->keyid)) {
		ret = kf->keyid;
		kfree(kf);
		return ret;
	}

	xa_init(&kf->pages);
	init_rwsem(&kf->lock);
	address_space_init_once(&kf->mapping);
	kf->mapping.a_ops = &empty_aops;

	return kf;
}

static void keyid_file_attach(struct keyid_file *kf, struct file *file)
{
	kf->mapping.host = file_inode(file);
	file->f_mapping = &kf->mapping;
	file->private_data = kf;
}

static int keyid_open(struct inode *inode, struct file *file)
{
	struct keyid_file *kf;

	/* misc_open() left the device there. */
	file->private_data = NULL;
	if ((file->f_mode & (FMODE_READ | FMODE_WRITE)) !=
	    (FMODE_READ | FMODE_WRITE))
		return file->f_mode & FMODE_WRITE ? -EINVAL : 0;

	kf = keyid_file_new(false);
	if (IS_ERR(kf))
		return PTR_ERR(kf);

	keyid_file_attach(kf, file);

	return 0;
}

/* Nobody has the pages mapped. */
static void free_range(struct keyid_file *kf, unsigned long first,
		       unsigned long last)
{
	struct page *page;
	unsigned long i;

	xa_for_each_range(&kf->pages, i, page, first, last) {
		xa_erase(&kf->pages, i);
		kf->nr_pages--;
		memsec_keyid_free_pages(kf->keyid, page, 0);
		cond_resched();
	}
}

static int keyid_release(struct inode *inode, struct file *file)
{
	struct keyid_file *kf = file->private_data;

	if (!kf)
		return 0;

	free_range(kf, 0, ULONG_MAX);
	memsec_keyid_retire(kf->keyid);
	xa_destroy(&kf->pages);
	kfree(kf);

	return 0;
}

/* Another thread may have been faster. */
static struct page *add_page(struct keyid_file *kf, unsigned long i)
{
	struct page *page, *there;

	page = memsec_keyid_alloc_pages(kf->keyid, GFP_HIGHUSER | __GFP_ZERO |
					__GFP_ACCOUNT, 0);
	if (!page)
		return NULL;

	there = xa_cmpxchg(&kf->pages, i, NULL, page, GFP_KERNEL_ACCOUNT);
	if (there) {
		memsec_keyid_free_pages(kf->keyid, page, 0);
		return xa_is_err(there) ? NULL : there;
	}

	xa_lock(&kf->pages);
	kf->nr_pages++;
	xa_unlock(&kf->pages);

	return page;
}

static vm_fault_t keyid_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct keyid_file *kf = vma->vm_file->private_data;
	struct page *page;
	pgprot_t prot;

	guard(rwsem_read)(&kf->lock);

	page = xa_load(&kf->pages, vmf->pgoff) ?: add_page(kf, vmf->pgoff);
	if (!page)
		return VM_FAULT_OOM;
	if (PageHWPoison(page))
		return VM_FAULT_HWPOISON;

	prot = keyid_backend->prot(vma->vm_page_prot, kf->keyid->id);

	return vmf_insert_pfn_prot(vma, vmf->address, page_to_pfn(page), prot);
}

/* For debuggers, who cannot get the pages either. */
static int keyid_access(struct vm_area_struct *vma, unsigned long address,
			void *buf, int len, int write)
{
	struct keyid_file *kf = vma->vm_file->private_data;
	unsigned long i = linear_page_index(vma, address);
	unsigned int offset = offset_in_page(address);
	struct page *page;

	if (write && !(vma->vm_flags & VM_WRITE))
		return -EFAULT;

	guard(rwsem_read)(&kf->lock);

	page = xa_load(&kf->pages, i) ?: add_page(kf, i);
	if (!page || PageHWPoison(page))
		return -EFAULT;

	len = min_t(int, len, PAGE_SIZE - offset);
	keyid_backend->copy(page_to_pfn(page), kf->keyid->id, offset, buf, len,
			    write);

	return len;
}

static const struct vm_operations_struct keyid_vm_ops = {
	.fault = keyid_fault,
	.access = keyid_access,
};

static int keyid_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (!file->private_data)
		return -EBADFD;
	/* A private copy would be under no KeyID. */
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;

	vm_flags_set(vma, VM_PFNMAP | VM_DONTDUMP);
	vma->vm_ops = &keyid_vm_ops;

	return 0;
}

static int get_info(struct keyid_file *kf,
		    struct memsec_keyid_info __user *uinfo)
{
	struct memsec_keyid_info info = {
		.keyid = kf->keyid->id,
		.bytes = (u64)READ_ONCE(kf->nr_pages) << PAGE_SHIFT,
	};

	return copy_to_user(uinfo, &info, sizeof(info)) ? -EFAULT : 0;
}

static int discard(struct keyid_file *kf,
		   const struct memsec_keyid_range __user *urange)
{
	struct memsec_keyid_range range;
	u64 end;

	if (copy_from_user(&range, urange, sizeof(range)))
		return -EFAULT;
	if (!range.length || !PAGE_ALIGNED(range.offset | range.length) ||
	    check_add_overflow(range.offset, range.length, &end) ||
	    end > MAX_LFS_FILESIZE)
		return -EINVAL;

	guard(rwsem_write)(&kf->lock);

	unmap_mapping_range(&kf->mapping, range.offset, range.length, 1);
	free_range(kf, range.offset >> PAGE_SHIFT, (end >> PAGE_SHIFT) - 1);

	return 0;
}

static const struct file_operations keyid_fops;

static int open_another(unsigned long flags)
{
	struct keyid_file *kf;
	struct file *file;
	int fd;

	if (flags & ~(MEMSEC_KEYID_WAIT | MEMSEC_KEYID_CLOEXEC))
		return -EINVAL;

	fd = get_unused_fd_flags(flags & MEMSEC_KEYID_CLOEXEC ? O_CLOEXEC : 0);
	if (fd < 0)
		return fd;

	kf = keyid_file_new(flags & MEMSEC_KEYID_WAIT);
	if (IS_ERR(kf)) {
		put_unused_fd(fd);
		return PTR_ERR(kf);
	}

	file = anon_inode_getfile("[memsec_keyid]", &keyid_fops, NULL, O_RDWR);
	if (IS_ERR(file)) {
		memsec_keyid_retire(kf->keyid);
		kfree(kf);
		put_unused_fd(fd);
		return PTR_ERR(file);
	}

	keyid_file_attach(kf, file);
	fd_install(fd, file);

	return fd;
}

static long keyid_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct keyid_file *kf = file->private_data;

	if (cmd == MEMSEC_KEYID_OPEN)
		return open_another(arg);
	if (cmd != MEMSEC_KEYID_GET_INFO && cmd != MEMSEC_KEYID_DISCARD)
		return -ENOTTY;
	if (!kf)
		return -EBADFD;

	return cmd == MEMSEC_KEYID_GET_INFO ?
	       get_info(kf, (void __user *)arg) :
	       discard(kf, (void __user *)arg);
}

static const struct file_operations keyid_fops = {
	.owner = THIS_MODULE,
	.open = keyid_open,
	.release = keyid_release,
	.mmap = keyid_mmap,
	.unlocked_ioctl = keyid_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

/* Root's, until the administrator lets others have it. */
static struct miscdevice keyid_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "memsec_keyid",
	.fops = &keyid_fops,
	.mode = 0600,
};

static int __init keyid_dev_init(void)
{
	return keyid_of(1) ? misc_register(&keyid_device) : 0;
}
device_initcall(keyid_dev_init);
