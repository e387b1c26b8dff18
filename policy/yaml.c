// SPDX-License-Identifier: GPL-2.0-only

/*
 * Reads YAML into a model by recursive descent over libyaml's events. What the schema does not know is
 * complained about and skipped, so that one pass finds every error up to the first place that is not YAML.
 *
 * Functions here return as those of yaml-event.h.
 */

#include "internal.h"
#include "policy.h"
#include "util.h"
#include "yaml-own.h"
#include "yaml-tune.h"

/* Keys at the top that are not in the table of tunables. */
static const char *const top_keys[] = { "version", "policy", "units", "tune" };

/* The only version there is: in another one the same keys may mean something else. */
static const KeySpec version_spec = {
        .path = "version",
        .type = KEY_COUNT,
        .min = 1,
        .max = 1,
};

/* Returns 1 and *ret_value, or as everything here. */
static int read_number(Reader *reader, const KeySpec *spec, const yaml_event_t *event, uint64_t *ret_value) {
        _cleanup_free_ char *expected = NULL, *error = NULL;
        int r;

        if (!is_text(event)) {
                r = value_expected(spec, &expected);
                if (r < 0)
                        return r;

                return refuse(reader, event, spec->path, expected);
        }

        r = value_parse(spec, event_text(event), ret_value, &error);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return complain(reader, event, "%s: %s", spec->path, error);

        return 1;
}

static int read_tunable(Reader *reader, const KeySpec *spec, const yaml_event_t *event) {
        uint64_t value;
        int r;

        r = read_number(reader, spec, event, &value);
        if (r <= 0)
                return r;

        if (!reader->unit) {
                key_spec_set(spec, &reader->model->params, value);
                return 0;
        }

        r = policy_model_set_unit(reader->model, reader->unit, spec, value);
        if (r != -E2BIG)
                return r;

        return complain(reader, event, "expected at most %d units in all files, found more",
                        POLICY_UNITS_MAX);
}

static int read_version(Reader *reader, const yaml_event_t *event) {
        uint64_t version;
        int r;

        r = read_number(reader, &version_spec, event, &version);
        return r < 0 ? r : 0;
}

static int read_policy(Reader *reader, const yaml_event_t *event) {
        _cleanup_free_ char *error = NULL;
        int r;

        if (!is_text(event))
                return refuse(reader, event, "policy", POLICY_NAME_EXPECTED);

        r = policy_name_check(event_text(event), &error);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return complain(reader, event, "policy: %s", error);

        r = set_place(reader, &reader->model->policy_place, event);
        if (r >= 0)
                r = policy_model_know_policy(reader->model, event_text(event));
        if (r < 0)
                return r;

        return free_and_strdup(&reader->model->policy, event_text(event));
}

/* Can a mapping at PATH have KEY, one of those at the top? */
static bool may_have(const Reader *reader, const char *path, const char *key) {
        return !*path && !reader->tune && (!reader->unit || streq(key, "tune"));
}

/* The keys a mapping at PATH ("" at the top and for a unit) can have; none when there can be no mapping. */
static int keys_init(const Reader *reader, Keys *keys, const char *path) {
        _cleanup_strv_free_ char **tunables = NULL;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(top_keys); i++) {
                r = may_have(reader, path, top_keys[i]) ? strv_extend(&keys->names, top_keys[i]) : 0;
                if (r < 0)
                        return r;
        }

        r = key_spec_children(path, &tunables);
        if (r < 0)
                return r;

        STRV_FOREACH(name, tunables) {
                r = strv_extend(&keys->names, *name);
                if (r < 0)
                        return r;
        }

        keys->lines = calloc(strv_length(keys->names) + 1, sizeof(*keys->lines));
        return keys->lines ? 0 : -ENOMEM;
}

/* "; did you mean ...?" for a word that is no key of its mapping, "" when nothing is like it. */
static char *suggest(const char *word, const Keys *keys) {
        const char *sibling = word_nearest(word, keys->names), *path = key_spec_nearest(word), *name;
        char *text;
        int n;

        if (sibling)
                n = asprintf(&text, "; did you mean '%s'?", sibling);
        else if (path) {
                name = strrchr(path, '.');
                n = asprintf(&text, "; did you mean '%s' below '%.*s'?", name + 1,
                             (int) (name - path), path);
        } else
                return strdup("");

        return n < 0 ? NULL : text;
}

/* What is wrong with KEY, which the mapping at PATH does not have. To be freed. NULL without memory. */
static char *describe_unknown(const char *path, const Keys *keys, const yaml_event_t *key) {
        _cleanup_free_ char *known = NULL, *found = NULL, *suggestion = NULL;
        char *text;

        known = text_enumerate(keys->names, "or");
        found = text_quote(event_text(key));
        suggestion = suggest(event_text(key), keys);
        if (!known || !found || !suggestion ||
            asprintf(&text, "%s%sexpected %s, found the unknown key %s%s", path, *path ? ": " : "",
                     known, found, suggestion) < 0)
                return NULL;

        return text;
}

