// SPDX-License-Identifier: GPL-2.0-only

#include <stdarg.h>

#include <bpf/libbpf.h>

#include "libbpf-log.h"
#include "log.h"
#include "verifier-log.h"

/* The verifier explains every instruction; the reason is at the end. */
#define JOURNAL_LINES 200U
#define ERROR_LINES 8U

/* libbpf's print function has no argument of ours. */
static struct {
        FILE *stream;
        char *text;
        size_t size;
} collected;

static int collect(enum libbpf_print_level level, const char *format, va_list ap) {
        if (level != LIBBPF_WARN || !collected.stream)
                return 0;

        return vfprintf(collected.stream, format, ap);
}

void libbpf_log_begin(void) {
        (void) libbpf_set_print(collect);
        collected.stream = open_memstream(&collected.text, &collected.size);
}

/* Where the last N lines of TEXT begin. */
static char *last_lines(char *text, unsigned n) {
        char *p = text + strlen(text);

        /* The newline that ends the last line begins none. */
        if (p > text && p[-1] == '\n')
                *--p = '\0';

        while (p > text) {
                if (p[-1] == '\n' && --n == 0)
                        break;
                p--;
        }

        return p;
}

char *libbpf_log_end(bool *ret_summary) {
        _cleanup_free_ char *text = NULL;
        char *summary;
        char *tail;

        *ret_summary = false;
        if (!collected.stream)
                return NULL;

        (void) fclose(collected.stream);
        collected.stream = NULL;
        text = TAKE_PTR(collected.text);
        if (!text || !*text)
                return NULL;

        text_make_printable(text);
        summary = verifier_log_summary(text);
        tail = last_lines(text, JOURNAL_LINES);
        log_error("%s", tail);
        *ret_summary = summary;
        return summary ?: strdup(last_lines(tail, ERROR_LINES));
}
