/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Policies attached by a test itself, so that it sees every errno. Functions that can fail return a negative
 * errno and say nothing: failing is what many tests are about.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

#include "memsec_ops.h"
#include "memsec_params.h"

typedef struct Policy Policy;

/* What bpf/hostile/calls.h counts, in its order. */
typedef enum PolicyCallback {
        POLICY_INIT,
        POLICY_EXIT,
        POLICY_TEARDOWN,
        _POLICY_CALLBACK_MAX,
} PolicyCallback;

/* Stop memsecd, which would hold the policy, and wait until none is attached. */
int policy_alone(void);

/*
 * Load NAME.bpf.o, one of memsec's policies or of the tests'. *ret is NULL on failure, and policy_log() is
 * what libbpf and the verifier said.
 */
int policy_load(const char *name, Policy **ret);
const char *policy_log(void);

int policy_attach(Policy *p);

/* Put NEXT in the place of RUNNING, whose link NEXT has from then on. */
int policy_update(Policy *running, Policy *next);

/* Detach if attached. What it counted can still be read. */
void policy_detach(Policy *p);

/* Detach, unload and free. NULL is fine. */
Policy *policy_free(Policy *p);

/* policy_load() and policy_attach(). */
int policy_run(const char *name, Policy **ret);

/* Whether the kernel detached the policy, waiting for it up to TIMEOUT_MS. */
bool policy_was_dropped(const Policy *p, int timeout_ms);

/* The numbers of CGROUP_ID, 0 for everyone, as memsecd hands them over. */
int policy_set_params(Policy *p, uint64_t cgroup_id, const struct memsec_params *params);

/*
 * What P, attached or not, answers to QUESTION, a callback's name, when it gets FACTS of SIZE bytes. RULE is
 * the rule that it names. FACTS stay as they are. -ENOENT when it has no such callback.
 */
int policy_ask(const Policy *p, const char *question, const void *facts, size_t size, uint64_t *answer,
               char rule[static MEMSEC_RULE_LEN + 1]);

/* How often CALLBACK was called, for policies that count. */
uint64_t policy_calls(const Policy *p, PolicyCallback callback);

static inline void policy_freep(Policy **p) {
        policy_free(*p);
}

#define _policy_cleanup_ __attribute__((cleanup(policy_freep)))
