// SPDX-License-Identifier: GPL-2.0-only

/* The public YAML test suite: no text of it crashes the policy reader, and no invalid one is taken. */

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <json.h>
#include <sys/stat.h>

#include "policy.h"
#include "util.h"

DEFINE_TRIVIAL_CLEANUP_FUNC(PolicyModel *, policy_model_free)
DEFINE_TRIVIAL_CLEANUP_FUNC(struct json_object *, json_object_put)

/* Of the version that is fetched. */
#define SUITE_VALID 308
#define SUITE_INVALID 94

/* What is before the JSON in each of its files. */
#define JSON_PREFIX "export default "

typedef struct Counts {
        unsigned valid, invalid;
        unsigned wrong;         /* invalid ones that were taken */
} Counts;

static const char *suite_dir(void) {
        return getenv("YAML_TEST_SUITE") ?: "build/yaml-test-suite";
}

static struct json_object *read_json(const char *path) {
        char text[65536];
        const char *json;
        size_t n;
        FILE *f;

        f = fopen(path, "re");
        assert_non_null(f);
        n = fread(text, 1, sizeof(text) - 1, f);
        text[n] = '\0';
        (void) fclose(f);
        json = strstr(text, JSON_PREFIX);

        return json ? json_tokener_parse(json + strlen(JSON_PREFIX)) : NULL;
}

/* What an operator would see is text. */
static void assert_printable(const PolicyErrors *errors) {
        _cleanup_free_ char *text = NULL;

        assert_true(errors->n_items > 0);
        assert_int_equal(policy_errors_format(errors, &text), 0);
        for (const char *p = text; *p; p++)
                assert_true((*p >= ' ' && *p <= '~') || *p == '\n');
}

static int read_text(const char *name, const char *text, size_t size) {
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        int r;

        assert_int_equal(policy_model_new(&model), 0);
        r = policy_model_read_text(model, name, text, size, &errors);
        if (r == -EBADMSG)
                assert_printable(&errors);
        else
                assert_int_equal(r, 0);

        return r;
}

static void check_file(const char *path, Counts *counts) {
        _cleanup_(json_object_putp) struct json_object *file = read_json(path);
        struct json_object *cases, *yaml, *fail;
        int r;

        if (!json_object_object_get_ex(file, "cases", &cases))
                fail_msg("%s: no cases", path);

        for (size_t i = 0; i < json_object_array_length(cases); i++) {
                struct json_object *c = json_object_array_get_idx(cases, i);
                bool valid = !json_object_object_get_ex(c, "fail", &fail) || !json_object_get_boolean(fail);

                if (!json_object_object_get_ex(c, "yaml", &yaml))
                        fail_msg("%s: no yaml", path);

                (*(valid ? &counts->valid : &counts->invalid))++;
                r = read_text(path, json_object_get_string(yaml), json_object_get_string_len(yaml));
                if (r >= 0 && !valid) {
                        print_error("%s: case %zu is invalid and was taken\n", path, i);
                        counts->wrong++;
                }
        }
}

static void test_suite(void **state) {
        _cleanup_closedir_ DIR *dir = opendir(suite_dir());
        const struct dirent *entry;
        Counts counts = {};

        assert_non_null(dir);
        while ((entry = readdir(dir))) {
                char path[PATH_MAX];

                if (!endswith(entry->d_name, ".js") || streq(entry->d_name, "index.js"))
                        continue;

                (void) snprintf(path, sizeof(path), "%s/%s", suite_dir(), entry->d_name);
                check_file(path, &counts);
        }

        print_message("# %u valid and %u invalid texts\n", counts.valid, counts.invalid);
        assert_int_equal(counts.valid, SUITE_VALID);
        assert_int_equal(counts.invalid, SUITE_INVALID);
        assert_int_equal(counts.wrong, 0);
}

/* cmocka has no reason for what is skipped. */
static void skip_all(void) {
        char why[256] = "";
        FILE *f;

        f = fopen(suite_dir(), "re");
        if (!f || !fgets(why, sizeof(why), f))
                (void) snprintf(why, sizeof(why), "%s: %m\n", suite_dir());
        printf("# %s1..1\nok 1 - the public YAML test suite # SKIP %s", why, why);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                { .name = "no invalid text is taken", .test_func = test_suite },
        };
        struct stat st;

        if (stat(suite_dir(), &st) < 0 || !S_ISDIR(st.st_mode)) {
                skip_all();
                return EXIT_SUCCESS;
        }

        return cmocka_run_group_tests_name("suite", tests, NULL, NULL);
}
