/* SPDX-License-Identifier: GPL-2.0-only */

/*
 * The twin experiment: enclave A works while its twin B is released, over an EPC as large as one of them.
 *
 * A is built first and B after it, which evicts A. At one agreed moment B's process lets go of B, a little
 * later A's threads begin their touches, and a third task beside them wakes every millisecond on the CPU
 * that tears B down, and notes how late it is. One line of key=value pairs on stdout says what came of it.
 *
 * The costs of the modelled instructions apply from that moment on only: building the enclaves is free.
 */

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/types.h>

#include "enclave.h"
#include "loader.h"
#include "memsec_params.h"
#include "sysfs.h"

#define PAGE_SIZE 4096UL
#define NSEC_PER_USEC 1000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC 1000000000ULL

#define MAX_THREADS 64U
#define TEARDOWN_CPU 0

/* The release begins on a multiple of this and a phase, so that it meets the timer tick as it is told to. */
#define START_GRID_NS (100 * NSEC_PER_MSEC)

/* A begins when the release is under way, as it does after a process that it started has exited. */
#define A_DELAY_NS (200 * NSEC_PER_USEC)

#define SLEEPER_PERIOD_NS NSEC_PER_MSEC
#define SLEEPER_MAX_WAKES 65536U

typedef struct Options {
        uint64_t pages;         /* of A and of B */
        uint64_t span;          /* pages of A that it touches */
        uint64_t threads;       /* of A */
        uint64_t touches;       /* by all threads together */
        uint64_t work;          /* turns of an empty loop after each touch */
        uint64_t resident;      /* pages of A loaded before the release */
        uint64_t phase_us;      /* from a multiple of START_GRID_NS to the release */
        bool keep;              /* B is not released before A is done */
        uint64_t eremove_ns, ewb_ns, eldu_ns;
        const char *policy;     /* to attach, NULL for none */
        uint64_t batch, max_hold_us; /* 0: the policy's own */
} Options;

typedef struct Toucher {
        pthread_t thread;
        const Options *options;
        const volatile uint8_t *base;
        uint64_t start_ns, end_ns;
        uint64_t seed, touches;
} Toucher;

typedef struct Wake {
        uint64_t due_ns, late_ns;
} Wake;

typedef struct Sleeper {
        pthread_t thread;
        uint64_t start_ns;
        volatile bool stop;
        size_t n_wakes;
        Wake *wakes;
} Sleeper;

/* Counters read before and after: name below /sys/kernel/memsec, key in the output. */
static const struct {
        const char *name, *key;
} counters[] = {
        { "emulation/sgx/eremove_count", "eremove" },
        { "emulation/sgx/ewb_count",     "ewb"     },
        { "emulation/sgx/eldu_count",    "eldu"    },
        { "teardown/asked",              "asked"   },
        { "teardown/breaks",             "breaks"  },
        { "teardown/forced_breaks",      "forced"  },
        { "teardown/rescheds",           "rescheds" },
};

#define N_COUNTERS (sizeof(counters) / sizeof(counters[0]))

typedef struct Result {
        uint64_t start_ns, a_end_ns, b_end_ns;
        uint64_t longest_hold_ns;
        uint64_t before[N_COUNTERS], after[N_COUNTERS];
} Result;

static int log_errno(int error, const char *what) {
        fprintf(stderr, "twin: %s: %s\n", what, strerror(error));
        return -error;
}

static uint64_t now_ns(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static void sleep_until(uint64_t ns) {
        struct timespec ts = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };

        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
                ;
}

/* Timers of this thread expire when they say, not up to 50 us later. */
static void exact_timers(void) {
        (void) prctl(PR_SET_TIMERSLACK, 1UL);
}

static int pin_to_teardown_cpu(void) {
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET(TEARDOWN_CPU, &set);
        if (sched_setaffinity(0, sizeof(set), &set) < 0)
                return log_errno(errno, "sched_setaffinity");

        return 0;
}

static uint64_t random_next(uint64_t *state) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        return *state;
}

