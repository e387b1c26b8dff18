// SPDX-License-Identifier: GPL-2.0-only

/* Values: text to number and back, and what is said about text that is no value. */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "internal.h"
#include "policy.h"
#include "util.h"

/* One of each type; the table need not have them all. */
static const KeySpec count = { .type = KEY_COUNT, .unit = "pages", .min = 1, .max = 1048576 };
static const KeySpec bare = { .type = KEY_COUNT, .max = UINT64_MAX };
static const KeySpec one = { .type = KEY_COUNT, .min = 1, .max = 1 };
static const KeySpec duration = { .type = KEY_DURATION, .min = 50000, .max = 60000000000 };
static const KeySpec delay = { .type = KEY_DURATION, .max = 60000000000, .never = true };
static const KeySpec size = { .type = KEY_SIZE, .min = 4096, .max = UINT64_C(1) << 40 };
static const KeySpec size_from_0 = { .type = KEY_SIZE, .max = UINT64_C(1) << 30 };
static const char *const words[] = { "follow", "up", "down", NULL };
static const KeySpec choice = { .type = KEY_CHOICE, .choices = words, .max = 2 };
static const KeySpec percent = { .type = KEY_PERCENT, .max = 100 };

#define DURATION "expected a duration from 50us to 60s, in ns, us, ms or s, found "
#define CHOICE "expected follow, up or down, found "
#define COUNT "expected a number of pages from 1 to 1048576, found "

static const struct Good {
        const KeySpec *spec;
        const char *text;
        uint64_t value;
        const char *formatted;
} good[] = {
        { &count, "1", 1, "1" },
        { &count, "4096", 4096, "4096" },
        { &count, "1048576", 1048576, "1048576" },
        { &bare, "0", 0, "0" },
        { &bare, "18446744073709551615", UINT64_MAX, "18446744073709551615" },
        { &one, "1", 1, "1" },
        { &duration, "50us", 50000, "50us" },
        { &duration, "50000ns", 50000, "50us" },
        { &duration, "50001ns", 50001, "50001ns" },
        { &duration, "4ms", 4000000, "4ms" },
        { &duration, "4000us", 4000000, "4ms" },
        { &duration, "4001us", 4001000, "4001us" },
        { &duration, "60s", 60000000000, "60s" },
        { &duration, "60000ms", 60000000000, "60s" },
        { &delay, "0s", 0, "0ns" },
        { &size_from_0, "0KiB", 0, "0B" },
        { &delay, "7ms", 7000000, "7ms" },
        { &delay, "never", UINT64_MAX, "never" },
        { &size, "4KiB", 4096, "4KiB" },
        { &size, "4096B", 4096, "4KiB" },
        { &size, "4097B", 4097, "4097B" },
        { &size, "64MiB", 64 << 20, "64MiB" },
        { &size, "1024GiB", UINT64_C(1) << 40, "1024GiB" },
        { &percent, "0%", 0, "0%" },
        { &percent, "100%", 100, "100%" },
        { &choice, "follow", 0, "follow" },
        { &choice, "down", 2, "down" },
};

