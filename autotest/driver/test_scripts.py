"""The scripts that install what the tests need, where some of it cannot be installed."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

AUTOTEST = Path(__file__).resolve().parents[1]
NO_REGISTRY = "http://127.0.0.1:9"


def run(*command, **environment):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=300, env=os.environ | environment)


def without_zarrita(folder):
    """A copy of autotest/zarrita, in which zarrita is not installed."""
    shutil.copytree(AUTOTEST / "zarrita", folder / "zarrita",
                    ignore=shutil.ignore_patterns("node_modules*"))
    return folder / "zarrita"


def test_an_unreachable_registry_is_reported_in_one_line(tmp_path):
    zarrita = without_zarrita(tmp_path)
    before = sorted(zarrita.iterdir())
    result = run(AUTOTEST / "npm_install", zarrita, npm_config_registry=NO_REGISTRY,
                 npm_config_cache=str(tmp_path / "cache"))
    assert result.returncode == 1
    (line,) = result.stdout.splitlines()
    assert line.startswith("zarrita is not installed, whatever needs it is skipped: ")
    # Nothing is left that a later run could mistake for an installation.
    assert sorted(zarrita.iterdir()) == before


def test_tests_with_zarrita_are_skipped_by_name(tmp_path):
    without_zarrita(tmp_path)
    shutil.copytree(AUTOTEST / "driver", tmp_path / "driver")
    for name in ("conftest.py", "night.py", "pytest.ini", "toolchain.py"):
        shutil.copy(AUTOTEST / name, tmp_path)
    result = run(
        sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", "-k", "padded_strings",
        tmp_path / "driver/test_write_readers.py", ZARR_PLUGIN_DIR=os.environ["GDAL_DRIVER_PATH"])
    assert result.returncode == 0, result.stdout + result.stderr
    assert "test_padded_strings[zarrita] SKIPPED" in result.stdout
    assert "test_padded_strings[zarr-python] PASSED" in result.stdout


def test_a_log_shows_some_steps_of_a_build_and_all_messages():
    script = """
      source "$0"
      { for i in {1..50}; do echo "[$i/50] Building $i.o"; done
        echo "FAILED: 50.o"; echo "error: no such thing"; exit 3; } | build_status
      echo "exit ${PIPESTATUS[0]}"
    """
    result = run("bash", "-c", script, AUTOTEST.parent / "script/progress")
    lines = result.stdout.splitlines()
    assert lines == ["[1/50] Building 1.o", "FAILED: 50.o", "error: no such thing",
                     "[50/50] Building 50.o", "exit 3"]
