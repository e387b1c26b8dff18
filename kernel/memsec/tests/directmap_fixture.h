/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec KUnit: pages whose entries in the direct map the tests split, and a
 * policy that answers what they want.
 */
#ifndef _MM_MEMSEC_TESTS_DIRECTMAP_FIXTURE_H
#define _MM_MEMSEC_TESTS_DIRECTMAP_FIXTURE_H

#include "../directmap.h"
#include "fake.h"

#define DM_BLOCK	DIRECTMAP_2M_PAGES
/* More often than this nothing is tried. */
#define TRIES		64

#define SECRETMEM	MEMSEC_DIRECTMAP_SECRETMEM
#define GUEST		MEMSEC_DIRECTMAP_GUEST

#define dm_mech		(&memsec_directmap_mechanism)

/**
 * struct dm_script - what the policy answers and what it was told
 * @answer: about splits
 * @wait: about collapses
 * @meanwhile: pages that dm_owner gets ahead while the policy is asked
 * @asked: how often it was asked about splits
 * @asked_collapse: how often about collapses
 * @ctx: the facts about the last split
 * @collapse: the facts about the last collapse
 */
struct dm_script {
	u64 answer;
	u64 wait;
	long meanwhile;
	u64 asked;
	u64 asked_collapse;
	struct memsec_directmap_ctx ctx;
	struct memsec_directmap_collapse_ctx collapse;
};

/**
 * struct dm_area - pages of a test
 * @pfn: the first
 * @pages: how many
 * @order: of the allocation
 */
struct dm_area {
	unsigned long pfn;
	unsigned long pages;
	unsigned int order;
};

extern const struct memsec_ops dm_policy;
extern struct dm_script dm_script;
extern struct fake_holder dm_holder;
extern struct memsec_directmap_owner dm_owner;
extern struct memsec_directmap_owner dm_file;

void dm_note_counters(struct kunit *test);
u64 dm_counted(struct kunit *test, const char *name);
void dm_expect_counted(struct kunit *test, const char *name, u64 n);
int dm_test_init(struct kunit *test);
void dm_attach(struct kunit *test, u64 answer, u64 wait);
void dm_pass_after(struct kunit *test, u64 ns);
unsigned int dm_level_of(unsigned long pfn);
struct dm_area *dm_area_alloc(struct kunit *test, unsigned int order);
struct dm_area *dm_area_find(struct kunit *test, unsigned int order,
			     unsigned int level);
bool dm_page_is_intact(unsigned long pfn);
bool dm_page_faults(unsigned long pfn);
void dm_expect_area(struct kunit *test, const struct dm_area *area,
		    unsigned long pfn, unsigned long pages);
int dm_take(enum memsec_directmap_kind kind, unsigned long pfn, unsigned long pages);
void dm_test_exit(struct kunit *test);
bool dm_area_is_large(const struct dm_area *area, unsigned int level);

#endif /* _MM_MEMSEC_TESTS_DIRECTMAP_FIXTURE_H */
