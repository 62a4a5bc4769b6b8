"""What a build costs: of each object, the seconds that it took to compile, and its machine code.

usage: build_cost.py [FOLDER]    FOLDER is a build tree of Ninja, by default build/release. Times
                                 are those of the last build of each object, whatever ran beside it.
"""
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = re.compile(r'^#include "(.*)"', re.MULTILINE)


class Object(NamedTuple):
    path: str
    seconds: float
    code: int  # bytes
    lines: int  # of its source files, without headers


def _seconds(build):
    """By output, from the log of Ninja: start and end in milliseconds, time stamp, output, hash."""
    found = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        start, end, _, output, _ = line.split("\t")
        found[output] = (int(end) - int(start)) / 1000
    return found


def _sources(build, output):
    """The files of an object: those that a unit includes, or the one that gave it its name."""
    target, _, name = output.partition("/CMakeFiles/")
    _, _, name = name.partition(".dir/")
    name = name.removesuffix(".o")
    if "Unity/" in name:
        unit = build / target / "CMakeFiles" / output.split("/CMakeFiles/")[1].removesuffix(".o")
        return [Path(path) for path in INCLUDE.findall(unit.read_text())]
    return [path for path in (ROOT / target / name, ROOT / name) if path.exists()]


def objects(build):
    """Of all objects that exist, the most expensive first."""
    paths = {output: seconds for output, seconds in _seconds(build).items()
             if output.endswith((".cpp.o", ".cxx.o"))}
    paths = {output: seconds for output, seconds in paths.items() if (build / output).exists()}
    sizes = subprocess.check_output(["size", *paths], cwd=build, text=True).splitlines()[1:]
    found = []
    for (output, seconds), size in zip(paths.items(), sizes, strict=True):
        lines = sum(len(path.read_text().splitlines()) for path in _sources(build, output))
        found.append(Object(output, seconds, int(size.split()[0]), lines))
    return sorted(found, key=lambda one: -one.seconds)


def main(build):
    rows = objects(build)
    print(f"{'seconds':>8}{'lines':>8}{'KB of code':>12}  object")
    for row in rows:
        print(f"{row.seconds:8.1f}{row.lines:8}{row.code // 1024:12}  {row.path}")
    print(f"{sum(row.seconds for row in rows):8.1f}{sum(row.lines for row in rows):8}"
          f"{sum(row.code for row in rows) // 1024:12}  all")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/release")
