"""Other libraries read the stores that the driver writes: zarr-python (v2), zarrita (v2 and v3),
netCDF-C and xarray, none of which uses GDAL."""
import base64
import json
import subprocess
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray
import zarr
from multidim import NUMBERS, create, create_array, extended, extreme_values, numeric, open_to_write
from osgeo import gdal, osr
from v2_stores import IS_FIRST

SHAPE = (23, 37)
BLOCKS = ["BLOCKSIZE=8,16"]
SHARDS = ["FORMAT=ZARR_V3", "BLOCKSIZE=16,32", "SHARD_CHUNK_SHAPE=8,16"]
TEXTS = ["", "plain", "Zürich", "日本語", "x" * 300]
DATA = np.random.default_rng(7).integers(-3000, 3000, SHAPE).astype("i2")
DATA[:9] = 0  # a row of chunks that is not stored


def read_zarrita(path, *names):
    """The arrays of a store, and their attributes. Without zarrita, the test is skipped."""
    script = Path(__file__).parents[1] / "zarrita/read.mjs"
    if not (script.parent / "node_modules/.package-lock.json").exists():
        pytest.skip("zarrita is not installed: autotest/npm_install autotest/zarrita says why")
    result = subprocess.run(
        ["node", script, path, *names], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    arrays = json.loads(result.stdout)

    def values(array):
        if isinstance(array["values"], list):
            return np.array(array["values"], object).reshape(array["shape"])
        data = base64.b64decode(array["values"])
        return np.frombuffer(data, array["dtype"]).reshape(array["shape"])

    return ({name: values(array) for name, array in arrays.items()},
            {name: array["attributes"] for name, array in arrays.items()})


def read_zarr_python(path, *names):
    root = zarr.open_consolidated(str(path))

    def values(array):
        # zarr-python 3 has a separate type for strings of any length.
        return array[...].astype(object) if array.dtype.kind == "T" else array[...]

    return ({name: values(root[name]) for name in names},
            {name: dict(root[name].attrs) for name in names})


EACH_READER = pytest.mark.parametrize("version, read", [
    pytest.param("ZARR_V2", read_zarr_python, id="v2, zarr-python"),
    pytest.param("ZARR_V2", read_zarrita, id="v2, zarrita"),
    pytest.param("ZARR_V3", read_zarrita, id="v3, zarrita"),
])


def write(path, data, *options, gdal_type=gdal.GDT_Int16):
    """The array "a": first a part of each chunk is written, then all of it."""
    root = create(path, *options).GetRootGroup()
    array = create_array(root, "a", data.shape, gdal_type, *options)
    array.Write(data[1::2], [1] + [0] * (data.ndim - 1), array_step=[2] + [1] * (data.ndim - 1))
    array.Write(data)


COMPRESSORS = {
    "none": [],
    "gzip": ["COMPRESS=GZIP", "GZIP_LEVEL=1"],
    "zstd": ["COMPRESS=ZSTD"],
    **{f"blosc {name}": ["COMPRESS=BLOSC", f"BLOSC_CNAME={name}"]
       for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")},
    "blosc bits": ["COMPRESS=BLOSC", "BLOSC_SHUFFLE=BIT"],
    "blosc plain": ["COMPRESS=BLOSC", "BLOSC_SHUFFLE=NONE"],
    "F": ["CHUNK_MEMORY_LAYOUT=F"],
    "F zstd": ["CHUNK_MEMORY_LAYOUT=F", "COMPRESS=ZSTD"],
}
ONLY_V2 = {
    "zlib": ["COMPRESS=ZLIB"],
    "lz4": ["COMPRESS=LZ4"],
    "delta": ["FILTER=DELTA", "COMPRESS=ZLIB"],
    "shuffle": ["FILTER=SHUFFLE", "COMPRESS=ZLIB"],
    "separator": ["DIM_SEPARATOR=/"],
}
NOT_IN_ZARRITA = {
    "bz2": ["COMPRESS=BZ2"],
    "lzma": ["COMPRESS=LZMA"],
    "lzma delta": ["COMPRESS=LZMA", "LZMA_DELTA=2"],
    **{f"sum {name}": ["COMPRESS=LZ4", f"CHECKSUM={name}"]
       for name in ("CRC32", "ADLER32")},
}
ONLY_V3 = {
    "crc32c": ["CHECKSUM=CRC32C"],
    "zstd crc32c": ["COMPRESS=ZSTD", "CHECKSUM=CRC32C"],
    "separator": ["DIM_SEPARATOR=."],
}
V2 = {name: [*BLOCKS, *options] for name, options in (COMPRESSORS | ONLY_V2).items()}
V3 = {name: [*blocks, *options]
      for blocks in (["FORMAT=ZARR_V3", *BLOCKS], SHARDS)
      for name, options in (COMPRESSORS | ONLY_V3).items()
      for name in [f"{'sharded ' if blocks is SHARDS else ''}{name}"]}


@pytest.mark.parametrize("options", (V2 | {k: BLOCKS + v for k, v in NOT_IN_ZARRITA.items()}
                                     ).values(), ids=lambda o: " ".join(o[1:]) or "plain")
def test_codecs_in_zarr_python(tmp_path, options):
    write(tmp_path / "a.zarr", DATA, *options)
    got, _ = read_zarr_python(tmp_path / "a.zarr", "a")
    np.testing.assert_array_equal(got["a"], DATA)


@pytest.mark.parametrize("layouts", [V2, V3], ids=["v2", "v3"])
def test_codecs_in_zarrita(tmp_path, layouts):
    """All at once, because Node starts slowly."""
    for name, options in layouts.items():
        write(tmp_path / name, DATA, *options)
    got, _ = read_zarrita(tmp_path, *(f"{name}/a" for name in layouts))
    for name in layouts:
        np.testing.assert_array_equal(got[f"{name}/a"], DATA, name)


def write_types(path, *options):
    """An array of each numeric type, and of strings; their values."""
    root = create(path, *options).GetRootGroup()
    want = {}
    for gdal_type, dtype in NUMBERS.items():
        values = extreme_values(dtype, SHAPE)
        array = create_array(root, dtype.name, SHAPE, gdal_type, *options)
        array.Write(values.tobytes())
        want[dtype.name] = values
    array = create_array(root, "text", [len(TEXTS)],
                         gdal.ExtendedDataType.CreateString(), "BLOCKSIZE=2")
    array.Write(TEXTS)
    want["text"] = np.array(TEXTS, object)
    return want


def assert_same(got, want):
    assert got.keys() == want.keys()
    for name, values in want.items():
        assert got[name].dtype == values.dtype, name
        np.testing.assert_array_equal(got[name], values, name)


def test_types_in_zarr_python(tmp_path):
    want = write_types(tmp_path / "a.zarr", *BLOCKS)
    got, _ = read_zarr_python(tmp_path / "a.zarr", *want)
    assert_same(got, want)


@pytest.mark.parametrize("options", [BLOCKS, ["FORMAT=ZARR_V3", *BLOCKS], SHARDS],
                         ids=["v2", "v3", "sharded"])
def test_types_in_zarrita(tmp_path, options):
    want = write_types(tmp_path / "a.zarr", *options)
    # JavaScript has no complex numbers, and has half-precision ones only recently.
    want = {name: values for name, values in want.items()
            if not name.startswith(("complex", "float16"))}
    got, _ = read_zarrita(tmp_path / "a.zarr", *want)
    assert_same(got, want)


@pytest.mark.parametrize("read", [read_zarr_python, read_zarrita], ids=["zarr-python", "zarrita"])
def test_padded_strings(tmp_path, read):
    """zarr-python and zarrita support both kinds in v2."""
    path = tmp_path / "a.zarr"
    root = create(path).GetRootGroup()
    for name in ("ASCII", "UNICODE"):
        create_array(root, name, [3], gdal.ExtendedDataType.CreateString(8),
                     "STRING_FORMAT=" + name).Write(["", "abc", "Zürich"])
    del root
    got, _ = read(path, "ASCII", "UNICODE")
    want = ["", "abc", "Zürich"]
    assert got["UNICODE"].tolist() == want
    if read is read_zarr_python:
        want = [text.encode() for text in want]
    assert got["ASCII"].tolist() == want


@pytest.mark.skipif(IS_FIRST, reason="zarr-python 3.0 reads no nested structures")
def test_compounds(tmp_path):
    """zarr-python has them as structured arrays, nested ones and fill values included."""
    dtype = np.dtype([("id", "u1"), ("height", "<f8"), ("speed", [("u", "<i2"), ("v", "<f4")])])
    part = gdal.EDTComponent.Create
    speed = gdal.ExtendedDataType.CreateCompound("", 6, [
        part("u", 0, numeric(gdal.GDT_Int16)), part("v", 2, numeric(gdal.GDT_Float32))])
    compound = gdal.ExtendedDataType.CreateCompound("", 15, [
        part("id", 0, numeric(gdal.GDT_Byte)), part("height", 1, numeric(gdal.GDT_Float64)),
        part("speed", 9, speed)])
    want = np.array([(i, i / 8, (-i, i * 1.5)) for i in range(9)], dtype)
    root = create(tmp_path / "a.zarr").GetRootGroup()
    array = create_array(root, "a", want.shape, compound, "BLOCKSIZE=4", "COMPRESS=ZLIB")
    array.Write(want.tobytes(), buffer_datatype=compound)
    del root, array
    got, _ = read_zarr_python(tmp_path / "a.zarr", "a")
    assert_same(got, {"a": want})


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (2,) * 7], ids=str)
@EACH_READER
def test_shapes(tmp_path, version, read, shape):
    path = tmp_path / "a.zarr"
    want = np.random.default_rng(2).normal(0, 1, shape)
    root = create(path, "FORMAT=" + version).GetRootGroup()
    array = create_array(root, "a", shape, gdal.GDT_Float64)
    if want.size:
        array.Write(want.tobytes())
    del root, array
    if want.size or read is read_zarr_python:  # zarrita reads no array without elements
        assert_same(read(path, "a")[0], {"a": want})


