"""Complex numbers whose parts are floats of 16 bits and less."""
import json

import numpy as np
import pytest
from multidim import open_array, open_to_write
from osgeo import gdal
from stores import BIG_ENDIAN, BYTES, CRC32C, GZIP, edit_json, sharding, write_array

VALUES = np.array([[1 - 2j, 0.5 + 0j, -1 + 4j], [2 + 2j, -4 - 0.5j, 0 + 1j],
                   [0 - 1j, 4 + 4j, 1 + 1j]], "c8")
FILL = 2 - 1j
# The bits of these numbers, from the bits of a float32.
CODES = {
    "float16": lambda parts: parts.astype("f2").view("u2"),
    "bfloat16": lambda parts: (parts.view("u4") >> 16).astype("u2"),
    "float8_e5m2": lambda parts: (parts.astype("f2").view("u2") >> 8).astype("u1"),
}


def stored(values, part):
    """The elements as structures of two parts."""
    codes = CODES[part](np.ascontiguousarray(values, "c8").view("f4"))
    pair = np.dtype([("real", codes.dtype), ("imaginary", codes.dtype)])
    return codes.view(pair).reshape(np.shape(values))


def write(path, part, codecs, chunks=(2, 2)):
    write_array(path, stored(VALUES, part), chunks, codecs, data_type=f"complex_{part}")
    edit_json(path / "zarr.json", fill_value=[FILL.real, FILL.imag])


@pytest.fixture(params=CODES)
def part(request):
    return request.param


CHAINS = {"bytes": [BYTES], "gzip": [BYTES, GZIP], "crc32c": [BYTES, CRC32C]}


@pytest.mark.parametrize("codecs", CHAINS.values(), ids=CHAINS)
def test_values(tmp_path, part, codecs):
    write(tmp_path, part, codecs)
    array = open_array(tmp_path)
    np.testing.assert_array_equal(array.ReadAsArray(), VALUES)
    np.testing.assert_array_equal(array.ReadAsArray([1, 0], [2, 2], [1, 2]), VALUES[1:, ::2])
    raster = gdal.Open(str(tmp_path))
    np.testing.assert_array_equal(raster.ReadAsArray(), VALUES)
    np.testing.assert_array_equal(raster.ReadAsArray(1, 0, 2, 2), VALUES[:2, 1:])


def test_types(tmp_path, part):
    write(tmp_path, part, [BYTES])
    has_half = part == "float16" and hasattr(gdal, "GDT_CFloat16")
    wanted = gdal.GDT_CFloat16 if has_half else gdal.GDT_CFloat32
    raster = gdal.Open(str(tmp_path))
    assert raster.GetRasterBand(1).DataType == wanted
    assert open_array(tmp_path).GetDataType().GetNumericDataType() == wanted


def test_missing_chunks_are_the_fill_value(tmp_path, part):
    write(tmp_path, part, [BYTES])
    (tmp_path / "c/1/1").unlink()
    values = VALUES.copy()
    values[2:, 2:] = FILL
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), values)
    np.testing.assert_array_equal(gdal.Open(str(tmp_path)).ReadAsArray(), values)


def test_shards(tmp_path, part):
    write(tmp_path, part, [sharding((1, 1), [BYTES, GZIP])])
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), VALUES)
    np.testing.assert_array_equal(gdal.Open(str(tmp_path)).ReadAsArray(1, 1, 1, 2), VALUES[1:, 1:2])


def test_big_endian(tmp_path, part):
    write(tmp_path, part, [BYTES], chunks=(3, 3))
    edit_json(tmp_path / "zarr.json", codecs=[BIG_ENDIAN])
    codes = stored(VALUES, part)
    (tmp_path / "c/0/0").write_bytes(codes.astype(codes.dtype.newbyteorder(">")).tobytes())
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), VALUES)


def test_packed_bits(tmp_path):
    """Two parts of 4 bits in a byte, the real part in the lower ones: 1 and -0.5, 6 and 0."""
    write_array(tmp_path, np.ones(2, "u1"), data_type="complex_float4_e2m1fn")
    edit_json(tmp_path / "zarr.json", fill_value=[0.0, 0.0], codecs=[{"name": "packbits"}])
    (tmp_path / "c/0").write_bytes(b"\x92\x07")
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), [1 - 0.5j, 6])


@pytest.mark.parametrize("codecs", CHAINS.values(), ids=CHAINS)
def test_updates(tmp_path, part, codecs):
    write(tmp_path, part, codecs)
    dataset = open_to_write(tmp_path)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray(root.GetMDArrayNames()[0])
    new = np.array([[-2 + 1j, 1 - 1j]], "c8")
    # WriteArray takes complex64 for CFloat16, if that is the type of the array.
    complex64 = gdal.ExtendedDataType.Create(gdal.GDT_CFloat32)
    assert array.Write(new.tobytes(), [1, 1], [1, 2], buffer_datatype=complex64) == gdal.CE_None
    del array, root, dataset
    values = VALUES.copy()
    values[1:2, 1:] = new
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), values)
    if codecs == CHAINS["bytes"]:
        first = np.frombuffer((tmp_path / "c/0/0").read_bytes(), stored(VALUES, part).dtype)
        np.testing.assert_array_equal(first.reshape(2, 2), stored(values[:2, :2], part))


@pytest.mark.parametrize("order", "<>")
def test_v2_as_the_builtin_driver_writes_it(tmp_path, order):
    (tmp_path / ".zarray").write_text(json.dumps({
        "zarr_format": 2, "shape": VALUES.shape, "chunks": VALUES.shape, "dtype": f"{order}c4",
        "compressor": None, "fill_value": None, "filters": None, "order": "C"}))
    codes = stored(VALUES, "float16")
    (tmp_path / "0.0").write_bytes(codes.astype(codes.dtype.newbyteorder(order)).tobytes())
    np.testing.assert_array_equal(gdal.Open(str(tmp_path)).ReadAsArray(), VALUES)
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), VALUES)
