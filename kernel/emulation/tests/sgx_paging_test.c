// SPDX-License-Identifier: GPL-2.0-only
/*
 * EPA, EBLOCK, ETRACK, EWB and ELDU.
 */
#include <linux/string.h>

#include "sgx_fixture.h"

/* The enclave of sgx_test_build(), and page 2 a version array. */
static int paging_test_init(struct kunit *test)
{
	struct sgx_test *t;
	int ret;

	ret = sgx_test_init(test);
	if (ret)
		return ret;

	t = test->priv;
	sgx_test_build(test);
	KUNIT_ASSERT_EQ(test, sgx_model_epa(&t->epc, SGX_PAGE_TYPE_VA,
					    sgx_test_page(t, 2)), 0);
	return 0;
}

/* Page 1 goes to t->contents, its version to the first slot. */
static void evict(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *page = sgx_test_page(t, 1);

	KUNIT_ASSERT_EQ(test, sgx_model_eblock(&t->epc, page), 0);
	KUNIT_ASSERT_EQ(test, sgx_model_etrack(&t->epc, sgx_test_page(t, 0)), 0);
	KUNIT_ASSERT_EQ(test, sgx_test_ewb(t, page, sgx_test_page(t, 2)), 0);
}

static void epa(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	u64 *page = sgx_test_page(t, 3);

	KUNIT_EXPECT_EQ(test, sgx_model_epa(&t->epc, SGX_PAGE_TYPE_REG, page),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_model_epa(&t->epc, SGX_PAGE_TYPE_VA, page + 1),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_model_epa(&t->epc, SGX_PAGE_TYPE_VA, t->contents),
			SGX_MODEL_PF);
	page[511] = 1;
	KUNIT_EXPECT_EQ(test, sgx_model_epa(&t->epc, SGX_PAGE_TYPE_VA, page), 0);
	KUNIT_EXPECT_EQ(test, page[511], 0);
	KUNIT_EXPECT_EQ(test, sgx_model_epa(&t->epc, SGX_PAGE_TYPE_VA, page),
			SGX_MODEL_PF);
}

static void eblock(struct kunit *test)
{
	struct sgx_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, sgx_model_eblock(&t->epc, sgx_test_page(t, 1)), 0);
	KUNIT_EXPECT_EQ(test, sgx_model_eblock(&t->epc, sgx_test_page(t, 1)),
			SGX_BLKSTATE);
	KUNIT_EXPECT_EQ(test, sgx_model_eblock(&t->epc, sgx_test_page(t, 0)),
			SGX_PG_IS_SECS);
	KUNIT_EXPECT_EQ(test, sgx_model_eblock(&t->epc, sgx_test_page(t, 2)),
			SGX_NOTBLOCKABLE);
	KUNIT_EXPECT_EQ(test, sgx_model_eblock(&t->epc, sgx_test_page(t, 3)),
			SGX_PG_INVLD);
	KUNIT_EXPECT_EQ(test, sgx_model_eblock(&t->epc, t->contents),
			SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_model_eblock(&t->epc, sgx_test_page(t, 1) + 1),
			SGX_MODEL_GP);

	KUNIT_ASSERT_TRUE(test, sgx_epcm_lock(&t->epc.epcm[1]));
	KUNIT_EXPECT_EQ(test, sgx_model_eblock(&t->epc, sgx_test_page(t, 1)),
			SGX_EPC_PAGE_CONFLICT);
	sgx_epcm_unlock(&t->epc.epcm[1]);
}

static void etrack(struct kunit *test)
{
	struct sgx_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, sgx_model_etrack(&t->epc, sgx_test_page(t, 0)), 0);
	KUNIT_EXPECT_EQ(test, sgx_model_etrack(&t->epc, sgx_test_page(t, 0)), 0);
	KUNIT_EXPECT_EQ(test, sgx_model_etrack(&t->epc, sgx_test_page(t, 1)),
			SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_model_etrack(&t->epc, sgx_test_page(t, 3)),
			SGX_MODEL_PF);
}

static void ewb_order(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *secs = sgx_test_page(t, 0), *page = sgx_test_page(t, 1);
	u64 *slot = sgx_test_page(t, 2);

	KUNIT_EXPECT_EQ(test, sgx_test_ewb(t, page, slot), SGX_PAGE_NOT_BLOCKED);

	/* An ETRACK from before the block does not count. */
	KUNIT_ASSERT_EQ(test, sgx_model_etrack(&t->epc, secs), 0);
	KUNIT_ASSERT_EQ(test, sgx_model_eblock(&t->epc, page), 0);
	KUNIT_EXPECT_EQ(test, sgx_test_ewb(t, page, slot), SGX_NOT_TRACKED);
	KUNIT_EXPECT_EQ(test, *slot, 0);
	KUNIT_EXPECT_TRUE(test, t->epc.epcm[1].valid);

	KUNIT_ASSERT_EQ(test, sgx_model_etrack(&t->epc, secs), 0);
	KUNIT_EXPECT_EQ(test, sgx_test_ewb(t, page, slot), 0);
	KUNIT_EXPECT_NE(test, *slot, 0);
	KUNIT_EXPECT_EQ(test, t->pginfo.addr, SGX_TEST_BASE);
	KUNIT_EXPECT_FALSE(test, t->epc.epcm[1].valid);
	KUNIT_EXPECT_EQ(test, *(u64 *)page, SGX_MODEL_POISON);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->epc.epcm[0].children), 0);
	KUNIT_EXPECT_EQ(test, sgx_test_ewb(t, page, slot + 1), SGX_MODEL_PF);
}

