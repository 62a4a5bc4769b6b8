"""GetRawBlockInfo: where a chunk is stored, and how."""
import gzip
import json
import os
import zlib

import numpy as np
import pytest
from multidim_stores import FORMATS, create, create_array, fails, open_store
from osgeo import gdal

pytestmark = pytest.mark.gdal_since("3.12")

DATA = np.arange(24, dtype="u2").reshape(4, 6)


def write(path, options, version="ZARR_V2", data=DATA, block="2,3"):
    dataset = create(path, [f"FORMAT={version}"])
    data_type = gdal.ExtendedDataType.Create(gdal.GDT_UInt16 if data.itemsize == 2 else
                                             gdal.GDT_Byte)
    array = create_array(dataset, data.shape, [f"BLOCKSIZE={block}", *options], data_type)
    array.Write(data.tobytes())
    del array
    dataset.Close()
    return open_store(path).GetRootGroup().OpenMDArray("a")


def block(array, *position):
    """The stored bytes of a block, and its list of items."""
    info = array.GetRawBlockInfo(list(position))
    with open(info.GetFilename(), "rb") as file:
        file.seek(info.GetOffset())
        stored = file.read(info.GetSize())
    assert len(stored) == info.GetSize()
    return stored, dict(item.split("=", 1) for item in info.GetInfo() or [])


def test_v2(tmp_path):
    array = write(tmp_path / "a.zarr", ["COMPRESS=ZLIB"])
    stored, items = block(array, 1, 1)
    assert items == {"COMPRESSOR": '{ "id": "zlib", "level": 6 }', "ENDIANNESS": "LITTLE"}
    chunk = np.frombuffer(zlib.decompress(stored), "<u2").reshape(2, 3)
    np.testing.assert_array_equal(chunk, DATA[2:, 3:])


def test_filters(tmp_path):
    array = write(tmp_path / "a.zarr", ["COMPRESS=ZLIB", "FILTER=DELTA"])
    _stored, items = block(array, 0, 0)
    assert items == {"COMPRESSOR": '{ "id": "zlib", "level": 6 }', "ENDIANNESS": "LITTLE",
                     "FILTERS": '[ { "id": "delta", "dtype": "<u2" } ]'}


def test_v3(tmp_path):
    array = write(tmp_path / "a.zarr", ["COMPRESS=GZIP"], "ZARR_V3")
    stored, items = block(array, 0, 1)
    assert items == {"COMPRESSOR": '{ "name": "gzip", "configuration": { "level": 6 } }',
                     "ENDIANNESS": "LITTLE"}
    chunk = np.frombuffer(gzip.decompress(stored), "<u2").reshape(2, 3)
    np.testing.assert_array_equal(chunk, DATA[:2, 3:])


@pytest.mark.parametrize("version", FORMATS)
def test_order_of_dimensions(tmp_path, version):
    array = write(tmp_path / "a.zarr", ["CHUNK_MEMORY_LAYOUT=F"], version)
    stored, items = block(array, 0, 0)
    assert items == {"ENDIANNESS": "LITTLE", "TRANSPOSE_ORDER": "[1,0]"}
    chunk = np.frombuffer(stored, "<u2").reshape(3, 2).T
    np.testing.assert_array_equal(chunk, DATA[:2, :3])


@pytest.mark.parametrize("version", FORMATS)
def test_bytes_have_no_order(tmp_path, version):
    array = write(tmp_path / "a.zarr", [], version, DATA.astype("u1"))
    stored, items = block(array, 0, 0)
    assert items == {}
    assert stored == DATA[:2, :3].astype("u1").tobytes()


@pytest.mark.parametrize("version", FORMATS)
def test_missing_blocks_and_wrong_positions(tmp_path, version):
    array = write(tmp_path / "a.zarr", [], version)
    os.remove(array.GetRawBlockInfo([0, 0]).GetFilename())
    missing = array.GetRawBlockInfo([0, 0])
    assert (missing.GetFilename(), missing.GetOffset(), missing.GetSize()) == (None, 0, 0)
    for position in ([2, 0], [0, 2], [0], [0, 0, 0]):
        fails(lambda position=position: array.GetRawBlockInfo(position))


def test_big_endian(tmp_path):
    group = tmp_path / "a.zarr"
    (group / "a").mkdir(parents=True)
    (group / ".zgroup").write_text('{"zarr_format": 2}')
    (group / "a" / ".zarray").write_text(json.dumps({
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": ">u2", "compressor": None,
        "fill_value": None, "filters": None, "order": "C"}))
    (group / "a" / "0").write_bytes(b"\0\1\0\2")
    stored, items = block(open_store(group).GetRootGroup().OpenMDArray("a"), 0)
    assert (stored, items) == (b"\0\1\0\2", {"ENDIANNESS": "BIG"})


@pytest.mark.ours_only("it gives the whole shard, and the codec sharding_indexed")
def test_inner_chunk_of_a_shard(tmp_path):
    array = write(tmp_path / "a.zarr", ["COMPRESS=GZIP", "SHARD_CHUNK_SHAPE=2,3"], "ZARR_V3",
                  block="4,6")
    stored, items = block(array, 1, 0)
    assert items["COMPRESSOR"] == '{ "name": "gzip", "configuration": { "level": 6 } }'
    assert (items["ENDIANNESS"], items["CHUNK_TYPE"]) == ("LITTLE", "INNER")
    assert [codec["name"] for codec in json.loads(items["CODECS"])] == ["bytes", "gzip"]
    chunk = np.frombuffer(gzip.decompress(stored), "<u2").reshape(2, 3)
    np.testing.assert_array_equal(chunk, DATA[2:, :3])
