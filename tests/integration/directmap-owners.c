// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose memory is out of the direct map: what the kernel and memsecctl say of units with secret files.
 *
 * directmap-owners STEP...: what runs in such a unit; see steps.
 */

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "child.h"
#include "secretmem.h"
#include "sysfs.h"
#include "tap.h"

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

#define OUTPUT_MAX 65536
#define COMMAND_MAX 1024
#define WAIT_STEP_USEC (100 * 1000)
#define WAIT_STEPS 600

/* Comes out as the last path component of a program's name, which is cut off. */
#define COMM "directmap-owner"

static Secret secret = { .fd = -1 };

static void step_open(const char *arg) {
        secret.fd = syscall(SYS_memfd_secret, O_CLOEXEC);
}

static void step_pages(const char *arg) {
        if (secretmem_map(strtoul(arg, NULL, 10), &secret) < 0)
                _exit(EXIT_FAILURE);
        secretmem_fill(&secret);
}

static void step_unmap(const char *arg) {
        secretmem_unmap(&secret);
}

static void step_close(const char *arg) {
        (void) close(secret.fd);
        secret.fd = -1;
}

static void step_fork(const char *arg) {
        (void) child_fork();
}

static void step_mkdir(const char *arg) {
        (void) mkdir(arg, 0755);
}

static void move_to(const char *cgroup, pid_t pid) {
        char path[COMMAND_MAX];
        FILE *f;

        (void) snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
        f = fopen(path, "we");
        if (!f || fprintf(f, "%d\n", (int) pid) < 0 || fclose(f) != 0)
                _exit(EXIT_FAILURE);
}

static void step_move(const char *arg) {
        move_to(arg, 0);
}

/* A child goes on elsewhere; the parent ends, and its unit with it. */
static void step_leave(const char *arg) {
        pid_t pid = child_fork();

        if (pid == 0)
                return;

        move_to(arg, pid);
        _exit(EXIT_SUCCESS);
}

/* To itself, who does not look: then nobody has it open. */
static void step_send(const char *arg) {
        char control[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
        struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
        struct msghdr message = {
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = control,
                .msg_controllen = sizeof(control),
        };
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        int pair[2];

        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &secret.fd, sizeof(int));
        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0 || sendmsg(pair[0], &message, 0) < 0)
                _exit(EXIT_FAILURE);
        step_close(NULL);
}

/* Files that come and go, each larger than the one before. */
static void step_storm(const char *arg) {
        for (size_t i = 1; i <= strtoul(arg, NULL, 10); i++) {
                Secret s;

                if (secretmem_map(i * 7, &s) < 0)
                        _exit(EXIT_FAILURE);
                secretmem_fill(&s);
                secretmem_unmap(&s);
        }
}

static void step_wait(const char *arg) {
        sigset_t set;
        int sig;

        (void) sigemptyset(&set);
        (void) sigaddset(&set, SIGUSR1);
        (void) sigwait(&set, &sig);
}

static const struct {
        const char *name;
        void (*run)(const char *arg);
} steps[] = {
        { "open",   step_open  },
        { "pages=", step_pages },
        { "unmap",  step_unmap },
        { "close",  step_close },
        { "fork",   step_fork  },
        { "leave=", step_leave },
        { "mkdir=", step_mkdir },
        { "move=",  step_move  },
        { "send",   step_send  },
        { "storm=", step_storm },
        { "wait",   step_wait  },
};

static void run_step(const char *step) {
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
                if (strncmp(step, steps[i].name, strlen(steps[i].name)) == 0) {
                        steps[i].run(step + strlen(steps[i].name));
                        return;
                }

        _exit(EXIT_FAILURE);
}

static void run_steps(char **argv) {
        sigset_t set;

        (void) sigemptyset(&set);
        (void) sigaddset(&set, SIGUSR1);
        (void) sigprocmask(SIG_BLOCK, &set, NULL);
        if (secretmem_allow() < 0)
                _exit(EXIT_FAILURE);
        for (; *argv; argv++)
                run_step(*argv);
        for (;;)
                (void) pause();
}

