// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reloads, D-Bus calls and new programs from several clients at once, while enclaves are released on all
 * CPUs under the policy "pairs", which looks at every question whether its parameters are torn. In the end
 * memsecd, its clients and the kernel agree on what was set last.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <time.h>

#include <linux/types.h>

#include "../../bpf/hostile/pairs.h"
#include "child.h"
#include "enclave.h"
#include "maps.h"
#include "memsec_params.h"
#include "sysfs.h"
#include "tap.h"
#include "util.h"

#define POLICY_FILE "/etc/memsec/policy.yaml"
#define KEPT_FILE "/tmp/policy.yaml.storm"
#define OBJECT "/usr/lib/memsec/tests/policies/pairs.bpf.o"
#define POLICY "/etc/memsec/storm.bpf.o"
#define UNIT "memsecstorm.service"

#define MANAGER "/org/memsec1", "org.memsec1.Manager"
#define TEARDOWN "/org/memsec1/mechanism/teardown", "org.memsec1.Teardown"

#define STORM_SEC 12
#define PROGRAM_PAUSE_USEC (2 * 1000 * 1000)
#define ENCLAVE_PAGES 64
#define LIMIT_NEVER UINT32_MAX
#define LIMIT_DEFAULT 100

#define NSEC_PER_USEC 1000

/* Single numbers that each setter uses, so that each is set once. */
#define SETTER_NUMBERS 10000

static uint64_t counter(const char *name) {
        uint64_t value;

        if (sysfs_read(name, &value) < 0)
                tap_bail_out("no counters");

        return value;
}

static time_t now_sec(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return ts.tv_sec;
}

static sd_bus *connect_bus(void) {
        sd_bus *bus;

        if (sd_bus_open_system(&bus) < 0)
                tap_bail_out("no bus");

        return bus;
}

static int copy_file(const char *from, const char *to) {
        _cleanup_close_ int in = -1, out = -1;
        char name[PATH_MAX];
        struct stat st;

        (void) snprintf(name, sizeof(name), "%s.%d", to, getpid());
        in = open(from, O_RDONLY | O_CLOEXEC);
        out = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (in < 0 || out < 0 || fstat(in, &st) < 0 || sendfile(out, in, NULL, st.st_size) != st.st_size ||
            rename(name, to) < 0)
                return -errno;

        return 0;
}

/* A pair for everyone and another one for the unit. */
static int save_pairs(unsigned n) {
        char name[PATH_MAX];
        FILE *f;

        (void) snprintf(name, sizeof(name), POLICY_FILE ".%d", getpid());
        f = fopen(name, "we");
        if (!f)
                return -errno;

        fprintf(f, "version: 1\npolicy: " POLICY "\nteardown: { batch: %u, max_hold: %uus }\n"
                "units: { " UNIT ": { teardown: { batch: %u, max_hold: %uus } } }\n",
                n, n, n / 2 + PAIRS_MIN, n / 2 + PAIRS_MIN);
        if (fclose(f) != 0 || rename(name, POLICY_FILE) < 0)
                return -errno;

        return 0;
}

static int call_reload(sd_bus *bus) {
        return sd_bus_call_method(bus, "org.memsec1", MANAGER, "Reload", NULL, NULL, NULL);
}

static int set(sd_bus *bus, const char *property, uint64_t value) {
        return sd_bus_set_property(bus, "org.memsec1", TEARDOWN, property, NULL, "t", value);
}

/* What the clients do, N being 0, 1, 2 and so on; WHO tells clients that do the same apart. */

static int do_reload(sd_bus *bus, unsigned who, unsigned n) {
        int r = save_pairs(PAIRS_MIN + (n * 97 + who * 4999) % (PAIRS_MAX / 2));

        return r < 0 ? r : call_reload(bus);
}

static int do_set_batch(sd_bus *bus, unsigned who, unsigned n) {
        return set(bus, "Batch", PAIRS_MAX + 1 + who * SETTER_NUMBERS + n % SETTER_NUMBERS);
}

static int do_set_hold(sd_bus *bus, unsigned who, unsigned n) {
        return set(bus, "MaxHoldUSec", PAIRS_MAX + 1 + who * SETTER_NUMBERS + n % SETTER_NUMBERS);
}

static int do_set_unit(sd_bus *bus, unsigned who, unsigned n) {
        return sd_bus_call_method(bus, "org.memsec1", MANAGER, "SetUnit", NULL, NULL, "ssv", UNIT,
                                  n % 2 ? "teardown.batch" : "teardown.max_hold", "t",
                                  (uint64_t) PAIRS_MAX + 1 + n % SETTER_NUMBERS);
}

