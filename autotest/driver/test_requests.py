"""The cost of reading over HTTP: the requests to a server are counted."""
import threading
import time
from urllib.parse import unquote

import numpy as np
import pytest
import webserver
from osgeo import gdal
from webserver import serve

DATA = np.arange(64 * 64, dtype="u2").reshape(64, 64)


def make_store(path, version, consolidated=True, options=("BLOCKSIZE=8,8",), name="image"):
    """An array in a group, with coordinates beside it."""
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(
        str(path), [], [f"FORMAT=ZARR_V{version}",
                        f"CREATE_CONSOLIDATED_METADATA={'YES' if consolidated else 'NO'}"])
    group = dataset.GetRootGroup().CreateGroup("level")
    dimensions = [group.CreateDimension(d, None, None, 64) for d in "yx"]
    for dimension in dimensions:
        coordinate = group.CreateMDArray(dimension.GetName(), [dimension],
                                         gdal.ExtendedDataType.Create(gdal.GDT_Float64))
        coordinate.Write(np.arange(64.0))
        dimension.SetIndexingVariable(coordinate)
    array = group.CreateMDArray(name, dimensions, gdal.ExtendedDataType.Create(gdal.GDT_UInt16),
                                list(options))
    array.Write(DATA)


@pytest.fixture
def serve_store(tmp_path, monkeypatch):
    """Makes a store and serves it: the server, to be used in a `with`."""
    def start(version, **options):
        make_store(tmp_path / "a.zarr", version, **options)
        return serve(tmp_path, monkeypatch)

    return start


def open_array(server, name="image"):
    root = gdal.OpenEx(f'ZARR:"/vsicurl/{server.url}/a.zarr"', gdal.OF_MULTIDIM_RASTER)
    return root.GetRootGroup().OpenGroup("level").OpenMDArray(name)


def paths(server):
    """The requests since the last call."""
    asked = [path.removeprefix("/a.zarr/") for path, _ in server.requests]
    server.requests.clear()
    return asked


OPENING = {
    (3, True): ["zarr.json", ".zmetadata"],
    (2, True): ["zarr.json", ".zmetadata"],
    (3, False): ["zarr.json", ".zmetadata", "level/zarr.json", "level/image/zarr.json"],
    (2, False): ["zarr.json", ".zmetadata", ".zarray", ".zgroup", ".zattrs", "level/.zgroup",
                 "level/.zattrs", "level/image/.zarray", "level/image/.zattrs"],
}


@pytest.mark.parametrize("version, consolidated", OPENING)
def test_opening(serve_store, version, consolidated):
    with serve_store(version, consolidated=consolidated) as server:
        array = open_array(server)
        assert sorted(paths(server)) == sorted(OPENING[version, consolidated])
        # The dimensions follow from their variables.
        assert [d.GetType() for d in array.GetDimensions()] == ["HORIZONTAL_Y", "HORIZONTAL_X"]
        asked = paths(server)
        variables = {"level/y/zarr.json", "level/x/zarr.json"} if version == 3 else (
            {"level/y/.zarray", "level/y/.zattrs", "level/x/.zarray", "level/x/.zattrs"})
        assert set(asked) == (set() if consolidated else variables)
        assert len(asked) == len(set(asked))
        assert array.GetAttributes() is not None and array.GetNoDataValue() is None
        assert paths(server) == []


@pytest.mark.parametrize("version", [2, 3])
def test_opening_by_the_name_of_the_array(serve_store, version):
    with serve_store(version, consolidated=False) as server:
        dataset = gdal.OpenEx(f'ZARR:"/vsicurl/{server.url}/a.zarr/level/image"',
                              gdal.OF_MULTIDIM_RASTER)
        assert dataset.GetRootGroup().OpenMDArray("image").GetBlockSize() == [8, 8]
        assert sorted(paths(server)) == sorted(f"level/image/{name}" for name in (
            ["zarr.json", ".zmetadata"] if version == 3 else
            ["zarr.json", ".zmetadata", ".zgroup", ".zarray", ".zattrs"]))


