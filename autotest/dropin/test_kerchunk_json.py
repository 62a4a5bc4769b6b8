"""/vsikerchunk_json_ref/: a document of Kerchunk references as a file system, and as a Zarr."""
import base64
import json
import os
import threading

import numpy as np
import pytest
from osgeo import gdal
from vsi_files import content, is_error, status

# In the documents of these tests the references are those of version 0, unless a test says so.
pytestmark = pytest.mark.builtin_since("3.11")

GROUP = {"zarr_format": 2}
ARRAY = {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|u1", "compressor": None,
         "filters": None, "order": "C", "fill_value": 9}
BLOB = bytes(range(64))
REFERENCES = {
    ".zgroup": json.dumps(GROUP),
    ".zattrs": '{"title":"t"}',
    "x/.zarray": json.dumps(ARRAY),
    "x/.zattrs": {"a": [1, 2]},
    "x/0": ["blob.bin", 10, 2],
    "x/1": "base64:AQI=",
    "g/.zgroup": GROUP,
    "g/y/.zarray": ARRAY,
    "g/y/0": "ab",
}
FORMS = ["/vsikerchunk_json_ref/{{{}}}", "/vsikerchunk_json_ref/{}"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "blob.bin").write_bytes(BLOB)
    return tmp_path


def write(folder, references=REFERENCES, name="refs.json"):
    path = folder / name
    text = references if isinstance(references, str) else json.dumps(references)
    path.write_text(text, encoding="utf-8")
    return f"/vsikerchunk_json_ref/{{{path}}}"


def one(folder, value, name="refs.json"):
    """The name of x/0, whose reference is `value`."""
    return write(folder, REFERENCES | {"x/0": value}, name) + "/x/0"


def is_refused(function, *arguments):
    """Whether the call fails; file systems need not say why."""
    try:
        return function(*arguments) in (-1, None)
    except RuntimeError:
        return True


# --- Folders -------------------------------------------------------------------------------------

@pytest.mark.parametrize("form", FORMS)
def test_listing(folder, form):
    write(folder)
    root = form.format(folder / "refs.json")
    assert sorted(gdal.ReadDir(root)) == [".zattrs", ".zgroup", "g", "x"]
    assert sorted(gdal.ReadDir(root + "/x")) == [".zarray", ".zattrs", "0", "1"]
    assert sorted(gdal.ReadDir(root + "/g")) == [".zgroup", "y"]
    assert sorted(gdal.ReadDir(root + "/g/y")) == [".zarray", "0"]
    assert gdal.ReadDir(root + "/none") is None
    assert gdal.ReadDir(root + "/x/0") is None


@pytest.mark.parametrize("form", FORMS)
def test_recursive_listing(folder, form):
    write(folder)
    assert sorted(gdal.ReadDirRecursive(form.format(folder / "refs.json"))) == sorted(
        ["g/", "g/y/", "x/", *REFERENCES])


def test_open_dir(folder):
    root = write(folder)
    directory = gdal.OpenDir(root, -1)
    found = {}
    while entry := gdal.GetNextDirEntry(directory):
        found[entry.name] = (bool(entry.mode & 0o40000), entry.size)
    gdal.CloseDir(directory)
    assert set(found) == {"g", "g/y", "x", *REFERENCES}
    assert found["x"][0]
    assert found["g/y/0"] == (False, 2)


@pytest.mark.parametrize("form", FORMS)
def test_status(folder, form):
    write(folder)
    root = form.format(folder / "refs.json")
    assert status(root) == ("folder", 0)
    assert status(root + "/") == ("folder", 0)
    assert status(root + "/x") == ("folder", 0)
    assert status(root + "/g/y") == ("folder", 0)
    assert status(root + "/x/0") == ("file", 2)
    assert status(root + "/x/1") == ("file", 2)
    assert status(root + "/g/y/0") == ("file", 2)
    assert status(root + "/.zgroup") == ("file", len(REFERENCES[".zgroup"]))
    for key in ("none", "x/2", "x/0/0", "x/.zgroup", "g/x", "X"):
        assert status(f"{root}/{key}") is None


