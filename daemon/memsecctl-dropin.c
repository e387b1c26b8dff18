// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memsecctl-dropin.h"
#include "memsecctl-files.h"
#include "util.h"

#define DROPIN_NAME "50-memsecctl.yaml"

/*
 * The keys that a file sets, the policy being the first and then key_specs, and their values in a model.
 * That has what the file says of units as well. What it says of tunables that policies have of their own
 * stays the text that it is, in the model's statements, since the policy may be another one than that in
 * force.
 */
typedef struct Dropin {
        PolicyModel *model;     /* keys that are not set have any value */
        bool *sets;
} Dropin;

static void dropin_done(Dropin *d) {
        policy_model_free(d->model);
        free(d->sets);
        *d = (Dropin) {};
}

static ExitStatus out_of_memory(void) {
        fprintf(stderr, "Out of memory\n");
        return STATUS_FAILED;
}

/* A model in which every key has its largest or smallest value. */
static int extreme_model(bool largest, PolicyModel **ret) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        int r;

        r = policy_model_new(&model);
        if (r < 0)
                return r;

        r = free_and_strdup(&model->policy, largest ? "largest" : "smallest");
        if (r < 0)
                return r;

        model->any_policy = true;

        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++)
                key_spec_set(spec, &model->params, largest ? spec->max : spec->min);

        *ret = TAKE_PTR(model);
        return 0;
}

/* Reads TEXT, or the file itself when it is NULL. */
static int read_model(PolicyModel *model, const char *path, const char *text, PolicyErrors *errors) {
        return text ? policy_model_read_text(model, path, text, strlen(text), errors) :
                      policy_model_read_file(model, path, errors);
}

/* A file sets those keys that come out of it the same, whatever they were before. */
static int dropin_parse(const char *path, const char *text, Dropin *ret, PolicyErrors *errors) {
        _cleanup_(policy_errors_done) PolicyErrors again = {};
        _cleanup_(policy_model_freep) PolicyModel *other = NULL;
        int r;

        ret->sets = calloc(n_key_specs + 1, sizeof(bool));
        if (!ret->sets)
                return -ENOMEM;

        r = extreme_model(/* largest= */ false, &ret->model);
        if (r >= 0)
                r = extreme_model(/* largest= */ true, &other);
        if (r >= 0)
                r = read_model(ret->model, path, text, errors);
        if (r >= 0)
                r = read_model(other, path, text, &again);
        if (r < 0)
                return r;

        ret->sets[0] = streq(ret->model->policy, other->policy);
        for (size_t i = 0; i < n_key_specs; i++)
                ret->sets[i + 1] = key_spec_get(key_specs + i, &ret->model->params) ==
                                   key_spec_get(key_specs + i, &other->params);

        return 0;
}

/* The same, and shows the errors. */
static ExitStatus dropin_read(const char *path, const char *text, Dropin *ret) {
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        int r;

        r = dropin_parse(path, text, ret, &errors);
        if (r == -ENOMEM)
                return out_of_memory();

        show_policy_errors(&errors, /* json= */ false);
        return r < 0 ? STATUS_FAILED : STATUS_OK;
}

/* Writes one key, below those of the mappings it is in that PREVIOUS, the key before, is not in. */
static void print_key(FILE *f, int depth, const char *path, const char *previous, const char *value) {
        const char *name = path, *dot;

        while ((dot = strchr(name, '.'))) {
                if (strncmp(path, previous, dot + 1 - path) != 0)
                        fprintf(f, "%*s%.*s:\n", 2 * depth, "", (int) (dot - name), name);
                name = dot + 1;
                depth++;
        }

        fprintf(f, "%*s%s: %s\n", 2 * depth, "", name, value);
}

/* A quote inside is doubled, as YAML wants it. */
static void print_policy(FILE *f, const char *policy) {
        fputs("policy: '", f);
        for (const char *p = policy; *p; p++) {
                if (*p == '\'')
                        fputc('\'', f);
                fputc(*p, f);
        }
        fputs("'\n", f);
}