/* Runs a shell command. Returns what it printed, good until the next call, and its exit status. */
__attribute__((format(printf, 2, 3)))
static const char *output_of(int *ret_status, const char *format, ...) {
        static char output[OUTPUT_MAX];
        char command[COMMAND_MAX];
        size_t n = 0, got;
        va_list ap;
        FILE *f;
        int status;

        va_start(ap, format);
        (void) vsnprintf(command, sizeof(command), format, ap);
        va_end(ap);

        f = popen(command, "re");
        if (!f)
                tap_bail_out("cannot run a shell");
        while ((got = fread(output + n, 1, sizeof(output) - 1 - n, f)) > 0)
                n += got;
        output[n] = '\0';
        status = pclose(f);
        if (ret_status)
                *ret_status = WEXITSTATUS(status);
        return output;
}

/* Is there a line like that? */
static bool matches(const char *text, const char *regex) {
        regex_t compiled;
        bool found;

        if (regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB | REG_NEWLINE) != 0)
                tap_bail_out("not a regular expression");
        found = regexec(&compiled, text, 0, NULL, 0) == 0;
        regfree(&compiled);
        return found;
}

static void tap_like(const char *text, const char *regex, bool expected, const char *what) {
        if (tap_ok(matches(text, regex) == expected, "%s", what))
                return;

        tap_note("expected %s line like '%s' in:", expected ? "a" : "no", regex);
        for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
                tap_note("%.*s", (int) strcspn(line, "\n"), line);
}

#define OWNERS "memsecctl owners"
#define KERNEL_ACCOUNTS "cat /proc/memsec/directmap_owners"

/* Until there is a line like that in what COMMAND prints, or until there is none. */
static void wait_like(const char *command, const char *regex, bool expected, const char *what) {
        const char *text = "";

        for (size_t i = 0; i < WAIT_STEPS; i++) {
                text = output_of(NULL, "%s", command);
                if (matches(text, regex) == expected)
                        break;
                (void) usleep(WAIT_STEP_USEC);
        }
        tap_like(text, regex, expected, what);
}

static void start(const char *unit, const char *arguments) {
        int status;

        (void) output_of(&status, "systemd-run --quiet --collect --unit=memsecowner-%s -p Delegate=yes "
                         "/usr/lib/memsec/tests/directmap-owners %s 2>&1", unit, arguments);
        if (status != 0)
                tap_bail_out("cannot start a unit");
}

static void stop(const char *unit) {
        (void) output_of(NULL, "systemctl stop 'memsecowner-%s.service' 2>&1", unit);
}

static void tell(const char *unit) {
        (void) output_of(NULL, "systemctl kill --signal=USR1 memsecowner-%s", unit);
}

static int main_pid(const char *unit) {
        return atoi(output_of(NULL, "systemctl show --property=MainPID --value memsecowner-%s", unit));
}

/* The line of a unit's only file. */
static const char *file_of(const char *unit, const char *size, const char *processes) {
        static char regex[COMMAND_MAX];

        (void) snprintf(regex, sizeof(regex), "^memsecowner-%s.service +[0-9]+ +%s  %s$", unit, size,
                        processes);
        return regex;
}

static const char *process(int pid) {
        static char text[64];

        (void) snprintf(text, sizeof(text), "%d \\(" COMM "\\)", pid);
        return text;
}

