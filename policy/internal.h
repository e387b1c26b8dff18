/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the files of policy/ share among themselves. */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy.h"

/* The largest policy file, in bytes. */
#define POLICY_FILE_MAX ((size_t) 1024 * 1024)

/*
 * TEXT in single quotes, cut when it is long, in printable ASCII so that it can go to terminals, logs and
 * the bus. To be freed. NULL without memory.
 */
char *text_quote(const char *text);

/* TEXT in full with every byte that is not printable ASCII as \xNN. To be freed. NULL without memory. */
char *text_escape(const char *text);

/* "a, b or c". To be freed. NULL without memory. */
char *text_enumerate(char *const *words, const char *conjunction);

/*
 * Edits (insert, delete, replace, swap neighbours) between word A and the known word B; case and '-' for
 * '_' do not count.
 */
unsigned word_distance(const char *a, size_t n_a, const char *b, size_t n_b);

/* Is DISTANCE small enough to take the one word for a misspelling of the other, of length N? */
bool word_distance_is_near(unsigned distance, size_t n);

/* The word of WORDS nearest to WORD, or NULL when none is near. */
const char *word_nearest(const char *word, char *const *words);

/* What policy_name_check() expects. */
#define POLICY_NAME_EXPECTED "a built-in policy (a-z, 0-9, '_' and '-') or an absolute path of a .bpf.o file"

/* What is wrong with tuning the one of this path. */
#define TUNE_NO_NUMBER "%s: expected a tunable that is a number, found one that is a word"

/* What unit_pattern_check() expects. */
#define UNIT_PATTERN_EXPECTED "the name of a .service, .slice or .scope, or a glob in quotes"


void own_statement_done(OwnStatement *statement);

/* Gives DEST, which has none yet, the loops of MODEL. 0 or -ENOMEM. */
int policy_model_copy_loops(PolicyModel *dest, const PolicyModel *model);
void policy_model_free_loops(PolicyModel *model);

/* Drops those whose tunable is not there any more, or cannot have their range. */
void policy_model_check_loops(PolicyModel *model);

/*
 * Makes the range of LOOP, which is of SPEC, that of its bounds. Returns 0, -ENOMEM, or -EINVAL when one of
 * them is wrong: *ret_bound then, and *ret_error (to be freed) says in what way.
 */
int tune_loop_set_range(TuneLoop *loop, const KeySpec *spec, const TuneBound **ret_bound, char **ret_error);

/* What the model has only until policy_model_resolve(). */
void policy_model_forget_statements(PolicyModel *model);

static inline bool ascii_is_printable(char c) {
        return c >= ' ' && c <= '~';
}

/* Is C a byte of a UTF-8 character other than its first? */
static inline bool utf8_is_continuation(char c) {
        return (c & 0xc0) == 0x80;
}
