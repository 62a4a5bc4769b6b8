"""Compounds: the layout that the caller gives, and the one of types that are read."""
import json

import pytest
from multidim_stores import create, open_store
from osgeo import gdal

INT16 = gdal.ExtendedDataType.Create(gdal.GDT_Int16)
INT32 = gdal.ExtendedDataType.Create(gdal.GDT_Int32)
RECORDS = bytes.fromhex("0100000002000000 0300000004000000")


def compound(size, *components):
    return gdal.ExtendedDataType.CreateCompound(
        "", size, [gdal.EDTComponent.Create(f"c{i}", offset, component)
                   for i, (offset, component) in enumerate(components)])


PADDED = compound(8, (0, INT16), (4, INT32))


def layout(data_type):
    """Size, and the offset and layout of each component."""
    if data_type.GetClass() != gdal.GEDTC_COMPOUND:
        return data_type.GetSize()
    return (data_type.GetSize(), *((component.GetOffset(), layout(component.GetType()))
                                   for component in data_type.GetComponents()))


def create_array(path, data_type):
    dataset = create(path)
    root = dataset.GetRootGroup()
    array = root.CreateMDArray("a", [root.CreateDimension("x", "", "", 2)], data_type)
    return dataset, array


def reopened(path):
    dataset = open_store(path)
    return dataset, dataset.GetRootGroup().OpenMDArray("a")


def test_padded(tmp_path):
    dataset, array = create_array(tmp_path / "a.zarr", PADDED)
    assert layout(array.GetDataType()) == (8, (0, 2), (4, 4))
    assert array.Write(RECORDS) == gdal.CE_None
    assert bytes(array.Read()) == RECORDS
    del array, dataset
    dataset, array = reopened(tmp_path / "a.zarr")
    assert layout(array.GetDataType()) == (8, (0, 2), (4, 4))
    assert bytes(array.Read()) == RECORDS


@pytest.mark.parametrize("data_type, expected", [
    (compound(6, (0, INT16), (2, INT32)), (6, (0, 2), (2, 4))),
    (compound(16, (2, INT16), (8, INT32)), (16, (2, 2), (8, 4))),
])
def test_other_layouts(tmp_path, data_type, expected):
    dataset, array = create_array(tmp_path / "a.zarr", data_type)
    assert layout(array.GetDataType()) == expected
    assert array.Write(RECORDS, buffer_datatype=PADDED) == gdal.CE_None
    assert bytes(array.Read(buffer_datatype=PADDED)) == RECORDS
    del array, dataset
    dataset, array = reopened(tmp_path / "a.zarr")
    assert layout(array.GetDataType()) == (8, (0, 2), (4, 4))
    assert bytes(array.Read()) == RECORDS


def test_nested(tmp_path):
    outer = compound(12, (0, PADDED), (8, INT16))
    records = RECORDS[:8] + b"\5\0\0\0" + RECORDS[8:] + b"\6\0\0\0"
    dataset, array = create_array(tmp_path / "a.zarr", outer)
    expected = (12, (0, (8, (0, 2), (4, 4))), (8, 2))
    assert layout(array.GetDataType()) == expected
    assert array.Write(records) == gdal.CE_None
    assert bytes(array.Read()) == records
    del array, dataset
    dataset, array = reopened(tmp_path / "a.zarr")
    assert layout(array.GetDataType()) == expected
    assert bytes(array.Read()) == records


def test_nodata(tmp_path):
    dataset, array = create_array(tmp_path / "a.zarr", PADDED)
    assert array.SetNoDataValueRaw(RECORDS[8:]) == gdal.CE_None
    assert bytes(array.GetNoDataValueAsRaw()) == RECORDS[8:]
    del array, dataset
    dataset, array = reopened(tmp_path / "a.zarr")
    assert bytes(array.GetNoDataValueAsRaw()) == RECORDS[8:]
    assert bytes(array.Read()) == 2 * RECORDS[8:]


@pytest.mark.parametrize("dtype, expected", [
    ([["a", "<u2"], ["b", "|u1"], ["c", "<u2"]], (6, (0, 2), (2, 1), (4, 2))),
    ([["a", "|u1"], ["b", "<f8"]], (16, (0, 1), (8, 8))),
    ([["a", "|u1"], ["b", "|S3"]], (16, (0, 1), (8, 8))),
    ([["a", [["b", "|u1"], ["c", "<i4"]]], ["d", "|u1"]],
     (12, (0, (8, (0, 1), (4, 4))), (8, 1))),
])
def test_types_that_are_read(tmp_path, dtype, expected):
    folder = tmp_path / "a.zarr/a"
    folder.mkdir(parents=True)
    (folder.parent / ".zgroup").write_text('{"zarr_format": 2}')
    (folder / ".zarray").write_text(json.dumps({
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": dtype, "compressor": None,
        "filters": None, "order": "C", "fill_value": None}))
    dataset, array = reopened(tmp_path / "a.zarr")
    assert layout(array.GetDataType()) == expected
    del array, dataset
