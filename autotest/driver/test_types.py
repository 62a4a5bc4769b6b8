"""Data types beyond numbers, and the older formats, as GDAL sees them."""
import base64
import json

import numpy as np
import pytest
import zarr
from numcodecs import JSON, MsgPack, Pickle, VLenArray, VLenBytes, VLenUTF8
from osgeo import gdal
from stores import edit_json, write_json
from v2_stores import write_objects, write_v2, write_v2_group


def open_root(path):
    """The dataset (to be kept) and the array at the root of a store."""
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    root = dataset.GetRootGroup()
    return dataset, root.OpenMDArray(root.GetMDArrayNames()[0])


def write_v3(path, data_type, chunk, shape, codecs=None, fill_value=0):
    """A v3 array of one chunk, whose bytes are given."""
    path.mkdir()
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": fill_value,
        "codecs": codecs or [{"name": "bytes", "configuration": {"endian": "little"}}],
    }
    (path / "zarr.json").write_text(json.dumps(document))
    key = path.joinpath("c", *["0"] * len(shape))
    key.parent.mkdir(parents=True, exist_ok=True)
    key.write_bytes(chunk)


@pytest.mark.parametrize(
    "dtype,units",
    [
        ("<M8[s]", "seconds since 1970-01-01"),
        (">M8[D]", "days since 1970-01-01"),
        ("<M8[10us]", "10 microseconds since 1970-01-01"),
        ("<m8[ns]", "nanoseconds"),
    ],
)
def test_times_are_integers_with_units(tmp_path, dtype, units):
    values = np.array([0, 1, -5, 10**12], "i8").view("M8[s]").astype("i8")
    write_v2(tmp_path, "t.zarr", values.astype(dtype[0] + "i8").view(dtype), chunks=4)
    _, array = open_root(tmp_path / "t.zarr")
    assert gdal.GetDataTypeName(array.GetDataType().GetNumericDataType()) == "Int64"
    assert array.GetUnit() == units
    # The place where programs look for the units of a time axis.
    assert (array.GetAttribute("units") is not None) and array.GetAttribute("units").Read() == units
    np.testing.assert_array_equal(array.ReadAsArray(), values)


def test_not_a_time_is_nodata(tmp_path):
    values = np.array(["2020-01-01", "NaT", "2021-06-01"], "M8[D]")
    write_v2(tmp_path, "t.zarr", values, fill_value=np.datetime64("NaT"), chunks=4)
    _, array = open_root(tmp_path / "t.zarr")
    assert array.GetNoDataValueAsInt64() == -(2**63)
    assert array.ReadAsArray()[1] == -(2**63)


@pytest.mark.parametrize("object_codec", [VLenUTF8(), JSON(), MsgPack()], ids=lambda c: c.codec_id)
@pytest.mark.parametrize("order", "CF")
def test_variable_length_strings(tmp_path, object_codec, order):
    texts = np.array([["", "a", "größer"], ["日本", "x" * 300, "\U0001f600"]], dtype=object)
    if order == "F" and object_codec.codec_id != "vlen-utf8":
        texts = texts[:1].ravel()  # zarr-python itself cannot read such an array of two dimensions
    write_objects(tmp_path / "s.zarr", texts, object_codec, order)
    _, seen = open_root(tmp_path / "s.zarr")
    assert seen.GetDataType().GetClass() == gdal.GEDTC_STRING
    assert list(seen.Read()) == list(texts.ravel())


