// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: the life of a KeyID.
 *
 * free -> used -> retiring -> dirty -> free. Who takes a KeyID has it until it
 * retires it. What counts then are pages, not mappings or files: a page can
 * outlive all of them. The count is per CPU while the KeyID is used, so that
 * allocating shares no cache line; it is put together when it retires. With the
 * last page the KeyID is dirty: nothing carries it any more but free pages, and
 * lines in caches. One flush of all caches then makes all that are dirty free.
 *
 * Lock order: recycle_lock, life_lock.
 */
#define pr_fmt(fmt) "memsec: " fmt

#include <linux/cgroup.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/printk.h>
#include <linux/proc_fs.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/suspend.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#include "events.h"
#include "keyid.h"

/* What has the keys; NULL when nothing does. */
const struct keyid_backend *keyid_backend __ro_after_init;

static const struct keyid_backend *const backends[] = {
#ifdef CONFIG_MEMSEC_EMULATION_KEYID
	&keyid_model,
#endif
#ifdef CONFIG_MEMSEC_KEYID_TME
	&keyid_tme,
#endif
};

static struct memsec_keyid *keyids __ro_after_init;
static unsigned int nr_keyids __ro_after_init;

static DEFINE_SPINLOCK(life_lock);
static unsigned int in_state[KEYID_STATES];

/* Who waits for one that can be taken. */
static DECLARE_WAIT_QUEUE_HEAD(keyid_wait);

/* One recycling at a time. */
static DEFINE_MUTEX(recycle_lock);

static const char *const state_names[] = {
	[KEYID_FREE] = "free",
	[KEYID_USED] = "used",
	[KEYID_RETIRING] = "retiring",
	[KEYID_DIRTY] = "dirty",
};

/**
 * keyid_of() - A KeyID
 * @id: its number, 1 to keyid_total()
 *
 * Context: Any, once there are pages that carry it.
 * Return: the KeyID; NULL when there are none or no more.
 */
struct memsec_keyid *keyid_of(unsigned int id)
{
	return id - 1 < nr_keyids ? &keyids[id - 1] : NULL;
}

/**
 * keyid_total() - How many KeyIDs there are beside 0
 *
 * Context: Any, after the command line was parsed.
 * Return: their number; 0 on most machines.
 */
unsigned int keyid_total(void)
{
	unsigned int count;
	int i;

	for (i = 0; i < ARRAY_SIZE(backends); i++) {
		count = backends[i]->count();
		if (count)
			return min(count, KEYID_MAX);
	}

	return 0;
}

/**
 * keyid_in_state() - How many KeyIDs are in a state
 * @state: the state
 *
 * Context: Any.
 * Return: their number, which can be out of date at once.
 */
unsigned int keyid_in_state(enum keyid_state state)
{
	return READ_ONCE(in_state[state]);
}

/**
 * keyid_count_pages() - How many pages carry a KeyID and are in use
 * @keyid: the KeyID
 *
 * Context: Any.
 * Return: their number.
 */
long keyid_count_pages(const struct memsec_keyid *keyid)
{
	long pages = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		pages += READ_ONCE(per_cpu_ptr(keyid->cpus, cpu)->pages);

	return max(pages, 0L);
}

/**
 * keyid_count_cached() - How many of them are kept for the next who asks
 * @keyid: the KeyID
 *
 * Context: Any.
 * Return: their number.
 */
unsigned long keyid_count_cached(const struct memsec_keyid *keyid)
{
	unsigned long pages = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		pages += READ_ONCE(per_cpu_ptr(keyid->cpus, cpu)->cached);

	return pages;
}

static void set_state(struct memsec_keyid *keyid, enum keyid_state state)
{
	lockdep_assert_held(&life_lock);

	trace_memsec_keyid_state(keyid->id, state_names[keyid->state],
				 state_names[state]);
	WRITE_ONCE(in_state[keyid->state], in_state[keyid->state] - 1);
	WRITE_ONCE(in_state[state], in_state[state] + 1);
	WRITE_ONCE(keyid->state, state);
}

static void pool_count(struct memsec_keyid_pool *pool,
		       struct memsec_keyid_recycle_ctx *ctx)
{
	ctx->total = nr_keyids;
	ctx->free = keyid_in_state(KEYID_FREE);
	ctx->dirty = keyid_in_state(KEYID_DIRTY);
	ctx->retiring = keyid_in_state(KEYID_RETIRING);
}

static unsigned int recycle_begin(void)
{
	unsigned int i, n = 0;

	spin_lock_irq(&life_lock);
	for (i = 0; i < nr_keyids; i++) {
		keyids[i].recycled = keyids[i].state == KEYID_DIRTY;
		n += keyids[i].recycled;
	}
	spin_unlock_irq(&life_lock);

	return n;
}

