"""The multidimensional API: groups, arrays, dimensions, attributes, and properties of arrays."""
import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest
import zarr
from multidim import open_array, open_root
from numcodecs import Zlib
from osgeo import gdal, osr
from stores import (
    BYTES,
    CRC32C,
    GZIP,
    consolidate,
    edit_json,
    sharding,
    transpose,
    write_array,
    write_group,
)
from v2_stores import write_v2, write_v2_group

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
    write_v2_group(path, {"title": "root"})
    write_v2_group(path / "sub", {"title": "sub"})
    for name, (data, names) in TREE.items():
        write_v2(path, name, data, {"_ARRAY_DIMENSIONS": names} if names else None)


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
            (tmp_path / "sub/speed/.zarray").unlink()  # nobody may read there
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
    assert root.GetMDArrayNames() == ["x", "y", "height"]

    sub = root.OpenGroup("sub")
    assert (sub.GetName(), sub.GetFullName()) == ("sub", "/sub")
    assert [a.GetName() for a in sub.GetAttributes()] == ["title"]
    assert sub.GetGroupNames() == ["deep"]
    assert sub.GetMDArrayNames() == ["y", "speed"]

    deep = root.OpenGroupFromFullname("/sub/deep")
    assert deep.GetFullName() == "/sub/deep"
    assert deep.GetAttributes() == []
    assert deep.GetMDArrayNames() == ["x", "bare", "depth", "odd", "wide"]

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
    # No dimension of this size is called x.
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
    write_v2(tmp_path, "late", [1, 2, 3])
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
    """From standard_name, else units, else axis, else the name."""
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
    "true",
    "false",
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
    """The attribute with the JSON `text` in zarr.json; checks that groups read it alike."""
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
    """They are not listed, but open by name."""
    attributes = {
        "scale_factor": 2.0, "add_offset": 1.0, "units": "K", "_FillValue": 0, "_CRS": {"url": "x"},
        "_ARRAY_DIMENSIONS": ["x"], "long_name": "temperature", "note": "left",
    }
    write_v2(tmp_path, "t", np.arange(3, dtype="i2"), attributes)
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
    write_v2(tmp_path, "", np.zeros(4), compressor=Zlib(level=3))
    info = open_array(tmp_path).GetStructuralInfo()
    assert json.loads(info["COMPRESSOR"]) == {"id": "zlib", "level": 3}
    assert "FILTERS" not in info


@pytest.mark.parametrize("version, dtype, fill_value, attributes, nodata", [
    # A fill value is nodata, except the zero that v3 requires of writers.
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
    # Attributes take precedence over it.
    (2, "f4", 9, {"_FillValue": -5}, -5.0),
    (2, "f4", 9, {"_FillValue": "NaN"}, math.nan),
    (3, "i2", 0, {"_FillValue": 0}, 0),
    (3, "i2", 0, {"_FillValue": [3]}, 3),
    (3, "f4", 0, {"_FillValue": "AAAAAAAA+H8="}, math.nan),
    (3, "f4", 0, {"_FillValue": "AAAAAABAj8A="}, -1000.0),
    (3, "f8", 1, {"missing_value": 4.5}, 4.5),
    (3, "f8", 1, {"missing_value": 4.5, "_FillValue": 8.5}, 8.5),
    # A value that does not fit the type is ignored.
    (3, "u1", 0, {"_FillValue": -1}, None),
    (3, "u1", 0, {"_FillValue": 256, "missing_value": 255}, 255),
    (3, "i2", 0, {"_FillValue": 1.5}, None),
    # Integers that a double cannot represent exactly.
    (3, "i8", -(2**63) + 1, {}, -(2**63) + 1),
    (2, "i8", 0, {"_FillValue": 2**53 + 1}, 2**53 + 1),
    (3, "u8", 2**64 - 1, {}, 2**64 - 1),
])
def test_nodata(tmp_path, version, dtype, fill_value, attributes, nodata):
    if version == 2:
        write_v2(tmp_path, "", np.ones(2, dtype), attributes, fill_value=fill_value)
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
    """Text is not a scale, and the unit of a time axis is its unit, not an attribute as well."""
    attributes = {"scale_factor": "big", "units": "days since 1970-01-01"}
    write_array(tmp_path, np.zeros(2), attributes=attributes)
    array = open_array(tmp_path)
    assert (array.GetScale(), array.GetOffset()) == (None, None)
    assert sorted(a.GetName() for a in array.GetAttributes()) == ["scale_factor"]
    assert array.GetUnit() == "days since 1970-01-01"
    assert "units" in [a.GetName() for a in array.GetAttributes(["SHOW_ALL=YES"])]
    assert array.GetAttribute("units").Read() == "days since 1970-01-01"


def test_axis_mapping_of_an_array(tmp_path):
    """Numbers count the dimensions of the array; a lat-first CRS has its latitude on Y."""
    for crs, mapping in ((4326, [2, 3]), (32633, [3, 2])):
        write_array(tmp_path, np.zeros((2, 2, 2)), names=["time", "y", "x"],
                    attributes={"_CRS": {"url": f"http://www.opengis.net/def/crs/EPSG/0/{crs}"}})
        srs = open_array(tmp_path).GetSpatialRef()
        want = osr.SpatialReference()
        want.ImportFromEPSG(crs)
        assert srs.IsSame(want, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"])
        assert srs.GetDataAxisToSRSAxisMapping() == mapping
