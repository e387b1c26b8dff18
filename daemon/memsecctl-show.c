// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "memsecctl-show.h"
#include "util.h"

#define ANSI_GREEN "\x1b[0;1;32m"
#define ANSI_RED "\x1b[0;1;31m"
#define ANSI_NORMAL "\x1b[0m"

/* The width of the column of section names, and of the names in a section. */
#define SECTION_WIDTH 10
#define NAME_WIDTH 18

#define _cleanup_json_ _cleanup_(json_object_putp)

static void json_object_putp(json_object **o) {
        json_object_put(*o);
}

/* json-c takes the names of members over, so that a failed allocation only leaves something out. */
static void json_add_string(json_object *o, const char *name, const char *value) {
        json_object_object_add(o, name, json_object_new_string(value));
}

static void json_add_number(json_object *o, const char *name, uint64_t value) {
        json_object_object_add(o, name, json_object_new_uint64(value));
}

static json_object *value_to_json(const KeySpec *spec, uint64_t value) {
        return spec->type == KEY_CHOICE ? json_object_new_string(spec->choices[value])
                                        : json_object_new_uint64(value);
}

static void json_add_value(json_object *o, const char *name, const KeySpec *spec, uint64_t value) {
        json_object_object_add(o, name, value_to_json(spec, value));
}

