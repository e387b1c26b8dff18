// SPDX-License-Identifier: GPL-2.0-only

/* Tunables of a policy's own: read from BTF as clang writes it, every mistake named, kept over versions. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/btf.h>

#include "object.h"
#include "util.h"

#define NS_PER_MS UINT64_C(1000000)
#define TAGS_MAX 6

/* A member of the struct, and what describes it. */
typedef struct Member {
        const char *name;
        const char *type;       /* of the members that BTF has below */
        uint64_t def;
        const char *tags[TAGS_MAX];
} Member;

/* What the section is like in the object. */
typedef enum Shape {
        STRUCT,
        TWO_VARIABLES,
        NO_STRUCT,
        NO_SECTION,
        SHORT_VALUES,
} Shape;

static int add_type(struct btf *btf, const char *type) {
        int u64 = btf__add_int(btf, "unsigned long long", 8, 0);

        if (streq(type, "u64"))
                return btf__add_typedef(btf, "__u64", u64);
        if (streq(type, "volatile"))
                return btf__add_volatile(btf, u64);
        if (streq(type, "s64"))
                return btf__add_int(btf, "long long", 8, BTF_INT_SIGNED);
        if (streq(type, "u32"))
                return btf__add_int(btf, "unsigned int", 4, 0);

        return btf__add_ptr(btf, u64);
}

/* The tags come behind the struct that they are about, as clang has them. */
static int add_struct(struct btf *btf, const Member *members, size_t n) {
        int types[MEMSEC_OWN_MAX + 1], id;

        for (size_t i = 0; i < n; i++)
                types[i] = add_type(btf, members[i].type ?: "u64");

        id = btf__add_struct(btf, "mine_tunables", n * 8);
        for (size_t i = 0; i < n; i++)
                assert_int_equal(btf__add_field(btf, members[i].name, types[i], i * 64, 0), 0);

        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < TAGS_MAX && members[i].tags[k]; k++)
                        assert_true(btf__add_decl_tag(btf, members[i].tags[k], id, i) > 0);

        return id;
}

static struct btf *make_btf(const Member *members, size_t n, Shape shape) {
        struct btf *btf = btf__new_empty();
        int type, variable;

        assert_non_null(btf);
        type = shape == NO_STRUCT ? btf__add_int(btf, "int", 4, BTF_INT_SIGNED) :
                                    add_struct(btf, members, n);
        variable = btf__add_var(btf, "memsec_own", BTF_VAR_GLOBAL_ALLOCATED, btf__add_const(btf, type));
        assert_true(btf__add_datasec(btf, shape == NO_SECTION ? ".rodata" : MEMSEC_OWN_SECTION, n * 8) > 0);
        assert_int_equal(btf__add_datasec_var_info(btf, variable, 0, n * 8), 0);
        if (shape == TWO_VARIABLES)
                assert_int_equal(btf__add_datasec_var_info(btf, variable, n * 8, n * 8), 0);

        return btf;
}

static int read_shape(const Member *members, size_t n, Shape shape, OwnTunables **ret, char **ret_error) {
        struct btf *btf = make_btf(members, n, shape);
        uint64_t values[MEMSEC_OWN_MAX + 1];
        int r;

        for (size_t i = 0; i < n; i++)
                values[i] = members[i].def;

        r = own_tunables_from_btf(btf, values, n * 8 - (shape == SHORT_VALUES), "/opt/mine.bpf.o", ret,
                                  ret_error);
        btf__free(btf);
        return r;
}

static const Member good[] = {
        { "batch", "u64", 64, { "unit:pages", "min:1", "max:4096", "help:Pages at once" } },
        { "long_pause", "volatile", 2 * NS_PER_MS, { "help:How long", "max:10ms", "min:1us", "unit:ns" } },
        { "until", NULL, VALUE_NEVER, { "unit:ns", "min:0s", "max:1s", "never" } },
        { "room", NULL, 65536, { "unit:bytes", "min:4KiB", "max:1MiB" } },
        { "share", NULL, 100, { "unit:%" } },
        { "mood", NULL, 1, { "choices:calm,hasty" } },
        { "n", NULL, 0, { "max:5" } },
};

