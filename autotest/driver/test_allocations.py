"""When memory runs out, a call fails with an error, and the program continues."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from failing_allocations import DATA
from night import each_value
from stores import BYTES, GZIP, write_array, write_group

FOLDER = Path(__file__).parent


@pytest.fixture(scope="module")
def shim(build_shim):
    return build_shim("failing_allocations")


@each_value()
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("scenario", ["read_raster", "read_arrays", "write_raster", "write_arrays"])
def test_every_nth(tmp_path, shim, scenario, threads):
    store = write_group(tmp_path / "a.zarr", {"title": "values"})
    write_array(store / "a", DATA, (1, 16, 16), [BYTES, GZIP], names=["t", "y", "x"],
                attributes={"_CRS": {"url": "http://www.opengis.net/def/crs/EPSG/0/32633"}})
    for name, length in zip("tyx", DATA.shape):
        write_array(store / name, range(length), names=[name])
    result = subprocess.run(
        [sys.executable, FOLDER / "failing_allocations.py", scenario, tmp_path],
        env=os.environ | {"LD_PRELOAD": str(shim), "GDAL_NUM_THREADS": str(threads)},
        capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout[-100:] + result.stderr[-2000:]
    assert json.loads(result.stdout.splitlines()[-1])["failures"] >= 20
