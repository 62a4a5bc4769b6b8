"""A copy of a hierarchy loses nothing that the program that copies it keeps in memory or netCDF.

A seed makes one source (random_hierarchies.py) and one way to copy it: a program, creation options
and a version of Zarr. A copy of netCDF is then copied back to netCDF, where it must be what a copy
of netCDF is. A copy of Zarr in the same version has the same documents.
"""
import shutil
import subprocess

import numpy as np
import pytest
from compare import Difference, differences, report
from hierarchy_listing import describe_hierarchy, documents
from known import undecided
from night import rounds
from osgeo import gdal
from random_hierarchies import make_hierarchy, pick
from raster_programs import long_words

PROGRAMS = ["gdalmdimtranslate", "CreateCopy", "strict CreateCopy"]
if shutil.which("gdal"):  # of GDAL 3.11
    PROGRAMS.append("gdal mdim convert")

CREATION_OPTIONS = [[], [], [], ["ARRAY:COMPRESS=ZSTD"], ["ARRAY:COMPRESS=BLOSC"],
                    ["ARRAY:IF(DIM=2):BLOCKSIZE=3,5"], ["ARRAY:CHUNKS=AUTO"],
                    ["CREATE_CONSOLIDATED_METADATA=NO"], ["ARRAY:STRING_FORMAT=VARIABLE"],
                    ["ARRAY:GEOREFERENCING_CONVENTION=CF"]]
OF_V3 = [["ARRAY:SHARDING=AUTO"],
         ["ARRAY:IF(DIM=2):BLOCKSIZE=8,8", "ARRAY:IF(DIM=2):SHARD_CHUNK_SHAPE=4,2"]]


class Refused(Exception):
    """The program made no copy."""


def open_hierarchy(path):
    return gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)


def listing(path):
    return describe_hierarchy(open_hierarchy(path))


def losses(want, judges, copy, steps=()):
    return undecided(differences(want, judges, copy, steps), want)


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            timeout=300)
    errors = [line for line in result.stderr.splitlines()
              if "ERROR" in line and "attribute with same name" not in line]  # by -scaleaxes
    if result.returncode or errors:
        raise Refused(f"exit {result.returncode}: {result.stderr}")
    return [line for line in result.stderr.splitlines() if line.startswith("Warning")]


def part_of(random, source):
    """Options of gdalmdimtranslate for a part of the source, or none. The program makes a VRT of
    the source, which it opens again by its path; GDAL 3.6 hangs when it closes a VRT of a VRT."""
    if not source.path or source.format == "VRT":
        return []
    root = source.open().GetRootGroup()
    kind = pick(random, ["all", "all", "array", "steps", "view", "transposed", "group"])
    arrays = [root.OpenMDArray(name) for name in root.GetMDArrayNames()]
    arrays = [array for array in arrays if array.GetDimensionCount() and not set(
        array.GetName()) & set(",=")]
    if kind == "group" and root.GetGroupNames():
        return ["-group", "/" + root.GetGroupNames()[0]]
    if kind == "steps":
        return ["-scaleaxes", "time(2),x(3)"] if {"time", "x"} <= {
            dimension.GetName() for dimension in root.GetDimensions()} else []
    if kind in ("all", "group") or not arrays:
        return []
    array = pick(random, arrays)
    order = list(range(array.GetDimensionCount()))[::-1]
    what = {"view": ",view=[::2]", "transposed": f",transpose={order}".replace(" ", "")}
    return ["-array", f"name={array.GetName()}{what.get(kind, '')}"]


