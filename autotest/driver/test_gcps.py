"""Ground control points that a store states: rioxarray's attribute, and Sentinel-1's arrays."""
import json

import numpy as np
import pytest
import rasterio
from classic import open_raster
from osgeo import gdal, osr
from rasterio.control import GroundControlPoint
from stores import write_array, write_group
from test_programs import run

POINTS = [GroundControlPoint(row=0.0, col=0.5, x=11.0, y=48.0, z=500.0, id="a", info="a peak"),
          GroundControlPoint(row=0.0, col=4.0, x=12.0, y=48.0, z=0.0, id="b", info=""),
          GroundControlPoint(row=3.0, col=0.0, x=11.0, y=47.0, z=0.0, id="c", info=""),
          GroundControlPoint(row=3.0, col=4.0, x=12.0, y=47.0, z=0.0, id="d", info="")]


def collection(points):
    """The text that rioxarray's write_gcps() stores."""
    return json.dumps({"type": "FeatureCollection",
                       "features": [point.__geo_interface__ for point in points]})


def write(path, gcps):
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(4326)
    write_group(path)
    write_array(path / "a", np.arange(12, dtype="u1").reshape(3, 4), names=["y", "x"],
                attributes={"grid_mapping": "spatial_ref"})
    write_array(path / "spatial_ref", np.array(0), names=[],
                attributes={"crs_wkt": crs.ExportToWkt(), "gcps": gcps})
    return path


def test_of_rioxarray(tmp_path):
    dataset = open_raster(write(tmp_path / "a.zarr", collection(POINTS)))
    assert dataset.GetGeoTransform(can_return_null=True) is None
    first = dataset.GetGCPs()[0]
    assert (first.Id, first.Info, first.GCPPixel, first.GCPLine) == ("a", "a peak", 0.5, 0.0)
    assert (first.GCPX, first.GCPY, first.GCPZ) == (11.0, 48.0, 500.0)
    assert dataset.GetGCPCount() == 4
    assert dataset.GetGCPSpatialRef().GetAuthorityCode(None) == "4326"
    with rasterio.open(tmp_path / "a.zarr") as opened:
        points, crs = opened.gcps
    assert [point.asdict() for point in points] == [point.asdict() for point in POINTS]
    assert crs.to_epsg() == 4326


def test_they_place_a_warp(tmp_path):
    path = write(tmp_path / "a.zarr", collection(POINTS))
    run("gdalwarp", "-q", "-order", "1", path, tmp_path / "a.tif")
    transform = gdal.Open(str(tmp_path / "a.tif")).GetGeoTransform()
    assert abs(transform[0] - 11) < 0.3 and abs(transform[3] - 48) < 0.3


@pytest.mark.parametrize("gcps, problem", [
    ("{", "gcps of spatial_ref is not used"),
    (3, 'no list "features"'),
    ('{"features": [{}]}', "is not a point"),
    ('{"features": [{"properties": {"row": 1}, "geometry": {"coordinates": [1, 2]}}]}', '"col"'),
    ('{"features": [{"properties": {"row": 1, "col": 2}, "geometry": {"coordinates": ["a", 2]}}]}',
     "are not numbers"),
], ids=str)
def test_useless(tmp_path, warnings, gcps, problem):
    assert open_raster(write(tmp_path / "a.zarr", gcps)).GetGCPCount() == 0
    assert len(warnings) == 1 and problem in warnings[0]


@pytest.fixture
def placed_by_points(tmp_path):
    """A GeoTIFF that control points place."""
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(32632)
    crs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    dataset = gdal.GetDriverByName("GTiff").Create(str(tmp_path / "a.tif"), 4, 3)
    dataset.SetGCPs([gdal.GCP(x, y, z, column, row) for x, y, z, column, row in [
        (5e5, 5.3e6, 0, 0, 0), (5.04e5, 5.3e6, 100, 4, 0), (5e5, 5.297e6, 0, 0, 3),
        (5.04e5, 5.2971e6, 0, 4, 3)]], crs)
    del dataset
    return tmp_path / "a.tif"


def points_of(dataset):
    return [(p.GCPX, p.GCPY, p.GCPZ, p.GCPPixel, p.GCPLine) for p in dataset.GetGCPs()]


@pytest.mark.parametrize("options", [[], ["GEOREFERENCING_CONVENTION=CF"],
                                     ["GEOREFERENCING_CONVENTION=CF", "FORMAT=ZARR_V3"],
                                     ["GEOREFERENCING_CONVENTION=SPATIAL_PROJ"]], ids=str)
def test_copies(placed_by_points, tmp_path, options):
    arguments = [argument for option in options for argument in ("-co", option)]
    run("gdal_translate", "-q", "-of", "Zarr", *arguments, placed_by_points, tmp_path / "b.zarr")
    source, copy = gdal.Open(str(placed_by_points)), open_raster(tmp_path / "b.zarr")
    assert points_of(copy) == points_of(source)
    assert copy.GetGCPSpatialRef().IsSame(source.GetGCPSpatialRef())
    assert copy.GetSpatialRef() is None and source.GetSpatialRef() is None
    assert copy.GetGeoTransform(can_return_null=True) is None
    is_in_store = "GEOREFERENCING_CONVENTION=CF" in options
    assert bool(list(tmp_path.rglob("gdal.aux.xml"))) == (not is_in_store)


