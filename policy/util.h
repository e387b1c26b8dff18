/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Small helpers in the manner of systemd, for policy/ and daemon/: cleanup attributes, ownership transfer,
 * strings and NULL-terminated string arrays ("strv").
 */

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _printf_(a, b) __attribute__((format(printf, a, b)))
#define _unused_ __attribute__((unused))

#define ELEMENTSOF(x) (sizeof(x) / sizeof((x)[0]))

/* Defines func##p(), which frees what a variable points to when the variable goes out of scope. */
#define DEFINE_TRIVIAL_CLEANUP_FUNC(type, func)         \
        static inline _unused_ void func##p(type *p) {  \
                if (*p)                                 \
                        func(*p);                       \
        }

static inline void freep(void *p) {
        free(*(void **) p);
}

/* Closes FD when it is open; keeps errno. Always returns -1, the value of a closed descriptor. */
static inline int safe_close(int fd) {
        int saved = errno;

        if (fd >= 0)
                (void) close(fd);

        errno = saved;
        return -1;
}

static inline void closep(int *fd) {
        safe_close(*fd);
}

DEFINE_TRIVIAL_CLEANUP_FUNC(FILE *, fclose)
DEFINE_TRIVIAL_CLEANUP_FUNC(DIR *, closedir)

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)
#define _cleanup_fclose_ _cleanup_(fclosep)
#define _cleanup_closedir_ _cleanup_(closedirp)

/* Hands the value of a _cleanup_ variable over to somebody else. */
#define TAKE_GENERIC(var, nullvalue)            \
        ({                                      \
                typeof(var) _taken = (var);     \
                (var) = (nullvalue);            \
                _taken;                         \
        })
#define TAKE_PTR(ptr) TAKE_GENERIC(ptr, NULL)
#define TAKE_FD(fd) TAKE_GENERIC(fd, -1)

/* Frees A and moves B there. */
#define free_and_replace(a, b)                  \
        ({                                      \
                free(a);                        \
                (a) = TAKE_PTR(b);              \
                0;                              \
        })

/* The result of a system call as a negative errno. */
static inline int RET_NERRNO(int ret) {
        return ret < 0 ? -errno : ret;
}

static inline bool streq(const char *a, const char *b) {
        return strcmp(a, b) == 0;
}

static inline bool isempty(const char *s) {
        return !s || !*s;
}

/* What follows PREFIX in S, or NULL when S begins otherwise. */
static inline char *startswith(const char *s, const char *prefix) {
        size_t n = strlen(prefix);

        return strncmp(s, prefix, n) == 0 ? (char *) s + n : NULL;
}

/* Where SUFFIX begins in S, or NULL when S ends otherwise. */
static inline char *endswith(const char *s, const char *suffix) {
        size_t n = strlen(s), m = strlen(suffix);

        return n >= m && streq(s + n - m, suffix) ? (char *) s + n - m : NULL;
}

/* Puts a copy of S, which may be NULL, in the place of *P. Returns 0 or -ENOMEM. */
static inline int free_and_strdup(char **p, const char *s) {
        char *copy = NULL;

        if (s) {
                copy = strdup(s);
                if (!copy)
                        return -ENOMEM;
        }

        free(*p);
        *p = copy;
        return 0;
}

/* Puts a message, to be freed, into *ret and returns ERROR itself; or -ENOMEM. */
static inline _printf_(3, 4) int error_set(char **ret, int error, const char *format, ...) {
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(ret, format, ap);
        va_end(ap);

        if (n < 0) {
                *ret = NULL;
                return -ENOMEM;
        }

        return error;
}

#define STRV_FOREACH(s, l) for (typeof(*(l)) *s = (l); s && *s; s++)

static inline size_t strv_length(char *const *l) {
        size_t n = 0;

        while (l && l[n])
                n++;

        return n;
}

/* The index of S in L, or -ENOENT. */
static inline ssize_t strv_find(char *const *l, const char *s) {
        for (size_t i = 0; l && l[i]; i++)
                if (streq(l[i], s))
                        return i;

        return -ENOENT;
}

static inline char **strv_free(char **l) {
        for (char **s = l; s && *s; s++)
                free(*s);

        free(l);
        return NULL;
}

DEFINE_TRIVIAL_CLEANUP_FUNC(char **, strv_free)
#define _cleanup_strv_free_ _cleanup_(strv_freep)

/* Appends VALUE itself and owns it from then on; frees it on failure. Returns 0 or -ENOMEM. */
static inline int strv_consume(char ***l, char *value) {
        size_t n = strv_length(*l);
        char **longer;

        if (!value)
                return -ENOMEM;

        longer = realloc(*l, (n + 2) * sizeof(char *));
        if (!longer) {
                free(value);
                return -ENOMEM;
        }

        longer[n] = value;
        longer[n + 1] = NULL;
        *l = longer;
        return 0;
}

/* Appends a copy of VALUE. Returns 0 or -ENOMEM. */
static inline int strv_extend(char ***l, const char *value) {
        return strv_consume(l, strdup(value));
}

/* Appends formatted text. Returns 0 or -ENOMEM. */
static inline _printf_(2, 3) int strv_extendf(char ***l, const char *format, ...) {
        char *value;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&value, format, ap);
        va_end(ap);

        return strv_consume(l, n < 0 ? NULL : value);
}
