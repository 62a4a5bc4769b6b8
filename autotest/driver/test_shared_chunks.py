"""Processes, handles and threads that write different elements of the same chunks and shards."""
import multiprocessing
import subprocess
import sys
import threading

import numpy as np
import pytest
import rasterio
from night import each_value
from osgeo import gdal
from rasterio.windows import Window

SIZE = 96
LAYOUTS = {
    "chunks": ["BLOCKSIZE=64,64"],
    "compressed": ["FORMAT=ZARR_V3", "BLOCKSIZE=64,64", "COMPRESS=ZSTD"],
    "one chunk": ["BLOCKSIZE=96,96", "COMPRESS=BLOSC"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=64,64", "SHARD_CHUNK_SHAPE=16,16"],
    "large inner chunks": ["FORMAT=ZARR_V3", "BLOCKSIZE=64,64", "SHARD_CHUNK_SHAPE=32,32",
                           "COMPRESS=GZIP"],
}
# 64 windows of 12 × 12 pixels, which are not aligned to chunks.
WINDOW = 12
CORNERS = [(y, x) for y in range(0, SIZE, WINDOW) for x in range(0, SIZE, WINDOW)]

PROCESSES = 4


@pytest.fixture(params=LAYOUTS)
def store(request, tmp_path):
    path = str(tmp_path / "a.zarr")
    gdal.GetDriverByName("Zarr").Create(path, SIZE, SIZE, 1, gdal.GDT_UInt16,
                                        LAYOUTS[request.param])
    return path


def value_of(y, x):
    return 1 + CORNERS.index((y, x))


def expected():
    want = np.zeros((SIZE, SIZE), np.uint16)
    for y, x in CORNERS:
        want[y:y + WINDOW, x:x + WINDOW] = value_of(y, x)
    return want


def block(y, x):
    return np.full((WINDOW, WINDOW), value_of(y, x), np.uint16)


# Each writes one window through a handle of its own, as tasks of dask do.
def by_rasterio(path, y, x):
    with rasterio.open(path, "r+") as dataset:
        dataset.write(block(y, x), 1, window=Window(x, y, WINDOW, WINDOW))


def by_gdal(path, y, x):
    dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.GetRasterBand(1).WriteArray(block(y, x), x, y)
    assert dataset.FlushCache() in (None, gdal.CE_None)


def resampled(path, y, x):
    dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.GetRasterBand(1).WriteRaster(x, y, WINDOW, WINDOW, block(y, x)[:3, :4].tobytes(),
                                         buf_xsize=4, buf_ysize=3)


def by_multidim(path, y, x):
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    array = dataset.GetRootGroup().OpenMDArray("a")
    array.Write(block(y, x).tobytes(), array_start_idx=[y, x], count=[WINDOW, WINDOW])
    del array


WRITERS = {writer.__name__: writer for writer in (by_rasterio, by_gdal, resampled, by_multidim)}


def write_corners(name, path, corners, barrier):
    gdal.UseExceptions()
    barrier.wait()
    for y, x in corners:
        WRITERS[name](path, y, x)


# Starting a process takes longer than all its writes.
@each_value()
@pytest.mark.parametrize("writer", WRITERS)
def test_processes_lose_nothing(store, writer):
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(PROCESSES)
    processes = [context.Process(target=write_corners,
                                 args=(writer, store, CORNERS[i::PROCESSES], barrier))
                 for i in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    np.testing.assert_array_equal(gdal.Open(store).ReadAsArray(), expected())


def test_threads_with_datasets_of_their_own_lose_nothing(store):
    errors = []

    def write(corners):
        try:
            for y, x in corners:
                by_gdal(store, y, x)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(CORNERS[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    np.testing.assert_array_equal(gdal.Open(store).ReadAsArray(), expected())


def test_handles_that_stay_open_lose_nothing(store):
    handles = [gdal.OpenEx(store, gdal.OF_RASTER | gdal.OF_UPDATE) for _ in range(3)]
    for i, (y, x) in enumerate(CORNERS):
        handles[i % 3].GetRasterBand(1).WriteArray(block(y, x), x, y)
    for i in (1, 0, 2):
        handles[i].FlushCache()
    np.testing.assert_array_equal(gdal.Open(store).ReadAsArray(), expected())


# A handle does not undo what the other has written, because of what it read before.
def test_a_whole_chunk_survives_a_part_that_was_begun_before(store):
    part, whole = (gdal.OpenEx(store, gdal.OF_RASTER | gdal.OF_UPDATE) for _ in range(2))
    part.GetRasterBand(1).WriteArray(np.full((1, 3), 9, np.uint16), 5, 5)
    whole.GetRasterBand(1).WriteArray(np.full((SIZE, SIZE), 7, np.uint16))
    whole.FlushCache()
    part.FlushCache()
    want = np.full((SIZE, SIZE), 7, np.uint16)
    want[5, 5:8] = 9
    np.testing.assert_array_equal(gdal.Open(store).ReadAsArray(), want)


def test_a_part_of_an_inner_chunk_that_another_writer_has_put_meanwhile(tmp_path):
    path = str(tmp_path / "a.zarr")
    gdal.GetDriverByName("Zarr").Create(path, SIZE, SIZE, 1, gdal.GDT_UInt16, LAYOUTS["shards"])
    part, whole = (gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE) for _ in range(2))
    part.GetRasterBand(1).WriteArray(np.full((1, 3), 9, np.uint16), 0, 0)
    whole.GetRasterBand(1).WriteArray(np.full((16, 16), 7, np.uint16), 16, 16)
    whole.FlushCache()
    part.GetRasterBand(1).WriteArray(np.full((1, 3), 9, np.uint16), 20, 20)
    want = np.zeros((SIZE, SIZE), np.uint16)
    want[16:32, 16:32] = 7
    want[0, 0:3] = want[20, 20:23] = 9
    np.testing.assert_array_equal(part.ReadAsArray(), want)
    part.FlushCache()
    np.testing.assert_array_equal(gdal.Open(path).ReadAsArray(), want)


def test_chunks_that_become_the_fill_value_do_not_take_others_with_them(store):
    dataset = gdal.OpenEx(store, gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.GetRasterBand(1).WriteArray(np.full((SIZE, SIZE), 0, np.uint16))
    dataset.GetRasterBand(1).WriteArray(np.full((WINDOW, WINDOW), 3, np.uint16))
    dataset.FlushCache()
    erasing, writing = (gdal.OpenEx(store, gdal.OF_RASTER | gdal.OF_UPDATE) for _ in range(2))
    erasing.GetRasterBand(1).WriteArray(np.zeros((WINDOW, WINDOW), np.uint16))
    writing.GetRasterBand(1).WriteArray(np.full((1, 1), 4, np.uint16), 20, 20)
    writing.FlushCache()
    erasing.FlushCache()
    want = np.zeros((SIZE, SIZE), np.uint16)
    want[20, 20] = 4
    np.testing.assert_array_equal(gdal.Open(store).ReadAsArray(), want)


SCALES = [(96, 96, 32, 48), (7, 5, 20, 31), (50, 3, 1, 1), (61, 47, 60, 46)]


# GDAL's way through the block cache would put whole blocks; ours gives the same pixels.
@each_value()
@pytest.mark.parametrize("columns, rows, buffer_columns, buffer_rows", SCALES)
def test_a_resampled_write_is_that_of_gdal(store, columns, rows, buffer_columns, buffer_rows):
    pixels = np.random.default_rng(5).integers(1, 60000, (buffer_rows, buffer_columns), np.uint16)
    plain = gdal.GetDriverByName("MEM").Create("", SIZE, SIZE, 1, gdal.GDT_UInt16)
    dataset = gdal.OpenEx(store, gdal.OF_RASTER | gdal.OF_UPDATE)
    for target in (plain, dataset):
        target.GetRasterBand(1).WriteRaster(SIZE - columns, SIZE - rows, columns, rows,
                                            pixels.tobytes(), buf_xsize=buffer_columns,
                                            buf_ysize=buffer_rows)
    dataset.FlushCache()
    np.testing.assert_array_equal(gdal.Open(store).ReadAsArray(), plain.ReadAsArray())


def test_files_that_are_open_stay_few(tmp_path):
    path = str(tmp_path / "a.zarr")
    gdal.GetDriverByName("Zarr").Create(path, 400, 400, 1, gdal.GDT_Byte,
                                        ["FORMAT=ZARR_V3", "BLOCKSIZE=10,10"])
    program = f"""
import resource
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
for value in 1, 2:
    dataset = gdal.OpenEx({path!r}, gdal.OF_RASTER | gdal.OF_UPDATE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
    for x in range(0, 400, 10):  # of every chunk one column
        dataset.GetRasterBand(1).WriteArray(np.full((400, 1), value, np.uint8), x, 0)
    dataset.FlushCache()
    dataset = None
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert (gdal.Open(path).ReadAsArray()[:, ::10] == 2).all()
