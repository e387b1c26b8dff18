/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What memsecctl prints: for people, or with "json" for programs. */

#include <stdbool.h>

#include "memsecctl-client.h"
#include "memsecctl-keyids.h"
#include "memsecctl-owners.h"

/* The value of one key; the policy has no spec, and its value is text. */
typedef struct Setting {
        const KeySpec *spec;
        uint64_t value;
        char *policy;
        bool unset;             /* nothing is said of it, and so it has no value; only of a unit's */
} Setting;

typedef struct Status {
        Manager manager;
        Mechanism *mechanisms;
        size_t n_mechanisms;
        uint64_t *values;               /* one for each key */
        UnitList units;
        TuningList tuning;
} Status;

/* Something that has changed, and what it is now: a tunable's value, or a text, or else a list. */
typedef struct Change {
        const char *key;
        const KeySpec *spec;    /* of a tunable */
        uint64_t value;
        const char *text;
        char **list;
} Change;

void change_done(Change *change);

/* One line, with the time. */
void show_change(const Change *change, bool json);

void show_status(const Status *status, bool json);
void show_settings(const Setting *settings, size_t n_settings, bool only_values, bool json);

/* The same keys as they are in force and as the policy files have them. */
void show_differences(const Setting *running, const Setting *files, size_t n_settings, bool json);

/* UNIT is the pattern that was asked for, or NULL. */
void show_owners(const Owners *owners, const char *unit, bool json);
void show_keyids(const Keyids *keyids, bool json);

void show_policy_errors(const PolicyErrors *errors, bool json);
