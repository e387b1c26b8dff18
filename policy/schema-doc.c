// SPDX-License-Identifier: GPL-2.0-only

/* Prints the table of tunables as a list in mdoc(7), for memsec.yaml(5). */

#include "policy.h"
#include "util.h"

static int print_key(const KeySpec *spec) {
        _cleanup_free_ char *expected = NULL, *def = NULL;

        if (value_expected(spec, &expected) < 0 || value_format(spec, spec->def, &def) < 0)
                return -ENOMEM;

        printf(".It Ic %s\n%s:\n%s.\nThe default is %s.\n", spec->path, spec->help, expected, def);
        return 0;
}

int main(void) {
        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++)
                if (print_key(spec) < 0)
                        return EXIT_FAILURE;

        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
