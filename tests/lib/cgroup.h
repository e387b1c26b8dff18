/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdint.h>

/* The id of the test's own cgroup. Ends the test when that cannot be told. */
uint64_t cgroup_own(void);