static int complain_unknown(Reader *reader, const char *path, const Keys *keys, const yaml_event_t *key) {
        _cleanup_free_ char *message = describe_unknown(path, keys, key);

        return message ? complain(reader, key, "%s", message) : -ENOMEM;
}

/* Reads KEY, which no mapping at PATH has, unless it may be the name of a policy. */
static int read_unknown(Reader *reader, const char *path, Keys *keys, const yaml_event_t *key,
                        const yaml_event_t *value) {
        _cleanup_free_ char *error = NULL, *message = NULL;
        int r;

        if (*path || !is_mapping(value) || own_policy_check(event_text(key), &error) < 0) {
                r = complain_unknown(reader, path, keys, key);
                return r < 0 ? r : skip_value(reader, value);
        }

        message = describe_unknown(path, keys, key);
        if (!message)
                return -ENOMEM;

        r = keys_add(keys, event_text(key), key->start_mark.line + 1);
        return r < 0 ? r : read_own(reader, key, message);
}

static int read_mapping(Reader *reader, const char *path, Keys *keys);

/* Reads what is below the key PATH, which is not a tunable itself. */
static int read_group(Reader *reader, const char *path, const yaml_event_t *event) {
        _cleanup_(keys_done) Keys keys = {};
        _cleanup_free_ char *names = NULL, *expected = NULL;
        int r;

        r = keys_init(reader, &keys, path);
        if (r < 0)
                return r;

        if (is_mapping(event))
                return read_mapping(reader, path, &keys);

        names = text_enumerate(keys.names, "or");
        if (!names || asprintf(&expected, "a mapping with %s", names) < 0)
                return -ENOMEM;

        return refuse(reader, event, path, expected);
}

/* Notes that KEY is one of the units of this file. Returns 1, or as everything here. */
static int add_unit(Reader *reader, Keys *units, const yaml_event_t *key) {
        size_t n = strv_length(units->names);
        _cleanup_free_ char *error = NULL;
        ssize_t i;
        int r;

        if (!is_text(key))
                return refuse(reader, key, "units", UNIT_PATTERN_EXPECTED);

        r = unit_pattern_check(event_text(key), &error);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return complain(reader, key, "units: %s", error);

        i = strv_find(units->names, event_text(key));
        if (i >= 0)
                return complain(reader, key,
                                "units.%s: expected one, found another; the first is on line %zu",
                                units->names[i], units->lines[i]);

        if (n >= POLICY_UNITS_MAX) {
                r = complain(reader, key, "units: expected at most %d, found more, which are not read",
                             POLICY_UNITS_MAX);
                return r < 0 ? r : -EBADMSG;
        }

        r = keys_add(units, event_text(key), key->start_mark.line + 1);
        return r < 0 ? r : 1;
}

/* Reads the mapping of each unit below "units". */
static int read_units(Reader *reader, const yaml_event_t *event) {
        _cleanup_(yaml_event_delete) yaml_event_t key = {};
        _cleanup_(keys_done) Keys units = {};
        int r;

        if (!is_mapping(event))
                return refuse(reader, event, "units", "a mapping with units");

        for (;;) {
                _cleanup_(yaml_event_delete) yaml_event_t value = {};
                bool known;

                r = next_event(reader, &key);
                if (r < 0 || key.type == YAML_MAPPING_END_EVENT)
                        return r;

                r = add_unit(reader, &units, &key);
                if (r < 0)
                        return r;

                known = r > 0;
                r = next_event(reader, &value);
                if (r < 0)
                        return r;

                if (known) {
                        reader->unit = event_text(&key);
                        r = read_group(reader, "", &value);
                        reader->unit = NULL;
                } else
                        r = skip_value(reader, &value);
                if (r < 0)
                        return r;
        }
}

/* Reads the loops of those whose mapping is being read. */
static int read_tune(Reader *reader, const yaml_event_t *event) {
        int r;

        reader->tune = true;
        r = read_group(reader, "", event);
        reader->tune = false;
        return r;
}

/* Reads the value of the key PATH, which is a known one. */
static int read_value(Reader *reader, const char *path, const yaml_event_t *event) {
        const KeySpec *spec = key_spec_find(path);

        if (spec)
                return reader->tune ? read_tuning(reader, spec, event) : read_tunable(reader, spec, event);
        if (streq(path, "version"))
                return read_version(reader, event);
        if (streq(path, "policy"))
                return read_policy(reader, event);
        if (streq(path, "units"))
                return read_units(reader, event);
        if (streq(path, "tune"))
                return read_tune(reader, event);

        return read_group(reader, path, event);
}

