"""Names of rasters and arrays that open, and what datasets list."""
import numpy as np
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
