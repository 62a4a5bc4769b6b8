"""What an update leaves as it is in documents: numbers, however they are spelled."""
import json

import pytest
from multidim_stores import open_store
from osgeo import gdal

# No float64 holds some of these, and the others would be written in another way.
NUMBERS = '{"x": 1e400, "y": 1.10, "z": 123456789012345678901234567890, "m": -0, "e": 1E5}'
ATTRIBUTES = f'{{"object": {NUMBERS}, "list": [1.10, 2e400], "number": 1e400, "zero": -0}}'

V1 = {
    "meta": '{"zarr_format": 1, "shape": [4], "chunks": [2], "dtype": "<f4", "compression": "none",'
            ' "compression_opts": null, "fill_value": 1.10, "order": "C"}',
    "attrs": ATTRIBUTES,
}
V2_ARRAY = ('{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<f4", "compressor": null,'
            ' "fill_value": 1.10, "filters": null, "order": "C"}')
V2 = {".zgroup": '{"zarr_format": 2}', ".zattrs": ATTRIBUTES,
      "a/.zarray": V2_ARRAY, "a/.zattrs": ATTRIBUTES}
V2_CONSOLIDATED = {
    **V2, ".zmetadata": '{"zarr_consolidated_format": 1, "metadata": {'
    + ",".join(f'"{key}": {text}' for key, text in V2.items()) + "}}"}
V3_ARRAY = ('{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "float32",'
            ' "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},'
            ' "chunk_key_encoding": {"name": "default",'
            ' "configuration": {"separator": "/"}}, "fill_value": 1.10, "codecs":'
            ' [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": '
            f'{ATTRIBUTES}}}')
V3_GROUP = f'{{"zarr_format": 3, "node_type": "group", "attributes": {ATTRIBUTES}'
V3 = {"zarr.json": V3_GROUP + "}", "a/zarr.json": V3_ARRAY}
V3_CONSOLIDATED = {**V3, "zarr.json": V3_GROUP + ', "consolidated_metadata": {"kind": "inline",'
                   f' "must_understand": false, "metadata": {{"a": {V3_ARRAY}}}}}}}'}
STORES = [pytest.param(V1, id="v1", marks=pytest.mark.ours_only("it does not read v1")),
          pytest.param(V2, id="v2"),
          pytest.param(V2_CONSOLIDATED, id="v2 consolidated"),
          pytest.param(V3, id="v3", marks=pytest.mark.builtin_since("3.13")),
          pytest.param(V3_CONSOLIDATED, id="v3 consolidated",
                       marks=pytest.mark.builtin_since("3.13"))]


def parse(text):
    """With numbers as they are spelled."""
    return json.loads(text, parse_float=str, parse_int=str)


@pytest.fixture(params=STORES)
def path(request, tmp_path):
    folder = tmp_path / "a.zarr"
    for key, text in request.param.items():
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_text(text)
    return folder


def documents(path):
    return {file.relative_to(path).as_posix(): parse(file.read_text())
            for file in path.rglob("*") if file.is_file()}


def array_of(dataset):
    group = dataset.GetRootGroup()
    return group.OpenMDArray(group.GetMDArrayNames()[0])


def expected_after(path, edit_document, edit_attributes):
    """The documents with the edits of the array's document and attributes, also in copies."""
    edited = documents(path)

    def visit(value, name):
        if not isinstance(value, dict):
            return
        for key, child in value.items():
            visit(child, key)
        if "shape" in value:
            edit_document(value)
            if "attributes" in value:
                edit_attributes(value["attributes"])
        elif name in ("attrs", "a/.zattrs"):
            edit_attributes(value)
    visit(edited, "")
    return edited


def leave(_members):
    pass


def add_new(attributes):
    attributes["new"] = "value"


@pytest.mark.ours_only("integers of more than 64 bits become the largest, other numbers doubles")
def test_attributes_beside_a_new_one(path):
    expected = expected_after(path, leave, add_new)
    dataset = open_store(path, update=True)
    array = array_of(dataset)
    attribute = array.CreateAttribute("new", [], gdal.ExtendedDataType.CreateString())
    assert attribute.Write("value") == gdal.CE_None
    del attribute, array, dataset
    assert documents(path) == expected


@pytest.mark.ours_only("integers of more than 64 bits become the largest, other numbers doubles")
def test_attributes_beside_a_new_metadata_item(path):
    expected = expected_after(path, leave, add_new)
    dataset = gdal.Open(str(path), gdal.GA_Update)
    dataset.SetMetadataItem("new", "value")
    del dataset
    assert documents(path) == expected


@pytest.mark.ours_only("integers of more than 64 bits become the largest, other numbers doubles")
@pytest.mark.gdal_since("3.8")
def test_attributes_beside_one_that_is_renamed_or_deleted(path):
    def edit(attributes):
        attributes["renamed"] = attributes.pop("number")
        del attributes["list"]
    expected = expected_after(path, leave, edit)
    dataset = open_store(path, update=True)
    array = array_of(dataset)
    assert array.GetAttribute("number").Rename("renamed") == gdal.CE_None
    assert array.DeleteAttribute("list") == gdal.CE_None
    del array, dataset
    assert documents(path) == expected


@pytest.mark.ours_only("integers of more than 64 bits become the largest, other numbers doubles")
@pytest.mark.gdal_since("3.7")
def test_attributes_of_an_array_that_is_resized(path):
    def edit(document):
        document["shape"] = ["6"]
    expected = expected_after(path, edit, leave)
    dataset = open_store(path, update=True)
    array = array_of(dataset)
    assert array.Resize([6]) == gdal.CE_None
    del array, dataset
    assert documents(path) == expected


@pytest.mark.ours_only("integers of more than 64 bits become the largest")
@pytest.mark.parametrize("options", [["FORMAT=ZARR_V2"], ["FORMAT=ZARR_V3"]])
def test_copies_of_attributes_that_are_json(path, tmp_path, options):
    if options == ["FORMAT=ZARR_V3"] and not path.joinpath("zarr.json").exists():
        pytest.skip("one way between the versions is enough")
    copy = tmp_path / "b.zarr"
    gdal.MultiDimTranslate(str(copy), str(path), format="Zarr", creationOptions=options)
    texts = [text for key, text in documents(copy).items()
             if key.endswith((".zattrs", "zarr.json")) and "object" in str(text)]
    assert texts
    for text in texts:
        attributes = text.get("attributes", text)
        assert attributes["object"] == parse(NUMBERS)


def test_what_is_read(path):
    dataset = open_store(path)
    array = array_of(dataset)
    assert array.GetAttribute("number").Read() == float("inf")
    assert array.GetAttribute("list").Read() == (1.1, float("inf"))
    text = array.GetAttribute("object").ReadAsString()
    assert parse(text)["x"] == "1e400"
    assert parse(text)["y"] == "1.10"
    assert parse(text)["e"] in ("1E5", "1e5")
