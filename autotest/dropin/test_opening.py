"""Names of rasters and arrays that open, and what datasets list."""
import numpy as np
import pytest
from osgeo import gdal

DATA = np.arange(12, dtype="u1").reshape(3, 4)


def create_raster(path):
    dataset = gdal.GetDriverByName("Zarr").Create(str(path), 4, 3)
    dataset.GetRasterBand(1).WriteArray(DATA)
    del dataset


def test_raster_by_name_of_its_array(tmp_path):
    create_raster(tmp_path / "raster.zarr")
    dataset = gdal.Open(f'ZARR:"{tmp_path}/raster.zarr":/raster')
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)


def subdatasets(path):
    listed = gdal.Open(path).GetMetadata("SUBDATASETS")
    return {name.rpartition(":")[2] for key, name in listed.items() if key.endswith("_NAME")}


@pytest.mark.parametrize("options, names", [
    ([], {"/Band1", "/Band2"}), (["ARRAY_NAME=foo"], {"/foo_band1", "/foo_band2"})])
def test_names_of_bands_in_arrays_of_their_own(tmp_path, options, names):
    path = str(tmp_path / "raster.zarr")
    dataset = gdal.GetDriverByName("Zarr").Create(path, 4, 3, 2, gdal.GDT_Byte,
                                                  ["SINGLE_ARRAY=NO", *options])
    del dataset
    assert subdatasets(path) == names
