"""What published stores mean besides the position of their arrays."""
import numpy as np
import pytest
from builders import LATITUDE, LONGITUDE, VALUES, Store, X, Y
from osgeo import gdal
from stores import write_array

ROW, COLUMN = np.mgrid[0:30, 0:40]


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "s.zarr")
    store.group()
    return store


def raster(store, array, *options):
    return gdal.OpenEx(f'ZARR:"{store.path}":{array}', gdal.OF_RASTER, open_options=list(options))


@pytest.mark.parametrize("fill_value", [-1, 65535])
def test_unsigned_integers_stored_as_signed(store, fill_value):
    """As in GOES through Kerchunk: netCDF-3 has no unsigned types."""
    stored = np.array([[100, 40000, 65535]] * 2, "u2").view("i2")
    store.array("v", stored, ["y", "x"], {"_Unsigned": "true", "_FillValue": fill_value})
    dataset = raster(store, "/v")
    band = dataset.GetRasterBand(1)
    assert band.DataType == gdal.GDT_UInt16
    assert band.ReadAsArray()[0].tolist() == [100, 40000, 65535]
    assert band.GetNoDataValue() == 65535


def test_signed_integers_stored_as_unsigned(store):
    store.array("v", np.array([[1, 255]], "u1"), ["y", "x"], {"_Unsigned": "false"})
    assert raster(store, "/v").ReadAsArray().tolist() == [[1, -1]]


def test_unsigned_integers_are_written_back_as_they_were_stored(store):
    store.array("v", np.array([[1, 2]], "i2"), ["y", "x"], {"_Unsigned": "true"})
    dataset = gdal.OpenEx(str(store.path), gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.WriteArray(np.array([[40000, 65535]], "u2"))
    del dataset
    assert raster(store, "/v").ReadAsArray().tolist() == [[40000, 65535]]


@pytest.mark.parametrize("units, calendar, value, expected", [
    ("months since 1960-01-01", "360_day", 14, "1961-03-01T00:00"),
    ("years since 1960-01-01", "360_day", 1.5, "1961-07-01T00:00"),
    ("common_years since 2000-01-01", "noleap", 3, "2003-01-01T00:00"),
    ("years since 2000-01-01", "noleap", 3, "2003-01-01T00:00"),
    ("hours since 2000-01-01 00:00:00 UTC+0", "standard", 6, "2000-01-01T06:00"),
    ("hours since 2000-01-01 00:00:00 UTC+1", "standard", 6, "2000-01-01T05:00"),
    ("days since 2000", "standard", 1, "2000-01-02T00:00"),
    ("days since 20000131", "standard", 1, "2000-02-01T00:00"),
    ("0.5 hours since 2000-01-01", "standard", 3, "2000-01-01T01:30"),
])
def test_times(store, units, calendar, value, expected):
    store.array("time", np.array([float(value)]), ["time"], {"units": units, "calendar": calendar})
    store.array("v", VALUES[None], ["time", "y", "x"])
    dataset = raster(store, "/v")
    assert dataset.GetRasterBand(1).GetDescription() == f"time={expected}"


def test_an_array_may_begin_below_the_finest_level(tmp_path):
    """Of Sentinel-2 in EOPF, some bands have no level of 10 m."""
    store = Store(tmp_path / "s.zarr")
    store.group(multiscales={"layout": [
        {"asset": "r10m"}, {"asset": "r20m", "derived_from": "r10m"},
        {"asset": "r60m", "derived_from": "r20m"}]})
    for level, size, bands in (("r10m", 12, ["b02"]), ("r20m", 6, ["b02", "b05"]),
                               ("r60m", 2, ["b02", "b05"])):
        store.group(level)
        for band in bands:
            write_array(store.path / level / band, np.zeros((size, size)), names=["y", "x"])
    listed = [name.rpartition(":")[2] for name, _ in gdal.Open(str(store.path)).GetSubDatasets()]
    assert sorted(listed) == ["/r10m/b02", "/r20m/b05"]
    dataset = raster(store, "/r20m/b05")
    assert dataset.GetRasterBand(1).GetOverviewCount() == 1


def test_longitudes_are_assumed_to_be_of_wgs_84_where_asked(store):
    store.axes(10 + np.arange(8.0), 50 - np.arange(6.0), LONGITUDE, LATITUDE, ("lon", "lat"))
    store.array("v", VALUES, ["lat", "lon"])
    assert raster(store, "/v").GetSpatialRef() is None
    crs = raster(store, "/v", "ASSUME_LONGLAT=YES").GetSpatialRef()
    assert crs.GetAuthorityCode(None) == "4326"
    dataset = gdal.OpenEx(str(store.path), gdal.OF_MULTIDIM_RASTER,
                          open_options=["ASSUME_LONGLAT=YES"])
    assert dataset.GetRootGroup().OpenMDArray("v").GetSpatialRef() is not None
    store.axes(10 + np.arange(8.0), 50 - np.arange(6.0), X, Y, ("a", "b"))
    store.array("w", VALUES, ["b", "a"])
    assert raster(store, "/w", "ASSUME_LONGLAT=YES").GetSpatialRef() is None


def test_a_copy_states_its_own_source(store, tmp_path):
    store.utm({"crs": "EPSG:32632"})
    source = raster(store, "/v")
    assert source.GetMetadata("GEOREFERENCING_SOURCE")["CRS"] == "the attribute crs of array /v"
    copy = gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "copy.zarr"), source)
    del copy
    copy = gdal.Open(str(tmp_path / "copy.zarr"))
    assert copy.GetMetadata("GEOREFERENCING_SOURCE")["CRS"] == "the attribute _CRS"
    assert copy.GetSpatialRef().GetAuthorityCode(None) == "32632"
    assert copy.GetGeoTransform() == source.GetGeoTransform()