@pytest.mark.ours_only("it has no folder where there is no Zarr document")
def test_folders_of_other_values(folder):
    root = write(folder, REFERENCES | {"a/b/c": "d"})
    assert status(root + "/a") == ("folder", 0)
    assert gdal.ReadDir(root + "/a/b") == ["c"]
    assert status(root + "/x/") == ("folder", 0)


def test_the_file_systems_are_registered():
    if not hasattr(gdal, "GetFileSystemsPrefixes"):
        pytest.skip("this GDAL does not list them")
    assert {"/vsikerchunk_json_ref/", "/vsikerchunk_json_ref_cached/",
            "/vsikerchunk_parquet_ref/"} <= set(gdal.GetFileSystemsPrefixes())


# --- Values --------------------------------------------------------------------------------------

@pytest.mark.parametrize("value, expected", [
    (["blob.bin"], BLOB),
    (["blob.bin", 0, 0], BLOB),
    (["blob.bin", 0, 1], BLOB[:1]),
    (["blob.bin", 10, 2], BLOB[10:12]),
    (["blob.bin", 0, 64], BLOB),
    (["blob.bin", 63, 1], BLOB[63:]),
    (["./blob.bin", 10, 2], BLOB[10:12]),
    ("text", b"text"),
    ("", b""),
    ("\u00e9", "\u00e9".encode()),
    ("a\\b\"c\n", b"a\\b\"c\n"),
    ("base64:AQIDBA==", b"\1\2\3\4"),
    ("base64:AQID", b"\1\2\3"),
    ("base6", b"base6"),
    ({"a": 1}, b'{"a":1}'),
    ({"a": {"b": [1, "x y", None, True]}}, b'{"a":{"b":[1,"x y",null,true]}}'),
    ({}, b"{}"),
])
def test_values(folder, value, expected):
    name = one(folder, value)
    assert status(name) == ("file", len(expected))
    assert content(name) == expected


def test_values_in_subfolders(folder):
    (folder / "deep/er").mkdir(parents=True)
    (folder / "deep/er/part.bin").write_bytes(b"0123456789")
    name = one(folder, ["deep/er/part.bin", 3, 4])
    assert content(name) == b"3456"


@pytest.mark.parametrize("form", [
    "{}/blob.bin", "file://{}/blob.bin", "/vsisubfile/0_64,{}/blob.bin"])
def test_absolute_targets(folder, form):
    assert content(one(folder, [form.format(folder), 10, 2])) == BLOB[10:12]


def test_targets_in_memory(folder):
    path = f"/vsimem/{folder.name}.bin"
    gdal.FileFromMemBuffer(path, b"in memory")
    try:
        assert content(one(folder, [path, 3, 6])) == b"memory"
        assert content(one(folder, [path], "other.json")) == b"in memory"
    finally:
        gdal.Unlink(path)


def test_documents_in_memory():
    gdal.FileFromMemBuffer("/vsimem/kerchunk/part.bin", b"0123456789")
    gdal.FileFromMemBuffer("/vsimem/kerchunk/refs.json", json.dumps(
        REFERENCES | {"x/0": ["part.bin", 3, 2]}).encode())
    try:
        for form in FORMS:
            assert content(form.format("/vsimem/kerchunk/refs.json") + "/x/0") == b"34"
    finally:
        for name in ("part.bin", "refs.json"):
            gdal.Unlink("/vsimem/kerchunk/" + name)


def test_repeated_keys(folder):
    text = json.dumps(REFERENCES)[:-1] + ', "x/0": "second"}'
    assert content(write(folder, text) + "/x/0") == b"second"


def test_escapes_in_keys(folder):
    text = json.dumps(REFERENCES)[:-1] + ', "x\\/5": "five"}'
    assert content(write(folder, text) + "/x/5") == b"five"


