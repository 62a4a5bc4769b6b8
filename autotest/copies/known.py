"""Differences between copies and their sources that are decided, and why.

    lost = undecided(differences(want, judges, copy), want)

Whatever is not in the table KNOWN is a fault.
"""
from collections.abc import Callable
from typing import NamedTuple

from compare import MISSING
from osgeo import gdal


class Known(NamedTuple):
    reason: str
    # Of the node or band ("/group/array", "band 1" or ""), the words for the item, the difference,
    # and the description of the source.
    is_it: Callable


# --- Of rasters ----------------------------------------------------------------------------------

def is_number_of_bits(holder, words, difference, source):
    return words == "structure NBITS" and difference.want is not MISSING


def is_area(holder, words, difference, source):
    return (words == "metadata AREA_OR_POINT"
            and (difference.want, difference.got) == (MISSING, "Area"))


def is_name_of_the_band(holder, words, difference, source):
    return (words == "metadata long_name" and difference.want is MISSING
            and difference.got == source.get("band 1: description"))


def is_made_of_categories(holder, words, difference, source):
    is_flag = words in ("metadata flag_values", "metadata flag_meanings", "attribute table")
    return is_flag and difference.want is MISSING and any(
        each.startswith(holder) and each.endswith("categories") for each in source)


def is_warning_of_types(holder, words, difference, source):
    return words == "warning without a loss" and "different data types" in difference.got


# --- Of hierarchies ------------------------------------------------------------------------------

def is_width_of_numbers(array, words, difference, source):
    return words.startswith("attribute ") and words.endswith(" width")


def is_right_order_of_axes(array, words, difference, source):
    crs = source.get(f"{array}: CRS")
    types = [source.get(f"{array}: dimension {i}: type") for i in range(2)]
    if words != "CRS axes" or crs is None or set(types) != {
            gdal.DIM_TYPE_HORIZONTAL_X, gdal.DIM_TYPE_HORIZONTAL_Y}:
        return False
    is_north_first = crs.EPSGTreatsAsLatLong() or crs.EPSGTreatsAsNorthingEasting()
    x, y = (2, 1) if is_north_first else (1, 2)
    return difference.got == tuple(
        x if each == gdal.DIM_TYPE_HORIZONTAL_X else y for each in types)


def is_list_of_dimensions(array, words, difference, source):
    return words == "dimensions"


def is_place_of_a_dimension(array, words, difference, source):
    dimension, _, part = words.rpartition(": ")
    if not dimension.startswith("dimension ") or part not in (
            "path", "indexing variable", "type", "direction"):
        return False
    coordinates = source.get(f"{array}: {dimension}: indexing variable")
    return not coordinates or not coordinates.endswith("/" + source[f"{array}: {dimension}: name"])


def is_axis(array, words, difference, source):
    return (words.startswith("attribute axis") and difference.want is MISSING
            and f"{array}: dimension 0: type" in source)


def is_crs_of_a_grid_mapping(array, words, difference, source):
    types = {value for item, value in source.items()
             if item.startswith(f"{array}: dimension ") and item.endswith(": type")}
    return (words.startswith("CRS") and difference.want is MISSING
            and types >= {gdal.DIM_TYPE_HORIZONTAL_X, gdal.DIM_TYPE_HORIZONTAL_Y})


def is_role_of_a_dimension(array, words, difference, source):
    return (words.startswith("dimension ") and difference.want is MISSING
            and words.endswith((": type", ": direction")))


def is_grid_mapping_of_a_part(holder, words, difference, source):
    name = "spatial_ref"
    if difference.want is MISSING:
        return holder == f"/{name}" or (words.startswith("attribute coordinates")
                                        and name in str(difference.got))
    return words == "arrays" and set(difference.got) == {*difference.want, name}


KNOWN = [
    Known("NBITS says how pixels are stored, and GeoTIFF cuts off what has more bits. An array of "
          "8-bit numbers takes larger values later, which a copy of it would lose.",
          is_number_of_bits),
    Known('The convention "spatial:" says for what its transform is: AREA_OR_POINT=Area is what a '
          "raster without this item means, and what each GeoTIFF says.", is_area),
    Known("The name of the only band is the attribute long_name, in which xarray and netCDF look "
          "for it. Attributes are items of metadata.", is_name_of_the_band),
    Known("Categories are CF's flags in a store, and these are an attribute table as well.",
          is_made_of_categories),
    Known("Bands of different types in one array have a common type, as in GeoTIFF, whose warning "
          "has other words.", is_warning_of_types),
    Known("Numbers of JSON have no width.", is_width_of_numbers),
    Known("GDAL's netCDF driver takes each CRS for one with easting first.",
          is_right_order_of_axes),
    Known("A dimension exists where an array has it.", is_list_of_dimensions),
    Known("A dimension has its place and role from its coordinates, which are found by its name.",
          is_place_of_a_dimension),
    Known("In CF, the type of a dimension has the form of the attribute axis of its coordinates.",
          is_axis),
    Known("An array of X and Y has the CRS of its grid mapping, or of the only one beside it, also "
          "where the format of the source does not read it.", is_crs_of_a_grid_mapping),
    Known("A reader that knows CF finds more roles of dimensions in the same attributes.",
          is_role_of_a_dimension),
    Known("A copy of one array whose CRS is in a grid mapping beside it brings one.",
          is_grid_mapping_of_a_part),
]


def reason_for(difference, source):
    """Empty for a difference that is not decided."""
    item = difference.item
    for back in ("back in netCDF: ", "back in GeoTIFF: "):
        item = item.removeprefix(back)
    holder, colon, words = item.partition(": ")
    if not colon:
        holder, words = "", item
    return next((known.reason for known in KNOWN
                 if known.is_it(holder, words, difference, source)), "")


def undecided(found, source):
    return [each for each in found if not reason_for(each, source)]
