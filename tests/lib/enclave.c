// SPDX-License-Identifier: GPL-2.0-only
#include <asm/sgx.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "enclave.h"

#define PAGE_SIZE 4096UL
#define WORDS_PER_PAGE (PAGE_SIZE / sizeof(uint64_t))

/* Pages given to the driver at once: large enough to be quick, small enough to stay in the cache. */
#define ADD_CHUNK_PAGES 64UL

#define ATTRIBUTE_DEBUG (1ULL << 1)
#define ATTRIBUTE_MODE64BIT (1ULL << 2)
/* x87 and SSE, which every enclave must have. */
#define XFRM_LEGACY 3ULL

#define SECINFO_R (1ULL << 0)
#define SECINFO_W (1ULL << 1)
#define SECINFO_REG (2ULL << 8)

/* The architecture's structures, as far as they are filled here; the rest is zero. */
typedef struct Secs {
        uint64_t size;
        uint64_t base;
        uint32_t ssa_frame_size;
        uint32_t miscselect;
        uint8_t reserved1[24];
        uint64_t attributes;
        uint64_t xfrm;
        uint8_t rest[4032];
} Secs;

_Static_assert(sizeof(Secs) == PAGE_SIZE, "SECS is one page");

typedef struct __attribute__((aligned(64))) Secinfo {
        uint64_t flags;
        uint64_t reserved[7];
} Secinfo;

typedef struct __attribute__((packed)) Sigstruct {
        uint64_t header1[2];
        uint32_t vendor;
        uint32_t date;
        uint64_t header2[2];
        uint32_t swdefined;
        uint8_t reserved1[84];
        uint8_t modulus[384];
        uint32_t exponent;
        uint8_t signature[384];
        uint32_t miscselect;
        uint32_t misc_mask;
        uint8_t reserved2[20];
        uint64_t attributes;
        uint64_t xfrm;
        uint64_t attributes_mask;
        uint64_t xfrm_mask;
        uint8_t mrenclave[32];
        uint8_t reserved3[32];
        uint16_t isv_prod_id;
        uint16_t isv_svn;
        uint8_t reserved4[12];
        uint8_t q1[384];
        uint8_t q2[384];
} Sigstruct;

_Static_assert(sizeof(Sigstruct) == 1808, "SIGSTRUCT has 1808 bytes");

struct Enclave {
        int fd;
        uint8_t *base;
        size_t n_pages;
};

static int log_errno(int error, const char *what) {
        fprintf(stderr, "enclave: %s: %s\n", what, strerror(error));
        return -error;
}

static uint64_t pattern_word(uint64_t seed, size_t page, size_t word) {
        switch (word) {
        case 0:
                return page;
        case 1:
                return seed;
        default:
                return (seed ^ (page << 12)) + word * 0x9e3779b97f4a7c15ULL;
        }
}

static void pattern_write(uint64_t *p, uint64_t seed, size_t page) {
        for (size_t i = 0; i < WORDS_PER_PAGE; i++)
                p[i] = pattern_word(seed, page, i);
}

/* An enclave begins at a multiple of its size. Nothing can access the range until it is mapped. */
static int reserve_range(size_t size, uint8_t **ret) {
        uint8_t *area, *base;

        area = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (area == MAP_FAILED)
                return log_errno(errno, "reserving the address range");

        base = (uint8_t*) (((uintptr_t) area + size - 1) & ~(size - 1));
        if (base > area)
                (void) munmap(area, base - area);
        (void) munmap(base + size, area + size - base);

        *ret = base;
        return 0;
}

