/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec: tracepoints.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM memsec

#if !defined(_MM_MEMSEC_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _MM_MEMSEC_EVENTS_H

#include <linux/memsec.h>
#include <linux/memsec_keyid.h>
#include <linux/tracepoint.h>

#include "directmap.h"
#include "internal.h"

TRACE_DEFINE_ENUM(MEMSEC_DIRECTMAP_SECRETMEM);
TRACE_DEFINE_ENUM(MEMSEC_DIRECTMAP_GUEST);
TRACE_DEFINE_ENUM(MEMSEC_DIRECTMAP_XPFO);

#define show_directmap_kind(kind)					\
	__print_symbolic(kind,						\
			 { MEMSEC_DIRECTMAP_SECRETMEM, "secretmem" },	\
			 { MEMSEC_DIRECTMAP_GUEST, "guest" },		\
			 { MEMSEC_DIRECTMAP_XPFO, "xpfo" })

TRACE_DEFINE_ENUM(MEMSEC_TEARDOWN_SGX_ENCL);
TRACE_DEFINE_ENUM(MEMSEC_TEARDOWN_SGX_VEPC);

#define show_teardown_kind(kind)					\
	__print_symbolic(kind,						\
			 { MEMSEC_TEARDOWN_SGX_ENCL, "sgx_encl" },	\
			 { MEMSEC_TEARDOWN_SGX_VEPC, "sgx_vepc" })

DECLARE_EVENT_CLASS(memsec_policy,
		    TP_PROTO(const char *policy),
		    TP_ARGS(policy),
		    TP_STRUCT__entry(__string(policy, policy)),
		    TP_fast_assign(__assign_str(policy);),
		    TP_printk("policy=%s", __get_str(policy)));

DEFINE_EVENT(memsec_policy, memsec_attach,
	     TP_PROTO(const char *policy),
	     TP_ARGS(policy));

DEFINE_EVENT(memsec_policy, memsec_detach,
	     TP_PROTO(const char *policy),
	     TP_ARGS(policy));

/* Too many answers out of range: the policy is asked no more. */
DEFINE_EVENT(memsec_policy, memsec_fuse,
	     TP_PROTO(const char *policy),
	     TP_ARGS(policy));

TRACE_EVENT(memsec_update,
	    TP_PROTO(const char *policy, const char *old_policy),
	    TP_ARGS(policy, old_policy),
	    TP_STRUCT__entry(__string(policy, policy)
			     __string(old_policy, old_policy)),
	    TP_fast_assign(__assign_str(policy);
			   __assign_str(old_policy);),
	    TP_printk("policy=%s old_policy=%s",
		      __get_str(policy), __get_str(old_policy)));

TRACE_EVENT(memsec_clamp,
	    TP_PROTO(const char *policy, const char *mechanism, u64 answer,
		     u64 fallback),
	    TP_ARGS(policy, mechanism, answer, fallback),
	    TP_STRUCT__entry(__string(policy, policy)
			     __string(mechanism, mechanism)
			     __field(u64, answer)
			     __field(u64, fallback)),
	    TP_fast_assign(__assign_str(policy);
			   __assign_str(mechanism);
			   __entry->answer = answer;
			   __entry->fallback = fallback;),
	    TP_printk("policy=%s mechanism=%s answer=%#llx fallback=%#llx",
		      __get_str(policy), __get_str(mechanism),
		      __entry->answer, __entry->fallback));

TRACE_DEFINE_ENUM(MEMSEC_ASK_TEARDOWN);
TRACE_DEFINE_ENUM(MEMSEC_ASK_DIRECTMAP);
TRACE_DEFINE_ENUM(MEMSEC_ASK_DIRECTMAP_COLLAPSE);
TRACE_DEFINE_ENUM(MEMSEC_ASK_KEYID);
TRACE_DEFINE_ENUM(MEMSEC_ASK_KEYID_RECYCLE);
TRACE_DEFINE_ENUM(MEMSEC_ASK_XPFO);
TRACE_DEFINE_ENUM(MEMSEC_ASK_XPFO_POOL);

#define show_question(question)						\
	__print_symbolic(question,					\
			 { MEMSEC_ASK_TEARDOWN, "teardown" },		\
			 { MEMSEC_ASK_DIRECTMAP, "directmap" },		\
			 { MEMSEC_ASK_DIRECTMAP_COLLAPSE,		\
			   "directmap_collapse" },			\
			 { MEMSEC_ASK_KEYID, "keyid" },			\
			 { MEMSEC_ASK_KEYID_RECYCLE, "keyid_recycle" },	\
			 { MEMSEC_ASK_XPFO, "xpfo" },			\
			 { MEMSEC_ASK_XPFO_POOL, "xpfo_pool" })

