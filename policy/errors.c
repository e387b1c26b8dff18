// SPDX-License-Identifier: GPL-2.0-only

#include <stdarg.h>

#include "internal.h"
#include "policy.h"
#include "util.h"

int policy_errors_add(PolicyErrors *errors, const char *file, unsigned line, unsigned column,
                      const char *format, ...) {
        _cleanup_free_ char *name = NULL, *message = NULL;
        PolicyError *longer;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&message, format, ap);
        va_end(ap);
        if (n < 0) {
                message = NULL;
                return -ENOMEM;
        }

        name = strdup(file);
        if (!name)
                return -ENOMEM;

        longer = reallocarray(errors->items, errors->n_items + 1, sizeof(PolicyError));
        if (!longer)
                return -ENOMEM;

        errors->items = longer;
        errors->items[errors->n_items++] = (PolicyError) {
                .file = TAKE_PTR(name),
                .line = line,
                .column = column,
                .message = TAKE_PTR(message),
        };
        return 0;
}

void policy_errors_done(PolicyErrors *errors) {
        for (size_t i = 0; i < errors->n_items; i++) {
                free(errors->items[i].file);
                free(errors->items[i].message);
        }

        free(errors->items);
        *errors = (PolicyErrors) {};
}

static int print_error(FILE *f, const PolicyError *error) {
        _cleanup_free_ char *file = NULL;

        file = text_escape(error->file);
        if (!file)
                return -ENOMEM;

        fputs(file, f);
        if (error->line > 0)
                fprintf(f, ":%u", error->line);
        if (error->column > 0)
                fprintf(f, ":%u", error->column);
        fprintf(f, ": %s", error->message);
        return 0;
}

int policy_errors_format(const PolicyErrors *errors, char **ret) {
        _cleanup_free_ char *text = NULL;
        _cleanup_fclose_ FILE *f = NULL;
        size_t size;
        int r;

        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;

        for (size_t i = 0; i < errors->n_items; i++) {
                if (i > 0)
                        fputc('\n', f);

                r = print_error(f, errors->items + i);
                if (r < 0)
                        return r;
        }

        if (fclose(TAKE_PTR(f)) != 0)
                return -ENOMEM;

        *ret = TAKE_PTR(text);
        return 0;
}
