// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsecctl: look at memsecd and change what it does.
 */

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memsecctl-client.h"
#include "memsecctl-dropin.h"
#include "memsecctl-edit.h"
#include "memsecctl-files.h"
#include "memsecctl-metrics.h"
#include "memsecctl-monitor.h"
#include "memsecctl-keyids.h"
#include "memsecctl-owners.h"
#include "memsecctl-show.h"
#include "memsecctl-status.h"
#include "memsecctl-template.h"
#include "memsecctl-top.h"
#include "policy.h"
#include "util.h"

#define NSEC_PER_USEC UINT64_C(1000)

#define _cleanup_bus_ _cleanup_(sd_bus_flush_close_unrefp)

static bool arg_batch = false;
static bool arg_json = false;
static bool arg_value = false;
static const char *arg_root = NULL;
static const char *arg_drop_in = NULL;
static const char *arg_unit = NULL;

typedef struct Verb {
        const char *name;
        const char *args;
        unsigned min_args, max_args;    /* without the verb itself */
        bool takes_unit;                /* --unit= */
        ExitStatus (*run)(char **args);
        const char *help;
} Verb;

static ExitStatus out_of_memory(void) {
        fprintf(stderr, "Out of memory\n");
        return STATUS_FAILED;
}

static ExitStatus verb_status(char **args _unused_) {
        _cleanup_(status_done) Status status = {};
        ExitStatus s;

        s = status_fetch(&status);
        if (s != STATUS_OK)
                return s;

        show_status(&status, arg_json);
        return streq(status.manager.state, "attached") ? STATUS_OK : STATUS_NOT_ATTACHED;
}

static ExitStatus verb_metrics(char **args _unused_) {
        _cleanup_(status_done) Status status = {};
        ExitStatus s;

        s = status_fetch(&status);
        if (s != STATUS_OK)
                return s;

        show_metrics(&status);
        return STATUS_OK;
}

typedef struct Settings {
        Setting *items;
        size_t n_items;
} Settings;

static void settings_done(Settings *s) {
        for (size_t i = 0; i < s->n_items; i++)
                free(s->items[i].policy);

        free(s->items);
}

/* memsecd knows which tunables the policy has of its own. Of those of the table it need not be asked. */
static const KeySpec *find_own_key(const char *key) {
        if (!own_keys && strchr(key, '.'))
                client_find_own();

        return keys_find(own_keys, key);
}

/* Fills in which key is meant, "policy" being the one that is not in the table. */
static ExitStatus setting_find_key(Setting *setting, const char *key) {
        const char *nearest;

        if (streq(key, "policy") && arg_unit) {
                fprintf(stderr, "A unit has no policy of its own.\n");
                return STATUS_USAGE;
        }
        if (streq(key, "policy"))
                return STATUS_OK;

        setting->spec = key_spec_find(key);
        if (!setting->spec)
                setting->spec = find_own_key(key);
        if (setting->spec)
                return STATUS_OK;

        nearest = keys_nearest(own_keys, key);
        if (nearest)
                fprintf(stderr, "Unknown key '%s', did you mean '%s'?\n", key, nearest);
        else
                fprintf(stderr, "Unknown key '%s'; 'memsecctl get' lists all.\n", key);
        return STATUS_USAGE;
}

/* A mistake on the command line is one whether memsecd runs or not. */
static ExitStatus keys_are_known(char **keys) {
        ExitStatus s = STATUS_OK;

        for (; s == STATUS_OK && *keys; keys++) {
                Setting setting = {};

                s = setting_find_key(&setting, *keys);
        }

        return s;
}

static ExitStatus settings_alloc(size_t n, Settings *ret) {
        ret->items = calloc(n, sizeof(Setting));
        if (!ret->items)
                return out_of_memory();

        ret->n_items = n;
        return STATUS_OK;
}

