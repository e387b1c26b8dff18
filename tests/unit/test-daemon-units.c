// SPDX-License-Identifier: GPL-2.0-only

/* Cgroups that come and go, with directories for them. What needs the policy's map is in the VM's tests. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ftw.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "units.h"

DEFINE_TRIVIAL_CLEANUP_FUNC(PolicyModel *, policy_model_free)

typedef struct Fixture {
        char root[32];
        PolicyModel *model;
        Units *units;
} Fixture;

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        return remove(path);
}

static void make(const Fixture *f, const char *cgroup) {
        _cleanup_free_ char *path = NULL;

        assert_true(asprintf(&path, "%s/sys/fs/cgroup/%s", f->root, cgroup) > 0);
        assert_int_equal(mkdir(path, 0755), 0);
}

static void take(const Fixture *f, const char *cgroup) {
        _cleanup_free_ char *path = NULL;

        assert_true(asprintf(&path, "%s/sys/fs/cgroup/%s", f->root, cgroup) > 0);
        assert_int_equal(rmdir(path), 0);
}

static void say(Fixture *f, const char *pattern, uint64_t batch) {
        const KeySpec *spec = key_spec_find("teardown.batch");

        assert_int_equal(policy_model_set_unit(f->model, pattern, spec, batch), 0);
}

static void look(Fixture *f) {
        f->units = units_free(f->units);
        assert_int_equal(units_new(f->root, f->model, &f->units), 0);
}

static void dispatch(Fixture *f, uint64_t now_usec) {
        assert_int_equal(units_dispatch(f->units, f->model, now_usec), 0);
}

/* The batch of what is at PATH, 0 when it has no parameters of its own or is gone. */
static uint64_t batch_of(const Fixture *f, const char *path) {
        uint64_t batch = 0;

        for (size_t i = 0; i < f->units->n_items; i++) {
                const UnitCgroup *item = f->units->items + i;

                if (!streq(item->path, path) || !item->has_params || item->gone_usec > 0)
                        continue;

                /* Nothing is known twice. */
                assert_int_equal(batch, 0);
                batch = item->params.teardown.batch;
        }

        return batch;
}

static size_t count_table(const Fixture *f) {
        _cleanup_params_table_ ParamsTable table = {};

        assert_int_equal(units_table(f->units, &table), 0);
        return table.n_items;
}

static int setup(void **state) {
        Fixture *f = calloc(1, sizeof(Fixture));
        char path[64];

        /* In memory: some tests make thousands. */
        strcpy(f->root, "/dev/shm/test-units-XXXXXX");
        assert_non_null(mkdtemp(f->root));
        sprintf(path, "%s/sys", f->root);
        assert_int_equal(mkdir(path, 0755), 0);
        strcat(path, "/fs");
        assert_int_equal(mkdir(path, 0755), 0);
        make(f, "");

        assert_int_equal(policy_model_new(&f->model), 0);
        *state = f;
        return 0;
}

