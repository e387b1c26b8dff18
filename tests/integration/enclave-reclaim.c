// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enclaves are released while the reclaimer holds pages of them: those it frees itself, once.
 *
 * Several processes build, touch and release enclaves at the same time in an EPC that holds only some of
 * them, so that releases and reclaiming meet all the time.
 */

#include "child.h"
#include "enclave.h"
#include "epc.h"
#include "vepc.h"

#define EPC_LEFT 250
#define N_PROCESSES 3
#define N_ROUNDS 6
#define N_PAGES 110

static int work(unsigned process) {
        for (unsigned round = 0; round < N_ROUNDS; round++) {
                _enclave_cleanup_ Enclave *e = NULL;
                uint64_t seed = process * N_ROUNDS + round;
                int r;

                r = enclave_build(N_PAGES, seed, &e);
                if (r < 0)
                        return r;

                r = enclave_check(e, 0, N_PAGES, seed);
                if (r < 0)
                        return r;
        }

        return 0;
}

int main(void) {
        uint64_t used = epc_number("epc_used"), ewb = epc_number("ewb_count"),
                 ecreate = epc_number("ecreate_count");
        _vepc_cleanup_ Vepc *rest = NULL;
        pid_t pids[N_PROCESSES];

        if (vepc_leave(EPC_LEFT, &rest) < 0)
                tap_bail_out("cannot fill the EPC");

        for (unsigned i = 0; i < N_PROCESSES; i++) {
                pids[i] = child_fork();
                if (pids[i] == 0)
                        _exit(work(i) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
        }

        for (unsigned i = 0; i < N_PROCESSES; i++)
                tap_ok(child_passed(pids[i]), "process %u had its pages in every enclave", i);

        tap_is(epc_number("ecreate_count") - ecreate, N_PROCESSES * N_ROUNDS, "all enclaves were built");
        tap_ok(epc_number("ewb_count") > ewb, "pages were evicted meanwhile");
        epc_is_free(used);
        return tap_done();
}