/* The settings that KEYS name, or all of them; everyone's begin with the policy. */
static ExitStatus settings_from_keys(char **keys, Settings *ret) {
        size_t n = strv_length(keys), n_policy = arg_unit ? 0 : 1;
        ExitStatus s;

        s = settings_alloc(n > 0 ? n : keys_count(own_keys) + n_policy, ret);
        if (s != STATUS_OK)
                return s;

        for (size_t i = 0; i < n; i++) {
                s = setting_find_key(ret->items + i, keys[i]);
                if (s != STATUS_OK)
                        return s;
        }

        if (n == 0)
                for (size_t i = 0; i < keys_count(own_keys); i++)
                        ret->items[i + n_policy].spec = keys_at(own_keys, i);

        return STATUS_OK;
}

static ExitStatus settings_fetch_unit(sd_bus *bus, Settings *settings) {
        _cleanup_free_ uint64_t *values = NULL;
        ExitStatus s;

        values = calloc(keys_count(own_keys), sizeof(uint64_t));
        if (!values)
                return out_of_memory();

        s = client_get_unit(bus, arg_unit, values);
        if (s != STATUS_OK)
                return s;

        for (Setting *i = settings->items; i < settings->items + settings->n_items; i++)
                i->value = values[key_index(i->spec)];

        return STATUS_OK;
}

/* The settings that KEYS name, or all of them, as they are in force. */
static ExitStatus settings_fetch(char **keys, Settings *ret) {
        _cleanup_bus_ sd_bus *bus = NULL;
        ExitStatus s;

        s = keys_are_known(keys);
        if (s == STATUS_OK)
                s = client_connect(&bus);
        if (s == STATUS_OK)
                s = settings_from_keys(keys, ret);
        if (s != STATUS_OK)
                return s;

        if (arg_unit)
                return settings_fetch_unit(bus, ret);

        for (Setting *i = ret->items; i < ret->items + ret->n_items; i++) {
                if (i->spec)
                        s = client_get_key(bus, i->spec, &i->value);
                else
                        s = client_get_policy(bus, &i->policy);
                if (s != STATUS_OK)
                        return s;
        }

        return STATUS_OK;
}

static ExitStatus verb_get(char **args) {
        _cleanup_(settings_done) Settings settings = {};
        ExitStatus s;

        s = settings_fetch(args, &settings);
        if (s != STATUS_OK)
                return s;

        show_settings(settings.items, settings.n_items, arg_value, arg_json);
        return STATUS_OK;
}

static ExitStatus setting_parse_value(Setting *setting, const char *text) {
        _cleanup_free_ char *error = NULL;
        int r;

        if (!setting->spec) {
                setting->policy = strdup(text);
                if (!setting->policy)
                        return out_of_memory();

                r = policy_name_check(text, &error);
        } else
                r = value_parse(setting->spec, text, &setting->value, &error);
        if (r == -ENOMEM)
                return out_of_memory();
        if (r < 0) {
                fprintf(stderr, "%s: %s\n", setting->spec ? setting->spec->path : "policy", error);
                return STATUS_FAILED;
        }

        if (setting->spec && setting->spec->type == KEY_DURATION &&
            !value_is_never(setting->spec, setting->value) && setting->value % NSEC_PER_USEC != 0) {
                fprintf(stderr, "%s: expected whole microseconds, found '%s'\n", setting->spec->path, text);
                return STATUS_FAILED;
        }

        return STATUS_OK;
}

static ExitStatus setting_parse(Setting *setting, const char *arg) {
        _cleanup_free_ char *key = NULL;
        const char *equals;
        ExitStatus s;

        equals = strchr(arg, '=');
        if (!equals) {
                fprintf(stderr, "Expected KEY=VALUE, found '%s'.\n", arg);
                return STATUS_USAGE;
        }

        key = strndup(arg, equals - arg);
        if (!key)
                return out_of_memory();

        s = setting_find_key(setting, key);
        if (s != STATUS_OK)
                return s;

        return setting_parse_value(setting, equals + 1);
}

/* Reads all of ARGS, so that all mistakes are named at once and one of them changes nothing. */
static ExitStatus settings_parse(char **args, Settings *ret) {
        ExitStatus worst;

        worst = settings_alloc(strv_length(args), ret);
        if (worst != STATUS_OK)
                return worst;

        for (size_t i = 0; i < ret->n_items; i++) {
                ExitStatus s = setting_parse(ret->items + i, args[i]);

                if (s > worst)
                        worst = s;
        }

        return worst;
}

