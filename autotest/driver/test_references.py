"""Kerchunk references: JSON of both versions, over real HDF5 files, and Parquet."""
import base64
import json
import time

import h5py
import numpy as np
import pytest
from osgeo import gdal
from reference_documents import (
    ARRAY,
    BOTTOM,
    ROWS,
    TOP,
    error_of,
    read,
    references,
    root_of,
    version_1,
    write,
)
from stores import BYTES, GZIP, sharding, write_array, write_group
from webserver import serve

ALLOW_LOCAL = "GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE"


# --- HDF5 ----------------------------------------------------------------------------------------

def references_of(file, url):
    """As kerchunk makes them from an HDF5 file, shuffled and deflated."""
    refs = {".zgroup": '{"zarr_format":2}'}
    with h5py.File(file) as h5:
        for name, dataset in h5.items():
            filters = []
            if dataset.shuffle:
                filters.append({"id": "shuffle", "elementsize": dataset.dtype.itemsize})
            if dataset.compression:
                filters.append({"id": "zlib", "level": dataset.compression_opts})
            chunks = dataset.chunks or dataset.shape
            fill_value = dataset.fillvalue.item()
            refs[f"{name}/.zarray"] = json.dumps({
                "zarr_format": 2, "shape": dataset.shape, "chunks": chunks,
                "dtype": dataset.dtype.str, "filters": filters or None, "compressor": None,
                "order": "C", "fill_value": fill_value,
            })
            names = [d.keys()[0] if len(d) else name for d in dataset.dims]
            refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": names})
            if dataset.chunks is None:
                refs[f"{name}/0"] = [url, dataset.id.get_offset(), dataset.id.get_storage_size()]
                continue
            for number in range(dataset.id.get_num_chunks()):
                info = dataset.id.get_chunk_info(number)
                index = ".".join(str(o // c) for o, c in zip(info.chunk_offset, chunks))
                refs[f"{name}/{index}"] = [url, info.byte_offset, info.size]
    return refs


@pytest.fixture
def h5_values(tmp_path):
    """The values of a file with netCDF-4's layout; its last chunk was never written."""
    values = np.random.default_rng(1).normal(280, 5, (5, 30, 40)).astype(">f4")
    with h5py.File(tmp_path / "air.nc", "w") as h5:
        air = h5.create_dataset("air", values.shape, values.dtype, chunks=(2, 16, 40),
                                compression=4, shuffle=True, fillvalue=-1)
        air[:4], air[4:, :16] = values[:4], values[4:, :16]
        for axis, (name, size) in enumerate(zip(("time", "lat", "lon"), values.shape)):
            h5[name] = np.linspace(0, 10, size)
            h5[name].make_scale(name)
            air.dims[axis].attach_scale(h5[name])
    values[4:, 16:] = -1
    return values


@pytest.mark.parametrize("wrap", [dict, version_1])
def test_hdf5(tmp_path, h5_values, wrap):
    path = write(tmp_path / "air.json", wrap(references_of(tmp_path / "air.nc", "air.nc")))
    root = root_of(path)
    assert root.GetMDArrayNames() == ["lat", "lon", "time", "air"]
    air = root.OpenMDArray("air")
    assert [d.GetName() for d in air.GetDimensions()] == ["time", "lat", "lon"]
    np.testing.assert_array_equal(air.ReadAsArray(), h5_values)
    np.testing.assert_array_equal(read(path, "/lat"), np.linspace(0, 10, 30))
    np.testing.assert_array_equal(gdal.Open(path).ReadAsArray()[2], h5_values[2])


def test_hdf5_over_http(tmp_path, h5_values, monkeypatch):
    """Only the bytes of the requested chunks are transferred, from a file opened once."""
    refs = references_of(tmp_path / "air.nc", "air.nc")
    write(tmp_path / "air.json", version_1(refs))
    with serve(tmp_path, monkeypatch) as server:
        dataset = gdal.OpenEx(f"/vsicurl/{server.url}/air.json", gdal.OF_MULTIDIM_RASTER)
        air = dataset.GetRootGroup().OpenMDArray("air")
        np.testing.assert_array_equal(air.ReadAsArray(), h5_values)
        asked = [path for path, _ in server.requests if path == "/air.nc"]
        assert 0 < len(asked) <= 2 * len(refs)
        # Absolute names of the same server.
        write(tmp_path / "far.json", references_of(tmp_path / "air.nc", f"{server.url}/air.nc"))
        for name in (tmp_path / "far.json", f'ZARR:"/vsicurl/{server.url}/far.json"'):
            np.testing.assert_array_equal(read(name, "/air"), h5_values)


# --- Names ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("form", [
    "{}", 'ZARR:"{}"', "ZARR:{}", "/vsikerchunk_json_ref/{{{}}}", "/vsikerchunk_json_ref/{{{}}}/",
    'ZARR:"/vsikerchunk_json_ref/{{{}}}"', "/vsikerchunk_json_ref/{{{}}}/.zgroup",
])
def test_names(tmp_path, blob, form):
    path = write(tmp_path / "some.json",
                 references(c0=["blob.bin", 5, 24], c1=["blob.bin", 100, 24]))
    np.testing.assert_array_equal(read(form.format(path)), ROWS)
    np.testing.assert_array_equal(gdal.Open(form.format(path)).ReadAsArray(), ROWS)


