"""Position and meaning of arrays, by each convention that stores follow."""
import netCDF4
import numpy as np
import pytest
import xarray
from osgeo import gdal, osr
from stores import edit_json, write_array, write_group
from v2_stores import write_v2, write_v2_group

GRID = np.arange(12, dtype="f4").reshape(3, 4)


def open_multidim(path):
    return gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)


def open_array(path, name="/v"):
    """The dataset (to be kept) and an array."""
    dataset = open_multidim(path)
    return dataset, dataset.GetRootGroup().OpenMDArrayFromFullname(name)


def epsg_of(crs):
    return None if crs is None else int(crs.GetAuthorityCode(None))


def write_grid(path, name="v", group=None, dims=("y", "x"), **attributes):
    write_group(path, group)
    return write_array(path / name, GRID, names=dims, attributes=attributes)


def write_axis(path, name, values, **attributes):
    write_array(path / name, np.asarray(values, "f8"), names=[name], attributes=attributes)


# The spatial: and proj: conventions


@pytest.mark.parametrize("where", ["array", "group"])
def test_spatial_and_proj(tmp_path, where):
    convention = {"spatial:transform": [60, 5, 440720, 7, -60, 3751320], "proj:code": "EPSG:32633"}
    if where == "array":
        write_grid(tmp_path, **convention)
    else:
        write_grid(tmp_path, group=convention)
    raster = gdal.Open(str(tmp_path))
    assert raster.GetGeoTransform() == (440720, 60, 5, 3751320, 7, -60)
    assert epsg_of(raster.GetSpatialRef()) == 32633
    assert raster.GetMetadata() == {"AREA_OR_POINT": "Area"}
    _, array = open_array(tmp_path)
    assert epsg_of(array.GetSpatialRef()) == 32633
    assert [a.GetName() for a in array.GetAttributes()] == []
    if where == "array":
        assert len(array.GetAttributes(["SHOW_ALL=YES"])) == 2


def test_spatial_nodes(tmp_path):
    write_grid(tmp_path, **{"spatial:transform": [10, 0, 100, 0, -10, 200],
                            "spatial:registration": "node"})
    assert gdal.Open(str(tmp_path)).GetGeoTransform() == (95, 10, 0, 205, 0, -10)


def test_spatial_dimensions_say_which_are_x_and_y(tmp_path):
    write_grid(tmp_path, dims=("across", "down"), **{
        "spatial:dimensions": ["down", "across"], "spatial:transform": [1, 0, 5, 0, 2, 6],
    })
    raster = gdal.Open(str(tmp_path))
    assert (raster.RasterXSize, raster.RasterYSize) == (3, 4)
    assert raster.GetGeoTransform() == (5, 1, 0, 6, 0, 2)
    np.testing.assert_array_equal(raster.ReadAsArray(), GRID.T)
    # Read in the other direction, each cell stays where it is.
    other = gdal.OpenEx(str(tmp_path), gdal.OF_RASTER, open_options=["DIM_X=down", "DIM_Y=across"])
    assert other.GetGeoTransform() == (5, 0, 1, 6, 2, 0)


def test_proj_counts_before_crs_and_grid_mapping(tmp_path):
    write_grid(tmp_path, grid_mapping="crs", _CRS={"url": "EPSG:3035"}, **{"proj:epsg": 32633})
    write_array(tmp_path / "crs", np.int32(0), (), attributes={
        "grid_mapping_name": "latitude_longitude", "semi_major_axis": 6378137.0,
        "inverse_flattening": 298.257223563,
    })
    assert epsg_of(gdal.Open(f'ZARR:"{tmp_path}":/v').GetSpatialRef()) == 32633
    edit_json(tmp_path / "v/zarr.json", attributes={"grid_mapping": "crs",
                                                    "_CRS": {"url": "EPSG:3035"}})
    assert epsg_of(gdal.Open(f'ZARR:"{tmp_path}":/v').GetSpatialRef()) == 3035
    edit_json(tmp_path / "v/zarr.json", attributes={"grid_mapping": "crs"})
    assert gdal.Open(f'ZARR:"{tmp_path}":/v').GetSpatialRef().IsGeographic()


