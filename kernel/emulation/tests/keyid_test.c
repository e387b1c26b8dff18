// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hardware with several keys would corrupt, on a small shadow of each
 * test's own.
 */
#include <kunit/test.h>
#include <linux/bitfield.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "../keyid_model.h"

#define PAGES		8
/* One that the tests use. */
#define PFN		3

#define MINE		5
#define OTHERS		2

static struct keyid_violations access(struct kunit *test, unsigned long pfn,
				      unsigned int pages, unsigned int keyid)
{
	struct keyid_violations bad = { };

	keyid_shadow_access(test->priv, pfn, pages, keyid, &bad);

	return bad;
}

static struct keyid_violations release(struct kunit *test, unsigned long pfn,
				       unsigned int pages, unsigned int keyid)
{
	struct keyid_violations bad = { };

	keyid_shadow_release(test->priv, pfn, pages, keyid, &bad);

	return bad;
}

static struct keyid_violations program(struct kunit *test, unsigned int keyid)
{
	struct keyid_violations bad = { };

	keyid_shadow_program(test->priv, keyid, &bad);

	return bad;
}

static void flush(struct kunit *test, unsigned int keyid)
{
	keyid_shadow_flush(test->priv, PFN, keyid);
}

static u64 flush_all_begin(struct kunit *test)
{
	return keyid_shadow_flush_all_begin(test->priv);
}

static void flush_all_end(struct kunit *test, u64 number)
{
	keyid_shadow_flush_all_end(test->priv, number);
}

static void flush_all(struct kunit *test)
{
	flush_all_end(test, flush_all_begin(test));
}

static u64 held_pages(struct kunit *test)
{
	return keyid_shadow_held_pages(test->priv);
}

static u64 lines_pages(struct kunit *test)
{
	return keyid_shadow_lines_pages(test->priv);
}

/* KeyID MINE had the page, and it is clean. */
static void was_mine(struct kunit *test)
{
	release(test, PFN, 1, 0);
	flush_all(test);
	KUNIT_ASSERT_EQ(test, access(test, PFN, 1, MINE).count, 0);
	KUNIT_ASSERT_EQ(test, release(test, PFN, 1, MINE).count, 0);
}

static int keyid_test_init(struct kunit *test)
{
	struct keyid_shadow *shadow = kunit_kzalloc(test, sizeof(*shadow),
						    GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, shadow);
	shadow->nr_pages = PAGES;
	shadow->pages = kunit_kcalloc(test, PAGES, sizeof(*shadow->pages),
				      GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, shadow->pages);
	test->priv = shadow;

	return 0;
}

static void page_in_use_at_boot_is_of_keyid_0(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, access(test, 0, PAGES, 0).count, 0);
	KUNIT_EXPECT_EQ(test, release(test, 0, PAGES, 0).count, 0);
	KUNIT_EXPECT_EQ(test, access(test, 0, PAGES, 0).count, 0);
	KUNIT_EXPECT_EQ(test, access(test, 0, PAGES, MINE).count, PAGES);
}

static void page_free_at_boot_has_lines_of_keyid_0(struct kunit *test)
{
	flush(test, OTHERS);
	/* Somebody may still use it. */
	flush_all(test);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, MINE).count, 1);
}

static void page_free_at_boot_can_be_flushed(struct kunit *test)
{
	flush(test, 0);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, MINE).count, 0);
	KUNIT_EXPECT_EQ(test, access(test, PFN + 1, 1, MINE).count, 1);
}

static void page_of_the_same_keyid_needs_no_flush(struct kunit *test)
{
	was_mine(test);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, MINE).count, 0);
	/* Twice is once. */
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, MINE).count, 0);
}

static void lines_of_another_keyid_are_a_violation(struct kunit *test)
{
	struct keyid_violations bad;

	was_mine(test);
	bad = access(test, PFN, 1, OTHERS);
	KUNIT_EXPECT_EQ(test, bad.count, 1);
	KUNIT_EXPECT_EQ(test, bad.pfn, PFN);
	KUNIT_EXPECT_EQ(test, FIELD_GET(KEYID_PAGE_KEYID, bad.found), MINE);
	KUNIT_EXPECT_NE(test, bad.found & KEYID_PAGE_RELEASED, 0);

	/* It is found once: the page is the other's from then on. */
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, OTHERS).count, 0);
	KUNIT_EXPECT_EQ(test, release(test, PFN, 1, OTHERS).count, 0);
}

static void keyid_0_has_lines_like_any_other(struct kunit *test)
{
	was_mine(test);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, 0).count, 1);
	KUNIT_EXPECT_EQ(test, release(test, PFN, 1, 0).count, 0);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, MINE).count, 1);
}

