"""Writes Zarr v3 byte by byte, so that a test knows what every file of its store holds.

    write_group(path)
    write_array(path / "a", data, chunks=(4, 4), codecs=[sharding((2, 2), [BYTES, GZIP])])

Codecs are the objects that stand in `zarr.json`. Chunks, and inner chunks of shards, that hold
nothing but the fill value are not written. `path` is a pathlib.Path.
"""
import gzip
import json
import struct

import numpy as np
from numcodecs.blosc import Blosc
from numcodecs.zstd import Zstd

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
BIG_ENDIAN = {"name": "bytes", "configuration": {"endian": "big"}}
GZIP = {"name": "gzip", "configuration": {"level": 5}}
ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
BLOSC = {
    "name": "blosc",
    "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0},
}
CRC32C = {"name": "crc32c"}


def transpose(*order):
    return {"name": "transpose", "configuration": {"order": order}}


def sharding(chunk_shape, codecs=(BYTES,), index_codecs=(BYTES, CRC32C), index_location="end"):
    return {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": chunk_shape,
            "codecs": codecs,
            "index_codecs": index_codecs,
            "index_location": index_location,
        },
    }


def crc32c_table():
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        yield value


CRC32C_TABLE = list(crc32c_table())


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = CRC32C_TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def split(data, chunk_shape, fill_value):
    """The index and content of each chunk; the content is None if all of it is the fill value."""
    for index in np.ndindex(*(-(-n // c) for n, c in zip(data.shape, chunk_shape))):
        part = data[tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, chunk_shape))]
        chunk = np.full(chunk_shape, fill_value, data.dtype)
        chunk[tuple(slice(n) for n in part.shape)] = part
        is_float = data.dtype.kind in "fc"
        is_empty = np.array_equal(chunk, np.full_like(chunk, fill_value), equal_nan=is_float)
        yield index, None if is_empty else chunk


def encode(data, codecs, fill_value):
    """The bytes of the chunk `data`."""
    for codec in codecs:
        options = codec.get("configuration", {})
        match codec["name"]:
            case "transpose":
                data = data.transpose(options["order"])
            case "bytes":
                is_big = options.get("endian") == "big"
                data = data.astype(data.dtype.newbyteorder(">" if is_big else "<")).tobytes()
            case "sharding_indexed":
                data = encode_shard(data, options, fill_value)
            case "gzip":
                data = gzip.compress(data, options["level"])
            case "zstd":
                data = Zstd(options["level"]).encode(data)
            case "blosc":
                data = Blosc(options["cname"], options["clevel"], Blosc.SHUFFLE).encode(data)
            case "crc32c":
                data += struct.pack("<I", crc32c(data))
            case name:
                raise ValueError(name)
    return bytes(data)


def encode_shard(data, options, fill_value):
    parts = [
        b"" if chunk is None else encode(chunk, options["codecs"], fill_value)
        for _, chunk in split(data, options["chunk_shape"], fill_value)
    ]
    lengths = np.array([len(part) for part in parts], "u8")
    grid = [n // c for n, c in zip(data.shape, options["chunk_shape"])]

    def index(offset):
        entries = np.stack([offset + np.cumsum(lengths) - lengths, lengths], axis=-1)
        entries[lengths == 0] = 2**64 - 1
        return encode(entries.reshape(*grid, 2), options["index_codecs"], 0)

    content = b"".join(parts)
    if options["index_location"] == "end":
        return content + index(np.uint64(0))
    return index(np.uint64(len(index(np.uint64(0))))) + content


def write_json(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))


class Absent:
    def __repr__(self):
        return "ABSENT"


ABSENT = Absent()


def edit_json(path, **members):
    """Replaces members of a document; ABSENT removes one."""
    document = json.loads(path.read_text()) | members
    write_json(path, {name: value for name, value in document.items() if value is not ABSENT})


def write_group(path, attributes=None, **members):
    group = {"zarr_format": 3, "node_type": "group", "attributes": attributes or {}}
    write_json(path / "zarr.json", group | members)
    return path


def write_array(path, data, chunks=None, codecs=(BYTES,), fill_value=0, names=None,
                attributes=None, **members):
    """`members` are added to zarr.json, or replace members of the same name."""
    data = np.asarray(data)
    chunks = data.shape if chunks is None else chunks
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": data.shape,
        "data_type": data.dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": fill_value,
        "codecs": codecs,
        "attributes": attributes or {},
    }
    if names:
        document["dimension_names"] = names
    write_json(path / "zarr.json", document | members)
    fill = np.array(fill_value).astype(data.dtype)
    for index, chunk in split(data, chunks, fill):
        if chunk is not None:
            file = path.joinpath("c", *map(str, index))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(encode(chunk, codecs, fill))
    return path


def consolidate(path, **documents):
    """Consolidates the documents of all nodes below into the document of the group."""
    for file in path.glob("*/**/zarr.json"):
        documents.setdefault(str(file.parent.relative_to(path)), json.loads(file.read_text()))
    members = {"kind": "inline", "must_understand": False, "metadata": documents}
    edit_json(path / "zarr.json", consolidated_metadata=members)


def write_multiscale(path):
    """A raster of 96 × 64 pixels, in UTM 33N from (300000, 5000000), with overviews by the
    convention "multiscales". The pixels of a level have one value, which shows what was read: 10,
    and in the overviews of half and quarter size 20 and 40."""
    names = {1: "data", 2: "half", 4: "quarter"}
    layout = [{"asset": "data"}] + [
        {"asset": names[factor], "derived_from": names[factor // 2],
         "transform": {"scale": [2.0, 2.0], "translation": [0.0, 0.0]}}
        for factor in (2, 4)
    ]
    convention = {"uuid": "d35379db-88df-4056-af3a-620245f8e347", "name": "multiscales"}
    write_group(path, {"multiscales": {"layout": layout}, "zarr_conventions": [convention]})
    crs = {"_CRS": {"url": "http://www.opengis.net/def/crs/EPSG/0/32633"}}
    for factor, name in names.items():
        group = path if factor == 1 else write_group(path / name)
        data = np.full((64 // factor, 96 // factor), 10 * factor, "u1")
        write_array(group / "data", data, (16, 16), fill_value=255, names=["y", "x"],
                    attributes=crs)
        rows, columns = (10 * factor * (np.arange(n) + 0.5) for n in data.shape)
        write_array(group / "x", 300_000 + columns, names=["x"])
        write_array(group / "y", 5_000_000 - rows, names=["y"])
    return path
