// SPDX-License-Identifier: GPL-2.0-only
/*
 * fixed: what is kept for a KeyID, when it is flushed and when KeyIDs are recycled follows from its
 * parameters, and a change of them has effect while it is attached.
 */

#include <sched.h>
#include <unistd.h>

#include "cgroup.h"
#include "keyid.h"
#include "loader.h"
#include "sysfs.h"
#include "tap.h"

#define MIB (UINT64_C(1) << 20)
#define PAGES 64
#define SECOND UINT64_C(1000000000)
#define HOUR (3600 * SECOND)

static const struct memsec_keyid_params nothing = { .recycle_idle_ns = MEMSEC_NEVER };
static const struct memsec_keyid_params always = {
        .flush = MEMSEC_FLUSH_ALWAYS,
        .recycle_idle_ns = MEMSEC_NEVER,
};

static void set_params_of(Policy *p, uint64_t cgroup_id, const struct memsec_keyid_params *keyid) {
        const struct memsec_params params = {
                .teardown = {
                        .batch = MEMSEC_TEARDOWN_DEFAULT_BATCH,
                        .max_hold_ns = MEMSEC_TEARDOWN_DEFAULT_MAX_HOLD_NS,
                },
                .directmap.collapse_after_ns = MEMSEC_NEVER,
                .keyid = *keyid,
        };

        if (policy_set_params(p, cgroup_id, &params) < 0)
                tap_bail_out("cannot set parameters");
}

static void set_params(Policy *p, const struct memsec_keyid_params *keyid) {
        set_params_of(p, MEMSEC_EVERYONE, keyid);
}

/* Each CPU keeps pages of its own. */
static void stay_on_one_cpu(void) {
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET(0, &set);
        if (sched_setaffinity(0, sizeof(set), &set) < 0)
                tap_bail_out("cannot stay on a CPU");
}

/* All pages go, and all come anew. */
static void use_again(Keyid *k) {
        if (keyid_discard(k->fd, 0, k->n_pages * PAGES_SIZE) < 0)
                tap_bail_out("cannot discard");
        pages_fill(k->data, k->n_pages);
}

static void test_cache(Policy *p) {
        _keyid_cleanup_ Keyid k = {};
        uint64_t hits;

        tap_note("what is kept");
        set_params(p, &nothing);
        if (keyid_map(PAGES, &k) < 0)
                tap_bail_out("no KeyID");
        pages_fill(k.data, PAGES);
        hits = keyid_counter("cache_hits");
        use_again(&k);
        tap_is(keyid_counter("cache_hits"), hits, "nothing, as long as nobody wants it");

        set_params(p, &(struct memsec_keyid_params) { .cache = 8 * MIB, .recycle_idle_ns = MEMSEC_NEVER });
        use_again(&k);
        tap_ok(keyid_counter("cache_hits") >= hits + PAGES / 2, "what was freed, and given out again");

        set_params(p, &nothing);
        use_again(&k);
        tap_is(keyid_counter("cached_pages"), 0, "and nothing again");
}

/* How much is flushed when memory is freed. */
static uint64_t flushed_when_freed(void) {
        _keyid_cleanup_ Keyid k = {};
        uint64_t flushes;

        if (keyid_map(PAGES, &k) < 0)
                tap_bail_out("no KeyID");
        pages_fill(k.data, PAGES);
        flushes = keyid_counter("flushes");
        if (keyid_discard(k.fd, 0, PAGES * PAGES_SIZE) < 0)
                tap_bail_out("cannot discard");

        return keyid_counter("flushes") - flushes;
}

static void test_flush(Policy *p) {
        tap_note("when it is flushed");
        set_params(p, &always);
        tap_ok(flushed_when_freed() >= PAGES, "always: when it is freed");
        set_params(p, &nothing);
        tap_ok(flushed_when_freed() < PAGES, "or not, as long as nobody else gets it");
}

