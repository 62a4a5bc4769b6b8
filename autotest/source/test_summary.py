"""The last lines of script/test name each failed test with the command that repeats it."""
import subprocess
import sys

import pytest
from tree import ROOT

SUMMARY = ROOT / "autotest/summary.py"


@pytest.fixture
def results(tmp_path):
    def add(suite, cases="", code=0):
        if cases is not None:
            (tmp_path / f"{suite}.xml").write_text(f"<testsuite>{cases}</testsuite>")
        (tmp_path / f"{suite}.code").write_text(f"{code}\n")
        (tmp_path / f"{suite}.seconds").write_text("7\n")

    add.folder = tmp_path
    return add


def summary(results, *suites, code):
    done = subprocess.run([sys.executable, SUMMARY, results.folder, *suites], check=False,
                          capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stdout


PASSED = '<testcase classname="autotest.driver.test_zip" name="test_fine"/>'


def test_all_passed(results):
    results("source", PASSED)
    results("driver", PASSED + '<testcase name="b"><skipped message="why"/></testcase>')
    got = summary(results, "source", "driver", code=0).splitlines()
    assert got[1].split() == ["suite", "passed", "failed", "skipped", "xfailed", "seconds"]
    assert got[3].split() == ["driver", "1", "0", "1", "0", "7"]
    assert got[-1] == "2 passed, 0 failed"
    assert "Failed" not in "".join(got)


PYTEST = "/usr/bin/python3 -m pytest -q -p no:cacheprovider"


@pytest.mark.parametrize("suite, case, command", [
    ("driver", 'classname="autotest.driver.test_zip" name="test_a[1-x y]"',
     f"{PYTEST} 'autotest/driver/test_zip.py::test_a[1-x y]'"),
    # As pytest writes it if it runs in autotest.
    ("driver", 'classname="driver.test_zip.TestThis" name="test_b"',
     f"{PYTEST} autotest/driver/test_zip.py::TestThis::test_b"),
    ("dropin-builtin", 'classname="autotest.dropin.test_pam" name="test_c"',
     f"ZARR_PLUGIN_DIR=disable {PYTEST} autotest/dropin/test_pam.py::test_c"),
    ("core", 'classname="Zstd" name="A/b" repeat="build/x --gtest_filter=Zstd.A/b"',
     "build/x --gtest_filter=Zstd.A/b"),
    ("lint", 'name="shell"', "script/lint --changed HEAD~1"),
])
def test_a_failed_test(results, suite, case, command):
    results(suite, f"{PASSED}<testcase {case}><failure/></testcase>", code=1)
    got = summary(results, suite, code=1).splitlines()
    assert got[-1] == "1 passed, 1 failed"
    assert command in [line.strip() for line in got]


@pytest.mark.parametrize("cases", [None, PASSED])
def test_a_suite_that_fails_without_a_failed_test(results, cases):
    results("builtin", cases, code=3)
    got = summary(results, "builtin", code=1)
    assert "builtin: exit code 3" in got
    assert "/usr/bin/python3 -m pytest -q -p no:cacheprovider autotest/builtin\n" in got
    assert got.splitlines()[-1] == f"{int(cases is not None)} passed, 1 failed"


def test_every_suite_can_be_repeated():
    names = [line.split()[1] for line in (ROOT / "script/test").read_text().splitlines()
             if line.strip().startswith("suite ") and "$" not in line]
    assert len(names) > 10
    sys.path.insert(0, str(SUMMARY.parent))
    from summary import repeat_suite
    for name in names:
        words = repeat_suite(name).split()
        folders = [word for word in words if word.startswith("autotest/") and ".py" not in word]
        assert all((ROOT / folder).is_dir() for folder in folders), name
