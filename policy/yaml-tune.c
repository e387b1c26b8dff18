// SPDX-License-Identifier: GPL-2.0-only

#include "internal.h"
#include "util.h"
#include "yaml-tune.h"

#define MSEC UINT64_C(1000000)

static const char *const shares[] = { "some", "full", NULL };
static const char *const raisings[] = { "lowers", "raises", NULL };

static const KeySpec pressure_spec = { .type = KEY_CHOICE, .choices = tune_resources,
                                       .max = _TUNE_RESOURCE_MAX - 1 };
static const KeySpec share_spec = { .type = KEY_CHOICE, .choices = shares, .max = 1 };
static const KeySpec raising_spec = { .type = KEY_CHOICE, .choices = raisings, .max = 1 };
static const KeySpec percent_spec = { .type = KEY_PERCENT, .min = 1, .max = 99 };
static const KeySpec rate_spec = { .type = KEY_COUNT, .unit = "events per second", .min = 1,
                                   .max = 1000000000 };
static const KeySpec every_spec = { .type = KEY_DURATION, .min = 100 * MSEC,
                                    .max = UINT64_C(3600) * 1000 * MSEC };

#define COUNTER_EXPECTED "a counter of a mechanism, such as teardown.breaks"

/* Fields of a loop; the last two are below "range". */
enum {
        FIELD_PRESSURE,
        FIELD_OF,
        FIELD_UNIT,
        FIELD_COUNTER,
        FIELD_TARGET,
        FIELD_RANGE,
        FIELD_RAISING,
        FIELD_EVERY,
        FIELD_MIN,
        FIELD_MAX,
        _FIELD_MAX,
};

static const struct {
        const char *name;
        const char *expected;   /* when it is no text */
} fields[] = {
        [FIELD_PRESSURE] = { "pressure", "cpu, memory or io" },
        [FIELD_OF]       = { "of", "some or full" },
        [FIELD_UNIT]     = { "unit", "the name of a .service, .slice or .scope" },
        [FIELD_COUNTER]  = { "counter", COUNTER_EXPECTED },
        [FIELD_TARGET]   = { "target", "a percentage or a number of events per second" },
        [FIELD_RANGE]    = { "range", "a mapping with min and max" },
        [FIELD_RAISING]  = { "raising", "lowers or raises" },
        [FIELD_EVERY]    = { "every", "a duration" },
        [FIELD_MIN]      = { "range.min", "a value of the tunable" },
        [FIELD_MAX]      = { "range.max", "a value of the tunable" },
};

/* What a file has of a loop, as text. */
typedef struct Draft {
        const char *path;                       /* of the tunable */
        unsigned line, column;                  /* of the mapping */
        size_t lines[_FIELD_MAX];               /* on which each field was found, 0 for not yet */
        TuneBound values[_FIELD_MAX];           /* without text when there is none that can be read */
        bool wrong;                             /* something was complained about */
} Draft;

static void draft_done(Draft *draft) {
        for (size_t i = 0; i < _FIELD_MAX; i++)
                free(draft->values[i].text);
}

/* Complains about a place before the one that was read last. */
static _printf_(5, 6) int complain_draft(Reader *reader, Draft *draft, unsigned line, unsigned column,
                                         const char *format, ...) {
        _cleanup_free_ char *message = NULL;
        va_list ap;
        int n, r;

        draft->wrong = true;
        va_start(ap, format);
        n = vasprintf(&message, format, ap);
        va_end(ap);
        if (n < 0) {
                message = NULL;
                return -ENOMEM;
        }

        r = complain_at(reader, line, column, "%s%s", draft->path, message);
        if (r >= 0)
                complaint_sort(reader);
        return r;
}

/* The same about the value of a field. */
#define complain_field(reader, draft, field, format, ...)                                               \
        complain_draft(reader, draft, (draft)->values[field].line, (draft)->values[field].column,       \
                       ".%s: " format, fields[field].name, __VA_ARGS__)

static int complain_unknown(Reader *reader, const char *path, char *const *names, const yaml_event_t *key) {
        _cleanup_free_ char *known = NULL, *found = NULL;
        const char *nearest = word_nearest(event_text(key), names);

        known = text_enumerate(names, "or");
        found = text_quote(event_text(key));
        if (!known || !found)
                return -ENOMEM;

        return complain(reader, key, "%s: expected %s, found the unknown key %s%s%s%s", path, known, found,
                        nearest ? "; did you mean '" : "", nearest ?: "", nearest ? "'?" : "");
}

static int read_fields(Reader *reader, Draft *draft, const char *path, size_t first, size_t end);

