"""xarray and rioxarray, where they understand a store, confirm where its cells are."""
import re

import pytest
from builders import BUILDERS, CELLS, Nowhere, Store, distance
from osgeo import osr

xarray = pytest.importorskip("xarray")
rioxarray = pytest.importorskip("rioxarray")
zarr = pytest.importorskip("zarr")
# zarr-python 2 reads no others than its own.
ZARR_FORMAT = 2 if zarr.__version__.startswith("2.") else 3

# Where rioxarray places cells elsewhere: it takes coordinates in kilometres or in radians of a
# satellite's view for metres, the CRS of a rotated pole is another one as rasterio states it, and
# 0.23 takes a `spatial:transform` for that of corners, whatever its registration is.
ELSEWHERE = {"kilometres_beside_wkt", "goes_beside_wkt", "goes_by_parameters",
             "goes_in_microradians", "mtg_fci", "goes_packed", "goes_with_a_geotransform",
             "himawari", "centimetres", "geozarr_of_points", "osi_saf", "topaz", "cordex",
             "cordex_beside_wkt_of_another_kind"}


@pytest.mark.parametrize("name", sorted(BUILDERS))
def test_rioxarray(tmp_path, name):
    store = Store(tmp_path / "s.zarr", ZARR_FORMAT)
    place = BUILDERS[name](store)
    if isinstance(place, Nowhere) or not place.has_geotransform:
        pytest.skip("it has no geotransform")
    group, _, array = re.sub(":.*", "", place.array)[1:].rpartition("/")
    try:
        data = xarray.open_zarr(str(store.path), group=group or None, consolidated=False,
                                decode_coords="all", chunks=None)[array]
        transform, crs = data.rio.transform(recalc=True), data.rio.crs
    except (rioxarray.exceptions.RioXarrayError, AttributeError, TypeError, ValueError,
            KeyError) as error:
        pytest.skip(f"rioxarray does not place it: {error}")
    if crs is None:
        pytest.skip("rioxarray finds no CRS")
    systems = [osr.SpatialReference(), osr.SpatialReference()]
    systems[0].ImportFromWkt(crs.to_wkt())
    systems[1].SetFromUserInput("OGC:CRS84")
    for system in systems:
        system.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    to_degrees = osr.CoordinateTransformation(*systems)

    def is_there(cell):
        x, y = transform * (cell[1] + 0.5, cell[0] + 0.5)
        try:
            return distance(*to_degrees.TransformPoint(x, y)[:2], place, cell) < 0.05
        except RuntimeError:  # in no place
            return False

    assert all(is_there(cell) for cell in CELLS) == (name not in ELSEWHERE)
