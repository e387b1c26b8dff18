// SPDX-License-Identifier: GPL-2.0-only

/* The table of tunables: what all that is made from it relies on. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/types.h>

#include <linux/memsec_ops.h>

#include "policy.h"
#include "util.h"

#define FOREACH_SPEC(spec) for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++)

static size_t mechanism_length(const KeySpec *spec) {
        return strcspn(spec->path, ".");
}

static bool same_mechanism(const KeySpec *a, const KeySpec *b) {
        return mechanism_length(a) == mechanism_length(b) &&
                strncmp(a->path, b->path, mechanism_length(a)) == 0;
}

static void test_paths(void **state) {
        FOREACH_SPEC(spec) {
                const char *dot = strchr(spec->path, '.');

                assert_non_null(dot);
                assert_true(dot > spec->path);
                assert_true(dot[1]);
                assert_true(strlen(spec->path) <= 64);  /* what misspellings are compared with */
                assert_int_equal(strspn(spec->path, "abcdefghijklmnopqrstuvwxyz0123456789_."),
                                 strlen(spec->path));
                assert_ptr_equal(key_spec_find(spec->path), spec);
        }
}

static void test_ranges(void **state) {
        FOREACH_SPEC(spec) {
                assert_true(spec->type < _KEY_TYPE_MAX);
                assert_true(spec->min <= spec->max);
                assert_true(value_in_range(spec, spec->def));
                assert_true(!spec->never || spec->type == KEY_DURATION);
                assert_true(!spec->unit == (spec->type != KEY_COUNT));
                assert_true(!spec->choices == (spec->type != KEY_CHOICE));
                if (spec->choices) {
                        assert_int_equal(spec->min, 0);
                        assert_non_null(spec->choices[spec->max]);
                        assert_null(spec->choices[spec->max + 1]);
                }
                if (spec->type == KEY_PERCENT)
                        assert_true(spec->max <= 100);
        }
}

/* What the kernel takes for an answer is enough for all that can be said in a file. */
static void test_kernel_ranges(void **state) {
        assert_true(key_spec_find("keyid.recycle.idle")->max <= MEMSEC_RECYCLE_MAX_WAIT);
        assert_true(key_spec_find("keyid.search")->max <= MEMSEC_KEYID_MAX_SEARCH);
        assert_true(key_spec_find("keyid.cache")->max <= MEMSEC_KEYID_MAX_CACHE * 4096);
        assert_true(key_spec_find("xpfo.batch")->max <= MEMSEC_XPFO_MAX_BATCH);
        assert_true(key_spec_find("xpfo.batch")->min >= 1);
        assert_true(key_spec_find("xpfo.pool")->max <= MEMSEC_XPFO_MAX_POOL * 4096);
}

static void test_bus_names(void **state) {
        FOREACH_SPEC(spec) {
                assert_true(spec->bus_name[0] >= 'A' && spec->bus_name[0] <= 'Z');

                /* Microseconds on the bus must be able to say the default and the limits. */
                if (spec->type == KEY_DURATION) {
                        assert_non_null(endswith(spec->bus_name, "USec"));
                        assert_int_equal(spec->min % 1000, 0);
                        assert_int_equal(spec->max % 1000, 0);
                        assert_true(value_is_never(spec, spec->def) || spec->def % 1000 == 0);
                }

                FOREACH_SPEC(other)
                        if (other != spec && same_mechanism(spec, other))
                                assert_string_not_equal(spec->bus_name, other->bus_name);
        }
}

static void test_help(void **state) {
        FOREACH_SPEC(spec) {
                assert_true(spec->help[0] >= 'A' && spec->help[0] <= 'Z');
                assert_null(endswith(spec->help, "."));
                assert_null(strchr(spec->help, '\n'));
        }
}

