"""Making stores through the multidimensional API: groups, dimensions and arrays.

What other libraries find in them is looked at in test_write_readers.py.
"""
import json
import struct

import numpy as np
import pytest
import zarr
from multidim import (
    NUMBERS,
    attributes,
    create,
    create_array,
    extreme_values,
    numeric,
    open_root,
    open_to_write,
)
from osgeo import gdal, osr

STRING = gdal.ExtendedDataType.CreateString()


def files(path):
    return sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file())


def chunks(path):
    return [name for name in files(path) if not name.startswith((".", "zarr.json"))]


# --- Stores, groups and dimensions ---------------------------------------------------------------

@pytest.mark.parametrize("options, documents", [
    ([], [".zattrs", ".zgroup", ".zmetadata"]),
    (["CREATE_CONSOLIDATED_METADATA=NO"], [".zattrs", ".zgroup"]),
    (["CREATE_ZMETADATA=NO"], [".zattrs", ".zgroup"]),
    (["FORMAT=ZARR_V3"], ["zarr.json"]),
    (["FORMAT=ZARR_V3", "CREATE_CONSOLIDATED_METADATA=NO"], ["zarr.json"]),
])
def test_empty_store(path, options, documents):
    create(path, *options)
    assert files(path) == documents
    if "zarr.json" in documents:
        is_consolidated = "consolidated_metadata" in json.loads((path / "zarr.json").read_text())
        assert is_consolidated == (len(options) == 1)
    root = open_root(path)
    assert not (root.GetGroupNames() or root.GetMDArrayNames() or root.GetAttributes())


@pytest.mark.parametrize("option", ["FORMAT=ZARR_V4", "CREATE_CONSOLIDATED_METADATA=perhaps"])
def test_bad_options_of_stores(path, option):
    with pytest.raises(RuntimeError, match=option.split("=")[0]):
        create(path, option)
    assert not path.exists()


def test_what_is_there_stays(path, new_root):
    root = new_root()
    create_array(root, "a", [3], gdal.GDT_Byte).Write(np.arange(3, dtype="u1"))
    del root
    before = files(path)
    with pytest.raises(RuntimeError, match="already exists; remove it first .* open it for update"):
        create(path)
    assert files(path) == before
    file = path.parent / "file"
    file.write_text("mine")
    with pytest.raises(RuntimeError, match="file already exists$"):
        create(file)
    assert file.read_text() == "mine"


def test_groups(path, new_root, version):
    root = new_root()
    documents = [".zgroup", ".zattrs", ".zmetadata"] if version == "ZARR_V2" else ["zarr.json"]
    inner = root.CreateGroup("a").CreateGroup("b")
    assert inner.GetFullName() == "/a/b"
    root.CreateGroup("c")
    with pytest.raises(RuntimeError, match="/?c"):
        root.CreateGroup("c")
    for name in ["", ".", "..", "x/y", *documents]:
        with pytest.raises(RuntimeError):
            root.CreateGroup(name)
    assert root.GetGroupNames() == ["a", "c"]
    assert root.OpenGroup("a").GetGroupNames() == ["b"]
    del root, inner
    assert open_root(path).GetGroupNames() == ["a", "c"]
    assert not open_root(path).OpenGroupFromFullname("/a/b").GetGroupNames()


def test_arrays_share_dimensions(path, new_root):
    root = new_root()
    y = root.CreateDimension("y", gdal.DIM_TYPE_HORIZONTAL_Y, "NORTH", 3)
    x = root.CreateDimension("x", gdal.DIM_TYPE_HORIZONTAL_X, "EAST", 4)
    up = root.CreateDimension("level", gdal.DIM_TYPE_VERTICAL, "UP", 2)
    run = root.CreateDimension("run", gdal.DIM_TYPE_TEMPORAL, None, 5)
    for dimension in (y, x, up, run):
        array = root.CreateMDArray(dimension.GetName(), [dimension], numeric(gdal.GDT_Float64))
        assert dimension.SetIndexingVariable(array)
        array.Write(10.0 + np.arange(dimension.GetSize()))
    inner = root.CreateGroup("inner")
    array = inner.CreateMDArray("data", [run, up, y, x], numeric(gdal.GDT_Int16))
    assert [d.GetFullName() for d in array.GetDimensions()] == ["/run", "/level", "/y", "/x"]
    assert sorted(d.GetName() for d in root.GetDimensions()) == ["level", "run", "x", "y"]
    assert not inner.GetDimensions()
    del root, inner, array, dimension, y, x, up, run

    root = open_root(path)
    dimensions = root.OpenMDArrayFromFullname("/inner/data").GetDimensions()
    assert [(d.GetFullName(), d.GetSize()) for d in dimensions] == [
        ("/run", 5), ("/level", 2), ("/y", 3), ("/x", 4)
    ]
    assert [(d.GetType(), d.GetDirection()) for d in dimensions] == [
        (gdal.DIM_TYPE_TEMPORAL, ""), (gdal.DIM_TYPE_VERTICAL, "UP"),
        (gdal.DIM_TYPE_HORIZONTAL_Y, "NORTH"), (gdal.DIM_TYPE_HORIZONTAL_X, "EAST"),
    ]
    for d in dimensions:
        values = d.GetIndexingVariable().ReadAsArray()
        np.testing.assert_array_equal(values, 10.0 + np.arange(d.GetSize()))