def copy_with(program, source, target, driver, creation=(), options=()):
    """Returns the warnings. What is copied to memory is returned as a dataset instead."""
    words = [word for each in creation for word in ("-co", each)]
    path = getattr(source, "path", source)
    if program == "gdalmdimtranslate" and driver != "MEM" and path:
        return run("gdalmdimtranslate", "-q", "-of", driver, *words, *options, path, target)
    if program == "gdal mdim convert" and driver != "MEM" and path:
        return run("gdal", "mdim", "convert", "-q", "-f", driver, *long_words(words), path,
                   target)
    messages = []
    gdal.PushErrorHandler(lambda *message: messages.append(message))
    try:
        opened = source.open() if hasattr(source, "open") else open_hierarchy(source)
        if program == "gdalmdimtranslate":
            dataset = gdal.MultiDimTranslate(str(target), opened,
                                             options=["-of", driver, *words, *options])
        else:
            dataset = gdal.GetDriverByName(driver).CreateCopy(
                str(target), opened, program == "strict CreateCopy", list(creation))
        if dataset is None:
            raise Refused(gdal.GetLastErrorMsg())
        if driver != "MEM":
            dataset = None
    except RuntimeError as error:
        raise Refused(str(error)) from error
    finally:
        gdal.PopErrorHandler()
    errors = [text for kind, _, text in messages if kind >= gdal.CE_Failure]
    if errors:
        raise Refused("; ".join(errors))
    warnings = [text for kind, _, text in messages if kind == gdal.CE_Warning]
    return dataset if driver == "MEM" else warnings


def way_to_copy(seed, source):
    random = np.random.default_rng([seed, 4])
    program = PROGRAMS[seed % len(PROGRAMS)]
    is_v3 = seed // len(PROGRAMS) % 2 == 1
    creation = pick(random, CREATION_OPTIONS + (OF_V3 * 2 if is_v3 else []))
    options = part_of(random, source) if program == "gdalmdimtranslate" else []
    return program, [f"FORMAT=ZARR_V{3 if is_v3 else 2}", *creation], options


def judges_of(program, source, folder, options):
    found = []
    for driver, target in (("MEM", ""), ("netCDF", f"{folder}/judge.nc")):
        try:
            made = copy_with(program, source, target, driver, (), options)
            found.append(describe_hierarchy(made if driver == "MEM" else open_hierarchy(target)))
        except Refused:
            pass
    return found


def check_back(program, source, target, folder, want, known):
    """netCDF, Zarr, netCDF beside netCDF, netCDF, netCDF."""
    try:
        copy_with(program, source, f"{folder}/once.nc", "netCDF")
        copy_with(program, f"{folder}/once.nc", f"{folder}/again.nc", "netCDF")
    except Refused:
        return []
    try:
        copy_with(program, target, f"{folder}/back.nc", "netCDF")
    except Refused as error:
        return [Difference("refused: back in netCDF", "", str(error))]
    once, again, back = (listing(f"{folder}/{name}.nc") for name in ("once", "again", "back"))
    return [each._replace(item="back in netCDF: " + each.item)
            for each in losses(want, [again], back, [once]) if each.item not in known]


def check(seed, folder):
    """The source and the way in words, and the differences."""
    source = make_hierarchy(seed, folder)
    program, creation, options = way_to_copy(seed, source)
    words = f"seed {seed}: {program} {' '.join([*creation, *options])}; {source}"
    want = describe_hierarchy(source.open())
    judges = judges_of(program, source, folder, options)
    if options and judges:
        want = judges[0]  # a part of the source
    target = f"{folder}/copy.zarr"
    try:
        warnings = copy_with(program, source, target, "Zarr", creation, options)
    except Refused as error:
        return words, [Difference("refused", "", str(error))] if judges else []
    lost = losses(want, judges, listing(target))
    if options:
        return words, lost
    if source.format == f"Zarr {creation[0][-2:].lower()}" and "ARRAY:" not in str(creation):
        stored = documents(source.path)
        lost += differences(stored, [stored], documents(target))
    if not lost:
        lost = [Difference("warning without a loss", "", text) for text in warnings]
    if source.format == "netCDF":
        lost += check_back(program, source, target, folder, want, {each.item for each in lost})
    return words, lost


@pytest.mark.parametrize("seed", range(rounds(30, 300)))
def test_a_copied_hierarchy_loses_nothing(tmp_path, seed):
    words, lost = check(seed, tmp_path)
    assert len(lost) == 0, report(words, lost)
