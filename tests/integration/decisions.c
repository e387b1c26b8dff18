// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decisions from outside: a policy is asked about facts that user space brings and names its rule, and who
 * polls "asked" is told of the next answer.
 */

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "cases.h"
#include "enclave.h"
#include "loader.h"
#include "sysfs.h"
#include "tap.h"

#define MS UINT64_C(1000000)

static const struct memsec_params params = {
        .teardown = { .batch = 1000, .max_hold_ns = 2 * MS },
        .directmap = { .ahead = 64 << 20, .collapse_after_ns = 500 * MS },
        .keyid = { .cache = 1 << 20, .search = 8, .recycle_at = 4, .recycle_idle_ns = 300 * MS },
        .xpfo = { .protect = MEMSEC_PROTECT_ANONYMOUS, .batch = 64, .pool = 8 << 20 },
};

/* What fixed makes of facts. */
static const PolicyCase cases[] = {
        POLICY_CASE(teardown, "first", 16, .total = 5000),
        POLICY_CASE(teardown, "batch", 1000, .page_ns = 1000),
        POLICY_CASE(teardown, "max_hold", 500, .page_ns = 4000),
        POLICY_CASE(teardown, "max_hold", 1, .page_ns = 4 * MS),
        POLICY_CASE(directmap, "ahead", 16384, .kind = MEMSEC_DIRECTMAP_SECRETMEM, .pages = 1),
        POLICY_CASE(directmap, "ahead", 16384 | MEMSEC_DIRECTMAP_DOWN, .pages = 1, .direction = -1),
        POLICY_CASE(directmap, "left", 0, .pages = 1, .total = 100),
        POLICY_CASE(directmap, "whole", MEMSEC_DIRECTMAP_LEAVE, .kind = MEMSEC_DIRECTMAP_GUEST,
                    .pages = 512),
        POLICY_CASE(directmap_collapse, "collapse.after", 200 * MS, .unused_ns = 300 * MS),
        POLICY_CASE(directmap_collapse, "collapse.after", MEMSEC_COLLAPSE_NOW, .unused_ns = 500 * MS),
        POLICY_CASE(keyid, "cache", 128 | UINT64_C(8) << MEMSEC_KEYID_SEARCH_SHIFT, .cpus = 2),
        POLICY_CASE(keyid_recycle, "recycle.at", MEMSEC_RECYCLE_NOW, .dirty = 4),
        POLICY_CASE(keyid_recycle, "recycle.idle", 200 * MS, .dirty = 3, .idle_ns = 100 * MS),
        POLICY_CASE(xpfo, "protect", MEMSEC_XPFO_ANON, .cgroup_id = 1),
        POLICY_CASE(xpfo_pool, "pool", 64 | UINT64_C(512) << MEMSEC_XPFO_POOL_SHIFT, .cpus = 4),
};

/* What is asked for a look is not what the kernel does. */
static void test_nothing_counted(const Policy *p) {
        char rule[MEMSEC_RULE_LEN + 1];
        uint64_t asked, after, answer;

        if (sysfs_read("teardown/asked", &asked) < 0 ||
            policy_ask(p, cases[0].question, cases[0].facts, cases[0].size, &answer, rule) < 0 ||
            sysfs_read("teardown/asked", &after) < 0)
                tap_bail_out("no counter");

        tap_is(after, asked, "such questions are not counted");
}

/* Programs know what kernels of another time have. */
static void test_sizes(const Policy *p) {
        struct {
                struct memsec_teardown_ctx known;
                uint64_t unknown;
        } facts = { .known = { .page_ns = 4000 } };
        char rule[MEMSEC_RULE_LEN + 1];
        uint64_t answer;
        int r;

        r = policy_ask(p, "teardown", &facts, sizeof(facts), &answer, rule);
        tap_is_errno(r, 0, "more facts than there are, all 0");
        tap_is(answer, 500, "are as if they were not there");

        facts.unknown = 1;
        r = policy_ask(p, "teardown", &facts, sizeof(facts), &answer, rule);
        tap_is_errno(r, -E2BIG, "facts that the kernel does not have are refused");

        r = policy_ask(p, "teardown", NULL, 0, &answer, rule);
        tap_is_errno(r, 0, "no facts at all");
        tap_is(answer, 16, "are all 0");
}

static void test_refused(void) {
        const struct memsec_teardown_ctx facts = { .rule = { ~UINT64_C(0), ~UINT64_C(0) } };
        _policy_cleanup_ Policy *p = NULL;
        char rule[MEMSEC_RULE_LEN + 1];
        uint64_t answer;
        int r;

        if (!tap_is_errno(policy_load("counting", &p), 0, "a policy with an init()"))
                return;

        r = policy_ask(p, "init", NULL, 0, &answer, rule);
        tap_is_errno(r, -EOPNOTSUPP, "which is no question");
        tap_is(policy_calls(p, POLICY_INIT), 0, "and is not called");

        r = policy_ask(p, "teardown", &facts, sizeof(facts), &answer, rule);
        tap_is_errno(r, 0, "a question before it is attached");
        tap_is(policy_calls(p, POLICY_TEARDOWN), 1, "reaches it");
        tap_is_text(rule, "", "it names no rule, whatever was in the place of one");
}

static bool has_news(int fd, int timeout_ms) {
        struct pollfd pfd = { .fd = fd, .events = POLLPRI };

        return poll(&pfd, 1, timeout_ms) == 1 && pfd.revents & POLLPRI;
}

static void read_all(int fd) {
        char text[32];

        if (pread(fd, text, sizeof(text), 0) <= 0)
                tap_bail_out("cannot read");
}

static void release_enclave(void) {
        Enclave *e;

        if (enclave_build(100, 1, &e) < 0)
                tap_bail_out("no enclave");

        enclave_free(e);
}

static void test_poll(void) {
        int asked, keyid;

        asked = open("/sys/kernel/memsec/teardown/asked", O_RDONLY | O_CLOEXEC);
        keyid = open("/sys/kernel/memsec/keyid/asked", O_RDONLY | O_CLOEXEC);
        if (asked < 0 || keyid < 0)
                tap_bail_out("no counters");

        for (int i = 0; i < 2; i++) {
                read_all(asked);
                read_all(keyid);
                tap_ok(!has_news(asked, 0), "who has read sees nothing while nothing is asked");
                release_enclave();
                tap_ok(has_news(asked, 10000), "and is told of the next answer");
                tap_ok(!has_news(keyid, 0), "the other mechanisms have nothing to tell");
        }

        (void) close(asked);
        (void) close(keyid);
}

int main(void) {
        _policy_cleanup_ Policy *p = NULL;

        if (policy_alone() < 0 || policy_load("fixed", &p) < 0 ||
            policy_set_params(p, MEMSEC_EVERYONE, &params) < 0)
                tap_bail_out("no policy");

        POLICY_CHECK_CASES(p, cases);
        test_nothing_counted(p);
        test_sizes(p);
        test_refused();

        if (tap_is_errno(policy_attach(p), 0, "the same policy is attached")) {
                POLICY_CHECK_CASES(p, cases);
                test_poll();
        }

        return tap_done();
}
