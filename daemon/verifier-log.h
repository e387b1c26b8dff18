/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What of libbpf's messages in TEXT says why the kernel's verifier refused a program: which one, why, and at
 * which line of its source:
 *
 *	'mine_teardown': R1 invalid mem access 'scalar'
 *	mine.bpf.c:21: return *(int *)t->total;
 *
 * To be freed. NULL when there is no log of the verifier in it, or no memory.
 */
char *verifier_log_summary(const char *text);
