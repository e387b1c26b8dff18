// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec KUnit: the teardown iterator, with pages whose cost the test sets.
 */
#include <linux/string.h>
#include <linux/time64.h>

#include "fake.h"

#define MAX_HOLD_NS	(4000 * NSEC_PER_USEC)

static const struct memsec_mechanism *const mech = &memsec_teardown_mechanism;

static atomic_long_t pool_free = ATOMIC_LONG_INIT(30);
static const struct memsec_pool pool = {
	.free = &pool_free,
	.total = 100,
};

/* What the policy answers and what it was told last. */
static struct {
	u64 answer;
	u64 asked;
	struct memsec_teardown_ctx ctx;
} script;

static u64 scripted(const struct memsec_teardown_ctx *ctx)
{
	script.asked++;
	script.ctx = *ctx;

	return script.answer;
}

static const struct memsec_ops policy = {
	.name = "scripted",
	.abi = MEMSEC_ABI,
	.teardown = scripted,
};

static const struct memsec_ops mute = {
	.name = "mute",
	.abi = MEMSEC_ABI,
};

static struct fake_holder holder;

/* The counters, and what they were when the test began. */
static const char *const names[] = {
	"asked", "clamped", "teardowns", "pages", "breaks", "forced_breaks",
	"rescheds",
};

static u64 before[ARRAY_SIZE(names)];

static int index_of(struct kunit *test, const char *name)
{
	int i = match_string(names, ARRAY_SIZE(names), name);

	KUNIT_ASSERT_GE(test, i, 0);

	return i;
}

static u64 counted(struct kunit *test, const char *name)
{
	return fake_read(test, mech, name) - before[index_of(test, name)];
}

static void expect_counted(struct kunit *test, const char *name, u64 n)
{
	KUNIT_EXPECT_EQ_MSG(test, counted(test, name), n, "%s", name);
}

static int teardown_test_init(struct kunit *test)
{
	int i;

	memset(&script, 0, sizeof(script));
	fake_holder_init(&holder);
	fake_clock_start(test);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		before[i] = fake_read(test, mech, names[i]);

	return 0;
}

static void teardown_test_exit(struct kunit *test)
{
	fake_detach(&holder);
	fake_write(test, mech, "max_hold_us", "4000");
	fake_write(test, mech, "longest_hold_ns", "0");
}

static void attach(struct kunit *test, u64 answer)
{
	script.answer = answer;
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &policy), 0);
}

/**
 * struct run - what happened in a teardown
 * @td: the teardown
 * @breaks: number of breaks
 * @first: pages before the first break
 * @most: most pages without a break
 * @hold_ns: longest time without a break
 * @cpu_ns: longest time in which the CPU was not offered to others
 * @since: pages since the last break
 * @lock_ns: when the lock was taken
 * @offered_ns: when the CPU was last offered to others
 */
struct run {
	struct memsec_teardown td;
	u64 breaks;
	u64 first;
	u64 most;
	u64 hold_ns;
	u64 cpu_ns;
	u64 since;
	u64 lock_ns;
	u64 offered_ns;
};

static void run_begin(struct kunit *test, struct run *run,
		      enum memsec_teardown_kind kind, u64 total)
{
	struct fake_clock *clock = test->priv;

	*run = (struct run) {
		.lock_ns = clock->now,
		.offered_ns = clock->now,
	};
	memsec_teardown_begin(&run->td, kind, total, &pool, 77);
}

static void run_pages(struct kunit *test, struct run *run, u64 pages,
		      u64 page_ns)
{
	struct fake_clock *clock = test->priv;

	while (pages--) {
		u64 rescheds;

		clock->now += page_ns;
		run->since++;
		run->most = max(run->most, run->since);
		run->hold_ns = max(run->hold_ns, clock->now - run->lock_ns);
		run->cpu_ns = max(run->cpu_ns, clock->now - run->offered_ns);
		if (!memsec_teardown_step(&run->td))
			continue;

		rescheds = counted(test, "rescheds");
		memsec_teardown_break(&run->td);
		if (counted(test, "rescheds") != rescheds)
			run->offered_ns = clock->now;
		if (!run->breaks++)
			run->first = run->since;
		run->since = 0;
		run->lock_ns = clock->now;
	}
}

