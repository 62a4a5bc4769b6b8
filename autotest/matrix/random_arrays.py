"""Random arrays for zarr-python 3 to write. A seed makes the same array each time, except for types
that only some versions of zarr-python have.

    plan = make_plan(seed)
    want = write(plan, path)
"""
import json
import math
from dataclasses import dataclass, field
from importlib.metadata import version

import numcodecs
import numpy as np
import zarr

# zarr-python 3.0 has fewer types, and writes or reads more things wrongly.
IS_FIRST = version("zarr").startswith("3.0.")

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]
NUMBERS = ["?", *INTEGERS, *FLOATS, "c8", "c16"]
TIMES = ["M8[s]", "M8[10us]", "m8[D]", "m8[ns]"]
TEXTS = ["U1", "U5", "S1", "S6"]
RECORDS = [[("a", "i2"), ("b", "f8"), ("c", "u1")], [("x", "f4"), ("y", "f4")]]

LOSSY = {"numcodecs.fixedscaleoffset", "numcodecs.quantize", "numcodecs.bitround",
         "numcodecs.astype"}


@dataclass
class Plan:
    seed: int
    zarr_format: int
    shape: tuple
    dtype: object  # of NumPy, or str for strings of any length
    fill_value: object
    options: dict  # of zarr.create()
    codecs: list  # the names of all, also in shards and indexes
    shard_depth: int = 0
    is_lossy: bool = False  # its values are finite, and those that zarr-python reads are expected
    regions: list = field(default_factory=list)


def is_lossy(codec_names):
    return not LOSSY.isdisjoint(codec_names)


def pick(random, choices):
    return choices[random.integers(len(choices))]


def chance(random, probability):
    return random.random() < probability


# --- Values --------------------------------------------------------------------------------------

def random_words(random, count):
    letters = list("abc xyzäß高🗺")
    return ["".join(random.choice(letters, random.integers(6))) for _ in range(count)]


def random_values(random, dtype, shape, finite=False):
    """All values of the type, except NaNs that a conversion would change."""
    count = int(np.prod(shape))
    if dtype is str:
        return np.array(random_words(random, count), object).reshape(shape)
    dtype = np.dtype(dtype)
    if dtype.names:
        values = np.zeros(shape, dtype)
        for name in dtype.names:
            values[name] = random_values(random, dtype[name], shape, finite)
        return values
    if dtype.kind == "U":
        return np.array(random_words(random, count), dtype).reshape(shape)
    if dtype.kind == "S":
        values = random.integers(ord("A"), ord("z"), (count, dtype.itemsize), "u1")
        return values.view(f"S{dtype.itemsize}").reshape(shape)
    if dtype.kind == "c":
        parts = random_values(random, dtype.str.replace("c8", "f4").replace("c16", "f8"),
                              (*shape, 2), finite)
        return parts.view(dtype).reshape(shape)
    if dtype.kind == "f":
        values = random.normal(0, 100, shape).astype(dtype)
        if not finite:
            special = random.random(shape) < 0.1
            values[special] = random.choice([np.nan, np.inf, -np.inf, -0.0, np.finfo(dtype).max,
                                             np.finfo(dtype).tiny], shape)[special]
        return values
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    return np.frombuffer(random.bytes(count * dtype.itemsize), dtype).reshape(shape)


def random_fill_value(random, dtype, finite):
    if dtype is str:
        return pick(random, ["", "none", "ä"])
    dtype = np.dtype(dtype)
    if dtype.names or chance(random, 0.3):
        return np.zeros((), dtype)[()]
    return random_values(random, dtype, (1,), finite)[0]


def random_region(random, shape):
    """A few slices, most of them small, some with steps."""
    bounds = [sorted(random.integers(n + 1, size=2)) for n in shape]
    return tuple(slice(int(a), int(b), int(pick(random, [1, 1, 2, 3]))) for a, b in bounds)


# --- Codecs of v3 --------------------------------------------------------------------------------

def codec(name, **configuration):
    return {"name": name, "configuration": configuration}


def transpose(random, dtype, rank):
    if rank < 2 or chance(random, 0.6) or (IS_FIRST and dtype is str):
        return []
    return [codec("transpose", order=[int(i) for i in random.permutation(rank)])]


def numcodecs_filter(random, dtype):
    """None, or one. It must be the last before "bytes", because zarr-python's lose the shape."""
    kind, of = np.dtype(dtype).kind, np.dtype(dtype).str
    if kind in "iu" and chance(random, 0.3):
        return [codec("numcodecs.delta", dtype=of)]
    if kind == "f" and chance(random, 0.4):
        return [pick(random, [
            codec("numcodecs.fixedscaleoffset", offset=-3, scale=4, dtype=of, astype="<i4"),
            codec("numcodecs.quantize", digits=2, dtype=of),
            codec("numcodecs.bitround", keepbits=int(random.integers(1, 8))),
            codec("numcodecs.astype", encode_dtype="<f4", decode_dtype=of),
        ])]
    return []


