"""Random arrays that the driver writes are read by zarr-python 3 without a difference."""
import numpy as np
import pytest
import zarr
from osgeo import gdal, gdal_array
from random_arrays import IS_FIRST, chance, pick, random_region, random_values, random_words

COUNT = 300
TYPES = [gdal.GDT_Byte, gdal.GDT_Int8, gdal.GDT_UInt16, gdal.GDT_Int16, gdal.GDT_UInt32,
         gdal.GDT_Int32, gdal.GDT_UInt64, gdal.GDT_Int64, gdal.GDT_Float32, gdal.GDT_Float64,
         gdal.GDT_CFloat32, gdal.GDT_CFloat64]
if hasattr(gdal, "GDT_Float16"):
    TYPES.append(gdal.GDT_Float16)
COMPRESSORS = ["NONE", "BLOSC", "BZ2", "GZIP", "LZ4", "LZMA", "ZLIB", "ZSTD"]


def random_lengths(random, shape):
    return [int(random.integers(1, n + 2)) for n in shape]


def as_list(lengths):
    return ",".join(map(str, lengths))


def random_options(random, zarr_format, shape, dtype):
    options = {"COMPRESS": pick(random, COMPRESSORS)}
    chunk_shape = random_lengths(random, [min(n, 16) for n in shape])
    if shape and zarr_format == 3 and chance(random, 0.6):
        options["SHARD_CHUNK_SHAPE"] = as_list(chunk_shape)
        chunk_shape = [n * int(random.integers(1, 4)) for n in chunk_shape]
    if shape:
        options["BLOCKSIZE"] = as_list(chunk_shape)
    if options["COMPRESS"] == "BLOSC":
        options["BLOSC_CNAME"] = pick(random, ["blosclz", "lz4", "lz4hc", "zlib", "zstd"])
        options["BLOSC_SHUFFLE"] = pick(random, ["NONE", "BYTE", "BIT"])
    if chance(random, 0.3):
        options["CHECKSUM"] = pick(random, ["CRC32", "ADLER32", "FLETCHER32"] +
                                   ["CRC32C"] * (zarr_format == 3))
    if chance(random, 0.4):
        options["DIM_SEPARATOR"] = pick(random, "./")
    if chance(random, 0.3):
        options["CHUNK_MEMORY_LAYOUT"] = "F"
    if dtype is not str and chance(random, 0.3):
        options["FILTER"] = "DELTA" if dtype.kind in "iu" else "SHUFFLE"
        if IS_FIRST and options["FILTER"] == "DELTA":
            options["CHUNK_MEMORY_LAYOUT"] = "C"  # it undoes both in the wrong order
    return options


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_write(tmp_path, seed):
    random = np.random.default_rng([seed, 3])
    zarr_format = pick(random, [2, 3, 3])
    rank = int(random.integers(5))
    shape = [int(n) for n in random.integers(1, [0, 300, 60, 20, 10][rank] + 1, rank)]
    if rank == 1 and chance(random, 0.3):
        dtype, kind = str, gdal.ExtendedDataType.CreateString()
    else:
        number = pick(random, TYPES)
        dtype = np.dtype(gdal_array.GDALTypeCodeToNumericTypeCode(number))
        kind = gdal.ExtendedDataType.Create(number)
    options = random_options(random, zarr_format, shape, dtype)
    want = write(random, tmp_path / "some.zarr", zarr_format, shape, dtype, kind, options)

    got = zarr.open_group(str(tmp_path / "some.zarr"), mode="r")["group/array"]
    assert got.metadata.zarr_format == zarr_format and got.shape == tuple(shape)
    assert ("SHARD_CHUNK_SHAPE" in options) == (getattr(got, "shards", None) is not None)
    if dtype is str:
        assert list(got[...]) == list(want)
    else:
        assert got.dtype == dtype
        np.testing.assert_array_equal(got[...], want)
        assert np.asarray(got[...]).tobytes() == want.tobytes()  # -0.0 and NaN


def write(random, path, zarr_format, shape, dtype, kind, options):
    """Writes a few regions of an array; returns its values afterwards."""
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(
        str(path), [], [f"FORMAT=ZARR_V{zarr_format}"])
    group = dataset.GetRootGroup().CreateGroup("group")
    dimensions = [group.CreateDimension(f"dim{i}", None, None, n) for i, n in enumerate(shape)]
    array = group.CreateMDArray("array", dimensions, kind,
                                [f"{name}={value}" for name, value in options.items()])
    if dtype is str:
        words = random_words(random, *shape)
        array.Write(words)
        return np.array(words, object)
    want = np.zeros(shape, dtype)
    has_nodata = dtype.kind != "c" and chance(random, 0.5)
    if has_nodata:
        want[...] = 7
        array.SetNoDataValueDouble(7)
    regions = [random_region(random, shape) for _ in range(random.integers(5))]
    # In v2, elements that were never written are undefined if there is no nodata value.
    if (zarr_format == 2 and not has_nodata) or chance(random, 0.4):
        regions.insert(0, tuple(slice(0, n, 1) for n in shape))
    for region in regions:
        part = random_values(random, dtype, want[region].shape)
        want[region] = part
        if part.size > 0:
            array.WriteArray(part, [s.start for s in region], [s.step for s in region])
    return want
