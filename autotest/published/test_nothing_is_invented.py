"""What is denied, missing, damaged or not on the map places nothing, and the raster can be read."""
import numpy as np
import pytest
from builders import (
    COLUMNS,
    GEOTRANSFORM,
    LATITUDE,
    LATITUDES,
    LONGITUDE,
    LONGITUDES,
    ROWS,
    SATELLITE,
    TRANSFORM,
    VALUES,
    ZONE,
    Store,
    X,
    Y,
    wkt,
)
from osgeo import gdal
from stores import write_json


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "s.zarr")
    store.group()
    return store


def raster(store, array="/v", *options):
    return gdal.OpenEx(f'ZARR:"{store.path}":{array}', gdal.OF_RASTER, open_options=list(options))


def expect_unplaced(dataset):
    assert dataset.GetGeoTransform(can_return_null=True) is None
    assert not dataset.GetMetadata("GEOLOCATION")


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_coordinates_without_a_slice(store, shape):
    for name, attributes in (("lon", LONGITUDE), ("lat", LATITUDE)):
        store.array(name, np.zeros((*shape, ROWS, COLUMNS)), ["t", "z", "y", "x"][-len(shape) - 2:],
                    attributes, chunks=(*np.maximum(shape, 1).tolist(), ROWS, COLUMNS))
    store.array("v", VALUES, ["y", "x"], {"coordinates": "lon lat"})
    dataset = raster(store)
    expect_unplaced(dataset)
    np.testing.assert_array_equal(dataset.ReadAsArray(), VALUES)


@pytest.mark.parametrize("group", [{"proj:code": ZONE}, {"grid_mapping": "crs"}, {"crs": ZONE}])
@pytest.mark.parametrize("options", [[], ["ASSUME_LONGLAT=YES"]])
def test_an_array_without_a_crs_by_its_own_word(store, group, options):
    store.group(**group)
    store.scalar("crs", {"crs_wkt": wkt(ZONE)})
    store.axes(np.arange(8.0), np.arange(6.0), LONGITUDE, LATITUDE)
    store.array("v", VALUES, ["y", "x"], {"proj:code": None})
    assert raster(store, "/v", *options).GetSpatialRef() is None
    dataset = gdal.OpenEx(str(store.path), gdal.OF_MULTIDIM_RASTER, open_options=options)
    assert dataset.GetRootGroup().OpenMDArray("v").GetSpatialRef() is None


def test_a_level_that_denies_crs_and_transform(store):
    store.group(multiscales={"layout": [{"asset": "0"}, {"asset": "1", "derived_from": "0"}]})
    for level, size in (("0", 1), ("1", 2)):
        store.group(level)
        store.array(f"{level}/v", VALUES[::size, ::size].copy(), ["y", "x"],
                    {"proj:code": ZONE, "spatial:transform": TRANSFORM} if size == 1 else
                    {"proj:code": None, "spatial:transform": None})
    assert raster(store, "/0/v").GetSpatialRef() is not None
    dataset = raster(store, "/1/v")
    assert dataset.GetSpatialRef() is None
    expect_unplaced(dataset)


@pytest.mark.parametrize("values", [0.0, -9999.0, np.nan])
@pytest.mark.parametrize("is_auxiliary", [False, True])
def test_coordinates_that_were_never_written(store, values, is_auxiliary):
    names = ("lon", "lat") if is_auxiliary else ("x", "y")
    for name, size, attributes in zip(names, (COLUMNS, ROWS), (LONGITUDE, LATITUDE), strict=True):
        store.array(name, np.full(size, values), ["x" if size == COLUMNS else "y"], attributes)
    store.array("v", VALUES, ["y", "x"], {"coordinates": "lon lat"} if is_auxiliary else {})
    expect_unplaced(raster(store))


@pytest.mark.parametrize("x, y, unit", [
    ("longwave_flux", "plate_temperature", "K"), ("colony_count", "relative_humidity", "1"),
    ("long_wave", "slate", ""), ("longitude", "latitude", "kg m-2")])
def test_variables_that_only_sound_like_positions(store, x, y, unit):
    for name, values in ((x, LONGITUDES), (y, LATITUDES)):
        store.array(name, values, ["y", "x"], {"units": unit})
    store.array("v", VALUES, ["y", "x"], {"coordinates": f"{x} {y}"})
    expect_unplaced(raster(store))


@pytest.mark.parametrize("x, y", [("XLONG", "XLAT"), ("nav_lon", "nav_lat"), ("lonc", "latc"),
                                  ("lon2d", "lat2d"), ("Longitude_t", "Latitude_t"),
                                  ("TLONG", "TLAT"), ("geolon", "geolat"), ("lons", "lats")])
def test_variables_that_positions_are_called(store, x, y):
    for name, values in ((x, LONGITUDES), (y, LATITUDES)):
        store.array(name, values, ["y", "x"])
    store.array("v", VALUES, ["y", "x"], {"coordinates": f"{x} {y}"})
    assert x in raster(store).GetMetadata("GEOLOCATION")["X_DATASET"]


def test_a_broken_neighbour_of_an_array_that_is_opened_alone(store):
    (store.path / "lon").mkdir()
    (store.path / "lon/zarr.json").write_text("{", encoding="utf-8")
    store.array("v", VALUES, ["y", "x"], {"coordinates": "lon lat", "grid_mapping": "lon"})
    np.testing.assert_array_equal(gdal.Open(str(store.path / "v")).ReadAsArray(), VALUES)