/* The next reload, whoever calls it, finds another program. */
static int do_replace_program(sd_bus *bus, unsigned who, unsigned n) {
        int r = copy_file(OBJECT, POLICY);

        (void) usleep(PROGRAM_PAUSE_USEC);
        return r < 0 ? r : call_reload(bus);
}

static const struct Client {
        const char *what;
        int (*act)(sd_bus *bus, unsigned who, unsigned n);
} clients[] = {
        { "reloads",                        do_reload          },
        { "reloads from another client",    do_reload          },
        { "batches set",                    do_set_batch       },
        { "batches set by another client",  do_set_batch       },
        { "hold times set",                 do_set_hold        },
        { "parameters of a unit set",       do_set_unit        },
        { "new programs",                   do_replace_program },
};

typedef struct Storm {
        pid_t clients[ELEMENTSOF(clients)];
        pid_t *releasers;
        long n_releasers;
        unsigned *done;                 /* of each client, shared with it */
        uint64_t batch, max_hold;       /* announced last */
} Storm;

static void run_client(const struct Client *client, unsigned who, unsigned *done) {
        time_t end = now_sec() + STORM_SEC;
        sd_bus *bus = connect_bus();

        while (now_sec() < end) {
                int r = client->act(bus, who, *done);

                if (r < 0) {
                        tap_note("%s: %s", client->what, strerror(-r));
                        _exit(EXIT_FAILURE);
                }
                (*done)++;
        }

        sd_bus_flush_close_unref(bus);
        _exit(EXIT_SUCCESS);
}

/* It is never mapped, so that the release is over when this returns. */
static int release_enclave(void) {
        _enclave_cleanup_ Enclave *e = NULL;
        int r;

        r = enclave_new(ENCLAVE_PAGES, &e);
        if (r >= 0)
                r = enclave_add(e, 0, ENCLAVE_PAGES, 1);
        if (r >= 0)
                r = enclave_init(e);

        return r;
}

static void run_releaser(int cpu) {
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        if (sched_setaffinity(0, sizeof(set), &set) < 0)
                _exit(EXIT_FAILURE);

        while (release_enclave() >= 0)
                ;
        _exit(EXIT_FAILURE);
}

static void start_releasers(Storm *s) {
        s->n_releasers = sysconf(_SC_NPROCESSORS_ONLN);
        s->releasers = calloc(s->n_releasers, sizeof(pid_t));
        if (!s->releasers)
                tap_bail_out("no memory");

        for (long i = 0; i < s->n_releasers; i++) {
                s->releasers[i] = child_fork();
                if (s->releasers[i] == 0)
                        run_releaser(i);
        }

        if (system("systemd-run --quiet --unit=" UNIT " /usr/lib/memsec/demo/release-enclaves 99999 64"))
                tap_bail_out("no unit that releases enclaves");
}

static void stop_releasers(Storm *s) {
        (void) system("systemctl stop " UNIT);
        for (long i = 0; i < s->n_releasers; i++) {
                kill(s->releasers[i], SIGKILL);
                tap_ok(child_died_of(s->releasers[i], SIGKILL), "CPU %ld released enclaves all the time", i);
        }
        free(s->releasers);
}

static void start_clients(Storm *s) {
        s->done = mmap(NULL, sizeof(clients), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (s->done == MAP_FAILED)
                tap_bail_out("no memory");

        for (size_t i = 0; i < ELEMENTSOF(clients); i++) {
                s->clients[i] = child_fork();
                if (s->clients[i] == 0)
                        run_client(clients + i, i, s->done + i);
        }
}

static void await_clients(Storm *s) {
        for (size_t i = 0; i < ELEMENTSOF(clients); i++) {
                bool passed = child_passed(s->clients[i]);

                tap_ok(passed && s->done[i] > 0, "%s, each of them answered", clients[i].what);
                tap_note("%u", s->done[i]);
        }
}

/* Notes what PropertiesChanged says of the tunables. */
static int on_changed(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Storm *s = userdata;
        const char *name;

        if (sd_bus_message_skip(m, "s") < 0 || sd_bus_message_enter_container(m, 'a', "{sv}") < 0)
                tap_bail_out("a signal without properties");

        while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
                uint64_t value;

                if (sd_bus_message_read(m, "s", &name) < 0 || sd_bus_message_read(m, "v", "t", &value) < 0 ||
                    sd_bus_message_exit_container(m) < 0)
                        tap_bail_out("a signal without numbers");
                *(streq(name, "Batch") ? &s->batch : &s->max_hold) = value;
        }

        return 0;
}

