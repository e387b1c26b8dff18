// SPDX-License-Identifier: GPL-2.0-only

/* Files: which are read, in which order, which are refused. Each test has a root directory of its own. */

#include <ftw.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "policy.h"
#include "util.h"

DEFINE_TRIVIAL_CLEANUP_FUNC(PolicyModel *, policy_model_free)

#define USR "/usr/lib/memsec/policy.yaml"
#define ETC "/etc/memsec/policy.yaml"
#define ETC_D "/etc/memsec/policy.d"
#define RUN_D "/run/memsec/policy.d"

#define BATCH(n) "version: 1\nteardown: {batch: " #n "}\n"

static int setup(void **state) {
        char template[] = "/tmp/test-policy-load.XXXXXX";

        if (!mkdtemp(template))
                return -1;

        *state = strdup(template);
        return *state ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        return remove(path);
}

static int teardown(void **state) {
        int r = nftw(*state, remove_entry, 16, FTW_DEPTH | FTW_PHYS);

        free(*state);
        return r;
}

/* PATH below ROOT, whose directories are made. To be freed. */
static char *make_path(const char *root, const char *path) {
        char *full;

        assert_true(asprintf(&full, "%s%s", root, path) > 0);
        for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
                *slash = 0;
                assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
                *slash = '/';
        }

        return full;
}

static void write_file(const char *root, const char *path, const char *text) {
        _cleanup_free_ char *full = make_path(root, path);
        _cleanup_fclose_ FILE *f = NULL;

        f = fopen(full, "w");
        assert_non_null(f);
        assert_true(fputs(text, f) >= 0);
        assert_int_equal(fchmod(fileno(f), 0644), 0);
}

static void change_mode(const char *root, const char *path, mode_t mode) {
        _cleanup_free_ char *full = make_path(root, path);

        assert_int_equal(chmod(full, mode), 0);
}

static void make_link(const char *root, const char *path, const char *target) {
        _cleanup_free_ char *full = make_path(root, path);

        assert_int_equal(symlink(target, full), 0);
}

/* Loads ROOT, which must be fine, and expects FILES, separated by blanks, to be read. Returns the model. */
static PolicyModel *load(const char *root, const char *files) {
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_free_ char *text = NULL, *read = NULL;
        _cleanup_strv_free_ char **paths = NULL;
        PolicyModel *model;
        size_t size;
        FILE *f;
        int r;

        r = policy_model_load(root, /* may_miss= */ false, &model, &paths, &errors);
        if (r < 0 && policy_errors_format(&errors, &text) >= 0)
                print_error("%s\n", text);
        assert_int_equal(r, 0);
        assert_int_equal(errors.n_items, 0);

        f = open_memstream(&read, &size);
        assert_non_null(f);
        STRV_FOREACH(path, paths)
                fprintf(f, "%s%s", path == paths ? "" : " ", startswith(*path, root) ?: "(not below root)");
        assert_int_equal(fclose(f), 0);
        assert_string_equal(read, files);

        return model;
}

static void check_batch(const char *root, const char *files, uint64_t batch) {
        _cleanup_(policy_model_freep) PolicyModel *model = load(root, files);

        assert_true(model->params.teardown.batch == batch);
}

/* Loads ROOT, which must fail with EXPECTED, where every line begins with a file's path without ROOT. */
static void check_errors(const char *root, const char *expected) {
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_free_ char *text = NULL, *shown = NULL;
        PolicyModel *model = NULL;
        char **files = NULL, *end;

        assert_int_equal(policy_model_load(root, /* may_miss= */ false, &model, &files, &errors), -EBADMSG);
        assert_null(model);
        assert_null(files);

        assert_int_equal(policy_errors_format(&errors, &text), 0);
        end = shown = calloc(1, strlen(text) + 1);
        assert_non_null(shown);
        for (const char *p = text; *p;)
                if (startswith(p, root))
                        p += strlen(root);
                else
                        *end++ = *p++;

        assert_string_equal(shown, expected);
}

