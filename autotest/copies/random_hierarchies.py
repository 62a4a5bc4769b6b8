"""Random multidimensional sources: a seed makes the same hierarchy each time, in Zarr v2 (written
by zarr-python), Zarr v3 (written byte by byte), netCDF, VRT or memory.

    source = make_hierarchy(seed, folder)
    source.open()    the multidimensional dataset
"""
import struct
from dataclasses import dataclass
from pathlib import Path

import netCDF4
import numcodecs
import numpy as np
import zarr
from osgeo import gdal
from random_trees import RECORD, chance, make_tree, pick
from stores import BYTES, CRC32C, GZIP, edit_json, sharding, write_array, write_group
from v2_stores import write_v2, write_v2_group

ZARR_2 = zarr.__version__.startswith("2.")

FORMATS = ["Zarr v2", "netCDF", "Zarr v3", "MEM", "VRT", "Zarr v3", "netCDF"]
# What stores.write_array() does not derive from the type of NumPy.
MEMBERS = {
    "M8[s]": {"data_type": {"name": "numpy.datetime64", "configuration": {
        "unit": "s", "scale_factor": 1}}, "fill_value": 0},
    "m8[ms]": {"data_type": {"name": "numpy.timedelta64", "configuration": {
        "unit": "ms", "scale_factor": 1}}, "fill_value": 0},
    "U5": {"data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 20}},
           "fill_value": ""},
    "text": {"data_type": "string", "fill_value": "", "codecs": [{"name": "vlen-utf8"}]},
}


@dataclass
class Source:
    seed: int
    format: str
    path: str = ""
    dataset: object = None

    def open(self):
        return self.dataset or gdal.OpenEx(self.path, gdal.OF_MULTIDIM_RASTER)

    def __str__(self):
        return f"{self.format} {self.path}"


# --- Zarr ----------------------------------------------------------------------------------------

def plain(value):
    return value.item() if isinstance(value, np.generic) else value


def zarr_attributes(variable):
    attributes = dict(variable.attributes)
    if variable.fill_value is not None:
        value = plain(variable.fill_value)
        attributes["_FillValue"] = value if np.isfinite(value) else str(value).replace(
            "nan", "NaN").replace("inf", "Infinity")
    return attributes


def write_zarr_v2(random, group, path, prefix=""):
    write_v2_group(path / prefix, group.attributes)
    for variable in group.variables:
        options = {"compressor": pick(random, [None, numcodecs.Zlib(1), numcodecs.Blosc()]),
                   "chunks": tuple(int(random.integers(1, n + 1)) for n in variable.values.shape),
                   "order": pick(random, "CF"), "fill_value": variable.fill_value}
        if variable.kind == "text":
            options |= {"fill_value": ""} | (
                {"object_codec": numcodecs.VLenUTF8()} if ZARR_2 else {"dtype": str})
        write_v2(path, prefix + variable.name, variable.values,
                 {"_ARRAY_DIMENSIONS": [d.name for d in variable.dimensions],
                  **zarr_attributes(variable)}, **options)
    for child in group.groups:
        write_zarr_v2(random, child, path, f"{prefix}{child.name}/")


def json_fill(variable):
    """As zarr.json states it."""
    if variable.kind in MEMBERS:
        return MEMBERS[variable.kind]["fill_value"]
    if variable.fill_value is None:
        return [0.0, 0.0] if variable.values.dtype.kind == "c" else \
            False if variable.kind == "?" else 0
    value = plain(variable.fill_value)
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if np.isnan(value) else "Infinity"
    return value


def write_v3(random, variable, path):
    shape = variable.values.shape
    names = [d.name for d in variable.dimensions]
    chunks = tuple(int(random.integers(1, n + 1)) for n in shape)
    codecs = pick(random, [[BYTES], [BYTES, GZIP], [BYTES, CRC32C]])
    if variable.kind in ("text", "U5"):  # one chunk, which is put together here
        write_array(path, np.zeros(shape, "u1"), names=names, attributes=zarr_attributes(variable))
        content = encoded_texts(variable)
        chunk = path.joinpath("c", *"0" * len(shape))
        chunk.parent.mkdir(parents=True, exist_ok=True)
        chunk.write_bytes(content)
        edit_json(path / "zarr.json", **MEMBERS[variable.kind])
        return
    if chunks and chance(random, 0.3):
        codecs, chunks = [sharding(chunks, codecs)], tuple(2 * n for n in chunks)
    values = variable.values.astype("i8") if variable.kind[1:] in ("8[s]", "8[ms]") else \
        variable.values
    number = 0 if variable.fill_value is None else variable.fill_value
    write_array(path, values, chunks, codecs, plain(number), names, zarr_attributes(variable))
    members = {"fill_value": json_fill(variable)} | MEMBERS.get(variable.kind, {})
    edit_json(path / "zarr.json", **members)


def encoded_texts(variable):
    if variable.kind == "U5":
        return np.ascontiguousarray(variable.values).astype("<U5").tobytes()
    texts = [text.encode() for text in variable.values.ravel()]
    return struct.pack("<I", len(texts)) + b"".join(
        struct.pack("<I", len(text)) + text for text in texts)


def write_zarr_v3(random, group, path):
    write_group(path, group.attributes)
    for variable in group.variables:
        write_v3(random, variable, path / variable.name)
    for child in group.groups:
        write_zarr_v3(random, child, path / child.name)


# --- netCDF --------------------------------------------------------------------------------------

