/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Virtual EPC through /dev/sgx_vepc: EPC pages as a guest would get them, which the reclaimer cannot take.
 * Tests use it to leave little EPC for enclaves, so that small and quick ones have to share.
 */

#include <stddef.h>

typedef struct Vepc Vepc;

/* Open and map N_PAGES pages, each of which is allocated when it is touched. Says on stderr what failed. */
int vepc_new(size_t n_pages, Vepc **ret);

/* Unmap and close: the driver frees the pages. NULL is fine. */
Vepc *vepc_free(Vepc *v);

/* Touch N pages from page FIRST. -ENOMEM when there is no EPC left for one of them. */
int vepc_touch(Vepc *v, size_t first, size_t n);

void *vepc_base(const Vepc *v);
int vepc_fd(const Vepc *v);

/* Take all EPC but LEAVE pages, of an EPC that nothing else uses. */
int vepc_leave(size_t leave, Vepc **ret);

static inline void vepc_freep(Vepc **v) {
        vepc_free(*v);
}

#define _vepc_cleanup_ __attribute__((cleanup(vepc_freep)))
