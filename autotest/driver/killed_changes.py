"""Changes a store repeatedly, and is killed before each change of a file.

    killed_changes.py STORE FOLDER CHANGE

runs with kill_shim.cpp preloaded and leaves in FOLDER a copy of the store for each kill, and
one in which all was done. stores_after_kills() runs it.
"""
import ctypes
import os
import shutil
import subprocess
import sys
from functools import wraps
from pathlib import Path

from osgeo import gdal, osr

NEW_PLACE = (500_000, 20, 0, 5_100_000, 0, -20)
NEW_CRS = 32633


def stores_after_kills(shim, store, folder, change):
    """The copies, in the order of the kills. The change is named after a function here."""
    folder.mkdir()
    result = subprocess.run(
        [sys.executable, __file__, store, folder, change],
        env=os.environ | {"LD_PRELOAD": str(shim), "GDAL_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr[-2000:]
    return sorted(folder.iterdir())


def on_root(change):
    @wraps(change)
    def change_store(store):
        dataset = gdal.OpenEx(str(store), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
        change(dataset.GetRootGroup())

    return change_store


def set_georeferencing(store):
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(NEW_CRS)
    dataset = gdal.Open(str(store), gdal.GA_Update)
    dataset.SetSpatialRef(crs)
    dataset.SetGeoTransform(NEW_PLACE)


@on_root
def set_attribute(root):
    made = root.OpenGroup("g").OpenMDArray("a").CreateAttribute(
        "new", [], gdal.ExtendedDataType.Create(gdal.GDT_Int32))
    made.Write(1)


@on_root
def set_root_attribute(root):
    root.CreateAttribute("new", [], gdal.ExtendedDataType.Create(gdal.GDT_Int32)).Write(1)


@on_root
def create(root):
    group = root.CreateGroup("new")
    group.CreateMDArray("b", [group.CreateDimension("n", None, None, 4)],
                        gdal.ExtendedDataType.Create(gdal.GDT_Byte))


@on_root
def delete_array(root):
    root.OpenGroup("g").DeleteMDArray("a")


@on_root
def delete_group(root):
    root.DeleteGroup("g")


@on_root
def rename_array(root):
    root.OpenGroup("g").OpenMDArray("a").Rename("b")


@on_root
def rename_group(root):
    root.OpenGroup("g").Rename("h")


def delete_store(store):
    gdal.GetDriverByName("Zarr").Delete(str(store))


def main(store, folder, change):
    for n in range(1, 300):
        copy = folder / f"{n:03}.zarr"
        shutil.copytree(store, copy)
        child = os.fork()
        if child == 0:
            ctypes.CDLL(None).kill_at(ctypes.c_uint64(n))
            change(copy)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            return
    sys.exit("there is no end of changes")


if __name__ == "__main__":
    gdal.UseExceptions()
    osr.UseExceptions()
    main(Path(sys.argv[1]), Path(sys.argv[2]), globals()[sys.argv[3]])
