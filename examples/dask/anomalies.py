#!/usr/bin/env python3
"""Makes a cube of monthly temperatures, and a cube of their differences from the mean of each month
of the year, with a Dask cluster. Both are sharded Zarr stores that the workers write in parallel.

    anomalies.py make cube.zarr --gigabytes 20
    anomalies.py run cube.zarr anomalies.zarr

A run that was interrupted continues where it stopped when it is started again.
"""
import argparse
import math
import os

import numpy as np
import rioxarray
import shard_writers
from dask.distributed import Client, LocalCluster
from osgeo import gdal, osr

gdal.UseExceptions()

MONTHS = 120
STEP = 0.01  # °C for each stored integer
MISSING = -32768


# --- What the workers do -------------------------------------------------------------------------

def make_shard(box, path, columns):
    """Temperatures that look a little like the Earth's, the same in each run."""
    times, rows, cells = (np.arange(part.start, part.stop) for part in box)
    noise = np.random.default_rng([part.start for part in box])
    latitude = 90 - (rows + 0.5) * 360 / columns
    season = 12 * np.cos(2 * np.pi * (times - 6) / 12)
    values = (30 * np.cos(np.radians(latitude))[:, None] - 5
              + season[:, None, None] * np.sin(np.radians(latitude))[:, None]
              + noise.normal(0, 1, (len(times), len(rows), len(cells))))
    shard_writers.write_shard(path, "temperature", box, np.round(values / STEP).astype("i2"))


def write_anomalies(box, source, target):
    """Reads all months of a window through rioxarray, and writes a shard through osgeo."""
    times, rows, columns = box
    name = f'ZARR:"{source}":/temperature'
    with rioxarray.open_rasterio(name, mask_and_scale=True) as cube:
        values = cube.isel(band=times, y=rows, x=columns).to_numpy()
    for month in range(min(12, len(values))):
        values[month::12] -= values[month::12].mean(axis=0)
    shard_writers.write_shard(target, "anomaly", box, values.astype("f4"))


# --- What the program does -----------------------------------------------------------------------

def create(path, name, data_type, shape, shard):
    """A new store with an array of (time, y, x) on a grid of longitude and latitude.

    Consolidated metadata are not written yet.
    """
    driver = gdal.GetDriverByName("Zarr")
    dataset = driver.CreateMultiDimensional(
        path, [], ["FORMAT=ZARR_V3", "CREATE_CONSOLIDATED_METADATA=NO"])
    root = dataset.GetRootGroup()
    types = [gdal.DIM_TYPE_TEMPORAL, gdal.DIM_TYPE_HORIZONTAL_Y, gdal.DIM_TYPE_HORIZONTAL_X]
    dimensions = [root.CreateDimension(dimension, kind, None, size)
                  for dimension, kind, size in zip(("time", "y", "x"), types, shape)]
    cell = 360 / shape[2]
    months = np.datetime64("2015-01") + np.arange(shape[0])
    coordinates = {"time": (months.astype("M8[D]") - months.astype("M8[D]")[0]).astype("f8"),
                   "y": 90 - cell * (np.arange(shape[1]) + 0.5),
                   "x": -180 + cell * (np.arange(shape[2]) + 0.5)}
    for dimension, values in zip(dimensions, coordinates.values()):
        variable = root.CreateMDArray(dimension.GetName(), [dimension],
                                      gdal.ExtendedDataType.Create(gdal.GDT_Float64))
        variable.Write(values)
        dimension.SetIndexingVariable(variable)
        if dimension.GetName() == "time":
            variable.SetUnit("days since 2015-01-01")
    months, rows, columns = shard
    array = root.CreateMDArray(
        name, dimensions, gdal.ExtendedDataType.Create(data_type),
        [f"BLOCKSIZE={months},{rows},{columns}",
         f"SHARD_CHUNK_SHAPE={months // 10},{rows // 4},{columns // 4}",
         "COMPRESS=ZSTD", "ZSTD_LEVEL=3"])
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(4326)
    array.SetSpatialRef(crs)
    array.SetUnit("degC")
    if data_type == gdal.GDT_Int16:
        array.SetScale(STEP)
        array.SetNoDataValueDouble(MISSING)
    else:
        array.SetNoDataValueDouble(math.nan)
    dataset.FlushCache()


def process(client, function, path, name, boxes, *arguments, **options):
    """Runs the tasks for the shards that are missing, and finishes the store."""
    shard_writers.require_driver(client)
    missing = shard_writers.missing_boxes(path, name, boxes)
    print(f"{len(missing)} of {len(boxes)} shards of {path} are missing")
    shard_writers.run(client, function, missing, *arguments, **options)
    shard_writers.consolidate(path)


def make(client, path, gigabytes, side, **options):
    columns = 2 * max(1, round(math.sqrt(gigabytes * 1e9 / (2 * MONTHS) / 2)))
    shape = MONTHS, columns // 2, columns
    shard = MONTHS, side, side
    if not os.path.exists(path):
        create(path, "temperature", gdal.GDT_Int16, shape, shard)
    process(client, make_shard, path, "temperature", shard_writers.shard_boxes(shape, shard),
            path, columns, **options)


def run(client, source, target, side, **options):
    cube = gdal.Open(f'ZARR:"{source}":/temperature')
    shape = cube.RasterCount, cube.RasterYSize, cube.RasterXSize
    shard = shape[0], side, side
    if not os.path.exists(target):
        create(target, "anomaly", gdal.GDT_Float32, shape, shard)
    process(client, write_anomalies, target, "anomaly", shard_writers.shard_boxes(shape, shard),
            source, target, **options)


def connect(options):
    if options.scheduler:
        client = Client(options.scheduler)
        for module in (shard_writers.__file__, __file__):
            client.upload_file(module)
        shard_writers.share_environment(client, "GDAL_DRIVER_PATH")
        return client
    # Processes, because each has its own cache; one thread each, because GDAL has its own threads.
    return Client(LocalCluster(n_workers=options.workers, threads_per_worker=1,
                               dashboard_address=":0"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("make", "run"):
        command = commands.add_parser(name)
        if name == "run":
            command.add_argument("source")
        command.add_argument("target")
        if name == "make":
            command.add_argument("--gigabytes", type=float, default=20)
        command.add_argument("--side", type=int, default=512,
                             help="rows and columns of a shard, a multiple of 4")
        command.add_argument("--workers", type=int, default=os.cpu_count())
        command.add_argument("--scheduler", help="address of a cluster instead of local workers")
    options = parser.parse_args()
    with connect(options) as client:
        if options.command == "make":
            make(client, options.target, options.gigabytes, options.side)
        else:
            run(client, options.source, options.target, options.side)


if __name__ == "__main__":
    main()
