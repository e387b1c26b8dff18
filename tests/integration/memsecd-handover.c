// SPDX-License-Identifier: GPL-2.0-only
/*
 * What memsecd makes of descriptors that do not belong together, as a crash between two steps of a change
 * leaves them, or of those of another version: this test is its service manager and hands it a link, a state
 * and parameters of its own choice.
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
        size_t params;          /* bytes of the program's, which the state is about; 0 for none */

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
                .what = "parameters of a version without xpfo: the program is replaced",
                .saved = "POLICY=fixed\nteardown.batch=77\nEND=1\n",
                .params = offsetof(struct memsec_params, xpfo),
                .state = "attached", .policy = "fixed", .batch = 77, .attached = "fixed",
        },
        {
                .what = "of a version that has more: the same",
                .saved = "POLICY=fixed\nteardown.batch=77\nteardown.more=1\nEND=1\n",
                .params = sizeof(struct memsec_params) + sizeof(uint64_t),
                .state = "attached", .policy = "fixed", .batch = 77, .attached = "fixed",
        },
        {
                .what = "those of this version: it runs on",
                .saved = "POLICY=fixed\nteardown.batch=77\nEND=1\n",
                .params = sizeof(struct memsec_params),
                .state = "attached", .policy = "fixed", .batch = 77, .attached = "one",
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

/* -1 for what there is none of. */
typedef struct Handed {
        int link_fd;
        int state_fd;
        int params_fd;
} Handed;

#define HANDED_NONE ((Handed) { -1, -1, -1 })

static void handed_done(Handed *handed) {
        safe_close(handed->link_fd);
        safe_close(handed->state_fd);
        safe_close(handed->params_fd);
}

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

/* *MAP_ID is that of the program that the state is about, when it is not NULL. */
static int write_state(const char *text, const uint32_t *map_id) {
        int fd;

        if (!text)
                return -1;

        fd = memfd_create("state", 0);
        if (fd < 0 || (map_id && dprintf(fd, "MAP=%" PRIu32 "\n", *map_id) < 0) ||
            write(fd, text, strlen(text)) < 0)
                tap_bail_out("no memory file");

        return fd;
}

/* What a program of another version has: a map like that of bpf/memsec.bpf.h, with other values. */
static int params_map(size_t size) {
        LIBBPF_OPTS(bpf_map_create_opts, outer, .map_flags = BPF_F_NO_PREALLOC);
        _cleanup_close_ int inner = -1;
        int fd;

        if (size == 0)
                return -1;

        inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "values", sizeof(uint32_t), size, 1, NULL);
        outer.inner_map_fd = inner;
        fd = bpf_map_create(BPF_MAP_TYPE_HASH_OF_MAPS, "params", sizeof(uint64_t), sizeof(uint32_t),
                            MEMSEC_PARAMS_MAX, &outer);
        if (inner < 0 || fd < 0)
                tap_bail_out("no map");

        return fd;
}

static uint32_t link_map_id(int link_fd) {
        struct bpf_link_info info = {};
        uint32_t size = sizeof(info);

        if (bpf_link_get_info_by_fd(link_fd, &info, &size) < 0)
                tap_bail_out("no link");

        return info.struct_ops.map_id;
}

/* In the child: memsecd with the descriptors as systemd passes them on. */
static void exec_memsecd(const Handed *handed) {
        const int fds[] = { handed->link_fd, handed->state_fd, handed->params_fd };
        static const char *const names[] = { "link", "state", "params" };
        char number[16], joined[64] = "";
        int n = 0, high[ELEMENTSOF(fds)];

        /* Out of the way of each other first. */
        for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                high[i] = fds[i] >= 0 ? fcntl(fds[i], F_DUPFD_CLOEXEC, 10) : -1;
        for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                if (high[i] >= 0) {
                        if (dup2(high[i], 3 + n++) < 0)
                                _exit(EXIT_FAILURE);
                        (void) strcat(strcat(joined, *joined ? ":" : ""), names[i]);
                }

        (void) snprintf(number, sizeof(number), "%d", getpid());
        setenv("LISTEN_PID", number, 1);
        (void) snprintf(number, sizeof(number), "%d", n);
        setenv("LISTEN_FDS", number, 1);
        setenv("LISTEN_FDNAMES", joined, 1);
        execl(MEMSECD, MEMSECD, NULL);
        _exit(EXIT_FAILURE);
}

static pid_t start_memsecd(const Handed *handed) {
        pid_t pid = fork();

        if (pid < 0)
                tap_bail_out("cannot fork");
        if (pid == 0)
                exec_memsecd(handed);

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
        _cleanup_(handed_done) Handed handed = HANDED_NONE;
        uint32_t map_id;
        int status;
        pid_t pid;

        tap_note("%s", h->what);
        if (policy_alone() < 0 || policy_run("one", &p) < 0)
                tap_bail_out("no policy");

        handed.link_fd = open_link();
        map_id = link_map_id(handed.link_fd);
        handed.params_fd = params_map(h->params);
        handed.state_fd = write_state(h->saved, h->params > 0 ? &map_id : NULL);
        if (h->detached && bpf_link_detach(handed.link_fd) < 0)
                tap_bail_out("cannot detach");

        pid = start_memsecd(&handed);
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