@EACH_READER
def test_fill_values(tmp_path, version, read):
    """Elements that were never written."""
    want = {}
    root = create(tmp_path / "a.zarr", "FORMAT=" + version).GetRootGroup()
    for gdal_type, dtype in NUMBERS.items():
        if dtype.kind == "c" or dtype == "f2":
            continue
        # JavaScript reads no number with more than 53 bits.
        value = {"f": np.nan, "i": np.iinfo("i8").min >> 64 - 8 * dtype.itemsize,
                 "u": 1 << 8 * dtype.itemsize - 1}[dtype.kind]
        array = create_array(root, dtype.name, [3], gdal_type)
        kind = {"i8": "Int64", "u8": "UInt64"}.get(dtype.str[1:], "Double")
        getattr(array, "SetNoDataValue" + kind)(value)
        want[dtype.name] = np.full(3, value, dtype)
    del root, array
    assert_same(read(tmp_path / "a.zarr", *want)[0], want)


@EACH_READER
def test_attributes(tmp_path, version, read):
    path = tmp_path / "a.zarr"
    root = create(path, "FORMAT=" + version).GetRootGroup()
    array = create_array(root, "a", [3], gdal.GDT_Byte)
    string = gdal.ExtendedDataType.CreateString()
    for name, dimensions, kind, value in [
        ("text", [], string, "Zürich \"quoted\""), ("texts", [2], string, ["a", "ü"]),
        ("number", [], gdal.GDT_Float64, 0.1), ("numbers", [3], gdal.GDT_Int32, [1, 2, -3]),
        ("json", [], gdal.ExtendedDataType.CreateString(0, gdal.GEDTST_JSON), {"a": [None, {}]}),
    ]:
        array.CreateAttribute(name, dimensions, extended(kind)).Write(value)
    want = {"text": "Zürich \"quoted\"", "texts": ["a", "ü"], "number": 0.1,
            "numbers": [1, 2, -3], "json": {"a": [None, {}]}}
    del root, array
    got = read(path, "a")[1]["a"]
    assert {k: v for k, v in got.items() if k != "_ARRAY_DIMENSIONS"} == want


