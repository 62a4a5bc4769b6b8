"""Compares our driver with GDAL's own one on stores of many layouts (layout_stores.py), each read
and written in every way of layout_probe.py.

The numbers are ratios, theirs / ours: above 1 we are faster. Ours runs on 2 threads, GDAL's own on
1 and on 2, of which the better counts, in turn, each time in a new process; the best run of each
counts. Before that, each reads or writes once for the values. If GDAL's own driver has other values
than ours on each number of threads, the cell says DIFFERS; on one number, that one does not count.
A dash means that GDAL's own driver of this version cannot.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from drivers import BUILTIN, Drivers, Failed, gdal_version, is_hopeless, printed
from layout_probe import READING, WRITING, WRITTEN
from layout_stores import BANDS, CUBE, IMAGE, LAYOUTS, SOURCES
from old_data import remove_old_data
from program_table import geometric_mean

HERE = Path(__file__).parent
OURS = "ours"
PATIENCE = 60  # seconds that GDAL's own driver may take; it takes minutes for some


class Bench:
    def __init__(self, options):
        self.data = options.data.resolve() / f"scale-{options.scale:g}"
        self.scale = options.scale
        self.repeat = options.repeat
        plugins = {OURS: options.build.resolve() / "driver"}
        self.environment = Drivers(plugins, self.data / "no-plugin").environment
        self.version, self.release = gdal_version()

    def make_data(self, layouts):
        remove_old_data(self.data, [layout.name for layout in LAYOUTS] + [*SOURCES.values()],
                        ("layout_stores.py", "program_stores.py", "array_stores.py"))
        subprocess.run([sys.executable, str(HERE / "layout_stores.py"), str(self.data),
                        str(self.scale), *(layout.name for layout in layouts)], check=True,
                       env=self.environment(OURS))

    def probe(self, mode, case, layout, program):
        folder = self.data / WRITTEN
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        # Else the system writes what the last program wrote while this one runs.
        os.sync()
        return json.loads(printed(
            [sys.executable, HERE / "layout_probe.py", mode, case, layout.name, self.data,
             self.scale], self.environment(program), None if program == OURS else PATIENCE))

    def measure(self, layout, case):
        """The best seconds of each program, and what is wrong."""
        programs = [OURS] + (BUILTIN if self.version >= layout.since else [])
        best, failed, checksums = {}, {}, {}
        differs = False
        for turn in range(self.repeat + 1):
            for program in programs:
                if program in failed or is_hopeless(program, best):
                    continue
                try:
                    if turn > 0:
                        seconds = self.probe("time", case, layout, program)
                        best[program] = min(best.get(program, seconds), seconds)
                    else:
                        checksums[program] = self.probe("check", case, layout, program)
                except Failed as failure:
                    failed[program] = str(failure)
            if turn == 0:
                others, differs = compare(checksums)
                failed |= dict.fromkeys(others, "other values")
        shutil.rmtree(self.data / WRITTEN, ignore_errors=True)
        return {"seconds": best, "failed": failed, "differs": differs}


def compare(checksums):
    """The programs that have other values than ours, if one has the same; else whether there are
    others."""
    ours = checksums.get(OURS)
    others = [program for program, theirs in checksums.items() if theirs != ours]
    if ours is None or len(others) == len(checksums) - 1:
        return [], ours is not None and bool(others)
    return others, False


def ratio(cell):
    theirs = [seconds for program, seconds in cell["seconds"].items() if program != OURS]
    return min(theirs) / cell["seconds"][OURS] if theirs and OURS in cell["seconds"] else None


def print_table(bench, title, layouts, cases, wanted, cells):
    """Row by row, as they are measured. Adds to `cells`."""
    def is_wanted(layout, case):
        return re.search(wanted, f"{layout.name} {case}")

    cases = [case for case in cases if any(is_wanted(layout, case) for layout in layouts)]
    layouts = [layout for layout in layouts if any(is_wanted(layout, case) for case in cases)]
    if not cases:
        return
    width = max(len(case) for case in cases) + 2
    print(f"\n{title:16}" + "".join(f"{case:>{width}}" for case in cases))
    for layout in layouts:
        print(f"{layout.name:16}", end="", flush=True)
        for case in cases:
            name, text = f"{layout.name} {case}", ""
            if is_wanted(layout, case):
                cells[name] = bench.measure(layout, case)
                value = ratio(cells[name])
                text = ("FAILED" if OURS in cells[name]["failed"] else
                        "DIFFERS" if cells[name]["differs"] else
                        "-" if value is None else f"{value:.2f}")
            print(f"{text:>{width}}", end="", flush=True)
        print()


def print_summary(cells):
    ratios = {name: ratio(cell) for name, cell in cells.items() if ratio(cell)}
    if not ratios:
        return
    slower = sorted((value, name) for name, value in ratios.items() if value < 1)
    print(f"\n{len(ratios)} ratios, geometric mean {geometric_mean([*ratios.values()]):.2f}, "
          f"{len(slower)} of them below 1" + (":" if slower else ""))
    for value, name in slower:
        seconds = ", ".join(f"{program} {seconds:.4f}"
                            for program, seconds in cells[name]["seconds"].items())
        print(f"  {value:.2f}  {name}: {seconds}")


def parse_options():
    parser = argparse.ArgumentParser(prog="script/bench --layouts",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--data", type=Path, default=Path("build/bench/layouts"),
                        help="where the stores are and stay (2 GB)")
    parser.add_argument("--only", default="", metavar="REGEX",
                        help="measures where it matches \"LAYOUT CASE\"")
    parser.add_argument("--scale", type=float, default=0.75,
                        help="of the lengths of all rasters and arrays")
    parser.add_argument("--repeat", type=int, default=3, help="processes for each number")
    parser.add_argument("--list", action="store_true", help="lists the layouts and cases")
    parser.add_argument("--json", type=Path, help="the results (default: results.json in --data)")
    return parser.parse_args()


def main():
    options = parse_options()
    tables = [("reading images", (IMAGE, BANDS), READING[IMAGE]),
              ("writing images", (IMAGE, BANDS), WRITING[IMAGE]),
              ("reading cubes", (CUBE,), READING[CUBE]), ("writing cubes", (CUBE,), WRITING[CUBE])]
    names = [f"{layout.name} {case}" for layout in LAYOUTS for _, kinds, cases in tables
             if layout.kind in kinds for case in cases]
    names = [name for name in names if re.search(options.only, name)]
    if options.list or not names:
        print("\n".join(names) or "no such layout or case; --list lists them")
        return 0 if names else 2
    wanted = [layout for layout in LAYOUTS
              if any(name.startswith(layout.name + " ") for name in names)]
    bench = Bench(options)
    bench.make_data(wanted)
    cells = {}
    print(f"GDAL {bench.release}, scale {options.scale:g}: times faster than GDAL's own driver")
    for title, kinds, cases in tables:
        print_table(bench, title, [layout for layout in wanted if layout.kind in kinds], cases,
                    options.only, cells)
    print_summary(cells)
    target = options.json or bench.data / f"results-{bench.release}.json"
    target.write_text(json.dumps(cells, indent=1))
    failed = {name: cell for name, cell in cells.items() if cell["failed"]}
    for name, cell in failed.items():
        for program, message in cell["failed"].items():
            print(f"{name}: {program}: {message}", file=sys.stderr)
    return any(cell["differs"] or OURS in cell["failed"] for cell in cells.values())


if __name__ == "__main__":
    sys.exit(main())