/* Reads the value of FIELD. */
static int read_field(Reader *reader, Draft *draft, size_t field, const yaml_event_t *event) {
        TuneBound *value = draft->values + field;
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s.%s", draft->path, fields[field].name) < 0) {
                path = NULL;
                return -ENOMEM;
        }

        if (field == FIELD_RANGE && is_mapping(event))
                return read_fields(reader, draft, path, FIELD_MIN, _FIELD_MAX);

        if (field == FIELD_RANGE)
                draft->lines[FIELD_MIN] = draft->lines[FIELD_MAX] = draft->lines[FIELD_RANGE];
        if (field == FIELD_RANGE || !is_text(event)) {
                draft->wrong = true;
                return refuse(reader, event, path, fields[field].expected);
        }

        value->line = event->start_mark.line + 1;
        value->column = event->start_mark.column + 1;
        return free_and_strdup(&value->text, event_text(event));
}

/* The last part of the name of FIELD. */
static const char *field_key(size_t field) {
        const char *dot = strchr(fields[field].name, '.');

        return dot ? dot + 1 : fields[field].name;
}

/* Reads KEY, one of the fields from FIRST to before END, and its value. */
static int read_entry(Reader *reader, Draft *draft, const char *path, size_t first, size_t end,
                      const yaml_event_t *key) {
        _cleanup_(yaml_event_delete) yaml_event_t value = {};
        char *names[_FIELD_MAX + 1] = {};
        ssize_t i = -1;
        int r;

        for (size_t field = first; field < end; field++)
                names[field - first] = (char *) field_key(field);

        if (!is_text(key))
                r = refuse(reader, key, path, "a key");
        else {
                i = strv_find(names, event_text(key));
                r = i < 0 ? complain_unknown(reader, path, names, key) : 0;
        }
        if (r >= 0 && i >= 0 && draft->lines[first + i] > 0) {
                _cleanup_free_ char *key_path = NULL;

                if (asprintf(&key_path, "%s.%s", path, names[i]) < 0) {
                        key_path = NULL;
                        return -ENOMEM;
                }

                r = complain_again(reader, key, key_path, draft->lines[first + i]);
                i = -1;
        }
        if (r >= 0)
                r = next_event(reader, &value);
        if (r < 0)
                return r;

        if (i < 0) {
                draft->wrong = true;
                return skip_value(reader, &value);
        }

        draft->lines[first + i] = key->start_mark.line + 1;
        return read_field(reader, draft, first + i, &value);
}

/* Reads a mapping, whose first event was read last, to its end. */
static int read_fields(Reader *reader, Draft *draft, const char *path, size_t first, size_t end) {
        for (;;) {
                _cleanup_(yaml_event_delete) yaml_event_t key = {};
                int r;

                r = next_event(reader, &key);
                if (r < 0 || key.type == YAML_MAPPING_END_EVENT)
                        return r;

                r = read_entry(reader, draft, path, first, end, &key);
                if (r < 0)
                        return r;
        }
}

/* *RET stays as it is when the field is not there. */
static int parse_field(Reader *reader, Draft *draft, size_t field, const KeySpec *spec, uint64_t *ret) {
        const char *text = draft->values[field].text;
        _cleanup_free_ char *error = NULL;
        int r;

        r = text ? value_parse(spec, text, ret, &error) : 0;
        if (r == -ENOMEM || r >= 0)
                return r;

        return complain_field(reader, draft, field, "%s", error);
}

/* Complains about every field that has to be there and is not. */
static int check_missing(Reader *reader, Draft *draft) {
        static const unsigned needed[] = { FIELD_TARGET, FIELD_RANGE, FIELD_RAISING, FIELD_MIN, FIELD_MAX };
        int r;

        if (!draft->lines[FIELD_PRESSURE] && !draft->lines[FIELD_COUNTER]) {
                r = complain_draft(reader, draft, draft->line, draft->column,
                                   ": expected pressure or counter, found neither");
                if (r < 0)
                        return r;
        }

        for (size_t i = 0; i < ELEMENTSOF(needed); i++) {
                if (draft->lines[needed[i]] || (needed[i] >= FIELD_MIN && !draft->lines[FIELD_RANGE]))
                        continue;

                r = complain_draft(reader, draft, draft->line, draft->column, ": expected %s, found none",
                                   fields[needed[i]].name);
                if (r < 0)
                        return r;
        }

        return 0;
}

/* The rate of a counter has nothing to do with how pressure is looked at. */
static int check_together(Reader *reader, Draft *draft) {
        static const unsigned others[] = { FIELD_PRESSURE, FIELD_OF, FIELD_UNIT };
        int r = 0;

        for (size_t i = 0; r >= 0 && draft->lines[FIELD_COUNTER] && i < ELEMENTSOF(others); i++)
                if (draft->values[others[i]].text)
                        r = complain_field(reader, draft, others[i], "%s",
                                           "expected nothing beside counter, found it");

        return r;
}

static int parse_counter(Reader *reader, Draft *draft, TuneLoop *loop) {
        const char *text = draft->values[FIELD_COUNTER].text;
        _cleanup_free_ char *found = NULL;

        if (!text)
                return 0;
        if (tune_counter_is_valid(text))
                return free_and_strdup(&loop->counter, text);

        found = text_quote(text);
        if (!found)
                return -ENOMEM;

        return complain_field(reader, draft, FIELD_COUNTER, "expected " COUNTER_EXPECTED ", found %s",
                              found);
}

