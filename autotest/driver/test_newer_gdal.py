"""Features that need a newer GDAL than 3.6."""
import gzip
import json
import math
import shutil
import subprocess

import numpy as np
import pytest
from multidim import open_array, open_root
from osgeo import gdal
from stores import BYTES, CRC32C, GZIP, sharding, write_array, write_group, write_multiscale

DATA = np.arange(48, dtype="<i2").reshape(6, 8)


def since(major, minor):
    is_there = int(gdal.VersionInfo()) >= 1_000_000 * major + 10_000 * minor
    return pytest.mark.skipif(not is_there, reason=f"GDAL {major}.{minor} is the first to have it")


def read_part(path, offset, size):
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(size)


def assert_type(path, data, gdal_type, nodata):
    array, raster = open_array(path), gdal.Open(str(path))
    band = raster.GetRasterBand(1)
    assert array.GetDataType().GetNumericDataType() == band.DataType == gdal_type
    for got in (array.ReadAsArray(), raster.ReadAsArray(),
                array.AsClassicDataset(1, 0).ReadAsArray()):
        assert got.dtype == data.dtype
        np.testing.assert_array_equal(got, data)
    np.testing.assert_equal(array.GetNoDataValueAsDouble(), nodata)
    np.testing.assert_equal(band.GetNoDataValue(), nodata)


@since(3, 7)
def test_int8(tmp_path):
    data = np.array([[-128, -1], [0, 127]], "i1")
    write_array(tmp_path, data, fill_value=-128)
    assert_type(tmp_path, data, gdal.GDT_Int8, -128)


@since(3, 11)
def test_float16(tmp_path):
    data = np.array([[-65504, 2.0**-24], [np.nan, np.inf]], "f2")
    write_array(tmp_path, data, fill_value="NaN")
    assert_type(tmp_path, data, gdal.GDT_Float16, math.nan)


@since(3, 8)
def test_metadata_of_bands_from_other_arrays(tmp_path):
    """GDAL finds it in the root group."""
    write_group(tmp_path)
    write_array(tmp_path / "cube", DATA.reshape(3, 2, 8), names=["t", "y", "x"])
    write_array(tmp_path / "wavelength", np.array([400, 500, 600], "i2"), names=["t"])
    root = open_root(tmp_path)
    cube = root.OpenMDArray("cube")
    np.testing.assert_array_equal(cube.AsClassicDataset(2, 1, root).ReadAsArray(),
                                  DATA.reshape(3, 2, 8))
    rule = [{"array": "/wavelength", "item_name": "nm", "item_value": "%.0f"}]
    raster = cube.AsClassicDataset(2, 1, root, ["BAND_METADATA=" + json.dumps(rule)])
    got = [raster.GetRasterBand(i).GetMetadataItem("nm") for i in (1, 2, 3)]
    assert got == ["400", "500", "600"]
    np.testing.assert_array_equal(raster.ReadAsArray(), DATA.reshape(3, 2, 8))


@since(3, 12)
def test_place_of_a_chunk(tmp_path):
    write_array(tmp_path, DATA, (4, 4), [BYTES, GZIP])
    array = open_array(tmp_path)
    info = array.GetRawBlockInfo([1, 0])
    chunk = gzip.decompress(read_part(info.GetFilename(), info.GetOffset(), info.GetSize()))
    np.testing.assert_array_equal(np.frombuffer(chunk, "<i2").reshape(4, 4)[:2], DATA[4:, :4])
    told = dict(item.split("=", 1) for item in info.GetInfo())
    assert json.loads(told["COMPRESSOR"]) == GZIP
    with pytest.raises(RuntimeError):
        array.GetRawBlockInfo([2, 0])


@since(3, 12)
@pytest.mark.parametrize("location", ["start", "end"])
def test_place_of_an_inner_chunk(tmp_path, location):
    data = DATA.copy()
    data[4:, 4:6] = 0
    write_array(tmp_path, data, (6, 8), [sharding((2, 2), index_location=location)])
    array = open_array(tmp_path)
    info = array.GetRawBlockInfo([2, 1])
    chunk = read_part(info.GetFilename(), info.GetOffset(), info.GetSize())
    np.testing.assert_array_equal(np.frombuffer(chunk, "<i2").reshape(2, 2), data[4:, 2:4])
    assert array.GetRawBlockInfo([2, 2]).GetFilename() is None  # nothing but the fill value


@since(3, 12)
def test_chunk_without_a_place(tmp_path):
    """Inner chunks of shards that are compressed as a whole have no bytes of their own."""
    write_array(tmp_path, DATA, (6, 8), [sharding((2, 2)), CRC32C, GZIP])
    assert open_array(tmp_path).GetRawBlockInfo([0, 0]).GetFilename() is None


@since(3, 13)
def test_overviews_of_arrays(tmp_path):
    write_multiscale(tmp_path)
    array = open_root(tmp_path).OpenMDArray("data")
    levels = [array.GetOverview(i) for i in range(array.GetOverviewCount())]
    assert [level.GetFullName() for level in levels] == ["/half/data", "/quarter/data"]
    for level, value in zip(levels, (20, 40)):
        assert (level.ReadAsArray() == value).all()
    assert [level.GetOverviewCount() for level in levels] == [1, 0]
    assert levels[0].GetOverview(0).GetFullName() == "/quarter/data"
    assert array.GetOverview(2) is None


@since(3, 11)
def test_new_programs(tmp_path):
    """`gdal raster` and `gdal mdim` are programs that use the same driver."""
    write_array(tmp_path / "a.zarr", DATA, (4, 4), [sharding((2, 2))], names=["y", "x"])
    program = shutil.which("gdal")
    assert program is not None

    def run(*words):
        return subprocess.run([program, *map(str, words)], check=True, capture_output=True,
                              text=True).stdout

    info = json.loads(run("raster", "info", "--format", "json", tmp_path / "a.zarr"))
    assert (info["driverShortName"], info["size"]) == ("Zarr", [8, 6])
    assert info["bands"][0]["block"] == [2, 2]
    run("raster", "convert", tmp_path / "a.zarr", tmp_path / "a.tif")
    np.testing.assert_array_equal(gdal.Open(str(tmp_path / "a.tif")).ReadAsArray(), DATA)
    info = json.loads(run("mdim", "info", "--detailed", tmp_path / "a.zarr"))
    assert info["arrays"]["a"]["values"] == DATA.tolist()
