// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enclaves that together are larger than the EPC: pages are evicted (EBLOCK, ETRACK, EWB) and loaded back
 * (ELDU), and what was in them stays.
 */

#include "enclave.h"
#include "epc.h"
#include "vepc.h"

/* Each enclave fits into what is left of the EPC, two do not. */
#define EPC_LEFT 300
#define N_PAGES 200
#define N_FEW_PAGES 16

static void test_two_enclaves(void) {
        _enclave_cleanup_ Enclave *a = NULL, *b = NULL;
        uint64_t ewb = epc_number("ewb_count"), eldu = epc_number("eldu_count"),
                 etrack = epc_number("etrack_count");

        if (!tap_is_errno(enclave_build(N_PAGES, 10, &a), 0, "build the first enclave") ||
            !tap_is_errno(enclave_build(N_PAGES, 20, &b), 0, "build the second, for which there is no room"))
                return;

        tap_ok(epc_number("ewb_count") > ewb, "pages were evicted");
        tap_ok(epc_number("etrack_count") > etrack, "and tracked before that");

        tap_is_errno(enclave_check(a, 0, N_PAGES, 10), 0, "the first enclave's pages");
        tap_ok(epc_number("eldu_count") > eldu, "were loaded back");
        tap_is_errno(enclave_check(b, 0, N_PAGES, 20), 0, "the second enclave's pages");

        enclave_fill(a, 0, N_PAGES, 11);
        enclave_fill(b, 0, N_PAGES / 2, 21);
        tap_is_errno(enclave_check(a, 0, N_PAGES, 11), 0, "what was written to the first");
        tap_is_errno(enclave_check(b, 0, N_PAGES / 2, 21), 0, "what was written to the second");
        tap_is_errno(enclave_check(b, N_PAGES / 2, N_PAGES / 2, 20), 0, "what was not");

        a = enclave_free(a);
        tap_is_errno(enclave_check(b, N_PAGES / 2, N_PAGES / 2, 20), 0, "the second outlives it");
}

/* When its last page is gone the SECS goes as well, and has to come back before any page can. */
static void test_whole_enclave(void) {
        _enclave_cleanup_ Enclave *a = NULL, *b = NULL;
        uint64_t eldu;

        if (!tap_is_errno(enclave_build(N_FEW_PAGES, 30, &a), 0, "build a small enclave") ||
            !tap_is_errno(enclave_build(2 * N_PAGES, 40, &b), 0, "build one that is larger than the EPC"))
                return;

        /* A touched page stays for one more round of the reclaimer, so touch the large one twice. */
        enclave_touch(b, 0, 2 * N_PAGES);
        enclave_touch(b, 0, 2 * N_PAGES);

        eldu = epc_number("eldu_count");
        enclave_touch(a, 5, 1);
        tap_is(epc_number("eldu_count") - eldu, 2, "with the first page comes the SECS");
        eldu = epc_number("eldu_count");
        enclave_touch(a, 6, 1);
        tap_is(epc_number("eldu_count") - eldu, 1, "the next page comes alone");

        tap_is_errno(enclave_check(a, 0, N_FEW_PAGES, 30), 0, "the small enclave's pages");
        tap_is_errno(enclave_check(b, 0, 2 * N_PAGES, 40), 0, "the large enclave's pages");
}

int main(void) {
        uint64_t used = epc_number("epc_used");
        _vepc_cleanup_ Vepc *rest = NULL;

        if (vepc_leave(EPC_LEFT, &rest) < 0)
                tap_bail_out("cannot fill the EPC");

        test_two_enclaves();
        epc_is_free(used);
        test_whole_enclave();
        epc_is_free(used);
        return tap_done();
}
