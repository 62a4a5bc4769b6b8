"""By day each value of a long test's parameters runs, by night each combination."""
import os
import shutil
import subprocess
import sys

import pytest
from tree import ROOT

TESTS = """
import pytest
from night import each_value, night, rounds

@each_value()
@pytest.mark.parametrize("a", range(3))
@pytest.mark.parametrize("b", range(2))
def test_all(a, b): pass

@each_value("a")
@pytest.mark.parametrize("a", range(3))
@pytest.mark.parametrize("b", range(2))
def test_one(a, b): pass

@night
def test_long(): pass

def test_short(): pass

def test_rounds(): assert rounds(1, 2) == ROUNDS
"""


@pytest.fixture
def outcomes(tmp_path):
    shutil.copy(ROOT / "autotest/night.py", tmp_path)
    (tmp_path / "conftest.py").write_text(
        "from night import configure as pytest_configure\n"
        "from night import select as pytest_collection_modifyitems\n")

    def run(is_night, name="test_it.py"):
        (tmp_path / "test_it.py").write_text(TESTS.replace("ROUNDS", str(1 + is_night)))
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                               "--strict-markers", name], cwd=tmp_path, check=True, text=True,
                              env=os.environ | {"ZARR_NIGHT": str(+is_night)},
                              stdout=subprocess.PIPE)
        return done.stdout.splitlines()[-1].split(" in ")[0]
    return run


def test_by_day(outcomes):
    assert outcomes(False) == "9 passed, 6 deselected"


def test_by_night(outcomes):
    assert outcomes(True) == "15 passed"


def test_by_its_name_at_any_time(outcomes):
    assert outcomes(False, "test_it.py::test_long") == "1 passed"