def test_what_a_dimension_implies_can_be_said_again(path, new_root):
    """Like programs that copy the attributes of a variable after they have made it."""
    root = new_root()
    up = root.CreateDimension("level", gdal.DIM_TYPE_VERTICAL, "UP", 2)
    array = root.CreateMDArray("level", [up], numeric(gdal.GDT_Float64))
    assert attributes(array) == {"axis": "Z", "positive": "up"}
    array.CreateAttribute("positive", [], STRING).Write("down")
    with pytest.raises(RuntimeError, match="already exists"):
        array.CreateAttribute("positive", [], STRING)
    del root, array, up
    array = open_root(path).OpenMDArray("level")
    assert attributes(array) == {"axis": "Z", "positive": "down"}
    assert array.GetDimensions()[0].GetDirection() == "DOWN"


def test_dimension_twice(new_root):
    root = new_root()
    root.CreateDimension("x", None, None, 3)
    with pytest.raises(RuntimeError, match="already has a dimension x"):
        root.CreateDimension("x", None, None, 4)


def test_foreign_indexing_variable(new_root):
    """A store has no place for an indexing variable of another name."""
    root = new_root()
    x = root.CreateDimension("x", None, None, 3)
    other = root.CreateMDArray("lon", [x], numeric(gdal.GDT_Float64))
    with pytest.raises(RuntimeError, match="cannot be the indexing variable"):
        x.SetIndexingVariable(other)


# --- Arrays --------------------------------------------------------------------------------------

@pytest.mark.parametrize("gdal_type, dtype", NUMBERS.items(),
                         ids=[gdal.GetDataTypeName(t) for t in NUMBERS])
def test_numbers(path, new_root, version, gdal_type, dtype):
    root = new_root()
    want = extreme_values(dtype, (5, 6))
    create_array(root, "a", want.shape, gdal_type, "BLOCKSIZE=5,6").Write(want)
    del root
    # Without compression, a chunk is its elements in little-endian order.
    chunk = path / ("a/0.0" if version == "ZARR_V2" else "a/c/0/0")
    assert chunk.read_bytes() == want.astype(dtype.newbyteorder("<")).tobytes()
    array = open_root(path).OpenMDArray("a")
    assert array.GetDataType().GetNumericDataType() == gdal_type
    # Named, because Float16 becomes Float32 without the name.
    got = array.Read(buffer_datatype=array.GetDataType())
    assert got == want.tobytes()


@pytest.mark.parametrize("name", ["CInt16", "CInt32"])
def test_complex_integers(path, new_root, name):
    gdal_type = gdal.ExtendedDataType.Create(getattr(gdal, "GDT_" + name))
    root = new_root()
    array = create_array(root, "a", [2], gdal_type.GetNumericDataType())
    elements = np.array([1, -2, 300, -400], "i2" if name == "CInt16" else "i4").tobytes()
    array.Write(elements, buffer_datatype=gdal_type)
    del array, root
    array = open_root(path).OpenMDArray("a")
    assert array.GetDataType().GetNumericDataType() == gdal_type.GetNumericDataType()
    assert array.Read(buffer_datatype=gdal_type) == elements
    as_floats = gdal.ExtendedDataType.Create(gdal.GDT_CFloat64)
    got = np.frombuffer(array.Read(buffer_datatype=as_floats), "c16")
    assert got.tolist() == [1 - 2j, 300 - 400j]


