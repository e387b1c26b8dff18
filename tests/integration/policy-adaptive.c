// SPDX-License-Identifier: GPL-2.0-only
/*
 * adaptive: each of its rules, in a scenario that needs it, and those at its edges.
 */

#include "cases.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define S (1000 * MS)
#define MIB_PAGES UINT64_C(256)
#define GIB_PAGES (1024 * MIB_PAGES)

/* The numbers of which adaptive takes some. The others would show if it took them. */
static const struct memsec_params shipped = {
        .teardown = { .batch = 77, .max_hold_ns = 2 * MS },
        .directmap = { .ahead = 7 << 20, .collapse_after_ns = 777 * MS },
        .keyid = { .cache = 7 << 20, .search = 7, .recycle_at = 1, .recycle_idle_ns = 0 },
        .xpfo = { .protect = MEMSEC_PROTECT_ANONYMOUS, .batch = 7, .pool = 7 << 20 },
};

/* An enclave of which a page takes 10 us. */
#define TEARDOWN(rule, answer, ...)                                                                     \
        POLICY_CASE(teardown, rule, answer, .page_ns = 10 * US, .max_hold_ns = 4 * MS,                  \
                    .pool_total = 16000, __VA_ARGS__)

/* A guest of 4 GiB. */
#define GUEST(rule, answer, ...)                                                                        \
        POLICY_CASE(directmap, rule, answer, .kind = MEMSEC_DIRECTMAP_GUEST, .pages = 1,                \
                    .total = 4 * GIB_PAGES, __VA_ARGS__)

#define SECRETMEM(rule, answer, ...)                                                                    \
        POLICY_CASE(directmap, rule, answer, .kind = MEMSEC_DIRECTMAP_SECRETMEM, .pages = 1, __VA_ARGS__)

#define COLLAPSE(rule, answer, ...) POLICY_CASE(directmap_collapse, rule, answer, __VA_ARGS__)

#define KEYID(rule, cache, search, ...)                                                                 \
        POLICY_CASE(keyid, rule, (cache) | UINT64_C(search) << MEMSEC_KEYID_SEARCH_SHIFT, .cpus = 2,    \
                    __VA_ARGS__)

/* The last time all caches were flushed it took 10 ms. */
#define RECYCLE(rule, answer, ...)                                                                      \
        POLICY_CASE(keyid_recycle, rule, answer, .total = 15, .last_ns = 10 * MS, __VA_ARGS__)

/* A machine of 4 GiB with 2 CPUs, of which 2 GiB are free. */
#define POOL(rule, batch, keep, ...)                                                                    \
        POLICY_CASE(xpfo_pool, rule, (batch) | UINT64_C(keep) << MEMSEC_XPFO_POOL_SHIFT, .cpus = 2,     \
                    .free = 2 * GIB_PAGES, .total = 4 * GIB_PAGES, __VA_ARGS__)