# --- What coordinates mean -----------------------------------------------------------------------

def write_climate(path, *options):
    """Packed temperatures over time and space."""
    root = create(path, *options).GetRootGroup()
    t = root.CreateDimension("time", gdal.DIM_TYPE_TEMPORAL, None, 4)
    y = root.CreateDimension("lat", gdal.DIM_TYPE_HORIZONTAL_Y, "NORTH", 23)
    x = root.CreateDimension("lon", gdal.DIM_TYPE_HORIZONTAL_X, "EAST", 37)
    for dimension, unit, values in [
        (t, "days since 2000-01-01", np.arange(4.0)),
        (y, "degrees_north", 60 - np.arange(23) / 2),
        (x, "degrees_east", np.arange(37) / 2),
    ]:
        array = root.CreateMDArray(dimension.GetName(), [dimension], numeric(gdal.GDT_Float64))
        array.SetUnit(unit)
        array.Write(values)
    array = root.CreateMDArray("t2m", [t, y, x], numeric(gdal.GDT_Int16),
                               [o for o in options if not o.startswith("FORMAT")])
    array.SetScale(0.01)
    array.SetOffset(280)
    array.SetUnit("K")
    array.SetNoDataValueDouble(-32768)
    data = np.stack([DATA, DATA + 1, DATA + 2, DATA + 3])
    data[:, 5, 5:9] = -32768
    array.Write(data)
    root.CreateAttribute("title", [], gdal.ExtendedDataType.CreateString()).Write("made for a test")
    return np.where(data == -32768, np.nan, data * 0.01 + 280)


