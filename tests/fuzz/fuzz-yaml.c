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

/* Writes those of KEYS that are below PATH, DEPTH mappings deep. */
static void write_group(FILE *f, const struct memsec_params *params, uint64_t keys, const char *path,
                        int depth) {
        _cleanup_strv_free_ char **names = NULL;

        CHECK(key_spec_children(path, &names) == 0);
        STRV_FOREACH(name, names) {
                _cleanup_free_ char *below = NULL, *value = NULL;
                const KeySpec *spec;

                CHECK(asprintf(&below, "%s%s%s", path, *path ? "." : "", *name) > 0);
                spec = key_spec_find(below);
                if (!spec) {
                        fprintf(f, "%*s%s: {\n", 2 * depth, "", *name);
                        write_group(f, params, keys, below, depth + 1);
                        fprintf(f, "%*s},\n", 2 * depth, "");
                } else if (keys & (UINT64_C(1) << (spec - key_specs))) {
                        CHECK(value_format(spec, key_spec_get(spec, params), &value) == 0);
                        fprintf(f, "%*s%s: %s,\n", 2 * depth, "", *name, value);
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
        fprintf(f, "{version: 1, policy: '%s',\n", model->policy);
        write_group(f, &model->params, UINT64_MAX, "", 1);
        fputs("  units: {\n", f);
        for (size_t i = 0; i < model->n_units; i++) {
                const UnitSettings *s = model->units + i;

                fprintf(f, "    '%s': {\n", s->pattern);
                write_group(f, &s->params, s->keys, "", 3);
                fputs("    },\n", f);
        }
        fputs("  },\n}\n", f);
        CHECK(fclose(f) == 0);

        return text;
}

static void check_units(const PolicyModel *model) {
        for (size_t i = 0; i < model->n_units; i++) {
                _cleanup_free_ char *error = NULL;

                CHECK(unit_pattern_check(model->units[i].pattern, &error) == 0);
                CHECK(model->units[i].keys);
        }
}

/* One file says nothing twice, so that statements come back in their order. */
static void check_same_units(const PolicyModel *a, const PolicyModel *b) {
        CHECK(a->n_units == b->n_units);
        for (size_t i = 0; i < a->n_units; i++) {
                CHECK(streq(a->units[i].pattern, b->units[i].pattern));
                CHECK(a->units[i].keys == b->units[i].keys);
                CHECK(memcmp(&a->units[i].params, &b->units[i].params, sizeof(struct memsec_params)) == 0);
        }
}

static void check_loops(const PolicyModel *model) {
        CHECK(model->n_loops <= POLICY_LOOPS_MAX);
        for (size_t i = 0; i < model->n_loops; i++) {
                const TuneLoop *loop = model->loops + i;
                const KeySpec *spec = key_spec_find(loop->key);
                _cleanup_free_ char *error = NULL;

                CHECK(spec && spec->type != KEY_CHOICE);
                CHECK(loop->min >= spec->min && loop->min < loop->max && loop->max <= spec->max);
                CHECK(loop->target > 0 && loop->every_ns > 0);
                CHECK(!loop->unit || unit_pattern_check(loop->unit, &error) == 0);
                CHECK(!loop->counter || tune_counter_is_valid(loop->counter));
                CHECK(!loop->source || unit_name_is_valid(loop->source));
        }
}

static void check_model(const PolicyModel *model) {
        _cleanup_(policy_model_freep) PolicyModel *again = NULL;
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_free_ char *text = NULL, *error = NULL;

        CHECK(policy_name_check(model->policy, &error) == 0);
        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++)
                CHECK(value_in_range(spec, key_spec_get(spec, &model->params)));

        check_units(model);
        check_loops(model);

        /* A quote inside quotes is written twice, and not worth the code here. */
        if (strchr(model->policy, '\''))
                return;

        text = write_model(model);
        CHECK(read_text(&again, text, strlen(text), &errors) == 0);
        CHECK(streq(again->policy, model->policy));
        CHECK(memcmp(&again->params, &model->params, sizeof(model->params)) == 0);
        check_same_units(again, model);
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
