"""Random regions are written in random orders with random steps from random buffers into arrays of
many layouts. A NumPy array that is written in the same way is the reference: after each step, after
each flush, and when the store is opened again."""
import numcodecs
import numpy as np
import pytest
import zarr
from multidim import create, create_array, open_root, open_to_write
from osgeo import gdal
from stores import (
    BIG_ENDIAN,
    BLOSC,
    BYTES,
    CRC32C,
    GZIP,
    ZSTD,
    sharding,
    transpose,
    write_array,
    write_group,
)
from v2_stores import write_v2_group

SHAPE = (11, 13, 9)
CHUNKS = (4, 5, 3)
SHARDS = (8, 10, 6)


def by_gdal(*options):
    def write(path):
        root = create(path, *options).GetRootGroup()
        create_array(root, "a", SHAPE, gdal.GDT_Int32, *options).SetNoDataValueDouble(-1)

    return write


def by_zarr_python(dtype="<i4", **layout):
    def write(path):
        write_v2_group(path)
        zarr.create(SHAPE, store=str(path / "a"), chunks=CHUNKS, dtype=dtype, fill_value=-1,
                    **layout)

    return write


def by_hand(chunks, *codecs):
    """As other writers of v3 may do it."""
    def write(path):
        write_group(path)
        write_array(path / "a", np.full(SHAPE, -1, "i4"), chunks, codecs, fill_value=-1)

    return write


BLOCKS = "BLOCKSIZE=4,5,3"
SHARDED = ("FORMAT=ZARR_V3", "BLOCKSIZE=8,10,6", "SHARD_CHUNK_SHAPE=4,5,3")
LAYOUTS = {
    "v2": by_gdal(BLOCKS),
    "v2 one chunk": by_gdal("BLOCKSIZE=11,13,9", "COMPRESS=ZLIB"),
    "v2 F blosc": by_gdal(BLOCKS, "CHUNK_MEMORY_LAYOUT=F", "COMPRESS=BLOSC"),
    "v2 delta lzma": by_gdal(BLOCKS, "FILTER=DELTA", "COMPRESS=LZMA"),
    "v3": by_gdal("FORMAT=ZARR_V3", BLOCKS),
    "v3 F zstd": by_gdal("FORMAT=ZARR_V3", BLOCKS, "CHUNK_MEMORY_LAYOUT=F",
                         "COMPRESS=ZSTD", "CHECKSUM=CRC32C"),
    "v3 sharded": by_gdal(*SHARDED),
    "v3 sharded F gzip": by_gdal(*SHARDED, "CHUNK_MEMORY_LAYOUT=F", "COMPRESS=GZIP"),
    "foreign big-endian": by_zarr_python(dtype=">i4", compressor=None),
    "foreign F filters": by_zarr_python(order="F", filters=[
        numcodecs.Delta("<i4"), numcodecs.Shuffle(4)], compressor=numcodecs.BZ2(1)),
    "foreign narrow": by_zarr_python(dimension_separator="/", filters=[
        numcodecs.FixedScaleOffset(offset=-1, scale=1, dtype="<i4", astype="<i8")]),
    "foreign transposed": by_hand(CHUNKS, transpose(2, 0, 1), BIG_ENDIAN, BLOSC, CRC32C),
    "foreign shard index": by_hand(SHARDS, sharding(
        CHUNKS, [transpose(1, 2, 0), BYTES, ZSTD], [BIG_ENDIAN, CRC32C], "start")),
    "foreign packed shard": by_hand(SHARDS, transpose(2, 1, 0), sharding(
        CHUNKS[::-1]), GZIP),
    "foreign shards in shards": by_hand((16, 20, 12), sharding(SHARDS, [
        sharding(CHUNKS, [BYTES, GZIP])])),
}


