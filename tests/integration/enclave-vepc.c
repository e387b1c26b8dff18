// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual EPC: pages come with the first touch, and all of them go back when it is closed.
 *
 * The driver has no count of free pages to look at. But a page that a release missed is missing for the next
 * user: so nearly all of the EPC is taken again and again.
 */

#include <asm/sgx.h>
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "child.h"
#include "enclave.h"
#include "epc.h"
#include "vepc.h"

/* What a round may not lose. The rest of the EPC is taken. */
#define SPARE 128
#define N_ROUNDS 3

static void test_rounds(size_t total) {
        for (unsigned i = 0; i < N_ROUNDS; i++) {
                _vepc_cleanup_ Vepc *v = NULL;

                tap_is_errno(vepc_leave(SPARE, &v), 0, "take nearly all EPC");
                v = vepc_free(v);
        }

        for (unsigned i = 0; i < N_ROUNDS; i++) {
                _vepc_cleanup_ Vepc *v = NULL, *w = NULL;

                if (vepc_new(total / 2, &v) < 0 || vepc_new(total / 2 - SPARE, &w) < 0)
                        tap_bail_out("cannot map virtual EPC");
                tap_is_errno(vepc_touch(v, 0, total / 2), 0, "take one half");
                tap_is_errno(vepc_touch(w, 0, total / 2 - SPARE), 0, "and the other");
        }
}

static void test_exhausted(size_t total) {
        _vepc_cleanup_ Vepc *v = NULL;

        if (vepc_new(total + SPARE, &v) < 0)
                tap_bail_out("cannot map virtual EPC");

        tap_is_errno(vepc_touch(v, 0, total + SPARE), -ENOMEM, "there is no more EPC than there is");
        v = vepc_free(v);
        tap_is_errno(vepc_leave(SPARE, &v), 0, "and all of it comes back");
}

static void test_fork(void) {
        _vepc_cleanup_ Vepc *v = NULL;
        pid_t pid;

        if (vepc_new(64, &v) < 0 || vepc_touch(v, 0, 64) < 0)
                tap_bail_out("cannot take EPC");

        pid = child_fork();
        if (pid == 0) {
                unsigned char resident;

                /* A guest's memory is not the child's: the mapping is not there. */
                _exit(mincore(vepc_base(v), 4096, &resident) < 0 && errno == ENOMEM ? EXIT_SUCCESS :
                      EXIT_FAILURE);
        }

        tap_ok(child_passed(pid), "a child does not inherit the mapping");
}

static void test_remove_all(void) {
        _vepc_cleanup_ Vepc *v = NULL;

        if (vepc_new(64, &v) < 0 || vepc_touch(v, 0, 64) < 0)
                tap_bail_out("cannot take EPC");

        tap_is(ioctl(vepc_fd(v), SGX_IOC_VEPC_REMOVE_ALL, 0), 0, "removing all leaves no SECS behind");
        tap_ok(ioctl(vepc_fd(v), SGX_IOC_VEPC_REMOVE_ALL, 1) < 0 && errno == EINVAL,
               "which takes no argument");
}

/* An enclave lives beside it, and a release under way does not disturb it. */
static void test_with_enclave(size_t total) {
        _enclave_cleanup_ Enclave *e = NULL;
        _vepc_cleanup_ Vepc *v = NULL;

        if (enclave_build(400, 7, &e) < 0)
                tap_bail_out("cannot build an enclave");

        tap_is_errno(vepc_new(total - 600, &v), 0, "map virtual EPC beside an enclave");
        tap_is_errno(vepc_touch(v, 0, total - 600), 0, "take it");
        tap_is_errno(enclave_check(e, 0, 400, 7), 0, "the enclave has its pages");
        v = vepc_free(v);
        tap_is_errno(enclave_check(e, 0, 400, 7), 0, "also after the release");
}

int main(void) {
        size_t total = epc_number("epc_total");
        uint64_t used = epc_number("epc_used");

        test_rounds(total);
        test_exhausted(total);
        test_fork();
        test_remove_all();
        test_with_enclave(total);
        epc_is_free(used);
        return tap_done();
}
