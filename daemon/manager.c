// SPDX-License-Identifier: GPL-2.0-only

#include <sys/epoll.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "kernel.h"
#include "log.h"
#include "manager.h"
#include "manager-bus.h"
#include "manager-log.h"
#include "manager-tune.h"
#include "manager-units.h"
#include "mechanism-bus.h"
#include "memsec_ops.h"
#include "object.h"
#include "policy-bus.h"
#include "takeover.h"

int manager_new(const char *root, Manager **ret) {
        _cleanup_(manager_freep) Manager *m = NULL;
        int r;

        m = calloc(1, sizeof(Manager));
        if (!m)
                return -ENOMEM;

        m->policy = BPF_POLICY_NONE;
        m->state_fd = -1;
        m->status.state = STATE_DETACHED;

        r = policy_model_new(&m->status.model);
        if (r < 0)
                return r;

        r = status_copy(&m->told, &m->status);
        if (r < 0)
                return r;

        r = free_and_strdup(&m->root, root);
        if (r < 0)
                return r;

        r = sd_event_default(&m->event);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(m);
        return 0;
}

Manager *manager_free(Manager *m) {
        if (!m)
                return NULL;

        manager_tune_free(m);
        sd_event_source_unref(m->link_event);
        sd_event_source_unref(m->units_event);
        sd_event_source_unref(m->units_timer);
        authorizer_free(m->authorizer);
        policy_bus_free(m->policy_bus);
        sd_bus_flush_close_unref(m->bus);
        mechanism_objects_free(m->mechanisms);
        bpf_policy_done(&m->policy);
        units_free(m->units);
        safe_close(m->state_fd);
        status_done(&m->status);
        status_done(&m->told);
        sd_event_unref(m->event);
        free(m->root);
        free(m);
        return NULL;
}

void manager_publish(Manager *m) {
        manager_bus_announce(m);

        if (m->unsupported)
                (void) sd_notifyf(false, "STATUS=Unsupported: %s", m->unsupported);
        else
                (void) sd_notifyf(false, "STATUS=Policy %s: %s%s", m->status.model->policy,
                                  state_to_string(m->status.state),
                                  m->status.error ? ", with an error" : "");
}

/* The kernel has let go of the policy, which may have been some time ago. */
static void manager_lose_policy(Manager *m) {
        LogFields fields = { .id = MESSAGE_DETACHED, .policy = m->status.model->policy };
        _cleanup_free_ char *reason = NULL;

        if (kernel_state(m->root) == KERNEL_FUSED) {
                m->status.state = STATE_FUSED;
                fields.id = MESSAGE_FUSED;
                (void) error_set(&reason, 0, "The kernel detached policy '%s': too many of its answers were "
                                 "out of range. It is attached again only when asked for.", fields.policy);
                manager_bus_tell_fused(m, fields.policy);
        } else {
                m->status.state = STATE_DETACHED;
                (void) error_set(&reason, 0, "Policy '%s' was detached by another program. "
                                 "It is attached again only when asked for.", fields.policy);
        }

        log_full(LOG_ERR, &fields, "%s", reason ?: "Out of memory.");
        free_and_replace(m->status.error, reason);

        m->link_event = sd_event_source_unref(m->link_event);
        bpf_policy_done(&m->policy);
        manager_units_forget(m);
        if (takeover_forget(m) < 0)
                log_warning("Cannot tell the service manager that the policy is gone.");
}

static int on_link_event(sd_event_source *s, int fd, uint32_t revents, void *userdata) {
        Manager *m = userdata;

        manager_lose_policy(m);
        manager_publish(m);
        return 0;
}

/* EPOLLHUP, which needs not be asked for, is all that a link ever says. */
static int manager_watch_link(Manager *m) {
        if (m->policy.link_fd < 0)
                return 0;

        return sd_event_add_io(m->event, &m->link_event, m->policy.link_fd, 0, on_link_event, m);
}