static void ewb_operands(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *secs = sgx_test_page(t, 0), *page = sgx_test_page(t, 1);
	u64 *slot = sgx_test_page(t, 2);

	KUNIT_ASSERT_EQ(test, sgx_model_eblock(&t->epc, page), 0);
	KUNIT_ASSERT_EQ(test, sgx_model_etrack(&t->epc, secs), 0);

	KUNIT_EXPECT_EQ(test, sgx_test_ewb(t, page, (void *)slot + 4),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_test_ewb(t, page, page), SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_test_ewb(t, page, secs), SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_test_ewb(t, page, t->contents), SGX_MODEL_PF);
	t->pginfo.addr = SGX_TEST_BASE;
	KUNIT_EXPECT_EQ(test, sgx_model_ewb(&t->epc, &t->pginfo, page, slot),
			SGX_MODEL_GP);

	KUNIT_ASSERT_TRUE(test, sgx_epcm_lock(&t->epc.epcm[2]));
	KUNIT_EXPECT_EQ(test, sgx_test_ewb(t, page, slot), SGX_MODEL_GP);
	sgx_epcm_unlock(&t->epc.epcm[2]);
	KUNIT_EXPECT_TRUE(test, t->epc.epcm[1].valid);
}

static void ewb_slot_occupied(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	u64 *slot = sgx_test_page(t, 2);

	*slot = 77;
	KUNIT_ASSERT_EQ(test, sgx_model_eblock(&t->epc, sgx_test_page(t, 1)), 0);
	KUNIT_ASSERT_EQ(test, sgx_model_etrack(&t->epc, sgx_test_page(t, 0)), 0);
	KUNIT_EXPECT_EQ(test, sgx_test_ewb(t, sgx_test_page(t, 1), slot),
			SGX_VA_SLOT_OCCUPIED);
	KUNIT_EXPECT_NE(test, *slot, 77);
	KUNIT_EXPECT_FALSE(test, t->epc.epcm[1].valid);
}

static void ewb_secs(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	union sgx_model_secs *secs = sgx_test_page(t, 0);
	u64 *slot = sgx_test_page(t, 2);
	u64 eid = secs->words[SGX_MODEL_EID];

	KUNIT_EXPECT_EQ(test, sgx_test_ewb(t, secs, slot), SGX_CHILD_PRESENT);
	KUNIT_ASSERT_EQ(test, sgx_model_eremove(&t->epc, sgx_test_page(t, 1)), 0);
	/* A SECS needs neither block nor track, nobody has translations of it. */
	KUNIT_EXPECT_EQ(test, sgx_test_ewb(t, secs, slot), 0);
	KUNIT_EXPECT_EQ(test, t->pcmd->enclave_id, eid);

	t->pginfo.secs = 0;
	KUNIT_EXPECT_EQ(test, sgx_model_eldu(&t->epc, &t->pginfo,
					     sgx_test_page(t, 4), slot), 0);
	secs = sgx_test_page(t, 4);
	KUNIT_EXPECT_EQ(test, secs->words[SGX_MODEL_EID], eid);
	KUNIT_EXPECT_EQ(test, secs->arch.base, SGX_TEST_BASE);
	KUNIT_EXPECT_TRUE(test, sgx_epcm_is(&t->epc.epcm[4], SGX_PAGE_TYPE_SECS));
}

static void eldu_restores(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *secs = sgx_test_page(t, 0), *page = sgx_test_page(t, 3);
	u64 *slot = sgx_test_page(t, 2), *plain;
	struct sgx_epcm *entry = &t->epc.epcm[3];

	plain = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, plain);
	memcpy(plain, t->contents, PAGE_SIZE);

	evict(test);
	KUNIT_EXPECT_MEMNEQ(test, t->contents, plain, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, sgx_test_eldu(t, secs, page, slot), 0);
	KUNIT_EXPECT_MEMEQ(test, page, plain, PAGE_SIZE);

	KUNIT_EXPECT_TRUE(test, sgx_epcm_is(entry, SGX_PAGE_TYPE_REG));
	KUNIT_EXPECT_EQ(test, entry->state, SGX_SECINFO_R | SGX_SECINFO_W);
	KUNIT_EXPECT_EQ(test, entry->addr, SGX_TEST_BASE);
	KUNIT_EXPECT_FALSE(test, entry->blocked);
	KUNIT_EXPECT_PTR_EQ(test, entry->secs, &t->epc.epcm[0]);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->epc.epcm[0].children), 1);
	KUNIT_EXPECT_EQ(test, *slot, 0);
}

