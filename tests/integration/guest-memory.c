// SPDX-License-Identifier: GPL-2.0-only
/*
 * directmap: private memory of guests, with the model of the RMP: however it is faulted in and given back,
 * no private page is in an entry of the kernel's direct map that is larger than its own in the RMP, the
 * memory around it stays what it was, and the mapping is whole again when the policy says so.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "directmap.h"
#include "guest.h"
#include "loader.h"
#include "sysfs.h"
#include "tap.h"

#define MIB (UINT64_C(1) << 20)
#define PAGE GUEST_PAGE_SIZE
#define ENTRY (2 * MIB)
#define SIZE (48 * MIB)
#define VCPUS 3
#define BYSTANDER (32 * MIB)

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

/* Memory of a process that has nothing to do with guests, and lies among theirs. */
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

static void bystander_begins(void) {
        bystander = mmap(NULL, BYSTANDER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (bystander == MAP_FAILED)
                tap_bail_out("no memory");

        for (size_t i = 0; i < BYSTANDER / sizeof(*bystander); i++)
                bystander[i] = bystander_word(i);
}

static bool bystander_is_intact(void) {
        for (size_t i = 0; i < BYSTANDER / sizeof(*bystander); i++)
                if (bystander[i] != bystander_word(i))
                        return false;

        return true;
}

/* What must hold at any time. */
static void check_invariants(void) {
        tap_is(read_number("emulation/rmp/violations"), 0, "no private page ever was in too large an entry");
        tap_is(read_number("emulation/rmp/violations_now"), 0, "and none is");
        tap_is(read_number("emulation/rmp/assigned_pages"), directmap_counter("guest_pages"),
               "memsec knows all private pages");
        tap_is(pages_of_guests(), directmap_counter("guest_pages"), "and whose they are");
        tap_ok(bystander_is_intact(), "other memory holds what was written");
}

static void put_everything_back(Policy *p) {
        tap_is_errno(sysfs_wait("directmap/guest_pages", 0), 0, "all private pages are given up");
        directmap_put_back(p);
}

static void set_backing(bool large) {
        if (guest_set_backing(large) < 0)
                tap_bail_out("cannot choose how memory is backed");
}

/* Steps of a vCPU: its share of the memory, page by page or, at random, by runs of 16. */
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
        const uint64_t share = SIZE / VCPUS, size = 16 * PAGE;
        Vcpu *v = userdata;

        for (uint64_t i = 0; v->r >= 0 && i < share / size; i++)
                v->r = guest_prefault(v->guest, v->number,
                                      v->number * share + step(v->order, i, share / size) * size, size);

        return NULL;
}

static void start_vcpu(Vcpu *v) {
        if (pthread_create(&v->thread, NULL, run_vcpu, v) != 0)
                tap_bail_out("no thread");
}

static Guest *new_guest(void) {
        Guest *g;

        if (guest_create(SIZE, VCPUS, &g) < 0)
                tap_bail_out("no guest");

        return g;
}

static void fault_in(Guest *g, Order order) {
        Vcpu vcpus[VCPUS];
        bool passed = true;

        for (unsigned i = 0; i < VCPUS; i++) {
                vcpus[i] = (Vcpu) { .guest = g, .number = i, .order = order };
                start_vcpu(&vcpus[i]);
        }
        for (unsigned i = 0; i < VCPUS; i++) {
                (void) pthread_join(vcpus[i].thread, NULL);
                passed &= vcpus[i].r >= 0;
        }
        tap_ok(passed, "%u vCPUs fault their memory in %s", VCPUS, order_names[order]);
}

/* Memory becomes shared: every other page of some of it, and some of it as a whole. */
static void discard_some(Guest *g, bool large) {
        uint64_t psmashes = read_number("emulation/rmp/psmash_count");
        unsigned failed = 0;

        for (uint64_t gpa = 0; gpa < 2 * ENTRY; gpa += 2 * PAGE)
                failed += guest_discard(g, gpa, PAGE) < 0;
        failed += guest_discard(g, 3 * ENTRY, 2 * ENTRY) < 0;
        tap_is(failed, 0, "holes are punched");
        tap_is(directmap_counter("guest_pages"), (SIZE - 3 * ENTRY) / PAGE, "what was in them is given up");
        if (large)
                tap_ok(read_number("emulation/rmp/psmash_count") > psmashes, "which breaks entries up");
        check_invariants();
}

static void test_backing(Policy *p, bool large) {
        uint64_t before_2m;

        for (Order order = 0; order < _ORDER_MAX; order++) {
                Guest *g;

                tap_note("a guest of %" PRIu64 " MiB, backed by %s, %s", SIZE / MIB,
                         large ? "2 MiB" : "4 KiB", order_names[order]);
                put_everything_back(p);
                before_2m = directmap_counter("direct_map_2m");
                directmap_set(p, order == IN_ORDER ? 0 : 8 * MIB, MEMSEC_NEVER);
                set_backing(large);

                g = new_guest();
                fault_in(g, order);
                tap_is(directmap_counter("guest_pages"), SIZE / PAGE, "all of it is private");
                check_invariants();
                discard_some(g, large);
                fault_in(g, order);
                tap_is(directmap_counter("guest_pages"), SIZE / PAGE, "and private when it is used again");
                check_invariants();
                guest_destroy(g);
                put_everything_back(p);
                check_invariants();
                tap_is(directmap_counter("direct_map_2m"), before_2m, "large entries map as much as before");
        }
        set_backing(false);
}

