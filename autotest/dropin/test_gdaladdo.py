"""Overviews of the classic API: gdaladdo, and reading what either driver wrote."""
import subprocess

import numpy as np
import pytest
from osgeo import gdal

DATA = np.random.default_rng(3).integers(0, 200, (60, 90)).astype("u1")
FORMATS = ["ZARR_V2", "ZARR_V3"]
NO_ATTRIBUTE = "it writes no multiscales from a dataset, and overviews of v2 beside the store"


def create(path, data=DATA, options=()):
    raster = gdal.GetDriverByName("MEM").Create("", data.shape[1], data.shape[0])
    raster.WriteArray(data)
    raster.SetGeoTransform((1000, 10, 0, 2000, 0, -10))
    gdal.GetDriverByName("Zarr").CreateCopy(str(path), raster, options=list(options))


def shapes(path):
    raster = gdal.Open(str(path))
    band = raster.GetRasterBand(1)
    return [(band.GetOverview(i).YSize, band.GetOverview(i).XSize)
            for i in range(band.GetOverviewCount())]


@pytest.mark.ours_only(NO_ATTRIBUTE)
@pytest.mark.parametrize("store_format", FORMATS)
def test_gdaladdo(tmp_path, store_format):
    path = tmp_path / "a.zarr"
    create(path, options=[f"FORMAT={store_format}"])
    subprocess.run(["gdaladdo", "-q", "-r", "nearest", path, "4", "2"], check=True)
    assert shapes(path) == [(30, 45), (15, 23)]
    subprocess.run(["gdaladdo", "-q", "-r", "nearest", path, "8"], check=True)
    assert shapes(path) == [(30, 45), (15, 23), (8, 12)]
    subprocess.run(["gdaladdo", "-q", "-clean", path], check=True)
    assert shapes(path) == []
    names = sorted(p.name for p in path.iterdir() if not p.name.startswith("."))
    assert names == ["X", "Y", "a"] + (["zarr.json"] if store_format == "ZARR_V3" else [])


@pytest.mark.ours_only(NO_ATTRIBUTE)
@pytest.mark.parametrize("store_format", FORMATS)
def test_levels_are_listed_on_request_only(tmp_path, store_format):
    path = tmp_path / "a.zarr"
    create(path, options=[f"FORMAT={store_format}"])
    subprocess.run(["gdaladdo", "-q", path, "2"], check=True)
    raster = gdal.Open(str(path))
    assert raster.RasterXSize == 90
    assert not any("ovr_2x" in name for name, _ in raster.GetSubDatasets())
    every = gdal.OpenEx(str(path), gdal.OF_RASTER, open_options=["LIST_ALL_ARRAYS=YES"])
    names = [name.rpartition(":")[2] for name, _ in every.GetSubDatasets()]
    assert {"/a", "/ovr_2x/a", "/ovr_2x/X"} <= set(names)


@pytest.mark.gdal_since("3.13")
@pytest.mark.parametrize("factor", [2, 3, 7])
def test_the_classic_view_of_what_the_array_built(tmp_path, factor):
    path = tmp_path / "a.zarr"
    create(path, options=["FORMAT=ZARR_V3"])
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    array = dataset.GetRootGroup().OpenMDArray("a")
    array.BuildOverviews("NEAREST", [factor])
    del array, dataset
    rows, columns = -(-60 // factor), -(-90 // factor)
    assert shapes(path) == [(rows, columns)]
    raster = gdal.Open(str(path))
    overview = raster.GetRasterBand(1).GetOverview(0)
    decimated = raster.ReadAsArray(buf_xsize=columns, buf_ysize=rows)
    np.testing.assert_array_equal(overview.ReadAsArray(), decimated)
    level = gdal.Open(f'ZARR:"{path}":/ovr_{factor}x/a')
    np.testing.assert_array_equal(level.ReadAsArray(), overview.ReadAsArray())
