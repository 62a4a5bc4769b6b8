"""The effect of creation options, as zarr-python sees it."""
import json

import numpy as np
import pytest
import zarr
from numcodecs.registry import codec_registry
from osgeo import gdal

VALUES = (np.arange(300 * 400) ** 2 % 251).reshape(300, 400)
NUMBERS = [
    (gdal.GDT_Byte, "u1"),
    (gdal.GDT_Int16, "i2"),
    (gdal.GDT_UInt16, "u2"),
    (gdal.GDT_Int32, "i4"),
    (gdal.GDT_UInt32, "u4"),
    (gdal.GDT_Int64, "i8"),
    (gdal.GDT_UInt64, "u8"),
    (gdal.GDT_Float32, "f4"),
    (gdal.GDT_Float64, "f8"),
    (gdal.GDT_CFloat32, "c8"),
    (gdal.GDT_CFloat64, "c16"),
]


def create(path, data_type, options, shape=VALUES.shape):
    """A dataset (to be kept) and its one array."""
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(str(path))
    root = dataset.GetRootGroup()
    dimensions = [
        root.CreateDimension(name, None, None, length) for name, length in zip("yx", shape)
    ]
    return dataset, root.CreateMDArray("a", dimensions, data_type, options)


def read_back(path, data_type, values, options):
    """The array that zarr-python reads after `values` were written with `options`."""
    dataset, array = create(path, gdal.ExtendedDataType.Create(data_type), options)
    assert array.WriteArray(values) == gdal.CE_None
    array = dataset = None
    return zarr.open(str(path), mode="r")["a"]


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["COMPRESS=BLOSC"],
        ["COMPRESS=BLOSC", "BLOSC_CNAME=snappy", "BLOSC_SHUFFLE=BIT", "BLOSC_CLEVEL=9"],
        ["COMPRESS=BZ2", "BZ2_LEVEL=1"],
        ["COMPRESS=GZIP"],
        ["COMPRESS=LZ4", "LZ4_ACCELERATION=9"],
        ["COMPRESS=LZMA", "LZMA_PRESET=1"],
        ["COMPRESS=LZMA", "LZMA_PRESET=1", "LZMA_DELTA=4"],
        ["COMPRESS=ZLIB"],
        ["COMPRESS=ZSTD", "FILTER=SHUFFLE", "CHECKSUM=CRC32", "CHUNK_MEMORY_LAYOUT=F"],
        ["CHECKSUM=ADLER32", "DIM_SEPARATOR=/", "BLOCKSIZE=33,47"],
        ["CHUNKS=AUTO"],
    ],
    ids=" ".join,
)
def test_every_type_and_compressor_is_read_by_zarr_python(tmp_path, options):
    for data_type, dtype in NUMBERS:
        values = VALUES.astype(dtype)
        array = read_back(tmp_path / f"{dtype}.zarr", data_type, values, options)
        assert array.dtype == dtype
        assert array.attrs["_ARRAY_DIMENSIONS"] == ["y", "x"]
        np.testing.assert_array_equal(array[...], values)


@pytest.mark.parametrize("data_type,dtype", NUMBERS[:7])
def test_differences_are_read_by_zarr_python(tmp_path, data_type, dtype):
    values = VALUES.astype(dtype)
    options = ["FILTER=DELTA", "COMPRESS=ZSTD", "CHUNK_MEMORY_LAYOUT=F"]
    array = read_back(tmp_path / "a.zarr", data_type, values, options)
    assert array.filters[0].dtype == dtype
    np.testing.assert_array_equal(array[...], values)


def test_differences_of_the_bits_of_floats_are_exact(tmp_path):
    values = np.random.default_rng(1).normal(size=VALUES.shape).astype("f4")
    options = ["FILTER=DELTA", "DELTA_DTYPE=<i4"]
    array = read_back(tmp_path / "a.zarr", gdal.GDT_Float32, values, options)
    np.testing.assert_array_equal(array[...], values)


@pytest.mark.parametrize(
    "dtype,data_type,bits", [("f4", gdal.GDT_Float32, 7), ("f8", gdal.GDT_Float64, 20)]
)
def test_kept_bits_are_those_of_zarr_python(tmp_path, dtype, data_type, bits):
    values = np.random.default_rng(2).normal(size=VALUES.shape).astype(dtype)
    options = [f"KEEPBITS={bits}", "COMPRESS=ZSTD"]
    array = read_back(tmp_path / "a.zarr", data_type, values, options)
    np.testing.assert_allclose(array[...], values, rtol=2.0 ** -(bits + 1))
    # numcodecs rounds in place.
    rounded = zarr.array(values.copy(), filters=array.filters, compressor=None)
    np.testing.assert_array_equal(array[...], rounded[...])
    assert not np.array_equal(array[...], values)


