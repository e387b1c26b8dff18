// SPDX-License-Identifier: GPL-2.0-only

#include <sys/socket.h>

#include "bus-introspect.h"
#include "log.h"
#include "manager-bus.h"

/*
 * sd-bus writes introspection data only to who calls Introspect(): both ends of a connection without a bus
 * in between are here, in one event loop.
 */

/* Attaches a new connection to the event loop; owns FD. SERVER is the side that has the objects. */
static int open_end(sd_event *event, int fd, bool server, sd_bus **ret) {
        _cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
        sd_id128_t id = {};
        int r;

        r = sd_bus_new(&bus);
        if (r >= 0)
                r = sd_bus_set_fd(bus, fd, fd);
        if (r < 0) {
                safe_close(fd);
                return r;
        }

        if (server) {
                r = sd_id128_randomize(&id);
                if (r >= 0)
                        r = sd_bus_set_server(bus, true, id);
                if (r < 0)
                        return r;
        }

        r = sd_bus_start(bus);
        if (r < 0)
                return r;

        r = sd_bus_attach_event(bus, event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(bus);
        return 0;
}

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        sd_event *event = userdata;
        const char *xml;
        int r;

        /* There is no such object. */
        if (sd_bus_message_is_method_error(reply, NULL))
                return sd_event_exit(event, -ENOENT);

        r = sd_bus_message_read(reply, "s", &xml);
        if (r >= 0 && (fputs(xml, stdout) < 0 || fflush(stdout) != 0))
                r = -errno;

        return sd_event_exit(event, r < 0 ? r : 0);
}

static int introspect(const char *path) {
        _cleanup_(manager_freep) Manager *m = NULL;
        _cleanup_(sd_bus_close_unrefp) sd_bus *client = NULL;
        int fds[2], r;

        r = manager_new(/* root= */ NULL, &m);
        if (r < 0)
                return r;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
                return -errno;

        r = open_end(m->event, fds[0], /* server= */ true, &m->bus);
        if (r < 0) {
                safe_close(fds[1]);
                return r;
        }

        r = open_end(m->event, fds[1], /* server= */ false, &client);
        if (r >= 0)
                r = manager_bus_add_objects(m);
        if (r >= 0)
                r = sd_bus_call_method_async(client, NULL, NULL, path, "org.freedesktop.DBus.Introspectable",
                                             "Introspect", on_reply, m->event, NULL);
        if (r < 0)
                return r;

        return sd_event_loop(m->event);
}

int bus_introspect(const char *path) {
        int r;

        r = introspect(path);
        if (r < 0)
                log_error("Cannot introspect '%s': %s", path, strerror(-r));

        return r;
}