static const struct Bad {
        const KeySpec *spec;
        const char *text;
        int r;
        const char *error;
} bad[] = {
        { &count, "", -EINVAL, COUNT "''" },
        { &count, "0", -ERANGE, COUNT "'0'" },
        { &count, "1048577", -ERANGE, COUNT "'1048577'" },
        { &count, "18446744073709551616", -ERANGE, COUNT "'18446744073709551616'" },
        { &count, "18446744073709551617", -ERANGE, COUNT "'18446744073709551617'" },
        { &bare, "18446744073709551616", -ERANGE,
          "expected a number from 0 to 18446744073709551615, found '18446744073709551616'" },
        { &count, "99999999999999999999999", -ERANGE, COUNT "'99999999999999999999999'" },
        { &choice, "", -EINVAL, CHOICE "''" },
        { &choice, "1", -EINVAL, CHOICE "'1'" },
        { &choice, "no", -EINVAL, CHOICE "'no'" },
        { &choice, "up ", -EINVAL, CHOICE "'up '; did you mean 'up'?" },
        { &choice, "flolow", -EINVAL, CHOICE "'flolow'; did you mean 'follow'?" },
        { &choice, "never", -EINVAL, CHOICE "'never'" },
        { &delay, "Never", -EINVAL,
          "expected a duration from 0ns to 60s, in ns, us, ms or s; or never, found 'Never'" },
        { &delay, "18446744073709551615ns", -ERANGE,
          "expected a duration from 0ns to 60s, in ns, us, ms or s; or never, "
          "found '18446744073709551615ns'" },
        { &duration, "never", -EINVAL, DURATION "'never'" },
        { &count, "-1", -EINVAL, COUNT "'-1', which has a sign" },
        { &count, "+1", -EINVAL, COUNT "'+1', which has a sign" },
        { &count, "yes", -EINVAL, COUNT "'yes'" },
        { &count, "all", -EINVAL, COUNT "'all'" },
        { &count, "0755", -EINVAL, COUNT "'0755', which looks octal; write it without the leading zero" },
        { &count, "00", -EINVAL, COUNT "'00', which looks octal; write it without the leading zero" },
        { &count, "0x10", -EINVAL, COUNT "'0x10', which is hexadecimal; write it in decimal" },
        { &count, "0Xa", -EINVAL, COUNT "'0Xa', which is hexadecimal; write it in decimal" },
        { &count, "0o17", -EINVAL, COUNT "'0o17', which is octal or binary; write it in decimal" },
        { &count, "0b11", -EINVAL, COUNT "'0b11', which is octal or binary; write it in decimal" },
        { &count, "1.0", -EINVAL, COUNT "'1.0', which is not a whole number" },
        { &count, "4.", -EINVAL, COUNT "'4.', which is not a whole number" },
        { &count, ".5", -EINVAL, COUNT "'.5'" },
        { &count, "1e3", -EINVAL, COUNT "'1e3', which is not a whole number" },
        { &count, "1E+3", -EINVAL, COUNT "'1E+3', which is not a whole number" },
        { &count, ".inf", -EINVAL, COUNT "'.inf'" },
        { &count, "4,096", -EINVAL, COUNT "'4,096', which has a separator among its digits" },
        { &count, "4_096", -EINVAL, COUNT "'4_096', which has a separator among its digits" },
        { &count, "4 096", -EINVAL, COUNT "'4 096', which has a separator among its digits" },
        { &count, "4'096", -EINVAL, COUNT "'4'096', which has a separator among its digits" },
        { &count, "1:30", -EINVAL, COUNT "'1:30', which YAML may read as a number in base 60" },
        { &count, "4096pages", -EINVAL, COUNT "'4096pages', which is more than a number" },
        { &count, "4096 ", -EINVAL, COUNT "'4096 ', which is more than a number" },
        { &count, " 4096", -EINVAL, COUNT "' 4096'" },
        { &count, "4k", -EINVAL, COUNT "'4k', which is more than a number" },
        { &count, "\xd9\xa3", -EINVAL, COUNT "'\\xd9\\xa3'" },
        { &count, "1\n2", -EINVAL, COUNT "'1\\x0a2', which is more than a number" },
        { &one, "2", -ERANGE, "expected 1, found '2'" },
        { &duration, "500", -EINVAL, DURATION "'500', which has no unit" },
        { &duration, "us", -EINVAL, DURATION "'us'" },
        { &duration, "500 us", -EINVAL, DURATION "'500 us', whose unit is not one of these" },
        { &duration, "1min", -EINVAL, DURATION "'1min', whose unit is not one of these" },
        { &duration, "1S", -EINVAL, DURATION "'1S', whose unit is not one of these" },
        { &duration, "1s 5ms", -EINVAL, DURATION "'1s 5ms', whose unit is not one of these" },
        { &duration, "0.5ms", -EINVAL, DURATION "'0.5ms', which is not a whole number" },
        { &duration, "0500us", -EINVAL,
          DURATION "'0500us', which looks octal; write it without the leading zero" },
        { &duration, "49us", -ERANGE, DURATION "'49us'" },
        { &duration, "49999ns", -ERANGE, DURATION "'49999ns'" },
        { &duration, "0s", -ERANGE, DURATION "'0s'" },
        { &duration, "61s", -ERANGE, DURATION "'61s'" },
        { &duration, "60000000001ns", -ERANGE, DURATION "'60000000001ns'" },
        { &duration, "18446744074s", -ERANGE, DURATION "'18446744074s'" },      /* wraps to 291 ms */
        { &size, "4096", -EINVAL,
          "expected a size from 4KiB to 1024GiB, in B, KiB, MiB or GiB, found '4096', which has no unit" },
        { &size, "4KB", -EINVAL,
          "expected a size from 4KiB to 1024GiB, in B, KiB, MiB or GiB, "
          "found '4KB', whose unit is not one of these" },
        { &percent, "50", -EINVAL,
          "expected a percentage from 0% to 100%, in %, found '50', which has no unit" },
        { &percent, "101%", -ERANGE, "expected a percentage from 0% to 100%, in %, found '101%'" },
        { &count, "123456789012345678901234567890123456789012345678", -ERANGE,
          COUNT "'123456789012345678901234567890123456789012345678'" },
        { &count, "1234567890123456789012345678901234567890123456789", -ERANGE,
          COUNT "'123456789012345678901234567890123456789012345678'..." },
};

