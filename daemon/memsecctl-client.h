/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What memsecctl asks of memsecd over the bus.
 *
 * Every function says on stderr what went wrong and returns what memsecctl is to exit with then, or else
 * STATUS_OK.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "policy.h"

#define CLIENT_BUS_NAME "org.memsec1"
#define CLIENT_MANAGER_PATH "/org/memsec1"
#define CLIENT_MANAGER_INTERFACE "org.memsec1.Manager"
#define CLIENT_POLICY_INTERFACE "org.memsec1.Policy"

typedef enum ExitStatus {
        STATUS_OK = 0,
        STATUS_FAILED = 1,              /* refused, invalid or broken */
        STATUS_DIFFERS = 1,             /* for "diff": what runs is not what the files say */
        STATUS_USAGE = 2,               /* the command line makes no sense */
        STATUS_TROUBLE = 2,             /* for "diff": it cannot be told */
        STATUS_NOT_ATTACHED = 3,        /* memsecd does not run, or for "status" no policy is attached */
} ExitStatus;

typedef struct NamedNumber {
        char *name;
        uint64_t value;
} NamedNumber;

typedef struct NumberList {
        NamedNumber *items;
        size_t n_items;
} NumberList;

typedef struct Mechanism {
        char *name;
        NumberList counters;
        NumberList limits;
} Mechanism;

/* What the Manager object says. */
typedef struct Manager {
        char *version;
        char *state;
        char *policy;
        char *error;
        char **files;
        uint32_t abi;
} Manager;

/* A unit that runs and has settings of its own. */
typedef struct Unit {
        char *name;
        uint64_t cgroup_id;
        uint64_t *values;               /* one for each key */
} Unit;

typedef struct UnitList {
        Unit *items;
        size_t n_items;
} UnitList;

/* What a loop has moved a tunable to, and why. */
typedef struct Tuning {
        const KeySpec *spec;
        char *unit;                     /* "" for everyone's */
        uint64_t value;
        char *signal;
        double measured;                /* negative when it is not yet */
        uint64_t target;
        char *measure;                  /* what both are in */
        char *state;
} Tuning;

typedef struct TuningList {
        Tuning *items;
        size_t n_items;
} TuningList;

void tuning_list_done(TuningList *l);
void unit_list_done(UnitList *l);
void manager_done(Manager *m);
void mechanism_done(Mechanism *m);

/*
 * The tunables that the policy in force has of its own, NULL for none or when they are not known.
 * client_connect() finds them. keys_at() and its like take them.
 */
extern OwnTunables *own_keys;

/* Finds them when memsecd runs, and says nothing when it cannot. */
void client_find_own(void);

ExitStatus client_connect(sd_bus **ret);

/* Whether memsecd runs; a call would start it. A negative errno when that cannot be told. */
int client_is_running(sd_bus *bus);

ExitStatus client_get_manager(sd_bus *bus, Manager *ret);
ExitStatus client_get_mechanism(sd_bus *bus, const char *name, Mechanism *ret);

/* Of those called counters, what can become less: amounts of now, and maxima, which can be set back. */
bool counter_is_gauge(const char *name);

ExitStatus client_get_policy(sd_bus *bus, char **ret);
ExitStatus client_set_policy(sd_bus *bus, const char *policy);

/* The value in the unit of the model, which for durations is not the bus's. */
ExitStatus client_get_key(sd_bus *bus, const KeySpec *spec, uint64_t *ret);
ExitStatus client_set_key(sd_bus *bus, const KeySpec *spec, uint64_t value);

/* The key whose property this is, or NULL. */
const KeySpec *client_find_key(const char *path, const char *interface, const char *property);

/* By name. */
ExitStatus client_get_units(sd_bus *bus, UnitList *ret);

/* In the order of the files. */
ExitStatus client_get_tuning(sd_bus *bus, TuningList *ret);

/* VALUES has room for one of each key. */
ExitStatus client_get_unit(sd_bus *bus, const char *unit, uint64_t *values);
/* What is said of PATTERN itself, by files and live; *ret has no pattern. */
ExitStatus client_get_unit_settings(sd_bus *bus, const char *pattern, UnitSettings *ret);

ExitStatus client_set_unit_key(sd_bus *bus, const char *unit, const KeySpec *spec, uint64_t value);

ExitStatus client_reload(sd_bus *bus);