static void json_print(json_object *o) {
        puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                       JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* The name of a key inside its mechanism: "batch" of "teardown.batch", or NULL when it is another's. */
static const char *key_of_mechanism(const KeySpec *spec, const char *mechanism) {
        const char *name = startswith(spec->path, mechanism);

        return name && *name == '.' ? name + 1 : NULL;
}

static json_object *numbers_to_json(const NumberList *numbers) {
        json_object *o = json_object_new_object();

        for (size_t i = 0; i < numbers->n_items; i++)
                json_add_number(o, numbers->items[i].name, numbers->items[i].value);

        return o;
}

static json_object *mechanism_to_json(const Status *status, const Mechanism *mechanism) {
        json_object *o = json_object_new_object(), *settings = json_object_new_object();

        for (size_t i = 0; i < n_key_specs; i++) {
                const char *name = key_of_mechanism(key_specs + i, mechanism->name);

                if (name)
                        json_add_value(settings, name, key_specs + i, status->values[i]);
        }

        json_object_object_add(o, "settings", settings);
        json_object_object_add(o, "counters", numbers_to_json(&mechanism->counters));
        json_object_object_add(o, "limits", numbers_to_json(&mechanism->limits));
        return o;
}

/* What the policy has of its own. */
static json_object *own_to_json(const Status *status) {
        json_object *o = json_object_new_object();

        for (size_t i = n_key_specs; i < keys_count(own_keys); i++) {
                const KeySpec *spec = keys_at(own_keys, i);

                json_add_value(o, own_name(spec), spec, status->values[i]);
        }

        return o;
}

static json_object *unit_to_json(const Unit *unit) {
        json_object *o = json_object_new_object(), *settings = json_object_new_object();

        for (size_t i = 0; i < keys_count(own_keys); i++) {
                const KeySpec *spec = keys_at(own_keys, i);

                json_add_value(settings, spec->path, spec, unit->values[i]);
        }

        json_add_number(o, "cgroup", unit->cgroup_id);
        json_object_object_add(o, "settings", settings);
        return o;
}

static json_object *tuning_to_json(const Tuning *tuning) {
        json_object *o = json_object_new_object();

        json_add_string(o, "key", tuning->spec->path);
        json_object_object_add(o, "unit", *tuning->unit ? json_object_new_string(tuning->unit) : NULL);
        json_add_value(o, "value", tuning->spec, tuning->value);
        json_add_string(o, "signal", tuning->signal);
        json_object_object_add(o, "measured", tuning->measured >= 0 ?
                                              json_object_new_double(tuning->measured) : NULL);
        json_add_number(o, "target", tuning->target);
        json_add_string(o, "measure", tuning->measure);
        json_add_string(o, "state", tuning->state);
        return o;
}

static void show_status_json(const Status *status) {
        _cleanup_json_ json_object *o = json_object_new_object();
        json_object *files = json_object_new_array(), *mechanisms = json_object_new_object();
        json_object *units = json_object_new_object(), *tuning = json_object_new_array();
        const Manager *m = &status->manager;

        for (char **f = m->files; f && *f; f++)
                json_object_array_add(files, json_object_new_string(*f));

        for (size_t i = 0; i < status->n_mechanisms; i++)
                json_object_object_add(mechanisms, status->mechanisms[i].name,
                                       mechanism_to_json(status, status->mechanisms + i));

        for (size_t i = 0; i < status->units.n_items; i++)
                json_object_object_add(units, status->units.items[i].name,
                                       unit_to_json(status->units.items + i));

        for (size_t i = 0; i < status->tuning.n_items; i++)
                json_object_array_add(tuning, tuning_to_json(status->tuning.items + i));

        json_add_string(o, "version", m->version);
        json_add_string(o, "state", m->state);
        json_add_string(o, "policy", m->policy);
        json_add_number(o, "abi", m->abi);
        json_add_string(o, "error", m->error);
        json_object_object_add(o, "files", files);
        json_object_object_add(o, "tunables", own_to_json(status));
        json_object_object_add(o, "mechanisms", mechanisms);
        json_object_object_add(o, "units", units);
        json_object_object_add(o, "tuning", tuning);
        json_print(o);
}

/* VALUE with its unit as people read it. */
static void print_value(const KeySpec *spec, uint64_t value) {
        _cleanup_free_ char *text = NULL;

        if (value_format(spec, value, &text) < 0)
                printf("%" PRIu64, value);
        else
                fputs(text, stdout);
}

/* Begins a line of a section; its name is on the first line only. */
static void print_name(const char **section, const char *name) {
        printf("  %-*s %-*s ", SECTION_WIDTH, *section, NAME_WIDTH, name);
        *section = "";
}

static void print_numbers(const char *section, const NumberList *numbers) {
        for (size_t i = 0; i < numbers->n_items; i++) {
                print_name(&section, numbers->items[i].name);
                printf("%" PRIu64 "\n", numbers->items[i].value);
        }
}

static void print_setting_line(const char **section, const char *name, const KeySpec *spec, uint64_t value) {
        const char *unit = spec->type == KEY_COUNT ? spec->unit : NULL;

        print_name(section, name);
        print_value(spec, value);
        printf("%s%s\n", unit ? " " : "", unit ?: "");
}

/* What the policy has of its own. */
static void print_own(const Status *status) {
        const char *section = "Settings";

        if (own_keys)
                printf("\n%s\n", own_keys->policy);

        for (size_t i = n_key_specs; i < keys_count(own_keys); i++) {
                const KeySpec *spec = keys_at(own_keys, i);

                print_setting_line(&section, own_name(spec), spec, status->values[i]);
        }
}

static void print_mechanism(const Status *status, const Mechanism *mechanism) {
        const char *section = "Settings";

        printf("\n%s\n", mechanism->name);

        for (size_t i = 0; i < n_key_specs; i++) {
                const KeySpec *spec = key_specs + i;
                const char *name = key_of_mechanism(spec, mechanism->name);

                if (!name)
                        continue;

                print_setting_line(&section, name, spec, status->values[i]);
        }

        print_numbers("Limits", &mechanism->limits);
        print_numbers("Counters", &mechanism->counters);
}

static void print_units(const UnitList *units) {
        if (units->n_items > 0)
                printf("\nunits\n");

        for (size_t i = 0; i < units->n_items; i++) {
                printf("  %s", units->items[i].name);
                for (size_t k = 0; k < keys_count(own_keys); k++) {
                        const KeySpec *spec = keys_at(own_keys, k);

                        printf(" %s=", spec->path);
                        print_value(spec, units->items[i].values[k]);
                }
                putchar('\n');
        }
}

static void print_tuning(const TuningList *tuning) {
        if (tuning->n_items > 0)
                printf("\ntune\n");

        for (size_t i = 0; i < tuning->n_items; i++) {
                const Tuning *t = tuning->items + i;

                printf("  %s%s%s=", t->unit, *t->unit ? " " : "", t->spec->path);
                print_value(t->spec, t->value);
                printf(" %s: %s", t->state, t->signal);
                if (t->measured >= 0)
                        printf(" %.1f%s", t->measured, t->measure);
                printf(", target %" PRIu64 "%s\n", t->target, t->measure);
        }
}

/* One "  Title: text" line for each line of TEXT. */
static void print_field(const char *title, const char *text) {
        while (*text) {
                size_t n = strcspn(text, "\n");

                printf("%10s%c %.*s\n", title, *title ? ':' : ' ', (int) n, text);
                text += n + (text[n] == '\n');
                title = "";
        }
}

static const char *state_colour(const char *state) {
        if (!isatty(STDOUT_FILENO) || getenv("NO_COLOR"))
                return NULL;
        if (streq(state, "attached"))
                return ANSI_GREEN;
        if (streq(state, "fused"))
                return ANSI_RED;
        return NULL;
}

static void show_status_text(const Status *status) {
        const Manager *m = &status->manager;
        const char *colour = state_colour(m->state), *title = "Files";

        printf("%s●%s memsecd %s\n", colour ?: "", colour ? ANSI_NORMAL : "", m->version);
        printf("%10s: %s%s%s\n", "State", colour ?: "", m->state, colour ? ANSI_NORMAL : "");
        print_field("Policy", m->policy);
        printf("%10s: %" PRIu32 "\n", "ABI", m->abi);

        for (char **f = m->files; f && *f; f++) {
                print_field(title, *f);
                title = "";
        }

        print_field("Error", m->error);

        print_own(status);
        for (size_t i = 0; i < status->n_mechanisms; i++)
                print_mechanism(status, status->mechanisms + i);

        print_units(&status->units);
        print_tuning(&status->tuning);
}

void show_status(const Status *status, bool json) {
        if (json)
                show_status_json(status);
        else
                show_status_text(status);
}

/* NULL, which is JSON's null, for what is not set. */
static json_object *setting_to_json(const Setting *s) {
        if (s->unset)
                return NULL;

        return s->spec ? value_to_json(s->spec, s->value) : json_object_new_string(s->policy);
}

static const char *setting_key(const Setting *s) {
        return s->spec ? s->spec->path : "policy";
}

static void print_setting(const Setting *s) {
        if (s->unset)
                fputs("not set", stdout);
        else if (s->spec)
                print_value(s->spec, s->value);
        else
                fputs(s->policy, stdout);
}

static void show_settings_json(const Setting *settings, size_t n_settings) {
        _cleanup_json_ json_object *o = json_object_new_object();

        for (const Setting *s = settings; s < settings + n_settings; s++)
                json_object_object_add(o, setting_key(s), setting_to_json(s));

        json_print(o);
}

void show_settings(const Setting *settings, size_t n_settings, bool only_values, bool json) {
        if (json) {
                show_settings_json(settings, n_settings);
                return;
        }

        for (const Setting *s = settings; s < settings + n_settings; s++) {
                if (!only_values)
                        printf("%s=", setting_key(s));
                print_setting(s);
                putchar('\n');
        }
}

static void show_differences_json(const Setting *running, const Setting *files, size_t n_settings) {
        _cleanup_json_ json_object *o = json_object_new_object();

        for (size_t i = 0; i < n_settings; i++) {
                json_object *difference = json_object_new_object();

                json_object_object_add(difference, "running", setting_to_json(running + i));
                json_object_object_add(difference, "files", setting_to_json(files + i));
                json_object_object_add(o, setting_key(running + i), difference);
        }

        json_print(o);
}

void show_differences(const Setting *running, const Setting *files, size_t n_settings, bool json) {
        if (json) {
                show_differences_json(running, files, n_settings);
                return;
        }

        for (size_t i = 0; i < n_settings; i++) {
                printf("%s: running ", setting_key(running + i));
                print_setting(running + i);
                fputs(", files ", stdout);
                print_setting(files + i);
                putchar('\n');
        }
}

void change_done(Change *change) {
        strv_free(change->list);
        *change = (Change) {};
}

static void show_change_json(const Change *change, const struct timespec *now) {
        _cleanup_json_ json_object *o = json_object_new_object();

        json_add_number(o, "time", now->tv_sec * UINT64_C(1000000) + now->tv_nsec / 1000);
        json_add_string(o, "key", change->key);

        if (change->spec)
                json_add_value(o, "value", change->spec, change->value);
        else if (change->text)
                json_add_string(o, "value", change->text);
        else {
                json_object *list = json_object_new_array();

                STRV_FOREACH(s, change->list)
                        json_object_array_add(list, json_object_new_string(*s));
                json_object_object_add(o, "value", list);
        }

        puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* TEXT on one line, whatever is in it. */
static void print_line(const char *text) {
        for (; *text; text++)
                if (*text == '\n')
                        fputs("; ", stdout);
                else
                        putchar(*text);
}

void show_change(const Change *change, bool json) {
        const char *separator = "";
        struct timespec now;
        char when[32] = "";
        struct tm tm;

        (void) clock_gettime(CLOCK_REALTIME, &now);
        if (json) {
                show_change_json(change, &now);
                return;
        }

        if (localtime_r(&now.tv_sec, &tm))
                (void) strftime(when, sizeof(when), "%H:%M:%S", &tm);

        printf("%s %s=", when, change->key);
        if (change->spec)
                print_value(change->spec, change->value);
        if (change->text)
                print_line(change->text);
        STRV_FOREACH(s, change->list) {
                printf("%s%s", separator, *s);
                separator = " ";
        }
        putchar('\n');
}

/* The unit whose own cgroup it is, or NULL. */
static const char *cgroup_unit(const Cgroup *cgroup) {
        return streq(cgroup->path, "/") ? "-.slice" : cgroup_path_unit(cgroup->path);
}

static json_object *cgroup_to_json(const Cgroup *cgroup) {
        json_object *o = json_object_new_object();
        const char *unit = cgroup_unit(cgroup);

        json_object_object_add(o, "unit", unit ? json_object_new_string(unit) : NULL);
        json_add_string(o, "path", cgroup->path);
        json_add_number(o, "cgroup", cgroup->id);
        json_object_object_add(o, "deleted", json_object_new_boolean(cgroup->deleted));
        return o;
}

static json_object *account_to_json(const Account *account) {
        json_object *o = cgroup_to_json(&account->cgroup);

        json_add_string(o, "kind", account->kind);
        json_add_number(o, "now", account->now);
        json_add_number(o, "most", account->most);
        json_add_number(o, "owners", account->owners);
        return o;
}

static json_object *secret_file_to_json(const SecretFile *file) {
        json_object *o = cgroup_to_json(&file->cgroup), *processes = json_object_new_array();

        for (const Holder *h = file->holders; h < file->holders + file->n_holders; h++) {
                json_object *process = json_object_new_object();

                json_add_number(process, "pid", h->pid);
                json_object_object_add(process, "comm", h->comm ? json_object_new_string(h->comm) : NULL);
                json_object_array_add(processes, process);
        }

        json_add_number(o, "inode", file->inode);
        json_add_number(o, "now", file->now);
        json_object_object_add(o, "processes", processes);
        return o;
}

static void show_owners_json(const Owners *owners) {
        _cleanup_json_ json_object *o = json_object_new_object();
        json_object *accounts = json_object_new_array(), *files = json_object_new_array();

        for (size_t i = 0; i < owners->n_accounts; i++)
                json_object_array_add(accounts, account_to_json(owners->accounts + i));
        for (size_t i = 0; i < owners->n_files; i++)
                json_object_array_add(files, secret_file_to_json(owners->files + i));

        json_object_object_add(o, "owners", accounts);
        json_object_object_add(o, "files", files);
        json_object_object_add(o, "hibernation_prevented", json_object_new_boolean(owners->any_file));
        json_print(o);
}

static size_t cgroup_width(const Cgroup *cgroup) {
        return strlen(cgroup_unit(cgroup) ?: cgroup->path) + (cgroup->deleted ? strlen(" (deleted)") : 0);
}

/* Prints what a cgroup is called in a column of that width. */
static void print_cgroup(const Cgroup *cgroup, size_t width) {
        printf("%s%s%*s", cgroup_unit(cgroup) ?: cgroup->path, cgroup->deleted ? " (deleted)" : "",
               (int) (width - cgroup_width(cgroup)), "");
}

/* A number of bytes in a column. */
static void print_bytes(uint64_t bytes) {
        static const KeySpec size = { .type = KEY_SIZE };
        _cleanup_free_ char *text = NULL;

        if (value_format(&size, bytes, &text) < 0)
                printf(" %12" PRIu64, bytes);
        else
                printf(" %12s", text);
}

static void print_accounts(const Owners *owners, size_t width) {
        printf("%-*s %-9s %12s %12s %7s\n", (int) width, "UNIT OR CGROUP", "KIND", "NOW", "MOST", "OWNERS");

        for (const Account *a = owners->accounts; a < owners->accounts + owners->n_accounts; a++) {
                print_cgroup(&a->cgroup, width);
                printf(" %-9s", a->kind);
                print_bytes(a->now);
                print_bytes(a->most);
                printf(" %7" PRIu64 "\n", a->owners);
        }
}

static void print_secret_files(const Owners *owners, size_t width) {
        printf("\n%-*s %-10s %12s  %s\n", (int) width, "UNIT OR CGROUP", "INODE", "NOW", "PROCESSES");

        for (const SecretFile *f = owners->files; f < owners->files + owners->n_files; f++) {
                const char *separator = "";

                print_cgroup(&f->cgroup, width);
                printf(" %-10" PRIu64, f->inode);
                print_bytes(f->now);
                fputs(f->n_holders > 0 ? "  " : "  -", stdout);
                for (const Holder *h = f->holders; h < f->holders + f->n_holders; h++) {
                        printf("%s%d (%s)", separator, (int) h->pid, h->comm ?: "-");
                        separator = ", ";
                }
                putchar('\n');
        }
}

static void show_owners_text(const Owners *owners, const char *unit) {
        size_t width = strlen("UNIT OR CGROUP");

        for (size_t i = 0; i < owners->n_accounts; i++)
                if (cgroup_width(&owners->accounts[i].cgroup) > width)
                        width = cgroup_width(&owners->accounts[i].cgroup);
        for (size_t i = 0; i < owners->n_files; i++)
                if (cgroup_width(&owners->files[i].cgroup) > width)
                        width = cgroup_width(&owners->files[i].cgroup);

        if (owners->n_accounts > 0)
                print_accounts(owners, width);
        else
                printf("%s holds memory out of the direct map.\n", unit ? "No such unit" : "Nobody");
        if (owners->n_files > 0)
                print_secret_files(owners, width);
        if (owners->any_file)
                puts("\nThis machine cannot hibernate while a file of memfd_secret(2) is open.");
}

void show_owners(const Owners *owners, const char *unit, bool json) {
        if (json)
                show_owners_json(owners);
        else
                show_owners_text(owners, unit);
}

static bool keyid_is_free(const KeyidState *keyid) {
        return streq(keyid->state, "free");
}

static void show_keyids_json(const Keyids *keyids) {
        _cleanup_json_ json_object *list = json_object_new_array();

        for (const KeyidState *k = keyids->items; k < keyids->items + keyids->n_items; k++) {
                json_object *o = k->cgroup.path ? cgroup_to_json(&k->cgroup) : json_object_new_object();

                json_add_number(o, "keyid", k->number);
                json_add_string(o, "state", k->state);
                json_add_number(o, "memory", k->memory);
                json_add_number(o, "kept", k->kept);
                json_object_array_add(list, o);
        }

        json_print(list);
}

static void show_keyids_text(const Keyids *keyids) {
        size_t width = strlen("UNIT OR CGROUP"), n_free = 0;

        for (const KeyidState *k = keyids->items; k < keyids->items + keyids->n_items; k++)
                if (keyid_is_free(k))
                        n_free++;
                else if (k->cgroup.path && cgroup_width(&k->cgroup) > width)
                        width = cgroup_width(&k->cgroup);

        if (n_free < keyids->n_items)
                printf("%-*s KEYID STATE    %12s %12s\n", (int) width, "UNIT OR CGROUP", "MEMORY", "KEPT");
        for (const KeyidState *k = keyids->items; k < keyids->items + keyids->n_items; k++) {
                if (keyid_is_free(k))
                        continue;

                if (k->cgroup.path)
                        print_cgroup(&k->cgroup, width);
                else
                        printf("%-*s", (int) width, "-");
                printf(" %5" PRIu64 " %-8s", k->number, k->state);
                print_bytes(k->memory);
                print_bytes(k->kept);
                putchar('\n');
        }

        printf("%s%zu of %zu KeyIDs are free.\n", n_free < keyids->n_items ? "\n" : "", n_free,
               keyids->n_items);
}

void show_keyids(const Keyids *keyids, bool json) {
        if (json)
                show_keyids_json(keyids);
        else
                show_keyids_text(keyids);
}

static void show_policy_errors_json(const PolicyErrors *errors) {
        _cleanup_json_ json_object *list = json_object_new_array();

        for (size_t i = 0; i < errors->n_items; i++) {
                const PolicyError *e = errors->items + i;
                json_object *o = json_object_new_object();

                json_add_string(o, "file", e->file);
                json_add_number(o, "line", e->line);
                json_add_number(o, "column", e->column);
                json_add_string(o, "message", e->message);
                json_object_array_add(list, o);
        }

        json_print(list);
}

void show_policy_errors(const PolicyErrors *errors, bool json) {
        _cleanup_free_ char *text = NULL;

        if (json) {
                show_policy_errors_json(errors);
                return;
        }

        if (policy_errors_format(errors, &text) < 0)
                fprintf(stderr, "Out of memory\n");
        else if (errors->n_items > 0)
                fprintf(stderr, "%s\n", text);
}
