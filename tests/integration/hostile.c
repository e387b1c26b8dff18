// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tests of enclaves, guests, KeyIDs and secret memory, once with no policy and once under each policy,
 * good or hostile: whatever it answers they pass, and every EPC page is free again.
 */

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader.h"
#include "sysfs.h"
#include "tap.h"

/* The fuse would end the test of a hostile policy before it has begun. */
#define LIMIT_NEVER UINT32_MAX
#define LIMIT_DEFAULT 100

/* NULL is no policy. */
static const char *const policies[] = {
        NULL, "fixed", "one", "greedy", "zero", "max", "random", "alternating",
};

static uint64_t counter(const char *name) {
        uint64_t value;

        if (sysfs_read(name, &value) < 0)
                tap_bail_out("no counters");

        return value;
}

/* What depends on how fast the machine is says nothing about a policy; hostile-hold does. */
static bool is_wanted(const char *test) {
        return !strstr(test, "/enclave-largest");
}

static void find_tests(glob_t *ret) {
        char path[PATH_MAX], pattern[PATH_MAX + 16];
        ssize_t n;

        n = readlink("/proc/self/exe", path, sizeof(path) - 1);
        if (n < 0)
                tap_bail_out("no /proc");

        path[n] = '\0';
        (void) snprintf(pattern, sizeof(pattern), "%s/{enclave,guest,keyid-memory,secretmem}*",
                        dirname(path));
        if (glob(pattern, GLOB_BRACE, NULL, ret) != 0)
                tap_bail_out("no tests beside this one");
}

/* Runs TEST with its output in the file OUTPUT. Returns whether it passed. */
static bool run_test(const char *test, int output) {
        int status;
        pid_t pid;

        if (ftruncate(output, 0) < 0 || lseek(output, 0, SEEK_SET) < 0)
                tap_bail_out("cannot write");

        pid = fork();
        if (pid < 0)
                tap_bail_out("cannot fork");
        if (pid == 0) {
                (void) dup2(output, STDOUT_FILENO);
                (void) dup2(output, STDERR_FILENO);
                execl(test, test, (char *) NULL);
                _exit(EXIT_FAILURE);
        }

        return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static void show_output(int output) {
        off_t offset = 0;
        struct stat st;

        if (fstat(output, &st) >= 0)
                (void) sendfile(STDERR_FILENO, output, &offset, st.st_size);
}

static void test_policy(const char *name, const glob_t *tests, int output) {
        uint64_t used = counter("emulation/sgx/epc_used");
        _policy_cleanup_ Policy *p = NULL;
        const char *shown = name ?: "no policy";

        if (name && !tap_is_errno(policy_run(name, &p), 0, name))
                return;

        for (char **test = tests->gl_pathv; *test; test++)
                if (is_wanted(*test) &&
                    !tap_ok(run_test(*test, output), "%s: %s", shown, basename(*test)))
                        show_output(output);

        tap_ok(!p || !policy_was_dropped(p, 0), "%s: it was there all the time", shown);
        tap_is_errno(sysfs_wait("emulation/sgx/epc_used", used), 0, "every EPC page is free again");
}

int main(void) {
        glob_t tests;
        int output;

        if (policy_alone() < 0)
                tap_bail_out("something else has a policy attached");

        output = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (output < 0 || sysfs_write("fuse_limit", LIMIT_NEVER) < 0)
                tap_bail_out("cannot begin");

        find_tests(&tests);
        for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
                test_policy(policies[i], &tests, output);

        globfree(&tests);
        (void) sysfs_write("fuse_limit", LIMIT_DEFAULT);
        return tap_done();
}