static const PolicyCase cases[] = {
        POLICY_CASE(teardown, "first", 16, .pool_total = 16000),
        TEARDOWN("scarce", 200, .pool_free = 999),
        TEARDOWN("scarce", 200, .pool_free = 0, .need_resched = 1),
        TEARDOWN("busy", 25, .pool_free = 1000, .need_resched = 1),
        TEARDOWN("calm", 100, .pool_free = 1000),
        POLICY_CASE(teardown, "calm", 50, .page_ns = 10 * US, .max_hold_ns = 500 * US),
        POLICY_CASE(teardown, "calm", 1, .page_ns = 10 * MS, .max_hold_ns = 4 * MS),
        POLICY_CASE(teardown, "scarce", MEMSEC_TEARDOWN_MAX_BATCH, .page_ns = 1, .max_hold_ns = 4 * MS,
                    .pool_total = 16000),

        POLICY_CASE(directmap, "whole", MEMSEC_DIRECTMAP_LEAVE, .kind = MEMSEC_DIRECTMAP_GUEST, .pfn = 1024,
                    .pages = 512, .total = GIB_PAGES),
        POLICY_CASE(directmap, "pools", MEMSEC_DIRECTMAP_EXACT, .kind = MEMSEC_DIRECTMAP_XPFO, .pages = 512,
                    .done = 4096),
        GUEST("begins", 64 * MIB_PAGES, .done = 0),
        GUEST("begins", 64 * MIB_PAGES | MEMSEC_DIRECTMAP_DOWN, .direction = -1),
        GUEST("grows", 256 * MIB_PAGES, .done = 256 * MIB_PAGES, .direction = 1),
        GUEST("grows", GIB_PAGES, .done = 2 * GIB_PAGES),
        GUEST("grows", GIB_PAGES / 4, .done = GIB_PAGES, .ahead = GIB_PAGES * 3 / 4),
        GUEST("enough", MEMSEC_DIRECTMAP_EXACT, .done = GIB_PAGES, .ahead = GIB_PAGES),
        GUEST("ends", 512, .done = 4 * GIB_PAGES - 1024),
        GUEST("ends", MEMSEC_DIRECTMAP_EXACT, .done = 4 * GIB_PAGES - 1),
        SECRETMEM("grows", MEMSEC_DIRECTMAP_EXACT, .done = 0),
        SECRETMEM("grows", 3, .done = 3),
        SECRETMEM("grows", GIB_PAGES, .done = 2 * GIB_PAGES),

        COLLAPSE("many", 2 * S, .unused_ranges = 512),
        COLLAPSE("many", MEMSEC_COLLAPSE_NOW, .unused_ranges = 512, .unused_ns = 2 * S),
        COLLAPSE("few", 2 * S, .unused_ranges = 511),
        COLLAPSE("few", 28 * S, .unused_ranges = 1, .unused_ns = 2 * S),
        COLLAPSE("few", MEMSEC_COLLAPSE_NOW, .unused_ranges = 1, .unused_ns = 30 * S),

        KEYID("match", 0, 0, .allocated = 64),
        KEYID("match", 40, 0, .allocated = 64, .freed = 40, .flushed = 3),
        KEYID("match", 300, 0, .freed = 10, .cached = 300),
        KEYID("mismatch", 128, 32, .allocated = 64, .freed = 5, .flushed = 4),
        KEYID("mismatch", 400, 32, .allocated = 64, .cached = 200, .flushed = 64),
        KEYID("mismatch", 4096, 32, .allocated = 64000, .flushed = 64000),

        RECYCLE("price", 900 * MS, .dirty = 9, .dirty_ns = 100 * MS),
        RECYCLE("scarce", MEMSEC_RECYCLE_NOW, .free = 2, .dirty = 3, .dirty_ns = S),
        RECYCLE("idle", MEMSEC_RECYCLE_NOW, .free = 9, .dirty = 1, .dirty_ns = S, .idle_ns = 10 * S),
        RECYCLE("wait", 7 * S, .free = 3, .dirty = 3, .dirty_ns = S, .idle_ns = 3 * S),

        POLICY_CASE(xpfo, "protect", MEMSEC_XPFO_ANON, .cgroup_id = 1),

        POOL("begins", 64, 256, .wanted = 1),
        POOL("waits", 512, 2000, .wanted = 1000, .waits = 1),
        POOL("waits", 512, 512, .waits = 1, .elapsed_ns = S),
        POOL("demand", 512, 5000, .wanted = 500, .elapsed_ns = 10 * MS),
        POOL("demand", 64, 256, .wanted = 500, .elapsed_ns = S),
        POOL("demand", 512, 32768, .wanted = 500000, .elapsed_ns = 10 * MS),
        POOL("idle", 64, 150, .pages = 300, .freed = 300, .elapsed_ns = 10 * MS),
        POLICY_CASE(xpfo_pool, "memory", MEMSEC_XPFO_DEFAULT_BATCH, .cpus = 2, .wanted = 1000, .waits = 9,
                    .free = 1000, .total = GIB_PAGES),
};

/* What an operator wants for another reason than speed. */
static const struct memsec_params careful = {
        .teardown = { .max_hold_ns = 100 * US },
        .directmap = { .whole = MEMSEC_WHOLE_SPLIT },
        .keyid = { .flush = MEMSEC_FLUSH_ALWAYS },
        .xpfo = { .protect = MEMSEC_PROTECT_ALL },
};

static const PolicyCase careful_cases[] = {
        TEARDOWN("scarce", 10, .pool_free = 0),
        TEARDOWN("calm", 10, .pool_free = 16000),
        POLICY_CASE(directmap, "begins", 64 * MIB_PAGES, .kind = MEMSEC_DIRECTMAP_GUEST, .pages = 512,
                    .total = GIB_PAGES),
        POLICY_CASE(keyid, "flush", MEMSEC_KEYID_FLUSH, .allocated = 64, .cached = 64),
        POLICY_CASE(xpfo, "protect", MEMSEC_XPFO_ALL, .cgroup_id = 1),
};

int main(void) {
        _policy_cleanup_ Policy *p = NULL;

        if (policy_alone() < 0 || policy_load("adaptive", &p) < 0 ||
            policy_set_params(p, MEMSEC_EVERYONE, &shipped) < 0)
                tap_bail_out("no policy");

        POLICY_CHECK_CASES(p, cases);

        if (policy_set_params(p, MEMSEC_EVERYONE, &careful) < 0)
                tap_bail_out("cannot set parameters");

        POLICY_CHECK_CASES(p, careful_cases);
        return tap_done();
}
