#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""bench-teardown: from what the VMs printed to build/bench/teardown.{json,svg} and a table.

Usage: teardown.py OUTDIR ICOUNT ICOUNT_AGAIN SMP HOOKS HOOKS_UNPATCHED

ICOUNT and ICOUNT_AGAIN are two runs of the same one-CPU measurement, SMP is the one on several CPUs, and the
last two are the hook cost on the kernel with and without the hooks. Each is the console of a VM, in which
the lines that begin with "bench" are ours: "bench<TAB>GROUP<TAB>MODE<TAB>KEY=VALUE KEY=VALUE ...".
"""

import os
import sys

import report
from report import BenchError, Panel, Report

MODEL = "modelled costs: no SGX hardware; the instructions are software and take the ns that the case says"

# Modes of tests/bench/teardown that others are compared with or that a target is about.
BASELINE = "no reschedule"
DEFAULT = "fixed, as shipped"

SLOWDOWN_GOAL = 1.0
WAIT_GOAL_MS = 4.0
HOOK_GOAL = 1.0

# Key in the VM's output, metric, unit, divisor.
MEASURES = [
    ("a_ns", "A", "ms", 1e6),
    ("release_ns", "release", "ms", 1e6),
    ("wait_ns", "longest wait", "ms", 1e6),
    ("longest_hold_ns", "longest hold", "ms", 1e6),
    ("ewb", "EWB", "", 1),
    ("eldu", "ELDU", "", 1),
    ("asked", "questions", "", 1),
    ("breaks", "breaks", "", 1),
    ("forced", "forced breaks", "", 1),
    ("rescheds", "reschedules", "", 1),
]


def read_log(path):
    """{(group, mode): [{key: number}]} in the order printed."""
    results = {}
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            fields = line.rstrip().split("\t")
            if fields[0] != "bench":
                continue
            try:
                _, group, mode, values = fields
                pairs = (pair.split("=") for pair in values.split())
                numbers = {key: int(value) for key, value in pairs}
            except ValueError as e:
                raise BenchError(f"{path}: expected GROUP, MODE and KEY=NUMBER, found {line!r}") from e
            results.setdefault((group, mode), []).append(numbers)

    if not results:
        raise BenchError(f"{path}: no results; the VM did not get that far")
    return results


def add_twin(rep, prefix, results):
    """The rows of one kind of run."""
    for (group, mode), runs in results.items():
        case = f"{prefix}, {group}: {mode}"
        baseline = median([run["a_ns"] for run in results[group, BASELINE]])
        rep.add(case, "slowdown", "%", [(run["a_ns"] / baseline - 1) * 100 for run in runs])
        for key, metric, unit, divisor in MEASURES:
            rep.add(case, metric, unit, [run[key] / divisor if divisor != 1 else run[key] for run in runs])


def median(values):
    return report.statistics.median(values)


def add_repeatability(rep, first, second):
    """How far two runs of the one-CPU measurement are apart, and both runs' values as one set."""
    if first.keys() != second.keys():
        raise BenchError("the two one-CPU runs did not measure the same cases")

    apart = [abs(a["a_ns"] - b["a_ns"]) / a["a_ns"] * 100
             for key in first for a, b in zip(first[key], second[key])]
    rep.add("two one-CPU runs: A's time", "largest difference", "%", [max(apart)])
    rep.add("two one-CPU runs: A's time", "same to the ns", "cases", [sum(a == 0 for a in apart)])
    rep.add("two one-CPU runs: A's time", "all", "cases", [len(apart)])
    return {key: first[key] + second[key] for key in first}


def add_hooks(rep, hooks, unpatched):
    """Instructions that the release of an enclave takes: under icount a ns is one."""
    for (group, mode), runs in list(unpatched.items()) + list(hooks.items()):
        base = median([run["release_ns"] for run in unpatched[group, "unpatched"]])
        values = [run["release_ns"] for run in runs]
        case = f"hook cost, {group}: {mode}"
        rep.add(case, "instructions", "", values)
        rep.add(case, "more than unpatched", "%", [(value / base - 1) * 100 for value in values])


def add_targets(rep):
    for group, modes in rep.groups().items():
        if DEFAULT not in modes:
            continue
        case = f"{group}: {DEFAULT}"
        if group.startswith("hook cost"):
            value = rep.value(case, "more than unpatched")
            rep.target("hook cost", case, "<= 1 %", value, value <= HOOK_GOAL)
            continue

        value = rep.value(case, "slowdown")
        rep.target("slowdown", case, "<= 1 %", value, value <= SLOWDOWN_GOAL)
        value = rep.value(case, "longest wait")
        rep.target("longest wait", case, "<= 4 ms", value, value <= WAIT_GOAL_MS)


def picture_groups(rep):
    """Group -> label: what is between the commas goes on lines of its own."""
    return {group: group.replace(", ", "\\n")
            for group, modes in rep.groups().items() if BASELINE in modes}


def main(argv):
    if len(argv) != 7:
        sys.exit(__doc__)
    outdir = argv[1]
    icount, again, smp, hooks, unpatched = map(read_log, argv[2:])

    rep = Report("teardown", MODEL)
    add_twin(rep, "one CPU", add_repeatability(rep, icount, again))
    add_twin(rep, "several CPUs", smp)
    add_hooks(rep, hooks, unpatched)
    add_targets(rep)

    rep.write_json(os.path.join(outdir, "teardown.json"))
    report.draw(rep, os.path.join(outdir, "teardown.svg"),
                "A works while its twin B is released (modelled costs)",
                [Panel("slowdown", "A's slowdown [%]", limit=SLOWDOWN_GOAL),
                 Panel("longest wait", "longest wait of another task [ms]", logarithmic=True, limit=WAIT_GOAL_MS)],
                picture_groups(rep))
    rep.print_table()


if __name__ == "__main__":
    try:
        main(sys.argv)
    except BenchError as e:
        sys.exit(f"bench-teardown: {e}")
