// SPDX-License-Identifier: GPL-2.0-only

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cgroup.h"
#include "tap.h"

/* The id of a cgroup is the number of its directory's inode. */
uint64_t cgroup_own(void) {
        char line[PATH_MAX], path[PATH_MAX + 32];
        struct stat st;
        FILE *f;

        f = fopen("/proc/self/cgroup", "re");
        if (!f || !fgets(line, sizeof(line), f) || strncmp(line, "0::", 3) != 0)
                tap_bail_out("no cgroup of version 2");
        (void) fclose(f);

        line[strcspn(line, "\n")] = '\0';
        (void) snprintf(path, sizeof(path), "/sys/fs/cgroup%s", line + 3);
        if (stat(path, &st) < 0)
                tap_bail_out("no directory of the own cgroup");

        return st.st_ino;
}
