// SPDX-License-Identifier: GPL-2.0-only

#include <sys/epoll.h>

#include "bus-value.h"
#include "kernel.h"
#include "log.h"
#include "manager-tune.h"
#include "takeover.h"
#include "tune.h"
#include "tune-signal.h"

/* How often a mechanism has asked, which tells whether there is anything to look at. */
typedef struct Asked {
        int fd;
        sd_event_source *event;         /* fires at the next question, enabled while the loop sleeps */
        uint64_t count;
} Asked;

/* One loop; the model has the same one at the same index. */
struct Tuning {
        Manager *manager;
        size_t index;
        Tuner tuner;

        Asked *asked;                   /* of the mechanism, or of all for a tunable of the policy's own */
        size_t n_asked;
        sd_event_source *timer;         /* ends a period, enabled while the loop is awake */

        char *cgroup;                   /* see tune_signal_read() */
        bool begun;                     /* the period has begun with these */
        uint64_t begun_usec, begun_count;
        double signal;                  /* of the last period, negative before the first */

        bool told_limit, told_lacking;
};

static TuneLoop *tuning_loop(const Tuning *t) {
        return t->manager->status.model->loops + t->index;
}

static void tuning_done(Tuning *t) {
        for (size_t i = 0; i < t->n_asked; i++) {
                sd_event_source_unref(t->asked[i].event);
                safe_close(t->asked[i].fd);
        }

        free(t->asked);
        t->asked = NULL;
        t->n_asked = 0;
        t->timer = sd_event_source_unref(t->timer);
        free(t->cgroup);
        t->cgroup = NULL;
}

/* What the message is about. The texts are to be freed. */
typedef struct TuneTexts {
        char *value, *old_value, *signal;
} TuneTexts;

static void tune_texts_done(TuneTexts *texts) {
        free(texts->value);
        free(texts->old_value);
        free(texts->signal);
}

static int tune_texts(const TuneLoop *loop, const KeySpec *spec, uint64_t value, uint64_t old_value,
                      TuneTexts *ret) {
        int r;

        r = value_format(spec, value, &ret->value);
        if (r >= 0)
                r = value_format(spec, old_value, &ret->old_value);
        if (r >= 0)
                r = tune_signal_format(loop, &ret->signal);
        return r;
}

/* Says what the loop did, or does not, for which reason. */
static void tuning_log(Tuning *t, const char *id, int priority, const char *what, uint64_t old_value) {
        _cleanup_(tune_texts_done) TuneTexts texts = {};
        const TuneLoop *loop = tuning_loop(t);
        const char *measure = tune_measure(loop);
        const KeySpec *spec;
        uint64_t value = policy_model_loop_value(t->manager->status.model, loop, &spec);

        if (tune_texts(loop, spec, value, old_value, &texts) < 0)
                return;

        log_full(priority, &(LogFields) {
                .id = id,
                .unit = loop->unit,
                .key = loop->key,
                .value = texts.value,
                .old_value = value != old_value ? texts.old_value : NULL,
                .signal = texts.signal,
        }, "tune: %s%s%s %s%s%s%s: %s is %.1f%s, target %" PRIu64 "%s", loop->key, loop->unit ? " of " : "",
           loop->unit ?: "", value != old_value ? texts.old_value : "", value != old_value ? " -> " : "",
           texts.value, what, texts.signal, t->signal, measure, loop->target, measure);
}

/* Has the next instance know of it too. */
static void tuning_stop(Tuning *t, TuneStop why) {
        tuning_loop(t)->stopped = why;
        tuner_init(&t->tuner, why);
        tuning_done(t);
        t->manager->tunings_changed = true;
        if (takeover_save(t->manager, /* stopped= */ false) < 0)
                log_warning("Cannot keep for a next instance of memsecd that %s is not tuned.",
                            tuning_loop(t)->key);
}

static void tuning_move(Tuning *t, uint64_t old_value, uint64_t value) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        const TuneLoop *loop = tuning_loop(t);
        const KeySpec *spec = keys_find(t->manager->status.model->own, loop->key);

        /* Why it failed is in the journal. */
        if (value != old_value && manager_change_tunable(t->manager, loop->unit, spec, value, &error) < 0)
                return;

        if (t->tuner.state == TUNE_OSCILLATING) {
                tuning_log(t, MESSAGE_TUNE_STOPPED, LOG_WARNING,
                           " and stays so until the next reload, since no value keeps near the target",
                           old_value);
                tuning_stop(t, TUNE_STOPPED_OSCILLATING);
        } else if (value != old_value)
                tuning_log(t, MESSAGE_TUNED, LOG_INFO, "", old_value);
        else if (t->tuner.state == TUNE_AT_LIMIT && !t->told_limit)
                tuning_log(t, MESSAGE_TUNE_LIMIT, LOG_NOTICE, ", the end of its range", old_value);

        t->told_limit = t->tuner.state == TUNE_AT_LIMIT;
}

