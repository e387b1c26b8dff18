// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: the KeyID that a page carries.
 *
 * It is kept in the page's page_ext, and beyond the moment when the page is
 * freed: then it says whose lines may be left in caches. Whoever gets the page
 * next by the same KeyID need not flush them. Nobody else gets it before they
 * are flushed: post_alloc_hook(), through which everything goes that leaves the
 * page allocator, sees to that for all who reach memory as usual, by KeyID 0.
 *
 * The price: a load for each page that is allocated or freed, on machines that
 * have KeyIDs. On others a static branch.
 */
#include <linux/bitfield.h>
#include <linux/memsec_emulation.h>
#include <linux/mm.h>
#include <linux/page_ext.h>
#include <linux/poison.h>

#include "events.h"
#include "keyid.h"

DEFINE_STATIC_KEY_FALSE(memsec_keyid_key);

/*
 * What a page carries: the KeyID, and which of its lives it is of: all lines of
 * those before were flushed when it was recycled. 0 is KeyID 0.
 */
#define TAG_KEYID	GENMASK_ULL(14, 0)
#define TAG_GENERATION	GENMASK_ULL(63, 17)
/* The page is counted as one in use of the KeyID. */
#define TAG_USED	BIT_ULL(15)
/* It was allocated, but nobody can reach it yet. */
#define TAG_UNPREPARED	BIT_ULL(16)

static bool page_ext_needed(void)
{
	return keyid_total();
}

struct page_ext_operations memsec_keyid_page_ext_ops = {
	.size = sizeof(u64),
	.need = page_ext_needed,
};

static u64 *tag_of(struct page_ext *page_ext)
{
	return page_ext_data(page_ext, &memsec_keyid_page_ext_ops);
}

static u64 tag_make(const struct memsec_keyid *keyid)
{
	/* Whoever sees that it was recycled finds that all caches were flushed. */
	u64 generation = smp_load_acquire(&keyid->generation);

	return keyid->id | FIELD_PREP(TAG_GENERATION, generation);
}

static struct memsec_keyid *tag_keyid(u64 tag)
{
	return keyid_of(FIELD_GET(TAG_KEYID, tag));
}

/* The KeyID of a free page was recycled after that was freed. */
static bool tag_is_clean(u64 tag)
{
	return tag && tag != tag_make(tag_keyid(tag));
}

static void flush_page(struct page *page, u64 tag)
{
	unsigned int id = FIELD_GET(TAG_KEYID, tag);

	keyid_backend->flush(page_to_pfn(page), id);
	memsec_count_add(&keyid_flushes, 1);
	trace_memsec_keyid_flush(page_to_pfn(page), id);
}

/*
 * The page goes to somebody who reaches it by @new. Returns whether it had to
 * be flushed.
 */
static bool change_tag(struct page *page, u64 *tag, u64 new)
{
	bool flush = *tag != new && !tag_is_clean(*tag);

	if (flush)
		flush_page(page, *tag);
	*tag = new;

	return flush;
}

/**
 * memsec_keyid_allocated() - Pages leave the page allocator
 * @page: the first of them
 * @order: how many, log2
 * @gfp: how they were asked for
 *
 * Context: Any.
 */
void memsec_keyid_allocated(struct page *page, unsigned int order, gfp_t gfp)
{
	struct page_ext *page_ext, *ext;
	unsigned int i;

	page_ext = page_ext_get(page);
	if (!page_ext)
		return;

	for (i = 0, ext = page_ext; i < 1 << order; i++) {
		if (gfp & __GFP_KEYID)
			*tag_of(ext) |= TAG_UNPREPARED;
		else if (unlikely(*tag_of(ext)) &&
			 !change_tag(page + i, tag_of(ext), 0))
			memsec_count_add(&keyid_flushes_avoided, 1);
		ext = page_ext_next(ext);
	}
	page_ext_put(page_ext);

	if (!(gfp & __GFP_KEYID))
		memsec_keyid_model_access(page_to_pfn(page), 1 << order, 0);
}

/* Does somebody write to pages that are freed, by KeyID 0? */
static bool freed_is_written(void)
{
	return want_init_on_free() || page_poisoning_enabled_static();
}

/* The last of them may be the last of the KeyID. */
static void put_pages(struct memsec_keyid *keyid, unsigned int pages)
{
	if (!pages)
		return;

	memsec_count_add(&keyid_freed, pages);
	this_cpu_sub(keyid->cpus->pages, pages);
	percpu_ref_put_many(&keyid->pages, pages);
}

