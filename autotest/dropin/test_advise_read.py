"""AdviseRead: what it loads is not read again."""
from pathlib import Path

import numpy as np
import pytest
from multidim_stores import FORMATS, create, create_array, fails, open_store
from osgeo import gdal

pytestmark = pytest.mark.builtin_since("3.11")

UINT16 = gdal.ExtendedDataType.Create(gdal.GDT_UInt16)
FLAT = np.arange(1, 25, dtype="u2").reshape(4, 6)
DOCUMENTS = (".zarray", ".zattrs", "zarr.json")
CUBE = np.arange(1, 73, dtype="u2").reshape(3, 4, 6)


@pytest.fixture(params=FORMATS)
def version(request):
    return request.param


def write(path, version, data):
    dataset = create(path, [f"FORMAT={version}"])
    blocks = ",".join(["1"] * (data.ndim - 2) + ["2", "3"])
    array = create_array(dataset, data.shape, [f"BLOCKSIZE={blocks}"], UINT16)
    array.Write(data.tobytes())
    del array
    del dataset
    return str(path)


def remove_chunks(path):
    for file in Path(path, "a").rglob("*"):
        if file.is_file() and file.name not in DOCUMENTS:
            file.unlink()


def test_dataset(tmp_path, version):
    path = write(tmp_path / "a.zarr", version, FLAT)
    dataset = gdal.Open(path)
    assert dataset.AdviseRead(0, 0, 6, 4) == gdal.CE_None
    remove_chunks(path)
    np.testing.assert_array_equal(dataset.ReadAsArray(), FLAT)


@pytest.mark.ours_only("it loads some of the bands")
def test_all_bands(tmp_path, version):
    path = write(tmp_path / "a.zarr", version, CUBE)
    dataset = gdal.Open(path)
    assert dataset.AdviseRead(0, 0, 6, 4) == gdal.CE_None
    remove_chunks(path)
    np.testing.assert_array_equal(dataset.ReadAsArray(), CUBE)


def test_window(tmp_path, version):
    path = write(tmp_path / "a.zarr", version, FLAT)
    dataset = gdal.Open(path)
    assert dataset.AdviseRead(0, 0, 3, 4) == gdal.CE_None
    remove_chunks(path)
    np.testing.assert_array_equal(dataset.ReadAsArray(0, 0, 3, 4), FLAT[:, :3])
    np.testing.assert_array_equal(dataset.ReadAsArray(3, 0, 3, 4), 0 * FLAT[:, 3:])


def test_band(tmp_path, version):
    path = write(tmp_path / "a.zarr", version, CUBE)
    dataset = gdal.Open(path)
    band = dataset.GetRasterBand(2)
    assert band.AdviseRead(0, 0, 6, 4) == gdal.CE_None
    remove_chunks(path)
    np.testing.assert_array_equal(band.ReadAsArray(), CUBE[1])
    assert not dataset.GetRasterBand(3).ReadAsArray().any()


def test_classic_dataset_of_an_array(tmp_path, version):
    path = write(tmp_path / "a.zarr", version, FLAT)
    multidim = open_store(path)
    array = multidim.GetRootGroup().OpenMDArray("a")
    dataset = array.AsClassicDataset(1, 0)
    assert dataset.AdviseRead(0, 0, 6, 4) == gdal.CE_None
    remove_chunks(path)
    np.testing.assert_array_equal(dataset.ReadAsArray(), FLAT)


@pytest.mark.gdal_since("3.11")  # views pass it on
@pytest.mark.parametrize("view", ["[1:3,...]", "[::2,1:4]"])
def test_views(tmp_path, version, view):
    path = write(tmp_path / "a.zarr", version, FLAT)
    dataset = open_store(path)
    array = dataset.GetRootGroup().OpenMDArray("a").GetView(view)
    expected = array.ReadAsArray()
    del array
    dataset = None
    dataset = open_store(path)
    array = dataset.GetRootGroup().OpenMDArray("a").GetView(view)
    assert array.AdviseRead() == gdal.CE_None
    remove_chunks(path)
    np.testing.assert_array_equal(array.ReadAsArray(), expected)


@pytest.mark.gdal_since("3.11")  # Python's AdviseRead() has options
def test_cache_that_is_too_small(tmp_path, version):
    path = write(tmp_path / "a.zarr", version, FLAT)
    multidim = open_store(path)
    array = multidim.GetRootGroup().OpenMDArray("a")
    dataset = gdal.Open(path)
    band = dataset.GetRasterBand(1)
    of_array = array.AsClassicDataset(1, 0)
    small = ["CACHE_SIZE=47"]
    for use in (lambda: array.AdviseRead(options=small),
                lambda: array.GetView("[...]").AdviseRead(options=small),
                lambda: dataset.AdviseRead(0, 0, 6, 4, options=small),
                lambda: band.AdviseRead(0, 0, 6, 4, options=small),
                lambda: of_array.AdviseRead(0, 0, 6, 4, options=small)):
        assert "CACHE_SIZE" in fails(use)
    assert array.AdviseRead(options=["CACHE_SIZE=48"]) == gdal.CE_None
    assert band.AdviseRead(0, 0, 6, 4, options=["CACHE_SIZE=48"]) == gdal.CE_None
    np.testing.assert_array_equal(array.ReadAsArray(), FLAT)


def test_window_outside(tmp_path, version):
    path = write(tmp_path / "a.zarr", version, FLAT)
    multidim = open_store(path)
    array = multidim.GetRootGroup().OpenMDArray("a")
    dataset = gdal.Open(path)
    fails(lambda: array.AdviseRead([1, 1], [4, 6]))
    fails(lambda: dataset.AdviseRead(1, 1, 6, 4))
