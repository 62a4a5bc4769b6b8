"""The position of rasters: attributes and coordinates that state it, and which of them count."""
import json

import numpy as np
import pytest
from osgeo import gdal, osr

PLACED = (1000, 10, 0, 2000, 0, -10)


def wkt(code):
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(code)
    return crs.ExportToWkt(["FORMAT=WKT2_2019"])


def write(path, attributes, x=None, y=None, names=("y", "x"), mapping=None):
    """A raster of v2, its coordinates and its grid mapping."""
    nodes = {"data": ([4, 6], attributes, names, np.zeros((4, 6)))}
    if y is not None:
        nodes[names[0]] = ([4], y[1], names[:1], np.array(y[0]))
    if x is not None:
        nodes[names[1]] = ([6], x[1], names[1:], np.array(x[0]))
    if mapping is not None:
        nodes["crs"] = ([], mapping, (), np.zeros(()))
    path.mkdir()
    (path / ".zgroup").write_text(json.dumps({"zarr_format": 2}))
    for name, (shape, node_attributes, dimensions, data) in nodes.items():
        (path / name).mkdir()
        (path / name / ".".join("0" for _ in shape or [0])).write_bytes(
            data.astype("<f8").tobytes())
        (path / name / ".zarray").write_text(json.dumps({
            "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": "<f8", "order": "C",
            "compressor": None, "filters": None, "fill_value": None}))
        (path / name / ".zattrs").write_text(
            json.dumps({**node_attributes, "_ARRAY_DIMENSIONS": list(dimensions)}))
    return path


def place(path):
    return gdal.Open(f'ZARR:"{path}":/data').GetGeoTransform(can_return_null=True)


def regular(start, step, size):
    return [start + step * i for i in range(size)], {}


X = regular(1005, 10, 6)
Y = regular(1995, -10, 4)


@pytest.mark.parametrize("names", [("y", "x"), ("Y", "X"), ("lat", "lon"), ("row", "column"),
                                   ("latitude", "longitude"), ("northing", "easting")])
def test_names_of_coordinates(tmp_path, names):
    assert place(write(tmp_path / "a.zarr", {}, X, Y, names)) == PLACED


@pytest.mark.parametrize("y, expected", [
    (regular(1995, -10, 4), PLACED),
    (regular(1965, 10, 4), (1000, 10, 0, 1960, 0, 10)),
])
def test_directions_of_y(tmp_path, y, expected):
    assert place(write(tmp_path / "a.zarr", {}, X, y)) == expected


@pytest.mark.parametrize("x", [([1, 2, 4, 8, 16, 32], {}), None])
def test_irregular_coordinates_place_nothing(tmp_path, x):
    assert place(write(tmp_path / "a.zarr", {}, x, Y)) is None


@pytest.mark.builtin_since("3.8")
def test_coordinates_count_more_than_a_geotransform(tmp_path):
    """Programs that cut out a part often leave the text for the whole."""
    path = write(tmp_path / "a.zarr", {"grid_mapping": "crs"}, X, Y,
                 mapping={"crs_wkt": wkt(32631), "GeoTransform": "500 10 0 3000 0 -10"})
    assert place(path) == PLACED


@pytest.mark.ours_only("it does not read GeoTransform")
def test_geotransform_alone(tmp_path):
    path = write(tmp_path / "a.zarr", {"grid_mapping": "crs"},
                 mapping={"crs_wkt": wkt(32631), "GeoTransform": "1000 10 0 2000 0 -10"})
    assert place(path) == PLACED


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("transform", [PLACED, (1000, 10, 1, 2000, 2, -10)])
def test_gdals_own_attribute(tmp_path, transform):
    attributes = {"gdal:geotransform": [float(number) for number in transform]}
    assert place(write(tmp_path / "a.zarr", attributes)) == transform
    assert place(write(tmp_path / "b.zarr", attributes, regular(5, 1, 6), Y)) == transform


@pytest.mark.builtin_since("3.8")  # before, it swaps the axes of projected CRSs
@pytest.mark.parametrize("value", [
    {"url": "http://www.opengis.net/def/crs/EPSG/0/32631"}, {"wkt": wkt(32631)}])
def test_crs_of_gdal(tmp_path, value):
    path = write(tmp_path / "a.zarr", {"_CRS": value}, X, Y)
    raster = gdal.Open(f'ZARR:"{path}":/data')
    assert raster.GetSpatialRef().GetAuthorityCode(None) == "32631"
    assert raster.GetGeoTransform() == PLACED
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArray("data")
    assert array.GetSpatialRef().GetDataAxisToSRSAxisMapping() == [2, 1]
