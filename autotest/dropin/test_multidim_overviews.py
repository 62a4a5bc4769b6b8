"""Overviews built from an array of the multidimensional API, and what the store then holds."""
import json
import os

import numpy as np
import pytest
from osgeo import gdal, osr

pytestmark = pytest.mark.gdal_since("3.13")

UPDATE = gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE
METHODS = ["NEAREST", "AVERAGE", "RMS", "GAUSS", "BILINEAR", "CUBIC", "CUBICSPLINE", "LANCZOS",
           "MODE"]
CONVENTION = "d35379db-88df-4056-af3a-620245f8e347"
FORMATS = [
    "ZARR_V3",
    pytest.param("ZARR_V2", marks=pytest.mark.ours_only("it builds overviews in v3 only")),
]


def float32():
    return gdal.ExtendedDataType.Create(gdal.GDT_Float32)


def create(path, data, names="yx", options=(), coordinates=None, nodata=None, group=None,
           store_format="ZARR_V3"):
    """A store with an array, and coordinates of the given dimensions."""
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(
        str(path), [], [f"FORMAT={store_format}"])
    parent = dataset.GetRootGroup()
    if group:
        parent = parent.CreateGroup(group)
    dimensions = [parent.CreateDimension(name, None, None, size)
                  for name, size in zip(names, data.shape)]
    for dimension in dimensions:
        values = (coordinates or {}).get(dimension.GetName())
        if values is not None:
            variable = parent.CreateMDArray(dimension.GetName(), [dimension],
                                            gdal.ExtendedDataType.Create(gdal.GDT_Float64))
            variable.Write(np.array(values, "f8"))
            dimension.SetIndexingVariable(variable)
    array = parent.CreateMDArray("data", dimensions, float32(), list(options))
    if nodata is not None:
        array.SetNoDataValueDouble(nodata)
    array.Write(data.astype("f4"))
    return dataset, array


def open_array(path, name="/data", flags=UPDATE):
    dataset = gdal.OpenEx(str(path), flags)
    return dataset, dataset.GetRootGroup().OpenMDArrayFromFullname(name)


def levels(array):
    return [array.GetOverview(i) for i in range(array.GetOverviewCount())]


def shapes(array):
    return [tuple(d.GetSize() for d in level.GetDimensions()) for level in levels(array)]


def names(array):
    return [level.GetFullName() for level in levels(array)]


def attributes(path, group=""):
    document = path / group / "zarr.json"
    if document.exists():
        return json.loads(document.read_text())["attributes"]
    document = path / group / ".zattrs"
    return json.loads(document.read_text()) if document.exists() else {}


def layout(path, group=""):
    return attributes(path, group)["multiscales"]["layout"]