/* With nobody to ask, what a guest has in 2 MiB stays in entries of 2 MiB, until some of it is given up. */
static void test_nothing_attached(void) {
        uint64_t splits = directmap_counter("splits"), asked = directmap_counter("asked"), small;
        Guest *g;

        tap_note("no policy, a guest backed by 2 MiB");
        set_backing(true);
        g = new_guest();
        fault_in(g, IN_ORDER);
        small = SIZE / PAGE - read_number("emulation/rmp/assigned_2m_pages");
        tap_ok(small < SIZE / PAGE, "it has entries of 2 MiB in the RMP, but for %" PRIu64 " pages", small);
        tap_ok(directmap_counter("splits") - splits <= small, "for which nothing is split");
        check_invariants();
        discard_some(g, true);
        guest_destroy(g);
        set_backing(false);
        tap_is_errno(sysfs_wait("directmap/guest_pages", 0), 0, "all private pages are given up");
        check_invariants();
        tap_is(directmap_counter("asked"), asked, "nobody is asked");
}

/* What is split ahead for a guest is not more than it can have. */
static void test_ahead(Policy *p) {
        uint64_t splits_ahead, asked, splits;
        Guest *g;

        tap_note("split ahead");
        put_everything_back(p);
        directmap_set(p, 1024 * MIB, MEMSEC_NEVER);
        splits_ahead = directmap_counter("splits_ahead");
        splits = directmap_counter("splits");
        asked = directmap_counter("asked");
        g = new_guest();
        fault_in(g, IN_ORDER);
        splits_ahead = directmap_counter("splits_ahead") - splits_ahead;
        tap_note("%" PRIu64 " splits, %" PRIu64 " ahead, %" PRIu64 " questions",
                 directmap_counter("splits") - splits, splits_ahead, directmap_counter("asked") - asked);
        tap_ok(splits_ahead > 0, "entries are split ahead");
        tap_note("%" PRIu64 " are not needed", directmap_counter("unused_ranges"));
        tap_ok(directmap_counter("unused_ranges") <= SIZE / ENTRY, "not more than the guest can use");
        check_invariants();
        guest_destroy(g);
        put_everything_back(p);
}

/* Memory of a guest is faulted in while it loses it, and while another goes. */
static void test_races(Policy *p) {
        unsigned failed = 0;

        tap_note("guests go, and memory does, while memory is faulted in");
        put_everything_back(p);
        for (unsigned i = 0; i < 6; i++) {
                Guest *goes = new_guest(), *stays = new_guest();
                Vcpu v = { .guest = stays, .order = i % _ORDER_MAX };

                set_backing(i % 2);
                fault_in(goes, i % _ORDER_MAX);
                start_vcpu(&v);
                guest_destroy(goes);
                for (unsigned k = 0; k < 8; k++)
                        failed += guest_discard(stays, k % 4 * PAGE, SIZE / VCPUS) < 0;
                (void) pthread_join(v.thread, NULL);
                failed += v.r < 0;
                check_invariants();
                guest_destroy(stays);
        }
        set_backing(false);
        tap_is(failed, 0, "nothing fails");
        put_everything_back(p);
        check_invariants();
}

/* Tries a write of the host to every page: it must not fault but in private ones. */
static void test_host_writes(Policy *p) {
        uint64_t pages = 0, faults = 0, private;
        Guest *g = new_guest();
        char text[32];
        int fd;

        tap_note("the host writes to all memory");
        directmap_set(p, 8 * MIB, 0);
        fault_in(g, RANDOM);
        (void) guest_discard(g, 0, SIZE / 2);
        private = directmap_counter("guest_pages");

        fd = open("/sys/kernel/memsec/emulation/rmp/host_write", O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                tap_bail_out("no checker");
        for (uint64_t pfn = 0; pfn < (UINT64_C(1) << 32) / PAGE; pfn++) {
                int n = snprintf(text, sizeof(text), "%" PRIu64, pfn);

                if (write(fd, text, n) == n)
                        pages++;
                else if (errno == EFAULT)
                        faults++;
                else if (errno == ERANGE && pfn * PAGE >= SIZE)
                        break;
        }
        (void) close(fd);
        tap_ok(pages > SIZE / PAGE, "%" PRIu64 " pages can be written", pages);
        tap_is(faults, private, "the private ones cannot, and no others");
        guest_destroy(g);
        put_everything_back(p);
}

int main(void) {
        _policy_cleanup_ Policy *p = NULL;
        uint64_t clamped = directmap_counter("clamped");

        if (policy_alone() < 0)
                tap_bail_out("cannot begin");

        bystander_begins();
        test_nothing_attached();
        if (policy_run("fixed", &p) < 0)
                tap_bail_out("cannot attach");
        test_backing(p, false);
        test_backing(p, true);
        test_ahead(p);
        test_races(p);
        test_host_writes(p);
        tap_is(directmap_counter("clamped"), clamped, "no answer was out of range");
        return tap_done();
}
