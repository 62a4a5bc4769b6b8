"""Parts of one chunk of an object store, by several writers: nothing is lost where GDAL can send
conditions and the server checks them. Elsewhere a warning says so."""
import subprocess
import sys

import numpy as np
import pytest
from object_stores import keys, puts_under_conditions
from osgeo import gdal
from test_write_faults import errors

DATA = np.random.default_rng(5).integers(1, 60000, (80, 100), "u2")
GDAL_MINOR = int(gdal.VersionInfo()) // 10000
SENDS_CONDITIONS = GDAL_MINOR >= 310
LAYOUTS = {"chunks": ["BLOCKSIZE=80,100"],
           "shards": ["BLOCKSIZE=80,100", "SHARD_CHUNK_SHAPE=40,50"]}


def put(path, data, header=None):
    """With GDAL alone; whether it succeeds."""
    gdal.SetThreadLocalConfigOption("GDAL_HTTP_HEADERS", header)
    try:
        with errors():
            file = gdal.VSIFOpenL(path, "wb")
            gdal.VSIFWriteL(data, 1, len(data), file)
            return gdal.VSIFCloseL(file) == 0
    finally:
        gdal.SetThreadLocalConfigOption("GDAL_HTTP_HEADERS", None)


@pytest.fixture
def checking_bucket(bucket):
    """One whose server checks conditions that GDAL sends."""
    assert put(f"{bucket}_probe", b"one")
    if bucket.startswith("/vsiaz/") and not puts_under_conditions(bucket):
        pytest.skip("versions of values are unknown")
    if not SENDS_CONDITIONS or put(f"{bucket}_probe", b"two", '"If-Match: \\"other\\""'):
        pytest.skip("conditions do not reach the server, or it ignores them")
    return bucket


def new_raster(path, layout, data=None):
    dataset = gdal.GetDriverByName("Zarr").Create(
        path, 100, 80, 1, gdal.GDT_UInt16, ["FORMAT=ZARR_V3", *LAYOUTS[layout]])
    if data is not None:
        dataset.WriteArray(data)
    del dataset
    gdal.VSICurlClearCache()


def read(path):
    gdal.VSICurlClearCache()
    return gdal.Open(path).ReadAsArray()


def warnings_of(action):
    warnings = []
    gdal.PushErrorHandler(
        lambda level, _, text: level == gdal.CE_Warning and warnings.append(text))
    try:
        action()
    finally:
        gdal.PopErrorHandler()
    return [text for text in warnings if "LOCKS" in text]


# --- Servers that check conditions ---------------------------------------------------------------

