// SPDX-License-Identifier: GPL-2.0-only

#include <limits.h>

#include "internal.h"
#include "policy.h"
#include "util.h"

/* The longest built-in name. */
#define NAME_LEN_MAX 64

#define POLICY_SUFFIX ".bpf.o"

DEFINE_TRIVIAL_CLEANUP_FUNC(PolicyModel *, policy_model_free)

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

int policy_model_copy(const PolicyModel *model, PolicyModel **ret) {
        _cleanup_(policy_model_freep) PolicyModel *copy = NULL;
        int r;

        copy = calloc(1, sizeof(*copy));
        if (!copy)
                return -ENOMEM;

        copy->params = model->params;
        copy->policy = strdup(model->policy);
        if (!copy->policy)
                return -ENOMEM;

        r = copy_units(copy, model);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(copy);
        return 0;
}

PolicyModel *policy_model_free(PolicyModel *model) {
        if (!model)
                return NULL;

        for (size_t i = 0; i < model->n_units; i++)
                free(model->units[i].pattern);
        free(model->units);
        free(model->policy);
        free(model);
        return NULL;
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