@pytest.mark.parametrize("option", ["CHUNKS=AUTO", "SHARDING=AUTO"])
def test_blocks_of_a_copied_source_are_not_those_asked_for(path, option):
    """GDAL 3.13 adds the BLOCKSIZE of the source to the options of the caller."""
    root = create(path, "FORMAT=ZARR_V3").GetRootGroup()
    array = create_array(root, "a", [600, 700], gdal.GDT_Byte, option, "BLOCKSIZE=3,5")
    want = create_array(root, "b", [600, 700], gdal.GDT_Byte, option)
    assert array.GetBlockSize() == want.GetBlockSize() != [3, 5]


TEXTS = ["", "plain", "Zürich", "日本語", "a\nb\t\"c\"", "x" * 5000]


def test_strings(path, new_root):
    root = new_root()
    create_array(root, "a", [len(TEXTS)], STRING, "BLOCKSIZE=4").Write(TEXTS)
    create_array(root, "never", [3], STRING)
    del root
    assert open_root(path).OpenMDArray("a").Read() == TEXTS
    assert open_root(path).OpenMDArray("never").Read() == ["", "", ""]


@pytest.mark.parametrize("string_format, dtype", [("ASCII", "|S12"), ("UNICODE", "<U12")])
def test_padded_strings(path, string_format, dtype):
    root = create(path).GetRootGroup()
    string = gdal.ExtendedDataType.CreateString(12)
    array = create_array(root, "a", [3], string, "STRING_FORMAT=" + string_format)
    array.Write(["", "Zürich", "a" * 12])
    with pytest.raises(RuntimeError, match="longer than"):
        array.Write(["", "Zürich", "a" * 13])
    del root, array
    assert zarr.open(str(path))["a"].dtype == dtype
    assert open_root(path).OpenMDArray("a").Read() == ["", "Zürich", "a" * 12]


def test_compounds(path, new_root):
    """With padding, which is not stored: the caller's layout applies as long as the dataset is
    open, then the layout of C structures."""
    root = new_root()
    inner = gdal.ExtendedDataType.CreateCompound("", 8, [
        gdal.EDTComponent.Create("u", 0, numeric(gdal.GDT_Int16)),
        gdal.EDTComponent.Create("v", 4, numeric(gdal.GDT_Float32)),
    ])
    compound = gdal.ExtendedDataType.CreateCompound("station", 32, [
        gdal.EDTComponent.Create("id", 0, numeric(gdal.GDT_Byte)),
        gdal.EDTComponent.Create("height", 8, numeric(gdal.GDT_Float64)),
        gdal.EDTComponent.Create("speed", 16, inner),
    ])
    packed = [struct.pack("<B7xdh2xf8x", 200 + i, 0.1 * i, -i, i / 4) for i in range(4)]
    array = create_array(root, "a", [4], compound)
    assert array.GetDataType().Equals(compound)
    array.Write(b"".join(packed))
    assert array.Read() == b"".join(packed)
    del array
    assert root.OpenMDArray("a").GetDataType().Equals(compound)
    del root
    array = open_root(path).OpenMDArray("a")
    parts = array.GetDataType().GetComponents()
    assert [part.GetName() for part in parts] == ["id", "height", "speed"]
    assert [p.GetName() for p in parts[2].GetType().GetComponents()] == ["u", "v"]
    assert [part.GetOffset() for part in parts] == [0, 8, 16]
    assert array.GetDataType().GetSize() == 24
    want = [struct.pack("<B7xdh2xf", 200 + i, 0.1 * i, -i, i / 4) for i in range(4)]
    assert array.Read() == b"".join(want)


def test_a_compound_keeps_the_layout_of_its_creator(path, new_root):
    """In 16 bytes instead of 8, with a nodata value of that size; not if another array has taken
    the name."""
    part = gdal.EDTComponent.Create
    int16, int32 = numeric(gdal.GDT_Int16), numeric(gdal.GDT_Int32)
    wide = gdal.ExtendedDataType.CreateCompound("", 16, [part("a", 2, int16), part("b", 8, int32)])
    root = new_root()
    array = create_array(root, "a", [3], wide)
    nodata = struct.pack("<2xh4xi4x", -9, 99)
    assert array.SetNoDataValueRaw(nodata) == gdal.CE_None
    assert array.GetNoDataValueAsRaw() == nodata
    records = [struct.pack("<2xh4xi4x", i, -i) for i in range(3)]
    array.Write(records[1], array_start_idx=[1], count=[1])
    assert array.Read() == nodata + records[1] + nodata
    del array, root
    array = open_root(path).OpenMDArray("a")
    assert array.GetDataType().GetSize() == 8
    assert array.GetNoDataValueAsRaw() == struct.pack("<h2xi", -9, 99)
    assert array.Read() == b"".join(struct.pack("<h2xi", *pair)
                                    for pair in [(-9, 99), (1, -1), (-9, 99)])


