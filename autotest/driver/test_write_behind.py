"""Chunks that other threads encode and store in the background: what the program reads, what is
stored, and which errors it gets.
"""
import hashlib
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import multidim
import numpy as np
import pytest
from classic import open_raster
from night import rounds
from osgeo import gdal

SIDE = 1024
DATA = np.random.default_rng(17).integers(1, 5000, (SIDE, SIDE)).astype("u2")
LAYOUTS = {
    "v2": ["BLOCKSIZE=128,128", "COMPRESS=BLOSC"],
    "v3": ["FORMAT=ZARR_V3", "BLOCKSIZE=128,128", "COMPRESS=ZSTD"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=512,512", "SHARD_CHUNK_SHAPE=128,128",
               "COMPRESS=ZSTD"],
}


@pytest.fixture(params=LAYOUTS)
def options(request):
    return LAYOUTS[request.param]


@contextmanager
def configured(**values):
    for name, value in values.items():
        gdal.SetConfigOption(name, value)
    yield
    for name in values:
        gdal.SetConfigOption(name, None)


def create(path, options):
    return gdal.GetDriverByName("Zarr").Create(str(path), SIDE, SIDE, 1, gdal.GDT_UInt16, options)


def stored(path):
    """The digest of each file."""
    return {str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in Path(path).rglob("*") if file.is_file()}


