// SPDX-License-Identifier: GPL-2.0-only

#include <sys/epoll.h>

#include "log.h"
#include "manager-units.h"

#define USEC_PER_SEC UINT64_C(1000000)

/*
 * How long a removed cgroup's parameters are kept for enclaves still being torn down. Ids of cgroups are not
 * used again, so nobody else can get them.
 */
#define KEEP_USEC (30 * USEC_PER_SEC)

void units_change_done(UnitsChange *change) {
        units_free(change->units);
        params_table_done(&change->params);
        *change = (UnitsChange) {};
}

static uint64_t manager_now(Manager *m) {
        uint64_t now_usec = 0;

        (void) sd_event_now(m->event, CLOCK_MONOTONIC, &now_usec);
        return now_usec;
}

static int set_units_error(int r, sd_bus_error *error) {
        switch (r) {
        case -E2BIG:
                sd_bus_error_setf(error, ERROR_LOAD, "More than %d cgroups are of units that are to have "
                                  "parameters, and there is no room for all.", UNITS_MAX);
                break;
        case -ENOSPC:
        case -EMFILE:
                sd_bus_error_set(error, ERROR_LOAD, "Units cannot be followed: see max_user_watches and "
                                 "max_user_instances in inotify(7).");
                break;
        default:
                sd_bus_error_setf(error, ERROR_LOAD, "Units cannot be followed: %s", strerror(-r));
        }

        log_error("%s", error->message);
        return r;
}

int manager_units_prepare(Manager *m, const PolicyModel *model, UnitsChange *ret, sd_bus_error *error) {
        _cleanup_units_change_ UnitsChange change = {};
        int r;

        r = params_table_add(&change.params, MEMSEC_EVERYONE, &model->params);
        if (r >= 0)
                r = units_new(m->root, model, &change.units);
        if (r >= 0 && change.units && m->units)
                r = units_keep_gone(change.units, m->units, model, manager_now(m));
        if (r >= 0 && change.units)
                r = units_table(change.units, &change.params);
        if (r < 0)
                return set_units_error(r, error);

        *ret = change;
        change = (UnitsChange) {};
        return 0;
}

/* Sleeps until the first of those that are gone is to be forgotten, if any. */
static void manager_arm_units_timer(Manager *m) {
        uint64_t first = m->units ? units_first_gone(m->units) : UINT64_MAX;
        int r;

        if (first == UINT64_MAX) {
                r = m->units_timer ? sd_event_source_set_enabled(m->units_timer, SD_EVENT_OFF) : 0;
        } else {
                r = sd_event_source_set_time(m->units_timer, first + KEEP_USEC);
                if (r >= 0)
                        r = sd_event_source_set_enabled(m->units_timer, SD_EVENT_ONESHOT);
        }
        if (r < 0)
                log_warning("Cannot forget units that are gone: %s", strerror(-r));
}

static int on_units_timer(sd_event_source *s, uint64_t usec, void *userdata) {
        Manager *m = userdata;
        int r;

        r = units_expire(m->units, m->policy.params_fd, manager_now(m) - KEEP_USEC);
        if (r >= 0)
                r = bpf_policy_ask_again(&m->policy);
        if (r < 0)
                log_warning("Cannot take the parameters of units that are gone away: %s", strerror(-r));

        manager_arm_units_timer(m);
        return 0;
}

/* Begins anew, when it is not known what happened. */
static int manager_rescan_units(Manager *m) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_units_change_ UnitsChange change = {};
        int r;

        r = manager_units_prepare(m, m->status.model, &change, &error);
        if (r < 0)
                return r;

        if (m->policy.params_fd >= 0) {
                r = bpf_policy_replace_params(m->policy.params_fd, &change.params);
                if (r < 0)
                        return r;
        }

        manager_units_commit(m, &change);
        return 0;
}

static int on_units_event(sd_event_source *s, int fd, uint32_t revents, void *userdata) {
        Manager *m = userdata;
        int r;

        r = units_dispatch(m->units, m->status.model, manager_now(m));
        if (r == -EOVERFLOW)
                r = manager_rescan_units(m);
        else if (r >= 0 && m->policy.params_fd >= 0)
                r = units_sync(m->units, m->policy.params_fd);
        if (r < 0)
                log_error("Some units get everyone's parameters: %s", strerror(-r));

        manager_arm_units_timer(m);
        return 0;
}

static int manager_watch_units(Manager *m) {
        int r;

        if (!m->units)
                return 0;

        if (!m->units_timer) {
                r = sd_event_add_time(m->event, &m->units_timer, CLOCK_MONOTONIC, 0, USEC_PER_SEC,
                                      on_units_timer, m);
                if (r < 0)
                        return r;

                r = sd_event_source_set_enabled(m->units_timer, SD_EVENT_OFF);
                if (r < 0)
                        return r;
        }

        return sd_event_add_io(m->event, &m->units_event, m->units->fd, EPOLLIN, on_units_event, m);
}

void manager_units_commit(Manager *m, UnitsChange *change) {
        int r;

        m->units_event = sd_event_source_unref(m->units_event);
        units_free(m->units);
        m->units = TAKE_PTR(change->units);
        if (m->units)
                units_set_stored(m->units, m->policy.params_fd >= 0);

        r = manager_watch_units(m);
        if (r < 0)
                log_error("Units that are started from now on get everyone's parameters: %s", strerror(-r));

        manager_arm_units_timer(m);
}

void manager_units_forget(Manager *m) {
        if (m->units)
                units_set_stored(m->units, false);

        manager_arm_units_timer(m);
}

void manager_units_resume(Manager *m) {
        int r;

        r = manager_rescan_units(m);
        if (r < 0)
                log_error("Units cannot be given their parameters: %s", strerror(-r));
}
