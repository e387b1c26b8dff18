// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec KUnit: the accounts of those who hold memory out of the direct map.
 *
 * Owners are of cgroups that the tests make up, come and go as they want.
 */
#include <kunit/static_stub.h>
#include <kunit/test-bug.h>
#include <linux/cgroup.h>
#include <linux/kernfs.h>
#include <linux/slab.h>

#include "directmap_fixture.h"

#define CGROUPS	3

static struct cgroup *cgroups[CGROUPS];
static struct memsec_directmap_owner owners[CGROUPS];
static bool has_owner[CGROUPS];

/* Of the next owner. */
static struct cgroup *current_cgroup;

static struct cgroup *made_up_cgroup(void)
{
	return current_cgroup;
}

/* Ids that the kernel is not going to give to a cgroup. */
static u64 id_of(int i)
{
	return U64_MAX - CGROUPS + i;
}

static int own(int i, enum memsec_directmap_kind kind)
{
	int ret;

	current_cgroup = cgroups[i];
	ret = memsec_directmap_owner_init(&owners[i], kind, NULL);
	has_owner[i] = !ret;

	return ret;
}

static void disown(int i)
{
	memsec_directmap_owner_exit(&owners[i]);
	has_owner[i] = false;
}

static void remove_cgroup(int i)
{
	cgroups[i]->self.flags &= ~CSS_ONLINE;
}

static int owners_test_init(struct kunit *test)
{
	struct kernfs_node *node;
	int ret = dm_test_init(test);
	int i;

	kunit_activate_static_stub(test, directmap_cgroup_get, made_up_cgroup);
	for (i = 0; !ret && i < CGROUPS; i++) {
		has_owner[i] = false;
		cgroups[i] = kunit_kzalloc(test, sizeof(*cgroups[i]), GFP_KERNEL);
		node = kunit_kzalloc(test, sizeof(*node), GFP_KERNEL);
		if (!cgroups[i] || !node)
			return -ENOMEM;

		node->id = id_of(i);
		cgroups[i]->kn = node;
		cgroups[i]->self.flags = CSS_ONLINE | CSS_NO_REF;
		ret = own(i, SECRETMEM);
	}

	return ret;
}

static void owners_test_exit(struct kunit *test)
{
	int i;

	for (i = 0; i < CGROUPS; i++) {
		remove_cgroup(i);
		if (has_owner[i])
			disown(i);
	}
	directmap_accounts_prune();
	for (i = 0; i < CGROUPS; i++) {
		KUNIT_EXPECT_NULL(test, directmap_account_find(SECRETMEM, id_of(i)));
		KUNIT_EXPECT_NULL(test, directmap_account_find(GUEST, id_of(i)));
	}
	dm_test_exit(test);
}

static int take(int i, unsigned long pfn, unsigned long pages)
{
	return memsec_directmap_take(&owners[i], SECRETMEM, pfn, pages);
}

static void give_back(unsigned long pfn, unsigned long pages)
{
	memsec_directmap_give_back(SECRETMEM, pfn, pages);
}

static void expect_kind(struct kunit *test, enum memsec_directmap_kind kind,
			int i, u64 held, u64 most)
{
	struct directmap_account *account = directmap_account_find(kind, id_of(i));

	KUNIT_ASSERT_NOT_NULL(test, account);
	KUNIT_EXPECT_EQ_MSG(test, account->held, held, "held by %d", i);
	KUNIT_EXPECT_EQ_MSG(test, account->most, most, "at most by %d", i);
}

static void expect(struct kunit *test, int i, u64 held, u64 most)
{
	expect_kind(test, SECRETMEM, i, held, most);
}

/* Does a block, which there has to be, have an array? */
static bool is_mixed(struct kunit *test, unsigned long pfn)
{
	struct directmap_block *block = directmap_block_find(pfn, PG_LEVEL_2M);

	KUNIT_ASSERT_NOT_NULL(test, block);

	return block->accounts;
}

