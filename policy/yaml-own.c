// SPDX-License-Identifier: GPL-2.0-only

#include "internal.h"
#include "util.h"
#include "yaml-own.h"
#include "yaml-tune.h"

/*
 * Keeps what is said below the name of POLICY at EVENT until it can be understood. Without KEY it is the
 * section as a whole.
 */
static int add_statement(Reader *reader, const yaml_event_t *event, const char *policy, const char *key,
                         const char *text, bool is_error) {
        OwnStatement statement = { .is_error = is_error, .tune = reader->tune }, *longer;
        PolicyModel *model = reader->model;
        int r;

        r = set_place(reader, &statement.place, event);
        if (r >= 0)
                r = free_and_strdup(&statement.policy, policy);
        if (r >= 0)
                r = free_and_strdup(&statement.unit, reader->unit);
        if (r >= 0)
                r = free_and_strdup(&statement.key, key);
        if (r >= 0)
                r = free_and_strdup(&statement.text, text);

        longer = reallocarray(model->own_statements, model->n_own_statements + 1, sizeof(OwnStatement));
        if (longer)
                model->own_statements = longer;
        if (r < 0 || !longer) {
                own_statement_done(&statement);
                return -ENOMEM;
        }

        longer[model->n_own_statements++] = statement;
        return 0;
}

/* Keeps that EVENT, the value of PATH or a key below it, is not what was EXPECTED, and skips the value. */
static int add_error(Reader *reader, const yaml_event_t *event, const char *policy, const char *path,
                     const char *expected) {
        _cleanup_free_ char *found = describe(event), *message = NULL;
        int r;

        if (!found || asprintf(&message, "%s: expected %s, found %s", path, expected, found) < 0) {
                message = NULL;
                return -ENOMEM;
        }

        r = add_statement(reader, event, policy, path, message, /* is_error= */ true);
        return r < 0 ? r : skip_value(reader, event);
}

/* Can it be what a tunable is called? */
static bool is_name(const yaml_event_t *key) {
        static const char chars[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

        return is_text(key) && !event_text(key)[strspn(event_text(key), chars)];
}

/* Reads the value of KEY below the name of POLICY. */
static int read_entry(Reader *reader, const char *policy, Keys *keys, const yaml_event_t *key) {
        _cleanup_(yaml_event_delete) yaml_event_t value = {};
        _cleanup_free_ char *path = NULL;
        _cleanup_(tune_loop_freep) TuneLoop *loop = NULL;
        OwnStatement *last;
        ssize_t i;
        int r;

        if (!is_name(key)) {
                r = add_error(reader, key, policy, policy, "a key of small letters, digits and '_'");
                if (r >= 0)
                        r = next_event(reader, &value);
                return r < 0 ? r : skip_value(reader, &value);
        }

        r = next_event(reader, &value);
        if (r < 0)
                return r;

        if (asprintf(&path, "%s.%s", policy, event_text(key)) < 0) {
                path = NULL;
                return -ENOMEM;
        }

        i = strv_find(keys->names, event_text(key));
        if (i >= 0) {
                r = complain_again(reader, key, path, keys->lines[i]);
                return r < 0 ? r : skip_value(reader, &value);
        }

        r = keys_add(keys, event_text(key), key->start_mark.line + 1);
        if (r < 0)
                return r;

        if (reader->tune)
                r = read_loop(reader, path, &value, &loop);
        else if (!is_text(&value))
                return add_error(reader, &value, policy, path, "a value");
        else
                r = 1;
        if (r <= 0)
                return r;

        r = add_statement(reader, &value, policy, event_text(key), loop ? "" : event_text(&value),
                          /* is_error= */ false);
        if (r < 0)
                return r;

        last = reader->model->own_statements + reader->model->n_own_statements - 1;
        last->key_line = key->start_mark.line + 1;
        last->key_column = key->start_mark.column + 1;
        last->loop = TAKE_PTR(loop);
        return 0;
}

int read_own(Reader *reader, const yaml_event_t *section, const char *wrong) {
        const char *policy = event_text(section);
        _cleanup_(keys_done) Keys keys = {};
        int r;

        r = add_statement(reader, section, policy, /* key= */ NULL, wrong, /* is_error= */ true);
        if (r < 0)
                return r;

        for (;;) {
                _cleanup_(yaml_event_delete) yaml_event_t key = {};

                r = next_event(reader, &key);
                if (r < 0 || key.type == YAML_MAPPING_END_EVENT)
                        return r;

                r = read_entry(reader, policy, &keys, &key);
                if (r < 0)
                        return r;
        }
}

static int complain_own(Reader *reader, const OwnStatement *s) {
        size_t n = reader->errors->n_items;
        int r;

        reader->unit = s->unit;
        reader->tune = s->tune;
        r = complain_at(reader, s->place.line, s->place.column, "%s", s->text);
        reader->unit = NULL;
        reader->tune = false;
        if (r >= 0 && reader->errors->n_items > n)
                complaint_sort(reader);

        return r;
}

static bool is_known(const PolicyModel *model, const OwnStatement *s, const char *name) {
        return model->any_policy || streq(s->policy, name) ||
                strv_find(model->policy_names, s->policy) >= 0;
}

int check_own(Reader *reader) {
        PolicyModel *model = reader->model;
        _cleanup_free_ char *name = NULL;
        size_t n = reader->n_statements_before;
        int r;

        r = policy_short_name(model->policy, &name);

        for (size_t i = n; i < model->n_own_statements; i++) {
                OwnStatement *s = model->own_statements + i;
                bool known = name && is_known(model, s, name), wrong = s->key && s->is_error;

                /* Only a section has no key: what is in it does not matter when there is no such policy. */
                if (r >= 0 && (known ? wrong : !s->key))
                        r = complain_own(reader, s);

                if (known && !wrong)
                        model->own_statements[n++] = *s;
                else
                        own_statement_done(s);
        }

        /* Those are left that will be understood, or not, when all files are read. */
        model->n_own_statements = n;
        return r;
}
