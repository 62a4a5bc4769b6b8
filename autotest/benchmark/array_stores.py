"""The stores that the benchmark reads. Our driver makes them, of random data that compresses about
as well as measurements do."""
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Store:
    """One array, named `name`, in a store of the same name."""
    name: str
    version: int
    codec: str  # of the floor program: blosc, zstd, gzip or none
    shape: tuple
    chunk: tuple
    options: dict = field(default_factory=dict)  # creation options
    dtype: str = "uint16"
    inner: tuple = ()  # of shards
    order: str = "C"
    is_repetitive: bool = False  # the same data in each row of chunks

    @property
    def item_size(self):
        return np.dtype(self.dtype).itemsize

    @property
    def byte_count(self):
        return int(np.prod(self.shape)) * self.item_size

    def creation_options(self):
        options = {"FORMAT": f"ZARR_V{self.version}", **self.options}
        if self.inner:
            options["SHARD_CHUNK_SHAPE"] = ",".join(map(str, self.inner))
        if self.order == "F":
            options["CHUNK_MEMORY_LAYOUT"] = "F"
        return [f"{key}={value}" for key, value in options.items()]

    def floor_arguments(self, root, threads):
        folder = root / self.name / self.name / ("c" if self.version == 3 else "")
        shapes = [self.shape, self.chunk] + ([self.inner] if self.inner else [])
        return [str(folder), self.codec, str(self.item_size), self.order,
                "/" if self.version == 3 else ".", str(threads),
                *(",".join(map(str, shape)) for shape in shapes)]


SCENE = (10980, 10980)
CUBE = (240, 721, 1440)
LZ4 = {"COMPRESS": "BLOSC"}
BLOSC_ZSTD = {"COMPRESS": "BLOSC", "BLOSC_CNAME": "zstd"}
ZSTD = {"COMPRESS": "ZSTD", "ZSTD_LEVEL": "3"}
GZIP = {"COMPRESS": "GZIP"}
SQUARE = (512, 512)
BIG_SQUARE = (1024, 1024)
GROWTH = (10, 100, 1000, 4000)  # sizes of one array, in MB


def make_stores():
    stores = []
    for version in (2, 3):
        def add(name, *arguments, **options):
            stores.append(Store(f"v{version}-{name}", version, *arguments, **options))

        add("blosc-lz4", "blosc", SCENE, BIG_SQUARE, LZ4)
        add("blosc-zstd", "blosc", SCENE, BIG_SQUARE, BLOSC_ZSTD)
        add("zstd", "zstd", SCENE, SQUARE, ZSTD)
        add("gzip", "gzip", SCENE, SQUARE, GZIP)
        add("uncompressed", "none", SCENE, SQUARE)
        add("zstd-order-f", "zstd", SCENE, SQUARE, ZSTD, order="F")
        add("cube", "blosc", CUBE, (24, 180, 360), BLOSC_ZSTD, dtype="float32")
        add("cube-c", "blosc", CUBE, (12, 180, 360), BLOSC_ZSTD, dtype="float32")
        add("cube-order-f", "blosc", CUBE, (12, 180, 360), BLOSC_ZSTD, dtype="float32", order="F")
        if version == 3:
            add("sharded", "zstd", SCENE, (4096, 4096), ZSTD, inner=(256, 256))
            add("cube-sharded", "zstd", CUBE, (240, 360, 360), ZSTD, dtype="float32",
                inner=(30, 60, 60))
    stores.extend(Store(f"v2-growth-{megabytes}", 2, "blosc", (megabytes * 50, 10_000),
                        (400, 10_000), LZ4, is_repetitive=True) for megabytes in GROWTH)
    return {store.name: store for store in stores}


STORES = make_stores()


def scene(row, rows, columns):
    """Rows of a 16-bit image: hills, with noise in the low bits."""
    random = np.random.default_rng(row)
    y = np.arange(row, row + rows)[:, None]
    x = np.arange(columns)[None, :]
    hills = 3000 + 1500 * np.sin(y / 900) * np.cos(x / 700) + 400 * np.sin((x + y) / 60)
    return (hills + random.integers(0, 48, hills.shape)).astype("uint16")


def field_of(time, rows, columns):
    """A field of floats for each time, rounded as packed archives are."""
    random = np.random.default_rng(time)
    y = np.linspace(-90, 90, rows)[:, None]
    x = np.linspace(0, 360, columns)[None, :]
    smooth = 288 + 30 * np.cos(np.radians(y)) + 5 * np.sin(np.radians(3 * x + time))
    return (np.round((smooth + random.normal(0, 0.2, smooth.shape)) * 64) / 64).astype("float32")


def blocks_of(store):
    """The data as (start, block) in the order of the chunks of the first dimension."""
    step = store.chunk[0]
    same = scene(0, step, store.shape[1]) if store.is_repetitive else None
    for first in range(0, store.shape[0], step):
        count = min(step, store.shape[0] - first)
        if store.is_repetitive:
            block = same[:count]
        elif len(store.shape) == 2:
            block = scene(first, count, store.shape[1])
        else:
            block = np.stack([field_of(first + i, *store.shape[1:]) for i in range(count)])
        yield [first] + [0] * (len(store.shape) - 1), block


def create_array(path, store):
    """The dataset and the array, opened for writing."""
    from osgeo import gdal

    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(
        str(path), [], [f"FORMAT=ZARR_V{store.version}"])
    group = dataset.GetRootGroup()
    dimensions = [group.CreateDimension(f"d{i}", None, None, length)
                  for i, length in enumerate(store.shape)]
    kind = {"uint16": gdal.GDT_UInt16, "float32": gdal.GDT_Float32}[store.dtype]
    chunk = ",".join(map(str, store.chunk))
    options = [option for option in store.creation_options() if not option.startswith("FORMAT=")]
    array = group.CreateMDArray(store.name, dimensions, gdal.ExtendedDataType.Create(kind),
                                [f"BLOCKSIZE={chunk}", *options])
    return dataset, array


def make(store, root):
    """Makes the store below `root` unless it exists."""
    path = Path(root) / store.name
    if path.exists():
        return
    partial = path.with_name(path.name + ".part")
    dataset, array = create_array(partial, store)
    for start, block in blocks_of(store):
        array.Write(block, start, list(block.shape))
    del array, dataset
    partial.rename(path)