def test_attributes_of_groups_are_metadata(store):
    """Of a raster, and of a list of several."""
    store.group(title="a product", history="made")
    store.group("g", title="a group", comment="none")
    for name in ("a", "b"):
        store.array(f"g/{name}", VALUES, ["y", "x"], {"comment": name})
    listed = gdal.Open(str(store.path))
    assert len(listed.GetSubDatasets()) == 2
    assert listed.GetMetadata() == {"title": "a product", "history": "made"}
    assert raster(store, "/g/a").GetMetadata() == {
        "title": "a group", "history": "made", "comment": "a"}


def test_helpers_are_no_rasters(store):
    """Those that a group's `coordinates` names, bounds, and ancillary variables."""
    store.group(coordinates="lon lat")
    for name in ("v", "w", "lon", "lat", "error", "time_bnds", "u1", "u2"):
        store.array(name, VALUES, ["y", "x"], {
            "v": {"ancillary_variables": "error none"}, "w": {"bounds": "time_bnds"},
            # Equals, as the components of wind in some products.
            "u1": {"ancillary_variables": "u2"}, "u2": {"ancillary_variables": "u1"},
        }.get(name))
    names = [name.rpartition(":")[2] for name, _ in gdal.Open(str(store.path)).GetSubDatasets()]
    assert names == ["/u1", "/u2", "/v", "/w"]
    every = gdal.OpenEx(str(store.path), gdal.OF_RASTER, open_options=["LIST_ALL_ARRAYS=YES"])
    assert len(every.GetSubDatasets()) == 8


def test_helpers_of_other_groups_are_no_rasters(store):
    """Coordinates of a group above or at a path, the nodes of a mesh, ground control points."""
    for group in ("data", "nav", "conditions", "conditions/gcp"):
        store.group(group)
    for name in ("lon", "data/depth", "depth", "nav/lat", "nav/v", "faces",
                 "conditions/gcp/height"):
        store.array(name, VALUES, ["y", "x"])
    store.array("data/v", VALUES, ["y", "x"], {"coordinates": "lon ../nav/lat depth /none ../../b"})
    store.scalar("mesh", {"cf_role": "mesh_topology", "face_node_connectivity": "faces"})
    names = [name.rpartition(":")[2] for name, _ in gdal.Open(str(store.path)).GetSubDatasets()]
    assert names == ["/data/v", "/depth", "/nav/v"]


def test_a_swath_across_180_degrees_is_projected(store):
    """Its longitudes go on beyond 180, where GDAL's transformers look for those within ±180."""
    longitudes = 168 + 0.5 * COLUMN + 0.1 * ROW
    latitudes = 40 + 0.5 * ROW - 0.05 * COLUMN
    assert longitudes.min() < 180 < longitudes.max()
    store.positions(["y", "x"], longitudes=longitudes, latitudes=latitudes)
    values = np.arange(longitudes.size, dtype="f4").reshape(longitudes.shape)
    store.array("v", values, ["y", "x"], {"coordinates": "longitude latitude"})
    warped = gdal.Warp("", raster(store, "/v"), format="MEM", dstNodata=-99,
                       dstSRS="+proj=laea +lon_0=175 +lat_0=45 +datum=WGS84")
    got = set(warped.ReadAsArray().ravel())
    for side in (longitudes < 180, longitudes > 180):  # of each, nearest neighbours
        assert len(got & set(values[side])) > 0.8 * side.sum()
