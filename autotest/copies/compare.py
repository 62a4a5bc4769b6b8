"""Compares a copy with its source, item by item, and with what the same program makes elsewhere.

    lost = differences(describe(source), [describe(copy_in_tiff), describe(copy_in_memory)],
                       describe(copy))

A description is a dictionary from the words for an item ("band 2: unit") to its value. An item that
any of the other copies (the judges) has as the source has it, the copy must have as well. Where all
of them lost or changed it, that is the program's doing: then the copy may have the source's value
or one of theirs, and nothing else.
"""
import hashlib
import math
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from osgeo import gdal, osr


class Missing:
    def __repr__(self):
        return "missing"


MISSING = Missing()

# They describe the open file and not the raster.
FILE_DOMAINS = {"", "IMAGE_STRUCTURE", "SUBDATASETS", "DERIVED_SUBDATASETS", "xml:VRT",
                "GEOREFERENCING_SOURCE", "TIFF"}
# Of IMAGE_STRUCTURE only what says which values the pixels may have.
STRUCTURE = ["NBITS", "PIXELTYPE"]


def digest(array):
    """Equal for equal values, also of other types: all NaN are one."""
    if array is None:
        return "unreadable"
    shape, array = array.shape, np.ascontiguousarray(array)
    if array.dtype.kind == "O":
        return hashlib.md5(repr(array.tolist()).encode()).hexdigest()
    if array.dtype.kind == "c":
        array = array.astype("c16").view("f8")
    elif array.dtype.kind in "iuf" and array.dtype.itemsize < 8:
        array = array.astype("f8")
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array)
    return f"{shape} {hashlib.md5(array.tobytes()).hexdigest()}"


def describe_crs(crs, prefix):
    if crs is None:
        return {}
    return {
        f"{prefix}": crs,
        f"{prefix} name": crs.GetName(),
        f"{prefix} code": (crs.GetAuthorityName(None), crs.GetAuthorityCode(None)),
        f"{prefix} epoch": crs.GetCoordinateEpoch(),
        f"{prefix} axes": tuple(crs.GetDataAxisToSRSAxisMapping()),
    }


def without_layout(domain, text):
    """XML as GDAL's sidecars indent it is the same XML."""
    try:
        return ElementTree.canonicalize(text, strip_text=True) if domain[:4] == "xml:" else text
    except ElementTree.ParseError:
        return text


def describe_metadata(holder, prefix):
    items = {}
    for domain in {"", *(holder.GetMetadataDomainList() or [])} - (FILE_DOMAINS - {""}):
        if domain.startswith(("xml:", "json:")):
            text = "\n".join(holder.GetMetadata_List(domain) or [])
            items[f"{prefix}domain {domain}"] = without_layout(domain, text)
            continue
        name = f"domain {domain}" if domain else "metadata"
        for key, value in (holder.GetMetadata_Dict(domain) or {}).items():
            items[f"{prefix}{name} {key}"] = value
    for key in STRUCTURE:
        value = holder.GetMetadataItem(key, "IMAGE_STRUCTURE")
        if value:
            items[f"{prefix}structure {key}"] = value
    return items


def describe_table(table):
    """As tuples, so that a difference can be read."""
    columns = range(table.GetColumnCount())
    read = {gdal.GFT_Integer: table.GetValueAsInt, gdal.GFT_Real: table.GetValueAsDouble,
            gdal.GFT_String: table.GetValueAsString}
    return (
        tuple((table.GetNameOfCol(c), table.GetTypeOfCol(c), table.GetUsageOfCol(c))
              for c in columns),
        tuple(tuple(read.get(table.GetTypeOfCol(c), table.GetValueAsString)(r, c) for c in columns)
              for r in range(table.GetRowCount())),
        tuple(table.GetLinearBinning()) if table.GetLinearBinning()[0] else (),
        table.GetTableType() if hasattr(table, "GetTableType") else None,
    )


def nodata_of(band):
    """As a pixel can have it: with the digits of the type."""
    value = band.GetNoDataValue()
    if value is None or band.DataType not in (gdal.GDT_Float32, gdal.GDT_CFloat32):
        return value
    return float(np.float32(value))


def without_padding(colours):
    """GTiff fills palettes up with black."""
    while colours and colours[-1] == (0, 0, 0, 255):
        colours.pop()
    return tuple(colours)


