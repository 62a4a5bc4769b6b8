"""Units of dimensions as TensorStore writes them: the attribute `dimension_units` of v3."""
import numpy as np
import pytest
from osgeo import gdal
from stores import write_array, write_group

DATA = np.arange(24, dtype="u1").reshape(2, 3, 4)


def write(path, units, names=("z", "y", "x")):
    write_array(path, DATA, names=names, attributes={"dimension_units": units})


def open_array(path, flags=0):
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER | flags)
    root = dataset.GetRootGroup()
    return dataset, root.OpenMDArray("a")


def variables(array):
    return [one.GetIndexingVariable() for one in array.GetDimensions()]


@pytest.mark.parametrize("unit, step, base", [
    ("4 nm", 4, "nm"), ("4nm", 4, "nm"), ("nm", 1, "nm"), ("2.5e3 nm", 2500, "nm"),
    ("-4 nm", -4, "nm"), (".5 um", .5, "um"), ([4, "nm"], 4, "nm"), ("7", 7, ""),
    ("nanometre", 1, "nanometre"), ("inch", 1, "inch"), ("4 em", 4, "em"), (" 4  nm ", 4, "nm"),
])
def test_unit(tmp_path, unit, step, base):
    write(tmp_path / "a", [unit, "4 nm", "4 nm"])
    gdal.ErrorReset()
    dataset, array = open_array(tmp_path / "a")
    z, y, x = variables(array)
    assert z.GetUnit() == base
    np.testing.assert_array_equal(z.ReadAsArray(), [0, step])
    assert z.GetName() == "z"
    # A step may be negative, and the buffer of another type.
    np.testing.assert_array_equal(z.ReadAsArray([1], [2], [-1]), [step, 0])
    if step == int(step):
        integers = z.Read(buffer_datatype=gdal.ExtendedDataType.Create(gdal.GDT_Int32))
        np.testing.assert_array_equal(np.frombuffer(integers, "i4"), [0, step])
    assert x is None and y is None
    assert gdal.GetLastErrorMsg() == ""


@pytest.mark.parametrize("unit", [None, "", "1"])
def test_nothing_stated(tmp_path, unit):
    write(tmp_path / "a", [unit, "4 nm", "4 nm"])
    dataset, array = open_array(tmp_path / "a")
    assert variables(array) == [None, None, None]


@pytest.mark.parametrize("options", [[], ["DIM_X=z"], ["DIM_X=z", "DIM_Y=y"], ["MULTIBAND=NO"]])
def test_a_grid_of_pixels_stays_one(tmp_path, options):
    write(tmp_path / "a", ["4 nm", "4 nm", "4 nm"])
    raster = gdal.OpenEx(str(tmp_path / "a"), gdal.OF_RASTER, open_options=options)
    assert raster.GetGeoTransform(can_return_null=True) is None
    assert raster.GetSpatialRef() is None


def test_order_of_dimensions(tmp_path):
    """What is X and Y is known by name."""
    write(tmp_path / "a", ["4 nm", "5 nm", "6 nm"], ("x", "y", "z"))
    dataset, array = open_array(tmp_path / "a")
    x, y, z = variables(array)
    assert x is None and y is None
    np.testing.assert_array_equal(z.ReadAsArray(), [0, 6, 12, 18])


def test_without_names(tmp_path):
    write(tmp_path / "a", ["4 nm", "5 nm", "6 nm"], None)
    raster = gdal.Open(str(tmp_path / "a"))
    assert raster.GetRasterBand(2).GetMetadataItem("DIM_dim0_VALUE") == "4"
    assert raster.GetRasterBand(2).GetMetadataItem("DIM_dim0_UNIT") == "nm"


def test_bands(tmp_path):
    write(tmp_path / "a", ["4 nm", "4 nm", "4 nm"])
    raster = gdal.Open(str(tmp_path / "a"))
    band = raster.GetRasterBand(2)
    items = band.GetMetadata()
    assert items["DIM_z_INDEX"] == "1"
    assert items["DIM_z_VALUE"] == "4"
    assert items["DIM_z_UNIT"] == "nm"
    assert "DIM_z_UNIT" in raster.GetRasterBand(1).GetMetadata()


def test_copy_keeps_coordinates(tmp_path):
    write(tmp_path / "a", ["4 nm", "4 nm", "4 nm"])
    copy = gdal.MultiDimTranslate(str(tmp_path / "copy.zarr"), str(tmp_path / "a"), format="Zarr")
    del copy
    dataset, array = open_array(tmp_path / "copy.zarr")
    z, y, x = variables(array)
    np.testing.assert_array_equal(z.ReadAsArray(), [0, 4])
    assert z.GetUnit() == "nm"
    assert x is None and y is None
    raster = gdal.Open(str(tmp_path / "copy.zarr"))
    assert raster.GetGeoTransform(can_return_null=True) is None


def test_variable_of_the_store_speaks_for_itself(tmp_path):
    root = write_group(tmp_path / "s")
    write(root / "a", ["4 nm", None, None])
    write_array(root / "z", np.array([5, 7], "u1"), names=["z"], attributes={"units": "um"})
    dataset, array = open_array(root)
    z = array.GetDimensions()[0].GetIndexingVariable()
    assert z.GetUnit() == "um"
    np.testing.assert_array_equal(z.ReadAsArray(), [5, 7])


@pytest.mark.parametrize("units, problem", [
    (["nm", "nm"], "2 members"), (["nm"] * 4, "4 members"), ([4, "nm", "nm"], "4 is not a unit"),
    ("nm", "not a list"), ({"z": "nm"}, "not a list"), (["0 nm", "", ""], "length of a step"),
    (["1e999 nm", "", ""], "out of range"), ([["nm", 4], "", ""], "not a unit"),
    ([True, "", ""], "not a unit"),
])
def test_what_is_no_list_of_units(tmp_path, units, problem):
    write(tmp_path / "a", units)
    messages = []
    gdal.PushErrorHandler(lambda kind, number, text: messages.append((kind, text)))
    dataset, array = open_array(tmp_path / "a")
    found = variables(array)
    gdal.PopErrorHandler()
    [(kind, message)] = messages
    assert kind == gdal.CE_Warning
    assert "array /a: " in message and "dimension_units" in message and problem in message
    assert found == [None, None, None]
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)


def test_programs_create_variables_themselves(tmp_path):
    write(tmp_path / "a", ["4 nm", "4 nm", "4 nm"])
    dataset, array = open_array(tmp_path / "a", gdal.OF_UPDATE)
    assert variables(array) == [None, None, None]
