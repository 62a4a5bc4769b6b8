"""Stores as archives publish them stand where they belong, through every API and program."""
import itertools
import re

import numpy as np
import pytest
import rasterio
from builders import BUILDERS, CELLS, COLUMNS, ROWS, VALUES, Nowhere, Placed, Store, distance
from osgeo import gdal, osr


@pytest.fixture(params=itertools.product(sorted(BUILDERS), (2, 3)),
                ids=lambda param: f"{param[0]}-v{param[1]}")
def published(request, tmp_path, monkeypatch):
    """The path of a store, and where its array lies: the same in both versions of Zarr."""
    monkeypatch.setenv("GDAL_PAM_ENABLED", "NO")
    name, zarr_format = request.param
    store = Store(tmp_path / "s.zarr", zarr_format)
    place = BUILDERS[name](store)
    return store.path, place


def name_of(path, place):
    return f'ZARR:"{path}":{place.array}'


def opened(path, place):
    """The raster, and the warnings of opening it."""
    messages = []
    gdal.PushErrorHandler(lambda level, number, text: messages.append(text))
    try:
        return gdal.Open(name_of(path, place)), messages
    finally:
        gdal.PopErrorHandler()


def array_of(path, place):
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    return dataset, dataset.GetRootGroup().OpenMDArrayFromFullname(re.sub(":.*", "", place.array))


def test_each_cell_is_where_it_belongs(published):
    path, place = published
    raster, messages = opened(path, place)
    assert (raster.GetSpatialRef() is not None) == place.has_crs
    if isinstance(place, Placed):
        assert (raster.RasterXSize, raster.RasterYSize) == (COLUMNS, ROWS)
        transform = raster.GetGeoTransform(can_return_null=True)
        assert (transform is not None) == place.has_geotransform
        options = ["DST_SRS=OGC:CRS84"] if place.has_crs or not place.has_geotransform else []
        transformer = gdal.Transformer(raster, None, options)
        for cell in CELLS:
            done, point = transformer.TransformPoint(False, cell[1] + 0.5, cell[0] + 0.5)
            assert done and distance(*point[:2], place, cell) < 0.05, (cell, point)
    else:
        assert raster.GetGeoTransform(can_return_null=True) is None
        assert not raster.GetMetadata("GEOLOCATION")
    assert len(messages) == len(place.warnings), messages
    for message, expected in zip(messages, place.warnings, strict=True):
        assert re.search(expected, message)


def test_gdalwarp_puts_each_value_where_it_belongs(published):
    path, place = published
    if isinstance(place, Nowhere):
        pytest.skip("it lies nowhere")
    size = np.hypot(np.diff(place.longitudes), np.diff(place.latitudes)).min() / 4
    margin = min(1, 16 * size)
    west, east = place.longitudes.min() - margin, place.longitudes.max() + margin
    south, north = place.latitudes.min() - margin, place.latitudes.max() + margin
    warped = gdal.Warp("", name_of(path, place), format="MEM", dstSRS="OGC:CRS84",
                       outputBounds=(west, south, east, north), xRes=size, yRes=size, dstNodata=-99)
    got = warped.GetRasterBand(1).ReadAsArray()
    transform = warped.GetGeoTransform()
    for cell in CELLS:
        column = int((place.longitudes[cell] - transform[0]) / transform[1])
        row = int((place.latitudes[cell] - transform[3]) / transform[5])
        assert got[row, column] == VALUES[cell], cell


def test_the_multidimensional_api_agrees(published):
    path, place = published
    raster, _ = opened(path, place)
    dataset, array = array_of(path, place)
    crs = array.GetSpatialRef()
    assert (crs is None) == (raster.GetSpatialRef() is None)
    if crs is not None:
        assert crs.GetLinearUnits() == raster.GetSpatialRef().GetLinearUnits()
        clone = raster.GetSpatialRef().Clone()
        for one in (clone, crs):
            one.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
        assert crs.IsSame(clone)
    transform = raster.GetGeoTransform(can_return_null=True)
    for dimension in array.GetDimensions():
        variable = dimension.GetIndexingVariable()
        first = {gdal.DIM_TYPE_HORIZONTAL_X: 0,
                 gdal.DIM_TYPE_HORIZONTAL_Y: 3}.get(dimension.GetType())
        if variable is None or first is None or transform is None:
            continue
        step = transform[1 if first == 0 else 5]
        np.testing.assert_allclose(variable.ReadAsArray()[0], transform[first] + step / 2,
                                   atol=abs(step) / 100)


def test_rasterio_agrees(published):
    path, place = published
    raster, _ = opened(path, place)
    transform = raster.GetGeoTransform(can_return_null=True)
    with rasterio.open(name_of(path, place)) as dataset:
        assert (dataset.crs is None) == (raster.GetSpatialRef() is None)
        if transform is not None:
            assert dataset.transform.to_gdal() == transform
        else:
            assert dataset.transform.is_identity


def test_the_source_is_named(published):
    path, place = published
    raster, _ = opened(path, place)
    source = raster.GetMetadata("GEOREFERENCING_SOURCE") or {}
    assert ("CRS" in source) == (raster.GetSpatialRef() is not None)
    assert ("GEOTRANSFORM" in source) == (raster.GetGeoTransform(can_return_null=True) is not None)
    assert ("GEOLOCATION" in source) == bool(raster.GetMetadata("GEOLOCATION"))
