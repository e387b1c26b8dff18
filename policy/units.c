// SPDX-License-Identifier: GPL-2.0-only

/* Which units a statement of "units:" is about, and what all statements together come to for a cgroup. */

#include <fnmatch.h>
#include <limits.h>

#include "internal.h"
#include "policy.h"
#include "util.h"

/* systemd's limit of a unit's name. */
#define UNIT_NAME_LEN_MAX 255

/* Of systemd's names of units. */
#define UNIT_NAME_CHARS                                                                         \
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@"

#define ROOT_SLICE "-.slice"

/* Where the suffix of a unit that can have processes or other units in its cgroup begins, or NULL. */
static const char *unit_suffix(const char *name) {
        static const char *const suffixes[] = { ".service", ".slice", ".scope" };

        for (size_t i = 0; i < ELEMENTSOF(suffixes); i++) {
                const char *suffix = endswith(name, suffixes[i]);

                if (suffix && suffix > name)
                        return suffix;
        }

        return NULL;
}

bool unit_name_is_valid(const char *name) {
        return unit_suffix(name) && *name != '@' && strlen(name) <= UNIT_NAME_LEN_MAX &&
                !name[strspn(name, UNIT_NAME_CHARS)];
}

/* Is every '[' closed again, with something in between, and no ']' alone? */
static bool brackets_match(const char *pattern) {
        for (const char *p = pattern; *p; p++) {
                if (*p == ']')
                        return false;
                if (*p != '[')
                        continue;

                p += strspn(p + 1, "!^") + 1;
                if (!*p)
                        return false;

                /* The first one in brackets is a member. */
                p = strchr(p + 1, ']');
                if (!p)
                        return false;
        }

        return true;
}

/* What is wrong with PATTERN, or NULL when it is fine. */
static const char *pattern_trap(const char *pattern) {
        if (pattern[strspn(pattern, UNIT_NAME_CHARS "*?[]!^")])
                return ", which has characters that no name of a unit has";
        if (!unit_suffix(pattern))
                return ", which does not end in one of these";
        if (strlen(pattern) > UNIT_NAME_LEN_MAX)
                return ", which is too long";
        if (*pattern == '@')
                return ", which begins with '@'";
        if (!brackets_match(pattern))
                return ", whose brackets do not match";
        if (!strchr(pattern, '[') && strpbrk(pattern, "!^"))
                return ", which has '!' or '^' outside of brackets";

        return NULL;
}

int unit_pattern_check(const char *pattern, char **ret_error) {
        _cleanup_free_ char *found = NULL;
        const char *trap;

        trap = pattern_trap(pattern);
        if (!trap)
                return 0;

        found = text_quote(pattern);
        if (!found || asprintf(ret_error, "expected " UNIT_PATTERN_EXPECTED ", found %s%s", found, trap) < 0)
                return -ENOMEM;

        return -EINVAL;
}

bool unit_pattern_matches(const char *pattern, const char *unit) {
        char template[UNIT_NAME_LEN_MAX + 1];
        const char *at = strchr(unit, '@');

        if (!unit_name_is_valid(unit))
                return false;
        /* A backslash is part of a name. */
        if (fnmatch(pattern, unit, FNM_NOESCAPE) == 0)
                return true;
        if (!at)
                return false;

        stpcpy(mempcpy(template, unit, at + 1 - unit), unit_suffix(unit));
        return streq(pattern, template);
}

/* Takes one key out of what was said of PATTERN, and drops what then says nothing. */
static void unset_unit(PolicyModel *model, const char *pattern, uint64_t key) {
        size_t n = 0;

        for (size_t i = 0; i < model->n_units; i++) {
                UnitSettings *settings = model->units + i;

                if (streq(settings->pattern, pattern))
                        settings->keys &= ~key;

                if (settings->keys)
                        model->units[n++] = *settings;
                else
                        free(settings->pattern);
        }

        model->n_units = n;
}

