/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "memsecctl-client.h"

/* Makes DIR, which may be there already, and puts the beginnings of a policy there. Overwrites no file. */
ExitStatus template_write(const char *dir);
