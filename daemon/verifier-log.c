// SPDX-License-Identifier: GPL-2.0-only

#include <ctype.h>

#include "util.h"
#include "verifier-log.h"

#define BEGIN "-- BEGIN PROG LOAD LOG --\n"
#define END "-- END PROG LOAD LOG --"

/* A line of the log, without its newline. */
typedef struct Line {
        const char *text;
        size_t size;
} Line;

/* Does LINE begin with decimal digits, and go on with TEXT? */
static bool is_numbered(const Line *line, const char *text) {
        size_t n = 0;

        while (n < line->size && isdigit((unsigned char) line->text[n]))
                n++;

        return n > 0 && line->size - n >= strlen(text) && memcmp(line->text + n, text, strlen(text)) == 0;
}

/* Of a register, "R1=ctx()" or "R2_w=0": what the verifier knows and not what it complains about. */
static bool is_state(const Line *line) {
        const Line rest = { line->text + 1, line->size - 1 };

        return line->size > 1 && *line->text == 'R' && (is_numbered(&rest, "=") || is_numbered(&rest, "_"));
}

/* What the verifier says of its way and not of the end of it. */
static bool is_step(const Line *line) {
        static const char *const beginnings[] = {
                "; ", "from ", "caller:", "callee:", "returning from ", "mark_precise", "func#",
                "processed ", "verification time ", "stack depth ", "safe", "Validating ",
        };

        for (size_t i = 0; i < ELEMENTSOF(beginnings); i++)
                if (strncmp(line->text, beginnings[i], strlen(beginnings[i])) == 0)
                        return true;

        return line->size == 0 || is_numbered(line, ": ") || is_state(line);
}

/* A line of the source is "; TEXT @ FILE:LINE". Takes it apart at the last " @ ". */
static bool split_source(const Line *line, Line *ret_source, Line *ret_place) {
        static const char separator[] = " @ ";
        size_t n = strlen(separator);

        if (line->size < 2 + n || memcmp(line->text, "; ", 2) != 0)
                return false;

        for (size_t i = line->size - n; i >= 2; i--)
                if (memcmp(line->text + i, separator, n) == 0) {
                        *ret_source = (Line) { line->text + 2, i - 2 };
                        *ret_place = (Line) { line->text + i + n, line->size - i - n };
                        return true;
                }

        return false;
}

/* The name in the last "prog 'NAME': " before END. */
static bool find_program(const char *text, const char *end, Line *ret) {
        static const char prefix[] = "prog '";
        const char *found = NULL, *quote;

        for (const char *p = text; (p = strstr(p, prefix)) && p < end; p += strlen(prefix))
                found = p + strlen(prefix);

        quote = found ? strchr(found, '\'') : NULL;
        if (!quote)
                return false;

        *ret = (Line) { found, quote - found };
        return true;
}

char *verifier_log_summary(const char *text) {
        Line program, reason = {}, source = {}, place = {};
        const char *begin = strstr(text, BEGIN), *end;
        char *summary;

        end = begin ? strstr(begin, END) : NULL;
        if (!end || !find_program(text, begin, &program))
                return NULL;

        for (const char *p = begin + strlen(BEGIN); p < end; p++) {
                const Line line = { p, strcspn(p, "\n") };

                p += line.size;
                if (!split_source(&line, &source, &place) && !is_step(&line))
                        reason = line;
        }

        if (!reason.text)
                return NULL;

        if (asprintf(&summary, "'%.*s': %.*s%s%.*s%s%.*s", (int) program.size, program.text,
                     (int) reason.size, reason.text, place.text ? "\n" : "", (int) place.size,
                     place.text ?: "", place.text ? ": " : "", (int) source.size, source.text ?: "") < 0)
                return NULL;

        return summary;
}
