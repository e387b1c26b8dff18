/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec KUnit: a clock that the tests set, a holder of policies, and access to
 * the files of a mechanism.
 */
#ifndef _MM_MEMSEC_TESTS_FAKE_H
#define _MM_MEMSEC_TESTS_FAKE_H

#include <kunit/test.h>
#include <linux/completion.h>

#include "../internal.h"

/**
 * struct fake_clock - the clock of a test
 * @now: what it says, in ns
 * @reads: how often somebody looked
 * @tick: by how much a look advances it, in ns
 */
struct fake_clock {
	u64 now;
	u64 reads;
	u64 tick;
};

/**
 * struct fake_holder - holds a policy, like a BPF link does
 * @ops: the policy; NULL when it let go
 * @going_away: cannot be pinned any more
 * @gate: what fake_drop() waits for, if anything
 * @entered: fake_drop() was called
 * @dropped: fake_drop() is done
 */
struct fake_holder {
	const struct memsec_ops *ops;
	bool going_away;
	struct completion *gate;
	struct completion entered;
	struct completion dropped;
};

/* The programs of whatever a holder holds. */
#define FAKE_PROGRAMS	"47 11"

extern const struct memsec_holder_ops fake_holder_ops;

struct fake_clock *fake_clock_start(struct kunit *test);
void fake_holder_init(struct fake_holder *holder);
int fake_attach(struct fake_holder *holder, const struct memsec_ops *ops);
void fake_detach(struct fake_holder *holder);
u64 fake_read(struct kunit *test, const struct memsec_mechanism *mech,
	      const char *name);
int fake_write(struct kunit *test, const struct memsec_mechanism *mech,
	       const char *name, const char *value);

#endif /* _MM_MEMSEC_TESTS_FAKE_H */
