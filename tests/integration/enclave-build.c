// SPDX-License-Identifier: GPL-2.0-only
/*
 * An enclave's life without any pressure: build, fault in, change, release.
 */

#include <errno.h>
#include <string.h>

#include "enclave.h"
#include "epc.h"

/* More than a version array holds, so that there are two of them. */
#define N_PAGES 600
#define N_VERSION_ARRAYS 2

static void test_life(void) {
        _enclave_cleanup_ Enclave *e = NULL;
        uint64_t used = epc_number("epc_used"), ecreate = epc_number("ecreate_count"),
                 eadd = epc_number("eadd_count"), einit = epc_number("einit_count"), eremove;

        if (!tap_is_errno(enclave_build(N_PAGES, 1, &e), 0, "build"))
                return;

        tap_is(epc_number("ecreate_count") - ecreate, 1, "one ECREATE");
        tap_is(epc_number("eadd_count") - eadd, N_PAGES, "an EADD a page");
        tap_is(epc_number("einit_count") - einit, 1, "one EINIT");
        tap_is(epc_number("epc_used") - used, N_PAGES + N_VERSION_ARRAYS + 1,
               "the EPC holds the pages, their version arrays and the SECS");

        tap_is_errno(enclave_check(e, 0, N_PAGES, 1), 0, "every page has what was added");
        enclave_fill(e, 100, 50, 2);
        tap_is_errno(enclave_check(e, 0, 100, 1), 0, "pages before those that were written");
        tap_is_errno(enclave_check(e, 100, 50, 2), 0, "pages that were written");
        tap_is_errno(enclave_check(e, 150, N_PAGES - 150, 1), 0, "pages after those");

        eremove = epc_number("eremove_count");
        e = enclave_free(e);
        tap_is(epc_number("eremove_count") - eremove, N_PAGES + N_VERSION_ARRAYS + 1, "an EREMOVE a page");
        tap_is(epc_number("epc_used"), used, "every EPC page is free again");
}

static void test_measured(void) {
        static const uint8_t contents[2 * 4096] __attribute__((aligned(4096))) = { 1, 2, 3 };
        _enclave_cleanup_ Enclave *e = NULL;
        uint64_t used = epc_number("epc_used"), eextend = epc_number("eextend_count");

        if (!tap_is_errno(enclave_new(4, &e), 0, "create"))
                return;

        tap_is_errno(enclave_add_measured(e, 1, 2, contents), 0, "add measured pages");
        tap_is(epc_number("eextend_count") - eextend, 2 * 4096 / 256, "an EEXTEND for 256 bytes");
        tap_is_errno(enclave_add_measured(e, 1, 1, contents), -EBUSY, "a page cannot be added twice");
        tap_is_errno(enclave_init(e), 0, "init");
        tap_is_errno(enclave_init(e), -EINVAL, "an enclave is initialized once");
        tap_is_errno(enclave_add_measured(e, 3, 1, contents), -EINVAL, "nothing is added afterwards");
        tap_is_errno(enclave_map(e), 0, "map");
        tap_ok(memcmp((uint8_t*) enclave_base(e) + 4096, contents, sizeof(contents)) == 0, "contents");

        e = enclave_free(e);
        tap_is(epc_number("epc_used"), used, "every EPC page is free again");
}

static void test_never_initialized(void) {
        _enclave_cleanup_ Enclave *e = NULL;
        uint64_t used = epc_number("epc_used");

        tap_is_errno(enclave_new(N_PAGES, &e), 0, "create");
        if (!e)
                return;

        tap_is_errno(enclave_add(e, 10, 20, 3), 0, "add some pages");
        e = enclave_free(e);
        tap_is(epc_number("epc_used"), used, "every EPC page of half an enclave is free again");
}

int main(void) {
        test_life();
        test_measured();
        test_never_initialized();
        return tap_done();
}
