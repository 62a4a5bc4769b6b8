"""Codecs of imagecodecs and kerchunk over streams that other programs wrote. Those of whole stores
are in test_foreign_chunks.py."""
import json
import struct
import zipfile
import zlib

import h5py
import numcodecs
import numpy as np
import pytest
from bad_stores import message_of
from bad_stores import with_configuration as named
from imagecodecs_streams import (
    DATA,
    RAW,
    STREAMS,
    bfloat16,
    float24,
    raw_deflate,
    short_floats,
    shuffled_bits,
)
from multidim import open_root
from osgeo import gdal
from stores import edit_json, sharding, write_array, write_group, write_json
from v2_stores import write_v2_group


def write_v2_chunk(path, chunk, data=DATA, **members):
    """An array of one chunk, from its bytes."""
    write_v2_group(path)
    write_json(path / "a/.zarray", {
        "zarr_format": 2, "shape": data.shape, "chunks": data.shape, "dtype": data.dtype.str,
        "fill_value": 0, "order": "C", "filters": None, "compressor": None} | members)
    (path / "a" / ".".join("0" * data.ndim)).write_bytes(chunk)
    return path


def write_v3_chunk(path, chunk, codecs, data=DATA):
    write_group(path)
    write_array(path / "a", data)
    edit_json(path / "a/zarr.json", codecs=codecs)
    path.joinpath("a/c", *"0" * data.ndim).write_bytes(chunk)
    return path


def read(path):
    return open_root(path).OpenMDArray("a").ReadAsArray()


# --- Streams -------------------------------------------------------------------------------------

PLACES = ["compressor", "filter", "v3", "v3 of numcodecs", "v3 of VirtualiZarr"]


def write_stream(path, name, chunk, place="compressor"):
    members = {"id": "imagecodecs_" + STREAMS[name][0]["id"]} | {
        key: value for key, value in STREAMS[name][0].items() if key != "id"}
    if place == "compressor":
        return write_v2_chunk(path, chunk, compressor=members)
    if place == "filter":
        return write_v2_chunk(path, chunk, filters=[members])
    codec = named(members.pop("id"), **members)
    if place != "v3":
        codec["name"] = "numcodecs." + codec["name"]
    codecs = [named("bytes", endian="little"), codec]
    return write_v3_chunk(path, chunk, codecs[1:] if place == "v3 of VirtualiZarr" else codecs)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", STREAMS)
def test_streams(tmp_path, name, place):
    """Without `bytes`, a codec that is no filter makes little-endian elements."""
    if place == "v3 of VirtualiZarr" and name in ("bitorder", "quantize"):
        pytest.skip("a filter makes no bytes")
    write_stream(tmp_path, name, STREAMS[name][1](RAW), place)
    np.testing.assert_array_equal(read(tmp_path), DATA)


@pytest.mark.parametrize("name", STREAMS)
def test_damaged_streams(tmp_path, name):
    """Another size than the chunk's is an error, and what is cut off is."""
    encode = STREAMS[name][1]
    for chunk in (encode(RAW + bytes(RAW)), encode(RAW[:-100]), encode(RAW)[:-40], b""):
        write_stream(tmp_path, name, chunk)
        message = message_of(lambda: read(tmp_path))
        assert "chunk a/0.0: " in message, message


READ_ONLY = ["zopfli", "lz4", "lz4f", "lz4h5", "lzf", "snappy", "bitorder", "quantize"]


@pytest.mark.parametrize("name", READ_ONLY)
def test_writing_is_an_error(tmp_path, name):
    chunk = STREAMS[name][1](RAW)
    write_stream(tmp_path, name, chunk)

    raster = gdal.OpenEx(str(tmp_path), gdal.OF_UPDATE)
    message = message_of(lambda: (raster.WriteArray(DATA + 1), raster.FlushCache()))
    assert f"{name}: chunks of this codec can be read, not written" in message
    assert (tmp_path / "a/0.0").read_bytes() == chunk


