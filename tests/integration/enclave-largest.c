// SPDX-License-Identifier: GPL-2.0-only
/*
 * The largest enclave that fits into the EPC is released, with an EREMOVE so dear that the release takes
 * longer than the soft-lockup detector waits: it must stay quiet, because the release lets others run.
 */

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "enclave.h"
#include "epc.h"

#define EREMOVE_COST "emulation/sgx/eremove_ns"
#define WATCHDOG_THRESH "/proc/sys/kernel/watchdog_thresh"

/* The detector speaks up after twice the threshold. 16,384 pages take 3 s, a batch of 4096 takes 0.8 s. */
#define THRESHOLD_SEC 1
#define EREMOVE_NS (190 * 1000)

/* The reclaimer starts when fewer pages than this are free. */
#define N_KEPT_FREE 64
#define PAGES_PER_VERSION_ARRAY 512

static unsigned watchdog_thresh(unsigned value) {
        unsigned previous;
        FILE *f;

        f = fopen(WATCHDOG_THRESH, "r+e");
        if (!f || fscanf(f, "%u", &previous) != 1)
                tap_bail_out("the kernel has no soft-lockup detector");

        rewind(f);
        (void) fprintf(f, "%u\n", value);
        if (fclose(f) != 0)
                tap_bail_out("cannot set the soft-lockup detector");

        return previous;
}

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

int main(void) {
        uint64_t total = epc_number("epc_total"), used = epc_number("epc_used"),
                 ewb = epc_number("ewb_count"), cost = epc_number("eremove_ns");
        _enclave_cleanup_ Enclave *e = NULL;
        unsigned thresh;
        size_t n_pages;
        int log;

        n_pages = total - used - N_KEPT_FREE - 1;
        n_pages -= n_pages / PAGES_PER_VERSION_ARRAY + 1;

        log = open_kernel_log();
        if (!tap_is_errno(enclave_build(n_pages, 1, &e), 0, "build the largest enclave"))
                return tap_done();
        tap_is(epc_number("ewb_count") - ewb, 0, "nothing had to be evicted");
        tap_ok(total - epc_number("epc_used") <= N_KEPT_FREE + 2, "the EPC is full");

        thresh = watchdog_thresh(THRESHOLD_SEC);
        if (sysfs_write(EREMOVE_COST, EREMOVE_NS) < 0)
                tap_bail_out("cannot set the cost of EREMOVE");
        e = enclave_free(e);
        (void) sysfs_write(EREMOVE_COST, cost);
        tap_is(epc_number("epc_used"), used, "every EPC page is free again");
        (void) watchdog_thresh(thresh);

        tap_ok(!log_has(log, "soft lockup"), "the soft-lockup detector stayed quiet");
        (void) close(log);
        return tap_done();
}
