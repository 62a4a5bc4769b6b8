"""Changes the georeferencing of a store repeatedly, and is killed before each change of a file: the
child process of test_killed_georeferencing.py.

    killed_georeferencing.py STORE FOLDER

runs with kill_shim.cpp preloaded and leaves in FOLDER a copy of the store for each kill, and
one in which all was done.
"""
import ctypes
import os
import shutil
import sys
from pathlib import Path

from osgeo import gdal, osr

NEW_PLACE = (500_000, 20, 0, 5_100_000, 0, -20)
NEW_CRS = 32633


def change(store):
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(NEW_CRS)
    dataset = gdal.Open(str(store), gdal.GA_Update)
    dataset.SetSpatialRef(crs)
    dataset.SetGeoTransform(NEW_PLACE)
    del dataset


def main(store, folder):
    for n in range(1, 200):
        copy = folder / f"{n}.zarr"
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
    main(Path(sys.argv[1]), Path(sys.argv[2]))
