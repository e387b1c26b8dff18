// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: a question from user space.
 *
 * BPF_PROG_TEST_RUN asks a program of a policy, attached or not, what it answers
 * to given facts. Nothing is counted, clamped or done.
 *
 * ctx_in	the facts; what is left out is 0, and what this kernel does not
 *		have must be
 * ctx_out	the facts with the rule that the program named
 * data_out	the answer, 8 bytes
 * retval	its lower half
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/cleanup.h>
#include <linux/filter.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "internal.h"
#include "struct_ops.h"

/* Which question the program answers, NULL for init and exit. */
static const struct memsec_question_desc *
question_of(const struct bpf_prog *prog)
{
	const struct btf_type *t = btf_type_by_id(prog->aux->attach_btf,
						  prog->aux->attach_btf_id);
	const struct btf_member *member = btf_type_member(t) +
					  prog->expected_attach_type;
	u32 offset = __btf_member_bit_offset(t, member) / 8;
	int i;

	for (i = 0; i < MEMSEC_ASK_NR; i++) {
		if (memsec_questions[i].callback == offset)
			return &memsec_questions[i];
	}

	return NULL;
}

/* What a program runs in when it is asked by a mechanism, see __bpf_prog_enter(). */
static __nocfi u64 ask(const struct bpf_prog *prog, void *facts)
{
	u64 (*func)(const void *args, const struct bpf_insn *insns);
	struct bpf_tramp_run_ctx run_ctx = {};
	u64 args[] = { (unsigned long)facts };
	struct bpf_run_ctx *old_ctx;
	u64 answer;

	/* All 64 bits of the answer, of which bpf_prog_run() returns 32. */
	func = (void *)prog->bpf_func;

	rcu_read_lock();
	migrate_disable();
	old_ctx = bpf_set_run_ctx(&run_ctx.run_ctx);
	answer = func(args, prog->insnsi);
	bpf_reset_run_ctx(old_ctx);
	migrate_enable();
	rcu_read_unlock();

	return answer;
}

static int read_facts(const struct memsec_question_desc *question,
		      const union bpf_attr *kattr, void *facts)
{
	void __user *from = u64_to_user_ptr(kattr->test.ctx_in);
	u32 size = kattr->test.ctx_size_in;
	int ret;

	ret = bpf_check_uarg_tail_zero(USER_BPFPTR(from), question->size, size);
	if (ret)
		return ret;

	if (copy_from_user(facts, from, min_t(size_t, size, question->size)))
		return -EFAULT;

	memset(facts + question->rule, 0, MEMSEC_RULE_LEN);

	return 0;
}

/* As much as there is room for. Returns -ENOSPC when that is less than all. */
static int write_out(u64 to, u32 room, const void *from, u32 size,
		     u32 __user *written)
{
	if (!to)
		return 0;

	if (copy_to_user(u64_to_user_ptr(to), from, min(room, size)) ||
	    put_user(size, written))
		return -EFAULT;

	return room < size ? -ENOSPC : 0;
}

static int write_answer(const struct memsec_question_desc *question,
			const union bpf_attr *kattr,
			union bpf_attr __user *uattr, const void *facts,
			u64 answer)
{
	int ret;

	if (put_user(lower_32_bits(answer), &uattr->test.retval))
		return -EFAULT;

	ret = write_out(kattr->test.data_out, kattr->test.data_size_out,
			&answer, sizeof(answer), &uattr->test.data_size_out);
	if (ret)
		return ret;

	return write_out(kattr->test.ctx_out, kattr->test.ctx_size_out,
			 facts, question->size, &uattr->test.ctx_size_out);
}

/**
 * memsec_bpf_test_run() - Ask a program of a policy
 * @prog: the program
 * @kattr: what user space gave
 * @uattr: where user space gets the answer
 *
 * Context: Process context, may sleep.
 * Return: 0; -EOPNOTSUPP when the program answers no question; -EINVAL when
 *	asked for what is not in the list at the top; -E2BIG when there are facts
 *	that this kernel does not have; -ENOSPC when not all fits where it should
 *	go; -EFAULT; -ENOMEM.
 */
int memsec_bpf_test_run(struct bpf_prog *prog, const union bpf_attr *kattr,
			union bpf_attr __user *uattr)
{
	const struct memsec_question_desc *question;
	u64 answer;
	int ret;

	void *facts __free(kfree) = NULL;

	question = question_of(prog);
	if (!question)
		return -EOPNOTSUPP;
	if (kattr->test.data_size_in || kattr->test.repeat > 1 ||
	    kattr->test.flags || kattr->test.cpu || kattr->test.batch_size)
		return -EINVAL;

	facts = kzalloc(question->size, GFP_KERNEL);
	if (!facts)
		return -ENOMEM;

	ret = read_facts(question, kattr, facts);
	if (ret)
		return ret;

	answer = ask(prog, facts);

	return write_answer(question, kattr, uattr, facts, answer);
}
