/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec KUnit: KeyIDs of the model, and a policy that answers what the tests
 * want.
 */
#ifndef _MM_MEMSEC_TESTS_KEYID_FIXTURE_H
#define _MM_MEMSEC_TESTS_KEYID_FIXTURE_H

#include <linux/gfp.h>

#include "../keyid.h"
#include "fake.h"

#define k_mech		(&memsec_keyid_mechanism)

/* As many KeyIDs as a test takes at a time, and pages. */
#define K_MAX		64
#define K_PAGES		600

/**
 * struct k_script - what the policy answers and what it was told
 * @answer: about a KeyID
 * @wait: about recycling
 * @asked: how often it was asked about KeyIDs
 * @flushed: pages that were flushed until then
 * @ctx: the facts about the last one
 */
struct k_script {
	u64 answer;
	u64 wait;
	u64 asked;
	u64 flushed;
	struct memsec_keyid_ctx ctx;
};

extern struct k_script k_script;

int k_test_init(struct kunit *test);
void k_test_exit(struct kunit *test);
void k_attach(struct kunit *test, u64 answer, u64 wait);
void k_detach(void);
u64 k_counted(struct kunit *test, const char *name);
struct memsec_keyid *k_take(struct kunit *test);
void k_retire(struct memsec_keyid *keyid);
void k_expect_state(struct kunit *test, const struct memsec_keyid *keyid,
		    enum keyid_state state);
u64 k_flushed(const struct memsec_keyid *keyid);
bool k_free_and_find(struct memsec_keyid *keyid, struct page *page,
		     unsigned int order, gfp_t gfp);
void k_recycle(void);

#endif /* _MM_MEMSEC_TESTS_KEYID_FIXTURE_H */
