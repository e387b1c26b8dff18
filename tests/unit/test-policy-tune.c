// SPDX-License-Identifier: GPL-2.0-only

/* Loops in policy files: what a text says of them, every error with its place, and how files add up. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy.h"
#include "util.h"

DEFINE_TRIVIAL_CLEANUP_FUNC(PolicyModel *, policy_model_free)

#define TUNE "version: 1\ntune:\n  teardown:\n    batch:\n"
#define REST "      range: { min: 64, max: 65536 }\n      raising: lowers\n"

/* What TEXTS, one file after the other, come to. */
static PolicyModel *read_texts(const char *const *texts) {
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        PolicyModel *model;

        assert_int_equal(policy_model_new(&model), 0);
        for (; *texts; texts++) {
                int r = policy_model_read_text(model, "f", *texts, strlen(*texts), &errors);

                if (r < 0)
                        print_error("%s\n", errors.items[0].message);
                assert_int_equal(r, 0);
        }

        return model;
}

#define READ(...) read_texts((const char *const []) { __VA_ARGS__, NULL })

static void test_pressure(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        _cleanup_free_ char *signal = NULL;
        const TuneLoop *loop;

        model = READ(TUNE "      pressure: memory\n      of: full\n      unit: a.service\n      target: 5%\n"
                     "      range: { min: 64, max: 65536 }\n      raising: raises\n      every: 250ms\n");
        loop = model->loops;
        assert_int_equal(model->n_loops, 1);
        assert_string_equal(loop->key, "teardown.batch");
        assert_null(loop->unit);
        assert_null(loop->counter);
        assert_int_equal(loop->resource, TUNE_MEMORY);
        assert_true(loop->full);
        assert_string_equal(loop->source, "a.service");
        assert_int_equal(loop->target, 5);
        assert_int_equal(loop->min, 64);
        assert_int_equal(loop->max, 65536);
        assert_true(loop->raises);
        assert_int_equal(loop->every_ns, 250000000);
        assert_int_equal(tune_signal_format(loop, &signal), 0);
        assert_string_equal(signal, "full memory pressure of a.service");
        assert_string_equal(tune_measure(loop), "%");
}

static void test_counter(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        _cleanup_free_ char *signal = NULL;
        const TuneLoop *loop;

        /* The order is no matter. */
        model = READ("version: 1\nunits:\n  \"x@*.service\":\n    tune:\n      keyid:\n        cache:\n"
                     "          target: 200\n          raising: lowers\n"
                     "          range: { max: 64MiB, min: 0B }\n          counter: keyid.flushes\n");
        loop = model->loops;
        assert_int_equal(model->n_loops, 1);
        assert_string_equal(loop->key, "keyid.cache");
        assert_string_equal(loop->unit, "x@*.service");
        assert_string_equal(loop->counter, "keyid.flushes");
        assert_int_equal(loop->target, 200);
        assert_int_equal(loop->min, 0);
        assert_int_equal(loop->max, 64 << 20);
        assert_false(loop->raises);
        assert_int_equal(loop->every_ns, 1000000000);
        assert_int_equal(tune_signal_format(loop, &signal), 0);
        assert_string_equal(signal, "keyid.flushes");
        assert_string_equal(tune_measure(loop), "/s");

        /* A loop says nothing of the value. */
        assert_int_equal(model->n_units, 0);
}

static void test_system(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = READ(TUNE "      pressure: cpu\n"
                                                                "      target: 99%\n" REST);
        _cleanup_free_ char *signal = NULL;

        assert_int_equal(tune_signal_format(model->loops, &signal), 0);
        assert_string_equal(signal, "cpu pressure of the system");
}

#define LOOP(signal, target) \
        "{" signal ", target: " target ", range: {min: 1, max: 9}, raising: raises}"
#define CPU LOOP("pressure: cpu", "5%")
#define BREAKS LOOP("counter: teardown.breaks", "9")

/* A later file replaces the loop of a tunable of a unit, whole, and no other. */
static void test_layers(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL, *copy = NULL;

        model = READ("version: 1\ntune: {teardown: {batch: " CPU "}, keyid: {search: " CPU "}}\n"
                     "units: {a.service: {tune: {teardown: {batch: " CPU "}}}}\n",
                     "version: 1\ntune: {teardown: {batch: " BREAKS "}}\n",
                     "version: 1\ntune: {keyid: {search: none, cache: none}}\n");
        assert_int_equal(model->n_loops, 2);
        assert_string_equal(model->loops[0].key, "teardown.batch");
        assert_null(model->loops[0].unit);
        assert_string_equal(model->loops[0].counter, "teardown.breaks");
        assert_string_equal(model->loops[1].unit, "a.service");
        assert_null(model->loops[1].counter);

        assert_int_equal(policy_model_copy(model, &copy), 0);
        assert_int_equal(copy->n_loops, 2);
        assert_string_equal(copy->loops[0].counter, "teardown.breaks");
        assert_string_equal(copy->loops[1].unit, "a.service");
}

