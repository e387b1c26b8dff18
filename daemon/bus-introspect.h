/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Write to stdout how the object at PATH introspects, as it would on a bus; needs none. */
int bus_introspect(const char *path);