static int teardown(void **state) {
        Fixture *f = *state;

        units_free(f->units);
        policy_model_free(f->model);
        (void) nftw(f->root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
        free(f);
        return 0;
}

static void test_nothing_to_follow(void **state) {
        Fixture *f = *state;

        make(f, "a.service");
        look(f);
        assert_null(f->units);
        assert_null(units_find(f->units, "a.service"));
}

static void test_scan(void **state) {
        Fixture *f = *state;

        make(f, "a.slice");
        make(f, "a.slice/x.service");
        make(f, "a.slice/x.service/payload");
        make(f, "a.slice/y.service");
        make(f, "a.slice/y.service/payload");
        make(f, "b");
        make(f, "b/x.service");
        say(f, "x.service", 5);
        look(f);

        assert_int_equal(batch_of(f, "/a.slice/x.service"), 5);
        assert_int_equal(batch_of(f, "/a.slice/x.service/payload"), 5);
        assert_int_equal(batch_of(f, "/a.slice/y.service"), 0);
        assert_int_equal(batch_of(f, "/a.slice"), 0);
        assert_int_equal(count_table(f), 2);
        /* Neither what no unit is in, nor other units. */
        assert_int_equal(f->units->n_items, 4);
}

static void test_come_and_go(void **state) {
        Fixture *f = *state;
        const UnitCgroup *item;
        struct stat st;
        char path[128];

        say(f, "x.service", 5);
        look(f);
        dispatch(f, 1);

        make(f, "a.slice");
        make(f, "a.slice/x.service");
        dispatch(f, 1);
        assert_int_equal(batch_of(f, "/a.slice/x.service"), 5);

        item = units_find(f->units, "x.service");
        assert_non_null(item);
        sprintf(path, "%s/sys/fs/cgroup/a.slice/x.service", f->root);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(item->id, st.st_ino);

        /* In the slice, now that it is watched. */
        make(f, "a.slice/y.service");
        make(f, "a.slice/x.service/payload");
        dispatch(f, 1);
        assert_int_equal(batch_of(f, "/a.slice/x.service/payload"), 5);

        take(f, "a.slice/x.service/payload");
        take(f, "a.slice/x.service");
        dispatch(f, 1);
        assert_null(units_find(f->units, "x.service"));
        assert_int_equal(f->units->n_items, 2);

        take(f, "a.slice/y.service");
        take(f, "a.slice");
        dispatch(f, 1);
        assert_int_equal(f->units->n_items, 1);
}

/* Faster than memsecd can look. */
static void test_again_and_again(void **state) {
        Fixture *f = *state;

        say(f, "x.service", 5);
        look(f);
        for (int i = 0; i < 100; i++) {
                make(f, "x.service");
                if (i % 7 == 0)
                        dispatch(f, 1);
                take(f, "x.service");
        }
        make(f, "x.service");
        for (int i = 0; i < 10; i++)
                dispatch(f, 1);

        assert_int_equal(batch_of(f, "/x.service"), 5);
        assert_int_equal(f->units->n_items, 2);

        take(f, "x.service");
        dispatch(f, 1);
        assert_int_equal(f->units->n_items, 1);
}

static void test_kept_while_stored(void **state) {
        _cleanup_(units_freep) Units *next = NULL;
        Fixture *f = *state;

        make(f, "x.service");
        make(f, "y.service");
        make(f, "z.service");
        say(f, "?.service", 5);
        look(f);
        units_set_stored(f->units, true);
        assert_int_equal(units_first_gone(f->units), UINT64_MAX);

        take(f, "x.service");
        dispatch(f, 10);
        take(f, "y.service");
        dispatch(f, 20);
        assert_null(units_find(f->units, "x.service"));
        assert_int_equal(units_first_gone(f->units), 10);
        assert_int_equal(count_table(f), 3);

        /* Over a reload, with what the new files say. */
        say(f, "[yz].service", 6);
        say(f, "z.service", 7);
        assert_int_equal(units_new(f->root, f->model, &next), 0);
        take(f, "z.service");
        assert_int_equal(units_keep_gone(next, f->units, f->model, 30), 0);
        assert_int_equal(units_first_gone(next), 10);
        assert_int_equal(next->n_items, 4);
        for (size_t i = 0; i < next->n_items; i++)
                if (next->items[i].gone_usec > 0)
                        assert_int_equal(next->items[i].params.teardown.batch,
                                         streq(next->items[i].path, "/y.service") ? 6 : 5);

        units_set_stored(next, false);
        assert_int_equal(units_first_gone(next), UINT64_MAX);
}

static void test_limit(void **state) {
        _cleanup_params_table_ ParamsTable table = {};
        Fixture *f = *state;
        char name[32];

        say(f, "u*.service", 5);
        look(f);
        for (int i = 0; i < UNITS_MAX; i++) {
                sprintf(name, "u%d.service", i);
                make(f, name);
        }
        for (int i = 0; i < 100; i++)
                dispatch(f, 1);
        assert_int_equal(count_table(f), UNITS_MAX);

        make(f, "u.service");
        dispatch(f, 1);
        assert_int_equal(units_table(f->units, &table), -E2BIG);

        /* What is there has precedence over what is gone. */
        take(f, "u.service");
        dispatch(f, 1);
        units_set_stored(f->units, true);
        take(f, "u1.service");
        dispatch(f, 1);
        assert_int_equal(units_first_gone(f->units), 1);
        assert_int_equal(count_table(f), UNITS_MAX);
        make(f, "u.service");
        dispatch(f, 2);
        assert_int_equal(count_table(f), UNITS_MAX);
        assert_int_equal(units_first_gone(f->units), UINT64_MAX);
        assert_non_null(units_find(f->units, "u.service"));
}

static void test_lost_events(void **state) {
        Fixture *f = *state;
        char name[32];
        int r = 0;

        say(f, "x.service", 5);
        look(f);
        /* More than the kernel keeps by default. */
        for (int i = 0; i < 20000; i++) {
                sprintf(name, "u%d.service", i & 1);
                make(f, name);
                take(f, name);
        }

        for (int i = 0; i < 1000 && r == 0; i++)
                r = units_dispatch(f->units, f->model, 1);
        assert_int_equal(r, -EOVERFLOW);
}

int main(void) {
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_nothing_to_follow, setup, teardown),
                cmocka_unit_test_setup_teardown(test_scan, setup, teardown),
                cmocka_unit_test_setup_teardown(test_come_and_go, setup, teardown),
                cmocka_unit_test_setup_teardown(test_again_and_again, setup, teardown),
                cmocka_unit_test_setup_teardown(test_kept_while_stored, setup, teardown),
                cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
                cmocka_unit_test_setup_teardown(test_lost_events, setup, teardown),
        };

        return cmocka_run_group_tests_name("daemon-units", tests, NULL, NULL);
}
