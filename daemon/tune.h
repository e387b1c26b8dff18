/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * How a loop moves its tunable: from value to value, one a period, by what the signal was meanwhile. Nothing
 * here reads or sets anything.
 */

#include "policy.h"

typedef enum TuneState {
        TUNE_WAITING,           /* the kernel asks nothing */
        TUNE_MOVING,
        TUNE_HOLDING,           /* the signal is near the target */
        TUNE_AT_LIMIT,          /* it is not, but the range ends here */
        TUNE_OSCILLATING,       /* stopped, see TuneStop */
        TUNE_BY_HAND,
        _TUNE_STATE_MAX,
} TuneState;

/* "waiting", "at-limit" and so on, as on the bus. */
const char *tune_state_to_string(TuneState state);

typedef struct Tuner {
        TuneState state;
        int direction;          /* of the last move, 0 before the first and after a time near the target */
        unsigned n_reversals;   /* since then */
        unsigned n_straight;    /* moves since the last reversal */
        unsigned n_near;        /* periods near the target */
        uint64_t best;          /* the value with the signal nearest to the target since then */
        double best_distance;   /* how near, negative when there is none yet */
} Tuner;

void tuner_init(Tuner *tuner, TuneStop stopped);

/*
 * SIGNAL is what a period with VALUE has come to. Returns the value for the next one, in LOOP's range, and
 * sets the state, to TUNE_OSCILLATING when the value is the last.
 */
uint64_t tuner_step(Tuner *tuner, const TuneLoop *loop, uint64_t value, double signal);
