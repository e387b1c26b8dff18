/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec.bpf.h: everything a memsec policy needs.
 *
 * A policy is a BPF object with one struct memsec_ops in the section
 * ".struct_ops.link". The kernel asks its callbacks, memsecd gives it numbers.
 * Every answer is safe: one that is out of range is replaced by the kernel's
 * default and counted, and a policy that keeps giving such answers is detached.
 *
 *	#include "memsec.bpf.h"
 *
 *	SEC("struct_ops/teardown")
 *	__u64 BPF_PROG(mine_teardown, const struct memsec_teardown_ctx *t)
 *	{
 *		if (t->need_resched) {
 *			MEMSEC_RULE(t, "busy");
 *			return 1;
 *		}
 *		MEMSEC_RULE(t, "calm");
 *		return 1024;
 *	}
 *
 *	SEC(".struct_ops.link")
 *	struct memsec_ops mine = {
 *		.name = "mine",
 *		.abi = MEMSEC_ABI,
 *		.teardown = (void *)mine_teardown,
 *	};
 *
 * Rules:
 *  - memsec_ops.h describes the questions, the facts and the answers. All
 *    callbacks are optional.
 *  - Decisions are not sleepable: SEC("struct_ops/teardown"). init and exit may
 *    sleep: SEC("struct_ops.s/init").
 *  - The facts are the kernel's own memory and read-only, but for the rule.
 *    Every access is relocated (CO-RE), so an object runs on kernels that have
 *    more of them; ask bpf_core_field_exists() for one that an older kernel
 *    lacks.
 *  - In BPF_PROG() an argument cannot be called "ctx".
 *
 * Build, with libbpf's headers and nothing generated:
 *
 *	clang -O2 -g -target bpf -mcpu=v3 -I/usr/include/memsec \
 *		-idirafter /usr/include/$(gcc -print-multiarch) \
 *		-c mine.bpf.c -o mine.bpf.o
 *
 * and name the object's absolute path in the "policy:" line of
 * /etc/memsec/policy.yaml. "memsecctl new-policy DIR" writes a whole one with a
 * Makefile.
 */
#ifndef MEMSEC_BPF_H
#define MEMSEC_BPF_H

#include <linux/bpf.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

/* The kernel's types: accesses are relocated to where the running kernel has them. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#include "memsec_ops.h"
#pragma clang attribute pop

/* Shared with memsecd only, so never relocated. */
#include "memsec_params.h"

/* The kernel loads no program that calls its GPL-only helpers under another licence. */
char memsec_license[] SEC("license") = "GPL";

/*
 * Says by which rule a policy answers, for who wants to know why: a name of at
 * most MEMSEC_RULE_LEN letters, which the tracepoint memsec_decision shows. The
 * last one counts.
 */
#define MEMSEC_RULE(of_facts, name)						\
	do {									\
		const union {							\
			char text[MEMSEC_RULE_LEN];				\
			__u64 words[MEMSEC_RULE_WORDS];				\
		} rule_ = { name };						\
		_Static_assert(sizeof(name) <= MEMSEC_RULE_LEN + 1,		\
			       "more than MEMSEC_RULE_LEN letters");		\
		__u64 *to_ = (__u64 *)&(of_facts)->rule;			\
										\
		to_[0] = rule_.words[0];					\
		to_[1] = rule_.words[1];					\
	} while (0)

/*
 * The numbers of the policy files, by the cgroup id of whom they are for;
 * MEMSEC_EVERYONE is for all others. memsecd changes numbers by replacing the
 * inner map, so what memsec_params_of() returns is of one version.
 */
struct memsec_params_slot {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memsec_params);
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MEMSEC_PARAMS_MAX);
	__type(key, __u64);
	__array(values, struct memsec_params_slot);
} memsec_params SEC(".maps");

