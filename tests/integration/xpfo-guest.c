// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of guests outside the direct map: what a VMM gives them of its own, and private memory of
 * guest_memfd that no hardware protects. On machines with an RMP private memory is that one's to protect.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "pages.h"
#include "sysfs.h"
#include "tap.h"
#include "xpfo.h"

#define PAGES 256
#define BYTES ((size_t) PAGES * XPFO_PAGE_SIZE)
#define PRIVATE_PAGES 4096

/* Where a guest's program is, and what it works on. */
#define CODE 0x1000
#define DATA 0x2000

/* mov al, [DATA]; add al, 3; mov [DATA + 1], al; hlt */
static const uint8_t program[] = {
        0xa0, DATA & 0xff, DATA >> 8, 0x04, 0x03, 0xa2, (DATA + 1) & 0xff, DATA >> 8, 0xf4,
};

/* A guest of one vCPU that runs PROGRAM in MEMORY until it halts. */
static bool run_program(uint8_t *memory) {
        struct kvm_userspace_memory_region region = {
                .memory_size = BYTES,
                .userspace_addr = (uintptr_t) memory,
        };
        int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm, vcpu, size;
        struct kvm_regs regs = { .rip = CODE, .rflags = 2 };
        struct kvm_sregs sregs;
        struct kvm_run *run;
        bool halted;

        if (kvm < 0 || (vm = ioctl(kvm, KVM_CREATE_VM, 0)) < 0 ||
            ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region) < 0 || (vcpu = ioctl(vm, KVM_CREATE_VCPU, 0)) < 0)
                tap_bail_out("no guest");

        size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
        run = mmap(NULL, (size_t) size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
        memcpy(memory + CODE, program, sizeof(program));
        if (run == MAP_FAILED || ioctl(vcpu, KVM_GET_SREGS, &sregs) < 0)
                tap_bail_out("no vCPU");

        sregs.cs.base = 0;
        sregs.cs.selector = 0;
        halted = ioctl(vcpu, KVM_SET_SREGS, &sregs) == 0 && ioctl(vcpu, KVM_SET_REGS, &regs) == 0 &&
                 ioctl(vcpu, KVM_RUN, 0) == 0 && run->exit_reason == KVM_EXIT_HLT;
        (void) munmap(run, (size_t) size);
        (void) close(vcpu);
        (void) close(vm);
        (void) close(kvm);
        return halted;
}

static void test_program(void) {
        uint8_t *memory = xpfo_map(PAGES);

        memory[DATA] = 39;
        tap_ok(run_program(memory), "a guest runs in memory that is protected");
        tap_is(memory[DATA + 1], 42, "and works on it");
        tap_ok(xpfo_all_protected(memory, PAGES), "it stays protected");
        (void) munmap(memory, BYTES);
}

static void test_private(bool has_rmp) {
        uint64_t before = xpfo_counter("allocated"), given = xpfo_counter("freed");
        _guest_cleanup_ Guest *g = NULL;

        if (guest_create(PRIVATE_PAGES * GUEST_PAGE_SIZE, 1, &g) < 0 ||
            guest_prefault(g, 0, 0, PRIVATE_PAGES * GUEST_PAGE_SIZE) < 0)
                tap_bail_out("no guest with private memory");

        if (has_rmp) {
                tap_ok(xpfo_counter("allocated") < before + PRIVATE_PAGES,
                       "private memory is the RMP's to protect");
                return;
        }
        tap_ok(xpfo_counter("allocated") >= before + PRIVATE_PAGES, "private memory is protected");
        tap_is_errno(guest_discard(g, 0, PRIVATE_PAGES / 2 * GUEST_PAGE_SIZE), 0,
                     "half of it is given back");
        tap_ok(xpfo_counter("freed") >= given + PRIVATE_PAGES / 2, "and came back");
        g = guest_destroy(g);
        tap_ok(xpfo_counter("freed") >= given + PRIVATE_PAGES, "as does the rest");
}

int main(void) {
        _policy_cleanup_ Policy *p = xpfo_protect_all();
        uint64_t checks;

        test_program();
        test_private(sysfs_read("emulation/rmp/check", &checks) == 0);
        tap_is(xpfo_counter("failed"), 0, "nothing failed");
        tap_ok(!policy_was_dropped(p, 0), "the policy was there all the time");
        return tap_done();
}