static void test_pages(void) {
        start("pages", "pages=300 wait unmap wait pages=100");
        wait_like(OWNERS, "^memsecowner-pages.service +secretmem +1200KiB +1200KiB +1$", true,
                  "what a unit holds is shown");
        tap_like(output_of(NULL, OWNERS), file_of("pages", "1200KiB", process(main_pid("pages"))), true,
                 "and the file that it is in, with the process");
        tap_like(output_of(NULL, OWNERS), "^This machine cannot hibernate", true, "and that it has a price");
        tell("pages");
        wait_like(OWNERS, "^memsecowner-pages.service +secretmem +0B +1200KiB +0$", true,
                  "when the file is gone, the unit's maximum is still there");
        tap_like(output_of(NULL, OWNERS), "^memsecowner-pages.*" COMM, false, "but the file is not");
        tell("pages");
        wait_like(OWNERS, "^memsecowner-pages.service +secretmem +400KiB +1200KiB +1$", true,
                  "less does not change the maximum");
        stop("pages");
        wait_like(KERNEL_ACCOUNTS, "memsecowner-pages", false, "without the unit, nothing is");
}

static void test_file_without_pages(void) {
        start("none", "open");
        wait_like(OWNERS, "^memsecowner-none.service +secretmem +0B +0B +1$", true,
                  "a file without a page is shown");
        tap_like(output_of(NULL, OWNERS), file_of("none", "0B", process(main_pid("none"))), true,
                 "with the process that has it open");
        stop("none");
        wait_like(OWNERS, "memsecowner-none", false, "until it is closed");
}

static void test_holders(void) {
        char both[256];
        int pid;

        start("forked", "pages=3 fork");
        wait_like(OWNERS, file_of("forked", "12KiB", "[0-9]+ \\(" COMM "\\), [0-9]+ \\(" COMM "\\)"), true,
                  "who inherits a file has it too");
        pid = main_pid("forked");
        (void) snprintf(both, sizeof(both), "%s, [0-9]+ \\(" COMM "\\)", process(pid));
        tap_like(output_of(NULL, OWNERS), file_of("forked", "12KiB", both), true, "both are named");

        start("closed", "pages=8 close");
        wait_like("ls -l /proc/$(systemctl show --property=MainPID --value memsecowner-closed)/fd",
                  "secretmem", false, "a file is closed");
        wait_like(OWNERS, file_of("closed", "32KiB", process(main_pid("closed"))), true,
                  "and still there for the process that has mapped it");

        start("sent", "open send");
        wait_like(OWNERS, file_of("sent", "0B", "-"), true, "of a file on its way nobody is known");
        stop("*");
        wait_like(OWNERS, "memsecowner", false, "all are gone");
}

/* Others have what a unit left behind. */
static void test_deleted(void) {
        start("next", "wait");
        start("left", "pages=5 leave=/sys/fs/cgroup/system.slice/memsecowner-next.service");
        wait_like(OWNERS, "^memsecowner-left.service \\(deleted\\) +secretmem +20KiB +20KiB +1$", true,
                  "a unit that is gone is shown while there is what it took");
        tap_like(output_of(NULL, OWNERS),
                 "^memsecowner-left.service \\(deleted\\) +[0-9]+ +20KiB  [0-9]+ \\(" COMM "\\)$", true,
                 "and who has it now");
        tap_like(output_of(NULL, OWNERS), "^memsecowner-next", false, "who did not take it");
        stop("next");
        wait_like(KERNEL_ACCOUNTS, "memsecowner", false, "then it is forgotten");
}

