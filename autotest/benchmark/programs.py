"""Compares whole programs with our driver, with GDAL's own, and with a floor (program_rows.py).

The programs of a row take turns, and the best run of each counts: ours on 2 threads, GDAL's own on
1 and on 2, of which the better counts, and the parts of the floor. All must have the same result.
`ratio` is theirs / ours (above 1 we are faster), `floor` is ours / floor. Seconds of processors are
in brackets. MB is the peak of memory; of Python programs, what they took beyond the interpreter.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import program_stores
from drivers import BUILTIN, THREADS, Drivers, Failed, gdal_version, is_hopeless, printed
from old_data import remove_old_data
from program_rows import ROWS
from program_table import HEADER, draw_chart, line, print_summary

HERE = Path(__file__).parent
PARTS_OF_FLOOR = ("alone", "decoding", "encoding")
SHORT = 0.2  # seconds; such rows run more often, because they vary more


def names_of_data(rows):
    names = {name for row in rows for name in (row.source, row.floor_source, row.encodes)}
    return sorted(names - {""})


class Bench:
    def __init__(self, options):
        self.options = options
        self.data = options.data.resolve() / f"scale-{options.scale:g}"
        self.plugins = {"ours": options.build.resolve() / "driver"}
        if options.other:
            self.plugins["other"] = options.other.resolve()
        self.environment = Drivers(self.plugins, self.data / "no-plugin").environment
        benchmark = options.build.resolve() / "autotest/benchmark"
        self.floor = benchmark / "zarr_floor"
        self.empty_plugin = benchmark / "empty-plugin"
        self.version, self.release = gdal_version()
        self.stores = program_stores.described(options.scale)

    def make_data(self, rows):
        remove_old_data(self.data, names_of_data(ROWS),
                        ("program_stores.py", "array_stores.py", "node_stores.py"))
        missing = [name for name in names_of_data(rows) if not (self.data / name).exists()]
        if missing:
            subprocess.run([sys.executable, str(HERE / "program_stores.py"), str(self.data),
                            str(self.options.scale), *missing], check=True,
                           env=self.environment("ours"))

    def programs(self, row):
        found = [*self.plugins]
        if self.version >= row.since:
            found += BUILTIN
        if row.floor_source or (row.only_opens and self.version >= row.since):
            found.append("alone")
        if row.decodes:
            found.append("decoding")
        if row.encodes:
            found.append("encoding")
        return found

    def target(self, row, source):
        """A name that does not exist yet, or a copy of the source for programs that change it."""
        folder = self.data / "written"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if row.target != "copy":
            return folder / f"result.{row.target}"
        copy = folder / source.name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, copy)
        return copy

    def measure(self, row, program):
        if program in ("decoding", "encoding"):
            result = self.measure_codec(row, program)
        else:
            is_alone = program == "alone"
            source = self.data / (row.floor_source if is_alone and row.floor_source else row.source)
            target = self.target(row, source)
            environment = self.environment(program) | row.environment_of(self.stores)
            if is_alone and row.only_opens:
                environment["GDAL_DRIVER_PATH"] = str(self.empty_plugin)
            # Else the system writes what the last program wrote while this one runs.
            os.sync()
            if row.command:
                where = target if row.target == "copy" else source
                command = row.arguments(where, target, is_alone, self.stores)
                result = self.measure_command(command, environment)
            else:
                result = self.measure_probe([row.name, source, target, self.options.scale],
                                            environment)
            if row.target and row.compares and not is_alone:
                result["target"] = str(target)
        return result

    def measure_command(self, command, environment):
        errors = self.data / "errors.txt"
        with open(errors, "w+") as file, open(self.data / "output.txt", "w+") as output:
            began = time.perf_counter()
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=file)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            file.seek(0)
            messages = file.read().strip()
            if process.returncode != 0 or "ERROR" in messages:
                first = (messages or f"exit code {process.returncode}").splitlines()[0]
                raise Failed(f"{' '.join(command)}: {first}")
            output.seek(0)
            statistics = sorted(re.findall(r"STATISTICS_(?:MAX|MEAN|MIN|STD)\w*=.*", output.read()))
        return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime,
                "peak_mb": round(usage.ru_maxrss / 1024), "checksum": statistics}

    def measure_probe(self, arguments, environment):
        return json.loads(printed(
            [sys.executable, HERE / "program_probe.py", *arguments], environment))

    def measure_codec(self, row, program):
        name = row.source if program == "decoding" else row.encodes
        command = [self.floor, *self.stores[name].floor_arguments(self.data, THREADS)]
        if program == "encoding":
            command[1:1] = ["--encode", self.target(row, self.data).parent]
        seconds, cpu = map(float, printed(command).split())
        part = row.decodes if program == "decoding" else 1
        return {"seconds": part * seconds, "cpu": part * cpu}

    def checksum(self, result, program):
        """Of what a program wrote, read by the same driver."""
        # GDAL's own driver reads a whole array at once only if half of this holds its chunks.
        environment = self.environment(program) | {"GDAL_CACHEMAX": "4096"}
        return json.loads(printed(
            [sys.executable, HERE / "program_probe.py", "checksum", result["target"], "",
             self.options.scale], environment))

    def run(self, row):
        best = {}
        failed = {}
        checksums = {}
        repeat = self.options.repeat
        for turn in range(5 * repeat if repeat > 1 else 1):
            if turn >= repeat and best.get("ours", {"seconds": SHORT})["seconds"] >= SHORT:
                break
            for program in self.programs(row):
                seconds = {name: run["seconds"] for name, run in best.items()}
                if program in failed or is_hopeless(program, seconds):
                    continue
                try:
                    result = self.measure(row, program)
                    if row.compares and program not in (*checksums, *PARTS_OF_FLOOR):
                        checksums[program] = (self.checksum(result, program)
                                              if "target" in result else result["checksum"])
                except Failed as failure:
                    failed[program] = str(failure)
                    continue
                if program not in best or result["seconds"] < best[program]["seconds"]:
                    best[program] = result
        shutil.rmtree(self.data / "written", ignore_errors=True)
        for program, message in failed.items():
            print(f"{row.name}: {program} failed: {message}", file=sys.stderr)
        return {"name": row.name, "title": row.title, "kind": row.kind,
                "builtin_can": self.version >= row.since, "runs": best, "failed": failed,
                "checksums": checksums,
                "differs": any(value != checksums.get("ours") for value in checksums.values())}


def parse_options():
    parser = argparse.ArgumentParser(prog="script/bench --programs",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--other", type=Path, metavar="FOLDER",
                        help="also measures the plugin of another build in this folder")
    parser.add_argument("--data", type=Path, default=Path("build/bench/programs"),
                        help="where the stores are and stay (8 GB)")
    parser.add_argument("--rows", default="", metavar="REGEX", help="rows whose names match")
    parser.add_argument("--scale", type=float, default=1,
                        help="of the lengths of all rasters and arrays")
    parser.add_argument("--repeat", type=int, default=3, help="processes for each number")
    parser.add_argument("--list", action="store_true", help="lists the rows")
    parser.add_argument("--make-data", action="store_true", help="only makes the stores")
    parser.add_argument("--json", type=Path, help="the results (default: results.json in --data); "
                        "rows that were not measured now stay")
    parser.add_argument("--chart", type=Path, help="draws a chart of all results into this PNG")
    return parser.parse_args()


def main():
    options = parse_options()
    rows = [row for row in ROWS if re.fullmatch(options.rows or ".*", row.name)]
    if options.list:
        for row in rows:
            print(f"{row.name:20}{row.kind:10}{row.title}")
        return 0
    if not rows:
        print("no such row; --list lists them", file=sys.stderr)
        return 2
    bench = Bench(options)
    bench.make_data(rows)
    if options.make_data:
        return 0
    target = options.json or options.data / f"results-{bench.release}.json"
    results = json.loads(target.read_text()) if target.exists() else {}
    print(f"GDAL {bench.release}, scale {options.scale:g}\n{HEADER}")
    measured = []
    for row in rows:
        measured.append(bench.run(row))
        results[row.name] = measured[-1]
        print(line(measured[-1]), flush=True)
        target.write_text(json.dumps(results, indent=1))
    print_summary(measured)
    if options.chart:
        order = [row.name for row in ROWS]
        draw_chart(options.chart, sorted(results.values(), key=lambda r: order.index(r["name"])),
                   bench.release)
    return any(result["differs"] or result["failed"] for result in measured)


sys.exit(main())
