"""Stores whose documents are unusual: what GDAL's own driver or older programs wrote."""
import json

import numpy as np
import pytest
from multidim_stores import open_store
from osgeo import gdal

VALUES = np.arange(1, 7, dtype="<i2").reshape(2, 3)
BYTES = VALUES.tobytes()
ZSTD = {"id": "zstd", "level": 13}
BLOSC = {"id": "blosc", "cname": "lz4", "clevel": 5, "blocksize": 0}


def write(path, documents):
    for name, content in documents.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def document(dtype="<i2", without=(), **members):
    content = {"zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": dtype,
               "compressor": None, "filters": None, "order": "C", "fill_value": None} | members
    return {name: value for name, value in content.items() if name not in without}


def write_v2(path, array, chunk=BYTES):
    documents = {".zgroup": {"zarr_format": 2}, "a/.zarray": array}
    return write(path, documents | ({"a/0.0": chunk} if chunk else {}))


def write_v3(path, name="a", **members):
    grid = {"name": "regular", "configuration": {"chunk_shape": [2, 3]}}
    keys = {"name": "default", "configuration": {"separator": "/"}}
    array = {"zarr_format": 3, "node_type": "array", "shape": [2, 3], "data_type": "int16",
             "chunk_grid": grid, "chunk_key_encoding": keys, "fill_value": 0, "attributes": {}}
    group = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    groups = {f"{'/'.join(name.split('/')[:i])}/zarr.json".lstrip("/"): group
              for i in range(name.count("/") + 1)}
    return write(path, groups | {f"{name}/zarr.json": array | members, f"{name}/c/0/0": BYTES})


def read(path, array="/a"):
    dataset = open_store(path)
    return dataset.GetRootGroup().OpenMDArrayFromFullname(array).ReadAsArray()


def is_error(function, *arguments):
    try:
        return function(*arguments) is None
    except RuntimeError:
        return True


@pytest.mark.builtin_since("3.8")
@pytest.mark.parametrize("name", ["a", "g/h/b"])
def test_v3_without_codecs(tmp_path, name):
    write_v3(tmp_path / "a.zarr", name)
    assert (read(tmp_path / "a.zarr", f"/{name}") == VALUES).all()
    raster = gdal.Open(f'ZARR:"{tmp_path}/a.zarr":/{name}')
    assert (raster.ReadAsArray() == VALUES).all()


@pytest.mark.parametrize("codec", [
    *({**ZSTD, "checksum": value} for value in ("NO", "YES", True, False, 0, 1)),
    *({**BLOSC, "shuffle": value} for value in ("NONE", "BYTE", "BIT", 0, 1, 2)),
], ids=lambda codec: str(list(codec.values())[-1]))
def test_options_of_codecs(tmp_path, codec):
    if gdal.GetDriverByName("Zarr").GetMetadataItem("COMPRESSORS").find(codec["id"]) < 0:
        pytest.skip("this GDAL has no such codec")
    path = write_v2(tmp_path / "a.zarr", document(compressor=codec), None)
    dataset = open_store(path, update=True)
    array = dataset.GetRootGroup().OpenMDArray("a")
    assert array.Write(VALUES) == gdal.CE_None
    del array, dataset
    assert (read(path) == VALUES).all()
    assert (path / "a/0.0").read_bytes() != BYTES


def test_consolidated_metadata_without_its_format(tmp_path):
    metadata = {".zgroup": {"zarr_format": 2}, "a/.zarray": document()}
    path = write(tmp_path / "a.zarr", {".zgroup": {"zarr_format": 2}, "a/0.0": BYTES,
                                       ".zmetadata": {"metadata": metadata}})
    assert (read(path) == VALUES).all()


@pytest.mark.ours_only("it wants .zgroup beside .zmetadata")
def test_consolidated_metadata_alone(tmp_path):
    metadata = {".zgroup": {"zarr_format": 2}, "a/.zarray": document()}
    path = write(tmp_path / "a.zarr", {"a/0.0": BYTES, ".zmetadata": {"metadata": metadata}})
    assert (read(path) == VALUES).all()


