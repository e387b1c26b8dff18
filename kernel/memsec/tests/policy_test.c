// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec KUnit: the life of a policy, the clamps and the fuse.
 */
#include <kunit/static_stub.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>

#include "fake.h"

/* What the policies below saw. */
static struct {
	int inits;
	int exits;
	int init_returns;
	const struct memsec_ops *during_init;
	const struct memsec_ops *during_exit;
} seen;

static const struct memsec_ops *asked_now(void)
{
	const struct memsec_policy *policy;

	guard(rcu)();
	policy = memsec_policy_get();

	return policy ? policy->ops : NULL;
}

static s32 policy_init(void)
{
	seen.during_init = asked_now();
	if (seen.init_returns >= 0)
		seen.inits++;

	return seen.init_returns;
}

static void policy_exit(void)
{
	seen.during_exit = asked_now();
	seen.exits++;
}

static const struct memsec_ops first = {
	.name = "first",
	.abi = MEMSEC_ABI,
	.init = policy_init,
	.exit = policy_exit,
};

static const struct memsec_ops second = {
	.name = "second",
	.abi = MEMSEC_ABI,
	.init = policy_init,
	.exit = policy_exit,
};

static const struct memsec_ops bare = {
	.name = "bare",
	.abi = MEMSEC_ABI,
};

static struct fake_holder holder;
static struct fake_holder other;
static DECLARE_COMPLETION(gate);

static int policy_test_init(struct kunit *test)
{
	memset(&seen, 0, sizeof(seen));
	fake_holder_init(&holder);
	fake_holder_init(&other);
	reinit_completion(&gate);
	fake_clock_start(test);

	return 0;
}

static void policy_test_exit(struct kunit *test)
{
	fake_detach(&holder);
	fake_detach(&other);
	memsec_fuse_limit.value = MEMSEC_FUSE_LIMIT_DEFAULT;
}

static void expect_state(struct kunit *test, const char *state,
			 const char *name)
{
	const char *programs = *name ? FAKE_PROGRAMS : "";
	char actual[MEMSEC_OPS_NAME_LEN];
	char page[sizeof(FAKE_PROGRAMS)] = "";

	memsec_policy_name(actual);
	KUNIT_EXPECT_STREQ(test, memsec_policy_state(), state);
	KUNIT_EXPECT_STREQ(test, actual, name);
	KUNIT_EXPECT_EQ(test, memsec_policy_programs(page), strlen(programs));
	KUNIT_EXPECT_STREQ(test, page, programs);
}

static void attach_and_detach(struct kunit *test)
{
	expect_state(test, "detached", "");
	KUNIT_EXPECT_FALSE(test, memsec_attached());

	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	expect_state(test, "attached", "first");
	KUNIT_EXPECT_TRUE(test, memsec_attached());
	KUNIT_EXPECT_PTR_EQ(test, asked_now(), &first);
	KUNIT_EXPECT_NULL(test, seen.during_init);

	fake_detach(&holder);
	expect_state(test, "detached", "");
	KUNIT_EXPECT_FALSE(test, memsec_attached());
	KUNIT_EXPECT_NULL(test, asked_now());
	KUNIT_EXPECT_NULL(test, seen.during_exit);
	KUNIT_EXPECT_EQ(test, seen.inits, 1);
	KUNIT_EXPECT_EQ(test, seen.exits, 1);
}

static void callbacks_are_optional(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &bare), 0);
	expect_state(test, "attached", "bare");
	KUNIT_EXPECT_EQ(test, memsec_policy_update(&first, &bare), 0);
	KUNIT_EXPECT_EQ(test, memsec_policy_update(&bare, &first), 0);
	holder.ops = &bare;
	KUNIT_EXPECT_EQ(test, seen.exits, 1);
}

static void one_at_a_time(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	KUNIT_EXPECT_EQ(test, fake_attach(&other, &second), -EBUSY);
	KUNIT_EXPECT_EQ(test, fake_attach(&other, &first), -EBUSY);
	expect_state(test, "attached", "first");
	KUNIT_EXPECT_EQ(test, seen.inits, 1);
}

struct refusal {
	const char *desc;
	struct memsec_ops ops;
	int init_returns;
	int error;
};