static uint64_t tuning_now(Tuning *t) {
        uint64_t usec = 0;

        (void) sd_event_now(t->manager->event, CLOCK_MONOTONIC, &usec);
        return usec;
}

static int tuning_read(Tuning *t, uint64_t *ret) {
        _cleanup_free_ char *signal = NULL;
        const TuneLoop *loop = tuning_loop(t);
        int r;

        r = tune_signal_read(t->manager->root, loop, &t->cgroup, ret);

        /* A unit comes and goes; a kernel is what it is. */
        if (r < 0 && (loop->counter || r != -ENOENT) && !t->told_lacking &&
            tune_signal_format(loop, &signal) >= 0) {
                log_warning("tune: %s stays as it is: %s cannot be read: %s", loop->key, signal,
                            strerror(-r));
                t->told_lacking = true;
        }

        return r;
}

/* Begins a period. */
static void tuning_begin(Tuning *t) {
        t->begun = tuning_read(t, &t->begun_count) >= 0;
        t->begun_usec = tuning_now(t);
}

/* Looks at what a period was, and moves the tunable. */
static void tuning_look(Tuning *t) {
        const TuneLoop *loop = tuning_loop(t);
        uint64_t count, value, next, usec = tuning_now(t) - t->begun_usec;
        TuneState state = t->tuner.state;
        const KeySpec *spec;

        if (!t->begun || usec == 0 || tuning_read(t, &count) < 0)
                return;

        /* A unit that was started again counts from 0. */
        t->signal = tune_signal_rate(loop, count > t->begun_count ? count - t->begun_count : 0, usec);
        value = policy_model_loop_value(t->manager->status.model, loop, &spec);
        next = tuner_step(&t->tuner, loop, value, t->signal);
        if (next != value || t->tuner.state != state)
                t->manager->tunings_changed = true;

        tuning_move(t, value, next);
        if (t->manager->tunings_changed)
                manager_publish(t->manager);
}

/* Reads how often was asked, which also has the kernel tell of the next question. Was there any since? */
static bool tuning_was_asked(Tuning *t) {
        bool was_asked = false;

        for (size_t i = 0; i < t->n_asked; i++) {
                Asked *asked = t->asked + i;
                uint64_t count = asked->count;

                (void) kernel_asked_read(asked->fd, &asked->count);
                was_asked = was_asked || asked->count != count;
        }

        return was_asked;
}