@pytest.mark.parametrize("dtype", ["!u1", "|u1", "<u1", "!b1"])
def test_bytes_have_no_order(tmp_path, dtype):
    path = write_v2(tmp_path / "a.zarr", document(dtype), bytes([1, 0, 1, 1, 0, 1]))
    assert read(path).tolist() == [[1, 0, 1], [1, 0, 1]]


@pytest.mark.ours_only("it reads network order as little-endian")
@pytest.mark.parametrize("code", ["i2", "f8", "c8"])
def test_network_order(tmp_path, code):
    path = write_v2(tmp_path / "a.zarr", document(f"!{code}"), VALUES.astype(f">{code}").tobytes())
    assert (read(path) == VALUES).all()


@pytest.mark.parametrize("member", [
    "fill_value",
    *(pytest.param(name, marks=pytest.mark.ours_only("it wants all of these"))
      for name in ("compressor", "filters", "order")),
])
def test_missing_members(tmp_path, member):
    path = write_v2(tmp_path / "a.zarr", document(without=[member]))
    assert (read(path) == VALUES).all()


@pytest.mark.parametrize("dtype, fill_value, expected", [
    ("<c8", 1.5, 1.5),
    ("<i2", 3.0, 3),
    ("<f4", "-Infinity", float("-inf")),
    *(pytest.param(*values, marks=pytest.mark.ours_only("it refuses the fill value"))
      for values in [("<i2", "0x00", 0), ("<i2", "0b00", 0), ("<c8", [1, 2], 1 + 2j)]),
])
def test_fill_values(tmp_path, dtype, fill_value, expected):
    path = write_v2(tmp_path / "a.zarr", document(dtype, fill_value=fill_value), None)
    assert (read(path) == np.full((2, 3), expected)).all()


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("options", [[], ["COMPRESS=DEFLATE"], ["COMPRESS=LZW", "PREDICTOR=2"],
                                     ["TILED=YES"]])
def test_chunks_that_are_tiffs(tmp_path, options):
    memory = gdal.GetDriverByName("MEM").Create("", 3, 2, 1, gdal.GDT_Int16)
    memory.WriteArray(VALUES)
    tiff = tmp_path / "a.tif"
    gdal.GetDriverByName("GTiff").CreateCopy(str(tiff), memory, options=options)
    array = document(compressor={"id": "imagecodecs_tiff"})
    path = write_v2(tmp_path / "a.zarr", array, tiff.read_bytes())
    assert (read(path) == VALUES).all()
    assert (gdal.Open(f'ZARR:"{path}":/a').ReadAsArray() == VALUES).all()
    assert is_error(read, write_v2(tmp_path / "b.zarr", array, b"no TIFF"))


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("form", ["{}", 'ZARR:"{}"', "/vsikerchunk_json_ref/{{{}}}"])
def test_trailing_comma_of_references(tmp_path, form):
    array, path = json.dumps(json.dumps(document())), tmp_path / "a.json"
    path.write_text('{"version": 1, "refs": {".zgroup": "{\\"zarr_format\\": 2}", "a/.zarray": '
                    + array + ', "a/0.0": "base64:AQACAAMABAAFAAYA",}}')
    assert (gdal.Open(form.format(path)).ReadAsArray() == VALUES).all()


def crc32c(data):
    value = 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82f63b78 if value & 1 else 0)
    return (value ^ 0xffffffff).to_bytes(4, "little")


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("at", [0, 6, 11, 12, 20, 43, 44, 47, 48, 51])
def test_checksum_behind_shards(tmp_path, at):
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    codecs = [{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [1, 3], "codecs": [little], "index_codecs": [little, {"name": "crc32c"}],
        "index_location": "end"}}, {"name": "crc32c"}]
    path = write_v3(tmp_path / "a.zarr", codecs=codecs)
    index = np.array([0, 6, 6, 6], "<u8").tobytes()
    shard = BYTES + index + crc32c(index)
    shard += crc32c(shard)
    file = path / "a/c/0/0"
    file.write_bytes(shard)
    out = str(tmp_path / "a.tif")
    assert gdal.Translate(out, str(path)).ReadAsArray().tolist() == VALUES.tolist()
    file.write_bytes(shard[:at] + bytes([shard[at] ^ 0xff]) + shard[at + 1:])
    assert is_error(gdal.Translate, out, str(path))
