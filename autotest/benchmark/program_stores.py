"""The rasters and stores that `script/bench --programs` reads. Our driver makes the stores, of the
data of array_stores.py.

usage: program_stores.py FOLDER SCALE NAME…     makes those that do not exist in FOLDER
"""
import shutil
import sys
from pathlib import Path

import array_stores
import node_stores
import numpy as np
from array_stores import Store

IMAGES = {  # name: creation options
    "zstd": ["FORMAT=ZARR_V3", "BLOCKSIZE=512,512", "COMPRESS=ZSTD", "ZSTD_LEVEL=3"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=4096,4096", "SHARD_CHUNK_SHAPE=256,256",
               "COMPRESS=ZSTD", "ZSTD_LEVEL=3"],
    "blosc": ["BLOCKSIZE=512,512", "COMPRESS=BLOSC"],
    "blosc-zstd": ["FORMAT=ZARR_V3", "BLOCKSIZE=1024,1024", "COMPRESS=BLOSC", "BLOSC_CNAME=zstd"],
    "overviews": ["FORMAT=ZARR_V3", "BLOCKSIZE=512,512", "COMPRESS=ZSTD", "ZSTD_LEVEL=3",
                  "OVERVIEWS=AUTO"],
}
ZSTD = {"COMPRESS": "ZSTD", "ZSTD_LEVEL": "3"}
BLOSC = {"COMPRESS": "BLOSC", "BLOSC_CNAME": "zstd"}


def scaled(length, scale):
    return max(1, round(length * scale))


def arrays(scale):
    """The stores of one array, without georeferencing."""
    cube = tuple(scaled(length, scale) for length in array_stores.CUBE)
    depth = scaled(250, scale)
    hard = depth, 2 * depth, 2 * depth
    small = scaled(16000, scale), scaled(32000, scale)
    # A shard is one chunk, and chunks are whole.
    small = tuple((length + step - 1) // step * step for length, step in zip(small, (16, 32)))
    files = scaled(5000, scale), scaled(10240, scale)
    stores = [
        Store("cube", 2, "blosc", cube, (24, 180, 360), BLOSC, dtype="float32"),
        Store("cube-rechunked", 3, "zstd", cube, (96, 32, 32), ZSTD, dtype="float32"),
        Store("cube-sharded", 3, "zstd", cube, (240, 360, 360), ZSTD, dtype="float32",
              inner=(30, 60, 60)),
        Store("images-of-cube", 3, "zstd", hard, (1, *hard[1:]), ZSTD, dtype="float32"),
        Store("series-of-cube", 3, "zstd", hard, (depth, 20, 20), ZSTD, dtype="float32"),
        Store("small-shard", 3, "none", small, small, inner=(16, 32)),
        Store("small-files", 2, "none", files, (16, 32)),
    ]
    return {store.name: store for store in stores}


def described(scale):
    """What the floor has to know of the stores, by name."""
    side = tuple(scaled(length, scale) for length in array_stores.SCENE)
    stores = [
        Store("zstd", 3, "zstd", side, (512, 512)),
        Store("shards", 3, "zstd", side, (4096, 4096), inner=(256, 256)),
        Store("blosc", 2, "blosc", side, (512, 512)),
        Store("blosc-zstd", 3, "blosc", side, (1024, 1024)),
        Store("overviews", 3, "zstd", side, (512, 512)),  # without its overviews
    ]
    return arrays(scale) | {store.name: store for store in stores}


def make_tiff(path, scale):
    """Uncompressed, in blocks as the chunks of most stores, 10 m a pixel."""
    from osgeo import gdal, osr

    rows, columns = (scaled(length, scale) for length in array_stores.SCENE)
    dataset = gdal.GetDriverByName("GTiff").Create(
        str(path), columns, rows, 1, gdal.GDT_UInt16,
        ["TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512"])
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(32633)
    dataset.SetProjection(crs.ExportToWkt())
    dataset.SetGeoTransform([399960, 10, 0, 5800020, 0, -10])
    # Without it, GDAL's own driver takes fill values for nodata, and warps more.
    dataset.GetRasterBand(1).SetNoDataValue(0)
    for row in range(0, rows, 512):
        dataset.WriteArray(array_stores.scene(row, min(512, rows - row), columns), 0, row)
    del dataset


def make_overview_tiff(path, source):
    from osgeo import gdal

    shutil.copy(source, path)
    dataset = gdal.Open(str(path), gdal.GA_Update)
    dataset.BuildOverviews("AVERAGE", [2, 4, 8, 16, 32])
    del dataset


def make_image(path, source, options):
    from osgeo import gdal

    gdal.GetDriverByName("Zarr").CreateCopy(str(path), gdal.Open(str(source)), options=options)


def make_small_shard(path, store):
    """In one call, as the pending shard takes no less memory."""
    dataset, array = array_stores.create_array(path, store)
    array.Write(array_stores.scene(0, *store.shape), [0, 0], list(store.shape))
    del array, dataset


def make(folder, scale, name):
    path = folder / name
    if path.exists():
        return
    # The array is named after the file.
    partial = folder / "part" / name
    partial.parent.mkdir(exist_ok=True)
    if name in IMAGES:
        make_image(partial, folder / "image.tif", IMAGES[name])
    elif name == "image.tif":
        make_tiff(partial, scale)
    elif name == "overviews.tif":
        make_overview_tiff(partial, folder / "image.tif")
    elif "-many-" in name:
        node_stores.make_many(partial, int(name[1]), name.endswith("-consolidated"))
    elif name == "small-shard":
        make_small_shard(partial, arrays(scale)[name])
    else:
        array_stores.make(arrays(scale)[name], folder / "part")
    partial.rename(path)


def small_chunks(store):
    """The data of a store of small chunks, and how many rows a program writes at a time."""
    values = array_stores.scene(0, *store.shape)
    rows = store.shape[0] if store.inner else store.chunk[0] * 64
    return np.ascontiguousarray(values), rows


def main(folder, scale, *names):
    from osgeo import gdal

    gdal.UseExceptions()
    folder = Path(folder)
    shutil.rmtree(folder / "part", ignore_errors=True)  # of a run that was interrupted
    if any(name in IMAGES or name == "overviews.tif" for name in names):
        names = ("image.tif", *names)
    for name in names:
        make(folder, float(scale), name)
    shutil.rmtree(folder / "part", ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