int enclave_new(size_t n_pages, Enclave **ret) {
        _enclave_cleanup_ Enclave *e = NULL;
        struct sgx_enclave_create create = {};
        size_t size = 2 * PAGE_SIZE; /* the least there can be */
        Secs *secs;
        int r;

        while (size < n_pages * PAGE_SIZE)
                size *= 2;

        e = malloc(sizeof(*e));
        if (!e)
                return log_errno(ENOMEM, "allocating");

        *e = (Enclave) { .fd = -1 };

        e->fd = open("/dev/sgx_enclave", O_RDWR | O_CLOEXEC);
        if (e->fd < 0)
                return log_errno(errno, "opening /dev/sgx_enclave");

        r = reserve_range(size, &e->base);
        if (r < 0)
                return r;
        e->n_pages = size / PAGE_SIZE;

        secs = calloc(1, sizeof(*secs));
        if (!secs)
                return log_errno(ENOMEM, "allocating");

        secs->size = size;
        secs->base = (uintptr_t) e->base;
        secs->ssa_frame_size = 1;
        secs->attributes = ATTRIBUTE_DEBUG | ATTRIBUTE_MODE64BIT;
        secs->xfrm = XFRM_LEGACY;
        create.src = (uintptr_t) secs;

        r = 0;
        if (ioctl(e->fd, SGX_IOC_ENCLAVE_CREATE, &create) < 0)
                r = log_errno(errno, "SGX_IOC_ENCLAVE_CREATE");
        free(secs);
        if (r < 0)
                return r;

        *ret = e;
        e = NULL;
        return 0;
}

Enclave *enclave_free(Enclave *e) {
        if (!e)
                return NULL;

        if (e->base)
                (void) munmap(e->base, e->n_pages * PAGE_SIZE);
        if (e->fd >= 0)
                (void) close(e->fd);
        free(e);
        return NULL;
}

static int add_pages(Enclave *e, size_t first, size_t n, const void *src, uint64_t flags) {
        Secinfo secinfo = { .flags = SECINFO_REG | SECINFO_R | SECINFO_W };
        size_t done = 0;

        /* The driver stops early for signals and then takes up where it stopped. */
        while (done < n * PAGE_SIZE) {
                struct sgx_enclave_add_pages add = {
                        .src = (uintptr_t) src + done,
                        .offset = first * PAGE_SIZE + done,
                        .length = n * PAGE_SIZE - done,
                        .secinfo = (uintptr_t) &secinfo,
                        .flags = flags,
                };

                if (ioctl(e->fd, SGX_IOC_ENCLAVE_ADD_PAGES, &add) < 0 && errno != EINTR)
                        return log_errno(errno, "SGX_IOC_ENCLAVE_ADD_PAGES");
                done += add.count;
        }

        return 0;
}

int enclave_add(Enclave *e, size_t first, size_t n, uint64_t seed) {
        uint64_t *buffer;
        int r = 0;

        buffer = aligned_alloc(PAGE_SIZE, ADD_CHUNK_PAGES * PAGE_SIZE);
        if (!buffer)
                return log_errno(ENOMEM, "allocating");

        while (n > 0 && r >= 0) {
                size_t chunk = n < ADD_CHUNK_PAGES ? n : ADD_CHUNK_PAGES;

                for (size_t i = 0; i < chunk; i++)
                        pattern_write(buffer + i * WORDS_PER_PAGE, seed, first + i);

                r = add_pages(e, first, chunk, buffer, 0);
                first += chunk;
                n -= chunk;
        }

        free(buffer);
        return r;
}

int enclave_add_measured(Enclave *e, size_t first, size_t n, const void *src) {
        return add_pages(e, first, n, src, SGX_PAGE_MEASURE);
}

int enclave_init(Enclave *e) {
        Sigstruct sigstruct = {
                /* The constants that mark a SIGSTRUCT. */
                .header1 = { 0x000000e100000006, 0x0000000000010000 },
                .header2 = { 0x0000006000000101, 0x0000000100000060 },
                .exponent = 3,
                .attributes = ATTRIBUTE_DEBUG | ATTRIBUTE_MODE64BIT,
                .attributes_mask = ATTRIBUTE_MODE64BIT,
                .xfrm = XFRM_LEGACY,
                .xfrm_mask = XFRM_LEGACY,
        };
        struct sgx_enclave_init init = { .sigstruct = (uintptr_t) &sigstruct };

        if (ioctl(e->fd, SGX_IOC_ENCLAVE_INIT, &init) < 0)
                return log_errno(errno, "SGX_IOC_ENCLAVE_INIT");

        return 0;
}

