/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The files of the SGX model, for tests. */

#include "sysfs.h"
#include "tap.h"

/* The number in /sys/kernel/memsec/emulation/sgx/NAME. */
__attribute__((unused)) static uint64_t epc_number(const char *name) {
        char path[64];
        uint64_t value;

        (void) snprintf(path, sizeof(path), "emulation/sgx/%s", name);
        if (sysfs_read(path, &value) < 0)
                tap_bail_out("the kernel has no SGX model, or it is off");

        return value;
}

/* The reclaimer and the end of a process may still have to give pages back, so it waits for them. */
__attribute__((unused)) static bool epc_is_free(uint64_t used_before) {
        int r;

        r = sysfs_wait("emulation/sgx/epc_used", used_before);
        return tap_is_errno(r, 0, "every EPC page is free again");
}
