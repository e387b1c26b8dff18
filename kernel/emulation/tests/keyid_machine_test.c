// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shadow of this kernel's own memory, in a boot with memsec.keyid=N.
 */
#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/memsec_emulation.h>
#include <linux/mm.h>

#include "../keyid_model.h"

/* One that nobody else has: the boot has fewer. */
#define MINE		KEYID_MODEL_MAX

static void free_page_action(void *page)
{
	__free_page(page);
}

static void warn_action(void *unused)
{
	WRITE_ONCE(keyid_model_warn.value, 1);
}

/* A page that this test holds by KeyID 0. */
static int keyid_machine_test_init(struct kunit *test)
{
	struct page *page;

	if (!memsec_keyid_emulated() || memsec_keyid_emulated() >= MINE)
		kunit_skip(test, "not booted with memsec.keyid= of less than %d",
			   MINE);

	page = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_page_action,
							page), 0);
	WRITE_ONCE(keyid_model_warn.value, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, warn_action, NULL),
			0);
	test->priv = page;

	return 0;
}

static unsigned long test_pfn(struct kunit *test)
{
	struct page *page = test->priv;

	return page_to_pfn(page);
}

/* How many there have been since the last call. */
static u64 violations(void)
{
	static u64 last;
	u64 before = last;

	last = memsec_keyid_model_violations();

	return last - before;
}

/* From KeyID 0 to MINE and back, by a flush of what @flush says. */
static void hand_over(struct kunit *test, void (*flush)(unsigned long pfn,
							unsigned int keyid))
{
	unsigned long pfn = test_pfn(test);

	violations();
	memsec_keyid_model_release(pfn, 1, 0);
	flush(pfn, 0);
	memsec_keyid_model_program(MINE);
	memsec_keyid_model_access(pfn, 1, MINE);
	memsec_keyid_model_release(pfn, 1, MINE);
	flush(pfn, MINE);
	memsec_keyid_model_program(MINE);
	memsec_keyid_model_access(pfn, 1, 0);
	KUNIT_EXPECT_EQ(test, violations(), 0);
}

static void flush_all(unsigned long pfn, unsigned int keyid)
{
	memsec_keyid_model_flush_all();
}

static void page_is_flushed_by_address(struct kunit *test)
{
	hand_over(test, memsec_keyid_model_flush);
}

static void page_is_flushed_with_all_caches(struct kunit *test)
{
	hand_over(test, flush_all);
}

static void violations_are_counted(struct kunit *test)
{
	unsigned long pfn = test_pfn(test);

	violations();
	memsec_keyid_model_access(pfn, 1, MINE);
	KUNIT_EXPECT_EQ(test, violations(), 1);
	memsec_keyid_model_release(pfn, 1, 0);
	KUNIT_EXPECT_EQ(test, violations(), 1);
	memsec_keyid_model_program(MINE);
	KUNIT_EXPECT_EQ(test, violations(), 1);
	memsec_keyid_model_release(pfn, 1, MINE);
	memsec_keyid_model_program(MINE);
	KUNIT_EXPECT_EQ(test, violations(), 1);
	memsec_keyid_model_access(pfn, 1, 0);
	KUNIT_EXPECT_EQ(test, violations(), 1);
}

static struct kunit_case keyid_machine_cases[] = {
	KUNIT_CASE(page_is_flushed_by_address),
	KUNIT_CASE(page_is_flushed_with_all_caches),
	KUNIT_CASE(violations_are_counted),
	{ }
};

static struct kunit_suite keyid_machine_suite = {
	.name = "memsec_emulation_keyid_machine",
	.init = keyid_machine_test_init,
	.test_cases = keyid_machine_cases,
};

kunit_test_suite(keyid_machine_suite);
