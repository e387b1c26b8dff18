/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small page cache of its own for each test, and operands that are right
 * until a test spoils one of them.
 */
#ifndef _MM_MEMSEC_EMULATION_SGX_FIXTURE_H
#define _MM_MEMSEC_EMULATION_SGX_FIXTURE_H

#include <kunit/test.h>

#include "../sgx_model.h"

#define SGX_TEST_PAGES	8

/* Where the test's enclave is; the model never dereferences it. */
#define SGX_TEST_BASE	0x100000000ULL
#define SGX_TEST_SIZE	(16 * PAGE_SIZE)

/**
 * struct sgx_test - what a test works on
 * @epc: page cache; no page is in use at first
 * @secs: source for ECREATE, a debug enclave
 * @contents: a page in normal memory
 * @pcmd: PCMD in normal memory
 * @sig: SIGSTRUCT that fits @secs, and 2 KiB behind it the EINITTOKEN
 * @secinfo: SECINFO in normal memory
 * @pginfo: PAGEINFO in normal memory
 */
struct sgx_test {
	struct sgx_epc epc;
	struct sgx_secs *secs;
	u64 *contents;
	struct sgx_pcmd *pcmd;
	struct sgx_sigstruct *sig;
	struct sgx_secinfo secinfo;
	struct sgx_pageinfo pginfo;
};

int sgx_test_init(struct kunit *test);

void *sgx_test_page(struct sgx_test *t, unsigned int nr);
u32 *sgx_test_token(struct sgx_test *t);

/* One leaf each with @t's operands; results as the model's. */
int sgx_test_ecreate(struct sgx_test *t, void *addr);
int sgx_test_eadd(struct sgx_test *t, void *secs, void *addr, u64 flags);
int sgx_test_einit(struct sgx_test *t, void *secs);
int sgx_test_eaug(struct sgx_test *t, void *secs, void *addr);
int sgx_test_ewb(struct sgx_test *t, void *addr, u64 *slot);
int sgx_test_eldu(struct sgx_test *t, void *secs, void *addr, u64 *slot);

/* Page 0 a SECS and page 1 a regular page of it, read-write, with contents. */
void sgx_test_build(struct kunit *test);

#endif /* _MM_MEMSEC_EMULATION_SGX_FIXTURE_H */