/* Every field but those that policies describe has a row, and only one. */
static void test_fields(void **state) {
        bool described[offsetof(struct memsec_params, own) / sizeof(uint64_t)] = {};

        assert_int_equal(sizeof(described) * sizeof(uint64_t) + MEMSEC_OWN_MAX * sizeof(uint64_t),
                         sizeof(struct memsec_params));

        FOREACH_SPEC(spec) {
                size_t i = spec->offset / sizeof(uint64_t);

                assert_int_equal(spec->offset % sizeof(uint64_t), 0);
                assert_true(i < ELEMENTSOF(described));
                assert_false(described[i]);
                described[i] = true;
        }

        for (size_t i = 0; i < ELEMENTSOF(described); i++)
                assert_true(described[i]);
}

static void test_get_set(void **state) {
        struct memsec_params params = {};
        uint64_t n = UINT64_C(0x123456789abcdef0);

        FOREACH_SPEC(spec)
                key_spec_set(spec, &params, n + (spec - key_specs));
        FOREACH_SPEC(spec)
                assert_true(key_spec_get(spec, &params) == n + (spec - key_specs));

        assert_true(params.teardown.batch ==
                    key_spec_get(key_spec_find("teardown.batch"), &params));
        assert_true(params.teardown.max_hold_ns ==
                    key_spec_get(key_spec_find("teardown.max_hold"), &params));
}

static void test_find(void **state) {
        assert_null(key_spec_find(""));
        assert_null(key_spec_find("teardown"));
        assert_null(key_spec_find("teardown.batc"));
        assert_null(key_spec_find("teardown.batch2"));
        assert_null(key_spec_find("batch"));
}

static void test_nearest(void **state) {
        static const struct {
                const char *path, *nearest;
        } cases[] = {
                { "teardown.batch", "teardown.batch" },
                { "teardown.bacth", "teardown.batch" },         /* swapped */
                { "teardown.btch", "teardown.batch" },          /* missing */
                { "teardown.batcch", "teardown.batch" },        /* doubled */
                { "teardown.natch", "teardown.batch" },         /* replaced */
                { "tear_down.batch", "teardown.batch" },
                { "Teardown.Batch", "teardown.batch" },
                { "teardown.max-hold", "teardown.max_hold" },
                { "teardown.maxhold", "teardown.max_hold" },
                { "teardown.max_hold_us", "teardown.max_hold" },
                { "batch", "teardown.batch" },
                { "hold_max", NULL },
                { "teardown.color", NULL },
                { "teardown.batch.size", NULL },
                { "teardown", NULL },
                { "color.batch", NULL },
                { "teardown.", NULL },
                { ".batch", NULL },
                { ".", NULL },
                { "", NULL },
                { "teardown.amx_hlod", "teardown.max_hold" },   /* a swap counts once */
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const char *nearest = key_spec_nearest(cases[i].path);

                assert_string_equal(nearest ?: "(none)", cases[i].nearest ?: "(none)");
        }
}

static void test_children(void **state) {
        _cleanup_strv_free_ char **top = NULL, **teardown = NULL, **none = NULL;

        assert_int_equal(key_spec_children("", &top), 0);
        assert_true(strv_find(top, "teardown") >= 0);

        assert_int_equal(key_spec_children("teardown", &teardown), 0);
        assert_int_equal(strv_length(teardown), 2);
        assert_string_equal(teardown[0], "batch");
        assert_string_equal(teardown[1], "max_hold");

        assert_int_equal(key_spec_children("teardown.batch", &none), 0);
        assert_null(none);
        assert_int_equal(key_spec_children("tear", &none), 0);
        assert_null(none);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_paths),
                cmocka_unit_test(test_ranges),
                cmocka_unit_test(test_kernel_ranges),
                cmocka_unit_test(test_bus_names),
                cmocka_unit_test(test_help),
                cmocka_unit_test(test_fields),
                cmocka_unit_test(test_get_set),
                cmocka_unit_test(test_find),
                cmocka_unit_test(test_nearest),
                cmocka_unit_test(test_children),
        };

        return cmocka_run_group_tests_name("policy-schema", tests, NULL, NULL);
}
