// SPDX-License-Identifier: GPL-2.0-only
/*
 * EAUG, EMODPR and EMODT.
 */
#include <linux/mm.h>
#include <linux/string.h>

#include "sgx_fixture.h"

#define PERM	(SGX_SECINFO_R | SGX_SECINFO_W | SGX_SECINFO_X)

/* The enclave of sgx_test_build(), initialized. */
static int sgx2_init(struct kunit *test)
{
	struct sgx_test *t;
	int ret;

	ret = sgx_test_init(test);
	if (ret)
		return ret;

	t = test->priv;
	sgx_test_build(test);
	KUNIT_ASSERT_EQ(test, sgx_test_einit(t, sgx_test_page(t, 0)), 0);
	return 0;
}

static int emodpr(struct sgx_test *t, unsigned int nr, u64 flags)
{
	t->secinfo.flags = flags;
	return sgx_model_emodpr(&t->epc, &t->secinfo, sgx_test_page(t, nr));
}

static int emodt(struct sgx_test *t, unsigned int nr, u64 flags)
{
	t->secinfo.flags = flags;
	return sgx_model_emodt(&t->epc, &t->secinfo, sgx_test_page(t, nr));
}

static void eaug_pending(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *page = sgx_test_page(t, 2);
	unsigned long data;

	memset(page, 0xff, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, sgx_test_eaug(t, sgx_test_page(t, 0), page), 0);
	KUNIT_EXPECT_EQ(test, t->epc.epcm[2].state,
			SGX_SECINFO_R | SGX_SECINFO_W | SGX_MODEL_PENDING);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(page, 0, PAGE_SIZE), NULL);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->epc.epcm[0].children), 2);

	/* Until the enclave accepts it, nothing can be done but remove it. */
	KUNIT_EXPECT_EQ(test, emodpr(t, 2, SGX_SECINFO_R),
			SGX_PAGE_NOT_MODIFIABLE);
	KUNIT_EXPECT_EQ(test, emodt(t, 2, SGX_SECINFO_TRIM),
			SGX_PAGE_NOT_MODIFIABLE);
	KUNIT_EXPECT_EQ(test, sgx_model_edbgrd(&t->epc, page, &data),
			SGX_PAGE_NOT_DEBUGGABLE);
	KUNIT_EXPECT_EQ(test, sgx_test_eaug(t, sgx_test_page(t, 0), page),
			SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_model_eremove(&t->epc, page), 0);
}

static void eaug_pending_survives_eviction(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *secs = sgx_test_page(t, 0), *page = sgx_test_page(t, 2);
	u64 *slot = sgx_test_page(t, 3);

	KUNIT_ASSERT_EQ(test, sgx_test_eaug(t, secs, page), 0);
	KUNIT_ASSERT_EQ(test, sgx_model_epa(&t->epc, SGX_PAGE_TYPE_VA, slot), 0);
	KUNIT_ASSERT_EQ(test, sgx_model_eblock(&t->epc, page), 0);
	KUNIT_ASSERT_EQ(test, sgx_model_etrack(&t->epc, secs), 0);
	KUNIT_ASSERT_EQ(test, sgx_test_ewb(t, page, slot), 0);

	t->pginfo.secs = (unsigned long)secs;
	KUNIT_ASSERT_EQ(test, sgx_model_eldu(&t->epc, &t->pginfo, page, slot), 0);
	KUNIT_EXPECT_EQ(test, t->epc.epcm[2].state,
			SGX_SECINFO_R | SGX_SECINFO_W | SGX_MODEL_PENDING);
}

static void eaug_operands(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *page = sgx_test_page(t, 2);

	KUNIT_EXPECT_EQ(test, sgx_test_eaug(t, sgx_test_page(t, 1), page),
			SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_test_eaug(t, sgx_test_page(t, 0), page + 8),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_test_eaug(t, sgx_test_page(t, 0), t->contents),
			SGX_MODEL_PF);

	t->pginfo.metadata = (unsigned long)&t->secinfo;
	KUNIT_EXPECT_EQ(test, sgx_model_eaug(&t->epc, &t->pginfo, page),
			SGX_MODEL_GP);
	t->pginfo.metadata = 0;
	t->pginfo.addr = SGX_TEST_BASE + SGX_TEST_SIZE;
	KUNIT_EXPECT_EQ(test, sgx_model_eaug(&t->epc, &t->pginfo, page),
			SGX_MODEL_GP);
	t->pginfo.addr = SGX_TEST_BASE - PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, sgx_model_eaug(&t->epc, &t->pginfo, page),
			SGX_MODEL_GP);

	/* An enclave that is not initialized takes no pages this way. */
	KUNIT_ASSERT_EQ(test, sgx_test_ecreate(t, sgx_test_page(t, 3)), 0);
	KUNIT_EXPECT_EQ(test, sgx_test_eaug(t, sgx_test_page(t, 3), page),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, emodt(t, 3, SGX_SECINFO_TRIM), SGX_MODEL_PF);
}

