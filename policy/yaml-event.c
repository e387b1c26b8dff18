// SPDX-License-Identifier: GPL-2.0-only

/* The events of libyaml: the next one, what it is to people, and what is wrong with it. */

#include <limits.h>
#include <stdarg.h>

#include "internal.h"
#include "util.h"
#include "yaml-event.h"

/* Mappings and lists within each other. */
#define DEPTH_MAX 8

/* Errors of one file; what follows is not worth reading. */
#define FILE_ERRORS_MAX 100

/* What libyaml makes of "!!". */
#define YAML_TAG_PREFIX "tag:yaml.org,2002:"

int complain_at(Reader *reader, size_t line, size_t column, const char *format, ...) {
        _cleanup_free_ char *message = NULL;
        va_list ap;
        int n, r;

        va_start(ap, format);
        n = vasprintf(&message, format, ap);
        va_end(ap);
        if (n < 0) {
                message = NULL;
                return -ENOMEM;
        }

        r = policy_errors_add(reader->errors, reader->name, line, column, "%s%s%s%s", reader->unit ?: "",
                              reader->unit ? ": " : "", reader->tune ? "tune: " : "", message);
        if (r < 0 || reader->errors->n_items - reader->n_errors_before < FILE_ERRORS_MAX)
                return r;

        r = policy_errors_add(reader->errors, reader->name, 0, 0,
                              "expected fewer than %d errors, the rest of the file is not read",
                              FILE_ERRORS_MAX);
        return r < 0 ? r : -EBADMSG;
}

/* Complains about bytes that are not text, for which libyaml has an offset only. */
static int complain_encoding(Reader *reader) {
        const yaml_parser_t *parser = &reader->parser;
        size_t line = 1, column = 1;

        for (const char *p = reader->text; p < reader->text + parser->problem_offset; p++)
                if (*p == '\n') {
                        line++;
                        column = 1;
                } else if (!utf8_is_continuation(*p))
                        column++;

        if (parser->problem_value < 0)
                return complain_at(reader, line, column, "expected UTF-8 text, but %s", parser->problem);

        return complain_at(reader, line, column, "expected UTF-8 text, found 0x%02x: %s",
                           (unsigned) parser->problem_value, parser->problem);
}

/* Is there a tab at MARK, which counts characters? */
static bool is_tab(const Reader *reader, const yaml_mark_t *mark) {
        size_t index = 0;

        for (const char *p = reader->text; p < reader->text + reader->size; p++) {
                if (utf8_is_continuation(*p))
                        continue;
                if (index++ == mark->index)
                        return *p == '\t';
        }

        return false;
}

static int complain_syntax(Reader *reader) {
        const yaml_parser_t *parser = &reader->parser;
        size_t line = parser->problem_mark.line + 1, column = parser->problem_mark.column + 1;

        if (parser->error == YAML_MEMORY_ERROR)
                return -ENOMEM;
        if (parser->error == YAML_READER_ERROR)
                return complain_encoding(reader);
        if (is_tab(reader, &parser->problem_mark))
                return complain_at(reader, line, column,
                                   "expected spaces, found a tab, which YAML does not allow here");
        if (!parser->context)
                return complain_at(reader, line, column, "expected YAML, but %s", parser->problem);

        return complain_at(reader, line, column, "expected YAML, but %s %s that begins on line %zu",
                           parser->problem, parser->context, parser->context_mark.line + 1);
}

int next_event(Reader *reader, yaml_event_t *event) {
        int r;

        yaml_event_delete(event);
        if (!yaml_parser_parse(&reader->parser, event)) {
                r = complain_syntax(reader);
                return r < 0 ? r : -EBADMSG;
        }

        if (event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT)
                reader->depth--;
        else if (event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT)
                reader->depth++;

        if (reader->depth > DEPTH_MAX) {
                r = complain(reader, event,
                             "expected at most %d mappings or lists within each other, found more",
                             DEPTH_MAX);
                return r < 0 ? r : -EBADMSG;
        }

        return 0;
}

int skip_value(Reader *reader, const yaml_event_t *first) {
        _cleanup_(yaml_event_delete) yaml_event_t event = {};
        unsigned depth = reader->depth;
        int r;

        if (first->type != YAML_MAPPING_START_EVENT && first->type != YAML_SEQUENCE_START_EVENT)
                return 0;

        while (reader->depth >= depth) {
                r = next_event(reader, &event);
                if (r < 0)
                        return r;
        }

        return 0;
}

const char *event_anchor(const yaml_event_t *event) {
        switch (event->type) {
        case YAML_ALIAS_EVENT:
                return (const char *) event->data.alias.anchor;
        case YAML_SCALAR_EVENT:
                return (const char *) event->data.scalar.anchor;
        case YAML_SEQUENCE_START_EVENT:
                return (const char *) event->data.sequence_start.anchor;
        case YAML_MAPPING_START_EVENT:
                return (const char *) event->data.mapping_start.anchor;
        default:
                return NULL;
        }
}

const char *event_tag(const yaml_event_t *event) {
        switch (event->type) {
        case YAML_SCALAR_EVENT:
                return (const char *) event->data.scalar.tag;
        case YAML_SEQUENCE_START_EVENT:
                return (const char *) event->data.sequence_start.tag;
        case YAML_MAPPING_START_EVENT:
                return (const char *) event->data.mapping_start.tag;
        default:
                return NULL;
        }
}