/* Writes those keys that KEYS has a bit for. */
static int print_keys(FILE *f, int depth, uint64_t keys, const struct memsec_params *params) {
        const char *previous = "";

        for (size_t i = 0; i < n_key_specs; i++) {
                _cleanup_free_ char *value = NULL;
                const KeySpec *spec = key_specs + i;

                if (!(keys & (UINT64_C(1) << i)))
                        continue;

                if (value_format(spec, key_spec_get(spec, params), &value) < 0)
                        return -ENOMEM;

                print_key(f, depth, spec->path, previous, value);
                previous = spec->path;
        }

        return 0;
}

/* Is it a statement about UNIT, or, if that is NULL, about everyone? */
static bool is_of_unit(const OwnStatement *s, const char *unit) {
        return unit && s->unit ? streq(unit, s->unit) : !unit && !s->unit;
}

/* Writes what is said of tunables that policies have of their own, of everyone or of UNIT. */
static void print_own(FILE *f, int depth, const PolicyModel *model, const char *unit) {
        const OwnStatement *end = model->own_statements + model->n_own_statements;

        for (const OwnStatement *s = model->own_statements; s < end; s++) {
                if (s->key || !is_of_unit(s, unit))
                        continue;

                fprintf(f, "%*s%s:\n", 2 * depth, "", s->policy);
                for (const OwnStatement *v = model->own_statements; v < end; v++)
                        if (v->key && is_of_unit(v, unit) && streq(v->policy, s->policy))
                                fprintf(f, "%*s%s: %s\n", 2 * depth + 2, "", v->key, v->text);
        }
}

/* Is this the first that is said of a unit, of which nothing but tunables of policies' own is set? */
static bool is_only_own(const PolicyModel *model, size_t i) {
        const char *unit = model->own_statements[i].unit;

        if (!unit || model->own_statements[i].key)
                return false;

        for (size_t k = 0; k < model->n_units; k++)
                if (streq(model->units[k].pattern, unit))
                        return false;
        for (size_t k = 0; k < i; k++)
                if (is_of_unit(model->own_statements + k, unit))
                        return false;

        return true;
}

/* There is no quote in the name of a unit. */
static int print_units(FILE *f, const PolicyModel *model) {
        const char *title = "units:\n";
        int r = 0;

        for (size_t i = 0; r >= 0 && i < model->n_units; i++) {
                const char *unit = model->units[i].pattern;

                fprintf(f, "%s  '%s':\n", title, unit);
                title = "";
                r = print_keys(f, 2, model->units[i].keys, &model->units[i].params);
                print_own(f, 2, model, unit);
        }

        for (size_t i = 0; i < model->n_own_statements; i++) {
                if (!is_only_own(model, i))
                        continue;

                fprintf(f, "%s  '%s':\n", title, model->own_statements[i].unit);
                title = "";
                print_own(f, 2, model, model->own_statements[i].unit);
        }

        return r;
}

static int print_dropin(FILE *f, const Dropin *d) {
        uint64_t keys = 0;
        int r;

        fputs("# Written by \"memsecctl persist\"; without this file, the other files decide alone.\n"
              "version: 1\n", f);

        if (d->sets[0])
                print_policy(f, d->model->policy);

        for (size_t i = 0; i < n_key_specs; i++)
                if (d->sets[i + 1])
                        keys |= UINT64_C(1) << i;

        r = print_keys(f, 0, keys, &d->model->params);
        if (r < 0)
                return r;

        print_own(f, 0, d->model, /* unit= */ NULL);
        return print_units(f, d->model);
}

static int dropin_format(const Dropin *d, char **ret) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f;
        int r;

        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;

        r = print_dropin(f, d);
        if (fclose(f) != 0 || r < 0)
                return -ENOMEM;

        *ret = TAKE_PTR(text);
        return 0;
}

/* Comments, and whatever else this would not write again, are somebody's work. */
static ExitStatus check_unedited(const char *path, const Dropin *d, const char *text) {
        _cleanup_free_ char *own = NULL;

        if (isempty(text))
                return STATUS_OK;

        if (dropin_format(d, &own) < 0)
                return out_of_memory();

        if (streq(own, text))
                return STATUS_OK;

        fprintf(stderr, "%s: not as 'memsecctl persist' wrote it, and would lose what was edited; "
                "give it another name first\n", path);
        return STATUS_FAILED;
}

