"""GDAL's built-in driver and ours read each other's arrays: every type, with every value of every
creation option of the writing driver. The lists below name each difference, with the reason."""
import re

from osgeo import gdal

VERSION = int(gdal.VersionInfo()) // 10000  # 306 for GDAL 3.6
ALWAYS = range(10000)
BEFORE_3_8 = range(308)
FROM_3_8 = range(308, 10000)

# What the built-in driver cannot write: its versions, a regular expression for path, case and
# message, and the reason.
NOT_WRITTEN_BY_BUILTIN = [
    (ALWAYS, r"_ZARR_V3.*/Compound .*Unsupported data type", "no structures in v3"),
    (range(313), r"_ZARR_V3.*/String .*Unsupported data type", "no strings in v3"),
    (BEFORE_3_8, r"_ZARR_V3.*Unsupported data type: CFloat", "no complex numbers in the draft"),
    (ALWAYS, r"_ZARR_V3.*FILTER option not supported with Zarr V3", "filters are for v2"),
    (ALWAYS, r"_ZARR_V2.*/(String|Compound) .*DELTA_DTYPE option must be specified", "no numbers"),
    (FROM_3_8, r"_ZARR_V3.*COMPRESS = (ZLIB|LZMA|LZ4) not implemented", "no codecs of v3"),
    (range(308, 312), r"_ZARR_V3.*COMPRESS = ZSTD not implemented", "no codec of its v3"),
    (FROM_3_8, r"_ZARR_V2.*/Float16 .*Unsupported dtype=<f2 for delta", "no delta of float16"),
    (BEFORE_3_8, r"_ZARR_V3.*DIM_SEPARATOR=\.: Cannot create tile", "no folder is made for it"),
    (BEFORE_3_8, r"_ZARR_V3.*DIM_SEPARATOR[_=]\..*values are lost", "the same, when it is closed"),
    (ALWAYS, r"_ZARR_V2.*Float\d+ FILTER=DELTA: values are lost", "sums are rounded"),
]

# What our driver cannot write, and reports.
NOT_WRITTEN_BY_OURS = [
    (r"_ZARR_V2.*Zarr v2 has no shards", "a feature of v3"),
    (r"elements of the type \w+ are none that zfp compresses", "a codec of some types"),
    (r"FILTER=DELTA does not support arrays of the type (complex|string|struct|null_terminated)",
     "no integers"),
    (r"FILTER=DELTA does not support arrays of the type float", "it would round"),
    (r"FILTER=SHUFFLE does not support arrays of the type string", "their length varies"),
    (r"DELTA_DTYPE=\S+ does not support arrays of the type", "another type than the array's"),
]

# What our driver does not list of the built-in driver's stores.
NOT_LISTED_BY_OURS = [
    (BEFORE_3_8, r"_bands.zarr at /[XY] ", "coordinates are no subdatasets, as in newer GDAL"),
]

# What the built-in driver cannot read of our stores.
NOT_READ_BY_BUILTIN = [
    (BEFORE_3_8, "_ZARR_V3", "it knows the draft of v3 alone"),
    (range(308, 311), "_ZARR_V3", "it knows `bytes` by its older name alone"),
    (ALWAYS, r"_ZARR_V3.*/Compound ", "no structures in v3"),
    (ALWAYS, r"_ZARR_V2.*/CFloat\d+ .*not listed", "the fill value is a pair, as in zarr-python"),
    (ALWAYS, r"_ZARR_V2.*/String .*not listed", "vlen-utf8, which v2 of GDAL does not have"),
    (ALWAYS, r"COMPRESS[_=](BZ2|ZFP)|BZ2_LEVEL", "no such codec in GDAL"),
    (ALWAYS, r"CHECKSUM[_=](CRC32|ADLER32|FLETCHER32)", "no such codec in GDAL"),
    (ALWAYS, r"_ZARR_V3.*(COMPRESS|FILTER)[_=](LZ4|LZMA|ZLIB|DELTA|SHUFFLE)",
     "no such codec in v3"),
    (ALWAYS, r"_ZARR_V3.*(LZ4_ACC|LZMA_(PRESET|DELTA)|ZLIB_LEVEL|DELTA_DTYPE)", "as above"),
    (range(311), r"FILTER[_=]SHUFFLE", "no such filter yet"),
    (range(313, 10000), r"_ZARR_V3.*ZSTD_LEVEL[_=]-131072", "it refuses the lowest level of zstd"),
    (ALWAYS, r"_ZARR_V2.*/(Compound|String) FILTER=SHUFFLE", "it shuffles 1, 2, 4 or 8 bytes"),
    (ALWAYS, r"LZMA_DELTA", "a raw stream, which is how numcodecs decodes with filters"),
    (ALWAYS, r"_ZARR_V2.*/(Byte|Int8) FILTER=DELTA.*elta", "the type is |u1, as in numcodecs"),
    (BEFORE_3_8, r"raster_ZARR_V2_bands.* Indices of extra dimensions", "no bands of an array"),
    (range(313), r"GEOREFERENCING_CONVENTION_CF.* Unsupported number of dimensions",
     "it lists the variable of the grid mapping"),
]