static void test_good(void **state) {
        static const struct {
                const char *path, *bus_name, *expected;
                KeyType type;
        } expected[] = {
                { "mine.batch", "Batch", "a number of pages from 1 to 4096", KEY_COUNT },
                { "mine.long_pause", "LongPauseUSec", "a duration from 1us to 10ms, in ns, us, ms or s",
                  KEY_DURATION },
                { "mine.until", "UntilUSec", "a duration from 0ns to 1s, in ns, us, ms or s; or never",
                  KEY_DURATION },
                { "mine.room", "Room", "a size from 4KiB to 1MiB, in B, KiB, MiB or GiB", KEY_SIZE },
                { "mine.share", "Share", "a percentage from 0% to 100%, in %", KEY_PERCENT },
                { "mine.mood", "Mood", "calm or hasty", KEY_CHOICE },
                { "mine.n", "N", "a number from 0 to 5", KEY_COUNT },
        };
        OwnTunables *own = NULL;
        char *error = NULL;

        assert_int_equal(read_shape(good, ELEMENTSOF(good), STRUCT, &own, &error), 0);
        assert_string_equal(own->policy, "mine");
        assert_int_equal(own->n_specs, ELEMENTSOF(expected));

        for (size_t i = 0; i < own->n_specs; i++) {
                const KeySpec *spec = own->specs + i;
                _cleanup_free_ char *text = NULL;

                assert_string_equal(spec->path, expected[i].path);
                assert_string_equal(spec->bus_name, expected[i].bus_name);
                assert_int_equal(spec->type, expected[i].type);
                assert_true(spec->def == good[i].def);
                assert_int_equal(value_expected(spec, &text), 0);
                assert_string_equal(text, expected[i].expected);

                assert_true(key_is_own(spec));
                assert_int_equal(key_index(spec), n_key_specs + i);
                assert_ptr_equal(keys_at(own, n_key_specs + i), spec);
                assert_ptr_equal(keys_find(own, spec->path), spec);
        }

        assert_string_equal(own->specs[0].help, "Pages at once");
        assert_string_equal(keys_nearest(own, "mine.bacth"), "mine.batch");
        assert_int_equal(keys_count(own), n_key_specs + own->n_specs);
        own_tunables_unref(own);
}

static void is_refused(const Member *members, size_t n, Shape shape, const char *expected) {
        OwnTunables *own = NULL;
        char *error = NULL;

        assert_int_equal(read_shape(members, n, shape, &own, &error), -EINVAL);
        assert_null(own);
        assert_string_equal(error, expected);
        free(error);
}

static void test_bad(void **state) {
        static const struct {
                Member member;
                const char *expected;
        } bad[] = {
                { { "Name", NULL, 0, { "max:5" } },
                  "expected a name of small letters, digits and underscores" },
                { { "a23456789012345678901234567890123", NULL, 0, { "max:5" } },
                  "expected a name of at most 32 characters" },
                { { "a", NULL, 0, {} }, "expected a 'max:', found none" },
                { { "a", NULL, 6, { "max:5" } }, "default: expected a number from 0 to 5, found 6" },
                { { "a", NULL, 3, { "min:7", "max:5" } }, "expected 'min:' to be at most 'max:'" },
                { { "a", NULL, 0, { "max:5", "max:6" } }, "expected one 'max:', found two" },
                { { "a", NULL, 0, { "max:LIMIT" } },
                  "max: expected a number from 0 to 9223372036854775807, found 'LIMIT'" },
                { { "a", NULL, 0, { "unit:ms", "max:5" } },
                  "expected the unit ns, bytes, % or what is counted, found 'ms'" },
                { { "a", NULL, 0, { "unit:ns", "max:5" } },
                  "max: expected a duration from 0ns to 9223372036854775807ns, in ns, us, ms or s, "
                  "found '5', which has no unit" },
                { { "a", NULL, 0, { "max:5", "never" } },
                  "expected 'never' of a time only, whose unit is ns" },
                { { "a", NULL, 0, { "choices:a,,b" } },
                  "expected different words of small letters in 'choices:'" },
                { { "a", NULL, 0, { "choices:a,b,a" } },
                  "expected different words of small letters in 'choices:'" },
                { { "a", NULL, 2, { "choices:a,b" } }, "default: expected a or b, found 2" },
                { { "a", NULL, 0, { "mix:5" } },
                  "expected unit:, min:, max:, choices:, default:, help: or never, found 'mix:5'" },
                { { "a", NULL, 0, { "max:5", "help:\x1b[31m" } },
                  "expected printable ASCII, found 'help:\\x1b[31m'" },
                { { "a", NULL, 0, { "max:5", "default:3" } }, "expected one 'default:', found two" },
                { { "a", "s64", 0, { "max:5" } }, "expected a __u64, found another type" },
                { { "a", "u32", 0, { "max:5" } }, "expected a __u64, found another type" },
                { { "a", "pointer", 0, { "max:5" } }, "expected a __u64, found another type" },
        };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                _cleanup_free_ char *expected = NULL;

                assert_true(asprintf(&expected, "tunable '%s': %s", bad[i].member.name,
                                     bad[i].expected) > 0);
                is_refused(&bad[i].member, 1, STRUCT, expected);
        }
}

