"""Writing to object stores: what one process writes, another one and zarr-python read; failed
uploads are errors, and no incomplete store is treated as complete."""
import json
import os
import re
import subprocess
import sys
from pathlib import PurePosixPath

import numpy as np
import pytest
import zarr
from multidim import create, create_array, open_root, open_to_write
from object_stores import keys, puts_under_conditions
from osgeo import gdal
from test_write_faults import errors

DATA = np.random.default_rng(8).integers(1, 60000, (80, 100), "u2")
SHARDS = ["FORMAT=ZARR_V3", "BLOCKSIZE=32,32", "SHARD_CHUNK_SHAPE=16,16", "COMPRESS=ZSTD"]
GDAL_MINOR = int(gdal.VersionInfo()) // 10000
NEW_PROCESS = """
import sys
from osgeo import gdal
gdal.UseExceptions()
sys.stdout.buffer.write(gdal.Open(sys.argv[1]).ReadAsArray().tobytes())
"""


@pytest.fixture(autouse=True)
def retries(monkeypatch):
    """s3rver fails now and then when it removes several keys at once."""
    monkeypatch.setenv("GDAL_HTTP_MAX_RETRY", "3")
    monkeypatch.setenv("GDAL_HTTP_RETRY_DELAY", "0.01")


def download(path, folder):
    """For zarr-python."""
    for key in keys(path):
        file = gdal.VSIFOpenL(f"{path}/{key}", "rb")
        gdal.VSIFSeekL(file, 0, 2)
        size = gdal.VSIFTellL(file)
        gdal.VSIFSeekL(file, 0, 0)
        copy = folder / PurePosixPath(key)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(gdal.VSIFReadL(1, size, file) if size else b"")
        gdal.VSIFCloseL(file)
    return folder


def read_by_another_process(path, shape=DATA.shape):
    done = subprocess.run([sys.executable, "-c", NEW_PROCESS, path], stdout=subprocess.PIPE,
                          check=True)
    return np.frombuffer(done.stdout, DATA.dtype).reshape(shape)


def assert_stored(path, want):
    gdal.VSICurlClearCache()
    np.testing.assert_array_equal(gdal.Open(path).ReadAsArray(), want)
    np.testing.assert_array_equal(read_by_another_process(path, want.shape), want)


def new_raster(path, options, shape=DATA.shape):
    return gdal.GetDriverByName("Zarr").Create(
        path, shape[1], shape[0], 1, gdal.GDT_UInt16, options)


# --- All values ----------------------------------------------------------------------------------

def test_other_programs(bucket, tmp_path):
    path = f"{bucket}.zarr"
    new_raster(path, ["FORMAT=ZARR_V2", "BLOCKSIZE=32,32"]).WriteArray(DATA)
    assert_stored(path, DATA)
    array = zarr.open_array(str(download(path, tmp_path / "a") / array_name(path)), mode="r")
    np.testing.assert_array_equal(array[:], DATA)
    document = json.loads((tmp_path / "a/.zmetadata").read_text())
    name = array_name(path)
    assert document["metadata"][f"{name}/.zarray"] == \
        json.loads((tmp_path / "a" / name / ".zarray").read_text())


def array_name(path):
    names = [key.rpartition("/")[0] for key in keys(path) if key.endswith("/.zarray")]
    assert len(names) == 1
    return names[0]


def test_parts_of_shards(bucket):
    """By several processes, one after the other."""
    path = f"{bucket}.zarr"
    empty = new_raster(path, SHARDS)
    del empty
    want = np.zeros_like(DATA)
    for row, column in [(0, 0), (10, 20), (40, 60), (30, 30)]:
        gdal.VSICurlClearCache()
        dataset = gdal.Open(path, gdal.GA_Update)
        part = np.ascontiguousarray(DATA[row : row + 25, column : column + 25])
        dataset.GetRasterBand(1).WriteArray(part, column, row)
        del dataset
        want[row : row + 25, column : column + 25] = part
        assert_stored(path, want)


