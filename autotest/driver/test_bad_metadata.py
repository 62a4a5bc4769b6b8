"""An error in the metadata of a store is a CE_Failure that names the node and the cause, and
affects nothing else in the store."""
import json

import numpy as np
import pytest
from bad_stores import (
    DATA,
    assert_bad_array,
    assert_fails,
    assert_good_opens,
    message_of,
    open_root,
    read_everything,
    regular,
    with_configuration,
)
from osgeo import gdal
from stores import (
    ABSENT,
    BYTES,
    GZIP,
    consolidate,
    edit_json,
    sharding,
    transpose,
    write_array,
    write_group,
)

# --- Metadata ------------------------------------------------------------------------------------

@pytest.mark.parametrize("version, document", [("v2", ".zarray"), ("v3", "zarr.json")])
def test_missing_json(request, version, document):
    """A folder without its document is not a node, and a root without one is not a store."""
    path = request.getfixturevalue(version)
    (path / "bad" / document).unlink()
    assert open_root(path).GetMDArrayNames() == ["good"]
    assert_fails(message_of(open_root(path).OpenMDArray, "bad"), "bad does not exist")
    assert_fails(message_of(gdal.Open, f'ZARR:"{path}":/bad'), f"{path}: array /bad does not exist")
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
        problem = None  # equivalent to none
    (v2 / "bad" / file).write_bytes(text)
    if problem:
        assert_bad_array(v2, f"bad/{file}: ", problem)
    else:
        assert_good_opens(v2)


@pytest.mark.parametrize("text, problem", TEXTS.values(), ids=TEXTS)
def test_broken_json_of_a_group(v3, text, problem):
    """If the root is damaged, nothing opens; below it, only the damaged node fails."""
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
    ({"shape": [8, 8.5]}, '"shape" is a number where a non-negative integer'),
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
    ({}, '"codecs" is an object where a list of codecs'),
    ([5], "a codec is an integer"),
    ([{"configuration": {}}], 'a codec has no "name"'),
    ([BYTES, {"name": "zipzap"}], 'codec "zipzap" is not supported'),
    ([BYTES, {"name": "numcodecs.pickle"}], 'codec "numcodecs.pickle" is not supported'),
    ([GZIP, BYTES], 'codec "bytes": it comes after the array-to-bytes codec'),
    ([BYTES, BYTES], 'codec "bytes": it comes after the array-to-bytes codec'),
    ([BYTES, transpose(1, 0)], 'codec "transpose": it comes after the array-to-bytes codec'),
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
    ({"shape": [8, 8.5]}, '"shape" is a number'),
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
    """What a convention cannot interpret is an ordinary attribute."""
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
    """There is an array outside, which must not be reachable through the store."""
    store = tmp_path / "store"
    write_group(store)
    for folder in (store / "good", store / "bad", tmp_path / "outside"):
        write_array(folder, DATA)
    root = open_root(store)
    assert_fails(message_of(root.OpenMDArray, name), "not a valid node path|not exist")
    assert_fails(message_of(root.OpenGroup, name), "not a valid node path|not exist")
    # In consolidated metadata, such names are skipped.
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
    """Deeper than the limit: nearer nodes open, with a warning about the rest."""
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


# --- A lot from a little -------------------------------------------------------------------------

def test_more_dimensions_than_are_read(v3):
    rank = 100_000
    edit_json(v3 / "bad/zarr.json", shape=[1] * rank, chunk_grid=regular(*[1] * rank))
    assert_bad_array(v3, '"shape" has 100000 dimensions; at most 256')


def test_more_codecs_than_are_run(v3):
    edit_json(v3 / "bad/zarr.json", codecs=[transpose(0, 1)] * 100 + [BYTES])
    assert_bad_array(v3, "there are 101 codecs, more than the 64")


def test_structures_that_multiply(v2):
    """A few bytes of metadata that would expand to billions of fields."""
    inner = [["b", "<i2", [1000, 500]]]
    edit_json(v2 / "bad/.zarray", dtype=[["a", inner, [1000000]]], fill_value=None)
    assert_bad_array(v2, "data type .* is not supported")
    edit_json(v2 / "bad/.zarray", dtype=[["a", [["b", "|u1", [1000]]], [1000]]])
    assert_bad_array(v2, "so many parts")


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
    """Each NaN of an attribute takes no longer than the one before."""
    write_array(tmp_path, np.zeros((2, 2)), attributes={"list": [[float("nan")] * 200_000]})
    text = gdal.Open(str(tmp_path)).GetMetadataItem("list")
    assert text.startswith("[[NaN,NaN") and text.count("NaN") == 200_000
