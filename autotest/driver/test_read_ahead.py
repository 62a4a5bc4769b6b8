"""Programs that read window by window, while the next chunks are prefetched."""
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from multidim import create, create_array
from night import each_value, rounds
from osgeo import gdal
from test_forks import in_child
from webserver import serve

DATA = np.random.default_rng(4).integers(0, 1 << 12, (300, 500), "u2")
BLOCK = 50
LAYOUTS = {
    "v2": ["COMPRESS=ZLIB", f"BLOCKSIZE={BLOCK},{BLOCK}"],
    "v3": ["FORMAT=ZARR_V3", "COMPRESS=ZSTD", f"BLOCKSIZE={BLOCK},{BLOCK}"],
    "shards": ["FORMAT=ZARR_V3", "COMPRESS=ZSTD", "BLOCKSIZE=100,250", "SHARD_CHUNK_SHAPE=50,50"],
}
ROUNDS = int(os.environ.get("ZARR_FAULT_ROUNDS", rounds(4, 200)))
WINDOWS = [(x, y, BLOCK, BLOCK) for y in range(0, DATA.shape[0], BLOCK)
           for x in range(0, DATA.shape[1], BLOCK)]


@pytest.fixture(params=LAYOUTS)
def path(request, tmp_path):
    options = LAYOUTS[request.param]
    path = tmp_path / "a.zarr"
    root = create(path, *options).GetRootGroup()
    create_array(root, "a", DATA.shape, gdal.GDT_UInt16, *options).Write(DATA)
    return path


@pytest.fixture(params=["YES", "NO"], autouse=True)
def read_ahead(request):
    gdal.UseExceptions()
    options = {"ZARR_READ_AHEAD": request.param, "GDAL_NUM_THREADS": "3"}
    for name, value in options.items():
        gdal.SetConfigOption(name, value)
    yield request.param
    for name in options:
        gdal.SetConfigOption(name, None)


def window(data, x, y, columns, rows):
    return data[y:y + rows, x:x + columns]


@pytest.mark.parametrize("order", [1, -1])
def test_blocks_one_by_one(path, order):
    dataset = gdal.Open(str(path))
    for place in WINDOWS[::order]:
        np.testing.assert_array_equal(dataset.ReadAsArray(*place), window(DATA, *place))


def test_bands_of_other_types(path):
    dataset = gdal.Open(str(path))
    band = dataset.GetRasterBand(1)
    for place in WINDOWS:
        values = band.ReadAsArray(*place, buf_type=gdal.GDT_Float64)
        np.testing.assert_array_equal(values, window(DATA, *place))


def test_overlapping_windows(path):
    dataset = gdal.Open(str(path))
    for y in range(0, 240, 40):
        for x in range(0, 440, 30):
            place = x, y, 60, 60
            np.testing.assert_array_equal(dataset.ReadAsArray(*place), window(DATA, *place))


def test_a_program_that_announces_the_image(tmp_path):
    """AdviseRead() of a large image reads it in pieces; see test_advise_read.py for others."""
    data = np.tile(DATA, (10, 6))
    path = tmp_path / "a.zarr"
    root = create(path, "FORMAT=ZARR_V3").GetRootGroup()
    create_array(root, "a", data.shape, gdal.GDT_UInt16, "BLOCKSIZE=400,300").Write(data)
    del root
    dataset = gdal.Open(str(path))
    assert dataset.AdviseRead(0, 0, 3000, 3000) == gdal.CE_None
    for y in range(0, 3000, 600):
        for x in range(0, 3000, 1500):
            values = dataset.ReadAsArray(x, y, 1500, 600)
            np.testing.assert_array_equal(values, data[y:y + 600, x:x + 1500])


def test_programs(path, tmp_path):
    translated = gdal.Translate(str(tmp_path / "a.tif"), str(path), creationOptions=["TILED=YES"])
    np.testing.assert_array_equal(translated.ReadAsArray(), DATA)
    dataset = gdal.Open(str(path))
    assert dataset.GetRasterBand(1).ComputeStatistics(False)[2] == pytest.approx(DATA.mean())
    warped = []
    for source in (path, tmp_path / "a.tif"):
        placed = gdal.Translate(str(tmp_path / "a.vrt"), str(source), format="VRT",
                                outputSRS="EPSG:32632", outputBounds=[500000, 300, 500500, 0])
        warped.append(gdal.Warp("", placed, format="MEM", dstSRS="EPSG:32633",
                                resampleAlg="bilinear", warpMemoryLimit=0.2).ReadAsArray())
    assert warped[0].any()
    np.testing.assert_array_equal(*warped)


def test_written_chunks_are_read(path):
    """By the same dataset, which reads on."""
    dataset = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)
    expected = DATA.copy()
    for i, place in enumerate(WINDOWS):
        np.testing.assert_array_equal(dataset.ReadAsArray(*place), window(expected, *place))
        x, y, columns, rows = WINDOWS[min(i + 2, len(WINDOWS) - 1)]
        values = np.full((rows, columns), i, "u2")
        dataset.GetRasterBand(1).WriteArray(values, x, y)
        window(expected, x, y, columns, rows)[:] = values


