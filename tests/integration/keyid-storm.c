// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages go from KeyID to KeyID and to everybody else, by all ways that memory takes in this kernel: fork and
 * copy on write, huge pages, mremap(), mlock(), compaction, migration, swap, KSM, memory failure and the OOM
 * killer; while policies and CPUs come and go. Nothing is handed on that hardware would corrupt.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <time.h>

#include "child.h"
#include "keyid.h"
#include "loader.h"
#include "sysfs.h"
#include "tap.h"

#define KEYID_PAGES 600
#define ANON_SIZE (UINT64_C(6) << 20)
#define ANON_PAGES (ANON_SIZE / PAGES_SIZE)
#define ROUNDS 12
#define SWAP_FILE "/var/tmp/memsec-swap"
#define SWAP_SIZE (64 << 20)
#define CGROUP "/sys/fs/cgroup/memsec-keyid-storm"
#define HWPOISON "/sys/kernel/debug/hwpoison/"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define PFN_MASK ((UINT64_C(1) << 55) - 1)

/* What a child does over and over. Exits when it finds memory that is not as it should be. */
typedef void (*Use)(void);

/* Rounds that each child completed, and when to stop. */
typedef struct Shared {
        atomic_bool stop;
        atomic_uint rounds[8];
} Shared;

static Shared *shared;
static uint64_t violations;

static int write_file(const char *path, const char *text) {
        int fd, r;

        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;

        r = write(fd, text, strlen(text)) < 0 ? -errno : 0;
        (void) close(fd);
        return r;
}

static void expect(bool as_it_should) {
        if (!as_it_should)
                _exit(EXIT_FAILURE);
}

/* There may be none left for the moment. */
static void use_keyid(void) {
        _keyid_cleanup_ Keyid k = {};
        int r;

        r = keyid_map(KEYID_PAGES, &k);
        expect(r >= 0 || r == -ENOSPC);
        if (r < 0)
                return;

        pages_fill(k.data, KEYID_PAGES);
        expect(pages_are_intact(k.data, KEYID_PAGES));
        expect(keyid_discard(k.fd, 100 * PAGES_SIZE, 300 * PAGES_SIZE) >= 0);
        expect(pages_are_zero(k.data + 100 * PAGES_SIZE, 300));
}