def test_seeking_and_reading(folder):
    for document, value in (("a.json", ["blob.bin", 10, 20]),
                            ("b.json", "base64:" + base64.b64encode(BLOB[10:30]).decode())):
        file = gdal.VSIFOpenL(one(folder, value, document), "rb")
        assert bytes(gdal.VSIFReadL(1, 4, file)) == BLOB[10:14]
        assert gdal.VSIFTellL(file) == 4
        gdal.VSIFSeekL(file, 18, os.SEEK_SET)
        assert bytes(gdal.VSIFReadL(1, 10, file)) == BLOB[28:30]
        gdal.VSIFSeekL(file, 1, os.SEEK_SET)
        assert not gdal.VSIFEofL(file)
        gdal.VSIFSeekL(file, 2, os.SEEK_CUR)
        assert bytes(gdal.VSIFReadL(2, 3, file)) == BLOB[13:19]
        gdal.VSIFSeekL(file, 0, os.SEEK_END)
        assert gdal.VSIFTellL(file) == 20
        gdal.VSIFCloseL(file)


def test_a_tiff_in_a_document(folder):
    """A value may be a file of another format, which its driver opens."""
    path = str(folder / "a.tif")
    dataset = gdal.GetDriverByName("GTiff").Create(path, 3, 2)
    dataset.GetRasterBand(1).Fill(7)
    del dataset
    size = os.path.getsize(path)
    blob = (folder / "blob.bin").read_bytes() + (folder / "a.tif").read_bytes()
    (folder / "blob.bin").write_bytes(blob)
    name = one(folder, ["blob.bin", 64, size])
    dataset = gdal.Open(name)
    assert dataset.GetDriver().ShortName == "GTiff"
    assert (dataset.ReadAsArray() == 7).all()


# --- Where values are ----------------------------------------------------------------------------

def information(name):
    return gdal.GetFileMetadata(name, "CHUNK_INFO")


def test_information(folder):
    root = write(folder, REFERENCES | {"x/2": ["blob.bin"], "x/3": ["none.bin", 1, 2],
                                       "x/4": ["s3://bucket/a.nc", 1, 2],
                                       "x/5": ["https://example.com/a.nc", 3, 4]})
    blob = str(folder / "blob.bin")
    assert information(root + "/x/0") == {"SIZE": "2", "OFFSET": "10", "FILENAME": blob}
    assert information(root + "/x/1") == {"SIZE": "2", "BASE64": "AQI="}
    assert information(root + "/x/2") == {"SIZE": "64", "OFFSET": "0", "FILENAME": blob}
    assert information(root + "/x/3") == {
        "SIZE": "2", "OFFSET": "1", "FILENAME": str(folder / "none.bin")}
    assert information(root + "/x/4")["FILENAME"] == "/vsis3/bucket/a.nc"
    assert information(root + "/x/5")["FILENAME"] == "/vsicurl/https://example.com/a.nc"
    assert information(root + "/g/y/0") == {"SIZE": "2", "BASE64": "YWI="}
    for key in ("", "/", "/x", "/none"):
        assert not information(root + key)
    for domain in ("", "OTHER", "HEADERS"):
        assert not gdal.GetFileMetadata(root + "/x/0", domain)


# --- Documents -----------------------------------------------------------------------------------

def test_version_1(folder):
    root = write(folder, {"version": 1, "refs": REFERENCES})
    assert sorted(gdal.ReadDir(root)) == [".zattrs", ".zgroup", "g", "x"]
    assert content(root + "/x/0") == BLOB[10:12]
    assert content(root + "/x/1") == b"\1\2"


@pytest.mark.ours_only("it takes them for references")
def test_other_members_of_version_1(folder):
    root = write(folder, {"version": 1, "refs": REFERENCES, "more": {"a": [1, {}]}})
    assert content(root + "/x/0") == BLOB[10:12]