/* The last statement when it is of PATTERN, or a new one. */
static int last_settings(PolicyModel *model, const char *pattern, UnitSettings **ret) {
        UnitSettings *last = model->n_units > 0 ? model->units + model->n_units - 1 : NULL, *longer;
        char *copy;

        if (!last || !streq(last->pattern, pattern)) {
                if (model->n_units >= POLICY_UNITS_MAX)
                        return -E2BIG;

                longer = reallocarray(model->units, model->n_units + 1, sizeof(UnitSettings));
                if (!longer)
                        return -ENOMEM;
                model->units = longer;

                copy = strdup(pattern);
                if (!copy)
                        return -ENOMEM;

                last = longer + model->n_units++;
                *last = (UnitSettings) { .pattern = copy };
        }

        *ret = last;
        return 0;
}

int policy_model_set_unit(PolicyModel *model, const char *pattern, const KeySpec *spec, uint64_t value) {
        uint64_t key = UINT64_C(1) << key_index(spec);
        UnitSettings *settings;
        int r;

        /* What was said before can no longer show, since this applies to the same units, and later. */
        unset_unit(model, pattern, key);

        r = last_settings(model, pattern, &settings);
        if (r < 0)
                return r;

        settings->keys |= key;
        key_spec_set(spec, &settings->params, value);
        return 0;
}

static void apply_settings(const UnitSettings *settings, const OwnTunables *own,
                           struct memsec_params *params) {
        for (size_t i = 0; i < keys_count(own); i++) {
                const KeySpec *spec = keys_at(own, i);

                if (settings->keys & (UINT64_C(1) << i))
                        key_spec_set(spec, params, key_spec_get(spec, &settings->params));
        }
}

void policy_model_get_unit(const PolicyModel *model, const char *pattern, UnitSettings *ret) {
        *ret = (UnitSettings) {};

        for (size_t i = 0; i < model->n_units; i++)
                if (streq(model->units[i].pattern, pattern)) {
                        ret->keys |= model->units[i].keys;
                        apply_settings(model->units + i, model->own, &ret->params);
                }
}

static bool apply_unit(const PolicyModel *model, const char *unit, struct memsec_params *params) {
        bool found = false;

        for (size_t k = 0; k < model->n_units; k++) {
                const UnitSettings *s = model->units + k;

                if (!unit_pattern_matches(s->pattern, unit))
                        continue;

                found = true;
                apply_settings(s, model->own, params);
        }

        return found;
}

/*
 * Copies the part of a path at *PATH, as the name that systemd made it from, moves *PATH behind it, and
 * returns whether there was one. A name that no unit can have becomes "".
 */
static bool next_part(const char **path, char name[static UNIT_NAME_LEN_MAX + 1]) {
        const char *part = *path + strspn(*path, "/");
        size_t n = strcspn(part, "/");

        *path = part + n;
        if (n == 0)
                return false;

        if (*part == '_') {
                part++;
                n--;
        }

        *name = '\0';
        if (n <= UNIT_NAME_LEN_MAX)
                *(char *) mempcpy(name, part, n) = '\0';
        return true;
}

bool policy_model_cgroup_params(const PolicyModel *model, const char *path, struct memsec_params *ret) {
        char name[UNIT_NAME_LEN_MAX + 1];
        bool found;

        *ret = model->params;
        found = apply_unit(model, ROOT_SLICE, ret);

        while (next_part(&path, name)) {
                if (!unit_name_is_valid(name))
                        continue;
                if (apply_unit(model, name, ret))
                        found = true;
                if (!endswith(name, ".slice"))
                        break;
        }

        return found;
}

const char *cgroup_path_unit(const char *path) {
        char name[UNIT_NAME_LEN_MAX + 1] = "";
        const char *last = strrchr(path, '/') + 1, *rest = path;

        while (next_part(&rest, name) && *rest)
                if (unit_name_is_valid(name) && !endswith(name, ".slice"))
                        return NULL;

        return unit_name_is_valid(name) ? last + (*last == '_') : NULL;
}