/* Whatever has come so far, and what comes within USEC. */
static void read_signals(sd_bus *bus, uint64_t usec) {
        do
                while (sd_bus_process(bus, NULL) > 0)
                        ;
        while (sd_bus_wait(bus, usec) > 0);
}

static uint64_t property(sd_bus *bus, const char *name) {
        uint64_t value;

        if (sd_bus_get_property_trivial(bus, "org.memsec1", TEARDOWN, name, NULL, 't', &value) < 0)
                tap_bail_out("memsecd does not answer");

        return value;
}

static void check_agreement(sd_bus *bus, const Storm *s) {
        struct memsec_params params = {};

        tap_is(property(bus, "Batch"), s->batch, "the batch in force is what was announced last");
        tap_is(property(bus, "MaxHoldUSec"), s->max_hold, "and so is the hold time");
        tap_is_errno(map_read_params(MEMSEC_EVERYONE, &params), 0, "the policy's parameters can be read");
        tap_is(params.teardown.batch, s->batch, "the policy has that batch");
        tap_is(params.teardown.max_hold_ns, s->max_hold * NSEC_PER_USEC, "and that hold time");
}

static void storm(sd_bus *bus) {
        uint64_t clamped = counter("teardown/clamped"), asked = counter("teardown/asked");
        time_t end = now_sec() + STORM_SEC;
        Storm s = {};

        s.batch = property(bus, "Batch");
        s.max_hold = property(bus, "MaxHoldUSec");
        if (sd_bus_match_signal(bus, NULL, "org.memsec1", "/org/memsec1/mechanism/teardown",
                                "org.freedesktop.DBus.Properties", "PropertiesChanged", on_changed, &s) < 0)
                tap_bail_out("no signals");

        start_releasers(&s);
        start_clients(&s);
        while (now_sec() < end)
                read_signals(bus, 100 * 1000);
        await_clients(&s);
        stop_releasers(&s);
        read_signals(bus, 1000 * 1000);

        check_agreement(bus, &s);
        tap_is(counter("teardown/clamped") - clamped, 0, "no decision was made by torn parameters");
        tap_note("of %" PRIu64, counter("teardown/asked") - asked);
        tap_ok(counter("teardown/asked") - asked > 1000, "of many");
}

/* Otherwise the policy would see nothing. */
static void check_policy(sd_bus *bus) {
        uint64_t clamped = counter("teardown/clamped");

        if (set(bus, "Batch", PAIRS_MIN) < 0 || set(bus, "MaxHoldUSec", PAIRS_MIN + 1) < 0)
                tap_bail_out("nothing can be set");
        if (release_enclave() < 0)
                tap_bail_out("no enclave");
        tap_ok(counter("teardown/clamped") > clamped, "the policy sees what does not belong together");
}

static char *main_pid(void) {
        char line[32] = "";
        FILE *f;

        f = popen("systemctl show --property=MainPID --value memsecd", "r");
        if (!f || !fgets(line, sizeof(line), f))
                tap_bail_out("no systemctl");
        pclose(f);
        return strdup(line);
}

int main(void) {
        _cleanup_free_ char *before = NULL, *after = NULL;
        char state[16] = "";
        sd_bus *bus;

        (void) copy_file(POLICY_FILE, KEPT_FILE);
        if (copy_file(OBJECT, POLICY) < 0 || save_pairs(PAIRS_MIN) < 0 ||
            sysfs_write("fuse_limit", LIMIT_NEVER) < 0 || system("systemctl start memsecd") != 0)
                tap_bail_out("cannot begin");

        bus = connect_bus();
        before = main_pid();
        if (call_reload(bus) < 0)
                tap_bail_out("cannot reload");
        check_policy(bus);
        if (call_reload(bus) < 0)
                tap_bail_out("cannot reload");
        storm(bus);

        after = main_pid();
        tap_is_text(after, before, "it was one memsecd all the time");
        (void) sysfs_read_text("state", state, sizeof(state));
        tap_is_text(state, "attached", "and its policy is attached");

        sd_bus_flush_close_unref(bus);
        (void) sysfs_write("fuse_limit", LIMIT_DEFAULT);
        (void) unlink(POLICY);
        if (rename(KEPT_FILE, POLICY_FILE) < 0 && copy_file(KEPT_FILE, POLICY_FILE) < 0)
                (void) unlink(POLICY_FILE);
        (void) system("systemctl stop memsecd");
        return tap_done();
}