static ExitStatus verb_set(char **args) {
        _cleanup_(settings_done) Settings settings = {};
        _cleanup_bus_ sd_bus *bus = NULL;
        ExitStatus s;

        s = settings_parse(args, &settings);
        if (s == STATUS_OK)
                s = client_connect(&bus);
        if (s != STATUS_OK)
                return s;

        for (Setting *i = settings.items; i < settings.items + settings.n_items; i++) {
                if (arg_unit)
                        s = client_set_unit_key(bus, arg_unit, i->spec, i->value);
                else if (i->spec)
                        s = client_set_key(bus, i->spec, i->value);
                else
                        s = client_set_policy(bus, i->policy);
                if (s != STATUS_OK)
                        return s;
        }

        return STATUS_OK;
}

static ExitStatus verb_reload(char **args _unused_) {
        _cleanup_bus_ sd_bus *bus = NULL;
        ExitStatus s;

        s = client_connect(&bus);
        if (s != STATUS_OK)
                return s;

        return client_reload(bus);
}

/* What SAID has of SPEC, the key of a unit's setting. */
static void setting_take_said(Setting *setting, const KeySpec *spec, const UnitSettings *said) {
        setting->value = key_spec_get(spec, &said->params);
        setting->unset = !(said->keys & (UINT64_C(1) << key_index(spec)));
}

static ExitStatus unit_pattern_is_valid(const char *pattern) {
        _cleanup_free_ char *error = NULL;
        int r;

        r = unit_pattern_check(pattern, &error);
        if (r == -ENOMEM)
                return out_of_memory();
        if (r < 0)
                fprintf(stderr, "--unit=: %s\n", error);

        return r < 0 ? STATUS_USAGE : STATUS_OK;
}

/* The settings that KEYS name, or all, as they are set for the unit by its name, not by slices and globs. */
static ExitStatus settings_fetch_said(char **keys, Settings *ret) {
        _cleanup_bus_ sd_bus *bus = NULL;
        UnitSettings said;
        ExitStatus s;

        s = unit_pattern_is_valid(arg_unit);
        if (s == STATUS_OK)
                s = keys_are_known(keys);
        if (s == STATUS_OK)
                s = client_connect(&bus);
        if (s == STATUS_OK)
                s = settings_from_keys(keys, ret);
        if (s == STATUS_OK)
                s = client_get_unit_settings(bus, arg_unit, &said);
        if (s != STATUS_OK)
                return s;

        for (Setting *i = ret->items; i < ret->items + ret->n_items; i++)
                setting_take_said(i, i->spec, &said);

        return STATUS_OK;
}

/* Fills in what MODEL, which the files make, says of the key; SAID is what it says of the unit. */
static int setting_from_model(Setting *setting, const PolicyModel *model, const UnitSettings *said) {
        const KeySpec *spec = setting->spec ? keys_find(model->own, setting->spec->path) : NULL;

        if (!setting->spec)
                return free_and_strdup(&setting->policy, model->policy);

        /* The policy of the files may not have it. */
        if (!spec)
                setting->unset = true;
        else if (arg_unit)
                setting_take_said(setting, spec, said);
        else
                setting->value = key_spec_get(spec, &model->params);

        return 0;
}

/* The same keys as SETTINGS, with what MODEL says of them. */
static ExitStatus settings_from_model(const Settings *settings, const PolicyModel *model, Settings *ret) {
        UnitSettings said = {};
        ExitStatus s;

        s = settings_alloc(settings->n_items, ret);
        if (s != STATUS_OK)
                return s;

        if (arg_unit)
                policy_model_get_unit(model, arg_unit, &said);

        for (size_t i = 0; i < ret->n_items; i++) {
                ret->items[i].spec = settings->items[i].spec;
                if (setting_from_model(ret->items + i, model, &said) < 0)
                        return out_of_memory();
        }

        return STATUS_OK;
}

