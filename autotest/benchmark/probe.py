"""Runs one case in a process of its own. Prints as JSON the seconds, the peak of memory in MB, and
a checksum of the values read.

usage: probe.py PATH CASE API STORE     as bench.py calls it; the rest is set by GDAL's options
"""
import json
import os
import random
import re
import ssl
import sys
import time
import zlib
from pathlib import Path

import numpy as np
from array_stores import STORES, create_array, scene
from node_stores import OBJECT_CHUNK, OBJECT_SIZE, create_objects


def open_multidim(path, name):
    from osgeo import gdal

    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArray(name)
    return array.ReadAsArray


def open_multidim_advised(path, name):
    """As callers of drivers do that read on one thread unless AdviseRead() is called first."""
    from osgeo import gdal

    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArray(name)
    threads = gdal.GetConfigOption("GDAL_NUM_THREADS")

    def read(start, count):
        array.AdviseRead(start, count, [f"NUM_THREADS={threads}", "CACHE_SIZE=8000000000"])
        return array.ReadAsArray(start, count)

    return read


def open_classic(path, name):
    from osgeo import gdal

    dataset = gdal.Open(f'ZARR:"{path}":/{name}')
    return lambda start, count: dataset.ReadAsArray(start[1], start[0], count[1], count[0])


def open_zarr_python(path, name):
    import zarr

    array = zarr.open(str(path), mode="r")[name]
    return lambda start, count: array[tuple(slice(a, a + n) for a, n in zip(start, count))]


OPEN = {"multidim": open_multidim, "advised": open_multidim_advised, "classic": open_classic,
        "zarr-python": open_zarr_python}


def regions(case, shape):
    """The selections of a case, in order, as (start, count)."""
    random.seed(7)
    if case == "all":
        yield [0] * len(shape), list(shape)
    elif case == "windows":
        for _ in range(400):
            yield [random.randrange(length - 256) for length in shape], [256, 256]
    elif case == "series":
        for _ in range(60):
            yield [0] + [random.randrange(length) for length in shape[1:]], [shape[0], 1, 1]
    elif case == "slices":
        for _ in range(10):
            yield [random.randrange(shape[0]), 0, 0], [1, *shape[1:]]


def read(path, case, api, store):
    """Seconds, and a checksum of all values read."""
    wanted = list(regions(case, store.shape))
    read_region = OPEN[api](path / store.name, store.name)
    began = time.perf_counter()
    results = [read_region(start, count) for start, count in wanted]
    seconds = time.perf_counter() - began
    checksum = 0
    for values in results:
        checksum = zlib.crc32(np.ascontiguousarray(values), checksum)
    return seconds, checksum


def write(path, store, rows):
    """So many rows at a time, as programs write them."""
    blocks = [scene(row, min(rows, store.shape[0] - row), store.shape[1])
              for row in range(0, store.shape[0], rows)]
    began = time.perf_counter()
    dataset, array = create_array(path, store)
    row = 0
    for block in blocks:
        array.Write(block, [row, 0], list(block.shape))
        row += len(block)
    del array, dataset
    return time.perf_counter() - began, 0


def list_arrays(path):
    from osgeo import gdal

    began = time.perf_counter()
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    count = len(dataset.GetRootGroup().GetMDArrayNames())
    return time.perf_counter() - began, count


def list_subdatasets(path):
    from osgeo import gdal

    began = time.perf_counter()
    count = len(gdal.Open(str(path)).GetSubDatasets())
    return time.perf_counter() - began, count


def open_one(path):
    from osgeo import gdal

    began = time.perf_counter()
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArray("a5000")
    checksum = zlib.crc32(array.ReadAsArray())
    return time.perf_counter() - began, checksum


def sparse(path):
    """All of an array with a million chunks, few of which exist."""
    from osgeo import gdal

    began = time.perf_counter()
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    values = dataset.GetRootGroup().OpenMDArray("sparse").ReadAsArray()
    return time.perf_counter() - began, zlib.crc32(values)


