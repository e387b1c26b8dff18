// SPDX-License-Identifier: GPL-2.0-only

/* Which names units can have, which a pattern stands for, and what statements come to for a cgroup. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "internal.h"
#include "policy.h"
#include "util.h"

DEFINE_TRIVIAL_CLEANUP_FUNC(PolicyModel *, policy_model_free)

static void test_patterns(void **state) {
        static const char *const good[] = {
                "a.service", "a.slice", "a.scope", "-.slice", "a-b-c.slice", "gramine@.service",
                "gramine@1.service", "gramine@*.service", "*.service", "?.scope", "x[abc].service",
                "x[!a-c].service", "x[^a].service", "x[]].service", "x[]-a].service",
                "dev\\x2dsda.service", "a:b_c.d.service",
        };

        for (size_t i = 0; i < ELEMENTSOF(good); i++) {
                _cleanup_free_ char *error = NULL;

                if (unit_pattern_check(good[i], &error) != 0)
                        fail_msg("%s: %s", good[i], error);
        }
}

static void test_bad_patterns(void **state) {
        static const char *const bad[][2] = {
                { "a", "'a', which does not end in one of these" },
                { "*", "'*', which does not end in one of these" },
                { ".service", "'.service', which does not end in one of these" },
                { "a.socket", "'a.socket', which does not end in one of these" },
                { "a.service ", "'a.service ', which has characters that no name of a unit has" },
                { "a/b.service", "'a/b.service', which has characters that no name of a unit has" },
                { "a=b.service", "'a=b.service', which has characters that no name of a unit has" },
                { "a\nb.service", "'a\\x0ab.service', which has characters that no name of a unit has" },
                { "@a.service", "'@a.service', which begins with '@'" },
                { "a[b.service", "'a[b.service', whose brackets do not match" },
                { "a[].service", "'a[].service', whose brackets do not match" },
                { "a[!.service", "'a[!.service', whose brackets do not match" },
                { "a]b.service", "'a]b.service', whose brackets do not match" },
                { "a!.service", "'a!.service', which has '!' or '^' outside of brackets" },
        };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                _cleanup_free_ char *error = NULL;

                assert_int_equal(unit_pattern_check(bad[i][0], &error), -EINVAL);
                assert_string_equal(error + strlen("expected " UNIT_PATTERN_EXPECTED ", found "), bad[i][1]);
        }
}

static void test_long_names(void **state) {
        char name[300] = {};
        _cleanup_free_ char *error = NULL;

        strcpy((char *) memset(name, 'a', 247) + 247, ".service");
        assert_int_equal(unit_pattern_check(name, &error), 0);
        assert_true(unit_name_is_valid(name));
        assert_true(unit_pattern_matches(name, name));

        strcpy((char *) memset(name, 'a', 248) + 248, ".service");
        assert_int_equal(unit_pattern_check(name, &error), -EINVAL);
        assert_non_null(endswith(error, "..., which is too long"));
        assert_false(unit_name_is_valid(name));
        assert_false(unit_pattern_matches("*.service", name));
}

static void test_matches(void **state) {
        static const struct {
                const char *pattern, *unit;
                bool matches;
        } cases[] = {
                { "a.service", "a.service", true },
                { "a.service", "b.service", false },
                { "a.service", "a.scope", false },
                { "*.service", "a.service", true },
                { "*.service", "a.slice", false },
                { "*.service", "a.socket", false },
                { "*.slice", "-.slice", true },
                { "g@*.service", "g@1.service", true },
                { "g@*.service", "g.service", false },
                { "g@.service", "g@1.service", true },
                { "g@.service", "g@.service", true },
                { "g@.service", "g@1@2.service", true },
                { "g@.service", "gg@1.service", false },
                { "g@.service", "g@1.scope", false },
                { "[ab]?.scope", "ax.scope", true },
                { "[!ab]?.scope", "ax.scope", false },
                { "a\\x2db.service", "a\\x2db.service", true },
                { "a\\x2d*.service", "a\\x2db.service", true },
                { "a\\x2db.service", "ax2db.service", false },
                { "*.service", ".service", false },
                { "*.service", "a b.service", false },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                if (unit_pattern_matches(cases[i].pattern, cases[i].unit) != cases[i].matches)
                        fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].unit);
}

static void say(PolicyModel *model, const char *pattern, const char *key, uint64_t value) {
        assert_int_equal(policy_model_set_unit(model, pattern, key_spec_find(key), value), 0);
}

/* The cgroup's batch, or 0 when nothing was said of it. */
static uint64_t batch_of(const PolicyModel *model, const char *path) {
        struct memsec_params params;

        return policy_model_cgroup_params(model, path, &params) ? params.teardown.batch : 0;
}

