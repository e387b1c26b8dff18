/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec: what the files of the keyid mechanism share.
 */
#ifndef _MM_MEMSEC_KEYID_H
#define _MM_MEMSEC_KEYID_H

#include <linux/memsec_keyid.h>

#include "internal.h"

/* keyid.c */
extern struct memsec_counter keyid_recycles;
extern struct memsec_counter keyid_recycled;
extern struct memsec_counter keyid_recycle_ns;

/* keyid_recycle.c */
void keyid_recycle_policy_changed(void);
u64 keyid_last_recycle_ns(void);
void keyid_count_asids(u64 *free, u64 *dirty);

#endif /* _MM_MEMSEC_KEYID_H */
