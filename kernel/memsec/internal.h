/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec: what the files of mm/memsec share.
 */
#ifndef _MM_MEMSEC_INTERNAL_H
#define _MM_MEMSEC_INTERNAL_H

#include <linux/irq_work_types.h>
#include <linux/kobject.h>
#include <linux/memsec.h>
#include <linux/percpu.h>
#include <linux/spinlock_types.h>
#include <linux/sysfs.h>
#include <linux/workqueue_types.h>

#define MEMSEC_FUSE_LIMIT_DEFAULT	100

/**
 * struct memsec_counter - a counter per CPU and the file that shows the sum
 * @attr: the file
 * @count: the counter
 */
struct memsec_counter {
	struct kobj_attribute attr;
	u64 __percpu *count;
};

#define MEMSEC_COUNTER_INIT(_mech, _name) {				\
		.attr = __ATTR(_name, 0444, memsec_counter_show, NULL),	\
		.count = &_mech##_##_name##_count,			\
	}

/* A counter that mechanism _mech calls _name. */
#define MEMSEC_COUNTER(_mech, _name)					\
	static DEFINE_PER_CPU(u64, _mech##_##_name##_count);		\
	static struct memsec_counter _mech##_##_name =			\
		MEMSEC_COUNTER_INIT(_mech, _name)

/* The same for several files. */
#define MEMSEC_COUNTER_SHARED(_mech, _name)				\
	static DEFINE_PER_CPU(u64, _mech##_##_name##_count);		\
	struct memsec_counter _mech##_##_name =				\
		MEMSEC_COUNTER_INIT(_mech, _name)

/* The counter of answers, whose file says when there is another. */
#define MEMSEC_ASKED(_mech)						\
	static DEFINE_PER_CPU(u64, _mech##_asked_count);		\
	static struct memsec_counter _mech##_asked = {			\
		.attr = __ATTR(asked, 0444, memsec_asked_show, NULL),	\
		.count = &_mech##_asked_count,				\
	}

/* A file of mechanism _mech that shows what _value is at the moment. */
#define MEMSEC_GAUGE(_mech, _name, _value)				\
	static ssize_t _name##_show(struct kobject *kobj,		\
				    struct kobj_attribute *attr,	\
				    char *buf)				\
	{								\
		return sysfs_emit(buf, "%llu\n", (u64)(_value));	\
	}								\
	static struct kobj_attribute _mech##_##_name = __ATTR_RO(_name)

/**
 * struct memsec_limit - a number that an administrator may set
 * @attr: the file
 * @value: the number; read it with memsec_limit()
 * @min: the least it can be
 * @max: the most it can be
 */
struct memsec_limit {
	struct kobj_attribute attr;
	u64 value;
	u64 min;
	u64 max;
};

/* The limit _var in the file _name, _default at boot. */
#define MEMSEC_LIMIT(_var, _name, _min, _max, _default)			\
	struct memsec_limit _var = {					\
		.attr = __ATTR(_name, 0644, memsec_limit_show,		\
			       memsec_limit_store),			\
		.value = (_default),					\
		.min = (_min),						\
		.max = (_max),						\
	}

/**
 * struct memsec_mechanism - a part of the kernel that asks policies
 * @group: its directory in /sys/kernel/memsec; the name is the mechanism's
 * @asked: answers that policies gave
 * @clamped: answers out of range, replaced by the default
 * @policy_changed: called after a policy was attached, detached, replaced
 *	another or has other numbers, may be NULL; must not wait for policies
 * @watched: somebody read the file of @asked and may be polling it
 * @wake: tells them of an answer
 * @asked_node: that file
 *
 * Each mechanism is a file that defines one, and a row in core.c's table.
 */
struct memsec_mechanism {
	struct attribute_group group;
	struct memsec_counter *asked;
	struct memsec_counter *clamped;
	void (*policy_changed)(void);
	bool watched;
	struct irq_work wake;
	struct kernfs_node *asked_node;
};

extern struct memsec_mechanism memsec_teardown_mechanism;
extern struct memsec_mechanism memsec_directmap_mechanism;
extern struct memsec_mechanism memsec_keyid_mechanism;
extern struct memsec_mechanism memsec_xpfo_mechanism;

/**
 * struct memsec_question_desc - what there is to know of a question
 * @name: name of the callback in struct memsec_ops
 * @callback: its offset there
 * @mech: who asks; NULL in a kernel that has no such mechanism
 * @facts: name of the struct that the facts are in
 * @size: size of that struct
 * @rule: offset in it of what a policy may write, MEMSEC_RULE_LEN bytes
 */
struct memsec_question_desc {
	const char *name;
	size_t callback;
	struct memsec_mechanism *mech;
	const char *facts;
	size_t size;
	size_t rule;
};

/**
 * struct memsec_holder_ops - how to make the holder of a policy let go of it
 * @get: pin the holder; false when it is going away by itself
 * @drop: have the holder call memsec_policy_detach(), if it did not do so
 *	before, and unpin it; may sleep
 * @programs: optional; write the ids of the programs that the policy is made
 *	of to a page, blanks in between, and return how many bytes that was;
 *	called under policy_lock, before memsec_policy_detach() takes that
 *
 * A holder is what keeps a policy attached: for BPF the link.
 */
struct memsec_holder_ops {
	bool (*get)(void *holder);
	void (*drop)(void *holder);
	int (*programs)(void *holder, char *buf);
};

/*
 * The fuse counts in slots of an eighth of a second. The slot in progress and
 * the eight before it always cover the last second.
 */
#define MEMSEC_FUSE_SLOTS_PER_SEC	8
#define MEMSEC_FUSE_SLOTS		(MEMSEC_FUSE_SLOTS_PER_SEC + 1)

/**
 * struct memsec_policy - an attached policy
 * @ops: the policy
 * @holder_ops: how to make @holder let go
 * @holder: what keeps the policy attached
 * @blown: too many answers were out of range; the policy is asked no more and
 *	cannot be replaced, only detached
 * @fuse_lock: protects the members below and setting @blown
 * @fuse_slot: number of the slot in progress
 * @fuse_bad: answers out of range in each of the last slots
 *
 * Readers find it with memsec_policy_get().
 */
struct memsec_policy {
	const struct memsec_ops *ops;
	const struct memsec_holder_ops *holder_ops;
	void *holder;
	bool blown;
	raw_spinlock_t fuse_lock;
	u64 fuse_slot;
	u32 fuse_bad[MEMSEC_FUSE_SLOTS];
};

/* core.c */
extern struct proc_dir_entry *memsec_proc_dir;

bool memsec_off(void);
u64 memsec_clock_ns(void);
void memsec_policy_changed(void);
u64 memsec_counter_sum(const struct memsec_counter *counter);
ssize_t memsec_counter_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf);
ssize_t memsec_asked_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf);
ssize_t memsec_limit_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf);
ssize_t memsec_limit_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count);

