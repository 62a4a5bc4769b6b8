"""Stores in GDAL's virtual file systems: in memory, in archives, and on a web server."""
import shutil
import socket
import tarfile
import zipfile

import numpy as np
import pytest
import zarr
from osgeo import gdal
from stores import BYTES, GZIP, ZSTD, consolidate, sharding, write_array, write_group
from v2_stores import write_v2
from webserver import serve

DATA = np.arange(40 * 60, dtype="i4").reshape(40, 60)
SHARDED = [sharding((5, 10), [BYTES, ZSTD])]


@pytest.fixture(params=["v2", "v3", "v3 sharded"])
def store(request, tmp_path):
    path = tmp_path / "some.zarr"
    write_store(path, request.param)
    return path


def write_store(path, kind):
    """The array /sub/a with DATA and coordinates, consolidated so that it needs no listing."""
    if kind == "v2":
        write_v2(path, "sub/a", DATA, {"_ARRAY_DIMENSIONS": ["y", "x"]}, chunks=(20, 20),
                 fill_value=-1)
        zarr.consolidate_metadata(str(path))
        return
    write_group(path)
    write_group(path / "sub")
    codecs = SHARDED if "sharded" in kind else [BYTES, GZIP]
    write_array(path / "sub/a", DATA, (20, 20), codecs, fill_value=-1, names=["y", "x"])
    consolidate(path)


def copy_to_memory(path, name):
    gdal.Mkdir(name, 0o755)
    for file in sorted(path.rglob("*")):
        copy = f"{name}/{file.relative_to(path)}"
        if file.is_dir():
            gdal.Mkdir(copy, 0o755)
        else:
            gdal.FileFromMemBuffer(copy, file.read_bytes())


def assert_reads(path):
    """With both APIs, whole and in part."""
    dataset = gdal.Open(path)
    assert dataset.GetDriver().ShortName == "Zarr"
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    root = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    array = root.OpenMDArrayFromFullname("/sub/a")
    got = array.ReadAsArray([39, 3], [20, 9], [-2, 6])
    np.testing.assert_array_equal(got, DATA[::-2][:20, 3::6][:, :9])


# --- Memory and archives -------------------------------------------------------------------------

def test_memory(store):
    copy_to_memory(store, "/vsimem/some.zarr")
    try:
        for name in ("/vsimem/some.zarr", 'ZARR:"/vsimem/some.zarr":/sub/a',
                     "/vsimem/some.zarr/sub/a"):
            dataset = gdal.Open(name)
            np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
        assert_reads('ZARR:"/vsimem/some.zarr"')
    finally:
        gdal.RmdirRecursive("/vsimem/some.zarr")


