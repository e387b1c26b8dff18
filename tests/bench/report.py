# SPDX-License-Identifier: GPL-2.0-only
"""What every benchmark makes of its measurements: JSON, a table and a picture of the same numbers.

A case is "GROUP: MODE". The table has a block a group and a line a mode; the picture has a cluster a group
and a bar a mode.
"""

import json
import os
import platform
import statistics
import subprocess


class BenchError(Exception):
    """The benchmark could not be made or its output not be understood."""


def split_case(case):
    group, _, mode = case.rpartition(": ")
    return group, mode


def machine():
    """Where it was measured, as far as it matters for reading the numbers."""
    cpu = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                cpu = line.partition(":")[2].strip()
                break
    # What tests/vm/run found to work.
    with open("build/vm/accelerator", encoding="utf-8") as f:
        accelerator = f.read().strip()
    qemu = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=True)
    return {
        "cpu": cpu,
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "qemu": qemu.stdout.splitlines()[0],
        "accelerator": accelerator,
    }


def read_log(path):
    """{(group, mode): [{key: number}]} in the order printed.

    Lines that begin with "bench" are "bench<TAB>GROUP<TAB>MODE<TAB>KEY=NUMBER KEY=NUMBER ...".
    """
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
        raise BenchError(f"{path}: no results, it did not get that far")
    return results


class Report:
    def __init__(self, name, model):
        self.name = name
        self.model = model
        self.rows = []
        self.targets = []

    def add(self, case, metric, unit, raw, value=None):
        """One row: VALUE or else the median of RAW, which is kept."""
        self.rows.append({
            "case": case,
            "metric": metric,
            "unit": unit,
            "value": statistics.median(raw) if value is None else value,
            "raw": list(raw),
        })

    def find(self, case, metric):
        for row in self.rows:
            if row["case"] == case and row["metric"] == metric:
                return row
        return None

    def has(self, case, metric):
        return self.find(case, metric) is not None

    def value(self, case, metric):
        row = self.find(case, metric)
        if row is None:
            raise BenchError(f"{self.name}: no {metric} of '{case}'")
        return row["value"]

    def target(self, metric, case, goal, value, met):
        self.targets.append({"metric": metric, "case": case, "goal": goal, "value": value, "met": bool(met)})

    def groups(self):
        """Groups in the order they were added, each with its modes."""
        groups = {}
        for row in self.rows:
            group, mode = split_case(row["case"])
            modes = groups.setdefault(group, [])
            if mode not in modes:
                modes.append(mode)
        return groups

    def write_json(self, path):
        with open(path, "w", encoding="utf-8") as f:
            json.dump({
                "name": self.name,
                "machine": machine(),
                "model": self.model,
                "rows": self.rows,
                "targets": self.targets,
            }, f, indent=1)
            f.write("\n")

    def print_table(self):
        print(f"{self.name}: {self.model}")
        for group, modes in self.groups().items():
            self._print_group(group, modes)
        print("\nTargets")
        for t in self.targets:
            met = "met   " if t["met"] else "missed"
            print(f"  {met}  {t['metric']} {t['goal']}: {format_number(t['value'])}  ({t['case']})")

    def _print_group(self, group, modes):
        cells = {}
        columns = {}
        for row in self.rows:
            row_group, mode = split_case(row["case"])
            if row_group == group:
                columns.setdefault(row["metric"], row["unit"])
                cells[mode, row["metric"]] = format_number(row["value"])

        heads = [f"{metric} [{unit}]" if unit else metric for metric, unit in columns.items()]
        width = max(len(mode) for mode in modes)
        print(f"\n{group}")
        print("  " + " " * width + "".join(f"  {head}" for head in heads))
        for mode in modes:
            line = "".join(f"  {cells.get((mode, metric), '-'):>{len(head)}}"
                           for metric, head in zip(columns, heads))
            print(f"  {mode:<{width}}{line}")


def format_number(value):
    if isinstance(value, int) or value == int(value):
        return f"{int(value)}"
    text = f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"
    return "0.00" if text == "-0.00" else text


class Panel:
    """One row of the picture: METRIC of every case; LIMIT, if any, is drawn as a line.

    GROUPS are those to show, each with its label; without them it shows those of the whole picture.
    """

    def __init__(self, metric, title, logarithmic=False, limit=None, groups=None):
        self.metric = metric
        self.title = title
        self.logarithmic = logarithmic
        self.limit = limit
        self.groups = groups


def draw(report, path, title, panels, groups=None):
    """The picture, as SVG: panels one above the other, a cluster a group, a bar a mode.

    GROUPS are those to show, each with its label.
    """
    lines = [
        f"set terminal svg size 1500,{360 * len(panels) + 60} font 'sans-serif,12' background 'white'",
        f"set output {quote(path)}",
        f"set multiplot layout {len(panels)},1 title {quote(title)}",
        "set style data histograms",
        "set style histogram clustered gap 1",
        "set style fill solid 0.9 noborder",
        "set grid ytics",
        "set xtics scale 0",
        "set lmargin 10",
        "set bmargin 6",
        "set colorsequence podo",
        "set key outside right top",
        "set datafile missing '-'",
    ]
    for number, panel in enumerate(panels):
        shown = panel.groups or groups
        modes = modes_of(report, shown)
        lines += data_block(report, f"$panel{number}", panel.metric, modes, shown)
        lines += panel_commands(f"$panel{number}", panel, shown, modes)
    lines.append("unset multiplot")

    try:
        subprocess.run(["gnuplot"], input="\n".join(lines), text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as e:
        raise BenchError(f"drawing {path} with gnuplot: {e}") from e


def quote(text):
    """A string of gnuplot's in which nothing has a meaning."""
    return "'" + text.replace("'", "''") + "'"


def modes_of(report, groups):
    modes = []
    for group in groups:
        modes += [mode for mode in report.groups()[group] if mode not in modes]
    return modes


def data_block(report, name, metric, modes, groups):
    values = {row["case"]: row["value"] for row in report.rows if row["metric"] == metric}
    lines = [f"{name} << EOD", " ".join(['group'] + [f'"{mode}"' for mode in modes])]
    for group, label in groups.items():
        cells = [str(values.get(f"{group}: {mode}", "-")) for mode in modes]
        lines.append(" ".join([f'"{label}"'] + cells))
    return lines + ["EOD"]


def panel_commands(block, panel, groups, modes):
    plots = [f"for [i=2:{len(modes) + 1}] {block} using i:xtic(1) title columnheader"]
    if panel.limit is not None:
        plots.append(f"{panel.limit} with lines lc 'black' dashtype 2 title 'target'")
    return [
        f"set ylabel {quote(panel.title)}",
        f"set xrange [-0.6:{len(groups) - 0.4}]",
        f"set rmargin {max(len(mode) for mode in modes) + 10}",
        "set logscale y; set yrange [*:*]" if panel.logarithmic else "unset logscale y; set yrange [*<0:0<*]",
        "plot " + ", ".join(plots),
    ]
