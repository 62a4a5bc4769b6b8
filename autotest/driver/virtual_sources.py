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


def change_fields(path, numbers):
    """Gives fields of the directory of a little-endian TIFF another number each."""
    content = bytearray(open(path, "rb").read())
    start = int.from_bytes(content[4:8], "little")
    for i in range(int.from_bytes(content[start : start + 2], "little")):
        at = start + 2 + 12 * i
        tag = int.from_bytes(content[at : at + 2], "little")
        if tag in numbers:
            content[at + 2 : at + 4] = (4).to_bytes(2, "little")
            content[at + 8 : at + 12] = numbers[tag].to_bytes(4, "little")
    open(path, "wb").write(content)


def make_virtual(source, target, *options, mode="YES"):
    """What gdal_translate does; None if it fails."""
    dataset = gdal.Open(source) if isinstance(source, str) else source
    return gdal.GetDriverByName("Zarr").CreateCopy(
        str(target), dataset, options=["VIRTUAL=" + mode, *options])


def pixels(path):
    """All bands, first."""
    data = gdal.Open(str(path)).ReadAsArray()
    return data[np.newaxis] if data.ndim == 2 else data


def check_same(path, source):
    """Whether GDAL shows the same values and masks."""
    a, b = gdal.Open(str(path)), gdal.Open(str(source))
    assert a.RasterCount == b.RasterCount
    for i in range(1, b.RasterCount + 1):
        band, original = a.GetRasterBand(i), b.GetRasterBand(i)
        assert band.DataType == original.DataType
        np.testing.assert_array_equal(band.ReadAsArray(), original.ReadAsArray())
        assert band.GetMaskFlags() == original.GetMaskFlags()
        np.testing.assert_array_equal(band.GetMaskBand().ReadAsArray(),
                                      original.GetMaskBand().ReadAsArray())


def references(path):
    return json.loads(open(path).read())["refs"]


def chunks(path):
    """The references and values of chunks in a JSON document, without coordinates."""
    return {key: value for key, value in references(path).items()
            if not os.path.basename(key).startswith(".") and key.split("/")[0] not in ("X", "Y")}


def read_with_zarr(path, name):
    """As zarr-python reads it, by fsspec's reference file system."""
    import fsspec
    import zarr
    if not hasattr(zarr, "config"):  # version 2
        return zarr.open(fsspec.get_mapper("reference://", fo=str(path)), mode="r")[name]
    files = fsspec.filesystem("reference", fo=str(path), asynchronous=True)
    store = zarr.storage.FsspecStore(files, read_only=True, path="")
    return zarr.open_group(store, mode="r")[name]