/* The bus carries whole microseconds only: what is finer in the files is no difference. */
static bool setting_differs(const Setting *running, const Setting *files) {
        uint64_t value = files->value;

        if (!running->spec)
                return !streq(running->policy, files->policy);
        if (running->unset || files->unset)
                return running->unset != files->unset;

        if (files->spec->type == KEY_DURATION && !value_is_never(files->spec, value))
                value -= value % NSEC_PER_USEC;

        return running->value != value;
}

/* Of two lists of the same keys. */
static void settings_keep_differing(Settings *running, Settings *files) {
        size_t n = 0;

        for (size_t i = 0; i < running->n_items; i++)
                if (setting_differs(running->items + i, files->items + i)) {
                        running->items[n] = running->items[i];
                        files->items[n++] = files->items[i];
                } else {
                        free(running->items[i].policy);
                        free(files->items[i].policy);
                }

        running->n_items = files->n_items = n;
}

/* Those of the settings that KEYS name that are in force but are not what the files say, and their names. */
static ExitStatus settings_fetch_differing(char **keys, Settings *ret, Settings *ret_files,
                                           char ***ret_names) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        ExitStatus s;

        s = arg_unit ? settings_fetch_said(keys, ret) : settings_fetch(keys, ret);
        if (s == STATUS_OK)
                s = files_load(arg_root, &model, ret_names);
        if (s == STATUS_OK)
                s = settings_from_model(ret, model, ret_files);
        if (s == STATUS_OK)
                settings_keep_differing(ret, ret_files);

        return s;
}

static ExitStatus verb_diff(char **args) {
        _cleanup_(settings_done) Settings running = {}, files = {};
        _cleanup_strv_free_ char **names = NULL;
        ExitStatus s;

        s = settings_fetch_differing(args, &running, &files, &names);
        if (s != STATUS_OK)
                return s == STATUS_FAILED ? STATUS_TROUBLE : s;

        show_differences(running.items, files.items, running.n_items, arg_json);
        return running.n_items > 0 ? STATUS_DIFFERS : STATUS_OK;
}

/* What only the files say cannot be made to last. */
static void settings_keep_set(Settings *settings) {
        size_t n = 0;

        for (size_t i = 0; i < settings->n_items; i++)
                if (!settings->items[i].unset)
                        settings->items[n++] = settings->items[i];

        settings->n_items = n;
}

static ExitStatus verb_persist(char **args) {
        _cleanup_(settings_done) Settings running = {}, files = {};
        _cleanup_strv_free_ char **names = NULL;
        ExitStatus s;

        s = settings_fetch_differing(args, &running, &files, &names);
        if (s != STATUS_OK)
                return s;

        settings_keep_set(&running);
        if (running.n_items == 0) {
                puts("Nothing is set that differs from the files.");
                return STATUS_OK;
        }

        s = dropin_persist(arg_root, arg_unit, running.items, running.n_items, names);
        if (s == STATUS_OK)
                show_settings(running.items, running.n_items, /* only_values= */ false, /* json= */ false);

        return s;
}

static ExitStatus verb_edit(char **args) {
        _cleanup_free_ char *path = NULL;
        bool changed;
        ExitStatus s;

        s = file_path(arg_root, arg_drop_in, &path);
        if (s == STATUS_OK)
                s = edit_file(arg_root, path, &changed);
        if (s != STATUS_OK || !changed)
                return s;

        s = verb_reload(args);
        if (s != STATUS_OK)
                fprintf(stderr, "%s is written, but not in force.\n", path);

        return s;
}

static ExitStatus verb_monitor(char **args _unused_) {
        return monitor_changes(arg_unit, arg_json);
}

static ExitStatus verb_top(char **args _unused_) {
        _cleanup_bus_ sd_bus *bus = NULL;
        ExitStatus s;

        s = client_connect(&bus);
        if (s != STATUS_OK)
                return s;

        return top_run(bus, arg_batch || !isatty(STDOUT_FILENO));
}

