"""A damaged chunk is a CE_Failure that names the array, the chunk and the cause. It affects no
other chunk, and cannot make a program allocate more memory than it needs."""
import gzip
import shutil
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from bad_stores import DATA, assert_fails, assert_good_opens, message_of, open_root, regular
from imagecodecs_streams import zstd_without_size
from numcodecs.blosc import Blosc
from numcodecs.zlib import Zlib
from numcodecs.zstd import Zstd
from osgeo import gdal
from stores import (
    BLOSC,
    BYTES,
    CRC32C,
    GZIP,
    ZSTD,
    crc32c,
    edit_json,
    sharding,
    transpose,
    write_array,
)
from v2_stores import write_v2

# --- Chunks --------------------------------------------------------------------------------------

def assert_bad_chunk(path, key, *problem):
    """Reading it fails, as a whole and in part, every time; the other chunks can be read."""
    array = open_root(path).OpenMDArray("bad")
    for _ in range(2):
        assert_fails(message_of(array.ReadAsArray), str(path), "array /bad", key, *problem)
        assert_fails(message_of(array.ReadAsArray, [5, 5], [1, 1]), "array /bad", key, *problem)
    np.testing.assert_array_equal(array.ReadAsArray([0, 0], [4, 8]), DATA[:4])
    dataset = gdal.Open(f'ZARR:"{path}":/bad')
    assert_fails(message_of(dataset.ReadAsArray), "array /bad", key, *problem)
    np.testing.assert_array_equal(dataset.ReadAsArray(0, 0, 8, 4), DATA[:4])
    assert_good_opens(path)


CHUNK = DATA[4:, 4:].tobytes()
NOISE = bytes(np.random.default_rng(3).integers(0, 256, 60, "u1"))


def blosc(data, **header):
    """A Blosc buffer with replaced header fields (bytes from, to)."""
    encoded = bytearray(Blosc("lz4", 5).encode(data))
    if "decoded" in header:
        encoded[4:8] = struct.pack("<I", header["decoded"])
    if "block" in header:
        encoded[8:12] = struct.pack("<I", header["block"])
    if "encoded" in header:
        encoded[12:16] = struct.pack("<I", header["encoded"])
    return bytes(encoded)


def flip(data, at):
    changed = bytearray(data)
    changed[at] ^= 0x55
    return bytes(changed)


CHUNKS = {
    "bytes": ([BYTES], [b"", CHUNK[:-1], CHUNK + b"\0", CHUNK * 2]),
    "gzip": ([BYTES, GZIP], [
        b"", b"\x1f", NOISE, CHUNK, gzip.compress(CHUNK)[:-9], flip(gzip.compress(CHUNK), -5),
        gzip.compress(CHUNK[:-1]), gzip.compress(CHUNK + b"\0"), gzip.compress(b""),
        gzip.compress(CHUNK) + b"rest", gzip.compress(bytes(10**6)),
    ]),
    "zstd": ([BYTES, ZSTD], [
        b"", NOISE, CHUNK, Zstd().encode(CHUNK)[:-1], flip(Zstd().encode(CHUNK), 0),
        Zstd().encode(CHUNK[:-1]), Zstd().encode(CHUNK + b"\0"), Zstd().encode(CHUNK) + b"rest",
        Zstd().encode(bytes(10**6)), Zstd().encode(b""),
    ]),
    "blosc": ([BYTES, BLOSC], [
        b"", b"\2\1", NOISE, blosc(CHUNK)[:-1], blosc(CHUNK)[:16], blosc(CHUNK[:-1]),
        blosc(CHUNK + b"\0"), blosc(bytes(10**6)), blosc(CHUNK, decoded=2**31 - 1),
        blosc(CHUNK, decoded=0), blosc(CHUNK, block=0), blosc(CHUNK, block=2**31 - 1),
        blosc(CHUNK, encoded=2**31 - 1), blosc(CHUNK, encoded=3), flip(blosc(CHUNK), 0),
    ]),
    "crc32c": ([BYTES, CRC32C], [
        b"", b"123", CHUNK, CHUNK + b"\0\0\0\0", flip(CHUNK + struct.pack("<I", crc32c(CHUNK)), 7),
        CHUNK[:-1] + struct.pack("<I", crc32c(CHUNK[:-1])),
    ]),
    "two": ([BYTES, ZSTD, GZIP, CRC32C], [b"", NOISE, NOISE + struct.pack("<I", crc32c(NOISE))]),
}


@pytest.mark.parametrize("codecs, content", [
    pytest.param(codecs, content, id=f"{name} {i}")
    for name, (codecs, contents) in CHUNKS.items()
    for i, content in enumerate(contents)
])
def test_bad_chunk(v3, codecs, content):
    write_array(v3 / "bad", DATA, (4, 4), codecs)
    (v3 / "bad/c/1/1").write_bytes(content)
    assert_bad_chunk(v3, "chunk bad/c/1/1: ", r"(bytes|corrupt|checksum|zstd|blosc)")


