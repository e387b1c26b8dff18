/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A guest whose vCPUs fault its private memory in, each a share of it, and what must hold meanwhile. All
 * functions end the test when they cannot do what they say, and fail a check where something is wrong.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "directmap.h"
#include "guest.h"
#include "sysfs.h"
#include "tap.h"

#define FAULTS_SIZE (UINT64_C(48) << 20)
#define FAULTS_PAGES (FAULTS_SIZE / GUEST_PAGE_SIZE)
#define FAULTS_VCPUS 3

#define FAULTS_ENTRY (UINT64_C(2) << 20)
#define FAULTS_RUN (16 * GUEST_PAGE_SIZE)
#define FAULTS_SHARE (FAULTS_SIZE / FAULTS_VCPUS)
#define FAULTS_BYSTANDER (UINT64_C(32) << 20)

/* In which order a vCPU faults its pages in. */
typedef enum Order {
        IN_ORDER,
        REVERSE,
        RANDOM,
        _ORDER_MAX,
} Order;

static const char *const order_names[_ORDER_MAX] = {
        [IN_ORDER] = "in order",
        [REVERSE] = "in reverse",
        [RANDOM] = "at random",
};

typedef struct Vcpu {
        pthread_t thread;
        Guest *guest;
        unsigned number;
        Order order;
        int r;
} Vcpu;

/* Memory of a process that has nothing to do with guests. */
static uint64_t *bystander;

static uint64_t read_number(const char *name) {
        uint64_t value;

        if (sysfs_read(name, &value) < 0)
                tap_bail_out("no counters");

        return value;
}

/* The pages of all guests in the table of who holds memory. */
static uint64_t pages_of_guests(void) {
        char kind[16], line[4096];
        uint64_t pages, sum = 0;
        FILE *f;

        f = fopen("/proc/memsec/directmap_owners", "re");
        if (!f)
                tap_bail_out("no table of owners");

        while (fgets(line, sizeof(line), f))
                if (sscanf(line, "%15s %*u %" SCNu64, kind, &pages) == 2 && strcmp(kind, "guest") == 0)
                        sum += pages;
        (void) fclose(f);
        return sum;
}

static uint64_t bystander_word(size_t i) {
        return i * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

/* Once, before all others: memory of this process that lies among that of guests. */
__attribute__((unused)) static void faults_begin(void) {
        bystander = mmap(NULL, FAULTS_BYSTANDER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (bystander == MAP_FAILED)
                tap_bail_out("no memory");

        for (size_t i = 0; i < FAULTS_BYSTANDER / sizeof(*bystander); i++)
                bystander[i] = bystander_word(i);
}

static bool bystander_is_intact(void) {
        for (size_t i = 0; i < FAULTS_BYSTANDER / sizeof(*bystander); i++)
                if (bystander[i] != bystander_word(i))
                        return false;

        return true;
}

__attribute__((unused)) static void faults_check(void) {
        tap_is(read_number("emulation/rmp/violations"), 0, "no private page ever was in too large an entry");
        tap_is(read_number("emulation/rmp/violations_now"), 0, "and none is");
        tap_is(read_number("emulation/rmp/assigned_pages"), directmap_counter("guest_pages"),
               "memsec knows all private pages");
        tap_is(pages_of_guests(), directmap_counter("guest_pages"), "and whose they are");
        tap_ok(bystander_is_intact(), "other memory holds what was written");
}

__attribute__((unused)) static Guest *faults_new_guest(void) {
        Guest *g;

        if (guest_create(FAULTS_SIZE, FAULTS_VCPUS, &g) < 0)
                tap_bail_out("no guest");

        return g;
}

/* Private memory of guests from now on by 2 MiB where it fits, or by 4 KiB. */
__attribute__((unused)) static void faults_set_backing(bool large) {
        if (guest_set_backing(large) < 0)
                tap_bail_out("cannot choose how memory is backed");
}

/* Which of N runs of pages is the Ith that is faulted in. */
static uint64_t step(Order order, uint64_t i, uint64_t n) {
        switch (order) {
        case REVERSE:
                return n - 1 - i;
        case RANDOM:
                return i * 1021 % n;
        default:
                return i;
        }
}

static void *run_vcpu(void *userdata) {
        const uint64_t n = FAULTS_SHARE / FAULTS_RUN;
        Vcpu *v = userdata;

        for (uint64_t i = 0; v->r >= 0 && i < n; i++) {
                uint64_t run = v->number * n + step(v->order, i, n);

                v->r = guest_prefault(v->guest, v->number, run * FAULTS_RUN, FAULTS_RUN);
        }

        return NULL;
}

static Vcpu *start_vcpu(Guest *g, unsigned number, Order order) {
        Vcpu *v;

        v = malloc(sizeof(*v));
        if (!v)
                tap_bail_out("no memory");

        *v = (Vcpu) { .guest = g, .number = number, .order = order };
        if (pthread_create(&v->thread, NULL, run_vcpu, v) != 0)
                tap_bail_out("no thread");

        return v;
}

/* The first vCPU alone, in a thread until faults_wait(), which returns 0 or a negative errno. */
__attribute__((unused)) static Vcpu *faults_start(Guest *g, Order order) {
        return start_vcpu(g, 0, order);
}

__attribute__((unused)) static int faults_wait(Vcpu *v) {
        int r;

        (void) pthread_join(v->thread, NULL);
        r = v->r;
        free(v);
        return r;
}

/* All vCPUs fault their shares in. */
__attribute__((unused)) static void faults_run(Guest *g, Order order) {
        Vcpu *vcpus[FAULTS_VCPUS];
        bool passed = true;

        for (unsigned i = 0; i < FAULTS_VCPUS; i++)
                vcpus[i] = start_vcpu(g, i, order);
        for (unsigned i = 0; i < FAULTS_VCPUS; i++)
                passed &= faults_wait(vcpus[i]) >= 0;
        tap_ok(passed, "%u vCPUs fault their memory in %s", FAULTS_VCPUS, order_names[order]);
        tap_is(directmap_counter("guest_pages"), FAULTS_PAGES, "all of it is private");
}

/* Some becomes shared: every other page of two entries, and two more. LARGE: it was backed by 2 MiB. */
__attribute__((unused)) static void faults_discard_some(Guest *g, bool large) {
        uint64_t psmashes = read_number("emulation/rmp/psmash_count");
        unsigned failed = 0;

        for (uint64_t gpa = 0; gpa < 2 * FAULTS_ENTRY; gpa += 2 * GUEST_PAGE_SIZE)
                failed += guest_discard(g, gpa, GUEST_PAGE_SIZE) < 0;
        failed += guest_discard(g, 3 * FAULTS_ENTRY, 2 * FAULTS_ENTRY) < 0;
        tap_is(failed, 0, "holes are punched");
        tap_is(directmap_counter("guest_pages"), FAULTS_PAGES - 3 * FAULTS_ENTRY / GUEST_PAGE_SIZE,
               "what was in them is given up");
        if (large)
                tap_ok(read_number("emulation/rmp/psmash_count") > psmashes, "which breaks entries up");
        faults_check();
}
