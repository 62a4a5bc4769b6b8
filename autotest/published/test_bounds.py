"""`bounds` of coordinates (CF 7.1) are the edges of the cells, whatever the coordinates are."""
import numpy as np
import pytest
from builders import LATITUDE, LONGITUDE, Store
from osgeo import gdal


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "s.zarr")
    store.group()
    return store


def edges(first, step, count):
    begins = first + step * np.arange(count)
    return np.stack([begins, begins + step], axis=1)


def transform(store, lon, lat, lon_bounds, lat_bounds):
    """Of a raster with these coordinates, and bounds that may be None."""
    for name, values, bounds, attributes in (("lon", lon, lon_bounds, LONGITUDE),
                                             ("lat", lat, lat_bounds, LATITUDE)):
        named = {} if bounds is None else {"bounds": f"{name}_bnds"}
        store.array(name, np.asarray(values, "f8"), [name], attributes | named)
        if bounds is not None:
            store.array(f"{name}_bnds", np.asarray(bounds, "f8"), [name, "bnds"])
    store.array("v", np.zeros((len(lat), len(lon))), ["lat", "lon"])
    dataset = gdal.Open(f'ZARR:"{store.path}":/v')
    return dataset.GetGeoTransform(can_return_null=True)


def test_coordinates_at_a_corner_of_their_cells(store):
    found = transform(store, [10, 11, 12], [50, 49], edges(10, 1, 3), edges(51, -1, 2))
    assert found == (10, 1, 0, 51, 0, -1)


def test_coordinates_in_the_middle(store):
    found = transform(store, [10.5, 11.5, 12.5], [49.5, 50.5], edges(10, 1, 3), edges(49, 1, 2))
    assert found == (10, 1, 0, 49, 0, 1)


def test_single_cells(store):
    assert transform(store, [10], [49], [[9, 11]], [[48.5, 49.5]]) == (9, 2, 0, 49.5, 0, -1)


def test_a_single_row(store):
    found = transform(store, [10.5, 11.5], [0], edges(10, 1, 2), [[30, -30]])
    assert found == (10, 1, 0, 30, 0, -60)


def test_bounds_of_each_cell_in_either_order(store):
    found = transform(store, [10, 11, 12], [50, 49], edges(10, 1, 3)[:, ::-1], edges(51, -1, 2))
    assert found == (10, 1, 0, 51, 0, -1)


@pytest.mark.parametrize("around", [0, 360, -360])
def test_longitudes_that_jump(store, around):
    """At 360, and bounds that are full turns away."""
    lon_bounds = np.array([[358, 359], [359, 0], [0, 1]]) + around
    found = transform(store, [358.2, 359.2, 0.2], [50, 49], lon_bounds, edges(51, -1, 2))
    assert found == pytest.approx((358, 1, 0, 51, 0, -1))


def test_cells_that_end_at_the_poles(store):
    """The outer cells are half as high: coordinates are even, bounds are not."""
    lat_bounds = [[90, 67.5], [67.5, 22.5], [22.5, -22.5], [-22.5, -67.5], [-67.5, -90]]
    found = transform(store, [0.5, 1.5], [90, 45, 0, -45, -90], edges(0, 1, 2), lat_bounds)
    assert found == (0, 1, 0, 112.5, 0, -45)


@pytest.mark.parametrize("lon_bounds", [
    edges(110, 1, 3),  # other cells
    [[10, 11], [11.2, 12], [12, 13]],  # with gaps
    [[10, 11], [11, np.nan], [12, 13]],
    edges(10, 1, 4),
    np.zeros((3, 3)),
    [[10, 10], [10, 10], [10, 10]],
])
def test_useless_bounds(store, lon_bounds):
    found = transform(store, [10.5, 11.5, 12.5], [50, 49], lon_bounds, None)
    assert found == (10, 1, 0, 50.5, 0, -1)


@pytest.mark.parametrize("name", ["lon", "none", "../../lon_bnds", 3, ""])
def test_useless_names(store, name):
    store.array("lon", np.array([10.5, 11.5]), ["lon"], LONGITUDE | {"bounds": name})
    store.array("lat", np.array([50.0, 49.0]), ["lat"], LATITUDE)
    store.array("v", np.zeros((2, 2)), ["lat", "lon"])
    found = gdal.Open(f'ZARR:"{store.path}":/v').GetGeoTransform(can_return_null=True)
    assert found == (10, 1, 0, 50.5, 0, -1)


def test_damaged_bounds(store):
    store.array("lon", np.array([10.5, 11.5]), ["lon"], LONGITUDE | {"bounds": "lon_bnds"})
    store.array("lat", np.array([50.0, 49.0]), ["lat"], LATITUDE)
    store.array("lon_bnds", edges(10.0, 1.0, 2), ["lon", "bnds"])
    store.array("v", np.zeros((2, 2)), ["lat", "lon"])
    for chunk in (store.path / "lon_bnds").rglob("*"):
        if chunk.is_file() and chunk.name != "zarr.json":
            chunk.write_bytes(b"x")
    heard = []
    gdal.PushErrorHandler(lambda severity, _, text: heard.append((severity, text)))
    found = gdal.Open(f'ZARR:"{store.path}":/v').GetGeoTransform(can_return_null=True)
    gdal.PopErrorHandler()
    assert found == (10, 1, 0, 50.5, 0, -1)
    assert [severity for severity, _ in heard] == [gdal.CE_Warning] and "lon_bnds" in heard[0][1]