def test_xarray(tmp_path):
    want = write_climate(tmp_path / "a.zarr", "BLOCKSIZE=2,8,16", "COMPRESS=BLOSC")
    with xarray.open_zarr(str(tmp_path / "a.zarr"), consolidated=True) as got:
        assert got.attrs["title"] == "made for a test"
        assert got.t2m.dims == ("time", "lat", "lon")
        assert got.t2m.attrs["units"] == "K"
        np.testing.assert_allclose(got.t2m.values, want, atol=1e-6)
        days = np.array(["2000-01-01", "2000-01-02", "2000-01-03", "2000-01-04"], "M8[ns]")
        np.testing.assert_array_equal(got.time.values, days)
        np.testing.assert_array_equal(got.lat.values, 60 - np.arange(23) / 2)
        np.testing.assert_array_equal(got.lon.values, np.arange(37) / 2)


def test_netcdf_c(tmp_path):
    """It takes the names of dimensions from _ARRAY_DIMENSIONS. That of Debian 12 does not
    decompress, and does not report it."""
    path = tmp_path / "a.zarr"
    want = write_climate(path, "BLOCKSIZE=2,8,16")
    with netCDF4.Dataset(f"file://{path}#mode=zarr,file") as got:
        assert got.title == "made for a test"
        assert {name: d.size for name, d in got.dimensions.items()} == {
            "time": 4, "lat": 23, "lon": 37
        }
        t2m = got["t2m"]
        assert (t2m.dimensions, t2m.dtype) == (("time", "lat", "lon"), np.dtype("i2"))
        assert (t2m.units, t2m.scale_factor, t2m.add_offset) == ("K", 0.01, 280)
        got_values = np.ma.masked_equal(t2m[:], -32768 * 0.01 + 280).filled(np.nan)
        np.testing.assert_allclose(got_values, want, atol=1e-6)
        assert got["time"].units == "days since 2000-01-01"
        np.testing.assert_array_equal(got["lat"][:], 60 - np.arange(23) / 2)


def test_netcdf_c_reads_numbers(tmp_path):
    path = tmp_path / "a.zarr"
    root = create(path).GetRootGroup()
    want = {}
    for gdal_type, dtype in NUMBERS.items():
        if dtype.kind == "c" or dtype == "f2":
            continue
        want[dtype.name] = extreme_values(dtype, SHAPE)
        create_array(root, dtype.name, SHAPE, gdal_type, *BLOCKS).Write(want[dtype.name].tobytes())
    del root
    with netCDF4.Dataset(f"file://{path}#mode=zarr,file") as got:
        got.set_auto_mask(False)
        assert_same({name: got[name][:] for name in want}, want)


# --- After changes -------------------------------------------------------------------------------

@EACH_READER
def test_changed_store(tmp_path, version, read):
    path = tmp_path / "a.zarr"
    write(path, DATA, "FORMAT=" + version, *BLOCKS, "COMPRESS=ZSTD")
    dataset = open_to_write(path)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray("a")
    array.Write(-DATA[2:9, 3:30], [2, 3])
    array.SetUnit("m")
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(32633)
    array.SetSpatialRef(srs)
    create_array(root.CreateGroup("g"), "b", DATA.shape, gdal.GDT_Int16).Write(DATA)
    del dataset, root, array
    want = DATA.copy()
    want[2:9, 3:30] *= -1
    got, attributes = read(path, "a", "g/b")
    assert_same(got, {"a": want, "g/b": DATA})
    assert attributes["a"]["units"] == "m"
    assert attributes["a"]["_CRS"]["url"].endswith("/EPSG/0/32633")