/*
 * A question and its answer. @facts, of @size bytes, is the struct that goes with
 * the question; BPF programs can read it.
 */
TRACE_EVENT(memsec_decision,
	    TP_PROTO(const char *policy, u32 question, const void *facts,
		     u32 size, u64 answer, u64 used),
	    TP_ARGS(policy, question, facts, size, answer, used),
	    TP_STRUCT__entry(__string(policy, policy)
			     __field(u32, question)
			     __field(u64, answer)
			     __field(u64, used)
			     __array(char, rule, MEMSEC_RULE_LEN + 1)),
	    TP_fast_assign(__assign_str(policy);
			   __entry->question = question;
			   __entry->answer = answer;
			   __entry->used = used;
			   memsec_rule_text(question, facts, __entry->rule);),
	    TP_printk("policy=%s question=%s answer=%#llx used=%#llx rule=%s",
		      __get_str(policy), show_question(__entry->question),
		      __entry->answer, __entry->used, __entry->rule));

TRACE_EVENT(memsec_teardown_break,
	    TP_PROTO(const struct memsec_teardown *td, u64 held_ns, bool forced,
		     bool resched),
	    TP_ARGS(td, held_ns, forced, resched),
	    TP_STRUCT__entry(__field(u32, kind)
			     __field(u64, done)
			     __field(u64, total)
			     __field(u64, held_ns)
			     __field(bool, forced)
			     __field(bool, resched)),
	    TP_fast_assign(__entry->kind = td->kind;
			   __entry->done = td->done;
			   __entry->total = td->total;
			   __entry->held_ns = held_ns;
			   __entry->forced = forced;
			   __entry->resched = resched;),
	    TP_printk("kind=%s done=%llu total=%llu held_ns=%llu forced=%d resched=%d",
		      show_teardown_kind(__entry->kind), __entry->done,
		      __entry->total, __entry->held_ns, __entry->forced,
		      __entry->resched));

TRACE_EVENT(memsec_teardown,
	    TP_PROTO(const struct memsec_teardown *td, u64 elapsed_ns),
	    TP_ARGS(td, elapsed_ns),
	    TP_STRUCT__entry(__field(u32, kind)
			     __field(u32, questions)
			     __field(u64, pages)
			     __field(u64, breaks)
			     __field(u64, longest_ns)
			     __field(u64, elapsed_ns)
			     __field(u64, cgroup_id)),
	    TP_fast_assign(__entry->kind = td->kind;
			   __entry->questions = td->questions;
			   __entry->pages = td->done;
			   __entry->breaks = td->breaks;
			   __entry->longest_ns = td->longest_ns;
			   __entry->elapsed_ns = elapsed_ns;
			   __entry->cgroup_id = td->cgroup_id;),
	    TP_printk("kind=%s pages=%llu questions=%u breaks=%llu longest_hold_ns=%llu elapsed_ns=%llu cgroup=%llu",
		      show_teardown_kind(__entry->kind), __entry->pages,
		      __entry->questions, __entry->breaks,
		      __entry->longest_ns, __entry->elapsed_ns,
		      __entry->cgroup_id));

TRACE_EVENT(memsec_directmap_take,
	    TP_PROTO(const struct directmap_op *op, unsigned long pages, int ret),
	    TP_ARGS(op, pages, ret),
	    TP_STRUCT__entry(__field(u32, kind)
			     __field(unsigned long, pfn)
			     __field(unsigned long, pages)
			     __field(u32, splits)
			     __field(u32, splits_ahead)
			     __field(u32, lock_holds)
			     __field(u32, tlb_flushes)
			     __field(u64, cgroup_id)
			     __field(int, ret)),
	    TP_fast_assign(__entry->kind = op->kind;
			   __entry->pfn = op->pfn;
			   __entry->pages = pages;
			   __entry->splits = op->splits;
			   __entry->splits_ahead = op->splits_ahead;
			   __entry->lock_holds = op->lock_holds;
			   __entry->tlb_flushes = op->tlb_flushes;
			   __entry->cgroup_id = op->cgroup_id;
			   __entry->ret = ret;),
	    TP_printk("kind=%s pfn=%#lx pages=%lu splits=%u splits_ahead=%u lock_holds=%u tlb_flushes=%u cgroup=%llu ret=%d",
		      show_directmap_kind(__entry->kind), __entry->pfn,
		      __entry->pages, __entry->splits, __entry->splits_ahead,
		      __entry->lock_holds, __entry->tlb_flushes,
		      __entry->cgroup_id, __entry->ret));