def swapped(expected, seen):
    return [expected, seen] in ([[1, 2], [2, 1]], [[2, 1], [1, 2]])


def not_seen(expected, seen):
    return seen is None


# Aspects that the reading driver sees differently from the writing one: the versions, the aspect, a
# regular expression for the path, a test of both values, and the reason.
SEEN_BY_OURS = [
    (BEFORE_3_8, "axes", "^(raster|copy)", swapped, "GDAL 3.6 swaps the axes of a projected CRS"),
]
SEEN_BY_BUILTIN = [
    (BEFORE_3_8, "axes", "^(raster|copy)", swapped, "as above"),
    (ALWAYS, "attributes", "/[xyXY]$",
     lambda ours, builtin: ours == builtin | {"standard_name": ours["standard_name"]},
     "the CF attribute of which it makes the dimension's type"),
    (BEFORE_3_8, "attributes", r"^multidim_ZARR_V3\.zarr$", lambda ours, builtin: builtin == {},
     "it knows the draft of v3 alone"),
    (range(313), "crs", "SPATIAL_PROJ", not_seen, "a convention that it does not know"),
    (range(313), "axes", "SPATIAL_PROJ", not_seen, "the same"),
    (ALWAYS, "crs", "_ZARR_V3_GEOREFERENCING_CONVENTION_CF", not_seen,
     "it looks for the grid mapping in v2 alone"),
    (ALWAYS, "axes", "_ZARR_V3_GEOREFERENCING_CONVENTION_CF", not_seen, "the same"),
    (range(313, 10000), "attributes", "^raster .*GEOREFERENCING_CONVENTION_CF",
     lambda ours, builtin: builtin == ours | dict.fromkeys(["coordinates", "grid_mapping"],
                                                           "spatial_ref"),
     "ours has no metadata items for what states the CRS"),
    (range(313), "attributes", "^raster .*SPATIAL_PROJ",
     lambda ours, builtin: ours == builtin | {"AREA_OR_POINT": "Area"}, "the same"),
    (range(313, 10000), "attributes", "^raster .*SPATIAL_PROJ",
     lambda ours, builtin: builtin == ours | {"AREA_OR_POINT": "Area"},
     "the registration, which is not stated and so is pixel"),
    (ALWAYS, "nodata", "_ZARR_V3", lambda ours, builtin: (ours, builtin) == ("None", "0.0"),
     "v3 makes every writer state a fill value, so zero is no nodata to ours"),
    (ALWAYS, "nodata", "raster.*CFloat", lambda ours, builtin: builtin in ("None", "0.0"),
     "kept in the sidecar, which it does not read"),
    (ALWAYS, "scale", "raster.*CFloat", lambda ours, builtin: (ours, builtin) == (1, None),
     "GDAL's default, from the sidecar"),
    (ALWAYS, "offset", "raster.*CFloat", lambda ours, builtin: (ours, builtin) == (0, None),
     "GDAL's default, from the sidecar"),
]

# Attributes that our driver shows as georeferencing, and as attributes only with SHOW_ALL=YES.
GEOREFERENCING = re.compile("crs$|proj:|spatial:|gdal:geotransform$|zarr_conventions$|_FillValue$")


