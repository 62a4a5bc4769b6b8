"""Runs the C++ tests of a build tree, on all processors, and writes a JUnit file.

Tests share processes: the tests of a program are dealt out to a few. Of a process that crashes or
hangs, each test is run again by itself, so that the crash is reported of its test; if none fails
then, it is reported of the process. The exit code is 1 if any test failed.

usage: run.py BUILD REPORT [PROGRAM…]    BUILD such as build/release; with programs, these alone and
                                         without what the fuzzers have found
"""
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

TIMEOUT = 600  # seconds of a process
PROCESSORS = os.cpu_count() or 1
# Measures its own process, in which nothing else may have run.
ALONE = {"zarrcore_memory_tests"}
# Under a thread sanitizer, as CONTRIBUTING.md says.
BY_NAME = {"transfers_tests"}
OPTIONS = ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")  # a repeated test has them as well


def run(program, report, *options, **environment):
    """Returns the exit code, None if the program did not end, and what it printed."""
    command = [program, "--gtest_brief=1", f"--gtest_output=xml:{report}", *options]
    try:
        done = subprocess.run(command, cwd=program.parent, env=os.environ | environment,
                              check=False, timeout=TIMEOUT, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired as timeout:
        return None, (timeout.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def names(program):
    """The tests of a program, as --gtest_filter takes them."""
    listed = subprocess.check_output([program, "--gtest_list_tests"], text=True)
    suite = ""
    for line in listed.splitlines():
        word = line.split("#")[0].rstrip()
        if not line.startswith(" "):
            suite = word
        elif not (suite + word.strip()).count("DISABLED_"):
            yield suite + word.strip()


def repeat(program, name):
    options = [f"{key}={os.environ[key]}" for key in OPTIONS if key in os.environ]
    return shlex.join([*options, os.path.relpath(program), f"--gtest_filter={name}"])


def cases_of(report, program):
    cases = [case for case in ElementTree.parse(report).iter("testcase")
             if case.get("status") == "run"]
    for case in cases:
        case.set("repeat", repeat(program, f"{case.get('classname')}.{case.get('name')}"))
    return cases


def run_alone(program, name, folder):
    report = folder / f"{program.name}-{abs(hash(name))}.xml"
    code, output = run(program, report, f"--gtest_filter={name}")
    if report.exists():
        return cases_of(report, program), output if code else ""
    classname, _, test = name.partition(".")
    case = ElementTree.Element("testcase", classname=classname, name=test, status="run",
                               repeat=repeat(program, name))
    end = "did not end" if code is None else f"ended with code {code}"
    ElementTree.SubElement(case, "failure", message=end).text = output
    return [case], f"{output}\n{name} {end}\n"


def run_shard(program, index, count, folder):
    shard = {"GTEST_TOTAL_SHARDS": str(count), "GTEST_SHARD_INDEX": str(index)}
    report = folder / f"{program.name}-{index}.xml"
    code, output = run(program, report, **shard)
    if report.exists():
        return cases_of(report, program), output if code else ""
    found, outputs = [], []
    for name in list(names(program))[index::count]:  # as GoogleTest deals them out
        cases, lone_output = run_alone(program, name, folder)
        found += cases
        outputs.append(lone_output)
    if not any(outputs):
        # What ended the process needs several tests, or does not happen each time.
        end = "did not end" if code is None else f"ended with code {code}"
        variables = " ".join(f"{key}={value}" for key, value in shard.items())
        case = ElementTree.Element("testcase", classname=program.name, name=f"part {index}",
                                   status="run", repeat=f"{variables} {os.path.relpath(program)}")
        ElementTree.SubElement(case, "failure", message=end).text = output
        found.append(case)
        outputs.append(f"{output}\n{program.name}, part {index} of {count}, {end}\n")
    return found, "".join(outputs)


def run_fuzz_targets(build, folder):
    """What fuzzers have found; ctest knows how to run it."""
    report = folder / "fuzz.xml"
    done = subprocess.run(["ctest", "--test-dir", build, "-R", "^fuzz[.]", f"-j{PROCESSORS}",
                           "--timeout", str(TIMEOUT), "--no-tests=error", "--output-on-failure",
                           "--output-junit", report], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    cases = list(ElementTree.parse(report).iter("testcase"))
    for case in cases:
        name = case.get("name").replace(".", "[.]")
        case.set("repeat", f"ctest --test-dir {os.path.relpath(build)} --output-on-failure "
                           f"-R '^(fuzz[.]inputs|{name})$'")
    return cases, done.stdout if done.returncode else ""


def main(build, report, *only):
    programs = [path for folder in ("autotest/cpp", "autotest/driver/cpp")
                for path in sorted((build / folder).glob("*_tests")) if os.access(path, os.X_OK)
                and (path.name in only if only else path.name not in BY_NAME)]
    if not programs or (only and len(programs) != len(only)):
        sys.exit(f"no test program {' '.join(only)} in {build}")
    suite = ElementTree.Element("testsuite", name="cpp")
    failed = False
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(PROCESSORS + 1) as pool:
        folder = Path(temporary)
        jobs = [] if only else [pool.submit(run_fuzz_targets, build, folder)]
        for program in programs:
            if program.name in ALONE:
                jobs += [pool.submit(run_alone, program, name, folder) for name in names(program)]
            else:
                count = 4 * PROCESSORS
                jobs += [pool.submit(run_shard, program, index, count, folder)
                         for index in range(count)]
        for job in jobs:
            cases, output = job.result()
            suite.extend(cases)
            failed = failed or bool(output)
            print(output, end="", flush=True)
    ElementTree.ElementTree(suite).write(report)
    count = len(suite)
    failures = sum(case.find("failure") is not None for case in suite)
    print(f"{count} C++ tests, {failures} failed")
    return failed or failures > 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), *sys.argv[3:]))