static void test_nothing(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = load(*state, "");

        assert_string_equal(model->policy, POLICY_DEFAULT);
        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++)
                assert_true(key_spec_get(spec, &model->params) == spec->def);
}

static void test_order(void **state) {
        write_file(*state, USR, BATCH(1));
        check_batch(*state, USR, 1);

        write_file(*state, ETC, BATCH(2));
        check_batch(*state, USR " " ETC, 2);

        write_file(*state, RUN_D "/20.yaml", BATCH(3));
        check_batch(*state, USR " " ETC " " RUN_D "/20.yaml", 3);

        write_file(*state, ETC_D "/10.yaml", BATCH(4));
        check_batch(*state, USR " " ETC " " ETC_D "/10.yaml " RUN_D "/20.yaml", 3);

        write_file(*state, ETC_D "/30.yaml", BATCH(5));
        check_batch(*state, USR " " ETC " " ETC_D "/10.yaml " RUN_D "/20.yaml " ETC_D "/30.yaml", 5);
}

/* Byte by byte, whatever the locale. */
static void test_name_order(void **state) {
        write_file(*state, ETC_D "/b.yaml", BATCH(1));
        write_file(*state, ETC_D "/B.yaml", BATCH(2));
        write_file(*state, RUN_D "/a-b.yaml", BATCH(3));
        write_file(*state, ETC_D "/a.yaml", BATCH(4));
        write_file(*state, RUN_D "/9.yaml", BATCH(5));
        write_file(*state, RUN_D "/10.yaml", BATCH(6));

        check_batch(*state, RUN_D "/10.yaml " RUN_D "/9.yaml " ETC_D "/B.yaml " RUN_D "/a-b.yaml "
                    ETC_D "/a.yaml " ETC_D "/b.yaml", 1);
}

/* A layer says something about the keys it names, and about no others. */
static void test_layers_add_up(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;

        write_file(*state, USR, "version: 1\npolicy: one\nteardown: {batch: 5, max_hold: 5ms}\n");
        write_file(*state, ETC, "version: 1\npolicy: two\n");
        write_file(*state, ETC_D "/a.yaml", "version: 1\nteardown: {batch: 6}\n");
        write_file(*state, ETC_D "/b.yaml", "# nothing\n");

        model = load(*state, USR " " ETC " " ETC_D "/a.yaml " ETC_D "/b.yaml");
        assert_string_equal(model->policy, "two");
        assert_true(model->params.teardown.batch == 6);
        assert_true(model->params.teardown.max_hold_ns == 5000000);
}

static void test_etc_hides_run(void **state) {
        write_file(*state, RUN_D "/a.yaml", BATCH(1));
        write_file(*state, RUN_D "/b.yaml", BATCH(2));
        write_file(*state, ETC_D "/b.yaml", "version: 1\n");

        check_batch(*state, RUN_D "/a.yaml " ETC_D "/b.yaml", 1);
}

static void test_hidden_file_is_not_read(void **state) {
        write_file(*state, RUN_D "/a.yaml", "rubbish");
        write_file(*state, ETC_D "/a.yaml", BATCH(2));

        check_batch(*state, ETC_D "/a.yaml", 2);
}

static void test_mask(void **state) {
        write_file(*state, USR, BATCH(1));
        write_file(*state, RUN_D "/a.yaml", BATCH(2));
        make_link(*state, ETC_D "/a.yaml", "/dev/null");
        make_link(*state, RUN_D "/b.yaml", "/dev/null");
        make_link(*state, ETC, "/dev/null");

        check_batch(*state, USR, 1);
}

static void test_other_names(void **state) {
        write_file(*state, ETC_D "/a.yaml~", "rubbish");
        write_file(*state, ETC_D "/a.yml", "rubbish");
        write_file(*state, ETC_D "/a.yaml.dpkg-new", "rubbish");
        write_file(*state, ETC_D "/.a.yaml", "rubbish");
        write_file(*state, ETC_D "/.yaml", "rubbish");
        write_file(*state, ETC_D "/yaml", "rubbish");
        write_file(*state, ETC_D "/sub/a.yaml", "rubbish");

        check_batch(*state, "", 4096);
}