/* What was dirty when all caches began to be flushed is free. */
static void recycle_end(void)
{
	unsigned int i;

	spin_lock_irq(&life_lock);
	for (i = 0; i < nr_keyids; i++) {
		if (!keyids[i].recycled)
			continue;

		keyids[i].recycled = false;
		/* Free pages that carry it are clean from here on: see tag_make() */
		smp_store_release(&keyids[i].generation,
				  keyids[i].generation + 1);
		set_state(&keyids[i], KEYID_FREE);
	}
	spin_unlock_irq(&life_lock);
}

static int pool_recycle(struct memsec_keyid_pool *pool)
{
	unsigned int n;

	guard(mutex)(&recycle_lock);

	n = recycle_begin();
	if (!n)
		return 0;

	keyid_backend->flush_all();
	recycle_end();
	wake_up_all(&keyid_wait);

	return n;
}

static struct memsec_keyid_pool pool = {
	.kind = MEMSEC_KEYID_TME,
	.count = pool_count,
	.recycle = pool_recycle,
};

/* The last page is gone. */
static void last_page_gone(struct percpu_ref *ref)
{
	struct memsec_keyid *keyid = container_of(ref, struct memsec_keyid,
						  pages);

	unsigned long flags;

	spin_lock_irqsave(&life_lock, flags);
	set_state(keyid, KEYID_DIRTY);
	spin_unlock_irqrestore(&life_lock, flags);
	wake_up_all(&keyid_wait);
	memsec_keyid_pool_changed(&pool);
}

static struct memsec_keyid *take_free(void)
{
	struct memsec_keyid *keyid = NULL;
	unsigned int i;

	spin_lock_irq(&life_lock);
	for (i = 0; i < nr_keyids && !keyid; i++) {
		if (keyids[i].state == KEYID_FREE)
			keyid = &keyids[i];
	}
	if (keyid)
		set_state(keyid, KEYID_USED);
	spin_unlock_irq(&life_lock);

	return keyid;
}

static struct memsec_keyid *take_or_recycle(void)
{
	struct memsec_keyid *keyid;

	do {
		keyid = take_free();
	} while (!keyid && memsec_keyid_pool_recycle(&pool) > 0);

	/* There was nothing left to recycle, but others may have done it. */
	return keyid ?: take_free();
}

/*
 * A KeyID that retires without a page is dirty only when its count was put
 * together, which takes a grace period. Who would go without waits for that.
 */
static struct memsec_keyid *take_after_grace(void)
{
	struct memsec_keyid *keyid = take_or_recycle();

	if (!keyid && keyid_in_state(KEYID_RETIRING)) {
		rcu_barrier();
		keyid = take_or_recycle();
	}

	return keyid;
}

static bool can_be_taken(void)
{
	return keyid_in_state(KEYID_FREE) || keyid_in_state(KEYID_DIRTY);
}

static void begin_use(struct memsec_keyid *keyid)
{
	struct keyid_cpu *c;
	int cpu;

	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(keyid->cpus, cpu);
		c->left = 0;
		c->answer = 0;
		c->allocated = 0;
		c->freed = 0;
		c->flushed = 0;
		c->total = 0;
	}
	keyid->flush = false;
	keyid->cgroup_id = memsec_owner_cgroup();
	percpu_ref_reinit(&keyid->pages);
}

/**
 * memsec_keyid_take() - Take a KeyID, with a new key
 * @wait: wait until there is one
 *
 * It is the caller's until memsec_keyid_retire().
 *
 * Context: Process context, may sleep.
 * Return: the KeyID; ERR_PTR(-ENODEV) when there are none on this machine;
 *	-ENOSPC when all are taken or retiring; -ERESTARTSYS when a signal came
 *	while it waited; -EIO when the key could not be made.
 */
struct memsec_keyid *memsec_keyid_take(bool wait)
{
	struct memsec_keyid *keyid;
	int ret;

	if (!nr_keyids)
		return ERR_PTR(-ENODEV);

	while (!(keyid = take_after_grace())) {
		if (!wait) {
			memsec_count_add(&keyid_exhausted, 1);
			return ERR_PTR(-ENOSPC);
		}
		ret = wait_event_interruptible(keyid_wait, can_be_taken());
		if (ret)
			return ERR_PTR(ret);
	}

	begin_use(keyid);
	memsec_keyid_pool_changed(&pool);
	ret = keyid_backend->program(keyid->id);
	if (ret) {
		memsec_keyid_retire(keyid);
		return ERR_PTR(ret);
	}

	return keyid;
}

