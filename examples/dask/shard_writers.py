"""Writes an array of Zarr with the workers of a Dask cluster, a shard for each task.

A shard is put as a whole when it is complete, so tasks need no locks, and a task that is repeated,
because its worker was killed, writes the same bytes again.
"""
import itertools
import os

from dask.distributed import as_completed
from distributed.diagnostics.plugin import Environ
from osgeo import gdal

gdal.UseExceptions()


def shard_boxes(shape, shard):
    """The parts of an array that are one shard each, as tuples of slices."""
    starts = [range(0, size, length) for size, length in zip(shape, shard)]
    return [tuple(slice(start, min(start + length, size))
                  for start, length, size in zip(corner, shard, shape))
            for corner in itertools.product(*starts)]


def write_shard(path, name, box, values):
    """Writes the values of a box; after that, they are stored."""
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    array = dataset.GetRootGroup().OpenMDArray(name)
    array.Write(values, array_start_idx=[part.start for part in box])
    dataset.FlushCache()


def missing_boxes(path, name, boxes):
    """Those of which nothing is stored: what an earlier run has left to do."""
    raster = gdal.Open(f'ZARR:"{path}":/{name}')

    def is_stored(box):
        times, rows, columns = box
        band = raster.GetRasterBand(times.start + 1)
        flags, _ = band.GetDataCoverageStatus(columns.start, rows.start,
                                              columns.stop - columns.start,
                                              rows.stop - rows.start)
        return flags & gdal.GDAL_DATA_COVERAGE_STATUS_DATA

    return [box for box in boxes if not is_stored(box)]


def consolidate(path):
    """Writes consolidated metadata."""
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE,
                          open_options=["CONSOLIDATE_METADATA=YES"])
    dataset.FlushCache()


def share_environment(client, *names):
    """Starts the workers again with these environment variables of this process.

    The workers of a LocalCluster have them already. Others need a nanny, which `dask-worker` gives
    them by default.
    """
    plugin = Environ({name: os.environ[name] for name in names if name in os.environ})
    if hasattr(client, "register_plugin"):
        client.register_plugin(plugin)
    else:
        client.register_worker_plugin(plugin, nanny=True)


def driver_version():
    return gdal.GetDriverByName("Zarr").GetMetadataItem("GDAL_ZARR_VERSION")


def require_driver(client):
    """Raises an error that names the workers with another driver than this process."""
    others = {address: version for address, version in client.run(driver_version).items()
              if version != driver_version()}
    if others:
        names = ", ".join(sorted(others))
        raise RuntimeError(f"gdal-zarr {driver_version()} is not the driver of {names}: install it"
                           " there, or set GDAL_DRIVER_PATH for the workers")


def print_progress(done, total):
    print(f"\r{done} of {total} shards", end="\n" if done == total else "", flush=True)


def run(client, function, boxes, *arguments, report=print_progress):
    """Calls function(box, *arguments) once for each box, on the workers.

    Dask repeats tasks whose worker was lost. Errors are raised here after two more attempts.
    """
    futures = client.map(function, boxes, *([argument] * len(boxes) for argument in arguments),
                         pure=False, retries=2)
    for done, future in enumerate(as_completed(futures), 1):
        future.result()
        # Otherwise the task is repeated if its worker is lost later.
        future.release()
        report(done, len(boxes))
