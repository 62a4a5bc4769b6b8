"""What other libraries write, and mean, beyond the specification of v3."""
import json
import struct
from itertools import pairwise

import numcodecs
import numpy as np
import pytest
from classic import open_raster
from multidim import open_array, open_root, open_to_write
from osgeo import gdal
from stores import BYTES, GZIP, edit_json, sharding, transpose, write_array, write_json
from v2_stores import write_v2, write_v2_group

DATA = np.arange(24 * 20, dtype="i4").reshape(24, 20)


def write_chunks(path, chunks, *, shape=DATA.shape, data_type="int32", grid, codecs=(BYTES,)):
    write_json(path / "zarr.json", {
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type,
        "chunk_grid": grid, "fill_value": 0, "codecs": codecs, "attributes": {},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}})
    for key, chunk in chunks.items():
        (path / "c" / key).parent.mkdir(parents=True, exist_ok=True)
        (path / "c" / key).write_bytes(np.ascontiguousarray(chunk).tobytes())


def regular(*lengths, name="regular"):
    return {"name": name, "configuration": {"chunk_shape": lengths}}


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
def test_an_empty_list_of_codecs(tmp_path, dtype):
    """Of zarrita.js: little-endian bytes."""
    write_chunks(tmp_path, {"0/0": DATA.astype(dtype)}, data_type=dtype, grid=regular(24, 20),
                 codecs=[])
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), DATA.astype(dtype))


@pytest.mark.parametrize("lengths", [(10, 7), (24, 20), (30, 3)])
def test_grids_that_end_with_the_array(tmp_path, lengths):
    """Of zarrs: chunks at the end are stored as far as the array goes."""
    rows, columns = lengths
    write_chunks(tmp_path, {f"{i // rows}/{j // columns}": DATA[i:i + rows, j:j + columns]
                            for i in range(0, 24, rows) for j in range(0, 20, columns)},
                 grid=regular(*lengths, name="zarrs.regular_bounded"))
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), DATA)


def test_an_edit_keeps_the_name_of_a_grid(tmp_path):
    """Other programs know it by that name."""
    grid = regular(10, 7, name="zarrs.regular_bounded")
    write_chunks(tmp_path, {"0/0": DATA[:10, :7]}, grid=grid)
    before = json.loads((tmp_path / "zarr.json").read_text(encoding="utf-8"))
    dataset = gdal.OpenEx(str(tmp_path), gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.SetMetadataItem("title", "edited")
    del dataset
    after = json.loads((tmp_path / "zarr.json").read_text(encoding="utf-8"))
    assert after["attributes"]["title"] == "edited"
    assert after["chunk_grid"] == before["chunk_grid"]


def test_squeezed_chunks(tmp_path):
    """Of zarrs: the codec leaves out dimensions in which a chunk has the length 1."""
    write_chunks(tmp_path, {"0/0/0": DATA.T}, shape=(24, 1, 20), grid=regular(24, 1, 20),
                 codecs=[{"name": "zarrs.squeeze"}, transpose(1, 0), BYTES])
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray()[:, 0], DATA)


def test_index_of_shards_without_a_byte_order(tmp_path):
    write_array(tmp_path, DATA, (12, 20), [sharding((4, 5), [BYTES, GZIP], [{"name": "bytes"}])])
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), DATA)


@pytest.mark.parametrize("shape, lengths", [((24, 20), (24.0, 20)), ((1, 20), (True, 20))])
def test_chunk_lengths_that_are_not_integers(tmp_path, shape, lengths):
    data = DATA[:shape[0]]
    write_chunks(tmp_path, {"0/0": data}, shape=shape, grid=regular(*lengths))
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), data)


@pytest.mark.parametrize("name", ["/foo/bar", "foo//bar", "/foo/bar/", "\\foo\\bar", "foo\\bar"])
def test_paths_of_v2(tmp_path, name):
    write_v2_group(tmp_path)
    write_v2_group(tmp_path / "foo")
    write_v2(tmp_path, "foo/bar", DATA)
    np.testing.assert_array_equal(open_raster(f'ZARR:"{tmp_path}":{name}').ReadAsArray(), DATA)
    for wrong in ("/foo/../foo/bar", "/foo/./bar"):
        with pytest.raises(RuntimeError, match="not a valid node path"):
            open_raster(f'ZARR:"{tmp_path}":{wrong}')


@pytest.mark.parametrize("fallback, dtype", [
    ("r16", "<u2"), ("<u2", "<u2"), (">i4", ">i4"), ("<f4", "<f4"), ("bool", "?")])
