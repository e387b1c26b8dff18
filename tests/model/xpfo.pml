/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * xpfo: pages that leave the direct map, pools of them, and the windows by which the kernel reaches them; on four CPUs.
 *
 * What is modelled: for each page its entry in the direct map, and whether it holds a secret; for each CPU what its TLB
 * knows of the direct map, its pool, and its windows with what its TLB knows of them. CPUs allocate and free for
 * protected and other owners, refill their pools, trim those of others as workers and CPU hotplug do, migrate pages,
 * take interrupts and switch tasks while a window is open. At any time each may read any page by the direct map, as a
 * bug would, or let its TLB load an entry, as speculation does.
 *
 * What is not: large pages, memory that is short, and that the TLB of one CPU may load a window of another (which the
 * design accepts). What happens under a lock of the kernel's is one step here.
 *
 * The properties are assertions. Each mutant, a macro, leaves out a step of the protocol, and has to violate one.
 */

#define CPUS 4
#define PAGES 2
#define WATCHED 0
#define WINDOWS 2

#define HAS(set, page) (((set) >> (page)) & 1)
#define PUT(set, page) set = set | (1 << (page))
#define DEL(set, page) set = set & ~(1 << (page))

/* Sets of pages: who has them. */
byte allocator = (1 << PAGES) - 1;
byte pool[CPUS];
byte protected, others;

/* Sets of pages: what they are. */
byte present = (1 << PAGES) - 1;
byte secret;

/* Sets of pages: whose entries in the direct map the TLB of a CPU has. */
byte tlb[CPUS];

/* Nobody else has a page that somebody gets. */
inline alone(page) {
        assert(HAS(pool[0], page) + HAS(pool[1], page) + HAS(pool[2], page) + HAS(pool[3], page) +
               HAS(allocator, page) + HAS(protected, page) + HAS(others, page) == 0)
}

/* What a page holds that can be read by the direct map is no secret, and no protected owner's. */
inline read_by_direct_map(cpu, page) {
        if
        :: HAS(present, page) -> PUT(tlb[cpu], page)
        :: else -> skip
        fi;
        assert(!HAS(tlb[cpu], page) || (!HAS(secret, page) && !HAS(protected, page)))
}

/* All CPUs are waited for. */
inline flush(cpu) {
        assert(!irqs_off);
        other = 0;
        do
        :: page == WATCHED && other < CPUS -> d_step { DEL(tlb[other], page); other++ }
        :: else -> break
        od;
        other = 0
}

/* PAGE is nobody's: take it out of the direct map. */
inline unmap(cpu) {
        DEL(present, page);
#ifndef NO_FLUSH
        flush(cpu)
#endif
}

/* Windows are their CPU's alone: what follows happens between two steps of others. */
inline open(n, p) {
        assert(window[n] == 0);
        window[n] = (p) + 1
}

/* The TLB has the last word. */
inline use(n, p) {
        if
        :: window_tlb[n] == 0 -> window_tlb[n] = window[n]
        :: else -> skip
        fi;
        assert(window_tlb[n] == (p) + 1)
}

inline close(n) {
        window[n] = 0;
#ifndef NO_INVALIDATION
        window_tlb[n] = 0
#endif
}

/* While a window is open an interrupt may open another one, and another task use the same. */
inline disturb(p) {
        if
        :: skip
        :: irqs_off = true; open(1, PAGES - 1 - p); use(1, PAGES - 1 - p); close(1); irqs_off = false
        :: close(0); open(0, PAGES - 1 - p); use(0, PAGES - 1 - p); close(0);
#ifndef NO_RESTORE
           open(0, p)
#endif
        fi
}

/* A protected owner gives PAGE back, maybe in an interrupt: it is cleared and waits in the pool of this CPU. */
inline give_to_pool(cpu) {
        atomic { open(0, page); disturb(page); use(0, page) };
#ifndef NO_CLEAR
        DEL(secret, page);
#endif
        atomic { close(0) };
        d_step { alone(page); PUT(pool[cpu], page) }
}

