"""Lifetimes of written data, reported errors, and several threads and processes."""
import gc
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from multidim import create, create_array, numeric, open_root, open_to_write
from osgeo import gdal, osr

STRING = gdal.ExtendedDataType.CreateString()
DATA = np.random.default_rng(4).integers(-1000, 1000, (64, 96)).astype("i4")
LAYOUTS = {
    "v2": ["BLOCKSIZE=16,16"],
    "v3": ["FORMAT=ZARR_V3", "BLOCKSIZE=16,16", "COMPRESS=ZSTD"],
    "sharded": ["FORMAT=ZARR_V3", "BLOCKSIZE=32,32", "SHARD_CHUNK_SHAPE=16,16"],
}


@pytest.fixture(params=LAYOUTS)
def options(request):
    return LAYOUTS[request.param]


@pytest.fixture
def path(tmp_path, options):
    path = tmp_path / "a.zarr"
    create_array(create(path, *options).GetRootGroup(), "a", DATA.shape, gdal.GDT_Int32, *options)
    return path


def read(path, name="a"):
    return open_root(path).OpenMDArray(name).ReadAsArray()


# --- Lifetimes -----------------------------------------------------------------------------------

def test_array_outlives_dataset_and_group(path):
    dataset = open_to_write(path)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray("a")
    del dataset, root
    gc.collect()
    array.Write(DATA[:20], [0, 0])  # a pending part of chunks
    array.SetUnit("m")
    np.testing.assert_array_equal(array.ReadAsArray()[:20], DATA[:20])
    del array
    np.testing.assert_array_equal(read(path)[:20], DATA[:20])
    assert open_root(path).OpenMDArray("a").GetUnit() == "m"


def test_attribute_outlives_all(path):
    dataset = open_to_write(path)
    attribute = dataset.GetRootGroup().OpenMDArray("a").CreateAttribute("title", [], STRING)
    del dataset
    gc.collect()
    attribute.Write("late")
    del attribute
    assert open_root(path).OpenMDArray("a").GetAttribute("title").Read() == "late"


def test_group_outlives_dataset(path):
    root = open_to_write(path).GetRootGroup()
    root.CreateGroup("g").CreateAttribute("title", [], STRING).Write("late")
    array = create_array(root, "b", [3], gdal.GDT_Byte)
    del root
    array.Write(np.arange(3, dtype="u1"))
    del array
    assert open_root(path).OpenGroup("g").GetAttribute("title").Read() == "late"
    assert read(path, "b").tolist() == [0, 1, 2]


def test_one_array_however_it_is_reached(path):
    """Two objects for a node share their changes."""
    root = open_to_write(path).GetRootGroup()
    one, two = root.OpenMDArray("a"), root.OpenMDArrayFromFullname("/a")
    one.Write(DATA[:20], [0, 0])
    two.Write(DATA[20:], [20, 0])
    np.testing.assert_array_equal(one.ReadAsArray(), DATA)
    two.SetUnit("m")
    assert one.GetUnit() == "m"
    del root, one
    np.testing.assert_array_equal(two.ReadAsArray(), DATA)
    del two
    np.testing.assert_array_equal(read(path), DATA)


def test_view_outlives_array(path):
    view = open_to_write(path).GetRootGroup().OpenMDArray("a").GetView("[::2]")
    gc.collect()
    view.Write(np.ascontiguousarray(DATA[::2]))
    del view
    np.testing.assert_array_equal(read(path)[::2], DATA[::2])
    assert not read(path)[1::2].any()


def test_flushing_is_enough(path):
    """Other datasets see what a dataset has flushed while it stays open."""
    dataset = open_to_write(path)
    array = dataset.GetRootGroup().OpenMDArray("a")
    array.Write(DATA[:20], [0, 0])
    array.SetUnit("m")
    dataset.FlushCache()
    np.testing.assert_array_equal(read(path)[:20], DATA[:20])
    assert open_root(path).OpenMDArray("a").GetUnit() == "m"
    array.Write(DATA)
    dataset.FlushCache()
    np.testing.assert_array_equal(read(path), DATA)