static void pages_are_counted(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, take(0, area->pfn + 7, DM_BLOCK), 0);
	expect(test, 0, DM_BLOCK, DM_BLOCK);
	give_back(area->pfn + 7, DM_BLOCK - 2);
	expect(test, 0, 2, DM_BLOCK);
	KUNIT_ASSERT_EQ(test, take(0, area->pfn + 7, 3), 0);
	expect(test, 0, 5, DM_BLOCK);
	give_back(area->pfn + 7, 3);
	give_back(area->pfn + 5 + DM_BLOCK, 2);
	expect(test, 0, 0, DM_BLOCK);
	expect(test, 1, 0, 0);
	KUNIT_EXPECT_FALSE(test, is_mixed(test, area->pfn));
}

static void owners_of_a_cgroup_count_together(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	struct memsec_directmap_owner other;
	struct directmap_account *account;

	current_cgroup = cgroups[1];
	KUNIT_ASSERT_EQ(test, memsec_directmap_owner_init(&other, SECRETMEM, NULL),
			0);
	account = directmap_account_find(SECRETMEM, id_of(1));
	KUNIT_ASSERT_NOT_NULL(test, account);
	KUNIT_EXPECT_EQ(test, account->owners, 2);
	KUNIT_ASSERT_EQ(test, take(1, area->pfn, 3), 0);
	KUNIT_ASSERT_EQ(test, memsec_directmap_take(&other, SECRETMEM, area->pfn + 3,
						    4), 0);
	expect(test, 1, 7, 7);
	KUNIT_EXPECT_FALSE(test, is_mixed(test, area->pfn));
	memsec_directmap_owner_exit(&other);
	KUNIT_EXPECT_EQ(test, account->owners, 1);
	give_back(area->pfn, 7);
	expect(test, 1, 0, 7);
}

static void kinds_count_apart(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	struct memsec_directmap_owner guest;

	current_cgroup = cgroups[0];
	KUNIT_ASSERT_EQ(test, memsec_directmap_owner_init(&guest, GUEST, NULL), 0);
	KUNIT_ASSERT_EQ(test, memsec_directmap_take(&guest, GUEST, area->pfn, 3), 0);
	KUNIT_ASSERT_EQ(test, take(0, area->pfn + 3, 2), 0);
	expect_kind(test, GUEST, 0, 3, 3);
	expect(test, 0, 2, 2);
	memsec_directmap_give_back(GUEST, area->pfn, 3);
	expect_kind(test, GUEST, 0, 0, 3);
	expect(test, 0, 2, 2);
	give_back(area->pfn + 3, 2);
	memsec_directmap_owner_exit(&guest);
}

/* What comes back is taken from those that it was counted for. */
static void block_of_many(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);
	unsigned long pfn = area->pfn + 100;

	KUNIT_ASSERT_EQ(test, take(0, pfn, 10), 0);
	KUNIT_ASSERT_EQ(test, take(1, pfn + 10, 10), 0);
	dm_expect_counted(test, "lock_holds", 3);
	KUNIT_ASSERT_EQ(test, take(2, pfn + 20, 10), 0);
	dm_expect_counted(test, "lock_holds", 4);
	dm_expect_counted(test, "splits", 1);
	KUNIT_EXPECT_TRUE(test, is_mixed(test, pfn));
	expect(test, 0, 10, 10);
	expect(test, 1, 10, 10);
	expect(test, 2, 10, 10);

	give_back(pfn + 5, 16);
	expect(test, 0, 5, 10);
	expect(test, 1, 0, 10);
	expect(test, 2, 9, 10);

	/* Where pages of others were before. */
	KUNIT_ASSERT_EQ(test, take(1, pfn + 5, 16), 0);
	expect(test, 1, 16, 16);
	give_back(pfn, 30);
	expect(test, 0, 0, 10);
	expect(test, 1, 0, 16);
	expect(test, 2, 0, 10);
	dm_expect_area(test, area, 0, 0);

	KUNIT_EXPECT_FALSE(test, is_mixed(test, pfn));
	KUNIT_ASSERT_EQ(test, take(2, pfn, 1), 0);
	KUNIT_EXPECT_FALSE(test, is_mixed(test, pfn));
	give_back(pfn, 1);
	expect(test, 2, 0, 10);
}

/* What is done when memory for an array is asked for, and how many are left. */
static void (*meanwhile)(void);
static unsigned int arrays;
static unsigned long common_pfn;

static union directmap_page_accounts *watched_new(void)
{
	void (*what)(void) = meanwhile;

