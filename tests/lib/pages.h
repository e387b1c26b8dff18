/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Pages that have contents of their own each. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGES_SIZE UINT64_C(4096)

void pages_fill(uint8_t *data, size_t n_pages);
bool pages_are_intact(const uint8_t *data, size_t n_pages);
bool pages_are_zero(const uint8_t *data, size_t n_pages);
