/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec: decisions of confidential-memory code, made by a policy.
 *
 * The in-kernel API for code that asks. See include/linux/memsec_ops.h for
 * what a policy is asked.
 */
#ifndef _LINUX_MEMSEC_H
#define _LINUX_MEMSEC_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/memsec_ops.h>

/**
 * struct memsec_pool - where torn-down pages go back to
 * @free: free pages, kept by the pool's owner
 * @total: all pages; constant after boot
 */
struct memsec_pool {
	const atomic_long_t *free;
	unsigned long total;
};

/**
 * struct memsec_teardown - one teardown in progress, on its caller's stack
 * @left: pages until the next break
 *
 * The other members belong to mm/memsec/teardown.c.
 */
struct memsec_teardown {
	u64 left;
	/* ... */
};

#endif /* _LINUX_MEMSEC_H */