static void emodpr_restricts(struct kunit *test)
{
	struct sgx_test *t = test->priv;

	/* X was not there and does not come. */
	KUNIT_EXPECT_EQ(test, emodpr(t, 1, SGX_SECINFO_R | SGX_SECINFO_X), 0);
	KUNIT_EXPECT_EQ(test, t->epc.epcm[1].state,
			SGX_SECINFO_R | SGX_MODEL_PR);
	KUNIT_EXPECT_EQ(test, emodpr(t, 1, PERM), 0);
	KUNIT_EXPECT_EQ(test, t->epc.epcm[1].state,
			SGX_SECINFO_R | SGX_MODEL_PR);
}

static void emodpr_operands(struct kunit *test)
{
	struct sgx_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, emodpr(t, 1, SGX_SECINFO_W), SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, emodpr(t, 1, SGX_SECINFO_R | BIT(4)), SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, emodpr(t, 0, SGX_SECINFO_R), SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, emodpr(t, 2, SGX_SECINFO_R), SGX_MODEL_PF);

	KUNIT_ASSERT_TRUE(test, sgx_epcm_lock(&t->epc.epcm[1]));
	KUNIT_EXPECT_EQ(test, emodpr(t, 1, SGX_SECINFO_R), SGX_EPC_PAGE_CONFLICT);
	KUNIT_EXPECT_EQ(test, emodt(t, 1, SGX_SECINFO_TRIM), SGX_EPC_PAGE_CONFLICT);
	sgx_epcm_unlock(&t->epc.epcm[1]);
}

static void uninitialized(struct kunit *test)
{
	struct sgx_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, sgx_test_ecreate(t, sgx_test_page(t, 2)), 0);
	KUNIT_ASSERT_EQ(test, sgx_test_eadd(t, sgx_test_page(t, 2),
					    sgx_test_page(t, 3),
					    SGX_SECINFO_REG | SGX_SECINFO_R), 0);
	KUNIT_EXPECT_EQ(test, emodpr(t, 3, SGX_SECINFO_R), SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, emodt(t, 3, SGX_SECINFO_TRIM), SGX_MODEL_GP);
}

static void emodt_trim(struct kunit *test)
{
	struct sgx_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, emodt(t, 1, SGX_SECINFO_REG), SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, emodt(t, 1, SGX_SECINFO_TRIM), 0);
	KUNIT_EXPECT_EQ(test, t->epc.epcm[1].state, SGX_MODEL_MODIFIED);
	KUNIT_EXPECT_EQ(test, t->epc.epcm[1].type, SGX_PAGE_TYPE_TRIM);

	/* This is how the driver sees that the enclave did not accept yet. */
	KUNIT_EXPECT_EQ(test, emodpr(t, 1, PERM), SGX_PAGE_NOT_MODIFIABLE);
	/* And this is what it sees afterwards. */
	t->epc.epcm[1].state = 0;
	KUNIT_EXPECT_EQ(test, emodpr(t, 1, PERM), SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, emodt(t, 1, SGX_SECINFO_TRIM), SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_model_eremove(&t->epc, sgx_test_page(t, 1)), 0);
}

static void emodt_tcs(struct kunit *test)
{
	struct sgx_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, emodt(t, 1, SGX_SECINFO_TCS), 0);
	KUNIT_EXPECT_EQ(test, emodt(t, 1, SGX_SECINFO_TRIM),
			SGX_PAGE_NOT_MODIFIABLE);
	t->epc.epcm[1].state = 0;
	KUNIT_EXPECT_EQ(test, emodt(t, 1, SGX_SECINFO_TCS), SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, emodt(t, 1, SGX_SECINFO_TRIM), 0);
}

static struct kunit_case sgx2_cases[] = {
	KUNIT_CASE(eaug_pending),
	KUNIT_CASE(eaug_pending_survives_eviction),
	KUNIT_CASE(eaug_operands),
	KUNIT_CASE(emodpr_restricts),
	KUNIT_CASE(emodpr_operands),
	KUNIT_CASE(uninitialized),
	KUNIT_CASE(emodt_trim),
	KUNIT_CASE(emodt_tcs),
	{}
};

static struct kunit_suite sgx2_suite = {
	.name = "memsec_sgx2",
	.init = sgx2_init,
	.test_cases = sgx2_cases,
};

kunit_test_suite(sgx2_suite);

MODULE_DESCRIPTION("KUnit tests of the ENCLS leaves of SGX2");
MODULE_LICENSE("GPL");
