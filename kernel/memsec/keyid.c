// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: memory under a KeyID, and when what it left in caches is flushed.
 *
 * What there is to see and to ask. keyid_life.c has the KeyIDs, keyid_page.c
 * what pages carry, keyid_cache.c the memory, keyid_recycle.c when all caches
 * are flushed, keyid_dev.c the device.
 */
#include <linux/cpumask.h>
#include <linux/topology.h>

#include "keyid.h"

MEMSEC_ASKED(keyid);
MEMSEC_COUNTER(keyid, clamped);
MEMSEC_COUNTER_SHARED(keyid, allocated);
MEMSEC_COUNTER_SHARED(keyid, freed);
MEMSEC_COUNTER_SHARED(keyid, flushes);
MEMSEC_COUNTER_SHARED(keyid, flushes_avoided);
MEMSEC_COUNTER_SHARED(keyid, cache_hits);
MEMSEC_COUNTER_SHARED(keyid, searched);
MEMSEC_COUNTER_SHARED(keyid, search_hits);
MEMSEC_COUNTER_SHARED(keyid, exhausted);
MEMSEC_COUNTER_SHARED(keyid, recycles);
MEMSEC_COUNTER_SHARED(keyid, recycled);
MEMSEC_COUNTER_SHARED(keyid, recycle_ns);

static MEMSEC_LIMIT(max_cache, max_cache_pages, 0, MEMSEC_KEYID_MAX_CACHE,
		    MEMSEC_KEYID_MAX_CACHE);
static MEMSEC_LIMIT(max_search, max_search, 0, MEMSEC_KEYID_MAX_SEARCH,
		    MEMSEC_KEYID_MAX_SEARCH);

static u64 sum_pages(void)
{
	struct memsec_keyid *keyid;
	unsigned int id;
	u64 sum = 0;

	for (id = 1; (keyid = keyid_of(id)); id++)
		sum += keyid_count_pages(keyid);

	return sum;
}

static u64 sum_cached(void)
{
	struct memsec_keyid *keyid;
	unsigned int id;
	u64 sum = 0;

	for (id = 1; (keyid = keyid_of(id)); id++)
		sum += keyid_count_cached(keyid);

	return sum;
}

static u64 asids_free(void)
{
	u64 free, dirty;

	keyid_count_asids(&free, &dirty);

	return free;
}

static u64 asids_dirty(void)
{
	u64 free, dirty;

	keyid_count_asids(&free, &dirty);

	return dirty;
}

MEMSEC_GAUGE(keyid, keyids, keyid_total());
MEMSEC_GAUGE(keyid, keyids_free, keyid_in_state(KEYID_FREE));
MEMSEC_GAUGE(keyid, keyids_used, keyid_in_state(KEYID_USED));
MEMSEC_GAUGE(keyid, keyids_retiring, keyid_in_state(KEYID_RETIRING));
MEMSEC_GAUGE(keyid, keyids_dirty, keyid_in_state(KEYID_DIRTY));
MEMSEC_GAUGE(keyid, asids_free, asids_free());
MEMSEC_GAUGE(keyid, asids_dirty, asids_dirty());
MEMSEC_GAUGE(keyid, used_pages, sum_pages());
MEMSEC_GAUGE(keyid, cached_pages, sum_cached());
MEMSEC_GAUGE(keyid, last_recycle_ns, keyid_last_recycling_ns());

static struct attribute *keyid_attrs[] = {
	&keyid_asked.attr.attr,
	&keyid_clamped.attr.attr,
	&keyid_allocated.attr.attr,
	&keyid_freed.attr.attr,
	&keyid_flushes.attr.attr,
	&keyid_flushes_avoided.attr.attr,
	&keyid_cache_hits.attr.attr,
	&keyid_searched.attr.attr,
	&keyid_search_hits.attr.attr,
	&keyid_exhausted.attr.attr,
	&keyid_recycles.attr.attr,
	&keyid_recycled.attr.attr,
	&keyid_recycle_ns.attr.attr,
	&keyid_keyids.attr,
	&keyid_keyids_free.attr,
	&keyid_keyids_used.attr,
	&keyid_keyids_retiring.attr,
	&keyid_keyids_dirty.attr,
	&keyid_asids_free.attr,
	&keyid_asids_dirty.attr,
	&keyid_used_pages.attr,
	&keyid_cached_pages.attr,
	&keyid_last_recycle_ns.attr,
	&max_cache.attr.attr,
	&max_search.attr.attr,
	NULL,
};

