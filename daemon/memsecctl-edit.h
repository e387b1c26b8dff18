/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdbool.h>

#include "memsecctl-client.h"

/*
 * Lets the user edit the policy file at PATH, which need not exist. It is replaced when the copy that was
 * edited is valid. *RET_CHANGED: whether it was.
 */
ExitStatus edit_file(const char *root, const char *path, bool *ret_changed);
