/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "util.h"

/* Collect what libbpf, and through it the verifier, has to say about one object. */
void libbpf_log_begin(void);

/*
 * Write what was collected to the journal and return its last lines, which hold the reason when something
 * failed. NULL when there is nothing or no memory. To be freed.
 */
char *libbpf_log_end(void);