	if (!arrays)
		return NULL;

	arrays--;
	meanwhile = NULL;
	if (what)
		what();

	return kmalloc(sizeof(union directmap_page_accounts), GFP_KERNEL);
}

static void watch_arrays(struct kunit *test, unsigned int n, void (*what)(void))
{
	arrays = n;
	meanwhile = what;
	kunit_activate_static_stub(test, directmap_page_accounts_new, watched_new);
}

static void failed_allocation_changes_nothing(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);
	unsigned int n;

	KUNIT_ASSERT_EQ(test, take(0, area->pfn, 1), 0);
	KUNIT_ASSERT_EQ(test, take(0, area->pfn + DM_BLOCK, 1), 0);
	for (n = 0; n < 2; n++) {
		watch_arrays(test, n, NULL);
		KUNIT_EXPECT_EQ(test, take(1, area->pfn + 1, DM_BLOCK - 1), n ? 0 : -ENOMEM);
		if (n)
			give_back(area->pfn + 1, DM_BLOCK - 1);
		else
			expect(test, 1, 0, 0);
		expect(test, 0, 2, 2);
		dm_expect_counted(test, "failed", 1);
	}
	give_back(area->pfn, 1);
	give_back(area->pfn + DM_BLOCK, 1);
	dm_expect_area(test, area, 0, 0);
}

static void failed_second_chunk_gives_back_the_first(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, fake_write(test, dm_mech, "max_chunk_pages", "512"),
			0);
	KUNIT_ASSERT_EQ(test, take(0, area->pfn, 1), 0);
	KUNIT_ASSERT_EQ(test, take(0, area->pfn + 2 * DM_BLOCK - 1, 1), 0);
	watch_arrays(test, 1, NULL);
	KUNIT_EXPECT_EQ(test, take(1, area->pfn + 1, 2 * DM_BLOCK - 2), -ENOMEM);
	KUNIT_EXPECT_EQ(test, arrays, 0);
	KUNIT_EXPECT_EQ(test, directmap_account_find(SECRETMEM, id_of(1))->held, 0);
	expect(test, 0, 2, 2);
	dm_expect_counted(test, "secretmem_pages", 2);
	give_back(area->pfn + 2 * DM_BLOCK - 1, 1);
	dm_expect_area(test, area, area->pfn, 1);
	give_back(area->pfn, 1);
	expect(test, 0, 0, 2);
	dm_expect_counted(test, "secretmem_pages", 0);
	KUNIT_EXPECT_FALSE(test, is_mixed(test, area->pfn));
}

static void refused_range_is_not_counted(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, take(0, area->pfn + 5, 1), 0);
	KUNIT_EXPECT_EQ(test, take(1, area->pfn + 4, 3), -EBUSY);
	expect(test, 0, 1, 1);
	expect(test, 1, 0, 0);
	give_back(area->pfn + 5, 1);
	expect(test, 0, 0, 1);
	KUNIT_EXPECT_FALSE(test, is_mixed(test, area->pfn));
}

static void give_common_back(void)
{
	give_back(common_pfn, 1);
}

/* The other pages are gone when there is memory for an array. */
static void block_that_is_left_meanwhile(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	common_pfn = area->pfn;
	KUNIT_ASSERT_EQ(test, take(0, common_pfn, 1), 0);
	watch_arrays(test, UINT_MAX, give_common_back);
	KUNIT_ASSERT_EQ(test, take(1, area->pfn + 1, 1), 0);
	KUNIT_EXPECT_NULL(test, meanwhile);
	KUNIT_EXPECT_FALSE(test, is_mixed(test, area->pfn));
	expect(test, 0, 0, 1);
	expect(test, 1, 1, 1);
	give_back(area->pfn + 1, 1);
	expect(test, 1, 0, 1);
}

static void take_in_next_block(void)
{
	KUNIT_EXPECT_EQ(kunit_get_current_test(),
			take(2, common_pfn + 2 * DM_BLOCK - 1, 1), 0);
}

