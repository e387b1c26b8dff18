/* SPDX-License-Identifier: GPL-2.0-only */

/*
 * What releasing an enclave costs by itself: under -icount shift=0 the ns it prints are instructions.
 * Nothing else may run beside it. Takes the page count, how often, and a policy to attach, if any.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "enclave.h"
#include "loader.h"

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
        _policy_cleanup_ Policy *policy = NULL;
        size_t n_pages;
        int r, repeats;

        if (argc < 3 || argc > 4) {
                fprintf(stderr, "release PAGES REPEATS [POLICY]\n");
                return 2;
        }

        n_pages = strtoul(argv[1], NULL, 10);
        repeats = atoi(argv[2]);

        if (policy_alone() < 0)
                return EXIT_FAILURE;
        if (argc == 4) {
                r = policy_run(argv[3], &policy);
                if (r < 0) {
                        fprintf(stderr, "release: %s: %s\n", argv[3], strerror(-r));
                        return EXIT_FAILURE;
                }
        }

        for (int i = 0; i < repeats; i++)
                if (release_once(n_pages) < 0)
                        return EXIT_FAILURE;

        return EXIT_SUCCESS;
}
