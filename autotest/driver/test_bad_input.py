"""A fault in a store gives a CE_Failure that names the node and what is wrong. It harms nothing
else of the store, and can neither crash a program nor make it ask for more memory than it needs.
"""
import gzip
import json
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import zarr
from numcodecs.blosc import Blosc
from numcodecs.zstd import Zstd
from osgeo import gdal
from stores import (
    ABSENT, BLOSC, BYTES, CRC32C, GZIP, ZSTD, consolidate, crc32c, edit_json, sharding, transpose,
    write_array, write_group,
)

DATA = np.arange(64, dtype="u2").reshape(8, 8)


def open_root(path):
    return gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()


def message_of(function, *arguments):
    with pytest.raises(RuntimeError) as caught:
        function(*arguments)
    return str(caught.value)


def assert_fails(message, *parts):
    """Parts are regular expressions, each to be found."""
    for part in parts:
        assert re.search(part, message), message


def assert_good_opens(path):
    """The neighbour of what is bad, by itself and when all of the store is looked at."""
    root = open_root(path)
    assert "good" in root.GetMDArrayNames()
    np.testing.assert_array_equal(root.OpenMDArray("good").ReadAsArray(), DATA)
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"{path}":/good').ReadAsArray(), DATA)
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    try:
        dataset = gdal.Open(str(path))
    finally:
        gdal.PopErrorHandler()
    if dataset.RasterCount == 1:
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    else:
        assert f'ZARR:"{path}":/good' in [name for name, _ in dataset.GetSubDatasets()]


@pytest.fixture
def v3(tmp_path):
    write_group(tmp_path)
    for name in ("good", "bad"):
        write_array(tmp_path / name, DATA, (4, 4), [BYTES, GZIP])
    return tmp_path


@pytest.fixture
def v2(tmp_path):
    root = zarr.open_group(str(tmp_path), "w")
    for name in ("good", "bad"):
        root.create_dataset(name, data=DATA, chunks=(4, 4))
    return tmp_path


def regular(*chunk_shape):
    return {"name": "regular", "configuration": {"chunk_shape": chunk_shape}}


def with_configuration(name, **configuration):
    return {"name": name, "configuration": configuration}


# --- Metadata ------------------------------------------------------------------------------------

def assert_bad_array(path, *problem):
    """Nobody can open it, and everybody is told why."""
    root = open_root(path)
    assert "bad" in root.GetMDArrayNames()
    assert_fails(message_of(root.OpenMDArray, "bad"), str(path), "bad", *problem)
    assert_fails(message_of(gdal.Open, f'ZARR:"{path}":/bad'), str(path), "bad", *problem)
    assert_good_opens(path)


@pytest.mark.parametrize("version, document", [("v2", ".zarray"), ("v3", "zarr.json")])
def test_missing_json(request, version, document):
    """Without its document a folder is no node, and without the root's there is no store."""
    path = request.getfixturevalue(version)
    (path / "bad" / document).unlink()
    assert open_root(path).GetMDArrayNames() == ["good"]
    assert_fails(message_of(open_root(path).OpenMDArray, "bad"), "bad does not exist")
    assert_fails(message_of(gdal.Open, f'ZARR:"{path}":/bad'), f"{path}: array /bad is not there")
    assert_good_opens(path)
    (path / (".zgroup" if version == "v2" else document)).unlink()
    assert_fails(message_of(gdal.Open, f'ZARR:"{path}"'), f"{path}: there is no Zarr group")


TEXTS = {
    "empty": (b"", "not valid JSON"),
    "blank": (b" \n", "not valid JSON"),
    "cut": (b'{"zarr_format": 3, "node', "not valid JSON"),
    "more": (b"{} {}", "not valid JSON"),
    "binary": (bytes(range(256)), "not valid JSON"),
    "bad utf-8": (b'{"zarr_format": "\xff"}', "not valid JSON"),
    "bad escape": (rb'{"zarr_format": "\x"}', "not valid JSON"),
    "list": (b"[]", "is a list where an object is expected"),
    "null": (b"null", "is null where an object is expected"),
    "deep lists": (b"[" * 10**6, "nested deeper than 256 levels"),
    "deep objects": (b'{"a":' * 10**6, "nested deeper than 256 levels"),
    "deep and closed": (b"[" * 10**6 + b"]" * 10**6, "nested deeper than 256 levels"),
}


@pytest.mark.parametrize("text, problem", TEXTS.values(), ids=TEXTS)
def test_broken_json(v3, text, problem):
    (v3 / "bad/zarr.json").write_bytes(text)
    assert_bad_array(v3, "bad/zarr.json: ", problem)


