"""Programs that copy rasters: each makes a copy in any format, so that GeoTIFF and memory can judge
what the program keeps.

    copy_with(program, source, target, "Zarr", ["FORMAT=ZARR_V3"], ["-mask", "none"])
"""
import shutil
import subprocess

import rasterio.shutil
from osgeo import gdal

PROGRAMS = ["gdal_translate", "rasterio", "CreateCopy", "strict CreateCopy"]
if shutil.which("gdal"):  # of GDAL 3.11
    PROGRAMS.append("gdal raster convert")

# Of gdal_translate: what changes the raster on the way to any format.
TRANSLATE_OPTIONS = [[], [], [], ["-strict"], ["-b", "1"],
                     ["-mask", "none"], ["-srcwin", "0", "0", "1", "1"], ["-mo", "added=value"],
                     ["-norat"], ["-nogcp"], ["-nomd"], ["-r", "nearest"],
                     ["-a_scale", "3", "-a_offset", "1"], ["-a_srs", "EPSG:3035"], ["-unscale"],
                     ["-b", "1", "-b", "1"], ["-stats"], ["-colorinterp_1", "red"]]


class Refused(Exception):
    """The program made no copy."""


def translate(source, target, driver, creation, options):
    dataset = gdal.Translate(target, source, options=[
        "-of", driver, *(word for each in creation for word in ("-co", each)), *options])
    if dataset is None:
        raise Refused(gdal.GetLastErrorMsg())
    return dataset


def run(*command):
    """The warnings of a program."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            timeout=300)
    if result.returncode or "ERROR" in result.stderr:
        raise Refused(f"exit {result.returncode}: {result.stderr}")
    return [line for line in result.stderr.splitlines() if line.startswith("Warning")]


def long_words(options):
    """As the programs of GDAL 3.11 and newer want them."""
    return ["--co" if option == "-co" else option for option in options]


def copy_with(program, source, target, driver, creation=(), options=()):
    """Returns the warnings. What is copied to memory is returned as a dataset instead."""
    in_memory = driver == "MEM"
    creation_words = [word for each in creation for word in ("-co", each)]
    source_name = source.path or source.dataset
    if program == "gdal_translate" and not in_memory and source.path:
        return run("gdal_translate", "-q", "-of", driver, *creation_words, *options, source.path,
                   target)
    if program == "gdal raster convert" and not in_memory and source.path:
        return run("gdal", "raster", "convert", "-q", "-f", driver, *long_words(creation_words),
                   source.path, target)
    warnings = []
    gdal.PushErrorHandler(lambda kind, number, text:
                          warnings.append(text) if kind == gdal.CE_Warning else None)
    try:
        if program == "gdal_translate":
            dataset = translate(source_name, target, driver, creation, options)
        elif program == "rasterio" and not in_memory and source.path:
            rasterio.shutil.copy(source.path, target, driver=driver, strict=False,
                                 **dict(each.split("=", 1) for each in creation))
            return warnings
        else:
            dataset = gdal.GetDriverByName(driver).CreateCopy(
                target, source.open(), program == "strict CreateCopy", list(creation))
        if dataset is None:
            raise Refused(gdal.GetLastErrorMsg())
        if in_memory:
            return dataset
        dataset = None
        return warnings
    except Refused:
        raise
    except Exception as error:
        raise Refused(str(error)) from error
    finally:
        gdal.PopErrorHandler()
