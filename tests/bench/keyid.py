#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""bench-keyid: from what two kernels printed to DIR/keyid.{json,svg} and a table.

Usage: keyid.py DIR

DIR holds keyid-native.log, of user-mode Linux, and keyid-vm.log, of a VM that counts instructions. The lines in
them that begin with "bench" are "bench<TAB>GROUP<TAB>MODE<TAB>KEY=VALUE KEY=VALUE ...", from
kernel/memsec/tests/keyid_bench.c, which says what is measured.
"""

import os
import statistics
import sys

import report
from report import BenchError, Panel, Report

MODEL = ("KeyIDs are modelled: no encryption, but flushes by CLFLUSH. native: user-mode Linux on this CPU, in ns. "
         "counted: one CPU in a VM, where a ns is an instruction and a CLFLUSH one too")

PARTS = {"native": "native", "vm": "counted"}

# Modes of keyid_bench.c that others are compared with or that a target is about.
NONE = "no encryption"
ALWAYS = "flush always"
KEEP = "cache 4 MiB"

MIXED = "mixed owners"

TIME_GOAL = 1.05
FLUSH_GOAL = 0.10


def read_logs(outdir):
    """{group: {mode: [run]}} of both parts."""
    groups = {}
    for part, name in PARTS.items():
        log = report.read_log(os.path.join(outdir, f"keyid-{part}.log"))
        for (group, mode), runs in log.items():
            groups.setdefault(f"{group}, {name}", {})[mode] = runs
    return groups


def times(runs):
    return [run["ns"] / run["requests"] for run in runs]


def flushes(runs):
    return [run["flushes"] / run["pages"] for run in runs]


def add_group(rep, group, modes):
    none = statistics.median(times(modes[NONE]))
    always = statistics.median(flushes(modes[ALWAYS]))
    for mode, runs in modes.items():
        case = f"{group}: {mode}"
        rep.add(case, "time a request", "ns", times(runs))
        rep.add(case, "to no encryption", "", [ns / none for ns in times(runs)])
        rep.add(case, "flushes a page", "", flushes(runs))
        rep.add(case, "to flush always", "", [n / always for n in flushes(runs)])


def add_targets(rep, group):
    case = f"{group}: {KEEP}"
    if group.startswith(MIXED):
        value = rep.value(case, "to flush always")
        rep.target("flushes, to flush always", case, f"<= {FLUSH_GOAL}", value, value <= FLUSH_GOAL)
    else:
        value = rep.value(case, "to no encryption")
        rep.target("time, to no encryption", case, f"<= {TIME_GOAL}", value, value <= TIME_GOAL)


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    outdir = argv[1]
    groups = read_logs(outdir)
    rep = Report("keyid", MODEL)
    for group, modes in groups.items():
        add_group(rep, group, modes)
        add_targets(rep, group)

    rep.write_json(os.path.join(outdir, "keyid.json"))
    labels = {group: group.replace(", ", "\\n") for group in groups}
    report.draw(rep, os.path.join(outdir, "keyid.svg"), "Memory under a KeyID, allocated and freed",
                [Panel("to no encryption", "time, to no encryption", True, limit=TIME_GOAL),
                 Panel("flushes a page", "flushes a page"),
                 Panel("to flush always", "flushes, to flush always", limit=FLUSH_GOAL)],
                labels)
    rep.print_table()


if __name__ == "__main__":
    try:
        main(sys.argv)
    except (BenchError, OSError) as e:
        sys.exit(f"keyid.py: {e}")
