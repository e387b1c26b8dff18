/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Enclaves for tests, benchmarks and the demo, through /dev/sgx_enclave.
 *
 * Over the modelled EPC nothing enters an enclave: its pages are read and written with plain loads and
 * stores through the mapping, which exercises the driver's fault, reclaim and reload paths. On SGX hardware
 * such accesses read as all ones, so enclave_check() works on the model only.
 *
 * All functions that can fail return a negative errno and say on stderr what failed.
 */

#include <stddef.h>
#include <stdint.h>

typedef struct Enclave Enclave;

/* EPC page types of enclave_set_type(). */
typedef enum EnclavePageType {
        ENCLAVE_PAGE_TCS = 1,
        ENCLAVE_PAGE_TRIM = 4,
} EnclavePageType;

/*
 * Open the device, reserve address space for N_PAGES pages (rounded up to a power of two) and create a debug
 * enclave there (ECREATE). It has no pages yet.
 */
int enclave_new(size_t n_pages, Enclave **ret);

/* Unmap and close. The driver tears it down unless another process has it open or mapped. NULL is fine. */
Enclave *enclave_free(Enclave *e);

/*
 * Add N pages beginning with page FIRST, readable and writable, filled with the pattern of SEED (EADD).
 * Only before enclave_init().
 */
int enclave_add(Enclave *e, size_t first, size_t n, uint64_t seed);

/* The same with the contents at SRC, N pages long, and measured (EEXTEND). */
int enclave_add_measured(Enclave *e, size_t first, size_t n, const void *src);

/* Initialize the enclave (EINIT). */
int enclave_init(Enclave *e);

/* Map the whole range readable and writable. Done by enclave_build(); pages are faulted in on access. */
int enclave_map(Enclave *e);

/* enclave_new(), N_PAGES pages added with SEED, enclave_init(), enclave_map(). */
int enclave_build(size_t n_pages, uint64_t seed, Enclave **ret);

void *enclave_base(const Enclave *e);
int enclave_fd(const Enclave *e);

/* Pages of the reserved range: n_pages of enclave_new() rounded up to a power of two. */
size_t enclave_range_pages(const Enclave *e);

/* Read one word of each of N pages from page FIRST, which loads evicted pages back. Needs enclave_map(). */
void enclave_touch(const Enclave *e, size_t first, size_t n);

/* Write the pattern of SEED to N pages from page FIRST. Needs enclave_map(). */
void enclave_fill(Enclave *e, size_t first, size_t n, uint64_t seed);

/*
 * Compare every word of N pages from page FIRST with the pattern of SEED: 0, or -EBADMSG and the first
 * difference on stderr. Needs enclave_map().
 */
int enclave_check(const Enclave *e, size_t first, size_t n, uint64_t seed);

/* Take EPCM permissions away (EMODPR): PROT_READ and so on are what stays. After enclave_init(). */
int enclave_restrict(Enclave *e, size_t first, size_t n, int prot);

/* Change the EPCM page type (EMODT). After enclave_init(). */
int enclave_set_type(Enclave *e, size_t first, size_t n, EnclavePageType type);

/*
 * Remove trimmed pages (EREMOVE). The driver takes only pages whose trimming the enclave has accepted from
 * inside (EACCEPT): -EPERM for others.
 */
int enclave_remove(Enclave *e, size_t first, size_t n);

static inline void enclave_freep(Enclave **e) {
        enclave_free(*e);
}

#define _enclave_cleanup_ __attribute__((cleanup(enclave_freep)))
