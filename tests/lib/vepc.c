// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sysfs.h"
#include "vepc.h"

#define PAGE_SIZE 4096UL

struct Vepc {
        int fd;
        uint8_t *base;
        size_t n_pages;
};

static int log_errno(int error, const char *what) {
        fprintf(stderr, "vepc: %s: %s\n", what, strerror(error));
        return -error;
}

int vepc_new(size_t n_pages, Vepc **ret) {
        _vepc_cleanup_ Vepc *v = NULL;
        void *p;

        v = malloc(sizeof(*v));
        if (!v)
                return log_errno(ENOMEM, "allocating");

        *v = (Vepc) { .fd = -1 };

        v->fd = open("/dev/sgx_vepc", O_RDWR | O_CLOEXEC);
        if (v->fd < 0)
                return log_errno(errno, "opening /dev/sgx_vepc");

        p = mmap(NULL, n_pages * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd, 0);
        if (p == MAP_FAILED)
                return log_errno(errno, "mapping");

        v->base = p;
        v->n_pages = n_pages;

        *ret = v;
        v = NULL;
        return 0;
}

Vepc *vepc_free(Vepc *v) {
        if (!v)
                return NULL;

        if (v->base)
                (void) munmap(v->base, v->n_pages * PAGE_SIZE);
        if (v->fd >= 0)
                (void) close(v->fd);
        free(v);
        return NULL;
}

int vepc_touch(Vepc *v, size_t first, size_t n) {
        int fd, r = 0;

        /* Where a load or store would get SIGBUS for want of a page, a system call fails with EFAULT. */
        fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return log_errno(errno, "opening /dev/zero");

        for (size_t page = first; page < first + n; page++)
                if (read(fd, v->base + page * PAGE_SIZE, sizeof(uint64_t)) < 0) {
                        r = errno == EFAULT ? -ENOMEM : log_errno(errno, "touching a page");
                        break;
                }

        (void) close(fd);
        return r;
}

void *vepc_base(const Vepc *v) {
        return v->base;
}

int vepc_fd(const Vepc *v) {
        return v->fd;
}

int vepc_leave(size_t leave, Vepc **ret) {
        _vepc_cleanup_ Vepc *v = NULL;
        uint64_t total;
        int r;

        r = sysfs_read("emulation/sgx/epc_total", &total);
        if (r < 0)
                return r;
        if (total <= leave)
                return log_errno(ENOSPC, "the EPC is too small");

        r = vepc_new(total - leave, &v);
        if (r < 0)
                return r;

        r = vepc_touch(v, 0, total - leave);
        if (r < 0)
                return log_errno(-r, "taking EPC");

        *ret = v;
        v = NULL;
        return 0;
}
