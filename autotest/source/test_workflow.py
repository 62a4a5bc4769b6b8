"""The steps of the workflow name scripts, their options, targets and tests that exist."""
import re

import pytest
from tree import ROOT, files, text

yaml = pytest.importorskip("yaml")
JOBS = yaml.safe_load(text(".github/workflows/test.yml"))["jobs"]
COMMANDS = [line for job in JOBS.values() for step in job["steps"]
            for line in step.get("run", "").splitlines()]


def named(pattern):
    found = {match for line in COMMANDS for match in re.findall(pattern, line)}
    assert found
    return found


def test_scripts_and_folders_exist():
    for path in named(r"(?:^|[ /])((?:script|\.ci|autotest|data)/[\w./-]+)"):
        # Programs of a build are below build/release.
        built = any(f"build/release/{path}" in line for line in COMMANDS)
        assert built or (ROOT / path).exists(), path


def test_scripts_know_their_options():
    calls = named(r"^((?:script|\.ci)/.*)")
    for name, *words in map(str.split, calls):
        usage = "".join(line for line in text(name).splitlines() if line.startswith("#"))
        for word in words:
            assert not word.startswith("--") or word in usage, (name, word)


def test_systems_and_releases_exist():
    for job, script in (("systems", "script/matrix"), ("bare", "script/matrix"),
                        ("packages", "script/package")):
        (values,) = JOBS[job]["strategy"]["matrix"].values()
        usage = re.search(rf"usage: {script} (\S+)", text(script))[1].split("|")
        assert set(values) <= set(usage)


def test_targets_and_tests_exist():
    lists = "".join(text(path) for path in files("autotest", "driver", suffixes=["CMakeLists.txt"]))
    tests = "".join(text(path) for path in files("autotest/cpp", suffixes=["_test.cpp"]))
    for targets in named(r"--target ([\w ]+)"):
        for target in targets.split():
            assert re.search(rf"add_(?:executable|library)\({target}\b", lists), target
    for program in named(r"build/release/autotest/cpp/(\w+)"):
        assert f"add_executable({program}" in lists
    for suite, name in named(r"-(\w+)\.(\w+)$"):
        assert f"TEST({suite}, {name})" in tests
