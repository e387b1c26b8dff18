// SPDX-License-Identifier: GPL-2.0-only
/*
 * The largest enclave that fits into the EPC is released, which takes long with a dear EREMOVE: others on
 * the same CPU run meanwhile, and the soft-lockup detector stays quiet.
 *
 * A witness on that CPU looks at the count of EREMOVEs. A release that kept the CPU would let it see no
 * number between that before and that after, however slow or busy the machine is.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child.h"
#include "enclave.h"
#include "epc.h"

#define EREMOVE_COST "emulation/sgx/eremove_ns"

/* 4096 pages take 80 ms, which is many turns of the scheduler. */
#define EREMOVE_NS (20 * 1000)

/* Linux breaks the release every 4096 pages; a policy at least as often. */
#define LINUX_BATCH 4096

/* The reclaimer starts when fewer pages than this are free. */
#define N_KEPT_FREE 64
#define PAGES_PER_VERSION_ARRAY 512

/* The kernel's messages from now on. */
static int open_kernel_log(void) {
        int fd;

        fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 || lseek(fd, 0, SEEK_END) < 0)
                tap_bail_out("cannot read the kernel's log");

        return fd;
}

static bool log_has(int fd, const char *text) {
        char record[8192];
        bool found = false;

        for (;;) {
                ssize_t n;

                n = read(fd, record, sizeof(record) - 1);
                if (n < 0 && errno == EPIPE) /* records were overwritten */
                        continue;
                if (n <= 0)
                        return found;

                record[n] = '\0';
                if (strstr(record, text)) {
                        tap_note("%s", record);
                        found = true;
                }
        }
}

static void stay_on_one_cpu(void) {
        cpu_set_t cpus;

        CPU_ZERO(&cpus);
        CPU_SET(sched_getcpu(), &cpus);
        if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
                tap_bail_out("cannot stay on one CPU");
}

/*
 * Counts in *SEEN how many different numbers of EREMOVEs it has seen since it got SIGCONT. To be started
 * before there is an enclave, which it would keep alive.
 */
static pid_t start_witness(atomic_uint *seen) {
        uint64_t last;
        pid_t pid;

        pid = child_fork();
        if (pid > 0)
                return pid;

        (void) raise(SIGSTOP);
        last = epc_number("eremove_count");
        for (;;) {
                uint64_t now = epc_number("eremove_count");

                if (now != last)
                        atomic_fetch_add(seen, 1);
                last = now;
        }
}

int main(void) {
        uint64_t total = epc_number("epc_total"), used = epc_number("epc_used"),
                 ewb = epc_number("ewb_count"), cost = epc_number("eremove_ns");
        _enclave_cleanup_ Enclave *e = NULL;
        atomic_uint *seen;
        size_t n_pages;
        pid_t witness;
        int log;

        seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (seen == MAP_FAILED)
                tap_bail_out("cannot share memory");

        n_pages = total - used - N_KEPT_FREE - 1;
        n_pages -= n_pages / PAGES_PER_VERSION_ARRAY + 1;

        log = open_kernel_log();
        stay_on_one_cpu();
        witness = start_witness(seen);
        if (!tap_is_errno(enclave_build(n_pages, 1, &e), 0, "build the largest enclave")) {
                (void) kill(witness, SIGKILL);
                return tap_done();
        }
        tap_is(epc_number("ewb_count") - ewb, 0, "nothing had to be evicted");
        tap_ok(total - epc_number("epc_used") <= N_KEPT_FREE + 2, "the EPC is full");

        if (sysfs_write(EREMOVE_COST, EREMOVE_NS) < 0 || kill(witness, SIGCONT) < 0)
                tap_bail_out("cannot begin");
        e = enclave_free(e);
        (void) sysfs_write(EREMOVE_COST, cost);
        tap_is(epc_number("epc_used"), used, "every EPC page is free again");

        (void) kill(witness, SIGKILL);
        (void) child_died_of(witness, SIGKILL);
        if (!tap_ok(atomic_load(seen) >= n_pages / LINUX_BATCH, "others ran during the release"))
                tap_note("%u times in a release of %zu pages", atomic_load(seen), n_pages);
        tap_ok(!log_has(log, "soft lockup"), "the soft-lockup detector stayed quiet");
        (void) close(log);
        return tap_done();
}