def mask_flags(band):
    """A mask of the only band is the mask of the dataset."""
    flags = band.GetMaskFlags()
    return gdal.GMF_PER_DATASET if flags == 0 and band.GetDataset().RasterCount == 1 else flags


def describe_band(band, prefix):
    values = {
        "type": gdal.GetDataTypeName(band.DataType),
        "values": digest(band.ReadAsArray()),
        "nodata": nodata_of(band),
        "scale": 1.0 if band.GetScale() is None else band.GetScale(),
        "offset": band.GetOffset() or 0.0,
        "unit": band.GetUnitType() or None,
        "description": band.GetDescription() or None,
        "colour": gdal.GetColorInterpretationName(band.GetColorInterpretation()),
        "categories": tuple(band.GetCategoryNames() or ()) or None,
        "mask flags": mask_flags(band),
        "mask": digest(band.GetMaskBand().ReadAsArray()),
        "overviews": tuple((level.XSize, level.YSize, digest(level.ReadAsArray()))
                           for level in map(band.GetOverview, range(band.GetOverviewCount()))),
    }
    palette, table = band.GetColorTable(), band.GetDefaultRAT()
    if palette:
        values["palette"] = without_padding(
            list(map(palette.GetColorEntry, range(palette.GetCount()))))
    if table and table.GetColumnCount():
        values["attribute table"] = describe_table(table)
    histogram = band.GetDefaultHistogram(force=0)
    if histogram:
        values["histogram"] = tuple(histogram[:3]) + tuple(histogram[3])
    items = {f"{prefix}{name}": value for name, value in values.items() if value is not None}
    return items | describe_metadata(band, prefix)


def describe(dataset):
    points = [(p.GCPX, p.GCPY, p.GCPZ, p.GCPPixel, p.GCPLine, p.Id, p.Info)
              for p in dataset.GetGCPs()]
    items = {
        "size": (dataset.RasterXSize, dataset.RasterYSize, dataset.RasterCount),
        **describe_crs(dataset.GetSpatialRef(), "CRS"),
        **describe_metadata(dataset, ""),
    }
    place = dataset.GetGeoTransform(can_return_null=True)
    if place:
        items["geotransform"] = tuple(place)
    if points:
        items["GCPs"] = tuple(points)
        items |= describe_crs(dataset.GetGCPSpatialRef(), "CRS of GCPs")
    for number in range(1, dataset.RasterCount + 1):
        items |= describe_band(dataset.GetRasterBand(number), f"band {number}: ")
    return items


# --- The comparison ------------------------------------------------------------------------------

def same(a, b, item=""):
    if isinstance(a, osr.SpatialReference) and isinstance(b, osr.SpatialReference):
        return bool(a.IsSame(b, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES",
                                 "IGNORE_COORDINATE_EPOCH=YES"]))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same(*each, item) for each in zip(a, b))
    if item.endswith("nodata") and a == b:
        return True  # an integer may be read as a float
    if isinstance(a, float) and isinstance(b, float):
        # GDAL writes attribute tables and GCPs into sidecars with 16 digits.
        tolerance = 1e-15 if item.endswith(("attribute table", "GCPs")) else 0
        return math.isclose(a, b, rel_tol=tolerance) or (math.isnan(a) and math.isnan(b))
    return type(a) is type(b) and a == b


def report(words, lost, most=20):
    """Many bands may have lost the same."""
    lines = [words, *map(str, lost[:most])]
    return "\n".join(lines if len(lost) <= most else [*lines, f"and {len(lost) - most} more"])


def shown(value):
    if isinstance(value, osr.SpatialReference):
        value = value.ExportToWkt(["FORMAT=WKT2_2019"])
    text = repr(value)
    return text if len(text) < 160 else text[:150] + "…"


class Difference(NamedTuple):
    item: str
    want: object
    got: object

    def __str__(self):
        return f"{self.item}: {shown(self.want)} became {shown(self.got)}"


def differences(source, judges, copy, steps=()):
    """A Difference for each item that the copy lost, changed or made up. `steps` are descriptions
    of copies in between, whose losses the copy inherits."""
    found = []
    for item in dict.fromkeys([*source, *copy]):
        want, got = source.get(item, MISSING), copy.get(item, MISSING)
        if same(want, got, item):
            continue
        others = [judge.get(item, MISSING) for judge in judges]
        is_kept = any(same(want, other, item) for other in others)
        others += [step.get(item, MISSING) for step in steps]
        if is_kept or not any(same(got, other, item) for other in others):
            found.append(Difference(item, want, got))
    return found