@pytest.mark.parametrize("shape, options", [
    ([], []),
    ([0], []),
    ([3, 0, 5], []),
    ([1] * 10, []),
    ([2] * 12, ["BLOCKSIZE=" + ",".join("2" * 12)]),
    ([70_000], []),
    ([300, 300], []),
], ids=str)
def test_shapes(path, new_root, shape, options):
    root = new_root()
    want = np.random.default_rng(1).normal(0, 1, shape)
    array = create_array(root, "a", shape, gdal.GDT_Float64, *options)
    if want.size:
        array.Write(want.tobytes())
    del root, array
    array = open_root(path).OpenMDArray("a")
    assert [d.GetSize() for d in array.GetDimensions()] == shape
    if want.size:
        assert array.Read() == want.tobytes()


def test_block_sizes(new_root):
    root = new_root()
    for shape, block in [([70_000], [65_536]), ([9, 300, 300], [1, 256, 256]), ([5, 7], [5, 7])]:
        name = "a" + "_".join(map(str, shape))
        array = create_array(root, name, shape, gdal.GDT_Byte)
        assert array.GetBlockSize() == block
    array = create_array(root, "b", [9, 300, 300], gdal.GDT_Byte, "BLOCKSIZE=2,100,50")
    assert array.GetBlockSize() == [2, 100, 50]


@pytest.mark.parametrize("options, word", [
    (["BLOCKSIZE=4"], "BLOCKSIZE"),
    (["BLOCKSIZE=4,-2"], "BLOCKSIZE"),
    (["COMPRESS=RAR"], "COMPRESS"),
    (["COMPRESS=ZSTD", "ZSTD_LEVEL=99"], "ZSTD_LEVEL"),
])
def test_bad_options_of_arrays(new_root, options, word):
    root = new_root()
    with pytest.raises(RuntimeError, match=word):
        create_array(root, "a", [8, 8], gdal.GDT_Byte, *options)
    assert not root.GetMDArrayNames()


def test_array_twice(new_root):
    root = new_root()
    create_array(root, "a", [3], gdal.GDT_Byte).Write(np.arange(3, dtype="u1"))
    x = root.OpenMDArray("a").GetDimensions()
    root.CreateGroup("g")
    for name in ("a", "g"):
        with pytest.raises(RuntimeError, match="already|there"):
            root.CreateMDArray(name, x, numeric(gdal.GDT_Int16))
    np.testing.assert_array_equal(root.OpenMDArray("a").ReadAsArray(), [0, 1, 2])


def test_never_written(path, new_root, version):
    """Chunks that were never written are not stored, and read as nodata if it was set before."""
    root = new_root()
    array = create_array(root, "a", [40, 40], gdal.GDT_Int16, "BLOCKSIZE=16,16")
    array.SetNoDataValueDouble(-5)
    array.Write(np.full((2, 2), 7, "i2"), [20, 20])
    create_array(root, "zero", [40, 40], gdal.GDT_Int16, "BLOCKSIZE=16,16").Write(
        np.zeros((40, 40), "i2"))
    del root, array
    want = np.full((40, 40), -5, "i2")
    want[20:22, 20:22] = 7
    array = open_root(path).OpenMDArray("a")
    assert array.GetNoDataValue() == -5
    np.testing.assert_array_equal(array.ReadAsArray(), want)
    assert chunks(path / "a") == (["1.1"] if version == "ZARR_V2" else ["c/1/1"])
    # Without a fill value, zeros are ordinary values in v2.
    assert len(chunks(path / "zero")) == (9 if version == "ZARR_V2" else 0)
    assert (open_root(path).OpenMDArray("zero").ReadAsArray() == 0).all()


