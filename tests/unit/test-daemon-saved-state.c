// SPDX-License-Identifier: GPL-2.0-only

/* What one instance of memsecd writes for the next one, and what that makes of damaged and foreign text. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "saved-state.h"

static int state_with(const char *text) {
        int fd = saved_state_open();

        assert_true(fd >= 0);
        assert_int_equal(write(fd, text, strlen(text)), strlen(text));
        return fd;
}

static void test_round_trip(void **state) {
        _cleanup_saved_state_ SavedState saved = {}, read = {};
        _cleanup_close_ int fd = saved_state_open();

        assert_true(fd >= 0);
        assert_int_equal(policy_model_new(&saved.model), 0);
        assert_int_equal(free_and_strdup(&saved.model->policy, "/a=b/c.bpf.o"), 0);
        for (size_t i = 0; i < n_key_specs; i++)
                key_spec_set(key_specs + i, &saved.model->params, key_specs[i].max - i % key_specs[i].max);
        for (int i = 0; i < 3; i++)
                assert_int_equal(policy_model_set_unit(saved.model, i == 1 ? "*.slice" : "a@.service",
                                                       key_specs + i % n_key_specs, 100000 + i), 0);
        assert_int_equal(strv_extend(&saved.files, "/etc/memsec/policy.yaml"), 0);
        assert_int_equal(strv_extend(&saved.files, "/run/memsec/policy.d/a=b.yaml"), 0);
        assert_int_equal(free_and_strdup(&saved.object, "1:2:3"), 0);
        saved.map_id = UINT32_MAX;
        saved.stopped = true;

        assert_int_equal(saved_state_write(fd, &saved), 0);
        assert_int_equal(saved_state_read(fd, &read), 0);

        assert_string_equal(read.model->policy, "/a=b/c.bpf.o");
        assert_memory_equal(&read.model->params, &saved.model->params, sizeof(struct memsec_params));
        assert_int_equal(read.model->n_units, saved.model->n_units);
        for (size_t i = 0; i < read.model->n_units; i++) {
                assert_string_equal(read.model->units[i].pattern, saved.model->units[i].pattern);
                assert_true(read.model->units[i].keys == saved.model->units[i].keys);
                assert_memory_equal(&read.model->units[i].params, &saved.model->units[i].params,
                                    sizeof(struct memsec_params));
        }
        assert_int_equal(strv_length(read.files), 2);
        assert_string_equal(read.files[0], "/etc/memsec/policy.yaml");
        assert_string_equal(read.files[1], "/run/memsec/policy.d/a=b.yaml");
        assert_string_equal(read.object, "1:2:3");
        assert_int_equal(read.map_id, UINT32_MAX);
        assert_true(read.stopped);
}

/* What the policy has of its own is known to the next instance without its object. */
static void test_own(void **state) {
        static char *const pages[] = { "unit:pages", "min:1", "max:9", "help:A=b", "default:2", NULL };
        static char *const mood[] = { "choices:calm,hasty", "default:0", NULL };
        _cleanup_saved_state_ SavedState saved = {}, read = {};
        _cleanup_close_ int fd = saved_state_open();
        OwnTunables *own = NULL;
        char *error = NULL;

        assert_int_equal(policy_model_new(&saved.model), 0);
        assert_int_equal(free_and_strdup(&saved.model->policy, "/a/mine.bpf.o"), 0);
        assert_int_equal(own_tunables_new("mine", &own), 0);
        assert_int_equal(own_tunables_add(own, "pages", pages, &error), 0);
        assert_int_equal(own_tunables_add(own, "mood", mood, &error), 0);
        policy_model_set_own(saved.model, own);
        key_spec_set(own->specs, &saved.model->params, 7);
        assert_int_equal(policy_model_set_unit(saved.model, "a.service", own->specs + 1, 1), 0);

        assert_int_equal(saved_state_write(fd, &saved), 0);
        assert_int_equal(saved_state_read(fd, &read), 0);

        assert_true(own_tunables_equal(read.model->own, own));
        assert_memory_equal(&read.model->params, &saved.model->params, sizeof(struct memsec_params));
        assert_int_equal(read.model->n_units, 1);
        assert_true(read.model->units[0].keys == UINT64_C(1) << key_index(own->specs + 1));
        assert_true(key_spec_get(own->specs + 1, &read.model->units[0].params) == 1);
        own_tunables_unref(own);
}

