"""Position of rasters: geotransform and CRS by GDAL's and CF's conventions, and in GDAL's programs.
test_conventions.py tests the other conventions.

The other conventions have test_conventions.py.
"""
import json
import math
import re
import subprocess

import numpy as np
import pytest
from classic import GRID, checksum, in_memory, open_raster
from osgeo import gdal, osr
from stores import edit_json, write_array, write_group

# --- Where it lies -------------------------------------------------------------------------------

def write_located(path, x, y, attributes=None, mapping=None):
    """A raster with coordinates and a grid mapping variable `crs`."""
    write_group(path)
    data = np.zeros((len(y), len(x)), "u1")
    write_array(path / "a", data, names=["y", "x"], attributes=attributes)
    write_array(path / "x", x, names=["x"])
    write_array(path / "y", y, names=["y"])
    if mapping is not None:
        write_array(path / "crs", np.int32(0), (), attributes=mapping)
    return path


def geotransform(path):
    return gdal.Open(f'ZARR:"{path}":/a').GetGeoTransform(can_return_null=True)


@pytest.mark.parametrize("x, y, want", [
    (np.arange(10, 50, 10), np.arange(300, 0, -100), (5, 10, 0, 350, 0, -100)),
    (np.arange(10, 50, 10), np.arange(100, 400, 100), (5, 10, 0, 50, 0, 100)),  # south-up
    (np.arange(50, 10, -10.0), np.array([2.0, 1.0]), (55, -10, 0, 2.5, 0, -1)),
])
def test_geotransform(tmp_path, x, y, want):
    assert geotransform(write_located(tmp_path, x, y)) == want


def test_geotransform_of_float32_coordinates(tmp_path):
    """Even steps that were rounded are still even."""
    x = np.linspace(0, 359.99, 36000).astype("f4")
    y = np.linspace(89.995, 80.005, 1000).astype("f4")
    assert np.ptp(np.diff(x)) > 1e-5
    got = geotransform(write_located(tmp_path, x, y))
    assert got == pytest.approx((-0.005, 0.01, 0, 90, 0, -0.01), abs=1e-5)


def test_geotransform_of_fine_grids_far_from_the_origin(tmp_path):
    x = 440000.25 + np.arange(300) * 0.5
    y = 5000000.05 - np.arange(300) * 0.1
    assert geotransform(write_located(tmp_path, x, y)) == pytest.approx(
        (440000, 0.5, 0, 5000000.1, 0, -0.1), rel=1e-9)


def test_geotransform_of_packed_coordinates(tmp_path):
    """Indexing variables are read with scale and offset."""
    write_located(tmp_path, np.arange(4, dtype="i2"), np.arange(3, dtype="i2"))
    edit_json(tmp_path / "x/zarr.json", attributes={"scale_factor": 0.5, "add_offset": 10})
    edit_json(tmp_path / "y/zarr.json", attributes={"scale_factor": -2.0})
    assert geotransform(tmp_path) == (9.75, 0.5, 0, 1, 0, -2)


@pytest.mark.parametrize("x, y", [
    ([0.0, 1.0, 2.5], [1.0, 0.0]),
    ([0.0, 1.0, 2.0], [3.0, 2.0, 0.0]),
    ([0.0], [1.0, 0.0]),
    ([0.0, 0.0], [1.0, 0.0]),
    ([0.0, math.nan, 2.0], [1.0, 0.0]),
    ([0.0, 1.0, math.inf], [1.0, 0.0]),
])
def test_uneven_coordinates(tmp_path, x, y):
    assert geotransform(write_located(tmp_path, np.array(x), np.array(y))) is None


@pytest.mark.parametrize("text, want", [
    # It is more precise than coordinates that agree with it, and states what they cannot.
    ("-0.49 0.999 0 1.501 0 -1", (-0.49, 0.999, 0, 1.501, 0, -1)),
    ("500.5 10 1e-3 800 2 -10 ", (500.5, 10, 0.001, 800, 2, -10)),
    # A part that was cut out of a raster may still have the text for the whole.
    ("500 10 0 800 0 -10", (-0.5, 1, 0, 1.5, 0, -1)),
    ("-0.5 1.1 0 1.5 0 -1", (-0.5, 1, 0, 1.5, 0, -1)),
    # Nothing else is a geotransform, and the coordinates count.
    ("500 10 0 800 0", (-0.5, 1, 0, 1.5, 0, -1)),
    ("500 10 0 800 0 north", (-0.5, 1, 0, 1.5, 0, -1)),
    ([500, 10, 0, 800, 0, -10], (-0.5, 1, 0, 1.5, 0, -1)),
])
def test_geotransform_attribute(tmp_path, text, want):
    mapping = {"crs_wkt": wkt(32633), "GeoTransform": text}
    path = write_located(tmp_path, np.arange(3.0), np.array([1.0, 0.0]), {"grid_mapping": "crs"},
                         mapping)
    assert geotransform(path) == want


