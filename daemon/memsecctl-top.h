/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdbool.h>

#include "memsecctl-client.h"

/* Shows the counters and how fast they grow: again each second until interrupted, or once with BATCH. */
ExitStatus top_run(sd_bus *bus, bool batch);
