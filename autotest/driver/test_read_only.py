"""Stores that cannot be changed are refused when they are opened for update."""
import shutil

import numpy as np
import pytest
from osgeo import gdal
from stores import write_array, write_group

DATA = np.arange(12, dtype="i2").reshape(3, 4)


@pytest.fixture
def store(tmp_path):
    write_group(tmp_path / "a.zarr")
    write_array(tmp_path / "a.zarr" / "a", DATA)
    return tmp_path / "a.zarr"


def update(name, flags=gdal.OF_RASTER):
    return gdal.OpenEx(name, flags | gdal.OF_UPDATE)


@pytest.mark.parametrize("flags", [gdal.OF_RASTER, gdal.OF_MULTIDIM_RASTER])
def test_an_archive_that_is_no_zip(store, flags):
    name = f"/vsitar/{shutil.make_archive(str(store), 'tar', store)}"
    with pytest.raises(RuntimeError, match="cannot be written: it is packed in an archive"):
        update(f'ZARR:"{name}"', flags)
    assert gdal.Open(f'ZARR:"{name}"').ReadAsArray().tolist() == DATA.tolist()


def test_references(tmp_path):
    (tmp_path / "a.json").write_text('{".zgroup": "{\\"zarr_format\\": 2}"}')
    with pytest.raises(RuntimeError, match="cannot be written: it consists of references"):
        update(str(tmp_path / "a.json"), gdal.OF_MULTIDIM_RASTER)


def test_nothing_is_made_in_an_archive(tmp_path):
    with pytest.raises(RuntimeError, match="packed in an archive"):
        gdal.GetDriverByName("Zarr").Create(f"/vsitar/{tmp_path}/a.tar", 4, 4)
    assert list(tmp_path.iterdir()) == []


def test_what_was_opened_for_reading(store):
    root = gdal.OpenEx(str(store), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    array = root.OpenMDArray("a")
    byte = gdal.ExtendedDataType.Create(gdal.GDT_Byte)
    for change in (lambda: array.Write(DATA.tobytes()), lambda: array.SetUnit("m"),
                   lambda: root.CreateGroup("g"), lambda: array.CreateAttribute("x", [], byte),
                   lambda: root.CreateAttribute("x", [], byte),
                   lambda: root.CreateDimension("d", "", "", 3)):
        with pytest.raises(RuntimeError, match="for reading only"):
            change()
