"""Streams of bytes that the codecs of imagecodecs decode, written by other libraries."""
import bz2
import ctypes
import ctypes.util
import gzip
import lzma
import struct
import zlib

import h5py
import numcodecs
import numpy as np

DATA = (np.arange(2000, dtype="<u2") // 400 * 300 + np.arange(2000) % 25 // 3).astype("<u2")
DATA = np.where(np.arange(2000) < 1900, DATA, 0).astype("<u2").reshape(40, 50)
RAW = DATA.tobytes()


def raw_deflate(data):
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


def call(library, function, result, *arguments):
    function = getattr(library, function)
    function.restype = result
    return function(*arguments)


def zstd_without_size(data):
    """A frame as streaming writers leave it."""
    library = ctypes.CDLL(ctypes.util.find_library("zstd"))
    context = ctypes.c_void_p(call(library, "ZSTD_createCCtx", ctypes.c_void_p))
    content_size = 200
    call(library, "ZSTD_CCtx_setParameter", ctypes.c_size_t, context, content_size, 0)
    target = ctypes.create_string_buffer(2 * len(data) + 1000)
    size = call(library, "ZSTD_compress2", ctypes.c_size_t, context, target,
                ctypes.c_size_t(len(target)), data, ctypes.c_size_t(len(data)))
    call(library, "ZSTD_freeCCtx", ctypes.c_size_t, context)
    return target.raw[:size]


def lz4_frame(data):
    library = ctypes.CDLL(ctypes.util.find_library("lz4"))
    target = ctypes.create_string_buffer(2 * len(data) + 1000)
    size = call(library, "LZ4F_compressFrame", ctypes.c_size_t, target,
                ctypes.c_size_t(len(target)), data, ctypes.c_size_t(len(data)), None)
    return target.raw[:size]


def lz4_of_hdf5(data, block_size=1500):
    """As HDF5's filter 32004 writes it; blocks that do not become smaller, and here the second, are
    stored as they are."""
    content = struct.pack(">QI", len(data), block_size)
    for number, at in enumerate(range(0, len(data), block_size)):
        part = data[at:at + block_size]
        packed = numcodecs.LZ4().encode(part)[4:]
        block = part if number == 1 or len(packed) >= len(part) else packed
        content += struct.pack(">I", len(block)) + block
    return content


def lzf_of_hdf5(data):
    with h5py.File("lzf.h5", "w", driver="core", backing_store=False) as h5:
        values = np.frombuffer(data, "u1")
        dataset = h5.create_dataset("a", data=values, chunks=values.shape, compression="lzf")
        mask, chunk = dataset.id.read_direct_chunk((0,))
        assert mask == 0
        return chunk


def snappy(data):
    """Literals of every size, and copies of both kinds that repeat themselves."""
    zeros = len(data) - len(data.rstrip(b"\0"))
    literal = data[:len(data) - zeros + 1]
    size = len(literal) - 1
    content = bytes([len(data) & 0x7f | 0x80, len(data) >> 7]) + b"\xf4" + struct.pack("<H", size)
    content += literal
    zeros -= 1
    while zeros >= 68:
        content += bytes([63 << 2 | 2, 1, 0])
        zeros -= 64
    return content + (bytes([(zeros - 1) << 2 | 2, 1, 0]) if zeros else b"")


def reversed_bits(data):
    return np.packbits(np.unpackbits(np.frombuffer(data, "u1"), bitorder="little")).tobytes()


# --- Elements ------------------------------------------------------------------------------------

def shuffled_bits(elements):
    bits = np.unpackbits(elements, axis=1, bitorder="little")
    return np.packbits(bits.T, axis=1, bitorder="little").tobytes()


def bfloat16(values):
    """The upper halves."""
    return values.view("<u4") >> 16, 2


def float24(values):
    """TIFF's technical note 3: a sign, 7 bits of exponent, 16 of mantissa."""
    bits = values.view("<u4").astype("i8")
    exponent = bits >> 23 & 0xff
    scaled = np.where(exponent == 255, 127, np.where(exponent == 0, 0, exponent - 127 + 63))
    return bits >> 31 << 23 | scaled << 16 | bits >> 7 & 0xffff, 3


def short_floats(encode, values, order="<"):
    """The bytes of one of these."""
    bits, size = encode(values)
    stored = bits.astype("<u4").reshape(-1, 1).view("u1")[:, :size]
    return (stored if order == "<" else stored[:, ::-1]).tobytes()


# --- Streams -------------------------------------------------------------------------------------

STREAMS = {
    "zlib": ({"id": "zlib", "level": None}, zlib.compress),
    "zlibng": ({"id": "zlibng", "level": 9}, zlib.compress),
    "deflate": ({"id": "deflate", "raw": False, "level": None}, zlib.compress),
    "deflate_raw": ({"id": "deflate", "raw": True}, raw_deflate),
    "zopfli": ({"id": "zopfli", "numiterations": 15}, zlib.compress),
    "zopfli_gzip": ({"id": "zopfli", "format": 0}, gzip.compress),
    "bz2": ({"id": "bz2", "level": None}, bz2.compress),
    "lzma": ({"id": "lzma", "level": None, "check": None}, lzma.compress),
    "zstd": ({"id": "zstd", "level": "best"}, zstd_without_size),
    "lz4": ({"id": "lz4", "hc": False, "level": None}, lambda d: numcodecs.LZ4().encode(d)[4:]),
    "lz4_header": ({"id": "lz4", "header": True}, numcodecs.LZ4().encode),
    "lz4f": ({"id": "lz4f", "contentchecksum": None}, lz4_frame),
    "lz4h5": ({"id": "lz4h5", "blocksize": None}, lz4_of_hdf5),
    "lzf": ({"id": "lzf"}, lambda d: struct.pack("<I", len(d)) + lzf_of_hdf5(d)),
    "lzf_of_hdf5": ({"id": "lzf"}, lzf_of_hdf5),
    "lzf_without_header": ({"id": "lzf", "header": False}, lzf_of_hdf5),
    "snappy": ({"id": "snappy"}, snappy),
    "blosc": ({"id": "blosc", "shuffle": "BITSHUFFLE", "numthreads": 1}, numcodecs.Blosc().encode),
    "crc32": ({"id": "checksum", "kind": "crc32"},
              lambda d: struct.pack("<I", zlib.crc32(d)) + d),
    "adler32": ({"id": "checksum", "kind": "adler32", "prepend": False, "value": None},
                lambda d: d + struct.pack("<I", zlib.adler32(d))),
    "bitorder": ({"id": "bitorder"}, reversed_bits),
    "quantize": ({"id": "quantize", "nsd": 2, "mode": "bitgroom"}, bytes),
}