/* What the loop moves is what everyone has until something is said of the unit itself. */
static void test_value(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        const KeySpec *spec;

        model = READ("version: 1\nteardown: {batch: 7}\n"
                     "units: {a.service: {tune: {teardown: {batch: " CPU "}}}}\n");
        assert_int_equal(policy_model_loop_value(model, model->loops, &spec), 7);
        assert_ptr_equal(spec, key_spec_find("teardown.batch"));
        assert_int_equal(policy_model_set_unit(model, "a.service", spec, 8), 0);
        assert_int_equal(policy_model_loop_value(model, model->loops, &spec), 8);
}

typedef struct Bad {
        const char *name;
        const char *text;
        const char *errors;
} Bad;

#define BATCH "tune: teardown.batch"
#define FIELDS "pressure, of, unit, counter, target, range, raising or every"
#define COUNTER "a counter of a mechanism, such as teardown.breaks"

/* Lines of a loop that are wrong, the first being line 5. */
#define BAD(name, lines, errors) { name, TUNE lines, errors }

static const Bad bad[] = {
        BAD("resource", "      pressure: cpi\n      target: 5%\n" REST,
            ":5:17: " BATCH ".pressure: expected cpu, memory or io, found 'cpi'; did you mean 'cpu'?"),
        BAD("share", "      pressure: io\n      of: all\n      target: 5%\n" REST,
            ":6:11: " BATCH ".of: expected some or full, found 'all'"),
        BAD("full of what is not measured", "      pressure: cpu\n      of: full\n      target: 5%\n" REST,
            ":6:11: " BATCH ".of: expected some, since full is not measured for cpu of the whole system"),
        BAD("unit", "      pressure: io\n      unit: \"a*.service\"\n      target: 5%\n" REST,
            ":6:13: " BATCH ".unit: expected the name of a .service, .slice or .scope, found 'a*.service'"),
        BAD("template", "      pressure: io\n      unit: a@.service\n      target: 5%\n" REST,
            ":6:13: " BATCH ".unit: expected the name of a .service, .slice or .scope, found 'a@.service'"),
        BAD("counter", "      counter: breaks\n      target: 5\n" REST,
            ":5:16: " BATCH ".counter: expected " COUNTER ", found 'breaks'"),
        BAD("counter of no mechanism", "      counter: tear.breaks\n      target: 5\n" REST,
            ":5:16: " BATCH ".counter: expected " COUNTER ", found 'tear.breaks'"),
        BAD("counter outside", "      counter: teardown.../state\n      target: 5\n" REST,
            ":5:16: " BATCH ".counter: expected " COUNTER ", found 'teardown.../state'"),
        BAD("two signals", "      counter: teardown.breaks\n      pressure: io\n      target: 5\n" REST,
            ":6:17: " BATCH ".pressure: expected nothing beside counter, found it"),
        BAD("unit of a counter", "      unit: a.service\n      counter: teardown.breaks\n      target: "
            "5\n" REST,
            ":5:13: " BATCH ".unit: expected nothing beside counter, found it"),
        BAD("no signal", "      target: 5%\n" REST,
            ":5:7: " BATCH ": expected pressure or counter, found neither"),
        BAD("target without unit", "      pressure: cpu\n      target: 5\n" REST,
            ":6:15: " BATCH ".target: expected a percentage from 1% to 99%, in %, found '5', which has "
            "no unit"),
        BAD("target out of range", "      target: 100%\n      pressure: cpu\n" REST,
            ":5:15: " BATCH ".target: expected a percentage from 1% to 99%, in %, found '100%'"),
        BAD("percent of a counter", "      counter: teardown.breaks\n      target: 5%\n" REST,
            ":6:15: " BATCH ".target: expected a number of events per second from 1 to 1000000000, found "
            "'5%', which is more than a number"),
        BAD("raising", "      pressure: cpu\n      target: 5%\n      range: {min: 1, max: 2}\n"
            "      raising: lower\n",
            ":8:16: " BATCH ".raising: expected lowers or raises, found 'lower'; did you mean 'lowers'?"),
        BAD("every", "      pressure: cpu\n      target: 5%\n      every: 99ms\n" REST,
            ":7:14: " BATCH ".every: expected a duration from 100ms to 3600s, in ns, us, ms or s, found "
            "'99ms'"),
        BAD("range out of the tunable's", "      pressure: cpu\n      target: 5%\n      raising: lowers\n"
            "      range: {min: 0, max: 2}\n",
            ":8:20: " BATCH ".range.min: expected a number of pages from 1 to 1048576, found '0'"),
        BAD("range upside down", "      pressure: cpu\n      target: 5%\n      raising: lowers\n"
            "      range: {max: 5, min: 5}\n",
            ":8:20: " BATCH ".range.max: expected more than min, which is '5', found '5'"),
        BAD("half a range", "      pressure: cpu\n      target: 5%\n      raising: lowers\n"
            "      range: {max: 5}\n",
            ":5:7: " BATCH ": expected range.min, found none"),
        BAD("range as text", "      pressure: cpu\n      target: 5%\n      raising: lowers\n      "
            "range: 1-5\n",
            ":8:14: " BATCH ".range: expected a mapping with min and max, found '1-5'"),
        BAD("key in a range", "      pressure: cpu\n      target: 5%\n      raising: lowers\n"
            "      range: {min: 1, mux: 5, max: 7}\n",
            ":8:23: " BATCH ".range: expected min or max, found the unknown key 'mux'; did you mean 'max'?"),
        BAD("key", "      presure: cpu\n      pressure: cpu\n      target: 5%\n" REST,
            ":5:7: " BATCH ": expected " FIELDS ", found the unknown key 'presure'; did you mean "
            "'pressure'?"),
        BAD("key twice", "      pressure: cpu\n      target: 5%\n      target: 6%\n" REST,
            ":7:7: " BATCH ".target: expected one, found another; the first is on line 6"),
        BAD("key of range twice", "      pressure: cpu\n      target: 5%\n      raising: lowers\n"
            "      range: {min: 1, min: 2, max: 7}\n",
            ":8:23: " BATCH ".range.min: expected one, found another; the first is on line 8"),
        BAD("boolean", "      pressure: yes\n      target: 5%\n" REST,
            ":5:17: " BATCH ".pressure: expected cpu, memory or io, found 'yes', which YAML reads as a "
            "boolean"),
        BAD("list", "      pressure: [cpu]\n      target: 5%\n" REST,
            ":5:17: " BATCH ".pressure: expected cpu, memory or io, found a list"),
        BAD("anchor", "      pressure: cpu\n      target: &t 5%\n" REST,
            ":6:15: " BATCH ".target: expected a percentage or a number of events per second, found the "
            "anchor '&t'"),
        BAD("list as key", "      [a]: cpu\n      pressure: cpu\n      target: 5%\n" REST,
            ":5:7: " BATCH ": expected a key, found a list"),
        BAD("all errors in order", "      target: 5\n      pressure: cpi\n      raising: up\n"
            "      range: {min: 9, max: 1}\n      hurry: 1\n",
            ":5:15: " BATCH ".target: expected a percentage from 1% to 99%, in %, found '5', which has "
            "no unit\n"
            ":6:17: " BATCH ".pressure: expected cpu, memory or io, found 'cpi'; did you mean 'cpu'?\n"
            ":7:16: " BATCH ".raising: expected lowers or raises, found 'up'\n"
            ":8:28: " BATCH ".range.max: expected more than min, which is '9', found '1'\n"
            ":9:7: " BATCH ": expected " FIELDS ", found the unknown key 'hurry'"),
        { "nothing but a number", "version: 1\ntune: {teardown: {batch: 5}}\n",
          ":2:26: " BATCH ": expected a mapping with pressure or counter, target, range and raising, or "
          "none, "
          "found '5'" },
        { "empty", "version: 1\ntune: {teardown: {batch: {}}}\n",
          ":2:26: " BATCH ": expected pressure or counter, found neither\n"
          ":2:26: " BATCH ": expected target, found none\n"
          ":2:26: " BATCH ": expected range, found none\n"
          ":2:26: " BATCH ": expected raising, found none" },
        { "list of loops", "version: 1\ntune: []\n",
          ":2:7: tune: expected a mapping with teardown, directmap, keyid or xpfo, found a list" },
        { "tunable", "version: 1\ntune: {teardown: {bach: none}}\n",
          ":2:19: tune: teardown: expected batch or max_hold, found the unknown key 'bach'; did you mean "
          "'batch'?" },
        { "mechanism", "version: 1\ntune: {version: 1}\n",
          ":2:8: tune: expected teardown, directmap, keyid or xpfo, found the unknown key 'version'" },
        { "word", "version: 1\ntune: {keyid: {flush: " CPU "}}\n",
          ":2:23: tune: keyid.flush: expected a tunable that is a number, found one that is a word" },
        { "never", "version: 1\ntune: {keyid: {recycle: {idle: {pressure: cpu, target: 5%, raising: raises, "
          "range: {min: 1s, max: never}}}}}\n",
          ":2:99: tune: keyid.recycle.idle.range.max: expected a duration from 0ns to 3600s, in ns, us, "
          "ms or "
          "s, found 'never'" },
        { "unit's", "version: 1\nunits: {a.service: {tune: {teardown: {batch: {pressure: io}}}}}\n",
          ":2:46: a.service: " BATCH ": expected target, found none\n"
          ":2:46: a.service: " BATCH ": expected range, found none\n"
          ":2:46: a.service: " BATCH ": expected raising, found none" },
        { "no such policy", "version: 1\ntune: {mine: {a: " CPU "}}\n",
          ":2:8: tune: expected teardown, directmap, keyid or xpfo, found the unknown key 'mine'" },
        { "twice", "version: 1\ntune: {}\ntune: {}\n",
          ":3:1: tune: expected one, found another; the first is on line 2" },
};