def test_names_of_parts(tmp_path, blob):
    path = tmp_path / "some.refs"  # a name without an extension
    refs = references(c0=["blob.bin", 5, 24], c1=["blob.bin", 100, 24])
    write(path, refs | {f"g/{key}": value for key, value in refs.items()})
    subdatasets = [name for name, _ in gdal.Open(str(path)).GetSubDatasets()]
    assert subdatasets == [f'ZARR:"{path}":/g/v', f'ZARR:"{path}":/v']
    for name in (*subdatasets, f"/vsikerchunk_json_ref/{{{path}}}/v",
                 f"/vsikerchunk_json_ref/{{{path}}}/g",
                 f'ZARR:"/vsikerchunk_json_ref/{{{path}}}/g":/v'):
        np.testing.assert_array_equal(gdal.Open(name).ReadAsArray(), ROWS)


def test_relative_to_the_folder(tmp_path, blob, monkeypatch):
    (tmp_path / "deep/er").mkdir(parents=True)
    target = "../.././blob.bin"
    write(tmp_path / "deep/er/some.json", references(c0=[target, 5, 24], c1=[target, 100, 24]))
    for folder, name in ((".", "deep/er/some.json"), ("deep", "er/some.json"),
                         ("deep/er", "some.json"), ("deep/er", "./some.json")):
        monkeypatch.chdir(tmp_path / folder)
        np.testing.assert_array_equal(read(name), ROWS)


@pytest.mark.parametrize("form", ["{}", "file://{}", "file://localhost{}", "/vsisubfile/0,{}"])
def test_absolute_targets(tmp_path, blob, form):
    target = form.format(blob)
    path = write(tmp_path / "some.json", references(c0=[target, 5, 24], c1=[target, 100, 24]))
    np.testing.assert_array_equal(read(path), ROWS)


@pytest.mark.parametrize("url, path", [
    ("s3://bucket/a/b.nc", "/vsis3/bucket/a/b.nc"),
    ("gs://bucket/a.nc", "/vsigs/bucket/a.nc"),
    ("gcs://bucket/a.nc", "/vsigs/bucket/a.nc"),
    ("az://box/a.nc", "/vsiaz/box/a.nc"),
    ("abfs://box@account.dfs.core.windows.net/a.nc", "/vsiaz/box/a.nc"),
])
def test_object_stores(tmp_path, url, path, monkeypatch):
    """The error names the path that was tried."""
    for option in ("AWS_NO_SIGN_REQUEST", "GS_NO_SIGN_REQUEST", "AZURE_NO_SIGN_REQUEST"):
        monkeypatch.setenv(option, "YES")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "account")
    gdal.SetConfigOption("GDAL_HTTP_PROXY", "127.0.0.1:9")  # where no server listens
    try:
        assert path + ":" in error_of(write(tmp_path / "some.json", references(c0=[url, 5, 24])))
    finally:
        gdal.SetConfigOption("GDAL_HTTP_PROXY", None)
        gdal.VSICurlClearCache()


def test_unknown_scheme(tmp_path):
    path = write(tmp_path / "some.json", references(c0=["ipfs://Qm/a", 5, 24]))
    assert "v/0.0: URLs that begin with ipfs:// are not supported" in error_of(path)


def test_sizes_need_no_target(tmp_path):
    """That of a part is stated, so listings with sizes do not depend on what a URL names."""
    path = write(tmp_path / "some.json", references(c0=["ipfs://Qm/a", 5, 24], c1=["ipfs://Qm/b"]))
    assert gdal.VSIStatL(f"/vsikerchunk_json_ref/{{{path}}}/v/0.0").size == 24
    with pytest.raises(RuntimeError, match="v/1.0: URLs that begin with ipfs:// are not supported"):
        gdal.VSIStatL(f"/vsikerchunk_json_ref/{{{path}}}/v/1.0")


