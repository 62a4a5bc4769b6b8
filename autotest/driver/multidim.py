"""Opening stores through the multidimensional API."""
from osgeo import gdal


def open_root(path, *options):
    """The root group, which outlives its dataset."""
    return gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER, open_options=options).GetRootGroup()


def open_array(path):
    """The array at the root of a store."""
    root = open_root(path)
    (name,) = root.GetMDArrayNames()
    return root.OpenMDArray(name)


def numeric(gdal_type):
    return gdal.ExtendedDataType.Create(gdal_type)