static void run_all(struct kunit *test, struct run *run,
		    enum memsec_teardown_kind kind, u64 pages, u64 page_ns)
{
	run_begin(test, run, kind, pages);
	run_pages(test, run, pages, page_ns);
	memsec_teardown_end(&run->td);
}

static void default_is_what_linux_does(struct kunit *test)
{
	struct fake_clock *clock = test->priv;
	struct run run;
	int i;

	run_all(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 10000, 100000);
	KUNIT_EXPECT_EQ(test, run.first, 4096);
	KUNIT_EXPECT_EQ(test, run.most, 4096);
	KUNIT_EXPECT_EQ(test, run.breaks, 2);

	run_all(test, &run, MEMSEC_TEARDOWN_SGX_VEPC, 1000, 100000);
	KUNIT_EXPECT_EQ(test, run.most, 1);
	KUNIT_EXPECT_EQ(test, run.breaks, 1000);

	for (i = 0; i < ARRAY_SIZE(names); i++)
		expect_counted(test, names[i], 0);
	KUNIT_EXPECT_EQ(test, clock->reads, 0);
}

static void policy_without_teardown_means_default(struct kunit *test)
{
	struct run run;

	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &mute), 0);
	run_all(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 10000, 100000);
	KUNIT_EXPECT_EQ(test, run.most, 4096);
	KUNIT_EXPECT_EQ(test, run.breaks, 2);
	run_all(test, &run, MEMSEC_TEARDOWN_SGX_VEPC, 100, 100000);
	KUNIT_EXPECT_EQ(test, run.breaks, 100);
	expect_counted(test, "asked", 0);
	expect_counted(test, "teardowns", 0);
	expect_counted(test, "breaks", 0);
}

struct answer {
	const char *desc;
	u64 answer;
	bool valid;
};

static const struct answer answers[] = {
	{ "1", 1, true },
	{ "2", 2, true },
	{ "15", 15, true },
	{ "16", 16, true },
	{ "17", 17, true },
	{ "116", 116, true },
	{ "117", 117, true },
	{ "4096", 4096, true },
	{ "most", MEMSEC_TEARDOWN_MAX_BATCH, true },
	{ "1 and no resched", 1 | MEMSEC_TEARDOWN_NO_RESCHED, true },
	{ "4096 and no resched", 4096 | MEMSEC_TEARDOWN_NO_RESCHED, true },
	{ "0", 0, false },
	{ "more than most", MEMSEC_TEARDOWN_MAX_BATCH + 1, false },
	{ "largest half", U32_MAX, false },
	{ "largest", U64_MAX, false },
	{ "flags alone", MEMSEC_TEARDOWN_NO_RESCHED, false },
	{ "next flag", 1 | MEMSEC_TEARDOWN_NO_RESCHED << 1, false },
	{ "last flag", 1 | 1ULL << 63, false },
};

KUNIT_ARRAY_PARAM_DESC(answer, answers, desc);

/* With pages that cost nothing only the answer counts. */
static void answer_is_obeyed_or_replaced(struct kunit *test)
{
	const struct answer *answer = test->param_value;
	u64 batch = answer->valid ? lower_32_bits(answer->answer) : 4096;
	bool resched = !answer->valid ||
		       !(answer->answer & MEMSEC_TEARDOWN_NO_RESCHED);
	struct run run;

	attach(test, answer->answer);
	run_all(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 10000, 0);

	KUNIT_EXPECT_EQ(test, run.breaks, 10000 / batch);
	if (run.breaks) {
		KUNIT_EXPECT_EQ(test, run.first, batch);
		KUNIT_EXPECT_EQ(test, run.most, batch);
	}
	KUNIT_EXPECT_EQ(test, script.asked, run.breaks + 1);
	expect_counted(test, "asked", run.breaks + 1);
	expect_counted(test, "clamped", answer->valid ? 0 : run.breaks + 1);
	expect_counted(test, "teardowns", 1);
	expect_counted(test, "pages", 10000);
	expect_counted(test, "breaks", run.breaks);
	expect_counted(test, "forced_breaks", 0);
	expect_counted(test, "rescheds", resched ? run.breaks : 0);
}

