"""Writing into a new ZIP archive by its /vsizip/ path."""
import zipfile

import numpy as np
import pytest
from osgeo import gdal

DATA = (np.arange(300 * 400) % 1000).astype("u2").reshape(300, 400)
PLACE = (10, 1, 0, 20, 0, -1)
FORMATS = ["ZARR_V2", "ZARR_V3"]


@pytest.fixture
def source():
    dataset = gdal.GetDriverByName("MEM").Create("", 400, 300, 1, gdal.GDT_UInt16)
    dataset.GetRasterBand(1).WriteArray(DATA)
    dataset.SetGeoTransform(PLACE)
    return dataset


def assert_is_whole(archive):
    with zipfile.ZipFile(archive) as file:
        assert file.testzip() is None
        names = file.namelist()
        assert len(names) == len(set(names))
        return names


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("compress", ["NONE", "ZSTD"])
def test_copy(tmp_path, source, format, compress):
    path = f"/vsizip/{tmp_path}/new.zip/test.zarr"
    copy = gdal.GetDriverByName("Zarr").CreateCopy(
        path, source, options=[f"FORMAT={format}", f"COMPRESS={compress}"])
    del copy
    for name in (path, f'ZARR:"{path}":/test'):
        dataset = gdal.OpenEx(name, gdal.OF_RASTER, ["Zarr"])
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
        assert dataset.GetGeoTransform() == PLACE
        del dataset
    names = assert_is_whole(tmp_path / "new.zip")
    assert all(name.startswith("test.zarr/") for name in names)


@pytest.mark.builtin_since("3.13")
def test_in_memory(source):
    path = "/vsizip//vsimem/test_zip_targets.zip/test.zarr"
    copy = gdal.GetDriverByName("Zarr").CreateCopy(path, source)
    del copy
    np.testing.assert_array_equal(gdal.Open(path).ReadAsArray(), DATA)
    gdal.Unlink("/vsimem/test_zip_targets.zip")


@pytest.mark.ours_only("it writes a document that it has written before, which an archive cannot take")
@pytest.mark.parametrize("format", FORMATS)
def test_create(tmp_path, format):
    path = f"/vsizip/{tmp_path}/new.zip/test.zarr"
    dataset = gdal.GetDriverByName("Zarr").Create(path, 400, 300, 1, gdal.GDT_UInt16,
                                                  [f"FORMAT={format}"])
    dataset.SetGeoTransform(PLACE)
    dataset.GetRasterBand(1).WriteArray(DATA)
    del dataset
    dataset = gdal.Open(path)
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    assert dataset.GetGeoTransform() == PLACE
    assert_is_whole(tmp_path / "new.zip")


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("format", FORMATS)
def test_multidimensional(tmp_path, format):
    path = f"/vsizip/{tmp_path}/new.zip/test.zarr"
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(path, [], [f"FORMAT={format}"])
    root = dataset.GetRootGroup()
    group = root.CreateGroup("group")
    dimensions = [root.CreateDimension(n, None, None, s) for n, s in zip("yx", DATA.shape)]
    array = group.CreateMDArray("a", dimensions, gdal.ExtendedDataType.Create(gdal.GDT_UInt16))
    array.Write(DATA)
    del array, dimensions, group, root, dataset
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenGroup("group").OpenMDArray("a")
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    assert_is_whole(tmp_path / "new.zip")