/* The last test: what was said of the unit goes before everyone's from then on. */
static void test_unit(Policy *p) {
        uint64_t cgroup = cgroup_own();

        tap_note("what is said of a unit");
        set_params_of(p, cgroup + 1, &always);
        tap_ok(flushed_when_freed() < PAGES, "another's says nothing");
        set_params_of(p, cgroup, &always);
        tap_ok(flushed_when_freed() >= PAGES, "its own does");
        set_params(p, &always);
        set_params_of(p, cgroup, &nothing);
        tap_ok(flushed_when_freed() < PAGES, "and goes before everyone's");
}

/* What one KeyID has left is not what another looks for. */
static uint64_t searched_for_another(void) {
        uint64_t searched = keyid_counter("searched");
        _keyid_cleanup_ Keyid k = {};

        if (keyid_map(PAGES, &k) < 0)
                tap_bail_out("no KeyID");
        pages_fill(k.data, PAGES);
        return keyid_counter("searched") - searched;
}

static void test_search(Policy *p) {
        tap_note("how hard to look");
        set_params(p, &nothing);
        tap_is(searched_for_another(), 0, "not at all");
        set_params(p, &(struct memsec_keyid_params) { .search = 8, .recycle_idle_ns = MEMSEC_NEVER });
        tap_ok(searched_for_another() > 0, "at some pages");
}

static void give_up(unsigned n) {
        int fds[8];

        for (unsigned i = 0; i < n; i++) {
                fds[i] = keyid_open();
                if (fds[i] < 0)
                        tap_bail_out("no KeyID");
        }
        for (unsigned i = 0; i < n; i++)
                (void) close(fds[i]);
}

static void recycle_all(Policy *p) {
        set_params(p, &(struct memsec_keyid_params) { .recycle_idle_ns = 0 });
        if (sysfs_wait("keyid/keyids_free", keyid_counter("keyids")) < 0)
                tap_bail_out("KeyIDs are not recycled");
}

static void test_recycle(Policy *p) {
        tap_note("when KeyIDs are recycled");
        recycle_all(p);
        set_params(p, &nothing);
        give_up(3);
        tap_is_errno(sysfs_wait("keyid/keyids_dirty", 3), 0, "three are dirty, and stay so");

        set_params(p, &(struct memsec_keyid_params) { .recycle_at = 4, .recycle_idle_ns = MEMSEC_NEVER });
        (void) usleep(300000);
        tap_is(keyid_counter("keyids_dirty"), 3, "they are fewer than four");
        set_params(p, &(struct memsec_keyid_params) { .recycle_at = 3, .recycle_idle_ns = MEMSEC_NEVER });
        tap_is_errno(sysfs_wait("keyid/keyids_dirty", 0), 0, "but three");

        set_params(p, &(struct memsec_keyid_params) { .recycle_idle_ns = HOUR });
        give_up(1);
        tap_is_errno(sysfs_wait("keyid/keyids_dirty", 1), 0, "another is");
        (void) usleep(300000);
        tap_is(keyid_counter("keyids_dirty"), 1, "for an hour");
        set_params(p, &(struct memsec_keyid_params) { .recycle_idle_ns = SECOND / 10 });
        tap_is_errno(sysfs_wait("keyid/keyids_dirty", 0), 0, "or a moment");
        tap_is(keyid_counter("keyids_free"), keyid_counter("keyids"), "and then all can be taken");
}

int main(void) {
        _policy_cleanup_ Policy *p = NULL;
        uint64_t clamped = keyid_counter("clamped"), violations = keyid_violations();

        if (policy_alone() < 0 || policy_run("fixed", &p) < 0)
                tap_bail_out("cannot begin");

        stay_on_one_cpu();
        test_cache(p);
        test_flush(p);
        test_search(p);
        test_recycle(p);
        test_unit(p);
        tap_is(keyid_counter("clamped"), clamped, "no answer was out of range");
        tap_is(keyid_violations(), violations, "hardware would have corrupted nothing");
        return tap_done();
}
