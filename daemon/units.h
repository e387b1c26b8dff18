/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The cgroups of the units that "units:" gives parameters, seen as they come and go through inotify on the
 * cgroup file system: systemd makes a unit's cgroup before it starts a process in it. Slices are watched for
 * the units in them, and cgroups that have parameters for others that a delegated unit makes inside.
 */

#include "bpf-policy.h"

/* Cgroups that can have parameters of their own. */
#define UNITS_MAX (MEMSEC_PARAMS_MAX - 1)

typedef struct UnitCgroup {
        char *path;             /* below the root of the hierarchy, which is "" itself */
        uint64_t id;
        int wd;                 /* of the inotify watch, -1 when it is gone */
        bool has_params;        /* and is not only watched */
        bool stored;            /* they are in the policy's map */
        uint64_t gone_usec;     /* when the cgroup was removed, 0 while it is there */
        struct memsec_params params;
} UnitCgroup;

typedef struct Units {
        char *root;             /* of the hierarchy, in the file system */
        int fd;                 /* of inotify */
        bool full;              /* told that not all can have parameters */
        UnitCgroup *items;
        size_t n_items;
} Units;

/*
 * Look for all cgroups there are, and watch them; ROOT is put before /sys/fs/cgroup, or NULL. *ret is NULL
 * when MODEL says nothing of units. -ENOSPC: there can be no more watches.
 */
int units_new(const char *root, const PolicyModel *model, Units **ret);
Units *units_free(Units *units);
DEFINE_TRIVIAL_CLEANUP_FUNC(Units *, units_free)

/* Read what happened, without waiting. -EOVERFLOW: some of it was lost, and all must be looked for anew. */
int units_dispatch(Units *units, const PolicyModel *model, uint64_t now_usec);

/*
 * Take cgroups over from OLD that are gone: enclaves are torn down after their processes have ended, and so
 * after their cgroup has been removed.
 */
int units_keep_gone(Units *units, const Units *old, const PolicyModel *model, uint64_t now_usec);

/* Add everything that has parameters to TABLE. -E2BIG: that is more than UNITS_MAX. */
int units_table(Units *units, ParamsTable *table);

/* Says what of that is in the map now: all or, without a policy, nothing. Forgets then what is gone. */
void units_set_stored(Units *units, bool stored);

/* Put what is new into the policy's map and, when it is full, take out what has been gone for longest. */
int units_sync(Units *units, int params_fd);

/* Take what was gone by UNTIL_USEC out of the map. */
int units_expire(Units *units, int params_fd, uint64_t until_usec);

/* When the first cgroup of those still kept went, or UINT64_MAX. */
uint64_t units_first_gone(const Units *units);

/* The name of the unit whose cgroup ITEM is, or NULL for one inside of a unit. */
const char *unit_cgroup_name(const UnitCgroup *item);

/* The cgroup of UNIT when it is there and has parameters of its own, or NULL. */
const UnitCgroup *units_find(const Units *units, const char *unit);
