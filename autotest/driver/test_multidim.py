"""The multidimensional API: groups, arrays, dimensions, attributes, and reading in every manner."""
import gc
import json
import math
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import zarr
from osgeo import gdal, osr
from stores import (
    BIG_ENDIAN, BLOSC, BYTES, CRC32C, GZIP, ZSTD, consolidate, edit_json, sharding, transpose,
    write_array, write_group,
)


def open_root(path, *options):
    """The root group, which outlives its dataset."""
    return gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER, open_options=options).GetRootGroup()


def open_array(path):
    """The array at the root of a store."""
    root = open_root(path)
    (name,) = root.GetMDArrayNames()
    return root.OpenMDArray(name)


def numeric(gdal_type):
    return gdal.ExtendedDataType.Create(gdal_type)


# --- Groups, arrays and dimensions ---------------------------------------------------------------

TREE = {
    "x": (np.arange(4.0), ["x"]),
    "y": (np.arange(3.0), ["y"]),
    "height": (np.arange(12).reshape(3, 4), ["y", "x"]),
    "sub/y": (np.arange(3.0) + 100, ["y"]),
    "sub/speed": (np.arange(12).reshape(3, 4) + 20, ["y", "x"]),
    "sub/deep/x": (np.arange(5.0), ["x"]),
    "sub/deep/depth": (np.arange(15).reshape(3, 5), ["y", "x"]),
    "sub/deep/wide": (np.arange(12).reshape(3, 4), ["y", "x"]),
    "sub/deep/odd": (np.arange(7), ["x"]),
    "sub/deep/bare": (np.arange(6).reshape(2, 3), None),
}


def write_v2_tree(path):
    root = zarr.open_group(str(path), "w")
    root.attrs["title"] = "root"
    for name, (data, names) in TREE.items():
        array = root.create_dataset(name, data=data)
        if names:
            array.attrs["_ARRAY_DIMENSIONS"] = names
    root["sub"].attrs["title"] = "sub"


def write_v3_tree(path):
    write_group(path, {"title": "root"})
    write_group(path / "sub", {"title": "sub"})
    write_group(path / "sub/deep")
    for name, (data, names) in TREE.items():
        write_array(path / name, data, names=names)


@pytest.fixture(params=["v2", "v2 consolidated", "v3", "v3 consolidated"])
def tree(request, tmp_path):
    if request.param.startswith("v2"):
        write_v2_tree(tmp_path)
        if "consolidated" in request.param:
            zarr.consolidate_metadata(str(tmp_path))
            (tmp_path / "sub/speed/.zarray").unlink()  # nobody may look there
    else:
        write_v3_tree(tmp_path)
        if "consolidated" in request.param:
            consolidate(tmp_path)
            (tmp_path / "sub/speed/zarr.json").unlink()
    return tmp_path


def test_groups_and_arrays(tree):
    root = open_root(tree)
    assert (root.GetName(), root.GetFullName()) == ("/", "/")
    assert root.GetAttribute("title").Read() == "root"
    assert root.GetGroupNames() == ["sub"]
    assert root.GetMDArrayNames() == ["height", "x", "y"]

    sub = root.OpenGroup("sub")
    assert (sub.GetName(), sub.GetFullName()) == ("sub", "/sub")
    assert [a.GetName() for a in sub.GetAttributes()] == ["title"]
    assert sub.GetGroupNames() == ["deep"]
    assert sub.GetMDArrayNames() == ["speed", "y"]

    deep = root.OpenGroupFromFullname("/sub/deep")
    assert deep.GetFullName() == "/sub/deep"
    assert deep.GetAttributes() == []
    assert deep.GetMDArrayNames() == ["bare", "depth", "odd", "wide", "x"]

    for name, (data, _) in TREE.items():
        array = root.OpenMDArrayFromFullname("/" + name)
        assert (array.GetName(), array.GetFullName()) == (Path(name).name, "/" + name)
        np.testing.assert_array_equal(array.ReadAsArray(), data)


def test_dimensions_are_shared(tree):
    root = open_root(tree)

    def dimensions(name):
        return [d.GetFullName() for d in root.OpenMDArrayFromFullname(name).GetDimensions()]

    assert dimensions("/height") == ["/y", "/x"]
    assert dimensions("/sub/speed") == ["/sub/y", "/x"]  # the variable of the nearest group
    assert dimensions("/sub/deep/depth") == ["/sub/y", "/sub/deep/x"]
    assert dimensions("/sub/deep/wide") == ["/sub/y", "/x"]  # /sub/deep/x has another size
    assert dimensions("/sub/deep/odd") == ["/sub/deep/x"]

    own = [(d.GetFullName(), d.GetSize()) for d in root.GetDimensions()]
    assert sorted(own) == [("/x", 4), ("/y", 3)]
    deep = root.OpenGroupFromFullname("/sub/deep").GetDimensions()
    assert sorted((d.GetFullName(), d.GetSize()) for d in deep) == [
        ("/sub/deep/x", 5), ("/sub/deep/x", 7)
    ]