def test_proj_of_a_group_is_not_that_of_groups_below(tmp_path):
    write_group(tmp_path, {"proj:code": "EPSG:32633"})
    write_grid(tmp_path / "below")
    write_array(tmp_path / "v", GRID)
    assert epsg_of(open_array(tmp_path, "/v")[1].GetSpatialRef()) == 32633
    assert open_array(tmp_path, "/below/v")[1].GetSpatialRef() is None


@pytest.mark.parametrize("group", [
    {"proj:code": "EPSG:32633", "spatial:transform": [1, 0, 2, 0, 3, 4]},
    {"stac_discovery": {"properties": {"proj:epsg": 32633}}},
])
def test_an_array_may_say_that_it_lies_nowhere(tmp_path, group):
    write_grid(tmp_path, group=group)
    assert epsg_of(gdal.Open(str(tmp_path)).GetSpatialRef()) == 32633
    nowhere = {"proj:code": None, "spatial:transform": None}
    edit_json(tmp_path / "v/zarr.json", attributes=nowhere)
    raster = gdal.Open(str(tmp_path))
    assert raster.GetSpatialRef() is None
    assert raster.GetGeoTransform(can_return_null=True) is None
    # Only groups have this.
    attributes = nowhere | {"_CRS": {"url": "EPSG:3035"}}
    edit_json(tmp_path / "v/zarr.json", attributes=attributes)
    write_axis(tmp_path, "x", [1, 2, 3, 4])
    write_axis(tmp_path, "y", [3, 2, 1])
    raster = gdal.Open(f'ZARR:"{tmp_path}":/v')
    assert epsg_of(raster.GetSpatialRef()) == 3035
    assert raster.GetGeoTransform() == (0.5, 1, 0, 3.5, 0, -1)


# The axis mapping


def test_axis_mapping_of_latitude_first(tmp_path):
    write_group(tmp_path)
    write_array(tmp_path / "v", np.zeros((2, 3, 4)), names=["time", "lat", "lon"],
                attributes={"proj:code": "EPSG:4326"})
    _, array = open_array(tmp_path)
    assert array.GetSpatialRef().GetDataAxisToSRSAxisMapping() == [2, 3]
    raster = gdal.Open(str(tmp_path))
    assert raster.GetSpatialRef().GetDataAxisToSRSAxisMapping() == [2, 1]


# Sentinel products in EOPF


def test_eopf(tmp_path):
    write_group(tmp_path, {"stac_discovery": {"properties": {"proj:epsg": 32632}}})
    grid = tmp_path / "measurements/r10m"
    write_group(tmp_path / "measurements")
    write_grid(grid, "b02")
    write_axis(grid, "x", 600005 + 10.0 * np.arange(4))
    write_axis(grid, "y", 5000035 - 10.0 * np.arange(3))
    write_group(tmp_path / "conditions")
    write_array(tmp_path / "conditions/angles", GRID, names=["lat", "lon"])
    write_axis(tmp_path / "conditions", "lat", [3, 2, 1], units="degrees_north")
    write_axis(tmp_path / "conditions", "lon", [1, 2, 3, 4], units="degrees_east")
    raster = gdal.Open(f'ZARR:"{tmp_path}":/measurements/r10m/b02')
    assert epsg_of(raster.GetSpatialRef()) == 32632
    assert raster.GetGeoTransform() == (600000, 10, 0, 5000040, 0, -10)
    assert gdal.Open(f'ZARR:"{tmp_path}":/conditions/angles').GetSpatialRef() is None


# netCDF-C's NCZarr


