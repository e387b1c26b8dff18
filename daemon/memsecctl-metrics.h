/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "memsecctl-show.h"

/*
 * Prints everything as OpenMetrics text. The reader of node_exporter's textfile collector takes it as well:
 * no types are used but those that Prometheus had before OpenMetrics.
 */
void show_metrics(const Status *status);
