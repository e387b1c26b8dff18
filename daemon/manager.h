/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "authorize.h"
#include "bpf-policy.h"
#include "status.h"
#include "units.h"
#include "util.h"

/* Errors on the bus beside those that D-Bus itself defines. */
#define ERROR_INVALID_POLICY "org.memsec1.Error.InvalidPolicy"  /* the files have errors, all in the text */
#define ERROR_LOAD           "org.memsec1.Error.Load"           /* the kernel did not take the program */
#define ERROR_UNSUPPORTED    "org.memsec1.Error.Unsupported"    /* there is nothing to attach to */

typedef struct MechanismObject MechanismObject;
typedef struct PolicyBus PolicyBus;
typedef struct Tuning Tuning;

/* All of memsecd. */
typedef struct Manager {
        char *root;                     /* put before every path, or NULL */
        sd_event *event;
        sd_bus *bus;
        Authorizer *authorizer;
        MechanismObject *mechanisms;    /* see mechanism-bus.h */
        PolicyBus *policy_bus;          /* see policy-bus.h, NULL before the first announcement */

        unsigned abi;                   /* the kernel's, 0 when it has none */
        const char *unsupported;        /* why the state is "unsupported", else NULL */
        Status status;
        Status told;                    /* status as last told on the bus */

        BpfPolicy policy;
        sd_event_source *link_event;    /* fires when the kernel lets go of the policy */
        int state_fd;                   /* see saved-state.h, -1 before the first attachment */

        Units *units;                   /* see manager-units.h, NULL when no unit has parameters */
        sd_event_source *units_event;   /* fires when cgroups come and go */
        sd_event_source *units_timer;   /* fires when cgroups have been gone for long */

        Tuning *tunings;                /* see manager-tune.h, as many as the model has loops */
        size_t n_tunings;
        bool tunings_changed;           /* since last told on the bus */
} Manager;

int manager_new(const char *root, Manager **ret);
Manager *manager_free(Manager *m);

/*
 * Look at the kernel and take over what the previous instance left running, or else read the files and
 * attach. Bad files and programs are no failure here: they are logged and shown as the error.
 */
int manager_start(Manager *m);

/* Tell the next instance that this one ended because it was asked to. Detaches nothing. */
void manager_stop(Manager *m);

/*
 * Each of these does all that it is asked for or changes nothing. On failure they return a negative errno
 * and set ERROR, for the caller on the bus.
 */

/* Read the files and do what they say. */
int manager_reload(Manager *m, sd_bus_error *error);

/* Until the next reload. POLICY, PATTERN and VALUE must have been checked. */
int manager_set_policy(Manager *m, const char *policy, sd_bus_error *error);
int manager_set_tunable(Manager *m, const KeySpec *spec, uint64_t value, sd_bus_error *error);
int manager_set_unit(Manager *m, const char *pattern, const KeySpec *spec, uint64_t value,
                     sd_bus_error *error);

/* The same by memsecd itself. PATTERN may be NULL, for everyone. */
int manager_change_tunable(Manager *m, const char *pattern, const KeySpec *spec, uint64_t value,
                           sd_bus_error *error);

/* Tell the bus and the service manager what is different now. */
void manager_publish(Manager *m);

DEFINE_TRIVIAL_CLEANUP_FUNC(Manager *, manager_free)
