// SPDX-License-Identifier: GPL-2.0-only

/* What memsecd makes of /sys/kernel/memsec, with a made-up one. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "kernel.h"

static char root[] = "/tmp/test-daemon-kernel.XXXXXX";

static void make_dir(const char *name) {
        _cleanup_free_ char *path = NULL;

        assert_true(asprintf(&path, "%s%s", root, name) > 0);
        assert_true(mkdir(path, 0755) >= 0);
}

/* A file of /sys/kernel/memsec. */
static void put(const char *name, const char *text) {
        _cleanup_free_ char *path = NULL;
        _cleanup_fclose_ FILE *f = NULL;

        assert_true(asprintf(&path, "%s/sys/kernel/memsec/%s", root, name) > 0);
        f = fopen(path, "w");
        assert_non_null(f);
        assert_true(fputs(text, f) >= 0);
}

static int setup(void **state) {
        static const char template[] = "/tmp/test-daemon-kernel.XXXXXX";

        memcpy(root, template, sizeof(template));
        assert_non_null(mkdtemp(root));
        make_dir("/sys");
        make_dir("/sys/kernel");
        return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        return remove(path);
}

static int teardown(void **state) {
        return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void test_absent(void **state) {
        _cleanup_kernel_values_ KernelValues values = {};
        _cleanup_free_ char *name = NULL, *programs = NULL;

        assert_int_equal(kernel_state(root), KERNEL_ABSENT);
        assert_int_equal(kernel_abi(root), 0);
        assert_int_equal(kernel_policy_name(root, &name), 0);
        assert_string_equal(name, "");
        assert_int_equal(kernel_policy_programs(root, &programs), 0);
        assert_string_equal(programs, "");
        assert_int_equal(kernel_values_read(root, "teardown", &values), 0);
        assert_int_equal(values.n_items, 0);
}

static void test_states(void **state) {
        static const struct {
                const char *text;
                KernelState expected;
        } states[] = {
                { "off\n",      KERNEL_OFF      },
                { "detached\n", KERNEL_DETACHED },
                { "attached\n", KERNEL_ATTACHED },
                { "fused\n",    KERNEL_FUSED    },
                { "attached",   KERNEL_ATTACHED },
                { "melted\n",   KERNEL_ABSENT   },
                { "attachedx",  KERNEL_ABSENT   },
                { "",           KERNEL_ABSENT   },
        };

        make_dir("/sys/kernel/memsec");
        for (size_t i = 0; i < ELEMENTSOF(states); i++) {
                put("state", states[i].text);
                assert_int_equal(kernel_state(root), states[i].expected);
        }
}

static void test_abi_and_policy(void **state) {
        _cleanup_free_ char *name = NULL, *programs = NULL;

        make_dir("/sys/kernel/memsec");
        put("abi", "1\n");
        put("policy", "fixed\n");
        put("programs", "47 11\n");
        assert_int_equal(kernel_abi(root), 1);
        assert_int_equal(kernel_policy_name(root, &name), 0);
        assert_string_equal(name, "fixed");
        assert_int_equal(kernel_policy_programs(root, &programs), 0);
        assert_string_equal(programs, "47 11");

        put("abi", "one\n");
        assert_int_equal(kernel_abi(root), 0);
        put("abi", "4294967297\n");
        assert_int_equal(kernel_abi(root), 0);
}

static void test_values(void **state) {
        _cleanup_kernel_values_ KernelValues values = {};

        make_dir("/sys/kernel/memsec");
        make_dir("/sys/kernel/memsec/teardown");
        make_dir("/sys/kernel/memsec/teardown/more");
        put("teardown/pages", "18446744073709551615\n");
        put("teardown/asked", "0\n");
        put("teardown/word", "word\n");
        put("teardown/empty", "");
        put("teardown/too_large", "18446744073709551616\n");
        put("teardown/max_hold_us", "4000\n");

        assert_int_equal(kernel_values_read(root, "teardown", &values), 0);
        assert_int_equal(values.n_items, 3);
        assert_string_equal(values.items[0].name, "asked");
        assert_int_equal(values.items[0].value, 0);
        assert_string_equal(values.items[1].name, "max_hold_us");
        assert_int_equal(values.items[1].value, 4000);
        assert_string_equal(values.items[2].name, "pages");
        assert_true(values.items[2].value == UINT64_MAX);
}

static void test_counter(void **state) {
        uint64_t value;
        int fd;

        make_dir("/sys/kernel/memsec");
        assert_int_equal(kernel_asked_open(root, "teardown"), -ENOENT);
        make_dir("/sys/kernel/memsec/teardown");
        put("teardown/breaks", "18446744073709551615\n");
        put("teardown/word", "word\n");
        put("teardown/asked", "41\n");

        assert_int_equal(kernel_counter_read(root, "teardown", "breaks", &value), 0);
        assert_true(value == UINT64_MAX);
        assert_int_equal(kernel_counter_read(root, "teardown", "brakes", &value), -ENOENT);
        assert_int_equal(kernel_counter_read(root, "keyid", "breaks", &value), -ENOENT);
        assert_int_equal(kernel_counter_read(root, "teardown", "word", &value), -EINVAL);

        /* The same file is read again and again. */
        fd = kernel_asked_open(root, "teardown");
        assert_true(fd >= 0);
        assert_int_equal(kernel_asked_read(fd, &value), 0);
        assert_int_equal(value, 41);
        put("teardown/asked", "42\n");
        assert_int_equal(kernel_asked_read(fd, &value), 0);
        assert_int_equal(value, 42);
        close(fd);
}

int main(void) {
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_absent, setup, teardown),
                cmocka_unit_test_setup_teardown(test_states, setup, teardown),
                cmocka_unit_test_setup_teardown(test_abi_and_policy, setup, teardown),
                cmocka_unit_test_setup_teardown(test_values, setup, teardown),
                cmocka_unit_test_setup_teardown(test_counter, setup, teardown),
        };

        return cmocka_run_group_tests_name("daemon-kernel", tests, NULL, NULL);
}