static int set_load_error(Manager *m, int r, const char *policy, const char *reason, sd_bus_error *error) {
        _cleanup_free_ char *holder = NULL, *programs = NULL;

        if (r != -EBUSY) {
                sd_bus_error_setf(error, ERROR_LOAD, "Policy '%s' cannot be attached: %s", policy,
                                  reason ?: "out of memory");
                log_full(LOG_ERR, &(LogFields) { .id = MESSAGE_NOT_ATTACHED, .policy = policy },
                         "%s", error->message);
                return r;
        }

        (void) kernel_policy_name(m->root, &holder);
        (void) kernel_policy_programs(m->root, &programs);
        sd_bus_error_setf(error, ERROR_LOAD, "Policy '%s' cannot be attached: another program has attached "
                          "policy '%s', BPF programs %s. Detach that one and reload.",
                          policy, holder ?: "", isempty(programs) ? "unknown" : programs);
        log_full(LOG_ERR, &(LogFields) {
                .id = MESSAGE_HELD,
                .policy = policy,
                .holder = holder,
                .programs = programs,
        }, "%s", error->message);
        return r;
}

/* The status still has the policy that was there before. */
static void log_attached(Manager *m, const char *policy, bool replaced) {
        const char *old_policy = m->status.model->policy;

        if (replaced)
                log_full(LOG_INFO, &(LogFields) {
                        .id = MESSAGE_REPLACED,
                        .policy = policy,
                        .old_policy = old_policy,
                }, "Policy '%s' is attached in the place of '%s'.", policy, old_policy);
        else
                log_full(LOG_INFO, &(LogFields) { .id = MESSAGE_ATTACHED, .policy = policy },
                         "Policy '%s' is attached.", policy);
}

/* Load the program of MODEL at PATH and put it in the place of what runs, if anything does. */
static int manager_attach(Manager *m, const char *path, const PolicyModel *model, const ParamsTable *params,
                          sd_bus_error *error) {
        _cleanup_free_ char *reason = NULL;
        const char *policy = model->policy;
        int old_link = m->policy.link_fd, r;

        /* A descriptor must not be closed under its event source, since the store keeps the file open. */
        m->link_event = sd_event_source_unref(m->link_event);
        r = bpf_policy_attach(&m->policy, policy, path, model->own, params, &reason);
        if (manager_watch_link(m) < 0)
                log_warning("Cannot watch the policy.");
        if (r < 0)
                return set_load_error(m, r, policy, reason, error);

        m->status.state = STATE_ATTACHED;
        log_attached(m, policy, m->policy.link_fd == old_link);
        return m->policy.link_fd != old_link;
}

/* Does the program in the file at PATH run already? */
static bool manager_runs(Manager *m, const char *policy, const char *path) {
        _cleanup_free_ char *object = NULL;

        return bpf_policy_link_alive(m->policy.link_fd) && m->policy.object &&
                streq(policy, m->status.model->policy) && policy_object_identity(path, &object) >= 0 &&
                streq(object, m->policy.object);
}

/* Make PARAMS those of the policy. Should the kernel not take all, those of the status are put back. */
static int manager_put_params(Manager *m, const ParamsTable *params, sd_bus_error *error) {
        int r;

        if (m->policy.params_fd < 0)
                return 0;

        r = bpf_policy_replace_params(m->policy.params_fd, params);
        if (r >= 0)
                r = bpf_policy_ask_again(&m->policy);
        if (r < 0) {
                sd_bus_error_setf(error, ERROR_LOAD, "The parameters cannot be changed: %s", strerror(-r));
                log_error("%s", error->message);
                manager_units_resume(m);
        }

        return r;
}

/*
 * Make MODEL that in force, and FILES, which may be those already in force, where it is from. Owns both from
 * then on, but not on failure.
 */
static int manager_apply(Manager *m, PolicyModel *model, char **files, sd_bus_error *error) {
        _cleanup_units_change_ UnitsChange change = {};
        _cleanup_free_ char *path = NULL;
        bool attach = !m->unsupported;
        int r;

        r = manager_units_prepare(m, model, &change, error);
        if (r < 0)
                return r;

        if (attach) {
                r = policy_object_path(m->root, model->policy, &path);
                if (r < 0)
                        return r;

                attach = !manager_runs(m, model->policy, path);
                if (attach)
                        r = manager_attach(m, path, model, &change.params, error);
                else
                        r = manager_put_params(m, &change.params, error);
                if (r < 0)
                        return r;
        }

        policy_model_free(m->status.model);
        m->status.model = model;
        if (files != m->status.files)
                strv_free(m->status.files);
        m->status.files = files;
        manager_units_commit(m, &change);

        for (size_t i = 0; i < model->n_loops; i++)
                model->loops[i].stopped = TUNE_RUNS;
        manager_tune_start(m);

        r = attach ? takeover_keep(m, r > 0) : takeover_save(m, /* stopped= */ false);
        if (r < 0)
                log_warning("Cannot keep the policy for a next instance of memsecd: %s", strerror(-r));

        return 0;
}

