"""CHUNK_ASPECT_RATIO: chunks whose lengths are in a ratio, as TensorStore chooses them."""
import json

import numpy as np
import pytest
from multidim import create, create_array
from osgeo import gdal


def layout(path, shape, gdal_type, *options):
    """The shape of chunks, and of inner chunks."""
    dataset = create(path, "FORMAT=ZARR_V3")
    create_array(dataset.GetRootGroup(), "a", shape, gdal_type, *options)
    del dataset
    document = json.loads((path / "a/zarr.json").read_text())
    inner = document["codecs"][0].get("configuration", {}).get("chunk_shape")
    return document["chunk_grid"]["configuration"]["chunk_shape"], inner


@pytest.mark.parametrize("shape, ratio, elements, chunk", [
    # The first two are examples of TensorStore's documentation.
    ((1000, 2000, 3000), "1,1,1", 1 << 20, [101, 101, 101]),
    ((1000, 2000, 3000), "2,1,1", 2000000, [200, 100, 100]),
    ((1000, 2000, 3000), "2,1,1", 1000000000, [1000, 1000, 1000]),
    ((1000, 2000, 3000), "1,2,2", None, [50, 100, 100]),
    ((5, 2000, 3000), "1,1,1", 1 << 20, [5, 457, 457]),
    ((24, 20), "1,2", None, [24, 20]),
    ((4000, 4000), "1,1000", 100, [1, 100]),
    ((4000,), "3", 1000, [999]),
    ((1000000, 100, 100), "100000000,1,1", 1000, [1000, 1, 1]),
    ((0, 50), "1,1", 10, [1, 10]),
])
def test_chunks(tmp_path, shape, ratio, elements, chunk):
    options = [f"CHUNK_ASPECT_RATIO={ratio}"]
    if elements:
        options.append(f"CHUNK_ELEMENTS={elements}")
    kind = gdal.GDT_UInt16
    assert layout(tmp_path / "a.zarr", shape, kind, *options) == (chunk, None)
    if elements:
        assert np.prod(chunk) <= elements


def test_shards(tmp_path):
    chunk, inner = layout(tmp_path / "a.zarr", (1000, 1000, 1000), gdal.GDT_Byte,
                          "SHARDING=AUTO", "CHUNK_ASPECT_RATIO=1,2,4", "CHUNK_ELEMENTS=1000000")
    assert inner == [50, 100, 200]
    assert [n % m for n, m in zip(chunk, inner)] == [0, 0, 0]


def test_other_ways_to_choose_the_size(tmp_path):
    assert layout(tmp_path / "a.zarr", (1000, 1000), gdal.GDT_Byte, "CHUNKS=AUTO",
                  "CHUNK_ELEMENTS=10000") == ([100, 100], None)


@pytest.mark.parametrize("format", ["ZARR_V2", "ZARR_V3"])
def test_rasters(tmp_path, format):
    source = gdal.GetDriverByName("MEM").Create("", 400, 300, 6, gdal.GDT_Byte)
    source.GetRasterBand(6).Fill(9)
    options = [f"FORMAT={format}", "CHUNK_ASPECT_RATIO=1,8,8", "CHUNK_ELEMENTS=64000"]
    copy = gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "a.zarr"), source,
                                                   options=options)
    assert copy.GetRasterBand(1).GetBlockSize() == [96, 96]
    assert copy.GetRasterBand(6).Checksum() == source.GetRasterBand(6).Checksum()


@pytest.mark.parametrize("options, problem", [
    (["CHUNK_ASPECT_RATIO=1,2"], "CHUNK_ASPECT_RATIO has 2 lengths, but the array has 3"),
    (["CHUNK_ASPECT_RATIO=1,0,1"], "CHUNK_ASPECT_RATIO is \"1,0,1\""),
    (["CHUNK_ASPECT_RATIO=1,1,1", "ACCESS=SERIES"], "CHUNK_ASPECT_RATIO and ACCESS contradict"),
    (["CHUNK_ASPECT_RATIO=1,1,1", "SHARD_CHUNK_SHAPE=1,1,1"],
     "CHUNK_ASPECT_RATIO and SHARD_CHUNK_SHAPE contradict"),
    (["CHUNK_ELEMENTS=0"], "CHUNK_ELEMENTS"),
])
def test_errors(tmp_path, options, problem):
    root = create(tmp_path / "a.zarr", "FORMAT=ZARR_V3").GetRootGroup()
    with pytest.raises(RuntimeError, match=problem):
        create_array(root, "a", (10, 10, 10), gdal.GDT_Byte, *options)


def test_block_sizes_of_a_raster_contradict_a_ratio(tmp_path):
    """For arrays, GDAL 3.13 states the block size of the source, which is ignored."""
    options = ["CHUNK_ASPECT_RATIO=1,1", "BLOCKSIZE=2,2"]
    with pytest.raises(RuntimeError, match="CHUNK_ASPECT_RATIO and BLOCKSIZE contradict"):
        gdal.GetDriverByName("Zarr").Create(str(tmp_path / "a.zarr"), 4, 3, 1, gdal.GDT_Byte,
                                            options)
    assert not list(tmp_path.iterdir())
