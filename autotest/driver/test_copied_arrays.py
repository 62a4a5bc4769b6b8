"""Copies of arrays of Zarr stores keep what GDAL's multidimensional API does not express."""
import json
import struct

import numpy as np
import pytest
import zarr
from multidim import open_root
from osgeo import gdal, osr
from stores import BYTES, CRC32C, GZIP, sharding, write_array, write_group, write_json
from test_programs import run
from v2_stores import write_v2, write_v2_group

NAMED = {"datetime": {"name": "numpy.datetime64",
                      "configuration": {"unit": "s", "scale_factor": 10}},
         "timedelta": {"name": "numpy.timedelta64",
                       "configuration": {"unit": "ms", "scale_factor": 1}},
         "utf32": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}},
         "bytes": {"name": "null_terminated_bytes", "configuration": {"length_bytes": 2}},
         "struct": {"name": "structured", "configuration": {
             "fields": [["a", "bool"], ["b", "float16"]]}}}
STRINGS = struct.pack("<I", 4) + b"".join(struct.pack("<I", 1) + x
                                          for x in (b"a", b"b", b"c", b"d"))
ONE_BYTE = {"name": "bytes"}
# Data type, codec, a chunk of four elements, fill value.
TYPES = [
    ("bool", ONE_BYTE, b"\0\1\1\0", True),
    ("int8", ONE_BYTE, b"\0\1\2\xff", -1),
    ("int2", ONE_BYTE, b"\0\1\xfe\xff", -2),
    ("uint4", ONE_BYTE, b"\0\1\2\x0f", 3),
    ("float16", BYTES, np.arange(4, dtype="<f2").tobytes(), "NaN"),
    ("bfloat16", BYTES, bytes([0, 63] * 4), 1.0),
    ("float8_e4m3", ONE_BYTE, bytes([1, 2, 0x38, 0x40]), 0.0),
    ("complex64", BYTES, np.arange(4, dtype="<c8").tobytes(), [1.0, "NaN"]),
    ("r16", BYTES, bytes(range(8)), [0, 7]),
    ("r24", BYTES, bytes(range(12)), [0, 7, 1]),
    (NAMED["datetime"], BYTES, np.arange(4, dtype="<i8").tobytes(), "NaT"),
    (NAMED["timedelta"], BYTES, np.arange(4, dtype="<i8").tobytes(), 5),
    (NAMED["utf32"], BYTES, "äbcdefgh".encode("utf-32-le"), "xy"),
    (NAMED["bytes"], BYTES, b"abcdefgh", "eHk="),
    ("string", {"name": "vlen-utf8"}, STRINGS, "none"),
]


def document(path):
    return json.loads((path / "zarr.json").read_text())


def copy(source, target, *options):
    run("gdalmdimtranslate", "-q", "-of", "Zarr", *(w for o in options for w in ("-co", o)),
        source, target)
    return target


def write_store(path, *, data_type, codecs, chunk, fill_value, grid=None, **members):
    write_group(path)
    write_json(path / "a/zarr.json", {
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": data_type,
        "chunk_grid": grid or {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill_value, "codecs": codecs, "attributes": {}, "dimension_names": ["d"],
        **members})
    (path / "a/c").mkdir()
    (path / "a/c/0").write_bytes(chunk)


@pytest.mark.parametrize("data_type, codec, chunk, fill_value", TYPES,
                         ids=[t[0] if isinstance(t[0], str) else t[0]["name"] for t in TYPES])
def test_stored_types_and_fill_values(tmp_path, data_type, codec, chunk, fill_value):
    write_store(tmp_path / "a.zarr", data_type=data_type, codecs=[codec], chunk=chunk,
                fill_value=fill_value)
    copy(tmp_path / "a.zarr", tmp_path / "b.zarr", "FORMAT=ZARR_V3")
    source, target = (document(tmp_path / name / "a") for name in ("a.zarr", "b.zarr"))
    for member in ("data_type", "fill_value", "codecs", "attributes", "chunk_grid"):
        assert target[member] == source[member]
    assert (tmp_path / "b.zarr/a/c/0").read_bytes() == chunk


def write_grid(path, **options):
    write_group(path)
    data = np.arange(20 * 30, dtype="i4").reshape(20, 30)
    write_array(path / "a", data, names=["y", "x"], **options)
    return data


LAYOUTS = {
    "chunks longer than the array": {"chunks": (64, 7), "codecs": [BYTES, GZIP, CRC32C]},
    "shards": {"chunks": (12, 10), "codecs": [sharding((4, 5), [BYTES, GZIP])]},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_chunks_shards_and_codecs(tmp_path, layout):
    data = write_grid(tmp_path / "a.zarr", **LAYOUTS[layout])
    copy(tmp_path / "a.zarr", tmp_path / "b.zarr", "FORMAT=ZARR_V3")
    source, target = (document(tmp_path / name / "a") for name in ("a.zarr", "b.zarr"))
    assert (target["codecs"], target["chunk_grid"]) == (source["codecs"], source["chunk_grid"])
    copied = open_root(tmp_path / "b.zarr").OpenMDArray("a")
    np.testing.assert_array_equal(copied.ReadAsArray(), data)


def test_rectilinear_grids(tmp_path):
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 3]]}}
    write_store(tmp_path / "a.zarr", data_type="uint8", codecs=[ONE_BYTE], chunk=b"\7",
                fill_value=0, grid=grid)
    (tmp_path / "a.zarr/a/c/1").write_bytes(b"\1\2\3")
    copy(tmp_path / "a.zarr", tmp_path / "b.zarr", "FORMAT=ZARR_V3")
    source, target = (document(tmp_path / name / "a") for name in ("a.zarr", "b.zarr"))
    assert target["chunk_grid"] == source["chunk_grid"]
    assert open_root(tmp_path / "b.zarr").OpenMDArray("a").ReadAsArray().tolist() == [7, 1, 2, 3]