/* What the last reload or change of policy came to. Who set ERROR has logged it. */
static int manager_finish(Manager *m, int r, sd_bus_error *error) {
        if (r >= 0)
                (void) free_and_strdup(&m->status.error, NULL);
        else {
                if (!sd_bus_error_is_set(error)) {
                        (void) sd_bus_error_set_errno(error, r);
                        log_error("%s", error->message);
                }

                (void) free_and_strdup(&m->status.error, error->message);
        }

        return r;
}

/* Each with its place as fields, and all of them in one text for the caller. */
static int set_policy_errors(const PolicyErrors *errors, sd_bus_error *error) {
        _cleanup_free_ char *text = NULL;
        int r;

        for (size_t i = 0; i < errors->n_items; i++)
                log_config_error(errors->items + i);

        r = policy_errors_format(errors, &text);
        if (r < 0)
                return r;

        (void) sd_bus_error_set(error, ERROR_INVALID_POLICY, text);
        return -EBADMSG;
}

static int manager_read_files(Manager *m, PolicyModel **ret_model, char ***ret_files, sd_bus_error *error) {
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        int r;

        r = policy_model_load(m->root, /* may_miss= */ false, ret_model, ret_files, &errors);
        if (r == -EBADMSG)
                return set_policy_errors(&errors, error);

        return r;
}

static int manager_apply_files(Manager *m, sd_bus_error *error) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        _cleanup_strv_free_ char **files = NULL;
        int r;

        r = manager_read_files(m, &model, &files, error);
        if (r >= 0)
                r = manager_apply(m, model, files, error);
        if (r >= 0) {
                TAKE_PTR(model);
                TAKE_PTR(files);
        }

        return manager_finish(m, r, error);
}

int manager_reload(Manager *m, sd_bus_error *error) {
        struct timespec now;
        int r;

        (void) clock_gettime(CLOCK_MONOTONIC, &now);
        (void) sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%llu",
                          now.tv_sec * 1000000ULL + now.tv_nsec / 1000);

        r = manager_apply_files(m, error);
        if (r >= 0)
                manager_log_reloaded(m);
        manager_publish(m);

        (void) sd_notify(false, "READY=1");
        return r;
}

/* Find the own tunables of MODEL's policy. What is the matter with the object is an error. */
static int manager_find_own(Manager *m, PolicyModel *model, sd_bus_error *error) {
        _cleanup_policy_object_ PolicyObject object = {};
        _cleanup_free_ char *path = NULL, *reason = NULL, *text = NULL;
        int r;

        r = policy_object_path(m->root, model->policy, &path);
        if (r < 0)
                return r;

        r = policy_object_open(model->policy, path, &object, &reason);
        if (r < 0) {
                if (asprintf(&text, "%s: %s", path, reason ?: "out of memory") < 0)
                        text = NULL;
                return set_load_error(m, r, model->policy, text, error);
        }

        policy_model_set_own(model, object.own);
        return 0;
}

int manager_set_policy(Manager *m, const char *policy, sd_bus_error *error) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        int r;

        if (m->unsupported) {
                sd_bus_error_setf(error, ERROR_UNSUPPORTED, "No policy can be attached: %s", m->unsupported);
                return -EOPNOTSUPP;
        }

        r = policy_model_copy(m->status.model, &model);
        if (r >= 0)
                r = free_and_strdup(&model->policy, policy);
        if (r >= 0)
                r = manager_find_own(m, model, error);
        if (r >= 0)
                r = manager_apply(m, model, m->status.files, error);
        if (r >= 0) {
                TAKE_PTR(model);
                manager_log_set(m, NULL, "policy", policy);
        }

        r = manager_finish(m, r, error);
        manager_publish(m);
        return r;
}

/* Put the numbers of MODEL in force, and attach nothing. Owns it from then on, but not on failure. */
static int manager_put_numbers(Manager *m, PolicyModel *model, sd_bus_error *error) {
        _cleanup_units_change_ UnitsChange change = {};
        int r;

        r = manager_units_prepare(m, model, &change, error);
        if (r >= 0)
                r = manager_put_params(m, &change.params, error);
        if (r < 0)
                return r;

        policy_model_free(m->status.model);
        m->status.model = model;
        manager_units_commit(m, &change);

        if (takeover_save(m, /* stopped= */ false) < 0)
                log_warning("Cannot keep what was set for a next instance of memsecd.");

        manager_publish(m);
        return 0;
}

