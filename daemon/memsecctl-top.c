// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memsecctl-top.h"
#include "util.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

/* To the upper left corner; clear the rest of the line; clear the rest of the screen. */
#define ANSI_HOME "\x1b[H"
#define ANSI_CLEAR_LINE "\x1b[K"
#define ANSI_CLEAR_BELOW "\x1b[J"

/* Everything at one time. */
typedef struct Sample {
        Manager manager;
        Mechanism *mechanisms;
        size_t n_mechanisms;
        uint64_t nsec;          /* CLOCK_MONOTONIC */
} Sample;

static void sample_done(Sample *s) {
        manager_done(&s->manager);
        for (size_t i = 0; i < s->n_mechanisms; i++)
                mechanism_done(s->mechanisms + i);

        free(s->mechanisms);
        *s = (Sample) {};
}

static ExitStatus sample_take(sd_bus *bus, char *const *names, Sample *ret) {
        struct timespec now;
        ExitStatus s;

        s = client_get_manager(bus, &ret->manager);
        if (s != STATUS_OK)
                return s;

        ret->mechanisms = calloc(strv_length(names), sizeof(Mechanism));
        if (!ret->mechanisms) {
                fprintf(stderr, "Out of memory\n");
                return STATUS_FAILED;
        }

        for (char *const *name = names; *name; name++) {
                s = client_get_mechanism(bus, *name, ret->mechanisms + ret->n_mechanisms++);
                if (s != STATUS_OK)
                        return s;
        }

        (void) clock_gettime(CLOCK_MONOTONIC, &now);
        ret->nsec = now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
        return STATUS_OK;
}

static const NamedNumber *find_number(const NumberList *l, const char *name) {
        for (const NamedNumber *n = l->items; n < l->items + l->n_items; n++)
                if (streq(n->name, name))
                        return n;

        return NULL;
}

/* NULL for BEFORE when there is nothing to compare with. What is no count does not flow. */
static void print_counter(const char *mechanism, const NamedNumber *now, const NamedNumber *before,
                          double seconds, const char *line_end) {
        printf("%-12s %-20s %20" PRIu64, mechanism, now->name, now->value);

        if (before && now->value >= before->value && !counter_is_gauge(now->name))
                printf(" %14.1f", (now->value - before->value) / seconds);
        else
                printf(" %14s", "-");

        fputs(line_end, stdout);
}

/* Mechanisms are in the same order in all samples. */
static void print_table(const Sample *now, const Sample *before, const char *line_end) {
        double seconds = (double) (now->nsec - before->nsec) / NSEC_PER_SEC;

        printf("memsecd: %s, policy %s%s", now->manager.state, now->manager.policy, line_end);
        printf("%-12s %-20s %20s %14s%s", "MECHANISM", "COUNTER", "TOTAL", "PER SECOND", line_end);

        for (size_t i = 0; i < now->n_mechanisms; i++) {
                const Mechanism *m = now->mechanisms + i;

                for (size_t k = 0; k < m->counters.n_items; k++) {
                        const NamedNumber *n = m->counters.items + k;

                        print_counter(m->name, n, find_number(&before->mechanisms[i].counters, n->name),
                                      seconds, line_end);
                }
        }
}

static void draw(const Sample *now, const Sample *before, bool batch) {
        if (batch) {
                print_table(now, before, "\n");
                return;
        }

        fputs(ANSI_HOME, stdout);
        print_table(now, before, ANSI_CLEAR_LINE "\n");
        fputs(ANSI_CLEAR_BELOW, stdout);
}

ExitStatus top_run(sd_bus *bus, bool batch) {
        _cleanup_(sample_done) Sample before = {};
        _cleanup_strv_free_ char **names = NULL;
        ExitStatus s;

        if (key_spec_children("", &names) < 0) {
                fprintf(stderr, "Out of memory\n");
                return STATUS_FAILED;
        }

        s = sample_take(bus, names, &before);
        if (s != STATUS_OK)
                return s;

        for (;;) {
                const struct timespec second = { .tv_sec = 1 };
                _cleanup_(sample_done) Sample now = {};

                (void) nanosleep(&second, NULL);
                s = sample_take(bus, names, &now);
                if (s != STATUS_OK)
                        return s;

                draw(&now, &before, batch);
                if (batch)
                        return STATUS_OK;

                if (fflush(stdout) != 0) {
                        fprintf(stderr, "Cannot write: %s\n", strerror(errno));
                        return STATUS_FAILED;
                }

                sample_done(&before);
                before = now;
                now = (Sample) {};
        }
}
