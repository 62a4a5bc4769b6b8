"""Every codec, data type, chunk grid and chunk key encoding that a registry or a released writer
has, each with a store whose bytes come from the library that defines it or are spelled out here."""
import gzip
import json
import struct
import zlib
from dataclasses import dataclass, field

import h5py
import numcodecs
import numpy as np
from foreign_chunks import file_of, grib_message, only_block, write_tiff
from imagecodecs_streams import (
    DATA,
    STREAMS,
    bfloat16,
    float24,
    raw_deflate,
    short_floats,
    shuffled_bits,
)
from imagecodecs_streams import RAW as DATA_BYTES
from numcodecs.zstd import Zstd
from osgeo import gdal
from stores import BYTES, CRC32C, encode, sharding, write_json

NUMBERS = (np.arange(24, dtype="<i4") * 3 - 7).reshape(4, 6)
FLOATS = NUMBERS.astype("<f4") / 4
FLAGS = NUMBERS % 2 == 0
TEXTS = np.array(["", "a", "Zürich", "two words"], object)
RAW = NUMBERS.tobytes()


@dataclass
class Entry:
    """One chunk, by its key, holds `values`: numbers, or strings in a list."""

    kind: str
    names: list  # synonyms; the store has the first, and each of the others is read as well
    source: str
    chunk: object = b""  # or a function that makes it
    values: object = field(default_factory=lambda: NUMBERS)
    members: dict = field(default_factory=dict)  # of the document; "NAME" in it is the name
    key: str = "c/0/0"
    is_v2: bool = False
    refusal: str = ""  # what the error says about it
    driver: str = ""  # of GDAL, which the codec needs


def named(name, configuration=None):
    return {"name": name} | ({} if configuration is None else {"configuration": configuration})