static void *toucher_run(void *userdata) {
        Toucher *t = userdata;
        const Options *o = t->options;
        uint64_t state = t->seed;

        exact_timers();
        sleep_until(t->start_ns + A_DELAY_NS);

        for (uint64_t i = 0; i < t->touches; i++) {
                (void) t->base[random_next(&state) % o->span * PAGE_SIZE];

                for (uint64_t turn = 0; turn < o->work; turn++)
                        __asm__ volatile("");
        }

        t->end_ns = now_ns();
        return NULL;
}

static void *sleeper_run(void *userdata) {
        Sleeper *s = userdata;
        uint64_t due = s->start_ns;

        exact_timers();
        if (pin_to_teardown_cpu() < 0)
                return NULL;

        while (!s->stop && s->n_wakes < SLEEPER_MAX_WAKES) {
                uint64_t now;

                sleep_until(due);
                now = now_ns();
                s->wakes[s->n_wakes++] = (Wake) { .due_ns = due, .late_ns = now - due };
                due += ((now - due) / SLEEPER_PERIOD_NS + 1) * SLEEPER_PERIOD_NS;
        }

        return NULL;
}

/* The longest wait of a wakeup that was due before END_NS. */
static uint64_t sleeper_longest_wait(const Sleeper *s, uint64_t end_ns) {
        uint64_t longest = 0;

        for (size_t i = 0; i < s->n_wakes && s->wakes[i].due_ns < end_ns; i++)
                if (s->wakes[i].late_ns > longest)
                        longest = s->wakes[i].late_ns;

        return longest;
}

static int send_u64(int fd, uint64_t value) {
        return write(fd, &value, sizeof(value)) == sizeof(value) ? 0 : -EPIPE;
}

/* Fails when the other process has gone. */
static int receive_u64(int fd, uint64_t *ret) {
        return read(fd, ret, sizeof(*ret)) == sizeof(*ret) ? 0 : -EPIPE;
}

/*
 * B's process: build B when asked, let go of it when told. B stays unmapped, since with a mapping the
 * release would begin a grace period after close() and not with it.
 */
static int twin_run(const Options *o, int fd) {
        _enclave_cleanup_ Enclave *b = NULL;
        uint64_t start_ns;
        int r;

        r = pin_to_teardown_cpu();
        if (r < 0)
                return r;
        exact_timers();

        r = receive_u64(fd, &start_ns);
        if (r < 0)
                return r;

        r = enclave_new(o->pages, &b);
        if (r < 0)
                return r;
        r = enclave_add(b, 0, o->pages, 2);
        if (r < 0)
                return r;
        r = enclave_init(b);
        if (r < 0)
                return r;

        r = send_u64(fd, 0);
        if (r < 0)
                return r;
        r = receive_u64(fd, &start_ns);
        if (r < 0)
                return r;

        sleep_until(start_ns);
        if (o->keep) {
                r = receive_u64(fd, &start_ns);
                if (r < 0)
                        return r;
        }

        b = enclave_free(b);
        return send_u64(fd, now_ns());
}