def test_append(bucket):
    path = f"{bucket}.zarr"
    for name, data in (("one", DATA), ("two", DATA + 1)):
        options = ["FORMAT=ZARR_V3", f"ARRAY_NAME={name}"]
        options += ["APPEND_SUBDATASET=YES"] if name == "two" else []
        new_raster(path, options).WriteArray(data)
        gdal.VSICurlClearCache()
    for name, data in (("one", DATA), ("two", DATA + 1)):
        assert_stored(f'ZARR:"{path}":/{name}', data)
    root = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert {"one", "two"} <= set(root.GetMDArrayNames())


@pytest.mark.skipif(GDAL_MINOR < 307, reason="arrays are resized since GDAL 3.7")
@pytest.mark.parametrize("options", [["BLOCKSIZE=32,32"], SHARDS[1:]], ids=["chunks", "shards"])
@pytest.mark.parametrize("shape", [(130, 100), (33, 50)], ids=["grow", "shrink"])
def test_resize(bucket, options, shape):
    path = f"{bucket}.zarr"
    dataset = create(path, "FORMAT=ZARR_V3")
    create_array(dataset.GetRootGroup(), "a", DATA.shape, gdal.GDT_UInt16, *options).Write(DATA)
    del dataset
    gdal.VSICurlClearCache()
    dataset = open_to_write(path)
    array = dataset.GetRootGroup().OpenMDArray("a")
    assert array.Resize(list(shape)) == gdal.CE_None
    del array, dataset
    want = np.zeros(shape, "u2")
    rows, columns = min(80, shape[0]), min(100, shape[1])
    want[:rows, :columns] = DATA[:rows, :columns]
    gdal.VSICurlClearCache()
    np.testing.assert_array_equal(open_root(path).OpenMDArray("a").ReadAsArray(), want)
    assert_stored(f'ZARR:"{path}":/a', want)


def test_delete(bucket):
    """By the process that made the store, which has listed the folder around it before."""
    path = f"{bucket}.zarr"
    gdal.ReadDir(os.path.dirname(path))
    new_raster(path, SHARDS).WriteArray(DATA)
    assert gdal.GetDriverByName("Zarr").Delete(path) == gdal.CE_None
    assert keys(path) == []


# --- Failures ------------------------------------------------------------------------------------

# Which uploads fail.
FAILURES = {
    "chunk": lambda method, path: 500 if method == "PUT" and "/c/1/1" in path else None,
    "last chunk": lambda method, path: 403 if method == "PUT" and "/c/2/3" in path else None,
    "document": lambda method, path: 500 if method == "PUT" and "zarr.json" in path else None,
    "everything": lambda method, path: 503 if method == "PUT" else None,
}


@pytest.mark.parametrize("failure", FAILURES)
def test_failed_translate(proxy, tmp_path, failure):
    source = tmp_path / "a.tif"
    gdal.GetDriverByName("GTiff").Create(str(source), 100, 80, 1, gdal.GDT_UInt16).WriteArray(DATA)
    proxy.fail = FAILURES[failure]
    done = subprocess.run(["gdal_translate", "-q", "-of", "Zarr", "-co", "FORMAT=ZARR_V3",
                           "-co", "BLOCKSIZE=32,32", source, proxy.path],
                          capture_output=True, text=True)
    assert done.returncode != 0
    assert "ERROR" in done.stderr and proxy.path in done.stderr
    if "chunk" in failure:
        assert "/c/" in done.stderr
    proxy.fail = lambda method, path: None
    assert keys(proxy.path) == []


