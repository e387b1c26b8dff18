/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The policy files as memsecctl reads and writes them.
 *
 * As in memsecctl-client.h, every function says on stderr what went wrong.
 */

#include "memsecctl-client.h"
#include "util.h"

DEFINE_TRIVIAL_CLEANUP_FUNC(PolicyModel *, policy_model_free)

/* What all files below ROOT (NULL: "/") say, and which they are. Errors are shown, all of them. */
ExitStatus files_load(const char *root, PolicyModel **ret, char ***ret_files);

/*
 * A model for one file to be read over, which may be a drop-in: the files below ROOT say which policy it may
 * have something to say about.
 */
ExitStatus files_model_for_one(const char *root, PolicyModel **ret);

/* The path of /etc/memsec/policy.yaml, or of the drop-in of that name, below ROOT. */
ExitStatus file_path(const char *root, const char *dropin, char **ret);

/* The text of the file at PATH, which must not be a link. *ret is NULL when there is no such file. */
ExitStatus file_read(const char *path, char **ret);

/* A file that is to take the place of another. It is beside that one, under a name that memsecd ignores. */
typedef struct NewFile {
        char *target;
        char *temporary;        /* NULL once it has taken the place */
} NewFile;

/* Makes one with TEXT in it. */
ExitStatus new_file_write(const char *target, const char *text, NewFile *ret);

/* Puts it in place, readable for everybody, so that a crash leaves either the old file or the new one. */
ExitStatus new_file_commit(NewFile *file);

/* Removes it if it is not in place. */
void new_file_done(NewFile *file);
#define _cleanup_new_file_ _cleanup_(new_file_done)