def fill_netcdf(group, target):
    for key, value in group.attributes.items():
        set_netcdf_attribute(target, key, value)
    for dimension in group.dimensions:
        target.createDimension(dimension.name, None if dimension.unlimited else dimension.size)
    for variable in group.variables:
        kind = str if variable.kind == "text" else variable.values.dtype
        if variable.kind == "record":
            kind = target.cmptypes.get("record") or target.createCompoundType(RECORD, "record")
        created = target.createVariable(variable.name, kind,
                                        [d.name for d in variable.dimensions],
                                        fill_value=variable.fill_value)
        created.set_auto_maskandscale(False)
        for key, value in variable.attributes.items():
            set_netcdf_attribute(created, key, value)
        if variable.dimensions:
            created[:] = variable.values
        else:
            created[...] = variable.values if variable.kind == "record" else variable.values.item()
    for child in group.groups:
        fill_netcdf(child, target.createGroup(child.name))


def set_netcdf_attribute(target, key, value):
    if isinstance(value, list) and isinstance(value[0], str):
        target.setncattr_string(key, value)
    else:
        target.setncattr(key, value)


def write_netcdf(tree, path):
    with netCDF4.Dataset(path, "w") as target:
        fill_netcdf(tree, target)


# --- memory --------------------------------------------------------------------------------------

def gdal_type(kind):
    if kind == "text":
        return gdal.ExtendedDataType.CreateString()
    if kind == "record":
        parts = [gdal.EDTComponent.Create(name, RECORD.fields[name][1], gdal_type(
            RECORD[name].str.lstrip("<|"))) for name in RECORD.names]
        return gdal.ExtendedDataType.CreateCompound("record", RECORD.itemsize, parts)
    names = {"u1": "Byte", "i1": "Int8", "i2": "Int16", "u2": "UInt16", "i4": "Int32",
             "u4": "UInt32", "i8": "Int64", "u8": "UInt64", "f4": "Float32", "f8": "Float64",
             "c8": "CFloat32", "c16": "CFloat64"}
    return gdal.ExtendedDataType.Create(getattr(gdal, "GDT_" + names[kind], gdal.GDT_Int16))


def set_gdal_attribute(node, key, value):
    many = isinstance(value, list)
    first = value[0] if many else value
    kind = gdal.ExtendedDataType.CreateString() if isinstance(first, str) else \
        gdal.ExtendedDataType.Create(gdal.GDT_Int32 if isinstance(first, int) and abs(
            first) < 2**31 else gdal.GDT_Float64)
    node.CreateAttribute(key, [len(value)] if many else [], kind).Write(value)


def fill_memory(group, target, known=None):
    known = dict(known or {})
    for key, value in group.attributes.items():
        set_gdal_attribute(target, key, value)
    for dimension in group.dimensions:
        kind = {"x": gdal.DIM_TYPE_HORIZONTAL_X, "lon": gdal.DIM_TYPE_HORIZONTAL_X,
                "y": gdal.DIM_TYPE_HORIZONTAL_Y, "lat": gdal.DIM_TYPE_HORIZONTAL_Y,
                "time": gdal.DIM_TYPE_TEMPORAL}.get(dimension.name)
        known[dimension.name] = target.CreateDimension(dimension.name, kind, None, dimension.size)
    for variable in group.variables:
        array = target.CreateMDArray(variable.name, [known[d.name] for d in variable.dimensions],
                                     gdal_type(variable.kind))
        write_memory(array, variable)
        if variable.name in known and [d.name for d in variable.dimensions] == [variable.name]:
            known[variable.name].SetIndexingVariable(array)
    for child in group.groups:
        fill_memory(child, target.CreateGroup(child.name), known)


def write_memory(array, variable):
    attributes = dict(variable.attributes)
    if variable.kind == "text":
        array.Write(list(variable.values))
    elif variable.kind == "record":
        array.Write(variable.values.tobytes())
    else:
        values = variable.values
        if array.GetDataType().GetNumericDataType() == gdal.GDT_Int16:
            values = values.astype("i2")
        array.Write(values.tobytes())
    if variable.fill_value is not None:
        array.SetNoDataValueDouble(float(variable.fill_value))
    if "units" in attributes:
        array.SetUnit(attributes.pop("units"))
    if "scale_factor" in attributes:
        array.SetScale(attributes.pop("scale_factor"))
        array.SetOffset(attributes.pop("add_offset"))
    for key, value in attributes.items():
        set_gdal_attribute(array, key, value)


def make_vrt(source, path):
    """VRT has no structures: what it cannot express stays what it is."""
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    try:
        gdal.MultiDimTranslate(path, source.path, format="VRT")
        gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER)
        source.path = path
    except RuntimeError:
        source.format = "netCDF" if source.path.endswith(".nc") else "Zarr v3"
    finally:
        gdal.PopErrorHandler()


def make_hierarchy(seed, folder):
    random = np.random.default_rng([seed, 3])
    source = Source(seed, FORMATS[seed % len(FORMATS)])
    folder = Path(folder)
    inner = pick(random, ["netCDF", "Zarr v3"]) if source.format == "VRT" else source.format
    tree = make_tree(random, inner)
    if inner == "MEM":
        source.dataset = gdal.GetDriverByName("MEM").CreateMultiDimensional("")
        fill_memory(tree, source.dataset.GetRootGroup())
        return source
    source.path = str(folder / ("source.nc" if inner == "netCDF" else "source.zarr"))
    if inner == "netCDF":
        write_netcdf(tree, source.path)
    elif inner == "Zarr v2":
        write_zarr_v2(random, tree, Path(source.path))
    else:
        write_zarr_v3(random, tree, Path(source.path))
    if source.format == "VRT":
        make_vrt(source, f"{folder}/source.vrt")
    return source
