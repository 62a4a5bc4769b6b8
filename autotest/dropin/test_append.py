"""Arrays that are appended to a store share its dimensions, if they are at the same place."""
import numpy as np
import pytest
from osgeo import gdal

pytestmark = pytest.mark.builtin_since("3.13")

PLACE = (10, 1, 0, 20, 0, -1)


def create(path, *options, size=(4, 3), place=PLACE, copied=False):
    driver = gdal.GetDriverByName("Zarr")
    if copied:
        dataset = gdal.GetDriverByName("MEM").Create("", *size)
    else:
        dataset = driver.Create(str(path), *size, 1, gdal.GDT_Byte, list(options))
    if place:
        dataset.SetGeoTransform(place)
    dataset.GetRasterBand(1).WriteArray(np.full(size[::-1], 7, "u1"))
    if copied:
        driver.CreateCopy(str(path), dataset, options=list(options))
    del dataset


def append(path, *options, name="two", **more):
    """The full names of the dimensions of the new array, and its geotransform."""
    create(path, "APPEND_SUBDATASET=YES", f"ARRAY_NAME={name}", *options, **more)
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArrayFromFullname(f"/{name}")
    dimensions = [dimension.GetFullName() for dimension in array.GetDimensions()]
    del array, dataset
    raster = gdal.Open(f'ZARR:"{path}":/{name}')
    assert (raster.ReadAsArray() == 7).all()
    return dimensions, raster.GetGeoTransform()


@pytest.mark.parametrize("format, copied", [
    ("ZARR_V2", False), ("ZARR_V2", True), ("ZARR_V3", False),
    pytest.param("ZARR_V3", True, marks=pytest.mark.ours_only("its appended copy holds zeros")),
])
def test_same_size_and_place(tmp_path, format, copied):
    path = tmp_path / "a.zarr"
    create(path, f"FORMAT={format}", "ARRAY_NAME=one")
    before = sorted(p.name for p in path.iterdir())
    assert append(path, copied=copied) == (["/Y", "/X"], PLACE)
    assert sorted(p.name for p in path.iterdir()) == sorted([*before, "two"])
    assert append(path, name="three", copied=copied) == (["/Y", "/X"], PLACE)
    dataset = gdal.Open(f'ZARR:"{path}":/one')
    assert dataset.GetGeoTransform() == PLACE and (dataset.ReadAsArray() == 7).all()


@pytest.mark.ours_only("it gives the new array the place of the old one")
@pytest.mark.parametrize("copied", [False, True])
def test_other_place(tmp_path, copied):
    path = tmp_path / "a.zarr"
    create(path, "ARRAY_NAME=one")
    other = (11, 1, 0, 20, 0, -1)
    dimensions, place = append(path, place=other, copied=copied)
    assert dimensions == ["/Y", "/two_X"] and place == other
    dimensions, place = append(path, name="three", place=(11, 1, 0, 20, 0, -2), copied=copied)
    assert dimensions == ["/three_Y", "/three_X"] and place == (11, 1, 0, 20, 0, -2)
    assert gdal.Open(f'ZARR:"{path}":/one').GetGeoTransform() == PLACE


@pytest.mark.ours_only("it gives the new array the place of the old one")
def test_no_place(tmp_path):
    path = tmp_path / "a.zarr"
    create(path, "ARRAY_NAME=one")
    dimensions, place = append(path, place=None)
    assert dimensions == ["/two_Y", "/two_X"] and place == (0, 1, 0, 0, 0, 1)


def test_other_size(tmp_path):
    path = tmp_path / "a.zarr"
    create(path, "ARRAY_NAME=one")
    dimensions, place = append(path, size=(5, 3))
    assert dimensions == ["/Y", "/two_X"] and place == PLACE


@pytest.mark.ours_only("it refuses names with a slash")
def test_in_a_group(tmp_path):
    path = tmp_path / "a.zarr"
    create(path, "ARRAY_NAME=one")
    assert append(path, name="group/two") == (["/Y", "/X"], PLACE)
    assert not (path / "group/X").exists()