static int parse_source(Reader *reader, Draft *draft, TuneLoop *loop) {
        const char *text = draft->values[FIELD_UNIT].text;
        _cleanup_free_ char *found = NULL;

        if (!text)
                return 0;
        if (unit_name_is_valid(text) && !strstr(text, "@."))
                return free_and_strdup(&loop->source, text);

        found = text_quote(text);
        if (!found)
                return -ENOMEM;

        return complain_field(reader, draft, FIELD_UNIT, "expected %s, found %s",
                              fields[FIELD_UNIT].expected, found);
}

/* What is looked at. */
static int parse_signal(Reader *reader, Draft *draft, TuneLoop *loop) {
        uint64_t resource = TUNE_CPU, full = false;
        int r;

        r = parse_counter(reader, draft, loop);
        if (r >= 0)
                r = parse_field(reader, draft, FIELD_PRESSURE, &pressure_spec, &resource);
        if (r >= 0)
                r = parse_field(reader, draft, FIELD_OF, &share_spec, &full);
        if (r >= 0)
                r = parse_source(reader, draft, loop);
        if (r >= 0)
                r = parse_field(reader, draft, FIELD_TARGET,
                                draft->lines[FIELD_COUNTER] ? &rate_spec : &percent_spec, &loop->target);
        if (r < 0)
                return r;

        loop->resource = resource;
        loop->full = full;
        if (draft->wrong || loop->counter || loop->source || !full || resource != TUNE_CPU)
                return 0;

        return complain_field(reader, draft, FIELD_OF, "%s",
                              "expected some, since full is not measured for cpu of the whole system");
}

static int parse_draft(Reader *reader, Draft *draft, TuneLoop *loop) {
        uint64_t raises = false;
        int r;

        loop->every_ns = 1000 * MSEC;
        r = check_missing(reader, draft);
        if (r >= 0)
                r = check_together(reader, draft);
        if (r >= 0)
                r = parse_signal(reader, draft, loop);
        if (r >= 0)
                r = parse_field(reader, draft, FIELD_RAISING, &raising_spec, &raises);
        if (r >= 0)
                r = parse_field(reader, draft, FIELD_EVERY, &every_spec, &loop->every_ns);
        if (r < 0)
                return r;

        loop->raises = raises;
        for (size_t i = 0; i < ELEMENTSOF(loop->bounds); i++) {
                loop->bounds[i] = draft->values[FIELD_MIN + i];
                draft->values[FIELD_MIN + i].text = NULL;
        }

        return 0;
}

int read_loop(Reader *reader, const char *path, const yaml_event_t *event, TuneLoop **ret) {
        _cleanup_(tune_loop_freep) TuneLoop *loop = NULL;
        _cleanup_(draft_done) Draft draft = {
                .path = path,
                .line = event->start_mark.line + 1,
                .column = event->start_mark.column + 1,
        };
        int r;

        loop = calloc(1, sizeof(TuneLoop));
        if (!loop)
                return -ENOMEM;

        r = free_and_strdup(&loop->key, path);
        if (r >= 0)
                r = free_and_strdup(&loop->unit, reader->unit);
        if (r < 0)
                return r;

        if (is_text(event) && streq(event_text(event), "none"))
                loop->none = true;
        else if (!is_mapping(event))
                return refuse(reader, event, path, "a mapping with pressure or counter, target, range and "
                              "raising, or none");
        else {
                r = read_fields(reader, &draft, path, 0, FIELD_MIN);
                if (r >= 0)
                        r = parse_draft(reader, &draft, loop);
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(loop);
        return !draft.wrong;
}

int read_tuning(Reader *reader, const KeySpec *spec, const yaml_event_t *event) {
        _cleanup_(tune_loop_freep) TuneLoop *loop = NULL;
        _cleanup_free_ char *error = NULL;
        const TuneBound *bound;
        int ok, r;

        if (spec->type == KEY_CHOICE) {
                r = complain(reader, event, TUNE_NO_NUMBER, spec->path);
                return r < 0 ? r : skip_value(reader, event);
        }

        ok = read_loop(reader, spec->path, event, &loop);
        if (ok < 0 || !loop)
                return ok;

        /* Also when something else is wrong already: all errors are told. */
        if (loop->bounds[0].text && loop->bounds[1].text) {
                r = tune_loop_set_range(loop, spec, &bound, &error);
                if (r == -ENOMEM)
                        return r;
                if (r < 0) {
                        r = complain_at(reader, bound->line, bound->column, "%s.range.%s: %s", spec->path,
                                        bound == loop->bounds ? "min" : "max", error);
                        if (r >= 0)
                                complaint_sort(reader);
                        return r;
                }
        }
        if (!ok)
                return 0;

        r = policy_model_set_loop(reader->model, loop);
        if (r != -E2BIG)
                return r;

        return complain(reader, event, "expected at most %d loops in all files, found more",
                        POLICY_LOOPS_MAX);
}
