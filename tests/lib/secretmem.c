// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pages.h"
#include "secretmem.h"

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

int secretmem_allow(void) {
        const struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

        return setrlimit(RLIMIT_MEMLOCK, &limit) < 0 ? -errno : 0;
}

int secretmem_map(size_t n_pages, Secret *ret) {
        size_t size = n_pages * SECRETMEM_PAGE_SIZE;
        void *data;
        int fd, r;

        fd = syscall(SYS_memfd_secret, O_CLOEXEC);
        if (fd < 0)
                return -errno;

        if (ftruncate(fd, size) < 0) {
                r = -errno;
                (void) close(fd);
                return r;
        }

        data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (data == MAP_FAILED) {
                r = -errno;
                (void) close(fd);
                return r;
        }

        *ret = (Secret) { .data = data, .n_pages = n_pages, .fd = fd };
        return 0;
}

void secretmem_unmap(Secret *secret) {
        if (!secret->data)
                return;

        (void) munmap(secret->data, secret->n_pages * SECRETMEM_PAGE_SIZE);
        (void) close(secret->fd);
        *secret = (Secret) { .fd = -1 };
}

void secretmem_fill(Secret *secret) {
        pages_fill(secret->data, secret->n_pages);
}

bool secretmem_is_intact(const Secret *secret) {
        return pages_are_intact(secret->data, secret->n_pages);
}
