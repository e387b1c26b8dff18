// SPDX-License-Identifier: GPL-2.0-only

#include "authorize.h"

#define ACTION "org.memsec1.manage"

#define POLKIT_NAME "org.freedesktop.PolicyKit1"
#define POLKIT_PATH "/org/freedesktop/PolicyKit1/Authority"
#define POLKIT_INTERFACE "org.freedesktop.PolicyKit1.Authority"

/* Of CheckAuthorization(): polkit may ask the user. */
#define POLKIT_ALLOW_USER_INTERACTION UINT32_C(1)

/* Long enough to find and type a password. */
#define POLKIT_TIMEOUT_USEC (UINT64_C(120) * 1000 * 1000)

/* Calls that wait at a time. Anyone can make one wait. */
#define WAITING_MAX 32

/* A call that polkit is asked about, or has allowed and that is about to be dispatched again. */
typedef struct Request {
        Authorizer *authorizer;
        sd_bus_message *call;
        sd_bus_slot *slot;      /* of the question */
        bool allowed;
} Request;

struct Authorizer {
        sd_bus *bus;            /* the owner's */
        sd_bus_slot *filter;
        Request *requests[WAITING_MAX];
};

static Request **find_request(Authorizer *a, const sd_bus_message *call) {
        for (size_t i = 0; i < WAITING_MAX; i++)
                if (a->requests[i] && a->requests[i]->call == call)
                        return a->requests + i;

        return NULL;
}

static Request **find_free_place(Authorizer *a) {
        for (size_t i = 0; i < WAITING_MAX; i++)
                if (!a->requests[i])
                        return a->requests + i;

        return NULL;
}

static void request_free(Request **place) {
        sd_bus_slot_unref((*place)->slot);
        sd_bus_message_unref((*place)->call);
        free(*place);
        *place = NULL;
}

/* What is not known here changes something, a call without an interface too. */
static bool only_reads(sd_bus_message *call) {
        static const struct {
                const char *interface;
                const char *member;
        } readers[] = {
                { "org.freedesktop.DBus.Introspectable", "Introspect"   },
                { "org.freedesktop.DBus.Peer",           "GetMachineId" },
                { "org.freedesktop.DBus.Peer",           "Ping"         },
                { "org.freedesktop.DBus.Properties",     "Get"          },
                { "org.freedesktop.DBus.Properties",     "GetAll"       },
                { "org.memsec1.Manager",                 "GetUnit"      },
        };

        for (size_t i = 0; i < ELEMENTSOF(readers); i++)
                if (sd_bus_message_is_method_call(call, readers[i].interface, readers[i].member))
                        return true;

        return false;
}

/* 0 when polkit allows it; else a negative errno, and ERROR for the caller. */
static int read_answer(sd_bus_message *reply, sd_bus_error *error) {
        const sd_bus_error *failure = sd_bus_message_get_error(reply);
        int r, authorized, challenge;

        if (sd_bus_error_has_names(failure, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
                return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED,
                                        "only root may, as there is no polkit to allow others");
        if (failure)
                return sd_bus_error_setf(error, SD_BUS_ERROR_ACCESS_DENIED,
                                         "only root may, as polkit did not answer: %s",
                                         failure->message ?: failure->name);

        r = sd_bus_message_enter_container(reply, 'r', "bba{ss}");
        if (r >= 0)
                r = sd_bus_message_read(reply, "bb", &authorized, &challenge);
        if (r < 0)
                return r;

        if (authorized)
                return 0;
        if (challenge)
                return sd_bus_error_set(error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
                                        "polkit wants a password for " ACTION ", and nobody asks for one");

        return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED, "polkit does not allow " ACTION);
}

static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        Request *request = userdata;
        Request **place = find_request(request->authorizer, request->call);
        int r;

        r = read_answer(reply, &error);
        if (r >= 0) {
                request->allowed = true;
                r = sd_bus_enqueue_for_read(request->authorizer->bus, request->call);
        }
        if (r < 0) {
                (void) sd_bus_reply_method_errno(request->call, r, &error);
                request_free(place);
        }

        return 0;
}

static int ask_polkit(Request *request) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *question = NULL;
        sd_bus *bus = request->authorizer->bus;
        uint32_t flags = 0;
        int r;

        r = sd_bus_message_get_allow_interactive_authorization(request->call);
        if (r < 0)
                return r;
        if (r > 0)
                flags |= POLKIT_ALLOW_USER_INTERACTION;

        r = sd_bus_message_new_method_call(bus, &question, POLKIT_NAME, POLKIT_PATH, POLKIT_INTERFACE,
                                           "CheckAuthorization");
        if (r < 0)
                return r;

        r = sd_bus_message_append(question, "(sa{sv})sa{ss}us",
                                  "system-bus-name", 1,
                                  "name", "s", sd_bus_message_get_sender(request->call),
                                  ACTION, 0, flags, /* cancellation_id= */ "");
        if (r < 0)
                return r;

        return sd_bus_call_async(bus, &request->slot, question, on_answer, request, POLKIT_TIMEOUT_USEC);
}

/* Puts CALL aside. Returns 1, as for a call that is dealt with. */
static int put_aside(Authorizer *a, sd_bus_message *call, sd_bus_error *error) {
        Request **place = find_free_place(a);
        int r;

        if (!place)
                return sd_bus_error_set(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                                        "too many calls wait for polkit; try again later");

        *place = calloc(1, sizeof(Request));
        if (!*place)
                return -ENOMEM;

        **place = (Request) { .authorizer = a, .call = sd_bus_message_ref(call) };
        r = ask_polkit(*place);
        if (r < 0) {
                request_free(place);
                return r;
        }

        return 1;
}

static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Authorizer *a = userdata;
        Request **place;
        int r;

        if (!sd_bus_message_is_method_call(m, NULL, NULL) || only_reads(m))
                return 0;

        place = find_request(a, m);
        if (place && (*place)->allowed) {
                request_free(place);
                return 0;
        }

        r = sd_bus_query_sender_privilege(m, /* capability= */ -1);
        if (r < 0)
                return r;

        return r > 0 ? 0 : put_aside(a, m, error);
}

int authorizer_new(sd_bus *bus, Authorizer **ret) {
        _cleanup_(authorizer_freep) Authorizer *a = NULL;
        int r;

        a = calloc(1, sizeof(Authorizer));
        if (!a)
                return -ENOMEM;

        a->bus = bus;
        r = sd_bus_add_filter(bus, &a->filter, on_message, a);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(a);
        return 0;
}

Authorizer *authorizer_free(Authorizer *a) {
        if (!a)
                return NULL;

        sd_bus_slot_unref(a->filter);
        for (size_t i = 0; i < WAITING_MAX; i++)
                if (a->requests[i])
                        request_free(a->requests + i);

        free(a);
        return NULL;
}
