"""Where virtual stores can be made, how they name files, and their limits."""
import subprocess
import sys

import numpy as np
import pytest
from osgeo import gdal
from virtual_sources import make_virtual, pixels, write_tiff

DATA = np.arange(400).reshape(1, 20, 20).astype("u1")


@pytest.mark.parametrize("mode", ["YES", "AUTO"])
@pytest.mark.parametrize("kind", ["raster", "hierarchy", "appended"])
def test_only_new_documents_hold_references(tmp_path, mode, kind):
    source = write_tiff(tmp_path / "a.tif", DATA)
    target, options, flags = f"ICECHUNK:{tmp_path}/repository", [], gdal.OF_RASTER
    if kind == "appended":
        target, options = str(tmp_path / "a.zarr"), ["APPEND_SUBDATASET=YES", "ARRAY_NAME=b"]
        assert gdal.GetDriverByName("Zarr").CreateCopy(target, gdal.Open(source)) is not None
    if kind == "hierarchy":
        assert make_virtual(source, tmp_path / "a.json") is not None
        source, flags = str(tmp_path / "a.json"), gdal.OF_MULTIDIM_RASTER
    code = (f"from osgeo import gdal; gdal.UseExceptions()\n"
            f"source = gdal.OpenEx({source!r}, {flags})\n"
            f"gdal.GetDriverByName('Zarr').CreateCopy({target!r}, source, "
            f"options={['VIRTUAL=' + mode, *options]!r})")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "VIRTUAL is an option of copies" in done.stderr
    assert not (tmp_path / "repository").exists()
    if kind == "appended":
        assert not (tmp_path / "a.zarr/b").exists()
        np.testing.assert_array_equal(pixels(target), DATA)