static void vepc_falls_back_to_its_own_default(struct kunit *test)
{
	struct run run;

	attach(test, 0);
	run_all(test, &run, MEMSEC_TEARDOWN_SGX_VEPC, 50, 0);
	KUNIT_EXPECT_EQ(test, run.breaks, 50);
	expect_counted(test, "clamped", 51);
}

struct cost {
	const char *desc;
	const char *max_hold_us;
	u64 page_ns;
};

static const struct cost costs[] = {
	{ "1 ns", "4000", 1 },
	{ "300 ns", "4000", 300 },
	{ "2 us", "4000", 2000 },
	{ "20 us", "4000", 20000 },
	{ "40 us", "4000", 40000 },
	{ "41 us", "4000", 41000 },
	{ "200 us", "4000", 200000 },
	{ "2 us, 500 us allowed", "500", 2000 },
	{ "20 us, 500 us allowed", "500", 20000 },
	{ "40 us, 500 us allowed", "500", 40000 },
	{ "2 us, 50 us allowed", "50", 2000 },
	{ "40 us, 50 us allowed", "50", 40000 },
	{ "40 us, 60 s allowed", "60000000", 40000 },
};

KUNIT_ARRAY_PARAM_DESC(cost, costs, desc);

/* Budgets that go on for ever, with and without giving up the CPU. */
static void hold_is_bounded(struct kunit *test)
{
	const struct cost *cost = test->param_value;
	const u64 pages = 20000;
	struct run run;
	u64 limit_ns;

	KUNIT_ASSERT_EQ(test, fake_write(test, mech, "max_hold_us",
					 cost->max_hold_us), 0);
	limit_ns = fake_read(test, mech, "max_hold_us") * NSEC_PER_USEC;

	attach(test, MEMSEC_TEARDOWN_MAX_BATCH);
	run_all(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, pages, cost->page_ns);
	KUNIT_EXPECT_LE(test, run.hold_ns, limit_ns);
	KUNIT_EXPECT_EQ(test, run.td.longest_ns, run.hold_ns);
	KUNIT_EXPECT_GE(test, fake_read(test, mech, "longest_hold_ns"),
			run.hold_ns);
	expect_counted(test, "pages", pages);
	expect_counted(test, "forced_breaks", run.breaks);
	expect_counted(test, "rescheds", run.breaks);
	/* The limit is made use of, too. */
	if (run.breaks)
		KUNIT_EXPECT_GE(test, run.hold_ns, limit_ns / 5);

	script.answer |= MEMSEC_TEARDOWN_NO_RESCHED;
	run_all(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, pages, cost->page_ns);
	KUNIT_EXPECT_LE(test, run.cpu_ns, limit_ns);
}

static void hold_is_bounded_when_costs_jump(struct kunit *test)
{
	struct run run;
	int i;

	attach(test, MEMSEC_TEARDOWN_MAX_BATCH);
	run_begin(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 1000000);
	for (i = 0; i < 50; i++) {
		run_pages(test, &run, 997, 20);
		run_pages(test, &run, 997, 40000);
	}
	memsec_teardown_end(&run.td);
	KUNIT_EXPECT_LE(test, run.hold_ns, MAX_HOLD_NS);
}

/* One page that the hypervisor interrupted must not shorten all that follow. */
static void outlier_is_forgotten(struct kunit *test)
{
	struct run run;
	u64 breaks;

	attach(test, MEMSEC_TEARDOWN_MAX_BATCH);
	run_begin(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 1000000);
	run_pages(test, &run, 1, 100 * NSEC_PER_MSEC);
	run_pages(test, &run, 100000, 2000);
	breaks = run.breaks;
	run_pages(test, &run, 100000, 2000);
	memsec_teardown_end(&run.td);
	KUNIT_EXPECT_LE(test, run.breaks - breaks, 100000 * 2000 / 2500000);
}