static void test_link(void **state) {
        write_file(*state, "/elsewhere", BATCH(3));
        make_link(*state, ETC_D "/a.yaml", "../../../elsewhere");

        check_batch(*state, ETC_D "/a.yaml", 3);
}

static void test_errors_of_all_files(void **state) {
        write_file(*state, USR, "version: 2\n");
        write_file(*state, ETC, BATCH(1));
        write_file(*state, ETC_D "/b.yaml", "version: 1\nfoo: 1\nbar: 2\n");
        write_file(*state, RUN_D "/a.yaml", "version: 1\nteardown: {batch: 0}\n");

        check_errors(*state,
                     USR ":1:10: version: expected 1, found '2'\n"
                     RUN_D "/a.yaml:2:19: teardown.batch: expected a number of pages from 1 to 1048576, "
                     "found '0'\n"
                     ETC_D "/b.yaml:2:1: expected version, policy, units, tune, teardown, directmap, keyid "
                     "or xpfo, found the unknown key "
                     "'foo'\n"
                     ETC_D "/b.yaml:3:1: expected version, policy, units, tune, teardown, directmap, keyid "
                     "or xpfo, found the unknown key "
                     "'bar'");
}

/* Every file says which version it is written for. */
static void test_version_of_each_file(void **state) {
        write_file(*state, USR, BATCH(1));
        write_file(*state, ETC, "teardown: {batch: 2}\n");

        check_errors(*state, ETC ":1:1: expected 'version: 1', found no version");
}

static void test_writable_by_others(void **state) {
        write_file(*state, ETC, BATCH(1));

        change_mode(*state, ETC, 0664);
        check_errors(*state, ETC ": expected a file that only its owner can write, found mode 0664");
        change_mode(*state, ETC, 0646);
        check_errors(*state, ETC ": expected a file that only its owner can write, found mode 0646");
        change_mode(*state, ETC, 0444);
        check_batch(*state, ETC, 1);
}

/* It is the file that counts, not the link to it. */
static void test_link_to_writable(void **state) {
        write_file(*state, "/elsewhere", BATCH(3));
        change_mode(*state, "/elsewhere", 0666);
        make_link(*state, ETC_D "/a.yaml", "../../../elsewhere");

        check_errors(*state,
                     ETC_D "/a.yaml: expected a file that only its owner can write, found mode 0666");
}

static void test_foreign_owner(void **state) {
        _cleanup_free_ char *full = make_path(*state, ETC);

        if (geteuid() != 0)
                skip();

        write_file(*state, ETC, BATCH(1));
        assert_int_equal(chown(full, 4321, 0), 0);
        check_errors(*state, ETC ": expected a file of root or of user 0, found one of user 4321");
}

static void test_other_kinds(void **state) {
        _cleanup_free_ char *dir = make_path(*state, ETC_D "/a.yaml");
        _cleanup_free_ char *fifo = make_path(*state, ETC_D "/b.yaml");

        assert_int_equal(mkdir(dir, 0755), 0);
        assert_int_equal(mkfifo(fifo, 0644), 0);
        make_link(*state, ETC_D "/c.yaml", "/dev/zero");

        check_errors(*state,
                     ETC_D "/a.yaml: expected a regular file, found a directory\n"
                     ETC_D "/b.yaml: expected a regular file, found a FIFO\n"
                     ETC_D "/c.yaml: expected a regular file, found a device");
}

static void test_cannot_be_opened(void **state) {
        make_link(*state, ETC, "nowhere");
        make_link(*state, ETC_D "/a.yaml", "a.yaml");

        check_errors(*state,
                     ETC ": cannot be opened: No such file or directory\n"
                     ETC_D "/a.yaml: cannot be opened: Too many levels of symbolic links");
}

static void test_cannot_be_listed(void **state) {
        write_file(*state, ETC_D, "");
        make_link(*state, RUN_D, "nowhere");

        check_errors(*state,
                     ETC_D ": cannot be listed: Not a directory\n"
                     RUN_D ": cannot be listed: No such file or directory");
}