@pytest.mark.parametrize("text, problem", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("file", [".zarray", ".zattrs"])
def test_broken_json_v2(v2, file, text, problem):
    if (text, file) == (b"null", ".zattrs"):
        problem = None  # means the same as none
    (v2 / "bad" / file).write_bytes(text)
    if problem:
        assert_bad_array(v2, f"bad/{file}: ", problem)
    else:
        assert_good_opens(v2)


@pytest.mark.parametrize("text, problem", TEXTS.values(), ids=TEXTS)
def test_broken_json_of_a_group(v3, text, problem):
    """At the root nothing is left to open; below it, the rest is."""
    write_group(v3 / "group")
    (v3 / "group/zarr.json").write_bytes(text)
    assert_fails(message_of(open_root(v3).OpenGroup, "group"), "group/zarr.json: ", problem)
    assert_good_opens(v3)
    (v3 / "zarr.json").write_bytes(text)
    assert_fails(message_of(gdal.Open, f'ZARR:"{v3}"'), str(v3), "zarr.json: ", problem)


@pytest.mark.parametrize("changes, problem", [
    ({"zarr_format": ABSENT}, '"zarr_format" is missing'),
    ({"zarr_format": "3"}, '"zarr_format" is "3" where 3 is expected'),
    ({"zarr_format": 4}, '"zarr_format" is 4 where 3 is expected'),
    ({"node_type": ABSENT}, '"node_type" is missing'),
    ({"node_type": 5}, '"node_type" is 5 where array or group is expected'),
    ({"shape": ABSENT}, '"shape" is missing'),
    ({"shape": None}, '"shape" is null where a list'),
    ({"shape": "8"}, '"shape" is a string where a list'),
    ({"shape": [8, "8"]}, '"shape" is a string where a non-negative integer'),
    ({"shape": [8, 8.0]}, '"shape" is a number where a non-negative integer'),
    ({"shape": [8, -8]}, '"shape" is -8, which is negative'),
    ({"shape": [8, 2**64]}, '"shape" is a number where a non-negative integer'),
    ({"shape": [8, [8]]}, '"shape" is a list where a non-negative integer'),
    ({"shape": [8]}, "chunk shape has 2 dimensions, the array 1"),
    ({"shape": [2**63, 2**63]}, "more than 2.63 chunks"),
    ({"data_type": ABSENT}, '"data_type" is missing'),
    ({"data_type": 5}, '"data_type" is an integer where an object'),
    ({"data_type": {"name": 5}}, '"data_type" has no "name"'),
    ({"data_type": "float13"}, 'data type "float13" is not supported'),
    ({"data_type": "r7"}, 'data type "r7" is not supported'),
    ({"data_type": "r0"}, 'data type "r0" is not supported'),
    ({"data_type": "r99999999999999999999"}, "data type .* is not supported"),
    ({"data_type": with_configuration("fixed_length_utf32", length_bytes=6)}, "multiple of 4"),
    ({"data_type": with_configuration("raw_bytes", length_bytes=2**62)}, "elements of 4611686018"),
    ({"data_type": with_configuration("raw_bytes", length_bytes="2")}, "bytes. is a string"),
    ({"data_type": "raw_bytes"}, 'raw_bytes has no "length_bytes"'),
    ({"chunk_grid": ABSENT}, '"chunk_grid" is missing'),
    ({"chunk_grid": []}, '"chunk_grid" is a list where an object'),
    ({"chunk_grid": {"name": "hexagonal"}}, 'chunk grid "hexagonal" is not supported'),
    ({"chunk_grid": {"name": "regular"}}, '"chunk_shape" is missing'),
    ({"chunk_grid": {"name": "regular", "configuration": []}}, "a configuration that is a list"),
    ({"chunk_grid": regular(4)}, "chunk shape has 1 dimensions, the array 2"),
    ({"chunk_grid": regular(4, -1)}, '"chunk_shape" is -1, which is negative'),
    ({"chunk_grid": regular(4, 0)}, "chunk shape is zero in dimension 1"),
    ({"chunk_grid": regular(2**32, 2**32)}, "chunks larger than any memory"),
    ({"chunk_grid": regular(2**63, 1)}, "chunks larger than any memory"),
    ({"chunk_key_encoding": ABSENT}, '"chunk_key_encoding" is missing'),
    ({"chunk_key_encoding": {"name": "odd"}}, 'chunk key encoding "odd" is not supported'),
    ({"chunk_key_encoding": with_configuration("default", separator="..")}, "neither . nor /"),
    ({"fill_value": ABSENT}, '"fill_value" is missing'),
    ({"fill_value": "abc"}, 'fill value "abc" does not fit the data type uint16'),
    ({"fill_value": 65536}, "fill value 65536 does not fit the data type uint16"),
    ({"fill_value": {}}, "fill value {} does not fit the data type uint16"),
    ({"fill_value": "9" * 10**6}, "fill value .* does not fit the data type uint16"),
    ({"attributes": []}, '"attributes" is a list where an object'),
    ({"attributes": "a"}, '"attributes" is a string where an object'),
    ({"dimension_names": ["y"]}, '"dimension_names" is not a list of 2 names'),
    ({"dimension_names": "yx"}, '"dimension_names" is not a list of 2 names'),
    ({"dimension_names": ["y", 5]}, '"dimension_names" holds an integer'),
    ({"storage_transformers": [{"name": "turn"}]}, 'storage transformer "turn" is not supported'),
    ({"novelty": {}}, 'member "novelty" is an extension that is not supported'),
    ({"novelty": {"must_understand": True}}, 'member "novelty" is an extension'),
    ({"novelty": 5}, 'member "novelty" is an extension'),
], ids=str)
def test_wrong_metadata(v3, changes, problem):
    edit_json(v3 / "bad/zarr.json", **changes)
    assert_bad_array(v3, problem)


@pytest.mark.parametrize("codecs, problem", [
    (ABSENT, '"codecs" is missing'),
    ({}, '"codecs" is an object where a list of codecs'),
    ([], "codecs do not include one from arrays to bytes"),
    ([5], "a codec is an integer"),
    ([{"configuration": {}}], 'a codec has no "name"'),
    ([BYTES, {"name": "zipzap"}], 'codec "zipzap" is not supported'),
    ([BYTES, {"name": "numcodecs.pickle"}], 'codec "numcodecs.pickle" is not supported'),
    ([GZIP, BYTES], 'codec "gzip": it stands before the array has become bytes'),
    ([BYTES, BYTES], 'codec "bytes": it stands where the array has become bytes already'),
    ([BYTES, transpose(1, 0)], 'codec "transpose": it stands where the array has become bytes'),
    ([with_configuration("bytes", endian="middle")], 'codec "bytes": .*"endian" is "middle"'),
    ([BYTES, with_configuration("gzip", level="9")], 'codec "gzip": "level" is "9"'),
    ([BYTES, with_configuration("zstd", level=0, checksum=1)], 'codec "zstd": "checksum" is 1'),
    ([BYTES, with_configuration("blosc", cname="zip")], 'codec "blosc": "cname" is "zip"'),
    ([BYTES, with_configuration("blosc", cname="lz4", shuffle=7)], 'codec "blosc": "shuffle" is 7'),
    ([transpose(0, 0), BYTES], 'codec "transpose": .*order'),
    ([transpose(0, 2), BYTES], 'codec "transpose": .*order'),
    ([transpose(0), BYTES], 'codec "transpose": .*order'),
    ([transpose(0, -1), BYTES], 'codec "transpose": .*order'),
    ([with_configuration("transpose", order="A"), BYTES], 'codec "transpose": .*order'),
    ([sharding((3, 4))], 'codec "sharding_indexed": the inner chunk length 3 of dimension 0'),
    ([sharding((4, 0))], 'codec "sharding_indexed": the inner chunk length 0 of dimension 1'),
    ([sharding((4,))], 'codec "sharding_indexed": "chunk_shape" has 1 dimensions'),
    ([sharding((2, 2), [])], 'codec "sharding_indexed": .*from arrays to bytes'),
    ([sharding((2, 2), [BYTES, {"name": "zipzap"}])], 'codec "zipzap" is not supported'),
    ([sharding((2, 2), index_codecs=[BYTES, GZIP])], '"index_codecs" .* of fixed size'),
    ([sharding((2, 2), index_location="middle")], '"index_location" is "middle"'),
    ([with_configuration("sharding_indexed", chunk_shape=[2, 2])], '"codecs" is missing'),
], ids=str)
def test_wrong_codecs(v3, codecs, problem):
    edit_json(v3 / "bad/zarr.json", codecs=codecs)
    assert_bad_array(v3, problem)


@pytest.mark.parametrize("changes, problem", [
    ({"zarr_format": 3}, '"zarr_format" is 3 where 2 is expected'),
    ({"shape": ABSENT}, '"shape" is missing'),
    ({"shape": [8, True]}, '"shape" is a boolean'),
    ({"chunks": [4]}, "chunk shape has 1 dimensions, the array 2"),
    ({"chunks": [0, 4]}, "chunk shape is zero in dimension 0"),
    ({"chunks": [2**40, 2**40]}, "chunks larger than any memory"),
    ({"dtype": ABSENT}, '"dtype" is missing'),
    ({"dtype": "<i3"}, 'data type "<i3" is not supported'),
    ({"dtype": "i"}, 'data type "i" is not supported'),
    ({"dtype": "|S0"}, r'data type "\|S0" is not supported'),
    ({"dtype": "<U4611686018427387905"}, "data type .* is not supported"),
    ({"dtype": 5}, 'the data type is an integer where a string'),
    ({"fill_value": "abc"}, 'fill value "abc" does not fit the data type uint16'),
    ({"order": "Z"}, '"order" is "Z", neither C nor F'),
    ({"compressor": "zlib"}, '"compressor" is not an object with an "id"'),
    ({"compressor": {"level": 1}}, '"compressor" is not an object with an "id"'),
    ({"compressor": {"id": "zipzap"}}, 'codec "numcodecs.zipzap" is not supported'),
    ({"compressor": {"id": "zlib", "level": "high"}}, '"level" is "high"'),
    ({"filters": {}}, '"filters" is neither a list nor null'),
    ({"filters": [{"id": "pickle"}]}, 'codec "numcodecs.pickle" is not supported'),
    ({"filters": [5]}, 'a filter is not an object with an "id"'),
    ({"dimension_separator": ":"}, '"dimension_separator" is ":", neither . nor /'),
], ids=str)
def test_wrong_metadata_v2(v2, changes, problem):
    edit_json(v2 / "bad/.zarray", **changes)
    assert_bad_array(v2, problem)


def test_extension_that_need_not_be_understood(v3):
    edit_json(v3 / "bad/zarr.json", novelty={"must_understand": False})
    np.testing.assert_array_equal(open_root(v3).OpenMDArray("bad").ReadAsArray(), DATA)


@pytest.mark.parametrize("attributes", [
    {"scale_factor": [], "add_offset": {}, "units": 5, "_FillValue": {}, "missing_value": "x"},
    {"_CRS": 5, "grid_mapping": ["a"], "coordinates": 7, "bounds": {}, "standard_name": [1]},
    {"grid_mapping": "bad", "crs_wkt": 5, "coordinates": "bad bad ../bad /bad"},
    {"_ARRAY_DIMENSIONS": 5, "long_name": {}, "COLOR_INTERPRETATION": [1, []]},
    {"": "", "\u0000": 1, "a/b": 2},
], ids=str)
def test_odd_attributes_do_no_harm(v3, attributes):
    """What a convention does not understand is an attribute like any other."""
    edit_json(v3 / "bad/zarr.json", attributes=attributes, dimension_names=["good", "bad"])
    assert read_everything(v3) == []
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"{v3}":/bad').ReadAsArray(), DATA)


# --- Consolidated metadata and names -------------------------------------------------------------

def test_broken_node_in_consolidated_metadata(v3):
    consolidate(v3, bad={"zarr_format": 3, "node_type": "array"})
    assert_bad_array(v3, '"shape" is missing')


@pytest.mark.parametrize("value", [
    5, [], {}, {"kind": "inline"}, {"kind": "inline", "metadata": []},
    {"kind": "outline", "metadata": {}},
], ids=str)
def test_useless_consolidated_metadata(v3, value):
    edit_json(v3 / "zarr.json", consolidated_metadata=value)
    assert_good_opens(v3)


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"zarr_consolidated_format": 7, "metadata": {}}',
                                  b'{"zarr_consolidated_format": 1}', b"[" * 10**6],
                         ids=lambda text: text[:10])
