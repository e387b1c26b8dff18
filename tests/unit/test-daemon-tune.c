// SPDX-License-Identifier: GPL-2.0-only

/* How a loop moves its tunable, by a model of what the tunable does to the signal. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tune.h"
#include "util.h"

/* What the signal is with a value. */
typedef double (*Model)(double value);

static double rises(double value) {
        return value / 100;
}

static double falls(double value) {
        return 100000 / (value + 1);
}

static double rises_fast(double value) {
        return value * value / 100000;
}

static double rises_slowly(double value) {
        double root = 1;

        for (int i = 0; i < 60; i++)
                root = (root + value / root) / 2;
        return root;
}

/* No value is near any target between 1 and 89. */
static double cliff(double value) {
        return value < 3000 ? 0 : 100;
}

static double flat(double value) {
        return 50;
}

static double silent(double value) {
        return 0;
}

static const TuneLoop up_to_target = { .target = 40, .min = 64, .max = 65536, .raises = true };
static const TuneLoop down_to_target = { .target = 40, .min = 64, .max = 65536, .raises = false };

static bool is_near(const TuneLoop *loop, double signal) {
        return signal >= 0.9 * loop->target && signal <= 1.1 * loop->target;
}

static uint64_t run(Tuner *tuner, const TuneLoop *loop, Model model, uint64_t value, unsigned periods) {
        for (unsigned i = 0; i < periods && tuner->state != TUNE_OSCILLATING; i++) {
                value = tuner_step(tuner, loop, value, model(value));
                assert_true(value >= loop->min && value <= loop->max);
        }

        return value;
}

static void check_converges(const TuneLoop *loop, Model model) {
        static const uint64_t starts[] = { 64, 65, 100, 777, 2500, 4096, 4400, 30000, 65535, 65536 };

        for (size_t i = 0; i < ELEMENTSOF(starts); i++) {
                uint64_t value, held;
                Tuner tuner;

                tuner_init(&tuner, TUNE_RUNS);
                value = run(&tuner, loop, model, starts[i], 30);
                assert_true(is_near(loop, model(value)));
                assert_int_equal(tuner.state, TUNE_HOLDING);

                held = run(&tuner, loop, model, value, 100);
                assert_int_equal(held, value);
                assert_int_equal(tuner.state, TUNE_HOLDING);
        }
}

static void test_converges(void **state) {
        check_converges(&up_to_target, rises);
        check_converges(&up_to_target, rises_fast);
        check_converges(&up_to_target, rises_slowly);
        check_converges(&down_to_target, falls);
}

/* What is near the target from the first is left alone, and so is what stays near it. */
static void test_holds(void **state) {
        Tuner tuner;

        tuner_init(&tuner, TUNE_RUNS);
        for (int i = 0; i < 100; i++) {
                assert_int_equal(tuner_step(&tuner, &up_to_target, 1000, i % 2 ? 36.5 : 43.5), 1000);
                assert_int_equal(tuner.state, TUNE_HOLDING);
        }
        assert_int_equal(tuner_step(&tuner, &up_to_target, 1000, 35.9), 1250);
        assert_int_equal(tuner_step(&tuner, &up_to_target, 1000, 19), 2000);
}

/* Each of the two directions is the one that brings the signal nearer. */
static void test_directions(void **state) {
        static const struct {
                const TuneLoop *loop;
                double signal;
                uint64_t value;
        } moves[] = {
                { &up_to_target,   10,  2000 },
                { &up_to_target,   30,  1250 },
                { &up_to_target,   60,  800  },
                { &up_to_target,   100, 500  },
                { &down_to_target, 10,  500  },
                { &down_to_target, 30,  800  },
                { &down_to_target, 60,  1250 },
                { &down_to_target, 100, 2000 },
        };

        for (size_t i = 0; i < ELEMENTSOF(moves); i++) {
                Tuner tuner;

                tuner_init(&tuner, TUNE_RUNS);
                assert_int_equal(tuner_step(&tuner, moves[i].loop, 1000, moves[i].signal), moves[i].value);
                assert_int_equal(tuner.state, TUNE_MOVING);
        }
}

/* The load has changed: a new value is found, however often that happens. */
static void test_follows(void **state) {
        uint64_t value = 100;
        Tuner tuner;

        tuner_init(&tuner, TUNE_RUNS);
        for (int i = 0; i < 50; i++) {
                value = run(&tuner, &up_to_target, i % 2 ? rises : rises_fast, value, 30);
                assert_int_equal(tuner.state, TUNE_HOLDING);
        }
}

static void test_limits(void **state) {
        Tuner tuner;

        tuner_init(&tuner, TUNE_RUNS);
        assert_int_equal(run(&tuner, &up_to_target, silent, 100, 100), 65536);
        assert_int_equal(tuner.state, TUNE_AT_LIMIT);
        assert_int_equal(run(&tuner, &up_to_target, flat, 65536, 100), 64);
        assert_int_equal(tuner.state, TUNE_AT_LIMIT);
        assert_int_equal(run(&tuner, &down_to_target, silent, 100, 100), 64);
        assert_int_equal(run(&tuner, &down_to_target, flat, 100, 100), 65536);

        /* And there is a way back. */
        assert_true(is_near(&up_to_target, rises(run(&tuner, &up_to_target, rises, 65536, 100))));
}