static const struct refusal refusals[] = {
	{ "older ABI", { "p", MEMSEC_ABI - 1 }, 0, -EPROTONOSUPPORT },
	{ "newer ABI", { "p", MEMSEC_ABI + 1 }, 0, -EPROTONOSUPPORT },
	{ "flags", { "p", MEMSEC_ABI, 1 }, 0, -EINVAL },
	{ "no name", { "", MEMSEC_ABI }, 0, -EINVAL },
	{ "name without an end", { "0123456789abcdef", MEMSEC_ABI }, 0, -EINVAL },
	{ "init() says -EPERM", { "p", MEMSEC_ABI, 0, policy_init, policy_exit },
	  -EPERM, -EPERM },
	{ "init() says what is no errno", { "p", MEMSEC_ABI, 0, policy_init,
	  policy_exit }, -100000, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(refusal, refusals, desc);

static void attach_refuses(struct kunit *test)
{
	const struct refusal *refusal = test->param_value;

	seen.init_returns = refusal->init_returns;
	KUNIT_EXPECT_EQ(test, fake_attach(&holder, &refusal->ops),
			refusal->error);
	expect_state(test, "detached", "");
	KUNIT_EXPECT_FALSE(test, memsec_attached());
	KUNIT_EXPECT_EQ(test, seen.exits, 0);

	seen.init_returns = 0;
	KUNIT_EXPECT_EQ(test, fake_attach(&holder, &second), 0);
}

static void update_refuses(struct kunit *test)
{
	const struct refusal *refusal = test->param_value;

	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	seen.init_returns = refusal->init_returns;
	KUNIT_EXPECT_EQ(test, memsec_policy_update(&refusal->ops, &first),
			refusal->error);
	expect_state(test, "attached", "first");
	KUNIT_EXPECT_EQ(test, seen.exits, 0);
}

static bool turned_off(void)
{
	return true;
}

static void off_refuses(struct kunit *test)
{
	kunit_activate_static_stub(test, memsec_off, turned_off);
	expect_state(test, "off", "");
	KUNIT_EXPECT_EQ(test, fake_attach(&holder, &first), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, seen.inits, 0);
}

static void update_replaces(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	KUNIT_ASSERT_EQ(test, memsec_policy_update(&second, &first), 0);
	holder.ops = &second;

	expect_state(test, "attached", "second");
	KUNIT_EXPECT_PTR_EQ(test, seen.during_init, &first);
	KUNIT_EXPECT_PTR_EQ(test, seen.during_exit, &second);
	KUNIT_EXPECT_EQ(test, seen.inits, 2);
	KUNIT_EXPECT_EQ(test, seen.exits, 1);

	fake_detach(&holder);
	KUNIT_EXPECT_EQ(test, seen.exits, 2);
}

static void update_needs_the_attached_one(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, memsec_policy_update(&second, &first), -ENOLINK);

	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	KUNIT_EXPECT_EQ(test, memsec_policy_update(&bare, &second), -ENOLINK);
	expect_state(test, "attached", "first");
	KUNIT_EXPECT_EQ(test, seen.inits, 1);
	KUNIT_EXPECT_EQ(test, seen.exits, 0);
}

/* Its numbers have changed, nothing else. */
static void update_by_itself(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	KUNIT_EXPECT_EQ(test, memsec_policy_update(&first, &first), 0);
	expect_state(test, "attached", "first");
	KUNIT_EXPECT_EQ(test, seen.inits, 1);
	KUNIT_EXPECT_EQ(test, seen.exits, 0);
}

static void detach_needs_the_holder(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	memsec_policy_detach(&first, &other);
	memsec_policy_detach(&second, &holder);
	expect_state(test, "attached", "first");
	KUNIT_EXPECT_EQ(test, seen.exits, 0);
}

/* Asks without a pause until it is stopped. Returns how often nobody was there. */
static int ask_always(void *data)
{
	int misses = 0;

	complete(data);
	while (!kthread_should_stop()) {
		if (!asked_now())
			misses++;
		cond_resched();
	}

	return misses;
}

static void update_leaves_no_gap(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(started);
	struct task_struct *reader;
	int i;

	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	reader = kthread_run(ask_always, &started, "memsec_reader");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, reader);
	wait_for_completion(&started);

	for (i = 0; i < 20; i++) {
		const struct memsec_ops *next = i % 2 ? &first : &second;

		KUNIT_EXPECT_EQ(test, memsec_policy_update(next, holder.ops), 0);
		holder.ops = next;
	}

	KUNIT_EXPECT_EQ(test, kthread_stop(reader), 0);
}