const char *event_text(const yaml_event_t *event) {
        return (const char *) event->data.scalar.value;
}

/* What a YAML 1.1 reader makes of a word without quotes that is no string to it, or NULL when it is one. */
static const char *plain_trap(const yaml_event_t *event) {
        static const struct {
                const char *words;
                const char *trap;
        } traps[] = {
                { " ~ null Null NULL ", ", which YAML reads as nothing" },
                { " y Y yes Yes YES n N no No NO true True TRUE false False FALSE on On ON off Off OFF ",
                  ", which YAML reads as a boolean" },
                { " << ", ", which YAML reads as a merge key" },
        };
        char word[sizeof(" false ")];

        if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE ||
            event->data.scalar.length > strlen("false"))
                return NULL;

        sprintf(word, " %s ", event_text(event));
        for (size_t i = 0; i < ELEMENTSOF(traps); i++)
                if (strstr(traps[i].words, word))
                        return traps[i].trap;

        return NULL;
}

bool is_text(const yaml_event_t *event) {
        return event->type == YAML_SCALAR_EVENT && !event_anchor(event) && !event_tag(event) &&
                event->data.scalar.length > 0 && event->data.scalar.length < PATH_MAX &&
                strlen(event_text(event)) == event->data.scalar.length && !plain_trap(event);
}

bool is_mapping(const yaml_event_t *event) {
        return event->type == YAML_MAPPING_START_EVENT && !event_anchor(event) && !event_tag(event);
}

/* "the anchor '&NAME'", where SIGN is "&". */
static char *describe_property(const char *what, const char *sign, const char *name) {
        _cleanup_free_ char *written = NULL, *quoted = NULL;
        char *text;

        if (asprintf(&written, "%s%s", sign, name) < 0)
                return NULL;

        quoted = text_quote(written);
        if (!quoted || asprintf(&text, "the %s %s", what, quoted) < 0)
                return NULL;

        return text;
}

static char *describe_tag(const char *tag) {
        const char *standard = startswith(tag, YAML_TAG_PREFIX);

        return describe_property("tag", standard ? "!!" : "", standard ?: tag);
}

static char *describe_scalar(const yaml_event_t *event) {
        _cleanup_free_ char *quoted = NULL;
        size_t length = event->data.scalar.length;
        char *text;
        int n;

        if (length == 0)
                return strdup("nothing");
        if (strlen(event_text(event)) < length)
                return strdup("text with a NUL byte");

        quoted = text_quote(event_text(event));
        if (!quoted)
                return NULL;

        if (length >= PATH_MAX)
                n = asprintf(&text, "%s, which is %zu bytes long", quoted, length);
        else
                n = asprintf(&text, "%s%s", quoted, plain_trap(event) ?: "");

        return n < 0 ? NULL : text;
}

char *describe(const yaml_event_t *event) {
        if (event->type == YAML_ALIAS_EVENT)
                return describe_property("alias", "*", event_anchor(event));
        if (event_anchor(event))
                return describe_property("anchor", "&", event_anchor(event));
        if (event_tag(event))
                return describe_tag(event_tag(event));
        if (event->type == YAML_MAPPING_START_EVENT)
                return strdup("a mapping");
        if (event->type == YAML_SEQUENCE_START_EVENT)
                return strdup("a list");

        return describe_scalar(event);
}

int refuse(Reader *reader, const yaml_event_t *event, const char *path, const char *expected) {
        _cleanup_free_ char *found = NULL;
        int r;

        found = describe(event);
        if (!found)
                return -ENOMEM;

        r = complain(reader, event, "%s%sexpected %s, found %s", path, *path ? ": " : "", expected, found);
        if (r < 0)
                return r;

        return skip_value(reader, event);
}

int set_place(const Reader *reader, PolicyPlace *place, const yaml_event_t *event) {
        place->line = event->start_mark.line + 1;
        place->column = event->start_mark.column + 1;
        return free_and_strdup(&place->file, reader->name);
}

void keys_done(Keys *keys) {
        strv_free(keys->names);
        free(keys->lines);
}

int keys_add(Keys *keys, const char *name, size_t line) {
        size_t n = strv_length(keys->names), *longer;

        longer = reallocarray(keys->lines, n + 2, sizeof(*keys->lines));
        if (!longer)
                return -ENOMEM;

        keys->lines = longer;
        keys->lines[n] = line;
        return strv_extend(&keys->names, name);
}

static bool comes_before(const PolicyError *a, const PolicyError *b) {
        return a->line < b->line || (a->line == b->line && a->column < b->column);
}

void complaint_sort(Reader *reader) {
        PolicyError *items = reader->errors->items;

        for (size_t i = reader->errors->n_items - 1; i > reader->n_errors_before; i--) {
                PolicyError item = items[i];

                if (!comes_before(items + i, items + i - 1))
                        break;

                items[i] = items[i - 1];
                items[i - 1] = item;
        }
}

int complain_again(Reader *reader, const yaml_event_t *key, const char *path, size_t line) {
        return complain(reader, key, "%s: expected one, found another; the first is on line %zu", path,
                        line);
}