/* A page that SET has, if any; under the lock of SET. */
inline take_from(set) {
        d_step {
                if
                :: HAS(set, 0) -> page = 0; DEL(set, 0)
                :: HAS(set, 1) -> page = 1; DEL(set, 1)
                :: else -> page = PAGES
                fi
        }
}

inline refill(cpu) {
        take_from(allocator);
        if
        :: page < PAGES ->
#ifdef EARLY
                PUT(pool[cpu], page);
                unmap(cpu)
#else
                unmap(cpu);
                d_step { alone(page); PUT(pool[cpu], page) }
#endif
        :: else -> skip
        fi
}

/* Its owner writes to it by its own mapping. */
inline allocate_protected(cpu) {
        take_from(pool[cpu]);
        if
        :: page < PAGES -> d_step { alone(page); PUT(protected, page); PUT(secret, page) }
        :: else -> skip
        fi
}

inline free_protected(cpu) {
        take_from(protected);
        if
        :: page < PAGES -> give_to_pool(cpu)
        :: else -> skip
        fi
}

inline allocate_other() {
        take_from(allocator);
        if
        :: page < PAGES -> d_step { alone(page); assert(HAS(present, page) && !HAS(secret, page)); PUT(others, page) }
        :: else -> skip
        fi
}

inline free_other() {
        take_from(others);
        if
        :: page < PAGES -> d_step { alone(page); PUT(allocator, page) }
        :: else -> skip
        fi
}

/* A worker, or what comes after a CPU that is gone: some pool gives a page back. */
inline trim(victim) {
#ifdef NO_LOCK
        d_step {
                if
                :: HAS(pool[victim], 0) -> page = 0
                :: HAS(pool[victim], 1) -> page = 1
                :: else -> page = PAGES
                fi
        };
        if
        :: page < PAGES -> DEL(pool[victim], page)
        :: else -> skip
        fi;
#else
        take_from(pool[victim]);
#endif
        if
        :: page < PAGES ->
#ifndef NO_MAP
                PUT(present, page);
#endif
                d_step { alone(page); PUT(allocator, page) }
        :: else -> skip
        fi
}

/* Page 0 takes the place of the other, which is a protected owner's. */
inline migrate(cpu) {
        d_step {
                if
                :: HAS(protected, 1) && HAS(allocator, 0) -> DEL(protected, 1); DEL(allocator, 0); page = 0
                :: else -> page = PAGES
                fi
        };
        if
        :: page < PAGES ->
#ifndef NO_FOLLOW
                unmap(cpu);
#endif
                atomic { open(0, 1); use(0, 1); open(1, 0); use(1, 0) };
                d_step { alone(0); PUT(secret, 0); PUT(protected, 0) };
                atomic { close(1); close(0) };
                page = 1;
                give_to_pool(cpu)
        :: else -> skip
        fi
}

/*
 * To keep the number of states down one page is watched, for they are alike, and not all CPUs do all that there is to
 * do: each step still races with each other.
 */
proctype Cpu(byte cpu) {
        byte page = PAGES, other;
        /* The entries of windows, and what the TLB has of them: nothing, or a page and 1. */
        byte window[WINDOWS], window_tlb[WINDOWS];
        bool irqs_off;

        do
        :: d_step { read_by_direct_map(cpu, WATCHED) }
        :: cpu < 2 -> refill(cpu); page = PAGES
        :: cpu < 3 -> allocate_protected(cpu); page = PAGES
        :: cpu == 1 || cpu == 2 -> free_protected(cpu); page = PAGES
        :: cpu == 3 -> trim(0); page = PAGES
        :: cpu == 3 -> trim(1); page = PAGES
        :: cpu == 3 -> trim(2); page = PAGES
        :: cpu == 1 -> migrate(cpu); page = PAGES
        :: cpu == 3 -> allocate_other(); page = PAGES
        :: cpu == 3 -> free_other(); page = PAGES
        od
}

init {
        atomic { run Cpu(0); run Cpu(1); run Cpu(2); run Cpu(3) }
}