static size_t setting_index(const Setting *s) {
        return s->spec ? (size_t) (s->spec - key_specs) + 1 : 0;
}

/* The statement about a tunable that a policy has of its own, or its section without KEY. NULL if none. */
static OwnStatement *find_statement(const Dropin *d, const char *unit, const char *policy, const char *key) {
        for (size_t i = 0; i < d->model->n_own_statements; i++) {
                OwnStatement *s = d->model->own_statements + i;

                if (is_of_unit(s, unit) && !s->tune && streq(s->policy, policy) &&
                    (key ? s->key && streq(s->key, key) : !s->key))
                        return s;
        }

        return NULL;
}

static int add_statement(Dropin *d, const char *unit, const char *policy, const char *key) {
        PolicyModel *model = d->model;
        OwnStatement *longer, *s;
        int r;

        longer = reallocarray(model->own_statements, model->n_own_statements + 1, sizeof(OwnStatement));
        if (!longer)
                return -ENOMEM;

        model->own_statements = longer;
        s = longer + model->n_own_statements++;
        *s = (OwnStatement) {};
        r = free_and_strdup(&s->policy, policy);
        if (r >= 0)
                r = free_and_strdup(&s->unit, unit);
        if (r >= 0)
                r = free_and_strdup(&s->key, key);

        return r;
}

/* Has the file say what a tunable of a policy's own is from here on. */
static int dropin_merge_own(Dropin *d, const char *unit, const Setting *setting) {
        const char *policy = own_keys->policy, *key = own_name(setting->spec);
        _cleanup_free_ char *value = NULL;
        OwnStatement *s;
        int r = 0;

        if (!find_statement(d, unit, policy, NULL))
                r = add_statement(d, unit, policy, NULL);
        if (r >= 0 && !find_statement(d, unit, policy, key))
                r = add_statement(d, unit, policy, key);
        if (r < 0)
                return r;

        if (value_format(setting->spec, setting->value, &value) < 0)
                return -ENOMEM;

        s = find_statement(d, unit, policy, key);
        return free_and_replace(s->text, value);
}

/* What is said of UNIT is said once in the file, behind what it says of other units. */
static int dropin_merge_unit(Dropin *d, const char *unit, const Setting *settings, size_t n_settings) {
        UnitSettings said;
        int r;

        policy_model_get_unit(d->model, unit, &said);
        for (const Setting *s = settings; s < settings + n_settings; s++) {
                if (key_is_own(s->spec)) {
                        r = dropin_merge_own(d, unit, s);
                        if (r < 0)
                                return r;
                        continue;
                }

                said.keys |= UINT64_C(1) << (s->spec - key_specs);
                key_spec_set(s->spec, &said.params, s->value);
        }

        for (size_t i = 0; i < n_key_specs; i++) {
                if (!(said.keys & (UINT64_C(1) << i)))
                        continue;

                r = policy_model_set_unit(d->model, unit, key_specs + i,
                                          key_spec_get(key_specs + i, &said.params));
                if (r < 0)
                        return r;
        }

        return 0;
}

static int dropin_merge(Dropin *d, const char *unit, const Setting *settings, size_t n_settings) {
        int r;

        if (unit)
                return dropin_merge_unit(d, unit, settings, n_settings);

        for (const Setting *s = settings; s < settings + n_settings; s++) {
                if (s->spec && key_is_own(s->spec))
                        r = dropin_merge_own(d, unit, s);
                else if (s->spec) {
                        d->sets[setting_index(s)] = true;
                        key_spec_set(s->spec, &d->model->params, s->value);
                        r = 0;
                } else {
                        d->sets[setting_index(s)] = true;
                        r = free_and_strdup(&d->model->policy, s->policy);
                }
                if (r < 0)
                        return r;
        }

        return 0;
}

