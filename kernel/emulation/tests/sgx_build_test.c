// SPDX-License-Identifier: GPL-2.0-only
/*
 * ECREATE, EADD, EEXTEND, EINIT, EREMOVE, EDBGRD and EDBGWR.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "sgx_fixture.h"

#define RW	(SGX_SECINFO_REG | SGX_SECINFO_R | SGX_SECINFO_W)

static void epcm_find(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *last = sgx_test_page(t, SGX_TEST_PAGES - 1);

	KUNIT_EXPECT_PTR_EQ(test, sgx_epcm_find(&t->epc, last + PAGE_SIZE - 1),
			    &t->epc.epcm[SGX_TEST_PAGES - 1]);
	KUNIT_EXPECT_NULL(test, sgx_epcm_find(&t->epc, last + PAGE_SIZE));
	KUNIT_EXPECT_PTR_EQ(test, sgx_epcm_find(&t->epc, t->epc.base),
			    &t->epc.epcm[0]);
	KUNIT_EXPECT_NULL(test, sgx_epcm_find(&t->epc, t->epc.base - 1));
	KUNIT_EXPECT_PTR_EQ(test, sgx_epcm_page(&t->epc, &t->epc.epcm[3]),
			    sgx_test_page(t, 3));
}

static void ecreate_operands(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *page = sgx_test_page(t, 0);

	KUNIT_EXPECT_EQ(test, sgx_test_ecreate(t, page + 8), SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_test_ecreate(t, t->contents), SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_test_ecreate(t, sgx_test_page(t, SGX_TEST_PAGES)),
			SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_epcm_used(&t->epc), 0);

	KUNIT_EXPECT_EQ(test, sgx_test_ecreate(t, page), 0);
	KUNIT_EXPECT_EQ(test, sgx_epcm_used(&t->epc), 1);
	/* A page in use cannot be created again. */
	KUNIT_EXPECT_EQ(test, sgx_test_ecreate(t, page), SGX_MODEL_PF);
}

/* ECREATE must refuse the test's SECS, which is then made good again. */
static void expect_secs_refused(struct kunit *test, const struct sgx_secs *good,
				const char *why)
{
	struct sgx_test *t = test->priv;

	KUNIT_EXPECT_EQ_MSG(test, sgx_test_ecreate(t, sgx_test_page(t, 0)),
			    SGX_MODEL_GP, "%s", why);
	*t->secs = *good;
}

static void ecreate_secs(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	struct sgx_secs *secs = t->secs, *good;

	good = kunit_kzalloc(test, sizeof(*good), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, good);
	*good = *secs;

	secs->size = PAGE_SIZE;
	expect_secs_refused(test, good, "too small");
	secs->size = 3 * PAGE_SIZE;
	expect_secs_refused(test, good, "size is no power of two");
	secs->size = BIT_ULL(SGX_MODEL_SIZE_LOG2_64);
	secs->base = 0;
	expect_secs_refused(test, good, "too large");
	secs->base += PAGE_SIZE;
	expect_secs_refused(test, good, "base not aligned to size");
	secs->ssa_frame_size = 0;
	expect_secs_refused(test, good, "no room for the SSA frame");
	secs->miscselect = BIT(1);
	expect_secs_refused(test, good, "unknown MISCSELECT");
	secs->attributes |= SGX_ATTR_INIT;
	expect_secs_refused(test, good, "INIT set by software");
	secs->attributes |= SGX_ATTR_KSS;
	expect_secs_refused(test, good, "unsupported attribute");
	secs->attributes = SGX_ATTR_DEBUG;
	expect_secs_refused(test, good, "32-bit enclave above 4 GiB");
	secs->xfrm = 1;
	expect_secs_refused(test, good, "XFRM without SSE");
	secs->xfrm = 7;
	expect_secs_refused(test, good, "unsupported XFRM");
	secs->config_svn = 1;
	expect_secs_refused(test, good, "CONFIGSVN without KSS");
	secs->config_id[15] = 1;
	expect_secs_refused(test, good, "CONFIGID without KSS");
	secs->reserved1[0] = 1;
	expect_secs_refused(test, good, "reserved1");
	secs->reserved2[0] = 1;
	expect_secs_refused(test, good, "reserved2");
	secs->reserved3[31] = 1;
	expect_secs_refused(test, good, "reserved3");
	secs->reserved4[3833] = 1;
	expect_secs_refused(test, good, "reserved4");

	KUNIT_EXPECT_EQ(test, sgx_epcm_used(&t->epc), 0);
	KUNIT_EXPECT_EQ(test, sgx_test_ecreate(t, sgx_test_page(t, 0)), 0);
}