@pytest.mark.parametrize("document", [
    '{"type": "FeatureCollection", "features": []}',
    '{"version": 1, "templates": {"a": "b"}, "refs": {"a": "b", "c": ["d"]}}',
    '{"version": 1, "refs": [".zgroup"]}',
    '{"files": {".zgroup": "{}"}}',
    '{".zgroup": 24, "x": 1}',
    "{",
    "{}",
    '[{".zgroup": "{}"}]',
])
def test_other_json_is_not_claimed(tmp_path, document):
    path = write(tmp_path / "some.json", document)
    assert gdal.IdentifyDriverEx(path, allowed_drivers=["Zarr"]) is None


def test_large_json_that_is_not_claimed(tmp_path):
    path = write(tmp_path / "a.json", version_1({f"k{i}": "x" for i in range(200_000)}))
    assert gdal.IdentifyDriverEx(path, allowed_drivers=["Zarr"]) is None


def test_documents_after_long_templates(tmp_path, blob):
    path = write(tmp_path / "a.json", version_1(references(), templates={"u": "x" * 5000}))
    assert gdal.IdentifyDriverEx(path, allowed_drivers=["Zarr"]) is not None


# --- Values --------------------------------------------------------------------------------------

def test_values(tmp_path, blob):
    """Inline text and base64; whole files; an absent key is the fill value."""
    (tmp_path / "top.bin").write_bytes(TOP)
    document = references(c0=["top.bin"])
    want = ROWS.copy()
    want[2:] = 9
    np.testing.assert_array_equal(read(write(tmp_path / "a.json", document)), want)
    document = references(c0="\u0001\u0000" * 12, c1="base64:" + base64.b64encode(BOTTOM).decode())
    want[:2], want[2:] = 1, ROWS[2:]
    np.testing.assert_array_equal(read(write(tmp_path / "b.json", document)), want)


def test_inline_objects(tmp_path):
    refs = {".zgroup": {"zarr_format": 2},
            "v/.zarray": ARRAY | {"dtype": "<f4", "fill_value": "NaN"},
            "v/.zattrs": {"a": [1, {"b": "}"}], "valid_max": float("nan")}}
    array = root_of(write(tmp_path / "a.json", refs)).OpenMDArray("v")
    assert np.isnan(array.ReadAsArray()).all()
    assert json.loads(array.GetAttribute("a").ReadAsString()) == [1, {"b": "}"}]


def test_escaped_and_repeated_keys(tmp_path):
    text = json.dumps(references())[:-1] + ', "v\\/0.0": "base64:AAAA", "v/0.0": "%s"}' % (
        "\\u0001\\u0000" * 12)
    assert read(write(tmp_path / "a.json", text))[0, 0] == 1


def test_shards(tmp_path):
    """Values of Zarr v3, including shards of which parts are read, all in one file."""
    data = np.arange(240, dtype="i4").reshape(12, 20)
    write_group(tmp_path / "s.zarr")
    write_array(tmp_path / "s.zarr/a", data, (6, 10), [sharding((3, 5), [BYTES, GZIP])])
    refs, blob = {}, b"-"
    for file in (tmp_path / "s.zarr").rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            refs[str(file.relative_to(tmp_path / "s.zarr"))] = ["blob", len(blob), len(content)]
            blob += content + b"--"
    (tmp_path / "blob").write_bytes(blob)
    root = root_of(write(tmp_path / "a.json", refs))
    np.testing.assert_array_equal(root.OpenMDArray("a").ReadAsArray([7, 3], [1, 9]),
                                  data[7:8, 3:12])
    np.testing.assert_array_equal(root.OpenMDArray("a").ReadAsArray(), data)


def test_consolidated(tmp_path):
    refs = references()
    metadata = {key: json.loads(value) for key, value in refs.items()}
    path = write(tmp_path / "a.json", refs | {
        ".zmetadata": json.dumps({"metadata": metadata, "zarr_consolidated_format": 1})})
    for option in ("YES", "NO"):
        dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER,
                              open_options=["USE_CONSOLIDATED_METADATA=" + option])
        assert dataset.GetRootGroup().GetMDArrayNames() == ["v"]


def test_consolidated_metadata_alone(tmp_path, blob):
    """It stands for documents that are missing, and need not state its format."""
    metadata = {key: json.loads(value) for key, value in references().items()}
    path = write(tmp_path / "a.json", {
        ".zmetadata": {"metadata": metadata}, "v/0.0": ["blob.bin", 5, 24],
        "v/1.0": ["blob.bin", 100, 24]})
    for name in (path, f"/vsikerchunk_json_ref/{{{path}}}"):
        np.testing.assert_array_equal(read(name), ROWS)