@pytest.mark.parametrize("failure", ["chunk", "everything"])
@pytest.mark.parametrize("call", ["write", "flush", "close"])
def test_failed_update(proxy, failure, call):
    """The call that uploads reports the failure. What was stored before stays."""
    new_raster(proxy.path, ["FORMAT=ZARR_V3", "BLOCKSIZE=32,32"]).WriteArray(DATA)
    gdal.VSICurlClearCache()
    dataset = gdal.Open(proxy.path, gdal.GA_Update)
    proxy.fail = FAILURES[failure]
    with errors() as messages:
        band = dataset.GetRasterBand(1)
        if call == "write":
            band.WriteArray(DATA[32:64, 32:64] + 1, 32, 32)
            dataset.FlushCache()
        else:
            band.WriteArray(DATA[40:50, 40:50] + 1, 40, 40)
        if call == "flush":
            dataset.FlushCache()
        if call != "close":
            assert messages
        del band, dataset
    assert messages and any("/c/1/1" in text for text in messages)
    proxy.fail = lambda method, path: None
    assert_stored(proxy.path, DATA)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_retries(proxy, status):
    """The first upload of each key fails."""
    failed = set()

    def fail(method, path):
        if method != "PUT" or path in failed:
            return None
        failed.add(path)
        return status

    proxy.fail = fail
    new_raster(proxy.path, SHARDS).WriteArray(DATA)
    assert len(failed) > 12
    assert_stored(proxy.path, DATA)


BIG = np.random.default_rng(9).integers(1, 60000, (2400, 2800), "u2")  # 13 MB
BIG_CHUNK = ["FORMAT=ZARR_V3", "BLOCKSIZE=2400,2800", "COMPRESS=NONE"]


def test_multipart(proxy, monkeypatch):
    """Values that are larger than a part are uploaded in parts."""
    monkeypatch.setenv("VSIS3_CHUNK_SIZE", "5")
    new_raster(proxy.path, BIG_CHUNK, BIG.shape).WriteArray(BIG)
    assert proxy.count("PUT", "partNumber=3") == 1
    assert_stored(proxy.path, BIG)


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "replaced"])
@pytest.mark.parametrize(("failing", "status"), [
    ("partNumber=2", 500), ("uploadId", 500), ("uploadId", 200)])
def test_failed_multipart(proxy, monkeypatch, failing, status, is_new):
    """A failed part, and a failed completion, which S3 may report with the status 200. The old
    value stays."""
    monkeypatch.setenv("VSIS3_CHUNK_SIZE", "5")
    dataset = new_raster(proxy.path, BIG_CHUNK, BIG.shape)
    if not is_new:
        dataset.WriteArray(BIG)
        dataset.FlushCache()
    method = "PUT" if failing == "partNumber=2" else "POST"
    proxy.fail = lambda asked, path: status if asked == method and failing in path else None
    with errors() as messages:
        dataset.GetRasterBand(1).WriteArray(BIG + 1)
        del dataset
    assert any("/c/0/0" in text for text in messages)
    if method == "PUT":
        assert proxy.count("DELETE", "uploadId")
    proxy.fail = lambda method, path: None
    if is_new:
        assert not any("/c/" in key for key in keys(proxy.path))
    else:
        assert_stored(proxy.path, BIG)


def test_same_value_in_parts(proxy, monkeypatch):
    """It has the same ETag as before, like an upload that is not completed."""
    monkeypatch.setenv("VSIS3_CHUNK_SIZE", "5")
    dataset = new_raster(proxy.path, BIG_CHUNK, BIG.shape)
    for _ in range(2):
        dataset.WriteArray(BIG)
        dataset.FlushCache()
    del dataset
    assert_stored(proxy.path, BIG)


@pytest.mark.skipif(GDAL_MINOR < 310, reason="GDAL before 3.10 appends to an empty object")
@pytest.mark.parametrize("failing", ["block", "blocklist"])
def test_failed_blocks(azure_proxy, failing):
    """Values of more than 4 MB in Azure replace the old ones at once."""
    path = azure_proxy.path
    dataset = new_raster(path, BIG_CHUNK, BIG.shape)
    dataset.WriteArray(BIG)
    dataset.FlushCache()
    assert azure_proxy.count("PUT", "comp=blocklist") == 1
    pattern = re.compile(f"comp={failing}(&|$)")
    azure_proxy.fail = lambda method, asked: \
        500 if method == "PUT" and pattern.search(asked) else None
    with errors() as messages:
        dataset.GetRasterBand(1).WriteArray(BIG + 1)
        del dataset
    assert any("/c/0/0" in text for text in messages)
    azure_proxy.fail = lambda method, path: None
    assert_stored(path, BIG)