@pytest.mark.parametrize("text", [
    '{".zgroup": {"zarr_format": 2},}',
    '{"version": 1, "refs": {".zgroup": {"zarr_format": 2},}}',
    '{"version": 1, "refs": {".zgroup": {"zarr_format": 2}},}',
])
def test_trailing_commas(folder, text):
    assert gdal.ReadDir(write(folder, text)) == [".zgroup"]


@pytest.mark.ours_only("it does not support templates")
@pytest.mark.parametrize("target", ["{{u}}", "{{ u }}", "{{f(c='blob')}}", "{{b}}.bin"])
def test_templates(folder, target):
    templates = {"u": "blob.bin", "f": "{{c}}.bin", "b": "blob"}
    root = write(folder, {"version": 1, "templates": templates,
                          "refs": REFERENCES | {"x/0": [target, 10, 2]}})
    assert status(root + "/x/0") == ("file", 2)
    assert content(root + "/x/0") == BLOB[10:12]
    assert information(root + "/x/0")["FILENAME"] == str(folder / "blob.bin")


@pytest.mark.ours_only("it does not support generated references")
def test_generated_references(folder):
    root = write(folder, {
        "version": 1, "templates": {"u": "blob.bin"}, "refs": REFERENCES,
        "gen": [{"key": "z/{{i}}", "url": "{{u}}", "offset": "{{i * 4}}", "length": "4",
                 "dimensions": {"i": {"stop": 3}}}]})
    assert gdal.ReadDir(root + "/z") == ["0", "1", "2"]
    assert content(root + "/z/2") == BLOB[8:12]


def test_braces_are_literal_without_templates(folder):
    (folder / "{{u}}").write_bytes(b"braces")
    assert content(one(folder, ["{{u}}"])) == b"braces"


def test_names_with_braces_and_spaces(folder):
    (folder / "a {b} c").mkdir()
    (folder / "a {b} c/blob.bin").write_bytes(BLOB)
    root = write(folder / "a {b} c")
    assert content(root + "/x/0") == BLOB[10:12]


@pytest.mark.ours_only("it keeps documents by their names and times in seconds")
def test_a_document_that_changes(folder):
    root = write(folder)
    assert content(root + "/g/y/0") == b"ab"
    write(folder, REFERENCES | {"g/y/0": "another length"})
    assert content(root + "/g/y/0") == b"another length"


@pytest.mark.ours_only("it keeps documents by their names and times in seconds")
def test_a_document_that_changes_at_once(folder):
    for text in ("ab", "cd", "ef"):
        root = write(folder, REFERENCES | {"g/y/0": text})
        assert content(root + "/g/y/0") == text.encode()


def test_removed_documents(folder):
    root = write(folder)
    assert status(root + "/x/0") == ("file", 2)
    (folder / "refs.json").unlink()
    (folder / "other.json").write_text("{}")
    assert is_error(gdal.VSIStatL, write(folder, REFERENCES, "third.json").replace("third", "none"))


# --- Errors --------------------------------------------------------------------------------------

@pytest.mark.parametrize("value", [
    None, 3, 1.5, True, [], ["blob.bin", 1, 2, 3], [1, 2, 3], [None, 1, 2], ["blob.bin", -1, 2],
    ["blob.bin", 1, -2], ["blob.bin", 2**64, 2], ["blob.bin", "1", 2], ["blob.bin", 1, "2"],
    ["blob.bin", 1.5, 2], ["blob.bin", 1, 2.5], [["blob.bin"]], [{}], "base64:!!",
])
def test_malformed_references(folder, value):
    """Every access to the document is an error, which names the key."""
    name = one(folder, value)
    root = name[:-4]
    for call in ((gdal.VSIStatL, name), (gdal.VSIFOpenL, name, "rb"), (information, name)):
        assert is_error(*call)
    if value != "base64:!!":  # which the built-in driver finds late
        for call in ((gdal.VSIStatL, root), (gdal.ReadDir, root), (gdal.ReadDir, root + "/x"),
                     (gdal.VSIStatL, root + "/.zgroup"),
                      (gdal.OpenEx, root, gdal.OF_MULTIDIM_RASTER),
                     (gdal.OpenEx, f'ZARR:"{root}"', gdal.OF_MULTIDIM_RASTER)):
            assert is_error(*call)