/**
 * memsec_keyid_retire() - Give a KeyID up
 * @keyid: the KeyID, which is the caller's no more
 *
 * It can be taken again when no page carries it and all caches were flushed.
 *
 * Context: Process context.
 */
void memsec_keyid_retire(struct memsec_keyid *keyid)
{
	spin_lock_irq(&life_lock);
	set_state(keyid, KEYID_RETIRING);
	spin_unlock_irq(&life_lock);

	keyid_cache_drain(keyid);
	percpu_ref_kill(&keyid->pages);
	memsec_keyid_pool_changed(&pool);
}

/*
 * Keys do not survive that the machine is off, and hibernation would save what
 * the direct map shows instead of what owners see.
 */
static int before_sleep(struct notifier_block *nb, unsigned long event,
			void *unused)
{
	if (event != PM_SUSPEND_PREPARE && event != PM_HIBERNATION_PREPARE)
		return NOTIFY_DONE;
	if (!keyid_in_state(KEYID_USED) && !keyid_in_state(KEYID_RETIRING))
		return NOTIFY_DONE;

	pr_info("there is memory under a KeyID, which would be lost\n");

	return notifier_from_errno(-EBUSY);
}

static struct notifier_block sleep_notifier = {
	.notifier_call = before_sleep,
};

#ifdef CONFIG_CGROUPS
/* One that is gone has no path any more. */
static void show_cgroup(struct seq_file *m, u64 cgroup_id)
{
	struct cgroup *cgroup = cgroup_get_from_id(cgroup_id);
	size_t size;
	char *buf;
	int ret;

	if (IS_ERR(cgroup)) {
		seq_puts(m, "/? (deleted)");
		return;
	}

	size = seq_get_buf(m, &buf);
	ret = cgroup_path(cgroup, buf, size);
	seq_commit(m, ret < 0 || ret >= size ? -1 : ret);
	cgroup_put(cgroup);
}
#else
static void show_cgroup(struct seq_file *m, u64 cgroup_id)
{
	seq_putc(m, '/');
}
#endif

static int keyids_show(struct seq_file *m, void *unused)
{
	struct memsec_keyid *keyid;
	enum keyid_state state;
	unsigned int id;

	seq_puts(m, "keyid state pages cached cgroup path\n");
	for (id = 1; (keyid = keyid_of(id)); id++) {
		state = READ_ONCE(keyid->state);
		seq_printf(m, "%u %s %ld %lu %llu ", id, state_names[state],
			   keyid_count_pages(keyid), keyid_count_cached(keyid),
			   state == KEYID_FREE ? 0 : keyid->cgroup_id);
		if (state == KEYID_FREE)
			seq_putc(m, '-');
		else
			show_cgroup(m, keyid->cgroup_id);
		seq_putc(m, '\n');
	}

	return 0;
}

static int __init keyid_init_one(struct memsec_keyid *keyid, unsigned int id)
{
	keyid->id = id;
	keyid->cpus = alloc_percpu(struct keyid_cpu);
	if (!keyid->cpus)
		return -ENOMEM;

	keyid_cache_init(keyid);

	return percpu_ref_init(&keyid->pages, last_page_gone,
			       PERCPU_REF_INIT_DEAD | PERCPU_REF_ALLOW_REINIT,
			       GFP_KERNEL);
}

static const struct keyid_backend *__init find_backend(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(backends); i++) {
		if (backends[i]->count())
			return backends[i];
	}

	return NULL;
}

static int __init keyids_make(unsigned int count)
{
	unsigned int id;
	int ret;

	keyids = vcalloc(count, sizeof(*keyids));
	if (!keyids)
		return -ENOMEM;

	for (id = 1; id <= count; id++) {
		ret = keyid_init_one(&keyids[id - 1], id);
		if (ret)
			return ret;
	}

	return 0;
}

static int __init keyid_life_init(void)
{
	unsigned int count = keyid_total();
	int ret;

	if (!count)
		return 0;

	keyid_backend = find_backend();
	ret = keyids_make(count);
	if (!ret)
		ret = keyid_cache_start();
	if (!ret)
		ret = keyid_backend->start();
	if (!ret && (!memsec_proc_dir ||
		     !proc_create_single("keyids", 0400, memsec_proc_dir, keyids_show)))
		ret = -ENOMEM;
	if (ret) {
		pr_err("no KeyIDs: error %d\n", ret);
		return ret;
	}

	in_state[KEYID_FREE] = count;
	nr_keyids = count;
	memsec_keyid_pool_register(&pool);
	register_pm_notifier(&sleep_notifier);
	static_branch_enable(&memsec_keyid_key);
	pr_info("%u KeyIDs\n", count);

	return 0;
}

/* After the directory in /proc and what the models need. */
fs_initcall(keyid_life_init);