static void test_too_large(void **state) {
        _cleanup_free_ char *full = make_path(*state, ETC);

        write_file(*state, ETC, "# the rest is NULs, which would be another error\n");
        assert_int_equal(truncate(full, 1024 * 1024 + 1), 0);
        check_errors(*state, ETC ": expected at most 1 MiB, found more");
}

/* A file that is named, rather than looked for, has to be there. */
static void test_read_file(void **state) {
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        _cleanup_free_ char *full = make_path(*state, ETC), *text = NULL, *expected = NULL;

        assert_int_equal(policy_model_new(&model), 0);
        assert_int_equal(policy_model_read_file(model, full, &errors), -ENOENT);
        assert_int_equal(policy_model_read_file(model, "/dev/null", &errors), -EBADMSG);
        /* A regular file of ours, of which the first bytes can never be read. */
        assert_int_equal(policy_model_read_file(model, "/proc/self/mem", &errors), -EIO);

        assert_true(asprintf(&expected, "%s: cannot be opened: No such file or directory\n"
                             "/dev/null: expected a regular file, found a device\n"
                             "/proc/self/mem: cannot be read: Input/output error", full) > 0);
        assert_int_equal(policy_errors_format(&errors, &text), 0);
        assert_string_equal(text, expected);

        write_file(*state, ETC, BATCH(9));
        assert_int_equal(policy_model_read_file(model, full, &errors), 0);
        assert_true(model->params.teardown.batch == 9);
}

/* The text of a file of the source tree, below which the tests run. To be freed. */
static char *source_text(const char *path) {
        _cleanup_fclose_ FILE *f = NULL;
        char *text = NULL;
        size_t size = 0;

        f = fopen(path, "r");
        assert_non_null(f);
        assert_true(getdelim(&text, &size, 0, f) > 0);
        return text;
}

/* Read as a text: what a checkout makes of the mode is not the file's fault. */
static PolicyModel *load_source(const char *path) {
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_free_ char *text = source_text(path), *formatted = NULL;
        PolicyModel *model;
        int r;

        assert_int_equal(policy_model_new(&model), 0);
        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++)
                key_spec_set(spec, &model->params, UINT64_MAX);

        r = policy_model_read_text(model, path, text, strlen(text), &errors);
        if (r < 0 && policy_errors_format(&errors, &formatted) >= 0)
                print_error("%s\n", formatted);
        assert_int_equal(r, 0);

        return model;
}

/* The file that is installed names every key, with what holds without it. */
static void test_default_yaml(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = load_source("policy/default.yaml");

        assert_string_equal(model->policy, POLICY_DEFAULT);
        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++)
                assert_true(key_spec_get(spec, &model->params) == spec->def);
}

static void test_examples(void **state) {
        glob_t found = {};

        assert_int_equal(glob("policy/examples/*.yaml", 0, NULL, &found), 0);
        for (size_t i = 0; i < found.gl_pathc; i++)
                policy_model_free(load_source(found.gl_pathv[i]));

        globfree(&found);
}

#define with_root(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                with_root(test_nothing),
                with_root(test_order),
                with_root(test_name_order),
                with_root(test_layers_add_up),
                with_root(test_etc_hides_run),
                with_root(test_hidden_file_is_not_read),
                with_root(test_mask),
                with_root(test_other_names),
                with_root(test_link),
                with_root(test_errors_of_all_files),
                with_root(test_version_of_each_file),
                with_root(test_writable_by_others),
                with_root(test_link_to_writable),
                with_root(test_foreign_owner),
                with_root(test_other_kinds),
                with_root(test_cannot_be_opened),
                with_root(test_cannot_be_listed),
                with_root(test_too_large),
                with_root(test_read_file),
                cmocka_unit_test(test_default_yaml),
                cmocka_unit_test(test_examples),
        };

        return cmocka_run_group_tests_name("policy-load", tests, NULL, NULL);
}
