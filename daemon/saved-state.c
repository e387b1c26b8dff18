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

static void print_unit(FILE *f, const UnitSettings *settings) {
        fprintf(f, "UNIT=%s\n", settings->pattern);
        for (size_t i = 0; i < n_key_specs; i++)
                if (settings->keys & (UINT64_C(1) << i))
                        fprintf(f, UNIT_PREFIX "%s=%" PRIu64 "\n", key_specs[i].path,
                                key_spec_get(key_specs + i, &settings->params));
}

static void print_state(FILE *f, const SavedState *state) {
        const struct memsec_params *params = &state->model->params;

        fprintf(f, "POLICY=%s\n", state->model->policy);
        fprintf(f, "OBJECT=%s\n", state->object ?: "");
        fprintf(f, "MAP=%" PRIu32 "\n", state->map_id);
        fprintf(f, "STOPPED=%d\n", state->stopped);

        for (char **file = state->files; file && *file; file++)
                fprintf(f, "FILE=%s\n", *file);

        for (size_t i = 0; i < n_key_specs; i++)
                fprintf(f, "%s=%" PRIu64 "\n", key_specs[i].path, key_spec_get(key_specs + i, params));

        for (size_t i = 0; i < state->model->n_units; i++)
                print_unit(f, state->model->units + i);

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
        const KeySpec *spec = key_spec_find(name);
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

/* *UNIT is the value of the last UNIT line. */
static int parse_line(SavedState *state, const char **unit, const char *name, const char *value) {
        const char *unit_name = startswith(name, UNIT_PREFIX);
        uint64_t number;
        int r;

        if (streq(name, "POLICY"))
                return free_and_strdup(&state->model->policy, value);
        if (streq(name, "OBJECT"))
                return free_and_strdup(&state->object, value);
        if (streq(name, "FILE"))
                return strv_extend(&state->files, value);

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
                *unit = value;
                return 0;
        }

        if (unit_name)
                return *unit ? parse_tunable(state, *unit, unit_name, value) : -EBADMSG;

        return parse_tunable(state, NULL, name, value);
}

int saved_state_read(int fd, SavedState *ret) {
        _cleanup_saved_state_ SavedState state = {};
        _cleanup_free_ char *text = NULL;
        char *line, *next, *value;
        const char *unit = NULL;
        int r;

        r = read_text(fd, &text);
        if (r < 0)
                return r;

        r = policy_model_new(&state.model);
        if (r < 0)
                return r;

        for (line = text; !startswith(line, "END=1\n"); line = next) {
                next = strchr(line, '\n');
                value = strchr(line, '=');
                if (!next || !value || value > next)
                        return -EBADMSG;

                *next++ = *value++ = '\0';
                r = parse_line(&state, &unit, line, value);
                if (r < 0)
                        return r;
        }

        *ret = state;
        state = (SavedState) {};
        return 0;
}
