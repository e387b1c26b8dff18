/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Guests with private memory, through /dev/kvm: a KVM_X86_SW_PROTECTED_VM over a guest_memfd. No guest code
 * runs. Its memory is faulted in by KVM_PRE_FAULT_MEMORY, which goes the way of a guest's own accesses.
 *
 * Guest physical memory is one range from 0 on, private until guest_set_private() says otherwise. GPA and
 * SIZE are whole pages. All functions that can fail return a negative errno and say on stderr what failed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUEST_PAGE_SIZE UINT64_C(4096)

typedef struct Guest Guest;

int guest_create(uint64_t size, unsigned n_vcpus, Guest **ret);

/* Private memory of guests is by 2 MiB where it fits, or by 4 KiB, as it is at first. */
int guest_set_backing(bool large);

/* Everything is given back by the time it returns, unless another process has it open. NULL is fine. */
Guest *guest_destroy(Guest *g);

/* Says only what the memory is to be. What was faulted in stays with the guest until guest_discard(). */
int guest_set_private(Guest *g, uint64_t gpa, uint64_t size, bool private);

/* Fault memory in on a vCPU. A vCPU serves one thread at a time, others go on meanwhile. */
int guest_prefault(Guest *g, unsigned vcpu, uint64_t gpa, uint64_t size);

/* Give private memory back, whether it was faulted in or not. */
int guest_discard(Guest *g, uint64_t gpa, uint64_t size);

static inline void guest_destroyp(Guest **g) {
        guest_destroy(*g);
}

#define _guest_cleanup_ __attribute__((cleanup(guest_destroyp)))
