"""Processes that write to the same chunks, with the open option LOCKS."""
import fcntl
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager

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


# --- locks that are not released -----------------------------------------------------------------

HOLD = """
import fcntl, os, sys
file = os.open(sys.argv[1], os.O_RDWR if sys.argv[2] == "lockf" else os.O_RDONLY)
getattr(fcntl, sys.argv[2])(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_by_another_program(path, kind="flock"):
    """The id of its process."""
    with subprocess.Popen([sys.executable, "-c", HOLD, path, kind], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        yield holder.pid
        holder.stdin.close()


def message_of(act):
    started = time.monotonic()
    with pytest.raises(RuntimeError) as error:
        act()
    assert time.monotonic() - started < 20
    return str(error.value)


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setenv("ZARR_LOCK_TIMEOUT", "1")


def test_locked_chunks(tmp_path, short):
    """No chunk of the folder can be changed. After the lock is released, a flush stores them."""
    path = make(tmp_path / "a.zarr", "chunks")
    dataset = gdal.Open(path, gdal.GA_Update)
    dataset.WriteArray(np.full((32, 32), 3, "i4"))
    dataset.FlushCache()
    with held_by_another_program(f"{path}/a") as process:
        dataset.GetRasterBand(1).WriteArray(np.full((30, 30), 5, "i4"), 1, 1)
        message = message_of(dataset.FlushCache)
        assert f"lock {path}/a: process {process} (" in message
        assert (gdal.Open(path).ReadAsArray() == 3).all()
    dataset.FlushCache()
    want = np.full((32, 32), 3)
    want[1:31, 1:31] = 5
    np.testing.assert_array_equal(gdal.Open(path).ReadAsArray(), want)
    assert not [name for name in os.listdir(f"{path}/a") if "partial" in name]


def test_locked_metadata(tmp_path, short):
    path = make(tmp_path / "a.zarr", "chunks")
    with held_by_another_program(path) as process:
        dataset = gdal.Open(path, gdal.GA_Update)
        dataset.SetMetadataItem("title", "new")
        assert f"lock {path}: process {process} (" in message_of(dataset.FlushCache)
    dataset.FlushCache()
    assert gdal.Open(path).GetMetadataItem("title") == "new"


def test_locked_lock_file(tmp_path, short):
    path = make(tmp_path / "a.zarr", "chunks")
    part = np.ones((3, 3), "i4")
    dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE, open_options=["LOCKS=YES"])
    dataset.GetRasterBand(1).WriteArray(part, 1, 1)
    dataset.FlushCache()
    (file,) = [f"{folder}/{name}" for folder, _, names in os.walk(f"{path}.sync") for name in names]
    with held_by_another_program(file, "lockf"):
        message = message_of(lambda: dataset.GetRasterBand(1).WriteArray(part, 2, 2))
        assert re.search(rf"lock {re.escape(file)}: .*does not release it", message)


def test_a_lock_that_is_released_is_waited_for(tmp_path):
    path = make(tmp_path / "a.zarr", "chunks")
    dataset = gdal.Open(path, gdal.GA_Update)
    file = os.open(f"{path}/a", os.O_RDONLY)
    fcntl.flock(file, fcntl.LOCK_EX)
    release = subprocess.Popen(["sleep", "2"], pass_fds=[file])
    os.close(file)  # the other process still has it
    dataset.GetRasterBand(1).WriteArray(np.ones((3, 3), "i4"), 1, 1)
    dataset.FlushCache()
    assert release.poll() is not None or release.wait(1) == 0
    assert gdal.Open(path).ReadAsArray().sum() == 9
