// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec KUnit: what several tests need.
 */
#include <kunit/static_stub.h>
#include <kunit/test-bug.h>
#include <linux/gfp.h>
#include <linux/string.h>

#include "fake.h"

static u64 fake_clock_ns(void)
{
	struct fake_clock *clock = kunit_get_current_test()->priv;

	clock->reads++;
	clock->now += clock->tick;

	return clock->now;
}

/**
 * fake_clock_start() - Have the test set the clock
 * @test: the test; its priv becomes the clock
 *
 * Return: the clock. It does not begin at 0, which no real clock shows.
 */
struct fake_clock *fake_clock_start(struct kunit *test)
{
	struct fake_clock *clock;

	clock = kunit_kzalloc(test, sizeof(*clock), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, clock);
	clock->now = 1000 * NSEC_PER_SEC;
	test->priv = clock;
	kunit_activate_static_stub(test, memsec_clock_ns, fake_clock_ns);

	return clock;
}

static bool fake_get(void *data)
{
	struct fake_holder *holder = data;

	return !holder->going_away;
}

static void fake_drop(void *data)
{
	struct fake_holder *holder = data;

	complete(&holder->entered);
	if (holder->gate)
		wait_for_completion(holder->gate);
	fake_detach(holder);
	complete(&holder->dropped);
}

static int fake_programs(void *data, char *buf)
{
	return strscpy(buf, FAKE_PROGRAMS, sizeof(FAKE_PROGRAMS));
}

const struct memsec_holder_ops fake_holder_ops = {
	.get = fake_get,
	.drop = fake_drop,
	.programs = fake_programs,
};

/**
 * fake_holder_init() - A holder of nothing
 * @holder: the holder
 */
void fake_holder_init(struct fake_holder *holder)
{
	*holder = (struct fake_holder) {};
	init_completion(&holder->entered);
	init_completion(&holder->dropped);
}

/**
 * fake_attach() - Attach a policy
 * @holder: who is to hold it
 * @ops: the policy
 *
 * Return: what memsec_policy_attach() returned.
 */
int fake_attach(struct fake_holder *holder, const struct memsec_ops *ops)
{
	int ret;

	ret = memsec_policy_attach(ops, &fake_holder_ops, holder);
	if (!ret)
		holder->ops = ops;

	return ret;
}

/**
 * fake_detach() - Let go of the policy, if there still is one
 * @holder: who holds it
 */
void fake_detach(struct fake_holder *holder)
{
	if (!holder->ops)
		return;

	memsec_policy_detach(holder->ops, holder);
	holder->ops = NULL;
}

static struct kobj_attribute *find_file(struct kunit *test,
					const struct memsec_mechanism *mech,
					const char *name)
{
	struct attribute **attr;

	for (attr = mech->group.attrs; *attr; attr++) {
		if (!strcmp((*attr)->name, name))
			return container_of(*attr, struct kobj_attribute, attr);
	}
	KUNIT_FAIL_AND_ABORT(test, "there is no file %s/%s", mech->group.name,
			     name);

	return NULL;
}

/**
 * fake_read() - Read a number as from sysfs
 * @test: fails when that does not work
 * @mech: the mechanism
 * @name: the file
 *
 * Return: the number.
 */
u64 fake_read(struct kunit *test, const struct memsec_mechanism *mech,
	      const char *name)
{
	struct kobj_attribute *file = find_file(test, mech, name);
	char *page = (char *)__get_free_page(GFP_KERNEL);
	u64 value = 0;
	ssize_t len;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, page);
	len = file->show(NULL, file, page);
	ret = kstrtou64(page, 10, &value);
	free_page((unsigned long)page);
	KUNIT_ASSERT_GT(test, len, 0);
	KUNIT_ASSERT_EQ(test, ret, 0);

	return value;
}

/**
 * fake_write() - Write as to sysfs
 * @test: fails when there is no such file
 * @mech: the mechanism
 * @name: the file
 * @value: what to write
 *
 * Return: 0 or a negative errno.
 */
int fake_write(struct kunit *test, const struct memsec_mechanism *mech,
	       const char *name, const char *value)
{
	struct kobj_attribute *file = find_file(test, mech, name);
	ssize_t ret;

	ret = file->store(NULL, file, value, strlen(value));

	return ret < 0 ? ret : 0;
}