static ExitStatus verb_owners(char **args _unused_) {
        _cleanup_(owners_done) Owners owners = {};
        ExitStatus s = STATUS_OK;

        if (arg_unit)
                s = unit_pattern_is_valid(arg_unit);
        if (s == STATUS_OK)
                s = owners_load(arg_root, arg_unit, &owners);
        if (s == STATUS_OK)
                show_owners(&owners, arg_unit, arg_json);

        return s;
}

static ExitStatus verb_keyids(char **args _unused_) {
        _cleanup_(keyids_done) Keyids keyids = {};
        ExitStatus s;

        s = keyids_load(arg_root, &keyids);
        if (s == STATUS_OK)
                show_keyids(&keyids, arg_json);

        return s;
}

static ExitStatus verify_file(const char *path, PolicyErrors *errors) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        ExitStatus s;
        int r;

        s = files_model_for_one(arg_root, &model);
        if (s != STATUS_OK)
                return s;

        r = policy_model_read_file(model, path, errors);
        if (r >= 0)
                r = policy_model_resolve(model, arg_root, /* may_miss= */ true, errors);
        if (r == -ENOMEM)
                return out_of_memory();

        return r < 0 ? STATUS_FAILED : STATUS_OK;
}

static ExitStatus verb_verify(char **args) {
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        ExitStatus worst = STATUS_OK;

        for (char **path = args; *path; path++) {
                ExitStatus s = verify_file(*path, &errors);

                if (s > worst)
                        worst = s;
        }

        show_policy_errors(&errors, arg_json);
        return worst;
}

static ExitStatus verb_new_policy(char **args) {
        return template_write(args[0]);
}

#define MANY UINT_MAX

/* The words of a choice follow a colon, of which there is no other: completion looks for them. */
static void print_key_help(const KeySpec *spec) {
        _cleanup_free_ char *words = NULL;

        if (spec->type == KEY_CHOICE)
                (void) value_expected(spec, &words);
        printf("  %-24s %s%s%s\n", spec->path, spec->help, words ? ": " : "", words ?: "");
}

static const Verb verbs[] = {
        { "status",  "",             0, 0,    false, verb_status,  "Show what memsecd and the kernel do" },
        { "get",     "[KEY...]",     0, MANY, true,  verb_get,     "Show settings in force, all or some" },
        { "set",     "KEY=VALUE...", 1, MANY, true,  verb_set,     "Change settings until the next reload" },
        { "diff",    "[KEY...]",     0, MANY, true,  verb_diff,    "Show where they differ from the files" },
        { "persist", "[KEY...]",     0, MANY, true,  verb_persist, "Write what differs to a policy file" },
        { "edit",    "",             0, 0,    false, verb_edit,    "Edit a policy file, check and reload" },
        { "reset",   "",             0, 0,    false, verb_reload,  "Go back to the policy files" },
        { "reload",  "",             0, 0,    false, verb_reload,  "Read the policy files again" },
        { "monitor", "",             0, 0,    true,  verb_monitor, "Show changes as they happen" },
        { "top",     "",             0, 0,    false, verb_top,     "Show how fast counters grow" },
        { "owners",  "",             0, 0,    true,  verb_owners,  "Show whose memory left the direct map" },
        { "keyids",  "",             0, 0,    false, verb_keyids,  "Show who has which KeyID" },
        { "metrics", "",             0, 0,    false, verb_metrics, "Print everything as OpenMetrics text" },
        { "verify",  "FILE...",      1, MANY, false, verb_verify,  "Check policy files without using them" },
        { "new-policy", "DIR",       1, 1,    false, verb_new_policy,
          "Write the beginnings of a policy of one's own" },
};

