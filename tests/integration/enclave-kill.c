// SPDX-License-Identifier: GPL-2.0-only
/*
 * kill -9 of an enclave's owner, whatever it is just doing.
 */

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "enclave.h"
#include "epc.h"
#include "vepc.h"

#define N_PAGES 8192
#define EPC_LEFT 200
#define N_MAPPINGS 200

/* Runs OWNER in a process and kills it when COUNTER has grown by AFTER. */
static void kill_owner(void (*owner)(void), const char *name, uint64_t after, const char *what) {
        uint64_t used = epc_number("epc_used"), begin = epc_number(name);
        pid_t pid;

        pid = child_fork();
        if (pid == 0) {
                owner();
                _exit(EXIT_SUCCESS);
        }

        while (epc_number(name) - begin < after)
                if (waitpid(pid, NULL, WNOHANG) != 0) {
                        tap_ok(false, "%s: the owner ended before it could be killed", what);
                        return;
                }

        (void) kill(pid, SIGKILL);
        tap_ok(child_died_of(pid, SIGKILL), "%s", what);
        epc_is_free(used);
}

static void build(void) {
        Enclave *e;

        (void) enclave_build(N_PAGES, 1, &e);
        (void) pause();
}

static void use_forever(void) {
        Enclave *e;

        if (enclave_build(2 * EPC_LEFT, 2, &e) < 0)
                return;
        for (;;)
                enclave_touch(e, 0, 2 * EPC_LEFT);
}

static void on_signal(int sig) {
        (void) sig;
}

/* A signal while the enclave is being mapped makes the mapping fail; the enclave has to go all the same. */
static void test_signal_while_mapping(void) {
        struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
        uint64_t used = epc_number("epc_used");
        unsigned n_interrupted = 0;
        pid_t pid;

        (void) sigaction(SIGUSR1, &action, NULL);
        pid = child_fork();
        if (pid == 0)
                for (;;)
                        (void) kill(getppid(), SIGUSR1);

        for (unsigned i = 0; i < N_MAPPINGS; i++) {
                _enclave_cleanup_ Enclave *e = NULL;
                int r;

                if (enclave_new(2, &e) < 0)
                        tap_bail_out("cannot create an enclave");

                r = enclave_map(e);
                if (r < 0 && r != -EINTR)
                        tap_ok(false, "mapping an enclave failed with %d", r);
                n_interrupted += r == -EINTR;
        }

        (void) kill(pid, SIGKILL);
        (void) child_died_of(pid, SIGKILL);
        tap_note("%u of %u mappings were interrupted", n_interrupted, N_MAPPINGS);
        epc_is_free(used);
}

int main(void) {
        Vepc *rest = NULL;

        kill_owner(build, "eadd_count", 1, "killed when the first page was added");
        kill_owner(build, "eadd_count", N_PAGES / 2, "killed in the middle of the build");
        kill_owner(build, "einit_count", 1, "killed after the build");

        test_signal_while_mapping();

        if (vepc_leave(EPC_LEFT, &rest) < 0)
                tap_bail_out("cannot fill the EPC");
        kill_owner(build, "ewb_count", 100, "killed in a build that evicts");
        kill_owner(use_forever, "eldu_count", 100, "killed while it loads pages back");
        vepc_free(rest);

        return tap_done();
}
