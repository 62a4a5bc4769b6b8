"""Attributes of new stores, through the multidimensional API."""
import json
import struct

import numpy as np
import pytest
from multidim import create_array, extended, numeric, open_root
from osgeo import gdal

STRING = gdal.ExtendedDataType.CreateString()
JSON = gdal.ExtendedDataType.CreateString(0, gdal.GEDTST_JSON)


def raw(*values, dtype):
    return np.array(values, dtype).tobytes()


# Name, dimensions, type, the value written, the JSON that it becomes, the value read.
ATTRIBUTES = [
    ("int", [], gdal.GDT_Int32, -7, -7, -7),
    ("byte", [], gdal.GDT_Byte, 200, 200, 200),
    ("int64", [], gdal.GDT_Int64, raw(-(2**63), dtype="i8"), -(2**63), -(2.0**63)),
    ("uint64", [], gdal.GDT_UInt64, raw(2**64 - 1, dtype="u8"), 2**64 - 1, 2.0**64),
    ("double", [], gdal.GDT_Float64, 0.1, 0.1, 0.1),
    ("whole", [], gdal.GDT_Float64, 3.0, 3.0, 3.0),
    ("float", [], gdal.GDT_Float32, 0.5, 0.5, 0.5),
    ("ints", [3], gdal.GDT_Int16, [1, -2, 3], [1, -2, 3], (1, -2, 3)),
    ("one", [1], gdal.GDT_Int32, [9], [9], 9),  # whose list the bindings remove
    ("doubles", [2], gdal.GDT_Float64, [1e-300, 2.5], [1e-300, 2.5], (1e-300, 2.5)),
    ("text", [], STRING, "Zürich \"quoted\"\n", "Zürich \"quoted\"\n", "Zürich \"quoted\"\n"),
    ("texts", [3], STRING, ["a", "", "ü"], ["a", "", "ü"], ["a", "", "ü"]),
    ("json", [], JSON, {"a": [1, {"b": None}], "c": True}, {"a": [1, {"b": None}], "c": True},
     {"a": [1, {"b": None}], "c": True}),
    ("json list", [], JSON, '[1,"a",[]]', [1, "a", []], [1, "a", []]),
    ("null", [], JSON, "null", None, None),
    ("true", [], JSON, "true", True, 1),
]


def write_attributes(node):
    for name, dimensions, kind, value, _, _ in ATTRIBUTES:
        node.CreateAttribute(name, dimensions, extended(kind)).Write(value)


def stored_attributes(path, name, version):
    if version == "ZARR_V3":
        return json.loads((path / name / "zarr.json").read_text())["attributes"]
    return json.loads((path / name / ".zattrs").read_text())


def read_attribute(attribute):
    value = attribute.Read()
    if attribute.GetDataType().GetSubType() != gdal.GEDTST_JSON or not isinstance(value, str):
        return value
    return json.loads(value) if value else None  # null


@pytest.mark.parametrize("owner", ["", "group", "array"])
def test_attributes(path, new_root, version, owner):
    root = new_root()
    node = {"": lambda: root, "group": lambda: root.CreateGroup("group"),
            "array": lambda: create_array(root, "array", [3], gdal.GDT_Byte)}[owner]()
    write_attributes(node)
    want = {name: value for name, *_, value in ATTRIBUTES}
    assert {a.GetName(): read_attribute(a) for a in node.GetAttributes()} == want
    del root, node
    stored = stored_attributes(path, owner, version)
    assert {k: v for k, v in stored.items() if k != "_ARRAY_DIMENSIONS"} == {
        name: value for name, *_, value, _ in ATTRIBUTES
    }
    assert isinstance(stored["whole"], float)
    root = open_root(path)
    node = {"": lambda: root, "group": lambda: root.OpenGroup("group"),
            "array": lambda: root.OpenMDArray("array")}[owner]()
    assert {a.GetName(): read_attribute(a) for a in node.GetAttributes()} == want


def test_attribute_twice(new_root):
    root = new_root()
    root.CreateAttribute("a", [], STRING).Write("first")
    with pytest.raises(RuntimeError, match="already exists"):
        root.CreateAttribute("a", [], STRING)
    assert root.GetAttribute("a").Read() == "first"


def compound(member):
    return gdal.ExtendedDataType.CreateCompound(
        "", 8 + member.GetSize() // 8 * 8,
        [gdal.EDTComponent.Create("a", 0, numeric(gdal.GDT_Int32)),
         gdal.EDTComponent.Create("b", member.GetSize(), member)])


@pytest.mark.parametrize("dimensions, kind, values, want", [
    ([2, 3], numeric(gdal.GDT_Int16), struct.pack("6h", *range(6)), [[0, 1, 2], [3, 4, 5]]),
    ([2, 0], numeric(gdal.GDT_Int16), b"", [[], []]),
    ([], numeric(gdal.GDT_CFloat32), struct.pack("2f", 1.5, -2), [1.5, -2]),
    ([2], numeric(gdal.GDT_CInt16), struct.pack("4h", 1, 2, 3, 4), [[1, 2], [3, 4]]),
    ([], compound(numeric(gdal.GDT_Float32)), struct.pack("if", 7, 0.5), {"a": 7, "b": 0.5}),
], ids=["two dimensions", "empty lists", "complex", "list of complex", "structure"])
def test_attributes_as_lists_and_objects(path, new_root, version, dimensions, kind, values, want):
    root = new_root()
    attribute = root.CreateAttribute("a", dimensions, kind)
    if values:
        assert attribute.Write(values) == gdal.CE_None
        assert bytes(attribute.ReadAsRaw()) == values
    del root, attribute
    assert stored_attributes(path, "", version) == {"a": want}


@pytest.mark.parametrize("dimensions, kind, why", [
    ([10**12], numeric(gdal.GDT_Byte), "too many"), ([10**6, 10**6], STRING, "too many"),
    ([], compound(gdal.ExtendedDataType.CreateString()), "structures with strings"),
], ids=["huge", "huge lists", "structure with a string"])
def test_attributes_that_cannot_be_created(new_root, dimensions, kind, why):
    root = new_root()
    with pytest.raises(RuntimeError, match=f"attribute \"a\".*{why}"):
        root.CreateAttribute("a", dimensions, kind)
    assert not root.GetAttributes()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_has_not(path, new_root, value):
    """They have the same names as Zarr's fill values and xarray's attributes."""
    root = new_root()
    root.CreateAttribute("a", [], numeric(gdal.GDT_Float64)).Write(value)
    np.testing.assert_equal(root.GetAttribute("a").ReadAsDouble(), value)
    del root
    np.testing.assert_equal(open_root(path).GetAttribute("a").ReadAsDouble(), value)


def test_broken_json(new_root):
    root = new_root()
    attribute = root.CreateAttribute("a", [], JSON)
    with pytest.raises(RuntimeError):
        attribute.Write("{no json")


def test_part_of_an_attribute(path, new_root):
    root = new_root()
    attribute = root.CreateAttribute("a", [3], numeric(gdal.GDT_Int32))
    attribute.Write([1, 2, 3])
    attribute.Write([4, 5, 6])
    del root, attribute
    assert open_root(path).GetAttribute("a").Read() == (4, 5, 6)
