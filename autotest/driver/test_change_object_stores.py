"""Renaming, deleting, resizing and appending in object stores: few requests, and with any request
failing no node that has lost chunks, no lost values, and a second try that works."""
import os

import numpy as np
import pytest
from multidim import create, create_array, open_root, open_to_write
from night import rounds
from object_stores import keys
from osgeo import gdal
from test_write_faults import errors

DATA = np.random.default_rng(3).integers(1, 60000, (80, 100), "u2")
CHUNKS = 12
HARMLESS = {"Only read-only mode is supported for /vsicurl"}  # of GDAL 3.6
GDAL_MINOR = int(gdal.VersionInfo()) // 10000
changes_nodes = pytest.mark.skipif(GDAL_MINOR < 308, reason="nodes are changed since GDAL 3.8")
FORMATS = {"v2": ["FORMAT=ZARR_V2"], "v3": ["FORMAT=ZARR_V3"]}


def new_store(path, *options):
    """An array `g/a` of twelve chunks, and an array `b` of one."""
    dataset = create(path, *options)
    root = dataset.GetRootGroup()
    group = root.CreateGroup("g")
    array = create_array(group, "a", DATA.shape, gdal.GDT_UInt16, "BLOCKSIZE=32,32")
    assert array.Write(DATA) == gdal.CE_None
    other = create_array(root, "b", (10,), gdal.GDT_UInt16)
    assert other.Write(DATA[0, :10].copy()) == gdal.CE_None
    del other, array, group, root, dataset
    gdal.VSICurlClearCache()


def read(path, group, name="a"):
    """Null if there is no such array."""
    gdal.VSICurlClearCache()
    root = open_root(path)
    if group not in (root.GetGroupNames() or []):
        return None
    group = root.OpenGroup(group)
    if name not in (group.GetMDArrayNames() or []):
        return None
    return group.OpenMDArray(name).ReadAsArray()


def chunk_keys(path):
    return [key for key in keys(path) if not key.endswith((".json", ".zarray", ".zgroup",
                                                           ".zattrs", ".zmetadata"))]


class FailingRequest:
    """Lets the request with a number fail, of those that change something or list; `persists`: and
    all later ones like it."""

    def __init__(self, number, persists):
        self.number, self.persists, self.count, self.failed = number, persists, 0, None

    def __call__(self, method, path):
        kind = "LIST" if method == "GET" and "prefix=" in path else method
        if kind in ("GET", "HEAD"):
            return None
        self.count += 1
        if self.count == self.number or (self.persists and kind == self.failed):
            self.failed = kind
            return 403 if self.persists else 500
        return None


def for_each_failure(proxy, prepare, change, check):
    """Calls check(path, messages) after each change with a failing request. By day each request
    fails once, for one answer or from then on; by night both. Returns the number by night."""
    step = rounds(2, 1)
    failures = 0
    for first, persists in ((1, False), (step, True)):
        for number in range(first, 200, step):
            proxy.fail = lambda method, path: None
            path = f"{proxy.path}_{persists}_{number}"
            prepare(path)
            gdal.VSICurlClearCache()
            proxy.fail = failing = FailingRequest(number, persists)
            with errors() as messages:
                change(path)
            proxy.fail = lambda method, path: None
            gdal.VSICurlClearCache()
            if failing.failed is None:
                assert not set(messages) - HARMLESS
                break
            failures += step
            check(path, messages)
    return failures


def rename(path, old="g", new="h"):
    dataset = open_to_write(path)
    if dataset is None:  # GDAL's own listing has failed
        gdal.Error(gdal.CE_Failure, 1, "it cannot be opened")
        return
    root = dataset.GetRootGroup()
    group = root.OpenGroup(old)
    group.Rename(new)


def delete(path, name="g"):
    dataset = open_to_write(path)
    if dataset is None:  # GDAL's own listing has failed
        gdal.Error(gdal.CE_Failure, 1, "it cannot be opened")
        return
    root = dataset.GetRootGroup()
    root.DeleteGroup(name)


# --- Without failures ----------------------------------------------------------------------------

@changes_nodes
@pytest.mark.parametrize("options", FORMATS.values(), ids=FORMATS)
def test_rename_and_delete(bucket, options):
    path = f"{bucket}.zarr"
    new_store(path, *options)
    before = [key.removeprefix("g/") for key in keys(path) if key.startswith("g/")]
    rename(path)
    np.testing.assert_array_equal(read(path, "h"), DATA)
    assert read(path, "g") is None
    after = keys(path)
    assert [key.removeprefix("h/") for key in after if key.startswith("h/")] == before
    assert not any(key.startswith("g/") for key in after)
    delete(path, "h")
    assert read(path, "h") is None
    assert len(chunk_keys(path)) == 1
    np.testing.assert_array_equal(open_root(path).OpenMDArray("b").ReadAsArray(), DATA[0, :10])


