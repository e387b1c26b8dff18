/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters of which half an update can be told: who sets both at once sets the batch to a number of pages
 * from PAIRS_MIN to PAIRS_MAX and the hold time to as many us; who sets one of them sets it to more than
 * PAIRS_MAX. What nobody has set is such a pair as well, but a wrong one: the defaults are 4096 and 4000.
 */
#ifndef MEMSEC_TEST_PAIRS_H
#define MEMSEC_TEST_PAIRS_H

#define PAIRS_MIN	50
#define PAIRS_MAX	9999

#endif /* MEMSEC_TEST_PAIRS_H */
