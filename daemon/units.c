// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>
#include <limits.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "log.h"
#include "units.h"

/* Some hundreds of events. */
#define EVENTS_SIZE ((size_t) 64 * 1024)

static void unit_cgroup_done(UnitCgroup *item) {
        free(item->path);
}

Units *units_free(Units *units) {
        if (!units)
                return NULL;

        for (size_t i = 0; i < units->n_items; i++)
                unit_cgroup_done(units->items + i);

        free(units->items);
        safe_close(units->fd);
        free(units->root);
        free(units);
        return NULL;
}

/* The last item takes the place of item I. */
static void remove_item(Units *units, size_t i) {
        unit_cgroup_done(units->items + i);
        units->items[i] = units->items[--units->n_items];
}

static UnitCgroup *find_id(const Units *units, uint64_t id) {
        for (size_t i = 0; i < units->n_items; i++)
                if (units->items[i].id == id)
                        return units->items + i;

        return NULL;
}

/* Owns ITEM's path from then on, but not on failure. */
static int append_item(Units *units, const UnitCgroup *item) {
        UnitCgroup *longer;

        longer = reallocarray(units->items, units->n_items + 1, sizeof(UnitCgroup));
        if (!longer)
                return -ENOMEM;

        units->items = longer;
        units->items[units->n_items++] = *item;
        return 0;
}

const char *unit_cgroup_name(const UnitCgroup *item) {
        return *item->path ? cgroup_path_unit(item->path) : "-.slice";
}

/* Only slices have units in them. */
static bool is_slice(const char *path) {
        const char *unit = *path ? cgroup_path_unit(path) : "-.slice";

        return unit && endswith(unit, ".slice");
}

/*
 * Watches the cgroup at PATH and notes it, if it is of any interest. Returns 1, or 0 when it is not, is
 * known already or has gone meanwhile.
 */
static int add_cgroup(Units *units, const PolicyModel *model, const char *path) {
        _cleanup_free_ char *full = NULL, *copy = NULL;
        UnitCgroup item = {}, *known;
        struct stat st;
        int r;

        item.has_params = policy_model_cgroup_params(model, path, &item.params);
        if (!item.has_params && !is_slice(path))
                return 0;

        copy = strdup(path);
        if (!copy || asprintf(&full, "%s%s", units->root, path) < 0) {
                full = NULL;
                return -ENOMEM;
        }

        item.wd = inotify_add_watch(units->fd, full, IN_CREATE | IN_DELETE | IN_ONLYDIR | IN_DONT_FOLLOW);
        if (item.wd < 0 || lstat(full, &st) < 0)
                return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;

        item.id = st.st_ino;
        known = find_id(units, item.id);
        if (known) {
                /* A watch may have been taken away from it, when one of the same name had gone before. */
                r = known->gone_usec > 0;
                known->gone_usec = 0;
                known->wd = item.wd;
                return r;
        }

        item.path = copy;
        r = append_item(units, &item);
        if (r < 0)
                return r;

        TAKE_PTR(copy);
        return 1;
}

/* Adds the cgroup at PATH and all below. */
static int add_tree(Units *units, const PolicyModel *model, const char *path) {
        _cleanup_closedir_ DIR *dir = NULL;
        _cleanup_free_ char *full = NULL;
        const struct dirent *entry;
        int r;

        r = add_cgroup(units, model, path);
        if (r <= 0)
                return r;

        if (asprintf(&full, "%s%s", units->root, path) < 0) {
                full = NULL;
                return -ENOMEM;
        }

        dir = opendir(full);
        if (!dir)
                return errno == ENOENT ? 0 : -errno;

        while ((entry = readdir(dir))) {
                _cleanup_free_ char *below = NULL;

                if (entry->d_type != DT_DIR || streq(entry->d_name, ".") || streq(entry->d_name, ".."))
                        continue;

                if (asprintf(&below, "%s/%s", path, entry->d_name) < 0) {
                        below = NULL;
                        return -ENOMEM;
                }

                r = add_tree(units, model, below);
                if (r < 0)
                        return r;
        }

        return 0;
}