@pytest.mark.parametrize("compressor, problem", [
    ({"id": "imagecodecs_brotli"}, "needs the library brotli"),
    ({"id": "imagecodecs_aec", "rsi": 2}, "needs the library libaec"),
    ({"id": "imagecodecs_szip", "header": True}, '"bits_per_pixel" is 0'),
    ({"id": "imagecodecs_sperr"}, "imagecodecs_sperr.* is not supported: this build"),
    ({"id": "imagecodecs_delta", "dist": 2}, '"dist" is 2'),
    ({"id": "imagecodecs_delta", "shape": [40, 50], "dtype": "<u2", "axis": 2}, '"axis" is 2'),
    ({"id": "imagecodecs_delta", "shape": [40, 50], "dtype": "<u4"}, "of this shape and type"),
    ({"id": "imagecodecs_delta", "shape": [40, 50], "dtype": "<c8"}, "has no differences"),
    ({"id": "imagecodecs_delta", "shape": [4, 2 ** 63], "dtype": "<u2"}, "which no chunk has"),
    ({"id": "imagecodecs_floatpred", "shape": [40, 50], "dtype": "<u2"}, "not a type of floats"),
    ({"id": "imagecodecs_bitshuffle", "blocksize": 12}, "not a multiple of 8"),
    ({"id": "imagecodecs_bitshuffle", "itemsize": 3}, "not a whole number of elements"),
    ({"id": "imagecodecs_packints", "bitspersample": 17, "dtype": "<u2"}, "1 to 16"),
    ({"id": "imagecodecs_packints", "bitspersample": 12, "dtype": "<i2"}, "unsigned"),
    ({"id": "imagecodecs_packints", "bitspersample": 12, "bitorder": "<"}, '"bitorder" is "<"'),
    ({"id": "imagecodecs_float24"}, "uint16 where float32 is expected"),
    ({"id": "imagecodecs_checksum", "kind": "h5crc"}, '"kind" is "h5crc"'),
    ({"id": "imagecodecs_checksum", "kind": "lookup3", "prepend": True}, "in this place"),
    ({"id": "record_member", "member": "a", "dtype": "<u2"}, "packed records"),
    ({"id": "FITSVarBintable"}, "different lengths"),
])
def test_what_is_refused(tmp_path, compressor, problem):
    write_v2_chunk(tmp_path, RAW, compressor=compressor)
    with pytest.raises(RuntimeError, match=problem):
        read(tmp_path)


# --- Filters -------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", ["<u2", ">u2", "<i4", ">f4", "|u1", "<u8"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
@pytest.mark.parametrize("name", ["delta", "xor"])
def test_running_sums(tmp_path, name, axis, dtype):
    """Of the bits as integers, which wrap around."""
    data = np.random.default_rng(1).integers(0, 255, (4, 5, 6)).astype(dtype)
    data.reshape(-1)[::7] = 0
    bits = data.view(dtype.replace("f", "u"))
    encoded = bits.copy()
    after = [slice(None)] * 3
    before = list(after)
    after[axis], before[axis] = slice(1, None), slice(None, -1)
    operation = np.subtract if name == "delta" else np.bitwise_xor
    encoded[tuple(after)] = operation(bits[tuple(after)], bits[tuple(before)])
    write_v2_chunk(tmp_path, encoded.tobytes(), data, filters=[
        {"id": "imagecodecs_" + name, "shape": data.shape, "dtype": dtype, "axis": axis}])
    np.testing.assert_array_equal(read(tmp_path), data)


def test_running_sums_of_bytes(tmp_path):
    """Without shape and type, the whole chunk is a row of bytes."""
    encoded = np.diff(DATA.reshape(-1).view("u1"), prepend=np.uint8(0))
    write_v2_chunk(tmp_path, encoded.tobytes(),
                   filters=[{"id": "imagecodecs_delta", "shape": None, "dtype": None, "axis": -1}])
    np.testing.assert_array_equal(read(tmp_path), DATA)


@pytest.mark.parametrize("reorder", [False, True])
@pytest.mark.parametrize("dtype", ["<u2", ">u4"])
def test_byteshuffle(tmp_path, dtype, reorder):
    data = DATA.astype(dtype)
    planes = np.moveaxis(data.view("u1").reshape(40, 50, -1), 2, 1)
    if reorder and dtype[0] == "<":
        planes = planes[:, ::-1]
    write_v2_chunk(tmp_path, planes.tobytes(), data, filters=[
        {"id": "imagecodecs_byteshuffle", "shape": data.shape, "dtype": dtype, "axis": -1,
         "dist": 1, "delta": False, "reorder": reorder}])
    np.testing.assert_array_equal(read(tmp_path), data)


