// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: when to flush all caches, so that KeyIDs and ASIDs can be taken again.
 */
#include "keyid.h"
