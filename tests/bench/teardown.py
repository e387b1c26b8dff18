#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""bench-teardown: from what the VMs printed to DIR/teardown.{json,svg} and a table.

Usage: teardown.py DIR

DIR holds teardown-PART.log for the parts of tests/bench/teardown. The lines in them that begin with "bench"
are "bench<TAB>GROUP<TAB>MODE<TAB>KEY=VALUE KEY=VALUE ...".
"""

import os
import sys

import report
from report import BenchError, Panel, Report

MODEL = ("modelled costs: no SGX hardware, the instructions are software. N/M us: EREMOVE takes N us, EWB "
         "and ELDU take M us. One CPU: a ns is an instruction")

# Modes of tests/bench/teardown that others are compared with or that a target is about.
BASELINE = "no reschedule"
DEFAULT = "fixed, as shipped"

EVERY_PAGE = "every page"
LINUX = "4096, nothing attached"

# Percent of A's time by which two modes have to differ for one to be called better.
CLEAR = 5.0

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


def add_twin(rep, prefix, results):
    """The rows of one kind of run. Where A is idle there is nothing to slow down."""
    for (group, mode), runs in results.items():
        case = f"{prefix}, {group}: {mode}"
        baseline = median([run["a_ns"] for run in results[group, BASELINE]])
        if baseline:
            rep.add(case, "slowdown", "%", [(run["a_ns"] / baseline - 1) * 100 for run in runs])
        for key, metric, unit, divisor in MEASURES:
            if key != "a_ns" or baseline:
                values = [run[key] if divisor == 1 else run[key] / divisor for run in runs]
                rep.add(case, metric, unit, values)


def median(values):
    return report.statistics.median(values)


def add_repeatability(rep, first, again):
    """How far A's time is from that in another boot."""
    for (group, mode), runs in again.items():
        if (group, mode) not in first:
            raise BenchError(f"'{group}: {mode}' was measured again, but not before")
        before = median([run["a_ns"] for run in first[group, mode]])
        after = median([run["a_ns"] for run in runs])
        rep.add(f"one CPU, booted again, {group}: {mode}", "A, to the first boot", "%",
                [(after / before - 1) * 100])


def add_hooks(rep, hooks, unpatched):
    """Instructions that the release of an enclave takes: under icount a ns is one."""
    for (group, mode), runs in list(unpatched.items()) + list(hooks.items()):
        base = median([run["release_ns"] for run in unpatched[group, "unpatched"]])
        values = [run["release_ns"] for run in runs]
        case = f"hook cost, {group}: {mode}"
        rep.add(case, "instructions", "", values)
        rep.add(case, "more a page", "", [(run["release_ns"] - base) / run["pages"] for run in runs])
        rep.add(case, "more than unpatched", "%", [(value / base - 1) * 100 for value in values])


def add_targets(rep):
    for group, modes in rep.groups().items():
        if DEFAULT not in modes or "booted again" in group:
            continue
        case = f"{group}: {DEFAULT}"
        if group.startswith("hook cost"):
            add_target(rep, case, "more than unpatched", "%", HOOK_GOAL)
            continue
        if rep.has(case, "slowdown"):
            add_target(rep, case, "slowdown", "%", SLOWDOWN_GOAL)
        add_target(rep, case, "longest wait", "ms", WAIT_GOAL_MS)


def add_target(rep, case, metric, unit, goal):
    value = rep.value(case, metric)
    rep.target(metric, case, f"<= {goal:g} {unit}", value, value <= goal)


def print_orders(rep):
    """In which cases the order is the published one, and in which it is the other way round."""
    print("\nThe order of 'every page' and '4096', by A's time")
    for group, modes in rep.groups().items():
        page, linux = f"{group}: {EVERY_PAGE}", f"{group}: {LINUX}"
        if not (rep.has(page, "slowdown") and rep.has(linux, "slowdown")):
            continue
        difference = rep.value(page, "slowdown") - rep.value(linux, "slowdown")
        if difference > CLEAR:
            verdict = "as published"
        elif difference < -CLEAR:
            verdict = "reversed"
        else:
            verdict = "neither"
        print(f"  {verdict:<13} {group}")


def picture_groups(rep):
    """Group -> label: what is between the commas goes on lines of its own."""
    return {group: group.replace(", ", "\\n")
            for group in rep.groups() if rep.has(f"{group}: {BASELINE}", "longest wait")}


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    outdir = argv[1]
    logs = {part: report.read_log(os.path.join(outdir, f"teardown-{part}.log"))
            for part in ("one-cpu", "again", "many-cpus", "hooks", "unpatched")}

    rep = Report("teardown", MODEL)
    add_twin(rep, "one CPU", logs["one-cpu"])
    add_twin(rep, "2 CPUs", logs["many-cpus"])
    add_repeatability(rep, logs["one-cpu"], logs["again"])
    add_hooks(rep, logs["hooks"], logs["unpatched"])
    add_targets(rep)

    rep.write_json(os.path.join(outdir, "teardown.json"))
    report.draw(rep, os.path.join(outdir, "teardown.svg"),
                "A works while its twin B is released (modelled costs)",
                [Panel("slowdown", "A's slowdown [%]", limit=SLOWDOWN_GOAL),
                 Panel("longest wait", "longest wait of another task [ms]", True, WAIT_GOAL_MS)],
                picture_groups(rep))
    rep.print_table()
    print_orders(rep)


if __name__ == "__main__":
    try:
        main(sys.argv)
    except BenchError as e:
        sys.exit(f"bench-teardown: {e}")