static void flushed_page_has_no_lines(struct kunit *test)
{
	was_mine(test);
	flush(test, MINE);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, OTHERS).count, 0);
}

static void flush_spares_lines_of_another_keyid(struct kunit *test)
{
	was_mine(test);
	flush(test, OTHERS);
	flush(test, 0);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, OTHERS).count, 1);
}

static void flush_is_of_one_page(struct kunit *test)
{
	release(test, 0, PAGES, 0);
	flush(test, 0);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, MINE).count, 0);
	KUNIT_EXPECT_EQ(test, access(test, PFN - 1, 1, MINE).count, 1);
	KUNIT_EXPECT_EQ(test, access(test, PFN + 1, 1, MINE).count, 1);
}

static void flushed_page_gets_lines_by_another_access(struct kunit *test)
{
	was_mine(test);
	flush(test, MINE);
	KUNIT_ASSERT_EQ(test, access(test, PFN, 1, MINE).count, 0);
	KUNIT_ASSERT_EQ(test, release(test, PFN, 1, MINE).count, 0);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, OTHERS).count, 1);
}

static void held_page_is_a_violation(struct kunit *test)
{
	struct keyid_violations bad;

	was_mine(test);
	KUNIT_ASSERT_EQ(test, access(test, PFN, 1, MINE).count, 0);
	bad = access(test, PFN, 1, OTHERS);
	KUNIT_EXPECT_EQ(test, bad.count, 1);
	KUNIT_EXPECT_EQ(test, bad.found,
			FIELD_PREP(KEYID_PAGE_KEYID, MINE) | KEYID_PAGE_HELD);
}

static void held_page_cannot_be_flushed(struct kunit *test)
{
	was_mine(test);
	KUNIT_ASSERT_EQ(test, access(test, PFN, 1, MINE).count, 0);
	flush(test, MINE);
	flush_all(test);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, OTHERS).count, 1);

	/* Nor does what was flushed then count after the release. */
	flush(test, OTHERS);
	flush_all(test);
	KUNIT_EXPECT_EQ(test, release(test, PFN, 1, OTHERS).count, 0);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, MINE).count, 1);
}

static void flush_all_covers_what_was_released_before(struct kunit *test)
{
	was_mine(test);
	flush_all(test);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, OTHERS).count, 0);
}

static void flush_all_covers_all_pages(struct kunit *test)
{
	release(test, 0, PAGES, 0);
	flush_all(test);
	KUNIT_EXPECT_EQ(test, access(test, 0, PAGES, MINE).count, 0);
}

static void flush_all_covers_nothing_until_it_ends(struct kunit *test)
{
	u64 number;

	was_mine(test);
	number = flush_all_begin(test);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, OTHERS).count, 1);
	flush_all_end(test, number);
}

static void flush_all_spares_what_is_released_after_it_began(struct kunit *test)
{
	u64 number;

	was_mine(test);
	KUNIT_ASSERT_EQ(test, access(test, PFN, 1, MINE).count, 0);
	number = flush_all_begin(test);
	KUNIT_ASSERT_EQ(test, release(test, PFN, 1, MINE).count, 0);
	flush_all_end(test, number);
	KUNIT_EXPECT_EQ(test, lines_pages(test), 1);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, OTHERS).count, 1);
	KUNIT_ASSERT_EQ(test, release(test, PFN, 1, OTHERS).count, 0);

	/* The next one does not. */
	flush_all(test);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, MINE).count, 0);
}

/* What is released between the beginnings of two of them. */
static void released_between(struct kunit *test, u64 *first, u64 *second)
{
	was_mine(test);
	KUNIT_ASSERT_EQ(test, access(test, PFN, 1, MINE).count, 0);
	*first = flush_all_begin(test);
	KUNIT_ASSERT_EQ(test, release(test, PFN, 1, MINE).count, 0);
	*second = flush_all_begin(test);
}

static void first_of_two_flushes_of_all_ends_first(struct kunit *test)
{
	u64 first, second;

	released_between(test, &first, &second);
	flush_all_end(test, first);
	KUNIT_EXPECT_EQ(test, lines_pages(test), 1);
	flush_all_end(test, second);
	KUNIT_EXPECT_EQ(test, lines_pages(test), 0);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, OTHERS).count, 0);
}

static void first_of_two_flushes_of_all_ends_last(struct kunit *test)
{
	u64 first, second;

	released_between(test, &first, &second);
	flush_all_end(test, second);
	KUNIT_EXPECT_EQ(test, lines_pages(test), 0);
	/* It takes nothing back. */
	flush_all_end(test, first);
	KUNIT_EXPECT_EQ(test, lines_pages(test), 0);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, OTHERS).count, 0);
}

