/* SPDX-License-Identifier: GPL-2.0-only */

/*
 * reload HOW REPEATS: how long it takes from a change to the kernel's first decision by it. HOW is
 *
 *   set         Batch is set over D-Bus
 *   bus         the policy file is saved and Reload() called over D-Bus
 *   memsecctl   the file is saved and "memsecctl reload" started
 *   systemctl   the file is saved and "systemctl reload memsecd" started
 *
 * Meanwhile another process, on a CPU of its own, releases an enclave under the policy "stamp", which is
 * asked at every page. Lines "decided_ns=N done_ns=N": to the first decision, and to the end of the change.
 */

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

#include <linux/types.h>

#include "../../bpf/hostile/stamp.h"
#include "enclave.h"
#include "maps.h"
#include "sysfs.h"
#include "util.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

#define POLICY_FILE "/etc/memsec/policy.yaml"
#define POLICY "/usr/lib/memsec/tests/policies/stamp.bpf.o"

#define RELEASE_CPU 1

#define RELEASE_PAGES 8192

/* The policy files of the changes; no default is among them. */
#define FIRST_BATCH 10000

extern char **environ;

typedef struct Bench {
        sd_bus *bus;
        int releaser_fd;
        int stamps_fd, calls_fd;
} Bench;

/* A page takes so long that a release is longer than any change, and yet short beside what is measured. */
typedef struct How {
        const char *name;
        int (*change)(Bench *b, uint64_t batch);
        uint64_t page_ns;
} How;

static uint64_t now_ns(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static int pin(int cpu) {
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        return sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
}

/* Says when an enclave is there, releases it when told to, and says when that is done. */
static int releaser(int fd) {
        char byte = 0;
        int r;

        r = pin(RELEASE_CPU);
        while (r >= 0) {
                _enclave_cleanup_ Enclave *e = NULL;

                r = enclave_new(RELEASE_PAGES, &e);
                if (r >= 0)
                        r = enclave_add(e, 0, RELEASE_PAGES, 1);
                if (r >= 0)
                        r = enclave_init(e);
                if (r < 0 || write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
                        break;

                e = enclave_free(e);
                if (write(fd, &byte, 1) != 1)
                        break;
        }

        return r;
}

static int start_releaser(int *ret_fd) {
        int fds[2];
        pid_t pid;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
                return -errno;

        pid = fork();
        if (pid < 0)
                return -errno;
        if (pid == 0) {
                safe_close(fds[0]);
                _exit(releaser(fds[1]) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
        }

        safe_close(fds[1]);
        *ret_fd = fds[0];
        return 0;
}

/* Until the releaser has come to its next step. */
static int await_releaser(Bench *b) {
        char byte;

        return read(b->releaser_fd, &byte, 1) == 1 ? 0 : -EPIPE;
}

/* Returns when the kernel asks the policy already. */
static int begin_release(Bench *b) {
        uint64_t before, calls;
        char byte = 0;
        int r;

        r = map_read(b->calls_fd, MAP_CALLS_TEARDOWN, &before);
        if (r < 0 || write(b->releaser_fd, &byte, 1) != 1)
                return r < 0 ? r : -EPIPE;

        do
                r = map_read(b->calls_fd, MAP_CALLS_TEARDOWN, &calls);
        while (r >= 0 && calls == before);

        return r;
}

/* As an editor saves. */
static int save_file(uint64_t batch) {
        FILE *f;

        f = fopen(POLICY_FILE ".new", "we");
        if (!f)
                return -errno;

        fprintf(f, "version: 1\npolicy: " POLICY "\nteardown:\n  batch: %" PRIu64 "\n", batch);
        if (fclose(f) != 0 || rename(POLICY_FILE ".new", POLICY_FILE) < 0)
                return -errno;

        return 0;
}

static int run(const char *const *argv) {
        int r, status;
        pid_t pid;

        r = posix_spawnp(&pid, argv[0], NULL, NULL, (char **) argv, environ);
        if (r != 0)
                return -r;

        return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -EIO;
}

static int change_set(Bench *b, uint64_t batch) {
        return sd_bus_set_property(b->bus, "org.memsec1", "/org/memsec1/mechanism/teardown",
                                   "org.memsec1.Teardown", "Batch", NULL, "t", batch);
}

static int change_bus(Bench *b, uint64_t batch) {
        int r;

        r = save_file(batch);
        if (r < 0)
                return r;

        return sd_bus_call_method(b->bus, "org.memsec1", "/org/memsec1", "org.memsec1.Manager", "Reload",
                                  NULL, NULL, NULL);
}

static int change_memsecctl(Bench *b, uint64_t batch) {
        int r;

        r = save_file(batch);
        return r < 0 ? r : run((const char *const[]) { "memsecctl", "reload", NULL });
}

static int change_systemctl(Bench *b, uint64_t batch) {
        int r;

        r = save_file(batch);
        return r < 0 ? r : run((const char *const[]) { "systemctl", "reload", "memsecd", NULL });
}

static const How hows[] = {
        { "set",       change_set,        20000 },
        { "bus",       change_bus,        50000 },
        { "memsecctl", change_memsecctl, 200000 },
        { "systemctl", change_systemctl, 200000 },
};

/* -ENODATA when the release had ended before anything was decided by the change. */
static int measure(Bench *b, const How *how, uint64_t batch) {
        uint64_t start_ns, done_ns;
        struct stamp stamp;
        int r;

        r = await_releaser(b);
        if (r >= 0)
                r = begin_release(b);
        if (r < 0)
                return r;

        start_ns = now_ns();
        r = how->change(b, batch);
        done_ns = now_ns();
        if (r >= 0)
                r = await_releaser(b);
        if (r >= 0)
                r = map_read(b->stamps_fd, 0, &stamp);
        if (r < 0)
                return r;
        if (stamp.batch != batch)
                return -ENODATA;

        printf("decided_ns=%" PRIu64 " done_ns=%" PRIu64 "\n", (uint64_t) stamp.ns - start_ns,
               done_ns - start_ns);
        return 0;
}

static int prepare(Bench *b, const How *how) {
        int r;

        r = sd_bus_open_system(&b->bus);
        if (r >= 0)
                r = save_file(FIRST_BATCH);
        if (r >= 0)
                r = change_bus(b, FIRST_BATCH);
        if (r >= 0)
                r = map_open("stamps", &b->stamps_fd);
        if (r >= 0)
                r = map_open("calls", &b->calls_fd);
        if (r >= 0)
                r = sysfs_write("emulation/sgx/eremove_ns", how->page_ns);
        if (r >= 0)
                r = start_releaser(&b->releaser_fd);

        return r;
}

int main(int argc, char **argv) {
        const How *how = NULL;
        Bench b = {};
        int r;

        for (size_t i = 0; argc == 3 && i < ELEMENTSOF(hows); i++)
                if (streq(hows[i].name, argv[1]))
                        how = hows + i;
        if (!how) {
                fputs("reload set|bus|memsecctl|systemctl REPEATS\n", stderr);
                return 2;
        }

        r = prepare(&b, how);
        for (uint64_t i = 1; r >= 0 && i <= strtoull(argv[2], NULL, 10); i++)
                r = measure(&b, how, FIRST_BATCH + i);
        if (r < 0)
                fprintf(stderr, "reload: %s: %s\n", how->name, strerror(-r));

        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