class Selection:
    """A random selection: start, count and step of each dimension, and the NumPy index."""

    def __init__(self, random):
        self.start, self.count, self.step, slices = [], [], [], []
        for size in SHAPE:
            step = int(random.choice([1, 1, 1, -1, 2, -3]))
            count = int(random.integers(1, -(-size // abs(step)), endpoint=True))
            low = int(random.integers(size - (count - 1) * abs(step)))
            high = low + (count - 1) * abs(step)
            start, end = (low, high + 1) if step > 0 else (high, low - 1)
            self.start.append(start)
            self.count.append(count)
            self.step.append(step)
            slices.append(slice(start, None if end < 0 else end, step))
        self.index = tuple(slices)


def random_buffer(random, count):
    """Integers in a buffer with another order, in a part of a larger one, or of another type."""
    kind = random.integers(5)
    if kind == 0:
        return np.full(count, -1, "i4")  # the fill value: chunks are removed
    values = random.integers(-(2**31), 2**31, [2 * n for n in count], "i4")
    if kind == 1:
        return np.ascontiguousarray(values[: count[0], : count[1], : count[2]].T).T
    if kind == 2:
        return values[: count[0], count[1] :, ::2]
    part = values[: count[0], : count[1], : count[2]]
    return part.astype("f8") if kind == 3 else part.copy()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_random_writes(tmp_path, layout, seed):
    path = tmp_path / "a.zarr"
    LAYOUTS[layout](path)
    random = np.random.default_rng([seed, len(layout)])
    want = np.full(SHAPE, -1, "i4")
    dataset = open_to_write(path)
    array = dataset.GetRootGroup().OpenMDArray("a")
    for _ in range(30):
        selection = Selection(random)
        values = random_buffer(random, selection.count)
        array.Write(values, selection.start, array_step=selection.step)
        want[selection.index] = values
        selection = Selection(random)
        got = array.ReadAsArray(selection.start, selection.count, selection.step)
        np.testing.assert_array_equal(got, want[selection.index])
        what = random.integers(8)
        if what == 0:
            dataset.FlushCache()
            np.testing.assert_array_equal(open_root(path).OpenMDArray("a").ReadAsArray(), want)
        elif what == 1:
            del array, dataset
            dataset = open_to_write(path)
            array = dataset.GetRootGroup().OpenMDArray("a")
    del array, dataset
    np.testing.assert_array_equal(open_root(path).OpenMDArray("a").ReadAsArray(), want)
    if (path / ".zgroup").exists():
        np.testing.assert_array_equal(zarr.open(str(path))["a"][:], want)


@pytest.mark.parametrize("layout", ["v2 F blosc", "v3 sharded", "foreign shard index"])
def test_holes_stay_holes(tmp_path, layout):
    """A store that holds only the fill value again has no chunks."""
    path = tmp_path / "a.zarr"
    LAYOUTS[layout](path)
    before = sorted(path.rglob("*"))
    array = open_to_write(path).GetRootGroup().OpenMDArray("a")
    array.Write(np.arange(np.prod(SHAPE), dtype="i4").reshape(SHAPE))
    del array
    assert len(sorted(path.rglob("*"))) > len(before)
    dataset = open_to_write(path)
    array = dataset.GetRootGroup().OpenMDArray("a")
    # Column by column: no single call covers a chunk.
    for column in range(SHAPE[2]):
        array.Write(np.full((*SHAPE[:2], 1), -1, "i4"), [0, 0, column])
    del array, dataset
    assert not [file for file in path.rglob("*")
                if file.is_file() and not file.name.startswith((".z", "zarr.json"))]
    assert (open_root(path).OpenMDArray("a").ReadAsArray() == -1).all()


@pytest.mark.parametrize("options", [
    ["BLOCKSIZE=8,64,64", "FILTER=DELTA", "COMPRESS=LZ4"],
    ["FORMAT=ZARR_V3", "BLOCKSIZE=8,64,64", "CHUNK_MEMORY_LAYOUT=F", "COMPRESS=BLOSC"],
    ["FORMAT=ZARR_V3", "BLOCKSIZE=8,128,128", "SHARD_CHUNK_SHAPE=4,64,64", "CHECKSUM=CRC32C"],
], ids=["v2", "v3", "shards"])
def test_a_small_write_cache(tmp_path, options):
    """Writes in an order that completes no chunk are buffered; beyond the limit, they are put."""
    path = tmp_path / "a.zarr"
    want = np.random.default_rng(3).integers(-99, 99, (8, 300, 300), "i4")
    gdal.SetConfigOption("ZARR_WRITE_CACHE_SIZE", "1000000")
    try:
        root = create(path, *options).GetRootGroup()
        array = create_array(root, "a", want.shape, gdal.GDT_Int32, *options)
        for z in (0, 2, 4, 6, 1, 3, 5, 7):
            array.Write(want[z : z + 1], [z, 0, 0])
        np.testing.assert_array_equal(array.ReadAsArray(), want)
        del root, array
    finally:
        gdal.SetConfigOption("ZARR_WRITE_CACHE_SIZE", None)
    np.testing.assert_array_equal(open_root(path).OpenMDArray("a").ReadAsArray(), want)