@pytest.mark.parametrize("item_size, count, block_size", [
    (2, 6000, 0), (4, 1001, 64), (1, 9001, 0), (8, 133, 128), (3, 99, 8)])
def test_bitshuffle(tmp_path, item_size, count, block_size):
    """Blocks of bits, then groups of eight elements; the elements that are left are as they are."""
    data = np.random.default_rng(1).integers(0, 99, count * item_size).astype("u1")
    elements = data.reshape(-1, item_size)
    block = block_size or max(8192 // item_size // 8 * 8, 128)
    whole = count // 8 * 8
    chunk = b"".join(shuffled_bits(elements[at:min(at + block, whole)])
                     for at in range(0, whole, block))
    write_v2_chunk(tmp_path, chunk + elements[whole:].tobytes(), data, filters=[
        {"id": "imagecodecs_bitshuffle", "itemsize": item_size, "blocksize": block_size}])
    np.testing.assert_array_equal(read(tmp_path), data)


def test_bitshuffle_of_the_library(tmp_path):
    """Blosc has it as well: what it then compresses, in one block."""
    data = np.random.default_rng(1).integers(0, 9, 1024).astype("<u4")
    content = numcodecs.Blosc("zlib", 9, numcodecs.Blosc.BITSHUFFLE, blocksize=4096).encode(data)
    chunk, at = b"", 16 + 4
    while at < len(content):
        size, = struct.unpack("<i", content[at:at + 4])
        chunk += zlib.decompress(content[at + 4:at + 4 + size])
        at += 4 + size
    assert len(chunk) == 4096
    write_v2_chunk(tmp_path, chunk, data, filters=[
        {"id": "imagecodecs_bitshuffle", "itemsize": 4, "blocksize": 1024}])
    np.testing.assert_array_equal(read(tmp_path), data)


FLOATS = np.array([[1.5, -2, np.inf, -np.inf], [0, 3e18, 0.15625, np.nan]], "<f4")


@pytest.mark.parametrize("place", ["v2", "v3"])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("encode", [bfloat16, float24])
def test_short_floats(tmp_path, encode, place, order):
    data = (FLOATS.view("<u4") & 0xffff0000).view("<f4")
    chunk = short_floats(encode, data, order)
    name = "imagecodecs_" + encode.__name__
    if place == "v2":
        write_v2_chunk(tmp_path, chunk, data, compressor={"id": name, "byteorder": order})
    else:
        write_v3_chunk(tmp_path, chunk, [named(name, byteorder=order)], data)
    np.testing.assert_array_equal(read(tmp_path), data)


def test_small_numbers_of_24_bits(tmp_path):
    data = np.array([[2.0 ** -62, 2.0 ** -63, 2.0 ** -78]], "<f4")
    write_v2_chunk(tmp_path, bytes.fromhex("010000008000000001"), data,
                   compressor={"id": "imagecodecs_float24", "byteorder": ">"})
    np.testing.assert_array_equal(read(tmp_path), data)


# --- kerchunk ------------------------------------------------------------------------------------

@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, None])
def test_members_of_zip_archives(tmp_path, compression):
    """From the local header on, as kerchunk has it, or without it."""
    chunk = raw_deflate(RAW)
    if compression is not None:
        with zipfile.ZipFile(tmp_path / "a.zip", "w", compression) as archive:
            archive.writestr("before", b"text")
            archive.writestr("member", RAW)
            archive.writestr("after", RAW)
            start = archive.getinfo("member").header_offset
            end = archive.getinfo("after").header_offset
        chunk = (tmp_path / "a.zip").read_bytes()[start:end]
    write_v2_chunk(tmp_path, chunk, compressor={"id": "deflate"})
    np.testing.assert_array_equal(read(tmp_path), DATA)


