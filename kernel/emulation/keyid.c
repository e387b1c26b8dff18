// SPDX-License-Identifier: GPL-2.0-only
/*
 * What may be left of which page in caches, and by which KeyID.
 */
#include <linux/bitfield.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/sched.h>

#include "keyid_model.h"

/* How many pages of a walk go by before others may run. */
#define WALK_BATCH	4096

static unsigned int page_keyid(u64 page)
{
	return FIELD_GET(KEYID_PAGE_KEYID, page);
}

/*
 * A flush of all caches covers what was released before it began, and nothing
 * that may be in use.
 */
static bool page_may_have_lines(const struct keyid_shadow *shadow, u64 page)
{
	if (!(page & KEYID_PAGE_RELEASED))
		return true;

	return !(page & KEYID_PAGE_FLUSHED) &&
	       atomic64_read(&shadow->ended) <= FIELD_GET(KEYID_PAGE_EPOCH, page);
}

static void add_violation(struct keyid_violations *bad, unsigned long pfn,
			  u64 page)
{
	if (!bad->count++) {
		bad->pfn = pfn;
		bad->found = page;
	}
}

static unsigned long range_end(const struct keyid_shadow *shadow,
			       unsigned long pfn, unsigned int pages)
{
	return min(pfn + pages, shadow->nr_pages);
}

/**
 * keyid_shadow_access() - Somebody can reach pages by a KeyID from now on
 * @shadow: the shadow
 * @pfn: the first page
 * @pages: how many
 * @keyid: the KeyID
 * @bad: where pages are added that others may reach, or have left lines of, by
 *	another KeyID
 *
 * The pages are held by the KeyID then, whatever was before.
 *
 * Context: Any. The caller owns the pages.
 */
void keyid_shadow_access(struct keyid_shadow *shadow, unsigned long pfn,
			 unsigned int pages, unsigned int keyid,
			 struct keyid_violations *bad)
{
	unsigned long end = range_end(shadow, pfn, pages);

	for (; pfn < end; pfn++) {
		u64 page = READ_ONCE(shadow->pages[pfn]);

		if (page_keyid(page) != keyid &&
		    page_may_have_lines(shadow, page))
			add_violation(bad, pfn, page);
		WRITE_ONCE(shadow->pages[pfn],
			   FIELD_PREP(KEYID_PAGE_KEYID, keyid) | KEYID_PAGE_HELD);
	}
}

/**
 * keyid_shadow_release() - Nobody reaches pages by a KeyID any more
 * @shadow: the shadow
 * @pfn: the first page
 * @pages: how many
 * @keyid: the KeyID
 * @bad: where pages are added that are another KeyID's; they stay as they are
 *
 * Context: Any. The caller owns the pages.
 */
void keyid_shadow_release(struct keyid_shadow *shadow, unsigned long pfn,
			  unsigned int pages, unsigned int keyid,
			  struct keyid_violations *bad)
{
	unsigned long end = range_end(shadow, pfn, pages);
	u64 released = FIELD_PREP(KEYID_PAGE_KEYID, keyid) |
		       KEYID_PAGE_RELEASED |
		       FIELD_PREP(KEYID_PAGE_EPOCH,
				  atomic64_read(&shadow->begun));

	for (; pfn < end; pfn++) {
		u64 page = READ_ONCE(shadow->pages[pfn]);

		if (page_keyid(page) == keyid)
			WRITE_ONCE(shadow->pages[pfn], released);
		else
			add_violation(bad, pfn, page);
	}
}

/**
 * keyid_shadow_flush() - The lines of a page were flushed, by address and KeyID
 * @shadow: the shadow
 * @pfn: the page
 * @keyid: the KeyID of the mapping it was done through
 *
 * The lines of another KeyID stay. A page that is held gets lines again. One
 * that nobody said anything of since boot is free, or it would not be flushed.
 *
 * Context: Any. The caller owns the page.
 */
void keyid_shadow_flush(struct keyid_shadow *shadow, unsigned long pfn,
			unsigned int keyid)
{
	u64 page;

	if (pfn >= shadow->nr_pages)
		return;

	page = READ_ONCE(shadow->pages[pfn]);
	if (page_keyid(page) == keyid && !(page & KEYID_PAGE_HELD))
		WRITE_ONCE(shadow->pages[pfn],
			   page | KEYID_PAGE_RELEASED | KEYID_PAGE_FLUSHED);
}

/**
 * keyid_shadow_flush_all_begin() - A flush of all caches begins
 * @shadow: the shadow
 *
 * Context: Any. Several may run at a time.
 * Return: its number, for keyid_shadow_flush_all_end().
 */
u64 keyid_shadow_flush_all_begin(struct keyid_shadow *shadow)
{
	return atomic64_inc_return(&shadow->begun);
}

/**
 * keyid_shadow_flush_all_end() - A flush of all caches has ended on every CPU
 * @shadow: the shadow
 * @number: what keyid_shadow_flush_all_begin() returned
 *
 * It covers what those covered that began before it, ended or not.
 *
 * Context: Any.
 */
void keyid_shadow_flush_all_end(struct keyid_shadow *shadow, u64 number)
{
	s64 ended = atomic64_read(&shadow->ended);

	while (ended < (s64)number &&
	       !atomic64_try_cmpxchg(&shadow->ended, &ended, number))
		;
}

/**
 * keyid_shadow_program() - A KeyID gets a new key
 * @shadow: the shadow
 * @keyid: the KeyID
 * @bad: where pages are added that are held by it or may have lines of it
 *
 * Context: Process context.
 */
void keyid_shadow_program(const struct keyid_shadow *shadow, unsigned int keyid,
			  struct keyid_violations *bad)
{
	unsigned long pfn;

	for (pfn = 0; pfn < shadow->nr_pages; pfn++) {
		u64 page = READ_ONCE(shadow->pages[pfn]);

		if (page_keyid(page) == keyid &&
		    page_may_have_lines(shadow, page))
			add_violation(bad, pfn, page);
		if (!(pfn % WALK_BATCH))
			cond_resched();
	}
}

/**
 * keyid_shadow_held_pages() - Pages that are reached by a KeyID other than 0
 * @shadow: the shadow
 *
 * Context: Process context.
 * Return: how many.
 */
u64 keyid_shadow_held_pages(const struct keyid_shadow *shadow)
{
	unsigned long pfn;
	u64 count = 0;

	for (pfn = 0; pfn < shadow->nr_pages; pfn++) {
		u64 page = READ_ONCE(shadow->pages[pfn]);

		count += page_keyid(page) && (page & KEYID_PAGE_HELD);
		if (!(pfn % WALK_BATCH))
			cond_resched();
	}

	return count;
}

/**
 * keyid_shadow_lines_pages() - Pages that may have lines of a KeyID other than 0
 * @shadow: the shadow
 *
 * Context: Process context.
 * Return: how many, held ones among them.
 */
u64 keyid_shadow_lines_pages(const struct keyid_shadow *shadow)
{
	unsigned long pfn;
	u64 count = 0;

	for (pfn = 0; pfn < shadow->nr_pages; pfn++) {
		u64 page = READ_ONCE(shadow->pages[pfn]);

		count += page_keyid(page) && page_may_have_lines(shadow, page);
		if (!(pfn % WALK_BATCH))
			cond_resched();
	}

	return count;
}
