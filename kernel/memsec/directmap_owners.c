// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: who holds memory out of the direct map.
 *
 * Each owner counts its pages in the account of its cgroup and kind. A page may
 * come back when its owner is gone, by a caller who does not know whose it was:
 * blocks remember the accounts of their pages. Nearly always all pages of a
 * block are of one account; else the block has an array.
 *
 * Like memory.peak, an account's maximum is there as long as its cgroup. The
 * account has a reference to it, which goes with the account when another one
 * is added, or when the accounts are read.
 *
 * Locking. Owners come and go under owners_lock, and accounts with them. Pages
 * are counted under cpa_lock. Only an owner can take pages: an account without
 * owners and pages stays without.
 *
 * Root can read two tables. Each begins with a line that names the columns, which
 * blanks separate. The last one is the path of the cgroup in the hierarchy, as
 * in /proc/PID/cgroup: it may have blanks in it, and " (deleted)" follows when
 * the cgroup is gone.
 *
 * /proc/memsec/directmap_owners has a line for each account:
 *   kind	secretmem, guest or xpfo
 *   cgroup	the cgroup's id
 *   pages	held now
 *   most	held at most so far
 *   owners	files, guests or processes that count there
 *
 * /proc/memsec/directmap_files has a line for each open file of
 * memfd_secret(2), the oldest first:
 *   device	as in /proc/PID/maps, MAJOR:MINOR in hexadecimal
 *   inode	the same
 *   cgroup	the id of the cgroup that its pages count for
 *   pages	that are in the file
 */
#include <kunit/static_stub.h>
#include <linux/cgroup.h>
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kdev_t.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "directmap.h"
#include "internal.h"

static DEFINE_MUTEX(owners_lock);

/* By the id of the cgroup. */
static struct xarray accounts[MEMSEC_DIRECTMAP_NR] = {
	[0 ... MEMSEC_DIRECTMAP_NR - 1] = XARRAY_INIT(accounts, 0),
};

/* Owners that are files. */
static LIST_HEAD(files);

static const char *const kind_names[MEMSEC_DIRECTMAP_NR] = {
	[MEMSEC_DIRECTMAP_SECRETMEM] = "secretmem",
	[MEMSEC_DIRECTMAP_GUEST] = "guest",
	[MEMSEC_DIRECTMAP_XPFO] = "xpfo",
};

#ifdef CONFIG_CGROUPS

/**
 * directmap_cgroup_get() - The cgroup of the current task
 *
 * Context: Any.
 * Return: the cgroup, to be put; NULL in a kernel without cgroups.
 */
struct cgroup *directmap_cgroup_get(void)
{
	struct cgroup *cgroup;

	KUNIT_STATIC_STUB_REDIRECT(directmap_cgroup_get);

	guard(rcu)();

	/* One that cannot be had was left by the task meanwhile. */
	do {
		cgroup = task_dfl_cgroup(current);
	} while (!cgroup_tryget(cgroup));

	return cgroup;
}

static u64 id_of(struct cgroup *cgroup)
{
	return cgroup_id(cgroup);
}

static bool is_there(struct cgroup *cgroup)
{
	return cgroup->self.flags & CSS_ONLINE;
}

static void show_path(struct seq_file *m, struct cgroup *cgroup)
{
	char *buf;
	size_t size = seq_get_buf(m, &buf);
	int ret = cgroup_path(cgroup, buf, size);

	seq_commit(m, ret < 0 || ret >= size ? -1 : ret);
	if (!is_there(cgroup))
		seq_puts(m, " (deleted)");
}

#else

struct cgroup *directmap_cgroup_get(void)
{
	return NULL;
}

static u64 id_of(struct cgroup *cgroup)
{
	return 0;
}

static bool is_there(struct cgroup *cgroup)
{
	return true;
}

static void show_path(struct seq_file *m, struct cgroup *cgroup)
{
	seq_puts(m, "/");
}

static void cgroup_put(struct cgroup *cgroup)
{
}

#endif /* CONFIG_CGROUPS */

/**
 * directmap_account_find() - The account of a cgroup
 * @kind: of the pages
 * @cgroup_id: the cgroup's id
 *
 * Context: While there are owners or pages that count there, or under
 *	owners_lock.
 * Return: the account; NULL when there is none.
 */
struct directmap_account *directmap_account_find(enum memsec_directmap_kind kind,
						 u64 cgroup_id)
{
	return xa_load(&accounts[kind], cgroup_id);
}

