// SPDX-License-Identifier: GPL-2.0-only

#include <limits.h>

#include "internal.h"
#include "policy.h"
#include "util.h"

/* The longest built-in name. */
#define NAME_LEN_MAX 64

#define POLICY_SUFFIX ".bpf.o"

DEFINE_TRIVIAL_CLEANUP_FUNC(PolicyModel *, policy_model_free)
DEFINE_TRIVIAL_CLEANUP_FUNC(OwnTunables *, own_tunables_unref)

int policy_model_new(PolicyModel **ret) {
        _cleanup_free_ PolicyModel *model = NULL;

        model = calloc(1, sizeof(*model));
        if (!model)
                return -ENOMEM;

        model->policy = strdup(POLICY_DEFAULT);
        if (!model->policy)
                return -ENOMEM;

        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++)
                key_spec_set(spec, &model->params, spec->def);

        *ret = TAKE_PTR(model);
        return 0;
}

static int copy_units(PolicyModel *dest, const PolicyModel *model) {
        dest->units = calloc(model->n_units + 1, sizeof(UnitSettings));
        if (!dest->units)
                return -ENOMEM;

        for (; dest->n_units < model->n_units; dest->n_units++) {
                UnitSettings *copy = dest->units + dest->n_units;

                *copy = model->units[dest->n_units];
                copy->pattern = strdup(copy->pattern);
                if (!copy->pattern)
                        return -ENOMEM;
        }

        return 0;
}

/* What is only of use until all files are read and understood is not copied. */
int policy_model_copy(const PolicyModel *model, PolicyModel **ret) {
        _cleanup_(policy_model_freep) PolicyModel *copy = NULL;
        int r;

        copy = calloc(1, sizeof(*copy));
        if (!copy)
                return -ENOMEM;

        copy->params = model->params;
        copy->own = own_tunables_ref(model->own);
        copy->policy = strdup(model->policy);
        if (!copy->policy)
                return -ENOMEM;

        r = copy_units(copy, model);
        if (r >= 0)
                r = policy_model_copy_loops(copy, model);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(copy);
        return 0;
}

void own_statement_done(OwnStatement *statement) {
        free(statement->place.file);
        free(statement->policy);
        free(statement->unit);
        free(statement->key);
        free(statement->text);
        tune_loop_free(statement->loop);
}

void policy_model_forget_statements(PolicyModel *model) {
        for (size_t i = 0; i < model->n_own_statements; i++)
                own_statement_done(model->own_statements + i);

        free(model->own_statements);
        model->own_statements = NULL;
        model->n_own_statements = 0;
        model->policy_names = strv_free(model->policy_names);
        free(model->policy_place.file);
        model->policy_place = (PolicyPlace) {};
}

PolicyModel *policy_model_free(PolicyModel *model) {
        if (!model)
                return NULL;

        for (size_t i = 0; i < model->n_units; i++)
                free(model->units[i].pattern);
        free(model->units);
        policy_model_free_loops(model);
        policy_model_forget_statements(model);
        own_tunables_unref(model->own);
        free(model->policy);
        free(model);
        return NULL;
}

/* What ADD has of what OLD, of a policy of the same name, had in PARAMS as a tunable of the same name. */
static bool find_old(const OwnTunables *old, const KeySpec *spec, const struct memsec_params *params,
                     uint64_t *ret, uint64_t *ret_key) {
        const KeySpec *was = old ? keys_find(old, spec->path) : NULL;

        if (!was || !key_is_own(was) || was->type != spec->type)
                return false;

        *ret = key_spec_get(was, params);
        *ret_key = UINT64_C(1) << key_index(was);
        return value_in_range(spec, *ret);
}