int manager_change_tunable(Manager *m, const char *pattern, const KeySpec *spec, uint64_t value,
                           sd_bus_error *error) {
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        int r;

        r = policy_model_copy(m->status.model, &model);
        if (r < 0)
                return r;

        if (pattern)
                r = policy_model_set_unit(model, pattern, spec, value);
        else
                key_spec_set(spec, &model->params, value);
        if (r == -E2BIG) {
                sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                                  "Something is said of %d units already.", POLICY_UNITS_MAX);
                return r;
        }
        if (r >= 0)
                r = manager_put_numbers(m, model, error);
        if (r >= 0)
                TAKE_PTR(model);

        return r;
}

int manager_set_unit(Manager *m, const char *pattern, const KeySpec *spec, uint64_t value,
                     sd_bus_error *error) {
        int r;

        r = manager_change_tunable(m, pattern, spec, value, error);
        if (r < 0)
                return r;

        manager_log_set_tunable(m, pattern, spec, value);
        manager_tune_set_by_hand(m, pattern, spec);
        return 0;
}

int manager_set_tunable(Manager *m, const KeySpec *spec, uint64_t value, sd_bus_error *error) {
        return manager_set_unit(m, NULL, spec, value, error);
}

static void manager_probe_kernel(Manager *m) {
        switch (kernel_state(m->root)) {
        case KERNEL_ABSENT:
                m->unsupported = "this kernel has no memsec";
                break;
        case KERNEL_OFF:
                m->unsupported = "memsec is turned off on the kernel command line";
                break;
        default:
                m->abi = kernel_abi(m->root);
                if (m->abi != MEMSEC_ABI)
                        m->unsupported = "the kernel's memsec has another ABI than memsecd";
        }

        if (!m->unsupported)
                return;

        m->status.state = STATE_UNSUPPORTED;
        log_full(LOG_NOTICE, &(LogFields) { .id = MESSAGE_UNSUPPORTED },
                 "Unsupported: %s. Policy files are checked and shown, but nothing is attached.",
                 m->unsupported);
}

/* What the previous instance was last told to do, with a program whose parameters can be reached. */
static void manager_replace_program(Manager *m) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_units_change_ UnitsChange change = {};
        _cleanup_free_ char *path = NULL;
        int r;

        r = policy_object_path(m->root, m->status.model->policy, &path);
        if (r >= 0)
                r = manager_find_own(m, m->status.model, &error);
        if (r >= 0)
                r = manager_units_prepare(m, m->status.model, &change, &error);
        if (r >= 0)
                r = manager_attach(m, path, m->status.model, &change.params, &error);
        if (r >= 0) {
                manager_units_commit(m, &change);
                manager_tune_start(m);
                r = takeover_keep(m, r > 0);
        }

        (void) manager_finish(m, r, &error);
}

static int manager_take_over(Manager *m) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        Takeover takeover;
        int r;

        r = takeover_receive(m, &takeover);
        if (r < 0)
                return r;

        if (m->policy.link_fd >= 0) {
                m->status.state = STATE_ATTACHED;
                r = manager_watch_link(m);
                if (r < 0)
                        return r;
        }

        switch (takeover) {
        case TAKEOVER_NOTHING:
                /* With bad files, a policy that runs still has the parameters it had. */
                if (manager_apply_files(m, &error) < 0)
                        manager_units_resume(m);
                break;
        case TAKEOVER_RUNNING:
                manager_units_resume(m);
                manager_tune_start(m);
                log_full(LOG_INFO, &(LogFields) {
                        .id = MESSAGE_TAKEN_OVER,
                        .policy = m->status.model->policy,
                }, "Policy '%s' ran on and is taken over.", m->status.model->policy);
                break;
        case TAKEOVER_MISMATCH:
                manager_replace_program(m);
                break;
        case TAKEOVER_LOST:
                manager_lose_policy(m);
                break;
        }

        return 0;
}

int manager_start(Manager *m) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        int r = 0;

        manager_probe_kernel(m);

        if (m->unsupported)
                (void) manager_apply_files(m, &error);
        else
                r = manager_take_over(m);

        manager_publish(m);
        return r;
}

void manager_stop(Manager *m) {
        if (takeover_save(m, /* stopped= */ true) < 0)
                log_warning("Cannot tell a next instance of memsecd that this one was stopped.");
}
