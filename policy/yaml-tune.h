/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What a file says below "tune". */

#include "yaml-event.h"

/* EVENT begins the loop of SPEC; it becomes that of the model. */
int read_tuning(Reader *reader, const KeySpec *spec, const yaml_event_t *event);

/*
 * The same for a tunable at PATH that is not known yet, and so is the range. Returns 1 and *ret, 0 after a
 * complaint, or a negative errno.
 */
int read_loop(Reader *reader, const char *path, const yaml_event_t *event, TuneLoop **ret);

DEFINE_TRIVIAL_CLEANUP_FUNC(TuneLoop *, tune_loop_free)
