"""Arrays of cells of a HEALPix grid are no rasters, and are shown as one where asked."""
import numpy as np
import pytest
from osgeo import gdal
from stores import write_array, write_group
from test_programs import run

LEVEL = 3
SIDE = 2**LEVEL
COUNT = 12 * SIDE**2


def ring_centres(side):
    """Longitudes and latitudes of all cells in the order of rings (Górski et al. 2005, 5.1).
    The southern half mirrors the northern one, and every second ring begins half a cell later."""
    places = []
    for i in range(1, 4 * side):
        north = min(i, 4 * side - i)
        if north < side:
            count, z, is_shifted = 4 * north, 1 - north**2 / (3 * side**2), True
        else:
            count, z = 4 * side, 4 / 3 - 2 * north / (3 * side)
            is_shifted = (north - side) % 2 == 0
        z *= 1 if i <= 2 * side else -1
        longitudes = 360 / count * (np.arange(count) + (0.5 if is_shifted else 0))
        places += [(longitude, np.degrees(np.arcsin(z))) for longitude in longitudes]
    return np.array(places)


def write(path, values, attributes=None, cells=None, mapping=None, group=None, ids=None):
    write_group(path, group)
    write_array(path / "v", values, names=["time", "cells"][-values.ndim:],
                attributes=attributes or {})
    if mapping is not None:
        write_array(path / "crs", np.int32(0), names=[], attributes=mapping)
    if cells is not None:
        write_array(path / "cell_ids", cells, names=["cells"], attributes=ids or {})
    return path


def grid(order, level=LEVEL):
    return {"grid_mapping_name": "healpix", "refinement_level": level, "indexing_scheme": order}


def sphere(path, array="v", slice=""):
    return gdal.OpenEx(f'ZARR:"{path}":/{array}{slice}', gdal.OF_RASTER,
                       open_options=["SPHERE=YES"])


def values_at(dataset, longitudes, latitudes):
    transform = dataset.GetGeoTransform()
    columns = ((np.asarray(longitudes) + 180) % 360 / transform[1]).astype(int)
    rows = ((90 - np.asarray(latitudes)) / transform[1]).astype(int)
    return dataset.ReadAsArray()[rows, columns]


@pytest.mark.parametrize("level", [0, 1, 2, 3, 5])
def test_each_cell_of_a_ring_is_where_it_belongs(tmp_path, level):
    count = 12 * 4**level
    path = write(tmp_path / "a.zarr", np.arange(count), mapping=grid("ring", level),
                 attributes={"grid_mapping": "crs"})
    dataset = sphere(path)
    side = 2**level
    assert (dataset.RasterXSize, dataset.RasterYSize) == (16 * side, 8 * side)
    assert dataset.GetSpatialRef().IsGeographic()
    longitudes, latitudes = ring_centres(side).T
    # Not at the edge of a pixel, which the centre of a cell may be.
    np.testing.assert_array_equal(
        values_at(dataset, longitudes + 1e-9, latitudes + 1e-9 * np.sign(latitudes)),
        np.arange(count))
    assert set(np.unique(dataset.ReadAsArray())) == set(range(count)), "no cell is left out"


