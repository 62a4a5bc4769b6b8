"""Opens and makes stores through the multidimensional API."""
import numpy as np
from osgeo import gdal


def open_root(path, *options):
    """The root group, which outlives its dataset."""
    return gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER, open_options=options).GetRootGroup()


def open_array(path):
    """The array at the root of a store."""
    root = open_root(path)
    (name,) = root.GetMDArrayNames()
    return root.OpenMDArray(name)


def open_to_write(path, *options):
    """The dataset. Changes are in the store once the dataset and all objects from it are
    deleted."""
    flags = gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE
    return gdal.OpenEx(str(path), flags, open_options=options)


def create(path, *options):
    """A new store, opened for writing."""
    return gdal.GetDriverByName("Zarr").CreateMultiDimensional(str(path), [], list(options))


def create_array(group, name, shape, gdal_type, *options):
    """With dimensions of its own: y and x if there are two."""
    names = {1: "x", 2: "yx", 3: "zyx"}.get(len(shape), [f"d{i}" for i in range(len(shape))])
    dimensions = [
        group.CreateDimension(f"{name}_{axis}", None, None, size)
        for axis, size in zip(names, shape)
    ]
    return group.CreateMDArray(name, dimensions, extended(gdal_type), list(options))


def extended(gdal_type):
    is_number = isinstance(gdal_type, int)
    return gdal.ExtendedDataType.Create(gdal_type) if is_number else gdal_type


def numeric(gdal_type):
    return gdal.ExtendedDataType.Create(gdal_type)


def attributes(node):
    return {attribute.GetName(): attribute.Read() for attribute in node.GetAttributes()}


# GDAL's numeric types that this version has, and NumPy's.
NUMBERS = {
    getattr(gdal, "GDT_" + name): np.dtype(code)
    for name, code in {
        "Byte": "u1", "Int8": "i1", "UInt16": "u2", "Int16": "i2", "UInt32": "u4", "Int32": "i4",
        "UInt64": "u8", "Int64": "i8", "Float16": "f2", "Float32": "f4", "Float64": "f8",
        "CFloat32": "c8", "CFloat64": "c16",
    }.items()
    if hasattr(gdal, "GDT_" + name)
}


def extreme_values(dtype, shape):
    """Numbers of a type, including its largest, its smallest and special values."""
    random = np.random.default_rng(dtype.num)
    if dtype.kind in "ui":
        limits = np.iinfo(dtype)
        values = random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        values.flat[:2] = limits.min, limits.max
        return values
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return extreme_values(part, (*shape, 2)).view(dtype)[..., 0]
    limits = np.finfo(dtype)
    values = random.normal(0, 100, shape).astype(dtype)
    values.flat[:7] = np.nan, np.inf, -np.inf, -0.0, limits.max, limits.min, limits.tiny
    return values