def reduced(data, method, factors):
    """The levels as GDAL makes them from a raster in memory, each from the one before."""
    result = []
    for factor in factors:
        rows, columns = (-(-n // factor) for n in data.shape)
        levels = []
        for array in [result[-1] if result else data, np.zeros((rows, columns))]:
            raster = gdal.GetDriverByName("MEM").Create("", array.shape[1], array.shape[0], 1,
                                                        gdal.GDT_Float32)
            raster.WriteArray(array)
            levels.append(raster)
        fine, coarse = (raster.GetRasterBand(1) for raster in levels)
        gdal.RegenerateOverviews(fine, [coarse], method)
        result.append(coarse.ReadAsArray())
    return result


RANDOM = np.random.default_rng(4).random((37, 50)).astype("f4")


@pytest.mark.parametrize("store_format", FORMATS)
@pytest.mark.parametrize("method", METHODS)
def test_each_level_is_made_from_the_one_before(tmp_path, method, store_format):
    path = tmp_path / "a.zarr"
    dataset, array = create(path, RANDOM, store_format=store_format)
    assert array.BuildOverviews(method, [2, 6]) == gdal.CE_None
    del array, dataset
    dataset, array = open_array(path)
    assert names(array) == ["/ovr_2x/data", "/ovr_6x/data"]
    assert shapes(array) == [(19, 25), (7, 9)]
    for level, expected in zip(levels(array), reduced(RANDOM, method, [2, 6]), strict=True):
        np.testing.assert_allclose(level.ReadAsArray(), expected, rtol=1e-6)


def test_factors_are_sorted_and_without_doubles(tmp_path):
    dataset, array = create(tmp_path / "a.zarr", RANDOM)
    array.BuildOverviews("NEAREST", [8, 2, 4, 2])
    assert names(array) == ["/ovr_2x/data", "/ovr_4x/data", "/ovr_8x/data"]
    assert shapes(array) == [(19, 25), (10, 13), (5, 7)]


def test_only_the_spatial_dimensions_shrink(tmp_path):
    data = np.random.default_rng(1).random((3, 8, 12)).astype("f4")
    path = tmp_path / "a.zarr"
    dataset, array = create(path, data, "tyx", ["BLOCKSIZE=1,4,4"])
    array.BuildOverviews("NEAREST", [2, 4])
    del array, dataset
    dataset, array = open_array(path)
    assert shapes(array) == [(3, 4, 6), (3, 2, 3)]
    np.testing.assert_array_equal(levels(array)[0].ReadAsArray(), data[:, ::2, ::2])
    assert [entry.get("transform", {}).get("scale") for entry in layout(path)][1:] == [
        [1, 2, 2], [1, 2, 2]]


@pytest.mark.parametrize("x, y, expected", [
    (0, 1, (4, 6, 12)), (2, 0, (4, 12, 6)), (2, 1, (8, 6, 6))])
def test_types_of_dimensions_say_which_are_spatial(tmp_path, x, y, expected):
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(
        str(tmp_path / "a.zarr"), [], ["FORMAT=ZARR_V3"])
    root = dataset.GetRootGroup()
    types = {x: gdal.DIM_TYPE_HORIZONTAL_X, y: gdal.DIM_TYPE_HORIZONTAL_Y}
    dimensions = [root.CreateDimension(f"d{i}", types.get(i), None, size)
                  for i, size in enumerate((8, 12, 12))]
    array = root.CreateMDArray("data", dimensions, float32())
    array.BuildOverviews("NEAREST", [2])
    assert shapes(array) == [expected]


@pytest.mark.parametrize("reopened", [False, True])
def test_codecs_and_nodata_are_inherited(tmp_path, reopened):
    path = tmp_path / "a.zarr"
    dataset, array = create(path, np.arange(32 * 32).reshape(32, 32), nodata=7,
                            options=["BLOCKSIZE=16,16", "COMPRESS=ZSTD", "ZSTD_LEVEL=5"])
    if reopened:
        del array, dataset
        dataset, array = open_array(path)
    array.BuildOverviews("NEAREST", [2, 4])
    del array, dataset
    fine = json.loads((path / "data/zarr.json").read_text())
    for factor, size in ((2, 16), (4, 8)):
        level = json.loads((path / f"ovr_{factor}x/data/zarr.json").read_text())
        assert level["codecs"] == fine["codecs"]
        assert level["fill_value"] == fine["fill_value"] == 7
        assert level["chunk_grid"]["configuration"]["chunk_shape"] == [size, size]
        assert level["dimension_names"] == ["y", "x"]
    dataset, array = open_array(path)
    assert [level.GetNoDataValueAsDouble() for level in levels(array)] == [7, 7]


def test_nodata_is_no_part_of_an_average(tmp_path):
    data = np.array([[1, 3, 9, 9], [5, 9, 9, 9]], "f4")
    path = tmp_path / "a.zarr"
    dataset, array = create(path, data, nodata=9)
    array.BuildOverviews("AVERAGE", [2])
    del array, dataset
    dataset, array = open_array(path)
    np.testing.assert_array_equal(levels(array)[0].ReadAsArray(), [[3, 9]])


@pytest.mark.parametrize("reopened", [False, True])
def test_sharding_is_inherited(tmp_path, reopened):
    path = tmp_path / "a.zarr"
    data = np.arange(32 * 32).reshape(32, 32)
    dataset, array = create(path, data, options=["BLOCKSIZE=16,16", "SHARD_CHUNK_SHAPE=4,4",
                                                 "COMPRESS=GZIP"])
    if reopened:
        del array, dataset
        dataset, array = open_array(path)
    array.BuildOverviews("NEAREST", [2, 4])
    del array, dataset
    fine = json.loads((path / "data/zarr.json").read_text())
    for factor, size in ((2, 16), (4, 8)):
        level = json.loads((path / f"ovr_{factor}x/data/zarr.json").read_text())
        assert level["codecs"] == fine["codecs"]
        assert level["codecs"][0]["name"] == "sharding_indexed"
        assert level["chunk_grid"]["configuration"]["chunk_shape"] == [size, size]
    dataset, array = open_array(path)
    np.testing.assert_array_equal(levels(array)[1].ReadAsArray(), data[::4, ::4])


def coordinates_at(path, factor, name):
    dataset, array = open_array(path, f"/ovr_{factor}x/{name}")
    return array.ReadAsArray().tolist()


def test_regular_coordinates_are_centres_of_blocks(tmp_path):
    path = tmp_path / "a.zarr"
    y = 100 - 10 * np.arange(8)
    x = 5 + 10 * np.arange(7)
    dataset, array = create(path, np.zeros((8, 7)), coordinates={"y": y, "x": x})
    array.BuildOverviews("NEAREST", [2, 3, 4])
    del array, dataset
    assert coordinates_at(path, 2, "y") == [95, 75, 55, 35]
    assert coordinates_at(path, 2, "x") == [10, 30, 50, 70]
    assert coordinates_at(path, 3, "x") == [15, 45, 75]
    assert coordinates_at(path, 4, "y") == [85, 45]
    dataset, array = open_array(path)
    half = levels(array)[0]
    assert [d.GetIndexingVariable().GetFullName() for d in half.GetDimensions()] == [
        "/ovr_2x/y", "/ovr_2x/x"]


def test_irregular_coordinates_are_those_of_cells_in_the_middle(tmp_path):
    path = tmp_path / "a.zarr"
    x = [0, 1, 3, 6, 10, 15, 21]
    dataset, array = create(path, np.zeros((8, 7)), coordinates={"x": x})
    array.BuildOverviews("NEAREST", [2, 3, 4])
    del array, dataset
    assert coordinates_at(path, 2, "x") == [1, 6, 15, 21]
    assert coordinates_at(path, 3, "x") == [1, 10, 21]
    assert coordinates_at(path, 4, "x") == [3, 21]


@pytest.mark.parametrize("group", ["", "below"])
def test_layout(tmp_path, group):
    path = tmp_path / "a.zarr"
    dataset, array = create(path, np.zeros((7, 10)), group=group)
    array.BuildOverviews("Average", [2, 4])
    del array, dataset
    finest, half, quarter = layout(path, group)
    assert finest["asset"] == "data"
    assert finest["transform"] == {"scale": [1, 1]}
    for entry, asset, parent, scale in ((half, "ovr_2x", "data", [7 / 4, 2]),
                                        (quarter, "ovr_4x", "ovr_2x", [2, 5 / 3])):
        assert entry["asset"] == asset
        assert entry["derived_from"] == parent
        assert entry["transform"] == {"scale": scale, "translation": [0, 0]}
        assert entry["resampling_method"] == "Average"
    conventions = attributes(path, group)["zarr_conventions"]
    assert [c["uuid"] for c in conventions] == [CONVENTION]
    assert conventions[0]["name"] == "multiscales"


def test_the_convention_is_declared_once_and_beside_others(tmp_path):
    path = tmp_path / "a.zarr"
    dataset, array = create(path, RANDOM)
    del array, dataset
    document = json.loads((path / "zarr.json").read_text())
    document["attributes"] = {"zarr_conventions": [{"uuid": "other", "name": "other"}], "mine": 1}
    document.pop("consolidated_metadata", None)
    (path / "zarr.json").write_text(json.dumps(document))
    for _ in range(2):
        dataset, array = open_array(path)
        array.BuildOverviews("NEAREST", [2])
        del array, dataset
    assert [c["uuid"] for c in attributes(path)["zarr_conventions"]] == ["other", CONVENTION]
    assert attributes(path)["mine"] == 1
    dataset, array = open_array(path)
    array.BuildOverviews("NEAREST", [])
    del array, dataset
    assert [c["uuid"] for c in attributes(path)["zarr_conventions"]] == ["other"]
    assert attributes(path)["mine"] == 1


def test_a_new_list_replaces_the_levels(tmp_path):
    path = tmp_path / "a.zarr"
    dataset, array = create(path, RANDOM)
    array.BuildOverviews("NEAREST", [2, 4])
    array.BuildOverviews("AVERAGE", [4, 8])
    assert names(array) == ["/ovr_4x/data", "/ovr_8x/data"]
    del array, dataset
    assert not os.path.exists(path / "ovr_2x")
    assert [entry["asset"] for entry in layout(path)] == ["data", "ovr_4x", "ovr_8x"]
    dataset, array = open_array(path)
    expected = reduced(RANDOM, "AVERAGE", [4, 8])
    for level, data in zip(levels(array), expected, strict=True):
        np.testing.assert_allclose(level.ReadAsArray(), data, rtol=1e-6)


@pytest.mark.parametrize("reopened", [False, True])
def test_an_empty_list_removes_them(tmp_path, reopened):
    path = tmp_path / "a.zarr"
    dataset, array = create(path, RANDOM)
    array.BuildOverviews("NEAREST", [2, 4])
    if reopened:
        del array, dataset
        dataset, array = open_array(path)
    array.BuildOverviews("NEAREST", [])
    assert array.GetOverviewCount() == 0
    del array, dataset
    assert sorted(p.name for p in path.iterdir()) == ["data", "zarr.json"]
    assert "multiscales" not in attributes(path)
    assert "zarr_conventions" not in attributes(path)
    np.testing.assert_array_equal(gdal.Open(str(path)).ReadAsArray(), RANDOM)


@pytest.mark.parametrize("factor", [1, 0, -2])
def test_factors_below_two_are_errors(tmp_path, factor):
    path = tmp_path / "a.zarr"
    dataset, array = create(path, RANDOM)
    with pytest.raises(RuntimeError, match=str(factor)):
        array.BuildOverviews("NEAREST", [2, factor])
    assert array.GetOverviewCount() == 0
    del array, dataset
    assert "multiscales" not in attributes(path)
    assert not os.path.exists(path / "ovr_2x")


@pytest.mark.parametrize("factors", [[2], []])
def test_one_dimension_is_an_error(tmp_path, factors):
    dataset, array = create(tmp_path / "a.zarr", np.zeros(5), "x")
    with pytest.raises(RuntimeError, match="dimension"):
        array.BuildOverviews("NEAREST", factors)


@pytest.mark.parametrize("factors", [[2], []])
def test_a_store_opened_for_reading_is_an_error(tmp_path, factors):
    path = tmp_path / "a.zarr"
    dataset, array = create(path, RANDOM)
    del array, dataset
    dataset, array = open_array(path, flags=gdal.OF_MULTIDIM_RASTER)
    with pytest.raises(RuntimeError):
        array.BuildOverviews("NEAREST", factors)


def test_an_unknown_method_is_an_error(tmp_path):
    dataset, array = create(tmp_path / "a.zarr", RANDOM)
    with pytest.raises(RuntimeError, match="nonsense"):
        array.BuildOverviews("nonsense", [2])
    assert array.GetOverviewCount() == 0


def test_structures_and_strings_are_errors(tmp_path):
    dataset, array = create(tmp_path / "a.zarr", RANDOM)
    text = dataset.GetRootGroup().CreateMDArray("text", array.GetDimensions(),
                                                gdal.ExtendedDataType.CreateString(8))
    with pytest.raises(RuntimeError):
        text.BuildOverviews("NEAREST", [2])


def test_progress(tmp_path):
    dataset, array = create(tmp_path / "a.zarr", RANDOM)
    seen = []
    array.BuildOverviews("AVERAGE", [2, 4], lambda done, *_: seen.append(done) or 1)
    assert seen == sorted(seen) and seen[-1] == 1


@pytest.mark.ours_only("it goes on when its progress function says to stop")
def test_cancel(tmp_path):
    path = tmp_path / "a.zarr"
    dataset, array = create(path, RANDOM)
    with pytest.raises(RuntimeError):
        array.BuildOverviews("AVERAGE", [2, 4], lambda done, *_: done < 0.5)
    assert array.GetOverviewCount() == 0
    del array, dataset
    assert sorted(p.name for p in path.iterdir()) == ["data", "zarr.json"]


def test_through_the_classic_view(tmp_path):
    path = tmp_path / "a.zarr"
    data = np.stack([RANDOM, 1 - RANDOM])
    dataset, array = create(path, data, "tyx")
    raster = array.AsClassicDataset(2, 1)
    assert raster.BuildOverviews("NEAREST", [2]) == gdal.CE_None
    assert [raster.GetRasterBand(band).GetOverviewCount() for band in (1, 2)] == [1, 1]
    assert shapes(array) == [(2, 19, 25)]
    del raster, array, dataset
    raster = gdal.Open(str(path))
    for band in (1, 2):
        overview = raster.GetRasterBand(band).GetOverview(0)
        np.testing.assert_array_equal(overview.ReadAsArray(),
                                      reduced(data[band - 1], "NEAREST", [2])[0])


def test_classic_dataset_sees_those_built_from_the_array(tmp_path):
    dataset, array = create(tmp_path / "a.zarr", RANDOM)
    raster = array.AsClassicDataset(1, 0)
    array.BuildOverviews("NEAREST", [2])
    assert raster.GetRasterBand(1).GetOverviewCount() == 1
    assert raster.GetRasterBand(1).GetOverview(0).XSize == 25


def test_overviews_of_levels(tmp_path):
    """Overviews of levels are the coarser levels; coordinates have none."""
    path = tmp_path / "a.zarr"
    dataset, array = create(path, RANDOM, coordinates={"y": np.arange(37), "x": np.arange(50)})
    array.BuildOverviews("NEAREST", [2, 4])
    del array, dataset
    dataset, array = open_array(path)
    half, quarter = levels(array)
    assert names(half) == ["/ovr_4x/data"]
    assert quarter.GetOverviewCount() == 0
    assert dataset.GetRootGroup().OpenMDArray("x").GetOverviewCount() == 0


@pytest.mark.parametrize("gdal_type", [gdal.GDT_Byte, gdal.GDT_Int16, gdal.GDT_Int64,
                                       gdal.GDT_UInt64, gdal.GDT_Float64])
def test_types(tmp_path, gdal_type):
    path = tmp_path / "a.zarr"
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(
        str(path), [], ["FORMAT=ZARR_V3"])
    root = dataset.GetRootGroup()
    dimensions = [root.CreateDimension(name, None, None, 4) for name in "yx"]
    array = root.CreateMDArray("data", dimensions, gdal.ExtendedDataType.Create(gdal_type))
    data = np.arange(16, dtype=array.ReadAsArray().dtype).reshape(4, 4)
    array.Write(data)
    array.BuildOverviews("NEAREST", [2])
    del array, root, dataset
    dataset, array = open_array(path)
    level = levels(array)[0]
    assert level.GetDataType().GetNumericDataType() == gdal_type
    np.testing.assert_array_equal(level.ReadAsArray(), data[::2, ::2])


@pytest.mark.ours_only("its levels have no CRS, scale, offset or unit")
def test_levels_mean_what_the_array_means(tmp_path):
    path = tmp_path / "a.zarr"
    dataset, array = create(path, RANDOM, coordinates={"y": -np.arange(37), "x": np.arange(50)})
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(32631)
    array.SetSpatialRef(crs)
    array.SetScale(2)
    array.SetOffset(1)
    array.SetUnit("K")
    array.BuildOverviews("NEAREST", [2])
    del array, dataset
    dataset, array = open_array(path)
    level = levels(array)[0]
    assert (level.GetScale(), level.GetOffset(), level.GetUnit()) == (2, 1, "K")
    assert level.GetSpatialRef().GetAuthorityCode(None) == "32631"


@pytest.mark.ours_only("the overviews of the second array replace those of the first")
def test_arrays_of_one_group_keep_their_overviews(tmp_path):
    path = tmp_path / "a.zarr"
    dataset, array = create(path, RANDOM)
    other = dataset.GetRootGroup().CreateMDArray("other", array.GetDimensions(), float32())
    other.Write(1 - RANDOM)
    array.BuildOverviews("NEAREST", [2])
    other.BuildOverviews("NEAREST", [2, 4])
    assert (array.GetOverviewCount(), other.GetOverviewCount()) == (1, 2)
    other.BuildOverviews("NEAREST", [])
    assert (array.GetOverviewCount(), other.GetOverviewCount()) == (1, 0)
