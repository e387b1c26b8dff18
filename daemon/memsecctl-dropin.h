/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The drop-in in which "memsecctl persist" keeps what was set live. */

#include "memsecctl-show.h"

/*
 * Writes SETTINGS, of UNIT or of everyone (NULL), into the drop-in below ROOT, and says so. What it holds of
 * other keys stays. FILES are those in force; one that is read after the drop-in must not set the same keys.
 */
ExitStatus dropin_persist(const char *root, const char *unit, const Setting *settings, size_t n_settings,
                          char *const *files);