@pytest.mark.parametrize(
    "dtype, codec", [("|S5", VLenBytes()), ("<U3", VLenUTF8()), (">U3", VLenUTF8())],
    ids=lambda p: getattr(p, "codec_id", p),
)
@pytest.mark.parametrize("order", "CF")
def test_strings_of_fixed_length_behind_an_object_codec(tmp_path, dtype, codec, order):
    """As zarr-python 3.0 writes them."""
    texts = np.array([["", "a", "abc"], ["de", "x\u00e9" if "U" in dtype else "xyz", "f"]])
    values = texts.astype(dtype)
    write_v2(tmp_path, "s.zarr", values, chunks=values.shape, order=order)
    document = json.loads((tmp_path / "s.zarr" / ".zarray").read_text())
    document |= {"filters": [codec.get_config()], "compressor": None}
    write_json(tmp_path / "s.zarr" / ".zarray", document)
    chunk = tmp_path / "s.zarr" / "0.0"
    chunk.write_bytes(codec.encode(values.astype(object).ravel(order)))

    dataset, seen = open_root(tmp_path / "s.zarr")
    assert list(seen.Read()) == list(texts.ravel())
    del seen, dataset

    dataset = gdal.OpenEx(str(tmp_path / "s.zarr"), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray(root.GetMDArrayNames()[0])
    row = array.GetView("[1]")  # the bindings write strings of one dimension
    assert row.Write(["new"], [0], [1]) == gdal.CE_None
    del row, array, root, dataset
    texts[1, 0] = "new"
    stored = codec.decode(chunk.read_bytes()).astype(dtype).reshape(texts.shape, order=order)
    np.testing.assert_array_equal(stored, texts.astype(dtype))


@pytest.mark.skipif(np.dtype("longdouble").itemsize != 16 or np.finfo("longdouble").nmant != 63,
                    reason="NumPy has no long doubles of x87")
@pytest.mark.skipif(hasattr(zarr, "config"), reason="zarr-python 3 has no long doubles")
@pytest.mark.parametrize("dtype", ["<f16", ">f16", "<c32"])
def test_long_doubles_are_rounded_once_their_format_is_stated(tmp_path, dtype):
    values = np.array([0, 1, -2.5, 1e308, np.inf, np.nan, 7], dtype)
    values[1] += np.finfo("longdouble").eps  # rounded to 1
    values[2] /= 3
    if dtype == "<c32":
        values.imag = np.arange(7)
    write_v2(tmp_path, "a", values, chunks=(3,), fill_value=7)
    (tmp_path / "a/2").unlink()
    write_v2_group(tmp_path)
    root = gdal.OpenEx(str(tmp_path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    with pytest.raises(RuntimeError, match="LONG_DOUBLE=X87 or LONG_DOUBLE=QUAD"):
        root.OpenMDArray("a")
    dataset = gdal.OpenEx(str(tmp_path), gdal.OF_MULTIDIM_RASTER,
                          open_options=["LONG_DOUBLE=X87"])
    seen = dataset.GetRootGroup().OpenMDArray("a")
    expected = values.astype("c16" if dtype == "<c32" else "f8")
    expected[6] = 7
    assert seen.ReadAsArray().dtype == expected.dtype
    np.testing.assert_array_equal(seen.ReadAsArray(), expected)
    assert seen.GetNoDataValueAsDouble() == 7


def test_long_doubles_of_ieee(tmp_path):
    bits = [0x3fff << 112 | 1 << 111, 1 << 127 | 0x4000 << 112]  # 1.5, -2
    stored = np.frombuffer(b"".join(n.to_bytes(16, "little") for n in bits), "V16")
    write_v2(tmp_path, "", stored, chunks=(2,), compressor=None)
    edit_json(tmp_path / ".zarray", dtype="<f16", fill_value=None)
    dataset = gdal.OpenEx(str(tmp_path), gdal.OF_MULTIDIM_RASTER,
                          open_options=["LONG_DOUBLE=QUAD"])
    root = dataset.GetRootGroup()
    np.testing.assert_array_equal(root.OpenMDArray(root.GetMDArrayNames()[0]).ReadAsArray(),
                                  [1.5, -2])
    with pytest.raises(RuntimeError, match="can only be read"):
        gdal.OpenEx(str(tmp_path), gdal.OF_RASTER | gdal.OF_UPDATE,
                    open_options=["LONG_DOUBLE=QUAD"])


def test_strings_of_absent_chunks_are_the_fill_value(tmp_path):
    texts = np.array(["none"] * 3, dtype=object)
    write_objects(tmp_path / "s.zarr", texts, VLenUTF8(), fill_value="none")
    _, seen = open_root(tmp_path / "s.zarr")
    assert list(seen.Read()) == ["none"] * 3


def test_objects_that_are_refused_are_named(tmp_path):
    write_objects(tmp_path / "o.zarr", np.full(3, None, dtype=object), Pickle())
    with pytest.raises(RuntimeError, match="pickle"):
        open_root(tmp_path / "o.zarr")


@pytest.mark.parametrize("dtype", ["<i4", ">i2", "|u1", "<f8", ">f4", "|b1"])
def test_arrays_of_different_lengths_are_read_and_written_as_json(tmp_path, dtype):
    lists = np.empty(5, dtype=object)
    lists[:] = [np.array(n, dtype) for n in ([0, 1], [1], [], [0, 0, 1, 1], [1, 0, 1])]
    codec = VLenArray(dtype)
    write_json(tmp_path / ".zarray", {
        "zarr_format": 2, "shape": [5], "chunks": [5], "dtype": "|O", "order": "C",
        "fill_value": 0, "filters": [codec.get_config()], "compressor": None})
    (tmp_path / "0").write_bytes(codec.encode(lists))
    dataset = gdal.OpenEx(str(tmp_path), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray(root.GetMDArrayNames()[0])
    assert [json.loads(text) for text in array.Read()] == [n.tolist() for n in lists]
    array.Write(["[1,0]", "[0]"], array_start_idx=[1], count=[2])
    del array, root, dataset
    stored = codec.decode((tmp_path / "0").read_bytes())
    expected = [[0, 1], [1, 0], [0], [0, 0, 1, 1], [1, 0, 1]]
    assert [n.tolist() for n in stored] == [np.array(n, dtype).tolist() for n in expected]


def test_structures_are_compounds_with_views(tmp_path):
    dtype = np.dtype(
        [("a", "<i2"), ("b", ">f8"), ("c", "u1"), ("name", "S4"), ("pair", "<f4", (2,)),
         ("inner", [("x", "<u4"), ("half", "<f2")])]
    )
    values = np.zeros(6, dtype)
    values["a"] = np.arange(6) - 3
    values["b"] = np.arange(6) * 0.25
    values["c"] = np.arange(6) + 250
    values["name"] = [b"n%d" % i for i in range(6)]
    values["pair"] = np.arange(12).reshape(6, 2)
    values["inner"]["x"] = np.arange(6) + 2**31
    values["inner"]["half"] = np.arange(6) / 4
    # Written by hand, because zarr-python 3 has no fields that are arrays.
    write_json(tmp_path / "s.zarr/.zarray", {
        "zarr_format": 2, "shape": [6], "chunks": [4], "dtype": dtype.descr, "order": "C",
        "fill_value": None, "filters": None, "compressor": None,
    })
    for i, chunk in enumerate((values[:4], values[[4, 5, 5, 5]])):
        (tmp_path / f"s.zarr/{i}").write_bytes(chunk.tobytes())
    _, array = open_root(tmp_path / "s.zarr")
    components = [c.GetName() for c in array.GetDataType().GetComponents()]
    assert components == ["a", "b", "c", "name", "pair[0]", "pair[1]", "inner"]
    for name in "abc":
        view = array.GetView(f"['{name}']").ReadAsArray()
        np.testing.assert_array_equal(np.asarray(view).astype(dtype[name]), values[name])
    assert list(array.GetView("['name']").Read()) == [f"n{i}" for i in range(6)]


def test_the_fill_value_of_a_structure_is_nodata(tmp_path):
    """It holds a pointer to each string, so its bytes must not be interpreted as another type."""
    kind = np.dtype([("id", "u1"), ("name", "S5")])
    fill_value = base64.b64encode(np.array((7, b"none"), kind).tobytes()).decode()
    write_json(tmp_path / ".zarray", {
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": kind.descr, "order": "C",
        "fill_value": fill_value, "filters": None, "compressor": None,
    })
    _, array = open_root(tmp_path)
    assert array.GetView("['name']").Read() == ["none", "none"]
    nodata = array.GetNoDataValueAsRaw()
    assert (nodata[0], len(nodata)) == (7, 16)


def test_v3_structures_nest(tmp_path):
    inner = {"name": "struct", "configuration": {"fields": [{"name": "x", "data_type": "int16"}]}}
    outer = {
        "name": "struct",
        "configuration": {
            "fields": [{"name": "u", "data_type": "uint8"}, {"name": "in", "data_type": inner}]
        },
    }
    values = np.array([(1, (-2,)), (3, (400,))], [("u", "u1"), ("in", [("x", "<i2")])])
    write_v3(tmp_path / "s.zarr", outer, values.tobytes(), [2], fill_value={"u": 0, "in": {"x": 0}})
    _, array = open_root(tmp_path / "s.zarr")
    np.testing.assert_array_equal(array.GetView("['u']").ReadAsArray(), [1, 3])


@pytest.mark.parametrize(
    "name,codes,values",
    [
        ("bfloat16", [0x80, 0x3F, 0x00, 0xC0, 0x80, 0x7F], [1.0, -2.0, np.inf]),
        ("float8_e4m3fn", [0x38, 0xC0, 0x7E, 0x7F], [1.0, -2.0, 448.0, np.nan]),
        ("float8_e5m2", [0x3C, 0xC0, 0x7B, 0x7C], [1.0, -2.0, 57344.0, np.inf]),
        ("float8_e8m0fnu", [0x7F, 0x80, 0x00, 0xFF], [1.0, 2.0, 2.0**-127, np.nan]),
        ("float4_e2m1fn", [0x0, 0x1, 0x7, 0xF], [0.0, 0.5, 6.0, -6.0]),
        ("int4", [0x07, 0xF8, 0x0F], [7, -8, -1]),
        ("uint4", [0x07, 0xF8, 0x0F], [7, 8, 15]),
        ("int2", [0x01, 0x02, 0xFF], [1, -2, -1]),
    ],
)
def test_small_numbers_are_widened(tmp_path, name, codes, values):
    write_v3(tmp_path / "n.zarr", name, bytes(codes), [len(values)])
    _, array = open_root(tmp_path / "n.zarr")
    np.testing.assert_array_equal(np.asarray(array.ReadAsArray(), "f8"), values)


def test_v1_opens_by_its_path(tmp_path):
    store = tmp_path / "one.zarr"
    store.mkdir()
    values = np.arange(12, dtype="<i4").reshape(3, 4)
    document = {
        "zarr_format": 1, "shape": [3, 4], "chunks": [3, 4], "dtype": "<i4", "order": "F",
        "compression": None, "compression_opts": None, "fill_value": 0,
    }
    (store / "meta").write_text(json.dumps(document))
    (store / "attrs").write_text(json.dumps({"units": "m", "limit": float("nan")}))
    (store / "0.0").write_bytes(values.tobytes(order="F"))
    dataset = gdal.Open(str(store))
    np.testing.assert_array_equal(dataset.ReadAsArray(), values)
    assert dataset.GetRasterBand(1).GetUnitType() == "m"


def make_draft(store, array, entry=None):
    (store / "meta/root/deep/er").mkdir(parents=True)
    (store / "data/root/deep/er/a").mkdir(parents=True)
    uri = "https://purl.org/zarr/spec/protocol/core/3.0"
    document = {
        "zarr_format": uri, "metadata_encoding": uri, "metadata_key_suffix": ".json",
        "extensions": [],
    }
    (store / "zarr.json").write_text(json.dumps(document | (entry or {})))
    (store / "meta/root/deep/er/a.array.json").write_text(json.dumps(array))


DRAFT_ARRAY = {
    "shape": [2, 2], "data_type": "<i2", "chunk_memory_layout": "C", "fill_value": 7,
    "chunk_grid": {"type": "regular", "chunk_shape": [2, 2], "separator": "."},
    "attributes": {}, "extensions": [],
}


def test_the_draft_has_implied_groups_and_separators(tmp_path):
    make_draft(tmp_path / "d.zarr", DRAFT_ARRAY)
    values = np.array([[1, 2], [3, 4]], "<i2")
    (tmp_path / "d.zarr/data/root/deep/er/a/c0.0").write_bytes(values.tobytes())
    dataset = gdal.OpenEx(str(tmp_path / "d.zarr"), gdal.OF_MULTIDIM_RASTER)
    root = dataset.GetRootGroup()
    assert root.GetGroupNames() == ["deep"]
    array = root.OpenMDArrayFromFullname("/deep/er/a")
    np.testing.assert_array_equal(array.ReadAsArray(), values)


@pytest.mark.parametrize("members, problem", [
    ({"data_type": {"extension": "https://example.org/decimal", "type": "decimal",
                    "fallback": "<c8"}}, "decimal.* is not supported"),
    ({"storage_transformers": [{"extension": "https://example.org/shards", "type": "indexed"}]},
     "storage transformers .*indexed.* are not supported"),
])
def test_the_draft_is_not_read_by_other_rules(tmp_path, members, problem):
    make_draft(tmp_path / "d.zarr", DRAFT_ARRAY | members)
    root = gdal.OpenEx(str(tmp_path / "d.zarr"), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    with pytest.raises(RuntimeError, match=problem):
        root.OpenMDArrayFromFullname("/deep/er/a")


def test_the_draft_names_extensions_that_must_be_understood(tmp_path):
    extension = {"extension": "https://example.org/foo", "must_understand": True}
    make_draft(tmp_path / "d.zarr", DRAFT_ARRAY, {"extensions": [extension]})
    with pytest.raises(RuntimeError, match="example.org/foo"):
        gdal.OpenEx(str(tmp_path / "d.zarr"), gdal.OF_MULTIDIM_RASTER)


def test_a_rectilinear_grid_has_runs(tmp_path):
    store = tmp_path / "r.zarr"
    write_v3(store, "uint8", b"", [7])
    document = json.loads((store / "zarr.json").read_text())
    document["chunk_grid"] = {
        "name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[[2, 2], 4]]}
    }
    (store / "zarr.json").write_text(json.dumps(document))
    for i, chunk in enumerate([b"\1\2", b"\3\4", b"\5\6\7\xff"]):
        (store / f"c/{i}").write_bytes(chunk)
    _, array = open_root(store)
    np.testing.assert_array_equal(array.ReadAsArray(), np.arange(1, 8))
    np.testing.assert_array_equal(array.GetView("[::-3]").ReadAsArray(), [7, 4, 1])


def test_thirty_two_dimensions(tmp_path):
    write_v2(tmp_path, "n.zarr", np.array([5, 6, 7], "u1").reshape([1] * 31 + [3]))
    _, array = open_root(tmp_path / "n.zarr")
    assert array.GetDimensionCount() == 32
    assert list(array.Read()) == [5, 6, 7]