/* A kept CPU is offered before others waited for longer than the limit. */
static void no_resched_is_bounded(struct kunit *test)
{
	struct run run;

	attach(test, 64 | MEMSEC_TEARDOWN_NO_RESCHED);
	run_all(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 100000, 2000);
	KUNIT_EXPECT_LE(test, run.cpu_ns, MAX_HOLD_NS);
	KUNIT_EXPECT_GE(test, run.cpu_ns, MAX_HOLD_NS / 2);
	KUNIT_EXPECT_LE(test, run.most, 64);
	KUNIT_EXPECT_LT(test, counted(test, "rescheds"), run.breaks / 10);
}

/* What limits the cost of the limit: reads are rare and calls of the policy rarer. */
static void clock_is_read_rarely(struct kunit *test)
{
	struct fake_clock *clock = test->priv;
	struct run run;

	attach(test, MEMSEC_TEARDOWN_MAX_BATCH);
	run_all(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 100000, 2000);
	KUNIT_EXPECT_LE(test, clock->reads, 100000 / 40);
	KUNIT_EXPECT_LE(test, script.asked, 100000 / 1000);
}

static void facts_are_told(struct kunit *test)
{
	struct fake_clock *clock = test->priv;
	struct memsec_teardown_ctx *ctx = &script.ctx;
	struct run run;

	attach(test, 10);
	run_begin(test, &run, MEMSEC_TEARDOWN_SGX_VEPC, 1234);
	KUNIT_EXPECT_EQ(test, ctx->kind, MEMSEC_TEARDOWN_SGX_VEPC);
	KUNIT_EXPECT_GE(test, ctx->nid, 0);
	KUNIT_EXPECT_EQ(test, ctx->total, 1234);
	KUNIT_EXPECT_EQ(test, ctx->done, 0);
	KUNIT_EXPECT_EQ(test, ctx->held_ns, 0);
	KUNIT_EXPECT_EQ(test, ctx->elapsed_ns, 0);
	KUNIT_EXPECT_EQ(test, ctx->page_ns, 0);
	KUNIT_EXPECT_EQ(test, ctx->max_hold_ns, MAX_HOLD_NS);
	KUNIT_EXPECT_EQ(test, ctx->pool_free, 30);
	KUNIT_EXPECT_EQ(test, ctx->pool_total, 100);
	KUNIT_EXPECT_EQ(test, ctx->cgroup_id, 77);

	run_pages(test, &run, 10, 1000);
	KUNIT_EXPECT_EQ(test, ctx->done, 10);
	KUNIT_EXPECT_EQ(test, ctx->held_ns, 10000);
	KUNIT_EXPECT_EQ(test, ctx->elapsed_ns, 10000);
	KUNIT_EXPECT_EQ(test, ctx->page_ns, 1000);

	/* Time without the lock has passed, but is nobody's hold. */
	clock->now += 500;
	run_pages(test, &run, 10, 3000);
	KUNIT_EXPECT_EQ(test, ctx->done, 20);
	KUNIT_EXPECT_EQ(test, ctx->held_ns, 30500);
	KUNIT_EXPECT_EQ(test, ctx->elapsed_ns, 40500);
	KUNIT_EXPECT_EQ(test, ctx->page_ns, 2025);
	memsec_teardown_end(&run.td);
}

static void attached_in_the_middle(struct kunit *test)
{
	struct run run;

	run_begin(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 10000);
	run_pages(test, &run, 5000, 1000);
	KUNIT_EXPECT_EQ(test, run.breaks, 1);
	attach(test, 100 | MEMSEC_TEARDOWN_NO_RESCHED);
	run_pages(test, &run, 8192 - 5000, 1000);
	KUNIT_EXPECT_EQ(test, run.breaks, 2);
	KUNIT_EXPECT_EQ(test, script.asked, 1);
	KUNIT_EXPECT_EQ(test, script.ctx.done, 8192);
	KUNIT_EXPECT_EQ(test, script.ctx.held_ns, 0);
	KUNIT_EXPECT_EQ(test, script.ctx.elapsed_ns, 0);
	run_pages(test, &run, 250, 1000);
	memsec_teardown_end(&run.td);

	KUNIT_EXPECT_EQ(test, run.breaks, 4);
	expect_counted(test, "teardowns", 1);
	expect_counted(test, "pages", 8442);
	expect_counted(test, "breaks", 3);
	/* Nobody knows how long the default batch before took. */
	expect_counted(test, "rescheds", 1);
}

