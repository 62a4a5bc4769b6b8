"""Complex numbers of two 16-bit floats."""
import json

import numpy as np
import pytest
from osgeo import gdal
from tested_driver import BUILTIN

pytestmark = pytest.mark.gdal_since("3.11")

VALUES = np.array([[1 - 2j, 0.5 + 0j, -1 + 4j], [2 + 2j, -4 - 0.5j, 65504j]], "c8")
STORED = VALUES.view("f4").astype("<f2").tobytes()


def write(path, version):
    source = gdal.GetDriverByName("MEM").Create("", 3, 2, 1, gdal.GDT_CFloat16)
    source.WriteArray(VALUES)
    assert gdal.GetDriverByName("Zarr").CreateCopy(str(path), source, options=[
        f"FORMAT={version}", "ARRAY_NAME=a"]) is not None


def test_it_is_listed():
    types = gdal.GetDriverByName("Zarr").GetMetadataItem(gdal.DMD_CREATIONDATATYPES)
    assert "cfloat16" in types.lower().split()


@pytest.mark.builtin_since("3.13")
def test_v2(tmp_path):
    path = tmp_path / "a.zarr"
    write(path, "ZARR_V2")
    assert json.loads((path / "a/.zarray").read_text())["dtype"] == "<c4"
    assert (path / "a/0.0").read_bytes() == STORED


@pytest.mark.builtin_since("3.13")
def test_v3(tmp_path):
    path = tmp_path / "a.zarr"
    write(path, "ZARR_V3")
    # The name in the registry of extensions.
    name = "complex32" if BUILTIN else "complex_float16"
    assert json.loads((path / "a/zarr.json").read_text())["data_type"] == name
    assert (path / "a/c/0/0").read_bytes() == STORED


@pytest.mark.ours_only("it does not read what it writes")
@pytest.mark.parametrize("version", ["ZARR_V2", "ZARR_V3"])
def test_reading(tmp_path, version):
    path = tmp_path / "a.zarr"
    write(path, version)
    dataset = gdal.Open(str(path))
    assert dataset.GetRasterBand(1).DataType == gdal.GDT_CFloat16
    np.testing.assert_array_equal(dataset.ReadAsArray(), VALUES)


@pytest.mark.ours_only("it does not read what it writes")
def test_the_name_of_the_builtin_driver(tmp_path):
    path = tmp_path / "a.zarr"
    write(path, "ZARR_V3")
    for file in path.rglob("zarr.json"):
        document = file.read_text().replace("complex_float16", "complex32")
        assert "complex32" in document
        file.write_text(document)
    array = json.loads((path / "a/zarr.json").read_text())
    (path / "a/zarr.json").write_text(json.dumps({**array, "fill_value": None}))
    dataset = gdal.Open(str(path / "a"))
    np.testing.assert_array_equal(dataset.ReadAsArray(), VALUES)
