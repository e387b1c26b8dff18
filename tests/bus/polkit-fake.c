// SPDX-License-Identifier: GPL-2.0-only
/*
 * polkit-fake MODE: a polkit Authority that answers as the word in the file MODE says, for
 * tests/bus/authorize.
 *
 * allow, deny: at once. challenge: that it would need a password. fail: with an error. hold: not before the
 * method Release() of org.memsec1.Test is called, and then with allow.
 *
 * Prints a line for each question, "ACTION UID FLAGS".
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>

#include "util.h"

#define HELD_MAX 64

typedef struct Fake {
        const char *mode_path;
        sd_bus_message *held[HELD_MAX];
        size_t n_held;
} Fake;

static int read_mode(const Fake *fake, char mode[16]) {
        _cleanup_fclose_ FILE *f = fopen(fake->mode_path, "re");

        return f && fscanf(f, "%15s", mode) == 1 ? 0 : -EIO;
}

static int answer(sd_bus_message *question, bool authorized, bool challenge) {
        return sd_bus_reply_method_return(question, "(bba{ss})", authorized, challenge, 0);
}

/* Shows what is asked. Fails unless it is about who has a connection, as polkit would. */
static int show_question(sd_bus_message *m) {
        _cleanup_(sd_bus_creds_unrefp) sd_bus_creds *creds = NULL;
        const char *kind, *key, *name, *action, *cancellation_id;
        uint32_t flags;
        uid_t uid;
        int r;

        r = sd_bus_message_read(m, "(sa{sv})s", &kind, 1, &key, "s", &name, &action);
        if (r < 0)
                return r;

        r = sd_bus_message_read(m, "a{ss}us", 0, &flags, &cancellation_id);
        if (r < 0)
                return r;

        if (!streq(kind, "system-bus-name") || !streq(key, "name"))
                return -EINVAL;

        r = sd_bus_get_name_creds(sd_bus_message_get_bus(m), name, SD_BUS_CREDS_EUID, &creds);
        if (r < 0)
                return r;

        r = sd_bus_creds_get_euid(creds, &uid);
        if (r < 0)
                return r;

        printf("%s %u %u\n", action, (unsigned) uid, (unsigned) flags);
        return fflush(stdout) == 0 ? 0 : -EIO;
}

static int check_authorization(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Fake *fake = userdata;
        char mode[16];
        int r;

        r = show_question(m);
        if (r >= 0)
                r = read_mode(fake, mode);
        if (r < 0)
                return r;

        if (streq(mode, "fail"))
                return sd_bus_error_set(error, "org.freedesktop.PolicyKit1.Error.Failed", "out of order");

        if (streq(mode, "hold")) {
                if (fake->n_held == HELD_MAX)
                        return -ENOSPC;
                fake->held[fake->n_held++] = sd_bus_message_ref(m);
                return 1;
        }

        return answer(m, streq(mode, "allow"), streq(mode, "challenge"));
}

static int release(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        Fake *fake = userdata;

        while (fake->n_held > 0) {
                sd_bus_message *question = fake->held[--fake->n_held];
                int r = answer(question, /* authorized= */ true, /* challenge= */ false);

                sd_bus_message_unref(question);
                if (r < 0)
                        return r;
        }

        return sd_bus_reply_method_return(m, NULL);
}

static const sd_bus_vtable authority_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("CheckAuthorization", "(sa{sv})sa{ss}us", "(bba{ss})", check_authorization,
                      SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END
};

static const sd_bus_vtable test_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Release", NULL, NULL, release, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END
};

static int serve(Fake *fake) {
        static const char *const path = "/org/freedesktop/PolicyKit1/Authority";
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int r;

        r = sd_bus_open_system(&bus);
        if (r < 0)
                return r;

        r = sd_bus_add_object_vtable(bus, NULL, path, "org.freedesktop.PolicyKit1.Authority",
                                     authority_vtable, fake);
        if (r < 0)
                return r;

        r = sd_bus_add_object_vtable(bus, NULL, path, "org.memsec1.Test", test_vtable, fake);
        if (r < 0)
                return r;

        r = sd_bus_request_name(bus, "org.freedesktop.PolicyKit1", 0);
        if (r < 0)
                return r;

        for (;;) {
                r = sd_bus_process(bus, NULL);
                if (r == 0)
                        r = sd_bus_wait(bus, UINT64_MAX);
                if (r < 0)
                        return r;
        }
}

int main(int argc, char **argv) {
        Fake fake = {};
        int r;

        if (argc != 2) {
                fprintf(stderr, "Expected the path of a file.\n");
                return EXIT_FAILURE;
        }

        fake.mode_path = argv[1];
        r = serve(&fake);
        fprintf(stderr, "Cannot serve: %s\n", strerror(-r));
        return EXIT_FAILURE;
}