def test_useless_consolidated_metadata_v2(v2, text):
    (v2 / ".zmetadata").write_bytes(text)
    assert_good_opens(v2)


NAMES_THAT_LEAD_OUT = [
    "../outside", "good/../../outside", "..", "./good/../../outside", "/../outside",
    "..\\outside", "a\0b",
]


@pytest.mark.parametrize("name", NAMES_THAT_LEAD_OUT, ids=ascii)
def test_names_that_lead_out(tmp_path, name):
    """There is an array outside, which nobody may reach through the store."""
    store = tmp_path / "store"
    write_group(store)
    for folder in (store / "good", store / "bad", tmp_path / "outside"):
        write_array(folder, DATA)
    root = open_root(store)
    assert_fails(message_of(root.OpenMDArray, name), "not a valid node path|not exist")
    assert_fails(message_of(root.OpenGroup, name), "not a valid node path|not exist")
    # In consolidated metadata, where such a name is passed over.
    outside = json.loads((tmp_path / "outside/zarr.json").read_text())
    consolidate(store, **{name: outside})
    assert sorted(open_root(store).GetMDArrayNames()) == ["bad", "good"]
    assert not open_root(store).GetGroupNames()
    assert_good_opens(store)


@pytest.mark.parametrize("name", NAMES_THAT_LEAD_OUT[:5])
def test_dimensions_that_lead_out(tmp_path, name):
    store = tmp_path / "store"
    write_group(store)
    write_array(store / "good", DATA)
    write_array(store / "bad", DATA, names=[name, "x"],
                attributes={"grid_mapping": name, "coordinates": name})
    write_array(tmp_path / "outside", np.arange(8.0), names=["outside"],
                attributes={"crs_wkt": "not to be read", "units": "degrees_north"})
    array = open_root(store).OpenMDArray("bad")
    y = array.GetDimensions()[0]
    assert (y.GetName(), y.GetIndexingVariable(), y.GetType()) == (name, None, "")
    assert array.GetCoordinateVariables() == []
    assert_good_opens(store)


