"""Overviews that GDAL's built-in driver and ours see in each other's stores of v3. The built-in one
sees none in v2, and none of several arrays that share a pyramid."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from osgeo import gdal

VERSION = int(gdal.VersionInfo()) // 10000
pytestmark = pytest.mark.skipif(VERSION < 313, reason="before, it knows no overviews in a store")
DATA = np.random.default_rng(3).integers(0, 200, (2, 60, 90)).astype("u1")

# Prints the sizes and sums of the overviews of each band, by the classic API, and the full names of
# the array's.
DESCRIBE = """
import json, sys
from osgeo import gdal
raster = gdal.Open(sys.argv[1])
bands = [raster.GetRasterBand(i + 1) for i in range(raster.RasterCount)]
levels = [[band.GetOverview(i) for i in range(band.GetOverviewCount())] for band in bands]
sums = [[(o.XSize, o.YSize, int(o.ReadAsArray().astype(int).sum())) for o in of_band]
        for of_band in levels]
dataset = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER)
array = dataset.GetRootGroup().OpenMDArray("a")
names = [array.GetOverview(i).GetFullName() for i in range(array.GetOverviewCount())]
print(json.dumps({"bands": sums, "names": names, "subdatasets": len(raster.GetSubDatasets())}))
"""
BUILD = """
import sys
from osgeo import gdal
dataset = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
array = dataset.GetRootGroup().OpenMDArray("a")
array.BuildOverviews("NEAREST", [2, 4])
"""


def run(driver_path, script, path):
    environment = os.environ | {"GDAL_DRIVER_PATH": driver_path}
    return subprocess.run([sys.executable, "-c", script, path], env=environment, check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def describe(driver_path, path):
    return json.loads(run(driver_path, DESCRIBE, str(path)))


def create(path, options):
    raster = gdal.GetDriverByName("MEM").Create("", 90, 60, 2)
    raster.WriteArray(DATA)
    raster.SetGeoTransform((1000, 10, 0, 2000, 0, -10))
    gdal.GetDriverByName("Zarr").CreateCopy(str(path), raster, options=options)


def expected():
    levels = [DATA[:, ::2, ::2], DATA[:, ::4, ::4]]
    # 90 / 2 = 45, and 45 / 23 is not a whole number: values of the last level are GDAL's.
    return [[level.shape[2], level.shape[1]] for level in levels]


def check(path):
    ours = describe(os.environ["GDAL_DRIVER_PATH"], path)
    builtin = describe("disable", path)
    assert [level[:2] for level in ours["bands"][0]] == expected()
    assert ours["names"] == ["/ovr_2x/a", "/ovr_4x/a"]
    assert builtin["names"] == ours["names"]
    assert builtin["bands"] == ours["bands"]


@pytest.mark.parametrize("how", ["gdaladdo", "array"])
@pytest.mark.parametrize("options", [
    ["FORMAT=ZARR_V3"],
    ["FORMAT=ZARR_V3", "COMPRESS=ZSTD", "BLOCKSIZE=1,32,32", "SHARD_CHUNK_SHAPE=1,8,8"],
    ["FORMAT=ZARR_V3", "GEOREFERENCING_CONVENTION=SPATIAL_PROJ"],
], ids=" ".join)
def test_ours(tmp_path, how, options):
    path = tmp_path / "a.zarr"
    create(path, options)
    if how == "array":
        run(os.environ["GDAL_DRIVER_PATH"], BUILD, str(path))
    else:
        subprocess.run(["gdaladdo", "-q", "-r", "nearest", path, "2", "4"], check=True)
    check(path)


def test_automatic_ones(tmp_path):
    path = tmp_path / "a.zarr"
    raster = gdal.GetDriverByName("MEM").Create("", 600, 500)
    gdal.GetDriverByName("Zarr").CreateCopy(str(path), raster,
                                            options=["FORMAT=ZARR_V3", "OVERVIEWS=AUTO"])
    seen = describe("disable", path)
    assert [level[:2] for level in seen["bands"][0]] == [[300, 250], [150, 125]]


@pytest.mark.parametrize("options", [
    [], ["COMPRESS=ZSTD", "BLOCKSIZE=1,32,32", "SHARD_CHUNK_SHAPE=1,8,8"],
], ids=" ".join)
def test_the_built_in_drivers(tmp_path, options):
    path = tmp_path / "a.zarr"
    create(path, ["FORMAT=ZARR_V3", *options])
    run("disable", BUILD, str(path))
    check(path)
