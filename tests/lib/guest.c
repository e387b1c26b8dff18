// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"

/* What the system's headers may be too old for. */
#ifndef KVM_X86_SW_PROTECTED_VM
#define KVM_X86_SW_PROTECTED_VM 1
#endif

#ifndef KVM_SET_USER_MEMORY_REGION2
#define KVM_MEM_GUEST_MEMFD (1UL << 2)
struct kvm_userspace_memory_region2 {
        __u32 slot;
        __u32 flags;
        __u64 guest_phys_addr;
        __u64 memory_size;
        __u64 userspace_addr;
        __u64 guest_memfd_offset;
        __u32 guest_memfd;
        __u32 pad1;
        __u64 pad2[14];
};
#define KVM_SET_USER_MEMORY_REGION2 _IOW(KVMIO, 0x49, struct kvm_userspace_memory_region2)
#endif

#ifndef KVM_SET_MEMORY_ATTRIBUTES
struct kvm_memory_attributes {
        __u64 address;
        __u64 size;
        __u64 attributes;
        __u64 flags;
};
#define KVM_MEMORY_ATTRIBUTE_PRIVATE (1ULL << 3)
#define KVM_SET_MEMORY_ATTRIBUTES _IOW(KVMIO, 0xd2, struct kvm_memory_attributes)
#endif

#ifndef KVM_CREATE_GUEST_MEMFD
struct kvm_create_guest_memfd {
        __u64 size;
        __u64 flags;
        __u64 reserved[6];
};
#define KVM_CREATE_GUEST_MEMFD _IOWR(KVMIO, 0xd4, struct kvm_create_guest_memfd)
#endif

#ifndef KVM_PRE_FAULT_MEMORY
struct kvm_pre_fault_memory {
        __u64 gpa;
        __u64 size;
        __u64 flags;
        __u64 padding[5];
};
#define KVM_PRE_FAULT_MEMORY _IOWR(KVMIO, 0xd5, struct kvm_pre_fault_memory)
#endif

struct Guest {
        int vm;
        int memory;             /* the private one */
        void *shared;           /* the other */
        uint64_t size;
        unsigned n_vcpus;
        int vcpus[];
};

static int log_errno(int error, const char *what) {
        fprintf(stderr, "guest: %s: %s\n", what, strerror(error));
        return -error;
}

static int create_vm(Guest *g) {
        int kvm, r = 0;

        kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
        if (kvm < 0)
                return log_errno(errno, "opening /dev/kvm");

        g->vm = ioctl(kvm, KVM_CREATE_VM, KVM_X86_SW_PROTECTED_VM);
        if (g->vm < 0)
                r = log_errno(errno, "KVM_CREATE_VM of a KVM_X86_SW_PROTECTED_VM");

        (void) close(kvm);
        return r;
}

static int create_memory(Guest *g) {
        struct kvm_create_guest_memfd private = { .size = g->size };
        struct kvm_userspace_memory_region2 region = {
                .flags = KVM_MEM_GUEST_MEMFD,
                .memory_size = g->size,
        };

        g->memory = ioctl(g->vm, KVM_CREATE_GUEST_MEMFD, &private);
        if (g->memory < 0)
                return log_errno(errno, "KVM_CREATE_GUEST_MEMFD");

        g->shared = mmap(NULL, g->size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (g->shared == MAP_FAILED)
                return log_errno(errno, "mapping shared memory");

        region.userspace_addr = (uintptr_t) g->shared;
        region.guest_memfd = g->memory;
        if (ioctl(g->vm, KVM_SET_USER_MEMORY_REGION2, &region) < 0)
                return log_errno(errno, "KVM_SET_USER_MEMORY_REGION2");

        return guest_set_private(g, 0, g->size, true);
}

static int create_vcpus(Guest *g, unsigned n_vcpus) {
        for (; g->n_vcpus < n_vcpus; g->n_vcpus++) {
                g->vcpus[g->n_vcpus] = ioctl(g->vm, KVM_CREATE_VCPU, g->n_vcpus);
                if (g->vcpus[g->n_vcpus] < 0)
                        return log_errno(errno, "KVM_CREATE_VCPU");
        }

        return 0;
}

int guest_set_backing(bool large) {
        int fd, r = 0;

        fd = open("/sys/module/kvm/parameters/gmem_2m", O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return log_errno(errno, "gmem_2m");

        if (write(fd, large ? "1" : "0", 1) != 1)
                r = log_errno(errno, "gmem_2m");
        (void) close(fd);
        return r;
}

int guest_create(uint64_t size, unsigned n_vcpus, Guest **ret) {
        _guest_cleanup_ Guest *g = NULL;
        int r;

        g = malloc(sizeof(*g) + n_vcpus * sizeof(g->vcpus[0]));
        if (!g)
                return log_errno(ENOMEM, "allocating");

        *g = (Guest) { .vm = -1, .memory = -1, .shared = MAP_FAILED, .size = size };

        r = create_vm(g);
        if (r < 0)
                return r;
        r = create_memory(g);
        if (r < 0)
                return r;
        r = create_vcpus(g, n_vcpus);
        if (r < 0)
                return r;

        *ret = g;
        g = NULL;
        return 0;
}

Guest *guest_destroy(Guest *g) {
        if (!g)
                return NULL;

        for (unsigned i = 0; i < g->n_vcpus; i++)
                (void) close(g->vcpus[i]);
        if (g->vm >= 0)
                (void) close(g->vm);
        if (g->memory >= 0)
                (void) close(g->memory);
        if (g->shared != MAP_FAILED)
                (void) munmap(g->shared, g->size);
        free(g);
        return NULL;
}

int guest_set_private(Guest *g, uint64_t gpa, uint64_t size, bool private) {
        struct kvm_memory_attributes attributes = {
                .address = gpa,
                .size = size,
                .attributes = private ? KVM_MEMORY_ATTRIBUTE_PRIVATE : 0,
        };

        if (ioctl(g->vm, KVM_SET_MEMORY_ATTRIBUTES, &attributes) < 0)
                return log_errno(errno, "KVM_SET_MEMORY_ATTRIBUTES");

        return 0;
}

int guest_prefault(Guest *g, unsigned vcpu, uint64_t gpa, uint64_t size) {
        struct kvm_pre_fault_memory range = { .gpa = gpa, .size = size };

        if (vcpu >= g->n_vcpus)
                return log_errno(EINVAL, "there is no such vCPU");

        /* The kernel takes off what is done, and ends early when it has to. */
        while (range.size > 0)
                if (ioctl(g->vcpus[vcpu], KVM_PRE_FAULT_MEMORY, &range) < 0 &&
                    errno != EAGAIN && errno != EINTR)
                        return log_errno(errno, "KVM_PRE_FAULT_MEMORY");

        return 0;
}

int guest_discard(Guest *g, uint64_t gpa, uint64_t size) {
        if (fallocate(g->memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, gpa, size) < 0)
                return log_errno(errno, "punching a hole into private memory");

        return 0;
}
