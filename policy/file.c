// SPDX-License-Identifier: GPL-2.0-only

#include <fcntl.h>

#include "file.h"
#include "util.h"

int file_open(int dir_fd, const char *name, int flags) {
        /* A FIFO must not block and a terminal must not become ours: what it is shows only after this. */
        return RET_NERRNO(openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags));
}

static const char *file_kind(mode_t mode) {
        switch (mode & S_IFMT) {
        case S_IFDIR:
                return "a directory";
        case S_IFIFO:
                return "a FIFO";
        case S_IFCHR:
        case S_IFBLK:
                return "a device";
        default:
                return "another kind of file";
        }
}

/* Whoever may write it decides what the kernel does: only root and the caller may. */
static int check_writers(const struct stat *st, const char *what, char **ret_error) {
        if (st->st_uid != 0 && st->st_uid != geteuid())
                return error_set(ret_error, -EBADMSG,
                                 "expected %s of root or of user %u, found one of user %u", what,
                                 (unsigned) geteuid(), (unsigned) st->st_uid);

        if (st->st_mode & (S_IWGRP | S_IWOTH))
                return error_set(ret_error, -EBADMSG,
                                 "expected %s that only its owner can write, found mode %04o", what,
                                 (unsigned) st->st_mode & 07777);

        return 0;
}

int file_check(int fd, struct stat *ret, char **ret_error) {
        if (fstat(fd, ret) < 0)
                return -errno;

        if (!S_ISREG(ret->st_mode))
                return error_set(ret_error, -EBADMSG, "expected a regular file, found %s",
                                 file_kind(ret->st_mode));

        return check_writers(ret, "a file", ret_error);
}

int directory_check(int fd, char **ret_error) {
        struct stat st;

        if (fstat(fd, &st) < 0)
                return -errno;

        return check_writers(&st, "a directory", ret_error);
}

int file_read_up_to(int fd, size_t max, char **ret, size_t *ret_size) {
        _cleanup_free_ char *data = NULL;
        size_t done = 0;

        data = malloc(max);
        if (!data)
                return -ENOMEM;

        while (done < max) {
                ssize_t n = read(fd, data + done, max - done);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                done += n;
        }

        *ret = TAKE_PTR(data);
        *ret_size = done;
        return 0;
}
