/* SPDX-License-Identifier: GPL-2.0-only */

/*
 * What releasing an enclave costs by itself: under -icount shift=0 the nanoseconds it prints are instructions.
 * Nothing else may run beside it. Takes the page count, how often, and a policy object to attach, if any.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "attach.h"
#include "enclave.h"

#define NSEC_PER_SEC 1000000000ULL

static uint64_t now_ns(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* Unmapped, so that close() is the release and waits for no grace period. */
static int release_once(size_t n_pages) {
        _enclave_cleanup_ Enclave *e = NULL;
        uint64_t start_ns;
        int r;

        r = enclave_new(n_pages, &e);
        if (r < 0)
                return r;
        r = enclave_add(e, 0, n_pages, 1);
        if (r < 0)
                return r;
        r = enclave_init(e);
        if (r < 0)
                return r;

        start_ns = now_ns();
        e = enclave_free(e);
        printf("pages=%zu release_ns=%" PRIu64 "\n", n_pages, now_ns() - start_ns);
        return 0;
}

int main(int argc, char **argv) {
        Policy *policy = NULL;
        int r = 0, repeats;
        size_t n_pages;

        if (argc < 3 || argc > 4) {
                fprintf(stderr, "release PAGES REPEATS [POLICY.bpf.o]\n");
                return 2;
        }

        n_pages = strtoul(argv[1], NULL, 10);
        repeats = atoi(argv[2]);

        if (argc == 4)
                r = policy_attach(argv[3], NULL, &policy);

        for (int i = 0; i < repeats && r >= 0; i++)
                r = release_once(n_pages);

        policy_detach(policy);
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
