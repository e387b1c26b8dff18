// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include "log.h"

/* systemd says in $JOURNAL_STREAM what it connected; standard error may have been redirected since. */
static bool stderr_is_journal(void) {
        static int cached = -1;
        const char *stream;
        uintmax_t dev, ino;
        struct stat st;

        if (cached >= 0)
                return cached;

        stream = getenv("JOURNAL_STREAM");
        cached = stream && sscanf(stream, "%ju:%ju", &dev, &ino) == 2 && fstat(STDERR_FILENO, &st) >= 0 &&
                st.st_dev == dev && st.st_ino == ino;
        return cached;
}

/* The prefix holds for one line. */
static void log_stderr(int priority, const char *message) {
        const char *line = message;

        do {
                size_t n = strcspn(line, "\n");

                fprintf(stderr, "<%d>%.*s\n", priority, (int) n, line);
                line += n;
        } while (*line++ && *line);
}

/* All fields as "NAME=VALUE". Returns 0 or -ENOMEM. */
static int format_fields(int priority, const char *message, const LogFields *fields, char ***ret) {
        const struct {
                const char *name;
                const char *value;
        } texts[] = {
                { "MESSAGE_ID",        fields->id         },
                { "MEMSEC_POLICY",     fields->policy     },
                { "MEMSEC_OLD_POLICY", fields->old_policy },
                { "MEMSEC_HOLDER",     fields->holder     },
                { "MEMSEC_PROGRAMS",   fields->programs   },
                { "MEMSEC_UNIT",       fields->unit       },
                { "MEMSEC_KEY",        fields->key        },
                { "MEMSEC_VALUE",      fields->value      },
                { "MEMSEC_OLD_VALUE",  fields->old_value  },
                { "MEMSEC_SIGNAL",     fields->signal     },
                { "MEMSEC_CALLER_UID", fields->caller_uid },
                { "CONFIG_FILE",       fields->file       },
        };
        int r;

        r = strv_extendf(ret, "MESSAGE=%s", message);
        if (r >= 0)
                r = strv_extendf(ret, "PRIORITY=%d", priority);
        if (r >= 0 && fields->file)
                r = strv_extendf(ret, "CONFIG_LINE=%u", fields->line);

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(texts); i++)
                if (texts[i].value)
                        r = strv_extendf(ret, "%s=%s", texts[i].name, texts[i].value);

        return r;
}

static void log_journal(int priority, const char *message, const LogFields *fields) {
        _cleanup_strv_free_ char **texts = NULL;
        _cleanup_free_ struct iovec *iov = NULL;
        size_t n;

        /* Without memory there is at least what fitted. */
        (void) format_fields(priority, message, fields, &texts);

        n = strv_length(texts);
        iov = calloc(n + 1, sizeof(struct iovec));
        if (!iov)
                return;

        for (size_t i = 0; i < n; i++)
                iov[i] = (struct iovec) { .iov_base = texts[i], .iov_len = strlen(texts[i]) };

        (void) sd_journal_sendv(iov, n);
}

static void log_send(int priority, const char *message, const LogFields *fields) {
        static const LogFields none = {};

        if (stderr_is_journal())
                log_journal(priority, message, fields ?: &none);
        else
                log_stderr(priority, message);
}

static char *format_message(const char *format, va_list ap) {
        char *message;

        return vasprintf(&message, format, ap) < 0 ? NULL : message;
}

void log_full(int priority, const LogFields *fields, const char *format, ...) {
        _cleanup_free_ char *message = NULL;
        va_list ap;

        va_start(ap, format);
        message = format_message(format, ap);
        va_end(ap);

        log_send(priority, message ?: "Out of memory.", fields);
}

void log_config_error(const PolicyError *error) {
        PolicyErrors one = { .items = (PolicyError *) error, .n_items = 1 };
        _cleanup_free_ char *message = NULL;

        (void) policy_errors_format(&one, &message);
        log_send(LOG_ERR, message ?: "Out of memory.", &(LogFields) {
                .id = MESSAGE_INVALID_FILE,
                .file = error->file,
                .line = error->line,
        });
}

void text_make_printable(char *text) {
        for (char *p = text; *p; p++)
                if (*p != '\n' && (*p < ' ' || *p > '~'))
                        *p = *p == '\t' ? ' ' : '?';
}