static int tuning_enable(Tuning *t, bool awake) {
        int r = 0;

        for (size_t i = 0; i < t->n_asked && r >= 0; i++)
                r = sd_event_source_set_enabled(t->asked[i].event, awake ? SD_EVENT_OFF : SD_EVENT_ON);
        if (r >= 0 && awake)
                r = sd_event_source_set_time(t->timer, tuning_now(t) + tuning_loop(t)->every_ns / 1000);
        if (r >= 0)
                r = sd_event_source_set_enabled(t->timer, awake ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
        if (r < 0)
                log_warning("tune: %s stays as it is: %s", tuning_loop(t)->key, strerror(-r));

        return r;
}

static void tuning_sleep(Tuning *t) {
        (void) tuning_enable(t, /* awake= */ false);
        if (t->tuner.state == TUNE_WAITING)
                return;

        t->tuner.state = TUNE_WAITING;
        t->manager->tunings_changed = true;
        manager_publish(t->manager);
}

static int on_asked(sd_event_source *s, int fd, uint32_t revents, void *userdata) {
        Tuning *t = userdata;

        /* The question that woke it is one of this period. */
        tuning_begin(t);
        (void) tuning_enable(t, /* awake= */ true);
        return 0;
}

static int on_period(sd_event_source *s, uint64_t usec, void *userdata) {
        Tuning *t = userdata;

        if (!tuning_was_asked(t)) {
                tuning_sleep(t);
                return 0;
        }

        tuning_look(t);
        if (tuning_loop(t)->stopped)
                return 0;

        tuning_begin(t);
        (void) tuning_enable(t, /* awake= */ true);
        return 0;
}

static int tuning_add_asked(Tuning *t, const char *mechanism) {
        Asked *asked = t->asked + t->n_asked;
        int r;

        asked->event = NULL;
        asked->fd = kernel_asked_open(t->manager->root, mechanism);
        if (asked->fd < 0)
                return asked->fd;

        t->n_asked++;
        r = kernel_asked_read(asked->fd, &asked->count);
        if (r < 0)
                return r;

        return sd_event_add_io(t->manager->event, &asked->event, asked->fd, EPOLLPRI, on_asked, t);
}

/* Is it the mechanism whose tunable is tuned? One of the policy's own may matter to all. */
static bool is_asker(const TuneLoop *loop, const char *mechanism) {
        const char *rest = startswith(loop->key, mechanism);

        return !key_spec_find(loop->key) || (rest && *rest == '.');
}

static int tuning_watch(Tuning *t) {
        _cleanup_strv_free_ char **mechanisms = NULL;
        uint64_t every_usec = tuning_loop(t)->every_ns / 1000;
        int r;

        r = key_spec_children("", &mechanisms);
        if (r < 0)
                return r;

        t->asked = calloc(strv_length(mechanisms), sizeof(Asked));
        if (!t->asked)
                return -ENOMEM;

        r = sd_event_add_time(t->manager->event, &t->timer, CLOCK_MONOTONIC, 0, every_usec / 10, on_period,
                              t);
        if (r >= 0)
                r = sd_event_source_set_enabled(t->timer, SD_EVENT_OFF);

        STRV_FOREACH(mechanism, mechanisms)
                if (r >= 0 && is_asker(tuning_loop(t), *mechanism))
                        r = tuning_add_asked(t, *mechanism);

        return r;
}

static void tuning_start(Tuning *t) {
        const TuneLoop *loop = tuning_loop(t);
        int r;

        tuner_init(&t->tuner, loop->stopped);
        t->signal = -1;
        if (loop->stopped)
                return;

        r = tuning_watch(t);
        if (r >= 0)
                return;

        /* Without memsec in the kernel that has been said already. */
        if (!t->manager->unsupported)
                log_warning("tune: %s stays as it is: it cannot be known when the kernel asks: %s",
                            loop->key, strerror(-r));
        tuning_done(t);
}

void manager_tune_free(Manager *m) {
        for (size_t i = 0; i < m->n_tunings; i++)
                tuning_done(m->tunings + i);

        free(m->tunings);
        m->tunings = NULL;
        m->n_tunings = 0;
}

void manager_tune_start(Manager *m) {
        const PolicyModel *model = m->status.model;

        m->tunings_changed = m->n_tunings > 0 || model->n_loops > 0;
        manager_tune_free(m);
        m->tunings = calloc(model->n_loops + 1, sizeof(Tuning));
        if (!m->tunings) {
                log_error("Nothing is tuned: %s", strerror(ENOMEM));
                return;
        }

        for (; m->n_tunings < model->n_loops; m->n_tunings++) {
                Tuning *t = m->tunings + m->n_tunings;

                t->manager = m;
                t->index = m->n_tunings;
                tuning_start(t);
        }
}

/* Does what is said of UNIT matter to a loop of PATTERN? Both may be NULL, for everyone. */
static bool is_about(const char *unit, const char *pattern) {
        if (!unit || !pattern)
                return !unit && !pattern;

        return streq(unit, pattern) || unit_pattern_matches(unit, pattern) ||
                unit_pattern_matches(pattern, unit);
}

void manager_tune_set_by_hand(Manager *m, const char *unit, const KeySpec *spec) {
        bool stopped = false;

        for (size_t i = 0; i < m->n_tunings; i++) {
                Tuning *t = m->tunings + i;
                const TuneLoop *loop = tuning_loop(t);

                if (loop->stopped || !streq(loop->key, spec->path) || !is_about(unit, loop->unit))
                        continue;

                tuning_stop(t, TUNE_STOPPED_BY_HAND);
                stopped = true;
                log_full(LOG_NOTICE, &(LogFields) {
                        .id = MESSAGE_TUNE_BY_HAND,
                        .unit = loop->unit,
                        .key = loop->key,
                }, "tune: %s%s%s was set by hand and is not tuned until the next reload.", loop->key,
                   loop->unit ? " of " : "", loop->unit ?: "");
        }

        if (stopped)
                manager_publish(m);
}

static int append_tuning(sd_bus_message *reply, const Tuning *t) {
        _cleanup_free_ char *signal = NULL;
        const TuneLoop *loop = tuning_loop(t);
        const KeySpec *spec;
        uint64_t value = policy_model_loop_value(t->manager->status.model, loop, &spec);
        int r;

        r = tune_signal_format(loop, &signal);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'r', "ssvsdtss");
        if (r >= 0)
                r = sd_bus_message_append(reply, "ss", loop->key, loop->unit ?: "");
        if (r >= 0)
                r = bus_value_append_variant(reply, spec, value);
        if (r >= 0)
                r = sd_bus_message_append(reply, "sdtss", signal, t->signal, loop->target,
                                          tune_measure(loop), tune_state_to_string(t->tuner.state));
        if (r >= 0)
                r = sd_bus_message_close_container(reply);

        return r;
}

int property_get_tuning(sd_bus *bus, const char *path, const char *interface, const char *property,
                        sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        const Manager *m = userdata;
        int r;

        r = sd_bus_message_open_container(reply, 'a', "(ssvsdtss)");
        for (size_t i = 0; r >= 0 && i < m->n_tunings; i++)
                r = append_tuning(reply, m->tunings + i);
        if (r < 0)
                return r;

        return sd_bus_message_close_container(reply);
}