@pytest.mark.parametrize("options", FORMATS.values(), ids=FORMATS)
def test_whole_stores(bucket, options):
    """With a placeholder for a folder, as some programs make it."""
    path, copy, new = f"{bucket}.zarr", f"{bucket}_copy.zarr", f"{bucket}_new.zarr"
    new_store(path, *options)
    before = keys(path)
    driver = gdal.GetDriverByName("Zarr")
    assert driver.CopyFiles(copy, path) == gdal.CE_None
    assert keys(copy) == keys(path) == before
    gdal.Mkdir(f"{path}/folder", 0o755)
    gdal.VSICurlClearCache()
    assert driver.Rename(new, path) == gdal.CE_None
    assert keys(path) == [] and keys(new) == before
    for store in (copy, new):
        np.testing.assert_array_equal(read(store, "g"), DATA)
        assert driver.Delete(store) == gdal.CE_None
        assert keys(store) == []


@changes_nodes
def test_requests(proxy):
    """Rename: one request a value, listings of both, one for documents and one for chunks. Delete:
    the same without copies."""
    new_store(proxy.path, "FORMAT=ZARR_V3", "CREATE_CONSOLIDATED_METADATA=NO")
    dataset = open_to_write(proxy.path)
    root = dataset.GetRootGroup()
    group = root.OpenGroup("g")
    values = CHUNKS + 2 + 2  # chunks, documents, dimensions of the group
    assert len([key for key in keys(proxy.path) if key.startswith("g/")]) <= values
    proxy.requests.clear()
    group.Rename("h")
    copies = sum("x-amz-copy-source" in {name.lower() for name in headers}
                 for _, _, headers in proxy.requests)
    assert CHUNKS + 2 <= copies <= values
    assert proxy.count("PUT") == copies
    assert proxy.count("POST", "delete") == 2
    assert proxy.count("GET", "prefix=") <= 5 and len(proxy.requests) <= values + 12
    del group
    proxy.requests.clear()
    root.DeleteGroup("h")
    assert proxy.count("POST", "delete") == 2 and proxy.count("DELETE") == 0
    assert len(proxy.requests) <= 8


@pytest.mark.parametrize("server", ["proxy", "moto_proxy"])
def test_many_keys(request, monkeypatch, server):
    """More than a page of a listing, and a page that fails. s3rver has no pages in version 2 of
    listings."""
    proxy = request.getfixturevalue(server)
    if server == "proxy" and GDAL_MINOR >= 312:
        pytest.skip("s3rver fails")
    new_store(proxy.path, "FORMAT=ZARR_V3")
    monkeypatch.setenv("AWS_MAX_KEYS", "5")
    driver = gdal.GetDriverByName("Zarr")
    pages = []

    def fail(_method, path):
        if "marker=" in path or "continuation-token=" in path:
            pages.append(path)
            return 500 if len(pages) == 1 else None
        return None

    proxy.fail = fail
    new = f"{proxy.path}_new"
    with errors() as messages:
        driver.Rename(new, proxy.path)
    if messages:
        assert keys(new) == []
        driver.Rename(new, proxy.path)
    assert len(pages) > 2
    proxy.fail = lambda method, path: None
    assert keys(proxy.path) == []
    np.testing.assert_array_equal(read(new, "g"), DATA)


@pytest.mark.skipif(GDAL_MINOR >= 312, reason="s3rver has no pages for this GDAL")
@pytest.mark.parametrize("kind", ["copy", pytest.param("resize", marks=pytest.mark.skipif(
    GDAL_MINOR < 307, reason="arrays are resized since GDAL 3.7"))])
def test_cut_listing(proxy, monkeypatch, kind):
    """A page that fails: what is on the pages after it is not forgotten without an error."""
    new_store(proxy.path, "FORMAT=ZARR_V3")
    monkeypatch.setenv("AWS_MAX_KEYS", "5")
    pages = []

    def fail(_method, path):
        if "marker=" in path or "continuation-token=" in path:
            pages.append(path)
            return 500
        return None

    proxy.fail = fail
    with errors() as messages:
        if kind == "copy":
            gdal.GetDriverByName("Zarr").CopyFiles(f"{proxy.path}_new", proxy.path)
        else:
            dataset = open_to_write(proxy.path)
            dataset.GetRootGroup().OpenGroup("g").OpenMDArray("a").Resize([1, 1])
    assert pages
    assert any("did not send the listing" in message for message in messages), messages


# --- With failures at every position -------------------------------------------------------------

@changes_nodes
@pytest.mark.parametrize("options", FORMATS.values(), ids=FORMATS)
def test_failed_rename(proxy, options):
    """The array is whole under its old or its new name, and is nowhere without a chunk."""
    def check(path, messages):
        old, new = read(path, "g"), read(path, "h")
        assert old is not None or new is not None
        for values in (old, new):
            if values is not None:
                np.testing.assert_array_equal(values, DATA)
        if old is not None and new is None:
            assert messages
            assert not any(key.startswith("h/") for key in chunk_keys(path))
            rename(path)
            np.testing.assert_array_equal(read(path, "h"), DATA)
        left = [key for key in chunk_keys(path) if key.startswith("g/")]
        assert not left or all(any(key in text for text in messages) for key in left)

    count = for_each_failure(proxy, lambda path: new_store(path, *options), rename, check)
    assert count > 2 * CHUNKS