# --- Several writers -----------------------------------------------------------------------------

WRITE_ALL = """
import sys
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
for _ in range(5):
    gdal.VSICurlClearCache()
    dataset = gdal.Open(sys.argv[1], gdal.GA_Update)
    dataset.WriteArray(np.full((80, 100), int(sys.argv[2]), "u2"))
    del dataset
"""


def test_two_writers_of_whole_chunks(bucket):
    """The last one wins: each chunk is that of one writer."""
    path = f"{bucket}.zarr"
    new_raster(path, ["FORMAT=ZARR_V3", "BLOCKSIZE=32,32"]).WriteArray(DATA)
    writers = [subprocess.Popen([sys.executable, "-c", WRITE_ALL, path, value])
               for value in ("7", "9")]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    gdal.VSICurlClearCache()
    got = gdal.Open(path).ReadAsArray()
    for row in range(0, 80, 32):
        for column in range(0, 100, 32):
            assert np.unique(got[row : row + 32, column : column + 32]).tolist() in ([7], [9])


def write_part(dataset, *arguments):
    """Writes to the store at once; returns the warnings."""
    warnings = []
    gdal.PushErrorHandler(
        lambda level, _, text: level == gdal.CE_Warning and warnings.append(text))
    dataset.GetRasterBand(1).WriteArray(*arguments)
    dataset.FlushCache()
    gdal.PopErrorHandler()
    return [text for text in warnings if "LOCKS" in text]


@pytest.mark.parametrize("has_locks", [False, True])
def test_warning_of_lost_elements(bucket, tmp_path, has_locks):
    """Once for each dataset, for parts of chunks and shards that no lock protects."""
    for name, options in (("a", ["FORMAT=ZARR_V3", "BLOCKSIZE=32,32"]), ("b", SHARDS)):
        path = f"{bucket}_{name}.zarr"
        new_raster(path, options).WriteArray(DATA)
        gdal.VSICurlClearCache()
        options = [f"LOCKS={tmp_path / 'locks'}"] if has_locks else []
        dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE, open_options=options)
        assert write_part(dataset, DATA[:64, :64], 0, 0) == []
        warnings = write_part(dataset, DATA[:10, :10], 5, 5)
        is_safe = has_locks or puts_under_conditions(path)
        assert len(warnings) == (0 if is_safe else 1)
        assert all(path in text for text in warnings)
        assert write_part(dataset, DATA[:10, :10], 50, 50) == []


@pytest.mark.parametrize("has_locks", [False, True])
def test_two_writers_of_parts(bucket, tmp_path, has_locks):
    """Each part is as one writer left it. Locks keep both."""
    path = f"{bucket}.zarr"
    new_raster(path, ["FORMAT=ZARR_V3", "BLOCKSIZE=100,80"]).WriteArray(DATA)
    gdal.VSICurlClearCache()
    options = [f"LOCKS={tmp_path / 'locks'}"] if has_locks else []
    one, two = (gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE, open_options=options)
                for _ in range(2))
    one.GetRasterBand(1).WriteArray(DATA[:40] + 1)
    two.GetRasterBand(1).WriteArray(DATA[40:] + 1, 0, 40)
    del one
    del two
    gdal.VSICurlClearCache()
    got = gdal.Open(path).ReadAsArray()
    np.testing.assert_array_equal(got[40:], DATA[40:] + 1)
    if has_locks or puts_under_conditions(path):
        np.testing.assert_array_equal(got[:40], DATA[:40] + 1)
    else:
        assert np.unique(got[:40].astype("i4") - DATA[:40]).tolist() in ([0], [1])
