// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "memsecctl-metrics.h"
#include "util.h"

#define NSEC_PER_SEC UINT64_C(1000000000)
#define NSEC_PER_USEC UINT64_C(1000)

/* Of names and help. Names of the kernel's files and of keys are not nearly as long. */
#define TEXT_MAX 512U

#define UNIT_SECONDS "seconds"
#define UNIT_BYTES "bytes"

static void print_metadata(const char *name, const char *type, const char *unit, const char *help) {
        printf("# TYPE %s %s\n", name, type);
        if (unit)
                printf("# UNIT %s %s\n", name, unit);
        printf("# HELP %s %s\n", name, help);
}

/* A metric that is one number. VALUE is in nanoseconds when UNIT is seconds, or VALUE_NEVER. */
static void print_metric(const char *name, const char *type, const char *unit, const char *help,
                         uint64_t value) {
        print_metadata(name, type, unit, help);

        printf("%s%s ", name, streq(type, "counter") ? "_total" : "");
        if (unit && streq(unit, UNIT_SECONDS) && value == VALUE_NEVER)
                puts("+Inf");
        else if (unit && streq(unit, UNIT_SECONDS))
                printf("%" PRIu64 ".%09" PRIu64 "\n", value / NSEC_PER_SEC, value % NSEC_PER_SEC);
        else
                printf("%" PRIu64 "\n", value);
}

/* One of the kernel's numbers; its name says when it is a time. PART is what it is called after. */
static void print_number(const char *mechanism, const char *part, const NamedNumber *n, const char *type) {
        const char *ns = endswith(n->name, "_ns"), *us = endswith(n->name, "_us"), *suffix = ns ?: us;
        size_t n_name = suffix ? (size_t) (suffix - n->name) : strlen(n->name);
        char name[TEXT_MAX], help[TEXT_MAX];

        (void) snprintf(name, sizeof(name), "memsec_%s_%s%.*s%s", mechanism, part, (int) n_name, n->name,
                        suffix ? "_" UNIT_SECONDS : "");
        (void) snprintf(help, sizeof(help), "What the kernel shows in /sys/kernel/memsec/%s/%s.",
                        mechanism, n->name);
        print_metric(name, type, suffix ? UNIT_SECONDS : NULL, help, n->value * (us ? NSEC_PER_USEC : 1));
}

static void print_mechanism(const Mechanism *m) {
        for (const NamedNumber *n = m->counters.items; n < m->counters.items + m->counters.n_items; n++)
                print_number(m->name, "", n, counter_is_gauge(n->name) ? "gauge" : "counter");

        for (const NamedNumber *n = m->limits.items; n < m->limits.items + m->limits.n_items; n++)
                print_number(m->name, "limit_", n, "gauge");
}

static const char *spec_unit(const KeySpec *spec) {
        switch (spec->type) {
        case KEY_DURATION:
                return UNIT_SECONDS;
        case KEY_SIZE:
                return UNIT_BYTES;
        default:
                return NULL;
        }
}

/* A word: 1 for that, which is the value of a label that is called as the last part of the key is. */
static void print_choice(const char *name, const KeySpec *spec, uint64_t value) {
        print_metadata(name, "gauge", NULL, spec->help);
        for (uint64_t i = 0; spec->choices[i]; i++)
                printf("%s{%s=\"%s\"} %d\n", name, strrchr(spec->path, '.') + 1, spec->choices[i],
                       i == value);
}

/* Everyone's value of a key, "teardown.batch". */
static void print_setting(const KeySpec *spec, uint64_t value) {
        const char *unit = spec_unit(spec);
        char name[TEXT_MAX];

        (void) snprintf(name, sizeof(name), "memsec_setting_%s%s%s", spec->path, unit ? "_" : "",
                        unit ?: "");
        for (char *p = name; *p; p++)
                if (*p == '.' || *p == '-')
                        *p = '_';

        if (spec->type == KEY_CHOICE)
                print_choice(name, spec, value);
        else
                print_metric(name, "gauge", unit, spec->help, value);
}

static void print_label(const char *name, const char *value) {
        printf("%s=\"", name);
        for (; *value; value++) {
                if (strchr("\\\"", *value))
                        putchar('\\');
                putchar(*value);
        }
        putchar('"');
}

static void print_state(const char *state) {
        static const char *const states[] = { "unsupported", "detached", "attached", "fused" };

        print_metadata("memsec_state", "gauge", NULL, "1 for the state that memsecd is in, 0 for others.");
        for (size_t i = 0; i < ELEMENTSOF(states); i++)
                printf("memsec_state{state=\"%s\"} %d\n", states[i], streq(states[i], state));
}

static void print_policy(const Manager *m) {
        print_metadata("memsec_policy_info", "gauge", NULL, "The policy that memsecd is to have attached.");
        fputs("memsec_policy_info{", stdout);
        print_label("policy", m->policy);
        putchar(',');
        print_label("version", m->version);
        printf(",abi=\"%" PRIu32 "\"} 1\n", m->abi);
}

void show_metrics(const Status *status) {
        print_state(status->manager.state);
        print_policy(&status->manager);
        print_metric("memsec_error", "gauge", NULL, "1 when the last reload or change of policy failed.",
                     !isempty(status->manager.error));
        print_metric("memsec_units", "gauge", NULL, "Units that run and have settings of their own.",
                     status->units.n_items);

        for (size_t i = 0; i < keys_count(own_keys); i++)
                print_setting(keys_at(own_keys, i), status->values[i]);

        for (size_t i = 0; i < status->n_mechanisms; i++)
                print_mechanism(status->mechanisms + i);

        puts("# EOF");
}