def test_unknown_extension_with_a_core_type(tmp_path, fallback, dtype):
    """Of the draft of 2020: it is read as its fallback, as GDAL's built-in driver reads it."""
    core = "https://purl.org/zarr/spec/protocol/core/3.0"
    write_json(tmp_path / "zarr.json", {"zarr_format": core, "metadata_encoding": core,
                                        "metadata_key_suffix": ".json", "extensions": []})
    write_json(tmp_path / "meta/root/a.array.json", {
        "shape": [24, 20], "data_type": {"extension": "https://example.org/q", "type": "q",
                                         "fallback": fallback},
        "chunk_grid": {"type": "regular", "chunk_shape": [24, 20], "separator": "/"},
        "chunk_memory_layout": "C", "fill_value": None, "extensions": [], "attributes": {}})
    (tmp_path / "data/root/a/c0").mkdir(parents=True)
    (tmp_path / "data/root/a/c0/0").write_bytes(DATA.astype(dtype).tobytes())
    values = open_root(tmp_path).OpenMDArray("a").ReadAsArray()
    np.testing.assert_array_equal(values, DATA.astype(dtype))


@pytest.mark.parametrize("name", ["bytes", "variable_length_bytes", "binary"])
def test_names_of_bytes_of_variable_length(tmp_path, name):
    write_json(tmp_path / "zarr.json", {
        "zarr_format": 3, "node_type": "array", "shape": [2], "data_type": name, "fill_value": "",
        "chunk_grid": regular(2), "codecs": [{"name": "vlen-bytes"}], "attributes": {},
        "chunk_key_encoding": {"name": "default"}})
    (tmp_path / "c").mkdir()
    chunk = struct.pack("<II1sI2s", 2, 1, b"q", 2, b"rs")
    (tmp_path / "c/0").write_bytes(chunk)
    assert open_array(tmp_path).Read() == ["q", "rs"]


LENIENT = {
    "empty": ([], lambda raw: raw),
    "only a compressor": ([{"name": "zstd"}], lambda raw: numcodecs.Zstd().encode(raw)),
    "no byte order": ([{"name": "bytes"}], lambda raw: raw),
    "shards": ([sharding((24, 20), [], [])],
               lambda raw: raw + struct.pack("<QQ", 0, len(raw))),
}


@pytest.mark.parametrize("codecs, encode", LENIENT.values(), ids=LENIENT)
def test_codecs_without_a_byte_order_are_little_endian(tmp_path, codecs, encode):
    """A debug message says so, and changes of the metadata leave the codecs as they are."""
    write_chunks(tmp_path, {}, grid=regular(24, 20), codecs=codecs)
    (tmp_path / "c/0").mkdir(parents=True)
    (tmp_path / "c/0/0").write_bytes(encode(DATA.tobytes()))
    messages = []
    gdal.PushErrorHandler(lambda level, number, text: messages.append((level, text)))
    try:
        gdal.SetConfigOption("CPL_DEBUG", "ZARR")
        np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), DATA)
    finally:
        gdal.SetConfigOption("CPL_DEBUG", None)
        gdal.PopErrorHandler()
    said = [text for level, text in messages if "little-endian bytes are assumed" in text]
    assert len(set(said)) == 1
    assert all(level == gdal.CE_Debug for level, text in messages)
    dataset = gdal.OpenEx(str(tmp_path), gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.SetMetadataItem("title", "edited")
    dataset.GetRasterBand(1).WriteArray(DATA[::-1])
    del dataset
    after = json.loads((tmp_path / "zarr.json").read_text(encoding="utf-8"))
    assert after["attributes"]["title"] == "edited"
    assert after["codecs"] == json.loads(json.dumps(codecs))
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), DATA[::-1])
    # A copy states the byte order.
    copy = tmp_path.with_suffix(".copy")
    gdal.MultiDimTranslate(str(copy), str(tmp_path), format="Zarr",
                           creationOptions=["FORMAT=ZARR_V3"])
    (document,) = copy.glob("*/zarr.json")
    text = document.read_text(encoding="utf-8")
    assert text.count('"endian": "little"') == str(codecs).count("chunk_shape") + 1, text


@pytest.mark.parametrize("members", [
    {"chunks": [24.0, 20]}, {"chunks": [24, 20.0]}, {"shape": [24.0, 20]}])
def test_lengths_of_v2_that_are_not_integers(tmp_path, members):
    write_v2(tmp_path, "", DATA, chunks=(24, 20), compressor=None)
    edit_json(tmp_path / ".zarray", **members)
    np.testing.assert_array_equal(open_raster(tmp_path).ReadAsArray(), DATA)


def test_a_chunk_length_of_zero(tmp_path):
    write_v2(tmp_path, "", DATA, chunks=(24, 20), compressor=None)
    edit_json(tmp_path / ".zarray", chunks=[0, 20])
    with pytest.raises(RuntimeError, match="the chunk shape is zero in dimension 0"):
        open_array(tmp_path)


