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
#include "util.h"

#define ACCOUNTS_FILE "directmap_owners"
#define ACCOUNTS_HEADER "kind cgroup pages most owners path"
#define FILES_FILE "directmap_files"
#define FILES_HEADER "device inode cgroup pages path"

/* What the kernel puts behind the path of a cgroup that is gone. */
#define DELETED " (deleted)"

/* How the name of a secret file begins. Other files can be called so, but are of another device. */
#define SECRET_NAME "/secretmem"

static ExitStatus out_of_memory(void) {
        fprintf(stderr, "Out of memory\n");
        return STATUS_FAILED;
}

static void cgroup_done(Cgroup *cgroup) {
        free(cgroup->path);
}

static void account_done(Account *account) {
        cgroup_done(&account->cgroup);
        free(account->kind);
}

static void secret_file_done(SecretFile *file) {
        cgroup_done(&file->cgroup);
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

static void make_printable(char *text) {
        for (; *text; text++)
                if (*text < ' ' || *text > '~')
                        *text = '?';
}

/* Adds room for one more item, zeroed, and returns it, or NULL. */
static void *append(void **items, size_t *n_items, size_t size) {
        char *longer;

        longer = reallocarray(*items, *n_items + 1, size);
        if (!longer)
                return NULL;

        *items = longer;
        return memset(longer + (*n_items)++ * size, 0, size);
}

/* Takes the path apart that TEXT ends with, a whole line's rest. */
static int cgroup_parse(const char *text, uint64_t id, Cgroup *ret) {
        const char *end = endswith(text, DELETED) ?: text + strlen(text);

        if (*text != '/')
                return -EINVAL;

        *ret = (Cgroup) { .path = strndup(text, end - text), .id = id, .deleted = *end };
        if (!ret->path)
                return -ENOMEM;

        make_printable(ret->path);
        return 0;
}

static int account_parse(const char *line, Owners *owners) {
        uint64_t page_size = sysconf(_SC_PAGESIZE), id, now, most, n;
        _cleanup_free_ char *kind = NULL;
        Account *account;
        int path = 0;

        if (sscanf(line, "%m[a-z] %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &kind, &id, &now,
                   &most, &n, &path) != 5 || path == 0)
                return -EINVAL;

        account = append((void **) &owners->accounts, &owners->n_accounts, sizeof(Account));
        if (!account)
                return -ENOMEM;

        account->kind = TAKE_PTR(kind);
        account->now = now * page_size;
        account->most = most * page_size;
        account->owners = n;
        return cgroup_parse(line + path, id, &account->cgroup);
}

static int secret_file_parse(const char *line, Owners *owners) {
        uint64_t page_size = sysconf(_SC_PAGESIZE), inode, id, now;
        unsigned major, minor;
        SecretFile *file;
        int path = 0;

        if (sscanf(line, "%x:%x %" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &major, &minor, &inode, &id, &now,
                   &path) != 5 || path == 0)
                return -EINVAL;

        file = append((void **) &owners->files, &owners->n_files, sizeof(SecretFile));
        if (!file)
                return -ENOMEM;

        file->device = makedev(major, minor);
        file->inode = inode;
        file->now = now * page_size;
        return cgroup_parse(line + path, id, &file->cgroup);
}

/* Says why there is nothing to be read at PATH. */
static ExitStatus table_failed(const char *root, const char *path) {
        _cleanup_free_ char *mechanism = NULL;
        int error = errno;

        if (asprintf(&mechanism, "%s/sys/kernel/memsec/directmap", root ?: "") < 0) {
                mechanism = NULL;
                return out_of_memory();
        }

        if (error == EACCES || error == EPERM)
                fprintf(stderr, "%s: only root may see who holds memory out of the direct map.\n", path);
        else if (error != ENOENT)
                fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(error));
        else if (access(mechanism, F_OK) >= 0)
                fprintf(stderr, "%s: missing, though memsec of this kernel has the mechanism 'directmap'.\n",
                        path);
        else {
                *strrchr(mechanism, '/') = '\0';
                fprintf(stderr, "%s: %s.\n", path, access(mechanism, F_OK) < 0 ? "the kernel has no memsec" :
                        "memsec of this kernel has no mechanism 'directmap'");
        }

        return STATUS_FAILED;
}

/* Reads a line without its newline. Returns false at the end or on an error. */
static bool read_line(FILE *f, char **line, size_t *size) {
        ssize_t n = getline(line, size, f);

        if (n > 0 && (*line)[n - 1] == '\n')
                (*line)[n - 1] = '\0';

        return n >= 0;
}

/* Hands each line of a table of the kernel to PARSE. */
static ExitStatus table_read(const char *root, const char *name, const char *header,
                             int (*parse)(const char *line, Owners *owners), Owners *owners) {
        _cleanup_free_ char *path = NULL, *line = NULL;
        _cleanup_fclose_ FILE *f = NULL;
        size_t size = 0;
        unsigned n;
        int r;

        if (asprintf(&path, "%s/proc/memsec/%s", root ?: "", name) < 0) {
                path = NULL;
                return out_of_memory();
        }

        f = fopen(path, "re");
        if (!f)
                return table_failed(root, path);

        for (n = 1; read_line(f, &line, &size); n++) {
                r = n > 1 ? parse(line, owners) : streq(line, header) ? 0 : -EINVAL;
                if (r == -ENOMEM)
                        return out_of_memory();
                if (r < 0) {
                        make_printable(line);
                        fprintf(stderr, "%s:%u: expected '%s', found '%s'\n", path, n, header, line);
                        return STATUS_FAILED;
                }
        }

        if (ferror(f))
                return table_failed(root, path);
        if (n == 1) {
                fprintf(stderr, "%s: expected '%s', found nothing\n", path, header);
                return STATUS_FAILED;
        }

        return STATUS_OK;
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
        if (!read_line(f, &line, &size))
                return NULL;

        make_printable(line);
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

        holder = append((void **) &file->holders, &file->n_holders, sizeof(Holder));
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

        while (read_line(f, &line, &size)) {
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

ExitStatus owners_load(const char *root, const char *unit, Owners *ret) {
        ExitStatus s;

        s = table_read(root, ACCOUNTS_FILE, ACCOUNTS_HEADER, account_parse, ret);
        if (s == STATUS_OK)
                s = table_read(root, FILES_FILE, FILES_HEADER, secret_file_parse, ret);
        if (s != STATUS_OK)
                return s;

        ret->any_file = ret->n_files > 0;
        if (unit)
                keep_unit(ret, unit);
        if (ret->n_files > 0 && find_holders(ret, root) < 0)
                return out_of_memory();

        if (ret->n_accounts > 0)
                qsort(ret->accounts, ret->n_accounts, sizeof(Account), compare_accounts);
        if (ret->n_files > 0)
                qsort(ret->files, ret->n_files, sizeof(SecretFile), compare_files);

        return STATUS_OK;
}