@pytest.mark.parametrize("content", [b"", NOISE, zlib.compress(CHUNK)[:-5], zlib.compress(b"")])
def test_bad_chunk_v2(v2, content):
    write_v2(v2, "bad", DATA, chunks=(4, 4), compressor=Zlib(), overwrite=True)
    (v2 / "bad/1.1").write_bytes(content)
    assert_bad_chunk(v2, "chunk bad/1.1: ", "(zlib|bytes)")


def test_chunk_that_is_no_file(v3):
    """A folder in place of a chunk is an absent chunk; an unreadable file is a failure."""
    chunk = v3 / "bad/c/1/1"
    chunk.unlink()
    chunk.mkdir()
    want = DATA.copy()
    want[4:, 4:] = 0
    np.testing.assert_array_equal(open_root(v3).OpenMDArray("bad").ReadAsArray(), want)
    chunk.rmdir()
    chunk.symlink_to(chunk)
    assert_bad_chunk(v3, "chunk bad/c/1/1: ", "symbolic links")


@pytest.fixture
def shard(v3):
    """The file of a shard: four inner chunks of 8 bytes, then an index without a checksum."""
    write_array(v3 / "bad", DATA, (4, 4), [sharding((2, 2), index_codecs=[BYTES])])
    file = v3 / "bad/c/1/1"
    assert file.stat().st_size == 4 * 8 + 4 * 16
    return file


@pytest.mark.parametrize("offset, length, problem", [
    (1000, 8, "outside a value of 96 bytes"),
    (90, 8, "outside a value of 96 bytes"),
    (2**63, 8, "outside a value of 96 bytes"),
    (2**64 - 4, 8, "is said to have 8 bytes at offset 18446744073709551612"),
    (0, 2**64 - 1, "is said to have 18446744073709551615 bytes"),
    (0, 2**63, "has 9223372036854775808 bytes at offset 0, which cannot be right"),
    (0, 2**40, "has 1099511627776 bytes at offset 0, which cannot be right"),
    (0, 7, "7 bytes where 8 are expected"),
    (0, 9, "which cannot be right|9 bytes where 8 are expected"),
    (0, 0, "0 bytes where 8 are expected"),
    (2**64 - 1, 8, "18446744073709551615"),
])
def test_shard_index_that_lies(v3, shard, offset, length, problem):
    content = bytearray(shard.read_bytes())
    content[48:64] = struct.pack("<QQ", offset, length)  # the second inner chunk
    shard.write_bytes(content)
    array = open_root(v3).OpenMDArray("bad")
    assert_fails(message_of(array.ReadAsArray), "array /bad", "bad/c/1/1", problem)
    assert_fails(message_of(array.ReadAsArray, [4, 6], [1, 1]), "bad/c/1/1", problem)
    dataset = gdal.Open(f'ZARR:"{v3}":/bad')
    assert_fails(message_of(dataset.ReadAsArray), "array /bad", "bad/c/1/1", problem)
    assert_good_opens(v3)


@pytest.mark.parametrize("content", [b"", b"x", bytes(63)])
def test_shard_shorter_than_its_index(v3, shard, content):
    shard.write_bytes(content)
    assert_bad_chunk(v3, "shard bad/c/1/1: ", "the last 64 bytes are wanted of a value of")


@pytest.mark.parametrize("index_location", ["start", "end"])
def test_shard_index_with_wrong_checksum(v3, index_location):
    codecs = [sharding((2, 2), index_location=index_location)]
    write_array(v3 / "bad", DATA, (4, 4), codecs)
    file = v3 / "bad/c/1/1"
    file.write_bytes(flip(file.read_bytes(), 5 if index_location == "start" else -9))
    assert_bad_chunk(v3, "shard bad/c/1/1: ", "shard index: ", "checksum is wrong")


def test_inner_chunk_with_wrong_checksum(v3):
    """Only this inner chunk is lost."""
    write_array(v3 / "bad", DATA, (8, 8), [sharding((2, 8), [BYTES, CRC32C])])
    file = v3 / "bad/c/0/0"
    file.write_bytes(flip(file.read_bytes(), 36 + 5))
    array = open_root(v3).OpenMDArray("bad")
    assert_fails(message_of(array.ReadAsArray), "array /bad", "bad/c/0/0", "offset 36", "checksum")
    np.testing.assert_array_equal(array.ReadAsArray([4, 0], [4, 8]), DATA[4:])


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


