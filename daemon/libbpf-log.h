/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "util.h"

/* Collect what libbpf, and through it the verifier, has to say about one object. */
void libbpf_log_begin(void);

/*
 * Write what was collected to the journal and return what of it is the reason when something failed: the
 * summary of the verifier's log if there is one, or the last lines. NULL when there is nothing or no memory.
 * To be freed.
 */
char *libbpf_log_end(bool *ret_summary);
