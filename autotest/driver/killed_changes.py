"""Changes nodes of a store repeatedly, and is killed before each change of a file: the child of
test_killed_changes.py.


    killed_changes.py STORE FOLDER CHANGE

runs with kill_shim.cpp preloaded and leaves in FOLDER a copy of the store for each kill, and
one in which all was done.
"""
import ctypes
import os
import shutil
import sys
from pathlib import Path

from osgeo import gdal


def set_attribute(root):
    made = root.OpenGroup("g").OpenMDArray("a").CreateAttribute(
        "new", [], gdal.ExtendedDataType.Create(gdal.GDT_Int32))
    made.Write(1)


def set_root_attribute(root):
    root.CreateAttribute("new", [], gdal.ExtendedDataType.Create(gdal.GDT_Int32)).Write(1)


def create(root):
    group = root.CreateGroup("new")
    group.CreateMDArray("b", [group.CreateDimension("n", None, None, 4)],
                        gdal.ExtendedDataType.Create(gdal.GDT_Byte))


def delete_array(root):
    root.OpenGroup("g").DeleteMDArray("a")


def delete_group(root):
    root.DeleteGroup("g")


def rename_array(root):
    root.OpenGroup("g").OpenMDArray("a").Rename("b")


def rename_group(root):
    root.OpenGroup("g").Rename("h")


def main(store, folder, change):
    for n in range(1, 300):
        copy = folder / f"{n:03}.zarr"
        shutil.copytree(store, copy)
        child = os.fork()
        if child == 0:
            ctypes.CDLL(None).kill_at(ctypes.c_uint64(n))
            dataset = gdal.OpenEx(str(copy), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
            change(dataset.GetRootGroup())
            del dataset
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            return
    sys.exit("there is no end of changes")


if __name__ == "__main__":
    gdal.UseExceptions()
    main(Path(sys.argv[1]), Path(sys.argv[2]), globals()[sys.argv[3]])
