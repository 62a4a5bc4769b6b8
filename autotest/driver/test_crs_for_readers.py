"""The CRS of what the driver writes, where xarray with rioxarray looks for it."""
import json

import numpy as np
import pytest
import rasterio
import rioxarray  # noqa: F401, the accessor `rio`
import xarray
import zarr
from osgeo import gdal, osr
from stores import write_array
from test_programs import run

FORMATS = ["ZARR_V2"]
if int(zarr.__version__.split(".")[0]) >= 3:
    FORMATS.append("ZARR_V3")
PLACE = (500_000, 10, 0, 5_000_000, 0, -10)
DATA = np.arange(24, dtype="f4").reshape(4, 6)


def crs_named(text):
    crs = osr.SpatialReference()
    crs.SetFromUserInput(text)
    return crs


def write(path, *options, bands=1, crs="EPSG:32633"):
    raster = gdal.GetDriverByName("Zarr").Create(
        str(path), 6, 4, bands, gdal.GDT_Float32, ["ARRAY_NAME=a", *options])
    raster.SetSpatialRef(crs_named(crs))
    raster.SetGeoTransform(PLACE)
    for band in range(1, bands + 1):
        raster.GetRasterBand(band).WriteArray(DATA)
    return path


def open_zarr(path):
    return xarray.open_zarr(path, chunks=None)


@pytest.mark.parametrize("bands", [1, 3])
@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize("convention", [None, "CF"])
def test_rioxarray_finds_the_crs(tmp_path, convention, version, bands):
    options = ["FORMAT=" + version]
    if convention:
        options.append("GEOREFERENCING_CONVENTION=" + convention)
    there = open_zarr(write(tmp_path / "a.zarr", *options, bands=bands))
    assert there["a"].rio.crs.to_epsg() == 32633
    assert there.rio.crs.to_epsg() == 32633
    assert list(there.data_vars) == ["a"]
    array = there["a"].rio.set_spatial_dims("X", "Y")
    assert tuple(array.rio.transform().to_gdal()) == PLACE


@pytest.mark.parametrize("crs", ["+proj=laea +lat_0=51 +lon_0=9 +datum=WGS84", "ESRI:54009",
                                 "EPSG:4326", "EPSG:7415"])
def test_rioxarray_finds_any_crs(tmp_path, crs):
    path = write(tmp_path / "a.zarr", crs=crs)
    there = open_zarr(path)["a"].rio.crs
    with rasterio.open(path) as raster:
        assert there == raster.crs


def test_no_array_and_no_metadata_are_added(tmp_path):
    """An array of a grid mapping would be one more raster for GDAL's built-in driver."""
    path = write(tmp_path / "a.zarr")
    assert sorted(p.name for p in path.iterdir() if p.is_dir()) == ["X", "Y", "a"]
    assert gdal.Open(str(path)).GetMetadata() == {}
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArray("a")
    assert [attribute.GetName() for attribute in array.GetAttributes()] == []


@pytest.mark.parametrize("convention", ["GDAL", "CF"])
def test_changes(tmp_path, convention):
    path = write(tmp_path / "a.zarr", "GEOREFERENCING_CONVENTION=" + convention)
    run("gdal_edit.py", "-a_srs", "EPSG:3035", path)
    assert open_zarr(path)["a"].rio.crs.to_epsg() == 3035
    run("gdal_edit.py", "-a_srs", "None", path)
    assert open_zarr(path)["a"].rio.crs is None


def test_metadata_of_a_source_do_not_count(tmp_path):
    """A warped raster may still have the metadata of the one before."""
    write(tmp_path / "a.zarr")
    run("gdal_translate", "-q", "-mo", "crs=EPSG:3035", tmp_path / "a.zarr", tmp_path / "a.tif")
    run("gdal_translate", "-q", "-of", "Zarr", tmp_path / "a.tif", tmp_path / "b.zarr")
    run("gdalwarp", "-q", "-of", "Zarr", tmp_path / "a.tif", tmp_path / "c.zarr")
    for name in "bc":
        assert open_zarr(tmp_path / f"{name}.zarr")[name].rio.crs.to_epsg() == 32633


def test_arrays_of_the_multidimensional_api(tmp_path):
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(str(tmp_path / "a.zarr"))
    root = dataset.GetRootGroup()
    y, x = root.CreateDimension("y", None, None, 4), root.CreateDimension("x", None, None, 6)
    array = root.CreateMDArray("a", [y, x], gdal.ExtendedDataType.Create(gdal.GDT_Float32))
    array.SetSpatialRef(crs_named("EPSG:32633"))
    del array, x, y, root, dataset
    assert open_zarr(tmp_path / "a.zarr")["a"].rio.crs.to_epsg() == 32633


def test_an_array_at_the_root(tmp_path):
    write_array(tmp_path / "a.zarr", DATA, names=["y", "x"])
    raster = gdal.Open(str(tmp_path / "a.zarr"), gdal.GA_Update)
    raster.SetSpatialRef(crs_named("EPSG:32633"))
    del raster
    attributes = json.loads((tmp_path / "a.zarr/zarr.json").read_text())["attributes"]
    assert attributes["crs"] == "EPSG:32633"


@pytest.mark.parametrize("is_dropped", [True, False])
def test_after_rioxarray_has_warped_it(tmp_path, is_dropped):
    """xarray copies `_CRS` with all attributes. The new coordinates are outside its area of use."""
    array = open_zarr(write(tmp_path / "a.zarr"))["a"].rio.set_spatial_dims("X", "Y")
    warped = array.rio.reproject("EPSG:3035")
    assert "crs" not in warped.attrs
    if is_dropped:
        del warped.attrs["_CRS"]
    warped.to_dataset(name="a").to_zarr(tmp_path / "b.zarr")
    warnings = set()
    gdal.PushErrorHandler(lambda level, number, text: warnings.add(text))
    try:
        raster = gdal.Open(str(tmp_path / "b.zarr"))
        code = raster.GetSpatialRef().GetAuthorityCode(None)
    finally:
        gdal.PopErrorHandler()
    assert code == "3035"
    warning = ('Zarr: array /a: the attribute _CRS (WGS 84 / UTM zone 33N) and the grid mapping '
               '"spatial_ref" (ETRS89-extended / LAEA Europe) differ; the grid mapping '
               '"spatial_ref" is used')
    assert warnings == (set() if is_dropped else {warning})


def test_the_same_crs_twice_is_fine(tmp_path):
    array = open_zarr(write(tmp_path / "a.zarr"))["a"]
    array.rio.write_crs(32633).to_dataset(name="a").to_zarr(tmp_path / "b.zarr")
    warnings = []
    gdal.PushErrorHandler(lambda level, number, text: warnings.append(text))
    try:
        raster = gdal.Open(str(tmp_path / "b.zarr"))
        assert raster.GetSpatialRef().GetAuthorityCode(None) == "32633"
    finally:
        gdal.PopErrorHandler()
    assert warnings == []