int units_new(const char *root, const PolicyModel *model, Units **ret) {
        _cleanup_(units_freep) Units *units = NULL;
        int r;

        *ret = NULL;
        if (model->n_units == 0)
                return 0;

        units = calloc(1, sizeof(Units));
        if (!units)
                return -ENOMEM;

        if (asprintf(&units->root, "%s/sys/fs/cgroup", root ?: "") < 0) {
                units->root = NULL;
                units->fd = -1;
                return -ENOMEM;
        }

        units->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (units->fd < 0)
                return -errno;

        r = add_tree(units, model, "");
        if (r < 0)
                return r;

        *ret = TAKE_PTR(units);
        return 0;
}

/* Also of what is below, should that have been missed. */
static void remove_tree(Units *units, const char *path, uint64_t now_usec) {
        for (size_t i = units->n_items; i-- > 0;) {
                UnitCgroup *item = units->items + i;
                const char *rest = startswith(item->path, path);

                if (item->gone_usec > 0 || !rest || (*rest && *rest != '/'))
                        continue;

                /* The kernel does not do this for a removed cgroup. */
                (void) inotify_rm_watch(units->fd, item->wd);
                item->wd = -1;
                item->gone_usec = now_usec;
                if (!item->stored)
                        remove_item(units, i);
        }
}

static int handle_event(Units *units, const PolicyModel *model, const struct inotify_event *event,
                        uint64_t now_usec) {
        _cleanup_free_ char *path = NULL;
        const UnitCgroup *parent = NULL;

        if (event->mask & IN_Q_OVERFLOW)
                return -EOVERFLOW;
        if (!(event->mask & IN_ISDIR))
                return 0;

        for (size_t i = 0; i < units->n_items && !parent; i++)
                if (units->items[i].wd == event->wd)
                        parent = units->items + i;
        if (!parent)
                return 0;

        if (asprintf(&path, "%s/%s", parent->path, event->name) < 0) {
                path = NULL;
                return -ENOMEM;
        }

        if (event->mask & IN_CREATE)
                return add_tree(units, model, path);

        remove_tree(units, path, now_usec);
        return 0;
}

int units_dispatch(Units *units, const PolicyModel *model, uint64_t now_usec) {
        _cleanup_free_ char *buffer = NULL;
        ssize_t n;
        int r;

        buffer = aligned_alloc(_Alignof(struct inotify_event), EVENTS_SIZE);
        if (!buffer)
                return -ENOMEM;

        n = read(units->fd, buffer, EVENTS_SIZE);
        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : -errno;

        for (const char *p = buffer; p < buffer + n;) {
                const struct inotify_event *event = (const struct inotify_event *) p;

                r = handle_event(units, model, event, now_usec);
                if (r < 0)
                        return r;

                p += sizeof(*event) + event->len;
        }

        return 0;
}

int units_keep_gone(Units *units, const Units *old, const PolicyModel *model, uint64_t now_usec) {
        for (size_t i = 0; i < old->n_items; i++) {
                UnitCgroup item = old->items[i];
                int r;

                if (!item.stored || find_id(units, item.id) ||
                    !policy_model_cgroup_params(model, item.path, &item.params))
                        continue;

                item.wd = -1;
                if (item.gone_usec == 0)
                        item.gone_usec = now_usec;
                item.path = strdup(item.path);
                if (!item.path)
                        return -ENOMEM;

                r = append_item(units, &item);
                if (r < 0) {
                        free(item.path);
                        return r;
                }
        }

        return 0;
}

/* The one that has been gone for longest of those with parameters, or NULL. */
static UnitCgroup *first_gone(const Units *units) {
        UnitCgroup *first = NULL;

        for (size_t i = 0; i < units->n_items; i++) {
                UnitCgroup *item = units->items + i;

                if (item->gone_usec > 0 && (!first || item->gone_usec < first->gone_usec))
                        first = item;
        }

        return first;
}

uint64_t units_first_gone(const Units *units) {
        const UnitCgroup *first = first_gone(units);

        return first ? first->gone_usec : UINT64_MAX;
}

