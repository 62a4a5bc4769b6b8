"""Stores that are removed while they are open: an error, and nothing is created again."""
import os
import shutil

import numpy as np
import pytest
import rasterio
from osgeo import gdal
from reported_errors import reported_errors

LAYOUTS = {
    "v2": ["BLOCKSIZE=16,16"],
    "v3": ["FORMAT=ZARR_V3", "BLOCKSIZE=16,16"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=32,32", "SHARD_CHUNK_SHAPE=16,16"],
}
DATA = np.arange(1, 1 + 40 * 40, dtype=np.uint16).reshape(40, 40)


@pytest.fixture(params=LAYOUTS)
def store(request, tmp_path):
    path = str(tmp_path / "a.zarr")
    dataset = gdal.GetDriverByName("Zarr").Create(path, 40, 40, 1, gdal.GDT_UInt16,
                                                  LAYOUTS[request.param])
    dataset.GetRasterBand(1).WriteArray(DATA)
    return path


def fails(body):
    """Whether GDAL reports that the store was removed."""
    return "has been removed" in reported_errors(body)


def write_chunks(dataset):
    dataset.GetRasterBand(1).WriteArray(DATA[:7, :9] + 1, 3, 3)


def write_metadata(dataset):
    dataset.SetMetadataItem("name", "value")


@pytest.mark.parametrize("write", [write_chunks, write_metadata])
@pytest.mark.parametrize("has_put", [False, True])
def test_gdal_reports_it(store, write, has_put):
    datasets = [gdal.OpenEx(store, gdal.OF_RASTER | gdal.OF_UPDATE)]
    if has_put:
        write_chunks(datasets[0])
        datasets[0].FlushCache()
    shutil.rmtree(store)

    def write_and_flush():
        write(datasets[0])
        datasets[0].FlushCache()

    assert fails(write_and_flush)
    assert not os.path.exists(store)
    # A write that needs what is stored has failed at once, and nothing of it waits.
    assert fails(datasets.clear) or write is write_chunks
    assert not os.path.exists(store)


def test_closing_reports_it(store):
    dataset = [gdal.OpenEx(store, gdal.OF_RASTER | gdal.OF_UPDATE)]
    write_chunks(dataset[0])
    shutil.rmtree(store)
    assert fails(dataset.clear)
    assert not os.path.exists(store)


def test_rasterio_reports_it(store):
    dataset = rasterio.open(store, "r+")
    shutil.rmtree(store)
    # Newer versions append it to a text of their own.
    with pytest.raises(Exception, match="removed|Write failed"):
        dataset.write(DATA, 1)
        dataset.close()
    dataset.close()
    assert not os.path.exists(store)


# Not even inode numbers, which file systems reuse, can mix up the two.
def test_another_store_of_that_name_is_left_alone(store):
    dataset = [gdal.OpenEx(store, gdal.OF_RASTER | gdal.OF_UPDATE)]
    write_chunks(dataset[0])
    dataset[0].FlushCache()
    shutil.rmtree(store)
    gdal.GetDriverByName("Zarr").Create(store, 40, 40, 1, gdal.GDT_UInt16, LAYOUTS["v3"])
    write_chunks(dataset[0])
    assert fails(dataset.clear)
    assert not gdal.Open(store).ReadAsArray().any()


def test_a_folder_in_it_may_go_and_come(tmp_path):
    path = tmp_path / "a.zarr"
    gdal.GetDriverByName("Zarr").Create(str(path), 40, 40, 1, gdal.GDT_UInt16, LAYOUTS["v3"])
    dataset = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.GetRasterBand(1).WriteArray(DATA)
    dataset.FlushCache()
    shutil.rmtree(path / "a" / "c")
    dataset.GetRasterBand(1).WriteArray(DATA)
    dataset.FlushCache()
    np.testing.assert_array_equal(gdal.Open(str(path)).ReadAsArray(), DATA)