def test_rectangular_grids(tmp_path):
    """Of ZEP 3: a length, or the lengths of all chunks, for each dimension."""
    rows, columns = [0, 10, 20], [0, 5, 12, 20]
    chunks = {f"{i}/{j}": np.pad(DATA, ((0, 6), (0, 0)))[rows[i]:rows[i] + 10, a:b]
              for i in range(3) for j, (a, b) in enumerate(pairwise(columns))}
    grid = {"name": "rectangular", "configuration": {"chunk_shape": [10, [5, 7, 8]]}}
    write_chunks(tmp_path, chunks, grid=grid)
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), DATA)


@pytest.mark.parametrize("suffix", [".tif", "_"])
def test_keys_with_a_suffix(tmp_path, suffix):
    keys = {"name": "zarrs.default_suffix",
            "configuration": {"separator": ".", "suffix": suffix}}
    write_chunks(tmp_path, {}, grid=regular(12, 20))
    edit_json(tmp_path / "zarr.json", chunk_key_encoding=keys)
    for i in range(2):
        (tmp_path / f"c.{i}.0{suffix}").write_bytes(DATA[12 * i:12 * i + 12].tobytes())
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), DATA)
    dataset = gdal.OpenEx(str(tmp_path), gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.GetRasterBand(1).WriteArray(DATA[:2] + 7, 0, 12)
    del dataset
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        f"c.0.0{suffix}", f"c.1.0{suffix}", "zarr.json"]
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray()[12:14], DATA[:2] + 7)
    edit_json(tmp_path / "zarr.json", chunk_key_encoding={
        "name": "zarrs.default_suffix", "configuration": {"suffix": "/../x"}})
    with pytest.raises(RuntimeError, match="suffix of chunk keys"):
        open_array(tmp_path)


OPTIONAL = {"name": "zarrs.optional", "configuration": {"name": "int32", "configuration": {}}}


@pytest.mark.parametrize("fill, missing", [(None, (0, 0)), ([7], (1, 7))])
def test_elements_that_may_be_missing(tmp_path, fill, missing):
    """Of zarrs: they are structures, since each number may also be a value."""
    codec = {"name": "zarrs.optional", "configuration": {
        "mask_codecs": [{"name": "packbits"}], "data_codecs": [BYTES, GZIP]}}
    write_chunks(tmp_path, {}, shape=(6,), data_type=OPTIONAL, grid=regular(3), codecs=[codec])
    edit_json(tmp_path / "zarr.json", fill_value=fill)
    (tmp_path / "c").mkdir()
    data = numcodecs.GZip().encode(np.array([5, -6], "<i4").tobytes())
    (tmp_path / "c/0").write_bytes(struct.pack("<QQB", 1, len(data), 0b101) + data)
    array = open_array(tmp_path)
    valid, value = (array.GetView(f'["{name}"]').ReadAsArray() for name in ("valid", "value"))
    np.testing.assert_array_equal(valid, [1, 0, 1] + 3 * [missing[0]])
    np.testing.assert_array_equal(value, [5, 0, -6] + 3 * [missing[1]])
    del array
    dataset = open_to_write(tmp_path)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray(root.GetMDArrayNames()[0])
    attribute = array.CreateAttribute("note", [], gdal.ExtendedDataType.CreateString())
    attribute.Write("x")
    del attribute, array, root, dataset
    after = json.loads((tmp_path / "zarr.json").read_text(encoding="utf-8"))
    assert (after["data_type"], after["fill_value"]) == (OPTIONAL, fill)
    assert after["attributes"] == {"note": "x"}


@pytest.mark.parametrize("dtype", ["<i2", ">f4", "u1", "<f8"])
@pytest.mark.parametrize("compressor", [
    None, numcodecs.GZip(1), numcodecs.BZ2(1), numcodecs.Blosc("zstd")], ids=str)
def test_blocks_of_n5_in_v2(tmp_path, dtype, compressor):
    """As zarr-python 2 copies them from N5, with blocks cut at the end of the array or not."""
    n5 = pytest.importorskip("zarr.n5")
    data = np.random.default_rng(5).integers(0, 100, (7, 9)).astype(dtype)
    write_v2(tmp_path, "", data, chunks=(4, 5), compressor=None)
    wrapper = n5.N5ChunkWrapper(dtype, (4, 5), compressor=compressor)
    edit_json(tmp_path / ".zarray", compressor=wrapper.get_config())
    for i in range(2):
        for j in range(2):
            block = np.ascontiguousarray(data[4 * i:4 * i + 4, 5 * j:5 * j + 5])
            if j == 1 and block.shape == (4, 4):
                block = np.pad(block, ((0, 0), (0, 1)))
            (tmp_path / f"{i}.{j}").write_bytes(wrapper.encode(block))
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), data)


def test_names_of_files_with_a_scheme(tmp_path):
    write_v2(tmp_path, "a", DATA)
    write_v2_group(tmp_path)
    for name in (f"file:{tmp_path}/a", f"file://{tmp_path}/a", f"ZARR:file:{tmp_path}:/a",
                 f'ZARR:"file:{tmp_path}":/a'):
        np.testing.assert_array_equal(open_raster(name).ReadAsArray(), DATA)
