"""Runs GDAL's built-in driver and ours, each in processes of its own."""
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPT = Path(__file__).with_name("builtin.py")


def run(driver_path, action, folder):
    environment = os.environ | {"GDAL_DRIVER_PATH": driver_path}
    done = subprocess.run([sys.executable, SCRIPT, action, folder], env=environment, check=True,
                          stdout=subprocess.PIPE)
    return json.loads(done.stdout)


@pytest.fixture(scope="session")
def matrix(tmp_path_factory):
    """What each driver writes, as both read it: matrix["builtin"] is written by the built-in
    driver. Each has failures and truth (see builtin.py), and what builtin and ours read."""
    drivers = {"builtin": "disable", "ours": os.environ["GDAL_DRIVER_PATH"]}
    written = {}
    for writer, path in drivers.items():
        folder = tmp_path_factory.mktemp(writer)
        report = run(path, "write", folder)
        seen = {reader: run(path, "describe", folder) for reader, path in drivers.items()}
        written[writer] = SimpleNamespace(**report, **seen)
    return written