static void eadd_twice(struct kunit *test)
{
	struct sgx_test *t = test->priv;

	sgx_test_build(test);
	KUNIT_EXPECT_MEMEQ(test, sgx_test_page(t, 1), t->contents, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, sgx_test_eadd(t, sgx_test_page(t, 0),
					    sgx_test_page(t, 1), RW),
			SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->epc.epcm[0].children), 1);
}

static void eadd_operands(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *secs = sgx_test_page(t, 0), *page = sgx_test_page(t, 2);

	sgx_test_build(test);

	/* What is named as the SECS is none, or no EPC page. */
	KUNIT_EXPECT_EQ(test, sgx_test_eadd(t, sgx_test_page(t, 1), page, RW),
			SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_test_eadd(t, sgx_test_page(t, 3), page, RW),
			SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_test_eadd(t, t->contents, page, RW),
			SGX_MODEL_PF);

	KUNIT_EXPECT_EQ(test, sgx_test_eadd(t, secs, page, SGX_SECINFO_SECS),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_test_eadd(t, secs, page, SGX_SECINFO_TRIM),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_test_eadd(t, secs, page,
					    SGX_SECINFO_REG | SGX_SECINFO_W),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_test_eadd(t, secs, page,
					    RW | SGX_MODEL_PENDING),
			SGX_MODEL_GP);

	t->secinfo.flags = RW;
	t->pginfo.addr = SGX_TEST_BASE + SGX_TEST_SIZE;
	KUNIT_EXPECT_EQ(test, sgx_model_eadd(&t->epc, &t->pginfo, page),
			SGX_MODEL_GP);
	t->pginfo.addr = SGX_TEST_BASE - PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, sgx_model_eadd(&t->epc, &t->pginfo, page),
			SGX_MODEL_GP);
	t->pginfo.addr = SGX_TEST_BASE;
	t->pginfo.contents = PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, sgx_model_eadd(&t->epc, &t->pginfo, page),
			SGX_MODEL_PF);

	KUNIT_EXPECT_EQ(test, sgx_epcm_used(&t->epc), 2);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->epc.epcm[0].children), 1);
}

static void eadd_tcs(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *secs = sgx_test_page(t, 0);
	struct sgx_tcs *tcs = sgx_test_page(t, 2);

	sgx_test_build(test);

	/* The pattern in the source page sets reserved bytes. */
	KUNIT_EXPECT_EQ(test, sgx_test_eadd(t, secs, tcs, SGX_SECINFO_TCS),
			SGX_MODEL_GP);

	memset(t->contents, 0, PAGE_SIZE);
	((struct sgx_tcs *)t->contents)->flags = SGX_TCS_DBGOPTIN;
	((struct sgx_tcs *)t->contents)->entry_offset = 0x123;
	KUNIT_EXPECT_EQ(test, sgx_test_eadd(t, secs, tcs,
					    SGX_SECINFO_TCS | SGX_SECINFO_R), 0);
	KUNIT_EXPECT_EQ(test, t->epc.epcm[2].state, 0);
	KUNIT_EXPECT_EQ(test, tcs->flags, 0);
	KUNIT_EXPECT_EQ(test, tcs->entry_offset, 0x123);
}

static void eextend(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *secs = sgx_test_page(t, 0), *page = sgx_test_page(t, 1);
	struct sgx_epc *epc = &t->epc;
	u32 before[8];

	sgx_test_build(test);
	memcpy(before, ((struct sgx_secs *)secs)->mrenclave, sizeof(before));
	KUNIT_EXPECT_EQ(test, sgx_model_eextend(epc, secs, page + 256), 0);
	KUNIT_EXPECT_MEMNEQ(test, before, ((struct sgx_secs *)secs)->mrenclave,
			    sizeof(before));

	KUNIT_EXPECT_EQ(test, sgx_model_eextend(epc, secs, page + 8),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_model_eextend(epc, page, page), SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_model_eextend(epc, secs, secs), SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_model_eextend(epc, secs, sgx_test_page(t, 2)),
			SGX_MODEL_PF);

	KUNIT_ASSERT_EQ(test, sgx_test_einit(t, secs), 0);
	KUNIT_EXPECT_EQ(test, sgx_model_eextend(epc, secs, page), SGX_MODEL_GP);
}

static void einit_once(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *secs = sgx_test_page(t, 0);

	sgx_test_build(test);
	KUNIT_EXPECT_EQ(test, sgx_test_einit(t, sgx_test_page(t, 1)),
			SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_test_einit(t, sgx_test_page(t, 2)),
			SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_test_einit(t, secs), 0);
	KUNIT_EXPECT_EQ(test, sgx_test_einit(t, secs), SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_test_eadd(t, secs, sgx_test_page(t, 2), RW),
			SGX_MODEL_GP);
}

