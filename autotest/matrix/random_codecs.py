"""Random arrays of the codecs, grids and types that zarr-python does not have: each chunk is
encoded here, step by step, as the specification or the library of the codec says.

    names, want = write(seed, path)
"""
import gzip
import struct
from dataclasses import dataclass

import numpy as np
from imagecodecs_streams import STREAMS
from random_arrays import chance, codec, pick, random_values, random_words
from stores import crc32c, write_json

NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


@dataclass
class Step:
    document: dict
    encode: object  # of an array, or of bytes


def encode(steps, data):
    for step in steps:
        data = step.encode(data)
    return data


def documents(steps):
    return [step.document for step in steps]


# --- From bytes to bytes --------------------------------------------------------------------------

def tiff_packbits(data):
    parts = [data[i:i + 128] for i in range(0, len(data), 128)]
    return b"".join(bytes([len(part) - 1]) + part for part in parts)


def conditional(random, depth):
    """Each chunk states which of the codecs it has."""
    steps = [bytes_step(random, depth + 1) for _ in range(random.integers(1, 4))]
    bits = pick(random, [8, 16])
    options = {"header_bits": bits} if bits == 16 or chance(random, 0.5) else {}

    def apply(data):
        mask = 0
        for i, step in enumerate(steps):
            if chance(random, 0.6):
                mask, data = mask | 1 << i, step.encode(data)
        return mask.to_bytes(bits // 8, "little") + data

    return Step(codec("conditional", codecs=documents(steps), **options), apply)


def bytes_step(random, depth=0):
    names = ["zlib", "zlibng", "deflate", "deflate_raw", "zopfli", "zopfli_gzip", "bz2", "lzma",
             "zstd", "lz4_header", "lz4f", "lz4h5", "blosc", "crc32", "adler32", "bitorder"]
    kind = random.integers(7)
    if kind == 0 and depth < 2:
        return conditional(random, depth)
    if kind == 1:
        return Step(codec("imagecodecs_packbits", axis=None), tiff_packbits)
    if kind == 2:
        return Step({"name": "crc32c"}, lambda data: data + struct.pack("<I", crc32c(data)))
    if kind == 3:
        return Step(codec("gzip", level=3), gzip.compress)
    name = pick(random, names[:-1])
    options, function = STREAMS[name]
    members = {key: value for key, value in options.items() if key != "id"}
    prefix = pick(random, ["", "numcodecs."])
    return Step(codec(f"{prefix}imagecodecs_{options['id']}", **members),
                lambda data: bytes(function(data)))


def bytes_steps(random):
    return [bytes_step(random) for _ in range(pick(random, [0, 1, 1, 2]))]


# --- From arrays to arrays ------------------------------------------------------------------------

def squeezed(chunk):
    return chunk.reshape([n for n in chunk.shape if n != 1] or [1])


def differences(operation):
    """Of neighbours along the last axis, of their bits as integers that wrap around."""
    def apply(chunk):
        bits = np.ascontiguousarray(chunk).view(f"u{chunk.itemsize}")
        result = bits.copy()
        result[..., 1:] = operation(bits[..., 1:], bits[..., :-1])
        return result.view(chunk.dtype)
    return apply


def reversed_bits(chunk):
    table = np.packbits(np.unpackbits(np.arange(256, dtype="u1"), bitorder="little"))
    return table[np.ascontiguousarray(chunk).view("u1")].view(chunk.dtype)


def array_steps(random, rank, dtype):
    """And the type that they make. Of these, squeezing leaves a number of axes that may depend on
    the chunk, and comes last."""
    steps = []
    if rank and chance(random, 0.3):
        order = [int(i) for i in random.permutation(rank)]
        steps.append(Step(codec("transpose", order=order), lambda c: c.transpose(order)))
    if rank and dtype.kind in "iuf" and chance(random, 0.5):
        name, apply = pick(random, [
            ("imagecodecs_delta", differences(np.subtract)),
            ("imagecodecs_xor", differences(np.bitwise_xor)),
            ("imagecodecs_bitorder", reversed_bits), ("imagecodecs_quantize", np.array)])
        steps.append(Step({"name": name}, apply))
    if dtype.kind in "iu" and dtype.itemsize < 8 and not steps and chance(random, 0.3):
        steps.append(Step(codec("cast_value", data_type="float64"), lambda c: c.astype("f8")))
        dtype = np.dtype("f8")
    if rank and chance(random, 0.4):
        steps.append(pick(random, [
            Step({"name": "zarrs.squeeze"}, squeezed),
            Step(codec("reshape", shape=[list(range(rank))]), np.ravel)]))
    return steps, dtype


# --- From arrays to bytes -------------------------------------------------------------------------

def numbers_as_bytes(order):
    return lambda chunk: chunk.astype(chunk.dtype.newbyteorder(order)).tobytes()


def bytes_codec(random):
    order = pick(random, ["little", "big"])
    return Step(codec("bytes", endian=order), numbers_as_bytes("><"[order == "little"]))


def packbits(random):
    padding = pick(random, ["none", "first_byte", "last_byte"])

    def apply(chunk):
        data = np.packbits(chunk.ravel(), bitorder="little").tobytes()
        count = bytes([-chunk.size % 8])
        return {"none": data, "first_byte": count + data, "last_byte": data + count}[padding]

    return Step(codec("packbits", padding_encoding=padding), apply)


def n5_default(random, rank):
    """Blocks in order F."""
    order = list(range(rank))[::-1]
    inner = [Step(codec("transpose", order=order), np.transpose),
             Step(codec("bytes", endian="big"), numbers_as_bytes(">"))]
    inner += [Step(codec("gzip", level=1), gzip.compress)] * chance(random, 0.5)
    return Step(codec("n5_default", codecs=documents(inner)), lambda chunk: struct.pack(
        f">HH{rank}I", 0, rank, *chunk.shape) + encode(inner, chunk))


def texts(chunk):
    return [text.encode() for text in chunk.ravel()]


def variable_length(chunk):
    parts = texts(chunk)
    return struct.pack("<I", len(parts)) + b"".join(struct.pack("<I", len(p)) + p for p in parts)


def indexed_texts(random):
    index_type = pick(random, ["uint32", "uint64"])
    location = pick(random, ["start", "end"])
    index_steps = [bytes_codec(random), *bytes_steps(random)]
    data_steps = [Step({"name": "bytes"}, bytes), *bytes_steps(random)]

    def apply(chunk):
        parts = texts(chunk)
        offsets = np.cumsum([0, *map(len, parts)]).astype(index_type)
        index, data = encode(index_steps, offsets), b"".join(parts)
        data = encode(data_steps, data) if data else b""
        size = struct.pack("<Q", len(index))
        return size + index + data if location == "start" else data + index + size

    return Step(codec("zarrs.vlen", index_data_type=index_type, index_location=location,
                      index_codecs=documents(index_steps), data_codecs=documents(data_steps)),
                apply)


def optional(random):
    mask_steps = [pick(random, [packbits(random), Step({"name": "bytes"}, lambda c: c.tobytes())]),
                  *bytes_steps(random)]
    data_steps = [bytes_codec(random), *bytes_steps(random)]

    def apply(chunk):
        valid = chunk["valid"] == 1
        values = chunk["value"][valid]
        mask = encode(mask_steps, valid)
        data = encode(data_steps, values) if values.size else b""
        return struct.pack("<QQ", len(mask), len(data)) + mask + data

    return Step(codec("zarrs.optional", mask_codecs=documents(mask_steps),
                      data_codecs=documents(data_steps)), apply)


def chain(random, rank, dtype):
    if dtype.kind == "O":
        return [pick(random, [indexed_texts(random), Step({"name": "zarrs.vlen_v2"},
                                                          variable_length)]), *bytes_steps(random)]
    if dtype.names:
        return [optional(random), *bytes_steps(random)]
    steps, stored = array_steps(random, rank, dtype)
    choices = [bytes_codec(random)] * 2
    if stored.kind == "b":
        choices = [packbits(random)] * 3 + [bytes_codec(random)]
    elif rank and not steps and stored != "f2":
        choices.append(n5_default(random, rank))
    return [*steps, pick(random, choices), *bytes_steps(random)]


def sharding(random, chunk_shape, fill_value, inner):
    """Shards whose inner chunks have those codecs, in a random order."""
    def apply(shard):
        grid = [n // c for n, c in zip(shard.shape, chunk_shape)]
        index = np.full((*grid, 2), 2**64 - 1, "u8")
        content = b""
        for i in random.permutation(int(np.prod(grid))):
            at = np.unravel_index(i, grid)
            chunk = shard[tuple(slice(a * c, a * c + c) for a, c in zip(at, chunk_shape))]
            empty = np.full_like(chunk, fill_value)
            if (chunk == empty).all() and chunk.tobytes() == empty.tobytes():  # -0.0 is none
                continue
            data = encode(inner, chunk)
            index[at] = len(content), len(data)
            content += data
        return content + index.tobytes()

    return Step(codec("sharding_indexed", chunk_shape=chunk_shape, codecs=documents(inner),
                      index_codecs=[codec("bytes", endian="little")], index_location="end"), apply)


# --- Grids and keys -------------------------------------------------------------------------------

def lengths_of_axis(random, size):
    lengths = []
    while sum(lengths) < size:
        lengths.append(int(random.integers(1, size + 1)))
    lengths[-1] -= sum(lengths) - size
    return lengths


def random_grid(random, shape):
    """The document, the lengths of the chunks along each axis, and whether all are the same."""
    chunk_shape = [int(random.integers(1, n + 1)) for n in shape]
    kind = pick(random, ["regular", "zarrs.regular_bounded", "rectangular", "rectilinear"])
    if kind in ("rectangular", "rectilinear"):
        lengths = [lengths_of_axis(random, n) for n in shape]
        options = {"chunk_shape": lengths} if kind == "rectangular" else {
            "kind": "inline", "chunk_shapes": [[[c, 1] for c in axis] for axis in lengths]}
        return codec(kind, **options), lengths, None
    lengths = [[c] * -(-n // c) for n, c in zip(shape, chunk_shape)]
    if kind == "regular":
        return codec(kind, chunk_shape=chunk_shape), lengths, chunk_shape
    for axis, n in zip(lengths, shape):
        axis[-1] -= sum(axis) - n
    return codec(kind, chunk_shape=chunk_shape), lengths, None


def key_encoding(random):
    separator = pick(random, ["/", "."])
    suffix = pick(random, [".bin", ".shard.x"])
    return pick(random, [
        (codec("default", separator=separator), lambda i: separator.join(["c", *map(str, i)])),
        (codec("zarrs.default_suffix", separator=separator, suffix=suffix),
         lambda i: separator.join(["c", *map(str, i)]) + suffix)])


# --- Arrays -------------------------------------------------------------------------------------

def random_array(random, shape):
    """The type in JSON, the values, and the fill value in JSON and as an element."""
    kind = pick(random, [*NUMBERS, "?", "?", "optional", "optional", "text"])
    if kind == "text":
        values = np.array(random_words(random, int(np.prod(shape))), object).reshape(shape)
        return "string", values, "none", "none"
    if kind == "optional":
        number = np.dtype(pick(random, NUMBERS))
        values = np.zeros(shape, [("valid", "u1"), ("value", number)])
        values["valid"] = random.random(shape) < random.random()
        values["value"] = random_values(random, number, shape, True)
        values["value"][values["valid"] == 0] = 0
        kind = {"name": "zarrs.optional", "configuration": {"name": number.name,
                                                            "configuration": {}}}
        return kind, values, None, np.zeros((), values.dtype)[()]
    dtype = np.dtype(kind)
    fill_value = dtype.type(random.integers(2))
    return dtype.name, np.array(random_values(random, dtype, shape)), fill_value.item(), fill_value


def names_in(value):
    """The names of codecs and grids in a document."""
    if isinstance(value, dict):
        yield from [value["name"]] if "name" in value else []
        value = list(value.values())
    for item in value if isinstance(value, list) else []:
        yield from names_in(item)


def write(seed, path):
    random = np.random.default_rng([seed, 41])
    rank = int(random.choice(5, p=[0.05, 0.3, 0.35, 0.2, 0.1]))
    shape = [int(n) for n in random.integers(1, [0, 200, 30, 12, 7][rank] + 1, rank)]
    data_type, want, fill_value, fill_element = random_array(random, shape)
    grid, lengths, chunk_shape = random_grid(random, shape)
    steps = chain(random, rank, want.dtype)
    if rank and chunk_shape and chance(random, 0.4):
        steps = [sharding(random, chunk_shape, fill_element, steps)]
        counts = random.integers(1, 4, rank)
        chunk_shape = [int(n * c) for n, c in zip(chunk_shape, counts)]
        grid = codec("regular", chunk_shape=chunk_shape)
        lengths = [[c] * -(-n // c) for n, c in zip(shape, chunk_shape)]
    keys, key_of = key_encoding(random)
    document = {
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type,
        "chunk_grid": grid, "chunk_key_encoding": keys, "fill_value": fill_value,
        "codecs": documents(steps), "attributes": {}}
    write_json(path / "zarr.json", document)
    starts = [np.cumsum([0, *axis]) for axis in lengths]
    for index in np.ndindex(*map(len, lengths)):
        place = (*(slice(s[i], s[i + 1]) for s, i in zip(starts, index)), ...)
        if chance(random, 0.1):
            want[place] = fill_element
            continue
        part = want[place]
        chunk = np.full([axis[i] for axis, i in zip(lengths, index)], fill_element, want.dtype)
        chunk[(*map(slice, part.shape), ...)] = part
        file = path / key_of(index)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode(steps, chunk))
    return set(names_in([document["codecs"], grid, keys])), want
