// SPDX-License-Identifier: GPL-2.0-only

#include <ctype.h>

#include "internal.h"
#include "util.h"

/* Bytes of a text that a message quotes. */
#define QUOTE_MAX 48

/* No known word is longer. */
#define WORD_MAX 64

/* Writes the first N bytes of TEXT, escaped, and returns where they end. */
static char *escape_into(char *out, const char *text, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (ascii_is_printable(text[i]))
                        *out++ = text[i];
                else
                        out += sprintf(out, "\\x%02x", (unsigned char) text[i]);

        *out = 0;
        return out;
}

char *text_escape(const char *text) {
        size_t n = strlen(text);
        char *out;

        out = malloc(n * strlen("\\xNN") + 1);
        if (!out)
                return NULL;

        escape_into(out, text, n);
        return out;
}

char *text_quote(const char *text) {
        char escaped[QUOTE_MAX * strlen("\\xNN") + 1];
        size_t n = strnlen(text, QUOTE_MAX + 1);
        bool cut = n > QUOTE_MAX;
        char *out;

        escape_into(escaped, text, cut ? QUOTE_MAX : n);
        return asprintf(&out, "'%s'%s", escaped, cut ? "..." : "") < 0 ? NULL : out;
}

char *text_enumerate(char *const *words, const char *conjunction) {
        size_t n = strv_length(words), size = 1;
        char *out, *end;

        for (size_t i = 0; i < n; i++)
                size += strlen(words[i]) + strlen(conjunction) + strlen("  ");

        out = end = malloc(size);
        if (!out)
                return NULL;

        *out = 0;
        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        end += i + 1 < n ? sprintf(end, ", ") : sprintf(end, " %s ", conjunction);
                end = stpcpy(end, words[i]);
        }

        return out;
}

static bool same_letter(char a, char b) {
        if (a == '-')
                a = '_';
        if (b == '-')
                b = '_';

        return tolower((unsigned char) a) == tolower((unsigned char) b);
}

static unsigned min_unsigned(unsigned a, unsigned b) {
        return a < b ? a : b;
}

unsigned word_distance(const char *a, size_t n_a, const char *b, size_t n_b) {
        /* The last three rows of the table of distances between the first i of A and the first j of B. */
        unsigned rows[3][WORD_MAX + 1];

        if (n_b > WORD_MAX)
                return UINT_MAX;

        for (size_t j = 0; j <= n_b; j++)
                rows[0][j] = j;

        for (size_t i = 1; i <= n_a; i++) {
                unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];

                row[0] = i;
                for (size_t j = 1; j <= n_b; j++) {
                        row[j] = min_unsigned(row[j - 1], above[j]) + 1;
                        row[j] = min_unsigned(row[j], above[j - 1] + !same_letter(a[i - 1], b[j - 1]));

                        if (i > 1 && j > 1 &&
                            same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                                row[j] = min_unsigned(row[j], above2[j - 2] + 1);
                }
        }

        return rows[n_a % 3][n_b];
}

bool word_distance_is_near(unsigned distance, size_t n) {
        return distance <= (n + 1) / 3;
}

const char *word_nearest(const char *word, char *const *words) {
        const char *nearest = NULL;
        unsigned best = UINT_MAX;

        for (; words && *words; words++) {
                unsigned d = word_distance(word, strlen(word), *words, strlen(*words));

                if (word_distance_is_near(d, strlen(*words)) && d < best) {
                        best = d;
                        nearest = *words;
                }
        }

        return nearest;
}
