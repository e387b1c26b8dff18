// SPDX-License-Identifier: GPL-2.0-only

#include "internal.h"
#include "policy.h"
#include "util.h"

#define USEC UINT64_C(1000)
#define MSEC (1000 * USEC)
#define SEC (1000 * MSEC)
#define HOUR (3600 * SEC)

#define GIB (UINT64_C(1) << 30)

static const char *const directions[] = {
        [MEMSEC_DIRECTION_FOLLOW] = "follow",
        [MEMSEC_DIRECTION_UP] = "up",
        [MEMSEC_DIRECTION_DOWN] = "down",
        NULL,
};

static const char *const wholes[] = {
        [MEMSEC_WHOLE_LEAVE] = "leave",
        [MEMSEC_WHOLE_SPLIT] = "split",
        NULL,
};

static const char *const flushes[] = {
        [MEMSEC_FLUSH_ON_MISMATCH] = "on-mismatch",
        [MEMSEC_FLUSH_ALWAYS] = "always",
        NULL,
};

static const char *const protects[] = {
        [MEMSEC_PROTECT_NONE] = "none",
        [MEMSEC_PROTECT_ANONYMOUS] = "anonymous",
        [MEMSEC_PROTECT_ALL] = "all",
        NULL,
};

const KeySpec key_specs[] = {
        {
                .path = "teardown.batch",
                .type = KEY_COUNT,
                .unit = "pages",
                .min = 1,
                .max = 1048576,
                .def = MEMSEC_TEARDOWN_DEFAULT_BATCH,
                .offset = offsetof(struct memsec_params, teardown.batch),
                .bus_name = "Batch",
                .help = "Pages torn down before the lock is dropped and other tasks may run",
        },
        {
                .path = "teardown.max_hold",
                .type = KEY_DURATION,
                .min = 50 * USEC,
                .max = 60 * SEC,
                .def = MEMSEC_TEARDOWN_DEFAULT_MAX_HOLD_NS,
                .offset = offsetof(struct memsec_params, teardown.max_hold_ns),
                .bus_name = "MaxHoldUSec",
                .help = "Longest time for which the lock is held, however large the batch is",
        },
        {
                .path = "directmap.ahead",
                .type = KEY_SIZE,
                .min = 0,
                .max = 1 * GIB,
                .def = MEMSEC_DIRECTMAP_DEFAULT_AHEAD,
                .offset = offsetof(struct memsec_params, directmap.ahead),
                .bus_name = "Ahead",
                .help = "How much more of the kernel's direct map is split when some of it has to be",
        },
        {
                .path = "directmap.direction",
                .type = KEY_CHOICE,
                .choices = directions,
                .max = ELEMENTSOF(directions) - 2,
                .def = MEMSEC_DIRECTMAP_DEFAULT_DIRECTION,
                .offset = offsetof(struct memsec_params, directmap.direction),
                .bus_name = "Direction",
                .help = "Whether that is above or below, or follows the owner of the memory",
        },
        {
                .path = "directmap.whole",
                .type = KEY_CHOICE,
                .choices = wholes,
                .max = ELEMENTSOF(wholes) - 2,
                .def = MEMSEC_DIRECTMAP_DEFAULT_WHOLE,
                .offset = offsetof(struct memsec_params, directmap.whole),
                .bus_name = "Whole",
                .help = "What becomes of a mapping of 2 MiB that is safe, as all of it is one guest's",
        },
        {
                .path = "directmap.collapse.after",
                .type = KEY_DURATION,
                .min = 0,
                .max = 1 * HOUR,
                .never = true,
                .def = MEMSEC_DIRECTMAP_DEFAULT_COLLAPSE_NS,
                .offset = offsetof(struct memsec_params, directmap.collapse_after_ns),
                .bus_name = "CollapseAfterUSec",
                .help = "How long memory is back before the direct map of it is put together again",
        },
        {
                .path = "keyid.flush",
                .type = KEY_CHOICE,
                .choices = flushes,
                .max = ELEMENTSOF(flushes) - 2,
                .def = MEMSEC_KEYID_DEFAULT_FLUSH,
                .offset = offsetof(struct memsec_params, keyid.flush),
                .bus_name = "Flush",
                .help = "Whether pages of a KeyID are flushed only when others get them, or always",
        },
        {
                .path = "keyid.search",
                .type = KEY_COUNT,
                .unit = "pages",
                .min = 0,
                .max = 256,
                .def = MEMSEC_KEYID_DEFAULT_SEARCH,
                .offset = offsetof(struct memsec_params, keyid.search),
                .bus_name = "Search",
                .help = "Free pages that are looked at for one that carries the KeyID and needs no flush",
        },
        {
                .path = "keyid.cache",
                .type = KEY_SIZE,
                .min = 0,
                .max = 1 * GIB,
                .def = MEMSEC_KEYID_DEFAULT_CACHE,
                .offset = offsetof(struct memsec_params, keyid.cache),
                .bus_name = "Cache",
                .help = "Freed memory that is kept for a KeyID, by all CPUs together",
        },
        {
                .path = "keyid.recycle.at",
                .type = KEY_COUNT,
                .unit = "KeyIDs",
                .min = 0,
                .max = 65535,
                .def = MEMSEC_KEYID_DEFAULT_RECYCLE_AT,
                .offset = offsetof(struct memsec_params, keyid.recycle_at),
                .bus_name = "RecycleAt",
                .help = "How many KeyIDs that wait for it are enough to recycle them; 0 if no number is",
        },
        {
                .path = "keyid.recycle.idle",
                .type = KEY_DURATION,
                .min = 0,
                .max = 1 * HOUR,
                .never = true,
                .def = MEMSEC_KEYID_DEFAULT_RECYCLE_IDLE_NS,
                .offset = offsetof(struct memsec_params, keyid.recycle_idle_ns),
                .bus_name = "RecycleIdleUSec",
                .help = "How long none was taken or given up when those that wait are recycled",
        },
        {
                .path = "xpfo.protect",
                .type = KEY_CHOICE,
                .choices = protects,
                .max = ELEMENTSOF(protects) - 2,
                .def = MEMSEC_XPFO_DEFAULT_PROTECT,
                .offset = offsetof(struct memsec_params, xpfo.protect),
                .bus_name = "Protect",
                .help = "Memory the kernel cannot read at will: none, anonymous, or shared and guest too",
        },
        {
                .path = "xpfo.batch",
                .type = KEY_COUNT,
                .unit = "pages",
                .min = 1,
                .max = 512,
                .def = MEMSEC_XPFO_DEFAULT_PAGES,
                .offset = offsetof(struct memsec_params, xpfo.batch),
                .bus_name = "Batch",
                .help = "Pages that leave the kernel's direct map at a time, for one flush of all TLBs",
        },
        {
                .path = "xpfo.pool",
                .type = KEY_SIZE,
                .min = 0,
                .max = 1 * GIB,
                .def = MEMSEC_XPFO_DEFAULT_POOL,
                .offset = offsetof(struct memsec_params, xpfo.pool),
                .bus_name = "Pool",
                .help = "Memory that all CPUs together keep outside of it for who wants some next",
        },
};

