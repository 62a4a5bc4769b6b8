"""Processes that write to the same chunks, with the open option LOCKS."""
import subprocess
import sys

import numpy as np
import pytest
from osgeo import gdal

PROCESSES = 4
ROUNDS = 12
LAYOUTS = {
    "chunks": ["BLOCKSIZE=16,16", "COMPRESS=GZIP"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=32,32", "SHARD_CHUNK_SHAPE=8,8"],
}

# Each process has every PROCESSES-th column, so that all share all chunks.
INCREMENT = f"""
import sys
from osgeo import gdal
gdal.UseExceptions()
path, mine, locks = sys.argv[1], int(sys.argv[2]), sys.argv[3]
for _ in range({ROUNDS}):
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE,
                          open_options=["LOCKS=" + locks])
    array = dataset.GetRootGroup().OpenMDArray("a")
    columns = array.GetView(f"[:,{{mine}}::{PROCESSES}]")
    values = columns.ReadAsArray() + 1
    array.Write(values.tobytes(), array_start_idx=[0, mine], count=list(values.shape),
                array_step=[1, {PROCESSES}])
    del columns, array
    dataset = None
"""


def increment(path, locks):
    workers = [subprocess.Popen([sys.executable, "-c", INCREMENT, path, str(i), locks])
               for i in range(PROCESSES)]
    assert [worker.wait() for worker in workers] == [0] * PROCESSES
    return gdal.Open(path).ReadAsArray()


def make(path, layout):
    gdal.GetDriverByName("Zarr").Create(str(path), 32, 32, 1, gdal.GDT_Int32, LAYOUTS[layout])
    return str(path)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("locks", ["YES", "folder"])
def test_processes_lose_nothing(tmp_path, layout, locks):
    path = make(tmp_path / "a.zarr", layout)
    folder = str(tmp_path / "locks") if locks == "folder" else locks
    np.testing.assert_array_equal(increment(path, folder), np.full((32, 32), ROUNDS))
    assert (tmp_path / ("locks" if locks == "folder" else "a.zarr.sync")).is_dir()


def test_no_store_that_is_no_folder_has_locks_beside_it():
    gdal.GetDriverByName("Zarr").Create("/vsimem/a.zarr", 8, 8, 1, gdal.GDT_Byte)
    with pytest.raises(RuntimeError, match="LOCKS=YES needs a store in a local folder"):
        gdal.OpenEx("/vsimem/a.zarr", gdal.OF_RASTER | gdal.OF_UPDATE,
                    open_options=["LOCKS=YES"])
    gdal.GetDriverByName("Zarr").Delete("/vsimem/a.zarr")
