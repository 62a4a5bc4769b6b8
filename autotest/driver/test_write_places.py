"""Every reader finds the position of a raster: this driver, GDAL's built-in one, xarray, and
rioxarray. In each GEOREFERENCING_CONVENTION, with many CRSs, north up, south up and rotated.

In each GEOREFERENCING_CONVENTION, with many a CRS, north up, south up and rotated.
"""
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import rioxarray
import xarray
from classic import open_raster, write_tiff
from osgeo import gdal, osr
from test_programs import is_same_crs

DATA = np.random.default_rng(2).integers(0, 1000, (30, 40)).astype("i2")
PLACES = {
    "north-up": (500_000, 20, 0, 5_100_000, 0, -20),
    "south-up": (500_000, 20, 0, 5_000_000, 0, 20),
    "fractions": (7 + 1 / 3, 1 / 3600, 0, 47.1, 0, -1 / 3600),
    "to the left": (500_000, -20, 0, 5_100_000, 0, -20),
    "rotated": (500_000, 20, 3, 5_100_000, 4, -20),
    "on its side": (500_000, 0, 20, 5_100_000, 20, 0),
}
CRSS = {
    "UTM": "EPSG:32633", "latitude first": "EPSG:4326", "longitude first": "OGC:CRS84",
    "3D": "EPSG:4979", "Lambert": "EPSG:2154", "Mercator": "EPSG:3857", "polar": "EPSG:3413",
    "northing first": "EPSG:2193", "British": "EPSG:27700", "Swiss": "EPSG:2056",
    "US feet": "EPSG:2264", "compound": "EPSG:25832+5783", "Albers": "ESRI:102008",
    "no code": "+proj=laea +lat_0=47.3 +lon_0=8.1 +x_0=123 +ellps=bessel +units=m",
    "rotated pole":
    "+proj=ob_tran +o_proj=longlat +o_lon_p=-162 +o_lat_p=39.25 +lon_0=180 +R=6371229",
    "sinusoidal": "+proj=sinu +R=6371007.181 +units=m", "geostationary":
    "+proj=geos +h=35785831 +lon_0=0 +ellps=GRS80 +units=m +sweep=y", "Mars": "IAU_2015:49900",
}
CONVENTIONS = ["GDAL", "SPATIAL_PROJ", "CF"]


def crs_of(text):
    srs = osr.SpatialReference()
    srs.SetFromUserInput(text)
    return srs


def write(folder, convention, crs, place, zarr_format="ZARR_V2", nodata=None):
    write_tiff(folder / "a.tif", DATA, place=place, crs=crs, nodata=nodata)
    gdal.Translate(str(folder / "a.zarr"), str(folder / "a.tif"), format="Zarr", creationOptions=[
        f"GEOREFERENCING_CONVENTION={convention}", f"FORMAT={zarr_format}"])
    gdal.ErrorReset()
    return folder / "a.zarr"


@pytest.mark.parametrize("zarr_format", ["ZARR_V2", "ZARR_V3"])
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("crs", CRSS.values(), ids=CRSS)
def test_crs(tmp_path, convention, crs, zarr_format):
    path = write(tmp_path, convention, crs, PLACES["north-up"], zarr_format)
    got, want = open_raster(path), gdal.Open(str(tmp_path / "a.tif"))
    assert is_same_crs(got.GetSpatialRef(), want.GetSpatialRef())
    assert (got.GetSpatialRef().GetDataAxisToSRSAxisMapping()
            == want.GetSpatialRef().GetDataAxisToSRSAxisMapping())
    assert got.GetGeoTransform() == want.GetGeoTransform()
    np.testing.assert_array_equal(got.ReadAsArray(), DATA)


@pytest.mark.parametrize("zarr_format", ["ZARR_V2", "ZARR_V3"])
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("place", PLACES)
def test_place(tmp_path, convention, place, zarr_format):
    path = write(tmp_path, convention, "EPSG:32633", PLACES[place], zarr_format)
    got = open_raster(path)
    np.testing.assert_allclose(got.GetGeoTransform(), PLACES[place], rtol=1e-12, atol=1e-12)
    assert got.GetSpatialRef().GetAuthorityCode(None) == "32633"
    np.testing.assert_array_equal(got.ReadAsArray(), DATA)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (30, 1), (2, 2)])