int enclave_map(Enclave *e) {
        void *p;

        p = mmap(e->base, e->n_pages * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, e->fd, 0);
        if (p == MAP_FAILED)
                return log_errno(errno, "mapping the enclave");

        return 0;
}

int enclave_build(size_t n_pages, uint64_t seed, Enclave **ret) {
        _enclave_cleanup_ Enclave *e = NULL;
        int r;

        r = enclave_new(n_pages, &e);
        if (r < 0)
                return r;

        r = enclave_add(e, 0, n_pages, seed);
        if (r < 0)
                return r;

        r = enclave_init(e);
        if (r < 0)
                return r;

        r = enclave_map(e);
        if (r < 0)
                return r;

        *ret = e;
        e = NULL;
        return 0;
}

void *enclave_base(const Enclave *e) {
        return e->base;
}

int enclave_fd(const Enclave *e) {
        return e->fd;
}

size_t enclave_range_pages(const Enclave *e) {
        return e->n_pages;
}

static volatile uint64_t *enclave_page(const Enclave *e, size_t page) {
        return (volatile uint64_t*) (e->base + page * PAGE_SIZE);
}

void enclave_touch(const Enclave *e, size_t first, size_t n) {
        for (size_t page = first; page < first + n; page++)
                (void) enclave_page(e, page)[0];
}

void enclave_fill(Enclave *e, size_t first, size_t n, uint64_t seed) {
        for (size_t page = first; page < first + n; page++)
                pattern_write((uint64_t*) enclave_page(e, page), seed, page);
}

int enclave_check(const Enclave *e, size_t first, size_t n, uint64_t seed) {
        for (size_t page = first; page < first + n; page++) {
                volatile uint64_t *p = enclave_page(e, page);

                for (size_t i = 0; i < WORDS_PER_PAGE; i++) {
                        uint64_t found = p[i], expected = pattern_word(seed, page, i);

                        if (found == expected)
                                continue;

                        fprintf(stderr,
                                "enclave: page %zu, word %zu: expected %#" PRIx64 ", found %#" PRIx64 "\n",
                                page, i, expected, found);
                        return -EBADMSG;
                }
        }

        return 0;
}

int enclave_restrict(Enclave *e, size_t first, size_t n, int prot) {
        struct sgx_enclave_restrict_permissions restrict_permissions = {
                .offset = first * PAGE_SIZE,
                .length = n * PAGE_SIZE,
                .permissions = prot, /* PROT_READ, PROT_WRITE and PROT_EXEC have SECINFO's values */
        };

        if (ioctl(e->fd, SGX_IOC_ENCLAVE_RESTRICT_PERMISSIONS, &restrict_permissions) < 0)
                return log_errno(errno, "SGX_IOC_ENCLAVE_RESTRICT_PERMISSIONS");

        return 0;
}

int enclave_set_type(Enclave *e, size_t first, size_t n, EnclavePageType type) {
        struct sgx_enclave_modify_types modify_types = {
                .offset = first * PAGE_SIZE,
                .length = n * PAGE_SIZE,
                .page_type = type,
        };

        if (ioctl(e->fd, SGX_IOC_ENCLAVE_MODIFY_TYPES, &modify_types) < 0)
                return log_errno(errno, "SGX_IOC_ENCLAVE_MODIFY_TYPES");

        return 0;
}

int enclave_remove(Enclave *e, size_t first, size_t n) {
        struct sgx_enclave_remove_pages remove_pages = {
                .offset = first * PAGE_SIZE,
                .length = n * PAGE_SIZE,
        };

        if (ioctl(e->fd, SGX_IOC_ENCLAVE_REMOVE_PAGES, &remove_pages) < 0)
                return log_errno(errno, "SGX_IOC_ENCLAVE_REMOVE_PAGES");

        return 0;
}
