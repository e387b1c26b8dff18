// SPDX-License-Identifier: GPL-2.0-only

#include <getopt.h>
#include <signal.h>
#include <systemd/sd-daemon.h>

#include "bus-introspect.h"
#include "log.h"
#include "manager.h"
#include "manager-bus.h"

static void help(void) {
        puts("memsecd [OPTION...]\n"
             "\n"
             "Keeps the policy that the policy files name attached to the kernel's memsec, and lets it be\n"
             "tuned over D-Bus.\n"
             "\n"
             "  -h --help                 Show this help\n"
             "     --version              Show the version\n"
             "     --root=DIR             Look for policy files, policies and /sys below DIR\n"
             "     --bus-introspect=PATH  Write the D-Bus introspection XML of an object and end\n"
             "\n"
             "See memsecd(8), memsec.yaml(5) and memsecctl(1).");
}

static const char *arg_root = NULL;
static const char *arg_bus_introspect = NULL;

/* Returns 0 when there is nothing more to do. */
static int parse_argv(int argc, char *argv[]) {
        enum {
                ARG_VERSION = 0x100,
                ARG_ROOT,
                ARG_BUS_INTROSPECT,
        };
        static const struct option options[] = {
                { "help",           no_argument,       NULL, 'h'                },
                { "version",        no_argument,       NULL, ARG_VERSION        },
                { "root",           required_argument, NULL, ARG_ROOT           },
                { "bus-introspect", required_argument, NULL, ARG_BUS_INTROSPECT },
                {}
        };
        int c;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case 'h':
                        help();
                        return 0;
                case ARG_VERSION:
                        puts("memsecd " MEMSEC_VERSION);
                        return 0;
                case ARG_ROOT:
                        arg_root = optarg;
                        break;
                case ARG_BUS_INTROSPECT:
                        arg_bus_introspect = optarg;
                        break;
                default:
                        return -EINVAL;
                }

        if (optind < argc) {
                log_error("Expected no arguments, found '%s'.", argv[optind]);
                return -EINVAL;
        }

        return 1;
}

static int on_sighup(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        Manager *m = userdata;

        /* A failure is in the journal and on the bus. */
        (void) manager_reload(m, &error);
        return 0;
}

static int add_signals(Manager *m) {
        int r;

        r = sd_event_add_signal(m->event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
        if (r < 0)
                return r;

        r = sd_event_add_signal(m->event, NULL, SIGINT | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
        if (r < 0)
                return r;

        return sd_event_add_signal(m->event, NULL, SIGHUP | SD_EVENT_SIGNAL_PROCMASK, on_sighup, m);
}

static int run(void) {
        _cleanup_(manager_freep) Manager *m = NULL;
        int r;

        r = manager_new(arg_root, &m);
        if (r < 0)
                return r;

        r = add_signals(m);
        if (r < 0)
                return r;

        /* The name on the bus first: it keeps a second memsecd away from the policy of this one. */
        r = manager_bus_connect(m);
        if (r < 0)
                return r;

        r = manager_start(m);
        if (r < 0)
                return r;

        /* Does nothing when the service manager expects no sign of life. */
        r = sd_event_set_watchdog(m->event, true);
        if (r < 0)
                return r;

        (void) sd_notify(false, "READY=1");

        r = sd_event_loop(m->event);
        if (r < 0)
                return r;
        if (r > 0) {
                /* Only the bus ends the loop with a code of its own. */
                log_error("The system bus is gone.");
                return -ENOTCONN;
        }

        (void) sd_notify(false, "STOPPING=1");
        manager_stop(m);
        return 0;
}

int main(int argc, char *argv[]) {
        int r;

        r = parse_argv(argc, argv);
        if (r <= 0)
                return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

        if (arg_bus_introspect)
                return bus_introspect(arg_bus_introspect) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

        r = run();
        if (r < 0) {
                log_error("memsecd cannot go on: %s", strerror(-r));
                (void) sd_notifyf(false, "ERRNO=%d", -r);
        }

        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