@pytest.mark.parametrize("version", ["4.8", "4.9.3"])
def test_nczarr(tmp_path, version):
    """Dimensions of the root that an array of a group refers to, without xarray's attributes."""
    references = ["/y", "/sub/x"]
    if version == "4.8":
        write_v2(tmp_path, "sub/v", GRID)
        edit_json(tmp_path / "sub/v/.zarray", _NCZARR_ARRAY={"dimrefs": references})
        edit_json(tmp_path / ".zgroup", _NCZARR_GROUP={"dims": {"y": 3, "unused": 9}})
    else:
        array = {"dimension_references": references, "storage": "chunked"}
        write_v2(tmp_path, "sub/v", GRID, {"_nczarr_array": array, "units": "m"})
        group = {"dimensions": {"y": 3, "unused": 9}, "arrays": [], "groups": []}
        write_v2_group(tmp_path, {"_nczarr_group": group})
    write_v2(tmp_path, "y", np.array([7.5, 6.5, 5.5]))
    dataset, array = open_array(tmp_path, "/sub/v")
    assert [d.GetFullName() for d in array.GetDimensions()] == references
    np.testing.assert_array_equal(array.GetDimensions()[0].GetIndexingVariable().ReadAsArray(),
                                  [7.5, 6.5, 5.5])
    assert [a.GetName() for a in array.GetAttributes()] == []
    root = dataset.GetRootGroup()
    assert sorted((d.GetName(), d.GetSize()) for d in root.GetDimensions()) == [
        ("unused", 9), ("y", 3)]
    assert [a.GetName() for a in root.GetAttributes()] == []


def test_nczarr_by_netcdf_c(tmp_path):
    store = tmp_path / "n.zarr"
    with netCDF4.Dataset(f"file://{store}#mode=nczarr,file", "w") as root:
        root.title = "a title"
        for name, values in (("y", [3, 2, 1]), ("x", [1, 2, 3, 4])):
            root.createDimension(name, len(values))
            root.createVariable(name, "f8", (name,))[:] = values
        variable = root.createGroup("sub").createVariable("v", "i4", ("y", "x"), fill_value=-9)
        variable[:] = GRID.astype("i4")
        variable.units = "m"
    dataset, array = open_array(store, "/sub/v")
    assert [d.GetFullName() for d in array.GetDimensions()] == ["/y", "/x"]
    assert (array.GetUnit(), array.GetNoDataValueAsDouble()) == ("m", -9)
    assert not [a.GetName() for a in array.GetAttributes(["SHOW_ALL=YES"])
                if a.GetName().startswith("_NC")]
    np.testing.assert_array_equal(array.ReadAsArray(), GRID)
    raster = gdal.Open(f'ZARR:"{store}":/sub/v')
    assert raster.GetGeoTransform() == (0.5, 1, 0, 3.5, 0, -1)
    assert raster.GetMetadataItem("title") == "a title"


# Curvilinear grids


def test_geolocation_arrays(tmp_path):
    rows, columns = np.mgrid[0:40, 0:50]
    longitude = 10 + 0.1 * columns + 0.02 * rows
    latitude = 50 - 0.1 * rows + 0.02 * columns
    values = (columns * 3 + rows).astype("f4")
    xarray.Dataset(
        {"v": (("nj", "ni"), values, {"_FillValue": np.float32(-1)})},
        {"lon": (("nj", "ni"), longitude, {"units": "degrees_east"}),
         "lat": (("nj", "ni"), latitude, {"units": "degrees_north"})},
    ).to_zarr(tmp_path / "s.zarr")
    name = f'ZARR:"{tmp_path / "s.zarr"}":/v'
    raster = gdal.Open(name)
    assert raster.GetGeoTransform(can_return_null=True) is None
    domain = raster.GetMetadata("GEOLOCATION")
    assert domain["GEOREFERENCING_CONVENTION"] == "PIXEL_CENTER"
    np.testing.assert_array_equal(gdal.Open(domain["X_DATASET"]).ReadAsArray(), longitude)
    np.testing.assert_array_equal(gdal.Open(domain["Y_DATASET"]).ReadAsArray(), latitude)
    warped = gdal.Warp("", name, format="MEM", geoloc=True, dstSRS="EPSG:4326", xRes=0.1, yRes=0.1,
                       outputBounds=(11, 47, 14, 49), dstNodata=-1)
    got = warped.ReadAsArray()
    # The source of each pixel of the picture, by the inverse of the grid's definition.
    x = 11 + 0.1 * (np.arange(30) + 0.5)
    y = 49 - 0.1 * (np.arange(20) + 0.5)
    x, y = np.meshgrid(x, y)
    column, row = np.linalg.solve([[0.1, 0.02], [0.02, -0.1]],
                                  np.stack([x - 10, y - 50]).reshape(2, -1))
    expected = np.round(column) * 3 + np.round(row)
    near = (np.abs(column - np.round(column)) < 0.4) & (np.abs(row - np.round(row)) < 0.4)
    np.testing.assert_allclose(got.ravel()[near], expected[near])


