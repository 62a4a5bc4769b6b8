"""Virtual stores of netCDF-3 files, of which GDAL does not tell where values are."""
import struct

import numpy as np
import pytest
from osgeo import gdal
from virtual_sources import read_with_zarr, references

netCDF4 = pytest.importorskip("netCDF4")
pytestmark = pytest.mark.skipif(gdal.GetDriverByName("netCDF") is None,
                                reason="GDAL has no driver netCDF")
FORMATS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
RANDOM = np.random.default_rng(4)


def make_virtual(source, target, mode="YES"):
    dataset = gdal.OpenEx(str(source), gdal.OF_MULTIDIM_RASTER)
    return gdal.GetDriverByName("Zarr").CreateCopy(str(target), dataset,
                                                   options=["VIRTUAL=" + mode])


def array(path, name):
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArray(name), dataset


def write(path, form, records, variables):
    """`variables`: names with a dtype and whether they have records. Large enough to be referred
    to."""
    data = {}
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.title = "odd"
        for name, size in (("time", None), ("y", 101), ("x", 203)):
            file.createDimension(name, size)
        for name, dtype, has_records in variables:
            dimensions = ("time", "y", "x") if has_records else ("y", "x")
            variable = file.createVariable(name, dtype, dimensions)
            variable.units = "m"
            shape = (records, 101, 203) if has_records else (101, 203)
            data[name] = RANDOM.integers(0, 100, shape).astype(dtype)
            variable[:] = data[name]
    try:
        gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    except RuntimeError:
        pytest.skip("GDAL's netCDF library does not read " + form)
    return data


SETS = {
    "one of odd length": [("a", "i2", True)],
    "several": [("a", "i2", True), ("b", "f8", True), ("c", "f4", False), ("d", "i2", False),
                ("e", "i4", True)],
    "fixed": [("a", "f8", False), ("b", "i4", False)],
}


@pytest.mark.parametrize("variables", SETS.values(), ids=SETS)
@pytest.mark.parametrize("form", FORMATS)
def test_formats(tmp_path, form, variables):
    data = write(tmp_path / "a.nc", form, 7, variables)
    assert make_virtual(tmp_path / "a.nc", tmp_path / "a.json") is not None
    found = references(tmp_path / "a.json")
    for name, values in data.items():
        copy, _keep = array(tmp_path / "a.json", name)
        np.testing.assert_array_equal(copy.ReadAsArray(), values)
        assert copy.GetUnit() == "m"
        read = read_with_zarr(tmp_path / "a.json", name)
        np.testing.assert_array_equal(read[:], values)
        assert read.dtype.byteorder == ">"
        parts = [value for key, value in found.items()
                 if key.startswith(name + "/") and key[len(name) + 1].isdigit()]
        assert len(parts) == (7 if values.ndim == 3 else 1)
        assert all(isinstance(part, list) for part in parts)


@pytest.mark.parametrize("shape, chunk", [
    ((600_011,), (600_011,)),  # prime
    ((1, 3000, 1000), (1, 1000, 1000)), ((3, 2, 900_000), (1, 1, 900_000)),
    ((2 * 600_011,), (600_011,))], ids=str)
@pytest.mark.parametrize("has_records", [False, True])
def test_large_variables_are_cut(tmp_path, shape, chunk, has_records):
    """To parts of 64 KiB to 4 MiB, or the next larger ones, along the first dimension with such."""
    data = RANDOM.integers(0, 9, shape).astype("f4" if len(shape) > 1 else "f8")
    with netCDF4.Dataset(tmp_path / "a.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
        names = [f"d{i}" for i in range(len(shape))]
        file.createDimension("time", None)
        for name, size in zip(names, shape):
            file.createDimension(name, size)
        if has_records:
            names, data, chunk = ["time", *names], np.stack([data, data + 1]), (1, *chunk)
        file.createVariable("v", data.dtype, names)[:] = data
    assert make_virtual(tmp_path / "a.nc", tmp_path / "a.json") is not None
    read = read_with_zarr(tmp_path / "a.json", "v")
    assert read.chunks == chunk
    np.testing.assert_array_equal(read[:], data)


def test_packed_values_and_nodata(tmp_path):
    with netCDF4.Dataset(tmp_path / "a.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("y", 300)
        file.createDimension("x", 300)
        variable = file.createVariable("t", "i2", ("y", "x"), fill_value=-9)
        variable.scale_factor, variable.add_offset = 0.5, 10.0
        variable.set_auto_maskandscale(False)
        variable[:] = np.arange(90000).reshape(300, 300) % 900 - 9
    assert make_virtual(tmp_path / "a.nc", tmp_path / "a.json") is not None
    (source, _a), (copy, _b) = array(tmp_path / "a.nc", "t"), array(tmp_path / "a.json", "t")
    np.testing.assert_array_equal(copy.ReadAsArray(), source.ReadAsArray())
    assert (copy.GetScale(), copy.GetOffset(), copy.GetNoDataValue()) == (0.5, 10, -9)


@pytest.mark.parametrize("form", FORMATS)
def test_damaged_headers(tmp_path, form):
    """Are errors, or the store has the values that GDAL reads."""
    write(tmp_path / "a.nc", form, 3, SETS["several"])
    whole = (tmp_path / "a.nc").read_bytes()
    dataset = gdal.OpenEx(str(tmp_path / "a.nc"), gdal.OF_MULTIDIM_RASTER)
    places = RANDOM.integers(4, 600, 12)
    made = 0
    for number, place in enumerate(places):
        for wrong in (0, 0xFF, 0x7F):
            damaged = bytearray(whole)
            damaged[place] = wrong
            (tmp_path / "a.nc").write_bytes(damaged)
            target = tmp_path / f"{number}_{wrong}.json"
            try:
                # GDAL has read the whole header.
                copy = gdal.GetDriverByName("Zarr").CreateCopy(
                    str(target), dataset, options=["VIRTUAL=YES"])
            except RuntimeError:
                continue
            assert copy is not None
            made += 1
            copy = None
            for name in "abcde":
                source = dataset.GetRootGroup().OpenMDArray(name)
                copied, _keep = array(target, name)
                np.testing.assert_array_equal(copied.ReadAsArray(), source.ReadAsArray())
    assert made > 0


def test_counts_beyond_the_file(tmp_path):
    write(tmp_path / "a.nc", "NETCDF3_CLASSIC", 3, SETS["several"])
    dataset = gdal.OpenEx(str(tmp_path / "a.nc"), gdal.OF_MULTIDIM_RASTER)
    data = bytearray((tmp_path / "a.nc").read_bytes())
    data[12:16] = struct.pack(">I", 0x7FFFFFFF)  # dimensions
    (tmp_path / "a.nc").write_bytes(data)
    with pytest.raises(RuntimeError, match="array /a: .*header"):
        gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "a.json"), dataset,
                                                options=["VIRTUAL=YES"])