# --- Errors --------------------------------------------------------------------------------------

@contextmanager
def errors():
    """The errors that GDAL reports meanwhile. Its bindings do not raise them: an error while an
    object is deleted cannot be raised."""
    failures = []
    osr.DontUseExceptions()
    gdal.DontUseExceptions()
    gdal.PushErrorHandler(
        lambda level, code, text: level >= gdal.CE_Failure and failures.append(text))
    try:
        yield failures
    finally:
        gdal.PopErrorHandler()
        gdal.UseExceptions()
        osr.UseExceptions()


def obstruct(path, options):
    """Puts a file in place of a folder, in the way of all chunks of "a"."""
    chunks = path / "a/c"
    if options is LAYOUTS["v2"]:
        # Only for the array's own folder: chunks cannot be files where folders exist.
        for i in range(4):
            for j in range(6):
                (path / f"a/{i}.{j}").mkdir()
                (path / f"a/{i}.{j}/x").touch()
        return
    chunks.write_text("in the way")


@pytest.mark.parametrize("behind", ["YES", "NO"])
def test_a_chunk_that_cannot_be_written(path, options, behind, monkeypatch):
    """Reported by the flush, or by the write itself when it stores whole chunks and shards."""
    monkeypatch.setenv("ZARR_WRITE_BEHIND", behind)
    dataset = open_to_write(path)
    array = dataset.GetRootGroup().OpenMDArray("a")
    obstruct(path, options)
    with errors() as told:
        written = array.Write(DATA)
        assert behind == "YES" or written != gdal.CE_None
        dataset.FlushCache()
        del array, dataset
    assert told and "array /a: chunk a/" in told[0]
    assert not [f for f in path.rglob("*") if f.name.endswith(".zarr-partial")]


def test_what_waits_and_cannot_be_written(path, options):
    """The part of the chunk is accepted. The flush reports that it cannot be put, and so does
    closing."""
    dataset = open_to_write(path)
    array = dataset.GetRootGroup().OpenMDArray("a")
    array.Write(DATA[:3, :3], [0, 0])
    obstruct(path, options)
    with errors() as told:
        dataset.FlushCache()
    assert told
    with errors() as told:
        del array, dataset
        gc.collect()
    assert told


def test_writing_goes_on_after_an_error(path, options):
    """Pending data is put once the obstacle is removed."""
    if options is LAYOUTS["v2"]:
        pytest.skip("obstruct() puts folders")
    dataset = open_to_write(path)
    array = dataset.GetRootGroup().OpenMDArray("a")
    array.Write(DATA[:3], [0, 0])
    obstruct(path, options)
    with errors() as told:
        dataset.FlushCache()
    assert told
    (path / "a/c").unlink()
    with errors() as told:
        dataset.FlushCache()
        del array, dataset
    assert not told
    np.testing.assert_array_equal(read(path)[:3], DATA[:3])


def test_metadata_that_cannot_be_written(path, options):
    """A folder replaces the document; the error is reported when the document is put."""
    dataset = open_to_write(path)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray("a")
    document = path / ("a/.zattrs" if options is LAYOUTS["v2"] else "a/zarr.json")
    document.unlink()
    (document / "x").mkdir(parents=True)
    with errors() as told:
        array.SetUnit("m")
        dataset.FlushCache()
    assert told and document.name in told[0]
    with errors() as told:
        del dataset, root, array
        gc.collect()
    assert told


def test_store_in_a_folder_that_is_none(tmp_path, options):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RuntimeError, match="file"):
        create(tmp_path / "file/a.zarr", *options)
    assert (tmp_path / "file").read_text() == "mine"


