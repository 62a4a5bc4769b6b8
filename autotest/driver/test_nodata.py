"""Nodata values: which a band can have."""
import json

import numpy as np
import pytest
from classic import open_raster
from osgeo import gdal


@pytest.mark.parametrize("multidim", [False, True])
@pytest.mark.parametrize("gdal_type", [gdal.GDT_Float32, gdal.GDT_CFloat32, gdal.GDT_Float64])
@pytest.mark.parametrize("bits", [0xffc00000, 0xffffffff, 0x7fc007a2])
def test_any_nan_is_nodata_in_v2(tmp_path, bits, gdal_type, multidim):
    """The NaN that processors make has the sign bit; GRASS and R have NaNs of their own."""
    nan = float(np.array(bits, "u4").view("f4"))
    path = tmp_path / "a.zarr"
    driver = gdal.GetDriverByName("Zarr")
    if multidim:
        root = driver.CreateMultiDimensional(str(path), [], ["FORMAT=ZARR_V2"]).GetRootGroup()
        array = root.CreateMDArray("a", [root.CreateDimension("x", None, None, 4)],
                                   gdal.ExtendedDataType.Create(gdal_type))
        assert array.SetNoDataValueDouble(nan) == gdal.CE_None
        del array, root
    else:
        dataset = driver.Create(str(path), 4, 3, 1, gdal_type, ["FORMAT=ZARR_V2"])
        assert dataset.GetRasterBand(1).SetNoDataValue(nan) == gdal.CE_None
        dataset = None
        assert np.isnan(open_raster(path).GetRasterBand(1).GetNoDataValue())
    if gdal_type != gdal.GDT_CFloat32:  # a raster of complex numbers has it in the sidecar
        assert json.loads((path / "a/.zarray").read_text())["fill_value"] == "NaN"
        assert json.loads((path / "a/.zattrs").read_text())["_FillValue"] == "NaN"


@pytest.mark.parametrize("gdal_type, value", [
    (gdal.GDT_UInt64, -1), (gdal.GDT_UInt64, 1.5), (gdal.GDT_UInt64, 1e300),
    (gdal.GDT_UInt64, float("nan")), (gdal.GDT_Int64, 0.5), (gdal.GDT_Int64, -1e19),
])
def test_nodata_of_64_bits_is_a_value_of_the_type(tmp_path, gdal_type, value):
    """GDAL requests it as an integer."""
    dataset = gdal.GetDriverByName("Zarr").Create(str(tmp_path / "a.zarr"), 4, 3, 1, gdal_type)
    with pytest.raises(RuntimeError, match=f"array /a: .*{gdal.GetDataTypeName(gdal_type)}"):
        gdal._gdal.Band_SetNoDataValue(dataset.GetRasterBand(1), value)
    dataset = None
    assert open_raster(tmp_path / "a.zarr").GetRasterBand(1).GetNoDataValue() is None
    assert not list(tmp_path.rglob("*.aux.xml"))


def test_the_largest_integer_may_be_given_as_a_float(tmp_path):
    dataset = gdal.GetDriverByName("Zarr").Create(str(tmp_path / "a.zarr"), 4, 3, 1,
                                                  gdal.GDT_UInt64)
    gdal._gdal.Band_SetNoDataValue(dataset.GetRasterBand(1), 2.0**64)
    dataset = None
    assert open_raster(tmp_path / "a.zarr").GetRasterBand(1).GetNoDataValue() == 2**64 - 1