def test_creation_options_come_first(tmp_path):
    """What they leave open is as in the source."""
    data = write_grid(tmp_path / "a.zarr", chunks=(12, 10),
                      codecs=[sharding((4, 5), [BYTES, GZIP])])
    copy(tmp_path / "a.zarr", tmp_path / "b.zarr", "FORMAT=ZARR_V3", "ARRAY:COMPRESS=ZSTD")
    copy(tmp_path / "a.zarr", tmp_path / "c.zarr", "FORMAT=ZARR_V3", "ARRAY:BLOCKSIZE=10,10")
    for name, codecs, chunks in (("b", ["bytes", "zstd"], [12, 10]),
                                 ("c", ["bytes", "gzip"], [10, 10])):
        array = document(tmp_path / f"{name}.zarr/a")
        own = array["codecs"]
        if name == "b":
            assert own[0]["configuration"]["chunk_shape"] == [4, 5]
            own = own[0]["configuration"]["codecs"]
        assert [codec["name"] for codec in own] == codecs
        assert array["chunk_grid"]["configuration"]["chunk_shape"] == chunks
        copied = open_root(tmp_path / f"{name}.zarr").OpenMDArray("a")
        np.testing.assert_array_equal(copied.ReadAsArray(), data)


def test_another_format_has_what_it_can_express(tmp_path):
    write_group(tmp_path / "a.zarr")
    flags = np.array([True, False, True])
    write_array(tmp_path / "a.zarr/flags", flags, (2,), [BYTES, GZIP], names=["d"])
    write_array(tmp_path / "a.zarr/sharded", np.arange(3.0), (4,), [sharding((2,))], names=["d"])
    write_store(tmp_path / "a.zarr/small", data_type="bfloat16", codecs=[BYTES],
                chunk=bytes([0, 63] * 4), fill_value=0)
    copy(tmp_path / "a.zarr", tmp_path / "b.zarr", "FORMAT=ZARR_V2")
    copied = zarr.open(str(tmp_path / "b.zarr"), mode="r")
    assert (copied["flags"].dtype, copied["flags"].chunks) == (bool, (2,))
    assert json.loads((tmp_path / "b.zarr/flags/.zarray").read_text())["compressor"] == {
        "id": "gzip", "level": 5}
    np.testing.assert_array_equal(copied["flags"][:], flags)
    assert copied["sharded"].chunks == (2,)
    np.testing.assert_array_equal(copied["sharded"][:], np.arange(3.0))
    assert copied["small/a"].dtype == "f4"
    assert copied["small/a"][:].tolist() == [0.5] * 4


def test_attributes_keep_their_types(tmp_path):
    stated = {"flag": True, "nothing": None, "whole": 3.0, "large": 2**60, "list": [1, 2.5],
              "_FillValue": 7, "missing_value": 8, "scale_factor": 2, "units": "K",
              "nested": {"a": [None]}}
    write_group(tmp_path / "a.zarr")
    write_array(tmp_path / "a.zarr/a", np.arange(4, dtype="i4"), names=["d"], attributes=stated)
    copy(tmp_path / "a.zarr", tmp_path / "b.zarr", "FORMAT=ZARR_V3")
    found = document(tmp_path / "b.zarr/a")["attributes"]
    assert json.dumps(found, sort_keys=True) == json.dumps(stated, sort_keys=True)


