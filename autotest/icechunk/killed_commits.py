"""Changes a repository repeatedly, and is killed before each operation on a file.

    killed_commits.py REPOSITORY FOLDER CHANGE FIRST STEP

runs with kill_shim.cpp preloaded and leaves in FOLDER a copy of the repository for each kill
at an operation FIRST, FIRST + STEP …, and one in which all was done.
repositories_after_kills() runs it.
"""
import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from arrays import ArrayNode, perform
from osgeo import gdal
from repositories import open_to_write

SOURCE = np.arange(32 * 32, dtype="u2").reshape(32, 32)


def repositories_after_kills(shim, repository, folder, change, first=1, step=1):
    """The copies, in the order of the kills. The change is named after a function here."""
    folder.mkdir()
    result = subprocess.run(
        [sys.executable, __file__, repository, folder, change, str(first), str(step)],
        env=os.environ | {"LD_PRELOAD": str(shim), "GDAL_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr[-2000:]
    return sorted(folder.iterdir())


def write(path):
    """Chunks in manifests and in files of their own, and a new array."""
    dataset = open_to_write(path)
    root = dataset.GetRootGroup()
    perform(root, "write", "g/a", [0, 0], np.full((16, 32), 7, "u2"))
    perform(root, "array", "b", ArrayNode([4], [2], "u1"))
    perform(root, "write", "b", [0], np.full(4, 9, "u1"))


def remove(path):
    open_to_write(path).GetRootGroup().DeleteGroup("g")


def copy_raster(path):
    """Makes the repository if there is none."""
    source = gdal.GetDriverByName("MEM").Create("", 32, 32, 1, gdal.GDT_UInt16)
    source.WriteArray(SOURCE)
    gdal.GetDriverByName("Zarr").CreateCopy(
        f"ICECHUNK:{path}", source, options=["ARRAY_NAME=copy", "BLOCKSIZE=16,32"])


def create_branch(path):
    open_to_write(path).SetMetadataItem("CREATE_BRANCH", "dev", "ICECHUNK")


def create_tag(path):
    open_to_write(path).SetMetadataItem("CREATE_TAG", "v1", "ICECHUNK")


def delete_branch(path):
    open_to_write(path).SetMetadataItem("DELETE_BRANCH", "old", "ICECHUNK")


def main(repository, folder, change, first, step):
    for n in range(first, 5000, step):
        copy = folder / f"{n:04}"
        if repository.exists():
            shutil.copytree(repository, copy)
        child = os.fork()
        if child == 0:
            ctypes.CDLL(None).kill_at_any(ctypes.c_uint64(n))
            try:
                change(copy)
            except RuntimeError as error:
                print(error, file=sys.stderr, flush=True)
                os._exit(1)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if not os.WIFSIGNALED(status):
            sys.exit(status != 0)
    sys.exit("there is no end of operations")


if __name__ == "__main__":
    gdal.UseExceptions()
    main(Path(sys.argv[1]), Path(sys.argv[2]), globals()[sys.argv[3]], *map(int, sys.argv[4:]))
