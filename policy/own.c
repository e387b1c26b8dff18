// SPDX-License-Identifier: GPL-2.0-only

/* Tunables of a policy's own, made from tags, which describe them in BTF, on the bus and in saved states. */

#include <ctype.h>

#include "internal.h"
#include "policy.h"
#include "util.h"

/* The longest name of a tunable, and the longest tag. */
#define NAME_LEN_MAX 32
#define TAG_LEN_MAX 200

#define TAGS_EXPECTED "unit:, min:, max:, choices:, default:, help: or never"

DEFINE_TRIVIAL_CLEANUP_FUNC(OwnTunables *, own_tunables_unref)

int own_tunables_new(const char *policy, OwnTunables **ret) {
        _cleanup_(own_tunables_unrefp) OwnTunables *own = NULL;

        own = calloc(1, sizeof(*own));
        if (!own)
                return -ENOMEM;

        own->n_refs = 1;
        own->policy = strdup(policy);
        if (!own->policy)
                return -ENOMEM;

        *ret = TAKE_PTR(own);
        return 0;
}

OwnTunables *own_tunables_ref(OwnTunables *own) {
        if (own)
                own->n_refs++;

        return own;
}

static void spec_done(KeySpec *spec) {
        free((char *) spec->path);
        free((char *) spec->unit);
        free((char *) spec->bus_name);
        free((char *) spec->help);
        strv_free((char **) spec->choices);
}

OwnTunables *own_tunables_unref(OwnTunables *own) {
        if (!own || --own->n_refs > 0)
                return NULL;

        for (size_t i = 0; i < own->n_specs; i++) {
                spec_done(own->specs + i);
                strv_free(own->tags[i]);
        }

        free(own->policy);
        free(own);
        return NULL;
}

static bool strv_equal(char *const *a, char *const *b) {
        size_t n = strv_length(a);

        if (n != strv_length(b))
                return false;

        for (size_t i = 0; i < n; i++)
                if (!streq(a[i], b[i]))
                        return false;

        return true;
}

bool own_tunables_equal(const OwnTunables *a, const OwnTunables *b) {
        if (!a || !b)
                return a == b;
        if (a->n_specs != b->n_specs || !streq(a->policy, b->policy))
                return false;

        for (size_t i = 0; i < a->n_specs; i++)
                if (!streq(a->specs[i].path, b->specs[i].path) || !strv_equal(a->tags[i], b->tags[i]))
                        return false;

        return true;
}

const char *own_name(const KeySpec *spec) {
        return strrchr(spec->path, '.') + 1;
}

/* What follows "NAME:" in the one tag that begins so, NULL when none does. */
static int find_tag(char *const *tags, const char *name, const char **ret, char **ret_error) {
        const char *found = NULL;

        STRV_FOREACH(tag, tags) {
                const char *rest = startswith(*tag, name);

                if (!rest || *rest != ':')
                        continue;
                if (found)
                        return error_set(ret_error, -EINVAL, "expected one '%s:', found two", name);
                found = rest + 1;
        }

        *ret = found;
        return 0;
}

/* Any of them may come to a terminal and onto the bus. */
static int check_tags(char *const *tags, char **ret_error) {
        static const char *const known[] = { "unit:", "min:", "max:", "choices:", "default:", "help:" };

        STRV_FOREACH(tag, tags) {
                _cleanup_free_ char *found = text_quote(*tag);
                bool is_known = streq(*tag, "never");

                if (!found)
                        return -ENOMEM;

                for (const char *p = *tag; *p; p++)
                        if (!ascii_is_printable(*p))
                                return error_set(ret_error, -EINVAL,
                                                 "expected printable ASCII, found %s", found);
                if (strlen(*tag) > TAG_LEN_MAX)
                        return error_set(ret_error, -EINVAL, "expected at most %d characters, found %s",
                                         TAG_LEN_MAX, found);

                for (size_t i = 0; i < ELEMENTSOF(known); i++)
                        if (startswith(*tag, known[i]))
                                is_known = true;
                if (!is_known)
                        return error_set(ret_error, -EINVAL, "expected " TAGS_EXPECTED ", found %s", found);
        }

        return 0;
}

/* The name of a D-Bus property: "CalmBatch" for "calm_batch", and "PauseUSec" for the time "pause". */
static char *bus_name(const KeySpec *spec, const char *name) {
        char *text, *end;

        text = end = malloc(strlen(name) + strlen("USec") + 1);
        if (!text)
                return NULL;

        for (const char *p = name; *p; p++)
                if (*p != '_')
                        *end++ = p == name || p[-1] == '_' ? toupper((unsigned char) *p) : *p;

        strcpy(end, spec->type == KEY_DURATION ? "USec" : "");
        return text;
}

