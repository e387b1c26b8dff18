// SPDX-License-Identifier: GPL-2.0-only
/*
 * Private memory of guests, with the model of the RMP: however it is faulted in and given back, and whatever
 * a policy says, no private page is in an entry of the kernel's direct map that is larger than its own in
 * the RMP, and the memory around it stays what it was.
 */

#include "guest-faults.h"
#include "sysfs.h"
#include "tap.h"

static void test_backing(bool large, Order order) {
        Guest *g;

        tap_note("backed by %s", large ? "2 MiB" : "4 KiB");
        faults_set_backing(large);
        g = faults_new_guest();
        faults_run(g, order);
        faults_check();
        faults_discard_some(g, large);
        faults_run(g, order);
        faults_check();
        guest_destroy(g);
        faults_set_backing(false);
        tap_is_errno(sysfs_wait("directmap/guest_pages", 0), 0, "all private pages are given up");
        faults_check();
}

/* Memory of a guest is faulted in while it loses it, and while another goes. */
static void test_races(void) {
        const uint64_t share = FAULTS_SIZE / FAULTS_VCPUS;
        unsigned failed = 0;

        tap_note("guests go, and memory does, while memory is faulted in");
        for (unsigned i = 0; i < 2; i++) {
                Guest *goes = faults_new_guest(), *stays = faults_new_guest();
                Vcpu *v;

                faults_set_backing(i % 2);
                faults_run(goes, RANDOM);
                v = faults_start(stays, IN_ORDER);
                guest_destroy(goes);
                for (unsigned k = 0; k < 8; k++)
                        failed += guest_discard(stays, k % 4 * GUEST_PAGE_SIZE, share) < 0;
                failed += faults_wait(v) < 0;
                faults_check();
                guest_destroy(stays);
        }
        faults_set_backing(false);
        tap_is(failed, 0, "nothing fails");
        tap_is_errno(sysfs_wait("directmap/guest_pages", 0), 0, "all private pages are given up");
        faults_check();
}

int main(void) {
        faults_begin();
        for (Order order = 0; order < _ORDER_MAX; order++)
                test_backing(false, order);
        for (Order order = 0; order < _ORDER_MAX; order++)
                test_backing(true, order);
        test_races();
        return tap_done();
}
