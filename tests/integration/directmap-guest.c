// SPDX-License-Identifier: GPL-2.0-only
/*
 * directmap: what is decided about private memory of guests, by a policy or without one, and that the
 * kernel's mapping is whole again when the policy says so.
 */

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "directmap.h"
#include "guest-faults.h"
#include "loader.h"
#include "sysfs.h"
#include "tap.h"

#define MIB (UINT64_C(1) << 20)
#define ENTRY (2 * MIB)

static void put_everything_back(Policy *p) {
        tap_is_errno(sysfs_wait("directmap/guest_pages", 0), 0, "all private pages are given up");
        directmap_put_back(p);
}

static void test_put_back(Policy *p, bool large) {
        uint64_t before_2m;
        Guest *g;

        tap_note("fixed, put back at once, backed by %s", large ? "2 MiB" : "4 KiB");
        put_everything_back(p);
        before_2m = directmap_counter("direct_map_2m");
        directmap_set(p, 8 * MIB, MEMSEC_NEVER);
        faults_set_backing(large);
        g = faults_new_guest();
        faults_run(g, REVERSE);
        faults_discard_some(g, large);
        tap_ok(directmap_counter("direct_map_2m") < before_2m, "entries are split");
        guest_destroy(g);
        faults_set_backing(false);
        put_everything_back(p);
        faults_check();
        tap_is(directmap_counter("direct_map_2m"), before_2m, "large entries map as much as before");
}

/* With nobody to ask, what a guest has in 2 MiB stays in entries of 2 MiB, until some of it is given up. */
static void test_nothing_attached(void) {
        uint64_t splits = directmap_counter("splits"), asked = directmap_counter("asked"), large, small;
        Guest *g;

        tap_note("no policy, a guest backed by 2 MiB");
        faults_set_backing(true);
        g = faults_new_guest();
        faults_run(g, IN_ORDER);
        if (sysfs_read("emulation/rmp/assigned_2m_pages", &large) < 0)
                tap_bail_out("no RMP");
        small = FAULTS_PAGES - large;
        tap_ok(small < FAULTS_PAGES, "it has entries of 2 MiB in the RMP, but for %" PRIu64 " pages", small);
        tap_ok(directmap_counter("splits") - splits <= small, "for which nothing is split");
        faults_check();
        faults_discard_some(g, true);
        guest_destroy(g);
        faults_set_backing(false);
        tap_is_errno(sysfs_wait("directmap/guest_pages", 0), 0, "all private pages are given up");
        faults_check();
        tap_is(directmap_counter("asked"), asked, "nobody is asked");
}

/* What is split ahead for a guest is not more than it can have. */
static void test_ahead(Policy *p) {
        uint64_t splits_ahead, asked, splits;
        Guest *g;

        tap_note("split ahead");
        put_everything_back(p);
        directmap_set(p, 1024 * MIB, MEMSEC_NEVER);
        splits_ahead = directmap_counter("splits_ahead");
        splits = directmap_counter("splits");
        asked = directmap_counter("asked");
        g = faults_new_guest();
        faults_run(g, IN_ORDER);
        splits_ahead = directmap_counter("splits_ahead") - splits_ahead;
        tap_note("%" PRIu64 " splits, %" PRIu64 " ahead, %" PRIu64 " questions",
                 directmap_counter("splits") - splits, splits_ahead, directmap_counter("asked") - asked);
        tap_ok(splits_ahead > 0, "entries are split ahead");
        tap_note("%" PRIu64 " are not needed", directmap_counter("unused_ranges"));
        tap_ok(directmap_counter("unused_ranges") <= FAULTS_SIZE / ENTRY, "not more than the guest can use");
        faults_check();
        guest_destroy(g);
        put_everything_back(p);
}

/* Tries a write of the host to every page: it must not fault but in private ones. */
static void test_host_writes(Policy *p) {
        uint64_t pages = 0, faults = 0, private;
        Guest *g = faults_new_guest();
        char text[32];
        int fd;

        tap_note("the host writes to all memory");
        directmap_set(p, 8 * MIB, 0);
        faults_run(g, RANDOM);
        (void) guest_discard(g, 0, FAULTS_SIZE / 2);
        private = directmap_counter("guest_pages");

        fd = open("/sys/kernel/memsec/emulation/rmp/host_write", O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                tap_bail_out("no checker");
        for (uint64_t pfn = 0; pfn < (UINT64_C(1) << 32) / GUEST_PAGE_SIZE; pfn++) {
                int n = snprintf(text, sizeof(text), "%" PRIu64, pfn);

                if (write(fd, text, n) == n)
                        pages++;
                else if (errno == EFAULT)
                        faults++;
                else if (errno == ERANGE && pfn * GUEST_PAGE_SIZE >= FAULTS_SIZE)
                        break;
        }
        (void) close(fd);
        tap_ok(pages > FAULTS_PAGES, "%" PRIu64 " pages can be written", pages);
        tap_is(faults, private, "the private ones cannot, and no others");
        guest_destroy(g);
        put_everything_back(p);
}

int main(void) {
        _policy_cleanup_ Policy *p = NULL;
        uint64_t clamped = directmap_counter("clamped");

        if (policy_alone() < 0)
                tap_bail_out("cannot begin");

        faults_begin();
        test_nothing_attached();
        if (policy_run("fixed", &p) < 0)
                tap_bail_out("cannot attach");
        test_put_back(p, false);
        test_put_back(p, true);
        test_ahead(p);
        test_host_writes(p);
        tap_is(directmap_counter("clamped"), clamped, "no answer was out of range");
        return tap_done();
}
