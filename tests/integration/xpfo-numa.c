// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is not in the direct map moves from node to node, and is allocated where it is told to be. On
 * a machine with several nodes.
 */

#include <errno.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pages.h"
#include "tap.h"
#include "xpfo.h"

#define PAGES 1024
#define BYTES ((size_t) PAGES * XPFO_PAGE_SIZE)

static bool is_protected(const uint8_t *data) {
        return pages_are_intact(data, PAGES) && xpfo_all_protected(data, PAGES);
}

static bool move_to(uint8_t *data, int node) {
        static int nodes[PAGES], status[PAGES];
        static void *addresses[PAGES];
        bool moved = true;

        for (size_t i = 0; i < PAGES; i++) {
                addresses[i] = data + i * XPFO_PAGE_SIZE;
                nodes[i] = node;
        }
        if (syscall(SYS_move_pages, 0, (unsigned long) PAGES, addresses, nodes, status, MPOL_MF_MOVE) < 0)
                return false;

        for (size_t i = 0; i < PAGES; i++)
                moved &= status[i] == node;
        return moved;
}

static bool all_on(uint8_t *data, int node) {
        static int status[PAGES];
        static void *addresses[PAGES];
        bool on = true;

        for (size_t i = 0; i < PAGES; i++)
                addresses[i] = data + i * XPFO_PAGE_SIZE;
        if (syscall(SYS_move_pages, 0, (unsigned long) PAGES, addresses, NULL, status, 0) < 0)
                return false;

        for (size_t i = 0; i < PAGES; i++)
                on &= status[i] == node;
        return on;
}

static void test_move(void) {
        uint8_t *data = xpfo_map(PAGES);

        for (int node = 1; node >= 0; node--) {
                tap_ok(move_to(data, node), "pages move to node %d", node);
                tap_ok(is_protected(data), "and are as they were, protected");
        }
        (void) munmap(data, BYTES);
}

static void test_bind(int mode, const char *how) {
        for (int node = 0; node < 2; node++) {
                uint64_t flushes = xpfo_counter("tlb_flushes");
                unsigned long mask = 1UL << node;
                uint8_t *data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                                     0);

                if (syscall(SYS_mbind, data, BYTES, mode, &mask, 64UL, 0) < 0)
                        tap_bail_out("no mbind");
                pages_fill(data, PAGES);
                tap_ok(all_on(data, node), "memory %s node %d is there", how, node);
                tap_ok(is_protected(data), "and protected");
                tap_note("%" PRIu64 " TLB flushes", xpfo_counter("tlb_flushes") - flushes);
                tap_ok(xpfo_counter("tlb_flushes") - flushes < PAGES / 4, "by batches");
                (void) munmap(data, BYTES);
        }
}

int main(void) {
        _policy_cleanup_ Policy *p = xpfo_protect_all();

        if (access("/sys/devices/system/node/node1", F_OK) < 0) {
                tap_ok(true, "nodes # SKIP there is one");
                return tap_done();
        }
        test_move();
        test_bind(MPOL_BIND, "bound to");
        test_bind(MPOL_PREFERRED, "preferred on");
        tap_is(xpfo_counter("failed"), 0, "nothing failed");
        tap_ok(!policy_was_dropped(p, 0), "the policy was there all the time");
        return tap_done();
}