static void release_of_another_keyid_is_a_violation(struct kunit *test)
{
	struct keyid_violations bad;

	was_mine(test);
	bad = release(test, PFN, 1, OTHERS);
	KUNIT_EXPECT_EQ(test, bad.count, 1);
	KUNIT_EXPECT_EQ(test, bad.pfn, PFN);
	KUNIT_EXPECT_EQ(test, FIELD_GET(KEYID_PAGE_KEYID, bad.found), MINE);

	/* Whose the page is has not changed, nor who holds it. */
	KUNIT_ASSERT_EQ(test, access(test, PFN, 1, MINE).count, 0);
	KUNIT_EXPECT_EQ(test, release(test, PFN, 1, OTHERS).count, 1);
	KUNIT_EXPECT_EQ(test, held_pages(test), 1);
	KUNIT_EXPECT_EQ(test, release(test, PFN, 1, MINE).count, 0);
}

static void new_key_with_held_pages_is_a_violation(struct kunit *test)
{
	struct keyid_violations bad;

	was_mine(test);
	KUNIT_ASSERT_EQ(test, access(test, PFN, 1, MINE).count, 0);
	flush(test, MINE);
	flush_all(test);
	bad = program(test, MINE);
	KUNIT_EXPECT_EQ(test, bad.count, 1);
	KUNIT_EXPECT_EQ(test, bad.pfn, PFN);
	KUNIT_EXPECT_EQ(test, program(test, OTHERS).count, 0);
}

static void new_key_with_lines_left_is_a_violation(struct kunit *test)
{
	release(test, 0, PAGES, 0);
	flush_all(test);
	KUNIT_ASSERT_EQ(test, access(test, PFN, 2, MINE).count, 0);
	KUNIT_ASSERT_EQ(test, release(test, PFN, 2, MINE).count, 0);
	KUNIT_EXPECT_EQ(test, program(test, MINE).count, 2);
	KUNIT_EXPECT_EQ(test, program(test, OTHERS).count, 0);

	flush(test, MINE);
	KUNIT_EXPECT_EQ(test, program(test, MINE).count, 1);
	flush_all(test);
	KUNIT_EXPECT_EQ(test, program(test, MINE).count, 0);
}

static void new_key_is_for_pages_to_come(struct kunit *test)
{
	release(test, 0, PAGES, 0);
	KUNIT_EXPECT_EQ(test, program(test, MINE).count, 0);
	flush_all(test);
	KUNIT_EXPECT_EQ(test, access(test, 0, PAGES, MINE).count, 0);
}

static void pages_with_keyids_are_counted(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, held_pages(test), 0);
	KUNIT_EXPECT_EQ(test, lines_pages(test), 0);

	release(test, 0, PAGES, 0);
	KUNIT_EXPECT_EQ(test, lines_pages(test), 0);
	flush_all(test);
	access(test, 0, 3, MINE);
	access(test, 3, 2, OTHERS);
	access(test, 5, 1, 0);
	KUNIT_EXPECT_EQ(test, held_pages(test), 5);
	KUNIT_EXPECT_EQ(test, lines_pages(test), 5);

	release(test, 1, 3, MINE);
	KUNIT_EXPECT_EQ(test, held_pages(test), 3);
	KUNIT_EXPECT_EQ(test, lines_pages(test), 5);

	flush_all(test);
	KUNIT_EXPECT_EQ(test, held_pages(test), 3);
	KUNIT_EXPECT_EQ(test, lines_pages(test), 3);
}

static void first_of_several_pages_is_told(struct kunit *test)
{
	struct keyid_violations bad;

	release(test, 0, PAGES, 0);
	flush_all(test);
	access(test, 2, 1, OTHERS);
	access(test, 4, 1, OTHERS);

	bad = access(test, 1, 4, MINE);
	KUNIT_EXPECT_EQ(test, bad.count, 2);
	KUNIT_EXPECT_EQ(test, bad.pfn, 2);

	/* All of them are mine, and no other. */
	KUNIT_EXPECT_EQ(test, held_pages(test), 4);
	KUNIT_EXPECT_EQ(test, release(test, 1, 4, MINE).count, 0);
}

static void largest_keyid_is_told_apart(struct kunit *test)
{
	release(test, PFN, 1, 0);
	flush_all(test);
	access(test, PFN, 1, KEYID_MODEL_MAX);
	KUNIT_EXPECT_EQ(test, program(test, KEYID_MODEL_MAX).count, 1);
	KUNIT_EXPECT_EQ(test, release(test, PFN, 1, KEYID_MODEL_MAX).count, 0);
	KUNIT_EXPECT_EQ(test, access(test, PFN, 1, KEYID_MODEL_MAX - 1).count, 1);
}