def test_deep_groups_in_consolidated_metadata(v3):
    """10^6 levels in one name."""
    consolidate(v3, **{"a/" * 10**6 + "b": {"zarr_format": 3, "node_type": "group"}})
    assert_good_opens(v3)
    root = open_root(v3)
    assert_fails(message_of(root.OpenMDArrayFromFullname, "/a" * 10**6), ".")


def test_deep_groups(v3):
    """Deeper than is looked at: what is nearer opens, with a word about the rest."""
    path = v3
    for _ in range(300):
        path = path / "g"
        path.mkdir()
        (path / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    write_array(path / "deepest", DATA)
    assert_good_opens(v3)
    root = open_root(v3)
    assert root.OpenGroupFromFullname("/g" * 100).GetFullName() == "/g" * 100
    assert_fails(message_of(root.OpenGroup, "g/" * 200), "deeper than 128 levels")
    assert_fails(message_of(gdal.Open, f'ZARR:"{v3}":{"/g" * 300}/deepest'), "deeper than 128")


# --- Chunks --------------------------------------------------------------------------------------

def assert_bad_chunk(path, key, *problem):
    """Reading it fails, whole and in part, again and again; the other chunks read."""
    array = open_root(path).OpenMDArray("bad")
    for _ in range(2):
        assert_fails(message_of(array.ReadAsArray), str(path), "array /bad", key, *problem)
        assert_fails(message_of(array.ReadAsArray, [5, 5], [1, 1]), "array /bad", key, *problem)
    np.testing.assert_array_equal(array.ReadAsArray([0, 0], [4, 8]), DATA[:4])
    dataset = gdal.Open(f'ZARR:"{path}":/bad')
    assert_fails(message_of(dataset.ReadAsArray), "array /bad", key, *problem)
    np.testing.assert_array_equal(dataset.ReadAsArray(0, 0, 8, 4), DATA[:4])
    assert_good_opens(path)


CHUNK = DATA[4:, 4:].tobytes()
NOISE = bytes(np.random.default_rng(3).integers(0, 256, 60, "u1"))


def blosc(data, **header):
    """A Blosc buffer, with fields of its header (bytes from, to) replaced."""
    encoded = bytearray(Blosc("lz4", 5).encode(data))
    if "decoded" in header:
        encoded[4:8] = struct.pack("<I", header["decoded"])
    if "block" in header:
        encoded[8:12] = struct.pack("<I", header["block"])
    if "encoded" in header:
        encoded[12:16] = struct.pack("<I", header["encoded"])
    return bytes(encoded)


def flip(data, at):
    changed = bytearray(data)
    changed[at] ^= 0x55
    return bytes(changed)


CHUNKS = {
    "bytes": ([BYTES], [b"", CHUNK[:-1], CHUNK + b"\0", CHUNK * 2]),
    "gzip": ([BYTES, GZIP], [
        b"", b"\x1f", NOISE, CHUNK, gzip.compress(CHUNK)[:-9], flip(gzip.compress(CHUNK), -5),
        gzip.compress(CHUNK[:-1]), gzip.compress(CHUNK + b"\0"), gzip.compress(b""),
        gzip.compress(CHUNK) + b"rest", gzip.compress(bytes(10**6)),
    ]),
    "zstd": ([BYTES, ZSTD], [
        b"", NOISE, CHUNK, Zstd().encode(CHUNK)[:-1], flip(Zstd().encode(CHUNK), 0),
        Zstd().encode(CHUNK[:-1]), Zstd().encode(CHUNK + b"\0"), Zstd().encode(CHUNK) + b"rest",
        Zstd().encode(bytes(10**6)), Zstd().encode(b""),
    ]),
    "blosc": ([BYTES, BLOSC], [
        b"", b"\2\1", NOISE, blosc(CHUNK)[:-1], blosc(CHUNK)[:16], blosc(CHUNK[:-1]),
        blosc(CHUNK + b"\0"), blosc(bytes(10**6)), blosc(CHUNK, decoded=2**31 - 1),
        blosc(CHUNK, decoded=0), blosc(CHUNK, block=0), blosc(CHUNK, block=2**31 - 1),
        blosc(CHUNK, encoded=2**31 - 1), blosc(CHUNK, encoded=3), flip(blosc(CHUNK), 0),
    ]),
    "crc32c": ([BYTES, CRC32C], [
        b"", b"123", CHUNK, CHUNK + b"\0\0\0\0", flip(CHUNK + struct.pack("<I", crc32c(CHUNK)), 7),
        CHUNK[:-1] + struct.pack("<I", crc32c(CHUNK[:-1])),
    ]),
    "two": ([BYTES, ZSTD, GZIP, CRC32C], [b"", NOISE, NOISE + struct.pack("<I", crc32c(NOISE))]),
}


@pytest.mark.parametrize("codecs, content", [
    pytest.param(codecs, content, id=f"{name} {i}")
    for name, (codecs, contents) in CHUNKS.items()
    for i, content in enumerate(contents)
])
def test_bad_chunk(v3, codecs, content):
    write_array(v3 / "bad", DATA, (4, 4), codecs)
    (v3 / "bad/c/1/1").write_bytes(content)
    assert_bad_chunk(v3, "chunk bad/c/1/1: ", r"(bytes|corrupt|checksum|zstd|blosc)")


@pytest.mark.parametrize("content", [b"", NOISE, zlib.compress(CHUNK)[:-5], zlib.compress(b"")])
def test_bad_chunk_v2(v2, content):
    zarr.open_group(str(v2)).create_dataset(
        "bad", data=DATA, chunks=(4, 4), compressor=zarr.Zlib(), overwrite=True
    )
    (v2 / "bad/1.1").write_bytes(content)
    assert_bad_chunk(v2, "chunk bad/1.1: ", "(zlib|bytes)")


def test_chunk_that_is_no_file(v3):
    """A folder in its place is an absent chunk; what is not readable is a failure."""
    chunk = v3 / "bad/c/1/1"
    chunk.unlink()
    chunk.mkdir()
    want = DATA.copy()
    want[4:, 4:] = 0
    np.testing.assert_array_equal(open_root(v3).OpenMDArray("bad").ReadAsArray(), want)
    chunk.rmdir()
    chunk.symlink_to(chunk)
    assert_bad_chunk(v3, "chunk bad/c/1/1: ", "symbolic links")


@pytest.fixture
def shard(v3):
    """A shard's file: four inner chunks of 8 bytes, then an index without a checksum."""
    write_array(v3 / "bad", DATA, (4, 4), [sharding((2, 2), index_codecs=[BYTES])])
    file = v3 / "bad/c/1/1"
    assert file.stat().st_size == 4 * 8 + 4 * 16
    return file


@pytest.mark.parametrize("offset, length, problem", [
    (1000, 8, "outside a value of 96 bytes"),
    (90, 8, "outside a value of 96 bytes"),
    (2**63, 8, "outside a value of 96 bytes"),
    (2**64 - 4, 8, "is said to have 8 bytes at offset 18446744073709551612"),
    (0, 2**64 - 1, "is said to have 18446744073709551615 bytes"),
    (0, 2**63, "has 9223372036854775808 bytes at offset 0, which cannot be right"),
    (0, 2**40, "has 1099511627776 bytes at offset 0, which cannot be right"),
    (0, 7, "7 bytes where 8 are expected"),
    (0, 9, "which cannot be right|9 bytes where 8 are expected"),
    (0, 0, "0 bytes where 8 are expected"),
    (2**64 - 1, 8, "18446744073709551615"),
])
def test_shard_index_that_lies(v3, shard, offset, length, problem):
    content = bytearray(shard.read_bytes())
    content[48:64] = struct.pack("<QQ", offset, length)  # the second inner chunk
    shard.write_bytes(content)
    array = open_root(v3).OpenMDArray("bad")
    assert_fails(message_of(array.ReadAsArray), "array /bad", "bad/c/1/1", problem)
    assert_fails(message_of(array.ReadAsArray, [4, 6], [1, 1]), "bad/c/1/1", problem)
    dataset = gdal.Open(f'ZARR:"{v3}":/bad')
    assert_fails(message_of(dataset.ReadAsArray), "array /bad", "bad/c/1/1", problem)
    assert_good_opens(v3)


@pytest.mark.parametrize("content", [b"", b"x", bytes(63)])
def test_shard_shorter_than_its_index(v3, shard, content):
    shard.write_bytes(content)
    assert_bad_chunk(v3, "shard bad/c/1/1: ", "the last 64 bytes are wanted of a value of")


@pytest.mark.parametrize("index_location", ["start", "end"])
def test_shard_index_with_wrong_checksum(v3, index_location):
    codecs = [sharding((2, 2), index_location=index_location)]
    write_array(v3 / "bad", DATA, (4, 4), codecs)
    file = v3 / "bad/c/1/1"
    file.write_bytes(flip(file.read_bytes(), 5 if index_location == "start" else -9))
    assert_bad_chunk(v3, "shard bad/c/1/1: ", "shard index: ", "checksum is wrong")


def test_inner_chunk_with_wrong_checksum(v3):
    """Only this inner chunk is lost."""
    write_array(v3 / "bad", DATA, (8, 8), [sharding((2, 8), [BYTES, CRC32C])])
    file = v3 / "bad/c/0/0"
    file.write_bytes(flip(file.read_bytes(), 36 + 5))
    array = open_root(v3).OpenMDArray("bad")
    assert_fails(message_of(array.ReadAsArray), "array /bad", "bad/c/0/0", "offset 36", "checksum")
    np.testing.assert_array_equal(array.ReadAsArray([4, 0], [4, 8]), DATA[4:])


def test_shard_in_a_shard_too_short(v3):
    write_array(v3 / "bad", DATA, (4, 4),
                [sharding((2, 2), [sharding((1, 1), index_codecs=[BYTES])], index_codecs=[BYTES])])
    file = v3 / "bad/c/1/1"
    content = bytearray(file.read_bytes())
    content[-8:] = struct.pack("<Q", 10)
    file.write_bytes(content)
    array = open_root(v3).OpenMDArray("bad")
    assert_fails(message_of(array.ReadAsArray), "array /bad", "bad/c/1/1", "10 bytes is too short")


# --- Memory --------------------------------------------------------------------------------------

LIMITED = """
import resource, sys
from osgeo import gdal
gdal.UseExceptions()
gdal.SetConfigOption("GDAL_NUM_THREADS", "2")
gdal.SetConfigOption("CPL_LOG", "/dev/null")
limit = 1500 << 20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
def attempt(function):
    try:
        print(function())
    except RuntimeError as error:
        print("error:", str(error)[:600])
def read():
    array = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("bad")
    rank = array.GetDimensionCount()
    return array.ReadAsArray([0] * rank, [1] * rank).tolist()
attempt(read)
attempt(lambda: gdal.Open('ZARR:"%s":/bad' % sys.argv[1]).ReadAsArray(0, 0, 1, 1).tolist())
attempt(lambda: gdal.Open('ZARR:"%s":/good' % sys.argv[1]).ReadAsArray().sum())
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""


def run_limited(path):
    """What two ways to read one element say, in a process that can have 1.5 GB."""
    result = subprocess.run([sys.executable, "-c", LIMITED, path], capture_output=True, text=True,
                            timeout=60)
    assert result.returncode == 0, result.stderr
    multidim, classic, good, peak = result.stdout.splitlines()
    assert good == str(DATA.sum())
    assert int(peak.split()[1]) < 300  # MB: nothing was filled that was not needed
    return multidim, classic


HUGE = {
    # The file is too small to become what the metadata says.
    "bytes": ([BYTES], bytes(10), "the chunk has 10 bytes where 1099511627776 are expected"),
    "gzip": ([BYTES, GZIP], gzip.compress(bytes(10**6)), "decodes to at most"),
    "zstd": ([BYTES, ZSTD], Zstd().encode(bytes(10**6)), "decodes to at most"),
    "blosc": ([BYTES, BLOSC], Blosc().encode(bytes(10**6)), "decodes to at most"),
    "crc32c": ([BYTES, CRC32C], bytes(10), "10 bytes where 1099511627780 are expected"),
    "transpose": ([transpose(1, 0), BYTES, ZSTD], Zstd().encode(bytes(9)), "decodes to at most"),
    "inner": ([sharding((2**19, 2**19))], bytes(4 * 16 + 4), "checksum is wrong"),
    "index": ([sharding((1, 1))], bytes(100), "the last 17592186044420 bytes are wanted"),
    "index first": (
        [sharding((1, 1), index_location="start")], bytes(100), "bytes at offset 0 are outside"
    ),
}


@pytest.mark.parametrize("codecs, content, problem", HUGE.values(), ids=HUGE)
def test_chunk_shape_that_promises_too_much(v3, codecs, content, problem):
    """Chunks of 2^40 elements."""
    edit_json(v3 / "bad/zarr.json", shape=[2**20, 2**20], chunk_grid=regular(2**20, 2**20),
         codecs=codecs, data_type="uint8")
    (v3 / "bad/c/0/0").write_bytes(content)
    for said in run_limited(v3):
        assert said.startswith("error: Zarr: ")
        assert_fails(said, "array /bad", "bad/c/0/0", problem)


def test_absent_chunk_of_huge_shape(v3):
    shape = [2**30, 2**30]
    edit_json(v3 / "bad/zarr.json", shape=shape, chunk_grid=regular(*shape), fill_value=7)
    (v3 / "bad/c/0/0").unlink()
    assert run_limited(v3) == ("[[7]]", "[[7]]")


def test_chunk_file_that_is_too_large(v3):
    """A sparse file of 1 TB is not read when no chunk can have so many bytes."""
    with open(v3 / "bad/c/0/0", "r+b") as file:
        file.truncate(2**40)
    for said in run_limited(v3):
        assert_fails(said, "error: Zarr: ", "bad/c/0/0", "1099511627776 bytes where at most")


@pytest.mark.parametrize("claim", [2**62, 2**40])
def test_compressed_chunk_that_claims_too_much(v3, claim):
    """A Zstandard frame with a false content size."""
    write_array(v3 / "bad", np.zeros((2, 2), "u1"), codecs=[BYTES, ZSTD], fill_value=1)
    frame = bytes.fromhex("28b52ffd e0") + struct.pack("<Q", claim) + bytes.fromhex("010000")
    (v3 / "bad/c/0/0").write_bytes(frame)
    for said in run_limited(v3):
        assert_fails(said, "error: Zarr: ", "bad/c/0/0", "zstd")


def test_intermediate_size_that_is_not_known(v3):
    """Between two compressors nothing says how many bytes there are."""
    edit_json(v3 / "bad/zarr.json", codecs=[BYTES, ZSTD, GZIP])
    (v3 / "bad/c/0/0").write_bytes(gzip.compress(bytes(100 << 20), 1))
    for said in run_limited(v3):
        assert_fails(said, "error: Zarr: ", "bad/c/0/0", "gzip: more than")


# --- Anything ------------------------------------------------------------------------------------

def mutated(content, random):
    """`content` after one of many kinds of damage."""
    content = bytearray(content)
    at = int(random.integers(len(content) + 1))
    end = min(len(content), at + int(random.integers(1, 20)))
    match int(random.integers(7)):
        case 0 if content:
            content[at - 1] ^= 1 << int(random.integers(8))
        case 1 if content:
            content[at - 1] = int(random.integers(256))
        case 2:
            del content[at:end]
        case 3:
            content[at:at] = content[at:end] * int(random.integers(1, 4))
        case 4:
            del content[at:]
        case 5:
            content[at:end] = bytes(random.choice([0, 255]) for _ in range(end - at))
        case _:
            # Another number, if there is one.
            numbers = list(re.finditer(rb"-?\d+", content))
            if numbers:
                number = numbers[int(random.integers(len(numbers)))]
                value = random.choice(["0", "1", "-1", "3", "65537", "4294967296", "1e9", "1e400",
                                       "9223372036854775807", "18446744073709551616", '"x"'])
                content[slice(*number.span())] = str(value).encode()
    return bytes(content)


def read_everything(path):
    """All that a program may ask. Returns what was wrong."""
    problems = []

    def attempt(function):
        try:
            function()
        except RuntimeError as error:
            problems.append(str(error))

    def read_group(group):
        for attribute in group.GetAttributes() or []:
            attribute.Read()
        group.GetDimensions()
        for name in group.GetMDArrayNames() or []:
            attempt(lambda: read_array(group.OpenMDArray(name)))
        for name in group.GetGroupNames() or []:
            attempt(lambda: read_group(group.OpenGroup(name)))

    def read_array(array):
        for attribute in array.GetAttributes() or []:
            attribute.ReadAsStringArray()
        for ask in (array.GetBlockSize, array.GetNoDataValueAsRaw, array.GetStructuralInfo,
                    array.GetScale, array.GetOffset, array.GetSpatialRef,
                    array.GetCoordinateVariables):
            ask()
        lengths = []
        for dimension in array.GetDimensions():
            dimension.GetIndexingVariable()
            lengths.append(dimension.GetSize())
        if 0 not in lengths:
            array.Read([0] * len(lengths), [min(n, 12) for n in lengths])
            array.Read([n - 1 for n in lengths], [min(n, 3) for n in lengths], [-1] * len(lengths))

    def read_raster():
        dataset = gdal.Open(f'ZARR:"{path}"')
        names = [name for name, _ in dataset.GetSubDatasets()]
        for raster in [dataset] if dataset.RasterCount else map(gdal.Open, names[:3]):
            band = raster.GetRasterBand(raster.RasterCount)
            for ask in (raster.GetMetadata, raster.GetGeoTransform, raster.GetSpatialRef,
                        band.GetMetadata, band.GetNoDataValue):
                ask()
            size = min(raster.RasterXSize, 12), min(raster.RasterYSize, 12)
            raster.ReadRaster(0, 0, *size, band_list=[1, raster.RasterCount])

    attempt(lambda: read_group(open_root(path)))
    attempt(read_raster)
    return problems


def damage_stores(folder, seed, rounds):
    """Damages files of the stores in `folder`. To be run in a process of its own."""
    import faulthandler
    import resource

    faulthandler.enable()
    gdal.UseExceptions()
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    random = np.random.default_rng(seed)
    files = sorted(file for file in Path(folder).rglob("*") if file.is_file())
    untouched = [read_everything(store) for store in sorted(Path(folder).iterdir())]
    assert untouched == [[]] * len(untouched), untouched
    failed = 0
    for i in range(rounds):
        file = files[int(random.integers(len(files)))]
        original = file.read_bytes()
        content = mutated(original, random)
        print(i, file, content[:3000], file=sys.stderr, flush=True)
        file.write_bytes(content)
        problems = read_everything(Path(folder) / file.relative_to(folder).parts[0])
        failed += bool(problems)
        assert all(problems), "a failure without a message"
        file.write_bytes(original)
    print(failed)


def write_targets(folder):
    """Small stores that together use most of the driver."""
    attributes = {"scale_factor": 0.5, "units": "m", "_FillValue": 3, "grid_mapping": "crs",
                  "list": [1, 2.5, None], "text": ["ä", "b"]}
    v2 = zarr.open_group(str(folder / "v2"), "w")
    for name, options in {
        "blosc": {}, "zlib": {"compressor": zarr.Zlib(), "order": "F"}, "raw": {"compressor": None}
    }.items():
        array = v2.create_dataset(name, data=DATA, chunks=(4, 4), **options)
        array.attrs.update(attributes | {"_ARRAY_DIMENSIONS": ["y", "x"]})
    v2.create_dataset("text", data=np.array(["ab", "cü"]))
    zarr.consolidate_metadata(str(folder / "v2"))

    v3 = folder / "v3"
    write_group(v3, attributes)
    write_array(v3 / "y", np.arange(8.0), names=["y"], attributes={"standard_name": "latitude"})
    write_array(v3 / "x", np.arange(8.0), names=["x"], attributes={"axis": "X"})
    write_array(v3 / "crs", np.int8(0), (), attributes={
        "grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [43, 62],
        "longitude_of_central_meridian": 10, "latitude_of_projection_origin": 52,
        "semi_major_axis": 6378137, "inverse_flattening": 298.257, "GeoTransform": "0 1 0 8 0 -1",
    })
    for name, codecs in {
        "gzip": [transpose(1, 0), BYTES, GZIP],
        "zstd": [BYTES, ZSTD, CRC32C],
        "blosc": [BYTES, BLOSC],
        "shard": [sharding((2, 2), [BYTES, ZSTD], index_codecs=[BYTES])],
        "shards": [sharding((4, 2), [sharding((2, 1), index_location="start")]), CRC32C],
    }.items():
        write_array(v3 / name, DATA, (4, 4), codecs, names=["y", "x"], attributes=attributes)
    write_array(folder / "cube", DATA.reshape(2, 2, 4, 4), (1, 2, 2, 4), [sharding((1, 1, 2, 2))])


@pytest.mark.parametrize("seed", range(4))
def test_any_damage(tmp_path, seed):
    """One damaged file after the other: the store reads or fails, and the process lives."""
    write_targets(tmp_path)
    code = f"import test_bad_input; test_bad_input.damage_stores({str(tmp_path)!r}, {seed}, 150)"
    result = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, timeout=120,
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-6000:]
    assert int(result.stdout) > 30  # the damage was felt


def test_more_dimensions_than_are_read(v3):
    rank = 100_000
    edit_json(v3 / "bad/zarr.json", shape=[1] * rank, chunk_grid=regular(*[1] * rank))
    assert_bad_array(v3, '"shape" has 100000 dimensions, more than the 256')


def test_more_codecs_than_are_run(v3):
    edit_json(v3 / "bad/zarr.json", codecs=[transpose(0, 1)] * 100 + [BYTES])
    assert_bad_array(v3, "there are 101 codecs, more than the 64")


def test_structures_that_multiply(v2):
    """A few bytes of metadata that would make billions of fields."""
    inner = [["b", "<i2", [1000, 500]]]
    edit_json(v2 / "bad/.zarray", dtype=[["a", inner, [1000000]]], fill_value=None)
    assert_bad_array(v2, "data type .* is not supported")
    edit_json(v2 / "bad/.zarray", dtype=[["a", [["b", "|u1", [1000]]], [1000]]])
    assert_bad_array(v2, "so many fields")


def test_group_of_the_draft_without_a_name(tmp_path):
    (tmp_path / "meta/root").mkdir(parents=True)
    uri = "https://purl.org/zarr/spec/protocol/core/3.0"
    (tmp_path / "zarr.json").write_text(json.dumps({"zarr_format": uri}))
    for name in (".group.json", ".array.json", "...group.json", "good.group.json"):
        (tmp_path / "meta/root" / name).write_text("{}")
    root = gdal.OpenEx(str(tmp_path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert root.GetGroupNames() == ["good"]
    with pytest.raises(RuntimeError, match="no array that can be shown"):
        gdal.Open(str(tmp_path))


@pytest.mark.parametrize("text", [
    "+proj=longlat +nadgrids=/etc/hostname +type=crs", "+init=/etc/hostname:1", "/etc/hostname",
    "http://localhost/crs", "WGS84 and more", "",
])
def test_crs_that_lead_elsewhere(tmp_path, text):
    write_array(tmp_path, np.zeros((2, 2)), attributes={"proj:wkt2": text, "_CRS": {"wkt": text}})
    assert gdal.Open(str(tmp_path)).GetSpatialRef() is None


def test_coordinates_in_millions_of_chunks_are_not_read(tmp_path):
    write_group(tmp_path)
    write_array(tmp_path / "v", np.zeros((2, 2), "u1"), names=["y", "x"])
    edit_json(tmp_path / "v/zarr.json", shape=[2, 10**7])
    write_array(tmp_path / "x", np.zeros(1), names=["x"])
    edit_json(tmp_path / "x/zarr.json", shape=[10**7])
    write_array(tmp_path / "y", np.arange(2.0), names=["y"])
    assert gdal.Open(str(tmp_path)).GetGeoTransform(can_return_null=True) is None


def test_many_bare_words(tmp_path):
    """Each NaN of an attribute costs no more than the one before."""
    write_array(tmp_path, np.zeros((2, 2)), attributes={"list": [[float("nan")] * 200_000]})
    text = gdal.Open(str(tmp_path)).GetMetadataItem("list")
    assert text.startswith("[[NaN,NaN") and text.count("NaN") == 200_000