def open_remote(url):
    """Through GDAL: the shape of a chunk, and a function that reads."""
    from osgeo import gdal

    dataset = gdal.OpenEx(f'ZARR:"/vsicurl/{url}"', gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenGroup("level").OpenMDArray("image")
    return array.GetBlockSize(), array.ReadAsArray


def open_remote_zarr_python(url):
    import zarr

    options = {}
    if url.startswith("https"):
        context = ssl.create_default_context(cafile=os.environ["GDAL_CURL_CA_BUNDLE"])
        options = {"storage_options": {"ssl": context}}
    try:
        root = zarr.open_consolidated(url, mode="r", **options)
    except KeyError:
        root = zarr.open_group(url, mode="r", **options)
    array = root["level/image"]
    return array.chunks, lambda start, count: array[tuple(
        slice(a, a + n) for a, n in zip(start, count))]


def remote(url, case, api):
    """Opens one array over HTTP; `remote window` also reads 2048 x 2048 of it."""
    began = time.perf_counter()
    chunk, read_region = (open_remote_zarr_python if api == "zarr-python" else open_remote)(url)
    checksum = sum(chunk)
    if case == "remote window":
        checksum = zlib.crc32(np.ascontiguousarray(read_region([700, 700], [2048, 2048])))
    return time.perf_counter() - began, checksum


def change_objects(path, case, store):
    """Changes a store of node_stores.create_objects(), or creates it."""
    from osgeo import gdal

    began = time.perf_counter()
    if case == "object create":
        create_objects(path, int(store[1]))
        return time.perf_counter() - began, 0
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    root = dataset.GetRootGroup()
    if case == "object delete":
        root.DeleteMDArray("image")
    else:
        array = root.OpenMDArray("image")
        row, columns = 0, OBJECT_CHUNK
        if case == "object append":
            row, columns = OBJECT_SIZE, OBJECT_SIZE
            array.Resize([OBJECT_SIZE + OBJECT_CHUNK, OBJECT_SIZE])
        array.Write(scene(7, OBJECT_CHUNK, columns), [row, 0], [OBJECT_CHUNK, columns])
        del array
    del root, dataset
    return time.perf_counter() - began, 0


def read_objects(path):
    """A checksum of what the store has then."""
    from osgeo import gdal

    root = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    names = root.GetMDArrayNames() or []
    values = root.OpenMDArray("image").ReadAsArray() if "image" in names else np.zeros(0, "u2")
    return 0, zlib.crc32(np.ascontiguousarray(values))


def peak_memory():
    """Of this program, in MB; getrusage includes the program that started it."""
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024


def main(path, case, api, store_name):
    from osgeo import gdal, gdal_array  # noqa: F401  the latter at the first array read, else

    gdal.UseExceptions()
    gdal.GetDriverByName("Zarr")
    # The slashes of URLs must stay.
    place = path if "://" in path or path.startswith("/vsi") else Path(path)
    store = STORES.get(store_name)
    before = peak_memory()
    if case == "write":
        seconds, checksum = write(place, store, 512)
    elif case == "write chunks":
        seconds, checksum = write(place, store, store.chunk[0])
    elif case in ("all", "windows", "series", "slices"):
        seconds, checksum = read(place, case, api, store)
    elif case == "object read":
        seconds, checksum = read_objects(place)
    elif case.startswith("object"):
        seconds, checksum = change_objects(place, case, store_name)
    elif case.startswith("remote"):
        seconds, checksum = remote(place, case, api)
    else:
        cases = {"list": list_arrays, "subdatasets": list_subdatasets, "open one": open_one,
                 "sparse": sparse}
        seconds, checksum = cases[case](place)
    print(json.dumps({"seconds": seconds, "peak_mb": round(peak_memory() - before),
                      "checksum": checksum}))


main(*sys.argv[1:])