const size_t n_key_specs = ELEMENTSOF(key_specs);

_Static_assert(ELEMENTSOF(key_specs) + MEMSEC_OWN_MAX <= 64, "UnitSettings.keys has a bit for each");

const KeySpec *key_spec_find(const char *path) {
        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++)
                if (streq(spec->path, path))
                        return spec;

        return NULL;
}

/* How far PATH is from the path of a row, part by part, or UINT_MAX when any of the parts is not near. */
static unsigned path_distance(const char *path, const char *known) {
        unsigned sum = 0;

        /* A bare name is compared with the last part alone. */
        if (!strchr(path, '.'))
                known = strrchr(known, '.') + 1;

        for (;;) {
                size_t n = strcspn(path, "."), m = strcspn(known, ".");
                unsigned d;

                d = word_distance(path, n, known, m);
                if (!word_distance_is_near(d, m) || path[n] != known[m])
                        return UINT_MAX;

                sum += d;
                if (!path[n])
                        return sum;

                path += n + 1;
                known += m + 1;
        }
}

const char *keys_nearest(const OwnTunables *own, const char *path) {
        const char *nearest = NULL;
        unsigned best = UINT_MAX;

        for (size_t i = 0; i < keys_count(own); i++) {
                unsigned d = path_distance(path, keys_at(own, i)->path);

                if (d < best) {
                        best = d;
                        nearest = keys_at(own, i)->path;
                }
        }

        return nearest;
}

const char *key_spec_nearest(const char *path) {
        return keys_nearest(NULL, path);
}

int key_spec_children(const char *prefix, char ***ret) {
        _cleanup_strv_free_ char **names = NULL;
        int r;

        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++) {
                _cleanup_free_ char *name = NULL;
                const char *rest = spec->path;

                if (*prefix) {
                        rest = startswith(rest, prefix);
                        if (!rest || *rest++ != '.')
                                continue;
                }

                name = strndup(rest, strcspn(rest, "."));
                if (!name)
                        return -ENOMEM;

                if (strv_find(names, name) >= 0)
                        continue;

                r = strv_consume(&names, TAKE_PTR(name));
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(names);
        return 0;
}

/* The fields are __u64, which need not be the type that uint64_t is: hence the copies. */
uint64_t key_spec_get(const KeySpec *spec, const struct memsec_params *params) {
        uint64_t value;

        memcpy(&value, (const char *) params + spec->offset, sizeof(value));
        return value;
}

void key_spec_set(const KeySpec *spec, struct memsec_params *params, uint64_t value) {
        memcpy((char *) params + spec->offset, &value, sizeof(value));
}
