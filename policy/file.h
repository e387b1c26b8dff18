/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Files that decide what the kernel does: policy files, and objects of policies. */

#include <stddef.h>
#include <sys/stat.h>

/* Opens NAME in the directory DIR_FD for reading, and waits for nothing. FLAGS are more of open()'s. */
int file_open(int dir_fd, const char *name, int flags);

/*
 * Is it a regular file that belongs to root or to the caller, and that no one else may write? Returns 0 and
 * *ret, or a negative errno; *ret_error, to be freed, then says what was expected if it was another file.
 */
int file_check(int fd, struct stat *ret, char **ret_error);

/* The same of a directory, in which another could take the file's place. */
int directory_check(int fd, char **ret_error);

/* The file from here on, up to MAX bytes. To be freed. */
int file_read_up_to(int fd, size_t max, char **ret, size_t *ret_size);
