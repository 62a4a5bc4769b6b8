"""Windows between pixels, as rasterio requests them where overviews have odd sizes."""
import numpy as np
import pytest
from osgeo import gdal

WINDOWS = [  # x, y, columns, rows, columns and rows of the buffer
    (16.3, 5.6, 100.28, 100.28, 100),
    (0.2, 0.4, 100.4, 99.6, 100),
    (3.7, 2.1, 64.45, 64.45, 64),
    (10.25, 20.5, 50, 50, 50),
    (10, 20, 60, 60, 60),
    (10.4, 20.4, 120.3, 120.3, 60),
]


@pytest.fixture
def rasters(tmp_path):
    """The same pixels in a store and in a GeoTIFF."""
    values = np.random.default_rng(1).integers(0, 60000, (200, 200)).astype("uint16")
    tiff = gdal.GetDriverByName("GTiff").Create(
        str(tmp_path / "image.tif"), 200, 200, 1, gdal.GDT_UInt16)
    tiff.GetRasterBand(1).WriteArray(values)
    path = str(tmp_path / "image.zarr")
    stored = gdal.GetDriverByName("Zarr").CreateCopy(path, tiff, options=["BLOCKSIZE=64,64"])
    del stored
    return gdal.Open(path), tiff


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("of_band", [False, True], ids=["dataset", "band"])
def test_nearest_pixels(rasters, window, of_band):
    x, y, columns, rows, size = window
    found = []
    for dataset in rasters:
        band = dataset.GetRasterBand(1)
        if of_band:
            found.append(band.ReadAsArray(x, y, columns, rows, size, size))
        else:
            found.append(dataset.ReadAsArray(x, y, columns, rows, buf_xsize=size, buf_ysize=size))
    assert np.array_equal(*found)
