// SPDX-License-Identifier: GPL-2.0-only

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "file.h"
#include "internal.h"
#include "policy.h"
#include "util.h"

DEFINE_TRIVIAL_CLEANUP_FUNC(PolicyModel *, policy_model_free)

/* Read in this order, before the drop-ins. */
static const char *const main_files[] = {
        "/usr/lib/memsec/policy.yaml",
        "/etc/memsec/policy.yaml",
};

/* A name in an earlier directory hides the same name in a later one. */
static const char *const dropin_dirs[] = {
        "/etc/memsec/policy.d",
        "/run/memsec/policy.d",
};

/* Appends what R, a negative errno, says about PATH. Returns R, or -ENOMEM. */
static int system_error(PolicyErrors *errors, const char *path, const char *what, int r) {
        return policy_errors_add(errors, path, 0, 0, "%s: %s", what, strerror(-r)) < 0 ? -ENOMEM : r;
}

static int read_open_file(PolicyModel *model, int fd, const char *path, PolicyErrors *errors) {
        _cleanup_free_ char *text = NULL, *error = NULL;
        struct stat st;
        size_t n;
        int r;

        r = file_check(fd, &st, &error);
        if (r < 0 && error)
                return policy_errors_add(errors, path, 0, 0, "%s", error) < 0 ? -ENOMEM : r;
        if (r < 0)
                return system_error(errors, path, "cannot be read", r);

        /* One byte more than allowed, so that the reader sees that there is more. */
        r = file_read_up_to(fd, POLICY_FILE_MAX + 1, &text, &n);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return system_error(errors, path, "cannot be read", r);

        return policy_model_read_text(model, path, text, n, errors);
}

int policy_model_read_file(PolicyModel *model, const char *path, PolicyErrors *errors) {
        _cleanup_close_ int fd = -1;

        fd = file_open(AT_FDCWD, path, 0);
        if (fd < 0)
                return system_error(errors, path, "cannot be opened", fd);

        return read_open_file(model, fd, path, errors);
}

/* Is FD /dev/null, to which a link says that there is to be no such file? */
static bool is_mask(int fd) {
        struct stat st;

        return fstat(fd, &st) >= 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

static bool is_missing(const char *path) {
        return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

static int read_layer(PolicyModel *model, const char *path, char ***files, PolicyErrors *errors) {
        _cleanup_close_ int fd = -1;
        int r;

        fd = file_open(AT_FDCWD, path, 0);
        if (fd == -ENOENT && is_missing(path))
                return 0;
        if (fd < 0)
                return system_error(errors, path, "cannot be opened", fd);
        if (is_mask(fd))
                return 0;

        r = strv_extend(files, path);
        if (r < 0)
                return r;

        return read_open_file(model, fd, path, errors);
}

static const char *path_name(const char *path) {
        return strrchr(path, '/') + 1;
}

static int compare_path_names(const void *a, const void *b) {
        return strcmp(path_name(*(char *const *) a), path_name(*(char *const *) b));
}

static bool is_hidden(const char *name, char *const *paths) {
        STRV_FOREACH(path, paths)
                if (streq(path_name(*path), name))
                        return true;

        return false;
}

/* Appends the drop-ins of DIR to PATHS, those aside that are hidden by what is there. */
static int list_dropins(const char *dir, char ***paths, PolicyErrors *errors) {
        _cleanup_closedir_ DIR *d = NULL;
        int r;

        d = opendir(dir);
        if (!d && errno == ENOENT && is_missing(dir))
                return 0;
        if (!d)
                return system_error(errors, dir, "cannot be listed", -errno);

        for (;;) {
                const struct dirent *entry;

                errno = 0;
                entry = readdir(d);
                if (!entry)
                        return errno == 0 ? 0 : system_error(errors, dir, "cannot be listed", -errno);

                if (entry->d_name[0] == '.' || !endswith(entry->d_name, ".yaml") ||
                    is_hidden(entry->d_name, *paths))
                        continue;

                r = strv_extendf(paths, "%s/%s", dir, entry->d_name);
                if (r < 0)
                        return r;
        }
}

/* All paths that may hold a layer, in the order in which they are read. */
static int list_layers(const char *root, char ***ret, PolicyErrors *errors) {
        _cleanup_strv_free_ char **paths = NULL, **dropins = NULL;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(main_files); i++) {
                r = strv_extendf(&paths, "%s%s", root, main_files[i]);
                if (r < 0)
                        return r;
        }

        for (size_t i = 0; i < ELEMENTSOF(dropin_dirs); i++) {
                _cleanup_free_ char *dir = NULL;

                if (asprintf(&dir, "%s%s", root, dropin_dirs[i]) < 0)
                        return -ENOMEM;

                r = list_dropins(dir, &dropins, errors);
                if (r == -ENOMEM)
                        return r;
        }

        if (dropins)
                qsort(dropins, strv_length(dropins), sizeof(char *), compare_path_names);

        STRV_FOREACH(path, dropins) {
                r = strv_extend(&paths, *path);
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(paths);
        return 0;
}

int policy_model_load(const char *root, bool may_miss, PolicyModel **ret, char ***ret_files,
                      PolicyErrors *errors) {
        _cleanup_strv_free_ char **paths = NULL, **files = NULL;
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        size_t n_before = errors->n_items;
        int r;

        r = policy_model_new(&model);
        if (r < 0)
                return r;

        r = list_layers(root ?: "", &paths, errors);
        if (r < 0)
                return r;

        STRV_FOREACH(path, paths) {
                r = read_layer(model, *path, &files, errors);
                if (r == -ENOMEM)
                        return r;
        }

        r = policy_model_resolve(model, root, may_miss, errors);
        if (r == -ENOMEM)
                return r;
        if (errors->n_items > n_before)
                return -EBADMSG;

        policy_model_forget_statements(model);
        *ret = TAKE_PTR(model);
        *ret_files = TAKE_PTR(files);
        return 0;
}
