"""Opens, reads and writes a store while allocations of the plugin fail: the child process of
test_allocations.py.

    failing_allocations.py SCENARIO FOLDER

runs with failing_allocations.cpp preloaded, and prints a line for each run before it begins, so
that the last one tells which did not end. A run either fails with an error or gives right values.
"""
import ctypes
import json
import shutil
import sys
from pathlib import Path

import numpy as np
from osgeo import gdal, osr

DATA = np.arange(3 * 40 * 50, dtype="u4").reshape(3, 40, 50)
PERIODS = [*range(1, 40), *range(41, 120, 6), *range(121, 3000, 31)]


def read_raster(store):
    dataset = gdal.Open(f'ZARR:"{store}":/a')
    dataset.GetMetadata()
    dataset.GetGeoTransform()
    dataset.GetSpatialRef()
    dataset.GetFileList()
    for number in (1, 3):
        band = dataset.GetRasterBand(number)
        for ask in (band.GetMetadata, band.GetDescription, band.GetBlockSize, band.GetNoDataValue,
                    band.GetUnitType, band.GetColorInterpretation, band.GetOverviewCount):
            ask()
        np.testing.assert_array_equal(band.ReadAsArray(), DATA[number - 1])
    part = dataset.ReadAsArray(5, 6, 20, 30, callback=lambda *_: 1)
    np.testing.assert_array_equal(part, DATA[:, 6:36, 5:25])
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    identified = gdal.IdentifyDriver(str(store))
    assert identified is None or identified.ShortName == "Zarr"


def read_arrays(store):
    root = gdal.OpenEx(str(store), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    for attribute in root.GetAttributes() or []:
        attribute.Read()
    for name in root.GetMDArrayNames() or []:
        array = root.OpenMDArray(name)
        array.GetBlockSize()
        array.GetStructuralInfo()
        array.GetSpatialRef()
        array.GetCoordinateVariables()
        for dimension in array.GetDimensions():
            dimension.GetIndexingVariable()
        for attribute in array.GetAttributes() or []:
            attribute.Read()
        values = array.ReadAsArray()
        if name == "a":
            np.testing.assert_array_equal(values, DATA)


def write_raster(store):
    dataset = gdal.GetDriverByName("Zarr").Create(
        str(store), 50, 40, 3, gdal.GDT_UInt32, ["BLOCKSIZE=1,16,16", "COMPRESS=ZSTD"])
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(32633)
    dataset.SetSpatialRef(crs)
    dataset.SetGeoTransform([100, 10, 0, 200, 0, -10])
    dataset.SetMetadataItem("title", "a raster")
    for number in (1, 2, 3):
        band = dataset.GetRasterBand(number)
        band.SetDescription(f"band {number}")
        band.SetUnitType("m")
        band.WriteArray(DATA[number - 1])
    dataset.FlushCache()


def write_arrays(store):
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(str(store), [],
                                                                  ["FORMAT=ZARR_V3"])
    root = dataset.GetRootGroup()
    dimensions = [root.CreateDimension(f"d{i}", None, None, n) for i, n in enumerate(DATA.shape)]
    array = root.CreateMDArray("a", dimensions, gdal.ExtendedDataType.Create(gdal.GDT_UInt32),
                               ["BLOCKSIZE=1,16,16", "COMPRESS=GZIP"])
    text = array.CreateAttribute("long_name", [], gdal.ExtendedDataType.CreateString())
    text.Write("some values")
    array.Write(DATA)
    array.SetNoDataValueDouble(7)
    dataset.FlushCache()


def check_written(store):
    root = gdal.OpenEx(str(store), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    arrays = [root.OpenMDArray(name).ReadAsArray() for name in root.GetMDArrayNames()]
    big = [array for array in arrays if array.ndim > 1]
    np.testing.assert_array_equal(big[0] if len(big) == 1 else np.stack(big), DATA)


def run(scenario, folder):
    allocations = ctypes.CDLL(None)
    allocations.fail_every.argtypes = [ctypes.c_uint64]
    allocations.allocation_count.restype = ctypes.c_uint64
    is_writing = scenario.startswith("write")
    function = globals()[scenario]
    store = folder / "written.zarr" if is_writing else folder / "a.zarr"
    failures = 0
    for period in PERIODS:
        print(scenario, period, flush=True)
        shutil.rmtree(folder / "written.zarr", ignore_errors=True)
        errors = []
        gdal.PushErrorHandler(lambda severity, _number, message: errors.append((severity, message)))
        try:
            allocations.fail_every(period)
            function(store)
            is_done = True
        except (RuntimeError, AttributeError, TypeError):  # an error, or None in its place
            is_done = False
        finally:
            allocations.fail_every(0)
            gdal.PopErrorHandler()
        is_reported = any(severity == gdal.CE_Failure for severity, _ in errors)
        if is_done and not is_reported and is_writing:
            check_written(store)
        failures += is_reported or not is_done
    shutil.rmtree(folder / "written.zarr", ignore_errors=True)
    # Memory is available again, and everything works.
    function(store)
    if is_writing:
        check_written(store)
    print(json.dumps({"failures": failures}))


if __name__ == "__main__":
    gdal.UseExceptions()
    osr.UseExceptions()
    run(sys.argv[1], Path(sys.argv[2]))