static void print_help(void) {
        printf("memsecctl [OPTION...] VERB [ARGUMENT...]\n\n"
               "Look at memsecd and change what it does.\n\n"
               "Verbs:\n");
        for (const Verb *v = verbs; v < verbs + ELEMENTSOF(verbs); v++)
                printf("  %-10s %-12s %s\n", v->name, v->args, v->help);

        printf("\nKeys:\n"
               "  %-24s Name of a policy, or absolute path of a BPF object\n", "policy");
        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++)
                print_key_help(spec);

        printf("\nOptions:\n"
               "     --json          Print JSON\n"
               "     --unit=UNIT     Settings of a unit, or with owners its memory; set, diff, persist and\n"
               "                     owners take templates and globs\n"
               "     --value         With get: print values only\n"
               "     --batch         With top: show one table and end\n"
               "     --drop-in=NAME  With edit: the drop-in of that name\n"
               "     --root=DIR      Look for policy files below DIR; with owners and keyids for /proc\n"
               "  -h --help          Show this help\n"
               "     --version       Show the version\n\n"
               "See memsecctl(1) and memsec.yaml(5).\n");
}

/* Returns false, and in *RET the status to exit with, when there is nothing more to do. */
static bool parse_options(int argc, char **argv, ExitStatus *ret) {
        enum {
                ARG_BATCH = 0x100,
                ARG_DROP_IN,
                ARG_JSON,
                ARG_ROOT,
                ARG_UNIT,
                ARG_VALUE,
                ARG_VERSION,
        };
        static const struct option options[] = {
                { "batch",   no_argument,       NULL, ARG_BATCH   },
                { "drop-in", required_argument, NULL, ARG_DROP_IN },
                { "help",    no_argument,       NULL, 'h'         },
                { "json",    no_argument,       NULL, ARG_JSON    },
                { "root",    required_argument, NULL, ARG_ROOT    },
                { "unit",    required_argument, NULL, ARG_UNIT    },
                { "value",   no_argument,       NULL, ARG_VALUE   },
                { "version", no_argument,       NULL, ARG_VERSION },
                {}
        };
        int c;

        *ret = STATUS_OK;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case 'h':
                        print_help();
                        return false;
                case ARG_BATCH:
                        arg_batch = true;
                        break;
                case ARG_DROP_IN:
                        arg_drop_in = optarg;
                        break;
                case ARG_JSON:
                        arg_json = true;
                        break;
                case ARG_ROOT:
                        arg_root = optarg;
                        break;
                case ARG_UNIT:
                        arg_unit = optarg;
                        break;
                case ARG_VALUE:
                        arg_value = true;
                        break;
                case ARG_VERSION:
                        puts("memsecctl " MEMSEC_VERSION);
                        return false;
                default:
                        *ret = STATUS_USAGE;
                        return false;
                }

        return true;
}

static const Verb *find_verb(const char *name) {
        for (const Verb *v = verbs; v < verbs + ELEMENTSOF(verbs); v++)
                if (streq(v->name, name))
                        return v;

        return NULL;
}

static ExitStatus run_verb(char **args) {
        const Verb *verb;
        size_t n;

        if (!args[0]) {
                fprintf(stderr, "Expected a verb; 'memsecctl --help' lists them.\n");
                return STATUS_USAGE;
        }

        verb = find_verb(args[0]);
        if (!verb) {
                fprintf(stderr, "Unknown verb '%s'; 'memsecctl --help' lists all.\n", args[0]);
                return STATUS_USAGE;
        }

        if (arg_unit && !verb->takes_unit) {
                fprintf(stderr, "--unit= is for settings, which are no matter of %s.\n", verb->name);
                return STATUS_USAGE;
        }

        n = strv_length(++args);
        if (n < verb->min_args || n > verb->max_args) {
                fprintf(stderr, "%s; expected: memsecctl %s%s%s\n",
                        n < verb->min_args ? "Too few arguments" : "Too many arguments",
                        verb->name, *verb->args ? " " : "", verb->args);
                return STATUS_USAGE;
        }

        return verb->run(args);
}

int main(int argc, char **argv) {
        ExitStatus s;

        if (parse_options(argc, argv, &s))
                s = run_verb(argv + optind);

        /* Output that did not arrive, on a full disk for example, must not look like success. */
        if (fflush(stdout) != 0 && s == STATUS_OK) {
                fprintf(stderr, "Cannot write: %s\n", strerror(errno));
                return STATUS_FAILED;
        }

        return s;
}