/* Forked before A exists, so that it has no part in A. */
static int twin_start(const Options *o, pid_t *ret_pid, int *ret_fd) {
        int fds[2];
        pid_t pid;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
                return log_errno(errno, "socketpair");

        pid = fork();
        if (pid < 0)
                return log_errno(errno, "fork");
        if (pid == 0) {
                (void) close(fds[0]);
                _exit(twin_run(o, fds[1]) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
        }

        (void) close(fds[1]);
        *ret_pid = pid;
        *ret_fd = fds[0];
        return 0;
}

static int set_costs(uint64_t eremove_ns, uint64_t ewb_ns, uint64_t eldu_ns) {
        int r;

        r = sysfs_write("emulation/sgx/eremove_ns", eremove_ns);
        if (r < 0)
                return r;
        r = sysfs_write("emulation/sgx/ewb_ns", ewb_ns);
        if (r < 0)
                return r;
        return sysfs_write("emulation/sgx/eldu_ns", eldu_ns);
}

static int read_counters(uint64_t values[static N_COUNTERS]) {
        for (size_t i = 0; i < N_COUNTERS; i++) {
                int r = sysfs_read(counters[i].name, &values[i]);

                if (r < 0)
                        return r;
        }

        return 0;
}

static int start_threads(
                const Options *o,
                const Enclave *a,
                uint64_t start_ns,
                Toucher *touchers,
                Sleeper *s) {

        int r;

        s->start_ns = start_ns;
        r = pthread_create(&s->thread, NULL, sleeper_run, s);
        if (r != 0)
                return -r;

        for (unsigned i = 0; i < o->threads; i++) {
                touchers[i] = (Toucher) {
                        .options = o,
                        .base = enclave_base(a),
                        .start_ns = start_ns,
                        .seed = 0x9e3779b97f4a7c15ULL * (i + 1),
                        .touches = o->touches / o->threads,
                };

                r = pthread_create(&touchers[i].thread, NULL, toucher_run, &touchers[i]);
                if (r != 0)
                        return -r;
        }

        return 0;
}

/* When the last of them was done. */
static uint64_t join_touchers(const Options *o, Toucher *touchers, uint64_t end_ns) {
        for (unsigned i = 0; i < o->threads; i++) {
                (void) pthread_join(touchers[i].thread, NULL);
                if (touchers[i].end_ns > end_ns)
                        end_ns = touchers[i].end_ns;
        }

        return end_ns;
}

static void join_sleeper(Sleeper *s) {
        s->stop = true;
        (void) pthread_join(s->thread, NULL);
}

static void print_result(const Result *result, const Sleeper *sleeper) {
        printf("a_ns=%" PRIu64 " release_ns=%" PRIu64 " wait_ns=%" PRIu64 " longest_hold_ns=%" PRIu64,
               result->a_end_ns - result->start_ns, result->b_end_ns - result->start_ns,
               sleeper_longest_wait(sleeper, result->b_end_ns), result->longest_hold_ns);
        for (size_t i = 0; i < N_COUNTERS; i++)
                printf(" %s=%" PRIu64, counters[i].key, result->after[i] - result->before[i]);
        printf("\n");
}

/* From the release to the last touch. The enclaves stand; FD leads to B's process. */
static int work_and_release(const Options *o, const Enclave *a, int fd, Sleeper *sleeper, Result *result) {
        Toucher touchers[MAX_THREADS];
        int r;

        result->start_ns = (now_ns() / START_GRID_NS + 2) * START_GRID_NS + o->phase_us * NSEC_PER_USEC;
        r = start_threads(o, a, result->start_ns, touchers, sleeper);
        if (r < 0)
                return r;
        r = send_u64(fd, result->start_ns);
        if (r < 0)
                return r;

        result->a_end_ns = join_touchers(o, touchers, result->start_ns);
        r = o->keep ? send_u64(fd, 0) : 0;
        if (r < 0)
                return r;

        r = receive_u64(fd, &result->b_end_ns);
        if (r < 0)
                return r;
        /* The sleeper is about waits while B was there, and then that ended with A. */
        if (o->keep)
                result->b_end_ns = result->a_end_ns;

        join_sleeper(sleeper);
        return 0;
}

static int measure(const Options *o, const Enclave *a, int fd, Sleeper *sleeper) {
        Result result = {};
        int r;

        r = sysfs_write("teardown/longest_hold_ns", 0);
        if (r < 0)
                return r;
        r = read_counters(result.before);
        if (r < 0)
                return r;
        r = set_costs(o->eremove_ns, o->ewb_ns, o->eldu_ns);
        if (r < 0)
                return r;

        r = work_and_release(o, a, fd, sleeper, &result);
        if (r < 0)
                return r;

        r = read_counters(result.after);
        if (r < 0)
                return r;
        r = sysfs_read("teardown/longest_hold_ns", &result.longest_hold_ns);
        if (r < 0)
                return r;

        print_result(&result, sleeper);
        return 0;
}

static int run_with_twin(const Options *o, int fd, Sleeper *sleeper) {
        _enclave_cleanup_ Enclave *a = NULL;
        uint64_t built;
        int r;

        r = enclave_build(o->pages, 1, &a);
        if (r < 0)
                return r;

        r = send_u64(fd, 0);
        if (r < 0)
                return r;
        r = receive_u64(fd, &built);
        if (r < 0)
                return r;

        enclave_touch(a, 0, o->resident);

        r = measure(o, a, fd, sleeper);
        if (set_costs(0, 0, 0) < 0 && r >= 0)
                r = -EIO;
        return r;
}

static int run(const Options *o) {
        Sleeper sleeper = {};
        pid_t pid = 0;
        int r, fd = -1;

        /* Written to now, so that it takes no page faults later. */
        sleeper.wakes = malloc(SLEEPER_MAX_WAKES * sizeof(Wake));
        if (!sleeper.wakes)
                return log_errno(ENOMEM, "allocating");
        memset(sleeper.wakes, 0xff, SLEEPER_MAX_WAKES * sizeof(Wake));

        r = twin_start(o, &pid, &fd);
        if (r >= 0) {
                r = run_with_twin(o, fd, &sleeper);
                (void) close(fd);
                (void) waitpid(pid, NULL, 0);
        }

        free(sleeper.wakes);
        return r;
}

static int run_with_policy(const Options *o) {
        const struct memsec_params params = {
                .teardown = { .batch = o->batch, .max_hold_ns = o->max_hold_us * NSEC_PER_USEC },
        };
        _policy_cleanup_ Policy *policy = NULL;
        int r;

        r = policy_alone();
        if (r < 0)
                return log_errno(-r, "another policy is attached");

        if (o->policy) {
                r = policy_load(o->policy, &policy);
                if (r >= 0 && o->batch)
                        r = policy_set_params(policy, 0, &params);
                if (r >= 0)
                        r = policy_attach(policy);
                if (r < 0)
                        return log_errno(-r, o->policy);
        }

        return run(o);
}

static int usage(void) {
        fprintf(stderr,
                "twin [-p PAGES] [-s SPAN] [-t THREADS] [-n TOUCHES] [-w WORK] [-r RESIDENT]\n"
                "     [-o PHASE_US] [-k] [-R EREMOVE_NS] [-W EWB_NS] [-L ELDU_NS]\n"
                "     [-P POLICY [-b BATCH -m MAX_HOLD_US]]\n");
        return -EINVAL;
}

static uint64_t *number_option(Options *o, int c) {
        switch (c) {
        case 'p':
                return &o->pages;
        case 's':
                return &o->span;
        case 't':
                return &o->threads;
        case 'n':
                return &o->touches;
        case 'w':
                return &o->work;
        case 'r':
                return &o->resident;
        case 'o':
                return &o->phase_us;
        case 'R':
                return &o->eremove_ns;
        case 'W':
                return &o->ewb_ns;
        case 'L':
                return &o->eldu_ns;
        case 'b':
                return &o->batch;
        case 'm':
                return &o->max_hold_us;
        default:
                return NULL;
        }
}

static int parse_options(int argc, char **argv, Options *o) {
        int c;

        while ((c = getopt(argc, argv, "p:s:t:n:w:r:o:kR:W:L:P:b:m:")) != -1) {
                uint64_t *number = number_option(o, c);
                char *end;

                if (c == 'P')
                        o->policy = optarg;
                if (c == 'k')
                        o->keep = true;
                if (c == 'P' || c == 'k')
                        continue;
                if (!number)
                        return usage();

                *number = strtoull(optarg, &end, 10);
                if (*end || end == optarg)
                        return usage();
        }

        if (o->span == 0)
                o->span = o->pages;
        if (optind != argc || o->pages == 0 || o->span > o->pages || o->resident > o->pages ||
            o->threads > MAX_THREADS || !o->batch != !o->max_hold_us)
                return usage();

        return 0;
}

int main(int argc, char **argv) {
        Options options = {
                .pages = 15360,
                .threads = 1,
                .touches = 20000,
        };

        if (parse_options(argc, argv, &options) < 0)
                return 2;

        return run_with_policy(&options) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
