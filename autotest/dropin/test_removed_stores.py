"""A store that another program removes while it is open: closing fails, and it stays away."""
import os
import subprocess
import sys

import pytest
from multidim_stores import FORMATS, create, create_array, open_store
from osgeo import gdal

DATA = bytes(range(64))


@pytest.fixture(params=FORMATS)
def version(request):
    return request.param


@pytest.fixture
def store(version, tmp_path):
    path = tmp_path / "s.zarr"
    dataset = create(path, [f"FORMAT={version}"])
    array = create_array(dataset, [8, 8], ["BLOCKSIZE=4,4"])
    array.Write(DATA)
    del array, dataset
    return path


def remove(path):
    subprocess.run([sys.executable, "-c", "import shutil, sys; shutil.rmtree(sys.argv[1])",
                    str(path)], check=True)


def close(dataset):
    """The errors. Without exceptions: GDAL 3.10's Python would close a second time after one."""
    errors = []
    gdal.DontUseExceptions()
    gdal.PushErrorHandler(lambda kind, number, text: errors.append((kind, text)))
    dataset.Close()
    gdal.PopErrorHandler()
    gdal.UseExceptions()
    return [text for kind, text in errors if kind == gdal.CE_Failure]


def change_raster(store):
    dataset = gdal.Open(f'ZARR:"{store}":/a', gdal.GA_Update)
    dataset.GetRasterBand(1).WriteRaster(1, 1, 5, 5, bytes(25))
    return dataset, None


def change_array(store):
    dataset = open_store(store, update=True)
    array = dataset.GetRootGroup().OpenMDArray("a")
    array.Write(bytes(25), [1, 1], [5, 5])
    return dataset, array


def change_attribute(store):
    dataset = open_store(store, update=True)
    attribute = dataset.GetRootGroup().CreateAttribute(
        "name", [], gdal.ExtendedDataType.CreateString())
    attribute.Write("value")
    return dataset, None


@pytest.mark.gdal_since("3.8")
@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("version, change", [
    *((version, change_attribute) for version in FORMATS),
    *(("ZARR_V2", change) for change in (change_raster, change_array)),
    *(pytest.param("ZARR_V3", change,
                   marks=pytest.mark.ours_only("it makes the folders of chunks again"))
      for change in (change_raster, change_array))])
def test_closing_fails(version, store, change):
    # An array that is no longer used would have written its data already.
    dataset, array = change(store)
    remove(store)
    assert close(dataset)
    assert not os.path.exists(store)


@pytest.mark.gdal_since("3.8")
@pytest.mark.ours_only("it puts its metadata again, though nothing has changed")
def test_nothing_to_write_is_no_error(store):
    dataset = open_store(store, update=True)
    remove(store)
    assert close(dataset) == []
    assert not os.path.exists(store)
