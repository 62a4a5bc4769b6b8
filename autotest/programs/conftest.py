"""A folder with the stores that doc/programs.md names, and the true values."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from osgeo import gdal

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "doc/programs.md").read_text()


def lines_of(title):
    """The first block of a section of the page."""
    return re.search(rf"^## {re.escape(title)}\n.*?^```text\n(.*?)^```", PAGE, re.M | re.S)[1]


def need(program):
    """Its path; skips the test if it is not installed."""
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    return path


class Folder:
    """Where the lines of the page run."""

    def __init__(self, path):
        self.path = path

    def run(self, *command, text=None, **variables):
        """Returns what it prints; fails with that if its exit code is not 0."""
        done = subprocess.run(
            list(map(str, command)), cwd=self.path, input=text, text=True, timeout=300,
            capture_output=True,
            env=os.environ | {"GDAL_PAM_ENABLED": "NO", **variables}, check=False)
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    def shell(self, lines, **variables):
        return self.run("bash", "-euo", "pipefail", "-c", lines, **variables)


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(ROOT / "data", tmp_path / "data")
    return Folder(tmp_path)


@pytest.fixture(scope="session")
def heights():
    dataset = gdal.Open(str(ROOT / "data/geoid_v3_sharded.zarr"))
    return dataset.ReadAsArray()


@pytest.fixture
def south_up(folder, heights):
    """The same heights, from south to north."""
    rows, columns = heights.shape
    dataset = gdal.GetDriverByName("Zarr").Create(
        str(folder.path / "south_up.zarr"), columns, rows, 1, gdal.GDT_Float32)
    dataset.SetGeoTransform((-180.25, 0.5, 0, -90.25, 0, 0.5))
    dataset.SetProjection("EPSG:4326")
    dataset.WriteArray(heights[::-1].copy())
    del dataset  # closes it
    return folder.path / "south_up.zarr"
