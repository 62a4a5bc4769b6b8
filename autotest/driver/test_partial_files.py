"""Partial files of killed writers: later writers remove them."""
import fcntl
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from night import rounds
from osgeo import gdal

DATA = np.arange(1, 1 + 40 * 40, dtype=np.uint16).reshape(40, 40)
NAME = ".123-456-7.zarr-partial"
HOURS = 3600


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "a.zarr"
    dataset = gdal.GetDriverByName("Zarr").Create(str(path), 40, 40, 1, gdal.GDT_UInt16,
                                                  ["FORMAT=ZARR_V3", "BLOCKSIZE=16,16"])
    dataset.GetRasterBand(1).WriteArray(DATA)
    return path


def leave(folder, age=5 * HOURS, name=NAME):
    """A file as a killed writer leaves it."""
    path = folder / name
    path.write_bytes(b"half of a chunk")
    os.utime(path, (time.time() - age,) * 2)
    return path


def open_for_writing(store):
    return gdal.OpenEx(str(store), gdal.OF_RASTER | gdal.OF_UPDATE)


def test_they_go_when_the_store_is_opened_for_writing(store):
    left = [leave(store), leave(store / "a"), leave(store / "a" / "c" / "1")]
    gdal.Open(str(store)).ReadAsArray()
    assert all(path.exists() for path in left)
    open_for_writing(store)
    assert not any(path.exists() for path in left)
    np.testing.assert_array_equal(gdal.Open(str(store)).ReadAsArray(), DATA)


def test_they_go_when_the_multidimensional_api_opens_the_store(store):
    left = leave(store / "a")
    gdal.OpenEx(str(store), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    assert not left.exists()


def test_young_ones_stay(store):
    left = leave(store / "a", age=60)
    dataset = open_for_writing(store)
    dataset.GetRasterBand(1).WriteArray(DATA)
    assert left.exists()


def test_that_of_a_living_writer_stays(store):
    left = leave(store / "a")
    with left.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        open_for_writing(store)
        assert left.exists()
    open_for_writing(store)
    assert not left.exists()


def test_what_only_looks_like_one_stays(store):
    others = [leave(store, name="a.zarr-partial"), leave(store, name=".zarr-partial.txt")]
    (store / "folder").mkdir()
    (store / "x.zarr-partial").mkdir()
    (store / ".y.zarr-partial").symlink_to("zarr.json")
    open_for_writing(store)
    assert all(path.exists() for path in others)
    assert (store / "x.zarr-partial").is_dir() and (store / ".y.zarr-partial").is_symlink()


# Opening does not look through a store of many files; writing to a folder looks through it.
def test_that_of_a_folder_that_opening_does_not_reach_goes_when_it_is_written_to(store):
    left = leave(store / "a" / "c" / "1")
    for i in range(12000):
        (store / "a" / "c" / "0" / str(1000 + i)).touch()
    dataset = open_for_writing(store)
    dataset.GetRasterBand(1).WriteArray(DATA)
    dataset.FlushCache()
    assert not left.exists()


def test_they_are_neither_copied_nor_listed(store, tmp_path):
    leave(store), leave(store / "a", age=0)
    files = gdal.Open(str(store)).GetFileList()
    assert not [file for file in files if file.endswith("partial")]
    gdal.GetDriverByName("Zarr").CopyFiles(str(tmp_path / "b.zarr"), str(store))
    assert not list((tmp_path / "b.zarr").rglob("*partial"))
    np.testing.assert_array_equal(gdal.Open(str(tmp_path / "b.zarr")).ReadAsArray(), DATA)


WRITE_FOREVER = """
import sys
import numpy as np
from osgeo import gdal
dataset = gdal.OpenEx(sys.argv[1], gdal.OF_RASTER | gdal.OF_UPDATE)
print("ready", flush=True)
value = 0
while True:
    value += 1
    dataset.GetRasterBand(1).WriteArray(np.full((40, 40), value, np.uint16))
    dataset.FlushCache()
"""


def test_after_kills_nothing_stays(store):
    found = 0
    for round_ in range(100):
        writer = subprocess.Popen([sys.executable, "-c", WRITE_FOREVER, str(store)],
                                  stdout=subprocess.PIPE)
        writer.stdout.readline()
        time.sleep(0.02 + 0.003 * round_)
        writer.kill()
        writer.wait()
        writer.stdout.close()
        found += len(list(store.rglob("*.zarr-partial")))
        open_for_writing(store)
        assert not list(store.rglob("*.zarr-partial"))
        pixels = gdal.Open(str(store)).ReadAsArray()
        for y in range(0, 40, 16):
            for x in range(0, 40, 16):
                chunk = pixels[y:y + 16, x:x + 16]
                # A writer that was killed early has left the chunk as it was.
                old = DATA[y:y + 16, x:x + 16]
                assert (chunk == chunk[0, 0]).all() or np.array_equal(chunk, old)
        if found > 0 and round_ >= rounds(6, 99):
            break
    assert found > 0