/* A value from outside, whatever the signal is. */
static void test_comes_in(void **state) {
        Tuner tuner;

        tuner_init(&tuner, TUNE_RUNS);
        assert_int_equal(tuner_step(&tuner, &up_to_target, 1, 40), 64);
        assert_int_equal(tuner_step(&tuner, &up_to_target, VALUE_NEVER, 0), 65536);
        assert_int_equal(tuner.state, TUNE_MOVING);
}

static void test_from_nothing(void **state) {
        static const TuneLoop bytes = { .target = 40, .min = 0, .max = 1 << 20, .raises = true };
        static const TuneLoop few = { .target = 40, .min = 0, .max = 8, .raises = true };
        Tuner tuner;

        tuner_init(&tuner, TUNE_RUNS);
        assert_int_equal(tuner_step(&tuner, &bytes, 0, 1), 1024);
        assert_int_equal(run(&tuner, &bytes, silent, 0, 30), 1 << 20);
        tuner_init(&tuner, TUNE_RUNS);
        assert_int_equal(run(&tuner, &bytes, flat, 1 << 20, 100), 0);
        tuner_init(&tuner, TUNE_RUNS);
        assert_int_equal(run(&tuner, &few, silent, 0, 30), 8);
        tuner_init(&tuner, TUNE_RUNS);
        assert_int_equal(run(&tuner, &few, flat, 8, 30), 0);
}

static void test_cliff(void **state) {
        uint64_t value;
        Tuner tuner;

        tuner_init(&tuner, TUNE_RUNS);
        value = run(&tuner, &up_to_target, cliff, 100, 1000);
        assert_int_equal(tuner.state, TUNE_OSCILLATING);
        /* 0 is nearer to 40 than 100 is. */
        assert_true(value < 3000);
        /* It has come near the edge. */
        assert_true(value > 2000);
}

/* The signal is that of a value of long ago. */
static void check_delay(unsigned delay) {
        uint64_t past[8], value = 64, tried[1000];
        unsigned n = 0;
        Tuner tuner;

        for (unsigned i = 0; i < ELEMENTSOF(past); i++)
                past[i] = value;

        tuner_init(&tuner, TUNE_RUNS);
        for (; n < ELEMENTSOF(tried) && tuner.state != TUNE_OSCILLATING; n++) {
                tried[n] = value;
                value = tuner_step(&tuner, &up_to_target, value, rises_fast(past[n % delay]));
                past[n % delay] = tried[n];
                assert_true(value >= 64 && value <= 65536);
        }

        /* Either it has found its way, or it has given up with a value that it had tried. */
        if (tuner.state == TUNE_HOLDING)
                assert_true(is_near(&up_to_target, rises_fast(value)));
        else {
                assert_int_equal(tuner.state, TUNE_OSCILLATING);
                while (n > 0 && tried[n - 1] != value)
                        n--;
                assert_true(n > 0);
        }
}

static void test_delay(void **state) {
        for (unsigned delay = 1; delay <= 8; delay++)
                check_delay(delay);
}

/* Any signal, range and value: the range is never left, and no more than a step is taken. */
static void test_random(void **state) {
        srand(1);

        for (int i = 0; i < 2000; i++) {
                TuneLoop loop = {
                        .target = 1 + rand() % 99,
                        .min = rand() % 2 ? 0 : (uint64_t) rand(),
                        .raises = rand() % 2,
                };
                uint64_t value, next;
                Tuner tuner;

                loop.max = rand() % 8 ? loop.min + 1 + rand() : UINT64_MAX - 1;
                value = loop.min + (uint64_t) rand() % (loop.max - loop.min);
                tuner_init(&tuner, TUNE_RUNS);
                for (int k = 0; k < 100 && tuner.state != TUNE_OSCILLATING; k++, value = next) {
                        next = tuner_step(&tuner, &loop, value, rand() % 4 ? rand() % 200 : rand() * 1e9);
                        assert_true(next >= loop.min && next <= loop.max);
                        assert_true(tuner.state == TUNE_MOVING || tuner.state == TUNE_OSCILLATING ||
                                    next == value);
                        assert_true(tuner.state != TUNE_MOVING || next != value);
                }
        }
}

static void test_stopped(void **state) {
        Tuner tuner;

        tuner_init(&tuner, TUNE_STOPPED_BY_HAND);
        assert_string_equal(tune_state_to_string(tuner.state), "stopped-by-hand");
        tuner_init(&tuner, TUNE_STOPPED_OSCILLATING);
        assert_string_equal(tune_state_to_string(tuner.state), "stopped-oscillating");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_converges),
                cmocka_unit_test(test_holds),
                cmocka_unit_test(test_directions),
                cmocka_unit_test(test_follows),
                cmocka_unit_test(test_limits),
                cmocka_unit_test(test_comes_in),
                cmocka_unit_test(test_from_nothing),
                cmocka_unit_test(test_cliff),
                cmocka_unit_test(test_delay),
                cmocka_unit_test(test_random),
                cmocka_unit_test(test_stopped),
        };

        return cmocka_run_group_tests_name("daemon-tune", tests, NULL, NULL);
}
