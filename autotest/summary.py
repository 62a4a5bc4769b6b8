"""The last lines of script/test: a table of its suites, and of each failed test the command that
repeats it. The exit code is 1 if any failed.

usage: summary.py FOLDER SUITE…    with the JUnit file FOLDER/SUITE.xml of each suite, its exit code
                                   in FOLDER/SUITE.code and its seconds in FOLDER/SUITE.seconds
"""
import shlex
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = ("passed", "failed", "skipped", "xfailed")
PYTEST = "/usr/bin/python3 -m pytest -q -p no:cacheprovider"
# Of a failed test, and of a suite that failed without one.
REPEAT = {
    "core": ("", "/usr/bin/python3 autotest/cpp/run.py build/release build/core.xml"),
    "core-sanitized": ("", "/usr/bin/python3 autotest/cpp/run.py build/asan build/asan.xml"),
    "engine-threads": ("", "cmake --build --preset tsan"),
    "docs": (f"script/docs --no-setup && {PYTEST} {{}}", "script/docs --no-setup"),
    "lint": ("script/lint --changed HEAD~1", "script/lint --changed HEAD~1"),
    "each-file": ("", "cmake --build build/each-file"),
    "fuzz": ("", "script/fuzz 60"),
}
# The folder of a suite, where it has another name.
FOLDERS = {"dropin-builtin": "dropin"}


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    if skipped is not None:
        return "xfailed" if skipped.get("type") == "pytest.xfail" else "skipped"
    return "skipped" if case.get("status") in ("disabled", "notrun") else "passed"


def pytest_name(case):
    """The test as pytest takes it. The class name of a case is its file, dotted, and its class."""
    parts = case.get("classname", "").split(".")
    for count in range(len(parts), 0, -1):
        for folder in ("", "autotest"):
            path = Path(folder, *parts[:count]).with_suffix(".py")
            if (ROOT / path).exists():
                return "::".join([str(path), *parts[count:], case.get("name")])
    return case.get("name")


def repeat(suite, case):
    if case.get("repeat"):
        return case.get("repeat")
    if suite in REPEAT:
        name = case.get("name")
        if suite == "docs":
            name = shlex.quote(pytest_name(case))
        return REPEAT[suite][0].format(name)
    disabled = "ZARR_PLUGIN_DIR=disable " if suite == "dropin-builtin" else ""
    return f"{disabled}{PYTEST} {shlex.quote(pytest_name(case))}"


def repeat_suite(suite):
    if suite in REPEAT:
        return REPEAT[suite][1]
    return f"{PYTEST} autotest/{FOLDERS.get(suite, suite)}"


class Suite:
    def __init__(self, folder, name):
        self.name = name
        report = folder / f"{name}.xml"
        try:
            self.cases = list(ElementTree.parse(report).iter("testcase"))
        except (OSError, ElementTree.ParseError):
            self.cases = []
        self.code = int((folder / f"{name}.code").read_text())
        self.seconds = int((folder / f"{name}.seconds").read_text())
        self.counts = Counter(map(outcome, self.cases))
        # A suite that did not build, or crashed before it reported, counts as one failure.
        self.fails_as_a_whole = self.code != 0 and not self.counts["failed"]
        self.counts["failed"] += self.fails_as_a_whole

    def failures(self):
        for case in self.cases:
            if outcome(case) == "failed":
                name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
                yield f"{self.name}: {name}", repeat(self.name, case)
        if self.fails_as_a_whole:
            yield f"{self.name}: exit code {self.code}", repeat_suite(self.name)


def lacks_zarrita(case):
    skipped = case.find("skipped")
    return skipped is not None and "zarrita is not installed" in (skipped.get("message") or "")


def main(folder, names):
    suites = [Suite(Path(folder), name) for name in names]
    print(f"\n{'suite':16}" + "".join(f"{column:>9}" for column in COLUMNS) + f"{'seconds':>9}")
    for suite in suites:
        print(f"{suite.name:16}" + "".join(f"{suite.counts[column]:9}" for column in COLUMNS)
              + f"{suite.seconds:9}")
    lacking = sum(lacks_zarrita(case) for suite in suites for case in suite.cases)
    if lacking:
        print(f"\n{lacking} tests that read with zarrita were skipped: --all installs it "
              "from npm.")
    failures = [failure for suite in suites for failure in suite.failures()]
    if failures:
        print("\nFailed, each with the command that repeats it:")
        for name, command in failures:
            print(f"  {name}\n    {command}")
    total = sum((suite.counts for suite in suites), Counter())
    print(f"\n{total['passed']} passed, {total['failed']} failed")
    return total["failed"] > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