static void test_nesting(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        struct memsec_params params;

        assert_int_equal(policy_model_new(&model), 0);
        assert_int_equal(batch_of(model, "/a.slice/x.service"), 0);

        model->params.teardown.batch = 1;
        say(model, "x.service", "teardown.batch", 4);
        say(model, "a-b.slice", "teardown.batch", 3);
        say(model, "a.slice", "teardown.batch", 2);
        say(model, "a.slice", "teardown.max_hold", 77000000);

        assert_int_equal(batch_of(model, ""), 0);
        assert_int_equal(batch_of(model, "/y.service"), 0);
        assert_int_equal(batch_of(model, "/x.service"), 4);
        assert_int_equal(batch_of(model, "/a.slice"), 2);
        assert_int_equal(batch_of(model, "/a.slice/y.service"), 2);
        assert_int_equal(batch_of(model, "/a.slice/a-b.slice"), 3);
        assert_int_equal(batch_of(model, "/a.slice/a-b.slice/y.service"), 3);
        assert_int_equal(batch_of(model, "/a.slice/a-b.slice/x.service"), 4);

        assert_true(policy_model_cgroup_params(model, "/a.slice/a-b.slice/x.service", &params));
        assert_int_equal(params.teardown.max_hold_ns, 77000000);
        assert_true(policy_model_cgroup_params(model, "/x.service", &params));
        assert_int_equal(params.teardown.max_hold_ns, model->params.teardown.max_hold_ns);

        /* What is inside of a unit is the unit's business. */
        assert_int_equal(batch_of(model, "/a.slice/y.service/payload/x.service"), 2);
        assert_int_equal(batch_of(model, "/y.service/x.service"), 0);
        assert_int_equal(batch_of(model, "/a.slice/mine/deeper"), 2);

        /* Names that could be files of the kernel. */
        say(model, "cpu.service", "teardown.batch", 5);
        say(model, "_y.service", "teardown.batch", 6);
        assert_int_equal(batch_of(model, "/_cpu.service"), 5);
        assert_int_equal(batch_of(model, "/__y.service"), 6);

        say(model, "-.slice", "teardown.batch", 9);
        assert_int_equal(batch_of(model, ""), 9);
        assert_int_equal(batch_of(model, "/y.service"), 9);
        assert_int_equal(batch_of(model, "/a.slice"), 2);
}

static void test_later_ones_win(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL, *copy = NULL;
        struct memsec_params params;

        assert_int_equal(policy_model_new(&model), 0);
        say(model, "a*.service", "teardown.batch", 1);
        say(model, "a*.service", "teardown.max_hold", 1000000);
        say(model, "ab.service", "teardown.batch", 2);
        say(model, "ab.service", "teardown.max_hold", 2000000);
        assert_int_equal(batch_of(model, "/ab.service"), 2);

        /* Said again it is later, but only as to that key. */
        say(model, "a*.service", "teardown.batch", 3);
        assert_true(policy_model_cgroup_params(model, "/ab.service", &params));
        assert_int_equal(params.teardown.batch, 3);
        assert_int_equal(params.teardown.max_hold_ns, 2000000);

        /* What cannot show any more is not kept. */
        say(model, "a*.service", "teardown.max_hold", 3000000);
        assert_int_equal(model->n_units, 2);

        assert_int_equal(policy_model_copy(model, &copy), 0);
        assert_int_equal(copy->n_units, 2);
        say(model, "a*.service", "teardown.batch", 4);
        assert_int_equal(batch_of(copy, "/ab.service"), 3);
}

static void test_of_one_name(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        UnitSettings said;

        assert_int_equal(policy_model_new(&model), 0);
        policy_model_get_unit(model, "a.service", &said);
        assert_int_equal(said.keys, 0);

        say(model, "a.service", "teardown.batch", 1);
        say(model, "*.service", "teardown.batch", 2);
        say(model, "a.service", "teardown.max_hold", 3000000);

        policy_model_get_unit(model, "a.service", &said);
        assert_int_equal(said.keys, 3);
        assert_int_equal(said.params.teardown.batch, 1);
        assert_int_equal(said.params.teardown.max_hold_ns, 3000000);

        policy_model_get_unit(model, "*.service", &said);
        assert_int_equal(said.keys, 1);
        assert_int_equal(said.params.teardown.batch, 2);
}

static void test_limit(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        char name[32];

        assert_int_equal(policy_model_new(&model), 0);
        for (int i = 0; i < POLICY_UNITS_MAX; i++) {
                sprintf(name, "u%d.service", i);
                say(model, name, "teardown.batch", 1);
        }

        assert_int_equal(policy_model_set_unit(model, "one-more.service", key_specs, 1), -E2BIG);
        say(model, "u7.service", "teardown.batch", 2);
}

static void test_cgroup_names(void **state) {
        static const char *const cases[][2] = {
                { "/a.slice", "a.slice" },
                { "/a.slice/x.service", "x.service" },
                { "/a.slice/a-b.slice/x.scope", "x.scope" },
                { "/_cpu.service", "cpu.service" },
                { "/x.service/y.service", NULL },
                { "/x.service/payload", NULL },
                { "/a.slice/payload", NULL },
                { "/a.slice/x.mount", NULL },
                { "/payload/x.service", "x.service" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const char *unit = cgroup_path_unit(cases[i][0]);

                if (!cases[i][1])
                        assert_null(unit);
                else
                        assert_string_equal(unit, cases[i][1]);
        }
}

int main(void) {
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_patterns),
                cmocka_unit_test(test_bad_patterns),
                cmocka_unit_test(test_long_names),
                cmocka_unit_test(test_matches),
                cmocka_unit_test(test_nesting),
                cmocka_unit_test(test_later_ones_win),
                cmocka_unit_test(test_of_one_name),
                cmocka_unit_test(test_limit),
                cmocka_unit_test(test_cgroup_names),
        };

        return cmocka_run_group_tests_name("policy-units", tests, NULL, NULL);
}
