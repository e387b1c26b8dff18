/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Files of memfd_secret(2), mapped. Functions that can fail return a negative errno and say nothing. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECRETMEM_PAGE_SIZE UINT64_C(4096)

typedef struct Secret {
        uint8_t *data;
        size_t n_pages;
        int fd;
} Secret;

/* Lets this process and its children have as many of its pages as there are. */
int secretmem_allow(void);

int secretmem_map(size_t n_pages, Secret *ret);
void secretmem_unmap(Secret *secret);

/* Every page has contents of its own. */
void secretmem_fill(Secret *secret);
bool secretmem_is_intact(const Secret *secret);

#define _secretmem_cleanup_ __attribute__((cleanup(secretmem_unmap)))