@pytest.mark.parametrize("version", [2, 3])
def test_window(serve_store, version):
    """A request for each chunk, and none for cached chunks."""
    with serve_store(version) as server:
        array = open_array(server)
        paths(server)
        np.testing.assert_array_equal(array.ReadAsArray([4, 20], [10, 20]), DATA[4:14, 20:40])
        separator, start = (".", "level/image/") if version == 2 else ("/", "level/image/c/")
        chunks = {f"{start}{y}{separator}{x}" for y in (0, 1) for x in (2, 3, 4)}
        asked = paths(server)
        assert sorted(asked) == sorted(chunks)
        array.ReadAsArray([5, 21], [2, 10])
        assert paths(server) == []


def test_classic(serve_store):
    with serve_store(3) as server:
        dataset = gdal.Open(f'ZARR:"/vsicurl/{server.url}/a.zarr":/level/image')
        assert dataset.GetGeoTransform()
        assert sorted(paths(server)) == [".zmetadata", "level/x/c/0", "level/y/c/0", "zarr.json"]
        np.testing.assert_array_equal(dataset.ReadAsArray(8, 8, 8, 8), DATA[8:16, 8:16])
        assert paths(server) == ["level/image/c/1/1"]


@pytest.mark.parametrize("is_in_store", [False, True])
def test_what_is_kept_beside_a_store(serve_store, tmp_path, is_in_store):
    text = '<PAMDataset><Metadata><MDI key="who">beside</MDI></Metadata></PAMDataset>'
    file = "a.zarr.aux.xml"
    if is_in_store:
        file = "a.zarr/level/image/gdal.aux.xml"
    else:
        text = f'<PAMDataset><Subdataset name="/level/image">{text}</Subdataset></PAMDataset>'
    with serve_store(3) as server:
        # With EMPTY_DIR, GDAL assumes that there are no files beside what it opens.
        gdal.SetConfigOption("GDAL_DISABLE_READDIR_ON_OPEN", "TRUE")
        (tmp_path / file).write_text(text)
        dataset = gdal.Open(f'ZARR:"/vsicurl/{server.url}/a.zarr":/level/image')
        assert dataset.GetMetadataItem("who") == "beside"


def test_shard(serve_store):
    """The index once, then neighbouring inner chunks together."""
    options = ["BLOCKSIZE=64,64", "SHARD_CHUNK_SHAPE=8,8", "COMPRESS=ZSTD"]
    with serve_store(3, options=options) as server:
        array = open_array(server)
        paths(server)
        for _ in range(2):
            np.testing.assert_array_equal(array.ReadAsArray([1, 1], [5, 5]), DATA[1:6, 1:6])
        assert paths(server) == ["level/image/c/0/0"] * 2
        np.testing.assert_array_equal(array.ReadAsArray([40, 0], [24, 64]), DATA[40:])
        assert paths(server) == ["level/image/c/0/0"]


class CountingHandler(webserver.Handler):
    """Delays each answer, and records how many requests run at once."""
    lock = threading.Lock()
    now = most = 0

    def do_GET(self):
        kind = CountingHandler
        with kind.lock:
            kind.now += 1
            kind.most = max(kind.most, kind.now)
        time.sleep(0.2)
        with kind.lock:
            kind.now -= 1
        super().do_GET()


@pytest.mark.parametrize("limit, threads", [(None, "1"), (None, "2"), ("3", "2"), ("1", "1")])
def test_many_at_once(serve_store, monkeypatch, limit, threads):
    """Sixteen requests run at once, however few threads decode, unless another number is set."""
    monkeypatch.setattr(webserver, "Handler", CountingHandler)
    with serve_store(3) as server:
        gdal.SetConfigOption("ZARR_PARALLEL_REQUESTS", limit)
        gdal.SetConfigOption("GDAL_NUM_THREADS", threads)
        try:
            array = open_array(server)
            CountingHandler.most = 0
            np.testing.assert_array_equal(array.ReadAsArray([0, 0], [32, 32]), DATA[:32, :32])
        finally:
            gdal.SetConfigOption("ZARR_PARALLEL_REQUESTS", None)
            gdal.SetConfigOption("GDAL_NUM_THREADS", None)
    wanted = int(limit or 16)
    # Python's server is not always as fast as the driver.
    assert (wanted + 1) // 2 <= CountingHandler.most <= max(wanted, int(threads))


