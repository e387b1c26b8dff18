/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec: what the files of the keyid mechanism share.
 */
#ifndef _MM_MEMSEC_KEYID_H
#define _MM_MEMSEC_KEYID_H

#include <linux/memsec_keyid.h>
#include <linux/percpu-refcount.h>
#include <linux/pgtable.h>
#include <linux/spinlock_types.h>
#include <linux/workqueue.h>

#include "internal.h"

/* The most KeyIDs beside 0: what the 15 bits can tell apart that TME-MK has. */
#define KEYID_MAX	0x7fff

/**
 * enum keyid_state - where in its life a KeyID is
 * @KEYID_FREE: can be taken
 * @KEYID_USED: somebody's
 * @KEYID_RETIRING: given up, but pages still carry it
 * @KEYID_DIRTY: no page carries it, but caches may still have lines of it
 * @KEYID_STATES: number of states
 */
enum keyid_state {
	KEYID_FREE,
	KEYID_USED,
	KEYID_RETIRING,
	KEYID_DIRTY,
	KEYID_STATES,
};

/* What a CPU keeps are pages, and as many as a PMD maps. */
#define KEYID_ORDERS	2

/**
 * struct keyid_cpu - what a CPU has of a KeyID
 * @lock: protects @free and @cached
 * @free: pages that are kept for the KeyID, by order
 * @cached: how many pages that are
 * @left: requests until the next question
 * @seq: which policy, or which of its numbers, @answer is of
 * @answer: what the policy said last
 * @allocated: pages that were allocated since then
 * @freed: pages that were freed
 * @flushed: pages that were flushed
 * @total: pages that were allocated since the KeyID was taken
 * @pages: pages that carry the KeyID and are in use; only the sum over all CPUs
 *	means something
 */
struct keyid_cpu {
	spinlock_t lock; /* of @free and @cached */
	struct list_head free[KEYID_ORDERS];
	unsigned long cached;
	unsigned int left;
	unsigned int seq;
	u64 answer;
	unsigned long allocated;
	unsigned long freed;
	unsigned long flushed;
	unsigned long total;
	long pages;
};

/**
 * struct memsec_keyid - a KeyID
 * @id: its number
 * @state: where in its life it is; under the lock of keyid_life.c
 * @recycled: it is being recycled; under that lock too
 * @flush: pages that are freed are flushed at once, what the policy said last
 * @generation: how often it was recycled; pages that carry an older one are
 *	clean
 * @cgroup_id: of who took it
 * @pages: pages that carry it and are in use, and one for who took it
 * @cpus: what each CPU has of it
 */
struct memsec_keyid {
	unsigned int id;
	enum keyid_state state;
	bool recycled;
	bool flush;
	u64 generation;
	u64 cgroup_id;
	struct percpu_ref pages;
	struct keyid_cpu __percpu *cpus;
};

/**
 * struct keyid_backend - what has the keys
 * @count: how many KeyIDs there are beside 0; 0 when it is not there
 * @start: called once when there are any; may sleep; 0 or a negative errno
 * @program: give a KeyID a new random key; may sleep; 0 or a negative errno
 * @flush: flush all lines of a page that came in by a KeyID; any context
 * @flush_all: flush the caches of all CPUs; may sleep
 * @clear: fill a page with zeros by a KeyID; any context
 * @copy: read or write a part of a page by a KeyID; any context
 * @prot: what maps pages to user space by a KeyID
 */
struct keyid_backend {
	unsigned int (*count)(void);
	int (*start)(void);
	int (*program)(unsigned int id);
	void (*flush)(unsigned long pfn, unsigned int id);
	void (*flush_all)(void);
	void (*clear)(unsigned long pfn, unsigned int id);
	void (*copy)(unsigned long pfn, unsigned int id, unsigned int offset,
		     void *buf, unsigned int len, bool write);
	pgprot_t (*prot)(pgprot_t prot, unsigned int id);
};

/* keyid_model.c, keyid_tme.c */
extern const struct keyid_backend keyid_model;
extern const struct keyid_backend keyid_tme;

/* keyid.c */
extern struct memsec_counter keyid_allocated;
extern struct memsec_counter keyid_freed;
extern struct memsec_counter keyid_flushes;
extern struct memsec_counter keyid_flushes_avoided;
extern struct memsec_counter keyid_cache_hits;
extern struct memsec_counter keyid_searched;
extern struct memsec_counter keyid_search_hits;
extern struct memsec_counter keyid_exhausted;
extern struct memsec_counter keyid_recycles;
extern struct memsec_counter keyid_recycled;
extern struct memsec_counter keyid_recycle_ns;

void keyid_ask(struct memsec_keyid *keyid, struct keyid_cpu *c);
void keyid_forget_answer(struct memsec_keyid *keyid, struct keyid_cpu *c);
unsigned int keyid_policy_seq(void);
unsigned int keyid_search_depth(const struct keyid_cpu *c);
unsigned long keyid_max_cached(const struct keyid_cpu *c);

/* keyid_life.c */
extern const struct keyid_backend *keyid_backend;

struct memsec_keyid *keyid_of(unsigned int id);
unsigned int keyid_in_state(enum keyid_state state);
unsigned int keyid_total(void);
long keyid_count_pages(const struct memsec_keyid *keyid);
unsigned long keyid_count_cached(const struct memsec_keyid *keyid);

/* keyid_page.c */
void keyid_page_prepare(struct memsec_keyid *keyid, struct page *page,
			unsigned int order, gfp_t gfp);
bool keyid_page_carries(const struct memsec_keyid *keyid, struct page *page);

/* keyid_cache.c */
/* Tests wait for it. */
extern struct work_struct keyid_trim_work;

void keyid_cache_policy_changed(void);
void keyid_cache_init(struct memsec_keyid *keyid);
void keyid_cache_drain(struct memsec_keyid *keyid);
int keyid_cache_start(void);

/* keyid_recycle.c */
/* Tests wait for it. */
extern struct delayed_work keyid_recycle_work;

void keyid_recycle_call_worker(unsigned long delay);
void keyid_recycle_policy_changed(void);
u64 keyid_recycle_look(void);
u64 keyid_last_recycling_ns(void);
void keyid_count_asids(u64 *free, u64 *dirty);

#endif /* _MM_MEMSEC_KEYID_H */