static void detached_in_the_middle(struct kunit *test)
{
	struct run run;

	attach(test, 100);
	run_begin(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 10000);
	run_pages(test, &run, 250, 1000);
	KUNIT_EXPECT_EQ(test, run.breaks, 2);
	fake_detach(&holder);
	run_pages(test, &run, 5000, 1000);
	memsec_teardown_end(&run.td);

	/* The chunk it was in, then 4096 pages, then the rest. */
	KUNIT_EXPECT_GE(test, run.breaks, 4);
	KUNIT_EXPECT_LE(test, run.breaks, 5);
	KUNIT_EXPECT_EQ(test, run.most, 4096);
	expect_counted(test, "asked", 3);
	expect_counted(test, "teardowns", 1);
	expect_counted(test, "pages", 5250);
	expect_counted(test, "breaks", 2);
}

/* A default batch in between is not a policy's: it is not measured. */
static void attached_again(struct kunit *test)
{
	struct run run;
	u64 asked;

	attach(test, 100);
	run_begin(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 10000);
	run_pages(test, &run, 150, 1000);
	fake_detach(&holder);
	run_pages(test, &run, 5000, 7000);
	attach(test, 100);
	for (asked = script.asked; script.asked == asked;)
		run_pages(test, &run, 1, 7000);
	memsec_teardown_end(&run.td);

	KUNIT_EXPECT_EQ(test, script.ctx.held_ns, 0);
	KUNIT_EXPECT_EQ(test, script.ctx.page_ns, 1000);
	KUNIT_EXPECT_EQ(test, run.td.longest_ns, 100000);
}

/* Policies that come and go within one teardown, never at a break of it. */
static void attached_again_and_again(struct kunit *test)
{
	struct run run;
	u64 pages = 0;
	int i;

	run_begin(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 1000000);
	for (i = 0; i < 40; i++) {
		attach(test, 333);
		run_pages(test, &run, 1000 + i, 40000);
		fake_detach(&holder);
		run_pages(test, &run, 5000 - 17 * i, 40000);
		pages += 6000 - 16 * i;
	}
	memsec_teardown_end(&run.td);
	KUNIT_EXPECT_EQ(test, run.td.done, pages);
	KUNIT_EXPECT_EQ(test, run.most, 4096);
	expect_counted(test, "pages", pages);
	expect_counted(test, "asked", script.asked);
	expect_counted(test, "teardowns", 1);
}

/* An array of @nodes full nodes, and one entry far away. */
static void fill_array(struct kunit *test, struct xarray *xa, u64 nodes)
{
	unsigned long i;

	xa_init(xa);
	for (i = 0; i < nodes * XA_CHUNK_SIZE; i++)
		KUNIT_ASSERT_EQ(test, xa_err(xa_store(xa, i, xa, GFP_KERNEL)), 0);
	KUNIT_ASSERT_EQ(test, xa_err(xa_store(xa, 1UL << 40, xa, GFP_KERNEL)), 0);
}

static void array_without_policy(struct kunit *test)
{
	struct xarray xa;
	struct run run;

	fill_array(test, &xa, 3);
	run_begin(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 0);
	memsec_teardown_array(&run.td, &xa);
	KUNIT_EXPECT_TRUE(test, xa_empty(&xa));
}

/* Returns how often the clock was read, which takes an eighth of the limit. */
static u64 destroy_array(struct kunit *test, struct run *run, u64 nodes)
{
	struct fake_clock *clock = test->priv;
	u64 limit_us = fake_read(test, mech, "max_hold_us");
	u64 reads = clock->reads;
	struct xarray xa;

	fill_array(test, &xa, nodes);
	fake_write(test, mech, "longest_hold_ns", "0");
	clock->tick = limit_us * NSEC_PER_USEC / 8;
	memsec_teardown_array(&run->td, &xa);
	clock->tick = 0;
	KUNIT_EXPECT_TRUE(test, xa_empty(&xa));
	KUNIT_EXPECT_LE(test, fake_read(test, mech, "longest_hold_ns"),
			limit_us * NSEC_PER_USEC);

	return clock->reads - reads;
}

