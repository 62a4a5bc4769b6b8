"""GetStructuralInfo: codecs and data types as the metadata states them."""
import json

import pytest
from multidim_stores import FORMATS, create, create_array, open_store
from osgeo import gdal

UINT16 = gdal.ExtendedDataType.Create(gdal.GDT_UInt16)


def structural_info(path, options, version):
    dataset = create(path, [f"FORMAT={version}"])
    array = create_array(dataset, [4, 6], ["BLOCKSIZE=2,3", *options], UINT16)
    infos = [array.GetStructuralInfo() or {}]
    del array, dataset
    dataset = open_store(path)
    array = dataset.GetRootGroup().OpenMDArray("a")
    infos.append(array.GetStructuralInfo() or {})
    # Not of all drivers: the whole chain.
    for info in infos:
        info.pop("CODECS", None)
    assert sorted(infos[0]) == sorted(infos[1])
    return {name: json.loads(value) for name, value in infos[1].items()}


@pytest.mark.parametrize("version", FORMATS)
def test_no_codec(tmp_path, version):
    assert structural_info(tmp_path / "a.zarr", [], version) == {}


@pytest.mark.builtin_since("3.13")
def test_compressor_of_v2(tmp_path):
    info = structural_info(tmp_path / "a.zarr", ["COMPRESS=ZLIB", "ZLIB_LEVEL=3"], "ZARR_V2")
    assert info == {"COMPRESSOR": {"id": "zlib", "level": 3}}


@pytest.mark.builtin_since("3.13")
def test_filters_of_v2(tmp_path):
    delta = {"id": "delta", "dtype": "<u2"}
    info = structural_info(tmp_path / "a.zarr", ["FILTER=DELTA"], "ZARR_V2")
    assert info == {"FILTERS": [delta]}
    info = structural_info(tmp_path / "b.zarr", ["FILTER=DELTA", "COMPRESS=ZLIB"], "ZARR_V2")
    assert info == {"COMPRESSOR": {"id": "zlib", "level": 6}, "FILTERS": [delta]}


@pytest.mark.builtin_since("3.13")
def test_blosc_of_v2(tmp_path):
    info = structural_info(tmp_path / "a.zarr", ["COMPRESS=BLOSC"], "ZARR_V2")["COMPRESSOR"]
    assert (info["id"], info["cname"], info["clevel"]) == ("blosc", "lz4", 5)


@pytest.mark.builtin_since("3.13")
@pytest.mark.gdal_since("3.8")
@pytest.mark.parametrize("order", ["C", "F"])
def test_compressor_of_v3(tmp_path, order):
    options = ["COMPRESS=GZIP", "GZIP_LEVEL=3", f"CHUNK_MEMORY_LAYOUT={order}"]
    info = structural_info(tmp_path / "a.zarr", options, "ZARR_V3")
    assert info == {"COMPRESSOR": {"name": "gzip", "configuration": {"level": 3}}}


@pytest.mark.builtin_since("3.13")
def test_shards(tmp_path):
    dataset = create(tmp_path / "a.zarr", ["FORMAT=ZARR_V3"])
    array = create_array(dataset, [4, 6], ["BLOCKSIZE=4,6", "SHARD_CHUNK_SHAPE=2,3"], UINT16)
    codec = json.loads(array.GetStructuralInfo()["COMPRESSOR"])
    assert (codec["name"], codec["configuration"]["chunk_shape"]) == ("sharding_indexed", [2, 3])


def write_v3(path, data_type, fill_value):
    path.mkdir()
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
    grid = {"name": "regular", "configuration": {"chunk_shape": [2]}}
    keys = {"name": "default", "configuration": {"separator": "/"}}
    (path / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": [2], "data_type": data_type,
        "chunk_grid": grid, "chunk_key_encoding": keys, "codecs": codecs,
        "fill_value": fill_value, "attributes": {}}))


@pytest.mark.builtin_since("3.13")
def test_data_types_with_configuration(tmp_path):
    time = {"name": "numpy.timedelta64", "configuration": {"unit": "s", "scale_factor": 10}}
    text = {"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}}
    for number, (data_type, fill_value) in enumerate([(time, 0), (text, "")]):
        write_v3(tmp_path / f"{number}", data_type, fill_value)
    root = open_store(tmp_path / "0").GetRootGroup()
    info = root.OpenMDArray(root.GetMDArrayNames()[0]).GetStructuralInfo()
    got = {name: info[name] for name in info if name.startswith("data_type.")}
    assert got == {"data_type.name": "numpy.timedelta64", "data_type.unit": "s",
                   "data_type.scale_factor": "10"}
    root = open_store(tmp_path / "1").GetRootGroup()
    info = root.OpenMDArray(root.GetMDArrayNames()[0]).GetStructuralInfo()
    assert info["data_type.name"] == "null_terminated_bytes"
