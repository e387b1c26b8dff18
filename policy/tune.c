// SPDX-License-Identifier: GPL-2.0-only

/* Loops that move tunables, as the model has them. */

#include "internal.h"
#include "policy.h"
#include "util.h"

const char *const tune_resources[] = {
        [TUNE_CPU] = "cpu",
        [TUNE_MEMORY] = "memory",
        [TUNE_IO] = "io",
        NULL,
};

static void loop_done(TuneLoop *loop) {
        free(loop->unit);
        free(loop->key);
        free(loop->counter);
        free(loop->source);
        for (size_t i = 0; i < ELEMENTSOF(loop->bounds); i++)
                free(loop->bounds[i].text);
}

TuneLoop *tune_loop_free(TuneLoop *loop) {
        if (!loop)
                return NULL;

        loop_done(loop);
        free(loop);
        return NULL;
}

static int loop_copy(TuneLoop *dest, const TuneLoop *loop) {
        TuneLoop copy = *loop;
        int r;

        copy.unit = copy.key = copy.counter = copy.source = NULL;
        memset(copy.bounds, 0, sizeof(copy.bounds));

        r = free_and_strdup(&copy.unit, loop->unit);
        if (r >= 0)
                r = free_and_strdup(&copy.key, loop->key);
        if (r >= 0)
                r = free_and_strdup(&copy.counter, loop->counter);
        if (r >= 0)
                r = free_and_strdup(&copy.source, loop->source);
        if (r < 0) {
                loop_done(&copy);
                return r;
        }

        *dest = copy;
        return 0;
}

int policy_model_copy_loops(PolicyModel *dest, const PolicyModel *model) {
        int r;

        dest->loops = calloc(model->n_loops + 1, sizeof(TuneLoop));
        if (!dest->loops)
                return -ENOMEM;

        for (; dest->n_loops < model->n_loops; dest->n_loops++) {
                r = loop_copy(dest->loops + dest->n_loops, model->loops + dest->n_loops);
                if (r < 0)
                        return r;
        }

        return 0;
}

void policy_model_free_loops(PolicyModel *model) {
        for (size_t i = 0; i < model->n_loops; i++)
                loop_done(model->loops + i);

        free(model->loops);
}

/* The order of the others stays. */
static void remove_loop(PolicyModel *model, size_t i) {
        TuneLoop *loop = model->loops + i;

        loop_done(loop);
        memmove(loop, loop + 1, (--model->n_loops - i) * sizeof(TuneLoop));
}

static bool is_same(const TuneLoop *a, const TuneLoop *b) {
        return streq(a->key, b->key) && !a->unit == !b->unit && (!a->unit || streq(a->unit, b->unit));
}

int policy_model_set_loop(PolicyModel *model, const TuneLoop *loop) {
        TuneLoop copy, *longer;
        size_t i;
        int r;

        for (i = 0; i < model->n_loops; i++)
                if (is_same(model->loops + i, loop))
                        break;

        if (loop->none) {
                if (i < model->n_loops)
                        remove_loop(model, i);
                return 0;
        }

        if (i >= POLICY_LOOPS_MAX)
                return -E2BIG;

        longer = reallocarray(model->loops, model->n_loops + 1, sizeof(TuneLoop));
        if (!longer)
                return -ENOMEM;
        model->loops = longer;

        r = loop_copy(&copy, loop);
        if (r < 0)
                return r;

        if (i < model->n_loops)
                loop_done(longer + i);
        else
                model->n_loops++;
        longer[i] = copy;
        return 0;
}

static bool range_fits(const TuneLoop *loop, const KeySpec *spec) {
        return spec && spec->type != KEY_CHOICE && loop->min >= spec->min && loop->max <= spec->max;
}

void policy_model_check_loops(PolicyModel *model) {
        for (size_t i = model->n_loops; i-- > 0;)
                if (!range_fits(model->loops + i, keys_find(model->own, model->loops[i].key)))
                        remove_loop(model, i);
}

uint64_t policy_model_loop_value(const PolicyModel *model, const TuneLoop *loop, const KeySpec **ret_spec) {
        const KeySpec *spec = keys_find(model->own, loop->key);
        UnitSettings settings = {};

        *ret_spec = spec;
        if (!spec)
                return 0;

        if (loop->unit)
                policy_model_get_unit(model, loop->unit, &settings);

        return key_spec_get(spec, settings.keys & (UINT64_C(1) << key_index(spec)) ? &settings.params :
                                                                                   &model->params);
}

int tune_loop_set_range(TuneLoop *loop, const KeySpec *spec, const TuneBound **ret_bound, char **ret_error) {
        uint64_t *const values[] = { &loop->min, &loop->max };
        KeySpec number = *spec;
        int r;

        /* That is no number between others. */
        number.never = false;

        for (size_t i = 0; i < ELEMENTSOF(values); i++) {
                *ret_bound = loop->bounds + i;
                r = value_parse(&number, loop->bounds[i].text, values[i], ret_error);
                if (r < 0)
                        return r == -ENOMEM ? r : -EINVAL;
        }

        if (loop->min < loop->max)
                return 0;

        return error_set(ret_error, -EINVAL, "expected more than min, which is '%s', found '%s'",
                         loop->bounds[0].text, loop->bounds[1].text);
}

int tune_signal_format(const TuneLoop *loop, char **ret) {
        int n;

        if (loop->counter) {
                *ret = strdup(loop->counter);
                return *ret ? 0 : -ENOMEM;
        }

        n = asprintf(ret, "%s%s pressure of %s", loop->full ? "full " : "", tune_resources[loop->resource],
                     loop->source ?: "the system");
        return n < 0 ? -ENOMEM : 0;
}

const char *tune_measure(const TuneLoop *loop) {
        return loop->counter ? "/s" : "%";
}

bool tune_counter_is_valid(const char *name) {
        _cleanup_strv_free_ char **mechanisms = NULL;
        const char *dot = strchr(name, '.');

        if (!dot || !dot[1] || dot[1 + strspn(dot + 1, "abcdefghijklmnopqrstuvwxyz0123456789_")] ||
            key_spec_children("", &mechanisms) < 0)
                return false;

        STRV_FOREACH(mechanism, mechanisms) {
                const char *rest = startswith(name, *mechanism);

                if (rest == dot)
                        return true;
        }

        return false;
}
