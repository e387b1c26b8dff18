// SPDX-License-Identifier: GPL-2.0-only

#include "tune.h"
#include "util.h"

/* How far from the target a signal is still near it, as a part of the target. */
#define NEAR 0.1

/* The first steps: doubling when the signal is more than twice the target or less than half of it. */
#define FAR_STEP 1.0
#define CLOSE_STEP 0.25

/* So many moves in one direction before a step is doubled that was halved. */
#define STRAIGHT_LONGER 3

/* A value that oscillates: so many reversals, without so many periods near the target in between. */
#define REVERSALS_MAX 6
#define NEAR_PERIODS 5

/* So many moves in one direction are no oscillation but a signal that goes somewhere else. */
#define STRAIGHT_MAX 30

const char *tune_state_to_string(TuneState state) {
        static const char *const names[_TUNE_STATE_MAX] = {
                [TUNE_WAITING]     = "waiting",
                [TUNE_MOVING]      = "moving",
                [TUNE_HOLDING]     = "holding",
                [TUNE_AT_LIMIT]    = "at-limit",
                [TUNE_OSCILLATING] = "stopped-oscillating",
                [TUNE_BY_HAND]     = "stopped-by-hand",
        };

        return names[state];
}

/* What was learned is of no use any more. */
static void tuner_forget(Tuner *tuner) {
        tuner->direction = 0;
        tuner->n_reversals = 0;
        tuner->n_straight = 0;
        tuner->best_distance = -1;
}

void tuner_init(Tuner *tuner, TuneStop stopped) {
        static const TuneState states[_TUNE_STOP_MAX] = {
                [TUNE_RUNS]                = TUNE_WAITING,
                [TUNE_STOPPED_OSCILLATING] = TUNE_OSCILLATING,
                [TUNE_STOPPED_BY_HAND]     = TUNE_BY_HAND,
        };

        *tuner = (Tuner) { .state = states[stopped] };
        tuner_forget(tuner);
}

/* Nothing multiplied is nothing: the first step up from 0, and the last one down to it. */
static uint64_t smallest(const TuneLoop *loop) {
        return loop->max > 1024 ? loop->max / 1024 : 1;
}

static uint64_t step_up(const TuneLoop *loop, uint64_t value, double step) {
        double by = value == 0 ? smallest(loop) : value * step;
        uint64_t room = loop->max - value;

        if (by >= room)
                return loop->max;

        return value + (by < 1 ? 1 : (uint64_t) by);
}

/* The opposite: what was multiplied by 1.25 is divided by it. */
static uint64_t step_down(const TuneLoop *loop, uint64_t value, double step) {
        double by = value * (step / (1 + step));
        uint64_t room = value - loop->min;

        if (by >= room || (loop->min == 0 && value <= smallest(loop)))
                return loop->min;

        return value - (by < 1 ? 1 : (uint64_t) by);
}

/* Each reversal has shown that the steps were too large, and halves them; going straight on doubles them. */
static uint64_t next_value(const Tuner *tuner, const TuneLoop *loop, uint64_t value, double signal,
                           int direction) {
        bool far = signal > 2.0 * loop->target || signal < 0.5 * loop->target;
        unsigned n_longer = tuner->n_straight / STRAIGHT_LONGER;
        unsigned n_halved = tuner->n_reversals > n_longer ? tuner->n_reversals - n_longer : 0;
        double step = (far ? FAR_STEP : CLOSE_STEP) / (1U << n_halved);

        return direction > 0 ? step_up(loop, value, step) : step_down(loop, value, step);
}

static void note_value(Tuner *tuner, uint64_t value, double distance) {
        if (tuner->best_distance >= 0 && tuner->best_distance < distance)
                return;

        tuner->best = value;
        tuner->best_distance = distance;
}

static void note_direction(Tuner *tuner, int direction) {
        if (tuner->direction == -direction) {
                tuner->n_reversals++;
                tuner->n_straight = 0;
        } else if (++tuner->n_straight > STRAIGHT_MAX)
                tuner_forget(tuner);

        tuner->direction = direction;
}

uint64_t tuner_step(Tuner *tuner, const TuneLoop *loop, uint64_t value, double signal) {
        double distance = signal > loop->target ? signal - loop->target : loop->target - signal;
        int direction = (signal < loop->target) == loop->raises ? 1 : -1;
        uint64_t next;

        if (value < loop->min || value > loop->max) {
                tuner->state = TUNE_MOVING;
                return value < loop->min ? loop->min : loop->max;
        }

        note_value(tuner, value, distance);

        if (distance <= NEAR * loop->target) {
                tuner->state = TUNE_HOLDING;
                if (++tuner->n_near >= NEAR_PERIODS)
                        tuner_forget(tuner);
                return value;
        }

        tuner->n_near = 0;
        if (value == (direction > 0 ? loop->max : loop->min)) {
                tuner->state = TUNE_AT_LIMIT;
                return value;
        }

        note_direction(tuner, direction);
        if (tuner->n_reversals >= REVERSALS_MAX) {
                next = tuner->best;
                tuner->state = TUNE_OSCILLATING;
                return next;
        }

        tuner->state = TUNE_MOVING;
        return next_value(tuner, loop, value, signal, direction);
}
