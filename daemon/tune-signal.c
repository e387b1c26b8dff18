// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>
#include <sys/stat.h>

#include "kernel.h"
#include "tune-signal.h"
#include "util.h"

#define CGROUP_DIR "/sys/fs/cgroup"

static bool is_slice(const char *path) {
        const char *unit = *path ? cgroup_path_unit(path) : "-.slice";

        return unit && endswith(unit, ".slice");
}

/*
 * Looks for the cgroup of UNIT in that at PATH and in all slices below. Returns 1 and *ret, 0 when it is not
 * there, or a negative errno.
 */
static int find_below(const char *top, const char *path, const char *unit, char **ret) {
        _cleanup_closedir_ DIR *dir = NULL;
        _cleanup_free_ char *full = NULL;
        const struct dirent *entry;
        int r;

        if (asprintf(&full, "%s%s", top, path) < 0) {
                full = NULL;
                return -ENOMEM;
        }

        dir = opendir(full);
        if (!dir)
                return errno == ENOENT ? 0 : -errno;

        while ((entry = readdir(dir))) {
                _cleanup_free_ char *below = NULL;
                const char *name;

                if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
                        continue;
                if (asprintf(&below, "%s/%s", path, entry->d_name) < 0) {
                        below = NULL;
                        return -ENOMEM;
                }

                name = cgroup_path_unit(below);
                if (name && streq(name, unit)) {
                        *ret = TAKE_PTR(below);
                        return 1;
                }

                r = is_slice(below) ? find_below(top, below, unit, ret) : 0;
                if (r != 0)
                        return r;
        }

        return 0;
}

/* The cgroup of the loop's unit, in the file system. */
static int find_cgroup(const char *root, const TuneLoop *loop, char **ret) {
        _cleanup_free_ char *top = NULL, *path = NULL;
        int r = 1;

        if (asprintf(&top, "%s" CGROUP_DIR, root ?: "") < 0) {
                top = NULL;
                return -ENOMEM;
        }

        /* /proc/pressure has the same as the root, but memsecd may see processes only in /proc. */
        if (loop->source && !streq(loop->source, "-.slice"))
                r = find_below(top, "", loop->source, &path);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;

        return asprintf(ret, "%s%s", top, path ?: "") < 0 ? (*ret = NULL, -ENOMEM) : 0;
}

/* The total of the line that begins with SHARE. */
static int read_total(const char *file, const char *share, uint64_t *ret) {
        _cleanup_fclose_ FILE *f = fopen(file, "re");
        char line[256];

        if (!f)
                return -errno;

        while (fgets(line, sizeof(line), f)) {
                const char *total = strstr(line, " total=");

                if (startswith(line, share) && total && sscanf(total, " total=%" SCNu64, ret) == 1)
                        return 0;
        }

        /* Pressure stall information can be turned off. */
        return ferror(f) ? -EOPNOTSUPP : -ENODATA;
}

static int read_pressure(const TuneLoop *loop, const char *cgroup, uint64_t *ret) {
        _cleanup_free_ char *file = NULL;

        if (asprintf(&file, "%s/%s.pressure", cgroup, tune_resources[loop->resource]) < 0) {
                file = NULL;
                return -ENOMEM;
        }

        return read_total(file, loop->full ? "full " : "some ", ret);
}

static int read_counter(const char *root, const TuneLoop *loop, uint64_t *ret) {
        const char *dot = strchr(loop->counter, '.');
        _cleanup_free_ char *mechanism = strndup(loop->counter, dot - loop->counter);

        return mechanism ? kernel_counter_read(root, mechanism, dot + 1, ret) : -ENOMEM;
}

int tune_signal_read(const char *root, const TuneLoop *loop, char **cgroup, uint64_t *ret) {
        int r;

        if (loop->counter)
                return read_counter(root, loop, ret);

        if (!*cgroup) {
                r = find_cgroup(root, loop, cgroup);
                if (r < 0)
                        return r;
        }

        r = read_pressure(loop, *cgroup, ret);
        if (r == -ENODEV)
                r = -ENOENT;

        /* The unit may be somewhere else the next time. */
        if (r < 0) {
                free(*cgroup);
                *cgroup = NULL;
        }

        return r;
}

double tune_signal_rate(const TuneLoop *loop, uint64_t growth, uint64_t usec) {
        return (loop->counter ? 1000000.0 : 100.0) * growth / usec;
}