/* One array was enough when it was asked for. */
static void block_that_others_come_to_meanwhile(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 10, PG_LEVEL_2M);

	common_pfn = area->pfn;
	KUNIT_ASSERT_EQ(test, take(0, common_pfn, 1), 0);
	watch_arrays(test, UINT_MAX, take_in_next_block);
	KUNIT_ASSERT_EQ(test, take(1, area->pfn + 1, 2 * DM_BLOCK - 2), 0);
	KUNIT_EXPECT_TRUE(test, is_mixed(test, area->pfn));
	KUNIT_EXPECT_TRUE(test, is_mixed(test, area->pfn + DM_BLOCK));
	expect(test, 0, 1, 1);
	expect(test, 1, 2 * DM_BLOCK - 2, 2 * DM_BLOCK - 2);
	expect(test, 2, 1, 1);
	give_back(area->pfn, 2 * DM_BLOCK);
	expect(test, 0, 0, 1);
	expect(test, 1, 0, 2 * DM_BLOCK - 2);
	expect(test, 2, 0, 1);
}

/* Owner, cgroup and pages: whichever is the last to go takes the account along. */
static void account_stays_for_an_owner(struct kunit *test)
{
	remove_cgroup(0);
	directmap_accounts_prune();
	expect(test, 0, 0, 0);
	disown(0);
	directmap_accounts_prune();
	KUNIT_EXPECT_NULL(test, directmap_account_find(SECRETMEM, id_of(0)));
}

static void account_stays_for_pages(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, take(0, area->pfn, 2), 0);
	remove_cgroup(0);
	disown(0);
	directmap_accounts_prune();
	expect(test, 0, 2, 2);
	give_back(area->pfn, 1);
	directmap_accounts_prune();
	expect(test, 0, 1, 2);
	give_back(area->pfn + 1, 1);
	directmap_accounts_prune();
	KUNIT_EXPECT_NULL(test, directmap_account_find(SECRETMEM, id_of(0)));
}

static void account_stays_for_its_cgroup(struct kunit *test)
{
	struct dm_area *area = dm_area_find(test, 9, PG_LEVEL_2M);

	KUNIT_ASSERT_EQ(test, take(0, area->pfn, 2), 0);
	give_back(area->pfn, 2);
	disown(0);
	directmap_accounts_prune();
	expect(test, 0, 0, 2);
	KUNIT_ASSERT_EQ(test, own(0, SECRETMEM), 0);
	KUNIT_ASSERT_EQ(test, take(0, area->pfn, 1), 0);
	expect(test, 0, 1, 2);
	give_back(area->pfn, 1);
	disown(0);
	remove_cgroup(0);
	directmap_accounts_prune();
	KUNIT_EXPECT_NULL(test, directmap_account_find(SECRETMEM, id_of(0)));
}

/* So that there are never many of cgroups that are gone. */
static void new_account_drives_others_out(struct kunit *test)
{
	disown(0);
	remove_cgroup(0);
	disown(1);
	KUNIT_ASSERT_EQ(test, own(1, GUEST), 0);
	KUNIT_EXPECT_NULL(test, directmap_account_find(SECRETMEM, id_of(0)));
	KUNIT_EXPECT_NOT_NULL(test, directmap_account_find(SECRETMEM, id_of(1)));
}

static struct kunit_case directmap_owners_test_cases[] = {
	KUNIT_CASE(pages_are_counted),
	KUNIT_CASE(owners_of_a_cgroup_count_together),
	KUNIT_CASE(kinds_count_apart),
	KUNIT_CASE(block_of_many),
	KUNIT_CASE(failed_allocation_changes_nothing),
	KUNIT_CASE(failed_second_chunk_gives_back_the_first),
	KUNIT_CASE(refused_range_is_not_counted),
	KUNIT_CASE(block_that_is_left_meanwhile),
	KUNIT_CASE(block_that_others_come_to_meanwhile),
	KUNIT_CASE(account_stays_for_an_owner),
	KUNIT_CASE(account_stays_for_pages),
	KUNIT_CASE(account_stays_for_its_cgroup),
	KUNIT_CASE(new_account_drives_others_out),
	{}
};

static struct kunit_suite directmap_owners_test_suite = {
	.name = "memsec_directmap_owners",
	.init = owners_test_init,
	.exit = owners_test_exit,
	.test_cases = directmap_owners_test_cases,
};

kunit_test_suite(directmap_owners_test_suite);
