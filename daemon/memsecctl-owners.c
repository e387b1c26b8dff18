// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "memsecctl-owners.h"
#include "memsecctl-table.h"
#include "util.h"

/* How the name of a secret file begins. Other files can be called so, but are of another device. */
#define SECRET_NAME "/secretmem"

static void account_done(Account *account) {
        table_cgroup_done(&account->cgroup);
        free(account->kind);
}

static void secret_file_done(SecretFile *file) {
        table_cgroup_done(&file->cgroup);
        for (size_t i = 0; i < file->n_holders; i++)
                free(file->holders[i].comm);

        free(file->holders);
}

void owners_done(Owners *owners) {
        for (size_t i = 0; i < owners->n_accounts; i++)
                account_done(owners->accounts + i);
        for (size_t i = 0; i < owners->n_files; i++)
                secret_file_done(owners->files + i);

        free(owners->accounts);
        free(owners->files);
        *owners = (Owners) {};
}

static int account_parse(const char *line, void *userdata) {
        Owners *owners = userdata;
        uint64_t page_size = sysconf(_SC_PAGESIZE), id, now, most, n;
        _cleanup_free_ char *kind = NULL;
        Account *account;
        int path = 0;

        if (sscanf(line, "%m[a-z] %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &kind, &id, &now,
                   &most, &n, &path) != 5 || path == 0)
                return -EINVAL;

        account = table_append((void **) &owners->accounts, &owners->n_accounts, sizeof(Account));
        if (!account)
                return -ENOMEM;

        account->kind = TAKE_PTR(kind);
        account->now = now * page_size;
        account->most = most * page_size;
        account->owners = n;
        return table_parse_cgroup(line + path, id, &account->cgroup);
}

static int secret_file_parse(const char *line, void *userdata) {
        Owners *owners = userdata;
        uint64_t page_size = sysconf(_SC_PAGESIZE), inode, id, now;
        unsigned major, minor;
        SecretFile *file;
        int path = 0;

        if (sscanf(line, "%x:%x %" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &major, &minor, &inode, &id, &now,
                   &path) != 5 || path == 0)
                return -EINVAL;

        file = table_append((void **) &owners->files, &owners->n_files, sizeof(SecretFile));
        if (!file)
                return -ENOMEM;

        file->device = makedev(major, minor);
        file->inode = inode;
        file->now = now * page_size;
        return table_parse_cgroup(line + path, id, &file->cgroup);
}

/* Is the cgroup that of a unit for which PATTERN stands, or inside of one? */
static bool cgroup_is_in(const Cgroup *cgroup, const char *pattern) {
        _cleanup_free_ char *path = strdup(cgroup->path);
        char *rest = path, *part;

        while ((part = strsep(&rest, "/")))
                if (unit_pattern_matches(pattern, *part == '_' ? part + 1 : *part ? part : "-.slice"))
                        return true;

        return false;
}

static void keep_unit(Owners *owners, const char *unit) {
        size_t n = 0;

        for (size_t i = 0; i < owners->n_accounts; i++)
                if (cgroup_is_in(&owners->accounts[i].cgroup, unit))
                        owners->accounts[n++] = owners->accounts[i];
                else
                        account_done(owners->accounts + i);
        owners->n_accounts = n;

        n = 0;
        for (size_t i = 0; i < owners->n_files; i++)
                if (cgroup_is_in(&owners->files[i].cgroup, unit))
                        owners->files[n++] = owners->files[i];
                else
                        secret_file_done(owners->files + i);
        owners->n_files = n;
}

static char *read_comm(int proc_fd) {
        _cleanup_fclose_ FILE *f = NULL;
        _cleanup_free_ char *line = NULL;
        size_t size = 0;
        int fd;

        fd = openat(proc_fd, "comm", O_RDONLY | O_CLOEXEC);
        f = fd < 0 ? NULL : fdopen(fd, "r");
        if (!f) {
                safe_close(fd);
                return NULL;
        }
        if (!table_read_line(f, &line, &size))
                return NULL;

        table_make_printable(line);
        return TAKE_PTR(line);
}

/* Process PID, at PROC_FD, has the file with that number: notes so, if it is a secret one. */
static int note_holder(Owners *owners, int proc_fd, pid_t pid, dev_t device, uint64_t inode) {
        SecretFile *file = owners->files;
        Holder *holder;

        while (file < owners->files + owners->n_files && (file->device != device || file->inode != inode))
                file++;
        if (file == owners->files + owners->n_files)
                return 0;
        if (file->n_holders > 0 && file->holders[file->n_holders - 1].pid == pid)
                return 0;

        holder = table_append((void **) &file->holders, &file->n_holders, sizeof(Holder));
        if (!holder)
                return -ENOMEM;

        *holder = (Holder) { .pid = pid, .comm = read_comm(proc_fd) };
        return 0;
}