@pytest.mark.ours_only("its message does not always name the key, and never the document")
@pytest.mark.parametrize("value, problem", [
    (None, "null is neither text nor [url] nor [url, offset, length]"),
    (["blob.bin", 1], "is neither text nor"),
    (["blob.bin", -1, 2], "the offset is -1"), (["blob.bin", 1, -2], "the length is -2"),
    ("base64:!!", "is not base64"), ([""], "it names no file"),
])
def test_messages_about_malformed_references(folder, value, problem):
    with pytest.raises(RuntimeError) as caught:
        gdal.VSIStatL(one(folder, value))
    assert f"{folder}/refs.json: x/0: its reference: " in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize("value", [
    ["none.bin"], ["none.bin", 1, 2], ["blob.bin", 100, 10], ["blob.bin", 2**63, 2],
    ["none/blob.bin", 1, 2], ["/vsizip/none.zip/a", 1, 2],
])
def test_targets_that_cannot_be_read(folder, value):
    """The others can be read."""
    name = one(folder, value)
    assert is_error(gdal.VSIFOpenL, name, "rb")
    assert content(name[:-1] + "1") == b"\1\2"


@pytest.mark.ours_only("it reads what there is, without an error")
@pytest.mark.parametrize("value", [["blob.bin", 60, 10], ["blob.bin", 0, 65]])
def test_parts_that_are_not_inside_the_file(folder, value):
    with pytest.raises(RuntimeError, match="are outside a value of 64 bytes"):
        gdal.VSIFOpenL(one(folder, value), "rb")


def test_a_missing_whole_file_does_not_exist(folder):
    assert gdal.VSIStatL(one(folder, ["none.bin"])) is None


@pytest.mark.parametrize("text", [
    "", "{", "[]", "{}", "null", "3", '"a"', '{"a": "b"}', '{"a":', '{".zgroup": {}', "not JSON",
    '{".zgroup": {"zarr_format": 2} "x": "a"}', '{"version": 1}', '{"version": 1, "refs": []}',
    '{"version": 1, "refs": null}', '{"version": 1, "refs": {".zgroup": {}}',
    '{"version": 2, "refs": {".zgroup": {"zarr_format": 2}}}',
    '{"version": "1", "refs": {".zgroup": {"zarr_format": 2}}}',
    '{"version": 1.5, "refs": {".zgroup": {"zarr_format": 2}}}',
    '{"version": null, "refs": {".zgroup": {"zarr_format": 2}}}',
])
def test_bad_documents(folder, text):
    root = write(folder, text)
    for call in ((gdal.VSIStatL, root), (gdal.ReadDir, root), (gdal.VSIStatL, root + "/x/0"),
                 (gdal.VSIFOpenL, root + "/x/0", "rb"), (information, root + "/x/0"),
                 (gdal.OpenEx, root, gdal.OF_MULTIDIM_RASTER), (gdal.Open, f'ZARR:"{root}"')):
        assert is_error(*call)


@pytest.mark.parametrize("name", [
    "/vsikerchunk_json_ref/", "/vsikerchunk_json_ref/{", "/vsikerchunk_json_ref/{{/a.json}",
    "/vsikerchunk_json_ref/{/a.json", "/vsikerchunk_json_ref//none/a.bin",
    "/vsikerchunk_json_ref/none", "/vsikerchunk_json_ref/{/none.json}",
    "/vsikerchunk_json_ref/{/none.json}/a", "/vsikerchunk_json_ref//none.json",
    "/vsikerchunk_json_ref/none.json/a", "/vsikerchunk_json_ref/{/vsimem/none.json}",
])
def test_bad_names(name):
    for call in ((gdal.VSIStatL, name), (gdal.ReadDir, name), (gdal.VSIFOpenL, name, "rb"),
                 (gdal.OpenEx, name, gdal.OF_MULTIDIM_RASTER)):
        assert is_error(*call)


