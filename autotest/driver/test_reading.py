"""Reading through the multidimensional API: types, selections, shapes, threads."""
import gc
import math
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from multidim import numeric, open_array
from osgeo import gdal
from stores import (
    BIG_ENDIAN,
    BLOSC,
    BYTES,
    CRC32C,
    GZIP,
    ZSTD,
    edit_json,
    sharding,
    transpose,
    write_array,
    write_group,
)
from v2_stores import write_v2

# --- Types ---------------------------------------------------------------------------------------

NUMBERS = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
# The type that GDAL shows if it lacks the stored one.
STAND_INS = {"?": "u1"}
if not hasattr(gdal, "GDT_Int8"):
    STAND_INS["i1"] = "i2"
if not hasattr(gdal, "GDT_Float16"):
    STAND_INS["f2"] = "f4"


@pytest.mark.parametrize("codecs", [[BYTES], [BIG_ENDIAN, BLOSC]], ids=["little", "big"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_buffer_types(tmp_path, dtype, codecs):
    """Numbers are converted to every GDAL type as GDAL's own memory driver converts them."""
    values = [0, 1, 2.5, 127, 128, 255, 256, 65535, 2**31, 2**53 + 1, 2**63, -1, -2.5, -(2**31)]
    if dtype[0] in "fc":
        values += [math.nan, math.inf, 1e300]
    if dtype[0] == "c":
        values[1] = 1 - 300.5j
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        values = [min(max(int(v), info.min), info.max) for v in values]
    with np.errstate(over="ignore"):
        data = np.array(values).astype(kind)
    write_array(tmp_path, data, codecs=codecs)
    array = open_array(tmp_path)

    seen = data.astype(STAND_INS.get(dtype, dtype))
    np.testing.assert_array_equal(array.ReadAsArray(), seen)
    memory = gdal.GetDriverByName("MEM").CreateMultiDimensional("").GetRootGroup()
    dimension = memory.CreateDimension("d", "", "", data.size)
    reference = memory.CreateMDArray("a", [dimension], array.GetDataType())
    reference.Write(seen)
    for gdal_type in range(1, gdal.GDT_TypeCount):
        got = array.Read(buffer_datatype=numeric(gdal_type))
        assert got == reference.Read(buffer_datatype=numeric(gdal_type)), (
            f"as {gdal.GetDataTypeName(gdal_type)}"
        )


WORDS = [["", "a", "éü"], ["高さ", "🗺x", "abcd"]]


@pytest.mark.parametrize("dtype", ["<U4", ">U4", "|S12"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_strings_v2(tmp_path, dtype, order):
    data = np.array(WORDS)
    data = np.char.encode(data, "utf-8").astype(dtype) if "S" in dtype else data.astype(dtype)
    write_v2(tmp_path, "", data, chunks=(2, 2), order=order, fill_value=None)
    assert_words(open_array(tmp_path))


@pytest.mark.parametrize("name, codecs", [
    ("fixed_length_utf32", [BYTES]),
    ("fixed_length_utf32", [BIG_ENDIAN, GZIP]),
    ("null_terminated_bytes", [BYTES, ZSTD]),
    ("null_terminated_bytes", [sharding((1, 3))]),
])
def test_strings_v3(tmp_path, name, codecs):
    data = np.array(WORDS, "U4")
    if name == "null_terminated_bytes":
        data = np.char.encode(data, "utf-8").astype("S12")
    data_type = {"name": name, "configuration": {"length_bytes": data.dtype.itemsize}}
    write_array(tmp_path, data, codecs=codecs, fill_value="", data_type=data_type)
    assert_words(open_array(tmp_path))


@pytest.mark.parametrize("data, problem", [
    (np.array([b"a\0b"], "S4"), "zero byte"),
    (np.array(["a\0b"], "U4"), "zero byte"),
    (np.array([0xD800], "u4").view("U1"), "55296 is not a code point of a character"),
], ids=["S", "U", "surrogate"])
def test_strings_that_gdal_cannot_hold(tmp_path, data, problem):
    """They are errors: GDAL's strings end at the first zero byte, and are UTF-8."""
    write_v2(tmp_path, "", data, fill_value=None)
    with pytest.raises(RuntimeError, match=f"chunk 0: an element.* {problem}"):
        open_array(tmp_path).Read()


def assert_words(array):
    assert array.GetDataType().GetClass() == gdal.GEDTC_STRING
    assert array.GetNoDataValueAsRaw() is None
    assert array.Read() == [word for row in WORDS for word in row]
    assert array.Read([1, 2], [2, 2], [-1, -2]) == ["abcd", "高さ", "éü", ""]
    with pytest.raises(RuntimeError, match="not convertible"):
        array.ReadAsArray(buffer_datatype=numeric(gdal.GDT_CFloat32))


@pytest.mark.parametrize("size, gdal_type", [
    (1, gdal.GDT_Byte), (2, gdal.GDT_UInt16), (4, gdal.GDT_UInt32), (8, gdal.GDT_UInt64),
])
def test_raw_bits_as_integers(tmp_path, size, gdal_type):
    data = np.arange(1, 4, dtype=f"u{size}") * np.array(2 ** (8 * size) // 5, f"u{size}")
    write_array(tmp_path, data, data_type=f"r{8 * size}")
    edit_json(tmp_path / "zarr.json", fill_value=[0] * size)
    array = open_array(tmp_path)
    assert array.GetDataType().GetNumericDataType() == gdal_type
    np.testing.assert_array_equal(array.ReadAsArray(), data)


@pytest.mark.parametrize("fill_value", ["AQI=", [1, 2]])
@pytest.mark.parametrize("data_type", [
    "r16", {"name": "raw_bytes", "configuration": {"length_bytes": 2}}], ids=["r16", "raw_bytes"])
def test_fill_values_of_raw_bits(tmp_path, data_type, fill_value):
    """A list is the form of r16, base64 that of raw_bytes; writers mix them."""
    write_array(tmp_path, np.zeros((2, 3), "u2"))
    edit_json(tmp_path / "zarr.json", data_type=data_type, fill_value=fill_value)
    assert open_array(tmp_path).ReadAsArray().tolist() == [[0x201] * 3] * 2


def test_raw_bits_as_bytes(tmp_path):
    write_v2(tmp_path, "", np.array([b"abc", b"\0de"], "V3"), fill_value=None)
    array = open_array(tmp_path)
    kind = array.GetDataType()
    assert (kind.GetClass(), kind.GetSize()) == (gdal.GEDTC_COMPOUND, 3)
    assert [c.GetOffset() for c in kind.GetComponents()] == [0, 1, 2]
    assert bytes(array.Read()) == b"abc\0de"
    middle = kind.GetComponents()[1].GetName()
    np.testing.assert_array_equal(array.GetView(f"['{middle}']").ReadAsArray(), list(b"bd"))


# --- Reading -------------------------------------------------------------------------------------

DATA = np.arange(11 * 13 * 7, dtype="i4").reshape(11, 13, 7)
CHAINS = {
    "plain": [BYTES],
    "blosc": [BYTES, BLOSC],
    "checked": [BIG_ENDIAN, GZIP, CRC32C],
    "transposed": [transpose(2, 0, 1), BYTES, ZSTD],
    "transposed twice": [transpose(2, 0, 1), transpose(1, 0, 2), BYTES],
    "sharded": [sharding((2, 3, 4), [BYTES, ZSTD])],
    "index first": [sharding((2, 6, 1), index_codecs=[BIG_ENDIAN], index_location="start")],
    "sharded twice": [sharding((4, 3, 4), [sharding((1, 3, 2), [BYTES, GZIP, CRC32C])]), CRC32C],
    "transposed shard": [transpose(1, 2, 0), sharding((3, 2, 4))],
    "transposed in shard": [sharding((2, 3, 4), [transpose(2, 1, 0), BYTES])],
    "compressed shard": [sharding((4, 3, 4)), ZSTD],
}


@pytest.mark.parametrize("codecs", CHAINS.values(), ids=CHAINS)
def test_selections(tmp_path, codecs):
    """Starts, counts, steps of both signs and strides of the buffer, all at random."""
    write_array(tmp_path, DATA, (4, 6, 4), codecs)
    array = open_array(tmp_path)
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    assert_random_selections(array, DATA)


@pytest.mark.parametrize("order", "CF")
def test_selections_v2(tmp_path, order):
    write_v2(tmp_path, "", DATA, chunks=(4, 6, 4), order=order)
    assert_random_selections(open_array(tmp_path), DATA)


def assert_random_selections(array, data):
    random = np.random.default_rng(1)
    for _ in range(60):
        start, count, step = [], [], []
        for length in data.shape:
            begin, end = random.integers(length, size=2)
            stride = int(random.integers(1, 5))
            start.append(int(begin))
            count.append(int(abs(end - begin)) // stride + 1)
            step.append(stride if end >= begin else -stride)
        index = np.ix_(*(s + np.arange(n) * d for s, n, d in zip(start, count, step)))
        want = data[index]
        # The dimensions of the buffer have any order, with or without gaps between elements.
        order = random.permutation(data.ndim)
        gap = int(random.integers(1, 3))
        stride = [0] * data.ndim
        for axis in order:
            stride[axis] = gap
            gap *= count[axis]
        raw = np.frombuffer(array.Read(start, count, step, stride), data.dtype)
        got = np.lib.stride_tricks.as_strided(raw, count, [s * data.itemsize for s in stride])
        np.testing.assert_array_equal(got, want, err_msg=f"{start} {count} {step} {stride}")


def test_selection_outside(tmp_path):
    write_array(tmp_path, DATA)
    array = open_array(tmp_path)
    for start, count, step in (
        ([11, 0, 0], [1, 1, 1], [1, 1, 1]),
        ([10, 0, 0], [2, 1, 1], [1, 1, 1]),
        ([0, 3, 0], [1, 5, 1], [1, -1, 1]),
    ):
        with pytest.raises(RuntimeError, match=r"arrayStartIdx\[[01]\]"):
            array.Read(start, count, step)


def test_views(tmp_path):
    write_array(tmp_path, DATA, (4, 6, 4), CHAINS["sharded"])
    array = open_array(tmp_path)
    for view, index in {
        "[::2,...]": np.s_[::2, ...],
        "[3,:,::-1]": np.s_[3, :, ::-1],
        "[...,-1]": np.s_[..., -1],
        "[10:2:-3,4,1:6:2]": np.s_[10:2:-3, 4, 1:6:2],
        "[:,newaxis,5,:]": np.s_[:, None, 5, :],
    }.items():
        np.testing.assert_array_equal(array.GetView(view).ReadAsArray(), DATA[index], err_msg=view)
    transposed = array.Transpose([2, 0, 1])
    assert transposed.GetBlockSize() == [4, 2, 3]
    np.testing.assert_array_equal(transposed.ReadAsArray(), DATA.transpose(2, 0, 1))
    np.testing.assert_array_equal(
        transposed.GetView("[1:3]").ReadAsArray([0, 9, 0], [2, 4, 3], [1, -3, 6]),
        DATA.transpose(2, 0, 1)[1:3, 9::-3, ::6],
    )


def test_absent_chunks_are_fill_value(tmp_path):
    data = np.full((6, 6), -7, "i2")
    data[2:4, 4:] = 5
    for codecs in ([BYTES, ZSTD], [sharding((1, 2))]):
        write_array(tmp_path / codecs[0]["name"], data, (2, 2), codecs, fill_value=-7)
        assert len(list((tmp_path / codecs[0]["name"] / "c").rglob("*"))) == 2  # c/1, c/1/2
        np.testing.assert_array_equal(open_array(tmp_path / codecs[0]["name"]).ReadAsArray(), data)


@pytest.mark.parametrize("version", [2, 3])
def test_no_dimensions(tmp_path, version):
    if version == 2:
        write_v2(tmp_path, "", np.float64(2.5))
    else:
        write_array(tmp_path, np.float64(2.5), (), [BYTES, ZSTD, CRC32C])
    array = open_array(tmp_path)
    assert (array.GetDimensionCount(), array.GetTotalElementsCount()) == (0, 1)
    assert array.GetBlockSize() == []
    assert array.ReadAsArray() == 2.5
    assert struct.unpack("i", array.Read(buffer_datatype=numeric(gdal.GDT_Int32))) == (3,)


@pytest.mark.parametrize("shape, chunks", [((5, 4), (1, 1)), ((3, 3), (8, 5)), ((7,), (2**20,)),
                                           ((1,) * 30 + (3, 2), (1,) * 30 + (2, 2))], ids=str)
def test_shapes_at_the_edge(tmp_path, shape, chunks):
    """Chunks of one element, chunks larger than the array, and as many dimensions as NumPy
    allows."""
    data = np.arange(1, 1 + np.prod(shape), dtype="i4").reshape(shape)
    write_array(tmp_path, data, chunks)
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray(), data)


@pytest.mark.parametrize("shape, chunks", [((0,), (0,)), ((0, 5), (1, 5)), ((3, 0, 2), (2, 1, 2))],
                         ids=str)
def test_dimensions_of_length_zero(tmp_path, shape, chunks):
    write_array(tmp_path, np.empty(shape, "f4"), [c or 1 for c in chunks])
    edit_json(tmp_path / "zarr.json",
              chunk_grid={"name": "regular", "configuration": {"chunk_shape": chunks}})
    array = open_array(tmp_path)
    assert tuple(d.GetSize() for d in array.GetDimensions()) == shape
    assert array.GetTotalElementsCount() == 0
    with pytest.raises(RuntimeError, match="length 0"):
        gdal.Open(str(tmp_path))


def test_million_million_chunks(tmp_path):
    write_array(tmp_path, np.ones((1, 1), "u1"), fill_value=9)
    edit_json(tmp_path / "zarr.json", shape=[10**6, 10**6])
    np.testing.assert_array_equal(open_array(tmp_path).ReadAsArray([0, 0], [2, 2]),
                                  [[1, 9], [9, 9]])
    raster = gdal.Open(str(tmp_path))
    np.testing.assert_array_equal(raster.ReadAsArray(10**6 - 3, 10**6 - 2, 3, 2), [[9] * 3] * 2)


@pytest.mark.parametrize("codecs", [[BYTES], [sharding((10, 10))]], ids=["plain", "sharded"])
def test_huge_sparse_array(tmp_path, codecs):
    """10^12 elements of which one chunk exists; no work may be done for each missing one."""
    write_array(tmp_path, np.ones((100, 100), "i2"), codecs=codecs, fill_value=9)
    edit_json(tmp_path / "zarr.json", shape=[10**6, 10**6])
    (tmp_path / "c/0/0").rename(tmp_path / "last")
    (tmp_path / "c/9999").mkdir()
    (tmp_path / "last").rename(tmp_path / "c/9999/9999")

    array = open_array(tmp_path)
    assert array.GetTotalElementsCount() == 10**12
    want = np.full((200, 200), 9, "i2")
    want[100:, 100:] = 1
    got = array.ReadAsArray([10**6 - 200] * 2, [200, 200])
    np.testing.assert_array_equal(got, want)
    steps = array.ReadAsArray([10**6 - 1, 0], [11, 11], [-99_999, 99_999])
    assert steps.sum() == 121 * 9 - 8  # the chunk covers only the corner
    assert steps[0, -1] == 1


def test_dimension_beyond_32_bits(tmp_path):
    write_array(tmp_path, np.arange(4, dtype="u1"))
    length = 2**62 + 4
    edit_json(tmp_path / "zarr.json", shape=[length])
    (tmp_path / "c/0").rename(tmp_path / f"c/{2**60}")
    array = open_array(tmp_path)
    assert array.GetDimensions()[0].GetSize() == length
    assert array.ReadAsArray([length - 6], [6]).tolist() == [0, 0, 0, 1, 2, 3]
    assert array.ReadAsArray([length - 1], [3], [-(2**61)]).tolist() == [3, 0, 0]


def test_array_outlives_its_dataset(tmp_path):
    write_group(tmp_path)
    for name in "yx":
        write_array(tmp_path / name, np.arange(3.0), names=[name])
    write_array(tmp_path / "a", np.arange(9).reshape(3, 3), names=["y", "x"])
    dataset = gdal.OpenEx(str(tmp_path), gdal.OF_MULTIDIM_RASTER)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray("a")
    del dataset, root
    gc.collect()
    np.testing.assert_array_equal(array.ReadAsArray(), np.arange(9).reshape(3, 3))
    dimension = array.GetDimensions()[0]
    del array
    gc.collect()
    assert dimension.GetIndexingVariable().ReadAsArray().tolist() == [0, 1, 2]


# --- Threads -------------------------------------------------------------------------------------

@pytest.mark.parametrize("chain", ["blosc", "sharded twice"])
def test_threads_share_an_array(tmp_path, chain):
    write_array(tmp_path, DATA, (4, 6, 4), CHAINS[chain])
    array = open_array(tmp_path)

    def read(seed):
        random = np.random.default_rng(seed)
        for _ in range(50):
            start = [int(random.integers(n)) for n in DATA.shape]
            count = [int(random.integers(1, n - s + 1)) for s, n in zip(start, DATA.shape)]
            want = DATA[tuple(slice(s, s + n) for s, n in zip(start, count))]
            if not np.array_equal(array.ReadAsArray(start, count), want):
                return f"{start} {count}"
        return None

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read, range(8))) == [None] * 8


COUNT_THREADS = """
import os, sys
from osgeo import gdal
gdal.UseExceptions()
array = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("a")
threads = lambda: len(os.listdir("/proc/self/task"))
before = threads()
eval(sys.argv[2])
array.ReadAsArray()
print(threads() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
@pytest.mark.parametrize("statement, environment, extra", [
    ("None", "1", 0),
    ("None", "4", 3),
    ("gdal.SetConfigOption('GDAL_NUM_THREADS', '3')", "1", 2),
    ("gdal.SetThreadLocalConfigOption('GDAL_NUM_THREADS', '5')", "1", 4),
    ("gdal.SetThreadLocalConfigOption('GDAL_NUM_THREADS', '1')", "4", 0),
])
def test_number_of_threads(tmp_path, monkeypatch, statement, environment, extra):
    """The calling thread is one of GDAL_NUM_THREADS, wherever the option is set."""
    write_group(tmp_path)
    write_array(tmp_path / "a", np.arange(2**18, dtype="u2").reshape(512, 512), (64, 64))
    monkeypatch.setenv("GDAL_NUM_THREADS", environment)
    result = subprocess.run(
        [sys.executable, "-c", COUNT_THREADS, tmp_path, statement],
        check=True, capture_output=True, text=True, timeout=60,
    )
    assert int(result.stdout) == extra


# --- Ahead of reading ----------------------------------------------------------------------------

def chunk_files(path):
    return [file for file in path.rglob("*") if file.is_file() and file.name != "zarr.json"]


@pytest.mark.parametrize("codecs", CHAINS.values(), ids=CHAINS)
def test_advise_read(tmp_path, codecs):
    """After a read in advance, the files are no longer needed."""
    write_array(tmp_path, DATA, (4, 6, 4), codecs)
    array = open_array(tmp_path)
    assert array.AdviseRead([0, 0, 0], [8, 12, 7]) == gdal.CE_None
    for file in chunk_files(tmp_path):
        file.unlink()
    np.testing.assert_array_equal(array.ReadAsArray([0, 0, 0], [8, 12, 7]), DATA[:8, :12])
    np.testing.assert_array_equal(array.ReadAsArray([7, 1, 2], [4, 2, 2], [-2, 3, 1]),
                                  DATA[7:0:-2, 1:5:3, 2:4])


def test_advise_read_is_bounded(tmp_path):
    write_array(tmp_path, DATA, (4, 6, 4))
    array = open_array(tmp_path)
    everything = [0] * 3, list(DATA.shape)
    with pytest.raises(RuntimeError, match="CACHE_SIZE allows 100"):
        array.AdviseRead(*everything, ["CACHE_SIZE=100"])
    assert array.AdviseRead(*everything, ["CACHE_SIZE=1000000", "NUM_THREADS=2"]) == gdal.CE_None
    edit_json(tmp_path / "zarr.json", shape=[10**6, 10**6, 10**6])
    with pytest.raises(RuntimeError, match="to be read in advance"):
        open_array(tmp_path).AdviseRead([0] * 3, [10**6] * 3)


@pytest.mark.parametrize("option, seen", [("NO", 5), ("YES", 9)])
def test_tile_presence_is_cached_when_asked_for(tmp_path, option, seen):
    write_array(tmp_path, np.array([1, 9, 3, 9], "u1"), (1,), fill_value=9)
    dataset = gdal.OpenEx(str(tmp_path), gdal.OF_MULTIDIM_RASTER,
                          open_options=[f"CACHE_TILE_PRESENCE={option}"])
    root = dataset.GetRootGroup()
    array = root.OpenMDArray(root.GetMDArrayNames()[0])
    assert array.ReadAsArray().tolist() == [1, 9, 3, 9]
    (tmp_path / "c/1").write_bytes(b"\5")
    assert array.ReadAsArray().tolist() == [1, seen, 3, 9]
