/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The policy model: what an operator may set, read from YAML, described by one table.
 *
 * schema.c holds the table, value.c turns text into numbers and back, yaml.c reads a file into a model and
 * load.c layers the files. Nothing here talks to the bus or to the kernel.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

#include "memsec_params.h"

typedef enum KeyType {
        KEY_COUNT,      /* a plain number; KeySpec.unit names what is counted */
        KEY_DURATION,   /* nanoseconds in the model; ns, us, ms or s in text */
        KEY_SIZE,       /* bytes in the model; KiB, MiB or GiB in text */
        KEY_PERCENT,    /* 0 to 100 */
        _KEY_TYPE_MAX,
} KeyType;

/* One tunable. Everything that shows or takes a tunable is made from this row. */
typedef struct KeySpec {
        const char *path;       /* in YAML and memsecctl, "teardown.batch"; the part before '.' is the mechanism */
        KeyType type;
        const char *unit;       /* of KEY_COUNT, for people: "pages" */
        uint64_t min, max;      /* inclusive */
        uint64_t def;           /* built-in default */
        size_t offset;          /* of the u64 in struct memsec_params */
        const char *bus_name;   /* D-Bus property: "Batch", durations end in "USec" */
        const char *help;       /* one line */
} KeySpec;

extern const KeySpec key_specs[];
extern const size_t n_key_specs;

/* The row of PATH, or NULL. */
const KeySpec *key_spec_find(const char *path);

/* The known path nearest to PATH, for "did you mean", or NULL when none is near. */
const char *key_spec_nearest(const char *path);

uint64_t key_spec_get(const KeySpec *spec, const struct memsec_params *params);
void key_spec_set(const KeySpec *spec, struct memsec_params *params, uint64_t value);

/*
 * Parse TEXT as a value of SPEC. Returns 0 and *ret, or -EINVAL (not such a value) or -ERANGE, and then
 * *ret_error holds "expected …, found …" (to be freed), or -ENOMEM.
 */
int value_parse(const KeySpec *spec, const char *text, uint64_t *ret, char **ret_error);

/* The text of VALUE with its unit: "4096 pages" is "4096", "500us", "64MiB". To be freed. 0 or -ENOMEM. */
int value_format(const KeySpec *spec, uint64_t value, char **ret);

/* All errors of a load, in the order found. */
typedef struct PolicyError {
        char *file;
        unsigned line, column;  /* from 1; 0 when the error is the whole file's */
        char *message;          /* what was expected and what was found */
} PolicyError;

typedef struct PolicyErrors {
        PolicyError *items;
        size_t n_items;
} PolicyErrors;

void policy_errors_done(PolicyErrors *errors);

/* "file:line:column: message" lines, to be freed. 0 or -ENOMEM. */
int policy_errors_format(const PolicyErrors *errors, char **ret);

/* What the files say. */
typedef struct PolicyModel {
        char *policy;                   /* built-in name or absolute path of a .bpf.o */
        struct memsec_params params;    /* for everyone (cgroup id 0) */
} PolicyModel;

int policy_model_new(PolicyModel **ret);        /* the built-in defaults */
PolicyModel *policy_model_free(PolicyModel *model);

/*
 * Read one file over MODEL. Returns 0, -ENOMEM, another negative errno when the file cannot be opened, or
 * -EBADMSG when it has errors; every error is appended to ERRORS and MODEL is then unspecified.
 */
int policy_model_read_file(PolicyModel *model, const char *path, PolicyErrors *errors);

/*
 * Read the layers under ROOT (NULL: "/"): /usr/lib/memsec/policy.yaml, /etc/memsec/policy.yaml, then
 * {/etc,/run}/memsec/policy.d/(*).yaml in name order, where a name in /run hides the same name in /etc...
 * later wins. Missing files are no error. All files are read, and the errors of all are reported.
 * *ret_files is a NULL-terminated array of the files read, to be freed with its strings.
 */
int policy_model_load(const char *root, PolicyModel **ret, char ***ret_files, PolicyErrors *errors);
