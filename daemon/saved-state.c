// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "saved-state.h"

/* More than any state is; what is longer was not written by memsecd. */
#define STATE_MAX (16U * 1024U * 1024U)

void saved_state_done(SavedState *state) {
        policy_model_free(state->model);
        strv_free(state->files);
        free(state->object);
        *state = (SavedState) {};
}

int saved_state_open(void) {
        return RET_NERRNO(memfd_create("memsecd-state", MFD_CLOEXEC));
}

/* A tunable of the unit on the last UNIT line. */
#define UNIT_PREFIX "unit."

static void print_unit(FILE *f, const UnitSettings *settings, const OwnTunables *own) {
        fprintf(f, "UNIT=%s\n", settings->pattern);
        for (size_t i = 0; i < keys_count(own); i++) {
                const KeySpec *spec = keys_at(own, i);

                if (settings->keys & (UINT64_C(1) << i))
                        fprintf(f, UNIT_PREFIX "%s=%" PRIu64 "\n", spec->path,
                                key_spec_get(spec, &settings->params));
        }
}

#define LOOP "LOOP"

/* What the policy that runs has of its own: its file may have been replaced when somebody reads this. */
static void print_own(FILE *f, const OwnTunables *own) {
        for (size_t i = 0; own && i < own->n_specs; i++) {
                STRV_FOREACH(tag, own->tags[i])
                        fprintf(f, "TAG=%s\n", *tag);
                fprintf(f, "TUNABLE=%s\n", own_name(own->specs + i));
        }
}

/* On one line, with "-" for what is not there: neither units nor paths have blanks. */
static void print_loop(FILE *f, const TuneLoop *loop) {
        fprintf(f, LOOP "=%s %s %s %s %u %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %" PRIu64 " %u\n",
                loop->key, loop->unit ?: "-", loop->counter ?: "-", loop->source ?: "-", loop->resource,
                loop->full, loop->target, loop->min, loop->max, loop->raises, loop->every_ns, loop->stopped);
}

static void print_state(FILE *f, const SavedState *state) {
        const struct memsec_params *params = &state->model->params;
        const OwnTunables *own = state->model->own;

        fprintf(f, "POLICY=%s\n", state->model->policy);
        fprintf(f, "OBJECT=%s\n", state->object ?: "");
        fprintf(f, "MAP=%" PRIu32 "\n", state->map_id);
        fprintf(f, "STOPPED=%d\n", state->stopped);

        for (char **file = state->files; file && *file; file++)
                fprintf(f, "FILE=%s\n", *file);

        print_own(f, own);
        for (size_t i = 0; i < keys_count(own); i++)
                fprintf(f, "%s=%" PRIu64 "\n", keys_at(own, i)->path, key_spec_get(keys_at(own, i), params));

        for (size_t i = 0; i < state->model->n_units; i++)
                print_unit(f, state->model->units + i, own);
        for (size_t i = 0; i < state->model->n_loops; i++)
                print_loop(f, state->model->loops + i);

        /* A state without its end was cut off. */
        fputs("END=1\n", f);
}

int saved_state_write(int fd, const SavedState *state) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        ssize_t n;
        FILE *f;

        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;

        print_state(f, state);
        if (fclose(f) != 0)
                return -ENOMEM;

        /* What is left of a longer state follows the END. */
        n = pwrite(fd, text, size, 0);
        if (n < 0)
                return -errno;

        return (size_t) n == size ? 0 : -EIO;
}

static int read_text(int fd, char **ret) {
        _cleanup_free_ char *text = NULL;
        struct stat st;
        ssize_t n;

        if (fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode) || st.st_size > STATE_MAX)
                return -EBADMSG;

        text = malloc(st.st_size + 1);
        if (!text)
                return -ENOMEM;

        n = pread(fd, text, st.st_size, 0);
        if (n < 0)
                return -errno;

        text[n] = '\0';
        *ret = TAKE_PTR(text);
        return 0;
}

static int parse_number(const char *text, uint64_t max, uint64_t *ret) {
        uintmax_t value;
        char *end;

        errno = 0;
        value = strtoumax(text, &end, 10);
        if (errno > 0 || end == text || *end || *text == '-' || value > max)
                return -EBADMSG;

        *ret = value;
        return 0;
}

/* UNIT is NULL for everyone's. */
static int parse_tunable(SavedState *state, const char *unit, const char *name, const char *value) {
        const KeySpec *spec = keys_find(state->model->own, name);
        uint64_t number;
        int r;

        if (!spec)
                return 0;

        r = parse_number(value, UINT64_MAX, &number);
        if (r < 0)
                return r;
        if (!value_in_range(spec, number))
                return -EBADMSG;

        if (unit)
                return policy_model_set_unit(state->model, unit, spec, number);

        key_spec_set(spec, &state->model->params, number);
        return 0;
}

