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

/* FIELD1 and FIELD2 are whole journal fields, or NULL. */
static void log_send(int priority, const char *message, const char *field1, const char *field2) {
        if (stderr_is_journal())
                (void) sd_journal_send(
                                "MESSAGE=%s", message,
                                "PRIORITY=%i", priority,
                                field1 ? "%s" : NULL, field1,
                                field2 ? "%s" : NULL, field2,
                                NULL);
        else
                log_stderr(priority, message);
}

static char *format_message(const char *format, va_list ap) {
        char *message;

        return vasprintf(&message, format, ap) < 0 ? NULL : message;
}

void log_full(int priority, const char *format, ...) {
        _cleanup_free_ char *message = NULL;
        va_list ap;

        va_start(ap, format);
        message = format_message(format, ap);
        va_end(ap);

        log_send(priority, message ?: "Out of memory.", NULL, NULL);
}

void log_policy(int priority, const char *policy, const char *format, ...) {
        _cleanup_free_ char *message = NULL, *field = NULL;
        va_list ap;

        va_start(ap, format);
        message = format_message(format, ap);
        va_end(ap);

        (void) error_set(&field, 0, "MEMSEC_POLICY=%s", policy);
        log_send(priority, message ?: "Out of memory.", field, NULL);
}

void log_config_error(const PolicyError *error) {
        _cleanup_free_ char *message = NULL, *file = NULL, *line = NULL;
        PolicyErrors one = { .items = (PolicyError *) error, .n_items = 1 };

        (void) policy_errors_format(&one, &message);
        (void) error_set(&file, 0, "CONFIG_FILE=%s", error->file);
        (void) error_set(&line, 0, "CONFIG_LINE=%u", error->line);
        log_send(LOG_ERR, message ?: "Out of memory.", file, line);
}

void text_make_printable(char *text) {
        for (char *p = text; *p; p++)
                if (*p != '\n' && (*p < ' ' || *p > '~'))
                        *p = *p == '\t' ? ' ' : '?';
}

int error_set(char **ret, int error, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        *ret = format_message(format, ap);
        va_end(ap);

        return *ret ? error : -ENOMEM;
}