def write_history(dataset, seed):
    """Writes, reads and flushes at random. Returns what the raster has in the end."""
    random = np.random.default_rng(seed)
    expected = np.zeros((SIDE, SIDE), "u2")
    for step in range(40):
        x, y = (int(start) for start in random.integers(0, SIDE - 1, 2))
        if step % 3 == 0:  # whole chunks
            x, y = x // 128 * 128, y // 128 * 128
        columns, rows = (int(random.integers(1, min(400, SIDE - start) + 1)) for start in (x, y))
        if step % 3 == 0:
            columns, rows = (max(128, length // 128 * 128) for length in (columns, rows))
        window = DATA[y:y + rows, x:x + columns] + np.uint16(step)
        dataset.WriteArray(window, x, y)
        expected[y:y + rows, x:x + columns] = window
        if step % 4 == 1:
            got = dataset.ReadAsArray(x // 2, y // 2, 300, 300)
            np.testing.assert_array_equal(got, expected[y // 2:y // 2 + 300, x // 2:x // 2 + 300])
        if step % 16 == 9:
            dataset.FlushCache()
    return expected


@pytest.mark.parametrize("seed", range(rounds(1, 30)))
def test_the_same_is_stored_with_and_without(tmp_path, options, seed):
    files = []
    for number, behind in enumerate(("YES", "NO")):
        path = tmp_path / str(number) / "a.zarr"
        path.parent.mkdir()
        with configured(ZARR_WRITE_BEHIND=behind, GDAL_NUM_THREADS="4",
                        ZARR_WRITE_CACHE_SIZE="1048576"):
            dataset = create(path, options)
            expected = write_history(dataset, seed)
            np.testing.assert_array_equal(dataset.ReadAsArray(), expected)
            del dataset
        np.testing.assert_array_equal(open_raster(path).ReadAsArray(), expected)
        files.append(stored(path))
    assert files[0].keys() == files[1].keys()
    if "BLOCKSIZE=512,512" not in options:  # a shard may have been put with its chunks in any order
        assert files[0] == files[1]


def test_a_flush_stores_everything(tmp_path, options):
    path = tmp_path / "a.zarr"
    with configured(GDAL_NUM_THREADS="4"):
        dataset = create(path, options)
        for round_ in range(3):
            dataset.WriteArray(DATA + np.uint16(round_))
            dataset.FlushCache()
            np.testing.assert_array_equal(open_raster(path).ReadAsArray(), DATA + np.uint16(round_))


def test_without_it_complete_chunks_are_stored_by_the_write(tmp_path, options):
    path = tmp_path / "a.zarr"
    with configured(ZARR_WRITE_BEHIND="NO", GDAL_NUM_THREADS="4"):
        dataset = create(path, options)
        dataset.GetRasterBand(1).WriteArray(DATA)
        np.testing.assert_array_equal(open_raster(path).ReadAsArray(), DATA)


def test_a_failure_is_told_by_a_later_call_once(tmp_path, options):
    """A folder where a chunk should be stored."""
    path = tmp_path / "a.zarr"
    told = []
    with configured(GDAL_NUM_THREADS="4"):
        dataset = create(path, options)
        name = "c/0/0" if "FORMAT=ZARR_V3" in options else "0.0"
        place = path / "a" / name
        place.mkdir(parents=True)
        (place / "in-the-way").touch()
        gdal.PushErrorHandler(lambda level, _, text: level == gdal.CE_Failure and told.append(text))
        try:
            for call in (lambda: dataset.GetRasterBand(1).WriteArray(DATA), dataset.FlushCache):
                try:
                    call()
                except RuntimeError as error:
                    told.append(str(error))
            assert any(name in text for text in told)
            # What could not be stored is still pending.
            (place / "in-the-way").unlink()
            place.rmdir()
            told.clear()
            dataset.FlushCache()
            dataset = None
        finally:
            gdal.PopErrorHandler()
    assert not told
    np.testing.assert_array_equal(open_raster(path).ReadAsArray(), DATA)


@pytest.mark.skipif(int(gdal.VersionInfo()) < 3_080_000, reason="GDAL 3.8 deletes arrays")
def test_a_deleted_array_stays_away(tmp_path, options):
    path = tmp_path / "a.zarr"
    with configured(GDAL_NUM_THREADS="4"):
        dataset = multidim.create(path, *options)
        root = dataset.GetRootGroup()
        for number in range(10):
            name = f"a{number}"
            array = multidim.create_array(root, name, DATA.shape, gdal.GDT_UInt16, *options)
            array.Write(DATA)
            root.DeleteMDArray(name)
            assert not (path / name).exists()
            del array
        del root, dataset
    assert not [file for file in path.rglob("a*") if file.is_dir()]


# --- the end of processes ------------------------------------------------------------------------

def run(function, *arguments):
    code = f"import test_write_behind as t; t.{function.__name__}(*{arguments!r})"
    environment = os.environ | {"GDAL_NUM_THREADS": "4"}
    return subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, timeout=120,
                          env=environment, capture_output=True, text=True)


def leak_dataset(path, options):
    dataset = create(path, options)
    dataset.GetRasterBand(1).WriteArray(DATA)
    dataset.thisown = False


def assert_whole_chunks(path):
    got, expected = (raster.reshape(8, 128, 8, 128).swapaxes(1, 2).reshape(64, -1)
                     for raster in (open_raster(path).ReadAsArray(), DATA))
    assert ((got == expected).all(axis=1) | (got == 0).all(axis=1)).all()


@pytest.mark.parametrize("attempt", range(rounds(1, 20)))
def test_a_program_that_ends_without_closing(tmp_path, options, attempt):
    path = tmp_path / "a.zarr"
    result = run(leak_dataset, str(path), options)
    assert result.returncode == 0, result.stderr[-3000:]
    assert_whole_chunks(path)


def fork_with_a_queue(path, options):
    dataset = create(path, options)
    band = dataset.GetRasterBand(1)
    for _ in range(4):
        band.WriteArray(DATA)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                np.testing.assert_array_equal(band.ReadAsArray(), DATA)
                dataset.FlushCache()
                np.testing.assert_array_equal(open_raster(path).ReadAsArray(), DATA)
                code = 0
            finally:
                os._exit(code)
        band.WriteArray(DATA[:50, :60], 10, 20)
        band.WriteArray(DATA[20:70, 10:70], 10, 20)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    band.WriteArray(DATA)
    del band, dataset
    np.testing.assert_array_equal(open_raster(path).ReadAsArray(), DATA)


def test_a_fork_while_chunks_are_queued(tmp_path, options):
    result = run(fork_with_a_queue, str(tmp_path / "a.zarr"), options)
    assert result.returncode == 0, result.stderr[-3000:]
