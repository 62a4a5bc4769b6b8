"""Pyramids as overviews: how they are found, listed and read."""
import shutil

import numpy as np
import pytest
from osgeo import gdal
from stores import edit_json, write_array, write_group
from v2_stores import write_v2, write_v2_group

LEVELS = [np.random.default_rng(i).integers(0, 200, (64 >> i, 96 >> i)).astype("u1")
          for i in range(3)]


def layout(*assets):
    return {"multiscales": {"layout": [{"asset": asset} for asset in assets]}}


def overviews(raster):
    band = raster.GetRasterBand(1)
    return [band.GetOverview(i).ReadAsArray() for i in range(band.GetOverviewCount())]


def write_groups(path):
    """Levels that are groups of several arrays."""
    write_group(path, layout("fine", "half", "deep/quarter"))
    write_group(path / "deep")
    for asset, data in zip(("fine", "half", "deep/quarter"), LEVELS):
        write_group(path / asset)
        write_array(path / asset / "a", data, names=["y", "x"])
        write_array(path / asset / "b", 255 - data, names=["y", "x"])
    return "/fine/a"


def write_arrays(path):
    """Levels that are arrays."""
    write_group(path, layout("0", "1", "2"))
    for i, data in enumerate(LEVELS):
        write_array(path / str(i), data)
    return "/0"


def write_with_groups(path, finest):
    """Groups below, each of which has an array of the same name."""
    write_group(path, layout(finest, "o2", "o4"))
    write_array(path / "data", LEVELS[0])
    for asset, data in zip(("o2", "o4"), LEVELS[1:]):
        write_group(path / asset)
        write_array(path / asset / "data", data)
    return "/data"


def write_mixed(path):
    """The finest level is an array, the others are groups with an array of its name."""
    return write_with_groups(path, "data")


def write_root(path):
    """The finest level is the group with the attribute `multiscales`."""
    return write_with_groups(path, ".")


def write_ome_04(path):
    write_v2_group(path, {"multiscales": [{
        "version": "0.4", "datasets": [{"path": str(i)} for i in range(3)],
        "axes": [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}],
    }]})
    for i, data in enumerate(LEVELS):
        write_v2(path, str(i), data)
    return "/0"


def write_ome_05(path):
    write_group(path, {"ome": {"version": "0.5", "multiscales": [
        {"datasets": [{"path": f"scale{i}/image"} for i in range(3)]}]}})
    for i, data in enumerate(LEVELS):
        write_group(path / f"scale{i}")
        write_array(path / f"scale{i}/image", data)
    return "/scale0/image"


WRITERS = [write_groups, write_arrays, write_mixed, write_root, write_ome_04, write_ome_05]


@pytest.fixture(params=WRITERS, ids=lambda f: f.__name__.removeprefix("write_"))
def pyramid(request, tmp_path):
    return tmp_path, request.param(tmp_path)


def test_levels_are_overviews(pyramid):
    path, name = pyramid
    raster = gdal.Open(f'ZARR:"{path}":{name}')
    np.testing.assert_array_equal(raster.ReadAsArray(), LEVELS[0])
    for got, want in zip(overviews(raster), LEVELS[1:], strict=True):
        np.testing.assert_array_equal(got, want)


def test_levels_are_no_subdatasets(pyramid):
    path, name = pyramid
    raster = gdal.Open(str(path))
    if name == "/fine/a":
        names = [n.rpartition(":")[2] for n, _ in raster.GetSubDatasets()]
        assert names == ["/fine/a", "/fine/b"]
    else:
        np.testing.assert_array_equal(raster.ReadAsArray(), LEVELS[0])
    every = gdal.OpenEx(str(path), gdal.OF_RASTER, open_options=["LIST_ALL_ARRAYS=YES"])
    assert len(every.GetSubDatasets()) == (6 if name == "/fine/a" else 3)


