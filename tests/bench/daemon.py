#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""bench-daemon: from what was measured to DIR/daemon.{json,svg} and a table.

Usage: daemon.py DIR

DIR holds daemon-vm.log and daemon-host.log, which tests/bench/daemon wrote.
"""

import math
import os
import sys

import report
from report import BenchError, Panel, Report

MODEL = ("VM: under software emulation unless the machine below has KVM, which makes everything slower; "
         "host: memsecd on this machine, without memsec in the kernel")

AT_REST = ("VM, at rest", "host, at rest")
SETTING = ("VM, set a property", "host, set a property")
RELOADING = "VM, to the first decision"
MEMORY = "host, memory"

# What the modes of tests/bench/reload are, by their name there.
CHANGES = {
    "set": "Batch set",
    "bus": "file saved, Reload()",
    "memsecctl": "file saved, memsecctl reload",
    "systemctl": "file saved, systemctl reload",
}

DECIDED_GOAL_MS = 5.0
RSS_GOAL_MIB = 6.0
LEAK_GOAL_KIB = 64

# Key of the logs, metric, unit, divisor.
MEASURES = [
    ("wakeups", "wakeups a minute", "", 1),
    ("rss_kib", "RSS", "MiB", 1024),
    ("anon_kib", "of it anonymous", "MiB", 1024),
    ("fds", "open files", "", 1),
]

# The same for times, of which the distribution matters.
TIMES = [
    ("ns", ""),
    ("decided_ns", ""),
    ("done_ns", " of the answer"),
]


def percentile(values, percent):
    """The least value that at least PERCENT of them do not exceed."""
    return sorted(values)[max(math.ceil(len(values) * percent / 100) - 1, 0)]


def add(rep, group, mode, runs):
    case = f"{group}: {CHANGES.get(mode, mode)}"
    for key, what in TIMES:
        values = [run[key] / 1e6 for run in runs if key in run]
        if values:
            rep.add(case, "p50" + what, "ms", values)
            rep.add(case, "p99" + what, "ms", values, percentile(values, 99))
    for run in runs:
        if "total_ns" in run:
            rep.add(case, "rate, four clients", "1/s", [run["calls"] / run["total_ns"] * 1e9])
    for key, metric, unit, divisor in MEASURES:
        values = [run[key] / divisor for run in runs if key in run]
        if values:
            rep.add(case, metric, unit, values)


def add_target(rep, case, metric, unit, goal):
    value = rep.value(case, metric)
    rep.target(metric, case, f"<= {goal:g} {unit}".rstrip(), value, value <= goal)


def add_targets(rep):
    for how in "bus", "memsecctl", "systemctl":
        add_target(rep, f"{RELOADING}: {CHANGES[how]}", "p99", "ms", DECIDED_GOAL_MS)
    for group in AT_REST:
        add_target(rep, f"{group}: memsecd", "wakeups a minute", "", 0)
        add_target(rep, f"{group}: memsecd", "RSS", "MiB", RSS_GOAL_MIB)

    first, last = (rep.value(f"{MEMORY}: {mode}", "of it anonymous") for mode in rep.groups()[MEMORY])
    grown = (last - first) * 1024
    rep.target("memory grown by [KiB]", f"{MEMORY}: {rep.groups()[MEMORY][-1]}", f"<= {LEAK_GOAL_KIB}", grown,
               grown <= LEAK_GOAL_KIB)


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    outdir = argv[1]

    rep = Report("daemon", MODEL)
    for where in "vm", "host":
        for (group, mode), runs in report.read_log(os.path.join(outdir, f"daemon-{where}.log")).items():
            add(rep, group, mode, runs)
    add_targets(rep)

    rep.write_json(os.path.join(outdir, "daemon.json"))
    labels = {group: group.replace(", ", "\\n") for group in rep.groups()}
    times = {group: labels[group] for group, modes in rep.groups().items() if rep.has(f"{group}: {modes[0]}", "p99")}
    rest = {group: labels[group] for group in AT_REST}
    report.draw(rep, os.path.join(outdir, "daemon.svg"), "memsecd and other daemons of systemd",
                [Panel("p99", "99 of 100 take at most [ms]", True, DECIDED_GOAL_MS, times),
                 Panel("RSS", "resident memory [MiB]", False, RSS_GOAL_MIB, rest),
                 Panel("wakeups a minute", "wakeups a minute at rest", False, None, rest)])
    rep.print_table()


if __name__ == "__main__":
    try:
        main(sys.argv)
    except BenchError as e:
        sys.exit(f"bench-daemon: {e}")
