/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Who holds memory out of the direct map, and which files of memfd_secret(2) are open, as the kernel says in
 * /proc/memsec; and the processes that have these files, which it does not know.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "memsecctl-table.h"

/* What a cgroup holds, of one kind. */
typedef struct Account {
        Cgroup cgroup;
        char *kind;
        uint64_t now, most;     /* bytes */
        uint64_t owners;        /* files or guests, with pages or without */
} Account;

typedef struct Holder {
        pid_t pid;
        char *comm;             /* NULL when it was gone too soon */
} Holder;

typedef struct SecretFile {
        Cgroup cgroup;
        dev_t device;
        uint64_t inode;
        uint64_t now;           /* bytes */
        Holder *holders;        /* who have it open or mapped, by PID; there may be others */
        size_t n_holders;
} SecretFile;

typedef struct Owners {
        Account *accounts;      /* the largest first */
        size_t n_accounts;
        SecretFile *files;      /* the same */
        size_t n_files;
        bool any_file;          /* is open, of another unit maybe */
} Owners;

void owners_done(Owners *owners);

/* ROOT is put before /proc, or NULL. With UNIT, which may be a pattern, only what is in such units. */
ExitStatus owners_load(const char *root, const char *unit, Owners *ret);
