/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The policy model: what an operator may set, read from YAML, described by one table.
 *
 * schema.c holds the table, value.c turns text into numbers and back, units.c knows which unit is meant,
 * yaml.c reads a file into a model and load.c layers the files. tune.c holds the loops that move tunables.
 * object.c opens the object of a policy, own.c
 * holds the tunables that it has of its own, and own-btf.c finds them there. Nothing here talks to the bus
 * or to the kernel.
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
        KEY_CHOICE,     /* the number of a word, from 0 */
        _KEY_TYPE_MAX,
} KeyType;

/* One tunable. Everything that shows or takes a tunable is made from this row. */
typedef struct KeySpec {
        const char *path;       /* in YAML and memsecctl, "teardown.batch": the mechanism comes first */
        KeyType type;
        const char *unit;       /* of KEY_COUNT, for people: "pages" */
        const char *const *choices; /* of KEY_CHOICE, ended by NULL: its words */
        uint64_t min, max;      /* inclusive */
        bool never;             /* of KEY_DURATION: may be VALUE_NEVER, "never" in text */
        uint64_t def;           /* built-in default */
        size_t offset;          /* of the u64 in struct memsec_params */
        const char *bus_name;   /* D-Bus property: "Batch", durations end in "USec" */
        const char *help;       /* one line */
} KeySpec;

extern const KeySpec key_specs[];
extern const size_t n_key_specs;

/*
 * Tunables that a policy has of its own, beside those of the table. Their paths begin with the policy's
 * name. Never changed once complete, and shared: specs live as long as the last reference.
 */
typedef struct OwnTunables {
        unsigned n_refs;
        char *policy;                           /* policy_short_name() */
        KeySpec specs[MEMSEC_OWN_MAX];
        char **tags[MEMSEC_OWN_MAX];            /* what describes each, see own_tunables_add() */
        size_t n_specs;
} OwnTunables;

/* POLICY, as it is called in paths, must be OK with own_policy_check(). */
int own_tunables_new(const char *policy, OwnTunables **ret);    /* 0 or -ENOMEM */
OwnTunables *own_tunables_ref(OwnTunables *own);
OwnTunables *own_tunables_unref(OwnTunables *own);

/* Both may be NULL. */
bool own_tunables_equal(const OwnTunables *a, const OwnTunables *b);

/*
 * Add the next one, described by TAGS as in BTF, "unit:pages", "min:1", and by "default:64" too. It is
 * called NAME in C. Returns 0, -ENOMEM, or -EINVAL and then *ret_error holds what is wrong (to be freed).
 */
int own_tunables_add(OwnTunables *own, const char *name, char *const *tags, char **ret_error);

/* What NAME, a spec's, is without the policy's. */
const char *own_name(const KeySpec *spec);

/* Can tunables be called after the policy of this short name? As policy_name_check(). */
int own_policy_check(const char *name, char **ret_error);

/* All keys: those of the table, and then those of OWN, which may be NULL. */
size_t keys_count(const OwnTunables *own);
const KeySpec *keys_at(const OwnTunables *own, size_t index);
const KeySpec *keys_find(const OwnTunables *own, const char *path);
size_t key_index(const KeySpec *spec);          /* the opposite of keys_at() */
bool key_is_own(const KeySpec *spec);

/* As key_spec_nearest(). */
const char *keys_nearest(const OwnTunables *own, const char *path);

/* The row of PATH, or NULL. */
const KeySpec *key_spec_find(const char *path);

/* The known path nearest to PATH or to a bare "batch", for "did you mean", or NULL when none is near. */
const char *key_spec_nearest(const char *path);

/*
 * The names that may follow PREFIX in a path, each once, in the order of the table: "batch" and "max_hold"
 * for "teardown", the mechanisms for "". *ret is a NULL-terminated array to be freed with its strings, or
 * NULL when nothing is below PREFIX. 0 or -ENOMEM.
 */
int key_spec_children(const char *prefix, char ***ret);

uint64_t key_spec_get(const KeySpec *spec, const struct memsec_params *params);
void key_spec_set(const KeySpec *spec, struct memsec_params *params, uint64_t value);

/* The same in the model, in a policy's parameters and on the bus. */
#define VALUE_NEVER MEMSEC_NEVER

bool value_is_never(const KeySpec *spec, uint64_t value);
bool value_in_range(const KeySpec *spec, uint64_t value);

/*
 * Parse TEXT as a value of SPEC. Returns 0 and *ret, or -EINVAL (not such a value) or -ERANGE, and then
 * *ret_error holds "expected ..., found ..." (to be freed), or -ENOMEM.
 */
int value_parse(const KeySpec *spec, const char *text, uint64_t *ret, char **ret_error);

/* What value_parse() expects: "a number of pages from 1 to 1048576". To be freed. 0 or -ENOMEM. */
int value_expected(const KeySpec *spec, char **ret);

/* The text of VALUE with its unit: "4096" for pages, "500us", "64MiB". To be freed. 0 or -ENOMEM. */
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