def with_name(value, name):
    """The value with `name` for each "NAME" in it."""
    if isinstance(value, dict):
        return {key: with_name(item, name) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [with_name(item, name) for item in value]
    return name if value == "NAME" else value


def write_entry(path, entry, name):
    shape = list(np.shape(entry.values))
    is_text = np.asarray(entry.values).dtype.kind in "OU"
    if entry.is_v2:
        document = {"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": "<i4", "order": "C",
                    "fill_value": "" if is_text else 0, "filters": None, "compressor": None}
    else:
        document = {
            "zarr_format": 3, "node_type": "array", "shape": shape, "attributes": {},
            "data_type": "string" if is_text else np.asarray(entry.values).dtype.name,
            "chunk_grid": named("regular", {"chunk_shape": shape}),
            "chunk_key_encoding": {"name": "default"}, "fill_value": "" if is_text else 0,
            "codecs": [BYTES]}
    write_json(path / (".zarray" if entry.is_v2 else "zarr.json"),
               document | with_name(entry.members, name))
    file = path / entry.key
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(entry.chunk() if callable(entry.chunk) else entry.chunk)


# --- Codecs of v3 ---------------------------------------------------------------------------------

def key_of(values):
    return "/".join(["c", *"0" * np.ndim(values)])


def codec(names, source, chunk, configuration=None, values=NUMBERS, before=(), after=(), **more):
    """A codec between the codecs `before` and `after` it."""
    names = [names] if isinstance(names, str) else names
    members = {"codecs": [*before, named("NAME", configuration), *after]}
    return Entry("codec", names, source, chunk, values, members | more.pop("members", {}),
                 key_of(values), **more)


def array_codec(names, source, stored, configuration=None, values=NUMBERS, **more):
    return codec(names, source, np.asarray(stored).tobytes(), configuration, values, after=[BYTES],
                 **more)


def bytes_codec(names, source, chunk, configuration=None, values=NUMBERS, **more):
    return codec(names, source, chunk, configuration, values, before=[BYTES], **more)


def variable_length(items):
    parts = [item.encode() for item in items]
    return struct.pack("<I", len(parts)) + b"".join(struct.pack("<I", len(p)) + p for p in parts)


def indexed_texts():
    """The layout of zarrs.vlen: the length of the index, offsets, bytes."""
    parts = [item.encode() for item in TEXTS]
    offsets = np.cumsum([0, *map(len, parts)]).astype("<u4").tobytes()
    return struct.pack("<Q", len(offsets)) + offsets + b"".join(parts)


OPTIONAL = np.array([(1, 5), (0, 0), (1, 7)], [("valid", "u1"), ("value", "<i4")])
OPTIONAL_INT32 = named("zarrs.optional", named("int32", {}))


def optional_numbers():
    """The layout of zarrs.optional: the lengths of mask and data, the mask, and what is valid."""
    mask, data = b"\5", np.array([5, 7], "<i4").tobytes()
    return struct.pack("<QQ", len(mask), len(data)) + mask + data


def n5_block(values, payload=None):
    header = struct.pack(">HH", 0, values.ndim) + struct.pack(f">{values.ndim}I", *values.shape)
    return header + (values.T.astype(">i4").tobytes() if payload is None else payload)


def zfp_stream(values):
    """Without the header that numcodecs writes."""
    import zfpy
    return zfpy.compress_numpy(values, rate=32, write_header=False)


def shard(values):
    return encode(values, [sharding(values.shape)], 0)


REGISTRY, ZARRS, NUMCODECS = "registry", "zarrs", "numcodecs"
BINARY = {"data_type": "bytes", "fill_value": ""}
INDEX = {"index_codecs": [BYTES], "data_codecs": [BYTES], "index_data_type": "uint32"}

V3_CODECS = [
    codec(["bytes", "endian"], REGISTRY, NUMBERS.astype(">i4").tobytes(), {"endian": "big"}),
    bytes_codec("blosc", REGISTRY, numcodecs.Blosc("zstd", 3, 1).encode(NUMBERS),
                {"cname": "zstd", "clevel": 3, "shuffle": "shuffle", "typesize": 4,
                 "blocksize": 0}),
    bytes_codec("gzip", REGISTRY, gzip.compress(RAW), {"level": 5}),
    bytes_codec("zstd", REGISTRY, Zstd(3).encode(RAW), {"level": 3, "checksum": False}),
    bytes_codec("crc32c", REGISTRY, encode(NUMBERS, [BYTES, CRC32C], 0)),
    array_codec("transpose", REGISTRY, NUMBERS.T, {"order": [1, 0]}),
    codec("sharding_indexed", REGISTRY, shard(NUMBERS), sharding([4, 6])["configuration"]),
    array_codec("reshape", REGISTRY, NUMBERS, {"shape": [[0, 1]]}),
    array_codec("cast_value", REGISTRY, NUMBERS.astype("<f8"), {"data_type": "float64"}),
    array_codec("scale_offset", REGISTRY, (NUMBERS - 5) * 2, {"scale": 2, "offset": 5}),
    array_codec(["bitround", "numcodecs.bitround"], REGISTRY, FLOATS, {"keepbits": 12}, FLOATS),
    codec("packbits", REGISTRY, np.packbits(FLAGS, bitorder="little").tobytes(), {}, FLAGS,
          members={"fill_value": False}),
    codec(["vlen-utf8", "numcodecs.vlen-utf8"], REGISTRY, variable_length(TEXTS), None, TEXTS),
    codec(["vlen-bytes", "numcodecs.vlen-bytes"], REGISTRY, variable_length(TEXTS), None, TEXTS,
          members=BINARY),
    codec("zfp", REGISTRY, zfp_stream(FLOATS),
          {"mode": "fixed_rate", "rate": 32}, FLOATS),
    bytes_codec("conditional", REGISTRY, b"\1" + gzip.compress(RAW),
                {"codecs": [named("gzip", {"level": 5})]}),
    codec("n5_default", REGISTRY, n5_block(NUMBERS), {"codecs": [
        named("transpose", {"order": [1, 0]}), named("bytes", {"endian": "big"})]}),
    array_codec("zarrs.squeeze", ZARRS, NUMBERS, None, NUMBERS[None]),
    codec("zarrs.optional", ZARRS, optional_numbers(),
          {"mask_codecs": [named("packbits")], "data_codecs": [BYTES]}, OPTIONAL,
          members={"data_type": OPTIONAL_INT32, "fill_value": None}),
    codec("zarrs.vlen", ZARRS, indexed_texts(), INDEX, TEXTS),
    codec("zarrs.vlen_v2", ZARRS, variable_length(TEXTS), None, TEXTS),
    codec(["vlen-array", "numcodecs.vlen-array"], ZARRS, variable_length(TEXTS), None, TEXTS,
          members=BINARY),
    bytes_codec("zarrs.gdeflate", ZARRS, b"-", {"level": 1}, refusal="gdeflate"),
]

# --- numcodecs ------------------------------------------------------------------------------------

# id, members, values, and what it is in v3: from arrays to arrays ("array"), from bytes to bytes
# ("bytes"), from arrays to bytes ("own"), or nothing.
OF_NUMCODECS = [
    ("astype", {"encode_dtype": "<i8", "decode_dtype": "<i4"}, NUMBERS, "array"),
    ("base64", {}, NUMBERS, None),
    ("bitround", {"keepbits": 12}, FLOATS, "array"),
    ("blosc", {"cname": "lz4", "clevel": 5, "shuffle": 2, "blocksize": 0}, NUMBERS, "bytes"),
    ("bz2", {"level": 1}, NUMBERS, "bytes"),
    ("categorize", {"labels": list(TEXTS), "dtype": "|O", "astype": "|u1"}, TEXTS, None),
    ("crc32", {}, NUMBERS, "bytes"),
    ("delta", {"dtype": "<i4", "astype": "<i4"}, NUMBERS, "array"),
    ("fixedscaleoffset", {"offset": 1, "scale": 4, "dtype": "<f4", "astype": "<i2"}, FLOATS,
     "array"),
    ("gzip", {"level": 1}, NUMBERS, "bytes"),
    ("json2", {}, TEXTS, None),
    ("lz4", {"acceleration": 1}, NUMBERS, "bytes"),
    ("lzma", {"format": 1, "check": -1, "preset": None, "filters": None}, NUMBERS, "bytes"),
    ("msgpack2", {}, TEXTS, None),
    ("packbits", {}, FLAGS, "array"),
    ("quantize", {"digits": 3, "dtype": "<f4", "astype": "<f4"}, FLOATS, "array"),
    ("shuffle", {"elementsize": 4}, NUMBERS, "bytes"),
    ("vlen-utf8", {}, TEXTS, None),
    ("zfpy", {"mode": 2, "rate": 32, "compression_kwargs": {"rate": 32}}, FLOATS, "own"),
    ("zlib", {"level": 1}, NUMBERS, "bytes"),
    ("zstd", {"level": 1}, NUMBERS, "bytes"),
    # Whose bytes are spelled out, since the numcodecs of some Debian lacks them.
    ("adler32", struct.pack("<I", zlib.adler32(RAW)) + RAW, NUMBERS, "bytes"),
    ("crc32c", encode(NUMBERS, [BYTES, CRC32C], 0), NUMBERS, "bytes"),
    ("fletcher32", RAW + bytes.fromhex("0297260a"), NUMBERS, "bytes"),
    ("jenkins_lookup3", RAW + bytes.fromhex("27f2ecde"), NUMBERS, "bytes"),
    ("json", json.dumps([*TEXTS, "|O"]).encode(), TEXTS, None),
    ("msgpack", b"\x95" + b"".join(bytes([0xA0 | len(text.encode())]) + text.encode()
                                   for text in [*TEXTS, "|O"]), TEXTS, None),
    ("pcodec", b"-", NUMBERS, "own"),
    ("pickle", b"-", TEXTS, None),
]


def of_numcodecs(name, config, values, form, is_v2):
    chunk = config
    config = {} if isinstance(config, bytes) else config
    if not isinstance(chunk, bytes):
        chunk = numcodecs.get_codec({"id": name, **config}).encode(values)
        chunk = np.asarray(chunk).tobytes() if form == "array" else bytes(chunk)
    refusal = name if name in ("pcodec", "pickle") else ""
    is_text = values.dtype == object
    if is_v2:
        filters = {"filters": [{"id": "NAME", **config}],
                   "dtype": "|O" if is_text else values.dtype.str}
        return Entry("filter of v2", [name], NUMCODECS, chunk, values, filters,
                     ".".join("0" * values.ndim), True, refusal)
    return codec("numcodecs." + name, NUMCODECS, chunk, config, values, refusal=refusal,
                 before=[BYTES] if form == "bytes" else [],
                 after=[BYTES] if form == "array" else [])


# Where numcodecs was built without zfpy, as in Debian 13, that has no entry.
HAS_ALL_CODECS = "zfpy" in numcodecs.registry.codec_registry

NUMCODECS_ENTRIES = [of_numcodecs(*row, is_v2) for row in OF_NUMCODECS for is_v2 in (True, False)
                     if (is_v2 or row[3]) and (HAS_ALL_CODECS or row[0] != "zfpy")]

# --- Data types ---------------------------------------------------------------------------------


def data_type(names, chunk, values, fill_value=0, configuration=None, codecs=(BYTES,), **more):
    names = [names] if isinstance(names, str) else names
    members = {"data_type": named("NAME", configuration) if configuration else "NAME",
               "fill_value": fill_value, "codecs": codecs}
    return Entry("data type", names, REGISTRY, chunk, values, members | more.pop("members", {}),
                 key_of(values), **more)


ONE = np.array([0, 1.0])
RECORDS = np.array([(1, 2.5), (3, 4.5)], "<i2, <f4")
RECORDS.dtype.names = ["a", "b"]
# The bits of the number 1.
SMALL_FLOATS = {
    "float4_e2m1fn": 2, "float6_e2m3fn": 8, "float6_e3m2fn": 12, "float8_e3m4": 0x30,
    "float8_e4m3": 0x38, "float8_e4m3b11fnuz": 0x58, "float8_e4m3fnuz": 0x40, "float8_e5m2": 0x3C,
    "float8_e5m2fnuz": 0x40,
}
NUMPY_NAMES = ["bool", *(f"{sign}int{bits}" for sign in ("u", "") for bits in (8, 16, 32, 64)),
               "float16", "float32", "float64"]
DATA_TYPES = [
    *(data_type(name, np.array([0, 1], name).tobytes(), ONE, 0 if name != "bool" else False)
      for name in NUMPY_NAMES),
    *(data_type(name, b"\0\1", ONE) for name in ("int2", "int4", "uint2", "uint4")),
    data_type("bfloat16", np.array([0, 1], "<f4").view("<u2")[1::2].tobytes(), ONE),
    *(data_type(name, bytes([0, one]), ONE, "0x00") for name, one in SMALL_FLOATS.items()),
    data_type("float8_e8m0fnu", bytes([0x7F, 0x80]), np.array([1.0, 2.0]), "0x7f"),
    data_type(["complex64", "complex_float32"], np.array([0, 1], "<c8").tobytes(), ONE, [0, 0]),
    data_type(["complex128", "complex_float64"], np.array([0, 1], "<c16").tobytes(), ONE, [0, 0]),
    data_type("complex_float16", np.array([0, 0, 1, 0], "<f2").tobytes(), ONE, [0, 0]),
    data_type(["string"], variable_length(TEXTS), TEXTS, "", None, [named("vlen-utf8")]),
    data_type(["bytes", "variable_length_bytes", "binary"], variable_length(TEXTS), TEXTS, "",
              None, [named("vlen-bytes")]),
    data_type("null_terminated_bytes", b"a\0bc", ["a", "bc"], "", {"length_bytes": 2}),
    data_type("fixed_length_utf32", "ab".encode("utf-32-le"), ["a", "b"], "", {"length_bytes": 4}),
    data_type("r16", b"\0\0\1\0", ONE, [0, 0]),
    data_type(["raw_bytes", "raw_bits"], b"\0\0\1\0", ONE, "AAA=", {"length_bytes": 2}),
    data_type("numpy.datetime64", NUMBERS[0].astype("<i8").tobytes(), NUMBERS[0], 0,
              {"unit": "s", "scale_factor": 1}),
    data_type("numpy.timedelta64", NUMBERS[0].astype("<i8").tobytes(), NUMBERS[0], 0,
              {"unit": "s", "scale_factor": 1}),
    *(data_type(name, RECORDS.tobytes(), RECORDS, fill_value,
                {"fields": [["a", "int16"], ["b", "float32"]]})
      for name, fill_value in [("struct", {"a": 0, "b": 0}), ("structured", "AAAAAAAA")]),
]

# --- Grids, keys, storage transformers ------------------------------------------------------------


def grid(name, source, configuration):
    return Entry("chunk grid", [name], source, RAW,
                 members={"chunk_grid": named("NAME", configuration)})


def keys(name, source, key, configuration=None):
    return Entry("chunk key encoding", [name], source, RAW, key=key,
                 members={"chunk_key_encoding": named("NAME", configuration)})


OTHERS = [
    grid("regular", REGISTRY, {"chunk_shape": [4, 6]}),
    grid("rectilinear", REGISTRY, {"kind": "inline", "chunk_shapes": [[4], [6]]}),
    grid("rectangular", "ZEP 3", {"chunk_shape": [4, [6]]}),
    grid("zarrs.regular_bounded", ZARRS, {"chunk_shape": [4, 6]}),
    keys("default", REGISTRY, "c.0.0", {"separator": "."}),
    keys("v2", REGISTRY, "0.0"),
    keys("zarrs.default_suffix", ZARRS, "c/0/0.bin", {"suffix": ".bin"}),
    Entry("storage transformer", ["indexed"], "registry", RAW, refusal="storage transformer",
          members={"storage_transformers": [named("indexed")]}),
]
# --- Images and messages ------------------------------------------------------------------------

GRAY = (np.arange(600, dtype="u1") % 200).reshape(20, 30)
BITS = GRAY // 7 % 2
IMAGECODECS = "imagecodecs"


def image(name, driver, *options, values=GRAY, make=file_of, source=IMAGECODECS, **configuration):
    return codec(name, source, lambda: make(values, driver, *options), configuration, values,
                 driver=driver)


def block_of(values, driver, *options):
    path = "/vsimem/block_of_registry.tif"
    try:
        return only_block(write_tiff(path, values, *options))
    finally:
        gdal.Unlink(path)


def message_of(values, driver):
    return grib_message(values[::-1])


FILES = [
    image("imagecodecs_bmp", "BMP"),
    *(image("imagecodecs_" + name, "GTiff", "COMPRESS=" + name.upper(), "NBITS=1", values=BITS,
            make=block_of) for name in ("ccittrle", "ccittfax3", "ccittfax4")),
    image("imagecodecs_gif", "GIF"),
    image("imagecodecs_jpeg", "JPEG", values=np.full_like(GRAY, 128)),
    image("imagecodecs_jpeg2k", "JP2OpenJPEG", "QUALITY=100", "REVERSIBLE=YES"),
    image("imagecodecs_jpegxl", "JPEGXL", "LOSSLESS=YES"),
    image("imagecodecs_lerc", "GTiff", "COMPRESS=LERC", make=block_of),
    image("imagecodecs_png", "PNG"),
    image("imagecodecs_spng", "PNG"),
    image("imagecodecs_tiff", "GTiff"),
    image("imagecodecs_webp", "WEBP", "LOSSLESS=YES", values=np.dstack([GRAY, BITS, GRAY])),
    image("grib", "GRIB", values=FLOATS, make=message_of, source="kerchunk", var="t"),
    image("gribberish", "GRIB", values=FLOATS, make=message_of, source="gribberish", var="t"),
]
SZIP = h5py.h5z.FILTER_SZIP


def szip(values):
    """The chunk of an HDF5 file, and the options of its filter."""
    with h5py.File("szip.h5", "w", driver="core", backing_store=False) as h5:
        dataset = h5.create_dataset("a", data=values, chunks=values.shape, compression="szip",
                                    compression_opts=("nn", 4))
        mask, chunk = dataset.id.read_direct_chunk((0,) * values.ndim)
        options = dataset.id.get_create_plist().get_filter_by_id(SZIP)[1]
    assert mask == 0
    return chunk, dict(zip(["options_mask", "pixels_per_block", "bits_per_pixel",
                            "pixels_per_scanline"], options))


PLANES = np.moveaxis(NUMBERS.view("u1").reshape(4, 6, 4), 2, 1)
FLOAT_ROWS = np.moveaxis(FLOATS.view("u1").reshape(4, 6, 4), 2, 1)[:, ::-1].reshape(4, 24)
BYTES_OF_NUMBERS = [
    ("bitshuffle", shuffled_bits(NUMBERS.reshape(-1, 1).view("u1")), {"itemsize": 4}, NUMBERS),
    ("byteshuffle", PLANES.tobytes(), {"shape": [4, 6], "dtype": "<i4", "axis": -1}, NUMBERS),
    ("floatpred", np.diff(FLOAT_ROWS, prepend=np.uint8(0)).tobytes(),
     {"shape": [4, 6], "dtype": "<f4", "axis": -1}, FLOATS),
    ("lzw", lambda: block_of(GRAY, "GTiff", "COMPRESS=LZW"), {}, GRAY),
    ("packbits", lambda: block_of(GRAY, "GTiff", "COMPRESS=PACKBITS"), {"axis": None}, GRAY),
    ("packints", np.packbits(BITS, axis=1).tobytes(),
     {"dtype": "|u1", "bitspersample": 1, "runlen": 30}, BITS),
    ("szip", *szip(NUMBERS), NUMBERS),
]


def filter_of(name, source, chunk, values=NUMBERS, refusal="", members=(), **options):
    """A filter of v2."""
    return Entry("filter of v2", [name], source, chunk, values,
                 {"filters": [{"id": "NAME", **options}], **dict(members)},
                 ".".join("0" * np.ndim(values)), True, refusal)


TABLE = np.array([(12,), (-70,)], [("n", "<i4")])
TABLE_TYPES = {"indtypes": [["n", "S5"]], "outdtypes": [["n", "<i4"]]}
# The codecs of streams that are not decoded through GDAL; the first stream of each.
STREAM_CODECS = {config["id"]: (config, encode) for config, encode in reversed(STREAMS.values())}
STREAM_ENTRIES = [
    *(bytes_codec("imagecodecs_" + name, IMAGECODECS, encode(DATA_BYTES),
                  {key: value for key, value in config.items() if key != "id"}, DATA)
      for name, (config, encode) in sorted(STREAM_CODECS.items())),
    array_codec("imagecodecs_delta", IMAGECODECS, np.diff(NUMBERS, prepend=0).astype("<i4"), {}),
    array_codec("imagecodecs_xor", IMAGECODECS,
                np.bitwise_xor(NUMBERS, np.pad(NUMBERS, ((0, 0), (1, 0)))[:, :-1]), {}),
    *(bytes_codec("imagecodecs_" + name, IMAGECODECS, chunk, options, values)
      for name, chunk, options, values in BYTES_OF_NUMBERS),
    *(codec(f"imagecodecs_{encode.__name__}", IMAGECODECS, short_floats(encode, FLOATS),
            {"byteorder": "<"}, FLOATS) for encode in (bfloat16, float24)),
    *(bytes_codec(f"imagecodecs_{name}", IMAGECODECS, b"-", {}, refusal=name)
      for name in ("aec", "brotli")),
    array_codec("HorizontalDeltaCodec", "kerchunk", np.diff(NUMBERS, prepend=0).astype("<i4")),
    codec("ChunkyCodec", "kerchunk", NUMBERS.T.tobytes(), {"endian": "little"}),
    filter_of("deflate", "kerchunk", raw_deflate(RAW)),
    filter_of("fill_hdf_strings", "kerchunk", b"1".ljust(16, b"\0") + b"2".ljust(16, b"\0"),
              ["one", "two"], members={"dtype": "|O", "fill_value": None}, dtype="S16",
              id_map={"1": "one", "2": "two"}),
    filter_of("FITSAscii", "kerchunk", b"  12  -70 ", TABLE,
              members={"dtype": [["n", "<i4"]], "fill_value": None}, **TABLE_TYPES),
    *(filter_of(name, "kerchunk", b"-", refusal=name)
      for name in ("FITSVarBintable", "record_member")),
    filter_of("n5_wrapper", "zarr-python 2", n5_block(NUMBERS.T, NUMBERS.astype(">i4").tobytes()),
              compressor_config=None),
    bytes_codec("zlib", "draft of 2020", zlib.compress(RAW), {"level": 1}),
]
ENTRIES = [*V3_CODECS, *NUMCODECS_ENTRIES, *DATA_TYPES, *OTHERS, *FILES,
           *STREAM_ENTRIES]


def table():
    """The table of doc/comparison.md."""
    lines = ["| kind | from | read | refused |", "|---|---|---|---|"]
    rows = {}
    for entry in ENTRIES:
        read, refused = rows.setdefault((entry.kind, entry.source), ([], []))
        (refused if entry.refusal else read).extend(f"`{name}`" for name in entry.names)
    for (kind, source), lists in rows.items():
        lines.append("| " + " | ".join([kind, source, *(", ".join(names) for names in lists)])
                     + " |")
    return [line.replace("|  |", "| |") for line in lines]


if __name__ == "__main__":
    print(*table(), sep="\n")