def test_the_classic_view_of_an_array_has_them(pyramid):
    path, name = pyramid
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArrayFromFullname(name)
    for got, want in zip(overviews(array.AsClassicDataset(1, 0)), LEVELS[1:], strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("whole_dataset", [True, False])
def test_decimated_reads_use_them(tmp_path, whole_dataset):
    name = write_arrays(tmp_path)
    raster = gdal.Open(f'ZARR:"{tmp_path}":{name}')
    reader = raster if whole_dataset else raster.GetRasterBand(1)
    for i in (1, 2):
        size = {"buf_xsize": 96 >> i, "buf_ysize": 64 >> i}
        np.testing.assert_array_equal(reader.ReadAsArray(**size), LEVELS[i])
        window = reader.ReadAsArray(32, 16, 32, 16, buf_xsize=32 >> i, buf_ysize=16 >> i)
        rows, columns = slice(16 >> i, 32 >> i), slice(32 >> i, 64 >> i)
        np.testing.assert_array_equal(window, LEVELS[i][rows, columns])
    np.testing.assert_array_equal(reader.ReadAsArray(3, 5, 20, 10), LEVELS[0][5:15, 3:23])


def test_bands_have_overviews(tmp_path):
    write_group(tmp_path, layout("0", "1"))
    cubes = [np.stack([level, 255 - level]) for level in LEVELS]
    for i in (0, 1):
        write_array(tmp_path / str(i), cubes[i], names=["t", "y", "x"])
    raster = gdal.Open(f'ZARR:"{tmp_path}":/0')
    assert raster.RasterCount == 2
    np.testing.assert_array_equal(raster.GetRasterBand(2).GetOverview(0).ReadAsArray(), cubes[1][1])
    np.testing.assert_array_equal(raster.ReadAsArray(buf_xsize=48, buf_ysize=32), cubes[1])
    one = gdal.Open(f'ZARR:"{tmp_path}":/0:1')
    np.testing.assert_array_equal(overviews(one)[0], cubes[1][1])


def test_levels_lie_where_the_finest_lies(tmp_path):
    write_mixed(tmp_path)
    edit_json(tmp_path / "data/zarr.json", attributes={
        "spatial:transform": [10, 0, 1000, 0, -10, 2000], "proj:code": "EPSG:32633"})
    raster = gdal.Open(f'ZARR:"{tmp_path}":/data')
    overview = raster.GetRasterBand(1).GetOverview(1).GetDataset()
    level = gdal.Open(f'ZARR:"{tmp_path}":/o4/data')
    for dataset in (overview, level):
        assert dataset.GetGeoTransform() == (1000, 40, 0, 2000, 0, -40)
        assert dataset.GetSpatialRef().GetAuthorityCode(None) == "32633"
    assert len(overviews(level)) == 0


def test_a_level_may_state_its_own_transform(tmp_path):
    write_arrays(tmp_path)
    edit_json(tmp_path / "zarr.json", attributes={"multiscales": {"layout": [
        {"asset": "0", "spatial:transform": [10, 0, 1000, 0, -10, 2000]},
        {"asset": "1", "spatial:transform": [20, 0, 995, 0, -20, 2005]},
    ]}})
    assert gdal.Open(f'ZARR:"{tmp_path}":/0').GetGeoTransform() == (1000, 10, 0, 2000, 0, -10)
    assert gdal.Open(f'ZARR:"{tmp_path}":/1').GetGeoTransform() == (995, 20, 0, 2005, 0, -20)


def test_axes_of_ome_are_dimension_names(tmp_path):
    write_ome_04(tmp_path)
    root = gdal.OpenEx(str(tmp_path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert [d.GetName() for d in root.OpenMDArray("0").GetDimensions()] == ["y", "x"]


@pytest.mark.parametrize("change", ["absent", "as large", "other rank"])
def test_levels_that_are_none_are_left_out(tmp_path, change):
    write_arrays(tmp_path)
    if change == "absent":
        (tmp_path / "1/zarr.json").unlink()
    elif change == "as large":
        write_array(tmp_path / "1", LEVELS[0])
    else:
        shutil.rmtree(tmp_path / "1")
        write_array(tmp_path / "1", LEVELS[1][None])
    raster = gdal.Open(f'ZARR:"{tmp_path}":/0')
    assert [o.shape for o in overviews(raster)] == [LEVELS[2].shape]


@pytest.mark.parametrize("assets", [(".", "q"), ("p", "p/q"), ("q", "q"), ("p", "q", ".")], ids=str)
def test_levels_that_contain_each_other(tmp_path, assets):
    """They lead nowhere, and not in circles."""
    write_group(tmp_path, layout(*assets))
    write_group(tmp_path / "p")
    for name in ("q", "p/q"):
        write_array(tmp_path / name, LEVELS[1])
    for name in ("/q", "/p/q"):
        raster = gdal.Open(f'ZARR:"{tmp_path}":{name}')
        assert raster.GetSpatialRef() is None
        assert overviews(raster) == []
        np.testing.assert_array_equal(raster.ReadAsArray(), LEVELS[1])
    every = gdal.OpenEx(str(tmp_path), gdal.OF_RASTER, open_options=["LIST_ALL_ARRAYS=YES"])
    assert len(every.GetSubDatasets()) == 2