/* The same for what is said of units, where what is not there any more says nothing. */
static void move_settings(UnitSettings *settings, const OwnTunables *old, const OwnTunables *own) {
        UnitSettings moved = *settings;
        uint64_t value, key;

        moved.keys &= (UINT64_C(1) << n_key_specs) - 1;
        memset(moved.params.own, 0, sizeof(moved.params.own));

        for (size_t i = 0; own && i < own->n_specs; i++) {
                const KeySpec *spec = own->specs + i;

                if (!find_old(old, spec, &settings->params, &value, &key) || !(settings->keys & key))
                        continue;

                moved.keys |= UINT64_C(1) << key_index(spec);
                key_spec_set(spec, &moved.params, value);
        }

        *settings = moved;
}

/* A statement that says nothing is none. */
static void drop_empty_units(PolicyModel *model) {
        size_t n = 0;

        for (size_t i = 0; i < model->n_units; i++)
                if (model->units[i].keys)
                        model->units[n++] = model->units[i];
                else
                        free(model->units[i].pattern);

        model->n_units = n;
}

void policy_model_set_own(PolicyModel *model, OwnTunables *own) {
        _cleanup_(own_tunables_unrefp) OwnTunables *old = model->own;
        struct memsec_params params = model->params;
        uint64_t value, key;

        memset(params.own, 0, sizeof(params.own));
        for (size_t i = 0; own && i < own->n_specs; i++) {
                const KeySpec *spec = own->specs + i;

                if (!find_old(old, spec, &model->params, &value, &key))
                        value = spec->def;
                key_spec_set(spec, &params, value);
        }

        for (size_t i = 0; i < model->n_units; i++)
                move_settings(model->units + i, old, own);
        drop_empty_units(model);

        model->params = params;
        model->own = own_tunables_ref(own);
        policy_model_check_loops(model);
}

/* What is wrong with PATH, an absolute one, or NULL when it is fine. */
static const char *path_trap(const char *path) {
        const char *suffix = endswith(path, POLICY_SUFFIX);

        if (!suffix || suffix[-1] == '/')
                return ", which is not a " POLICY_SUFFIX " file";
        if (strlen(path) >= PATH_MAX)
                return ", which is too long";
        /* It is shown on terminals, in logs and on the bus, and must not be able to look like another. */
        for (const char *p = path; *p; p++)
                if (!ascii_is_printable(*p))
                        return ", which has characters that are not printable ASCII";

        for (const char *p = path; *p; p += strcspn(p, "/")) {
                size_t n = strcspn(++p, "/");

                if (n == 0 || (n == 1 && *p == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
                        return ", which has an empty, '.' or '..' part";
                if (n > NAME_MAX)
                        return ", which is too long";
        }

        return NULL;
}

/* What is wrong with NAME, a built-in one, or NULL when it is fine. */
static const char *name_trap(const char *name) {
        if (strchr(name, '/'))
                return ", which is a relative path";
        if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-")])
                return ", which has other characters";
        if (*name < 'a' || *name > 'z')
                return ", which does not begin with a letter";
        if (strlen(name) > NAME_LEN_MAX)
                return ", which is too long";

        return NULL;
}

int policy_name_check(const char *name, char **ret_error) {
        _cleanup_free_ char *found = NULL;
        const char *trap;

        trap = *name == '/' ? path_trap(name) : name_trap(name);
        if (!trap)
                return 0;

        found = text_quote(name);
        if (!found || asprintf(ret_error, "expected " POLICY_NAME_EXPECTED ", found %s%s", found, trap) < 0)
                return -ENOMEM;

        return -EINVAL;
}

int policy_short_name(const char *policy, char **ret) {
        const char *name = *policy == '/' ? strrchr(policy, '/') + 1 : policy;
        const char *suffix = *policy == '/' ? endswith(name, POLICY_SUFFIX) : NULL;

        *ret = strndup(name, suffix ? (size_t) (suffix - name) : strlen(name));
        return *ret ? 0 : -ENOMEM;
}

int policy_model_know_policy(PolicyModel *model, const char *policy) {
        char *name;
        int r;

        r = policy_short_name(policy, &name);
        if (r < 0)
                return r;

        return strv_consume(&model->policy_names, name);
}
