#!/usr/bin/env python3
"""Counts the stores of autotest/fixtures that GDAL's own driver reads as this one does, and keeps
the number for this version of GDAL in comparison.json, for the figure of comparison.md.

usage: count_stores.py [--check]    --check: changes nothing; fails if the number is another one

Needs the plugin in build/release, or in the folder that ZARR_PLUGIN_DIR names.
"""
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
STORES = ROOT / "autotest/fixtures/stores"
FILE = FOLDER / "comparison.json"


def values(array):
    from osgeo import gdal

    kind = array.GetDataType()
    if array.GetTotalElementsCount() == 0:
        return None
    if kind.GetClass() == gdal.GEDTC_STRING:
        return array.Read()
    if kind.GetClass() == gdal.GEDTC_NUMERIC:
        is_complex = gdal.DataTypeIsComplex(kind.GetNumericDataType())
        kind = gdal.ExtendedDataType.Create(
            gdal.GDT_CFloat64 if is_complex else gdal.GDT_Float64)
    return hashlib.sha256(array.Read(buffer_datatype=kind)).hexdigest()


def contents(group):
    """{name: shape and values} of all arrays in a group and below it."""
    found = {}
    for name in group.GetMDArrayNames() or []:
        array = group.OpenMDArray(name)
        found[array.GetFullName()] = [
            [dimension.GetSize() for dimension in array.GetDimensions()], values(array)]
    for name in group.GetGroupNames() or []:
        found |= contents(group.OpenGroup(name))
    return found


def print_stores():
    """What the driver in use reads of each store, as JSON, and the version of GDAL."""
    from osgeo import gdal

    gdal.UseExceptions()
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    stores = {}
    for path in sorted(STORES.iterdir()):
        if path.name.startswith("kerchunk"):
            continue  # these folders hold several documents
        try:
            dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
            stores[path.name] = contents(dataset.GetRootGroup())
        except Exception as error:
            stores[path.name] = str(error)
    print(json.dumps({"gdal": gdal.__version__, "stores": stores}))


def read_with(driver_path):
    output = subprocess.run([sys.executable, __file__, "--print"], check=True, capture_output=True,
                            env=os.environ | {"GDAL_DRIVER_PATH": str(driver_path)}).stdout
    return json.loads(output)


def count():
    """The version of GDAL; how many stores its own driver reads, cannot read, and reads wrong."""
    ours = read_with(ROOT / os.environ.get("ZARR_PLUGIN_DIR", "build/release/driver"))
    theirs = read_with("disable")
    assert all(isinstance(found, dict) and found for found in ours["stores"].values())
    same = failed = 0
    for name, wanted in ours["stores"].items():
        found = theirs["stores"][name]
        same += found == wanted
        # GDAL 3.6 opens stores of v3 without an error, and shows no arrays.
        failed += isinstance(found, str) or not set(wanted) <= set(found)
    total = len(ours["stores"])
    return theirs["gdal"], {"read": same, "failed": failed, "wrong": total - same - failed}


def main(arguments):
    if arguments == ["--print"]:
        print_stores()
        return
    version, numbers = count()
    print(version, numbers)
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    if arguments == ["--check"]:
        if known.get(version, numbers) != numbers:
            sys.exit(f"{FILE.name} has {known[version]}")
        return
    known[version] = numbers
    in_order = sorted(known, key=lambda name: [int(part) for part in name.split(".")])
    FILE.write_text(json.dumps({name: known[name] for name in in_order}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
