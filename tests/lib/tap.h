/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * TAP from C: one line a check, and the plan at the end, so that a test that died is seen to have died.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned tap_n, tap_n_failed;

/* A line that is no result, for people. */
__attribute__((format(printf, 1, 2), unused)) static void tap_note(const char *format, ...) {
        va_list ap;

        fputs("# ", stdout);
        va_start(ap, format);
        vprintf(format, ap);
        va_end(ap);
        putchar('\n');
        fflush(stdout);
}

/* One check. Returns PASS. */
__attribute__((format(printf, 2, 3), unused)) static bool tap_ok(bool pass, const char *format, ...) {
        va_list ap;

        tap_n++;
        if (!pass)
                tap_n_failed++;

        printf("%sok %u - ", pass ? "" : "not ", tap_n);
        va_start(ap, format);
        vprintf(format, ap);
        va_end(ap);
        putchar('\n');
        fflush(stdout);
        return pass;
}

__attribute__((unused)) static bool tap_is(uint64_t got, uint64_t expected, const char *what) {
        if (tap_ok(got == expected, "%s", what))
                return true;

        tap_note("got %" PRIu64 ", expected %" PRIu64, got, expected);
        return false;
}

__attribute__((unused)) static bool tap_is_text(const char *got, const char *expected, const char *what) {
        if (tap_ok(strcmp(got, expected) == 0, "%s", what))
                return true;

        tap_note("got '%s', expected '%s'", got, expected);
        return false;
}

/* R is 0 or a negative errno. */
__attribute__((unused)) static bool tap_is_errno(int r, int expected, const char *what) {
        if (tap_ok(r == expected, "%s", what))
                return true;

        tap_note("got %d (%s), expected %d (%s)", r, strerror(-r), expected, strerror(-expected));
        return false;
}

/* Ends the test at once when it cannot go on. */
__attribute__((noreturn, unused)) static void tap_bail_out(const char *why) {
        printf("Bail out! %s\n", why);
        exit(EXIT_FAILURE);
}

/* The plan. Returns what main() has to return. */
__attribute__((unused)) static int tap_done(void) {
        printf("1..%u\n", tap_n);
        fflush(stdout);
        return tap_n_failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