@pytest.mark.parametrize("at", [0, 9, 40, -20, -1])
def test_shard_with_wrong_checksum(v3, tmp_path, at):
    """A checksum around the shard is checked when all of it is read."""
    write_array(v3 / "bad", DATA, (8, 8), [sharding((2, 8), index_codecs=[BYTES]), CRC32C])
    name = f'ZARR:"{v3}":/bad'
    assert run("gdal_translate", name, tmp_path / "good.tif").returncode == 0
    np.testing.assert_array_equal(gdal.Open(str(tmp_path / "good.tif")).ReadAsArray(), DATA)
    file = v3 / "bad/c/0/0"
    file.write_bytes(flip(file.read_bytes(), at))
    translated = run("gdal_translate", name, tmp_path / "bad.tif")
    assert translated.returncode != 0
    assert_fails(translated.stderr, "array /bad", "bad/c/0/0", "checksum is wrong|cannot be right")
    array = open_root(v3).OpenMDArray("bad")
    for _ in range(2):
        assert_fails(message_of(array.ReadAsArray), "shard bad/c/0/0", "checksum is wrong")
    assert_good_opens(v3)


def test_chunk_that_is_a_broken_link(v3, tmp_path):
    """The target may be on a disk that is not mounted: that is not the fill value."""
    write_array(v3 / "bad", DATA, (4, 4))
    chunk = v3 / "bad/c/1/1"
    elsewhere = tmp_path / "elsewhere"
    chunk.rename(elsewhere)
    chunk.symlink_to(elsewhere)
    name = f'ZARR:"{v3}":/bad'
    assert "Checksum=" in run("gdalinfo", "-checksum", name).stdout
    np.testing.assert_array_equal(gdal.Open(name).ReadAsArray(), DATA)
    elsewhere.unlink()
    assert_bad_chunk(v3, "chunk bad/c/1/1: ", "symbolic link", "leads to nothing that exists")
    read = run("gdalinfo", "-checksum", name)
    assert_fails(read.stderr, "chunk bad/c/1/1: ", "symbolic link")
    translated = run("gdal_translate", name, tmp_path / "bad.tif")
    assert translated.returncode != 0
    assert_fails(translated.stderr, "chunk bad/c/1/1: ", "leads to nothing that exists")


def test_folder_of_chunks_that_is_a_broken_link(v3, tmp_path):
    write_array(v3 / "bad", DATA, (4, 4))
    (v3 / "bad/c/1").rename(tmp_path / "elsewhere")
    (v3 / "bad/c/1").symlink_to(tmp_path / "nowhere")
    array = open_root(v3).OpenMDArray("bad")
    assert_fails(message_of(array.ReadAsArray), "chunk bad/c/1/", "symbolic link")
    np.testing.assert_array_equal(array.ReadAsArray([0, 0], [4, 8]), DATA[:4])


def test_shard_in_a_shard_too_short(v3):
    write_array(v3 / "bad", DATA, (4, 4),
                [sharding((2, 2), [sharding((1, 1), index_codecs=[BYTES])], index_codecs=[BYTES])])
    file = v3 / "bad/c/1/1"
    content = bytearray(file.read_bytes())
    content[-8:] = struct.pack("<Q", 10)
    file.write_bytes(content)
    array = open_root(v3).OpenMDArray("bad")
    assert_fails(message_of(array.ReadAsArray), "array /bad", "bad/c/1/1", "10 bytes is too short")


# --- Memory --------------------------------------------------------------------------------------

LIMITED = """
import resource, sys
from osgeo import gdal
gdal.UseExceptions()
gdal.SetConfigOption("GDAL_NUM_THREADS", "2")
gdal.SetConfigOption("CPL_LOG", "/dev/null")
limit = 1500 << 20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
def attempt(function):
    try:
        print(function())
    except RuntimeError as error:
        print("error:", str(error)[:600])
def read():
    array = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("bad")
    rank = array.GetDimensionCount()
    return array.ReadAsArray([0] * rank, [1] * rank).tolist()
attempt(read)
attempt(lambda: gdal.Open('ZARR:"%s":/bad' % sys.argv[1]).ReadAsArray(0, 0, 1, 1).tolist())
attempt(lambda: gdal.Open('ZARR:"%s":/good' % sys.argv[1]).ReadAsArray().sum())
# Not that of getrusage(), which begins with the memory of the process that started this one.
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print("peak", int(peak) >> 10)
"""


def run_limited(path):
    """The errors of two ways to read one element, in a process limited to 1.5 GB."""
    result = subprocess.run([sys.executable, "-c", LIMITED, path], capture_output=True, text=True,
                            timeout=60)
    assert result.returncode == 0, result.stderr
    multidim, classic, good, peak = result.stdout.splitlines()
    assert good == str(DATA.sum())
    assert int(peak.split()[1]) < 300  # MB: no memory was touched needlessly
    return multidim, classic