static void test_bad_together(void **state) {
        static const Member same[] = {
                { "a_b", NULL, 0, { "max:5" } },
                { "a__b", NULL, 0, { "max:5" } },
        };
        Member many[MEMSEC_OWN_MAX + 1];
        char names[MEMSEC_OWN_MAX + 1][4];

        is_refused(same, 2, STRUCT, "tunable 'a__b': 'a_b' would be called AB on D-Bus too");

        for (size_t i = 0; i < ELEMENTSOF(many); i++) {
                sprintf(names[i], "a%zu", i);
                many[i] = (Member) { names[i], NULL, 0, { "max:5" } };
        }
        is_refused(many, ELEMENTSOF(many), STRUCT, "expected at most 16 tunables, found more");
}

static void test_bad_shapes(void **state) {
        static const char expected[] = "expected one struct of __u64 in section '.rodata.memsec_own', "
                                       "as MEMSEC_OWN() makes it";

        for (Shape shape = TWO_VARIABLES; shape <= SHORT_VALUES; shape++)
                is_refused(good, ELEMENTSOF(good), shape, expected);
}

static void test_policy_names(void **state) {
        static const char *const taken[] = {
                "version", "policy", "units", "tune", "teardown", "directmap", "keyid",
        };
        static const char *const bad[] = { "Mine", "my policy", "1st", "", "a.b" };
        char *error = NULL;

        assert_int_equal(own_policy_check("mine", &error), 0);
        assert_int_equal(own_policy_check("my-policy_2", &error), 0);

        for (size_t i = 0; i < ELEMENTSOF(taken) + ELEMENTSOF(bad); i++) {
                const char *name = i < ELEMENTSOF(taken) ? taken[i] : bad[i - ELEMENTSOF(taken)];

                assert_int_equal(own_policy_check(name, &error), -EINVAL);
                assert_non_null(strstr(error, "file name"));
                free(error);
        }
}

/* A policy with the tunables NAMES, all up to MAX and 1 by default. */
static OwnTunables *make_own(const char *policy, const char *max, const char *const *names) {
        char *const tags[] = { (char *) max, (char *) "default:1", NULL };
        OwnTunables *own = NULL;
        char *error = NULL;

        assert_int_equal(own_tunables_new(policy, &own), 0);
        for (; *names; names++)
                assert_int_equal(own_tunables_add(own, *names, tags, &error), 0);

        return own;
}

static uint64_t value(const PolicyModel *model, const char *path) {
        return key_spec_get(keys_find(model->own, path), &model->params);
}

/* The same policy in another version, and then another policy. */
static void test_change(void **state) {
        OwnTunables *first = make_own("mine", "max:9", (const char *const []) { "a", "b", "c", NULL });
        OwnTunables *second = make_own("mine", "max:5", (const char *const []) { "c", "d", "a", NULL });
        OwnTunables *other = make_own("other", "max:9", (const char *const []) { "a", NULL });
        PolicyModel *model = NULL;
        UnitSettings said;

        assert_int_equal(policy_model_new(&model), 0);
        policy_model_set_own(model, first);
        assert_true(value(model, "mine.a") == 1);
        key_spec_set(keys_find(first, "mine.a"), &model->params, 4);
        key_spec_set(keys_find(first, "mine.c"), &model->params, 9);
        assert_int_equal(policy_model_set_unit(model, "u.service", keys_find(first, "mine.a"), 3), 0);
        assert_int_equal(policy_model_set_unit(model, "v.service", keys_find(first, "mine.b"), 3), 0);
        assert_int_equal(policy_model_set_unit(model, "v.service", key_specs, 100), 0);
        assert_int_equal(policy_model_set_unit(model, "w.service", keys_find(first, "mine.b"), 3), 0);

        policy_model_set_own(model, second);
        assert_true(value(model, "mine.a") == 4);
        assert_true(value(model, "mine.d") == 1);
        /* Not in the range any more. */
        assert_true(value(model, "mine.c") == 1);
        assert_int_equal(model->n_units, 2);
        policy_model_get_unit(model, "u.service", &said);
        assert_true(said.keys == UINT64_C(1) << key_index(keys_find(second, "mine.a")));
        assert_true(key_spec_get(keys_find(second, "mine.a"), &said.params) == 3);
        policy_model_get_unit(model, "v.service", &said);
        assert_true(said.keys == 1);

        policy_model_set_own(model, other);
        assert_true(value(model, "other.a") == 1);
        assert_int_equal(model->n_units, 1);

        policy_model_free(model);
        own_tunables_unref(first);
        own_tunables_unref(second);
        own_tunables_unref(other);
}

int main(void) {
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_good),
                cmocka_unit_test(test_bad),
                cmocka_unit_test(test_bad_together),
                cmocka_unit_test(test_bad_shapes),
                cmocka_unit_test(test_policy_names),
                cmocka_unit_test(test_change),
        };

        return cmocka_run_group_tests_name("policy-own", tests, NULL, NULL);
}