static int parse_loop(SavedState *state, const char *text) {
        _cleanup_free_ char *key = NULL, *unit = NULL, *counter = NULL, *source = NULL;
        unsigned resource, stopped;
        int full, raises, end = -1;
        const KeySpec *spec;
        TuneLoop loop = {};

        if (sscanf(text, "%ms %ms %ms %ms %u %d %" SCNu64 " %" SCNu64 " %" SCNu64 " %d %" SCNu64 " %u%n",
                   &key, &unit, &counter, &source, &resource, &full, &loop.target, &loop.min, &loop.max,
                   &raises, &loop.every_ns, &stopped, &end) < 12 || end < 0 || text[end])
                return -EBADMSG;

        /* As in parse_tunable(). */
        spec = keys_find(state->model->own, key);
        if (!spec)
                return 0;

        if (spec->type == KEY_CHOICE || loop.min < spec->min || loop.min >= loop.max ||
            loop.max > spec->max || loop.target == 0 || loop.every_ns == 0 ||
            resource >= _TUNE_RESOURCE_MAX || stopped >= _TUNE_STOP_MAX ||
            (!streq(counter, "-") && !tune_counter_is_valid(counter)))
                return -EBADMSG;

        loop.key = key;
        loop.unit = streq(unit, "-") ? NULL : unit;
        loop.counter = streq(counter, "-") ? NULL : counter;
        loop.source = streq(source, "-") ? NULL : source;
        loop.resource = resource;
        loop.full = full;
        loop.raises = raises;
        loop.stopped = stopped;
        return policy_model_set_loop(state->model, &loop);
}

/* Where the lines before have left the reader. */
typedef struct Parser {
        SavedState *state;
        const char *unit;       /* the value of the last UNIT line */
        char **tags;            /* those of the TAG lines since the last TUNABLE line */
} Parser;

/* Adds the tunable NAME of the policy, described by the tags. */
static int parse_own(Parser *parser, const char *name) {
        PolicyModel *model = parser->state->model;
        _cleanup_free_ char *policy = NULL, *error = NULL;
        const KeySpec *spec;
        int r = 0;

        if (!model->own) {
                r = policy_short_name(model->policy, &policy);
                if (r >= 0)
                        r = own_tunables_new(policy, &model->own);
        }
        if (r >= 0)
                r = own_tunables_add(model->own, name, parser->tags, &error);
        if (r < 0)
                return r == -ENOMEM ? r : -EBADMSG;

        spec = model->own->specs + model->own->n_specs - 1;
        key_spec_set(spec, &model->params, spec->def);
        parser->tags = strv_free(parser->tags);
        return 0;
}

static int parse_line(Parser *parser, const char *name, const char *value) {
        const char *unit_name = startswith(name, UNIT_PREFIX);
        SavedState *state = parser->state;
        uint64_t number;
        int r;

        if (streq(name, "POLICY"))
                return free_and_strdup(&state->model->policy, value);
        if (streq(name, "OBJECT"))
                return free_and_strdup(&state->object, value);
        if (streq(name, "FILE"))
                return strv_extend(&state->files, value);
        if (streq(name, "TAG"))
                return strv_extend(&parser->tags, value);
        if (streq(name, "TUNABLE"))
                return parse_own(parser, value);

        if (streq(name, LOOP))
                return parse_loop(state, value);

        if (streq(name, "MAP")) {
                r = parse_number(value, UINT32_MAX, &number);
                if (r >= 0)
                        state->map_id = number;
                return r;
        }

        if (streq(name, "STOPPED")) {
                r = parse_number(value, 1, &number);
                if (r >= 0)
                        state->stopped = number;
                return r;
        }

        if (streq(name, "UNIT")) {
                parser->unit = value;
                return 0;
        }

        if (unit_name)
                return parser->unit ? parse_tunable(state, parser->unit, unit_name, value) : -EBADMSG;

        return parse_tunable(state, NULL, name, value);
}

static int parse_text(Parser *parser, char *text) {
        char *line, *next, *value;
        int r;

        for (line = text; !startswith(line, "END=1\n"); line = next) {
                next = strchr(line, '\n');
                value = strchr(line, '=');
                if (!next || !value || value > next)
                        return -EBADMSG;

                *next++ = *value++ = '\0';
                r = parse_line(parser, line, value);
                if (r < 0)
                        return r;
        }

        return 0;
}

int saved_state_read(int fd, SavedState *ret) {
        _cleanup_saved_state_ SavedState state = {};
        _cleanup_free_ char *text = NULL;
        Parser parser = { .state = &state };
        int r;

        r = read_text(fd, &text);
        if (r < 0)
                return r;

        r = policy_model_new(&state.model);
        if (r < 0)
                return r;

        r = parse_text(&parser, text);
        strv_free(parser.tags);
        if (r < 0)
                return r;

        *ret = state;
        state = (SavedState) {};
        return 0;
}
