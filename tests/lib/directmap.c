// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <unistd.h>

#include "directmap.h"
#include "sysfs.h"
#include "tap.h"

uint64_t directmap_counter(const char *name) {
        char path[64];
        uint64_t value;

        (void) snprintf(path, sizeof(path), "directmap/%s", name);
        if (sysfs_read(path, &value) < 0)
                tap_bail_out("no counters");

        return value;
}

void directmap_wait_until_stays(const char *name) {
        uint64_t value;

        do {
                value = directmap_counter(name);
                (void) usleep(200000);
        } while (directmap_counter(name) != value);
}

void directmap_set_params(Policy *p, const struct memsec_directmap_params *directmap) {
        const struct memsec_params params = {
                .teardown = {
                        .batch = MEMSEC_TEARDOWN_DEFAULT_BATCH,
                        .max_hold_ns = MEMSEC_TEARDOWN_DEFAULT_MAX_HOLD_NS,
                },
                .directmap = *directmap,
        };

        if (policy_set_params(p, MEMSEC_EVERYONE, &params) < 0)
                tap_bail_out("cannot set parameters");
}

void directmap_set(Policy *p, uint64_t ahead, uint64_t collapse_after_ns) {
        directmap_set_params(p, &(struct memsec_directmap_params) {
                                        .ahead = ahead,
                                        .collapse_after_ns = collapse_after_ns,
                                });
}

void directmap_put_back(Policy *p) {
        directmap_set(p, 0, 0);
        if (sysfs_wait("directmap/unused_ranges", 0) < 0)
                tap_bail_out("the mapping is not put back together");

        directmap_wait_until_stays("collapses");
}
