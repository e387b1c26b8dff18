// SPDX-License-Identifier: GPL-2.0-only
/*
 * directmap: what a policy decides about the memory of memfd_secret(2), and that the kernel's mapping is
 * whole again when the policy says so.
 */

#include <unistd.h>

#include "directmap.h"
#include "loader.h"
#include "secretmem.h"
#include "sysfs.h"
#include "tap.h"

#define PAGES 3000
#define MIB (UINT64_C(1) << 20)
#define ENTRY_PAGES 512
#define FILES 6

typedef struct Counts {
        uint64_t requests, asked, splits, splits_1g, splits_ahead, collapses, lock_holds, tlb_flushes;
        uint64_t unused;        /* what is split and used by nobody */
} Counts;

static Counts counts_since(const Counts *before) {
        return (Counts) {
                .requests = directmap_counter("requests") - before->requests,
                .asked = directmap_counter("asked") - before->asked,
                .splits = directmap_counter("splits") - before->splits,
                .splits_1g = directmap_counter("splits_1g") - before->splits_1g,
                .splits_ahead = directmap_counter("splits_ahead") - before->splits_ahead,
                .collapses = directmap_counter("collapses") - before->collapses,
                .lock_holds = directmap_counter("lock_holds") - before->lock_holds,
                .tlb_flushes = directmap_counter("tlb_flushes") - before->tlb_flushes,
                .unused = directmap_counter("unused_ranges"),
        };
}

/* Takes pages and returns what that did, then gives them back. */
static Counts use_secret_memory(size_t n_pages) {
        _secretmem_cleanup_ Secret s = {};
        Counts before, during;

        if (secretmem_map(n_pages, &s) < 0)
                tap_bail_out("no memfd_secret");

        before = counts_since(&(Counts) {});
        secretmem_fill(&s);
        during = counts_since(&before);
        tap_ok(secretmem_is_intact(&s), "its pages hold what was written");
        tap_is(during.requests, n_pages, "each was taken once");
        tap_note("%" PRIu64 " splits, %" PRIu64 " of them ahead, for %" PRIu64 " requests: %" PRIu64
                 " lock holds, %" PRIu64 " TLB flushes, %" PRIu64 " questions", during.splits,
                 during.splits_ahead, during.requests, during.lock_holds, during.tlb_flushes, during.asked);
        return during;
}

static void test_no_policy(void) {
        uint64_t collapses = directmap_counter("collapses");
        Counts c;

        tap_note("no policy");
        c = use_secret_memory(PAGES);
        tap_is(c.asked, 0, "nobody is asked");
        tap_is(c.splits_ahead, 0, "nothing is split ahead");
        tap_is(c.tlb_flushes, PAGES, "a page costs a flush, whether something is split for it or not");
        tap_is_errno(sysfs_wait("directmap/secretmem_pages", 0), 0, "all pages come back");
        tap_is(directmap_counter("collapses"), collapses, "and the mapping stays as it is");
        tap_ok(directmap_counter("unused_ranges") > 0, "though nobody needs it so");
}

static void test_put_back(Policy *p) {
        uint64_t before_4k, before_2m;
        Counts before, after, c;

        tap_note("fixed, put back at once");
        directmap_put_back(p);
        before_4k = directmap_counter("direct_map_4k");
        before_2m = directmap_counter("direct_map_2m");
        before = counts_since(&(Counts) {});
        c = use_secret_memory(PAGES);
        tap_ok(c.asked > 0, "the policy is asked");
        tap_is(c.asked, c.splits - c.splits_1g, "once for each entry of 2 MiB that is split");
        tap_is_errno(sysfs_wait("directmap/secretmem_pages", 0), 0, "all pages come back");
        tap_is_errno(sysfs_wait("directmap/unused_ranges", 0), 0, "the mapping is put back together");
        after = counts_since(&before);
        /* Counted a moment after. */
        tap_is_errno(sysfs_wait("directmap/collapses", before.collapses + after.splits - after.splits_1g), 0,
                     "every entry that was split");
        tap_is(directmap_counter("direct_map_4k"), before_4k, "small entries map as much as before");
        tap_is(directmap_counter("direct_map_2m"), before_2m, "large entries map as much as before");
}

/* Where pages of a file are is up to the kernel: some entries may be split ahead for nothing. */
static void test_ahead(Policy *p) {
        uint64_t come_to = 0;

        tap_note("fixed, split ahead");
        for (size_t n = 0; n < FILES && come_to == 0; n++) {
                Counts c;

                directmap_put_back(p);
                directmap_set(p, 64 * MIB, MEMSEC_NEVER);
                c = use_secret_memory(PAGES);
                tap_ok(c.splits_ahead > 0, "entries are split ahead");
                tap_ok(c.unused <= PAGES / ENTRY_PAGES + 1, "no further than the file can go: %" PRIu64
                       " are not needed", c.unused);
                come_to = c.splits_ahead - c.unused;
        }
        tap_ok(come_to > 0, "and spare pages to come a split");
        tap_is_errno(sysfs_wait("directmap/secretmem_pages", 0), 0, "all pages come back");
        directmap_put_back(p);
}

/* What fits into an entry needs no other. */
static void test_small_file(Policy *p) {
        uint64_t splits_ahead = 0;

        tap_note("fixed, split ahead for small files");
        for (size_t n = 0; n < FILES; n++) {
                directmap_put_back(p);
                directmap_set(p, 64 * MIB, MEMSEC_NEVER);
                splits_ahead += use_secret_memory(4).splits_ahead;
        }
        directmap_put_back(p);
        /* Some may begin at the end of an entry. */
        tap_ok(splits_ahead < FILES, "a few pages of a file are no reason to split ahead");
}

/* What was left as it is for good, and for an hour. */
static void test_numbers_change(Policy *p) {
        static const uint64_t waits[] = { MEMSEC_NEVER, UINT64_C(3600) * 1000000000 };

        tap_note("fixed, told otherwise later");
        for (size_t i = 0; i < 2; i++) {
                directmap_put_back(p);
                directmap_set(p, 0, waits[i]);
                (void) use_secret_memory(PAGES);
                tap_is_errno(sysfs_wait("directmap/secretmem_pages", 0), 0, "all pages come back");
                directmap_wait_until_stays("asked");
                tap_ok(directmap_counter("unused_ranges") > 0, "the mapping stays as it is");
                directmap_put_back(p);
        }
}

int main(void) {
        _policy_cleanup_ Policy *p = NULL;
        uint64_t clamped = directmap_counter("clamped");

        if (secretmem_allow() < 0 || policy_alone() < 0)
                tap_bail_out("cannot begin");

        test_no_policy();
        if (policy_run("fixed", &p) < 0)
                tap_bail_out("cannot attach");
        test_put_back(p);
        test_ahead(p);
        test_small_file(p);
        test_numbers_change(p);
        tap_is(directmap_counter("clamped"), clamped, "no answer was out of range");
        return tap_done();
}
