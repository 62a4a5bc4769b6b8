"""Random hierarchies of groups, dimensions and variables, which have no format yet. The name of a
format says what they may have: a tree for netCDF has no bool, one for Zarr no unlimited dimension.

    tree = make_tree(random, "netCDF")
"""
from dataclasses import dataclass, field

import numpy as np
from crs_kinds import make_crs

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
FLOATS = ["f4", "f8"]
RECORD = np.dtype([("a", "<i2"), ("b", "<f8"), ("c", "u1")])
# By format: what zarr-python 2, raw documents of v3, netCDF and memory can hold.
TYPES = {
    "Zarr v2": INTEGERS + FLOATS + ["f2", "c8", "c16", "?", "M8[s]", "m8[ms]", "U5", "S4", "text",
                                    "record"],
    "Zarr v3": INTEGERS + FLOATS + ["f2", "c8", "c16", "?", "M8[s]", "m8[ms]", "U5", "text"],
    "netCDF": INTEGERS + FLOATS + ["text", "S1", "record"],
    "MEM": INTEGERS + FLOATS + ["c8", "c16", "text", "record"],
}
WORDS = ["", "a", "äöü", "two words", "漢字🗺", "line\nbreak", "x" * 40]
NAMES = ["t2m", "air temperature", "Höhe", "z.500", "count", "B02", "mask", "crs2", "v-1", "Z_9"]
JSON_ATTRIBUTES = [True, False, None, [], {"a": [1, None, {"b": "ä"}]}, [True, False], [1, "two"],
                   [[1, 2], [3, 4]], 2**63, 1e300, [None, 1.5], "NaN"]


PROJECTED = ["UTM", "LAEA", "LCC of two parallels", "polar stereographic", "web",
             "odd transverse Mercator", "northing first", "bound"]


@dataclass
class Dimension:
    name: str
    size: int
    unlimited: bool = False


@dataclass
class Variable:
    name: str
    dimensions: list
    values: np.ndarray
    attributes: dict = field(default_factory=dict)
    fill_value: object = None
    kind: str = ""


@dataclass
class Group:
    name: str
    dimensions: list = field(default_factory=list)
    variables: list = field(default_factory=list)
    groups: list = field(default_factory=list)
    attributes: dict = field(default_factory=dict)


def pick(random, choices):
    return choices[random.integers(len(choices))]


def chance(random, probability):
    return random.random() < probability


def random_values(random, kind, shape):
    count = int(np.prod(shape))
    if kind == "text":
        return np.array([pick(random, WORDS) for _ in range(count)], object).reshape(shape)
    if kind == "record":
        values = np.zeros(shape, RECORD)
        for name in RECORD.names:
            values[name] = random_values(random, RECORD[name].str[1:], shape)
        return values
    dtype = np.dtype(kind)
    if dtype.kind == "U":
        return np.array([pick(random, WORDS) for _ in range(count)], dtype).reshape(shape)
    if dtype.kind == "S":
        words = ["", "a"] if dtype.itemsize == 1 else ["", "ab", "abcd"]
        return np.array([pick(random, words) for _ in range(count)], dtype).reshape(shape)
    if dtype.kind in "mM":
        return random.integers(-10**6, 10**9, shape).astype(dtype)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    values = random.normal(0, 100, shape)
    if dtype.kind == "c":
        return (values + 1j * random.normal(0, 9, shape)).astype(dtype)
    special = random.random(shape) < 0.05
    values = np.where(special, random.choice([np.nan, np.inf, -np.inf, -0.0]), values)
    return values.astype(dtype)


def random_attributes(random, target):
    attributes = {}
    choices = [1, -7, 1.5, 3.0, "text", "ä 漢字", "1", [1, 2, 3], [0.5, 2.0], ["a", "bc", "ä"],
               2**40, float("nan"), float("inf"), ""]
    if target == "netCDF":
        choices += [np.int8(-3), np.int16(300), np.uint8(7), np.uint16(60_000), np.uint32(2**31),
                    np.float32(0.1), np.array([1, 2], "i2"), np.array([0.1, 0.2], "f4"),
                    np.int64(2**40), np.uint64(2**63)]
    elif target.startswith("Zarr"):
        choices += JSON_ATTRIBUTES
    for number in range(random.integers(5)):
        attributes[pick(random, [f"a{number}", f"ä {number}", f"x:{number}"])] = pick(
            random, choices)
    return attributes


def random_fill_value(random, values, kind, target):
    if kind in ("text", "record") or chance(random, 0.5):
        return None
    dtype = values.dtype
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return dtype.type(pick(random, [0, 1, limits.min, limits.max]))
    if dtype.kind == "f":
        return dtype.type(pick(random, [np.nan, -9999, 0, np.inf]))
    return None


