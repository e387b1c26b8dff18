// SPDX-License-Identifier: GPL-2.0-only

/*
 * What the files say under the names of policies is understood here, once the policy is known, and with it
 * the tunables that it has of its own.
 */

#include "internal.h"
#include "object.h"
#include "policy.h"
#include "util.h"

static int complain_at(PolicyErrors *errors, const OwnStatement *s, unsigned line, unsigned column,
                       const char *message) {
        return policy_errors_add(errors, s->place.file, line, column, "%s%s%s%s", s->unit ?: "",
                                 s->unit ? ": " : "", s->tune ? "tune: " : "", message);
}

static int complain(PolicyErrors *errors, const OwnStatement *s, const char *message) {
        return complain_at(errors, s, s->place.line, s->place.column, message);
}

static int set_value(PolicyModel *model, const OwnStatement *s, const KeySpec *spec, PolicyErrors *errors) {
        _cleanup_free_ char *error = NULL, *message = NULL;
        uint64_t value;
        int r;

        r = value_parse(spec, s->text, &value, &error);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                if (asprintf(&message, "%s: %s", spec->path, error) < 0) {
                        message = NULL;
                        return -ENOMEM;
                }

                return complain(errors, s, message);
        }

        if (!s->unit) {
                key_spec_set(spec, &model->params, value);
                return 0;
        }

        r = policy_model_set_unit(model, s->unit, spec, value);
        if (r == -E2BIG)
                return complain(errors, s, "expected fewer units in all files, found more");

        return r;
}

static int set_loop(PolicyModel *model, const OwnStatement *s, const KeySpec *spec, PolicyErrors *errors) {
        _cleanup_free_ char *error = NULL, *message = NULL;
        const TuneBound *bound;
        int r;

        if (spec->type == KEY_CHOICE)
                r = error_set(&message, -EINVAL, TUNE_NO_NUMBER, spec->path);
        else
                r = s->loop->none ? 0 : tune_loop_set_range(s->loop, spec, &bound, &error);
        if (r >= 0)
                r = policy_model_set_loop(model, s->loop);
        if (r == -E2BIG)
                r = error_set(&message, r, "expected at most %d loops in all files, found more",
                              POLICY_LOOPS_MAX);
        if (r == -ENOMEM || r >= 0)
                return r;
        if (message)
                return complain(errors, s, message);

        if (asprintf(&message, "%s.range.%s: %s", spec->path, bound == s->loop->bounds ? "min" : "max",
                     error) < 0) {
                message = NULL;
                return -ENOMEM;
        }

        return complain_at(errors, s, bound->line, bound->column, message);
}

/* The names of the tunables of OWN, as they are below the policy's. */
static int own_names(const OwnTunables *own, char ***ret) {
        int r;

        for (size_t i = 0; i < own->n_specs; i++) {
                r = strv_extend(ret, own_name(own->specs + i));
                if (r < 0)
                        return r;
        }

        return 0;
}

static int complain_unknown(const OwnTunables *own, const OwnStatement *s, PolicyErrors *errors) {
        _cleanup_free_ char *known = NULL, *found = NULL, *message = NULL;
        _cleanup_strv_free_ char **names = NULL;
        const char *nearest;

        if (own_names(own, &names) < 0)
                return -ENOMEM;

        known = text_enumerate(names, "or");
        found = text_quote(s->key);
        nearest = word_nearest(s->key, names);
        if (!known || !found ||
            asprintf(&message, "%s: expected %s, found the unknown key %s%s%s%s", s->policy, known, found,
                     nearest ? "; did you mean '" : "", nearest ?: "", nearest ? "'?" : "") < 0) {
                message = NULL;
                return -ENOMEM;
        }

        return complain_at(errors, s, s->key_line, s->key_column, message);
}

static int read_key(PolicyModel *model, const OwnStatement *s, PolicyErrors *errors) {
        _cleanup_free_ char *path = NULL;
        const KeySpec *spec;

        if (asprintf(&path, "%s.%s", s->policy, s->key) < 0) {
                path = NULL;
                return -ENOMEM;
        }

        spec = keys_find(model->own, path);
        if (!spec)
                return complain_unknown(model->own, s, errors);

        return s->loop ? set_loop(model, s, spec, errors) : set_value(model, s, spec, errors);
}

/* NAME is the short one of the model's policy. */
static int read_statement(PolicyModel *model, const OwnStatement *s, const char *name,
                          PolicyErrors *errors) {
        _cleanup_free_ char *message = NULL;

        /* What is said of a policy that the files name but that is not in force is not looked at. */
        if (!streq(s->policy, name))
                return 0;
        if (model->own)
                return s->key ? read_key(model, s, errors) : 0;
        if (s->key)
                return 0;

        if (asprintf(&message, "%s: expected nothing about this policy, which has no tunables of its own",
                     name) < 0) {
                message = NULL;
                return -ENOMEM;
        }

        return complain(errors, s, message);
}

/*
 * Finds the policy's tunables. Returns 1 when they are known, 0 when the object is not there and need not
 * be, and -ENOMEM; an error is added to ERRORS.
 */
static int find_own(PolicyModel *model, const char *root, bool may_miss, PolicyErrors *errors) {
        const PolicyPlace *place = &model->policy_place;
        _cleanup_policy_object_ PolicyObject object = {};
        _cleanup_free_ char *path = NULL, *error = NULL;
        int r;

        r = policy_object_path(root, model->policy, &path);
        if (r < 0)
                return r;

        r = policy_object_open(model->policy, path, &object, &error);
        if (r == -ENOMEM)
                return r;
        if (r >= 0) {
                policy_model_set_own(model, object.own);
                return 1;
        }

        /* Of a built-in one that is not there, or broken, whoever attaches it hears. */
        if (*model->policy != '/' || (may_miss && (r == -ENOENT || r == -ENOTDIR || r == -EACCES)))
                return 0;

        r = policy_errors_add(errors, place->file ?: path, place->line, place->column, "policy: %s: %s",
                              path, error);
        return r < 0 ? r : 0;
}

int policy_model_resolve(PolicyModel *model, const char *root, bool may_miss, PolicyErrors *errors) {
        _cleanup_free_ char *name = NULL;
        size_t n_before = errors->n_items;
        int r;

        r = policy_short_name(model->policy, &name);
        if (r < 0)
                return r;

        r = find_own(model, root, may_miss, errors);
        if (r < 0)
                return r;

        for (size_t i = 0; r > 0 && i < model->n_own_statements; i++) {
                r = read_statement(model, model->own_statements + i, name, errors);
                if (r < 0)
                        return r;

                r = 1;
        }

        return errors->n_items > n_before ? -EBADMSG : 0;
}