@changes_nodes
@pytest.mark.parametrize("options", FORMATS.values(), ids=FORMATS)
def test_failed_delete(proxy, options):
    """Each chunk that is left is named, and belongs to no array."""
    def check(path, messages):
        values = read(path, "g")
        left = [key for key in chunk_keys(path) if key.startswith("g/")]
        if values is not None:
            assert messages
            np.testing.assert_array_equal(values, DATA)
            delete(path)
            left = [key for key in chunk_keys(path) if key.startswith("g/")]
            assert read(path, "g") is None and not left
        assert not left or all(any(key in text for text in messages) for key in left)

    count = for_each_failure(proxy, lambda path: new_store(path, *options), delete, check)
    assert count > 6


@pytest.mark.parametrize("options", FORMATS.values(), ids=FORMATS)
def test_failed_append(proxy, tmp_path, options):
    """What was in the store stays; nothing of the new array does, if deleting works."""
    source = str(tmp_path / "a.tif")
    gdal.GetDriverByName("GTiff").Create(source, 100, 80, 1, gdal.GDT_UInt16).WriteArray(DATA)

    def append(path):
        gdal.Translate(path, source, format="Zarr", creationOptions=[
            *options, "ARRAY_NAME=new", "APPEND_SUBDATASET=YES", "BLOCKSIZE=32,32"])

    def check(path, messages):
        np.testing.assert_array_equal(read(path, "g"), DATA)
        root = open_root(path)
        if "new" in root.GetMDArrayNames():
            np.testing.assert_array_equal(root.OpenMDArray("new").ReadAsArray(), DATA)
        else:
            assert messages
            assert not any(key.startswith("new/") for key in keys(path))
            del root
            append(path)
            np.testing.assert_array_equal(open_root(path).OpenMDArray("new").ReadAsArray(), DATA)

    count = for_each_failure(proxy, lambda path: new_store(path, *options), append, check)
    assert count > 2 * CHUNKS


@pytest.mark.parametrize("options", [
    ["BLOCKSIZE=32,32"], ["BLOCKSIZE=64,64", "SHARD_CHUNK_SHAPE=16,16"]], ids=["chunks", "shards"])
def test_failed_update(proxy, options):
    """Each element is as it was or as it was written. Without an error it is as it was written."""
    def prepare(path):
        dataset = gdal.GetDriverByName("Zarr").Create(
            path, 100, 80, 1, gdal.GDT_UInt16, ["FORMAT=ZARR_V3", *options])
        dataset.WriteArray(DATA)

    def update(path):
        dataset = gdal.Open(path, gdal.GA_Update)
        if dataset is not None:  # a listing has failed
            dataset.GetRasterBand(1).WriteArray(DATA[20:70, 20:90] + 1, 20, 20)

    want = DATA.copy()
    want[20:70, 20:90] += 1

    def check(path, messages):
        got = gdal.Open(path).ReadAsArray()
        assert np.all((got == want) | (got == DATA))
        if not messages:
            np.testing.assert_array_equal(got, want)
        update(path)
        gdal.VSICurlClearCache()
        np.testing.assert_array_equal(gdal.Open(path).ReadAsArray(), want)

    assert for_each_failure(proxy, prepare, update, check) >= 5


@pytest.mark.skipif(GDAL_MINOR < 307, reason="arrays are resized since GDAL 3.7")
def test_failed_resize(proxy):
    """A second try ends with the right values, also in what appears when the array grows again."""
    def resize(path, shape):
        dataset = open_to_write(path)
        if dataset is None:  # a listing has failed
            return
        array = dataset.GetRootGroup().OpenGroup("g").OpenMDArray("a")
        array.Resize(shape)
        del array, dataset
        gdal.VSICurlClearCache()

    def check(path, _messages):
        values = read(path, "g")
        assert values.shape in ((40, 50), DATA.shape)
        np.testing.assert_array_equal(values[:40, :50], DATA[:40, :50])
        resize(path, [40, 50])
        resize(path, [80, 100])
        want = np.zeros_like(DATA)
        want[:40, :50] = DATA[:40, :50]
        np.testing.assert_array_equal(read(path, "g"), want)

    count = for_each_failure(proxy, lambda path: new_store(path, "FORMAT=ZARR_V3"),
                             lambda path: resize(path, [40, 50]), check)
    assert count > 6


@pytest.mark.parametrize("status", [403, 500])
def test_failed_listing(proxy, status):
    """What cannot be listed is not treated as empty."""
    new_store(proxy.path, "FORMAT=ZARR_V3")
    before = keys(proxy.path)
    proxy.fail = lambda method, path: status if "prefix=" in path and "delimiter" not in path \
        else None
    driver = gdal.GetDriverByName("Zarr")
    for change in (lambda: driver.Delete(proxy.path),
                   lambda: driver.Rename(proxy.path + "_new", proxy.path)):
        with errors() as messages:
            change()
        assert messages and os.path.basename(proxy.path) in "".join(messages)
    proxy.fail = lambda method, path: None
    assert keys(proxy.path) == before