static void test_inside(void) {
        const char *inner = "/sys/fs/cgroup/system.slice/memsecowner-in.service/inner";
        char arguments[COMMAND_MAX];
        int status;

        (void) snprintf(arguments, sizeof(arguments), "mkdir=%s move=%s pages=2", inner, inner);
        start("in", arguments);
        start("other", "pages=1");
        wait_like(OWNERS, "^/system.slice/memsecowner-in.service/inner +secretmem +8KiB +8KiB +1$", true,
                  "a cgroup inside of a unit is shown with its path");
        wait_like(OWNERS, "^memsecowner-other.service +secretmem +4KiB", true, "others with their name");
        tap_like(output_of(&status, OWNERS " --unit=memsecowner-in.service"), "inner", true,
                 "what is inside is the unit's");
        tap_is(status, 0, "of one unit alone");
        tap_like(output_of(NULL, OWNERS " --unit=memsecowner-in.service"), "other", false, "not of others");
        tap_like(output_of(NULL, OWNERS " --unit='memsecowner-[n-p]*.service'"), "inner", false,
                 "by a glob too");
        tap_like(output_of(NULL, OWNERS " --unit=system.slice"), "^memsecowner-other.service ", true,
                 "or in a slice");
        tap_like(output_of(NULL, OWNERS " --unit=no.service"), "^No such unit holds memory", true,
                 "or of none");
        tap_like(output_of(NULL, OWNERS " --json --unit=memsecowner-other.service | tr -d '\\n '"),
                 "\\{\"owners\":\\[\\{\"unit\":\"memsecowner-other.service\","
                 "\"path\":\"/system.slice/memsecowner-other.service\",\"cgroup\":[0-9]+,\"deleted\":false,"
                 "\"kind\":\"secretmem\",\"now\":4096,\"most\":4096,\"owners\":1\\}\\],"
                 "\"files\":\\[\\{.*\"now\":4096,"
                 "\"processes\":\\[\\{\"pid\":[0-9]+,\"comm\":\"" COMM "\"\\}\\]\\}\\],"
                 "\"hibernation_prevented\":true\\}", true, "all of it in JSON");
        stop("*");
        wait_like(OWNERS, "memsecowner", false, "all are gone again");
}

/* Pages of many units are in the same entries of the direct map. */
static void test_storm(void) {
        uint64_t held;

        for (char unit[] = "1"; *unit <= '4'; ++*unit)
                start(unit, "pages=64 wait storm=20 mkdir=/run/memsecowner-$(date +%N)");
        wait_like(OWNERS " | grep -c '^memsecowner-.*secretmem  *256KiB'", "^4$", true, "units hold pages");
        for (char unit[] = "1"; *unit <= '4'; ++*unit)
                tell(unit);
        wait_like("ls /run | grep -c memsecowner-", "^4$", true, "and have more that come and go");
        (void) output_of(NULL, "rmdir /run/memsecowner-*");
        tap_like(output_of(NULL, OWNERS " | grep -c '^memsecowner-.*secretmem  *256KiB'"), "^4$", true,
                 "after that they hold what they held before");
        stop("3");
        wait_like(OWNERS, "memsecowner-3", false, "without one of them");
        if (sysfs_read("directmap/secretmem_pages", &held) < 0)
                tap_bail_out("no counters");
        tap_is(strtoull(output_of(NULL, "awk '$1 == \"secretmem\" { n += $3 } END { print n }' "
                                  "/proc/memsec/directmap_owners"), NULL, 10), held,
               "all of them hold what is held in all");
        stop("*");
        wait_like(KERNEL_ACCOUNTS, "memsecowner", false, "and nothing is left of it");
}

static void test_access(void) {
        int status;

        tap_is_text(output_of(NULL, "stat -c '%%a %%U' /proc/memsec/directmap_*"), "400 root\n400 root\n",
                    "only root may read the tables");
        tap_like(output_of(&status, "setpriv --reuid=nobody --regid=nogroup --clear-groups " OWNERS " 2>&1"),
                 "^/proc/memsec/directmap_owners: only root may see", true, "others are told so");
        tap_is(status, 1, "and it is an error");
        tap_like(output_of(NULL, "systemctl is-active memsecd"), "^inactive", true,
                 "all of this without memsecd");
}

int main(int argc, char **argv) {
        int status;

        if (argc > 1)
                run_steps(argv + 1);

        tap_like(output_of(&status, "systemctl stop memsecd; " OWNERS), "memsecowner", false,
                 "no unit is there");
        tap_is(status, 0, "which is no error");
        test_pages();
        test_file_without_pages();
        test_holders();
        test_deleted();
        test_inside();
        test_storm();
        test_access();
        return tap_done();
}
