"""Pyramids that other programs wrote: which array is the finest, and which are its overviews."""
import json

import numpy as np
import pytest
from osgeo import gdal

LEVELS = [np.arange((8 >> i) * (12 >> i), dtype="u1").reshape(8 >> i, 12 >> i) for i in range(3)]
CONVENTION = [{"uuid": "d35379db-88df-4056-af3a-620245f8e347", "name": "multiscales"}]


def write_group(path, attributes=None):
    path.mkdir(parents=True, exist_ok=True)
    (path / "zarr.json").write_text(json.dumps(
        {"zarr_format": 3, "node_type": "group", "attributes": attributes or {}}))


def write_array(path, data, dtype="uint8"):
    (path / "c/0").mkdir(parents=True)
    (path / "c/0/0").write_bytes(data.astype(dtype).tobytes())
    (path / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": data.shape, "data_type": dtype,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": data.shape}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "attributes": {},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "dimension_names": ["y", "x"]}))


def write_pyramid(path, multiscales, arrays):
    """`arrays` are paths, the finest first."""
    write_group(path, {"multiscales": multiscales, "zarr_conventions": CONVENTION})
    for name, data in zip(arrays, LEVELS):
        for parent in list((path / name).relative_to(path).parents)[:-1]:
            write_group(path / parent)
        write_array(path / name, data)


def entries(*assets):
    """Each derived from the one before."""
    return {"layout": [{"asset": asset, **({"derived_from": assets[i - 1]} if i else {})}
                       for i, asset in enumerate(assets)]}


def unlinked(*assets):
    return {"layout": [{"asset": asset} for asset in assets]}


def datasets(*paths, **members):
    return [{"datasets": [{"path": path, **members} for path in paths]}]


def check(path, finest):
    raster = gdal.Open(f'ZARR:"{path}":/{finest}')
    np.testing.assert_array_equal(raster.ReadAsArray(), LEVELS[0])
    band = raster.GetRasterBand(1)
    assert band.GetOverviewCount() == 2
    for i in (0, 1):
        np.testing.assert_array_equal(band.GetOverview(i).ReadAsArray(), LEVELS[i + 1])


GROUPS = ("data", "ovr_2x/data", "ovr_4x/data")


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("multiscales, arrays", [
    (entries("data", "ovr_2x", "ovr_4x"), GROUPS),
    (entries(".", "ovr_2x", "ovr_4x"), GROUPS),
    (unlinked("data", "ovr_2x", "ovr_4x"), GROUPS),
    (unlinked(".", "ovr_2x", "ovr_4x"), GROUPS),
    (entries("data", "ovr_2x/data", "ovr_4x/data"), GROUPS),
    (entries("0", "1", "2"), ("0", "1", "2")),
    (entries("0", "1", "2"), ("0/d", "1/d", "2/d")),
    (entries("2", "1", "0"), ("2/d", "1/d", "0/d")),
], ids=str)
def test_finest_first(tmp_path, multiscales, arrays):
    write_pyramid(tmp_path, multiscales, arrays)
    check(tmp_path, arrays[0])


COARSE_FIRST = [
    (unlinked("0", "1", "2"), ("2", "1", "0")),
    (unlinked("0", "1", "2"), ("2/d", "1/d", "0/d")),
    (datasets("0", "1", "2", pixels_per_tile=128, crs="EPSG:3857"), ("2/d", "1/d", "0/d")),
    (datasets("0", "1", "2"), ("2", "1", "0")),
]


@pytest.mark.ours_only("it sees no overviews in a list whose first level is not the finest")
@pytest.mark.parametrize("multiscales, arrays", COARSE_FIRST, ids=str)
def test_coarsest_first(tmp_path, multiscales, arrays):
    """As Carbonplan's ndpyramid writes them."""
    write_pyramid(tmp_path, multiscales, arrays)
    check(tmp_path, arrays[0])
    raster = gdal.Open(str(tmp_path))
    assert (raster.RasterXSize, raster.RasterYSize) == (12, 8)
    assert len(raster.GetSubDatasets()) <= 1


@pytest.mark.ours_only("it does not know datasets of OME-Zarr")
@pytest.mark.parametrize("wrap", [lambda m: {"multiscales": m},
                                  lambda m: {"ome": {"version": "0.5", "multiscales": m}}])
