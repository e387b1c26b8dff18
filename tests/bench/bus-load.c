/* SPDX-License-Identifier: GPL-2.0-only */

/*
 * Calls a daemon on the system bus over and over, from one client or several at a time, and says how long
 * each call took: a line "ns=N" a call, and at the end "calls=N refused=N total_ns=N".
 */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

#include "util.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

static const char usage[] =
        "bus-load [OPTION...] set DEST PATH INTERFACE PROPERTY TYPE VALUE...\n"
        "bus-load [OPTION...] unit UNIT PROPERTY VALUE...\n"
        "bus-load [OPTION...] reload FILE SOURCE...\n"
        "\n"
        "set writes a property, unit one of a unit of systemd (a number, until the next boot), with the\n"
        "VALUEs in turn; reload saves SOURCEs in turn as FILE and has memsecd read it.\n"
        "\n"
        "  -c CLIENTS    at the same time, 1\n"
        "  -n CALLS      of each client, 1\n"
        "  -q            only the last line\n";

typedef struct Options {
        size_t clients, calls;
        bool quiet;
        char **arguments;       /* NULL-terminated, what to do first */
        char **values;          /* the VALUEs or SOURCEs among them */
        size_t n_values;
} Options;

/* What a client came to, shared with its parent. */
typedef struct Client {
        uint64_t refused;
        uint64_t *ns;           /* of each call */
} Client;

static uint64_t now_ns(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static int append_value(sd_bus_message *m, char type, const char *value) {
        if (type == 't')
                return sd_bus_message_append(m, "v", "t", (uint64_t) strtoull(value, NULL, 10));

        return sd_bus_message_append(m, "v", "s", value);
}

static int new_set(sd_bus *bus, const Options *o, const char *value, sd_bus_message **ret) {
        char **a = o->arguments;
        int r;

        r = sd_bus_message_new_method_call(bus, ret, a[1], a[2], "org.freedesktop.DBus.Properties", "Set");
        if (r >= 0)
                r = sd_bus_message_append(*ret, "ss", a[3], a[4]);
        return r < 0 ? r : append_value(*ret, a[5][0], value);
}

static int new_unit(sd_bus *bus, const Options *o, const char *value, sd_bus_message **ret) {
        char **a = o->arguments;
        int r;

        r = sd_bus_message_new_method_call(bus, ret, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                                           "org.freedesktop.systemd1.Manager", "SetUnitProperties");
        if (r < 0)
                return r;

        return sd_bus_message_append(*ret, "sba(sv)", a[1], /* runtime= */ true, 1, a[2], "t",
                                     (uint64_t) strtoull(value, NULL, 10));
}

/* As an editor saves: nobody ever sees half of it. */
static int save_file(const char *path, const char *source) {
        _cleanup_close_ int in = -1, out = -1;
        char name[4096], buffer[65536];
        ssize_t n;

        (void) snprintf(name, sizeof(name), "%s.%d", path, getpid());
        in = open(source, O_RDONLY | O_CLOEXEC);
        out = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (in < 0 || out < 0)
                return -errno;

        n = read(in, buffer, sizeof(buffer));
        if (n < 0 || write(out, buffer, n) != n || rename(name, path) < 0)
                return -errno;

        return 0;
}

static int new_reload(sd_bus *bus, const Options *o, const char *value, sd_bus_message **ret) {
        int r;

        r = save_file(o->arguments[1], value);
        if (r < 0)
                return r;

        return sd_bus_message_new_method_call(bus, ret, "org.memsec1", "/org/memsec1", "org.memsec1.Manager",
                                              "Reload");
}

static const struct Kind {
        const char *name;
        int n_arguments;        /* before the values */
        int (*new)(sd_bus *bus, const Options *o, const char *value, sd_bus_message **ret);
} kinds[] = {
        { "set",    6, new_set    },
        { "unit",   3, new_unit   },
        { "reload", 2, new_reload },
};

static const struct Kind *find_kind(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                if (streq(kinds[i].name, name))
                        return kinds + i;

        return NULL;
}

/* 0 when the call is answered, refused or not. */
static int call(sd_bus *bus, const struct Kind *kind, const Options *o, size_t i, Client *client) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        uint64_t start_ns = now_ns();
        int r;

        r = kind->new(bus, o, o->values[i % o->n_values], &m);
        if (r < 0)
                return r;

        r = sd_bus_call(bus, m, /* usec= */ 0, &error, &reply);
        client->ns[i] = now_ns() - start_ns;
        if (r >= 0)
                return 0;

        client->refused++;
        return sd_bus_error_has_names(&error, SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_SERVICE_UNKNOWN,
                                      SD_BUS_ERROR_NAME_HAS_NO_OWNER, SD_BUS_ERROR_ACCESS_DENIED) ||
                        !sd_bus_error_is_set(&error) ? r : 0;
}

static int run_client(const struct Kind *kind, const Options *o, Client *client) {
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int r;

        r = sd_bus_open_system(&bus);
        for (size_t i = 0; r >= 0 && i < o->calls; i++)
                r = call(bus, kind, o, i, client);
        if (r < 0)
                fprintf(stderr, "bus-load: %s\n", strerror(-r));

        return r;
}

static void *map_shared(size_t size) {
        void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED) {
                fprintf(stderr, "bus-load: %m\n");
                exit(EXIT_FAILURE);
        }

        return p;
}

static int run_clients(const struct Kind *kind, const Options *o, Client *clients) {
        int r = 0, status;

        for (Client *c = clients; c < clients + o->clients; c++) {
                pid_t pid;

                c->ns = map_shared(o->calls * sizeof(uint64_t));
                pid = fork();
                if (pid < 0)
                        return -errno;
                if (pid == 0)
                        _exit(run_client(kind, o, c) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
        }

        while (wait(&status) > 0)
                if (status != 0)
                        r = -EIO;

        return r;
}

static int run(const struct Kind *kind, const Options *o) {
        Client *clients = map_shared(o->clients * sizeof(Client));
        uint64_t start_ns = now_ns(), total_ns, refused = 0;
        int r;

        r = run_clients(kind, o, clients);
        total_ns = now_ns() - start_ns;
        if (r < 0)
                return r;

        for (Client *c = clients; c < clients + o->clients; c++) {
                refused += c->refused;
                for (size_t i = 0; !o->quiet && i < o->calls; i++)
                        printf("ns=%" PRIu64 "\n", c->ns[i]);
        }

        printf("calls=%zu refused=%" PRIu64 " total_ns=%" PRIu64 "\n", o->clients * o->calls, refused,
               total_ns);
        return 0;
}

int main(int argc, char **argv) {
        Options o = { .clients = 1, .calls = 1 };
        const struct Kind *kind;
        int c;

        while ((c = getopt(argc, argv, "+c:n:q")) >= 0)
                switch (c) {
                case 'c':
                        o.clients = strtoul(optarg, NULL, 10);
                        break;
                case 'n':
                        o.calls = strtoul(optarg, NULL, 10);
                        break;
                case 'q':
                        o.quiet = true;
                        break;
                default:
                        optind = argc;
                }

        o.arguments = argv + optind;
        kind = optind < argc ? find_kind(*o.arguments) : NULL;
        if (!kind || argc - optind <= kind->n_arguments || o.clients == 0 || o.calls == 0) {
                fputs(usage, stderr);
                return 2;
        }

        o.values = o.arguments + kind->n_arguments;
        o.n_values = argc - optind - kind->n_arguments;
        return run(kind, &o) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
