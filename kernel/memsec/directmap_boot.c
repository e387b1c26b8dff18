// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: the direct map in entries of 4 KiB from boot on.
 *
 * With memsec.directmap=4k on the command line nothing has to be split later
 * and nothing is put back. Instead the kernel needs more of the TLB for all it
 * does, and the tables take one page in 512.
 */
#define pr_fmt(fmt) "memsec: " fmt

#include <kunit/static_stub.h>
#include <linux/init.h>
#include <linux/memblock.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "directmap.h"
#include "internal.h"

static bool stays_split __ro_after_init;

static int __init directmap_setup(char *arg)
{
	if (arg && !strcmp(arg, "4k"))
		stays_split = true;
	else
		pr_err("memsec.directmap=%s on the command line is ignored, only memsec.directmap=4k is known\n",
		       arg ?: "");

	return 0;
}
early_param("memsec.directmap", directmap_setup);

/**
 * directmap_stays_split() - Does the command line want entries of 4 KiB?
 *
 * Context: Any.
 * Return: true when nothing that was split is to be put back.
 */
bool directmap_stays_split(void)
{
	KUNIT_STATIC_STUB_REDIRECT(directmap_stays_split);

	return stays_split;
}

/**
 * directmap_split_all() - Split all entries of a range but those of the kernel
 * @pfn: first page
 * @end: the page after the last
 *
 * Memory is asked for, not insisted on: where there is none, entries stay as
 * they are and are split when somebody needs it.
 *
 * Context: Process context, may sleep.
 */
void directmap_split_all(unsigned long pfn, unsigned long end)
{
	struct directmap_op op = { .split = true };

	for (; pfn < end; pfn = op.ahead_end) {
		op.pfn = pfn;
		op.end = pfn;
		op.ahead = pfn;
		op.ahead_end = min(pfn + directmap_max_chunk(), end);
		directmap_hold(&op);
		cond_resched();
	}
	directmap_count(&op);
}

static int __init directmap_boot(void)
{
	if (!directmap_stays_split())
		return 0;

	directmap_split_all(0, max_pfn);
	pr_info("direct map: %lu MiB in entries of 4 KiB, %lu MiB in larger ones\n",
		direct_map_bytes(PG_LEVEL_4K) / SZ_1M,
		(direct_map_bytes(PG_LEVEL_2M) +
		 direct_map_bytes(PG_LEVEL_1G)) / SZ_1M);

	return 0;
}
subsys_initcall(directmap_boot);