def test_store_that_vanishes(path):
    """Nothing crashes, and success is not reported."""
    dataset = open_to_write(path)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray("a")
    path.rename(path.parent / "b.zarr")
    path.write_text("in the way")
    with errors() as told:
        array.SetUnit("m")
        dataset.FlushCache()
        del dataset, root, array
        gc.collect()
    assert told
    assert path.read_text() == "in the way"


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system")
def test_full_disk(tmp_path, options):
    """Errors are reported; chunks are whole or absent; earlier data is kept."""
    mount = tmp_path / "small"
    mount.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", mount],
                      capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        path = mount / "a.zarr"
        data = np.random.default_rng(5).integers(-(2**31), 2**31, (512, 512), "i4")
        dataset = create(path, *options)
        array = create_array(dataset.GetRootGroup(), "a", data.shape, gdal.GDT_Int32, *options)
        array.Write(data[:32, :32])
        dataset.FlushCache()
        with errors() as told:
            array.Write(data)
            dataset.FlushCache()
            del array, dataset
            gc.collect()
        assert told
        got = read(path)
        assert ((got == data) | (got == 0)).all()
        np.testing.assert_array_equal(got[:32, :32], data[:32, :32])
        assert not list(mount.rglob("*.zarr-partial"))
    finally:
        subprocess.run(["umount", "-l", mount], check=True)


def test_an_element_that_cannot_be_stored(tmp_path):
    """Texts are checked before anything is put, so nothing changes."""
    path = tmp_path / "a.zarr"
    root = create(path).GetRootGroup()
    array = create_array(root, "a", [4], gdal.ExtendedDataType.CreateString(5),
                         "STRING_FORMAT=ASCII", "BLOCKSIZE=2")
    array.Write(["a", "b", "c", "d"])
    with pytest.raises(RuntimeError, match="longer than the 5 "):
        array.Write(["e", "f", "g", "too long"])
    del root, array
    assert open_root(path).OpenMDArray("a").Read()[3] == "d"


# --- Threads and processes -----------------------------------------------------------------------

@pytest.mark.parametrize("rows", [1, 5, 16])
def test_threads_write_disjoint_regions(path, rows):
    """In one array object: rows that share chunks, and rows that do not."""
    array = open_to_write(path).GetRootGroup().OpenMDArray("a")
    starts = np.random.default_rng(1).permutation(range(0, DATA.shape[0], rows)).tolist()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: array.Write(DATA[i : i + rows], [i, 0]), starts))
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    array = None
    np.testing.assert_array_equal(read(path), DATA)


def test_threads_read_and_write(path):
    """A reader sees each row either as it was or as it was written."""
    dataset = open_to_write(path)
    array = dataset.GetRootGroup().OpenMDArray("a")
    done = threading.Event()

    def write():
        try:
            for i in range(DATA.shape[0]):
                array.Write(DATA[i : i + 1], [i, 0])
        finally:
            done.set()

    def check():
        while not done.is_set():
            got = array.ReadAsArray()
            assert ((got == DATA) | (got == 0)).all()
            dataset.FlushCache()

    with ThreadPoolExecutor(3) as pool:
        for result in [pool.submit(write), pool.submit(check), pool.submit(check)]:
            result.result()
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)


def test_threads_write_arrays_of_a_store(path):
    dataset = open_to_write(path)
    root = dataset.GetRootGroup()
    dimensions = root.OpenMDArray("a").GetDimensions()

    def make(i):
        array = root.CreateMDArray(f"n{i}", dimensions, numeric(gdal.GDT_Int32))
        array.CreateAttribute("number", [], numeric(gdal.GDT_Int32)).Write(i)
        array.Write(DATA + i)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(make, range(12)))
    dataset = root = dimensions = None
    gc.collect()
    for i in range(12):
        np.testing.assert_array_equal(read(path, f"n{i}"), DATA + i)
        assert open_root(path).OpenMDArray(f"n{i}").GetAttribute("number").Read() == i


WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from multidim import open_to_write
from test_write_faults import DATA
first = int(sys.argv[3])
array = open_to_write(sys.argv[1]).GetRootGroup().OpenMDArray("a")
for i in range(first, first + 32):
    array.Write(DATA[i : i + 1], [i, 0])
"""


def test_processes_write_disjoint_chunks(path):
    """Without locks: each process has its own chunks, or shards."""
    command = [sys.executable, "-c", WRITER, path, os.path.dirname(__file__)]
    writers = [subprocess.Popen([*command, str(first)]) for first in (0, 32)]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    np.testing.assert_array_equal(read(path), DATA)