/* Loops too, whether they run or not; not those whose tunable this version does not have. */
static void test_loops(void **state) {
        static const TuneLoop loops[] = {
                {
                        .key = (char *) "teardown.batch", .unit = (char *) "a@*.service",
                        .source = (char *) "b.service", .resource = TUNE_IO, .full = true, .target = 5,
                        .min = 64, .max = 65536, .raises = true, .every_ns = 100000000,
                },
                {
                        .key = (char *) "keyid.cache", .counter = (char *) "keyid.flushes", .target = 200,
                        .min = 0, .max = 1 << 30, .every_ns = UINT64_C(3600000000000),
                        .stopped = TUNE_STOPPED_BY_HAND,
                },
        };
        _cleanup_saved_state_ SavedState saved = {}, read = {};
        _cleanup_close_ int fd = saved_state_open();

        assert_int_equal(policy_model_new(&saved.model), 0);
        for (size_t i = 0; i < ELEMENTSOF(loops); i++)
                assert_int_equal(policy_model_set_loop(saved.model, loops + i), 0);
        assert_int_equal(saved_state_write(fd, &saved), 0);
        assert_int_equal(saved_state_read(fd, &read), 0);

        assert_int_equal(read.model->n_loops, ELEMENTSOF(loops));
        for (size_t i = 0; i < ELEMENTSOF(loops); i++) {
                const TuneLoop *a = loops + i, *b = read.model->loops + i;

                assert_string_equal(b->key, a->key);
                assert_string_equal(b->unit ?: "", a->unit ?: "");
                assert_string_equal(b->counter ?: "", a->counter ?: "");
                assert_string_equal(b->source ?: "", a->source ?: "");
                assert_int_equal(b->resource, a->resource);
                assert_int_equal(b->full, a->full);
                assert_int_equal(b->target, a->target);
                assert_int_equal(b->min, a->min);
                assert_int_equal(b->max, a->max);
                assert_int_equal(b->raises, a->raises);
                assert_int_equal(b->every_ns, a->every_ns);
                assert_int_equal(b->stopped, a->stopped);
        }
}

static void test_foreign_loops(void **state) {
        static const struct {
                const char *text;
                int r;
        } lines[] = {
                { "none.such - - - 0 0 5 1 2 1 1000000000 0", 0 },
                { "teardown.batch - - - 0 0 5 1 2 1 1000000000 0", 0 },
                { "teardown.batch - - - 0 0 5 0 2 1 1000000000 0", -EBADMSG },
                { "teardown.batch - - - 0 0 5 2 2 1 1000000000 0", -EBADMSG },
                { "teardown.batch - - - 0 0 5 1 1048577 1 1000000000 0", -EBADMSG },
                { "teardown.batch - - - 0 0 0 1 2 1 1000000000 0", -EBADMSG },
                { "teardown.batch - - - 0 0 5 1 2 1 0 0", -EBADMSG },
                { "teardown.batch - - - 3 0 5 1 2 1 1000000000 0", -EBADMSG },
                { "teardown.batch - - - 0 0 5 1 2 1 1000000000 3", -EBADMSG },
                { "teardown.batch - - - 0 0 5 1 2 1 1000000000", -EBADMSG },
                { "teardown.batch - - - 0 0 5 1 2 1 1000000000 0 0", -EBADMSG },
                { "teardown.batch - breaks - 0 0 5 1 2 1 1000000000 0", -EBADMSG },
                { "keyid.flush - - - 0 0 5 0 1 1 1000000000 0", -EBADMSG },
                { "", -EBADMSG },
        };

        for (size_t i = 0; i < ELEMENTSOF(lines); i++) {
                _cleanup_saved_state_ SavedState read = {};
                _cleanup_free_ char *text = NULL;
                _cleanup_close_ int fd = -1;

                assert_true(asprintf(&text, "LOOP=%s\nEND=1\n", lines[i].text) > 0);
                fd = state_with(text);
                assert_int_equal(saved_state_read(fd, &read), lines[i].r);
                if (lines[i].r == 0)
                        assert_int_equal(read.model->n_loops, i);
        }
}