static size_t count_params(const Units *units) {
        size_t n = 0;

        for (size_t i = 0; i < units->n_items; i++)
                n += units->items[i].has_params;

        return n;
}

int units_table(Units *units, ParamsTable *table) {
        size_t n = count_params(units);
        UnitCgroup *gone;
        int r;

        for (; n > UNITS_MAX && (gone = first_gone(units)); n--)
                remove_item(units, gone - units->items);

        if (n > UNITS_MAX)
                return -E2BIG;

        for (size_t i = 0; i < units->n_items; i++) {
                const UnitCgroup *item = units->items + i;

                if (!item->has_params)
                        continue;

                r = params_table_add(table, item->id, &item->params);
                if (r < 0)
                        return r;
        }

        return 0;
}

void units_set_stored(Units *units, bool stored) {
        for (size_t i = units->n_items; i-- > 0;) {
                UnitCgroup *item = units->items + i;

                item->stored = stored && item->has_params;
                if (!item->stored && item->gone_usec > 0)
                        remove_item(units, i);
        }
}

/* Takes the N that have been gone for longest out of the map; there may be fewer. */
static int drop_gone(Units *units, int params_fd, size_t n) {
        _cleanup_free_ uint64_t *ids = NULL;
        size_t n_ids = 0;
        UnitCgroup *gone;

        ids = calloc(n + 1, sizeof(uint64_t));
        if (!ids)
                return -ENOMEM;

        while (n_ids < n && (gone = first_gone(units))) {
                ids[n_ids++] = gone->id;
                remove_item(units, gone - units->items);
        }

        return bpf_policy_drop_params(params_fd, ids, n_ids);
}

int units_expire(Units *units, int params_fd, uint64_t until_usec) {
        size_t n = 0;

        for (size_t i = 0; i < units->n_items; i++)
                n += units->items[i].gone_usec > 0 && units->items[i].gone_usec <= until_usec;

        return drop_gone(units, params_fd, n);
}

static void tell_full(Units *units, const UnitCgroup *item) {
        if (!units->full)
                log_full(LOG_ERR, &(LogFields) {
                        .id = MESSAGE_UNITS_FULL,
                        .unit = unit_cgroup_name(item) ?: item->path,
                }, "%s and maybe others get everyone's parameters: there can be parameters for %d "
                   "cgroups of units.", item->path, UNITS_MAX);
        units->full = true;
}

/* Adds up to ROOM of what is not yet in the map to TABLE. */
static int collect_new(Units *units, size_t room, ParamsTable *table) {
        bool full = false;
        int r;

        for (size_t i = 0; i < units->n_items; i++) {
                const UnitCgroup *item = units->items + i;

                if (!item->has_params || item->stored)
                        continue;

                if (table->n_items >= room) {
                        full = true;
                        tell_full(units, item);
                        break;
                }

                r = params_table_add(table, item->id, &item->params);
                if (r < 0)
                        return r;
        }

        units->full = full;
        return 0;
}

int units_sync(Units *units, int params_fd) {
        size_t n = count_params(units), n_stored = 0;
        _cleanup_params_table_ ParamsTable table = {};
        int r;

        if (n > UNITS_MAX) {
                r = drop_gone(units, params_fd, n - UNITS_MAX);
                if (r < 0)
                        return r;
        }

        for (size_t i = 0; i < units->n_items; i++)
                n_stored += units->items[i].stored;

        r = collect_new(units, UNITS_MAX - n_stored, &table);
        if (r < 0)
                return r;

        r = bpf_policy_put_params(params_fd, &table);
        if (r < 0)
                return r;

        for (size_t i = 0; i < table.n_items; i++)
                find_id(units, table.items[i].cgroup_id)->stored = true;

        return 0;
}

const UnitCgroup *units_find(const Units *units, const char *unit) {
        for (size_t i = 0; units && i < units->n_items; i++) {
                const UnitCgroup *item = units->items + i;
                const char *name = unit_cgroup_name(item);

                if (item->has_params && item->gone_usec == 0 && name && streq(name, unit))
                        return item;
        }

        return NULL;
}