static uint8_t *map_anonymous(int advice) {
        uint8_t *p = mmap(NULL, ANON_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        expect(p != MAP_FAILED);
        if (advice != MADV_NORMAL)
                (void) madvise(p, ANON_SIZE, advice);
        expect(pages_are_zero(p, ANON_PAGES));
        pages_fill(p, ANON_PAGES);
        return p;
}

/* Copies on write, of huge pages too; then it is moved, and what is in the middle goes. */
static void use_fork(void) {
        uint8_t *p = map_anonymous(MADV_HUGEPAGE);
        pid_t pid;

        pid = child_fork();
        if (pid == 0) {
                expect(pages_are_intact(p, ANON_PAGES));
                memset(p, 0, ANON_SIZE / 2);
                expect(pages_are_zero(p, ANON_PAGES / 2));
                _exit(EXIT_SUCCESS);
        }
        expect(child_passed(pid));
        p = mremap(p, ANON_SIZE, 2 * ANON_SIZE, MREMAP_MAYMOVE);
        expect(p != MAP_FAILED && pages_are_intact(p, ANON_PAGES));
        expect(pages_are_zero(p + ANON_SIZE, ANON_PAGES));
        (void) mlock(p, ANON_SIZE / 4);
        (void) madvise(p, ANON_SIZE, MADV_COLLAPSE);
        expect(munmap(p + ANON_SIZE / 2, ANON_SIZE / 4) >= 0);
        expect(pages_are_intact(p, ANON_PAGES / 2));
        (void) munmap(p, 2 * ANON_SIZE);
}

/* Pages are moved from node to node, if there are several, and made one where they are alike. */
static void use_migration(void) {
        static void *pages[ANON_PAGES];
        static int nodes[ANON_PAGES], status[ANON_PAGES];
        uint8_t *p = map_anonymous(MADV_MERGEABLE);

        for (int node = 0; node < 2; node++) {
                for (size_t i = 0; i < ANON_PAGES; i++) {
                        pages[i] = p + i * PAGES_SIZE;
                        nodes[i] = (node + i) % 2;
                }
                (void) syscall(SYS_move_pages, 0, ANON_PAGES, pages, nodes, status, 0);
                expect(pages_are_intact(p, ANON_PAGES));
        }
        (void) munmap(p, ANON_SIZE);
}

static void use_swap(void) {
        uint8_t *p = map_anonymous(MADV_NORMAL);

        (void) madvise(p, ANON_SIZE, MADV_PAGEOUT);
        expect(pages_are_intact(p, ANON_PAGES));
        (void) munmap(p, ANON_SIZE);
}

static void use_compaction(void) {
        (void) write_file("/proc/sys/vm/compact_memory", "1");
        (void) usleep(20000);
}

static const Use uses[] = { use_keyid, use_keyid, use_fork, use_migration, use_swap, use_compaction };

#define CHILDREN (sizeof(uses) / sizeof(uses[0]))

static pid_t children[CHILDREN];

static void start_children(void) {
        shared->stop = false;
        for (size_t i = 0; i < CHILDREN; i++) {
                shared->rounds[i] = 0;
                children[i] = child_fork();
                if (children[i] > 0)
                        continue;

                do {
                        uses[i]();
                        shared->rounds[i]++;
                } while (!shared->stop);
                _exit(EXIT_SUCCESS);
        }
}

static bool all_worked(void) {
        bool worked = true;

        for (size_t i = 0; i < CHILDREN; i++)
                worked &= shared->rounds[i] > 0;

        return worked;
}

/* A slow machine is waited for, until each child has come round once at least. */
static void stop_children(void) {
        bool passed = true, worked;

        for (unsigned i = 0; !(worked = all_worked()) && i < 600; i++)
                (void) usleep(100000);

        shared->stop = true;
        for (size_t i = 0; i < CHILDREN; i++)
                passed &= child_passed(children[i]);
        tap_ok(passed, "all memory held what was written, all the time");
        tap_ok(worked, "whoever used it");
        tap_is_errno(sysfs_wait("keyid/used_pages", 0), 0, "no page carries a KeyID at the end");
        tap_is(keyid_violations(), violations, "hardware would have corrupted nothing");
}

static void test_policies(void) {
        static const char *const names[] = { "fixed", "random", "greedy", "zero" };
        unsigned i, n = 0;

        tap_note("policies come and go");
        start_children();
        for (i = 0; i < ROUNDS; i++) {
                _policy_cleanup_ Policy *p = NULL;

                n += policy_run(names[i % (sizeof(names) / sizeof(names[0]))], &p) >= 0;
                (void) usleep(200000);
        }
        stop_children();
        tap_is(n, i, "each could be attached");
}

static void test_cpus(void) {
        _policy_cleanup_ Policy *p = NULL;
        unsigned i, n = 0;

        tap_note("CPUs come and go, and what they keep");
        if (!tap_is_errno(policy_run("greedy", &p), 0, "a policy that keeps all it may"))
                return;

        start_children();
        for (i = 0; i < ROUNDS; i++) {
                n += write_file("/sys/devices/system/cpu/cpu1/online", "0") >= 0;
                (void) usleep(50000);
                n += write_file("/sys/devices/system/cpu/cpu1/online", "1") >= 0;
                (void) usleep(50000);
        }
        stop_children();
        tap_is(n, 2 * i, "as often as it was asked for");
}

static uint64_t pfn_of(const void *p) {
        off_t offset = (uintptr_t) p / PAGES_SIZE * sizeof(uint64_t);
        uint64_t item;
        int fd;

        fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
        if (fd < 0 || pread(fd, &item, sizeof(item), offset) != sizeof(item))
                tap_bail_out("no page map");
        (void) close(fd);
        return item & PFN_MASK;
}

static int write_pfn(const char *name, uint64_t pfn) {
        char path[64], text[32];

        (void) snprintf(path, sizeof(path), HWPOISON "%s", name);
        (void) snprintf(text, sizeof(text), "%" PRIu64, pfn);
        return write_file(path, text);
}

/* A page that failed is nobody's any more, and does not keep the KeyID from being given up. */
static void test_memory_failure(void) {
        Keyid k;
        uint64_t pfn;

        tap_note("memory fails");
        if (!tap_is_errno(keyid_map(KEYID_PAGES, &k), 0, "memory under a KeyID"))
                return;

        pages_fill(k.data, KEYID_PAGES);
        pfn = pfn_of(k.data + 5 * PAGES_SIZE);
        /* Who has the page cannot be told: it is not on any list that the kernel knows. */
        (void) write_pfn("corrupt-pfn", pfn);
        tap_ok(pages_are_intact(k.data, 5), "the pages before are as they were");
        keyid_unmap(&k);
        tap_is_errno(sysfs_wait("keyid/used_pages", 0), 0, "no page carries the KeyID");
        tap_is_errno(sysfs_wait("keyid/keyids_retiring", 0), 0, "which can be taken again");
        (void) write_pfn("unpoison-pfn", pfn);
        tap_is(keyid_violations(), violations, "hardware would have corrupted nothing");
}

static void join_cgroup(void) {
        char pid[32];

        (void) snprintf(pid, sizeof(pid), "%d", getpid());
        if (write_file(CGROUP "/cgroup.procs", pid) < 0)
                _exit(EXIT_FAILURE);
}

/* Its memory is charged like the kernel's, so it is held to the limit of its cgroup. */
static void test_oom(void) {
        Keyid k;
        pid_t pid;

        tap_note("memory runs out");
        if (mkdir(CGROUP, 0755) < 0 || write_file(CGROUP "/memory.max", "16M") < 0)
                tap_bail_out("no memory cgroup");
        (void) write_file(CGROUP "/memory.swap.max", "0");

        pid = child_fork();
        if (pid == 0) {
                join_cgroup();
                if (keyid_map(2 * (16 << 20) / PAGES_SIZE, &k) < 0)
                        _exit(EXIT_FAILURE);
                pages_fill(k.data, k.n_pages);
                _exit(EXIT_SUCCESS);
        }
        tap_ok(child_died_of(pid, SIGKILL), "who takes more than its cgroup may have is killed");
        tap_is_errno(sysfs_wait("keyid/used_pages", 0), 0, "and all of it comes back");
        (void) rmdir(CGROUP);
}

static int start_swap(void) {
        int fd, r;

        fd = open(SWAP_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;

        r = -posix_fallocate(fd, 0, SWAP_SIZE);
        (void) close(fd);
        if (r < 0)
                return r;
        if (system("mkswap " SWAP_FILE " >/dev/null") != 0)
                return -EIO;

        return swapon(SWAP_FILE, 0) < 0 ? -errno : 0;
}

int main(void) {
        violations = keyid_violations();
        shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED || policy_alone() < 0 || start_swap() < 0)
                tap_bail_out("cannot begin");
        (void) write_file("/sys/kernel/mm/ksm/run", "1");

        test_policies();
        test_cpus();
        test_memory_failure();
        test_oom();

        (void) write_file("/sys/kernel/mm/ksm/run", "2");
        (void) swapoff(SWAP_FILE);
        (void) unlink(SWAP_FILE);
        return tap_done();
}
