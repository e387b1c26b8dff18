// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages added to, restricted in, retyped in and removed from an initialized enclave (EAUG, EMODPR, EMODT).
 *
 * The enclave would have to accept each change from inside (EACCEPT). Nothing enters an enclave over the
 * model, so what waits for that waits for ever, and the driver must refuse what it may not do before.
 */

#include <asm/sgx.h>
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "enclave.h"
#include "epc.h"
#include "vepc.h"

#define PAGE_SIZE 4096UL
#define N_PAGES 32
#define N_BUILT 8

/* What EMODPR and EMODT answer for a page that waits for EACCEPT. */
#define SGX_PAGE_NOT_MODIFIABLE 20

/* An enclave of N_BUILT pages with room for N_MAX. */
static Enclave *build(size_t n_built, size_t n_max) {
        Enclave *e;

        if (enclave_new(n_max, &e) < 0 || enclave_add(e, 0, n_built, 1) < 0 || enclave_init(e) < 0 ||
            enclave_map(e) < 0)
                tap_bail_out("cannot build an enclave");

        return e;
}

static void test_add(void) {
        _enclave_cleanup_ Enclave *e = build(N_BUILT, N_PAGES);
        uint64_t eaug = epc_number("eaug_count");
        const uint64_t *page = (const uint64_t*) ((uint8_t*) enclave_base(e) + N_BUILT * PAGE_SIZE);
        bool zero = true;

        for (size_t i = 0; i < PAGE_SIZE / sizeof(*page); i++)
                zero = zero && page[i] == 0;
        tap_ok(zero, "a page that is touched and was never added is zero");
        tap_is(epc_number("eaug_count") - eaug, 1, "and was added then");

        enclave_fill(e, N_BUILT, N_PAGES - N_BUILT, 2);
        tap_is(epc_number("eaug_count") - eaug, N_PAGES - N_BUILT, "each page is added once");
        tap_is_errno(enclave_check(e, N_BUILT, N_PAGES - N_BUILT, 2), 0, "what was written to added pages");
        tap_is_errno(enclave_check(e, 0, N_BUILT, 1), 0, "what was built in");
}

static void test_add_and_evict(void) {
        _vepc_cleanup_ Vepc *rest = NULL;
        _enclave_cleanup_ Enclave *e = NULL;
        uint64_t ewb = epc_number("ewb_count");

        if (vepc_leave(200, &rest) < 0)
                tap_bail_out("cannot fill the EPC");
        e = build(1, 256);
        enclave_fill(e, 1, 250, 3);
        tap_is_errno(enclave_check(e, 1, 250, 3), 0, "added pages, more than there is EPC");
        tap_ok(epc_number("ewb_count") > ewb, "some were evicted");
}

static void test_restrict(void) {
        _enclave_cleanup_ Enclave *e = build(N_BUILT, N_PAGES);
        uint64_t emodpr = epc_number("emodpr_count"), etrack = epc_number("etrack_count");
        struct sgx_enclave_restrict_permissions pending = {
                .offset = N_BUILT * PAGE_SIZE,
                .length = PAGE_SIZE,
                .permissions = PROT_READ,
        };

        tap_is_errno(enclave_restrict(e, 0, 4, PROT_READ), 0, "restrict four pages");
        tap_is(epc_number("emodpr_count") - emodpr, 4, "an EMODPR each");
        tap_is(epc_number("etrack_count") - etrack, 4, "and an ETRACK each");
        tap_is_errno(enclave_restrict(e, 0, 1, PROT_WRITE), -EINVAL, "write without read is no permission");
        tap_is_errno(enclave_restrict(e, N_PAGES, 1, PROT_READ), -EINVAL, "beyond the enclave");
        tap_is_errno(enclave_restrict(e, N_BUILT, 1, PROT_READ), -EFAULT, "a page that is not there");

        enclave_touch(e, N_BUILT, 1);
        tap_ok(ioctl(enclave_fd(e), SGX_IOC_ENCLAVE_RESTRICT_PERMISSIONS, &pending) < 0 && errno == EFAULT,
               "a page that was added and not accepted cannot be restricted");
        tap_is(pending.result, SGX_PAGE_NOT_MODIFIABLE, "and the CPU said why");
}

static void test_type(void) {
        _enclave_cleanup_ Enclave *e = build(N_BUILT, N_PAGES);
        struct sgx_enclave_modify_types again = {
                .offset = 0,
                .length = PAGE_SIZE,
                .page_type = ENCLAVE_PAGE_TRIM,
        };

        tap_is_errno(enclave_set_type(e, 0, 2, ENCLAVE_PAGE_TRIM), 0, "trim two pages");
        tap_is_errno(enclave_set_type(e, 4, 1, ENCLAVE_PAGE_TCS), 0, "make one a TCS");
        tap_is_errno(enclave_set_type(e, 5, 1, 2), -EINVAL, "nothing becomes a regular page");
        tap_ok(ioctl(enclave_fd(e), SGX_IOC_ENCLAVE_MODIFY_TYPES, &again) < 0 && errno == EINVAL,
               "a trimmed page is not trimmed again");

        tap_is_errno(enclave_remove(e, 6, 1), -EPERM, "a page that was not trimmed is not removed");
        tap_is_errno(enclave_remove(e, 0, 1), -EPERM, "nor one whose trimming was not accepted");
}

static void test_too_early(void) {
        _enclave_cleanup_ Enclave *e = NULL;

        if (enclave_new(N_PAGES, &e) < 0 || enclave_add(e, 0, N_BUILT, 1) < 0)
                tap_bail_out("cannot build an enclave");

        tap_is_errno(enclave_restrict(e, 0, 1, PROT_READ), -EINVAL, "no EMODPR before EINIT");
        tap_is_errno(enclave_set_type(e, 0, 1, ENCLAVE_PAGE_TRIM), -EINVAL, "no EMODT before EINIT");
        tap_is_errno(enclave_remove(e, 0, 1), -EINVAL, "no removal before EINIT");
}

int main(void) {
        uint64_t used = epc_number("epc_used");

        test_add();
        test_add_and_evict();
        test_restrict();
        test_type();
        test_too_early();
        epc_is_free(used);
        return tap_done();
}