/* How many pages an account has now, and had at most. */
static u64 account_read(const struct directmap_account *account, u64 *most)
{
	u64 held;

	spin_lock(&cpa_lock);
	held = account->held;
	*most = account->most;
	spin_unlock(&cpa_lock);

	return held;
}

static bool account_is_over(const struct directmap_account *account)
{
	u64 most;

	return !account->owners && !is_there(account->cgroup) &&
	       !account_read(account, &most);
}

static void prune_locked(void)
{
	struct directmap_account *account;
	unsigned long id;
	int kind;

	for (kind = 0; kind < MEMSEC_DIRECTMAP_NR; kind++) {
		xa_for_each(&accounts[kind], id, account) {
			if (!account_is_over(account))
				continue;

			xa_erase(&accounts[kind], id);
			cgroup_put(account->cgroup);
			kfree(account);
		}
	}
}

/**
 * directmap_accounts_prune() - Forget accounts of cgroups that are gone
 *
 * Context: Process context, may sleep.
 */
void directmap_accounts_prune(void)
{
	guard(mutex)(&owners_lock);

	prune_locked();
}

/* The account has the reference to @cgroup. */
static struct directmap_account *account_add(enum memsec_directmap_kind kind,
					     struct cgroup *cgroup)
{
	struct directmap_account *account;

	prune_locked();
	account = kzalloc(sizeof(*account), GFP_KERNEL);
	if (!account)
		return NULL;

	account->kind = kind;
	account->cgroup = cgroup;
	account->cgroup_id = id_of(cgroup);
	if (xa_err(xa_store(&accounts[kind], account->cgroup_id, account,
			    GFP_KERNEL))) {
		kfree(account);
		return NULL;
	}

	return account;
}

static struct directmap_account *account_of_current(enum memsec_directmap_kind kind)
{
	struct cgroup *cgroup = directmap_cgroup_get();
	struct directmap_account *account;

	account = directmap_account_find(kind, id_of(cgroup));
	if (!account) {
		account = account_add(kind, cgroup);
		if (account)
			return account;
	}
	cgroup_put(cgroup);

	return account;
}

/**
 * memsec_directmap_owner_init() - The current task becomes the owner of pages
 * @owner: the owner
 * @kind: why it is going to take pages
 * @inode: the inode of the file that the owner is a part of; NULL when it is
 *	not a file
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOMEM, and then there is no owner.
 */
int memsec_directmap_owner_init(struct memsec_directmap_owner *owner,
				enum memsec_directmap_kind kind,
				struct inode *inode)
{
	static atomic64_t ids;
	struct directmap_account *account;

	guard(mutex)(&owners_lock);

	account = account_of_current(kind);
	if (!account)
		return -ENOMEM;

	*owner = (struct memsec_directmap_owner) {
		.id = atomic64_inc_return(&ids),
		.cgroup_id = account->cgroup_id,
		.block = ULONG_MAX / 2,
		.account = account,
		.inode = inode,
	};
	INIT_LIST_HEAD(&owner->list);
	if (inode)
		list_add_tail(&owner->list, &files);
	account->owners++;

	return 0;
}

/**
 * memsec_directmap_owner_exit() - An owner takes no more pages
 * @owner: the owner, which may go; its pages may come back later
 *
 * Context: Process context, may sleep.
 */
void memsec_directmap_owner_exit(struct memsec_directmap_owner *owner)
{
	guard(mutex)(&owners_lock);

	list_del(&owner->list);
	owner->account->owners--;
}

/**
 * directmap_page_accounts_new() - Allocate what a block of many accounts needs
 *
 * Context: Process context, may sleep.
 * Return: it; NULL when there is no memory.
 */
union directmap_page_accounts *directmap_page_accounts_new(void)
{
	KUNIT_STATIC_STUB_REDIRECT(directmap_page_accounts_new);

	return kmalloc(sizeof(union directmap_page_accounts), GFP_KERNEL);
}

/**
 * directmap_accounts_prepare() - Allocate what was missing when it was tried last
 * @op: the operation
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOMEM.
 */
int directmap_accounts_prepare(struct directmap_op *op)
{
	union directmap_page_accounts *spare;

	for (; op->want_accounts; op->want_accounts--) {
		spare = directmap_page_accounts_new();
		if (!spare)
			return -ENOMEM;
		list_add(&spare->list, &op->spare_accounts);
	}

	return 0;
}

static union directmap_page_accounts *spare_take(struct directmap_op *op)
{
	union directmap_page_accounts *spare;

	spare = list_first_entry_or_null(&op->spare_accounts,
					 union directmap_page_accounts, list);
	if (spare)
		list_del(&spare->list);

	return spare;
}