def bytes_to_bytes(random, item_size):
    choices = [
        codec("gzip", level=int(random.integers(1, 10))),
        codec("zstd", level=int(random.integers(1, 6)), checksum=chance(random, 0.5)),
        codec("blosc", cname=pick(random, ["lz4", "lz4hc", "blosclz", "zstd", "zlib"]), clevel=5,
              shuffle=pick(random, ["noshuffle", "shuffle", "bitshuffle"]), typesize=item_size,
              blocksize=0),
        {"name": "crc32c"},
        codec("numcodecs.zlib", level=4),
        codec("numcodecs.bz2", level=3),
        codec("numcodecs.lzma", preset=1),
        codec("numcodecs.lz4", acceleration=1),
        codec("numcodecs.adler32"),
        codec("numcodecs.crc32"),
        codec("numcodecs.fletcher32"),
        codec("numcodecs.jenkins_lookup3"),
    ]
    return [pick(random, choices) for _ in range(pick(random, [0, 1, 1, 2]))]


def chunk_codecs(random, dtype, rank, shard_depth):
    """Of chunks that are not shards."""
    before = transpose(random, dtype, rank)
    if dtype is str:
        return [*before, {"name": "vlen-utf8"}, *bytes_to_bytes(random, 1)]
    dtype = np.dtype(dtype)
    endian = pick(random, ["little", "big"])
    filters = numcodecs_filter(random, dtype)
    if filters and IS_FIRST:  # which undoes filters wrongly in the presence of the others
        before, endian, filters = [], "little", filters if shard_depth < 2 else []
    shuffle = [codec("numcodecs.shuffle", elementsize=dtype.itemsize)]
    return [*before, *filters, codec("bytes", endian=endian),
            *(shuffle if not filters and chance(random, 0.1) else []),
            *bytes_to_bytes(random, dtype.itemsize)]


def sharding(random, chunk_shape, codecs):
    index = [codec("bytes", endian=pick(random, ["little", "big"]))]
    return codec("sharding_indexed", chunk_shape=list(chunk_shape), codecs=codecs,
                 index_codecs=index + [{"name": "crc32c"}] * chance(random, 0.7),
                 index_location=pick(random, ["start", "end"]))


def make_v3(random, plan, chunk_shape):
    """Innermost first: each round groups the chunks into shards."""
    rank = len(plan.shape)
    plan.shard_depth = int(random.choice(3, p=[0.4, 0.4, 0.2])) if rank else 0
    codecs = chunk_codecs(random, plan.dtype, rank, plan.shard_depth)
    for depth in range(plan.shard_depth):
        before = transpose(random, plan.dtype, rank)
        order = before[0]["configuration"]["order"] if before else range(rank)
        # zarr-python also requires the shard to be divisible by its inner chunks before the codecs.
        shard_shape = [0] * rank
        for n, axis in zip(chunk_shape, order):
            shard_shape[axis] = math.lcm(n, chunk_shape[axis]) * int(random.integers(1, 4))
        if math.prod(shard_shape) > 500_000:  # for which zarr-python needs minutes
            plan.shard_depth = depth
            break
        shards = sharding(random, chunk_shape, codecs)
        codecs = [*before, shards, *bytes_to_bytes(random, 1)]
        chunk_shape = shard_shape
    plan.options = {
        "chunk_shape": chunk_shape,
        "codecs": codecs,
        "chunk_key_encoding": (pick(random, ["default", "v2"]), pick(random, ["/", "."])),
    }
    if chance(random, 0.5):
        plan.options["dimension_names"] = [f"dim{i}" for i in range(rank)]
    plan.codecs = list(names_of(codecs))


def names_of(codecs):
    for each in codecs:
        yield each["name"]
        configuration = each.get("configuration", {})
        yield from names_of(configuration.get("codecs", []))
        yield from names_of(configuration.get("index_codecs", []))


# --- Codecs of v2 --------------------------------------------------------------------------------

def make_v2(random, plan, chunk_shape):
    filters = []
    if plan.dtype is str:
        filters.append(numcodecs.VLenUTF8())
    else:
        dtype = np.dtype(plan.dtype)
        if dtype.kind in "iu" and chance(random, 0.4):
            filters.append(numcodecs.Delta(dtype.str))
        if dtype.kind == "f" and chance(random, 0.4):
            filters.append(pick(random, [
                numcodecs.FixedScaleOffset(offset=-3, scale=4, dtype=dtype.str, astype="<i4"),
                numcodecs.Quantize(2, dtype.str),
                numcodecs.AsType("<f4", dtype.str),
            ]))
        if chance(random, 0.2):
            size = math.gcd(dtype.itemsize, 4) if filters else dtype.itemsize
            filters.append(pick(random, [numcodecs.Shuffle(size), numcodecs.CRC32(),
                                         numcodecs.Adler32(), numcodecs.Fletcher32()]))
    compressor = pick(random, [
        None, numcodecs.Zlib(3), numcodecs.GZip(3), numcodecs.BZ2(2), numcodecs.LZMA(preset=1),
        numcodecs.LZ4(), numcodecs.Zstd(2),
        numcodecs.Blosc(pick(random, ["lz4", "zstd", "blosclz", "zlib", "lz4hc"]),
                        shuffle=int(pick(random, [-1, 0, 1, 2]))),
    ])
    plan.options = {
        "chunks": chunk_shape,
        "order": pick(random, "CF"),
        "filters": filters or None,
        "compressor": compressor,
        "dimension_separator": pick(random, "./"),
    }
    plan.codecs = [f"numcodecs.{c.codec_id}" for c in [*filters, compressor] if c is not None]


