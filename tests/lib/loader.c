// SPDX-License-Identifier: GPL-2.0-only

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader.h"
#include "sysfs.h"

struct Policy {
        struct bpf_object *object;
        struct bpf_map *ops;            /* the struct memsec_ops */
        struct bpf_link *link;
};

static char messages[256 * 1024];
static size_t n_messages;

const char *policy_log(void) {
        return messages;
}

static int keep_message(enum libbpf_print_level level, const char *format, va_list ap) {
        int n;

        if (level == LIBBPF_DEBUG)
                return 0;

        n = vsnprintf(messages + n_messages, sizeof(messages) - n_messages, format, ap);
        if (n > 0 && n_messages + n < sizeof(messages))
                n_messages += n;
        return 0;
}

int policy_alone(void) {
        char state[16];
        int r;

        /* Without systemd there is no memsecd either. */
        r = system("systemctl stop memsecd.service 2>/dev/null");
        (void) r;

        r = sysfs_read_text("state", state, sizeof(state));
        if (r < 0)
                return r;

        return strcmp(state, "attached") == 0 ? -EBUSY : 0;
}

static struct bpf_map *find_ops(struct bpf_object *object) {
        struct bpf_map *map;

        bpf_object__for_each_map(map, object)
                if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
                        return map;

        return NULL;
}

static int find_object(const char *name, char path[static PATH_MAX]) {
        static const char *const dirs[] = {
                "/usr/lib/memsec/policies",
                "/usr/lib/memsec/tests/policies",
        };

        for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
                (void) snprintf(path, PATH_MAX, "%s/%s.bpf.o", dirs[i], name);
                if (access(path, R_OK) == 0)
                        return 0;
        }

        return -ENOENT;
}

int policy_load(const char *name, Policy **ret) {
        char path[PATH_MAX];
        Policy *p;
        int r;

        *ret = NULL;
        messages[0] = '\0';
        n_messages = 0;
        (void) libbpf_set_print(keep_message);

        r = find_object(name, path);
        if (r < 0)
                return r;

        p = calloc(1, sizeof(*p));
        if (!p)
                return -ENOMEM;

        p->object = bpf_object__open(path);
        if (!p->object)
                r = -errno;
        else
                r = bpf_object__load(p->object);
        if (r >= 0) {
                p->ops = find_ops(p->object);
                r = p->ops ? 0 : -ENOENT;
        }
        if (r < 0) {
                policy_free(p);
                return r;
        }

        *ret = p;
        return 0;
}

int policy_attach(Policy *p) {
        p->link = bpf_map__attach_struct_ops(p->ops);
        return p->link ? 0 : -errno;
}

int policy_update(Policy *running, Policy *next) {
        int r;

        r = bpf_link__update_map(running->link, next->ops);
        if (r < 0)
                return r;

        next->link = running->link;
        if (next != running)
                running->link = NULL;
        return 0;
}

void policy_detach(Policy *p) {
        (void) bpf_link__destroy(p->link);
        p->link = NULL;
}

Policy *policy_free(Policy *p) {
        if (!p)
                return NULL;

        policy_detach(p);
        bpf_object__close(p->object);
        free(p);
        return NULL;
}

int policy_run(const char *name, Policy **ret) {
        Policy *p;
        int r;

        r = policy_load(name, &p);
        if (r < 0)
                return r;

        r = policy_attach(p);
        if (r < 0) {
                policy_free(p);
                return r;
        }

        *ret = p;
        return 0;
}

bool policy_was_dropped(const Policy *p, int timeout_ms) {
        struct pollfd pfd = { .fd = bpf_link__fd(p->link) };

        return poll(&pfd, 1, timeout_ms) == 1 && pfd.revents & POLLHUP;
}

int policy_set_params(Policy *p, uint64_t cgroup_id, const struct memsec_params *params) {
        const uint32_t first = 0;
        int outer, inner, r;

        outer = bpf_object__find_map_fd_by_name(p->object, "memsec_params");
        if (outer < 0)
                return outer;

        inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "test_params", sizeof(first), sizeof(*params), 1, NULL);
        if (inner < 0)
                return inner;

        r = bpf_map_update_elem(inner, &first, params, BPF_ANY);
        if (r >= 0)
                r = bpf_map_update_elem(outer, &cgroup_id, &inner, BPF_ANY);
        if (r >= 0 && p->link)
                r = policy_update(p, p);

        (void) close(inner);
        return r;
}

/* The program of a callback: SEC("struct_ops/CALLBACK"). */
static const struct bpf_program *find_program(const Policy *p, const char *callback) {
        struct bpf_program *program;

        bpf_object__for_each_program(program, p->object) {
                const char *section = bpf_program__section_name(program), *slash = strchr(section, '/');

                if (slash && strcmp(slash + 1, callback) == 0)
                        return program;
        }

        return NULL;
}

int policy_ask(const Policy *p, const char *question, const void *facts, size_t size, uint64_t *answer,
               char rule[static MEMSEC_RULE_LEN + 1]) {
        const struct bpf_program *program = find_program(p, question);
        unsigned char facts_out[1024];
        LIBBPF_OPTS(bpf_test_run_opts, opts,
                    .ctx_in = facts, .ctx_size_in = size,
                    .ctx_out = facts_out, .ctx_size_out = sizeof(facts_out),
                    .data_out = answer, .data_size_out = sizeof(*answer));
        int r;

        if (!program)
                return -ENOENT;

        r = bpf_prog_test_run_opts(bpf_program__fd(program), &opts);
        if (r < 0)
                return r;

        /* The last of the facts of this kernel, if it is the one that the tests were made for. */
        memcpy(rule, facts_out + opts.ctx_size_out - MEMSEC_RULE_LEN, MEMSEC_RULE_LEN);
        rule[MEMSEC_RULE_LEN] = '\0';
        return 0;
}

uint64_t policy_calls(const Policy *p, PolicyCallback callback) {
        uint32_t key = callback;
        uint64_t calls;
        int fd;

        fd = bpf_object__find_map_fd_by_name(p->object, "calls");
        if (fd < 0 || bpf_map_lookup_elem(fd, &key, &calls) < 0)
                return UINT64_MAX;

        return calls;
}
