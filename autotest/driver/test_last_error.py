"""GDAL's last error after a call that failed: the first one of the call, whatever the call has done
since, such as removing what it had made. Programs that turn errors into exceptions look at nothing
else."""
from contextlib import contextmanager

import numpy as np
import pytest
from classic import write_tiff
from osgeo import gdal, osr

DATA = np.random.default_rng(12).integers(0, 60_000, (3, 300, 400)).astype("u2")
OBJECTS = "/vsis3/bucket/a.zarr"
CHUNKS = ["FORMAT=ZARR_V3", "BLOCKSIZE=64,64", "SINGLE_ARRAY=NO"]


def driver():
    return gdal.GetDriverByName("Zarr")


@pytest.fixture
def source(tmp_path):
    return write_tiff(tmp_path / "a.tif", DATA)


def refuses(method, part):
    """The server does not take requests of this kind."""
    return lambda asked, path: 503 if asked == method and part in path else None


def copy_raster(server, source):
    server.fail = refuses("PUT", "/c/")
    driver().CreateCopy(OBJECTS, gdal.Open(str(source)), options=CHUNKS)


def copy_group(server, source):
    driver().CreateCopy(f"{source}.zarr", gdal.Open(str(source)), options=CHUNKS)
    group = gdal.OpenEx(f"{source}.zarr", gdal.OF_MULTIDIM_RASTER)
    server.fail = refuses("PUT", "/c/")
    driver().CreateCopy(OBJECTS, group, options=CHUNKS[:1])


def create(server, _source):
    server.fail = refuses("PUT", "zarr.json")
    driver().Create(OBJECTS, 400, 300, 1, gdal.GDT_UInt16, CHUNKS)


def write(server, _source):
    dataset = driver().Create(OBJECTS, 400, 300, 1, gdal.GDT_UInt16, CHUNKS)
    dataset.GetRasterBand(1).WriteArray(DATA[0, :50, :50])
    server.fail = refuses("PUT", "/c/")
    return dataset


def write_and_flush(server, source):
    dataset = write(server, source)
    dataset.FlushCache()
    return dataset


def write_and_close(server, source):
    dataset = write(server, source)
    del dataset


def write_group_and_close(server, _source):
    dataset = driver().CreateMultiDimensional(OBJECTS, [], CHUNKS[:1])
    root = dataset.GetRootGroup()
    x = root.CreateDimension("x", None, None, 3)
    array = root.CreateMDArray("a", [x], gdal.ExtendedDataType.Create(gdal.GDT_Byte))
    array.Write(b"ab", [0], [2])  # a part of the chunk, which waits for the end
    server.fail = refuses("PUT", "/c/")
    del x, root, array, dataset


def create_group(server, _source):
    server.fail = refuses("PUT", "zarr.json")
    driver().CreateMultiDimensional(OBJECTS, [], CHUNKS[:1])


def build_overviews(server, _source):
    dataset = driver().Create(OBJECTS, 400, 300, 1, gdal.GDT_UInt16, CHUNKS)
    dataset.GetRasterBand(1).WriteArray(DATA[0])
    dataset.FlushCache()
    server.fail = refuses("PUT", "/c/")
    dataset.BuildOverviews("NEAREST", [2])
    return dataset


def delete(server, _source):
    driver().Create(OBJECTS, 400, 300, 1, gdal.GDT_UInt16, CHUNKS)
    gdal.VSICurlClearCache()
    server.fail = lambda method, path: 503 if method in ("POST", "DELETE") else None
    driver().Delete(OBJECTS)


def rename(server, _source):
    driver().Create(OBJECTS, 400, 300, 1, gdal.GDT_UInt16, CHUNKS)
    gdal.VSICurlClearCache()
    server.fail = refuses("PUT", "b.zarr")
    driver().Rename("/vsis3/bucket/b.zarr", OBJECTS)


@contextmanager
def without_exceptions():
    """In the order in which GDAL 3.6 can undo it."""
    for module in (osr, gdal):
        module.DontUseExceptions()
    try:
        yield
    finally:
        for module in (gdal, osr):
            module.UseExceptions()


@pytest.mark.parametrize("act", [
    copy_raster, copy_group, create, write_and_flush, write_and_close, write_group_and_close,
    create_group, build_overviews, delete, rename], ids=lambda act: act.__name__)
def test_last_error(server, source, act):
    failures = []
    with without_exceptions():
        gdal.PushErrorHandler(
            lambda level, _, text: level == gdal.CE_Failure and failures.append(text))
        kept = act(server, source)
        level, text = gdal.GetLastErrorType(), gdal.GetLastErrorMsg()
        del kept
        gdal.PopErrorHandler()
    own = [failure for failure in failures if failure.startswith("Zarr: ")]
    assert own and "/vsis3/bucket/" in own[0]
    assert (level, text) == (gdal.CE_Failure, own[0])


@pytest.mark.parametrize("act", [copy_raster, copy_group, create, create_group],
                         ids=lambda act: act.__name__)
def test_failures_are_exceptions(server, source, act):
    with pytest.raises(RuntimeError, match="a.zarr"):
        act(server, source)