def test_indexing_variables(tree):
    root = open_root(tree)
    y, x = root.OpenMDArrayFromFullname("/sub/speed").GetDimensions()
    assert y.GetIndexingVariable().GetFullName() == "/sub/y"
    np.testing.assert_array_equal(y.GetIndexingVariable().ReadAsArray(), [100, 101, 102])
    assert x.GetIndexingVariable().GetFullName() == "/x"
    # A variable is the indexing variable of its own dimension.
    (own,) = x.GetIndexingVariable().GetDimensions()
    assert own.GetFullName() == "/x"
    assert own.GetIndexingVariable().GetFullName() == "/x"
    # Nothing of this size is called x.
    (odd,) = root.OpenMDArrayFromFullname("/sub/deep/odd").GetDimensions()
    assert (odd.GetSize(), odd.GetIndexingVariable()) == (7, None)


def test_unnamed_dimensions(tree):
    bare = open_root(tree).OpenMDArrayFromFullname("/sub/deep/bare")
    assert [(d.GetName(), d.GetSize()) for d in bare.GetDimensions()] == [("dim0", 2), ("dim1", 3)]
    assert [d.GetIndexingVariable() for d in bare.GetDimensions()] == [None, None]


@pytest.mark.parametrize("name", ["nothing", "sub", "sub/nothing", "nothing/x"])
def test_absent_array(tree, name):
    with pytest.raises(RuntimeError, match="nothing|sub"):
        open_root(tree).OpenMDArrayFromFullname("/" + name)


@pytest.mark.parametrize("name", ["nothing", "x", "sub/speed"])
def test_absent_group(tree, name):
    with pytest.raises(RuntimeError, match=f"[Gg]roup.* /?{name}"):
        open_root(tree).OpenGroupFromFullname("/" + name)


@pytest.mark.parametrize("option", ["USE_CONSOLIDATED_METADATA", "USE_ZMETADATA"])
def test_consolidated_metadata_can_be_left_alone(tmp_path, option):
    write_v2_tree(tmp_path)
    zarr.consolidate_metadata(str(tmp_path))
    zarr.open_group(str(tmp_path)).create_dataset("late", data=[1, 2, 3])
    assert "late" not in open_root(tmp_path).GetMDArrayNames()
    assert "late" in open_root(tmp_path, option + "=NO").GetMDArrayNames()


def test_array_at_the_root(tmp_path):
    write_array(tmp_path / "lone.zarr", np.arange(6).reshape(2, 3), attributes={"of": "array"})
    root = open_root(tmp_path / "lone.zarr")
    assert root.GetMDArrayNames() == ["lone"]
    assert not root.GetGroupNames()
    assert root.GetAttributes() == []
    array = root.OpenMDArrayFromFullname("/lone")
    assert array.GetFullName() == "/lone"
    assert array.GetAttribute("of").Read() == "array"


def test_dimension_roles(tmp_path):
    """From standard_name, then units, then axis, then the name."""
    roles = {
        "east": ({"standard_name": "projection_x_coordinate"}, gdal.DIM_TYPE_HORIZONTAL_X, "EAST"),
        "b": ({"units": "degrees_north"}, gdal.DIM_TYPE_HORIZONTAL_Y, "NORTH"),
        "c": ({"axis": "X"}, gdal.DIM_TYPE_HORIZONTAL_X, "EAST"),
        "Longitude": ({}, gdal.DIM_TYPE_HORIZONTAL_X, "EAST"),
        "when": ({"units": "days since 2000-01-01"}, gdal.DIM_TYPE_TEMPORAL, None),
        "level": ({"axis": "Z", "positive": "down"}, gdal.DIM_TYPE_VERTICAL, "DOWN"),
        "x": ({"standard_name": "latitude"}, gdal.DIM_TYPE_HORIZONTAL_Y, "NORTH"),
        "scenario": ({}, None, None),
    }
    write_group(tmp_path)
    for name, (attributes, _, _) in roles.items():
        write_array(tmp_path / name, np.arange(2.0), names=[name], attributes=attributes)
    root = open_root(tmp_path)
    for name, (_, kind, direction) in roles.items():
        (dimension,) = root.OpenMDArray(name).GetDimensions()
        assert (dimension.GetType() or None, dimension.GetDirection() or None) == (kind, direction)


def test_coordinate_variables(tmp_path):
    write_group(tmp_path)
    for name in ("lat", "lon", "t"):
        attributes = {"coordinates": "lon lat absent ../lon"} if name == "t" else {}
        write_array(tmp_path / name, np.ones((2, 2)), names=["y", "x"], attributes=attributes)
    variables = open_root(tmp_path).OpenMDArray("t").GetCoordinateVariables()
    assert [v.GetFullName() for v in variables] == ["/lon", "/lat"]


# --- Attributes ----------------------------------------------------------------------------------

INT64, UINT64 = gdal.GDT_Int64, gdal.GDT_UInt64


