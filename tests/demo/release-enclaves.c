// SPDX-License-Identifier: GPL-2.0-only
/*
 * release-enclaves N PAGES: build an enclave of PAGES pages through /dev/sgx_enclave, release it, N times.
 */

#include <stdio.h>
#include <stdlib.h>

#include "enclave.h"

static int run(unsigned long n, unsigned long pages) {
        for (unsigned long i = 0; i < n; i++) {
                _enclave_cleanup_ Enclave *e = NULL;

                /* The pages come back as they went in, or what follows would prove nothing. */
                if (enclave_build(pages, i, &e) < 0 || enclave_check(e, 0, pages, i) < 0)
                        return EXIT_FAILURE;
        }

        printf("%lu enclaves of %lu MiB: created, %lu pages each added and checked, initialized, released\n",
               n, pages / 256, pages);
        return EXIT_SUCCESS;
}

int main(int argc, char *argv[]) {
        unsigned long n = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
        unsigned long pages = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

        if (n == 0 || pages == 0) {
                fprintf(stderr, "Usage: %s N PAGES\n", argv[0]);
                return EXIT_FAILURE;
        }

        return run(n, pages);
}
