/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Memory under a KeyID, mapped. Functions that can fail return a negative errno and say nothing. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pages.h"

#define KEYID_DEVICE "/dev/memsec_keyid"

typedef struct Keyid {
        uint8_t *data;
        size_t n_pages;
        int fd;
} Keyid;

/* A file with a KeyID of its own. */
int keyid_open(void);

/* How many KeyIDs there are, and how many could be taken. Ends the test when there is no mechanism. */
uint64_t keyid_counter(const char *name);

int keyid_map_file(int fd, size_t n_pages, Keyid *ret);
int keyid_map(size_t n_pages, Keyid *ret);
void keyid_unmap(Keyid *keyid);

/* Its number, or a negative errno. */
int keyid_number(int fd);

/* Bytes of memory that it has. */
uint64_t keyid_bytes(int fd);

int keyid_discard(int fd, uint64_t offset, uint64_t length);

/* What hardware would have corrupted so far. */
uint64_t keyid_violations(void);

#define _keyid_cleanup_ __attribute__((cleanup(keyid_unmap)))