static int check_name(const OwnTunables *own, const KeySpec *spec, const char *name, char **ret_error) {
        if (*name < 'a' || *name > 'z' || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
                return error_set(ret_error, -EINVAL,
                                 "expected a name of small letters, digits and underscores");
        if (strlen(name) > NAME_LEN_MAX)
                return error_set(ret_error, -EINVAL, "expected a name of at most %d characters",
                                 NAME_LEN_MAX);

        for (size_t i = 0; i < own->n_specs; i++)
                if (streq(own->specs[i].bus_name, spec->bus_name))
                        return error_set(ret_error, -EINVAL, "'%s' would be called %s on D-Bus too",
                                         own_name(own->specs + i), spec->bus_name);

        return 0;
}

static bool is_word(const char *text) {
        return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-")];
}

/* The words of a "choices:" tag. */
static int set_choices(KeySpec *spec, const char *words, char **ret_error) {
        _cleanup_strv_free_ char **list = NULL;
        int r;

        while (words) {
                char *word = strndup(words, strcspn(words, ","));

                r = strv_consume(&list, word);
                if (r < 0)
                        return r;

                if (!is_word(word) || strv_find(list, word) != (ssize_t) strv_length(list) - 1)
                        return error_set(ret_error, -EINVAL,
                                         "expected different words of small letters in 'choices:'");

                words = strchr(words, ',');
                words += !!words;
        }

        spec->type = KEY_CHOICE;
        spec->max = strv_length(list) - 1;
        spec->choices = (const char *const *) TAKE_PTR(list);
        return 0;
}

static int set_unit(KeySpec *spec, const char *unit, char **ret_error) {
        static const char *const others[] = { "us", "ms", "s", "B", "KiB", "MiB", "GiB" };
        _cleanup_free_ char *found = NULL;

        if (!unit || streq(unit, ""))
                return 0;

        if (streq(unit, "ns"))
                spec->type = KEY_DURATION;
        else if (streq(unit, "bytes"))
                spec->type = KEY_SIZE;
        else if (streq(unit, "%"))
                spec->type = KEY_PERCENT;
        else {
                found = text_quote(unit);
                if (!found)
                        return -ENOMEM;

                /* A policy has all times and sizes in one unit each; people write the one that they want. */
                for (size_t i = 0; i < ELEMENTSOF(others); i++)
                        if (streq(unit, others[i]))
                                return error_set(ret_error, -EINVAL,
                                                 "expected the unit ns, bytes, %% or what is counted, "
                                                 "found %s", found);
                spec->unit = strdup(unit);
                if (!spec->unit)
                        return -ENOMEM;
        }

        return 0;
}

/* Reads the value of a tag like "min:"; *RET is as it was when there is none. */
static int read_bound(const KeySpec *spec, char *const *tags, const char *name, uint64_t *ret,
                      char **ret_error) {
        _cleanup_free_ char *error = NULL;
        const char *text;
        int r;

        r = find_tag(tags, name, &text, ret_error);
        if (r < 0 || !text)
                return r;

        r = value_parse(spec, text, ret, &error);
        if (r == -EINVAL || r == -ERANGE)
                return error_set(ret_error, -EINVAL, "%s: %s", name, error);

        return r;
}

/* The bus has no larger one of microseconds, and VALUE_NEVER means something. */
static uint64_t largest(const KeySpec *spec) {
        return spec->type == KEY_PERCENT ? 100 : INT64_MAX;
}

static int set_range(KeySpec *spec, char *const *tags, char **ret_error) {
        uint64_t min = 0, max = largest(spec);
        const char *text;
        int r;

        /* Until the range is known, anything is in it. */
        spec->max = largest(spec);
        r = read_bound(spec, tags, "min", &min, ret_error);
        if (r >= 0)
                r = read_bound(spec, tags, "max", &max, ret_error);
        if (r >= 0)
                r = find_tag(tags, "max", &text, ret_error);
        if (r < 0)
                return r;

        if (!text && spec->type != KEY_PERCENT)
                return error_set(ret_error, -EINVAL, "expected a 'max:', found none");
        if (min > max)
                return error_set(ret_error, -EINVAL, "expected 'min:' to be at most 'max:'");

        spec->min = min;
        spec->max = max;
        return 0;
}

/* A number of the base unit, as the policy has it in C. */
static int set_default(KeySpec *spec, char *const *tags, char **ret_error) {
        _cleanup_free_ char *expected = NULL;
        const char *text = NULL;
        char *end = NULL;
        int r;

        r = find_tag(tags, "default", &text, ret_error);
        if (r < 0)
                return r;

        errno = 0;
        if (text && isdigit((unsigned char) *text))
                spec->def = strtoull(text, &end, 10);
        if (end && !*end && errno == 0 && value_in_range(spec, spec->def))
                return 0;

        r = value_expected(spec, &expected);
        if (r < 0)
                return r;

        return error_set(ret_error, -EINVAL, "default: expected %s, found %s", expected, text ?: "none");
}

static int set_type(KeySpec *spec, char *const *tags, char **ret_error) {
        const char *unit, *choices;
        int r;

        r = find_tag(tags, "unit", &unit, ret_error);
        if (r >= 0)
                r = find_tag(tags, "choices", &choices, ret_error);
        if (r < 0)
                return r;

        spec->never = strv_find(tags, "never") >= 0;
        if (choices)
                return set_choices(spec, choices, ret_error);

        r = set_unit(spec, unit, ret_error);
        if (r >= 0 && spec->never && spec->type != KEY_DURATION)
                r = error_set(ret_error, -EINVAL, "expected 'never' of a time only, whose unit is ns");
        if (r < 0)
                return r;

        return set_range(spec, tags, ret_error);
}

static int set_texts(KeySpec *spec, const char *policy, const char *name, char *const *tags,
                     char **ret_error) {
        const char *help;
        char *path;
        int r;

        r = find_tag(tags, "help", &help, ret_error);
        if (r < 0)
                return r;
        if (asprintf(&path, "%s.%s", policy, name) < 0)
                return -ENOMEM;

        spec->path = path;
        spec->help = strdup(help ?: "");
        spec->bus_name = bus_name(spec, name);
        return spec->help && spec->bus_name ? 0 : -ENOMEM;
}

static int spec_from_tags(const OwnTunables *own, KeySpec *spec, const char *name, char *const *tags,
                          char **ret_error) {
        int r;

        r = check_tags(tags, ret_error);
        if (r >= 0)
                r = set_type(spec, tags, ret_error);
        if (r >= 0)
                r = set_texts(spec, own->policy, name, tags, ret_error);
        if (r >= 0)
                r = check_name(own, spec, name, ret_error);
        if (r >= 0)
                r = set_default(spec, tags, ret_error);

        return r;
}

int own_tunables_add(OwnTunables *own, const char *name, char *const *tags, char **ret_error) {
        size_t i = own->n_specs;
        KeySpec spec = {
                .type = KEY_COUNT,
                .offset = offsetof(struct memsec_params, own) + i * sizeof(uint64_t),
        };
        _cleanup_free_ char *error = NULL, *found = NULL;
        _cleanup_strv_free_ char **copy = NULL;
        int r = 0;

        if (i >= MEMSEC_OWN_MAX)
                return error_set(ret_error, -EINVAL, "expected at most %d tunables, found more",
                                 MEMSEC_OWN_MAX);

        STRV_FOREACH(tag, tags)
                if (r >= 0)
                        r = strv_extend(&copy, *tag);
        if (r >= 0)
                r = spec_from_tags(own, &spec, name, tags, &error);
        if (r < 0) {
                spec_done(&spec);
                found = text_quote(name);
                if (r == -ENOMEM || !found)
                        return -ENOMEM;

                return error_set(ret_error, r, "tunable %s: %s", found, error);
        }

        own->specs[i] = spec;
        own->tags[i] = TAKE_PTR(copy);
        own->n_specs++;
        return 0;
}

int own_policy_check(const char *name, char **ret_error) {
        static const char *const taken[] = { "version", "policy", "units", "tune" };
        _cleanup_strv_free_ char **mechanisms = NULL;
        _cleanup_free_ char *error = NULL;
        bool is_taken = false;
        int r;

        if (strchr(name, '/') || policy_name_check(name, &error) < 0)
                return error_set(ret_error, -EINVAL,
                                 "expected a file name of small letters, digits, '_' and '-', because "
                                 "tunables are called after it");

        r = key_spec_children("", &mechanisms);
        if (r < 0)
                return r;

        for (size_t i = 0; i < ELEMENTSOF(taken); i++)
                is_taken = is_taken || streq(taken[i], name);
        if (!is_taken && strv_find(mechanisms, name) < 0)
                return 0;

        return error_set(ret_error, -EINVAL, "expected another file name, because tunables are called after "
                         "it and '%s' means something else in policy files", name);
}

size_t keys_count(const OwnTunables *own) {
        return n_key_specs + (own ? own->n_specs : 0);
}

const KeySpec *keys_at(const OwnTunables *own, size_t index) {
        return index < n_key_specs ? key_specs + index : own->specs + (index - n_key_specs);
}

const KeySpec *keys_find(const OwnTunables *own, const char *path) {
        for (size_t i = 0; i < keys_count(own); i++)
                if (streq(keys_at(own, i)->path, path))
                        return keys_at(own, i);

        return NULL;
}

bool key_is_own(const KeySpec *spec) {
        return spec->offset >= offsetof(struct memsec_params, own);
}

size_t key_index(const KeySpec *spec) {
        if (!key_is_own(spec))
                return spec - key_specs;

        return n_key_specs + (spec->offset - offsetof(struct memsec_params, own)) / sizeof(uint64_t);
}