@pytest.mark.parametrize("text, kind, value", [
    ("1", gdal.GDT_Int32, 1),
    ("-2147483648", gdal.GDT_Int32, -(2**31)),
    ("2147483648", INT64, 2**31),
    ("-9223372036854775808", INT64, -(2**63)),
    ("9223372036854775807", INT64, 2**63 - 1),
    ("9223372036854775808", UINT64, 2**63),
    ("18446744073709551615", UINT64, 2**64 - 1),
    ("18446744073709551616", gdal.GDT_Float64, 2.0**64),
    ("1.0", gdal.GDT_Float64, 1.0),
    ("-1.25e-300", gdal.GDT_Float64, -1.25e-300),
    ("NaN", gdal.GDT_Float64, math.nan),
    ("-Infinity", gdal.GDT_Float64, -math.inf),
    ("true", gdal.GDT_Byte, 1),
    ("false", gdal.GDT_Byte, 0),
    ("[1, -2, 3]", gdal.GDT_Int32, [1, -2, 3]),
    ("[7]", gdal.GDT_Int32, [7]),
    ("[1, 2147483648]", INT64, [1, 2**31]),
    ("[1, 9223372036854775808]", UINT64, [1, 2**63]),
    ("[-1, 9223372036854775808]", gdal.GDT_Float64, [-1.0, 2.0**63]),
    ("[1, 2.5, NaN]", gdal.GDT_Float64, [1.0, 2.5, math.nan]),
])
def test_number_attribute(tmp_path, text, kind, value):
    attribute = attribute_of(tmp_path, text)
    assert attribute.GetDataType().GetNumericDataType() == kind
    assert attribute.GetDimensionsSize() == ([len(value)] if isinstance(value, list) else [])
    code = {gdal.GDT_Byte: "B", gdal.GDT_Int32: "i", INT64: "q", UINT64: "Q"}.get(kind, "d")
    got = [number for (number,) in struct.iter_unpack(code, bytes(attribute.ReadAsRaw()))]
    np.testing.assert_equal(got, value if isinstance(value, list) else [value])


@pytest.mark.parametrize("text, value", [
    ('""', ""),
    ('"plain"', "plain"),
    ('"Größe 高さ 🗺"', "Größe 高さ 🗺"),
    (r'"\u00e9\ud83d\ude00 \"\\\n"', 'é😀 "\\\n'),
    ('["one", "zwei", "三"]', ["one", "zwei", "三"]),
    ('["only"]', ["only"]),
])
def test_text_attribute(tmp_path, text, value):
    attribute = attribute_of(tmp_path, text)
    assert attribute.GetDataType().GetClass() == gdal.GEDTC_STRING
    assert attribute.GetDataType().GetSubType() == gdal.GEDTST_NONE
    assert attribute.GetDimensionsSize() == ([len(value)] if isinstance(value, list) else [])
    assert attribute.ReadAsStringArray() == (value if isinstance(value, list) else [value])


@pytest.mark.parametrize("text", [
    "null",
    "[]",
    "{}",
    '[1, "two"]',
    "[true, false]",
    "[1, null]",
    "[[1, 2], [3, 4]]",
    '{"b": {"a": [1, 2.5, null]}, "a": "ü"}',
    '{"n": NaN, "i": [-Infinity]}',
])
def test_json_attribute(tmp_path, text):
    attribute = attribute_of(tmp_path, text)
    assert attribute.GetDataType().GetClass() == gdal.GEDTC_STRING
    assert attribute.GetDataType().GetSubType() == gdal.GEDTST_JSON
    assert attribute.GetDimensionsSize() == []
    got = json.loads(attribute.ReadAsString())
    np.testing.assert_equal(got, json.loads(text))
    if isinstance(got, dict):
        assert list(got) == list(json.loads(text))  # in the order of the file


def attribute_of(path, text):
    """The attribute that stands as `text` in zarr.json, after a check that groups read it alike."""
    for node in (path, path / "a"):
        write_group(node) if node == path else write_array(node, np.zeros(1))
        document = json.loads((node / "zarr.json").read_text())
        (node / "zarr.json").write_text(
            json.dumps(document | {"attributes": "HERE"}).replace('"HERE"', f'{{"it": {text}}}')
        )
    root = open_root(path)
    of_array = root.OpenMDArray("a").GetAttribute("it")
    of_group = root.GetAttribute("it")
    assert of_array.GetFullName() == "/a/it"
    assert of_group.GetDataType().Equals(of_array.GetDataType())
    assert of_group.GetDimensionsSize() == of_array.GetDimensionsSize()
    if of_group.GetDataType().GetClass() == gdal.GEDTC_STRING:
        assert of_group.ReadAsStringArray() == of_array.ReadAsStringArray()
    return of_array


def test_attributes_that_are_told_otherwise(tmp_path):
    """They are not listed, but are there for who asks for them."""
    attributes = {
        "scale_factor": 2.0, "add_offset": 1.0, "units": "K", "_FillValue": 0, "_CRS": {"url": "x"},
        "_ARRAY_DIMENSIONS": ["x"], "long_name": "temperature", "note": "left",
    }
    array = zarr.open_group(str(tmp_path), "w").create_dataset("t", data=np.arange(3, dtype="i2"))
    array.attrs.update(attributes)
    array = open_root(tmp_path).OpenMDArray("t")
    assert [a.GetName() for a in array.GetAttributes()] == ["long_name", "note"]
    assert array.GetAttribute("scale_factor").Read() == 2.0
    with pytest.raises(RuntimeError, match="_ARRAY_DIMENSIONS"):
        array.GetAttribute("_ARRAY_DIMENSIONS")


# --- What an array says of itself ----------------------------------------------------------------

