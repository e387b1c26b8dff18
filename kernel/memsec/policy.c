// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: the attached policy.
 *
 * There is one policy at a time. Those who ask find it through an RCU pointer
 * and never wait. Attaching, updating and detaching are serialized by
 * policy_lock and may sleep; a policy that is replaced or detached is left
 * alone only after a grace period, so that its exit() comes after its last
 * answer, and its holder may free it when memsec_policy_detach() or
 * memsec_policy_update() returns.
 *
 * The fuse. A policy with too many answers out of range is marked as blown,
 * which has effect at once: it is asked no more. The detachment itself needs
 * locks of the holder which are taken outside policy_lock, so a work item asks
 * the holder for it with no lock held. Whatever happens before the work gets
 * that far, it cannot hit another policy:
 * - A blown policy cannot be updated. What the holder holds when the work
 *   looks at it is what it holds until it lets go.
 * - When the holder has let go by itself, dropping it again does nothing.
 * - When the policy was updated before it was blown (an answer may come while
 *   its replacement is already there), or when the next one is attached, the
 *   work finds a policy that is not blown, and returns.
 *
 * Lock order: the holder's locks (for BPF update_mutex), policy_lock, the
 * locks of jump labels.
 */
#define pr_fmt(fmt) "memsec: " fmt

#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "events.h"
#include "internal.h"

struct static_key_false memsec_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(memsec_key);

MEMSEC_LIMIT(memsec_fuse_limit, fuse_limit, 0, U32_MAX,
	     MEMSEC_FUSE_LIMIT_DEFAULT);

static DEFINE_MUTEX(policy_lock);
static struct memsec_policy __rcu *current_policy;

/* The last policy was detached by the fuse. Written under policy_lock. */
static bool fused;

static struct memsec_policy *locked_policy(void)
{
	return rcu_dereference_protected(current_policy,
					 lockdep_is_held(&policy_lock));
}

/**
 * memsec_policy_check() - Can this kernel run a policy?
 * @ops: the policy
 *
 * Context: Any.
 * Return: 0; -EPROTONOSUPPORT when it was made for another ABI; -EINVAL when
 *	it has no name or unknown flags.
 */
int memsec_policy_check(const struct memsec_ops *ops)
{
	if (!ops->name[0] || strnlen(ops->name, sizeof(ops->name)) ==
			     sizeof(ops->name))
		return -EINVAL;

	if (ops->abi != MEMSEC_ABI) {
		pr_warn_ratelimited("policy %s is for ABI %u, this kernel has %u\n",
				    ops->name, ops->abi, MEMSEC_ABI);
		return -EPROTONOSUPPORT;
	}

	return ops->flags ? -EINVAL : 0;
}

/* What user space gets to see when init() refuses: an errno that it knows. */
static int policy_init(const struct memsec_ops *ops)
{
	int ret;

	ret = ops->init ? ops->init() : 0;
	if (ret >= 0)
		return 0;

	return ret >= -EHWPOISON ? ret : -EINVAL;
}

static struct memsec_policy *
policy_start(const struct memsec_ops *ops,
	     const struct memsec_holder_ops *holder_ops, void *holder)
{
	struct memsec_policy *policy;
	int ret;

	policy = kzalloc(sizeof(*policy), GFP_KERNEL);
	if (!policy)
		return ERR_PTR(-ENOMEM);

	policy->ops = ops;
	policy->holder_ops = holder_ops;
	policy->holder = holder;
	raw_spin_lock_init(&policy->fuse_lock);

	ret = policy_init(ops);
	if (ret) {
		kfree(policy);
		return ERR_PTR(ret);
	}

	return policy;
}

/* Nobody can find the policy any more; some may still be asking it. */
static void policy_stop(struct memsec_policy *policy)
{
	synchronize_rcu();

	if (policy->ops->exit)
		policy->ops->exit();

	kfree(policy);
}

/**
 * memsec_policy_attach() - Attach a policy
 * @ops: the policy; stays valid until it is detached or replaced
 * @holder_ops: how to make @holder let go
 * @holder: what keeps the policy attached
 *
 * Context: Process context, may sleep.
 * Return: 0; -EBUSY when there is one already; -EOPNOTSUPP when the command
 *	line turned memsec off; -EPROTONOSUPPORT or -EINVAL when the policy is
 *	not one for this kernel; -ENOMEM; what the policy's init() returned.
 */