def test_geolocation_of_a_rotated_pole_uses_its_datum(tmp_path):
    write_grid(tmp_path, dims=("rlat", "rlon"), coordinates="lon lat", grid_mapping="pole")
    write_array(tmp_path / "pole", np.int32(0), (), attributes={
        "grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 39.25,
        "grid_north_pole_longitude": -162.0, "earth_radius": 6371229.0,
    })
    for name, units in (("lon", "degrees_east"), ("lat", "degrees_north")):
        write_array(tmp_path / name, GRID, names=["rlat", "rlon"], attributes={"units": units})
    srs = osr.SpatialReference(gdal.Open(f'ZARR:"{tmp_path}":/v').GetMetadata("GEOLOCATION")["SRS"])
    assert srs.GetSemiMajor() == 6371229.0


# Times


def test_times_of_bands_as_dates(tmp_path):
    write_group(tmp_path)
    write_array(tmp_path / "v", np.zeros((2, 3, 4), "u1"), names=["time", "y", "x"])
    write_axis(tmp_path, "time", [59, 60], units="days since 2001-01-01", calendar="360_day")
    raster = gdal.Open(str(tmp_path))
    band = raster.GetRasterBand(2)
    assert band.GetMetadataItem("DIM_time_VALUE") == "60"
    assert band.GetMetadataItem("DIM_time_DATETIME") == "2001-03-01T00:00:00Z"


@pytest.mark.parametrize("delay, is_there", [("0", False), ("unlimited", True), ("9.5", True)])
def test_time_for_values_of_dimensions_is_bounded(tmp_path, delay, is_there):
    write_group(tmp_path)
    write_array(tmp_path / "v", np.zeros((2, 3, 4), "u1"), names=["time", "y", "x"])
    write_axis(tmp_path, "time", [59, 60])
    options = [f"LOAD_EXTRA_DIM_METADATA_DELAY={delay}"]
    raster = gdal.OpenEx(str(tmp_path), gdal.OF_RASTER, open_options=options)
    band = raster.GetRasterBand(1)
    assert ("DIM_time_VALUE" in band.GetMetadata()) == is_there
    assert band.GetMetadataItem("DIM_time_INDEX") == "0"


# Metadata of the dataset


def test_metadata_of_root_and_array(tmp_path):
    write_grid(tmp_path, group={"title": "all", "source": "root"}, source="array", comment="one")
    assert gdal.Open(str(tmp_path)).GetMetadata() == {
        "title": "all", "source": "array", "comment": "one"}


def test_file_list(tmp_path):
    write_grid(tmp_path)
    write_axis(tmp_path, "x", [1, 2, 3, 4])
    write_array(tmp_path / "other", GRID)
    files = gdal.Open(f'ZARR:"{tmp_path}":/v').GetFileList()
    assert files[0] == str(tmp_path)
    relative = {f.removeprefix(str(tmp_path)) for f in files[1:]}
    assert relative == {"/zarr.json", "/v/zarr.json", "/x/zarr.json"}
    opened = str(tmp_path / "v/zarr.json")
    assert gdal.Open(opened).GetFileList().count(opened) == 1