def write_mapped(path, mapping):
    """As rioxarray writes it."""
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(32633)
    write_v2_group(path)
    write_v2(path, mapping, np.array(7, "i8"), {
        "_ARRAY_DIMENSIONS": [], "crs_wkt": crs.ExportToWkt(), "comment": "kept",
        "GeoTransform": "500000 10 0 5000000 0 -10"})
    write_v2(path, "ndvi", np.arange(16, dtype="i2").reshape(4, 4),
             {"_ARRAY_DIMENSIONS": ["y", "x"], "grid_mapping": mapping})
    write_v2(path, "x", 500005 + 10.0 * np.arange(4), {"_ARRAY_DIMENSIONS": ["x"]})
    write_v2(path, "y", 4999995 - 10.0 * np.arange(4), {"_ARRAY_DIMENSIONS": ["y"]})


@pytest.mark.parametrize("mapping", ["spatial_ref", "a_crs"])
def test_grid_mapping_variables_are_copied_like_others(tmp_path, mapping):
    write_mapped(tmp_path / "a.zarr", mapping)
    copy(tmp_path / "a.zarr", tmp_path / "b.zarr")
    for name in (mapping, "ndvi", "x", "y"):
        for part in (".zarray", ".zattrs"):
            source, target = (json.loads((tmp_path / store / name / part).read_text())
                              for store in ("a.zarr", "b.zarr"))
            if part == ".zarray":
                target.setdefault("dimension_separator", ".")
                source.setdefault("dimension_separator", ".")
            assert target == source
    copied = gdal.Open(str(tmp_path / "b.zarr"))
    assert copied.GetSpatialRef().GetAuthorityCode(None) == "32633"
    assert copied.GetGeoTransform() == (500000, 10, 0, 5000000, 0, -10)


def test_a_copy_without_the_grid_mapping_variable_has_the_crs(tmp_path):
    write_mapped(tmp_path / "a.zarr", "spatial_ref")
    run("gdalmdimtranslate", "-q", "-of", "Zarr", "-array", "ndvi", tmp_path / "a.zarr",
        tmp_path / "b.zarr")
    copied = gdal.Open(str(tmp_path / "b.zarr"))
    assert copied.GetSpatialRef().GetAuthorityCode(None) == "32633"


@pytest.mark.parametrize("convention", ["GDAL", "CF", "SPATIAL_PROJ"])
def test_conventions_of_our_own_are_kept(tmp_path, convention):
    raster = gdal.GetDriverByName("MEM").Create("", 6, 5, 1)
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(32633)
    raster.SetSpatialRef(crs)
    raster.SetGeoTransform([500000, 10, 0, 5000000, 0, -10])
    gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "a.zarr"), raster, options=[
        "FORMAT=ZARR_V3", "GEOREFERENCING_CONVENTION=" + convention])
    copy(tmp_path / "a.zarr", tmp_path / "b.zarr", "FORMAT=ZARR_V3")
    source, target = (document(tmp_path / f"{name}.zarr" / "a") for name in ("a", "b"))
    assert target["attributes"] == source["attributes"]
    copied = gdal.Open(str(tmp_path / "b.zarr"))
    assert copied.GetSpatialRef().IsSame(crs, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"])
    assert copied.GetGeoTransform() == (500000, 10, 0, 5000000, 0, -10)


def test_netcdf_takes_chunks_longer_than_the_array(tmp_path):
    values = np.arange(3 * 4 * 5, dtype="f4").reshape(3, 4, 5)
    write_group(tmp_path / "a.zarr")
    write_array(tmp_path / "a.zarr/v", values, (10, 100, 100), names=["time", "y", "x"],
                attributes={"units": "K"})
    array = open_root(tmp_path / "a.zarr").OpenMDArray("v")
    assert array.GetBlockSize() == [3, 4, 5]
    run("gdalmdimtranslate", "-q", "-of", "netCDF", tmp_path / "a.zarr", tmp_path / "b.nc")
    array = open_root(tmp_path / "b.nc").OpenMDArray("v")
    np.testing.assert_array_equal(array.ReadAsArray(), values)
    assert array.GetUnit() == "K"