/* Of the policy and its numbers; answers of before are out of date. */
static unsigned int policy_seq;

static void keyid_policy_changed(void)
{
	WRITE_ONCE(policy_seq, READ_ONCE(policy_seq) + 1);
	keyid_cache_policy_changed();
	keyid_recycle_policy_changed();
}

struct memsec_mechanism memsec_keyid_mechanism = {
	.group = {
		.name = "keyid",
		.attrs = keyid_attrs,
	},
	.asked = &keyid_asked,
	.clamped = &keyid_clamped,
	.policy_changed = keyid_policy_changed,
};

/**
 * keyid_policy_seq() - Which policy, or which of its numbers, answers
 *
 * Context: Any.
 * Return: a number that is another when answers may be others.
 */
unsigned int keyid_policy_seq(void)
{
	return READ_ONCE(policy_seq);
}

static bool answer_is_valid(u64 answer)
{
	u64 search = (answer & ~MEMSEC_KEYID_FLUSH) >> MEMSEC_KEYID_SEARCH_SHIFT;

	return lower_32_bits(answer) <= MEMSEC_KEYID_MAX_CACHE &&
	       search <= MEMSEC_KEYID_MAX_SEARCH;
}

static u64 ask(struct memsec_keyid *keyid, const struct keyid_cpu *c)
{
	struct memsec_keyid_ctx ctx;
	struct memsec_policy *policy;
	u64 answer;

	guard(rcu)();

	policy = memsec_policy_get();
	if (!policy || !policy->ops->keyid)
		return 0;

	ctx = (struct memsec_keyid_ctx) {
		.keyid = keyid->id,
		.nid = numa_mem_id(),
		.allocated = c->allocated,
		.freed = c->freed,
		.flushed = READ_ONCE(c->flushed),
		.cached = READ_ONCE(c->cached),
		.total = c->total,
		.cpus = num_online_cpus(),
		.keyids_free = keyid_in_state(KEYID_FREE),
		.cgroup_id = keyid->cgroup_id,
	};
	answer = policy->ops->keyid(&ctx);

	return memsec_policy_clamp(policy, MEMSEC_ASK_KEYID, &ctx, answer,
				   answer_is_valid(answer), 0);
}

/**
 * keyid_ask() - Ask the policy how to keep pages of a KeyID
 * @keyid: the KeyID
 * @c: what a CPU has of it; gets the answer
 *
 * Context: Any but NMI.
 */
void keyid_ask(struct memsec_keyid *keyid, struct keyid_cpu *c)
{
	c->seq = keyid_policy_seq();
	c->answer = ask(keyid, c);
	WRITE_ONCE(keyid->flush, c->answer & MEMSEC_KEYID_FLUSH);
	c->allocated = 0;
	c->freed = 0;
	c->flushed = 0;
}

/**
 * keyid_forget_answer() - There is no policy any more
 * @keyid: the KeyID
 * @c: what a CPU has of it
 *
 * Context: Any.
 */
void keyid_forget_answer(struct memsec_keyid *keyid, struct keyid_cpu *c)
{
	c->answer = 0;
	WRITE_ONCE(keyid->flush, false);
}

/**
 * keyid_search_depth() - How many free pages to look at
 * @c: what the CPU has of the KeyID
 *
 * Context: Any.
 * Return: how many beside the first.
 */
unsigned int keyid_search_depth(const struct keyid_cpu *c)
{
	u64 depth = (READ_ONCE(c->answer) & ~MEMSEC_KEYID_FLUSH) >>
		    MEMSEC_KEYID_SEARCH_SHIFT;

	return min(depth, memsec_limit(&max_search));
}

/**
 * keyid_max_cached() - How much the CPU may keep for the KeyID
 * @c: what the CPU has of it
 *
 * Context: Any.
 * Return: pages.
 */
unsigned long keyid_max_cached(const struct keyid_cpu *c)
{
	return min(lower_32_bits(READ_ONCE(c->answer)), memsec_limit(&max_cache));
}