def test_a_folder_is_no_document(folder):
    assert is_error(gdal.VSIStatL, f"/vsikerchunk_json_ref/{{{folder}}}")


@pytest.mark.ours_only("it does not come back")
def test_references_to_themselves(folder):
    root = write(folder)
    for value in ([f"{root}/x/0"], [f"{root}/x/0", 0, 2]):
        name = one(folder, value)
        with pytest.raises(RuntimeError, match="through too many documents, or to themselves"):
            gdal.VSIFOpenL(name, "rb")
        with pytest.raises(RuntimeError, match="through too many documents, or to themselves"):
            gdal.Open(f'ZARR:"{root}":/x').ReadAsArray()


def test_references_to_values_of_references(folder):
    first = write(folder, REFERENCES, "first.json")
    assert content(one(folder, [f"{first}/x/0", 1, 1])) == BLOB[11:12]


# --- Writing -------------------------------------------------------------------------------------

def test_nothing_can_be_written(folder):
    root = write(folder)
    before = (folder / "refs.json").read_text()
    for mode in ("wb", "rb+", "r+", "ab", "a+", "w", "wb+"):
        assert is_refused(gdal.VSIFOpenL, root + "/x/0", mode)
        assert is_refused(gdal.VSIFOpenL, root + "/new", mode)
    assert is_refused(gdal.Unlink, root + "/x/0")
    assert is_refused(gdal.Mkdir, root + "/n", 0o755)
    assert is_refused(gdal.Rmdir, root + "/x")
    assert is_refused(gdal.RmdirRecursive, root + "/x")
    assert is_refused(gdal.Rename, root + "/x/0", root + "/x/5")
    assert (folder / "refs.json").read_text() == before
    assert content(root + "/x/0") == BLOB[10:12]


# --- As a Zarr -----------------------------------------------------------------------------------

X, Y = [10, 11, 1, 2], [97, 98, 9, 9]


@pytest.mark.parametrize("form", [
    "{path}", 'ZARR:"{path}"', "ZARR:{path}", "{root}", 'ZARR:"{root}"',
    "/vsikerchunk_json_ref/{path}", 'ZARR:"/vsikerchunk_json_ref/{path}"',
])
@pytest.mark.parametrize("version", [0, 1])
def test_opening(folder, form, version):
    root = write(folder, {"version": 1, "refs": REFERENCES} if version else REFERENCES)
    dataset = gdal.OpenEx(form.format(root=root, path=folder / "refs.json"),
                          gdal.OF_MULTIDIM_RASTER)
    group = dataset.GetRootGroup()
    assert group.GetMDArrayNames() == ["x"]
    assert group.GetGroupNames() == ["g"]
    assert group.GetAttribute("title").ReadAsString() == "t"
    assert list(group.OpenMDArray("x").ReadAsArray()) == X
    assert group.OpenMDArray("x").GetAttribute("a").ReadAsIntArray() == (1, 2)
    assert list(group.OpenGroup("g").OpenMDArray("y").ReadAsArray()) == Y


def test_opening_parts(folder):
    root = write(folder)
    for name, array, expected in ((f"{root}/g", "y", Y), (f"{root}/x", "x", X),
                                  (f'ZARR:"{root}/g"', "y", Y)):
        group = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        assert list(group.OpenMDArray(array).ReadAsArray()) == expected


@pytest.mark.ours_only("it does not open rasters by names without braces")
def test_files_beside_a_name_without_braces(folder):
    write(folder, {".zgroup": GROUP, "x/.zarray": ARRAY | {"shape": [2, 2], "chunks": [2, 2]}})
    dataset = gdal.Open(f"/vsikerchunk_json_ref/{folder}/refs.json")
    band = dataset.GetRasterBand(1)
    assert band.GetOverviewCount() == 0


