/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What a file says under the names of policies. */

#include "yaml-event.h"

/*
 * Keeps what is said below SECTION, the name of a policy, in the mapping whose first event was read last.
 * WRONG is what is wrong with it should there be no such policy.
 */
int read_own(Reader *reader, const yaml_event_t *section, const char *wrong);

/* When all of the file is read: complains about names that no policy has, in the order of lines. */
int check_own(Reader *reader);
