/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdint.h>

#include "util.h"

/* What the running kernel says of memsec in /sys/kernel/memsec; ROOT is put before that path, or NULL. */

typedef enum KernelState {
        KERNEL_ABSENT,          /* a kernel without memsec */
        KERNEL_OFF,             /* memsec=off on the kernel's command line */
        KERNEL_DETACHED,
        KERNEL_ATTACHED,
        KERNEL_FUSED,
} KernelState;

/* KERNEL_ABSENT also when the state is none that memsecd knows. */
KernelState kernel_state(const char *root);

/* The version of the ABI, 0 when the kernel does not say. */
unsigned kernel_abi(const char *root);

/*
 * The name of the attached policy and the ids of its BPF programs, with blanks in between; "" when there is
 * none or it cannot be read. To be freed. 0 or -ENOMEM.
 */
int kernel_policy_name(const char *root, char **ret);
int kernel_policy_programs(const char *root, char **ret);

/* What a counter of a mechanism is now. A negative errno when it cannot be read. */
int kernel_counter_read(const char *root, const char *mechanism, const char *name, uint64_t *ret);

/*
 * The file that has how often a policy was asked by MECHANISM. Where it was read since, poll() says POLLPRI
 * for it when the kernel asks again.
 */
int kernel_asked_open(const char *root, const char *mechanism);
int kernel_asked_read(int fd, uint64_t *ret);

typedef struct KernelValue {
        char *name;             /* the file's */
        uint64_t value;
} KernelValue;

typedef struct KernelValues {
        KernelValue *items;
        size_t n_items;
} KernelValues;

void kernel_values_done(KernelValues *values);
#define _cleanup_kernel_values_ _cleanup_(kernel_values_done)

/*
 * All numbers in the directory of a mechanism, by name. Returns 0, also when there is no such directory, or
 * -ENOMEM.
 */
int kernel_values_read(const char *root, const char *mechanism, KernelValues *ret);