@pytest.fixture
def with_points(placed_by_points, tmp_path):
    path = tmp_path / "b.zarr"
    run("gdal_translate", "-q", "-of", "Zarr", "-co", "GEOREFERENCING_CONVENTION=CF",
        placed_by_points, path)
    return path


def test_rioxarray_reads_them(with_points):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("rioxarray", minversion="0.18")  # older ones expect an object, no text
    array = xarray.open_zarr(str(with_points), decode_coords="all")["b"]
    points = array.rio.get_gcps()
    assert [(p.x, p.y, p.z, p.col, p.row) for p in points] == points_of(open_raster(with_points))
    assert array.rio.crs.to_epsg() == 32632


def test_edits(with_points):
    dataset = gdal.Open(str(with_points), gdal.GA_Update)
    points = dataset.GetGCPs()
    dataset.SetMetadataItem("TITLE", "a")
    del dataset
    assert len(points_of(open_raster(with_points))) == 4

    dataset = gdal.Open(str(with_points), gdal.GA_Update)
    dataset.SetGCPs(points[:3], dataset.GetGCPSpatialRef())
    del dataset
    assert len(points_of(open_raster(with_points))) == 3

    dataset = gdal.Open(str(with_points), gdal.GA_Update)
    dataset.SetGCPs([], None)
    assert dataset.GetGCPCount() == 0
    assert dataset.GetSpatialRef() is None
    del dataset
    dataset = open_raster(with_points)
    assert dataset.GetGCPCount() == 0
    assert dataset.GetSpatialRef() is None


def test_points_beside_another_crs_are_beside_the_store(with_points):
    other = osr.SpatialReference()
    other.ImportFromEPSG(3857)
    dataset = gdal.Open(str(with_points), gdal.GA_Update)
    dataset.SetSpatialRef(other)
    points = dataset.GetGCPs()
    geographic = osr.SpatialReference()
    geographic.SetFromUserInput("OGC:CRS84")
    dataset.SetGCPs(points, geographic)
    del dataset
    dataset = open_raster(with_points)
    assert dataset.GetGCPSpatialRef().IsSame(geographic)
    assert dataset.GetSpatialRef().GetAuthorityCode(None) == "3857"
    assert len(points_of(dataset)) == 4


@pytest.fixture
def sentinel(tmp_path):
    """A product with three lines of two points."""
    path = tmp_path / "S1A.zarr"
    for group in ("", "VV", "VV/measurements", "VV/conditions", "VV/conditions/gcp"):
        write_group(path / group)
    write_array(path / "VV/measurements/grd", np.zeros((30, 20), "u2"),
                names=["azimuth_time", "ground_range"])
    gcp = path / "VV/conditions/gcp"
    names = ["azimuth_time", "ground_range"]
    write_array(gcp / "line", np.array([0, 15, 29]), names=names[:1])
    write_array(gcp / "pixel", np.array([0, 19]), names=names[1:])
    write_array(gcp / "longitude", np.array([[5.0, 6], [5.1, 6.1], [5.2, np.nan]]), names=names)
    write_array(gcp / "latitude", np.array([[50.0, 50.1], [49, 49.1], [48, 48.1]]), names=names)
    write_array(gcp / "height", np.arange(6.0).reshape(3, 2), names=names)
    return path


def test_of_sentinel_1(sentinel):
    dataset = gdal.Open(f'ZARR:"{sentinel}":/VV/measurements/grd')
    points = [(p.GCPLine, p.GCPPixel, p.GCPX, p.GCPY, p.GCPZ) for p in dataset.GetGCPs()]
    assert points == [(0, 0, 5, 50, 0), (0, 19, 6, 50.1, 1), (15, 0, 5.1, 49, 2),
                      (15, 19, 6.1, 49.1, 3), (29, 0, 5.2, 48, 4)]
    assert dataset.GetGCPSpatialRef().GetAuthorityCode(None) == "4326"


def test_other_arrays_of_the_product_have_none(sentinel):
    write_group(sentinel / "VV/quality")
    write_array(sentinel / "VV/quality/noise", np.zeros((30, 20)), names=["line", "pixel"])
    assert gdal.Open(f'ZARR:"{sentinel}":/VV/quality/noise').GetGCPCount() == 0


def test_damaged_points(sentinel, warnings):
    (sentinel / "VV/conditions/gcp/line/zarr.json").write_text("{")
    assert gdal.Open(f'ZARR:"{sentinel}":/VV/measurements/grd').GetGCPCount() == 0
    assert len(warnings) == 1 and "conditions/gcp/line" in warnings[0]