/* Looks only at what has the name of a secret file: a network file system may take long to answer. */
static int find_open(Owners *owners, int proc_fd, pid_t pid) {
        _cleanup_closedir_ DIR *dir = NULL;
        const struct dirent *entry;
        int fd, r;

        fd = openat(proc_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        dir = fd < 0 ? NULL : fdopendir(fd);
        if (!dir) {
                safe_close(fd);
                return 0;
        }

        while ((entry = readdir(dir))) {
                char target[sizeof(SECRET_NAME)] = {};
                struct stat st;

                if (readlinkat(fd, entry->d_name, target, sizeof(target) - 1) < 0 ||
                    !streq(target, SECRET_NAME) || fstatat(fd, entry->d_name, &st, 0) < 0)
                        continue;

                r = note_holder(owners, proc_fd, pid, st.st_dev, st.st_ino);
                if (r < 0)
                        return r;
        }

        return 0;
}

static int find_mapped(Owners *owners, int proc_fd, pid_t pid) {
        _cleanup_fclose_ FILE *f = NULL;
        _cleanup_free_ char *line = NULL;
        size_t size = 0;
        int fd, r;

        fd = openat(proc_fd, "maps", O_RDONLY | O_CLOEXEC);
        f = fd < 0 ? NULL : fdopen(fd, "r");
        if (!f) {
                safe_close(fd);
                return 0;
        }

        while (table_read_line(f, &line, &size)) {
                unsigned major, minor;
                uint64_t inode;

                if (!strstr(line, SECRET_NAME) ||
                    sscanf(line, "%*s %*s %*s %x:%x %" SCNu64, &major, &minor, &inode) != 3)
                        continue;

                r = note_holder(owners, proc_fd, pid, makedev(major, minor), inode);
                if (r < 0)
                        return r;
        }

        return 0;
}

static int compare_holders(const void *a, const void *b) {
        pid_t x = ((const Holder *) a)->pid, y = ((const Holder *) b)->pid;

        return (x > y) - (x < y);
}

/* Processes come and go meanwhile: what cannot be read is left out. */
static int find_holders(Owners *owners, const char *root) {
        _cleanup_closedir_ DIR *dir = NULL;
        _cleanup_free_ char *path = NULL;
        const struct dirent *entry;
        int r;

        if (asprintf(&path, "%s/proc", root ?: "") < 0) {
                path = NULL;
                return -ENOMEM;
        }

        dir = opendir(path);
        while (dir && (entry = readdir(dir))) {
                _cleanup_close_ int fd = -1;
                pid_t pid = atoi(entry->d_name);

                if (pid <= 0)
                        continue;

                fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                r = find_open(owners, fd, pid);
                if (r >= 0)
                        r = find_mapped(owners, fd, pid);
                if (r < 0)
                        return r;
        }

        for (size_t i = 0; i < owners->n_files; i++)
                if (owners->files[i].holders)
                        qsort(owners->files[i].holders, owners->files[i].n_holders, sizeof(Holder),
                              compare_holders);

        return 0;
}

/* What is larger comes first. */
static int compare_sizes(uint64_t a, uint64_t b) {
        return (a < b) - (a > b);
}

static int compare_accounts(const void *a, const void *b) {
        const Account *x = a, *y = b;

        return compare_sizes(x->now, y->now) ?: compare_sizes(x->most, y->most) ?:
                strcmp(x->cgroup.path, y->cgroup.path) ?: strcmp(x->kind, y->kind);
}

static int compare_files(const void *a, const void *b) {
        const SecretFile *x = a, *y = b;

        return compare_sizes(x->now, y->now) ?: strcmp(x->cgroup.path, y->cgroup.path) ?:
                compare_sizes(y->inode, x->inode);
}

static const Table accounts_table = {
        .name = "directmap_owners",
        .header = "kind cgroup pages most owners path",
        .mechanism = "directmap",
        .what = "who holds memory out of the direct map",
        .parse = account_parse,
};

static const Table files_table = {
        .name = "directmap_files",
        .header = "device inode cgroup pages path",
        .mechanism = "directmap",
        .what = "who holds memory out of the direct map",
        .parse = secret_file_parse,
};

ExitStatus owners_load(const char *root, const char *unit, Owners *ret) {
        ExitStatus s;

        s = table_read(root, &accounts_table, ret);
        if (s == STATUS_OK)
                s = table_read(root, &files_table, ret);
        if (s != STATUS_OK)
                return s;

        ret->any_file = ret->n_files > 0;
        if (unit)
                keep_unit(ret, unit);
        if (ret->n_files > 0 && find_holders(ret, root) < 0)
                return table_out_of_memory();

        if (ret->n_accounts > 0)
                qsort(ret->accounts, ret->n_accounts, sizeof(Account), compare_accounts);
        if (ret->n_files > 0)
                qsort(ret->files, ret->n_files, sizeof(SecretFile), compare_files);

        return STATUS_OK;
}