def test_chunks_that_other_processes_write_are_read(path):
    dataset = gdal.Open(str(path))
    other = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)
    expected = DATA.copy()
    for i, place in enumerate(WINDOWS):
        x, y, columns, rows = WINDOWS[min(i + 1, len(WINDOWS) - 1)]
        values = np.full((rows, columns), i, "u2")
        other.GetRasterBand(1).WriteArray(values, x, y)
        other.FlushCache()
        window(expected, x, y, columns, rows)[:] = values
        np.testing.assert_array_equal(dataset.ReadAsArray(*place), window(expected, *place))


EXITS = {
    "of Python": "sys.exit()",
    "with atexit": "import atexit; atexit.register(lambda: d.ReadAsArray(0, 50, 50, 50))",
    "of C": "import ctypes; ctypes.CDLL(None).exit(0)",
    "after the dataset": "del d",
    # Not through GDAL's bindings, which abort with any driver when Python ends a thread in them.
    "of daemon threads": """
import rasterio, threading, time, warnings
warnings.simplefilter("ignore")
def read(name=d.GetDescription()):
    while True:
        with rasterio.open(name) as raster: raster.read()
for _ in range(4): threading.Thread(target=read, daemon=True).start()
time.sleep(0.02 * int(sys.argv[1]))""",
}
if int(gdal.VersionInfo()) < 3100000:  # which crashes then, also without datasets
    EXITS["after GDAL"] = (
        "import ctypes; gdal.GDALDestroyDriverManager(); ctypes.CDLL(None).exit(0)")


@each_value()
@pytest.mark.parametrize("end", EXITS.values(), ids=EXITS)
def test_programs_that_end_in_the_middle(path, end, read_ahead):
    """They leave the dataset open."""
    code = f"""import sys
from osgeo import gdal
gdal.UseExceptions()
d = gdal.Open({str(path)!r})
for x in range(0, int(sys.argv[1]) * 50, 50): d.ReadAsArray(x, 0, 50, 50)
{end}
"""
    environment = os.environ | {"GDAL_NUM_THREADS": "3", "ZARR_READ_AHEAD": read_ahead}
    for i in range(ROUNDS if read_ahead == "YES" else 2):
        result = subprocess.run([sys.executable, "-c", code, str(2 + i % 8)], env=environment,
                                capture_output=True, text=True, timeout=60)
        assert (result.returncode, result.stderr) == (0, "")


def test_forks_in_the_middle(path):
    for first in range(2, len(WINDOWS), 9):
        dataset = gdal.Open(str(path))
        for place in WINDOWS[:first]:
            dataset.ReadAsArray(*place)

        def read_on(dataset=dataset, first=first):
            for place in WINDOWS[first:]:
                np.testing.assert_array_equal(dataset.ReadAsArray(*place), window(DATA, *place))

        in_child(read_on)
        read_on()


def test_threads(path):
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArray("a")
    failures = []

    def walk():
        for x, y, columns, rows in WINDOWS:
            values = array.ReadAsArray([y, x], [rows, columns])
            if not np.array_equal(values, window(DATA, x, y, columns, rows)):
                failures.append((x, y))

    threads = [threading.Thread(target=walk) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def chunk_requests(server):
    return [path for path, _ in server.requests if "zarr.json" not in path and "/.z" not in path]


@pytest.mark.parametrize("layout", ["v2", "v3"])
def test_a_server_is_asked_once_for_each_chunk(tmp_path, layout, read_ahead, monkeypatch):
    options = LAYOUTS[layout]
    root = create(tmp_path / "a.zarr", *options).GetRootGroup()
    create_array(root, "a", DATA.shape, gdal.GDT_UInt16, *options).Write(DATA)
    del root
    with serve(tmp_path, monkeypatch) as server:
        # The options of this thread hold for the requests of prefetching.
        gdal.SetThreadLocalConfigOption("GDAL_HTTP_HEADERS", "X-Reader: me")
        try:
            dataset = gdal.Open(f'ZARR:"/vsicurl/{server.url}/a.zarr":/a')
            server.requests.clear()
            for place in WINDOWS[:24]:
                np.testing.assert_array_equal(dataset.ReadAsArray(*place), window(DATA, *place))
            del dataset
        finally:
            gdal.SetThreadLocalConfigOption("GDAL_HTTP_HEADERS", None)
        requests = chunk_requests(server)
        assert len(requests) == len(set(requests))
        assert all(headers.get("X-Reader") == "me" for _, headers in server.requests)
        if read_ahead == "NO":
            assert len(requests) == 24
        else:
            assert 24 <= len(requests) <= 48


def test_a_damaged_chunk_is_an_error_where_it_is_read(tmp_path):
    options = LAYOUTS["v2"]
    path = tmp_path / "a.zarr"
    root = create(path, *options).GetRootGroup()
    create_array(root, "a", DATA.shape, gdal.GDT_UInt16, *options).Write(DATA)
    del root
    (path / "a/0.5").write_bytes(b"damaged")
    dataset = gdal.Open(str(path))
    for place in WINDOWS:
        if place[:2] == (250, 0):
            with pytest.raises(RuntimeError, match="chunk a/0.5"):
                dataset.ReadAsArray(*place)
        else:
            np.testing.assert_array_equal(dataset.ReadAsArray(*place), window(DATA, *place))