/* Append an error. 0 or -ENOMEM. */
int policy_errors_add(PolicyErrors *errors, const char *file, unsigned line, unsigned column,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* "file:line:column: message" lines, the last without newline, in printable ASCII. To be freed. */
int policy_errors_format(const PolicyErrors *errors, char **ret);

/* The name of POLICY, which policy_name_check() has taken, without directory and suffix. To be freed. */
int policy_short_name(const char *policy, char **ret);          /* 0 or -ENOMEM */

/* The policy in force when no file names one. */
#define POLICY_DEFAULT "fixed"

/*
 * Is NAME a policy's: a built-in name (a letter, then a-z 0-9 _ -) or an absolute path of a .bpf.o?
 * Whether there is such a policy is not looked at. Returns 0, or -EINVAL and then *ret_error holds
 * "expected ..., found ..." (to be freed), or -ENOMEM.
 */
int policy_name_check(const char *name, char **ret_error);

/* What one statement about units says. */
typedef struct UnitSettings {
        char *pattern;                  /* see unit_pattern_check() */
        uint64_t keys;                  /* which keys it sets, a bit each, by key_index() */
        struct memsec_params params;    /* only those fields mean anything */
} UnitSettings;

/* Statements that a model can hold. */
#define POLICY_UNITS_MAX 4096

/* The place of something in a file. */
typedef struct PolicyPlace {
        char *file;
        unsigned line, column;          /* from 1 */
} PolicyPlace;

/* Loops that a model can hold. */
#define POLICY_LOOPS_MAX 16

typedef enum TuneResource {
        TUNE_CPU,
        TUNE_MEMORY,
        TUNE_IO,
        _TUNE_RESOURCE_MAX,
} TuneResource;

/* Why a loop does nothing until the next reload. */
typedef enum TuneStop {
        TUNE_RUNS,
        TUNE_STOPPED_OSCILLATING,       /* it found no value at which the signal stays near the target */
        TUNE_STOPPED_BY_HAND,           /* somebody has set the tunable */
        _TUNE_STOP_MAX,
} TuneStop;

/* An end of a loop's range as it is written, until the tunable is known. */
typedef struct TuneBound {
        char *text;
        unsigned line, column;
} TuneBound;

/* Moves a tunable so that a signal, which is read from the system, comes near to a target. */
typedef struct TuneLoop {
        char *unit;             /* pattern, NULL for everyone's */
        char *key;              /* path of the tunable */
        bool none;              /* takes back what an earlier file says */

        char *counter;          /* the signal is the rate of this one, "teardown.breaks", or else pressure */
        TuneResource resource;
        bool full;              /* all tasks stall, not only some */
        char *source;           /* the unit whose, NULL for the system */

        uint64_t target;        /* percent of the time, or events per second */
        uint64_t min, max;      /* of the tunable */
        bool raises;            /* a larger value raises the signal */
        uint64_t every_ns;

        TuneStop stopped;
        TuneBound bounds[2];    /* min and max, not copied */
} TuneLoop;

/*
 * What a file says under the name of a policy, which may have tunables of its own. It is only understood
 * when all files are read and the policy is known.
 */
typedef struct OwnStatement {
        PolicyPlace place;              /* of the value, or of what is wrong */
        unsigned key_line, key_column;
        char *policy;                   /* short name */
        char *unit;                     /* pattern, NULL for everyone's */
        char *key;                      /* NULL for the section as a whole */
        char *text;                     /* the value */
        bool tune;                      /* below "tune" */
        TuneLoop *loop;                 /* the value then */
        bool is_error;                  /* the text is what is wrong, or would be without such a policy */
} OwnStatement;

/* What the files say. */
typedef struct PolicyModel {
        char *policy;                   /* built-in name or absolute path of a .bpf.o */
        PolicyPlace policy_place;       /* where the files say so, no file if they do not */
        char **policy_names;            /* short ones of all policies that the files name */
        bool any_policy;                /* take what the files say under other names too */
        OwnTunables *own;               /* of the policy, NULL when it has none, or before they are known */
        OwnStatement *own_statements;   /* in the order read */
        size_t n_own_statements;
        struct memsec_params params;    /* for everyone (cgroup id 0) */
        UnitSettings *units;            /* in the order in which they apply: later ones win */
        size_t n_units;
        TuneLoop *loops;                /* at most one for a unit and tunable */
        size_t n_loops;
} PolicyModel;

int policy_model_new(PolicyModel **ret);        /* the built-in defaults */
int policy_model_copy(const PolicyModel *model, PolicyModel **ret);     /* 0 or -ENOMEM */
PolicyModel *policy_model_free(PolicyModel *model);

/*
 * The policy's own tunables are OWN from here on, of which a reference is taken. Those of a policy of the
 * same name keep their values; what is new has its default.
 */
void policy_model_set_own(PolicyModel *model, OwnTunables *own);

TuneLoop *tune_loop_free(TuneLoop *loop);

/*
 * From here on LOOP, which is copied, is the one of its unit and tunable, which must be known. Returns 0,
 * -ENOMEM, or -E2BIG when there are POLICY_LOOPS_MAX others already.
 */
int policy_model_set_loop(PolicyModel *model, const TuneLoop *loop);

/* The value of the tunable of LOOP now, and the tunable, NULL when there is none. */
uint64_t policy_model_loop_value(const PolicyModel *model, const TuneLoop *loop, const KeySpec **ret_spec);

/* What LOOP looks at: "cpu pressure of a.service", "teardown.breaks". To be freed. 0 or -ENOMEM. */
int tune_signal_format(const TuneLoop *loop, char **ret);

/* What its signal and target are measured in, "%" or "/s". */
const char *tune_measure(const TuneLoop *loop);

/* The words of TuneResource in files, ended by NULL. */
extern const char *const tune_resources[];

/* Is NAME that of a mechanism and of a counter in its directory, "teardown.breaks"? */
bool tune_counter_is_valid(const char *name);

/* Is NAME, which may have a cgroup's or any other name, that of a service, a slice or a scope? */
bool unit_name_is_valid(const char *name);

/*
 * Is PATTERN the name of a service, slice or scope, or of a template of them, or a glob (*, ?, [...]) for
 * such names? Returns 0, or -EINVAL and then *ret_error holds "expected ..., found ..." (to be freed), or
 * -ENOMEM.
 */
int unit_pattern_check(const char *pattern, char **ret_error);

/* Does PATTERN stand for UNIT? A template does for all its instances. */
bool unit_pattern_matches(const char *pattern, const char *unit);

/*
 * From here on VALUE is what the units that PATTERN stands for have of SPEC, whatever was said before.
 * Returns 0, -ENOMEM, or -E2BIG when there are POLICY_UNITS_MAX statements already.
 */
int policy_model_set_unit(PolicyModel *model, const char *pattern, const KeySpec *spec, uint64_t value);

/* What all statements of PATTERN itself say together; *ret has no pattern. */
void policy_model_get_unit(const PolicyModel *model, const char *pattern, UnitSettings *ret);

/*
 * The parameters of the cgroup at PATH below the root of the hierarchy, "/system.slice/a.service":
 * everyone's, changed by what is said of the root slice and then of each unit on the way down. What is
 * inside of a service or scope has the parameters of that. Returns whether anything was said.
 */
bool policy_model_cgroup_params(const PolicyModel *model, const char *path, struct memsec_params *ret);

/*
 * The unit whose own cgroup is at PATH: the last part of PATH, without what systemd puts before names that
 * could be files of the kernel. NULL when there is none: inside of a service or scope there are no units.
 */
const char *cgroup_path_unit(const char *path);

/*
 * The files may say something under the name of POLICY from here on, beside those of the model's policy and
 * of those that they name themselves. 0 or -ENOMEM.
 */
int policy_model_know_policy(PolicyModel *model, const char *policy);

/*
 * Read the text of a file over MODEL; NAME is for the errors. Returns 0, -ENOMEM, or -EBADMSG when it has
 * errors; every error is appended to ERRORS, and MODEL is then unspecified, but can be read into and
 * freed. A text without content sets nothing; any other must say "version: 1".
 */
int policy_model_read_text(PolicyModel *model, const char *name, const char *text, size_t size,
                           PolicyErrors *errors);

/*
 * When all is read: find the policy's own tunables in its object below ROOT, and take what the files say of
 * them. An object that is not there is an error if it was named by its path; with MAY_MISS it is not, nor is
 * one that may not be read, and then what is said of its tunables is not looked at. Results as above.
 */
int policy_model_resolve(PolicyModel *model, const char *root, bool may_miss, PolicyErrors *errors);

/*
 * Read one file over MODEL, with the same result; another negative errno when it cannot be opened or read,
 * which is appended to ERRORS too. It must be a regular file that belongs to root or to the caller, and
 * that no one else may write.
 */
int policy_model_read_file(PolicyModel *model, const char *path, PolicyErrors *errors);

/*
 * Read the layers under ROOT (NULL: "/"): /usr/lib/memsec/policy.yaml, /etc/memsec/policy.yaml, then the
 * .yaml files of /etc/memsec/policy.d and /run/memsec/policy.d, sorted by name across both. Later ones
 * win. A name in /etc hides the same name in /run; a link to /dev/null sets nothing, and so masks what it
 * hides. Missing files and directories are no error. All files are read and the errors of all reported. Then
 * comes policy_model_resolve().
 *
 * Returns 0 and *ret, -ENOMEM, or -EBADMSG when ERRORS grew. *ret_files is a NULL-terminated array of the
 * files read, in that order, to be freed with its strings; NULL when there were none.
 */
int policy_model_load(const char *root, bool may_miss, PolicyModel **ret, char ***ret_files,
                      PolicyErrors *errors);
