"""Programs that take a raster or multidimensional data get both of a store that has one raster."""
import shutil

import numpy as np
import pytest
from multidim import create, create_array
from osgeo import gdal
from test_programs import run

BOTH = gdal.OF_RASTER | gdal.OF_MULTIDIM_RASTER
VALUES = np.arange(12, dtype="u1").reshape(3, 4)


@pytest.fixture
def store(tmp_path):
    """One raster, with a georeference and the nodata value 5."""
    path = tmp_path / "a.zarr"
    source = gdal.GetDriverByName("MEM").Create("", 4, 3, 1)
    source.WriteArray(VALUES)
    source.GetRasterBand(1).SetNoDataValue(5)
    source.SetGeoTransform([100, 1, 0, 50, 0, -1])
    gdal.GetDriverByName("Zarr").CreateCopy(str(path), source)
    return path


@pytest.mark.parametrize("name", ["{}", 'ZARR:"{}"', 'ZARR:"{}":/a'])
def test_bands_and_groups(store, name):
    dataset = gdal.OpenEx(name.format(store), BOTH)
    assert dataset.GetGeoTransform() == (100, 1, 0, 50, 0, -1)
    np.testing.assert_array_equal(dataset.ReadAsArray(), VALUES)
    array = dataset.GetRootGroup().OpenMDArray("a")
    del dataset
    np.testing.assert_array_equal(array.ReadAsArray(), VALUES)


def test_one_kind_alone(store):
    assert gdal.Open(str(store)).GetRootGroup() is None
    assert gdal.OpenEx(str(store), gdal.OF_MULTIDIM_RASTER).RasterCount == 0


def test_stores_of_several_rasters_or_none(tmp_path):
    for name, shape, count in (("several", (3, 4), 2), ("line", (4,), 1), ("empty", (3, 4), 0)):
        root = create(tmp_path / name).GetRootGroup()
        for i in range(count):
            create_array(root, f"a{i}", shape, gdal.GDT_Byte)
        del root
        dataset = gdal.OpenEx(str(tmp_path / name), BOTH)
        assert len(dataset.GetRootGroup().GetMDArrayNames() or []) == count
        assert dataset.RasterCount == (1 if name == "line" else 0)


def test_it_is_updated_as_multidimensional_data(store):
    dataset = gdal.OpenEx(str(store), BOTH | gdal.OF_UPDATE)
    assert dataset.RasterCount == 0
    dataset.GetRootGroup().OpenMDArray("a").Write(VALUES + 1)
    del dataset
    np.testing.assert_array_equal(gdal.Open(str(store)).ReadAsArray(), VALUES + 1)


needs_gdal = pytest.mark.skipif(shutil.which("gdal") is None or
                                int(gdal.VersionInfo()) < 3130000, reason="needs GDAL 3.13")


@needs_gdal
@pytest.mark.parametrize("output", ["out.zarr", "out.tif", "out.nc"])
def test_masks_of_programs(tmp_path, store, output):
    mask = gdal.GetDriverByName("MEM").Create("", 4, 3, 1)
    mask.WriteArray((VALUES != 7).astype("u1"))
    gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "mask.zarr"), mask)
    run("gdal", "raster", "fill-nodata", "--mask", tmp_path / "mask.zarr", store,
        tmp_path / output)
    filled = gdal.Open(str(tmp_path / output))
    assert filled.RasterCount == 1
    assert filled.ReadAsArray()[1, 3] != 7 and (filled.ReadAsArray() == VALUES).sum() == 11


@needs_gdal
def test_zones_and_weights_of_programs(tmp_path, store):
    zones = gdal.GetDriverByName("MEM").Create("", 4, 3, 1)
    zones.SetGeoTransform([100, 1, 0, 50, 0, -1])
    zones.WriteArray((VALUES >= 8).astype("u1"))
    for name in ("zones.zarr", "zones.tif"):
        gdal.Translate(str(tmp_path / name), zones)
    tables = []
    for kind in ("zarr", "tif"):
        zone = tmp_path / f"zones.{kind}"
        table = tmp_path / f"{kind}.csv"
        run("gdal", "raster", "zonal-stats", "--stat", "sum", "--stat", "count", "--zones", zone,
            "--weights", zone, store, table)
        tables.append(table.read_text())
    assert tables[0] == tables[1] and len(tables[0].splitlines()) == 3


@needs_gdal
@pytest.mark.parametrize("output", ["out.zarr", "out.nc", "out.vrt"])
def test_hierarchies_are_copied(tmp_path, store, output):
    run("gdal", "mdim", "convert", store, tmp_path / output)
    dataset = gdal.OpenEx(str(tmp_path / output), gdal.OF_MULTIDIM_RASTER)
    names = dataset.GetRootGroup().GetMDArrayNames()
    assert {"a", "X", "Y"} <= set(names)
    np.testing.assert_array_equal(dataset.GetRootGroup().OpenMDArray("a").ReadAsArray(), VALUES)