HUGE = {
    # The file is too small to decode to the size in the metadata.
    "bytes": ([BYTES], bytes(10), "10 bytes where 1099511627776 are expected"),
    "gzip": ([BYTES, GZIP], gzip.compress(bytes(10**6)), "decodes to at most"),
    "zstd": ([BYTES, ZSTD], Zstd().encode(bytes(10**6)), "decodes to at most"),
    "blosc": ([BYTES, BLOSC], Blosc().encode(bytes(10**6)), "decodes to at most"),
    "crc32c": ([BYTES, CRC32C], bytes(10), "10 bytes where 1099511627780 are expected"),
    "transpose": ([transpose(1, 0), BYTES, ZSTD], Zstd().encode(bytes(9)), "decodes to at most"),
    "inner": ([sharding((2**19, 2**19))], bytes(4 * 16 + 4), "checksum is wrong"),
    "index": ([sharding((1, 1))], bytes(100), "the index of the shard has 17592186044420 bytes"),
    "index, smaller": ([sharding((512, 512))], bytes(9), "the last 67108868 bytes are wanted"),
    "index first": (
        [sharding((512, 512), index_location="start")], bytes(9), "bytes at offset 0 are outside"
    ),
}


@pytest.mark.parametrize("codecs, content, problem", HUGE.values(), ids=HUGE)
def test_chunk_shape_that_promises_too_much(v3, codecs, content, problem):
    """Chunks of 2^40 elements."""
    edit_json(v3 / "bad/zarr.json", shape=[2**20, 2**20], chunk_grid=regular(2**20, 2**20),
         codecs=codecs, data_type="uint8")
    (v3 / "bad/c/0/0").write_bytes(content)
    for said in run_limited(v3):
        assert said.startswith("error: Zarr: ")
        assert_fails(said, "array /bad", "bad/c/0/0", problem)


def test_absent_chunk_of_huge_shape(v3):
    shape = [2**30, 2**30]
    edit_json(v3 / "bad/zarr.json", shape=shape, chunk_grid=regular(*shape), fill_value=7)
    (v3 / "bad/c/0/0").unlink()
    assert run_limited(v3) == ("[[7]]", "[[7]]")


def test_chunk_file_that_is_too_large(v3):
    """A sparse file of 1 TB is not read if no chunk can have so many bytes."""
    with open(v3 / "bad/c/0/0", "r+b") as file:
        file.truncate(2**40)
    for said in run_limited(v3):
        assert_fails(said, "error: Zarr: ", "bad/c/0/0", "1099511627776 bytes where at most")


@pytest.mark.parametrize("claim", [2**62, 2**40])
def test_compressed_chunk_that_claims_too_much(v3, claim):
    """A Zstandard frame with a false content size."""
    write_array(v3 / "bad", np.zeros((2, 2), "u1"), codecs=[BYTES, ZSTD], fill_value=1)
    frame = bytes.fromhex("28b52ffd e0") + struct.pack("<Q", claim) + bytes.fromhex("010000")
    (v3 / "bad/c/0/0").write_bytes(frame)
    for said in run_limited(v3):
        assert_fails(said, "error: Zarr: ", "bad/c/0/0", "zstd")


@pytest.mark.parametrize("codecs, size", [
    ([BYTES, ZSTD, GZIP], 100 << 20),
    # Room for what makes chunks larger is not multiplied by the inner chunks.
    ([sharding((8, 8), [sharding((1, 1), [BYTES, GZIP]), GZIP]), GZIP], 180 << 20)])
def test_intermediate_size_that_is_not_known(v3, codecs, size):
    """Between two compressors, no metadata limits the number of bytes."""
    edit_json(v3 / "bad/zarr.json", shape=[256, 256], chunk_grid=regular(256, 256), codecs=codecs)
    (v3 / "bad/c/0/0").write_bytes(gzip.compress(bytes(size), 1))
    for said in run_limited(v3):
        assert_fails(said, "error: Zarr: ", "bad/c/0/0", "gzip: more than")


def test_texts_from_a_writer_that_streams(v3):
    """Zstandard frames without the size of their content could have gigabytes."""
    texts = [b"%08x" % hash((i, 7)) * 20 for i in range(5000)]
    content = struct.pack("<I", len(texts))
    content += b"".join(struct.pack("<I", len(text)) + text for text in texts)
    edit_json(v3 / "bad/zarr.json", shape=[len(texts)], chunk_grid=regular(len(texts)),
              codecs=[{"name": "vlen-utf8"}, ZSTD], data_type="string", fill_value="")
    shutil.rmtree(v3 / "bad/c/0")
    (v3 / "bad/c/0").write_bytes(zstd_without_size(content))
    code = LIMITED.split("def attempt", maxsplit=1)[0] + """
array = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("bad")
print(array.Read()[4999])
"""
    result = subprocess.run([sys.executable, "-c", code, v3], capture_output=True, text=True)
    assert (result.stdout, result.returncode) == (texts[4999].decode() + "\n", 0), result.stderr
