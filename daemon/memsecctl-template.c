// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "memsecctl-template.h"
#include "util.h"

/* The files of bpf/template are part of the program: the linker names where they begin and end. */
#define TEMPLATE(symbol)                                                \
        extern const char _binary_bpf_template_##symbol##_start[];      \
        extern const char _binary_bpf_template_##symbol##_end[];

TEMPLATE(mine_bpf_c)
TEMPLATE(Makefile)
TEMPLATE(README_md)

#define TEMPLATE_FILE(file, symbol)                                     \
        { file, _binary_bpf_template_##symbol##_start, _binary_bpf_template_##symbol##_end }

static const struct {
        const char *name;
        const char *start, *end;
} files[] = {
        TEMPLATE_FILE("mine.bpf.c", mine_bpf_c),
        TEMPLATE_FILE("Makefile", Makefile),
        TEMPLATE_FILE("README.md", README_md),
};

static ExitStatus failed(const char *dir, const char *name, const char *what) {
        fprintf(stderr, "%s%s%s: %s: %s\n", dir, *name ? "/" : "", name, what, strerror(errno));
        return STATUS_FAILED;
}

/* Before anything is written. */
static ExitStatus check_absent(const char *dir, int dir_fd) {
        ExitStatus s = STATUS_OK;

        for (size_t i = 0; i < ELEMENTSOF(files); i++)
                if (faccessat(dir_fd, files[i].name, F_OK, AT_SYMLINK_NOFOLLOW) >= 0) {
                        fprintf(stderr, "%s/%s: expected no such file, found one\n", dir, files[i].name);
                        s = STATUS_FAILED;
                }

        return s;
}

static ExitStatus write_file(const char *dir, int dir_fd, size_t i) {
        _cleanup_close_ int fd = -1;
        const char *p = files[i].start;

        fd = openat(dir_fd, files[i].name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd < 0)
                return failed(dir, files[i].name, "cannot be made");

        while (p < files[i].end) {
                ssize_t n = write(fd, p, files[i].end - p);

                if (n < 0)
                        return failed(dir, files[i].name, "cannot be written");
                p += n;
        }

        return STATUS_OK;
}

ExitStatus template_write(const char *dir) {
        _cleanup_close_ int dir_fd = -1;
        ExitStatus s;

        if (mkdir(dir, 0755) < 0 && errno != EEXIST)
                return failed(dir, "", "cannot be made");

        dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd < 0)
                return failed(dir, "", "cannot be opened");

        s = check_absent(dir, dir_fd);
        for (size_t i = 0; s == STATUS_OK && i < ELEMENTSOF(files); i++)
                s = write_file(dir, dir_fd, i);
        if (s != STATUS_OK)
                return s;

        printf("%s has the beginnings of a policy. README.md says how to go on:\n"
               "    make -C %s && sudo make -C %s install\n", dir, dir, dir);
        return STATUS_OK;
}
