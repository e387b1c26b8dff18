#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""bench-directmap: from what the VMs printed to DIR/directmap.{json,svg} and a table.

Usage: directmap.py DIR

DIR holds directmap-PART.log for the parts of tests/bench/directmap. The lines in them that begin with "bench"
are "bench<TAB>GROUP<TAB>MODE<TAB>KEY=VALUE KEY=VALUE ...".
"""

import os
import statistics
import sys

import report
from report import BenchError, Panel, Report

MODEL = ("one CPU: a ns is an instruction, a TLB flush is one too. More: the time that the emulator takes, whose "
         "CPUs are slow to answer an interrupt, the more so the busier the machine is")
NO_RMP = "no model of the RMP in this kernel: a guest's memory is not taken out of the direct map"

# Modes of tests/bench/directmap that others are compared with or that a target is about.
BASELINE = "4 KiB from boot"
UNPATCHED = "unpatched"
POLICY = "fixed, ahead 64 MiB"

CPUS = (1, 2, 4)
PARTS = ("policies", "4k", "unpatched")

MIB, GIB = 1 << 20, 1 << 30

RATE_GOAL = 0.95
BEYOND_GOAL_MIB = 1024
BACK_GOAL = 99.0


def read_logs(outdir):
    """{group: {mode: [run]}} of all parts."""
    groups = {}
    for cpus in CPUS:
        for part in PARTS:
            log = report.read_log(os.path.join(outdir, f"directmap-{part}-{cpus}.log"))
            for (group, mode), runs in log.items():
                groups.setdefault(group, {})[mode] = runs
    return groups


def splits_by_map(run):
    """How many entries were split, where nothing is put together meanwhile."""
    return ((run["during_4k"] - run["before_4k"]) // (2 * MIB)
            + (run["before_1g"] - run["during_1g"]) // GIB)


def share(run, when):
    """Percent of all memory that is mapped by entries of 4 KiB."""
    return run[f"{when}_4k"] / run["memory"] * 100


def back(run):
    """Percent of what was split that is in large entries again."""
    return (run["during_4k"] - run["after_4k"]) / (run["during_4k"] - run["before_4k"]) * 100


def a_gib(run, number):
    return number * GIB / run["bytes"]


def rate(run):
    return run["bytes"] / MIB / (run["ns"] / 1e9)


def add_rates(rep, case, runs, modes):
    rates = [rate(run) for run in runs]
    rep.add(case, "rate", "MiB/s", rates)
    rep.add(case, "spread", "%", [(max(rates) - min(rates)) / statistics.median(rates) * 100])
    for metric, mode in (("to 4 KiB", BASELINE), ("to unpatched", UNPATCHED)):
        if mode in modes:
            base = statistics.median(rate(run) for run in modes[mode])
            rep.add(case, metric, "", [rate(run) / base for run in runs])


def add_events(rep, case, mode, runs):
    """What a GiB takes."""
    if mode == UNPATCHED:
        rep.add(case, "splits", "1/GiB", [a_gib(run, splits_by_map(run)) for run in runs])
    else:
        rep.add(case, "splits", "1/GiB", [a_gib(run, run["splits"]) for run in runs])
        rep.add(case, "locked", "1/GiB", [a_gib(run, run["holds"]) for run in runs])
        rep.add(case, "TLB flushes", "1/GiB", [a_gib(run, run["flushes"]) for run in runs])
    if runs[0]["cpus"] > 1:
        # One may stand for several flushes that came at once.
        rep.add(case, "interrupts a CPU", "1/GiB", [a_gib(run, run["calls"] / (run["cpus"] - 1)) for run in runs])


def add_shares(rep, case, mode, runs, owned):
    if owned:
        beyond = [(run["during_4k"] - run["before_4k"] - owned) / MIB for run in runs]
        rep.add(case, "4 KiB beyond", "MiB", beyond)
    # Where nothing is put back the memory of a run is kept for the next ones, and afterwards is after the last.
    over = [run for run in runs if "after_4k" in run]
    for when in ("before", "during"):
        rep.add(case, f"4 KiB {when}", "%", [share(run, when) for run in runs])
    rep.add(case, "4 KiB after", "%", [share(run, "after") for run in over])
    if mode != BASELINE and all(run["during_4k"] > run["before_4k"] for run in over):
        rep.add(case, "put back", "%", [back(run) for run in over])


def owned_bytes(modes):
    """What a run takes out of large entries. A kernel that does not ask memsec does not count it."""
    return max(run["owned"] for runs in modes.values() for run in runs)


def add_group(rep, group, modes):
    owned = owned_bytes(modes)
    for mode, runs in modes.items():
        case = f"{group}: {mode}"
        add_rates(rep, case, runs, modes)
        add_events(rep, case, mode, runs)
        add_shares(rep, case, mode, runs, owned)


def add_targets(rep, group, cpus):
    case = f"{group}: {POLICY}"
    # Secret memory interrupts every other CPU for each page: how soon they answer is chance.
    if cpus == 1 or group.startswith("guest"):
        value = rep.value(case, "to 4 KiB")
        rep.target("rate, to 4 KiB from boot", case, f">= {RATE_GOAL}", value, value >= RATE_GOAL)
    value = max(rep.find(case, "4 KiB beyond")["raw"])
    rep.target("4 KiB beyond what is owned", case, f"<= {BEYOND_GOAL_MIB} MiB", value, value <= BEYOND_GOAL_MIB)
    if rep.has(case, "put back"):
        value = min(rep.find(case, "put back")["raw"])
        rep.target("put back", case, f">= {BACK_GOAL:g} %", value, value >= BACK_GOAL)


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    outdir = argv[1]
    groups = read_logs(outdir)
    rmp = any(owned_bytes(modes) for group, modes in groups.items() if group.startswith("guest"))

    rep = Report("directmap", MODEL if rmp else f"{MODEL}; {NO_RMP}")
    for group, modes in groups.items():
        add_group(rep, group, modes)
        if owned_bytes(modes):
            add_targets(rep, group, modes[POLICY][0]["cpus"])

    rep.write_json(os.path.join(outdir, "directmap.json"))
    labels = {group: group.replace(", ", "\\n").replace(" ", "\\n", 1) for group in groups}
    counted = {group: labels[group] for group, modes in groups.items() if modes[BASELINE][0]["cpus"] == 1}
    report.draw(rep, os.path.join(outdir, "directmap.svg"),
                "Private memory faulted in, and the kernel's direct map",
                [Panel("to 4 KiB", "rate, to that of 4 KiB from boot", limit=RATE_GOAL, groups=counted),
                 Panel("splits", "entries split a GiB"),
                 Panel("4 KiB during", "in entries of 4 KiB meanwhile [%]", True),
                 Panel("4 KiB after", "in entries of 4 KiB afterwards [%]", True)],
                labels)
    rep.print_table()
    if not rmp:
        print(f"\nNo targets for guests: {NO_RMP}")


if __name__ == "__main__":
    try:
        main(sys.argv)
    except BenchError as e:
        sys.exit(f"bench-directmap: {e}")