static void array_is_destroyed_in_steps(struct kunit *test)
{
	struct run run;

	attach(test, 100);
	run_begin(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 20);
	run_pages(test, &run, 10, 1000);

	/* With time, 64 nodes a step. */
	KUNIT_EXPECT_GE(test, destroy_array(test, &run, 400), 400 / 64);
	fake_write(test, mech, "max_hold_us", "500");
	KUNIT_EXPECT_GE(test, destroy_array(test, &run, 400), 400);
	expect_counted(test, "asked", 1);
	expect_counted(test, "breaks", 0);

	/* The pages that are left are the rest of the batch. */
	fake_write(test, mech, "max_hold_us", "4000");
	fake_write(test, mech, "longest_hold_ns", "0");
	run_pages(test, &run, 10, 1000);
	memsec_teardown_end(&run.td);
	KUNIT_EXPECT_EQ(test, fake_read(test, mech, "longest_hold_ns"), 10000);
	expect_counted(test, "pages", 20);
}

static void empty_object(struct kunit *test)
{
	struct run run;

	attach(test, 100);
	run_all(test, &run, MEMSEC_TEARDOWN_SGX_ENCL, 0, 0);
	KUNIT_EXPECT_EQ(test, run.td.longest_ns, 0);
	expect_counted(test, "asked", 1);
	expect_counted(test, "teardowns", 1);
	expect_counted(test, "pages", 0);
	expect_counted(test, "breaks", 0);
}

static void files_check_what_is_written(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, fake_write(test, mech, "max_hold_us", "49"),
			-ERANGE);
	KUNIT_EXPECT_EQ(test, fake_write(test, mech, "max_hold_us", "60000001"),
			-ERANGE);
	KUNIT_EXPECT_EQ(test, fake_write(test, mech, "max_hold_us", "4 ms"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fake_read(test, mech, "max_hold_us"), 4000);
	KUNIT_EXPECT_EQ(test, fake_write(test, mech, "max_hold_us", "50\n"), 0);
	KUNIT_EXPECT_EQ(test, fake_read(test, mech, "max_hold_us"), 50);

	KUNIT_EXPECT_EQ(test, fake_write(test, mech, "longest_hold_ns", "1"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fake_write(test, mech, "longest_hold_ns", "0"), 0);
	KUNIT_EXPECT_EQ(test, fake_read(test, mech, "longest_hold_ns"), 0);
}

static struct kunit_case teardown_test_cases[] = {
	KUNIT_CASE(default_is_what_linux_does),
	KUNIT_CASE(policy_without_teardown_means_default),
	KUNIT_CASE_PARAM(answer_is_obeyed_or_replaced, answer_gen_params),
	KUNIT_CASE(vepc_falls_back_to_its_own_default),
	KUNIT_CASE_PARAM(hold_is_bounded, cost_gen_params),
	KUNIT_CASE(hold_is_bounded_when_costs_jump),
	KUNIT_CASE(outlier_is_forgotten),
	KUNIT_CASE(no_resched_is_bounded),
	KUNIT_CASE(clock_is_read_rarely),
	KUNIT_CASE(facts_are_told),
	KUNIT_CASE(attached_in_the_middle),
	KUNIT_CASE(detached_in_the_middle),
	KUNIT_CASE(attached_again),
	KUNIT_CASE(attached_again_and_again),
	KUNIT_CASE(array_without_policy),
	KUNIT_CASE(array_is_destroyed_in_steps),
	KUNIT_CASE(empty_object),
	KUNIT_CASE(files_check_what_is_written),
	{}
};

static struct kunit_suite teardown_test_suite = {
	.name = "memsec_teardown",
	.init = teardown_test_init,
	.exit = teardown_test_exit,
	.test_cases = teardown_test_cases,
};

kunit_test_suite(teardown_test_suite);