/**
 * directmap_accounts_attach() - Have blocks ready for pages of another account
 * @op: the operation
 *
 * Context: Under cpa_lock.
 * Return: 0; -EAGAIN when there is not enough that was allocated before.
 */
int directmap_accounts_attach(struct directmap_op *op)
{
	union directmap_page_accounts *spare;
	struct directmap_block *block;
	unsigned long pfn;

	for (pfn = round_down(op->pfn, DIRECTMAP_2M_PAGES); pfn < op->end;
	     pfn += DIRECTMAP_2M_PAGES) {
		block = directmap_block_find(pfn, PG_LEVEL_2M);
		if (!block || !block->held || block->accounts ||
		    block->account == op->account)
			continue;

		spare = spare_take(op);
		if (!spare) {
			op->want_accounts++;
			continue;
		}

		/* Of pages that are not held, nobody looks at it. */
		memset_p((void **)spare->of, block->account, ARRAY_SIZE(spare->of));
		block->accounts = spare;
	}

	return op->want_accounts ? -EAGAIN : 0;
}

/**
 * directmap_accounts_drop() - Free what turned out not to be needed
 * @op: the operation
 *
 * Context: Any.
 */
void directmap_accounts_drop(struct directmap_op *op)
{
	union directmap_page_accounts *spare;

	while ((spare = spare_take(op)))
		kfree(spare);
}

/**
 * directmap_account_hold() - Count pages that are going to be held
 * @op: by which operation, after directmap_accounts_attach()
 * @block: in which block
 * @pfn: the first
 * @pages: their number
 *
 * Context: Under cpa_lock, before @block->held grows.
 */
void directmap_account_hold(struct directmap_op *op,
			    struct directmap_block *block, unsigned long pfn,
			    unsigned long pages)
{
	struct directmap_account *account = op->account;

	if (block->accounts)
		memset_p((void **)block->accounts->of + (pfn - block->pfn),
			 account, pages);
	else
		block->account = account;

	account->held += pages;
	account->most = max(account->most, account->held);
}

/**
 * directmap_account_release() - Count pages that are held no more
 * @block: the block that they are in
 * @pfn: the first
 * @pages: their number
 *
 * What a block needs for more than one account goes when it holds nothing, not
 * when what it holds is of one again: whoever came to be in it may come again.
 *
 * Context: Under cpa_lock, after @block->held shrank.
 */
void directmap_account_release(struct directmap_block *block,
			       unsigned long pfn, unsigned long pages)
{
	unsigned long i = pfn - block->pfn;
	unsigned long end = i + pages;

	if (!block->accounts)
		block->account->held -= pages;
	else
		for (; i < end; i++)
			block->accounts->of[i]->held--;

	if (!block->held) {
		kfree(block->accounts);
		block->accounts = NULL;
	}
}

static int owners_show(struct seq_file *m, void *unused)
{
	struct directmap_account *account;
	unsigned long id;
	u64 held, most;
	int kind;

	guard(mutex)(&owners_lock);

	prune_locked();
	seq_puts(m, "kind cgroup pages most owners path\n");
	for (kind = 0; kind < MEMSEC_DIRECTMAP_NR; kind++) {
		xa_for_each(&accounts[kind], id, account) {
			held = account_read(account, &most);
			seq_printf(m, "%s %llu %llu %llu %u ", kind_names[kind],
				   account->cgroup_id, held, most,
				   account->owners);
			show_path(m, account->cgroup);
			seq_putc(m, '\n');
		}
	}

	return 0;
}

static int files_show(struct seq_file *m, void *unused)
{
	struct memsec_directmap_owner *owner;
	dev_t dev;

	guard(mutex)(&owners_lock);

	seq_puts(m, "device inode cgroup pages path\n");
	list_for_each_entry(owner, &files, list) {
		dev = owner->inode->i_sb->s_dev;
		seq_printf(m, "%02x:%02x %lu %llu %lu ", MAJOR(dev), MINOR(dev),
			   owner->inode->i_ino, owner->cgroup_id,
			   READ_ONCE(owner->inode->i_mapping->nrpages));
		show_path(m, owner->account->cgroup);
		seq_putc(m, '\n');
	}

	return 0;
}

/* After the directory. */
static int __init owners_init(void)
{
	if (!memsec_proc_dir ||
	    !proc_create_single("directmap_owners", 0400, memsec_proc_dir, owners_show) ||
	    !proc_create_single("directmap_files", 0400, memsec_proc_dir, files_show))
		return -ENOMEM;

	return 0;
}
fs_initcall(owners_init);