@pytest.mark.parametrize("codecs, block", [
    ([BYTES], [4, 6]),
    ([transpose(1, 0), BYTES], [4, 6]),
    ([sharding((2, 3)), CRC32C], [2, 3]),
    ([sharding((4, 2), [sharding((2, 1))])], [2, 1]),
    ([transpose(1, 0), sharding((3, 4))], [4, 3]),
])
def test_block_size(tmp_path, codecs, block):
    write_array(tmp_path, np.arange(80).reshape(8, 10), (4, 6), codecs)
    assert open_array(tmp_path).GetBlockSize() == block


def test_structural_info_v3(tmp_path):
    write_array(tmp_path, np.zeros(4), codecs=[BYTES, GZIP, CRC32C])
    info = open_array(tmp_path).GetStructuralInfo()
    assert json.loads(info["CODECS"]) == [BYTES, GZIP, CRC32C]
    assert json.loads(info["FILTERS"]) == [GZIP]
    assert json.loads(info["COMPRESSOR"]) == CRC32C


def test_structural_info_v2(tmp_path):
    zarr.open_array(str(tmp_path), "w", shape=4, compressor=zarr.Zlib(level=3))
    info = open_array(tmp_path).GetStructuralInfo()
    assert json.loads(info["COMPRESSOR"]) == {
        "name": "numcodecs.zlib", "configuration": {"level": 3}
    }
    assert "FILTERS" not in info


@pytest.mark.parametrize("version, dtype, fill_value, attributes, nodata", [
    # A fill value is nodata, but for the zero that v3 makes a writer state.
    (2, "f4", None, {}, None),
    (2, "f4", 0, {}, 0.0),
    (2, "i2", -1, {}, -1),
    (3, "f4", 0, {}, None),
    (3, "f4", 1.5, {}, 1.5),
    (3, "f8", "NaN", {}, math.nan),
    (3, "f8", "-Infinity", {}, -math.inf),
    (3, "f4", "0x7fc00000", {}, math.nan),
    (3, "i2", 7, {}, 7),
    (3, "?", False, {}, None),
    # Attributes go before it.
    (2, "f4", 9, {"_FillValue": -5}, -5.0),
    (2, "f4", 9, {"_FillValue": "NaN"}, math.nan),
    (3, "i2", 0, {"_FillValue": 0}, 0),
    (3, "i2", 0, {"_FillValue": [3]}, 3),
    (3, "f4", 0, {"_FillValue": "AAAAAAAA+H8="}, math.nan),
    (3, "f4", 0, {"_FillValue": "AAAAAABAj8A="}, -1000.0),
    (3, "f8", 1, {"missing_value": 4.5}, 4.5),
    (3, "f8", 1, {"missing_value": 4.5, "_FillValue": 8.5}, 8.5),
    # What the type cannot hold is no value of it.
    (3, "u1", 0, {"_FillValue": -1}, None),
    (3, "u1", 0, {"_FillValue": 256, "missing_value": 255}, 255),
    (3, "i2", 0, {"_FillValue": 1.5}, None),
    # Integers that a double cannot tell from their neighbours.
    (3, "i8", -(2**63) + 1, {}, -(2**63) + 1),
    (2, "i8", 0, {"_FillValue": 2**53 + 1}, 2**53 + 1),
    (3, "u8", 2**64 - 1, {}, 2**64 - 1),
])
def test_nodata(tmp_path, version, dtype, fill_value, attributes, nodata):
    if version == 2:
        array = zarr.open_array(str(tmp_path), "w", shape=2, dtype=dtype, fill_value=fill_value)
        array.attrs.update(attributes)
    else:
        write_array(tmp_path, np.ones(2, dtype), attributes=attributes)
        edit_json(tmp_path / "zarr.json", fill_value=fill_value)
    array = open_array(tmp_path)
    got = {
        "i8": array.GetNoDataValueAsInt64, "u8": array.GetNoDataValueAsUInt64
    }.get(dtype, array.GetNoDataValueAsDouble)()
    np.testing.assert_equal(got, nodata)
    raw = array.GetNoDataValueAsRaw()
    if nodata is None:
        assert raw is None
    else:
        np.testing.assert_equal(np.frombuffer(raw, dtype), np.array([nodata], dtype))


def test_scale_offset_unit(tmp_path):
    attributes = {"scale_factor": 0.5, "add_offset": [-10], "units": "m s-1", "_FillValue": -1}
    write_array(tmp_path, np.array([-1, 0, 40], "i2"), attributes=attributes)
    array = open_array(tmp_path)
    assert (array.GetScale(), array.GetOffset(), array.GetUnit()) == (0.5, -10, "m s-1")
    unscaled = array.GetUnscaled().ReadAsArray()
    np.testing.assert_array_equal(unscaled, [math.nan, -10, 10])
    np.testing.assert_array_equal(array.GetMask().ReadAsArray(), [0, 1, 1])
    assert array.ReadAsMaskedArray().tolist() == [None, 0, 40]


def test_no_scale_offset_unit(tmp_path):
    """Text is not a scale, and the unit of a time axis is left for programs to parse."""
    attributes = {"scale_factor": "big", "units": "days since 1970-01-01"}
    write_array(tmp_path, np.zeros(2), attributes=attributes)
    array = open_array(tmp_path)
    assert (array.GetScale(), array.GetOffset()) == (None, None)
    assert sorted(a.GetName() for a in array.GetAttributes()) == ["scale_factor", "units"]
    assert array.GetAttribute("units").Read() == "days since 1970-01-01"