def test_a_mask_that_cannot_be_decoded(store):
    store.array("v", VALUES, ["y", "x"], {"ancillary_variables": "m"})
    store.array("m", np.full((ROWS, COLUMNS), 255, "u1"), ["y", "x"],
                {"flag_values": [0, 255], "flag_meanings": "invalid valid"})
    document = store.path / "m/zarr.json"
    text = document.read_text(encoding="utf-8")
    document.write_text(text.replace('"bytes"', '"nobody_knows"'), encoding="utf-8")
    dataset = raster(store)
    np.testing.assert_array_equal(dataset.ReadAsArray(), VALUES)
    assert "ancillary_variables" not in dataset.GetMetadata()


def test_a_mask_is_for_its_own_axes(store):
    store.array("v", np.stack([VALUES, VALUES]), ["t", "y", "x"], {"ancillary_variables": "m"})
    store.array("m", np.full((ROWS, COLUMNS), 255, "u1"), ["y", "x"],
                {"flag_values": [0, 255], "flag_meanings": "invalid valid"})
    assert raster(store).GetRasterBand(1).GetMaskFlags() == gdal.GMF_PER_DATASET
    root = gdal.OpenEx(str(store.path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    section = root.OpenMDArray("v").AsClassicDataset(2, 0)
    band = section.GetRasterBand(1)
    assert (band.XSize, band.YSize) == (COLUMNS, 2)
    assert band.GetMaskFlags() == gdal.GMF_ALL_VALID
    assert band.GetMaskBand().ReadAsArray().shape == (2, COLUMNS)


def test_a_wide_geostationary_grid(store):
    """As GOES-R at 500 m: more columns than coordinates in a store may have chunks."""
    columns = 21696
    mapping = {"grid_mapping_name": "geostationary", "perspective_point_height": 35786023.0,
               "longitude_of_projection_origin": -75.0, "sweep_angle_axis": "x",
               "semi_major_axis": 6378137.0, "semi_minor_axis": 6356752.31414}
    store.scalar("p", mapping)
    step = 14e-6
    store.axes((np.arange(columns) - columns / 2) * step, 0.1 - np.arange(4) * step,
               {"units": "rad", "standard_name": "projection_x_coordinate"},
               {"units": "rad", "standard_name": "projection_y_coordinate"})
    store.array("v", np.zeros((4, columns), "u1"), ["y", "x"], {"grid_mapping": "p"})
    dataset = raster(store)
    transform = dataset.GetGeoTransform(can_return_null=True)
    assert transform[1] == pytest.approx(step * 35786023.0)
    array = gdal.OpenEx(str(store.path), gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("v")
    variable = array.GetDimensions()[1].GetIndexingVariable()
    assert variable.GetAttribute("standard_name").Read() == "projection_x_coordinate"
    assert variable.ReadAsArray([0], [1])[0] == pytest.approx(-columns / 2 * step * 35786023.0)


def test_coordinates_of_a_satellite_that_cannot_be_read(store):
    store.scalar("p", {"crs_wkt": wkt(SATELLITE)})
    store.axes(np.arange(8.0) * 1e-4, np.arange(6.0) * 1e-4, {"units": "rad"}, {"units": "rad"})
    store.array("v", VALUES, ["y", "x"], {"grid_mapping": "p"})
    (store.path / "x/c/0").write_bytes(b"short")
    expect_unplaced(raster(store))
    array = gdal.OpenEx(str(store.path), gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("v")
    with pytest.raises(RuntimeError, match="coordinates of x"):
        array.GetDimensions()[1].GetIndexingVariable().ReadAsArray()


def test_one_warning_for_one_fault(store):
    store.array("v", VALUES, ["y", "x"], {
        "proj:code": ZONE, "spatial:shape": [1, 1], "spatial:transform": TRANSFORM,
        "spatial:bbox": [0, 0, 8000, 6000], "spatial:dimensions": ["y", "x"]})
    messages = []
    gdal.PushErrorHandler(lambda level, number, text: messages.append(text))
    try:
        raster(store)
    finally:
        gdal.PopErrorHandler()
    assert len(messages) == 1 and "spatial:shape" in messages[0]


def test_the_transform_of_a_grid_mapping_whose_name_was_lost(store):
    store.scalar("spatial_ref", {"crs_wkt": wkt(ZONE), "GeoTransform": GEOTRANSFORM})
    store.array("v", VALUES, ["y", "x"])
    assert raster(store).GetGeoTransform() == tuple(map(float, GEOTRANSFORM.split()))


def test_metadata_that_changes_keeps_the_mask(store):
    write_json(store.path / "zarr.json", {"zarr_format": 3, "node_type": "group"})
    store.axes(np.arange(8.0), np.arange(6.0), X, Y)
    store.array("q", VALUES, ["y", "x"])
    store.array("m", np.full((ROWS, COLUMNS), 255, "u1"), ["y", "x"],
                {"flag_values": [0, 255], "flag_meanings": "invalid valid"})
    for metadata, shown in (({"a": "1"}, None), ({"ancillary_variables": "q r"}, "q r"),
                            ({"ancillary_variables": "r"}, "r")):
        store.array("v", VALUES, ["y", "x"], {"ancillary_variables": "q m"})
        dataset = gdal.OpenEx(f'ZARR:"{store.path}":/v', gdal.OF_RASTER | gdal.OF_UPDATE)
        dataset.SetMetadata(metadata)
        del dataset
        assert raster(store).GetRasterBand(1).GetMaskFlags() == gdal.GMF_PER_DATASET
        assert raster(store).GetMetadataItem("ancillary_variables") == shown
