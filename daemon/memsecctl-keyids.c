// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "memsecctl-keyids.h"
#include "util.h"

void keyids_done(Keyids *keyids) {
        for (size_t i = 0; i < keyids->n_items; i++) {
                table_cgroup_done(&keyids->items[i].cgroup);
                free(keyids->items[i].state);
        }

        free(keyids->items);
        *keyids = (Keyids) {};
}

/* Nobody has one that is free: there is a dash in the place of the path. */
static int keyid_parse(const char *line, void *userdata) {
        uint64_t page_size = sysconf(_SC_PAGESIZE), number, memory, kept, id;
        _cleanup_free_ char *state = NULL;
        Keyids *keyids = userdata;
        KeyidState *keyid;
        int path = 0;

        if (sscanf(line, "%" SCNu64 " %m[a-z] %" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &number, &state,
                   &memory, &kept, &id, &path) != 5 || path == 0)
                return -EINVAL;

        keyid = table_append((void **) &keyids->items, &keyids->n_items, sizeof(KeyidState));
        if (!keyid)
                return -ENOMEM;

        keyid->number = number;
        keyid->state = TAKE_PTR(state);
        keyid->memory = memory * page_size;
        keyid->kept = kept * page_size;
        if (streq(line + path, "-"))
                return 0;

        return table_parse_cgroup(line + path, id, &keyid->cgroup);
}

static const Table keyids_table = {
        .name = "keyids",
        .header = "keyid state pages cached cgroup path",
        .mechanism = "keyid",
        .what = "who has which KeyID",
        .lacking = "KeyIDs",
        .parse = keyid_parse,
};

ExitStatus keyids_load(const char *root, Keyids *ret) {
        return table_read(root, &keyids_table, ret);
}