/* One answer. Returns what is done instead, if anything. */
static u64 answer(u64 answer, bool valid)
{
	struct memsec_teardown_ctx facts = {};
	struct memsec_policy *policy;

	guard(rcu)();
	policy = memsec_policy_get();
	if (!policy)
		return 0;

	return memsec_policy_clamp(policy, MEMSEC_ASK_TEARDOWN, &facts, answer,
				   valid, 4096);
}

static void bad_answers(int n)
{
	while (n--)
		answer(0, false);
}

static void clamp_replaces_and_counts(struct kunit *test)
{
	const struct memsec_mechanism *mech = &memsec_teardown_mechanism;
	u64 asked = fake_read(test, mech, "asked");
	u64 clamped = fake_read(test, mech, "clamped");

	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	KUNIT_EXPECT_EQ(test, answer(7, true), 7);
	KUNIT_EXPECT_EQ(test, answer(7, false), 4096);
	KUNIT_EXPECT_EQ(test, answer(U64_MAX, false), 4096);
	KUNIT_EXPECT_EQ(test, fake_read(test, mech, "asked") - asked, 3);
	KUNIT_EXPECT_EQ(test, fake_read(test, mech, "clamped") - clamped, 2);
}

/* Who polls is told once, and again only after it has read. */
static void answer_wakes_watchers(struct kunit *test)
{
	struct memsec_mechanism *mech = &memsec_teardown_mechanism;

	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	answer(1, true);
	fake_read(test, mech, "clamped");
	KUNIT_EXPECT_FALSE(test, mech->watched);
	fake_read(test, mech, "asked");
	KUNIT_EXPECT_TRUE(test, mech->watched);
	answer(1, true);
	KUNIT_EXPECT_FALSE(test, mech->watched);
}

struct rule {
	const char *desc;
	const char *written;
	const char *read;
};

static const struct rule rules[] = {
	{ "none", "", "" },
	{ "short", "batch", "batch" },
	{ "no room for NUL", "0123456789abcdef", "0123456789abcdef" },
	{ "not to be printed", "a b\n\x1b\xff", "a?b???" },
};

KUNIT_ARRAY_PARAM_DESC(rule, rules, desc);

static void rule_is_text(struct kunit *test)
{
	const struct rule *rule = test->param_value;
	struct memsec_keyid_recycle_ctx facts = {};
	char text[MEMSEC_RULE_LEN + 1];

	memcpy(facts.rule, rule->written, strlen(rule->written));
	memsec_rule_text(MEMSEC_ASK_KEYID_RECYCLE, &facts, text);
	KUNIT_EXPECT_STREQ(test, text, rule->read);
}

/* For work to come that far. A test that waits in vain fails. */
static void await(struct kunit *test, struct completion *completion)
{
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(completion, 30 * HZ),
			0);
}

static void fuse_stands_the_limit(struct kunit *test)
{
	struct fake_clock *clock = test->priv;
	int i;

	memsec_fuse_limit.value = 10;
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	/* Ten at once every two seconds, then eight a second evenly. */
	for (i = 0; i < 5; i++) {
		bad_answers(10);
		clock->now += 2 * NSEC_PER_SEC;
	}
	for (i = 0; i < 50; i++) {
		bad_answers(1);
		clock->now += NSEC_PER_SEC / 8;
	}
	expect_state(test, "attached", "first");
}

static void fuse_blows_over_the_limit(struct kunit *test)
{
	memsec_fuse_limit.value = 10;
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	bad_answers(10);
	expect_state(test, "attached", "first");
	bad_answers(1);
	expect_state(test, "fused", "");

	await(test, &holder.dropped);
	expect_state(test, "fused", "");
	KUNIT_EXPECT_FALSE(test, memsec_attached());
	KUNIT_EXPECT_EQ(test, seen.exits, 1);

	KUNIT_EXPECT_EQ(test, fake_attach(&other, &second), 0);
	expect_state(test, "attached", "second");
}

/* A second has no fixed beginning: eleven answers in any one are too many. */
static void fuse_second_slides(struct kunit *test)
{
	struct fake_clock *clock = test->priv;
	int start;

	memsec_fuse_limit.value = 10;
	for (start = 0; start < 10; start++) {
		fake_holder_init(&holder);
		KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
		clock->now += 10 * NSEC_PER_SEC + start * NSEC_PER_SEC / 10;
		bad_answers(6);
		clock->now += 999 * NSEC_PER_MSEC;
		bad_answers(4);
		expect_state(test, "attached", "first");
		bad_answers(1);
		expect_state(test, "fused", "");
		await(test, &holder.dropped);
	}
}

