"""Arrays of one chunk that is a file of another format, and such files."""
import numpy as np
from multidim import open_array
from osgeo import gdal, gdal_array, osr
from stores import BYTES, write_json

PLACES = ("v2 compressor", "v2 filter", "v3 array to bytes", "v3 bytes to bytes")


def write_chunk(path, chunk, codec, shape, dtype, place=PLACES[0], order="C"):
    """An array in which the codec has each place that writers give it."""
    name, options = codec
    is_v2 = place.startswith("v2")
    key = ".".join("0" * len(shape)) if is_v2 else "c/" + "/".join("0" * len(shape))
    (path / key).parent.mkdir(parents=True, exist_ok=True)
    (path / key).write_bytes(chunk)
    if is_v2:
        numcodec = {"id": name, **options}
        is_filter = place == "v2 filter"
        write_json(path / ".zarray", {
            "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": np.dtype(dtype).str,
            "order": order, "fill_value": 0, "filters": [numcodec] if is_filter else None,
            "compressor": None if is_filter else numcodec})
        return path
    codecs = [{"name": name, "configuration": options}]
    write_json(path / "zarr.json", {
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": np.dtype(dtype).name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
        "codecs": codecs if place == "v3 array to bytes" else [BYTES, *codecs], "attributes": {}})
    return path


def decode(path, chunk, codec, shape, dtype="u1", place=PLACES[0]):
    """The values of such an array."""
    write_chunk(path, chunk, codec, shape, dtype, place)
    array = open_array(path)
    return array.ReadAsArray()


def content(path):
    file = gdal.VSIFOpenL(str(path), "rb")
    data = bytes(gdal.VSIFReadL(1, gdal.VSIStatL(str(path)).size, file))
    gdal.VSIFCloseL(file)
    return data


def memory_raster(data):
    """Rows, columns and perhaps samples."""
    bands = data.reshape(*data.shape[:2], -1)
    code = gdal_array.NumericTypeCodeToGDALTypeCode(data.dtype)
    raster = gdal.GetDriverByName("MEM").Create("", data.shape[1], data.shape[0], bands.shape[2],
                                                code)
    for index in range(bands.shape[2]):
        raster.GetRasterBand(index + 1).WriteArray(np.ascontiguousarray(bands[..., index]))
    return raster


def file_of(data, driver, *options):
    """The bytes of a file that one of GDAL's drivers writes."""
    path = "/vsimem/foreign_chunk"
    gdal.GetDriverByName(driver).CreateCopy(path, memory_raster(data), options=list(options))
    written = content(path)
    gdal.Unlink(path)
    return written


def blocks_of(path):
    """The strips or tiles of a TIFF: for each its row, its column, offset and size in the file."""
    raster = gdal.Open(str(path))
    band = raster.GetRasterBand(1)
    width, height = band.GetBlockSize()
    for row in range((raster.RasterYSize + height - 1) // height):
        for column in range((raster.RasterXSize + width - 1) // width):
            yield row, column, *(int(band.GetMetadataItem(f"BLOCK_{kind}_{column}_{row}", "TIFF"))
                                 for kind in ("OFFSET", "SIZE"))


def write_tiff(path, data, *options):
    """With its blocks as strips of the whole height, unless options say otherwise."""
    gdal.GetDriverByName("GTiff").CreateCopy(str(path), memory_raster(data), options=[
        f"BLOCKYSIZE={data.shape[0]}", "INTERLEAVE=PIXEL", *options])
    return path


def only_block(path):
    ((_, _, offset, size),) = blocks_of(path)
    return content(path)[offset:offset + size]


def grib_message(data, *options, nodata=None):
    """A message that GDAL's driver writes: of a regular grid, with rows from the south."""
    raster = memory_raster(np.asarray(data, "f8"))
    reference = osr.SpatialReference()
    reference.ImportFromEPSG(4326)
    raster.SetSpatialRef(reference)
    raster.SetGeoTransform([-0.5, 360 / data.shape[1], 0, 24, 0, -1])
    if nodata is not None:
        raster.GetRasterBand(1).SetNoDataValue(nodata)
    path = "/vsimem/message.grb2"
    gdal.GetDriverByName("GRIB").CreateCopy(path, raster, options=list(options))
    message = content(path)
    gdal.Unlink(path)
    return message
