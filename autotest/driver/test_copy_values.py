"""Copies between arrays of different chunks: all values, whatever memory GDAL has, with progress."""
import os
import subprocess

import numpy as np
import pytest
from multidim import create, create_array, open_root
from osgeo import gdal
from test_write_memory import peak

RANDOM = np.random.default_rng(18)
SHAPE = (30, 41, 52)
DATA = RANDOM.integers(-1000, 1000, SHAPE).astype("f4")
SOURCES = {"slices": "1,41,52", "cubes": "7,10,20", "series": "30,5,5"}
TARGETS = {
    "series": ["ARRAY:BLOCKSIZE=30,4,6"],
    "slices": ["ARRAY:BLOCKSIZE=1,41,52"],
    "cubes": ["ARRAY:BLOCKSIZE=8,16,16", "ARRAY:COMPRESS=ZSTD"],
    "shards": ["FORMAT=ZARR_V3", "ARRAY:BLOCKSIZE=30,20,20", "ARRAY:SHARD_CHUNK_SHAPE=10,10,10"],
    "one chunk": ["ARRAY:BLOCKSIZE=30,41,52"],
}
# In bytes: less than a chunk, some chunks, more than the array.
MEMORY = ["100001", "150000", "400000", "64000000"]


def write_source(path, chunks, *options):
    dataset = create(path, *options)
    array = create_array(dataset.GetRootGroup(), "a", SHAPE, gdal.GDT_Float32,
                         f"BLOCKSIZE={chunks}")
    array.Write(DATA)


def translate(source, target, memory, *options, **environment):
    words = [word for option in options for word in ("-co", option)]
    return subprocess.run(
        ["gdalmdimtranslate", "--config", "GDAL_CACHEMAX", memory, "-of", "Zarr", *words,
         str(source), str(target)], capture_output=True, text=True, timeout=300,
        env=os.environ | environment)


@pytest.mark.parametrize("memory", MEMORY)
@pytest.mark.parametrize("chunks", SOURCES)
def test_values(tmp_path, chunks, memory):
    write_source(tmp_path / "source.zarr", SOURCES[chunks])
    for name, options in TARGETS.items():
        target = tmp_path / f"{name}.zarr"
        result = translate(tmp_path / "source.zarr", target, memory, *options)
        assert (result.returncode, result.stderr) == (0, ""), name
        np.testing.assert_array_equal(open_root(target).OpenMDArray("a").ReadAsArray(), DATA, name)


def test_other_drivers(tmp_path):
    """netCDF has chunks of its own, and another type than the target."""
    dataset = gdal.GetDriverByName("netCDF").CreateMultiDimensional(str(tmp_path / "a.nc"))
    array = create_array(dataset.GetRootGroup(), "a", SHAPE, gdal.GDT_Int16, "BLOCKSIZE=5,10,10")
    array.Write(DATA.astype("i2"))
    del array, dataset
    result = translate(tmp_path / "a.nc", tmp_path / "a.zarr", "150000",
                       "ARRAY(IF(NAME=a)):BLOCKSIZE=30,8,8")
    assert (result.returncode, result.stderr) == (0, "")
    array = open_root(tmp_path / "a.zarr").OpenMDArray("a")
    assert array.GetBlockSize() == [30, 8, 8]
    np.testing.assert_array_equal(array.ReadAsArray(), DATA.astype("i2"))


def test_no_room_for_the_temporary_file(tmp_path):
    """The folder for temporary files does not exist."""
    write_source(tmp_path / "source.zarr", SOURCES["slices"])
    result = translate(tmp_path / "source.zarr", tmp_path / "a.zarr", "150000", *TARGETS["series"],
                       CPL_TMPDIR=str(tmp_path / "missing"))
    assert result.returncode != 0
    assert "temporary file" in result.stderr and "missing" in result.stderr
    assert not (tmp_path / "a.zarr").exists()


def test_no_temporary_file_is_left(tmp_path):
    (tmp_path / "temporary").mkdir()
    write_source(tmp_path / "source.zarr", SOURCES["slices"])
    result = translate(tmp_path / "source.zarr", tmp_path / "a.zarr", "150000", *TARGETS["series"],
                       CPL_TMPDIR=str(tmp_path / "temporary"))
    assert (result.returncode, os.listdir(tmp_path / "temporary")) == (0, [])


@pytest.mark.parametrize("memory", [150000, 64000000])
def test_progress(tmp_path, memory):
    write_source(tmp_path / "source.zarr", SOURCES["slices"])
    before = gdal.GetCacheMax()
    gdal.SetCacheMax(memory)
    shares = []
    try:
        gdal.MultiDimTranslate(
            str(tmp_path / "a.zarr"), str(tmp_path / "source.zarr"), format="Zarr",
            creationOptions=TARGETS["series"], callback=lambda share, *_: shares.append(share) or 1)
    finally:
        gdal.SetCacheMax(before)
    assert shares == sorted(shares) and shares[-1] == pytest.approx(1)
    assert len(shares) > (10 if memory < 1000000 else 1)


def test_cancel(tmp_path):
    write_source(tmp_path / "source.zarr", SOURCES["slices"])
    before = gdal.GetCacheMax()
    gdal.SetCacheMax(150000)
    try:
        with pytest.raises(RuntimeError, match="stopped by the user|User|nterrupt"):
            gdal.MultiDimTranslate(
                str(tmp_path / "a.zarr"), str(tmp_path / "source.zarr"), format="Zarr",
                creationOptions=TARGETS["series"], callback=lambda share, *_: int(share < 0.3))
    finally:
        gdal.SetCacheMax(before)


def test_memory(tmp_path):
    """140 MB from slices to series, in less memory than they have."""
    dataset = create(tmp_path / "source.zarr")
    array = create_array(dataset.GetRootGroup(), "a", (140, 500, 500), gdal.GDT_Float32,
                         "BLOCKSIZE=1,500,500")
    for i in range(140):
        array.Write(np.full((1, 500, 500), i, "f4") + np.arange(500, dtype="f4"), [i, 0, 0],
                    [1, 500, 500])
    del array, dataset
    used = peak("gdalmdimtranslate", "--config", "GDAL_CACHEMAX", "16", "-of", "Zarr",
                "-co", "ARRAY:BLOCKSIZE=140,20,20", tmp_path / "source.zarr", tmp_path / "a.zarr")
    assert used < 130 << 10
    got = open_root(tmp_path / "a.zarr").OpenMDArray("a")
    np.testing.assert_array_equal(
        got.ReadAsArray([0, 490, 3], [140, 1, 1]).ravel(), np.arange(140, dtype="f4") + 3)
