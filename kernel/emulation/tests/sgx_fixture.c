// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mm.h>
#include <linux/slab.h>

#include "sgx_fixture.h"

static void *alloc(struct kunit *test, size_t size)
{
	void *p = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

/**
 * sgx_test_init() - Set up a struct sgx_test in test->priv
 * @test: the test
 *
 * Context: Process context.
 * Return: 0.
 */
int sgx_test_init(struct kunit *test)
{
	struct sgx_test *t = alloc(test, sizeof(*t));
	unsigned int i;

	/* Powers of two from kmalloc are aligned to their size. */
	t->epc.base = alloc(test, SGX_TEST_PAGES * PAGE_SIZE);
	t->epc.nr_pages = SGX_TEST_PAGES;
	t->epc.epcm = alloc(test, SGX_TEST_PAGES * sizeof(*t->epc.epcm));

	t->secs = alloc(test, PAGE_SIZE);
	t->secs->size = SGX_TEST_SIZE;
	t->secs->base = SGX_TEST_BASE;
	t->secs->ssa_frame_size = 1;
	t->secs->attributes = SGX_ATTR_DEBUG | SGX_ATTR_MODE64BIT;
	t->secs->xfrm = SGX_MODEL_XFRM;

	t->contents = alloc(test, PAGE_SIZE);
	for (i = 0; i < PAGE_SIZE / sizeof(u64); i++)
		t->contents[i] = 1000 + i;

	t->pcmd = alloc(test, sizeof(*t->pcmd));

	t->sig = alloc(test, PAGE_SIZE);
	t->sig->header.header1[0] = 0x000000e100000006ULL;
	t->sig->header.header1[1] = 0x0000000000010000ULL;
	t->sig->header.header2[0] = 0x0000006000000101ULL;
	t->sig->header.header2[1] = 0x0000000100000060ULL;
	t->sig->exponent = 3;
	t->sig->body.attributes = SGX_ATTR_MODE64BIT;
	t->sig->body.attributes_mask = SGX_ATTR_MODE64BIT;
	t->sig->body.xfrm = SGX_MODEL_XFRM;
	t->sig->body.xfrm_mask = SGX_MODEL_XFRM;

	test->priv = t;
	return 0;
}

/**
 * sgx_test_page() - Address of an EPC page
 * @t: the test's data
 * @nr: number of the page
 *
 * Context: Any.
 * Return: its first byte.
 */
void *sgx_test_page(struct sgx_test *t, unsigned int nr)
{
	return t->epc.base + nr * PAGE_SIZE;
}

/**
 * sgx_test_token() - The launch token
 * @t: the test's data
 *
 * Context: Any.
 * Return: its first word, of which bit 0 says that the token is valid.
 */
u32 *sgx_test_token(struct sgx_test *t)
{
	return (void *)t->sig + PAGE_SIZE / 2;
}

static void set_pginfo(struct sgx_test *t, u64 addr, const void *contents,
		       const void *metadata, const void *secs)
{
	t->pginfo.addr = addr;
	t->pginfo.contents = (unsigned long)contents;
	t->pginfo.metadata = (unsigned long)metadata;
	t->pginfo.secs = (unsigned long)secs;
}

/**
 * sgx_test_ecreate() - Create the test's enclave
 * @t: the test's data
 * @addr: EPC page for the SECS
 *
 * Context: Any.
 * Return: see sgx_model_ecreate().
 */
int sgx_test_ecreate(struct sgx_test *t, void *addr)
{
	t->secinfo.flags = SGX_SECINFO_SECS;
	set_pginfo(t, 0, t->secs, &t->secinfo, NULL);
	return sgx_model_ecreate(&t->epc, &t->pginfo, addr);
}

/**
 * sgx_test_eadd() - Add a page to the enclave's first address
 * @t: the test's data
 * @secs: EPC page of the SECS
 * @addr: EPC page for the contents
 * @flags: SECINFO.FLAGS
 *
 * Context: Any.
 * Return: see sgx_model_eadd().
 */
int sgx_test_eadd(struct sgx_test *t, void *secs, void *addr, u64 flags)
{
	t->secinfo.flags = flags;
	set_pginfo(t, SGX_TEST_BASE, t->contents, &t->secinfo, secs);
	return sgx_model_eadd(&t->epc, &t->pginfo, addr);
}

/**
 * sgx_test_einit() - Initialize an enclave
 * @t: the test's data
 * @secs: EPC page of the SECS
 *
 * Context: Any.
 * Return: see sgx_model_einit().
 */
int sgx_test_einit(struct sgx_test *t, void *secs)
{
	return sgx_model_einit(&t->epc, t->sig, secs, sgx_test_token(t));
}

/**
 * sgx_test_eaug() - Add a page to an initialized enclave's second address
 * @t: the test's data
 * @secs: EPC page of the SECS
 * @addr: EPC page for the contents
 *
 * Context: Any.
 * Return: see sgx_model_eaug().
 */
int sgx_test_eaug(struct sgx_test *t, void *secs, void *addr)
{
	set_pginfo(t, SGX_TEST_BASE + PAGE_SIZE, NULL, NULL, secs);
	return sgx_model_eaug(&t->epc, &t->pginfo, addr);
}

/**
 * sgx_test_ewb() - Evict a page into the test's contents and PCMD
 * @t: the test's data
 * @addr: EPC page
 * @slot: where the version goes
 *
 * Context: Any.
 * Return: see sgx_model_ewb().
 */
int sgx_test_ewb(struct sgx_test *t, void *addr, u64 *slot)
{
	set_pginfo(t, 0, t->contents, t->pcmd, NULL);
	return sgx_model_ewb(&t->epc, &t->pginfo, addr, slot);
}

/**
 * sgx_test_eldu() - Load the page that sgx_test_ewb() evicted last
 * @t: the test's data
 * @secs: EPC page of the SECS
 * @addr: EPC page to load to
 * @slot: where the version is
 *
 * Context: Any.
 * Return: see sgx_model_eldu().
 */
int sgx_test_eldu(struct sgx_test *t, void *secs, void *addr, u64 *slot)
{
	set_pginfo(t, SGX_TEST_BASE, t->contents, t->pcmd, secs);
	return sgx_model_eldu(&t->epc, &t->pginfo, addr, slot);
}

/**
 * sgx_test_build() - Build the enclave that most tests begin with
 * @test: the test
 *
 * Context: Process context.
 */
void sgx_test_build(struct kunit *test)
{
	struct sgx_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, sgx_test_ecreate(t, sgx_test_page(t, 0)), 0);
	KUNIT_ASSERT_EQ(test, sgx_test_eadd(t, sgx_test_page(t, 0),
					    sgx_test_page(t, 1),
					    SGX_SECINFO_REG | SGX_SECINFO_R |
					    SGX_SECINFO_W), 0);
}
