// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"

#define SYSFS_DIR "/sys/kernel/memsec"

#define WAIT_STEP_USEC (10 * 1000)
#define WAIT_STEPS (60 * 100)

static int fail(int r, const char *name) {
        fprintf(stderr, "%s/%s: %s\n", SYSFS_DIR, name, strerror(-r));
        return r;
}

static int open_file(const char *name, const char *mode, FILE **ret) {
        char path[PATH_MAX];

        (void) snprintf(path, sizeof(path), "%s/%s", SYSFS_DIR, name);

        *ret = fopen(path, mode);
        return *ret ? 0 : fail(-errno, name);
}

int sysfs_read(const char *name, uint64_t *ret) {
        FILE *f;
        int n, r;

        r = open_file(name, "re", &f);
        if (r < 0)
                return r;

        n = fscanf(f, "%" SCNu64, ret);
        (void) fclose(f);
        return n == 1 ? 0 : fail(-EBADMSG, name);
}

int sysfs_write(const char *name, uint64_t value) {
        FILE *f;
        int r;

        r = open_file(name, "we", &f);
        if (r < 0)
                return r;

        /* The kernel's answer comes when the buffer is written out. */
        (void) fprintf(f, "%" PRIu64 "\n", value);
        return fclose(f) == 0 ? 0 : fail(-errno, name);
}

int sysfs_read_text(const char *name, char *buffer, size_t size) {
        char *line;
        FILE *f;
        int r;

        r = open_file(name, "re", &f);
        if (r < 0)
                return r;

        line = fgets(buffer, size, f);
        (void) fclose(f);
        if (!line)
                return fail(-EBADMSG, name);

        line[strcspn(line, "\n")] = '\0';
        return 0;
}

int sysfs_wait(const char *name, uint64_t expected) {
        for (unsigned i = 0; i < WAIT_STEPS; i++) {
                uint64_t value;
                int r;

                r = sysfs_read(name, &value);
                if (r < 0)
                        return r;
                if (value == expected)
                        return 0;

                (void) usleep(WAIT_STEP_USEC);
        }

        return -ETIMEDOUT;
}
