/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <syslog.h>

#include "messages.h"
#include "policy.h"
#include "util.h"

/*
 * To the journal, with fields of its own, where standard error is the journal; else to standard error with
 * the "<N>" level prefix that every service manager understands.
 */

/* What a message is about, as fields of the journal. What is NULL or 0 is left out. */
typedef struct LogFields {
        const char *id;                 /* MESSAGE_ID=, one of messages.h */
        const char *policy;             /* MEMSEC_POLICY= */
        const char *old_policy;         /* MEMSEC_OLD_POLICY= */
        const char *holder;             /* MEMSEC_HOLDER=, the name of another program's policy */
        const char *programs;           /* MEMSEC_PROGRAMS=, the ids of its BPF programs */
        const char *unit;               /* MEMSEC_UNIT= */
        const char *key;                /* MEMSEC_KEY= */
        const char *value;              /* MEMSEC_VALUE= */
        const char *old_value;          /* MEMSEC_OLD_VALUE= */
        const char *signal;             /* MEMSEC_SIGNAL=, what a loop looks at */
        const char *caller_uid;         /* MEMSEC_CALLER_UID= */
        const char *file;               /* CONFIG_FILE=, with CONFIG_LINE= */
        unsigned line;
} LogFields;

void log_full(int priority, const LogFields *fields, const char *format, ...) _printf_(3, 4);

/* An error in a policy file, with its place. */
void log_config_error(const PolicyError *error);

#define log_error(...) log_full(LOG_ERR, NULL, __VA_ARGS__)
#define log_warning(...) log_full(LOG_WARNING, NULL, __VA_ARGS__)
#define log_notice(...) log_full(LOG_NOTICE, NULL, __VA_ARGS__)
#define log_info(...) log_full(LOG_INFO, NULL, __VA_ARGS__)

/* Replaces what is neither printable ASCII nor a newline, for a D-Bus string, which takes UTF-8 only. */
void text_make_printable(char *text);