def test_short_documents(tmp_path, blob):
    """NumPy's network order; no compressor, filters or order."""
    array = {"zarr_format": 2, "shape": [4, 6], "chunks": [2, 6], "dtype": "!u2",
             "fill_value": "0x09"}
    refs = {".zgroup": {"zarr_format": 2}, "v/.zarray": array, "v/0.0": ["blob.bin", 5, 24]}
    found = read(write(tmp_path / "a.json", refs))
    np.testing.assert_array_equal(found[:2], ROWS[:2].byteswap())
    assert (found[2:] == 9).all()


@pytest.mark.parametrize("text", [
    '{"version": 1, "refs": %s,}', '{"version": 1, "templates": {"a": "b",}, "refs": %s}',
    '{"refs": %s, "version": 1,}', "%s",
])
def test_trailing_commas(tmp_path, blob, text):
    refs = json.dumps(references(c0=["blob.bin", 5, 24], c1=["blob.bin", 100, 24]))[:-1] + ",}"
    path = write(tmp_path / "a.json", text % refs)
    for name in (path, f"/vsikerchunk_json_ref/{{{path}}}"):
        np.testing.assert_array_equal(read(name), ROWS)


def test_array_at_the_root(tmp_path):
    path = write(tmp_path / "heights.json", {".zarray": json.dumps(ARRAY)})
    assert root_of(path).GetMDArrayNames() == ["heights"]
    name = f"/vsikerchunk_json_ref/{{{path}}}"
    assert root_of(name).GetMDArrayNames() == ["heights"]


# --- Errors --------------------------------------------------------------------------------------

@pytest.mark.parametrize("value, problem", [
    (3, "3 is neither text nor"), (None, "null is neither text nor"), ([], "[] is neither"),
    (["blob.bin", 5], "is neither"), (["blob.bin", 5, 24, 1], "is neither"), ([5], "is neither"),
    ([""], "it names no file"), (["blob.bin", -5, 24], "the offset is -5"),
    (["blob.bin", "5", 24], "the offset is a string"),
    (["blob.bin", 5.5, 24], "the offset is a num"),
    ("base64:!!", "is not base64"), (["blob.bin", 5, 10**15], "are outside a value of 127 bytes"),
    (["blob.bin", 2**63, 24], "are outside"), (["blob.bin", 120, 24], "are outside"),
    (["absent.bin", 5, 24], "absent.bin: this file, which a reference names, does not exist"),
    (["absent.bin"], "does not exist"), (["a\0b"], "contains a NUL"), (["."], "v/0.0"),
])
def test_bad_values(tmp_path, blob, value, problem):
    path = write(tmp_path / "a.json", references(c0=value, c1=["blob.bin", 100, 24]))
    message = error_of(path)
    assert "v/0.0" in message
    assert problem in message
    # The others can be read.
    array = root_of(path).OpenMDArray("v")
    np.testing.assert_array_equal(array.ReadAsArray([2, 0], [2, 6]), ROWS[2:])


@pytest.mark.parametrize("document, problem", [
    (json.dumps(references())[:-1], "not valid JSON"),
    (json.dumps(references())[:-20], "expected the end of a string"),
    (json.dumps(references())[:-1] + ', "a": }', "expected a value"),
    (json.dumps(references())[:-1] + ', "a": [1}}', "expected ']'"),
    (json.dumps(references())[:-1] + ', "a": ' + "[" * 100_000, "nested deeper than 256 levels"),
    (json.dumps(references())[:-1] + ' "a": 1}', "expected a comma"),
    (json.dumps({"version": 2, "refs": references()}), "version 2 of Kerchunk's format"),
    (json.dumps(version_1(references(), templates=[])),
     "templates: not valid JSON: expected an object"),
    (json.dumps(version_1(references(), gen={})), "gen: this is not a list"),
    (json.dumps(version_1({"a": "b"})), "there is no Zarr group or array"),
    ("", "not valid JSON: expected an object at byte 0"),
])
def test_bad_documents(tmp_path, document, problem):
    path = write(tmp_path / "a.json", document)
    message = error_of(f'ZARR:"{path}"')
    assert "a.json: " in message
    assert problem in message


def test_bad_names(tmp_path):
    path = tmp_path / "absent.json"
    message = error_of(f"/vsikerchunk_json_ref/{{{path}}}")
    assert "this document of references does not exist" in message
    for name in (f"/vsikerchunk_json_ref/{tmp_path}", f"/vsikerchunk_json_ref/{{{path}",
                 f"/vsikerchunk_parquet_ref/{tmp_path}", "/vsikerchunk_json_ref/{}"):
        assert "is followed by a path in braces" in error_of(name)
    message = error_of(f"/vsikerchunk_parquet_ref/{{{tmp_path}}}")
    assert f"{tmp_path}/.zmetadata: this document of references does not exist" in message


