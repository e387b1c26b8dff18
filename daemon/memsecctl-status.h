/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "memsecctl-show.h"

/* Asks memsecd for all that "status" shows. */
ExitStatus status_fetch(Status *status);

void status_done(Status *status);