def test_nested_cells(tmp_path):
    """Cells of a finer level are within cells of a coarser one."""
    fields = {}
    for level in (0, 1, 4):
        path = write(tmp_path / f"{level}.zarr", np.arange(12 * 4**level),
                     mapping=grid("nested", level), attributes={"grid_mapping": "crs"})
        fields[level] = sphere(path).ReadAsArray()
    fine = fields[4]
    for level in (0, 1):
        # A fine pixel beside the centre of a coarse one.
        step = 2**(4 - level)
        beside = fine[step // 2::step, step // 2::step] >> 2 * (4 - level)
        assert (beside == fields[level]).mean() > 0.9
    ring = write(tmp_path / "ring.zarr", np.arange(12), mapping=grid("ring", 0),
                 attributes={"grid_mapping": "crs"})
    np.testing.assert_array_equal(fields[0], sphere(ring).ReadAsArray())
    # Four cells of the finest level make one of the level above, and are all there.
    assert sorted(np.unique(fine)) == list(range(12 * 4**4))


def test_nested_and_ring_are_the_same_cells(tmp_path):
    rasters = []
    for order in ("nested", "ring"):
        path = write(tmp_path / f"{order}.zarr", np.arange(COUNT), mapping=grid(order),
                     attributes={"grid_mapping": "crs"})
        rasters.append(sphere(path).ReadAsArray().ravel())
    pairs = set(zip(*rasters))
    assert len(pairs) == COUNT, "each nested cell is one cell of a ring"


@pytest.mark.parametrize("stated", [
    {"mapping": grid("nested"), "attributes": {"grid_mapping": "crs"}},
    {"mapping": {"grid_mapping_name": "healpix", "healpix_nside": SIDE, "healpix_order": "nest"}},
    {"ids": {"grid_name": "healpix", "level": LEVEL, "indexing_scheme": "nested"},
     "cells": np.arange(COUNT)},
    {"group": {"dggs": {"name": "healpix", "refinement_level": LEVEL, "indexing_scheme": "nested",
                        "spatial_dimension": "cells"}}},
], ids=["CF", "before CF 1.13", "xdggs", "zarr-conventions"])
def test_what_states_a_grid(tmp_path, stated):
    values = np.arange(2 * COUNT, dtype="f4").reshape(2, COUNT)
    path = write(tmp_path / "a.zarr", values, **stated)
    dataset = sphere(path)
    assert dataset.RasterCount == 2
    assert dataset.GetRasterBand(2).GetDescription() == "time=1"
    reference = write(tmp_path / "b.zarr", np.arange(COUNT), mapping=grid("nested"),
                      attributes={"grid_mapping": "crs"})
    cells = sphere(reference).ReadAsArray()
    np.testing.assert_array_equal(dataset.ReadAsArray(), values[:, cells])
    np.testing.assert_array_equal(sphere(path, slice=":1").ReadAsArray(), values[1, cells])


def test_some_of_the_cells_in_any_order(tmp_path):
    cells = np.random.default_rng(1).permutation(COUNT)[:COUNT // 3]
    values = cells.astype("f4")
    path = write(tmp_path / "a.zarr", values, cells=cells, mapping=grid("ring"),
                 attributes={"grid_mapping": "crs", "coordinates": "cell_ids"})
    dataset = sphere(path)
    whole = sphere(write(tmp_path / "b.zarr", np.arange(COUNT), mapping=grid("ring"),
                         attributes={"grid_mapping": "crs"})).ReadAsArray()
    band = dataset.GetRasterBand(1)
    assert np.isnan(band.GetNoDataValue())
    np.testing.assert_array_equal(band.ReadAsArray(),
                                  np.where(np.isin(whole, cells), whole, np.nan))


def test_programs(tmp_path):
    path = write(tmp_path / "a.zarr", np.arange(COUNT, dtype="i4"), mapping=grid("ring"),
                 attributes={"grid_mapping": "crs"})
    run("gdalwarp", "-q", "-oo", "SPHERE=YES", "-t_srs", "EPSG:3857", "-te", -1e7, -1e7, 1e7, 1e7,
        path, tmp_path / "a.tif")
    warped = gdal.Open(str(tmp_path / "a.tif")).ReadAsArray()
    assert len(np.unique(warped)) > COUNT / 4


def test_without_the_option_it_is_no_map(tmp_path):
    path = write(tmp_path / "a.zarr", np.zeros((2, COUNT)), mapping=grid("ring"),
                 attributes={"grid_mapping": "crs"})
    heard = []
    gdal.PushErrorHandler(lambda *error: heard.append(error[2]))
    dataset = gdal.Open(str(path))
    gdal.PopErrorHandler()
    assert dataset.GetGeoTransform(can_return_null=True) is None
    assert dataset.GetSpatialRef() is None
    assert not heard


@pytest.mark.parametrize("options, problem", [
    ({}, "is on no HEALPix grid"),
    ({"mapping": {"grid_mapping_name": "healpix"}}, "no refinement level"),
    ({"mapping": grid("ring", 30)}, "no refinement level"),
    ({"mapping": grid("nuniq")}, 'indexing scheme "nuniq"'),
    ({"mapping": grid("ring", 4)}, f"no dimension with all {12 * 4**4} cells"),
    ({"mapping": grid("ring"), "cells": np.zeros(COUNT, int)}, "the same index for several cells"),
    ({"mapping": grid("ring"), "cells": np.arange(1, COUNT + 1)}, "no nodata value"),
])
def test_useless_grids(tmp_path, options, problem):
    path = write(tmp_path / "a.zarr", np.zeros(COUNT, "u1"), attributes={"grid_mapping": "crs"},
                 **options)
    with pytest.raises(RuntimeError, match=problem):
        sphere(path)
