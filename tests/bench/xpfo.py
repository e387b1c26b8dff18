#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""bench-xpfo: from what VMs printed to DIR/xpfo.{json,svg} and a table.

Usage: xpfo.py DIR

DIR holds xpfo-compile-1.log and xpfo-compile-2.log, of tests/bench/xpfo, and xpfo-kernel.log, of
kernel/memsec/tests/xpfo_bench.c, which say what is measured. The lines in them that begin with "bench" are
"bench<TAB>GROUP<TAB>MODE<TAB>KEY=VALUE KEY=VALUE ...".
"""

import os
import statistics
import sys

import report
from report import BenchError, Panel, Report

MODEL = ("one CPU, and pages: a ns is an instruction, a TLB flush is one too, clearing a page is 4096. Two CPUs: the "
         "time that the emulator takes, whose CPUs are slow to answer an interrupt")

PARTS = ("compile-1", "compile-2", "kernel")

# The group in which instructions are counted.
COUNTED = "compile, CPUs 1"

# What others are compared with, and what targets are about.
UNPROTECTED = "unprotected"
SHIPPED = "batch 128, pool 16 MiB"
KERNEL_BASE = {"a page reached": "no policy", "pages allocated and freed": "in the direct map"}

SYSTEM_GOAL = 1.05
PAGES_GOAL = 64


def read_logs(outdir):
    """{group: {mode: [run]}} of all parts."""
    groups = {}
    for part in PARTS:
        log = report.read_log(os.path.join(outdir, f"xpfo-{part}.log"))
        for (group, mode), runs in log.items():
            groups.setdefault(group, {})[mode] = runs
    return groups


def a_flush(run):
    return run["taken"] / run["flushes"]


def median(runs, number):
    return statistics.median(run[number] for run in runs)


def to_unprotected(group, runs, base):
    """System time. On one CPU what takes longer is the kernel, and told exactly; ticks of a clock do not."""
    system = median(base, "system")
    if group == COUNTED:
        return [1 + (run["ns"] - median(base, "ns")) / 1000 / system for run in runs]
    return [run["system"] / system for run in runs]


def add_compile(rep, group, modes):
    for mode, runs in modes.items():
        case = f"{group}: {mode}"
        rep.add(case, "time", "ms", [run["ns"] / 1e6 for run in runs])
        rep.add(case, "system time", "ms", [run["system"] / 1000 for run in runs])
        rep.add(case, "to unprotected", "", to_unprotected(group, runs, modes[UNPROTECTED]))
        rep.add(case, "user time", "ms", [run["user"] / 1000 for run in runs])
        for name in ("allocated", "windows", "taken", "flushes", "interrupts"):
            rep.add(case, name, "", [run[name] for run in runs])
        if all(run["flushes"] for run in runs):
            rep.add(case, "pages a flush", "", [a_flush(run) for run in runs])


def add_kernel(rep, group, modes):
    base = statistics.median(run["ns"] / run["requests"] for run in modes[KERNEL_BASE[group]])
    for mode, runs in modes.items():
        case = f"{group}: {mode}"
        each = [run["ns"] / run["requests"] for run in runs]
        rep.add(case, "instructions", "", each)
        rep.add(case, "more", "", [n - base for n in each])
        rep.add(case, "flushes a page", "", [run["flushes"] / run["requests"] for run in runs])


def add_targets(rep, group):
    case = f"{group}: {SHIPPED}"
    value = rep.value(case, "to unprotected")
    rep.target("system time, to unprotected", case, f"<= {SYSTEM_GOAL}", value, value <= SYSTEM_GOAL)
    # Without a flush at all there is none to say it of.
    value = rep.value(case, "pages a flush") if rep.has(case, "pages a flush") else float(PAGES_GOAL)
    rep.target("pages a flush of TLBs", case, f">= {PAGES_GOAL}", value, value >= PAGES_GOAL)


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    outdir = argv[1]
    groups = read_logs(outdir)
    rep = Report("xpfo", MODEL)
    builds = {group: group.replace(", ", "\\n") for group in groups if group not in KERNEL_BASE}
    for group, modes in groups.items():
        if group in builds:
            add_compile(rep, group, modes)
            add_targets(rep, group)
        else:
            add_kernel(rep, group, modes)

    rep.write_json(os.path.join(outdir, "xpfo.json"))
    report.draw(rep, os.path.join(outdir, "xpfo.svg"), "Memory of a build outside the direct map",
                [Panel("to unprotected", "system time, to unprotected", limit=SYSTEM_GOAL),
                 Panel("flushes", "flushes of TLBs", True)],
                builds)
    rep.print_table()


if __name__ == "__main__":
    try:
        main(sys.argv)
    except (BenchError, OSError) as e:
        sys.exit(f"xpfo.py: {e}")
