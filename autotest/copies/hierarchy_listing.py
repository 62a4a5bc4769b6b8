"""Describes multidimensional datasets, for compare.differences(): a dictionary from the words for
an item ("/group/array: unit") to its value."""
import json
from pathlib import Path

from compare import describe_crs, digest
from osgeo import gdal

INTEGERS = {gdal.GDT_Byte, gdal.GDT_UInt16, gdal.GDT_Int16, gdal.GDT_UInt32, gdal.GDT_Int32,
            gdal.GDT_UInt64, gdal.GDT_Int64, getattr(gdal, "GDT_Int8", gdal.GDT_Byte)}


def words_for_type(kind):
    """The maximum length of strings is left out: it is a hint for storing them."""
    if kind.GetClass() == gdal.GEDTC_COMPOUND:
        return tuple((part.GetName(), words_for_type(part.GetType()))
                     for part in kind.GetComponents())
    if kind.GetClass() == gdal.GEDTC_NUMERIC:
        return gdal.GetDataTypeName(kind.GetNumericDataType())
    return "text"


def read_values(array):
    kind = array.GetDataType()
    if kind.GetClass() == gdal.GEDTC_NUMERIC:
        return digest(array.ReadAsArray())
    if kind.GetClass() == gdal.GEDTC_STRING:
        values = array.Read()
        values = values if isinstance(values, list) else [values]
        return tuple(text or "" for text in values)  # a null text is an empty one
    return tuple((part.GetName(), read_values(array.GetView(f'["{part.GetName()}"]')))
                 for part in kind.GetComponents())


def canonical_json(text):
    """GDAL reads null as an empty text."""
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except ValueError:
        return text


def describe_attribute(attribute):
    """Its class, shape and value; and its type, which is an item of its own, because numbers of
    JSON have no width."""
    kind = attribute.GetDataType()
    if kind.GetClass() == gdal.GEDTC_COMPOUND:
        words, value = "record", bytes(attribute.ReadAsRaw()).hex()
    elif kind.GetClass() == gdal.GEDTC_STRING:
        value = tuple(attribute.ReadAsStringArray() or ())
        words = "JSON" if kind.GetSubType() == gdal.GEDTST_JSON else "text"
        value = tuple(map(canonical_json, value)) if words == "JSON" else value
    elif kind.GetNumericDataType() in INTEGERS:
        words, value = "whole number", tuple(map(int, attribute.ReadAsStringArray() or ()))
    else:
        words, value = "number", tuple(attribute.ReadAsDoubleArray() or ())
    return (words, tuple(attribute.GetDimensionsSize()), value), words_for_type(kind)


def describe_attributes(node, prefix):
    items = {}
    for attribute in node.GetAttributes():
        name = f"{prefix}attribute {attribute.GetName()}"
        items[name], items[f"{name} width"] = describe_attribute(attribute)
    return items


def describe_dimension(dimension):
    variable = dimension.GetIndexingVariable()
    return (dimension.GetName(), dimension.GetFullName(), dimension.GetSize(), dimension.GetType(),
            dimension.GetDirection(), variable.GetFullName() if variable else None)


def nodata_of(array):
    """As text of all digits of the type."""
    raw = array.GetNoDataValueAsRaw()
    if raw is None:
        return None
    kind = array.GetDataType()
    if kind.GetClass() == gdal.GEDTC_STRING:
        return ("text", array.GetNoDataValueAsString())
    return bytes(raw).hex() if kind.GetClass() == gdal.GEDTC_COMPOUND else (
        number_of(array, kind.GetNumericDataType()))


def number_of(array, kind):
    if kind == gdal.GDT_Int64:
        return array.GetNoDataValueAsInt64()
    if kind == gdal.GDT_UInt64:
        return array.GetNoDataValueAsUInt64()
    return array.GetNoDataValueAsDouble()


def describe_array(array):
    path = f"{array.GetFullName()}: "
    parts = ("name", "path", "size", "type", "direction", "indexing variable")
    values = {
        "type": words_for_type(array.GetDataType()),
        "shape": tuple(dimension.GetSize() for dimension in array.GetDimensions()),
        "values": read_values(array),
        "nodata": nodata_of(array),
        "unit": array.GetUnit() or None,
        "scale": array.GetScale(),
        "offset": array.GetOffset(),
    }
    for number, dimension in enumerate(array.GetDimensions()):
        for part, value in zip(parts, describe_dimension(dimension)):
            values[f"dimension {number}: {part}"] = value or None
    values |= describe_crs(array.GetSpatialRef(), "CRS")
    items = {f"{path}{name}": value for name, value in values.items() if value is not None}
    return items | describe_attributes(array, path)


def describe_group(group):
    path = group.GetFullName()
    items = {f"{path}: groups": tuple(sorted(group.GetGroupNames() or ())),
             f"{path}: arrays": tuple(sorted(group.GetMDArrayNames() or ())),
             f"{path}: dimensions": tuple(sorted((d.GetName(), d.GetSize())
                                                 for d in group.GetDimensions()))}
    items |= describe_attributes(group, f"{path}: ")
    for name in group.GetMDArrayNames() or ():
        items |= describe_array(group.OpenMDArray(name))
    for name in group.GetGroupNames() or ():
        items |= describe_group(group.OpenGroup(name))
    return items


def describe_hierarchy(dataset):
    return describe_group(dataset.GetRootGroup())


# --- Documents -----------------------------------------------------------------------------------

def documents(path):
    """What the documents of a store state about each node, by its path; defaults written out."""
    found = {}
    for file in Path(path).rglob("*"):
        if file.name not in ("zarr.json", ".zarray", ".zattrs") or not file.is_file():
            continue
        document = json.loads(file.read_text())
        node = file.parent.relative_to(path)
        document.pop("consolidated_metadata", None)
        if file.name == ".zarray":
            document.setdefault("dimension_separator", ".")
        if file.name == "zarr.json":
            document.setdefault("attributes", {})
            encoding = document.get("chunk_key_encoding", {})
            encoding.setdefault("configuration", {"separator": "/"})
        attributes = document if file.name == ".zattrs" else document.pop("attributes", {})
        for name, value in attributes.items():
            found[f"/{node}: stored attribute {name}"] = json.dumps(value, sort_keys=True)
        if file.name != ".zattrs":
            fill_value = document.get("fill_value")
            if isinstance(fill_value, float) and fill_value.is_integer():
                document["fill_value"] = int(fill_value)  # 0.0 is 0
            for name, value in document.items():
                found[f"/{node}: stored {name}"] = json.dumps(value, sort_keys=True)
    return found
