/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Tables of the kernel in /proc/memsec: a line that names the columns, and then a line an item, with blanks
 * between columns. The last column may be the path of a cgroup, with blanks in it. What fails says so on
 * stderr.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "memsecctl-client.h"

/* Texts are printable ASCII, whatever others chose for a name. */
typedef struct Cgroup {
        char *path;
        uint64_t id;
        bool deleted;
} Cgroup;

typedef struct Table {
        const char *name;       /* of the file */
        const char *header;     /* its first line */
        const char *mechanism;  /* whose it is */
        const char *what;       /* it says, that only root may see */
        const char *lacking;    /* what a machine with the mechanism, but without the file, lacks, or NULL */
        int (*parse)(const char *line, void *userdata); /* -EINVAL for what is no such line, or -ENOMEM */
} Table;

/* ROOT is put before /proc, or NULL. Hands each line to the table's parse(). */
ExitStatus table_read(const char *root, const Table *table, void *userdata);

/* Reads a line without its newline. Returns false at the end or on an error. */
bool table_read_line(FILE *f, char **line, size_t *size);

/* Takes the path apart that TEXT ends with, a whole line's rest. -EINVAL or -ENOMEM. */
int table_parse_cgroup(const char *text, uint64_t id, Cgroup *ret);
void table_cgroup_done(Cgroup *cgroup);

/* Adds room for one more item, zeroed, and returns it, or NULL. */
void *table_append(void **items, size_t *n_items, size_t size);

void table_make_printable(char *text);
ExitStatus table_out_of_memory(void);