def test_a_geotransform_that_coordinates_contradict_is_warned_of(tmp_path, warnings):
    write_located(tmp_path, np.arange(3.0), np.array([1.0, 0.0]), {"grid_mapping": "crs"},
                  {"crs_wkt": wkt(32633), "GeoTransform": "500 10 0 800 0 -10"})
    assert geotransform(tmp_path) == (-0.5, 1, 0, 1.5, 0, -1)
    (warning,) = warnings
    assert "GeoTransform of crs (500.0 10.0 0.0 800.0 0.0 -10.0)" in warning
    assert "coordinates of x and y (-0.5 1.0 0.0 1.5 0.0 -1.0)" in warning


def test_geotransform_attribute_without_even_coordinates(tmp_path):
    path = write_located(tmp_path, np.array([0.0, 1.0, 5.0]), np.array([1.0, 0.0]),
                         {"grid_mapping": "crs"}, {"GeoTransform": "500 10 0 800 0 -10"})
    assert geotransform(path) == (500, 10, 0, 800, 0, -10)


def spatial_reference(code):
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(code)
    return srs


def wkt(code):
    return spatial_reference(code).ExportToWkt()


def projjson(code):
    return json.loads(spatial_reference(code).ExportToPROJJSON())


def assert_crs(dataset, code, mapping):
    srs = dataset.GetSpatialRef()
    assert srs is not None
    assert srs.IsSame(spatial_reference(code), ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"])
    assert srs.GetDataAxisToSRSAxisMapping() == mapping


@pytest.mark.parametrize("code, mapping", [
    (4326, [2, 1]),  # latitude first
    (32633, [1, 2]),
    (2193, [2, 1]),  # northing first
    (3031, [1, 2]),  # both axes point to the north
])
@pytest.mark.parametrize("value", [
    lambda code: {"url": f"http://www.opengis.net/def/crs/EPSG/0/{code}"},
    lambda code: {"wkt": wkt(code)},
    lambda code: {"projjson": projjson(code)},
    lambda code: {"url": "http://www.opengis.net/def/crs/EPSG/0/0", "wkt": wkt(code)},
    lambda code: {"url": 5, "wkt": wkt(code), "projjson": projjson(27700)},
], ids=["url", "wkt", "projjson", "bad url", "wkt before projjson"])
def test_crs_attribute(tmp_path, value, code, mapping):
    write_array(tmp_path, GRID, attributes={"_CRS": value(code)})
    assert_crs(open_raster(tmp_path), code, mapping)


@pytest.mark.parametrize("value", [{}, "EPSG:far away", {"wkt": "PROJCS["}, {"projjson": {}}, None])
def test_useless_crs_attribute(tmp_path, warnings, value):
    write_array(tmp_path, GRID, attributes={"_CRS": value})
    dataset = open_raster(tmp_path)
    assert dataset.GetSpatialRef() is None
    assert warnings == ["Zarr: the attribute _CRS is not understood"]
    np.testing.assert_array_equal(dataset.ReadAsArray(), GRID)


@pytest.mark.parametrize("text", ["crs", "crs: x y", "crs: y x other: lon lat"])
@pytest.mark.parametrize("key", ["crs_wkt", "spatial_ref"])
def test_grid_mapping(tmp_path, text, key):
    mapping = {key: wkt(4326), "grid_mapping_name": "latitude_longitude"}
    path = write_located(tmp_path, np.arange(2.0), np.arange(2.0), {"grid_mapping": text}, mapping)
    assert_crs(gdal.Open(f'ZARR:"{path}":/a'), 4326, [2, 1])


@pytest.mark.parametrize("place", ["", "deep", "deep/down"])
def test_grid_mapping_above(tmp_path, place):
    for group in ("", "deep", "deep/down"):
        write_group(tmp_path / group)
    write_array(tmp_path / "deep/down/a", GRID, attributes={"grid_mapping": "crs"})
    if place != "":  # a nearer one hides it
        write_array(tmp_path / "crs", np.int32(0), (), attributes={"crs_wkt": wkt(27700)})
    write_array(tmp_path / place / "crs", np.int32(0), (), attributes={"crs_wkt": wkt(32633)})
    assert_crs(gdal.Open(f'ZARR:"{tmp_path}":/deep/down/a'), 32633, [1, 2])


@pytest.mark.parametrize("name, problem", [
    ("absent", 'grid mapping "absent" .*: there is no such variable'),
    ("../crs", r'grid mapping "\.\./crs" .*: there is no such variable'),
    ("crs", 'grid mapping "crs" is not understood: .*no_such_projection'),
])
def test_useless_grid_mapping(tmp_path, warnings, name, problem):
    path = write_located(tmp_path, np.arange(2.0), np.arange(2.0), {"grid_mapping": name},
                         {"grid_mapping_name": "no_such_projection"})
    dataset = gdal.Open(f'ZARR:"{path}":/a')
    assert dataset.GetSpatialRef() is None
    assert len(warnings) == 1 and re.search(problem, warnings[0])


def test_no_crs(tmp_path):
    """Degrees alone do not tell which."""
    write_located(tmp_path, np.arange(2.0), np.arange(2.0))
    assert gdal.Open(f'ZARR:"{tmp_path}":/a').GetSpatialRef() is None


# --- As programs see it --------------------------------------------------------------------------

@pytest.fixture
def located(tmp_path):
    path = tmp_path / "located.zarr"
    write_group(path)
    write_array(path / "a", GRID, (16, 32), fill_value=-1, names=["y", "x"],
                attributes={"_CRS": {"wkt": wkt(32633)}, "units": "m"})
    write_array(path / "x", 500_005 + 10.0 * np.arange(70), names=["x"])
    write_array(path / "y", 5_000_495 - 10.0 * np.arange(50), names=["y"])
    return path


def run(*command):
    result = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_gdalinfo(located):
    info = json.loads(run("gdalinfo", "-json", "-checksum", "-stats", located))
    assert info["driverShortName"] == "Zarr"
    assert info["size"] == [70, 50]
    assert info["geoTransform"] == [500_000, 10, 0, 5_000_500, 0, -10]
    assert 'ID["EPSG",32633]' in info["coordinateSystem"]["wkt"]
    (band,) = info["bands"]
    assert (band["type"], band["block"], band["noDataValue"]) == ("Int16", [32, 16], -1)
    assert band["unit"] == "m"
    assert band["checksum"] == checksum(in_memory(GRID))
    assert (band["minimum"], band["maximum"]) == (GRID.min(), GRID.max())


def test_gdalmdiminfo(located):
    info = json.loads(run("gdalmdiminfo", "-detailed", located))
    assert info["driver"] == "Zarr"
    assert info["arrays"]["a"]["dimensions"] == ["/y", "/x"]
    assert info["arrays"]["a"]["block_size"] == [16, 32]
    assert info["arrays"]["a"]["values"] == GRID.tolist()


def test_gdal_translate(located, tmp_path):
    run("gdal_translate", "-q", "-srcwin", 5, 6, 40, 30, located, tmp_path / "a.tif")
    copy = gdal.Open(str(tmp_path / "a.tif"))
    np.testing.assert_array_equal(copy.ReadAsArray(), GRID[6:36, 5:45])
    assert copy.GetGeoTransform() == (500_050, 10, 0, 5_000_440, 0, -10)
    assert_crs(copy, 32633, [1, 2])
    assert copy.GetRasterBand(1).GetNoDataValue() == -1


def test_gdalwarp(located, tmp_path):
    """The same warp from a GeoTIFF with the same pixels."""
    run("gdal_translate", "-q", located, tmp_path / "a.tif")
    for source, name in ((located, "zarr.tif"), (tmp_path / "a.tif", "tif.tif")):
        run("gdalwarp", "-q", "-t_srs", "EPSG:3857", "-r", "bilinear", source, tmp_path / name)
    warped, want = (gdal.Open(str(tmp_path / name)) for name in ("zarr.tif", "tif.tif"))
    assert warped.GetGeoTransform() == want.GetGeoTransform()
    assert (warped.ReadAsArray() > 0).any()
    np.testing.assert_array_equal(warped.ReadAsArray(), want.ReadAsArray())


def test_gdalmdimtranslate(located, tmp_path):
    run("gdalmdimtranslate", located, tmp_path / "a.nc", "-array", "a")
    copy = gdal.OpenEx(str(tmp_path / "a.nc"), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    np.testing.assert_array_equal(copy.OpenMDArray("a").ReadAsArray(), GRID)
