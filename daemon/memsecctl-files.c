// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "memsecctl-files.h"
#include "memsecctl-show.h"

#define POLICY_DIR "/etc/memsec"
#define POLICY_SUFFIX ".yaml"

/* In bytes; the reader of policy files takes no more either. */
#define FILE_SIZE_MAX ((size_t) 1024 * 1024)

static ExitStatus out_of_memory(void) {
        fprintf(stderr, "Out of memory\n");
        return STATUS_FAILED;
}

/* Says what the current errno means for PATH. */
static ExitStatus file_failed(const char *path, const char *what) {
        fprintf(stderr, "%s: %s: %s\n", path, what, strerror(errno));
        return STATUS_FAILED;
}

ExitStatus files_load(const char *root, PolicyModel **ret, char ***ret_files) {
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        int r;

        r = policy_model_load(root, /* may_miss= */ true, ret, ret_files, &errors);
        if (r == -ENOMEM)
                return out_of_memory();

        show_policy_errors(&errors, /* json= */ false);
        return r < 0 ? STATUS_FAILED : STATUS_OK;
}

ExitStatus files_model_for_one(const char *root, PolicyModel **ret) {
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_(policy_model_freep) PolicyModel *installed = NULL, *model = NULL;
        _cleanup_strv_free_ char **files = NULL;
        int r;

        r = policy_model_new(&model);
        if (r < 0)
                return out_of_memory();

        /* Their errors are no matter of the one file. */
        r = policy_model_load(root, /* may_miss= */ true, &installed, &files, &errors);
        if (r >= 0)
                r = free_and_strdup(&model->policy, installed->policy);
        if (r == -ENOMEM)
                return out_of_memory();

        *ret = TAKE_PTR(model);
        return STATUS_OK;
}

/* Would memsecd read a file of this name, and is it one in the directory of drop-ins? */
static bool dropin_name_is_valid(const char *name) {
        return *name && *name != '.' && !strchr(name, '/') &&
                strlen(name) <= NAME_MAX - strlen(POLICY_SUFFIX);
}

ExitStatus file_path(const char *root, const char *dropin, char **ret) {
        const char *suffix = dropin && endswith(dropin, POLICY_SUFFIX) ? "" : POLICY_SUFFIX;
        int n;

        if (dropin && !dropin_name_is_valid(dropin)) {
                fprintf(stderr, "Expected the name of a file in policy.d, found '%s'.\n", dropin);
                return STATUS_USAGE;
        }

        if (dropin)
                n = asprintf(ret, "%s" POLICY_DIR "/policy.d/%s%s", root ?: "", dropin, suffix);
        else
                n = asprintf(ret, "%s" POLICY_DIR "/policy" POLICY_SUFFIX, root ?: "");

        return n < 0 ? out_of_memory() : STATUS_OK;
}

/* All of FD, up to what the reader takes anyway. */
static ExitStatus read_all(int fd, const char *path, char **ret) {
        _cleanup_free_ char *text = NULL;
        size_t size = 0;

        text = malloc(FILE_SIZE_MAX + 2);
        if (!text)
                return out_of_memory();

        for (;;) {
                ssize_t n = read(fd, text + size, FILE_SIZE_MAX + 1 - size);

                if (n < 0)
                        return file_failed(path, "cannot be read");
                if (n == 0)
                        break;
                size += n;
                if (size > FILE_SIZE_MAX) {
                        errno = EFBIG;
                        return file_failed(path, "cannot be read");
                }
        }

        text[size] = 0;
        *ret = TAKE_PTR(text);
        return STATUS_OK;
}

ExitStatus file_read(const char *path, char **ret) {
        _cleanup_close_ int fd = -1;
        struct stat st;

        *ret = NULL;

        /* A new file would take the place of the link, not of what it points to. */
        if (lstat(path, &st) < 0)
                return errno == ENOENT ? STATUS_OK : file_failed(path, "cannot be read");
        if (!S_ISREG(st.st_mode)) {
                fprintf(stderr, "%s: expected a regular file, found %s\n", path,
                        S_ISLNK(st.st_mode) ? "a symbolic link" : "something else");
                return STATUS_FAILED;
        }

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
                return file_failed(path, "cannot be opened");

        return read_all(fd, path, ret);
}

/* The directory that PATH is in. To be freed. */
static char *path_directory(const char *path) {
        return strndup(path, strrchr(path, '/') - path);
}

/* Makes the directory of PATH and the one above, which are the two that a package may not have made. */
static ExitStatus make_directories(const char *path) {
        _cleanup_free_ char *dir = path_directory(path);
        mode_t mask;
        int r;

        if (!dir)
                return out_of_memory();

        mask = umask(022);
        r = mkdir(dir, 0755);
        if (r < 0 && errno == ENOENT) {
                char *slash = strrchr(dir, '/');

                *slash = 0;
                r = mkdir(dir, 0755);
                *slash = '/';
                if (r >= 0)
                        r = mkdir(dir, 0755);
        }
        umask(mask);

        return r < 0 && errno != EEXIST ? file_failed(dir, "cannot be made") : STATUS_OK;
}

static ExitStatus write_all(int fd, const char *path, const char *text) {
        size_t size = strlen(text);

        while (size > 0) {
                ssize_t n = write(fd, text, size);

                if (n < 0)
                        return file_failed(path, "cannot be written");
                text += n;
                size -= n;
        }

        return STATUS_OK;
}

ExitStatus new_file_write(const char *target, const char *text, NewFile *ret) {
        _cleanup_free_ char *dir = path_directory(target);
        _cleanup_close_ int fd = -1;
        ExitStatus s;

        s = make_directories(target);
        if (s != STATUS_OK)
                return s;

        ret->target = strdup(target);
        if (!dir || !ret->target)
                return out_of_memory();

        /* The suffix tells an editor what it is. */
        if (asprintf(&ret->temporary, "%s/.#memsecctl-XXXXXX" POLICY_SUFFIX, dir) < 0) {
                ret->temporary = NULL;
                return out_of_memory();
        }

        fd = mkostemps(ret->temporary, strlen(POLICY_SUFFIX), O_CLOEXEC);
        if (fd < 0) {
                s = file_failed(target, "cannot be written");
                ret->temporary = (free(ret->temporary), NULL);
                return s;
        }

        return write_all(fd, target, text);
}

/* Opens PATH and has the disk keep what is in it. */
static int sync_path(const char *path) {
        _cleanup_close_ int fd = -1;

        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;

        return RET_NERRNO(fsync(fd));
}

ExitStatus new_file_commit(NewFile *file) {
        _cleanup_free_ char *dir = path_directory(file->target);

        if (!dir)
                return out_of_memory();

        if (chmod(file->temporary, 0644) < 0 || sync_path(file->temporary) < 0 ||
            rename(file->temporary, file->target) < 0)
                return file_failed(file->target, "cannot be written");

        file->temporary = (free(file->temporary), NULL);
        (void) sync_path(dir);
        return STATUS_OK;
}

void new_file_done(NewFile *file) {
        if (file->temporary)
                (void) unlink(file->temporary);

        free(file->temporary);
        free(file->target);
        *file = (NewFile) {};
}