def unexpected_differences(found, known):
    return {key: pair for key, pair in found.items()
            if not any(aspect == key[1] and re.search(pattern, key[0]) and is_known(*pair)
                       for aspect, pattern, is_known, _ in of_this_version(known))}


def unexpected(failures, known):
    """The failures that are not in the list."""
    texts = [f"{path} {problem}" for path, problem in failures.items()]
    return [text for text in texts
            if not any(re.search(pattern, text, re.DOTALL) for pattern, _ in known)]


def of_this_version(known):
    return [rest for versions, *rest in known if VERSION in versions]


def case_of(path, seen):
    """The options of an array in a multidimensional store."""
    return seen.get(path.rpartition("/")[0], {}).get("attributes", {}).get("case", "")


def values_in_error(seen, truth):
    """The paths of numbers that differ from the written ones."""
    wrong = {}
    for path, node in seen.items():
        expected = truth.get(node.get("type"))
        # Coordinates have a different shape.
        if expected is None or node["values"][1] not in [shape for _, shape, _ in expected]:
            continue
        if node["values"] not in expected:
            wrong[path] = f"{case_of(path, seen)}: values are lost"
    return wrong


def failures_of(run, reader):
    return values_in_error(getattr(run, reader)["seen"], run.truth) | run.failures


def was_written(path, failures):
    """Whether the writer could make the node at this path."""
    store = re.split("[ /]", path.removeprefix("raster "))[0]
    return path not in failures and store not in failures


def differences(expected, seen, failures):
    """Expected and actual values, by path and aspect."""
    found = {}
    for path, node in expected.items():
        if not was_written(path, failures):
            continue
        if path not in seen or f"{path} band 1" in failures:
            continue  # see problems_of()
        for aspect in node | seen[path]:
            pair = [plain(nodes[path].get(aspect)) for nodes in (expected, seen)]
            if pair[0] != pair[1]:
                found[path, aspect] = tuple(pair)
    return found


def problems_of(run, writer, reader):
    """Nodes that were written, and that the reader cannot open or does not list."""
    written, read = getattr(run, writer)["seen"], getattr(run, reader)
    missing = {path: "it is not listed" for path in written
               if path not in read["seen"] and was_written(path, read["problems"])}
    return {path: f"{case_of(path, written)}: {problem}"
            for path, problem in (missing | read["problems"]).items()
            if was_written(path, run.failures)}


def plain(value):
    """Without attributes that only some drivers show."""
    if not isinstance(value, dict):
        return value
    return {name: item for name, item in value.items() if not GEOREFERENCING.match(name)}


def test_what_the_builtin_does_not_write(matrix):
    failures = failures_of(matrix["builtin"], "builtin")
    assert not unexpected(failures, of_this_version(NOT_WRITTEN_BY_BUILTIN))


def test_what_ours_does_not_write(matrix):
    failures = failures_of(matrix["ours"], "ours")
    assert not unexpected(failures, NOT_WRITTEN_BY_OURS)


def test_ours_reads_what_the_builtin_writes(matrix):
    run = matrix["builtin"]
    assert not unexpected(problems_of(run, "builtin", "ours"), of_this_version(NOT_LISTED_BY_OURS))
    found = differences(run.builtin["seen"], run.ours["seen"], run.failures)
    assert not unexpected_differences(found, SEEN_BY_OURS)


def test_the_builtin_reads_what_ours_writes(matrix):
    run = matrix["ours"]
    problems = problems_of(run, "ours", "builtin")
    assert not unexpected(problems, of_this_version(NOT_READ_BY_BUILTIN))
    found = differences(run.ours["seen"], run.builtin["seen"], run.failures | problems)
    assert not unexpected_differences(found, SEEN_BY_BUILTIN)


def test_both_directions_hold_something(matrix):
    """Without this test, a list that lost its options would pass all others."""
    for writer in ("builtin", "ours"):
        run = matrix[writer]
        arrays = [path for path, node in run.ours["seen"].items() if "values" in node]
        assert len([path for path in arrays if was_written(path, run.failures)]) > 900