/* Reads KEY, which is in the mapping at PATH, and its value. */
static int read_entry(Reader *reader, const char *path, Keys *keys, const yaml_event_t *key) {
        _cleanup_(yaml_event_delete) yaml_event_t value = {};
        _cleanup_free_ char *key_path = NULL;
        ssize_t i = -1;
        int r;

        if (!is_text(key))
                r = refuse(reader, key, path, "a key");
        else {
                i = strv_find(keys->names, event_text(key));
                r = 0;
        }
        if (r < 0)
                return r;

        r = next_event(reader, &value);
        if (r < 0)
                return r;

        if (i < 0)
                return is_text(key) ? read_unknown(reader, path, keys, key, &value) :
                                      skip_value(reader, &value);

        if (asprintf(&key_path, "%s%s%s", path, *path ? "." : "", keys->names[i]) < 0) {
                key_path = NULL;
                return -ENOMEM;
        }

        if (keys->lines[i] > 0) {
                r = complain_again(reader, key, key_path, keys->lines[i]);
                if (r < 0)
                        return r;

                return skip_value(reader, &value);
        }

        keys->lines[i] = key->start_mark.line + 1;
        return read_value(reader, key_path, &value);
}

/* Reads the mapping at PATH, whose first event was read last, to its end. */
static int read_mapping(Reader *reader, const char *path, Keys *keys) {
        _cleanup_(yaml_event_delete) yaml_event_t key = {};
        int r;

        for (;;) {
                r = next_event(reader, &key);
                if (r < 0 || key.type == YAML_MAPPING_END_EVENT)
                        return r;

                r = read_entry(reader, path, keys, &key);
                if (r < 0)
                        return r;
        }
}

/* Reads the whole of a document that is not empty. */
static int read_root(Reader *reader, const yaml_event_t *event) {
        _cleanup_(keys_done) Keys keys = {};
        int r;

        if (!is_mapping(event))
                return refuse(reader, event, "", "a mapping that begins with 'version: 1'");

        r = keys_init(reader, &keys, "");
        if (r < 0)
                return r;

        r = read_mapping(reader, "", &keys);
        if (r < 0)
                return r;

        if (keys.lines[strv_find(keys.names, version_spec.path)] == 0)
                return complain(reader, event, "expected 'version: 1', found no version");

        return 0;
}

/* "---" with nothing behind it. */
static bool is_empty_document(const yaml_event_t *root) {
        return root->type == YAML_SCALAR_EVENT && root->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                root->data.scalar.length == 0 && !event_anchor(root) && !event_tag(root);
}

/* A comment right behind a directive's version, without a blank, is none, but libyaml takes it for one. */
static int check_directives(Reader *reader, const yaml_event_t *document) {
        const char *end = reader->text + reader->size, *line = reader->text, *next;

        for (size_t n = 1; n <= document->end_mark.line && line < end; n++, line = next) {
                const char *comment;

                next = memchr(line, '\n', end - line);
                next = next ? next + 1 : end;
                comment = memchr(line, '#', next - line);
                if (comment && comment - line > 5 && memcmp(line, "%YAML", 5) == 0 &&
                    comment[-1] != ' ' && comment[-1] != '\t')
                        return complain_at(reader, n, comment - line + 1,
                                           "expected a blank before '#' in a directive, found none");
        }

        return 0;
}

static int read_stream(Reader *reader) {
        _cleanup_(yaml_event_delete) yaml_event_t event = {};
        int r;

        r = next_event(reader, &event); /* the stream begins */
        if (r < 0)
                return r;

        r = next_event(reader, &event); /* a document begins */
        if (r < 0 || event.type == YAML_STREAM_END_EVENT)
                return r;

        r = check_directives(reader, &event);
        if (r < 0)
                return r;

        r = next_event(reader, &event);
        if (r < 0)
                return r;

        if (!is_empty_document(&event)) {
                r = read_root(reader, &event);
                if (r < 0)
                        return r;
        }

        r = next_event(reader, &event); /* it ends */
        if (r < 0)
                return r;

        r = next_event(reader, &event);
        if (r < 0 || event.type == YAML_STREAM_END_EVENT)
                return r;

        return complain(reader, &event, "expected one document, found another");
}

int policy_model_read_text(PolicyModel *model, const char *name, const char *text, size_t size,
                           PolicyErrors *errors) {
        Reader reader = {
                .name = name,
                .text = text,
                .size = size,
                .model = model,
                .errors = errors,
                .n_errors_before = errors->n_items,
                .n_statements_before = model->n_own_statements,
        };
        int r;

        if (size > POLICY_FILE_MAX) {
                r = policy_errors_add(errors, name, 0, 0, "expected at most 1 MiB, found more");
                return r < 0 ? r : -EBADMSG;
        }

        if (!yaml_parser_initialize(&reader.parser))
                return -ENOMEM;

        /* Said here, because libyaml would otherwise take UTF-16 too. */
        yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&reader.parser, (const unsigned char *) text, size);

        r = read_stream(&reader);
        yaml_parser_delete(&reader.parser);
        if (r >= 0 || r == -EBADMSG)
                r = check_own(&reader) ?: r;
        if (r < 0)
                return r;

        return errors->n_items > reader.n_errors_before ? -EBADMSG : 0;
}
