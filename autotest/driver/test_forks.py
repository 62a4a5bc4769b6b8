"""Processes that fork after they have read. The child has no worker threads, and can still read and
write. Each test runs in a process of its own, because of what it does to threads.
"""
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from multidim import create, create_array, open_root, open_to_write
from osgeo import gdal

DATA = np.random.default_rng(9).integers(0, 1 << 30, (64, 96), "i4")
ROWS = 16
LAYOUTS = {
    "v2": ["BLOCKSIZE=16,16", "COMPRESS=ZLIB"],
    "v3": ["FORMAT=ZARR_V3", "BLOCKSIZE=16,16", "COMPRESS=ZSTD"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=16,32", "SHARD_CHUNK_SHAPE=8,8"],
}
STARTS = range(0, DATA.shape[0], ROWS)


@pytest.fixture(params=LAYOUTS)
def path(request, tmp_path):
    options = LAYOUTS[request.param]
    path = tmp_path / "a.zarr"
    root = create(path, *options).GetRootGroup()
    create_array(root, "a", DATA.shape, gdal.GDT_Int32, *options).Write(DATA)
    return path


def run(function, *arguments):
    """In a process with four threads for each read and write, which ends after a minute."""
    code = f"import test_forks as t; t.prepare(); t.{function.__name__}(*{arguments!r})"
    environment = os.environ | {"GDAL_NUM_THREADS": "4"}
    result = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent,
                            env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-3000:]


def prepare():
    gdal.UseExceptions()
    signal.alarm(60)


def read(path):
    return open_root(path).OpenMDArray("a").ReadAsArray()


def write_rows(path, start):
    array = open_to_write(path).GetRootGroup().OpenMDArray("a")
    array.Write(-DATA[start:start + ROWS], [start, 0])


def in_child(body):
    """Runs `body` in a forked child, which is killed if it hangs."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(30)
            body()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def read_in_child(path):
    """Through objects that the parent opened and partly read, and through new ones."""
    dataset = gdal.Open(path)
    root = open_root(path)
    array = root.OpenMDArray("a")
    array.ReadAsArray([0, 0], [20, 20])
    dataset.ReadAsArray(0, 0, 40, 40)

    def body():
        np.testing.assert_array_equal(array.ReadAsArray(), DATA)
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
        np.testing.assert_array_equal(read(path), DATA)

    in_child(body)
    body()  # the parent still has its threads
    in_child(lambda: in_child(body))


def write_in_child(path):
    """The parent reads what the child writes, and the other way round."""
    np.testing.assert_array_equal(read(path), DATA)
    in_child(lambda: write_rows(path, 0))
    np.testing.assert_array_equal(read(path)[:ROWS], -DATA[:ROWS])
    write_rows(path, ROWS)
    in_child(lambda: np.testing.assert_array_equal(read(path)[:2 * ROWS], -DATA[:2 * ROWS]))


def write_in_pool(path):
    np.testing.assert_array_equal(read(path), DATA)
    with multiprocessing.get_context("fork").Pool(4) as pool:
        pool.starmap(write_rows, [(path, start) for start in STARTS], chunksize=1)
        for values in pool.map(read, [path] * 4):
            np.testing.assert_array_equal(values, -DATA)


def exit_with_what_waits(path):
    """Pending chunks belong to the parent: a child that ends does not put them."""
    dataset = open_to_write(path)
    array = dataset.GetRootGroup().OpenMDArray("a")
    array.Write(-DATA[:5, :5], [0, 0])
    in_child(lambda: None)
    np.testing.assert_array_equal(read(path), DATA)
    dataset.FlushCache()
    np.testing.assert_array_equal(read(path)[:5, :5], -DATA[:5, :5])


@pytest.mark.parametrize("scenario", [
    read_in_child, write_in_child, write_in_pool, exit_with_what_waits])
def test_fork(path, scenario):
    run(scenario, str(path))
