"""Writes N5 block by block, as the specification of its files describes them."""
import bz2
import ctypes
import ctypes.util
import gzip
import json
import lzma
import struct
import zlib

import numpy as np
from numcodecs import LZ4, Blosc, Zstd

GZIP = {"type": "gzip", "level": -1}


def xxh32(data, seed):
    library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    return library.XXH32(data, len(data), ctypes.c_uint32(seed)) & 0xFFFFFFFF


def lz4_java(data, block_size=65536):
    """The stream of lz4-java's LZ4BlockOutputStream."""
    def block(method, payload, plain):
        check = xxh32(plain, 0x9747B28C) & 0xFFFFFFF if plain else 0
        level = (block_size - 1).bit_length() - 10
        return b"LZ4Block" + struct.pack("<BIII", method | level, len(payload), len(plain),
                                         check) + payload

    stream = b""
    for start in range(0, len(data), block_size):
        plain = data[start:start + block_size]
        packed = bytes(LZ4().encode(plain))[4:]
        is_smaller = len(packed) < len(plain)
        stream += block(0x20, packed, plain) if is_smaller else block(0x10, plain, plain)
    return stream + block(0x10, b"", b"")


COMPRESSIONS = {
    "raw": ({"type": "raw"}, bytes),
    "gzip": (GZIP, gzip.compress),
    "useZlib": ({**GZIP, "useZlib": True}, zlib.compress),
    "bzip2": ({"type": "bzip2", "blockSize": 9}, bz2.compress),
    "xz": ({"type": "xz", "preset": 6}, lzma.compress),
    "lz4": ({"type": "lz4", "blockSize": 65536}, lz4_java),
    "zstd": ({"type": "zstd", "level": 3}, Zstd().encode),
    "blosc": ({"type": "blosc", "cname": "lz4", "clevel": 6, "shuffle": 1, "blocksize": 0,
               "nthreads": 1}, Blosc().encode),
}


def write_block(path, block, compress=bytes):
    """`block` has the order of dimensions that zarr-python shows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = struct.pack(f">HH{block.ndim}I", 0, block.ndim, *block.shape[::-1])
    payload = np.ascontiguousarray(block, block.dtype.newbyteorder(">")).tobytes()
    path.write_bytes(header + compress(payload))


def write_array(path, data, chunks, compression="gzip", pads=False, attributes=()):
    """Blocks of nothing but zeros are left out. Edge blocks are cut, or padded."""
    configuration, compress = COMPRESSIONS[compression]
    path.mkdir(parents=True, exist_ok=True)
    (path / "attributes.json").write_text(json.dumps({
        "dimensions": data.shape[::-1], "blockSize": chunks[::-1], "dataType": data.dtype.name,
        "compression": configuration, **dict(attributes)}))
    for index in np.ndindex(*(-(-n // c) for n, c in zip(data.shape, chunks))):
        block = data[tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, chunks))]
        if pads:
            block = np.pad(block, [(0, c - n) for n, c in zip(block.shape, chunks)])
        if block.any():
            write_block(path.joinpath(*map(str, index[::-1])), block, compress)


def write_root(path, attributes=()):
    path.mkdir(parents=True, exist_ok=True)
    (path / "attributes.json").write_text(json.dumps({"n5": "4.0.0", **dict(attributes)}))