static void test_shorter_over_longer(void **state) {
        _cleanup_saved_state_ SavedState saved = {}, read = {};
        _cleanup_close_ int fd = saved_state_open();

        assert_true(fd >= 0);
        assert_int_equal(policy_model_new(&saved.model), 0);
        assert_int_equal(free_and_strdup(&saved.model->policy, "a-policy-with-a-long-name"), 0);
        assert_int_equal(saved_state_write(fd, &saved), 0);
        assert_int_equal(free_and_strdup(&saved.model->policy, "short"), 0);
        assert_int_equal(saved_state_write(fd, &saved), 0);

        assert_int_equal(saved_state_read(fd, &read), 0);
        assert_string_equal(read.model->policy, "short");
}

/* Written by a version with other tunables. */
static void test_unknown_names(void **state) {
        _cleanup_close_ int fd = state_with("NEW=1\nPOLICY=fixed\nteardown.new=5\nkeyid.at=8\n"
                                            "teardown.batch=12\nEND=1\n");
        _cleanup_saved_state_ SavedState read = {};

        assert_int_equal(saved_state_read(fd, &read), 0);
        assert_string_equal(read.model->policy, "fixed");
        assert_int_equal(read.model->params.teardown.batch, 12);
        assert_int_equal(read.model->params.teardown.max_hold_ns, key_spec_find("teardown.max_hold")->def);
        assert_false(read.stopped);
}

/* Written by a version without a mechanism, which is left alone then: zeros would not be that everywhere. */
static void test_fewer_names(void **state) {
        _cleanup_close_ int fd = state_with("POLICY=fixed\nteardown.batch=12\n"
                                            "UNIT=a.service\nunit.teardown.batch=13\nEND=1\n");
        _cleanup_saved_state_ SavedState read = {};

        assert_int_equal(saved_state_read(fd, &read), 0);
        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++)
                assert_true(key_spec_get(spec, &read.model->params) ==
                            (streq(spec->path, "teardown.batch") ? 12 : spec->def));
        assert_true(read.model->params.keyid.recycle_idle_ns == MEMSEC_NEVER);

        assert_int_equal(read.model->n_units, 1);
        assert_int_equal(read.model->units[0].keys,
                         UINT64_C(1) << (key_spec_find("teardown.batch") - key_specs));
}

static void test_damaged(void **state) {
        static const char *const damaged[] = {
                "",
                "POLICY=fixed\n",
                "POLICY=fixed\nEND=1",
                "POLICY\nEND=1\n",
                "no text at all",
                "MAP=\nEND=1\n",
                "MAP=-1\nEND=1\n",
                "MAP=4294967296\nEND=1\n",
                "MAP=1x\nEND=1\n",
                "STOPPED=2\nEND=1\n",
                "teardown.batch=0\nEND=1\n",
                "teardown.batch=99999999999\nEND=1\n",
                "teardown.batch=18446744073709551616\nEND=1\n",
                "directmap.direction=3\nEND=1\n",
                "POLICY=/mine.bpf.o\nTUNABLE=a\nEND=1\n",
                "directmap.direction=up\nEND=1\n",
                "keyid.flush=2\nEND=1\n",
                "keyid.recycle.idle=3600000000001\nEND=1\n",
                "unit.teardown.batch=1\nEND=1\n",
                "UNIT=a.service\nunit.teardown.batch=0\nEND=1\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(damaged); i++) {
                _cleanup_close_ int fd = state_with(damaged[i]);
                _cleanup_saved_state_ SavedState read = {};

                assert_int_equal(saved_state_read(fd, &read), -EBADMSG);
                assert_null(read.model);
        }
}

static void test_no_file(void **state) {
        _cleanup_saved_state_ SavedState read = {};
        int fds[2];

        assert_int_equal(pipe(fds), 0);
        assert_int_equal(saved_state_read(fds[0], &read), -EBADMSG);
        safe_close(fds[0]);
        safe_close(fds[1]);
}

int main(void) {
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_round_trip),
                cmocka_unit_test(test_own),
                cmocka_unit_test(test_loops),
                cmocka_unit_test(test_foreign_loops),
                cmocka_unit_test(test_shorter_over_longer),
                cmocka_unit_test(test_unknown_names),
                cmocka_unit_test(test_fewer_names),
                cmocka_unit_test(test_damaged),
                cmocka_unit_test(test_no_file),
        };

        return cmocka_run_group_tests_name("daemon-saved-state", tests, NULL, NULL);
}