/* questions.c */
extern const struct memsec_question_desc memsec_questions[MEMSEC_ASK_NR];

void memsec_rule_text(enum memsec_question question, const void *facts,
		      char text[MEMSEC_RULE_LEN + 1]);

/* policy.c */
extern struct memsec_limit memsec_fuse_limit;

int memsec_policy_check(const struct memsec_ops *ops);
int memsec_policy_attach(const struct memsec_ops *ops,
			 const struct memsec_holder_ops *holder_ops,
			 void *holder);
int memsec_policy_update(const struct memsec_ops *ops,
			 const struct memsec_ops *old_ops);
void memsec_policy_detach(const struct memsec_ops *ops, void *holder);
struct memsec_policy *memsec_policy_get(void);
u64 memsec_policy_clamp(struct memsec_policy *policy,
			enum memsec_question question, const void *facts,
			u64 answer, bool valid, u64 fallback);
const char *memsec_policy_state(void);
void memsec_policy_name(char name[MEMSEC_OPS_NAME_LEN]);
int memsec_policy_programs(char *buf);
#if IS_ENABLED(CONFIG_KUNIT)
void memsec_fuse_work(struct work_struct *work);
#endif

/**
 * memsec_count_add() - Add to a counter
 * @counter: the counter
 * @n: how much
 *
 * Context: Any.
 */
static inline void memsec_count_add(struct memsec_counter *counter, u64 n)
{
	this_cpu_add(*counter->count, n);
}

/**
 * memsec_limit() - Read a limit
 * @limit: the limit
 *
 * Context: Any.
 * Return: its value, in the unit its name ends in.
 */
static inline u64 memsec_limit(const struct memsec_limit *limit)
{
	return READ_ONCE(limit->value);
}

#endif /* _MM_MEMSEC_INTERNAL_H */
