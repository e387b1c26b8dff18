// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mapped enclave and fork(): both processes have it, and the last one to go releases it.
 */

#include "child.h"
#include "enclave.h"
#include "epc.h"
#include "vepc.h"

#define N_PAGES 600

/* Each eviction interrupts the other CPU, which is slow in an emulated machine: few pages are enough. */
#define EPC_LEFT 200
#define N_PAGES_PRESSURE 220

/* The child sees the parent's pages and the parent the child's writing. */
static void test_child_goes_first(void) {
        _enclave_cleanup_ Enclave *e = NULL;
        uint64_t used = epc_number("epc_used");
        pid_t pid;

        if (!tap_is_errno(enclave_build(N_PAGES, 1, &e), 0, "build"))
                return;

        pid = child_fork();
        if (pid == 0) {
                if (enclave_check(e, 0, N_PAGES, 1) < 0)
                        _exit(EXIT_FAILURE);
                enclave_fill(e, 0, N_PAGES / 2, 2);
                _exit(EXIT_SUCCESS);
        }

        tap_ok(child_passed(pid), "the child has the parent's pages");
        tap_is_errno(enclave_check(e, 0, N_PAGES / 2, 2), 0, "the parent sees what the child wrote");
        tap_is_errno(enclave_check(e, N_PAGES / 2, N_PAGES / 2, 1), 0, "and what it did not");

        e = enclave_free(e);
        epc_is_free(used);
}

/* The parent lets go of the enclave before the child looks at it. */
static void test_parent_goes_first(void) {
        _enclave_cleanup_ Enclave *e = NULL;
        uint64_t used = epc_number("epc_used"), built;
        int go[2];
        pid_t pid;
        char c;

        if (!tap_is_errno(enclave_build(N_PAGES, 3, &e), 0, "build"))
                return;
        built = epc_number("epc_used");
        if (pipe(go) < 0)
                tap_bail_out("cannot make a pipe");

        pid = child_fork();
        if (pid == 0) {
                (void) close(go[1]);
                if (read(go[0], &c, 1) != 0)
                        _exit(EXIT_FAILURE);
                _exit(enclave_check(e, 0, N_PAGES, 3) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
        }

        e = enclave_free(e);
        tap_is(epc_number("epc_used"), built, "the child alone keeps the enclave");
        (void) close(go[1]);
        tap_ok(child_passed(pid), "the child has the pages after the parent let go");
        (void) close(go[0]);
        epc_is_free(used);
}

/* The reclaimer has to unmap a page from both. */
static void test_both_under_pressure(void) {
        _enclave_cleanup_ Enclave *e = NULL;
        _vepc_cleanup_ Vepc *rest = NULL;
        uint64_t used = epc_number("epc_used");
        pid_t pid;
        int r;

        if (vepc_leave(EPC_LEFT, &rest) < 0)
                tap_bail_out("cannot fill the EPC");
        if (!tap_is_errno(enclave_build(N_PAGES_PRESSURE, 5, &e), 0, "build more than there is EPC"))
                return;

        pid = child_fork();
        r = enclave_check(e, 0, N_PAGES_PRESSURE, 5);
        if (pid == 0)
                _exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);

        tap_is_errno(r, 0, "the parent has its pages while others are evicted");
        tap_ok(child_passed(pid), "and so has the child at the same time");
        e = enclave_free(e);
        epc_is_free(used);
}

int main(void) {
        test_child_goes_first();
        test_parent_goes_first();
        test_both_under_pressure();
        return tap_done();
}