def test_ome_zarr(tmp_path, wrap):
    write_pyramid(tmp_path, None, ("0", "1", "2"))
    write_group(tmp_path, wrap(datasets("0", "1", "2")))
    check(tmp_path, "0")
    raster = gdal.Open(str(tmp_path))
    assert (raster.RasterXSize, raster.RasterYSize) == (12, 8)


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("change", ["absent", "other type", "other rank"])
def test_levels_that_are_none(tmp_path, change):
    write_pyramid(tmp_path, entries("data", "ovr_2x", "ovr_4x"), GROUPS)
    level = tmp_path / "ovr_2x/data"
    document = json.loads((level / "zarr.json").read_text())
    if change == "absent":
        (level / "zarr.json").unlink()
    elif change == "other type":
        document["data_type"] = "int16"
    else:
        document.update(shape=[1, 4, 6], dimension_names=["t", "y", "x"], chunk_grid={
            "name": "regular", "configuration": {"chunk_shape": [1, 4, 6]}})
    if change != "absent":
        (level / "zarr.json").write_text(json.dumps(document))
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    raster = gdal.Open(f'ZARR:"{tmp_path}":/data')
    band = raster.GetRasterBand(1)
    assert [band.GetOverview(i).XSize for i in range(band.GetOverviewCount())] == [3]
    gdal.PopErrorHandler()


@pytest.mark.builtin_since("3.13")
def test_overviews_of_levels(tmp_path):
    write_pyramid(tmp_path, entries("data", "ovr_2x", "ovr_4x"), GROUPS)
    raster = gdal.Open(f'ZARR:"{tmp_path}":/ovr_2x/data')
    band = raster.GetRasterBand(1)
    assert [band.GetOverview(i).XSize for i in range(band.GetOverviewCount())] == [3]


@pytest.mark.ours_only("it sees no overviews of arrays that are opened by their own path")
@pytest.mark.parametrize("multiscales, arrays", [
    (entries("data", "ovr_2x", "ovr_4x"), GROUPS), (entries("0", "1", "2"), ("0", "1", "2")),
    (entries("0", "1", "2"), ("0/d", "1/d", "2/d")), (datasets("0", "1", "2"), ("0", "1", "2")),
    *COARSE_FIRST], ids=str)
def test_own_path(tmp_path, multiscales, arrays):
    write_pyramid(tmp_path / "s", multiscales, arrays)
    for i, name in enumerate(arrays):
        raster = gdal.Open(str(tmp_path / "s" / name))
        band = raster.GetRasterBand(1)
        levels = [band.GetOverview(j).ReadAsArray() for j in range(band.GetOverviewCount())]
        assert [level.tolist() for level in levels] == [one.tolist() for one in LEVELS[i + 1:]]
        np.testing.assert_array_equal(band.ReadAsArray(), LEVELS[i])


@pytest.mark.gdal_since("3.13")
@pytest.mark.ours_only("it sees no overviews of arrays that are opened by their own path")
def test_own_path_multidim(tmp_path):
    write_pyramid(tmp_path / "s", entries("data", "ovr_2x", "ovr_4x"), GROUPS)
    dataset = gdal.OpenEx(str(tmp_path / "s/data"), gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArray("data")
    assert array.GetOverviewCount() == 2
    level = array.GetOverview(1)
    np.testing.assert_array_equal(level.ReadAsArray(), LEVELS[2])
    assert level.AsClassicDataset(1, 0).GetRasterBand(1).GetOverviewCount() == 0
    assert array.GetOverview(2) is None


@pytest.mark.ours_only("it takes the position from coordinates of each level")
@pytest.mark.parametrize("level", [0, 1, 2])
def test_own_path_is_placed_like_the_array_of_the_store(tmp_path, level):
    """The group's position is the finest level's."""
    store = tmp_path / "s"
    write_pyramid(store, entries("0", "1", "2"), ("0", "1", "2"))
    document = json.loads((store / "zarr.json").read_text())
    document["attributes"].update({
        "proj:code": "EPSG:32631", "spatial:dimensions": ["y", "x"],
        "spatial:transform": [10, 0, 500000, 0, -10, 4000000]})
    (store / "zarr.json").write_text(json.dumps(document))
    inside = gdal.Open(f'ZARR:"{store}":/{level}')
    alone = gdal.Open(str(store / str(level)))
    assert inside.GetGeoTransform() == (500000, 10 * 2**level, 0, 4000000, 0, -10 * 2**level)
    assert alone.GetGeoTransform() == inside.GetGeoTransform()
    assert alone.GetSpatialRef().IsSame(inside.GetSpatialRef())


@pytest.mark.builtin_since("3.13")
def test_levels_are_listed_on_request_only(tmp_path):
    write_pyramid(tmp_path, entries("data", "ovr_2x", "ovr_4x"), GROUPS)
    raster = gdal.Open(str(tmp_path))
    assert raster.RasterXSize == 12
    assert not any("ovr" in name for name, _ in raster.GetSubDatasets())
    every = gdal.OpenEx(str(tmp_path), gdal.OF_RASTER, open_options=["LIST_ALL_ARRAYS=YES"])
    names = {name.rpartition(":")[2] for name, _ in every.GetSubDatasets()}
    assert names == {"/data", "/ovr_2x/data", "/ovr_4x/data"}
