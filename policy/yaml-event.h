/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Functions here return 0 to go on, after a complaint too, or a negative errno to stop: -ENOMEM, or -EBADMSG
 * when nothing sensible can follow.
 */

#include <stdbool.h>
#include <yaml.h>

#include "policy.h"
#include "util.h"

typedef struct Reader {
        yaml_parser_t parser;
        unsigned depth;         /* of the event read last */
        const char *name, *text;
        size_t size;
        PolicyModel *model;
        PolicyErrors *errors;
        size_t n_errors_before;
        size_t n_statements_before;     /* of the model's own_statements */
        const char *unit;       /* whose mapping is being read, NULL at the top */
        bool tune;              /* below "tune" */
} Reader;

_printf_(4, 5) int complain_at(Reader *reader, size_t line, size_t column, const char *format, ...);

/* Complains about the place where EVENT begins. libyaml counts from 0. */
#define complain(reader, event, ...)                                            \
        complain_at(reader, (event)->start_mark.line + 1,                       \
                    (event)->start_mark.column + 1, __VA_ARGS__)

/* Replaces EVENT by the next one. */
int next_event(Reader *reader, yaml_event_t *event);

/* Reads on to the end of the value that began with FIRST, the event read last. */
int skip_value(Reader *reader, const yaml_event_t *first);

/* NULL for none. */
const char *event_anchor(const yaml_event_t *event);
const char *event_tag(const yaml_event_t *event);

/* Of a scalar. */
const char *event_text(const yaml_event_t *event);

/* Is EVENT a scalar that can be taken for what it shows? */
bool is_text(const yaml_event_t *event);

/* What EVENT is, for people. To be freed. NULL without memory. */
char *describe(const yaml_event_t *event);

bool is_mapping(const yaml_event_t *event);

/* Complains about EVENT, which begins the value of PATH ("" for none), and skips the value. */
int refuse(Reader *reader, const yaml_event_t *event, const char *path, const char *expected);

/* Makes *PLACE that of EVENT. 0 or -ENOMEM. */
int set_place(const Reader *reader, PolicyPlace *place, const yaml_event_t *event);

/* The keys that a mapping can have, and the line on which each was found, 0 for not yet. */
typedef struct Keys {
        char **names;
        size_t *lines;
} Keys;

void keys_done(Keys *keys);

/* Notes that there is NAME too, on LINE. 0 or -ENOMEM. */
int keys_add(Keys *keys, const char *name, size_t line);

/* Puts the complaint that was added last before those about later places. */
void complaint_sort(Reader *reader);

/* Complains about KEY, which is PATH and was on LINE already. */
int complain_again(Reader *reader, const yaml_event_t *key, const char *path, size_t line);