/* EINIT must refuse the test's SIGSTRUCT, which is then made good again. */
static void expect_sig_refused(struct kunit *test,
			       const struct sgx_sigstruct *good, int error)
{
	struct sgx_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, sgx_test_einit(t, sgx_test_page(t, 0)), error);
	*t->sig = *good;
}

static void einit_sigstruct(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	struct sgx_sigstruct *sig = t->sig, *good;

	good = kunit_kzalloc(test, sizeof(*good), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, good);
	sgx_test_build(test);
	sig->body.misc_mask = SGX_MISC_EXINFO;
	*good = *sig;

	sig->header.header1[0] = 0;
	expect_sig_refused(test, good, SGX_INVALID_SIG_STRUCT);
	sig->header.header2[1] = 0;
	expect_sig_refused(test, good, SGX_INVALID_SIG_STRUCT);
	sig->header.vendor = 1;
	expect_sig_refused(test, good, SGX_INVALID_SIG_STRUCT);
	sig->header.reserved1[0] = 1;
	expect_sig_refused(test, good, SGX_INVALID_SIG_STRUCT);
	sig->exponent = 65537;
	expect_sig_refused(test, good, SGX_INVALID_SIG_STRUCT);
	sig->body.reserved2[19] = 1;
	expect_sig_refused(test, good, SGX_INVALID_SIG_STRUCT);
	sig->body.reserved3[0] = 1;
	expect_sig_refused(test, good, SGX_INVALID_SIG_STRUCT);
	sig->reserved4[0] = 1;
	expect_sig_refused(test, good, SGX_INVALID_SIG_STRUCT);

	sig->body.attributes = 0;
	expect_sig_refused(test, good, SGX_INVALID_ATTRIBUTE);
	sig->body.attributes_mask |= SGX_ATTR_DEBUG;
	expect_sig_refused(test, good, SGX_INVALID_ATTRIBUTE);
	sig->body.xfrm = 1;
	expect_sig_refused(test, good, SGX_INVALID_ATTRIBUTE);
	sig->body.miscselect = SGX_MISC_EXINFO;
	expect_sig_refused(test, good, SGX_INVALID_ATTRIBUTE);

	*sgx_test_token(t) = 1;
	expect_sig_refused(test, good, SGX_INVALID_EINITTOKEN);
	*sgx_test_token(t) = 0;
	KUNIT_EXPECT_EQ(test, sgx_test_einit(t, sgx_test_page(t, 0)), 0);
}

static void eremove_children(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *secs = sgx_test_page(t, 0), *page = sgx_test_page(t, 1);

	sgx_test_build(test);
	KUNIT_EXPECT_EQ(test, sgx_model_eremove(&t->epc, secs),
			SGX_CHILD_PRESENT);
	KUNIT_EXPECT_EQ(test, sgx_epcm_used(&t->epc), 2);
	KUNIT_EXPECT_EQ(test, sgx_model_eremove(&t->epc, page), 0);
	KUNIT_EXPECT_EQ(test, *(u64 *)page, SGX_MODEL_POISON);
	KUNIT_EXPECT_EQ(test, sgx_model_eremove(&t->epc, secs), 0);
	KUNIT_EXPECT_EQ(test, sgx_epcm_used(&t->epc), 0);
	/* Removing what is unused is no error. */
	KUNIT_EXPECT_EQ(test, sgx_model_eremove(&t->epc, page), 0);

	KUNIT_EXPECT_EQ(test, sgx_model_eremove(&t->epc, page + 8),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_model_eremove(&t->epc, t->contents),
			SGX_MODEL_PF);
}

static void eremove_conflict(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *page = sgx_test_page(t, 1);

	sgx_test_build(test);

	/* Another leaf reads the page, then another one has it for itself. */
	KUNIT_ASSERT_TRUE(test, sgx_epcm_lock_shared(&t->epc.epcm[1]));
	KUNIT_EXPECT_EQ(test, sgx_model_eremove(&t->epc, page), SGX_MODEL_GP);
	sgx_epcm_unlock_shared(&t->epc.epcm[1]);
	KUNIT_ASSERT_TRUE(test, sgx_epcm_lock(&t->epc.epcm[1]));
	KUNIT_EXPECT_EQ(test, sgx_model_eremove(&t->epc, page), SGX_MODEL_GP);
	KUNIT_EXPECT_FALSE(test, sgx_epcm_lock_shared(&t->epc.epcm[1]));
	sgx_epcm_unlock(&t->epc.epcm[1]);

	KUNIT_EXPECT_EQ(test, sgx_model_eremove(&t->epc, page), 0);
}