def test_stored_members_of_zip_archives(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("member", RAW)
    write_v2_chunk(tmp_path, (tmp_path / "a.zip").read_bytes(), compressor={"id": "deflate"})
    with pytest.raises(RuntimeError, match="stored by method 0, which is not deflate"):
        read(tmp_path)


def test_strings_of_hdf5(tmp_path):
    """References of kerchunk to the ids that a file has for its texts; the texts are inline."""
    texts = ["one", "zwei", "", "three" * 10]
    with h5py.File(tmp_path / "a.h5", "w") as h5:
        h5.create_dataset("a", data=texts, dtype=h5py.string_dtype(), chunks=(4,))
        info = h5["a"].id.get_chunk_info(0)
        _, ids = h5["a"].id.read_direct_chunk((0,))
    id_map = {ids[at:at + 16].rstrip(b"\0").decode("latin-1"): text
              for at, text in zip(range(0, 64, 16), texts)}

    def references(strings):
        return {"version": 1, "refs": {
            ".zgroup": '{"zarr_format": 2}',
            "a/.zarray": json.dumps({
                "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|O", "order": "C",
                "fill_value": None, "compressor": None,
                "filters": [{"id": "fill_hdf_strings", "dtype": "S16", "id_map": strings}]}),
            "a/0": ["a.h5", info.byte_offset, info.size]}}

    def texts_of(strings):
        write_json(tmp_path / "a.json", references(strings))
        root = open_root(tmp_path / "a.json")
        return list(root.OpenMDArray("a").Read())

    assert texts_of(id_map) == texts
    assert texts_of("same") == ["same"] * 4
    assert texts_of(None) == [""] * 4
    with pytest.raises(RuntimeError, match='the id of element 0 .* not in "id_map"'):
        texts_of({"x": "y"})


def test_ascii_tables_of_fits(tmp_path):
    rows = b"  12 1.5E+00ab " + b" -70 2.5D-01c  "
    types = {"indtypes": [["n", "S5"], ["x", "S7"], ["t", "S3"]],
             "outdtypes": [["n", "<i4"], ["x", ">f8"], ["t", "S3"]]}
    table = np.zeros(2, [("n", "<i4"), ("x", ">f8"), ("t", "S3")])
    members = {"dtype": types["outdtypes"], "fill_value": None, "shape": [2], "chunks": [2]}
    write_v2_chunk(tmp_path, rows, table, filters=[{"id": "FITSAscii", **types}], **members)
    for name, expected in (("n", [12, -70]), ("x", [1.5, 0.25])):
        column = open_root(tmp_path).OpenMDArray("a").GetView(f"['{name}']").ReadAsArray()
        assert column.tolist() == expected
    damaged = rows.replace(b"-70", b"7-0")
    write_v2_chunk(tmp_path, damaged, table, filters=[{"id": "FITSAscii", **types}], **members)
    with pytest.raises(RuntimeError, match="7-0.* is not a number of its type"):
        open_root(tmp_path).OpenMDArray("a").GetView("['n']").ReadAsArray()


@pytest.mark.parametrize("name", ["bytes", "endian", "zarrs.bytes"])
@pytest.mark.parametrize("count", [1, 2])
def test_filters_after_big_endian_bytes(tmp_path, name, count):
    """The array's order counts, whatever the codec of bytes is called."""
    stored = DATA
    for _ in range(count):
        stored = np.diff(stored, axis=-1, prepend=np.uint16(0))
    codecs = [named(name, endian="big")] + count * [
        named("imagecodecs_delta", shape=list(DATA.shape), dtype="<u2")]
    write_v3_chunk(tmp_path, stored.astype(">u2").tobytes(), codecs)
    np.testing.assert_array_equal(read(tmp_path), DATA)


DELTA = named("imagecodecs_delta", shape=[40, 50], dtype="<u2")


@pytest.mark.parametrize("codecs", [
    [named("bytes", endian="little"), DELTA],
    [sharding([40, 50], [named("bytes", endian="little"), DELTA])],
    [named("bytes", endian="little"), named("conditional", codecs=[DELTA])],
], ids=["alone", "in shards", "conditional"])
def test_copies_have_codecs_that_encode(tmp_path, codecs):
    """Also where a codec that only decodes is inside another one."""
    write_v3_chunk(tmp_path / "in", b"", codecs)
    (tmp_path / "in/a/c/0/0").unlink()
    gdal.MultiDimTranslate(str(tmp_path / "out"), str(tmp_path / "in"), format="Zarr",
                           creationOptions=["FORMAT=ZARR_V3"])
    np.testing.assert_array_equal(read(tmp_path / "out"), np.zeros_like(DATA))
    assert "imagecodecs" not in (tmp_path / "out/a/zarr.json").read_text()
    message = message_of(lambda: gdal.GetDriverByName("Zarr").Create(
        str(tmp_path / "new"), 50, 40, 1, gdal.GDT_UInt16,
        ["FORMAT=ZARR_V3", f"CODECS={json.dumps(codecs)}"]))
    assert "is for reading only" in message
