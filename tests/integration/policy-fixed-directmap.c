// SPDX-License-Identifier: GPL-2.0-only
/*
 * fixed: where it splits the direct map ahead, and whether it leaves mappings of guest memory whole, follows
 * from its parameters, and a change of them has effect while it is attached.
 */

#include <fcntl.h>
#include <unistd.h>

#include "directmap.h"
#include "guest.h"
#include "loader.h"
#include "secretmem.h"
#include "sysfs.h"
#include "tap.h"

#define MIB (UINT64_C(1) << 20)
#define ENTRY (2 * MIB)
#define ENTRY_PAGES (ENTRY / SECRETMEM_PAGE_SIZE)
#define FILES 6
#define SECRET_SIZE (64 * MIB)
#define SECRET_PAGES (SECRET_SIZE / SECRETMEM_PAGE_SIZE)
#define GUEST_SIZE (32 * MIB)

/* An entry that the file has a page in, and whether another one was split ahead for the first of them. */
typedef struct Entry {
        uint64_t number;
        bool ahead;
} Entry;

/*
 * Entries that the file came to after another one, next to them, for which something was split ahead: those
 * above that one and those below, and how many of them had still to be split.
 */
typedef struct Neighbours {
        unsigned above, above_split, below, below_split;
} Neighbours;

/* The entry of the direct map that maps the page at P. */
static uint64_t entry_of(const uint8_t *p) {
        off_t offset = (uintptr_t) p / SECRETMEM_PAGE_SIZE * sizeof(uint64_t);
        uint64_t item;
        int fd;

        fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
        if (fd < 0 || pread(fd, &item, sizeof(item), offset) != sizeof(item))
                tap_bail_out("no page map");
        (void) close(fd);

        /* The page's number is in the lower 55 bits. */
        return (item & ((UINT64_C(1) << 55) - 1)) / ENTRY_PAGES;
}

static const Entry *entry_find(const Entry *entries, size_t n, uint64_t number) {
        for (const Entry *e = entries; e < entries + n; e++)
                if (e->number == number)
                        return e;

        return NULL;
}

static bool went_ahead(const Entry *entries, size_t n, uint64_t number) {
        const Entry *e = entry_find(entries, n, number);

        return e && e->ahead;
}

static void count_neighbour(Neighbours *n, bool above, bool below, bool split) {
        if (above && !below) {
                n->above++;
                n->above_split += split;
        } else if (below && !above) {
                n->below++;
                n->below_split += split;
        }
}

/* Writes to one page after the other and sees which of them have something split. */
static void take_pages(Secret *s, Neighbours *found) {
        static Entry entries[SECRET_PAGES];
        size_t n = 0;

        for (uint8_t *page = s->data; page < s->data + SECRET_SIZE; page += SECRETMEM_PAGE_SIZE) {
                uint64_t splits = directmap_counter("splits"), ahead = directmap_counter("splits_ahead");
                uint64_t entry;
                bool split;

                *page = 1;
                entry = entry_of(page);
                if (entry_find(entries, n, entry))
                        continue;

                split = directmap_counter("splits") > splits;
                count_neighbour(found, went_ahead(entries, n, entry - 1),
                                went_ahead(entries, n, entry + 1), split);
                entries[n++] = (Entry) {
                        .number = entry,
                        .ahead = directmap_counter("splits_ahead") > ahead,
                };
        }
}

static void use_secret_memory(Policy *p, uint64_t direction, Neighbours *found) {
        _secretmem_cleanup_ Secret s = {};

        directmap_put_back(p);
        directmap_set_params(p, &(struct memsec_directmap_params) {
                                        .ahead = ENTRY,
                                        .direction = direction,
                                        .collapse_after_ns = MEMSEC_NEVER,
                                });
        if (secretmem_map(SECRET_PAGES, &s) < 0)
                tap_bail_out("no memfd_secret");

        take_pages(&s, found);
}

/*
 * Where pages of a file are is up to the kernel, but in large blocks it goes up, so that one of some files
 * comes to the entry above.
 */
static Neighbours neighbours(Policy *p, uint64_t direction) {
        Neighbours found = {};

        for (size_t n = 0; n < FILES && found.above == 0; n++)
                use_secret_memory(p, direction, &found);

        tap_note("%u entries above those with one ahead, of which %u were split, and %u below, %u",
                 found.above, found.above_split, found.below, found.below_split);
        return found;
}

static void test_direction(Policy *p) {
        Neighbours found;

        tap_note("split ahead, up");
        found = neighbours(p, MEMSEC_DIRECTION_UP);
        tap_ok(found.above > 0, "a file goes on in the entry above");
        tap_is(found.above_split, 0, "which was split ahead");

        tap_note("split ahead, down");
        found = neighbours(p, MEMSEC_DIRECTION_DOWN);
        tap_ok(found.above_split > 0, "a file goes on in the entry above, which was not split");
        tap_is(found.below_split, 0, "those below were");

        tap_is_errno(sysfs_wait("directmap/secretmem_pages", 0), 0, "all pages come back");
        directmap_put_back(p);
}

/* What is split for a guest, and how many entries it has whole. */
static uint64_t splits_for_guest(uint64_t *ret_whole) {
        _guest_cleanup_ Guest *g = NULL;
        uint64_t splits = directmap_counter("splits"), pages;

        if (guest_create(GUEST_SIZE, 1, &g) < 0 || guest_prefault(g, 0, 0, GUEST_SIZE) < 0)
                tap_bail_out("no guest");
        if (sysfs_read("emulation/rmp/assigned_2m_pages", &pages) < 0)
                tap_bail_out("no model of the RMP");

        *ret_whole = pages / ENTRY_PAGES;
        return directmap_counter("splits") - splits;
}

static void test_whole(Policy *p) {
        static const struct memsec_directmap_params leave = { .whole = MEMSEC_WHOLE_LEAVE },
                                                    split = { .whole = MEMSEC_WHOLE_SPLIT };
        uint64_t overruled = directmap_counter("overruled"), whole, splits;

        tap_note("a guest backed by 2 MiB");
        if (guest_set_backing(true) < 0)
                tap_bail_out("cannot choose how memory is backed");

        directmap_set_params(p, &leave);
        splits = splits_for_guest(&whole);
        tap_ok(whole > GUEST_SIZE / ENTRY / 2, "it has %" PRIu64 " entries whole", whole);
        tap_ok(splits <= GUEST_SIZE / ENTRY - whole, "which stay: %" PRIu64 " splits", splits);
        directmap_put_back(p);

        directmap_set_params(p, &split);
        splits = splits_for_guest(&whole);
        /* Some were split before, for somebody else: the code of BPF programs is in the direct map too. */
        tap_ok(splits > whole / 2, "or do not: %" PRIu64 " splits for %" PRIu64, splits, whole);
        directmap_put_back(p);

        tap_is(directmap_counter("overruled"), overruled, "nothing is left that must not be");
        (void) guest_set_backing(false);
}

int main(void) {
        _policy_cleanup_ Policy *p = NULL;
        uint64_t clamped = directmap_counter("clamped");

        if (secretmem_allow() < 0 || policy_alone() < 0 || policy_run("fixed", &p) < 0)
                tap_bail_out("cannot begin");

        test_direction(p);
        test_whole(p);
        tap_is(directmap_counter("clamped"), clamped, "no answer was out of range");
        return tap_done();
}
