/* SPDX-License-Identifier: GPL-2.0-only */

/*
 * Memory that is somebody's alone, faulted in by some threads at once: what it takes, and what becomes of
 * the kernel's direct map meanwhile and afterwards. Secret memory is a file a thread. A guest is one, with a
 * vCPU a thread. Each thread has a part of its own and goes through it in order or by random pieces.
 *
 * One line of key=value pairs on stdout a run.
 */

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/types.h>

#include "guest.h"
#include "loader.h"
#include "memsec_params.h"
#include "secretmem.h"
#include "sysfs.h"

#define NSEC_PER_SEC 1000000000ULL
#define PAGE_SIZE UINT64_C(4096)
#define MIB (1ULL << 20)
#define PIECE (2 * MIB)
#define MAX_THREADS 64U
#define MAX_REPEATS 64U

/* Long after a policy wanted the direct map back in one piece it is, or never will be. */
#define BACK_STEP_USEC (20 * 1000)
#define BACK_STEPS (40 * 50)

typedef struct Options {
        bool guest;
        unsigned threads;
        uint64_t size;          /* of all parts together */
        unsigned repeats;
        bool random;
        bool keep;              /* all memory until the end, so that each run gets some of its own */
        const char *policy;     /* NULL for none */
        uint64_t ahead;
} Options;

/* What a run works on. */
typedef struct Memory {
        Guest *guest;
        Secret secrets[MAX_THREADS];
} Memory;

typedef struct Worker {
        pthread_t thread;
        unsigned index;
        uint64_t size;
        bool random;
        Memory *memory;
        pthread_barrier_t *start;
        int r;
} Worker;

/* What entries of each size map, in bytes, and how often things happened so far. */
typedef struct Counts {
        uint64_t map_4k, map_1g;
        uint64_t owned;
        uint64_t splits, ahead, flushes, holds;
        uint64_t calls;
} Counts;

static int log_errno(int error, const char *what) {
        fprintf(stderr, "fault: %s: %s\n", what, strerror(error));
        return -error;
}

