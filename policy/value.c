// SPDX-License-Identifier: GPL-2.0-only

#include <ctype.h>
#include <inttypes.h>

#include "internal.h"
#include "policy.h"
#include "util.h"

typedef struct Unit {
        const char *name;
        uint64_t factor;
} Unit;

/* What a type is called and the units of its values, from small to large, ended by a unit without a name. */
static const struct {
        const char *name;
        const char *unit_names;
        Unit units[4 + 1];
} types[_KEY_TYPE_MAX] = {
        [KEY_COUNT] = { .name = "a number" },
        [KEY_DURATION] = {
                .name = "a duration",
                .unit_names = "ns, us, ms or s",
                .units = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } },
        },
        [KEY_SIZE] = {
                .name = "a size",
                .unit_names = "B, KiB, MiB or GiB",
                .units = { { "B", 1 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 } },
        },
        [KEY_PERCENT] = {
                .name = "a percentage",
                .unit_names = "%",
                .units = { { "%", 1 } },
        },
        [KEY_CHOICE] = {},
};

bool value_is_never(const KeySpec *spec, uint64_t value) {
        return spec->never && value == VALUE_NEVER;
}

bool value_in_range(const KeySpec *spec, uint64_t value) {
        return value_is_never(spec, value) || (value >= spec->min && value <= spec->max);
}

static bool has_units(const KeySpec *spec) {
        return types[spec->type].unit_names;
}

static bool one_of(char c, const char *set) {
        return c && strchr(set, c);
}

/* What is wrong with the number TEXT begins with, or NULL when it is written in plain decimal. */
static const char *number_trap(const char *text) {
        size_t n = strspn(text, "0123456789");
        const char *rest = text + n;
        bool digit_next = *rest && isdigit((unsigned char) rest[1]);

        if (one_of(*text, "+-"))
                return ", which has a sign";
        if (n == 0)
                return "";
        if (n > 1 && *text == '0')
                return ", which looks octal; write it without the leading zero";
        if (n == 1 && *text == '0' && one_of(*rest, "xX") && isxdigit((unsigned char) rest[1]))
                return ", which is hexadecimal; write it in decimal";
        if (n == 1 && *text == '0' && one_of(*rest, "oObB") && digit_next)
                return ", which is octal or binary; write it in decimal";
        if (*rest == '.' || (one_of(*rest, "eE") && (digit_next || one_of(rest[1], "+-"))))
                return ", which is not a whole number";
        if (one_of(*rest, "_,' ") && digit_next)
                return ", which has a separator among its digits";
        if (*rest == ':' && digit_next)
                return ", which YAML may read as a number in base 60";

        return NULL;
}

/* The number TEXT begins with, in the base unit, or -ERANGE when it has no place in 64 bits. */
static int number_scale(const char *text, uint64_t factor, uint64_t *ret) {
        uint64_t value = 0;

        for (; isdigit((unsigned char) *text); text++)
                if (__builtin_mul_overflow(value, (uint64_t) 10, &value) ||
                    __builtin_add_overflow(value, (uint64_t) (*text - '0'), &value))
                        return -ERANGE;

        if (__builtin_mul_overflow(value, factor, &value))
                return -ERANGE;

        *ret = value;
        return 0;
}

/* The factor of the unit NAME, "" for none, or 0 when SPEC's values cannot have it. */
static uint64_t unit_factor(const KeySpec *spec, const char *name) {
        if (!has_units(spec))
                return isempty(name);

        for (const Unit *u = types[spec->type].units; u->name; u++)
                if (streq(u->name, name))
                        return u->factor;

        return 0;
}

static const char *unit_trap(const KeySpec *spec, const char *name) {
        if (isempty(name))
                return ", which has no unit";
        if (has_units(spec))
                return ", whose unit is not one of these";

        return ", which is more than a number";
}

/* The word for VALUE, or NULL when it is a number. */
static const char *value_word(const KeySpec *spec, uint64_t value) {
        if (value_is_never(spec, value))
                return "never";
        if (spec->type == KEY_CHOICE && value_in_range(spec, value))
                return spec->choices[value];

        return NULL;
}

int value_format(const KeySpec *spec, uint64_t value, char **ret) {
        const char *word = value_word(spec, value);
        Unit unit = { "", 1 };

        if (word) {
                *ret = strdup(word);
                return *ret ? 0 : -ENOMEM;
        }

        for (const Unit *u = types[spec->type].units; u->name; u++)
                if (value % u->factor == 0 && (value > 0 || u->factor == 1))
                        unit = *u;

        return asprintf(ret, "%" PRIu64 "%s", value / unit.factor, unit.name) < 0 ? -ENOMEM : 0;
}

int value_expected(const KeySpec *spec, char **ret) {
        _cleanup_free_ char *min = NULL, *max = NULL;
        int n;

        if (spec->type == KEY_CHOICE) {
                *ret = text_enumerate((char *const *) spec->choices, "or");
                return *ret ? 0 : -ENOMEM;
        }

        if (value_format(spec, spec->min, &min) < 0 || value_format(spec, spec->max, &max) < 0)
                return -ENOMEM;

        if (spec->min == spec->max)
                n = asprintf(ret, "%s", min);
        else if (has_units(spec))
                n = asprintf(ret, "%s from %s to %s, in %s%s", types[spec->type].name, min, max,
                             types[spec->type].unit_names, spec->never ? "; or never" : "");
        else
                n = asprintf(ret, "%s%s%s from %s to %s", types[spec->type].name, spec->unit ? " of " : "",
                             spec->unit ?: "", min, max);

        return n < 0 ? -ENOMEM : 0;
}

static int choice_parse(const KeySpec *spec, const char *text, uint64_t *ret, char **ret_error) {
        _cleanup_free_ char *expected = NULL, *found = NULL;
        const char *nearest;
        int r;

        for (uint64_t i = 0; spec->choices[i]; i++)
                if (streq(spec->choices[i], text)) {
                        *ret = i;
                        return 0;
                }

        r = value_expected(spec, &expected);
        if (r < 0)
                return r;

        found = text_quote(text);
        if (!found)
                return -ENOMEM;

        nearest = word_nearest(text, (char *const *) spec->choices);
        if (asprintf(ret_error, "expected %s, found %s%s%s%s", expected, found,
                     nearest ? "; did you mean '" : "", nearest ?: "", nearest ? "'?" : "") < 0)
                return -ENOMEM;

        return -EINVAL;
}

int value_parse(const KeySpec *spec, const char *text, uint64_t *ret, char **ret_error) {
        const char *unit = text + strspn(text, "0123456789");
        _cleanup_free_ char *expected = NULL, *found = NULL;
        uint64_t factor, value = 0;
        const char *trap;
        int r;

        if (spec->type == KEY_CHOICE)
                return choice_parse(spec, text, ret, ret_error);

        if (spec->never && streq(text, "never")) {
                *ret = VALUE_NEVER;
                return 0;
        }

        factor = unit_factor(spec, unit);
        trap = number_trap(text) ?: factor == 0 ? unit_trap(spec, unit) : NULL;
        if (trap)
                r = -EINVAL;
        else {
                r = number_scale(text, factor, &value);
                if (r >= 0 && value >= spec->min && value <= spec->max) {
                        *ret = value;
                        return 0;
                }

                r = -ERANGE;
        }

        if (value_expected(spec, &expected) < 0)
                return -ENOMEM;

        found = text_quote(text);
        if (!found)
                return -ENOMEM;

        if (asprintf(ret_error, "expected %s, found %s%s", expected, found, trap ?: "") < 0)
                return -ENOMEM;

        return r;
}