/* For when nobody has set any, as when another loader than memsecd attaches the policy. */
const struct memsec_params memsec_params_default = {
	.teardown = {
		.batch = MEMSEC_TEARDOWN_DEFAULT_BATCH,
		.max_hold_ns = MEMSEC_TEARDOWN_DEFAULT_MAX_HOLD_NS,
	},
	.directmap = {
		.ahead = MEMSEC_DIRECTMAP_DEFAULT_AHEAD,
		.direction = MEMSEC_DIRECTMAP_DEFAULT_DIRECTION,
		.whole = MEMSEC_DIRECTMAP_DEFAULT_WHOLE,
		.collapse_after_ns = MEMSEC_DIRECTMAP_DEFAULT_COLLAPSE_NS,
	},
	.keyid = {
		.flush = MEMSEC_KEYID_DEFAULT_FLUSH,
		.search = MEMSEC_KEYID_DEFAULT_SEARCH,
		.cache = MEMSEC_KEYID_DEFAULT_CACHE,
		.recycle_at = MEMSEC_KEYID_DEFAULT_RECYCLE_AT,
		.recycle_idle_ns = MEMSEC_KEYID_DEFAULT_RECYCLE_IDLE_NS,
	},
	.xpfo = {
		.protect = MEMSEC_XPFO_DEFAULT_PROTECT,
		.batch = MEMSEC_XPFO_DEFAULT_PAGES,
		.pool = MEMSEC_XPFO_DEFAULT_POOL,
	},
};

/*
 * The numbers for the owner CGROUP_ID: its unit's, or else everyone's, or else
 * the defaults; never NULL. Call it once a decision and keep the pointer: two
 * calls may see two versions.
 */
static __always_inline const struct memsec_params *memsec_params_of(__u64 cgroup_id)
{
	const struct memsec_params *params = NULL;
	__u64 everyone = MEMSEC_EVERYONE;
	__u32 first = 0;
	void *slot;

	slot = bpf_map_lookup_elem(&memsec_params, &cgroup_id);
	if (!slot)
		slot = bpf_map_lookup_elem(&memsec_params, &everyone);
	if (slot)
		params = bpf_map_lookup_elem(slot, &first);
	return params ? params : &memsec_params_default;
}

/*
 * Tunables of a policy's own: members of a struct, all __u64, each described by
 * what stands behind its name. memsecd finds them in the object, and policy
 * files, D-Bus and memsecctl have them by the name of its file: "calm_batch" of
 * mine.bpf.o is mine.calm_batch.
 *
 *	struct mine_tunables {
 *		__u64 calm_batch MEMSEC_TUNABLE(pages, 1, 65536, "Pages torn down at once");
 *		__u64 pause MEMSEC_TUNABLE(ns, 0ns, 10ms, "How long to wait") MEMSEC_OR_NEVER;
 *		__u64 mood MEMSEC_CHOICE("calm,hasty", "How it feels");
 *	};
 *
 *	MEMSEC_OWN(struct mine_tunables, .calm_batch = 4096, .pause = 2000000, .mood = 0);
 *
 *	mine = memsec_own_of(memsec_params_of(t->cgroup_id));
 *
 * The unit is ns for a time, bytes for a size, % for a percentage, and else
 * what is counted. The range, both ends included, is written as in a policy
 * file: 10ms, 64KiB. A choice is the number of a word, from 0.
 */
#define MEMSEC_TUNABLE(unit, min, max, help)					\
	MEMSEC_TAG("unit:" #unit) MEMSEC_TAG("min:" #min) MEMSEC_TAG("max:" #max) MEMSEC_TAG("help:" help)
/* The value may also be MEMSEC_NEVER, "never" in a policy file. */
#define MEMSEC_OR_NEVER			MEMSEC_TAG("never")
#define MEMSEC_CHOICE(words, help)	MEMSEC_TAG("choices:" words) MEMSEC_TAG("help:" help)
#define MEMSEC_TAG(text)		__attribute__((btf_decl_tag(text)))

/* Once in a policy that has any: which they are, and what they are when nobody has set them. */
#define MEMSEC_OWN(type, ...)							\
	_Static_assert(sizeof(type) <= sizeof(((struct memsec_params *)0)->own),	\
		       "more tunables than MEMSEC_OWN_MAX");			\
	const type memsec_own SEC(MEMSEC_OWN_SECTION) = { __VA_ARGS__ };		\
	static __always_inline const type *					\
	memsec_own_of(const struct memsec_params *params)			\
	{									\
		return params == &memsec_params_default ? &memsec_own : (const type *)params->own; \
	}									\
	_Static_assert(1, "")

#endif /* MEMSEC_BPF_H */