# --- Other writers -------------------------------------------------------------------------------

def without_byte_order(random, codecs):
    """The same codecs, as writers that mean little-endian bytes leave them out, also of shards."""
    for each in codecs:
        configuration = each.get("configuration", {})
        nested = {key: list(without_byte_order(random, configuration[key]))
                  for key in ("codecs", "index_codecs") if key in configuration}
        if nested:
            yield each | {"configuration": configuration | nested}
        elif each["name"] == "bytes" and configuration.get("endian", "little") == "little":
            yield from pick(random, [[each], [{"name": "bytes"}], []])
        else:
            yield each


def loosen(plan, path):
    """Spells the metadata that zarr-python has written as other writers do."""
    random = np.random.default_rng([plan.seed, 3])
    key, lengths = (".zarray", "chunks") if plan.zarr_format == 2 else ("zarr.json", "chunk_shape")
    document = json.loads((path / key).read_text(encoding="utf-8"))
    if plan.zarr_format == 3:
        document["codecs"] = list(without_byte_order(random, document["codecs"]))
    grid = document if plan.zarr_format == 2 else document["chunk_grid"]["configuration"]
    if chance(random, 0.5):
        grid[lengths] = [float(n) for n in grid[lengths]]
    (path / key).write_text(json.dumps(document), encoding="utf-8")


# --- Plans ---------------------------------------------------------------------------------------

def random_dtype(random, zarr_format):
    """As a string or list, which states the byte order; str for strings of any length."""
    kinds = [NUMBERS] * 8 + [[str]]
    if IS_FIRST:
        kinds += [["S1", "S6"], RECORDS] if zarr_format == 2 else []
    else:
        kinds += [TIMES, TEXTS, RECORDS]
    dtype = pick(random, pick(random, kinds))
    if dtype is str or zarr_format == 3:
        return dtype  # whose byte order is part of a codec
    order = pick(random, "<>")
    return [(n, order + t) for n, t in dtype] if isinstance(dtype, list) else order + dtype


def make_plan(seed):
    random = np.random.default_rng(seed)
    zarr_format = pick(random, [2, 3, 3])
    rank = int(random.choice(6, p=[0.03, 0.25, 0.32, 0.25, 0.1, 0.05]))
    shape = tuple(int(n) for n in random.integers(1, [0, 300, 60, 20, 10, 7][rank] + 1, rank))
    chunk_shape = [int(n) for n in random.integers(1, [0, 60, 12, 6, 4, 3][rank] + 1, rank)]
    plan = Plan(seed, zarr_format, shape, random_dtype(random, zarr_format), None, {}, [])
    (make_v2 if zarr_format == 2 else make_v3)(random, plan, chunk_shape)
    plan.is_lossy = is_lossy(plan.codecs)
    plan.fill_value = random_fill_value(random, plan.dtype, plan.is_lossy)
    plan.regions = [random_region(random, shape) for _ in range(random.integers(6))]
    if chance(random, 0.4):
        plan.regions.insert(0, ...)
    if IS_FIRST and plan.shard_depth > 1:
        plan.regions = plan.regions[:1]  # it cannot change a part of a nested shard
    if IS_FIRST and zarr_format == 2 and np.dtype(plan.dtype).kind == "c":
        plan.fill_value, plan.regions = None, [...]  # nor read a complex fill value that it wrote
    return plan


def write(plan, path):
    """Writes the array with zarr-python, and returns the values to expect."""
    random = np.random.default_rng([plan.seed, 1])
    # zarr-python fails if an inner chunk of a shard becomes empty.
    is_safe = plan.shard_depth == 0 or (plan.regions == [...] and not IS_FIRST)
    write_empty = not is_safe or chance(random, 0.3)
    with zarr.config.set({"array.write_empty_chunks": write_empty}):
        array = zarr.create(
            plan.shape, store=str(path), zarr_format=plan.zarr_format, dtype=plan.dtype,
            fill_value=plan.fill_value, **plan.options,
        )
    want = np.full(plan.shape, plan.fill_value, object if plan.dtype is str else plan.dtype)
    for region in plan.regions:
        values = random_values(random, plan.dtype, np.shape(want[region]), plan.is_lossy)
        want[region] = array[region] = values
    return array[...] if plan.is_lossy else want