def random_variable(random, name, dimensions, target):
    kind = pick(random, TYPES[target])
    if target == "MEM" and kind == "text" and len(dimensions) != 1:
        kind = "f4"  # Python writes strings of one dimension only
    shape = tuple(dimension.size for dimension in dimensions)
    variable = Variable(name, dimensions, random_values(random, kind, shape), kind=kind)
    variable.fill_value = random_fill_value(random, variable.values, kind, target)
    variable.attributes = random_attributes(random, target)
    if chance(random, 0.4):
        variable.attributes["units"] = pick(random, ["K", "m s-1", "°C", "1", "km"])
    if chance(random, 0.3):
        variable.attributes |= {"long_name": "a long name", "standard_name": "air_temperature"}
    if kind in INTEGERS + FLOATS and chance(random, 0.3):
        variable.attributes |= {"scale_factor": 0.01, "add_offset": -273.15}
    if kind in ("i2", "u1") and chance(random, 0.5):
        variable.attributes |= {"flag_values": np.arange(3, dtype=kind) if target == "netCDF"
                                else [0, 1, 2], "flag_meanings": "none low high"}
    return variable


def coordinate(random, dimension, target):
    """The indexing variable of a dimension, or None."""
    number = np.arange(dimension.size)
    if dimension.name == "time":
        unit = {"units": "hours since 2001-02-03 04:05:06", "calendar": "standard",
                "standard_name": "time", "axis": "T"}
        return Variable("time", [dimension], number * 6 + 3, unit, kind="i8")
    if dimension.name in ("y", "x"):
        step = 30.0 if dimension.name == "x" else -30.0
        return Variable(dimension.name, [dimension], 500_015 + number * step, {
            "standard_name": f"projection_{dimension.name}_coordinate", "units": "m",
            "axis": dimension.name.upper()}, kind="f8")
    if dimension.name in ("lat", "lon"):
        standard_name, unit = {"lat": ("latitude", "degrees_north"),
                               "lon": ("longitude", "degrees_east")}[dimension.name]
        return Variable(dimension.name, [dimension], (10 + number * 0.25).astype("f4"),
                        {"units": unit, "standard_name": standard_name}, kind="f4")
    if chance(random, 0.5):
        return None
    kind = pick(random, ["f8", "i4", "text" if target != "MEM" else "i2"])
    values = np.array([f"name {i}" for i in number], object) if kind == "text" else (
        number * 3 + 1).astype(kind)
    return Variable(dimension.name, [dimension], values, {"units": "hPa"} if kind == "f8" else {},
                    kind=kind)


def random_dimensions(random, target, depth):
    names = [pick(random, [["y", "x"], ["lat", "lon"], []]), pick(random, [["time"], [], ["time"]]),
             pick(random, [["level"], [], ["band"]])]
    names = [name for group in names[::-1] for name in group] or ["n"]
    if depth:
        names = [f"{name}_{depth}" for name in names] if chance(random, 0.5) else names[:1]
    sizes = {"y": 7, "x": 9, "lat": 8, "lon": 11}
    return [Dimension(name, sizes.get(name, int(random.integers(1, 6))),
                      name == "time" and target == "netCDF" and chance(random, 0.7))
            for name in names]


def add_grid_mapping(random, group, target):
    is_projected = {"y", "x"} <= {dimension.name for dimension in group.dimensions}
    crs = make_crs(pick(random, PROJECTED) if is_projected else "WGS 84")
    attributes = {"crs_wkt": crs.ExportToWkt(), "comment": "kept"}
    if chance(random, 0.5) and not is_projected:
        attributes |= {"grid_mapping_name": "latitude_longitude", "semi_major_axis": 6378137.0,
                       "inverse_flattening": 298.257223563, "longitude_of_prime_meridian": 0.0}
    name = pick(random, ["spatial_ref", "crs", "mapping"])
    group.variables.append(Variable(name, [], np.array(0, "i4"), attributes, kind="i4"))
    for variable in group.variables:
        if [d.name for d in variable.dimensions[-2:]] in (["y", "x"], ["lat", "lon"]):
            variable.attributes["grid_mapping"] = name


def make_group(random, target, name="", depth=0, inherited=()):
    group = Group(name, random_dimensions(random, target, depth),
                  attributes=random_attributes(random, target))
    for dimension in group.dimensions:
        variable = coordinate(random, dimension, target)
        if variable:
            group.variables.append(variable)
    own = {dimension.name for dimension in group.dimensions}
    is_map = {"y", "x"} <= own or {"lat", "lon"} <= own
    available = [d for d in inherited if d.name not in own and not (
        is_map and d.name in ("y", "x", "lat", "lon"))] + group.dimensions
    taken = {variable.name for variable in group.variables} | own
    for title in random.permutation(NAMES)[: random.integers(1, 5)]:
        if str(title) in taken:
            continue
        rank = int(random.integers(0, min(4, len(available)) + 1))
        chosen = sorted(random.permutation(len(available))[:rank])
        group.variables.append(random_variable(
            random, str(title), [available[i] for i in chosen], target))
    if is_map and chance(random, 0.7):
        add_grid_mapping(random, group, target)
    if depth < 3 and chance(random, 0.5 if depth else 0.7):
        for number in range(random.integers(1, 3)):
            group.groups.append(make_group(
                random, target, pick(random, [f"g{number}", f"sub group {number}", f"ä{number}"]),
                depth + 1, available))
    return group


def make_tree(random, target):
    return make_group(random, target)