static void test_bad(void **state) {
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                _cleanup_(policy_model_freep) PolicyModel *model = NULL;
                _cleanup_(policy_errors_done) PolicyErrors errors = {};
                _cleanup_free_ char *found = NULL;

                assert_int_equal(policy_model_new(&model), 0);
                if (policy_model_read_text(model, "", bad[i].text, strlen(bad[i].text), &errors) != -EBADMSG)
                        fail_msg("%s is taken", bad[i].name);
                assert_int_equal(policy_errors_format(&errors, &found), 0);
                if (!streq(found, bad[i].errors))
                        print_error("%s:\n", bad[i].name);
                assert_string_equal(found, bad[i].errors);
                assert_int_equal(model->n_loops, 0);
        }
}

static void test_many(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        static const char again[] = "version: 1\nunits: {a0.service: {tune: {teardown: {batch: " BREAKS
                                    "}}}}\n";
        char text[256];

        assert_int_equal(policy_model_new(&model), 0);
        for (int i = 0; i <= POLICY_LOOPS_MAX; i++) {
                sprintf(text, "version: 1\nunits: {a%d.service: {tune: {teardown: {batch: %s}}}}\n", i, CPU);
                assert_int_equal(policy_model_read_text(model, "f", text, strlen(text), &errors),
                                 i < POLICY_LOOPS_MAX ? 0 : -EBADMSG);
        }
        assert_string_equal(errors.items[0].message,
                            "a16.service: tune: expected at most 16 loops in all files, found more");

        /* Another one of the same is no more. */
        assert_int_equal(policy_model_read_text(model, "f", again, strlen(again), &errors), 0);
        assert_int_equal(model->n_loops, POLICY_LOOPS_MAX);
}