class NoRanges(webserver.Handler):
    """Always sends the whole file, whatever range is requested."""

    def do_GET(self):
        del self.headers["Range"]
        super().do_GET()


class NoSuffixes(webserver.Handler):
    """Does not support ranges that count from the end."""

    def do_GET(self):
        if self.headers.get("Range", "").startswith("bytes=-"):
            del self.headers["Range"]
        super().do_GET()


@pytest.mark.parametrize("handler", [NoRanges, NoSuffixes])
def test_servers_that_know_less(serve_store, monkeypatch, handler):
    monkeypatch.setattr(webserver, "Handler", handler)
    options = ["BLOCKSIZE=64,64", "SHARD_CHUNK_SHAPE=8,8", "COMPRESS=ZSTD"]
    with serve_store(3, options=options) as server:
        array = open_array(server)
        np.testing.assert_array_equal(array.ReadAsArray([3, 3], [8, 8]), DATA[3:11, 3:11])
        np.testing.assert_array_equal(array.ReadAsArray(), DATA)


class OtherRanges(webserver.Handler):
    """Sends other bytes than requested, and states so."""

    def do_GET(self):
        if (wanted := self.headers.get("Range", "")).startswith("bytes=-"):
            super().do_GET()
            return
        if wanted:
            first, last = map(int, wanted.removeprefix("bytes=").split("-"))
            self.headers.replace_header("Range", f"bytes={first + 1}-{last + 1}")
        super().do_GET()


def test_another_range_than_was_asked_for(serve_store, monkeypatch):
    monkeypatch.setattr(webserver, "Handler", OtherRanges)
    options = ["BLOCKSIZE=64,64", "SHARD_CHUNK_SHAPE=8,8"]
    with serve_store(3, options=options) as server:
        array = open_array(server)
        with pytest.raises(RuntimeError,
                           match=r"c/0/0: .*the server sent 128 bytes at the offset 1153"):
            array.ReadAsArray([8, 8], [8, 8])


def test_a_large_shard_of_a_server_without_suffixes(tmp_path, monkeypatch):
    """It is not transferred as a whole only to read its index."""
    monkeypatch.setattr(webserver, "Handler", NoSuffixes)
    data = np.random.default_rng(3).integers(0, 255, (2048, 1024), "u1")
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(
        str(tmp_path / "a.zarr"), [], ["FORMAT=ZARR_V3"])
    group = dataset.GetRootGroup().CreateGroup("level")
    dimensions = [group.CreateDimension(d, None, None, n) for d, n in zip("yx", data.shape)]
    array = group.CreateMDArray("image", dimensions, gdal.ExtendedDataType.Create(gdal.GDT_Byte),
                                ["BLOCKSIZE=2048,1024", "SHARD_CHUNK_SHAPE=64,64"])
    array.Write(data)
    del array, dimensions, group, dataset
    with serve(tmp_path, monkeypatch) as server:
        array = open_array(server)
        for _ in range(2):
            np.testing.assert_array_equal(array.ReadAsArray([64, 64], [9, 9]), data[64:73, 64:73])
        np.testing.assert_array_equal(array.ReadAsArray(), data)


@pytest.mark.parametrize("name", ["with space", "100%", "a#b", "größe", "a+b", "a?b"])
def test_names_that_urls_escape(serve_store, name):
    with serve_store(3, name=name) as server:
        server.rewrite = unquote
        np.testing.assert_array_equal(open_array(server, name).ReadAsArray(), DATA)
