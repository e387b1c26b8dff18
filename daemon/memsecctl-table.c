// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memsecctl-table.h"
#include "util.h"

/* What the kernel puts behind the path of a cgroup that is gone. */
#define DELETED " (deleted)"

ExitStatus table_out_of_memory(void) {
        fprintf(stderr, "Out of memory\n");
        return STATUS_FAILED;
}

void table_cgroup_done(Cgroup *cgroup) {
        free(cgroup->path);
}

void table_make_printable(char *text) {
        for (; *text; text++)
                if (*text < ' ' || *text > '~')
                        *text = '?';
}

void *table_append(void **items, size_t *n_items, size_t size) {
        char *longer;

        longer = reallocarray(*items, *n_items + 1, size);
        if (!longer)
                return NULL;

        *items = longer;
        return memset(longer + (*n_items)++ * size, 0, size);
}

int table_parse_cgroup(const char *text, uint64_t id, Cgroup *ret) {
        const char *end = endswith(text, DELETED) ?: text + strlen(text);

        if (*text != '/')
                return -EINVAL;

        *ret = (Cgroup) { .path = strndup(text, end - text), .id = id, .deleted = *end };
        if (!ret->path)
                return -ENOMEM;

        table_make_printable(ret->path);
        return 0;
}

/* Says why there is nothing to be read at PATH. */
static ExitStatus table_failed(const char *root, const Table *table, const char *path) {
        _cleanup_free_ char *mechanism = NULL;
        int error = errno;

        if (asprintf(&mechanism, "%s/sys/kernel/memsec/%s", root ?: "", table->mechanism) < 0) {
                mechanism = NULL;
                return table_out_of_memory();
        }

        if (error == EACCES || error == EPERM)
                fprintf(stderr, "%s: only root may see %s.\n", path, table->what);
        else if (error != ENOENT)
                fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(error));
        else if (access(mechanism, F_OK) >= 0 && table->lacking)
                fprintf(stderr, "%s: this machine has no %s.\n", path, table->lacking);
        else if (access(mechanism, F_OK) >= 0)
                fprintf(stderr, "%s: missing, though memsec of this kernel has the mechanism '%s'.\n", path,
                        table->mechanism);
        else {
                *strrchr(mechanism, '/') = '\0';
                if (access(mechanism, F_OK) < 0)
                        fprintf(stderr, "%s: the kernel has no memsec.\n", path);
                else
                        fprintf(stderr, "%s: memsec of this kernel has no mechanism '%s'.\n", path,
                                table->mechanism);
        }

        return STATUS_FAILED;
}

bool table_read_line(FILE *f, char **line, size_t *size) {
        ssize_t n = getline(line, size, f);

        if (n > 0 && (*line)[n - 1] == '\n')
                (*line)[n - 1] = '\0';

        return n >= 0;
}

ExitStatus table_read(const char *root, const Table *table, void *userdata) {
        _cleanup_free_ char *path = NULL, *line = NULL;
        _cleanup_fclose_ FILE *f = NULL;
        size_t size = 0;
        unsigned n;
        int r;

        if (asprintf(&path, "%s/proc/memsec/%s", root ?: "", table->name) < 0) {
                path = NULL;
                return table_out_of_memory();
        }

        f = fopen(path, "re");
        if (!f)
                return table_failed(root, table, path);

        for (n = 1; table_read_line(f, &line, &size); n++) {
                r = n > 1 ? table->parse(line, userdata) : streq(line, table->header) ? 0 : -EINVAL;
                if (r == -ENOMEM)
                        return table_out_of_memory();
                if (r < 0) {
                        table_make_printable(line);
                        fprintf(stderr, "%s:%u: expected '%s', found '%s'\n", path, n, table->header, line);
                        return STATUS_FAILED;
                }
        }

        if (ferror(f))
                return table_failed(root, table, path);
        if (n == 1) {
                fprintf(stderr, "%s: expected '%s', found nothing\n", path, table->header);
                return STATUS_FAILED;
        }

        return STATUS_OK;
}
