// SPDX-License-Identifier: GPL-2.0-only

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "kernel.h"

#define KERNEL_DIR "/sys/kernel/memsec"

/* A sysfs value is a page at the most; what memsec shows is a name or a number. */
#define VALUE_MAX 256U

/* The first line of an open file, without its newline. */
static int read_line(int fd, char ret[static VALUE_MAX]) {
        ssize_t n;

        n = pread(fd, ret, VALUE_MAX - 1, 0);
        if (n < 0)
                return -errno;

        ret[n] = '\0';
        ret[strcspn(ret, "\n")] = '\0';
        return 0;
}

static int read_value(int dir_fd, const char *name, char ret[static VALUE_MAX]) {
        _cleanup_close_ int fd = -1;

        fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        return fd < 0 ? -errno : read_line(fd, ret);
}

static int parse_number(const char *text, uint64_t *ret) {
        uintmax_t value;
        char *end;

        errno = 0;
        value = strtoumax(text, &end, 10);
        if (errno > 0 || end == text || *end)
                return -EINVAL;

        *ret = value;
        return 0;
}

static int read_number(int dir_fd, const char *name, uint64_t *ret) {
        char text[VALUE_MAX];
        int r;

        r = read_value(dir_fd, name, text);
        return r < 0 ? r : parse_number(text, ret);
}

/* The directory of memsec itself (MECHANISM is NULL) or of a mechanism. */
static int open_dir(const char *root, const char *mechanism) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s" KERNEL_DIR "/%s", root ?: "", mechanism ?: "") < 0) {
                path = NULL;
                return -ENOMEM;
        }

        return RET_NERRNO(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

KernelState kernel_state(const char *root) {
        static const struct {
                const char *name;
                KernelState state;
        } states[] = {
                { "off",        KERNEL_OFF      },
                { "detached",   KERNEL_DETACHED },
                { "attached",   KERNEL_ATTACHED },
                { "fused",      KERNEL_FUSED    },
        };
        _cleanup_close_ int dir_fd = open_dir(root, NULL);
        char text[VALUE_MAX];

        if (dir_fd < 0 || read_value(dir_fd, "state", text) < 0)
                return KERNEL_ABSENT;

        for (size_t i = 0; i < ELEMENTSOF(states); i++)
                if (streq(text, states[i].name))
                        return states[i].state;

        return KERNEL_ABSENT;
}

unsigned kernel_abi(const char *root) {
        _cleanup_close_ int dir_fd = open_dir(root, NULL);
        uint64_t abi;

        if (dir_fd < 0 || read_number(dir_fd, "abi", &abi) < 0 || abi > UINT32_MAX)
                return 0;

        return abi;
}

static int read_text(const char *root, const char *name, char **ret) {
        _cleanup_close_ int dir_fd = open_dir(root, NULL);
        char text[VALUE_MAX];

        if (dir_fd < 0 || read_value(dir_fd, name, text) < 0)
                text[0] = '\0';

        *ret = strdup(text);
        return *ret ? 0 : -ENOMEM;
}

int kernel_policy_name(const char *root, char **ret) {
        return read_text(root, "policy", ret);
}

int kernel_policy_programs(const char *root, char **ret) {
        return read_text(root, "programs", ret);
}

int kernel_counter_read(const char *root, const char *mechanism, const char *name, uint64_t *ret) {
        _cleanup_close_ int dir_fd = open_dir(root, mechanism);

        return dir_fd < 0 ? dir_fd : read_number(dir_fd, name, ret);
}

int kernel_asked_open(const char *root, const char *mechanism) {
        _cleanup_close_ int dir_fd = open_dir(root, mechanism);

        return dir_fd < 0 ? dir_fd : RET_NERRNO(openat(dir_fd, "asked", O_RDONLY | O_CLOEXEC | O_NOCTTY));
}

int kernel_asked_read(int fd, uint64_t *ret) {
        char text[VALUE_MAX];
        int r;

        r = read_line(fd, text);
        return r < 0 ? r : parse_number(text, ret);
}

void kernel_values_done(KernelValues *values) {
        for (size_t i = 0; i < values->n_items; i++)
                free(values->items[i].name);

        free(values->items);
        *values = (KernelValues) {};
}

static int kernel_values_add(KernelValues *values, const char *name, uint64_t value) {
        KernelValue *longer;

        longer = reallocarray(values->items, values->n_items + 1, sizeof(KernelValue));
        if (!longer)
                return -ENOMEM;

        values->items = longer;
        longer[values->n_items] = (KernelValue) {
                .name = strdup(name),
                .value = value,
        };
        if (!longer[values->n_items].name)
                return -ENOMEM;

        values->n_items++;
        return 0;
}

static int compare_names(const void *a, const void *b) {
        const KernelValue *x = a, *y = b;

        return strcmp(x->name, y->name);
}

int kernel_values_read(const char *root, const char *mechanism, KernelValues *ret) {
        _cleanup_kernel_values_ KernelValues values = {};
        _cleanup_closedir_ DIR *dir = NULL;
        struct dirent *entry;
        int fd, r;

        fd = open_dir(root, mechanism);
        if (fd == -ENOMEM)
                return fd;

        if (fd >= 0) {
                dir = fdopendir(fd);
                if (!dir) {
                        safe_close(fd);
                        return -ENOMEM;
                }
        }

        while (dir && (entry = readdir(dir))) {
                uint64_t value;

                /* Directories, and files that do not hold one number, are not for this list. */
                if (read_number(dirfd(dir), entry->d_name, &value) < 0)
                        continue;

                r = kernel_values_add(&values, entry->d_name, value);
                if (r < 0)
                        return r;
        }

        if (values.n_items > 0)
                qsort(values.items, values.n_items, sizeof(KernelValue), compare_names);

        *ret = values;
        values = (KernelValues) {};
        return 0;
}