/* Is PATH a drop-in, and one that is read after the one of persist? */
static bool is_later(const char *path) {
        const char *name = strrchr(path, '/') + 1;

        return strstr(path, "/policy.d/") && strcmp(name, DROPIN_NAME) > 0;
}

/* Does the file set a tunable of the policy's own, of everyone or of UNIT or what stands for it? */
static bool dropin_sets_own(const Dropin *d, const char *unit, const Setting *setting) {
        for (size_t i = 0; i < d->model->n_own_statements; i++) {
                const OwnStatement *s = d->model->own_statements + i;

                if (s->key && !s->tune && streq(s->policy, own_keys->policy) &&
                    streq(s->key, own_name(setting->spec)) &&
                    (is_of_unit(s, unit) || (unit && s->unit && unit_pattern_matches(s->unit, unit))))
                        return true;
        }

        return false;
}

/* The same of any setting. */
static bool dropin_sets(const Dropin *d, const char *unit, const Setting *setting) {
        if (setting->spec && key_is_own(setting->spec))
                return dropin_sets_own(d, unit, setting);
        if (!unit)
                return d->sets[setting_index(setting)];

        for (const UnitSettings *s = d->model->units; s < d->model->units + d->model->n_units; s++)
                if (s->keys & (UINT64_C(1) << (setting->spec - key_specs)) &&
                    (streq(s->pattern, unit) || unit_pattern_matches(s->pattern, unit)))
                        return true;

        return false;
}

static ExitStatus check_later_file(const char *path, const char *unit, const Setting *settings,
                                   size_t n_settings) {
        _cleanup_(dropin_done) Dropin later = {};
        ExitStatus s;

        s = dropin_read(path, /* text= */ NULL, &later);
        if (s != STATUS_OK)
                return s;

        for (const Setting *i = settings; i < settings + n_settings; i++)
                if (dropin_sets(&later, unit, i)) {
                        fprintf(stderr, "%s: set in %s, which is read later; change it there\n",
                                i->spec ? i->spec->path : "policy", path);
                        s = STATUS_FAILED;
                }

        return s;
}

/* Writes D to PATH, unless the reader would not take it. */
static ExitStatus dropin_write(const char *path, const Dropin *d) {
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        _cleanup_new_file_ NewFile file = {};
        _cleanup_free_ char *text = NULL;
        ExitStatus s;
        int r;

        r = dropin_format(d, &text);
        if (r >= 0)
                r = policy_model_new(&model);
        if (r >= 0) {
                model->any_policy = true;
                r = policy_model_read_text(model, path, text, strlen(text), &errors);
        }
        if (r == -ENOMEM)
                return out_of_memory();
        if (r < 0) {
                show_policy_errors(&errors, /* json= */ false);
                return STATUS_FAILED;
        }

        s = new_file_write(path, text, &file);
        if (s == STATUS_OK)
                s = new_file_commit(&file);

        return s;
}

ExitStatus dropin_persist(const char *root, const char *unit, const Setting *settings, size_t n_settings,
                          char *const *files) {
        _cleanup_free_ char *path = NULL, *text = NULL;
        _cleanup_(dropin_done) Dropin dropin = {};
        ExitStatus s = STATUS_OK;
        int r;

        for (char *const *file = files; file && *file; file++)
                if (is_later(*file) && check_later_file(*file, unit, settings, n_settings) != STATUS_OK)
                        s = STATUS_FAILED;
        if (s != STATUS_OK)
                return s;

        s = file_path(root, DROPIN_NAME, &path);
        if (s == STATUS_OK)
                s = file_read(path, &text);
        if (s == STATUS_OK)
                s = dropin_read(path, text ?: "", &dropin);
        if (s == STATUS_OK)
                s = check_unedited(path, &dropin, text);
        if (s != STATUS_OK)
                return s;

        r = dropin_merge(&dropin, unit, settings, n_settings);
        if (r == -E2BIG) {
                fprintf(stderr, "%s: something is said of too many units already\n", path);
                return STATUS_FAILED;
        }
        if (r < 0)
                return out_of_memory();

        s = dropin_write(path, &dropin);
        if (s == STATUS_OK)
                printf("Wrote %s:\n", path);

        return s;
}
