/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What a policy makes of facts: a row each.
 */

#include "loader.h"
#include "tap.h"

typedef struct PolicyCase {
        const char *question, *rule;
        uint64_t answer;
        const void *facts;
        size_t size;
} PolicyCase;

/* QUESTION(.fact = 1, ...) is to be answered with ANSWER by RULE. */
#define POLICY_CASE(question, rule, answer, ...)                                                        \
        { #question, rule, answer, &(const struct memsec_##question##_ctx) { __VA_ARGS__ },             \
          sizeof(struct memsec_##question##_ctx) }

__attribute__((unused)) static void policy_check_cases(const Policy *p, const PolicyCase *cases, size_t n) {
        char rule[MEMSEC_RULE_LEN + 1];
        uint64_t answer;
        int r;

        for (const PolicyCase *c = cases; c < cases + n; c++) {
                r = policy_ask(p, c->question, c->facts, c->size, &answer, rule);
                if (!tap_is_errno(r, 0, c->question))
                        continue;

                tap_is(answer, c->answer, "the answer is as it should be");
                tap_is_text(rule, c->rule, "and the rule");
        }
}

#define POLICY_CHECK_CASES(p, cases) policy_check_cases(p, cases, sizeof(cases) / sizeof((cases)[0]))