def test_memory_without_consolidated_metadata():
    """Groups are found by listing folders."""
    root = "/vsimem/listed"
    for name in ("", "/one", "/one/two", "/three", "/not_a_node"):
        gdal.Mkdir(root + name, 0o755)
        document = "file" if "not" in name else ".zgroup"
        gdal.FileFromMemBuffer(f"{root}{name}/{document}", b'{"zarr_format": 2}')
    try:
        top = gdal.OpenEx(root, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        assert top.GetGroupNames() == ["one", "three"]
        assert top.OpenGroup("one").GetGroupNames() == ["two"]
    finally:
        gdal.RmdirRecursive(root)


@pytest.mark.parametrize("archive", ["zip", "tar", "gztar"])
def test_archive(store, tmp_path, archive):
    file = shutil.make_archive(str(tmp_path / "packed"), archive, store.parent, store.name)
    prefix = "/vsizip/" if archive == "zip" else "/vsitar/"
    assert_reads(f'ZARR:"{prefix}{file}/some.zarr"')
    assert_reads(f"{prefix}{file}/some.zarr")


def test_archive_of_the_store_itself(store, tmp_path):
    file = shutil.make_archive(str(tmp_path / "packed.zarr"), "zip", store)
    assert_reads(f"/vsizip/{file}")


def test_archive_of_the_archive(store, tmp_path):
    inner = shutil.make_archive(str(tmp_path / "inner"), "zip", store)
    with tarfile.open(tmp_path / "outer.tar", "w") as tar:
        tar.add(inner, "inner.zip")
    assert_reads(f'ZARR:"/vsizip/{{/vsitar/{tmp_path}/outer.tar/inner.zip}}"')


def test_damaged_archive(store, tmp_path):
    """An entry that cannot be unpacked is not an absent chunk."""
    file = shutil.make_archive(str(tmp_path / "packed"), "zip", store)
    with zipfile.ZipFile(file) as packed:
        (chunk,) = [i for i in packed.infolist() if i.filename in ("sub/a/1.2", "sub/a/c/1/2")]
    content = bytearray(open(file, "rb").read())
    content[chunk.header_offset : chunk.header_offset + 4] = b"\0\0\0\0"
    open(file, "wb").write(content)
    array = gdal.Open(f"/vsizip/{file}")
    np.testing.assert_array_equal(array.ReadAsArray(0, 0, 40, 40), DATA[:, :40])
    with pytest.raises(RuntimeError, match=chunk.filename):
        array.ReadAsArray(40, 20, 1, 1)


# --- HTTP ----------------------------------------------------------------------------------------

@pytest.fixture
def server(store, tmp_path, monkeypatch):
    with serve(tmp_path, monkeypatch) as server:
        yield server


def chunk_part(store, row, column):
    """A part of the URL of a chunk."""
    separator, start = (".", "a/") if (store / ".zgroup").exists() else ("/", "a/c/")
    return f"{start}{row}{separator}{column}"


def chunk_file(store, row, column):
    return store / "sub" / chunk_part(store, row, column)


def requested_keys(server):
    """The requests to the store, without GDAL's for files beside it."""
    paths = {path for path, _ in server.requests}
    return {p.removeprefix("/some.zarr/") for p in paths if p.startswith("/some.zarr/")}


def open_remote(server):
    root = gdal.OpenEx(f'ZARR:"/vsicurl/{server.url}/some.zarr"', gdal.OF_MULTIDIM_RASTER)
    return root.GetRootGroup().OpenMDArrayFromFullname("/sub/a")


def test_http(server):
    assert_reads(f"/vsicurl/{server.url}/some.zarr")
    assert_reads(f'ZARR:"/vsicurl/{server.url}/some.zarr"')


def test_http_opening(server):
    """Consolidated metadata is requested once, and otherwise only documents that may contain it."""
    try:
        gdal.SetConfigOption("CPL_VSIL_CURL_NON_CACHED", f"/vsicurl/{server.url}")
        assert open_remote(server)
    finally:
        gdal.SetConfigOption("CPL_VSIL_CURL_NON_CACHED", None)
    assert requested_keys(server) <= {"zarr.json", ".zmetadata"}
    requests = [(path, headers.get("Range")) for path, headers in server.requests]
    assert len(requests) == len(set(requests))  # GDAL requests the size first, without a range


def test_http_window(server, store):
    """No chunks outside the window are requested."""
    array = open_remote(server)
    server.requests.clear()
    np.testing.assert_array_equal(array.ReadAsArray([21, 5], [4, 10]), DATA[21:25, 5:15])
    assert requested_keys(server) == {f"sub/{chunk_part(store, 1, 0)}"}


@pytest.mark.parametrize("status", [404, 410])
def test_http_absent_chunk(server, store, status):
    server.faults[chunk_part(store, 1, 2)] = status
    want = DATA.copy()
    want[20:, 40:] = -1
    np.testing.assert_array_equal(open_remote(server).ReadAsArray(), want)


@pytest.mark.parametrize("status", [500, 503, 403, 401, 0])
def test_http_fault(server, store, status):
    """A chunk that cannot be read is a failure that names it; the others can still be read."""
    part = chunk_part(store, 1, 2)
    server.faults[part] = status
    array = open_remote(server)
    np.testing.assert_array_equal(array.ReadAsArray([0, 0], [20, 60]), DATA[:20])
    for _ in range(2):  # not from a cache of missing files
        with pytest.raises(RuntimeError, match=part):
            array.ReadAsArray()
    dataset = gdal.Open(f"/vsicurl/{server.url}/some.zarr")
    with pytest.raises(RuntimeError, match=part):
        dataset.ReadAsArray()


def test_http_server_gone(server, store):
    array = open_remote(server)
    server.shutdown()
    server.server_close()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", server.server_port)) != 0
    with pytest.raises(RuntimeError, match=chunk_part(store, 0, 0)):
        array.ReadAsArray([0, 0], [1, 1])


@pytest.mark.parametrize("status", [500, 403, 0])
def test_http_metadata_fault(server, status):
    server.faults["some.zarr/"] = status
    with pytest.raises(RuntimeError, match="some.zarr/zarr.json") as caught:
        open_remote(server)
    assert "no Zarr" not in str(caught.value)


def test_http_nothing_there(server):
    with pytest.raises(RuntimeError, match="other.zarr: there is no Zarr group or array"):
        gdal.OpenEx(f'ZARR:"/vsicurl/{server.url}/other.zarr"')


def test_http_short_shard(server, store):
    """A server that sends less of a file than its size."""
    file = chunk_file(store, 0, 1)
    file.write_bytes(file.read_bytes()[:-7])
    with pytest.raises(RuntimeError, match=chunk_part(store, 0, 1)):
        open_remote(server).ReadAsArray()


@pytest.mark.parametrize("threads", ["1", "4"])
def test_http_options_reach_every_request(server, threads):
    """Options that a program sets for its thread also apply to the threads that work for it."""
    array = open_remote(server)
    server.requests.clear()
    options = {"GDAL_HTTP_HEADERS": "X-Token: secret", "GDAL_NUM_THREADS": threads}
    for name, value in options.items():
        gdal.SetThreadLocalConfigOption(name, value)
    try:
        np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    finally:
        for name in options:
            gdal.SetThreadLocalConfigOption(name, None)
    assert len(requested_keys(server)) == 6
    assert {headers.get("X-Token") for _, headers in server.requests} == {"secret"}
