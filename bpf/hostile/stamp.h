/* SPDX-License-Identifier: GPL-2.0-only */
/* What stamp.bpf.c notes. */
#ifndef MEMSEC_TEST_STAMP_H
#define MEMSEC_TEST_STAMP_H

struct stamp {
	__u64 batch;		/* of the parameters that were decided by last */
	__u64 ns;		/* CLOCK_MONOTONIC of the first decision by them */
};

#endif /* MEMSEC_TEST_STAMP_H */