static void eldu_tampered(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *secs = sgx_test_page(t, 0), *page = sgx_test_page(t, 3);
	u64 *slot = sgx_test_page(t, 2);
	u64 version;

	evict(test);
	version = *slot;

	t->contents[100] ^= 1;
	KUNIT_EXPECT_EQ(test, sgx_test_eldu(t, secs, page, slot),
			SGX_MAC_COMPARE_FAIL);
	KUNIT_EXPECT_EQ(test, *(u64 *)page, SGX_MODEL_POISON);
	t->contents[100] ^= 1;

	t->pcmd->secinfo.flags |= SGX_SECINFO_X;
	KUNIT_EXPECT_EQ(test, sgx_test_eldu(t, secs, page, slot),
			SGX_MAC_COMPARE_FAIL);
	t->pcmd->secinfo.flags &= ~(u64)SGX_SECINFO_X;

	/* At another address. */
	t->pginfo.addr = SGX_TEST_BASE + PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, sgx_model_eldu(&t->epc, &t->pginfo, page, slot),
			SGX_MAC_COMPARE_FAIL);

	/* Into another enclave. */
	KUNIT_ASSERT_EQ(test, sgx_test_ecreate(t, sgx_test_page(t, 4)), 0);
	KUNIT_EXPECT_EQ(test, sgx_test_eldu(t, sgx_test_page(t, 4), page, slot),
			SGX_MAC_COMPARE_FAIL);

	KUNIT_EXPECT_EQ(test, *slot, version);
	KUNIT_EXPECT_FALSE(test, t->epc.epcm[3].valid);
	KUNIT_EXPECT_EQ(test, sgx_test_eldu(t, secs, page, slot), 0);
}

static void eldu_replayed(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *secs = sgx_test_page(t, 0), *page = sgx_test_page(t, 1);
	u64 *slot = sgx_test_page(t, 2), *old;
	struct sgx_pcmd *old_pcmd;

	old = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, old);
	old_pcmd = kunit_kzalloc(test, sizeof(*old_pcmd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, old_pcmd);

	evict(test);
	memcpy(old, t->contents, PAGE_SIZE);
	*old_pcmd = *t->pcmd;
	KUNIT_ASSERT_EQ(test, sgx_test_eldu(t, secs, page, slot), 0);

	/* The slot was emptied: the same page cannot be loaded twice. */
	KUNIT_EXPECT_EQ(test, sgx_test_eldu(t, secs, sgx_test_page(t, 3), slot),
			SGX_MAC_COMPARE_FAIL);

	/* The same contents, evicted once more, have another version. */
	evict(test);
	memcpy(t->contents, old, PAGE_SIZE);
	*t->pcmd = *old_pcmd;
	KUNIT_EXPECT_EQ(test, sgx_test_eldu(t, secs, page, slot),
			SGX_MAC_COMPARE_FAIL);
}

static void eldu_operands(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *secs = sgx_test_page(t, 0), *page = sgx_test_page(t, 3);
	u64 *slot = sgx_test_page(t, 2);

	evict(test);
	KUNIT_EXPECT_EQ(test, sgx_test_eldu(t, secs, secs, slot), SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_test_eldu(t, slot, page, slot), SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_test_eldu(t, t->contents, page, slot),
			SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_test_eldu(t, secs + 8, page, slot),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_test_eldu(t, secs, page, secs), SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_test_eldu(t, secs, page, slot), 0);
}

static struct kunit_case sgx_paging_cases[] = {
	KUNIT_CASE(epa),
	KUNIT_CASE(eblock),
	KUNIT_CASE(etrack),
	KUNIT_CASE(ewb_order),
	KUNIT_CASE(ewb_operands),
	KUNIT_CASE(ewb_slot_occupied),
	KUNIT_CASE(ewb_secs),
	KUNIT_CASE(eldu_restores),
	KUNIT_CASE(eldu_tampered),
	KUNIT_CASE(eldu_replayed),
	KUNIT_CASE(eldu_operands),
	{}
};

static struct kunit_suite sgx_paging_suite = {
	.name = "memsec_sgx_paging",
	.init = paging_test_init,
	.test_cases = sgx_paging_cases,
};

kunit_test_suite(sgx_paging_suite);

MODULE_DESCRIPTION("KUnit tests of the ENCLS leaves that page the EPC");
MODULE_LICENSE("GPL");