TRACE_EVENT(memsec_directmap_collapse,
	    TP_PROTO(const struct directmap_pass *pass),
	    TP_ARGS(pass),
	    TP_STRUCT__entry(__field(u32, collapsed)
			     __field(u32, collapsed_1g)
			     __field(u32, refused)),
	    TP_fast_assign(__entry->collapsed = pass->collapsed;
			   __entry->collapsed_1g = pass->collapsed_1g;
			   __entry->refused = pass->refused;),
	    TP_printk("collapsed=%u collapsed_1g=%u refused=%u",
		      __entry->collapsed, __entry->collapsed_1g,
		      __entry->refused));

TRACE_DEFINE_ENUM(MEMSEC_KEYID_TME);
TRACE_DEFINE_ENUM(MEMSEC_KEYID_SEV);
TRACE_DEFINE_ENUM(MEMSEC_KEYID_SEV_ES);

#define show_keyid_kind(kind)						\
	__print_symbolic(kind,						\
			 { MEMSEC_KEYID_TME, "tme" },			\
			 { MEMSEC_KEYID_SEV, "sev" },			\
			 { MEMSEC_KEYID_SEV_ES, "sev_es" })

/* All caches were flushed. */
TRACE_EVENT(memsec_keyid_recycle,
	    TP_PROTO(enum memsec_keyid_kind kind, unsigned int recycled, u64 ns),
	    TP_ARGS(kind, recycled, ns),
	    TP_STRUCT__entry(__field(u32, kind)
			     __field(unsigned int, recycled)
			     __field(u64, ns)),
	    TP_fast_assign(__entry->kind = kind;
			   __entry->recycled = recycled;
			   __entry->ns = ns;),
	    TP_printk("kind=%s recycled=%u ns=%llu",
		      show_keyid_kind(__entry->kind), __entry->recycled,
		      __entry->ns));

TRACE_EVENT(memsec_keyid_state,
	    TP_PROTO(unsigned int keyid, const char *from, const char *to),
	    TP_ARGS(keyid, from, to),
	    TP_STRUCT__entry(__field(unsigned int, keyid)
			     __string(from, from)
			     __string(to, to)),
	    TP_fast_assign(__entry->keyid = keyid;
			   __assign_str(from);
			   __assign_str(to);),
	    TP_printk("keyid=%u from=%s to=%s", __entry->keyid,
		      __get_str(from), __get_str(to)));

/* A page was flushed of the lines that came in by a KeyID. */
TRACE_EVENT(memsec_keyid_flush,
	    TP_PROTO(unsigned long pfn, unsigned int keyid),
	    TP_ARGS(pfn, keyid),
	    TP_STRUCT__entry(__field(unsigned long, pfn)
			     __field(unsigned int, keyid)),
	    TP_fast_assign(__entry->pfn = pfn;
			   __entry->keyid = keyid;),
	    TP_printk("pfn=%#lx keyid=%u", __entry->pfn, __entry->keyid));

/* A pool got pages out of the direct map: @waited says that somebody waited for it. */
TRACE_EVENT(memsec_xpfo_refill,
	    TP_PROTO(int nid, int cpu, unsigned int pages, bool waited, int ret),
	    TP_ARGS(nid, cpu, pages, waited, ret),
	    TP_STRUCT__entry(__field(int, nid)
			     __field(int, cpu)
			     __field(unsigned int, pages)
			     __field(bool, waited)
			     __field(int, ret)),
	    TP_fast_assign(__entry->nid = nid;
			   __entry->cpu = cpu;
			   __entry->pages = pages;
			   __entry->waited = waited;
			   __entry->ret = ret;),
	    TP_printk("nid=%d cpu=%d pages=%u waited=%d ret=%d", __entry->nid,
		      __entry->cpu, __entry->pages, __entry->waited,
		      __entry->ret));

/* Pages went back into the direct map and to the page allocator. */
TRACE_EVENT(memsec_xpfo_return,
	    TP_PROTO(unsigned long pfn, unsigned long pages),
	    TP_ARGS(pfn, pages),
	    TP_STRUCT__entry(__field(unsigned long, pfn)
			     __field(unsigned long, pages)),
	    TP_fast_assign(__entry->pfn = pfn;
			   __entry->pages = pages;),
	    TP_printk("pfn=%#lx pages=%lu", __entry->pfn, __entry->pages));

/* Somebody whose memory is to be protected got some that cannot be. */
TRACE_EVENT(memsec_xpfo_unprotected,
	    TP_PROTO(unsigned long pages),
	    TP_ARGS(pages),
	    TP_STRUCT__entry(__field(unsigned long, pages)),
	    TP_fast_assign(__entry->pages = pages;),
	    TP_printk("pages=%lu", __entry->pages));

#endif /* _MM_MEMSEC_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE events

#include <trace/define_trace.h>
