// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec KUnit: what tests of KeyIDs need.
 *
 * The KeyIDs, the pages and the page allocator are those of this kernel, the
 * keys those of the model.
 */
#include <linux/memsec_emulation.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>

#include "keyid_fixture.h"

struct k_script k_script;

static struct fake_holder holder;
static u64 violations;

/* What a test took and did not retire. */
static struct memsec_keyid *taken[K_MAX];

static const char *const counters[] = {
	"asked", "clamped", "allocated", "freed", "flushes", "flushes_avoided",
	"cache_hits", "searched", "search_hits", "exhausted", "recycles",
	"recycled",
};

static u64 noted[ARRAY_SIZE(counters)];

static u64 k_answer(const struct memsec_keyid_ctx *ctx)
{
	k_script.asked++;
	k_script.ctx = *ctx;
	k_script.flushed += ctx->flushed;

	return k_script.answer;
}

static u64 k_answer_recycle(const struct memsec_keyid_recycle_ctx *ctx)
{
	return k_script.wait;
}

static const struct memsec_ops k_policy = {
	.name = "k",
	.abi = MEMSEC_ABI,
	.keyid = k_answer,
	.keyid_recycle = k_answer_recycle,
};

/**
 * k_attach() - Attach the policy
 * @test: the test
 * @answer: what it answers about KeyIDs
 * @wait: what it answers about recycling
 */
void k_attach(struct kunit *test, u64 answer, u64 wait)
{
	k_script.answer = answer;
	k_script.wait = wait;
	KUNIT_ASSERT_EQ(test, fake_attach(&holder, &k_policy), 0);
}

/**
 * k_detach() - Detach the policy
 */
void k_detach(void)
{
	fake_detach(&holder);
}

/**
 * k_counted() - What a counter counted since the test began
 * @test: the test
 * @name: the counter
 *
 * Return: how much.
 */
u64 k_counted(struct kunit *test, const char *name)
{
	int i = match_string(counters, ARRAY_SIZE(counters), name);

	KUNIT_ASSERT_GE(test, i, 0);

	return fake_read(test, k_mech, name) - noted[i];
}

/**
 * k_take() - Take a KeyID
 * @test: the test; gives it up in the end
 *
 * Return: the KeyID.
 */
struct memsec_keyid *k_take(struct kunit *test)
{
	struct memsec_keyid *keyid = memsec_keyid_take(false);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, keyid);
	taken[keyid->id - 1] = keyid;

	return keyid;
}

/**
 * k_retire() - Give a KeyID up
 * @keyid: the KeyID
 *
 * Afterwards it is dirty, if no page carries it.
 */
void k_retire(struct memsec_keyid *keyid)
{
	taken[keyid->id - 1] = NULL;
	memsec_keyid_retire(keyid);
	rcu_barrier();
}

/**
 * k_expect_state() - Where in its life a KeyID is
 * @test: the test
 * @keyid: the KeyID
 * @state: where it should be
 */
void k_expect_state(struct kunit *test, const struct memsec_keyid *keyid,
		    enum keyid_state state)
{
	KUNIT_EXPECT_EQ(test, READ_ONCE(keyid->state), state);
}

/**
 * k_recycle() - Recycle all that are dirty
 *
 * By taking all there are: what is free goes first.
 */
void k_recycle(void)
{
	struct memsec_keyid *keyids[K_MAX];
	int n = 0;

	while (keyid_in_state(KEYID_FREE) || keyid_in_state(KEYID_DIRTY)) {
		keyids[n] = memsec_keyid_take(false);
		if (IS_ERR(keyids[n]))
			break;
		n++;
	}
	while (n)
		memsec_keyid_retire(keyids[--n]);
	rcu_barrier();
}

/**
 * k_flushed() - Pages that were flushed for a KeyID
 * @keyid: the KeyID, which is the only one of the test, or which no policy was
 *	asked about
 *
 * Those who allocate what was the KeyID's flush it too and do not count.
 *
 * Return: how many since it was taken.
 */
u64 k_flushed(const struct memsec_keyid *keyid)
{
	u64 flushed = k_script.flushed;
	int cpu;

	for_each_possible_cpu(cpu)
		flushed += READ_ONCE(per_cpu_ptr(keyid->cpus, cpu)->flushed);

	return flushed;
}

static bool find_page(struct page *page, unsigned int order, gfp_t gfp)
{
	struct page *next, *other;
	LIST_HEAD(others);
	bool found = false;
	int i;

	for (i = 0; i < K_PAGES && !found; i++) {
		other = alloc_pages(gfp | GFP_NOWAIT | __GFP_NOWARN, order);
		if (!other)
			break;
		found = other == page;
		if (!found)
			list_add(&other->lru, &others);
	}
	list_for_each_entry_safe(other, next, &others, lru) {
		list_del(&other->lru);
		__free_pages(other, order);
	}

	return found;
}

/**
 * k_free_and_find() - Free pages, and allocate until they are found again
 * @keyid: the KeyID that they are of
 * @page: the first of them
 * @order: how many, log2
 * @gfp: 0, or __GFP_KEYID to find them as they were left
 *
 * Nobody else gets them in between: they are in this CPU's list.
 *
 * Return: true when they were found: then they are the caller's.
 */
bool k_free_and_find(struct memsec_keyid *keyid, struct page *page,
		     unsigned int order, gfp_t gfp)
{
	guard(preempt)();

	memsec_keyid_free_pages(keyid, page, order);

	return find_page(page, order, gfp);
}

/**
 * k_test_init() - Begin a test
 * @test: the test
 *
 * Return: 0.
 */
int k_test_init(struct kunit *test)
{
	int i;

	if (!keyid_of(1) || !memsec_keyid_emulated())
		kunit_skip(test, "no KeyIDs: memsec.keyid= on the command line makes some");
	if (memsec_attached())
		kunit_skip(test, "a policy is attached");

	fake_holder_init(&holder);
	memset(&k_script, 0, sizeof(k_script));
	k_script.wait = MEMSEC_RECYCLE_NEVER;
	violations = memsec_keyid_model_violations();
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		noted[i] = fake_read(test, k_mech, counters[i]);

	return 0;
}

/**
 * k_test_exit() - End a test
 * @test: the test
 *
 * Whatever it did, hardware would have corrupted nothing.
 */
void k_test_exit(struct kunit *test)
{
	int i;

	for (i = 0; i < K_MAX; i++) {
		if (taken[i])
			k_retire(taken[i]);
	}
	if (holder.ops)
		fake_detach(&holder);
	KUNIT_EXPECT_EQ(test, memsec_keyid_model_violations(), violations);
}