@pytest.mark.skipif("zfpy" not in codec_registry,
                    reason="numcodecs does not see the zfpy of Debian 13, which has no metadata")
@pytest.mark.parametrize("order", "CF")
def test_zfp_keeps_to_its_tolerance(tmp_path, order):
    values = np.random.default_rng(3).normal(size=VALUES.shape)
    layout = f"CHUNK_MEMORY_LAYOUT={order}"
    exact = read_back(tmp_path / "e.zarr", gdal.GDT_Float64, values, ["COMPRESS=ZFP", layout])
    np.testing.assert_array_equal(exact[...], values)
    options = ["COMPRESS=ZFP", "ZFP_TOLERANCE=0.01", layout]
    lossy = read_back(tmp_path / "l.zarr", gdal.GDT_Float64, values, options)
    np.testing.assert_allclose(lossy[...], values, rtol=0, atol=0.01)
    assert not np.array_equal(lossy[...], values)


@pytest.mark.parametrize(
    "options,dtype",
    [
        (["STRING_FORMAT=VARIABLE"], None),
        (["STRING_FORMAT=VARIABLE", "COMPRESS=BLOSC"], None),
        ([], "S8"),
        (["STRING_FORMAT=ASCII", "COMPRESS=GZIP"], "S8"),
        (["STRING_FORMAT=UNICODE", "COMPRESS=ZSTD"], "<U8"),
    ],
)
def test_strings_are_read_by_zarr_python(tmp_path, options, dtype):
    texts = [f"{'ä日'[i % 2]}{i}" for i in range(1000)]
    string = gdal.ExtendedDataType.CreateString(8)
    dataset, array = create(tmp_path / "s.zarr", string, options + ["BLOCKSIZE=300"], [1000])
    assert array.Write(texts) == gdal.CE_None
    array = dataset = None
    read = zarr.open(str(tmp_path / "s.zarr"), mode="r")["a"]
    # Strings of any length are objects in some versions, and a NumPy type in others.
    assert read.dtype.kind in "OT" if dtype is None else read.dtype == dtype
    got = read[...]
    assert (np.char.decode(got, "utf-8") if dtype == "S8" else got).tolist() == texts


def test_texts_too_long_for_their_elements_are_errors(tmp_path):
    string = gdal.ExtendedDataType.CreateString(3)
    dataset, array = create(tmp_path / "s.zarr", string, ["STRING_FORMAT=ASCII"], [2])
    with pytest.raises(RuntimeError, match="a text of 4 bytes is longer than the 3"):
        array.Write(["abc", "abcd"])


@pytest.mark.parametrize(
    "options,message",
    [
        (["COMPRESS=LZW"], "COMPRESS is \"LZW\", not one of NONE, BLOSC, BZ2"),
        (["BLOCKSIZE=256"], "BLOCKSIZE has 1 lengths, but the array has 2 dimensions"),
        (["KEEPBITS=3"], "KEEPBITS does not support arrays of the type uint8"),
        (["SHARDING=AUTO"], "Zarr v2 has no shards"),
    ],
)
def test_bad_options_make_no_array(tmp_path, options, message):
    byte = gdal.ExtendedDataType.Create(gdal.GDT_Byte)
    with pytest.raises(RuntimeError, match=message):
        create(tmp_path / "a.zarr", byte, options)
    assert not (tmp_path / "a.zarr" / "a").exists()


def test_chosen_shards(tmp_path):
    path = tmp_path / "a.zarr"
    driver = gdal.GetDriverByName("Zarr")
    dataset = driver.Create(
        str(path), 20000, 10000, 1, gdal.GDT_Float32, ["FORMAT=ZARR_V3", "SHARDING=AUTO"]
    )
    assert dataset.GetRasterBand(1).GetBlockSize() == [513, 500]
    dataset = None
    document = json.loads((path / "a" / "zarr.json").read_text())
    assert document["chunk_grid"]["configuration"]["chunk_shape"] == [1500, 39 * 513]
