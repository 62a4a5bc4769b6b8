"""QGIS shows the stores of autotest/published where they belong, if they have a geotransform."""
import itertools

import picture
import pytest
from published.builders import BUILDERS, CELLS, COLUMNS, ROWS, VALUES, Nowhere, Store, distance
from qgis.core import QgsCoordinateReferenceSystem, QgsCoordinateTransform, QgsPointXY, QgsProject

CORNERS = list(itertools.product((0, ROWS - 1), (0, COLUMNS - 1)))
# South is up, and cells are not square: QGIS resamples such rasters, unless they are turned.
TURNED = {"cmip6_atmosphere"}


@pytest.fixture(params=sorted(BUILDERS))
def published(request, tmp_path):
    """A layer, and where its cells lie."""
    store = Store(tmp_path / "s.zarr")
    place = BUILDERS[request.param](store)
    if isinstance(place, Nowhere) or not place.has_geotransform:
        pytest.skip("it has no geotransform")
    option = "|option:NORTH_UP=YES" if request.param in TURNED else ""
    return picture.open_layer(f'ZARR:"{store.path}":{place.array}{option}'), place


def to_degrees(layer):
    """By QGIS; without a CRS, the layer's own coordinates are degrees."""
    degrees = QgsCoordinateReferenceSystem("OGC:CRS84")
    return QgsCoordinateTransform(
        layer.crs() if layer.crs().isValid() else degrees, degrees, QgsProject.instance())


def test_corners(published):
    """QGIS turns layers of which south is up, so that the first cell may be in any corner."""
    layer, place = published
    assert layer.crs().isValid() == place.has_crs
    assert (layer.width(), layer.height()) == (COLUMNS, ROWS)
    extent, transform = layer.extent(), to_degrees(layer)
    half_width, half_height = extent.width() / COLUMNS / 2, extent.height() / ROWS / 2
    found = [transform.transform(QgsPointXY(x, y))
             for x in (extent.xMinimum() + half_width, extent.xMaximum() - half_width)
             for y in (extent.yMinimum() + half_height, extent.yMaximum() - half_height)]
    for cell in CORNERS:
        assert min(distance(p.x(), p.y(), place, cell) for p in found) < 0.05, (cell, found)


def test_values(published):
    """Of the cells where they belong."""
    layer, place = published
    provider, transform = layer.dataProvider(), to_degrees(layer)
    for cell in CELLS:
        degrees = QgsPointXY(place.longitudes[cell], place.latitudes[cell])
        position = transform.transform(degrees, QgsCoordinateTransform.ReverseTransform)
        value, is_valid = provider.sample(position, 1)
        expected = VALUES[cell] * provider.bandScale(1) + provider.bandOffset(1)
        assert is_valid and value == pytest.approx(expected), cell