def test_few_cells(tmp_path, convention, shape):
    """One cell has coordinates, but no spacing."""
    write_tiff(tmp_path / "a.tif", DATA[:shape[0], :shape[1]], place=PLACES["north-up"], crs=32633)
    gdal.Translate(str(tmp_path / "a.zarr"), str(tmp_path / "a.tif"), format="Zarr",
                   creationOptions=[f"GEOREFERENCING_CONVENTION={convention}"])
    assert open_raster(tmp_path / "a.zarr").GetGeoTransform() == PLACES["north-up"]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_moved(tmp_path, convention):
    """Later settings count, and nothing of the earlier ones."""
    path = write(tmp_path, convention, "EPSG:32633", PLACES["north-up"])
    for place, crs in [("rotated", "EPSG:25832"), ("south-up", "EPSG:4326"),
                       ("fractions", CRSS["no code"]),
                       ("on its side", "EPSG:2193"), ("north-up", "EPSG:32633")]:
        dataset = gdal.Open(str(path), gdal.GA_Update)
        dataset.SetGeoTransform(PLACES[place])
        dataset.SetSpatialRef(crs_of(crs))
        dataset = None
        dataset = open_raster(path)
        np.testing.assert_allclose(dataset.GetGeoTransform(), PLACES[place], rtol=1e-12)
        assert is_same_crs(dataset.GetSpatialRef(), crs_of(crs))
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)


# --- other readers -------------------------------------------------------------------------------

BUILT_IN = """
import json, sys
from osgeo import gdal
gdal.UseExceptions()
driver = gdal.GetDriverByName("Zarr")
assert driver.GetMetadataItem("GDAL_ZARR_VERSION") is None
dataset = gdal.Open(sys.argv[1])
print(json.dumps({"place": dataset.GetGeoTransform(can_return_null=True),
                  "crs": dataset.GetSpatialRef() and dataset.GetSpatialRef().ExportToWkt(
                      ["FORMAT=WKT2_2019"]),
                  "pixels": dataset.ReadAsArray().tolist()}))
"""


def read_by_built_in_driver(name, environment):
    result = subprocess.run([sys.executable, "-c", BUILT_IN, str(name)], capture_output=True,
                            text=True, env=environment, timeout=60)
    if "assert driver" in result.stderr or "'NoneType'" in result.stderr:
        pytest.skip("this GDAL has no Zarr driver of its own")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture
def no_plugins(tmp_path):
    return os.environ | {"GDAL_DRIVER_PATH": str(tmp_path / "none")}


@pytest.mark.parametrize("crs", ["EPSG:32633", "EPSG:4326", "EPSG:2193", CRSS["no code"]])
@pytest.mark.parametrize("place", ["north-up", "south-up", "fractions"])
@pytest.mark.parametrize("convention", ["GDAL", "CF"])
def test_built_in_driver(tmp_path, no_plugins, convention, place, crs):
    """GDAL 3.6 reads v2, with coordinates and _CRS. Its driver states how the axes of a CRS map to
    x and y in terms of rows and columns, also for its own stores."""
    path = write(tmp_path, convention, crs, PLACES[place])
    there = read_by_built_in_driver(f'ZARR:"{path}":/a', no_plugins)
    np.testing.assert_array_equal(there["pixels"], DATA)
    np.testing.assert_allclose(there["place"], PLACES[place], rtol=1e-12)
    if convention == "GDAL":
        srs = osr.SpatialReference()
        srs.ImportFromWkt(there["crs"])
        assert is_same_crs(srs, crs_of(crs))


@pytest.mark.parametrize("crs", CRSS.values(), ids=CRSS)
@pytest.mark.parametrize("place", ["north-up", "south-up", "fractions"])
def test_xarray(tmp_path, place, crs):
    """With CF, xarray and rioxarray find position and CRS by themselves."""
    path = write(tmp_path, "CF", crs, PLACES[place], nodata=-1)
    there = xarray.open_dataset(path, engine="zarr", decode_coords="all", mask_and_scale=False)["a"]
    np.testing.assert_array_equal(there, DATA)
    transform = there.rio.transform()
    x0, dx, _, y0, _, dy = PLACES[place]
    np.testing.assert_allclose(transform[:6], (dx, 0, x0, 0, dy, y0), rtol=1e-12, atol=1e-9)
    columns, rows = np.arange(40) + 0.5, np.arange(30) + 0.5
    np.testing.assert_allclose(there[there.rio.x_dim], x0 + dx * columns)
    np.testing.assert_allclose(there[there.rio.y_dim], y0 + dy * rows)
    srs = osr.SpatialReference()
    srs.ImportFromWkt(there.rio.crs.to_wkt())
    want = crs_of(crs)
    assert is_same_crs(srs, want) or srs.GetName() == want.GetName()


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("place", ["north-up", "south-up", "fractions"])
def test_coordinates_for_xarray(tmp_path, place, convention):
    """All conventions have coordinates, which xarray reads without any convention."""
    path = write(tmp_path, convention, "EPSG:32633", PLACES[place])
    there = xarray.open_dataset(path, engine="zarr")["a"]
    x0, dx, _, y0, _, dy = PLACES[place]
    np.testing.assert_allclose(there["X"], x0 + dx * (np.arange(40) + 0.5))
    np.testing.assert_allclose(there["Y"], y0 + dy * (np.arange(30) + 0.5))
    there = rioxarray.open_rasterio(path)
    np.testing.assert_allclose(there.rio.transform()[:6], (dx, 0, x0, 0, dy, y0), rtol=1e-12)
    assert there.rio.crs.to_epsg() == 32633
