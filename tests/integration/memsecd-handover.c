// SPDX-License-Identifier: GPL-2.0-only
/*
 * What memsecd makes of descriptors that do not belong together, as a crash between two steps of a change
 * leaves them: this test is its service manager and hands it a link and a state of its own choice.
 */

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>

#include <bpf/bpf.h>

#include "loader.h"
#include "sysfs.h"
#include "tap.h"
#include "util.h"

#define MEMSECD "/usr/lib/memsec/memsecd"

/* A limit for a broken memsecd, never waited for otherwise. */
#define ANSWER_TIMEOUT_MS (60 * 1000)

static const struct HandOver {
        const char *what;
        const char *saved;      /* the state file, NULL for none */
        bool detached;          /* the link is dead */

        const char *state;      /* expected, as memsecd's properties */
        const char *policy;
        uint64_t batch;         /* 0: that of the policy files */
        const char *attached;   /* the name the kernel is to have */
        bool error;
} hand_overs[] = {
        {
                .what = "the values of another program: it is replaced",
                .saved = "POLICY=fixed\nMAP=4294967295\nteardown.batch=77\nEND=1\n",
                .state = "attached", .policy = "fixed", .batch = 77, .attached = "fixed",
        },
        {
                .what = "the same for a policy that is no more: what runs runs on",
                .saved = "POLICY=/etc/none.bpf.o\nMAP=4294967295\nteardown.batch=77\nEND=1\n",
                .state = "attached", .policy = "/etc/none.bpf.o", .batch = 77, .attached = "one",
                .error = true,
        },
        {
                .what = "a damaged state: the files decide",
                .saved = "POLICY=/etc/none.bpf.o\nMAP=12\nteardown.ba",
                .state = "attached", .policy = "fixed", .attached = "fixed",
        },
        {
                .what = "no state: the files decide",
                .state = "attached", .policy = "fixed", .attached = "fixed",
        },
        {
                .what = "a link that was detached meanwhile: nothing is attached",
                .saved = "POLICY=fixed\nMAP=12\nteardown.batch=77\nEND=1\n", .detached = true,
                .state = "detached", .policy = "fixed", .batch = 77, .attached = "", .error = true,
        },
        {
                .what = "the same, but stopped when asked to: the files decide",
                .saved = "POLICY=fixed\nMAP=12\nSTOPPED=1\nteardown.batch=77\nEND=1\n", .detached = true,
                .state = "attached", .policy = "fixed", .attached = "fixed",
        },
};

static int open_link(void) {
        uint32_t id = 0;

        while (bpf_link_get_next_id(id, &id) >= 0) {
                struct bpf_link_info info = {};
                uint32_t size = sizeof(info);
                int fd = bpf_link_get_fd_by_id(id);

                if (fd >= 0 && bpf_link_get_info_by_fd(fd, &info, &size) >= 0 &&
                    info.type == BPF_LINK_TYPE_STRUCT_OPS)
                        return fd;
                safe_close(fd);
        }

        tap_bail_out("no link");
}

static int write_state(const char *text) {
        int fd;

        if (!text)
                return -1;

        fd = memfd_create("state", 0);
        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                tap_bail_out("no memory file");

        return fd;
}

/* In the child: memsecd with the descriptors as systemd passes them on. */
static void exec_memsecd(int link_fd, int state_fd) {
        char pid[16];

        snprintf(pid, sizeof(pid), "%d", getpid());
        setenv("LISTEN_PID", pid, 1);
        setenv("LISTEN_FDS", state_fd >= 0 ? "2" : "1", 1);
        setenv("LISTEN_FDNAMES", state_fd >= 0 ? "link:state" : "link", 1);

        /* Out of the way of each other first. */
        link_fd = fcntl(link_fd, F_DUPFD, 10);
        state_fd = state_fd >= 0 ? fcntl(state_fd, F_DUPFD, 10) : -1;
        if (dup2(link_fd, 3) >= 0 && (state_fd < 0 || dup2(state_fd, 4) >= 0))
                execl(MEMSECD, MEMSECD, NULL);
        _exit(EXIT_FAILURE);
}

static pid_t start_memsecd(int link_fd, int state_fd) {
        pid_t pid = fork();

        if (pid < 0)
                tap_bail_out("cannot fork");
        if (pid == 0)
                exec_memsecd(link_fd, state_fd);

        return pid;
}

static char *property(sd_bus *bus, const char *name) {
        char *value;

        for (int i = 0; i < ANSWER_TIMEOUT_MS / 100; i++) {
                if (sd_bus_get_property_string(bus, "org.memsec1", "/org/memsec1", "org.memsec1.Manager",
                                               name, NULL, &value) >= 0)
                        return value;
                usleep(100 * 1000);
        }

        tap_bail_out("memsecd does not answer");
}

static uint64_t batch(sd_bus *bus) {
        uint64_t value;

        if (sd_bus_get_property_trivial(bus, "org.memsec1", "/org/memsec1/mechanism/teardown",
                                        "org.memsec1.Teardown", "Batch", NULL, 't', &value) < 0)
                tap_bail_out("no Batch");

        return value;
}

static void check_hand_over(sd_bus *bus, const struct HandOver *h) {
        _cleanup_free_ char *state = property(bus, "State"), *policy = property(bus, "Policy"),
                *error = property(bus, "Error");
        char attached[64];

        if (sysfs_read_text("policy", attached, sizeof(attached)) < 0)
                tap_bail_out("no /sys/kernel/memsec");

        tap_is_text(state, h->state, "the state");
        tap_is_text(policy, h->policy, "the policy");
        tap_is_text(attached, h->attached, "the kernel's policy");
        tap_ok(h->error == (*error != '\0'), h->error ? "an error is shown" : "no error is shown");
        if (h->batch > 0)
                tap_is(batch(bus), h->batch, "the value saved");
        else
                tap_ok(batch(bus) != 77, "the value of the files");
}

static void test_hand_over(sd_bus *bus, const struct HandOver *h) {
        _policy_cleanup_ Policy *p = NULL;
        _cleanup_close_ int link_fd = -1, state_fd = -1;
        int status;
        pid_t pid;

        tap_note("%s", h->what);
        if (policy_alone() < 0 || policy_run("one", &p) < 0)
                tap_bail_out("no policy");

        link_fd = open_link();
        state_fd = write_state(h->saved);
        if (h->detached && bpf_link_detach(link_fd) < 0)
                tap_bail_out("cannot detach");

        pid = start_memsecd(link_fd, state_fd);
        check_hand_over(bus, h);

        kill(pid, SIGTERM);
        tap_ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0,
               "memsecd ends well");
}

int main(void) {
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;

        if (sd_bus_open_system(&bus) < 0)
                tap_bail_out("no bus");

        for (size_t i = 0; i < ELEMENTSOF(hand_overs); i++)
                test_hand_over(bus, hand_overs + i);

        return tap_done();
}
