"""Reads or writes a store of layout_stores.py in one way, in a process of its own. Prints the
seconds as JSON, and with `check` a checksum of the values instead.

usage: layout_probe.py time|check CASE LAYOUT FOLDER SCALE    as layouts.py calls it
"""
import json
import random
import sys
import time
import zlib
from pathlib import Path

import numpy as np
from array_stores import create_array, field_of
from layout_stores import BANDS, CUBE, IMAGE, LAYOUTS, SOURCES

WRITTEN = "written"  # the folder of what is written


# --- Reading images: each yields the values that it has read -----------------------------------

def windows(width, height):
    """Of a raster, row by row, through its first band."""
    def read(dataset):
        band = dataset.GetRasterBand(1)
        columns, rows = width or band.XSize, height or band.YSize
        for y in range(0, band.YSize, rows):
            lines = min(rows, band.YSize - y)
            for x in range(0, band.XSize, columns):
                yield band.ReadAsArray(x, y, min(columns, band.XSize - x), lines)
    return read


def random_windows(side, count):
    def read(dataset):
        band = dataset.GetRasterBand(1)
        x_side, y_side = min(side, band.XSize), min(side, band.YSize)
        for _ in range(count):
            yield band.ReadAsArray(random.randrange(band.XSize - x_side + 1),
                                   random.randrange(band.YSize - y_side + 1), x_side, y_side)
    return read


def all_bands(dataset):
    yield dataset.ReadAsArray()


def blocks(dataset):
    width, height = dataset.GetRasterBand(1).GetBlockSize()
    yield from windows(width, height)(dataset)


def smaller(resampling):
    def read(dataset):
        from osgeo import gdal

        band = dataset.GetRasterBand(1)
        yield band.ReadAsArray(buf_xsize=max(1, band.XSize // 10),
                               buf_ysize=max(1, band.YSize // 10),
                               resample_alg=getattr(gdal, resampling))
    return read


def statistics(dataset):
    # GDAL's own driver may take the rows in another order.
    yield np.round(dataset.GetRasterBand(1).ComputeStatistics(False), 3)


READ_RASTER = {
    "whole": all_bands, "rows": windows(0, 1), "columns": windows(64, 0), "blocks": blocks,
    "300 of 256²": random_windows(256, 300), "300 of 64²": random_windows(64, 300),
    "100 pixels": random_windows(1, 100), "10 %": smaller("GRIORA_NearestNeighbour"),
    "10 % mean": smaller("GRIORA_Average"), "statistics": statistics,
}


# --- Reading cubes -----------------------------------------------------------------------------

def whole(array):
    yield array.ReadAsArray()


def slices(array):
    times, rows, columns = array.GetShape()
    for first in range(0, times, 3):
        yield array.ReadAsArray([first, 0, 0], [1, rows, columns])


def random_boxes(count, *shape):
    """`shape` has None for a whole dimension."""
    def read(array):
        lengths = array.GetShape()
        box = [length if side is None else min(side, length)
               for side, length in zip(shape, lengths)]
        for _ in range(count):
            yield array.ReadAsArray([random.randrange(length - side + 1)
                                     for length, side in zip(lengths, box)], box)
    return read


def every_fourth(array):
    yield array.ReadAsArray([0, 0, 0], [length // 4 for length in array.GetShape()], [4, 4, 4])


READ_CUBE = {"whole": whole, "slices": slices, "100 series": random_boxes(100, None, 1, 1),
             "100 boxes": random_boxes(100, 12, 64, 64), "every 4th": every_fourth}


# --- Writing: each returns when it began, after it has read what it writes -----------------------

def source_of(layout, folder):
    from osgeo import gdal

    return gdal.Open(str(folder / SOURCES[layout.kind]))


def copy(target, folder, layout, _scale):
    from osgeo import gdal

    source = source_of(layout, folder)
    began = time.perf_counter()
    gdal.GetDriverByName("Zarr").CreateCopy(target, source, strict=0,
                                            options=layout.creation_options())
    return began


def in_windows(width, height):
    """Row by row, band by band. Zero is a whole side."""
    def write(target, folder, layout, _scale):
        from osgeo import gdal

        source = source_of(layout, folder)
        values = source.ReadAsArray().reshape(source.RasterCount, source.RasterYSize, -1)
        bands, rows, columns = values.shape
        began = time.perf_counter()
        dataset = gdal.GetDriverByName("Zarr").Create(
            target, columns, rows, bands, source.GetRasterBand(1).DataType,
            layout.creation_options())
        for number in range(bands):
            band = dataset.GetRasterBand(number + 1)
            for y in range(0, rows, height):
                for x in range(0, columns, width or columns):
                    band.WriteArray(values[number, y:y + height, x:x + (width or columns)], x, y)
        del band, dataset
        return began
    return write


def slices_of_cube(target, _folder, layout, scale):
    store = layout.cube(scale)
    images = np.stack([field_of(time_step, *store.shape[1:]) for time_step in range(8)])
    began = time.perf_counter()
    dataset, array = create_array(Path(target), store)
    for step in range(store.shape[0]):
        array.Write(images[step % 8], [step, 0, 0], [1, *store.shape[1:]])
    del array, dataset
    return began


WRITE_RASTER = {"copy": copy, "write rows": in_windows(0, 1), "write 512²": in_windows(512, 512),
                "write 128²": in_windows(128, 128)}
WRITE_CUBE = {"write slices": slices_of_cube}

READING = {IMAGE: READ_RASTER, BANDS: READ_RASTER, CUBE: READ_CUBE}
WRITING = {IMAGE: WRITE_RASTER, BANDS: WRITE_RASTER, CUBE: WRITE_CUBE}


# --- One of them -------------------------------------------------------------------------------

def opened(path, kind):
    """What the cases read, and the dataset that it belongs to."""
    from osgeo import gdal

    if kind != CUBE:
        return (gdal.Open(path),) * 2
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArray(Path(path).name), dataset


def checksum_of(arrays):
    checksum = 0
    for values in arrays:
        checksum = zlib.crc32(np.ascontiguousarray(values), checksum)
    return checksum


def sum_of_bits(arrays):
    """Also where drivers read the same values in another order."""
    return sum(int(np.ascontiguousarray(values).view(f"u{values.itemsize}").sum(dtype=np.uint64))
               for values in arrays)


def write(case, layout, folder, scale):
    """The seconds that it takes."""
    target = str(folder / WRITTEN / layout.name)
    began = WRITING[layout.kind][case](target, folder, layout, scale)
    return time.perf_counter() - began


def main(mode, case, name, folder, scale):
    from osgeo import gdal, gdal_array  # noqa: F401  the latter at the first array read, else

    gdal.UseExceptions()
    gdal.GetDriverByName("Zarr")
    random.seed(3)
    layout = next(layout for layout in LAYOUTS if layout.name == name)
    folder = Path(folder)
    if case in WRITING[layout.kind]:
        seconds = write(case, layout, folder, float(scale))
        if mode == "check":
            source, _dataset = opened(str(folder / WRITTEN / name), layout.kind)
            print(json.dumps(checksum_of([source.ReadAsArray()])))
            return
    else:
        run = READING[layout.kind][case]
        source, _dataset = opened(str(folder / name), layout.kind)
        if mode == "check":
            # Drivers may have blocks of other shapes.
            check = sum_of_bits if case == "blocks" else checksum_of
            print(json.dumps(check(run(source))))
            return
        began = time.perf_counter()
        for _ in run(source):
            pass
        seconds = time.perf_counter() - began
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