int memsec_policy_attach(const struct memsec_ops *ops,
			 const struct memsec_holder_ops *holder_ops,
			 void *holder)
{
	struct memsec_policy *policy;
	int ret;

	if (memsec_off())
		return -EOPNOTSUPP;

	ret = memsec_policy_check(ops);
	if (ret)
		return ret;

	guard(mutex)(&policy_lock);

	if (locked_policy())
		return -EBUSY;

	policy = policy_start(ops, holder_ops, holder);
	if (IS_ERR(policy))
		return PTR_ERR(policy);

	WRITE_ONCE(fused, false);
	rcu_assign_pointer(current_policy, policy);
	static_branch_enable(&memsec_key);
	trace_memsec_attach(ops->name);
	memsec_policy_changed();

	return 0;
}

/**
 * memsec_policy_update() - Replace the attached policy
 * @ops: the new policy; stays valid until it is detached or replaced
 * @old_ops: the one to replace, no longer used on success
 *
 * There is always a policy to ask: the new one's init() runs before it takes
 * over, the old one's exit() after its last answer. The holder stays the same.
 * Replacing a policy by itself says that its numbers are others: it goes on, and
 * what it answered for a time to come is asked again.
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOLINK when @old_ops is not attached, or its fuse has blown;
 *	-EPROTONOSUPPORT or -EINVAL when the new one is not one for this kernel;
 *	-ENOMEM; what its init() returned. On any error the old policy goes on.
 */
int memsec_policy_update(const struct memsec_ops *ops,
			 const struct memsec_ops *old_ops)
{
	struct memsec_policy *policy;
	struct memsec_policy *old;
	int ret;

	ret = memsec_policy_check(ops);
	if (ret)
		return ret;

	guard(mutex)(&policy_lock);

	old = locked_policy();
	if (!old || old->ops != old_ops || READ_ONCE(old->blown))
		return -ENOLINK;
	if (ops == old_ops) {
		memsec_policy_changed();
		return 0;
	}

	policy = policy_start(ops, old->holder_ops, old->holder);
	if (IS_ERR(policy))
		return PTR_ERR(policy);

	rcu_assign_pointer(current_policy, policy);
	trace_memsec_update(ops->name, old_ops->name);
	memsec_policy_changed();
	policy_stop(old);

	return 0;
}

/**
 * memsec_policy_detach() - Detach a policy
 * @ops: the policy, no longer used afterwards
 * @holder: what kept it attached
 *
 * Does nothing when @ops is not what @holder keeps attached.
 *
 * Context: Process context, may sleep.
 */
void memsec_policy_detach(const struct memsec_ops *ops, void *holder)
{
	struct memsec_policy *policy;

	guard(mutex)(&policy_lock);

	policy = locked_policy();
	if (!policy || policy->ops != ops || policy->holder != holder)
		return;

	WRITE_ONCE(fused, READ_ONCE(policy->blown));
	RCU_INIT_POINTER(current_policy, NULL);
	static_branch_disable(&memsec_key);
	trace_memsec_detach(ops->name);
	policy_stop(policy);
	memsec_policy_changed();
}

/**
 * memsec_policy_get() - The policy to ask
 *
 * Context: RCU read-side critical section, which has to last until the answer
 *	went through memsec_policy_clamp().
 * Return: the attached policy; NULL when there is none to ask.
 */
struct memsec_policy *memsec_policy_get(void)
{
	struct memsec_policy *policy;

	policy = rcu_dereference(current_policy);
	if (!policy || READ_ONCE(policy->blown))
		return NULL;

	return policy;
}

/* Detaches the policy whose fuse has blown, if it is still there. */
VISIBLE_IF_KUNIT void memsec_fuse_work(struct work_struct *work)
{
	const struct memsec_holder_ops *holder_ops;
	void *holder;

	scoped_guard(mutex, &policy_lock) {
		struct memsec_policy *policy = locked_policy();

		if (!policy || !READ_ONCE(policy->blown))
			return;

		holder_ops = policy->holder_ops;
		holder = policy->holder;
		if (!holder_ops->get(holder))
			return;

		pr_warn("policy %s is detached: more than %llu answers within a second were out of range\n",
			policy->ops->name, memsec_limit(&memsec_fuse_limit));
	}

	holder_ops->drop(holder);
}

static DECLARE_WORK(fuse_work, memsec_fuse_work);

/*
 * Counts an answer out of range. Returns how many there were in a second. Others
 * who looked at the clock later may have been here before.
 */
