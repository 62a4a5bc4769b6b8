"""Runs one row of program_rows.py that is a Python program, in a process of its own. Prints as JSON
the seconds, the processor's seconds, the peak of memory in MB, and a checksum of the values.

usage: program_probe.py CASE SOURCE TARGET SCALE    as programs.py calls it
"""
import json
import random
import re
import resource
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import program_stores
from array_stores import create_array
from program_rows import is_geotiff


def checksum_of(values, before=0):
    return zlib.crc32(np.ascontiguousarray(values), before)


# --- What must be imported before the clock starts ---------------------------------------------

def prepare_rasterio():
    import rasterio  # noqa: F401


def prepare_dask():
    import dask  # noqa: F401
    import rioxarray  # noqa: F401


# --- The programs: each returns a checksum ----------------------------------------------------

def blocks(source):
    import rasterio

    total = 0
    with rasterio.open(source) as dataset:
        for _, window in dataset.block_windows(1):
            total += int(dataset.read(1, window=window).sum(dtype="uint64"))
    return total


def tiles(source):
    """At zoom levels from the whole raster to its pixels."""
    import rasterio
    from rasterio.windows import Window

    random.seed(7)
    checksum = 0
    with rasterio.open(source) as dataset:
        for _ in range(500):
            span = 256 << random.randrange(6)
            window = Window(*(256 * random.randrange(max(1, (length - span) // 256))
                              for length in (dataset.width, dataset.height)), span, span)
            checksum = checksum_of(dataset.read(1, window=window, out_shape=(256, 256)), checksum)
    return checksum


def scanlines(source):
    from osgeo import gdal

    dataset = gdal.Open(source)
    band = dataset.GetRasterBand(1)
    row = np.empty((1, band.XSize), np.uint16)
    checksum = 0
    for y in range(band.YSize):
        band.ReadAsArray(0, y, band.XSize, 1, buf_obj=row)
        checksum = checksum_of(row, checksum)
    return checksum


def pans(source):
    """A view of 1536 x 1024 that is dragged by a third of its width, at zooms 1/8 to 1."""
    from osgeo import gdal

    dataset = gdal.Open(source)
    band = dataset.GetRasterBand(1)
    checksum = 0
    for zoom in (8, 4, 2, 1):
        width, height = 1536 * zoom, 1024 * zoom
        if width > band.XSize or height > band.YSize:
            width, height = band.XSize // zoom * zoom, band.YSize // zoom * zoom
        y = (band.YSize - height) // 2
        for step in range(16):
            x = min(step * width // 3, band.XSize - width)
            values = band.ReadAsArray(x, y, width, height, width // zoom, height // zoom)
            checksum = checksum_of(values, checksum)
            if x == band.XSize - width:
                break
    return checksum


def dask(source):
    import dask
    import rioxarray

    with dask.config.set(scheduler="threads", num_workers=2):
        array = rioxarray.open_rasterio(source, chunks={"x": 2048, "y": 2048}, lock=False)
        return int(array.sum(dtype="uint64").compute())


def windows(source):
    """Through the multidimensional API; the floor through the classic one."""
    from osgeo import gdal

    random.seed(7)
    if is_geotiff(source):
        dataset = gdal.Open(source)
        shape = dataset.RasterYSize, dataset.RasterXSize

        def read(y, x):
            return dataset.ReadAsArray(x, y, 256, 256)
    else:
        dataset = gdal.OpenEx(source, gdal.OF_MULTIDIM_RASTER)
        array = dataset.GetRootGroup().OpenMDArray(Path(source).name)
        shape = array.GetShape()

        def read(y, x):
            return array.ReadAsArray([y, x], [256, 256])

    checksum = 0
    for _ in range(400):
        values = read(*(random.randrange(length - 256) for length in shape))
        checksum = checksum_of(values, checksum)
    return checksum


def slices(source):
    from osgeo import gdal

    random.seed(7)
    dataset = gdal.OpenEx(source, gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArray(Path(source).name)
    shape = array.GetShape()
    checksum = 0
    for _ in range(10):
        values = array.ReadAsArray([random.randrange(shape[0]), 0, 0], [1, *shape[1:]])
        checksum = checksum_of(values, checksum)
    return checksum


def open_all(source):
    from osgeo import gdal

    dataset = gdal.OpenEx(source, gdal.OF_MULTIDIM_RASTER)
    group = dataset.GetRootGroup()
    return sum(group.OpenMDArray(name).GetDimensions()[0].GetSize()
               for name in group.GetMDArrayNames())


def read_all(source):
    from osgeo import gdal

    dataset = gdal.OpenEx(source, gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArray(Path(source).name).ReadAsArray()


def write_small(target, store, values, rows):
    dataset, array = create_array(target, store)
    for row in range(0, len(values), rows):
        block = values[row:row + rows]
        array.Write(block, [row, 0], list(block.shape))
    del array, dataset
    return 0


CASES = {"blocks": blocks, "tiles": tiles, "pans": pans, "dask": dask, "windows": windows,
         "scanlines": scanlines, "slices": slices, "open-v2": open_all, "open-v3": open_all,
         "small-shard": read_all, "small-files": read_all}


# --- The result of programs that write ----------------------------------------------------------

def checksum_of_file(path):
    """Of all bands and their overviews, or of all arrays of a store."""
    from osgeo import gdal

    dataset = None if is_geotiff(path) else gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER)
    checksum = 0
    if dataset is not None:
        group = dataset.GetRootGroup()
        for name in sorted(group.GetMDArrayNames()):
            checksum = checksum_of(group.OpenMDArray(name).ReadAsArray(), checksum)
        return checksum
    dataset = gdal.Open(path)
    band = dataset.GetRasterBand(1)
    for row in range(0, band.YSize, 512):
        count = min(512, band.YSize - row)
        checksum = checksum_of(band.ReadAsArray(0, row, band.XSize, count), checksum)
    return checksum


def peak_memory():
    """Of this program, in MB; getrusage includes the program that started it."""
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024


def main(case, source, target, scale):
    from osgeo import gdal, gdal_array  # noqa: F401  the latter at the first array read, else

    gdal.UseExceptions()
    gdal.GetDriverByName("Zarr")
    if case == "checksum":
        print(checksum_of_file(source))
        return
    run = CASES.get(case)
    arguments = [source]
    if case in ("blocks", "tiles"):
        prepare_rasterio()
    elif case == "dask":
        prepare_dask()
    elif case.startswith("write-"):
        store = program_stores.arrays(float(scale))[case.removeprefix("write-")]
        run, arguments = write_small, [target, store, *program_stores.small_chunks(store)]
    before = peak_memory()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    began = time.perf_counter()
    result = run(*arguments)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({
        "seconds": seconds,
        "cpu": after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime,
        "peak_mb": round(peak_memory() - before),
        "checksum": result if isinstance(result, int) else checksum_of(result)}))


main(*sys.argv[1:])
