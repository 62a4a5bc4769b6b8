"""Calls that GDAL has since 3.7 and 3.8: resizing, renaming and deleting."""
import numpy as np
import pytest
from osgeo import gdal

pytestmark = pytest.mark.skipif(not hasattr(gdal.Group, "Rename"),
                                reason="GDAL before 3.8 has no such calls")

INT16 = gdal.GDT_Int16
DATA = np.arange(48, dtype="i2").reshape(6, 8)
OPTIONS = {
    "v2": ("ZARR_V2", ["BLOCKSIZE=4,3", "COMPRESS=GZIP"]),
    "v3": ("ZARR_V3", ["BLOCKSIZE=4,3"]),
    "shards": ("ZARR_V3", ["BLOCKSIZE=4,6", "SHARD_CHUNK_SHAPE=2,3", "COMPRESS=ZSTD"]),
}


@pytest.fixture(params=OPTIONS)
def store(request, tmp_path):
    """A group `g` with an array `a`, over y and x, and the coordinates x."""
    version, options = OPTIONS[request.param]
    path = str(tmp_path / "a.zarr")
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(path, [], ["FORMAT=" + version])
    group = dataset.GetRootGroup().CreateGroup("g")
    y = group.CreateDimension("y", "", "", 6)
    x = group.CreateDimension("x", "", "", 8)
    array = group.CreateMDArray("a", [y, x], gdal.ExtendedDataType.Create(INT16), options)
    array.Write(DATA.tobytes())
    array.CreateAttribute("title", [], gdal.ExtendedDataType.CreateString()).Write("heights")
    coordinates = group.CreateMDArray("x", [x], gdal.ExtendedDataType.Create(gdal.GDT_Float64))
    coordinates.Write(np.arange(8.0).tobytes())
    return path


def open_group(path, update=True):
    flags = gdal.OF_MULTIDIM_RASTER | (gdal.OF_UPDATE if update else 0)
    dataset = gdal.OpenEx(path, flags)
    return dataset, dataset.GetRootGroup().OpenGroup("g")


def has(find, name):
    """A missing object is None in some versions of GDAL, and an exception in others."""
    try:
        return find(name) is not None
    except RuntimeError as error:
        assert "does not exist" in str(error)
        return False


def names_without_consolidated(path):
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER,
                          open_options=["USE_CONSOLIDATED_METADATA=NO"])
    return dataset.GetRootGroup().OpenGroup("g").GetMDArrayNames()


def read(path, name="a"):
    _dataset, group = open_group(path, False)
    return group.OpenMDArray(name).ReadAsArray()


def test_what_shrinks_away_is_gone_when_it_grows_again(store):
    dataset, group = open_group(store)
    array = group.OpenMDArray("a")
    assert array.Resize([3, 5]) == gdal.CE_None
    np.testing.assert_array_equal(array.ReadAsArray(), DATA[:3, :5])
    assert array.Resize([7, 9]) == gdal.CE_None
    expected = np.zeros((7, 9), "i2")
    expected[:3, :5] = DATA[:3, :5]
    np.testing.assert_array_equal(array.ReadAsArray(), expected)
    expected[6, 8] = 5
    array.Write(np.int16(5).tobytes(), [6, 8], [1, 1])
    del array, group
    dataset = None
    np.testing.assert_array_equal(read(store), expected)


def test_arrays_that_share_a_dimension_are_resized_together(store):
    dataset, group = open_group(store)
    array = group.OpenMDArray("a")
    coordinates = group.OpenMDArray("x")
    assert array.Resize([6, 10]) == gdal.CE_None
    assert coordinates.GetDimensions()[0].GetSize() == 10
    np.testing.assert_array_equal(coordinates.ReadAsArray(), [*range(8), 0, 0])
    assert array.GetDimensions()[1].GetIndexingVariable().GetFullName() == "/g/x"
    del array, coordinates, group
    dataset = None
    assert read(store, "x").shape == (10,)


def test_lengths_have_to_fit(store):
    _dataset, group = open_group(store)
    with pytest.raises(RuntimeError, match="expected 2 lengths, got 1|not of expected size"):
        group.OpenMDArray("a").Resize([4])
    np.testing.assert_array_equal(read(store), DATA)


def test_a_renamed_array_goes_on(store):
    dataset, group = open_group(store)
    array = group.OpenMDArray("a")
    array.Write(np.int16(-1).tobytes(), [0, 0], [1, 1])
    array.Rename("b")
    assert (array.GetName(), array.GetFullName()) == ("b", "/g/b")
    array.Write(np.int16(-2).tobytes(), [0, 1], [1, 1])
    assert not has(group.OpenMDArray, "a")
    del array, group
    dataset = None
    expected = DATA.copy()
    expected[0, :2] = -1, -2
    np.testing.assert_array_equal(read(store, "b"), expected)
    assert set(names_without_consolidated(store)) == {"b", "x"}


def test_a_renamed_group_takes_its_arrays_along(store):
    dataset = gdal.OpenEx(store, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    group = dataset.GetRootGroup().OpenGroup("g")
    array = group.OpenMDArray("a")
    group.Rename("h")
    assert group.GetFullName() == "/h"
    np.testing.assert_array_equal(group.OpenMDArray("a").ReadAsArray(), DATA)
    assert array.GetFullName() == "/h/a"
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    assert dataset.GetRootGroup().GetGroupNames() == ["h"]


def test_names_that_are_taken(store):
    _dataset, group = open_group(store)
    with pytest.raises(RuntimeError, match="already"):
        group.OpenMDArray("a").Rename("x")
    with pytest.raises(RuntimeError, match="cannot be named"):
        group.OpenMDArray("a").Rename("b/c")
    np.testing.assert_array_equal(read(store), DATA)


def test_what_is_deleted_is_gone(store):
    dataset, group = open_group(store)
    array = group.OpenMDArray("a")
    group.DeleteMDArray("a")
    with pytest.raises(RuntimeError, match="has been deleted"):
        array.ReadAsArray()
    with pytest.raises(RuntimeError, match="no array a"):
        group.DeleteMDArray("a")
    assert group.GetMDArrayNames() == ["x"]
    dataset.GetRootGroup().DeleteGroup("g")
    assert not dataset.GetRootGroup().GetGroupNames()
    del array, group
    dataset = None
    root = gdal.OpenEx(store, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert not root.GetGroupNames()


def test_attributes_are_renamed_and_deleted(store):
    dataset, group = open_group(store)
    array = group.OpenMDArray("a")
    array.GetAttribute("title").Rename("name")
    assert array.GetAttribute("name").Read() == "heights"
    del array, group
    dataset = None
    dataset, group = open_group(store)
    array = group.OpenMDArray("a")
    assert not has(array.GetAttribute, "title")
    array.DeleteAttribute("name")
    with pytest.raises(RuntimeError, match="no attribute name"):
        array.DeleteAttribute("name")
    del array, group
    dataset = None
    _dataset, group = open_group(store, False)
    assert not group.OpenMDArray("a").GetAttributes()


def test_the_exact_range_becomes_an_attribute_when_asked_for(store):
    dataset, group = open_group(store)
    array = group.OpenMDArray("a")
    array.ComputeStatistics(False)
    assert not has(array.GetAttribute, "actual_range")
    array.ComputeStatistics(False, options=["UPDATE_METADATA=YES"])
    del array, group
    dataset = None
    _dataset, group = open_group(store, False)
    assert list(group.OpenMDArray("a").GetAttribute("actual_range").Read()) == [0, 47]
