"""Stores that tests of the multidimensional API create, and how they open them."""
import pytest
from osgeo import gdal

BYTE = gdal.ExtendedDataType.Create(gdal.GDT_Byte)
STRING = gdal.ExtendedDataType.CreateString()
FORMATS = ("ZARR_V2", "ZARR_V3")
# Creation options of datasets.
STORES = [[f"FORMAT={version}", f"CREATE_CONSOLIDATED_METADATA={consolidated}"]
          for version in FORMATS for consolidated in ("YES", "NO")]
STORE_IDS = [" ".join(option.split("=")[1] for option in options) for options in STORES]


def create(path, options=()):
    return gdal.GetDriverByName("Zarr").CreateMultiDimensional(str(path), [], list(options))


def open_store(path, update=False, **kwargs):
    flags = gdal.OF_MULTIDIM_RASTER | (gdal.OF_UPDATE if update else 0)
    return gdal.OpenEx(str(path), flags, **kwargs)


def add_attribute(owner, name, value):
    attribute = owner.CreateAttribute(name, [], STRING)
    assert attribute.Write(value) == gdal.CE_None
    return attribute


def create_array(dataset, shape, options=(), data_type=BYTE, name="a"):
    """An array at the root, whose dimensions are d0, d1…"""
    root = dataset.GetRootGroup()
    dimensions = [root.CreateDimension(f"d{i}", "", "", size) for i, size in enumerate(shape)]
    return root.CreateMDArray(name, dimensions, data_type, list(options))


def fails(function):
    """Calls a function that must fail."""
    with pytest.raises(RuntimeError) as error:
        function()
    return str(error.value)


def all_attributes(owner):
    return {attribute.GetName(): attribute.Read() for attribute in owner.GetAttributes()}