def test_axis_mapping_of_an_array(tmp_path):
    """Numbers count the array's dimensions; a lat-first CRS has its latitude on Y."""
    for crs, mapping in ((4326, [2, 3]), (32633, [3, 2])):
        write_array(tmp_path, np.zeros((2, 2, 2)), names=["time", "y", "x"],
                    attributes={"_CRS": {"url": f"http://www.opengis.net/def/crs/EPSG/0/{crs}"}})
        srs = open_array(tmp_path).GetSpatialRef()
        want = osr.SpatialReference()
        want.ImportFromEPSG(crs)
        assert srs.IsSame(want, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"])
        assert srs.GetDataAxisToSRSAxisMapping() == mapping


# --- Types ---------------------------------------------------------------------------------------

NUMBERS = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
# What GDAL shows where it has no such type.
STAND_INS = {"?": "u1"}
if not hasattr(gdal, "GDT_Int8"):
    STAND_INS["i1"] = "i2"
if not hasattr(gdal, "GDT_Float16"):
    STAND_INS["f2"] = "f4"


@pytest.mark.parametrize("codecs", [[BYTES], [BIG_ENDIAN, BLOSC]], ids=["little", "big"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_buffer_types(tmp_path, dtype, codecs):
    """Numbers come out in every type that GDAL has as GDAL's own memory driver gives them."""
    values = [0, 1, 2.5, 127, 128, 255, 256, 65535, 2**31, 2**53 + 1, 2**63, -1, -2.5, -(2**31)]
    if dtype[0] in "fc":
        values += [math.nan, math.inf, 1e300]
    if dtype[0] == "c":
        values[1] = 1 - 300.5j
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        values = [min(max(int(v), info.min), info.max) for v in values]
    with np.errstate(over="ignore"):
        data = np.array(values).astype(kind)
    write_array(tmp_path, data, codecs=codecs)
    array = open_array(tmp_path)

    seen = data.astype(STAND_INS.get(dtype, dtype))
    np.testing.assert_array_equal(array.ReadAsArray(), seen)
    memory = gdal.GetDriverByName("MEM").CreateMultiDimensional("").GetRootGroup()
    dimension = memory.CreateDimension("d", "", "", data.size)
    reference = memory.CreateMDArray("a", [dimension], array.GetDataType())
    reference.Write(seen)
    for gdal_type in range(1, gdal.GDT_TypeCount):
        got = array.Read(buffer_datatype=numeric(gdal_type))
        assert got == reference.Read(buffer_datatype=numeric(gdal_type)), (
            f"as {gdal.GetDataTypeName(gdal_type)}"
        )


WORDS = [["", "a", "éü"], ["高さ", "🗺x", "abcd"]]


@pytest.mark.parametrize("dtype", ["<U4", ">U4", "|S12"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_strings_v2(tmp_path, dtype, order):
    data = np.array(WORDS)
    data = np.char.encode(data, "utf-8").astype(dtype) if "S" in dtype else data.astype(dtype)
    zarr.array(data, store=str(tmp_path), chunks=(2, 2), order=order, fill_value=None)
    assert_words(open_array(tmp_path))


@pytest.mark.parametrize("name, codecs", [
    ("fixed_length_utf32", [BYTES]),
    ("fixed_length_utf32", [BIG_ENDIAN, GZIP]),
    ("null_terminated_bytes", [BYTES, ZSTD]),
    ("null_terminated_bytes", [sharding((1, 3))]),
])
def test_strings_v3(tmp_path, name, codecs):
    data = np.array(WORDS, "U4")
    if name == "null_terminated_bytes":
        data = np.char.encode(data, "utf-8").astype("S12")
    data_type = {"name": name, "configuration": {"length_bytes": data.dtype.itemsize}}
    write_array(tmp_path, data, codecs=codecs, fill_value="", data_type=data_type)
    assert_words(open_array(tmp_path))


@pytest.mark.parametrize("data", [np.array([b"a\0b"], "S4"), np.array(["a\0b"], "U4"),
                                  np.array([0xD800], "u4").view("U1")], ids=["S", "U", "surrogate"])
def test_strings_that_gdal_cannot_hold(tmp_path, data):
    """They are errors: GDAL's strings end at the first zero byte, and are UTF-8."""
    zarr.array(data, store=str(tmp_path), fill_value=None)
    with pytest.raises(RuntimeError, match="an element holds"):
        open_array(tmp_path).Read()


def assert_words(array):
    assert array.GetDataType().GetClass() == gdal.GEDTC_STRING
    assert array.GetNoDataValueAsRaw() is None
    assert array.Read() == sum(WORDS, [])
    assert array.Read([1, 2], [2, 2], [-1, -2]) == ["abcd", "高さ", "éü", ""]
    with pytest.raises(RuntimeError, match="not convertible"):
        array.ReadAsArray(buffer_datatype=numeric(gdal.GDT_CFloat32))


@pytest.mark.parametrize("size, gdal_type", [
    (1, gdal.GDT_Byte), (2, gdal.GDT_UInt16), (4, gdal.GDT_UInt32), (8, gdal.GDT_UInt64),
])
def test_raw_bits_as_integers(tmp_path, size, gdal_type):
    data = np.arange(1, 4, dtype=f"u{size}") * np.array(2 ** (8 * size) // 5, f"u{size}")
    write_array(tmp_path, data, data_type=f"r{8 * size}")
    edit_json(tmp_path / "zarr.json", fill_value=[0] * size)
    array = open_array(tmp_path)
    assert array.GetDataType().GetNumericDataType() == gdal_type
    np.testing.assert_array_equal(array.ReadAsArray(), data)


def test_raw_bits_as_bytes(tmp_path):
    zarr.array(np.array([b"abc", b"\0de"], "V3"), store=str(tmp_path), fill_value=None)
    array = open_array(tmp_path)
    kind = array.GetDataType()
    assert (kind.GetClass(), kind.GetSize()) == (gdal.GEDTC_COMPOUND, 3)
    assert [c.GetOffset() for c in kind.GetComponents()] == [0, 1, 2]
    assert bytes(array.Read()) == b"abc\0de"
    middle = kind.GetComponents()[1].GetName()
    np.testing.assert_array_equal(array.GetView(f"['{middle}']").ReadAsArray(), list(b"bd"))


# --- Reading -------------------------------------------------------------------------------------

DATA = np.arange(11 * 13 * 7, dtype="i4").reshape(11, 13, 7)
CHAINS = {
    "plain": [BYTES],
    "blosc": [BYTES, BLOSC],
    "checked": [BIG_ENDIAN, GZIP, CRC32C],
    "transposed": [transpose(2, 0, 1), BYTES, ZSTD],
    "transposed twice": [transpose(2, 0, 1), transpose(1, 0, 2), BYTES],
    "sharded": [sharding((2, 3, 4), [BYTES, ZSTD])],
    "index first": [sharding((2, 6, 1), index_codecs=[BIG_ENDIAN], index_location="start")],
    "sharded twice": [sharding((4, 3, 4), [sharding((1, 3, 2), [BYTES, GZIP, CRC32C])]), CRC32C],
    "transposed shard": [transpose(1, 2, 0), sharding((3, 2, 4))],
    "transposed in shard": [sharding((2, 3, 4), [transpose(2, 1, 0), BYTES])],
    "compressed shard": [sharding((4, 3, 4)), ZSTD],
}


@pytest.mark.parametrize("codecs", CHAINS.values(), ids=CHAINS)
def test_selections(tmp_path, codecs):
    """Starts, counts, steps of both signs and strides of the buffer, all at random."""
    write_array(tmp_path, DATA, (4, 6, 4), codecs)
    array = open_array(tmp_path)
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    assert_random_selections(array, DATA)


@pytest.mark.parametrize("order", "CF")
def test_selections_v2(tmp_path, order):
    zarr.array(DATA, store=str(tmp_path), chunks=(4, 6, 4), order=order)
    assert_random_selections(open_array(tmp_path), DATA)


def assert_random_selections(array, data):
    random = np.random.default_rng(1)
    for _ in range(60):
        start, count, step = [], [], []
        for length in data.shape:
            begin, end = random.integers(length, size=2)
            stride = int(random.integers(1, 5))
            start.append(int(begin))
            count.append(int(abs(end - begin)) // stride + 1)
            step.append(stride if end >= begin else -stride)
        index = np.ix_(*(s + np.arange(n) * d for s, n, d in zip(start, count, step)))
        want = data[index]
        # The buffer's dimensions lie in any order, maybe with gaps between its elements.
        order = random.permutation(data.ndim)
        gap = int(random.integers(1, 3))
        stride = [0] * data.ndim
        for axis in order:
            stride[axis] = gap
            gap *= count[axis]
        raw = np.frombuffer(array.Read(start, count, step, stride), data.dtype)
        got = np.lib.stride_tricks.as_strided(raw, count, [s * data.itemsize for s in stride])
        np.testing.assert_array_equal(got, want, err_msg=f"{start} {count} {step} {stride}")


def test_selection_outside(tmp_path):
    write_array(tmp_path, DATA)
    array = open_array(tmp_path)
    for start, count, step in (
        ([11, 0, 0], [1, 1, 1], [1, 1, 1]),
        ([10, 0, 0], [2, 1, 1], [1, 1, 1]),
        ([0, 3, 0], [1, 5, 1], [1, -1, 1]),
    ):
        with pytest.raises(RuntimeError, match=r"arrayStartIdx\[[01]\]"):
            array.Read(start, count, step)


def test_views(tmp_path):
    write_array(tmp_path, DATA, (4, 6, 4), CHAINS["sharded"])
    array = open_array(tmp_path)
    for view, index in {
        "[::2,...]": np.s_[::2, ...],
        "[3,:,::-1]": np.s_[3, :, ::-1],
        "[...,-1]": np.s_[..., -1],
        "[10:2:-3,4,1:6:2]": np.s_[10:2:-3, 4, 1:6:2],
        "[:,newaxis,5,:]": np.s_[:, None, 5, :],
    }.items():
        np.testing.assert_array_equal(array.GetView(view).ReadAsArray(), DATA[index], err_msg=view)
    transposed = array.Transpose([2, 0, 1])
    assert transposed.GetBlockSize() == [4, 2, 3]
    np.testing.assert_array_equal(transposed.ReadAsArray(), DATA.transpose(2, 0, 1))
    np.testing.assert_array_equal(
        transposed.GetView("[1:3]").ReadAsArray([0, 9, 0], [2, 4, 3], [1, -3, 6]),
        DATA.transpose(2, 0, 1)[1:3, 9::-3, ::6],
    )


def test_absent_chunks_are_fill_value(tmp_path):
    data = np.full((6, 6), -7, "i2")
    data[2:4, 4:] = 5
    for codecs in ([BYTES, ZSTD], [sharding((1, 2))]):
        write_array(tmp_path / codecs[0]["name"], data, (2, 2), codecs, fill_value=-7)
        assert len(list((tmp_path / codecs[0]["name"] / "c").rglob("*"))) == 2  # c/1, c/1/2
        np.testing.assert_array_equal(open_array(tmp_path / codecs[0]["name"]).ReadAsArray(), data)


@pytest.mark.parametrize("version", [2, 3])
def test_no_dimensions(tmp_path, version):
    if version == 2:
        zarr.array(np.float64(2.5), store=str(tmp_path))
    else:
        write_array(tmp_path, np.float64(2.5), (), [BYTES, ZSTD, CRC32C])
    array = open_array(tmp_path)
    assert (array.GetDimensionCount(), array.GetTotalElementsCount()) == (0, 1)
    assert array.GetBlockSize() == []
    assert array.ReadAsArray() == 2.5
    assert struct.unpack("i", array.Read(buffer_datatype=numeric(gdal.GDT_Int32))) == (3,)


@pytest.mark.parametrize("shape, chunks", [((5, 4), (1, 1)), ((3, 3), (8, 5)), ((7,), (2**20,)),
                                           ((1,) * 30 + (3, 2), (1,) * 30 + (2, 2))], ids=str)
def test_shapes_at_the_edge(tmp_path, shape, chunks):
    """Chunks of one element, chunks larger than the array, as many dimensions as NumPy has."""
    data = np.arange(1, 1 + np.prod(shape), dtype="i4").reshape(shape)
    write_array(tmp_path, data, chunks)
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), data)


@pytest.mark.parametrize("shape, chunks", [((0,), (0,)), ((0, 5), (1, 5)), ((3, 0, 2), (2, 1, 2))],
                         ids=str)
def test_dimensions_of_length_zero(tmp_path, shape, chunks):
    write_array(tmp_path, np.empty(shape, "f4"), [c or 1 for c in chunks])
    edit_json(tmp_path / "zarr.json",
              chunk_grid={"name": "regular", "configuration": {"chunk_shape": chunks}})
    array = open_array(tmp_path)
    assert tuple(d.GetSize() for d in array.GetDimensions()) == shape
    assert array.GetTotalElementsCount() == 0
    with pytest.raises(RuntimeError, match="length 0"):
        gdal.Open(str(tmp_path))


def test_million_million_chunks(tmp_path):
    write_array(tmp_path, np.ones((1, 1), "u1"), fill_value=9)
    edit_json(tmp_path / "zarr.json", shape=[10**6, 10**6])
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray([0, 0], [2, 2]), [[1, 9], [9, 9]])
    raster = gdal.Open(str(tmp_path))
    np.testing.assert_array_equal(raster.ReadAsArray(10**6 - 3, 10**6 - 2, 3, 2), [[9] * 3] * 2)


@pytest.mark.parametrize("codecs", [[BYTES], [sharding((10, 10))]], ids=["plain", "sharded"])
def test_huge_sparse_array(tmp_path, codecs):
    """10^12 elements of which one chunk exists; nothing may be done for each of the others."""
    write_array(tmp_path, np.ones((100, 100), "i2"), codecs=codecs, fill_value=9)
    edit_json(tmp_path / "zarr.json", shape=[10**6, 10**6])
    (tmp_path / "c/0/0").rename(tmp_path / "last")
    (tmp_path / "c/9999").mkdir()
    (tmp_path / "last").rename(tmp_path / "c/9999/9999")

    array = open_array(tmp_path)
    assert array.GetTotalElementsCount() == 10**12
    want = np.full((200, 200), 9, "i2")
    want[100:, 100:] = 1
    got = array.ReadAsArray([10**6 - 200] * 2, [200, 200])
    np.testing.assert_array_equal(got, want)
    steps = array.ReadAsArray([10**6 - 1, 0], [11, 11], [-99_999, 99_999])
    assert steps.sum() == 121 * 9 - 8  # only the corner is in the chunk
    assert steps[0, -1] == 1


def test_dimension_beyond_32_bits(tmp_path):
    write_array(tmp_path, np.arange(4, dtype="u1"))
    length = 2**62 + 4
    edit_json(tmp_path / "zarr.json", shape=[length])
    (tmp_path / "c/0").rename(tmp_path / f"c/{2**60}")
    array = open_array(tmp_path)
    assert array.GetDimensions()[0].GetSize() == length
    assert array.ReadAsArray([length - 6], [6]).tolist() == [0, 0, 0, 1, 2, 3]
    assert array.ReadAsArray([length - 1], [3], [-(2**61)]).tolist() == [3, 0, 0]


def test_array_outlives_its_dataset(tmp_path):
    write_group(tmp_path)
    for name in "yx":
        write_array(tmp_path / name, np.arange(3.0), names=[name])
    write_array(tmp_path / "a", np.arange(9).reshape(3, 3), names=["y", "x"])
    dataset = gdal.OpenEx(str(tmp_path), gdal.OF_MULTIDIM_RASTER)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray("a")
    del dataset, root
    gc.collect()
    np.testing.assert_array_equal(array.ReadAsArray(), np.arange(9).reshape(3, 3))
    dimension = array.GetDimensions()[0]
    del array
    gc.collect()
    assert dimension.GetIndexingVariable().ReadAsArray().tolist() == [0, 1, 2]


# --- Threads -------------------------------------------------------------------------------------

@pytest.mark.parametrize("chain", ["blosc", "sharded twice"])
def test_threads_share_an_array(tmp_path, chain):
    write_array(tmp_path, DATA, (4, 6, 4), CHAINS[chain])
    array = open_array(tmp_path)

    def read(seed):
        random = np.random.default_rng(seed)
        for _ in range(50):
            start = [int(random.integers(n)) for n in DATA.shape]
            count = [int(random.integers(1, n - s + 1)) for s, n in zip(start, DATA.shape)]
            want = DATA[tuple(slice(s, s + n) for s, n in zip(start, count))]
            if not np.array_equal(array.ReadAsArray(start, count), want):
                return f"{start} {count}"
        return None

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read, range(8))) == [None] * 8


COUNT_THREADS = """
import os, sys
from osgeo import gdal
gdal.UseExceptions()
array = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("a")
threads = lambda: len(os.listdir("/proc/self/task"))
before = threads()
eval(sys.argv[2])
array.ReadAsArray()
print(threads() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
@pytest.mark.parametrize("statement, environment, extra", [
    ("None", "1", 0),
    ("None", "4", 3),
    ("gdal.SetConfigOption('GDAL_NUM_THREADS', '3')", "1", 2),
    ("gdal.SetThreadLocalConfigOption('GDAL_NUM_THREADS', '5')", "1", 4),
    ("gdal.SetThreadLocalConfigOption('GDAL_NUM_THREADS', '1')", "4", 0),
])
def test_number_of_threads(tmp_path, monkeypatch, statement, environment, extra):
    """The calling thread is one of GDAL_NUM_THREADS, wherever that is set."""
    write_group(tmp_path)
    write_array(tmp_path / "a", np.arange(1024, dtype="u2").reshape(32, 32), (4, 4))
    monkeypatch.setenv("GDAL_NUM_THREADS", environment)
    result = subprocess.run(
        [sys.executable, "-c", COUNT_THREADS, tmp_path, statement],
        check=True, capture_output=True, text=True, timeout=60,
    )
    assert int(result.stdout) == extra


def chunk_files(path):
    return [file for file in path.rglob("*") if file.is_file() and file.name != "zarr.json"]


@pytest.mark.parametrize("codecs", CHAINS.values(), ids=CHAINS)
def test_advise_read(tmp_path, codecs):
    """What has been read in advance needs its files no more."""
    write_array(tmp_path, DATA, (4, 6, 4), codecs)
    array = open_array(tmp_path)
    assert array.AdviseRead([0, 0, 0], [8, 12, 7]) == gdal.CE_None
    for file in chunk_files(tmp_path):
        file.write_bytes(b"gone")
    np.testing.assert_array_equal(array.ReadAsArray([0, 0, 0], [8, 12, 7]), DATA[:8, :12])
    np.testing.assert_array_equal(array.ReadAsArray([7, 1, 2], [4, 2, 2], [-2, 3, 1]),
                                  DATA[7:0:-2, 1:5:3, 2:4])


def test_advise_read_is_bounded(tmp_path):
    write_array(tmp_path, DATA, (4, 6, 4))
    array = open_array(tmp_path)
    everything = [0] * 3, list(DATA.shape)
    with pytest.raises(RuntimeError, match="CACHE_SIZE allows 100"):
        array.AdviseRead(*everything, ["CACHE_SIZE=100"])
    assert array.AdviseRead(*everything, ["CACHE_SIZE=1000000", "NUM_THREADS=2"]) == gdal.CE_None
    edit_json(tmp_path / "zarr.json", shape=[10**6, 10**6, 10**6])
    with pytest.raises(RuntimeError, match="to be read in advance"):
        open_array(tmp_path).AdviseRead([0] * 3, [10**6] * 3)


@pytest.mark.parametrize("option, seen", [("NO", 5), ("YES", 9)])
def test_tile_presence_is_cached_when_asked_for(tmp_path, option, seen):
    write_array(tmp_path, np.array([1, 9, 3, 9], "u1"), (1,), fill_value=9)
    dataset = gdal.OpenEx(str(tmp_path), gdal.OF_MULTIDIM_RASTER,
                          open_options=[f"CACHE_TILE_PRESENCE={option}"])
    root = dataset.GetRootGroup()
    array = root.OpenMDArray(root.GetMDArrayNames()[0])
    assert array.ReadAsArray().tolist() == [1, 9, 3, 9]
    (tmp_path / "c/1").write_bytes(b"\5")
    assert array.ReadAsArray().tolist() == [1, seen, 3, 9]
