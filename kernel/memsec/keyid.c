// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: memory under a KeyID, and when what it left in caches is flushed.
 */
#include "keyid.h"

MEMSEC_COUNTER(keyid, asked);
MEMSEC_COUNTER(keyid, clamped);
MEMSEC_COUNTER_SHARED(keyid, recycles);
MEMSEC_COUNTER_SHARED(keyid, recycled);
MEMSEC_COUNTER_SHARED(keyid, recycle_ns);

static struct attribute *keyid_attrs[] = {
	&keyid_asked.attr.attr,
	&keyid_clamped.attr.attr,
	&keyid_recycles.attr.attr,
	&keyid_recycled.attr.attr,
	&keyid_recycle_ns.attr.attr,
	NULL,
};

static void keyid_policy_changed(void)
{
	keyid_recycle_policy_changed();
}

struct memsec_mechanism memsec_keyid_mechanism = {
	.group = {
		.name = "keyid",
		.attrs = keyid_attrs,
	},
	.asked = &keyid_asked,
	.clamped = &keyid_clamped,
	.policy_changed = keyid_policy_changed,
};
