"""Files whose blocks become chunks of virtual stores, and readers of those."""
import json
import os

import numpy as np
from osgeo import gdal, gdal_array


def write_tiff(path, data, *options, nodata=None, place=(500, 10, 0, 900, 0, -10)):
    """`data` of shape (bands, rows, columns)."""
    gdal_type = gdal_array.NumericTypeCodeToGDALTypeCode(data.dtype)
    dataset = gdal.GetDriverByName("GTiff").Create(
        str(path), *data.shape[:0:-1], len(data), gdal_type, list(options))
    assert dataset is not None
    dataset.SetGeoTransform(place)
    for i, band in enumerate(data, 1):
        if nodata is not None:
            dataset.GetRasterBand(i).SetNoDataValue(nodata)
        dataset.GetRasterBand(i).WriteArray(band)
    dataset = None
    return str(path)


def make_virtual(source, target, *options, mode="YES"):
    """What gdal_translate does; None if it fails."""
    dataset = gdal.Open(source) if isinstance(source, str) else source
    return gdal.GetDriverByName("Zarr").CreateCopy(
        str(target), dataset, options=["VIRTUAL=" + mode, *options])


def pixels(path):
    """All bands, first."""
    data = gdal.Open(str(path)).ReadAsArray()
    return data[np.newaxis] if data.ndim == 2 else data


def references(path):
    return json.loads(open(path).read())["refs"]


def chunks(path):
    """The references and values of chunks in a JSON document, without those of coordinates."""
    return {key: value for key, value in references(path).items()
            if not os.path.basename(key).startswith(".") and key.split("/")[0] not in ("X", "Y")}


def read_with_zarr(path, name):
    """As zarr-python reads it, by fsspec's reference file system."""
    import fsspec
    import zarr
    return zarr.open(fsspec.get_mapper("reference://", fo=str(path)), mode="r")[name]
