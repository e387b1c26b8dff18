/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <syslog.h>

#include "policy.h"
#include "util.h"

/*
 * To the journal, with fields of its own, where standard error is the journal; else to standard error with
 * the "<N>" level prefix that every service manager understands.
 */

void log_full(int priority, const char *format, ...) _printf_(2, 3);

/* With the name of the policy in MEMSEC_POLICY=. */
void log_policy(int priority, const char *policy, const char *format, ...) _printf_(3, 4);

/* An error in a policy file, with its place in CONFIG_FILE= and CONFIG_LINE=. */
void log_config_error(const PolicyError *error);

#define log_error(...) log_full(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_full(LOG_WARNING, __VA_ARGS__)
#define log_notice(...) log_full(LOG_NOTICE, __VA_ARGS__)
#define log_info(...) log_full(LOG_INFO, __VA_ARGS__)

/* Replaces what is neither printable ASCII nor a newline, for a D-Bus string, which takes UTF-8 only. */
void text_make_printable(char *text);

/* Puts a message, to be freed, into *ret and returns ERROR itself; or -ENOMEM. */
int error_set(char **ret, int error, const char *format, ...) _printf_(3, 4);