@pytest.mark.parametrize("form", ["{}", 'ZARR:"{}":/v', "/vsikerchunk_json_ref/{{{}}}",
                                  'ZARR:"/vsikerchunk_json_ref/{{{}}}":/v'])
def test_file_list(tmp_path, form):
    """The document is complete: its entries are not files."""
    path = write(tmp_path / "a.json", references())
    assert gdal.Open(form.format(path)).GetFileList() == [path]


def test_many_references(tmp_path, blob):
    """Documents of tens of megabytes take seconds at most, including listing and reading."""
    refs = references() | {f"w/{i}.0": ["blob.bin", i, 24] for i in range(500_000)}
    refs["w/.zarray"] = json.dumps(ARRAY | {"shape": [10**6, 6]})
    path = write(tmp_path / "a.json", version_1(refs))
    started = time.monotonic()
    root = root_of(path)
    assert root.GetMDArrayNames() == ["v", "w"]
    last = root.OpenMDArray("w").ReadAsArray([10, 0], [2, 6])
    assert last.tobytes() == blob.read_bytes()[5:29]
    assert time.monotonic() - started < 10


# --- From the network to local files -------------------------------------------------------------

@pytest.mark.parametrize("form", [
    "{}", "file://{}", "FILE://{}", "local://{}", "/vsisubfile/0_999,{}", "/vsicurl/file://{}",
    "/vsicurl?url=file%3A%2F%2F{}", "/vsizip//vsicurl/{}", "/vsicached?file={}", "../../../../..{}",
    "x/../../../../../..{}", "/vsimem/../{}", "/vsis3_streaming/{}", "/vsistdin/", "/vsigzip/{}",
    "/vsicrypt/key=x,file={}", "/vsisparse/{}", "/vsitar/{}", "//{}",
])
def test_local_targets_of_remote_references(tmp_path, blob, monkeypatch, form):
    target = form.format(blob)
    (tmp_path / "www").mkdir()
    write(tmp_path / "www/a.json", references(c0=[target, 5, 24]))
    with serve(tmp_path / "www", monkeypatch) as server:
        message = error_of(f'ZARR:"/vsicurl/{server.url}/a.json"')
        assert ALLOW_LOCAL in message


@pytest.mark.parametrize("value, allowed", [
    ("YES", True), ("on", True), ("NO", False), ("OFF", False), ("SOMETIMES", False), (None, False),
])
def test_option_for_local_targets(tmp_path, blob, monkeypatch, value, allowed):
    (tmp_path / "www").mkdir()
    write(tmp_path / "www/a.json", references(c0=[str(blob), 5, 24]))
    with serve(tmp_path / "www", monkeypatch) as server:
        name = f'ZARR:"/vsicurl/{server.url}/a.json"'
        gdal.SetThreadLocalConfigOption(ALLOW_LOCAL, value)
        try:
            if allowed:
                np.testing.assert_array_equal(read(name)[:2], ROWS[:2])
            else:
                assert ALLOW_LOCAL in error_of(name)
        finally:
            gdal.SetThreadLocalConfigOption(ALLOW_LOCAL, None)


def test_remote_targets_beside_the_document(tmp_path, blob, monkeypatch):
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep/a.json",
          references(c0=["../blob.bin", 5, 24], c1=["x/../../blob.bin", 100, 24]))
    with serve(tmp_path, monkeypatch) as server:
        name = f'ZARR:"/vsicurl/{server.url}/deep/a.json"'
        np.testing.assert_array_equal(read(name), ROWS)
        server.faults["blob.bin"] = 500
        gdal.VSICurlClearCache()
        assert "blob.bin" in error_of(name)
        server.faults["blob.bin"] = 404
        gdal.VSICurlClearCache()
        assert "this file, which a reference names, does not exist" in error_of(name)


def test_remote_target_with_a_backslash(tmp_path, blob, monkeypatch):
    """As objects in stores may have, and keys of Zarr may not."""
    blob.rename(tmp_path / "a\\b.bin")
    with serve(tmp_path, monkeypatch) as server:
        url = f"{server.url}/a\\b.bin"
        write(tmp_path / "a.json", references(c0=[url, 5, 24], c1=[url, 100, 24]))
        np.testing.assert_array_equal(read(f'ZARR:"/vsicurl/{server.url}/a.json"'), ROWS)