static void pages_beyond_the_shadow_are_ignored(struct kunit *test)
{
	struct keyid_shadow *shadow = test->priv;

	/* The last page is one that must not be touched. */
	shadow->nr_pages--;

	KUNIT_EXPECT_EQ(test, access(test, PAGES - 1, 1, MINE).count, 0);
	KUNIT_EXPECT_EQ(test, access(test, ULONG_MAX, 1, MINE).count, 0);
	KUNIT_EXPECT_EQ(test, release(test, PAGES - 1, 1, MINE).count, 0);
	keyid_shadow_flush(shadow, PAGES - 1, 0);
	keyid_shadow_flush(shadow, ULONG_MAX, 0);
	KUNIT_EXPECT_FALSE(test, memchr_inv(shadow->pages, 0,
					    PAGES * sizeof(*shadow->pages)));

	/* Of a range, those that are in it count. */
	KUNIT_EXPECT_EQ(test, access(test, PAGES - 3, 3, MINE).count, 2);
	KUNIT_EXPECT_EQ(test, release(test, PAGES - 3, 3, MINE).count, 0);
	KUNIT_EXPECT_EQ(test, lines_pages(test), 2);
	KUNIT_EXPECT_EQ(test, shadow->pages[PAGES - 1], 0);
}

struct argument {
	const char *text;
	int number;
};

static const struct argument arguments[] = {
	{ "0", 0 },
	{ "1", 1 },
	{ "7", 7 },
	{ "63", 63 },
	{ "010", 10 },
	{ "64", -ERANGE },
	{ "256", -ERANGE },
	{ "99999999999999999999", -ERANGE },
	{ "-1", -EINVAL },
	{ "7M", -EINVAL },
	{ "0x7", -EINVAL },
	{ "all", -EINVAL },
	{ "", -EINVAL },
	{ NULL, -EINVAL },
};

static void argument_desc(const struct argument *argument, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "'%s'", argument->text ?: "none");
}

KUNIT_ARRAY_PARAM(argument, arguments, argument_desc);

static void command_line_is_checked(struct kunit *test)
{
	const struct argument *argument = test->param_value;

	KUNIT_EXPECT_EQ(test, keyid_model_parse(argument->text),
			argument->number);
}

static struct kunit_case keyid_cases[] = {
	KUNIT_CASE(page_in_use_at_boot_is_of_keyid_0),
	KUNIT_CASE(page_free_at_boot_has_lines_of_keyid_0),
	KUNIT_CASE(page_free_at_boot_can_be_flushed),
	KUNIT_CASE(page_of_the_same_keyid_needs_no_flush),
	KUNIT_CASE(lines_of_another_keyid_are_a_violation),
	KUNIT_CASE(keyid_0_has_lines_like_any_other),
	KUNIT_CASE(flushed_page_has_no_lines),
	KUNIT_CASE(flush_spares_lines_of_another_keyid),
	KUNIT_CASE(flush_is_of_one_page),
	KUNIT_CASE(flushed_page_gets_lines_by_another_access),
	KUNIT_CASE(held_page_is_a_violation),
	KUNIT_CASE(held_page_cannot_be_flushed),
	KUNIT_CASE(flush_all_covers_what_was_released_before),
	KUNIT_CASE(flush_all_covers_all_pages),
	KUNIT_CASE(flush_all_covers_nothing_until_it_ends),
	KUNIT_CASE(flush_all_spares_what_is_released_after_it_began),
	KUNIT_CASE(first_of_two_flushes_of_all_ends_first),
	KUNIT_CASE(first_of_two_flushes_of_all_ends_last),
	KUNIT_CASE(release_of_another_keyid_is_a_violation),
	KUNIT_CASE(new_key_with_held_pages_is_a_violation),
	KUNIT_CASE(new_key_with_lines_left_is_a_violation),
	KUNIT_CASE(new_key_is_for_pages_to_come),
	KUNIT_CASE(pages_with_keyids_are_counted),
	KUNIT_CASE(first_of_several_pages_is_told),
	KUNIT_CASE(largest_keyid_is_told_apart),
	KUNIT_CASE(pages_beyond_the_shadow_are_ignored),
	KUNIT_CASE_PARAM(command_line_is_checked, argument_gen_params),
	{ }
};

static struct kunit_suite keyid_suite = {
	.name = "memsec_emulation_keyid",
	.init = keyid_test_init,
	.test_cases = keyid_cases,
};

kunit_test_suite(keyid_suite);