@pytest.mark.parametrize("gdal_type, set_value, value", [
    (gdal.GDT_Byte, "SetNoDataValueDouble", 255),
    (gdal.GDT_Int16, "SetNoDataValueDouble", -32768),
    (gdal.GDT_Float32, "SetNoDataValueDouble", float("nan")),
    (gdal.GDT_Float64, "SetNoDataValueDouble", float("-inf")),
    (gdal.GDT_Float64, "SetNoDataValueDouble", 1e20),
    (gdal.GDT_Int64, "SetNoDataValueInt64", -(2**63)),
    (gdal.GDT_UInt64, "SetNoDataValueUInt64", 2**64 - 1),
])
def test_nodata(path, new_root, gdal_type, set_value, value):
    root = new_root()
    array = create_array(root, "a", [3], gdal_type)
    assert getattr(array, set_value)(value) == gdal.CE_None
    np.testing.assert_equal(array.GetNoDataValue(), value)
    del root, array
    array = open_root(path).OpenMDArray("a")
    np.testing.assert_equal(array.GetNoDataValue(), value)
    np.testing.assert_array_equal(array.ReadAsArray(), [value] * 3)


def test_unit_scale_offset(path, new_root):
    root = new_root()
    array = create_array(root, "a", [3], gdal.GDT_Int16)
    array.SetUnit("°C")
    array.SetScale(0.1)
    array.SetOffset(273.15)
    array.Write(np.array([0, 10, -10], "i2"))
    assert (array.GetUnit(), array.GetScale(), array.GetOffset()) == ("°C", 0.1, 273.15)
    del root, array
    array = open_root(path).OpenMDArray("a")
    assert (array.GetUnit(), array.GetScale(), array.GetOffset()) == ("°C", 0.1, 273.15)
    assert attributes(array) == {}
    np.testing.assert_allclose(array.GetUnscaled().ReadAsArray(), [273.15, 274.15, 272.15])


def test_unit_is_taken_back(path, new_root):
    root = new_root()
    array = create_array(root, "a", [3], gdal.GDT_Int16)
    array.SetUnit("m")
    array.SetUnit("")
    assert array.GetUnit() == ""
    del root, array
    assert open_root(path).OpenMDArray("a").GetUnit() == ""


@pytest.mark.parametrize("definition", ["EPSG:32633", "EPSG:4326", "custom"])
def test_srs(path, new_root, definition):
    root = new_root()
    srs = osr.SpatialReference()
    if definition == "custom":
        srs.ImportFromProj4("+proj=laea +lat_0=52.3 +lon_0=10.7 +ellps=GRS80 +units=m")
    else:
        srs.SetFromUserInput(definition)
    srs.SetDataAxisToSRSAxisMapping([2, 1] if srs.EPSGTreatsAsLatLong() else [1, 2])
    y = root.CreateDimension("y", gdal.DIM_TYPE_HORIZONTAL_Y, None, 3)
    x = root.CreateDimension("x", gdal.DIM_TYPE_HORIZONTAL_X, None, 4)
    array = root.CreateMDArray("a", [y, x], numeric(gdal.GDT_Float32))
    array.SetSpatialRef(srs)
    array.Write(np.zeros((3, 4), "f4"))
    assert array.GetSpatialRef().IsSame(srs, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"])
    del root, array, y, x
    array = open_root(path).OpenMDArray("a")
    got = array.GetSpatialRef()
    assert got.IsSame(srs, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"])
    assert got.GetAuthorityCode(None) == srs.GetAuthorityCode(None)
    assert "_CRS" not in attributes(array)

    array = open_to_write(path).GetRootGroup().OpenMDArray("a")
    array.SetSpatialRef(None)
    assert array.GetSpatialRef() is None
    del array
    assert open_root(path).OpenMDArray("a").GetSpatialRef() is None


def test_read_only_store(path, new_root):
    root = new_root()
    create_array(root, "a", [3], gdal.GDT_Byte).Write(np.arange(3, dtype="u1"))
    root.CreateAttribute("title", [], STRING).Write("old")
    del root
    root = open_root(path)
    array = root.OpenMDArray("a")
    for change in (
        lambda: array.Write(np.zeros(3, "u1")),
        lambda: array.SetUnit("m"),
        lambda: array.SetNoDataValueDouble(1),
        lambda: array.CreateAttribute("b", [], STRING),
        lambda: root.GetAttribute("title").Write("new"),
        lambda: root.CreateGroup("g"),
        lambda: root.CreateDimension("d", None, None, 3),
        lambda: root.CreateMDArray("b", array.GetDimensions(), numeric(gdal.GDT_Byte)),
    ):
        with pytest.raises(RuntimeError, match="read-only|reading only|update mode"):
            change()
    root = array = None
    root = open_root(path)
    assert root.GetAttribute("title").Read() == "old"
    np.testing.assert_array_equal(root.OpenMDArray("a").ReadAsArray(), [0, 1, 2])
    assert not root.GetGroupNames()
