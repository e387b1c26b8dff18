/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "sysfs.h"

#define SYSFS_DIR "/sys/kernel/memsec"

static int log_errno(int error, const char *path) {
        fprintf(stderr, "%s: %s\n", path, strerror(error));
        return -error;
}

static int open_file(const char *name, const char *mode, char path[static PATH_MAX], FILE **ret) {
        (void) snprintf(path, PATH_MAX, SYSFS_DIR "/%s", name);

        *ret = fopen(path, mode);
        return *ret ? 0 : log_errno(errno, path);
}

int sysfs_read(const char *name, uint64_t *ret) {
        char path[PATH_MAX];
        FILE *f;
        int r;

        r = open_file(name, "re", path, &f);
        if (r < 0)
                return r;

        r = fscanf(f, "%" SCNu64, ret) == 1 ? 0 : log_errno(EBADMSG, path);
        (void) fclose(f);
        return r;
}

int sysfs_write(const char *name, uint64_t value) {
        char path[PATH_MAX];
        FILE *f;
        int r;

        r = open_file(name, "we", path, &f);
        if (r < 0)
                return r;

        /* The kernel's answer comes when the buffer is written out. */
        (void) fprintf(f, "%" PRIu64 "\n", value);
        return fclose(f) == 0 ? 0 : log_errno(errno, path);
}
