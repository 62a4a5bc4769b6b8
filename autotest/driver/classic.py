"""Rasters through the classic API."""
import numpy as np
from osgeo import gdal, gdal_array, osr

# Since 3.11, GDAL removes the store that is to be replaced before it calls the driver.
REPLACES_STORES = int(gdal.VersionInfo()) >= 3_110_000

GRID = np.random.default_rng(7).integers(0, 1000, (50, 70)).astype("i2")


def open_raster(path, *options):
    return gdal.OpenEx(str(path), gdal.OF_RASTER, open_options=options)


def in_memory(data, nodata=None):
    """The same pixels in GDAL's memory driver, as the reference."""
    data = data.reshape(-1, *data.shape[-2:])
    gdal_type = {"i2": gdal.GDT_Int16, "f4": gdal.GDT_Float32}[data.dtype.str[1:]]
    dataset = gdal.GetDriverByName("MEM").Create("", *data.shape[:0:-1], len(data), gdal_type)
    for i, band in enumerate(data, 1):
        dataset.GetRasterBand(i).WriteArray(band)
        if nodata is not None:
            dataset.GetRasterBand(i).SetNoDataValue(nodata)
    return dataset


def checksum(dataset):
    return dataset.GetRasterBand(1).Checksum()


def write_tiff(path, data, gdal_type=None, place=None, crs=None, nodata=None, options=()):
    """A GeoTIFF for comparison."""
    data = data.reshape(-1, *data.shape[-2:])
    gdal_type = gdal_type or gdal_array.NumericTypeCodeToGDALTypeCode(data.dtype)
    dataset = gdal.GetDriverByName("GTiff").Create(
        str(path), *data.shape[:0:-1], len(data), gdal_type, list(options))
    if place:
        dataset.SetGeoTransform(place)
    if crs:
        srs = osr.SpatialReference()
        srs.SetFromUserInput(crs if isinstance(crs, str) else f"EPSG:{crs}")
        dataset.SetSpatialRef(srs)
    for index, band in enumerate(data, 1):
        if nodata is not None:
            dataset.GetRasterBand(index).SetNoDataValue(nodata)
        dataset.GetRasterBand(index).WriteArray(band)
    return path


def listed_arrays(path):
    """The names of the subdatasets that are arrays, and not those that are groups."""
    return [name for name, text in gdal.Open(str(path)).GetSubDatasets()
            if not text.endswith("a band for each array")]