static void test_good(void **state) {
        const struct Good *c = *state;
        _cleanup_free_ char *error = NULL, *text = NULL;
        uint64_t value;

        assert_int_equal(value_parse(c->spec, c->text, &value, &error), 0);
        assert_null(error);
        assert_true(value == c->value);

        assert_int_equal(value_format(c->spec, value, &text), 0);
        assert_string_equal(text, c->formatted);
}

static void test_bad(void **state) {
        const struct Bad *c = *state;
        _cleanup_free_ char *error = NULL;
        uint64_t value = 123;

        assert_int_equal(value_parse(c->spec, c->text, &value, &error), c->r);
        assert_string_equal(error, c->error);
        assert_true(value == 123);
}

static void check_round_trip(const KeySpec *spec, uint64_t value) {
        _cleanup_free_ char *text = NULL, *error = NULL;
        uint64_t again;

        assert_int_equal(value_format(spec, value, &text), 0);
        assert_int_equal(value_parse(spec, text, &again, &error), 0);
        assert_true(again == value);
}

static void check_out_of_range(const KeySpec *spec, uint64_t value) {
        _cleanup_free_ char *text = NULL, *error = NULL;

        assert_int_equal(value_format(spec, value, &text), 0);
        assert_int_equal(value_parse(spec, text, &value, &error), -ERANGE);
        assert_non_null(error);
}

static void test_every_key(void **state) {
        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++) {
                check_round_trip(spec, spec->min);
                check_round_trip(spec, spec->max);
                check_round_trip(spec, spec->def);

                if (spec->type == KEY_CHOICE)
                        continue;
                if (spec->min > 0)
                        check_out_of_range(spec, spec->min - 1);
                if (spec->max < UINT64_MAX)
                        check_out_of_range(spec, spec->max + 1);
        }
}

int main(void) {
        struct CMUnitTest tests[ELEMENTSOF(good) + ELEMENTSOF(bad) + 1], *t = tests;

        for (size_t i = 0; i < ELEMENTSOF(good); i++)
                *t++ = (struct CMUnitTest) {
                        .name = good[i].text,
                        .test_func = test_good,
                        .initial_state = (void *) (good + i),
                };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                *t++ = (struct CMUnitTest) {
                        .name = bad[i].error,
                        .test_func = test_bad,
                        .initial_state = (void *) (bad + i),
                };

        *t++ = (struct CMUnitTest) cmocka_unit_test(test_every_key);

        return cmocka_run_group_tests_name("policy-value", tests, NULL, NULL);
}