/* Those of a policy's own tunables go with the policy. */
static void test_own(void **state) {
        static char *const wide[] = { "max:9", "default:1", NULL };
        static char *const narrow[] = { "max:5", "default:1", NULL };
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        TuneLoop loop = { .key = (char *) "mine.a", .min = 1, .max = 9, .target = 5, .every_ns = 1 };
        OwnTunables *own[3] = {};
        char *error = NULL;

        model = READ("version: 1\ntune: {teardown: {batch: " CPU "}}");
        for (size_t i = 0; i < ELEMENTSOF(own); i++) {
                assert_int_equal(own_tunables_new("mine", own + i), 0);
                assert_int_equal(own_tunables_add(own[i], "a", i < 2 ? wide : narrow, &error), 0);
        }

        policy_model_set_own(model, own[0]);
        assert_int_equal(policy_model_set_loop(model, &loop), 0);
        policy_model_set_own(model, own[1]);
        assert_int_equal(model->n_loops, 2);
        policy_model_set_own(model, own[2]);
        assert_int_equal(model->n_loops, 1);
        assert_string_equal(model->loops[0].key, "teardown.batch");

        for (size_t i = 0; i < ELEMENTSOF(own); i++)
                own_tunables_unref(own[i]);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_pressure),
                cmocka_unit_test(test_counter),
                cmocka_unit_test(test_system),
                cmocka_unit_test(test_layers),
                cmocka_unit_test(test_value),
                cmocka_unit_test(test_bad),
                cmocka_unit_test(test_many),
                cmocka_unit_test(test_own),
        };

        return cmocka_run_group_tests_name("policy-tune", tests, NULL, NULL);
}