@pytest.mark.ours_only("it opens folders only")
def test_opening_by_documents(folder):
    root = write(folder)
    for name, array, expected in ((f"{root}/.zgroup", "x", X), (f"{root}/x/.zarray", "x", X),
                                  (f"{root}/g/y/.zarray", "y", Y)):
        group = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        assert list(group.OpenMDArray(array).ReadAsArray()) == expected


def test_rasters(folder):
    array = ARRAY | {"shape": [2, 4], "chunks": [1, 4]}
    references = {".zgroup": GROUP, "x/.zarray": array, "x/0.0": ["blob.bin", 10, 4],
                  "x/1.0": ["blob.bin", 20, 4]}
    root = write(folder, references)
    expected = [[10, 11, 12, 13], [20, 21, 22, 23]]
    for name in (str(folder / "refs.json"), root, f'ZARR:"{root}"', f'ZARR:"{root}":/x',
                 f'ZARR:"{folder}/refs.json":/x'):
        dataset = gdal.Open(name)
        assert dataset.ReadAsArray().tolist() == expected
        assert gdal.Info(dataset)


def test_identification(folder):
    root = write(folder)
    for name in (folder / "refs.json", root, f'ZARR:"{root}"'):
        assert gdal.IdentifyDriverEx(str(name), gdal.OF_MULTIDIM_RASTER).ShortName == "Zarr"
    (folder / "other.json").write_text('{"a": 1}')
    assert gdal.IdentifyDriverEx(str(folder / "other.json"), gdal.OF_MULTIDIM_RASTER) is None


def test_errors_of_arrays(folder):
    root = write(folder, REFERENCES | {"x/0": ["none.bin", 10, 2]})
    array = gdal.OpenEx(root, gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("x")
    assert is_error(array.ReadAsArray)
    assert list(array.ReadAsArray([2], [2])) == [1, 2]


@pytest.mark.parametrize("parser", ["YES", "NO"])
def test_option_of_the_parser(folder, parser):
    """Both of the built-in driver's parsers, of which ours has one."""
    gdal.SetConfigOption("VSIKERCHUNK_USE_STREAMING_PARSER", parser)
    try:
        assert content(write(folder) + "/x/0") == BLOB[10:12]
        assert is_error(gdal.VSIStatL, write(folder, "{", "bad.json"))
    finally:
        gdal.SetConfigOption("VSIKERCHUNK_USE_STREAMING_PARSER", None)


def test_copies(folder):
    """gdal_translate and gdalmdimtranslate read all of it."""
    root = write(folder)
    gdal.MultiDimTranslate(str(folder / "copy.zarr"), root, format="Zarr")
    group = gdal.OpenEx(str(folder / "copy.zarr"), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert list(group.OpenMDArray("x").ReadAsArray()) == X


@pytest.mark.ours_only("some threads get wrong values")
def test_threads(folder):
    """Many threads read many documents, of which each changes the cache of the others."""
    roots = [write(folder, REFERENCES | {"g/y/0": f"{i:02}"}, f"{i}.json") for i in range(20)]
    problems = []

    def read_all():
        try:
            for _ in range(5):
                for i, root in enumerate(roots):
                    assert content(root + "/g/y/0") == f"{i:02}".encode()
                    assert len(gdal.ReadDir(root + "/x")) == 4
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=read_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def test_many_references(folder):
    references = REFERENCES | {"big/.zarray": ARRAY | {"shape": [40_000], "chunks": [1]}}
    references |= {f"big/{i}": ["blob.bin", i % 64, 1] for i in range(40_000)}
    root = write(folder, references)
    assert len(gdal.ReadDir(root + "/big")) == 40_001
    for i in range(0, 40_000, 400):
        assert status(f"{root}/big/{i}") == ("file", 1)
    array = gdal.OpenEx(root, gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("big")
    np.testing.assert_array_equal(array.ReadAsArray(), np.arange(40_000) % 64)