@pytest.mark.parametrize("is_new", [False, True], ids=["replaced", "new"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts(checking_bucket, layout, is_new):
    path = f"{checking_bucket}.zarr"
    if is_new and put(f"{path}_probe", b"one") and put(f"{path}_probe", b"two",
                                                       "If-None-Match: *"):
        pytest.skip("the server ignores the condition that an object does not exist")
    new_raster(path, layout, None if is_new else DATA)
    one, two, three = (gdal.Open(path, gdal.GA_Update) for _ in range(3))
    one.GetRasterBand(1).WriteArray(DATA[:30] + 1)
    two.GetRasterBand(1).WriteArray(DATA[30:50] + 1, 0, 30)
    three.GetRasterBand(1).WriteArray(DATA[50:] + 1, 0, 50)
    del one
    del two
    del three
    np.testing.assert_array_equal(read(path), DATA + 1)


WRITE_ROWS = """
import sys
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
path, first = sys.argv[1], int(sys.argv[2])
for value in range(1, 11):
    gdal.VSICurlClearCache()
    dataset = gdal.Open(path, gdal.GA_Update)
    dataset.GetRasterBand(1).WriteArray(np.full((20, 100), value, "u2"), 0, first)
    del dataset
    gdal.VSICurlClearCache()
    dataset = gdal.Open(path)
    got = dataset.GetRasterBand(1).ReadAsArray(0, first, 100, 20)
    del dataset
    assert (got == value).all(), (first, value, np.unique(got))
"""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_of_many_processes(checking_bucket, layout):
    """Each finds what it has written, again and again."""
    path = f"{checking_bucket}.zarr"
    new_raster(path, layout, DATA)
    writers = [subprocess.Popen([sys.executable, "-c", WRITE_ROWS, path, str(first)])
               for first in (0, 20, 40, 60)]
    assert [writer.wait(240) for writer in writers] == [0] * 4
    np.testing.assert_array_equal(read(path), np.full_like(DATA, 10))


# --- All servers ---------------------------------------------------------------------------------

@pytest.mark.parametrize("layout", LAYOUTS)
def test_chunk_that_becomes_empty(bucket, layout):
    """It is removed only if it is as it was read."""
    if bucket.startswith("/vsiaz/") and not puts_under_conditions(bucket):
        pytest.skip("versions of values are unknown")
    path = f"{bucket}.zarr"
    data = DATA.copy()
    data[:40] = 0
    new_raster(path, layout, data)
    one, two = (gdal.Open(path, gdal.GA_Update) for _ in range(2))
    one.GetRasterBand(1).WriteArray(np.zeros_like(DATA[40:]), 0, 40)
    two.GetRasterBand(1).WriteArray(DATA[:40])
    del two
    del one
    want = DATA.copy()
    want[40:] = 0
    np.testing.assert_array_equal(read(path), want)
    dataset = gdal.Open(path, gdal.GA_Update)
    dataset.GetRasterBand(1).WriteArray(np.zeros_like(DATA[:40]))
    del dataset
    assert not any("/c/" in key for key in keys(path))


@pytest.mark.skipif(not SENDS_CONDITIONS, reason="GDAL sends no conditions before 3.10")
@pytest.mark.parametrize("status", [412, 501])
def test_refused_conditions(proxy, status):
    """A server that refuses them gets the put without, and there is a warning."""
    def fail(method, _path):
        _, _, headers = proxy.requests[-1]
        is_condition = {name.lower() for name in headers} & {"if-match", "if-none-match"}
        return status if method == "PUT" and is_condition else None

    new_raster(proxy.path, "chunks", DATA)
    proxy.fail = fail
    dataset = gdal.Open(proxy.path, gdal.GA_Update)
    dataset.GetRasterBand(1).WriteArray(DATA[:30] + 1)
    proxy.requests.clear()
    assert len(warnings_of(dataset.FlushCache)) == 1
    assert proxy.count("PUT", "/c/0/0") == 2
    del dataset
    want = DATA.copy()
    want[:30] += 1
    np.testing.assert_array_equal(read(proxy.path), want)


@pytest.mark.skipif(not SENDS_CONDITIONS, reason="GDAL sends no conditions before 3.10")
@pytest.mark.parametrize("is_per_path", [False, True], ids=["program", "path"])
def test_own_headers(proxy, is_per_path):
    """They are sent together with conditions. Headers that are set for a path leave no room."""
    new_raster(proxy.path, "chunks", DATA)
    header = 'X-Own: a,"X-Other: b, \\"c\\""'
    if is_per_path:
        gdal.SetPathSpecificOption(proxy.path, "GDAL_HTTP_HEADERS", header)
    else:
        gdal.SetConfigOption("GDAL_HTTP_HEADERS", header)
    try:
        dataset = gdal.Open(proxy.path, gdal.GA_Update)
        dataset.GetRasterBand(1).WriteArray(DATA[:30] + 1)
        proxy.requests.clear()
        del dataset
    finally:
        gdal.SetConfigOption("GDAL_HTTP_HEADERS", None)
        gdal.SetPathSpecificOption(proxy.path, "GDAL_HTTP_HEADERS", None)
    puts = [{name.lower(): value for name, value in headers.items()}
            for method, path, headers in proxy.requests if method == "PUT" and "/c/0/0" in path]
    assert len(puts) == 1
    assert (puts[0]["x-own"], puts[0]["x-other"]) == ("a", 'b, "c"')
    assert ("if-match" in puts[0]) == (not is_per_path)
