"""What other libraries write, and mean, beyond the specification of v3."""
import json
import struct

import numpy as np
import pytest
from classic import open_raster
from multidim import open_array, open_root
from osgeo import gdal
from stores import BYTES, GZIP, sharding, transpose, write_array, write_json
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


def test_unknown_extension_with_raw_bits(tmp_path):
    """Of the draft of 2020: the fallback has the bits of the type."""
    core = "https://purl.org/zarr/spec/protocol/core/3.0"
    write_json(tmp_path / "zarr.json", {"zarr_format": core, "metadata_encoding": core,
                                        "metadata_key_suffix": ".json", "extensions": []})
    write_json(tmp_path / "meta/root/a.array.json", {
        "shape": [24, 20], "data_type": {"extension": "https://example.org/q", "type": "q",
                                         "fallback": "r16"},
        "chunk_grid": {"type": "regular", "chunk_shape": [24, 20], "separator": "/"},
        "chunk_memory_layout": "C", "fill_value": None, "extensions": [], "attributes": {}})
    (tmp_path / "data/root/a/c0").mkdir(parents=True)
    (tmp_path / "data/root/a/c0/0").write_bytes(DATA.astype("<u2").tobytes())
    np.testing.assert_array_equal(open_root(tmp_path).OpenMDArray("a").ReadAsArray(), DATA)


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