static void edbg_debug_enclave(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *page = sgx_test_page(t, 1);
	unsigned long data = 0;

	sgx_test_build(test);
	KUNIT_EXPECT_EQ(test, sgx_model_edbgrd(&t->epc, page + 16, &data), 0);
	KUNIT_EXPECT_EQ(test, data, t->contents[2]);
	KUNIT_EXPECT_EQ(test, sgx_model_edbgwr(&t->epc, page + 16, 42), 0);
	KUNIT_EXPECT_EQ(test, sgx_model_edbgrd(&t->epc, page + 16, &data), 0);
	KUNIT_EXPECT_EQ(test, data, 42);

	KUNIT_EXPECT_EQ(test, sgx_model_edbgrd(&t->epc, page + 4, &data),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_model_edbgrd(&t->epc, sgx_test_page(t, 0), &data),
			SGX_MODEL_PF);
	KUNIT_EXPECT_EQ(test, sgx_model_edbgwr(&t->epc, sgx_test_page(t, 2), 42),
			SGX_MODEL_PF);
}

static void edbg_production_enclave(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *page = sgx_test_page(t, 1);
	unsigned long data = 7;

	t->secs->attributes &= ~(u64)SGX_ATTR_DEBUG;
	sgx_test_build(test);
	KUNIT_EXPECT_EQ(test, sgx_model_edbgrd(&t->epc, page, &data),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, data, 7);
	KUNIT_EXPECT_EQ(test, sgx_model_edbgwr(&t->epc, page, 42), SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, *(u64 *)page, t->contents[0]);
}

static void edbg_tcs(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	void *tcs = sgx_test_page(t, 2);
	unsigned long data;

	sgx_test_build(test);
	memset(t->contents, 0, PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, sgx_test_eadd(t, sgx_test_page(t, 0), tcs,
					    SGX_SECINFO_TCS), 0);

	KUNIT_EXPECT_EQ(test, sgx_model_edbgrd(&t->epc, tcs + 64, &data), 0);
	KUNIT_EXPECT_EQ(test, sgx_model_edbgrd(&t->epc, tcs + 72, &data),
			SGX_MODEL_GP);
	KUNIT_EXPECT_EQ(test, sgx_model_edbgwr(&t->epc,
					       tcs + offsetof(struct sgx_tcs, flags),
					       SGX_TCS_DBGOPTIN), 0);
	KUNIT_EXPECT_EQ(test, sgx_model_edbgwr(&t->epc,
					       tcs + offsetof(struct sgx_tcs, ssa_offset),
					       1), SGX_MODEL_GP);
}

static void edbg_version_array(struct kunit *test)
{
	struct sgx_test *t = test->priv;
	u64 *va = sgx_test_page(t, 2);
	unsigned long data = 1;

	KUNIT_ASSERT_EQ(test, sgx_model_epa(&t->epc, SGX_PAGE_TYPE_VA, va), 0);
	KUNIT_EXPECT_EQ(test, sgx_model_edbgrd(&t->epc, va, &data), 0);
	KUNIT_EXPECT_EQ(test, data, 0);
	/* Only whether a slot is in use can be seen, not its version. */
	va[1] = 5;
	KUNIT_EXPECT_EQ(test, sgx_model_edbgrd(&t->epc, va + 1, &data), 0);
	KUNIT_EXPECT_EQ(test, data, ULONG_MAX);
	KUNIT_EXPECT_EQ(test, sgx_model_edbgwr(&t->epc, va, 5), SGX_MODEL_PF);
}

static struct kunit_case sgx_build_cases[] = {
	KUNIT_CASE(epcm_find),
	KUNIT_CASE(ecreate_operands),
	KUNIT_CASE(ecreate_secs),
	KUNIT_CASE(eadd_twice),
	KUNIT_CASE(eadd_operands),
	KUNIT_CASE(eadd_tcs),
	KUNIT_CASE(eextend),
	KUNIT_CASE(einit_once),
	KUNIT_CASE(einit_sigstruct),
	KUNIT_CASE(eremove_children),
	KUNIT_CASE(eremove_conflict),
	KUNIT_CASE(edbg_debug_enclave),
	KUNIT_CASE(edbg_production_enclave),
	KUNIT_CASE(edbg_tcs),
	KUNIT_CASE(edbg_version_array),
	{}
};

static struct kunit_suite sgx_build_suite = {
	.name = "memsec_sgx_build",
	.init = sgx_test_init,
	.test_cases = sgx_build_cases,
};

kunit_test_suite(sgx_build_suite);

MODULE_DESCRIPTION("KUnit tests of the ENCLS leaves that build enclaves");
MODULE_LICENSE("GPL");