static void free_tag(struct page *page, u64 *tag)
{
	struct memsec_keyid *keyid = tag_keyid(*tag);

	*tag &= ~TAG_USED;
	memsec_keyid_model_release(page_to_pfn(page), 1, keyid->id);
	if (READ_ONCE(keyid->flush) || freed_is_written()) {
		flush_page(page, *tag);
		*tag = 0;
		this_cpu_inc(keyid->cpus->flushed);
	}
}

static void free_tags(struct page *page, struct page_ext *ext, unsigned int n)
{
	struct memsec_keyid *keyid = NULL, *next;
	unsigned int pages = 0;
	unsigned int i;

	for (i = 0; i < n; i++, ext = page_ext_next(ext)) {
		if (*tag_of(ext) & TAG_UNPREPARED) {
			*tag_of(ext) &= ~TAG_UNPREPARED;
			continue;
		}
		if (!(*tag_of(ext) & TAG_USED)) {
			memsec_keyid_model_release(page_to_pfn(page) + i, 1, 0);
			continue;
		}

		next = tag_keyid(*tag_of(ext));
		if (next != keyid) {
			put_pages(keyid, pages);
			keyid = next;
			pages = 0;
		}
		free_tag(page + i, tag_of(ext));
		pages++;
	}
	put_pages(keyid, pages);
}

/**
 * memsec_keyid_freed() - Pages come back to the page allocator
 * @page: the first of them
 * @order: how many, log2
 *
 * They go on to carry their KeyID, but are not counted any more. A page that is
 * poisoned comes here too and never leaves again: of its KeyID it only was the
 * last page.
 *
 * Context: Any.
 */
void memsec_keyid_freed(struct page *page, unsigned int order)
{
	struct page_ext *page_ext, *ext;
	u64 any = 0;
	unsigned int i;

	page_ext = page_ext_get(page);
	if (!page_ext)
		return;

	for (i = 0, ext = page_ext; i < 1 << order; i++) {
		any |= *tag_of(ext);
		ext = page_ext_next(ext);
	}
	if (unlikely(any))
		free_tags(page, page_ext, 1 << order);
	else
		memsec_keyid_model_release(page_to_pfn(page), 1 << order, 0);
	page_ext_put(page_ext);
}

/* Did somebody write to pages that were allocated, by KeyID 0? */
static bool allocated_was_written(gfp_t gfp)
{
	return !want_init_on_free() && want_init_on_alloc(gfp);
}

/**
 * keyid_page_prepare() - Pages are going to be reached by a KeyID
 * @keyid: the KeyID, which somebody has
 * @page: the first of them
 * @order: how many, log2
 * @gfp: what they were allocated with, which is __GFP_KEYID among others
 *
 * Context: Any.
 */
void keyid_page_prepare(struct memsec_keyid *keyid, struct page *page,
			unsigned int order, gfp_t gfp)
{
	u64 tag = tag_make(keyid);
	struct page_ext *page_ext, *ext;
	unsigned int flushed = 0;
	unsigned int i;

	page_ext = page_ext_get(page);
	for (i = 0, ext = page_ext; i < 1 << order; i++) {
		*tag_of(ext) &= ~TAG_UNPREPARED;
		if (unlikely(allocated_was_written(gfp)) && *tag_of(ext)) {
			change_tag(page + i, tag_of(ext), 0);
			flushed++;
		}
		flushed += change_tag(page + i, tag_of(ext), tag);
		*tag_of(ext) |= TAG_USED;
		ext = page_ext_next(ext);
	}
	page_ext_put(page_ext);

	percpu_ref_get_many(&keyid->pages, 1 << order);
	this_cpu_add(keyid->cpus->pages, 1 << order);
	this_cpu_add(keyid->cpus->flushed, flushed);
	memsec_count_add(&keyid_flushes_avoided,
			 (1 << order) - min(flushed, 1U << order));
	memsec_keyid_model_access(page_to_pfn(page), 1 << order, keyid->id);
}

/**
 * keyid_page_carries() - Would a page come to a KeyID without a flush?
 * @keyid: the KeyID
 * @page: the page, allocated with __GFP_KEYID
 *
 * Context: Any.
 * Return: true when caches have no lines of it that came in by another KeyID.
 */
bool keyid_page_carries(const struct memsec_keyid *keyid, struct page *page)
{
	struct page_ext *page_ext = page_ext_get(page);
	u64 tag = *tag_of(page_ext) & ~TAG_UNPREPARED;

	page_ext_put(page_ext);

	return tag == tag_make(keyid) || tag_is_clean(tag);
}
