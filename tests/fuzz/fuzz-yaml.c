// SPDX-License-Identifier: GPL-2.0-only

/*
 * Any bytes as a policy file: either they are refused, with errors that can be shown, or they leave a
 * model in range, which written out and read again is the same model.
 */

#include <inttypes.h>
#include <stdlib.h>

#include "policy.h"
#include "util.h"

DEFINE_TRIVIAL_CLEANUP_FUNC(PolicyModel *, policy_model_free)

#define CHECK(condition)                \
        do {                            \
                if (!(condition))       \
                        abort();        \
        } while (0)

static int read_text(PolicyModel **ret, const char *text, size_t size, PolicyErrors *errors) {
        CHECK(policy_model_new(ret) == 0);

        return policy_model_read_text(*ret, "fuzz", text, size, errors);
}

static void check_errors(const PolicyErrors *errors) {
        _cleanup_free_ char *text = NULL;

        CHECK(errors->n_items > 0);
        CHECK(policy_errors_format(errors, &text) == 0);
        for (const char *p = text; *p; p++)
                CHECK((*p >= ' ' && *p <= '~') || *p == '\n');
}

/* Writes what is below PATH, which is DEPTH mappings deep. */
static void write_group(FILE *f, const PolicyModel *model, const char *path, int depth) {
        _cleanup_strv_free_ char **names = NULL;

        CHECK(key_spec_children(path, &names) == 0);
        STRV_FOREACH(name, names) {
                _cleanup_free_ char *below = NULL, *value = NULL;
                const KeySpec *spec;

                CHECK(asprintf(&below, "%s%s%s", path, *path ? "." : "", *name) > 0);
                fprintf(f, "%*s%s:", 2 * depth, "", *name);

                spec = key_spec_find(below);
                if (spec) {
                        CHECK(value_format(spec, key_spec_get(spec, &model->params), &value) == 0);
                        fprintf(f, " %s\n", value);
                } else {
                        fputc('\n', f);
                        write_group(f, model, below, depth + 1);
                }
        }
}

/* MODEL as a file that sets everything. To be freed. */
static char *write_model(const PolicyModel *model) {
        char *text;
        size_t size;
        FILE *f;

        f = open_memstream(&text, &size);
        CHECK(f);
        fprintf(f, "version: 1\npolicy: '%s'\n", model->policy);
        write_group(f, model, "", 0);
        CHECK(fclose(f) == 0);

        return text;
}

static void check_model(const PolicyModel *model) {
        _cleanup_(policy_model_freep) PolicyModel *again = NULL;
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_free_ char *text = NULL, *error = NULL;

        CHECK(policy_name_check(model->policy, &error) == 0);
        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++) {
                uint64_t value = key_spec_get(spec, &model->params);

                CHECK(value >= spec->min && value <= spec->max);
        }

        /* A quote inside quotes is written twice, and not worth the code here. */
        if (strchr(model->policy, '\''))
                return;

        text = write_model(model);
        CHECK(read_text(&again, text, strlen(text), &errors) == 0);
        CHECK(streq(again->policy, model->policy));
        CHECK(memcmp(&again->params, &model->params, sizeof(model->params)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        int r;

        r = read_text(&model, (const char *) data, size, &errors);
        CHECK(r == 0 || r == -EBADMSG);

        if (r < 0)
                check_errors(&errors);
        else {
                CHECK(errors.n_items == 0);
                check_model(model);
        }

        return 0;
}