static uint64_t now_ns(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* The sum of all numbers in lines of a file of /proc that begin with a word. */
static uint64_t sum_of(const char *path, const char *word) {
        char line[4096];
        uint64_t sum = 0;
        FILE *f;

        f = fopen(path, "re");
        if (!f)
                return 0;

        while (fgets(line, sizeof(line), f)) {
                char *p = line + strspn(line, " "), *end;

                if (strncmp(p, word, strlen(word)) != 0)
                        continue;
                p += strlen(word);
                for (uint64_t n = strtoull(p, &end, 10); end != p; n = strtoull(p, &end, 10)) {
                        sum += n;
                        p = end;
                }
        }
        (void) fclose(f);
        return sum;
}

static int memory_new(const Options *o, Memory *m) {
        *m = (Memory) {};

        if (o->guest)
                return guest_create(o->size, o->threads, &m->guest);

        for (unsigned i = 0; i < o->threads; i++) {
                int r;

                r = secretmem_map(o->size / o->threads / PAGE_SIZE, &m->secrets[i]);
                if (r < 0)
                        return log_errno(-r, "memfd_secret");
        }

        return 0;
}

static void memory_free(Memory *m) {
        m->guest = guest_destroy(m->guest);
        for (unsigned i = 0; i < MAX_THREADS; i++)
                secretmem_unmap(&m->secrets[i]);
}

static int fault(const Worker *w, uint64_t offset, uint64_t size) {
        volatile uint8_t *data = w->memory->secrets[w->index].data;

        if (w->memory->guest)
                return guest_prefault(w->memory->guest, w->index, w->index * w->size + offset, size);

        for (uint64_t at = offset; at < offset + size; at += PAGE_SIZE)
                data[at] = 1;
        return 0;
}

/* The pieces in the order in which a thread gets to them. */
static void shuffle(uint32_t *pieces, size_t n, unsigned seed) {
        for (size_t i = 0; i < n; i++)
                pieces[i] = i;
        for (size_t i = n - 1; i > 0; i--) {
                size_t k = rand_r(&seed) % (i + 1);
                uint32_t other = pieces[k];

                pieces[k] = pieces[i];
                pieces[i] = other;
        }
}

static void *work(void *arg) {
        Worker *w = arg;
        size_t n = w->size / PIECE;
        uint32_t *pieces;

        pieces = calloc(n, sizeof(*pieces));
        if (pieces)
                shuffle(pieces, n, w->index + 1);
        else
                w->r = -ENOMEM;

        (void) pthread_barrier_wait(w->start);
        for (size_t i = 0; i < n && w->r >= 0; i++)
                w->r = fault(w, (w->random ? pieces[i] : i) * PIECE, PIECE);
        free(pieces);
        return NULL;
}

/* How long it took from when all threads were there until the last was done. */
static int fault_all(const Options *o, Memory *m, uint64_t *ret_ns) {
        Worker workers[MAX_THREADS] = {};
        pthread_barrier_t start;
        uint64_t start_ns;
        int r = 0;

        (void) pthread_barrier_init(&start, NULL, o->threads + 1);
        for (unsigned i = 0; i < o->threads; i++) {
                workers[i] = (Worker) {
                        .index = i,
                        .size = o->size / o->threads,
                        .random = o->random,
                        .memory = m,
                        .start = &start,
                };
                r = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
                if (r != 0) {
                        log_errno(r, "starting a thread");
                        exit(EXIT_FAILURE);
                }
        }

        start_ns = now_ns();
        (void) pthread_barrier_wait(&start);
        for (unsigned i = 0; i < o->threads; i++) {
                (void) pthread_join(workers[i].thread, NULL);
                if (workers[i].r < 0)
                        r = workers[i].r;
        }
        *ret_ns = now_ns() - start_ns;
        (void) pthread_barrier_destroy(&start);
        return r < 0 ? log_errno(-r, "faulting memory in") : 0;
}

/* All memory. What the kernel says of large entries adds up to more: it counts some twice at boot. */
static uint64_t memory_size(void) {
        uint64_t first, last, sum = 0;
        char line[256];
        FILE *f;

        f = fopen("/proc/iomem", "re");
        if (!f)
                return 0;

        while (fgets(line, sizeof(line), f))
                if (sscanf(line, "%" SCNx64 "-%" SCNx64 " : System RAM", &first, &last) == 2 &&
                    strstr(line, " : System RAM"))
                        sum += last - first + 1;
        (void) fclose(f);
        return sum;
}

static uint64_t counter(const char *name) {
        char path[64];
        uint64_t value;

        (void) snprintf(path, sizeof(path), "directmap/%s", name);
        if (sysfs_read(path, &value) < 0)
                exit(EXIT_FAILURE);

        return value;
}

static Counts count(const Options *o) {
        return (Counts) {
                .map_4k = sum_of("/proc/meminfo", "DirectMap4k:") * 1024,
                .map_1g = sum_of("/proc/meminfo", "DirectMap1G:") * 1024,
                /* On a kernel that does not ask memsec these stay zero. */
                .owned = counter(o->guest ? "guest_pages" : "secretmem_pages") * PAGE_SIZE,
                .splits = counter("splits"),
                .ahead = counter("splits_ahead"),
                .flushes = counter("tlb_flushes"),
                .holds = counter("lock_holds"),
                /* Interrupts by which a CPU has others call a function, such as a flush of kernel memory. */
                .calls = sum_of("/proc/interrupts", "CAL:"),
        };
}

static void wait_until_back(void) {
        for (unsigned i = 0; i < BACK_STEPS && counter("unused_ranges") > 0; i++)
                (void) usleep(BACK_STEP_USEC);
}

static int attach(const char *name, uint64_t ahead, uint64_t collapse_after_ns, Policy **ret) {
        const struct memsec_params params = {
                .teardown = { MEMSEC_TEARDOWN_DEFAULT_BATCH, MEMSEC_TEARDOWN_DEFAULT_MAX_HOLD_NS },
                .directmap = { .ahead = ahead, .collapse_after_ns = collapse_after_ns },
        };
        int r;

        r = policy_run(name, ret);
        if (r < 0)
                return log_errno(-r, name);

        r = policy_set_params(*ret, MEMSEC_EVERYONE, &params);
        if (r < 0)
                return log_errno(-r, "parameters");

        return 0;
}

/* So that the next run finds the direct map as this one did. */
static int put_back(void) {
        _policy_cleanup_ Policy *p = NULL;
        int r;

        r = attach("fixed", 0, 0, &p);
        if (r < 0)
                return r;

        wait_until_back();
        return 0;
}

static void print_number(const char *key, uint64_t value) {
        printf("%s=%" PRIu64 " ", key, value);
}

/* AFTER is NULL while all memory is kept. */
static void print_run(const Options *o, uint64_t ns, const Counts *before, const Counts *during,
                      const Counts *after) {
        print_number("cpus", sysconf(_SC_NPROCESSORS_ONLN));
        print_number("memory", memory_size());
        print_number("ns", ns);
        print_number("bytes", o->size);
        print_number("owned", during->owned - before->owned);
        print_number("splits", during->splits - before->splits);
        print_number("ahead", during->ahead - before->ahead);
        print_number("flushes", during->flushes - before->flushes);
        print_number("holds", during->holds - before->holds);
        print_number("calls", during->calls - before->calls);
        print_number("before_4k", before->map_4k);
        print_number("before_1g", before->map_1g);
        print_number("during_4k", during->map_4k);
        print_number("during_1g", during->map_1g);
        if (after)
                print_number("after_4k", after->map_4k);
        putchar('\n');
        (void) fflush(stdout);
}

static int run(const Options *o, Memory *memories, unsigned i) {
        bool last = !o->keep || i + 1 == o->repeats;
        Memory *m = &memories[i];
        Counts before, during, after;
        uint64_t ns;
        int r;

        r = memory_new(o, m);
        if (r < 0)
                return r;

        before = count(o);
        r = fault_all(o, m, &ns);
        if (r < 0)
                return r;

        during = count(o);
        if (last) {
                for (unsigned k = 0; k <= i; k++)
                        memory_free(&memories[k]);
                if (o->policy)
                        wait_until_back();
        }
        after = count(o);
        print_run(o, ns, &before, &during, last ? &after : NULL);
        return 0;
}

static int run_all(const Options *o, Memory *memories) {
        _policy_cleanup_ Policy *policy = NULL;
        int r;

        if (o->policy) {
                r = attach(o->policy, o->ahead, NSEC_PER_SEC, &policy);
                if (r < 0)
                        return r;
        }

        for (unsigned i = 0; i < o->repeats; i++) {
                r = run(o, memories, i);
                if (r < 0)
                        return r;
                if (!o->policy && !o->keep) {
                        r = put_back();
                        if (r < 0)
                                return r;
                }
        }

        return 0;
}

static void usage(void) {
        fprintf(stderr,
                "fault [OPTION...] secret|guest\n"
                "  -t N    threads (1)\n"
                "  -m MIB  all of them together (256)\n"
                "  -n N    how often (1)\n"
                "  -r      by random pieces of 2 MiB\n"
                "  -k      give nothing back between the runs\n"
                "  -P NAME attach a policy that puts the direct map back after a second\n"
                "  -a MIB  what it splits ahead (0)\n");
        exit(2);
}

static uint64_t number(const char *text, uint64_t max) {
        char *end;
        uint64_t n;

        n = strtoull(text, &end, 10);
        if (*text == '\0' || *end != '\0' || n > max) {
                fprintf(stderr, "fault: expected a number up to %" PRIu64 ", found '%s'\n", max, text);
                usage();
        }

        return n;
}

static void parse(int argc, char **argv, Options *o) {
        int c;

        while ((c = getopt(argc, argv, "t:m:n:rkP:a:")) >= 0)
                switch (c) {
                case 't': o->threads = number(optarg, MAX_THREADS); break;
                case 'm': o->size = number(optarg, 1 << 20) * MIB; break;
                case 'n': o->repeats = number(optarg, MAX_REPEATS); break;
                case 'r': o->random = true; break;
                case 'k': o->keep = true; break;
                case 'P': o->policy = optarg; break;
                case 'a': o->ahead = number(optarg, 1 << 20) * MIB; break;
                default: usage();
                }

        if (optind + 1 != argc)
                usage();
        o->guest = strcmp(argv[optind], "guest") == 0;
        if (!o->guest && strcmp(argv[optind], "secret") != 0)
                usage();
        if (o->threads == 0 || o->size % (o->threads * PIECE) != 0) {
                fprintf(stderr, "fault: each thread has to have whole pieces of 2 MiB\n");
                exit(2);
        }
}

int main(int argc, char **argv) {
        static Memory memories[MAX_REPEATS];
        Options o = { .threads = 1, .size = 256 * MIB, .repeats = 1 };

        parse(argc, argv, &o);
        if (secretmem_allow() < 0 || policy_alone() < 0)
                return EXIT_FAILURE;

        return run_all(&o, memories) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