static u64 fuse_count(struct memsec_policy *policy, u64 now)
{
	u64 slot = max(div_u64(now, NSEC_PER_SEC / MEMSEC_FUSE_SLOTS_PER_SEC),
		       policy->fuse_slot);
	u64 bad = 0;
	int i;

	lockdep_assert_held(&policy->fuse_lock);

	if (slot - policy->fuse_slot >= MEMSEC_FUSE_SLOTS) {
		memset(policy->fuse_bad, 0, sizeof(policy->fuse_bad));
		policy->fuse_slot = slot;
	}
	while (policy->fuse_slot != slot)
		policy->fuse_bad[++policy->fuse_slot % MEMSEC_FUSE_SLOTS] = 0;

	policy->fuse_bad[slot % MEMSEC_FUSE_SLOTS]++;
	for (i = 0; i < MEMSEC_FUSE_SLOTS; i++)
		bad += policy->fuse_bad[i];

	return bad;
}

static void fuse_check(struct memsec_policy *policy)
{
	u64 now = memsec_clock_ns();
	unsigned long irqflags;
	bool blows;

	raw_spin_lock_irqsave(&policy->fuse_lock, irqflags);
	blows = fuse_count(policy, now) > memsec_limit(&memsec_fuse_limit) &&
		!policy->blown;
	if (blows)
		WRITE_ONCE(policy->blown, true);
	raw_spin_unlock_irqrestore(&policy->fuse_lock, irqflags);

	if (!blows)
		return;

	trace_memsec_fuse(policy->ops->name);
	queue_work(system_long_wq, &fuse_work);
}

/*
 * Who reads the counter after it said that it watches sees the answer, or else
 * is woken: see memsec_asked_show().
 */
static void wake_watchers(struct memsec_mechanism *mech)
{
	/* Pairs with the one of memsec_asked_show(). */
	smp_mb();
	if (unlikely(READ_ONCE(mech->watched)) && xchg(&mech->watched, false))
		irq_work_queue(&mech->wake);
}

/**
 * memsec_policy_clamp() - Keep a policy's answer in range
 * @policy: who answered
 * @question: what was asked
 * @facts: the struct that the policy was given
 * @answer: the answer
 * @valid: whether the mechanism can do what the answer says
 * @fallback: what to do when it cannot, the default for this question
 *
 * Counts the answer, and tells of it. One out of range brings the fuse closer.
 *
 * Context: The RCU read-side critical section in which the policy was asked;
 *	any but NMI.
 * Return: @answer or @fallback.
 */
u64 memsec_policy_clamp(struct memsec_policy *policy,
			enum memsec_question question, const void *facts,
			u64 answer, bool valid, u64 fallback)
{
	struct memsec_mechanism *mech = memsec_questions[question].mech;
	u64 used = likely(valid) ? answer : fallback;

	memsec_count_add(mech->asked, 1);
	wake_watchers(mech);
	trace_memsec_decision(policy->ops->name, question, facts,
			      memsec_questions[question].size, answer, used);
	if (likely(valid))
		return used;

	memsec_count_add(mech->clamped, 1);
	trace_memsec_clamp(policy->ops->name, mech->group.name, answer,
			   fallback);
	fuse_check(policy);

	return used;
}

/**
 * memsec_policy_state() - What there is to ask
 *
 * Context: Any.
 * Return: "off", "detached", "attached" or "fused".
 */
const char *memsec_policy_state(void)
{
	const struct memsec_policy *policy;

	if (memsec_off())
		return "off";

	guard(rcu)();

	policy = rcu_dereference(current_policy);
	if (policy ? READ_ONCE(policy->blown) : READ_ONCE(fused))
		return "fused";

	return policy ? "attached" : "detached";
}

/**
 * memsec_policy_name() - Name of the attached policy
 * @name: where to write it, empty when there is none to ask
 *
 * Context: Any.
 */
void memsec_policy_name(char name[MEMSEC_OPS_NAME_LEN])
{
	const struct memsec_policy *policy;

	guard(rcu)();

	policy = memsec_policy_get();
	strscpy(name, policy ? policy->ops->name : "", MEMSEC_OPS_NAME_LEN);
}

/**
 * memsec_policy_programs() - Programs that the attached policy is made of
 * @buf: a page to write their ids to
 *
 * Context: Process context, may sleep.
 * Return: bytes written; 0 when there is no policy to ask, or its holder knows
 *	of no programs.
 */
int memsec_policy_programs(char *buf)
{
	struct memsec_policy *policy;

	guard(mutex)(&policy_lock);

	policy = locked_policy();
	if (!policy || READ_ONCE(policy->blown) ||
	    !policy->holder_ops->programs)
		return 0;

	return policy->holder_ops->programs(policy->holder, buf);
}