static void fuse_limit_zero(struct kunit *test)
{
	memsec_fuse_limit.value = 0;
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	KUNIT_EXPECT_EQ(test, answer(1, true), 1);
	expect_state(test, "attached", "first");
	bad_answers(1);
	expect_state(test, "fused", "");
	await(test, &holder.dropped);
}

static void blown_policy_waits_for_its_end(struct kunit *test)
{
	holder.gate = &gate;
	memsec_fuse_limit.value = 0;
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	bad_answers(1);
	await(test, &holder.entered);

	/* The fuse has asked its holder to let go, and that takes a while. */
	KUNIT_EXPECT_NULL(test, asked_now());
	expect_state(test, "fused", "");
	KUNIT_EXPECT_EQ(test, memsec_policy_update(&second, &first), -ENOLINK);
	KUNIT_EXPECT_EQ(test, fake_attach(&other, &second), -EBUSY);
	KUNIT_EXPECT_EQ(test, seen.inits, 1);
	KUNIT_EXPECT_EQ(test, seen.exits, 0);

	complete(&gate);
	await(test, &holder.dropped);
	KUNIT_EXPECT_EQ(test, seen.exits, 1);
}

static void late_fuse_spares_the_next(struct kunit *test)
{
	holder.gate = &gate;
	memsec_fuse_limit.value = 0;
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	bad_answers(1);
	await(test, &holder.entered);

	/* Before it lets go for the fuse it lets go by itself. */
	fake_detach(&holder);
	expect_state(test, "fused", "");
	KUNIT_ASSERT_EQ(test, fake_attach(&other, &second), 0);
	complete(&gate);
	await(test, &holder.dropped);
	expect_state(test, "attached", "second");

	/* And work that was late to start. */
	memsec_fuse_work(NULL);
	KUNIT_EXPECT_FALSE(test, completion_done(&other.entered));
	expect_state(test, "attached", "second");
}

static void fuse_leaves_a_dying_holder_alone(struct kunit *test)
{
	holder.going_away = true;
	memsec_fuse_limit.value = 0;
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &first), 0);
	bad_answers(1);
	memsec_fuse_work(NULL);
	KUNIT_EXPECT_FALSE(test, completion_done(&holder.entered));
	KUNIT_EXPECT_EQ(test, seen.exits, 0);

	fake_detach(&holder);
	expect_state(test, "fused", "");
	KUNIT_EXPECT_EQ(test, seen.exits, 1);
}

static void counter_is_the_sum_over_cpus(struct kunit *test)
{
	struct memsec_counter *counter = memsec_teardown_mechanism.asked;
	u64 before = memsec_counter_sum(counter);
	u64 added = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		*per_cpu_ptr(counter->count, cpu) += 1ULL << cpu;
		added += 1ULL << cpu;
	}
	KUNIT_EXPECT_EQ(test, memsec_counter_sum(counter) - before, added);
}

static struct kunit_case policy_test_cases[] = {
	KUNIT_CASE(attach_and_detach),
	KUNIT_CASE(callbacks_are_optional),
	KUNIT_CASE(one_at_a_time),
	KUNIT_CASE_PARAM(attach_refuses, refusal_gen_params),
	KUNIT_CASE_PARAM(update_refuses, refusal_gen_params),
	KUNIT_CASE(off_refuses),
	KUNIT_CASE(update_replaces),
	KUNIT_CASE(update_needs_the_attached_one),
	KUNIT_CASE(update_by_itself),
	KUNIT_CASE(detach_needs_the_holder),
	KUNIT_CASE(update_leaves_no_gap),
	KUNIT_CASE(clamp_replaces_and_counts),
	KUNIT_CASE(answer_wakes_watchers),
	KUNIT_CASE_PARAM(rule_is_text, rule_gen_params),
	KUNIT_CASE(fuse_stands_the_limit),
	KUNIT_CASE(fuse_blows_over_the_limit),
	KUNIT_CASE(fuse_second_slides),
	KUNIT_CASE(fuse_limit_zero),
	KUNIT_CASE(blown_policy_waits_for_its_end),
	KUNIT_CASE(late_fuse_spares_the_next),
	KUNIT_CASE(fuse_leaves_a_dying_holder_alone),
	KUNIT_CASE(counter_is_the_sum_over_cpus),
	{}
};

static struct kunit_suite policy_test_suite = {
	.name = "memsec_policy",
	.init = policy_test_init,
	.exit = policy_test_exit,
	.test_cases = policy_test_cases,
};

kunit_test_suite(policy_test_suite);
