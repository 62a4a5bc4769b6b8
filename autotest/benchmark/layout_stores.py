"""The stores that `script/bench --layouts` reads, and how it writes: images and cubes in the chunk
shapes and codecs that are in use. Our driver makes them, of the data of array_stores.py.

usage: layout_stores.py FOLDER SCALE NAME…     makes those that do not exist in FOLDER
"""
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import array_stores
import numpy as np
import program_stores
from array_stores import Store
from drivers import SHARDS_SINCE, V3_SINCE

IMAGE, BANDS, CUBE = "image", "bands", "cube"
SOURCES = {IMAGE: "image.tif", BANDS: "bands.tif"}
CUBE_SHAPE = (120, 512, 1024)


@dataclass(frozen=True)
class Layout:
    name: str
    kind: str  # IMAGE, BANDS (three of them, of floats) or CUBE
    chunk: str
    codec: str  # with its creation options
    version: int = 3
    inner: str = ""  # of shards
    interleave: str = ""  # of bands

    @property
    def since(self):
        """The version of GDAL whose own driver can read and write it."""
        if self.version == 2:
            return 0
        return SHARDS_SINCE if self.inner or self.codec.startswith("ZSTD") else V3_SINCE

    def options(self):
        """For the array."""
        codec, *values = self.codec.split()
        options = {"BLOCKSIZE": self.chunk, "COMPRESS": codec}
        options |= dict(value.split("=") for value in values)
        if self.inner:
            options["SHARD_CHUNK_SHAPE"] = self.inner
        return options

    def creation_options(self):
        """For a raster."""
        options = {"FORMAT": f"ZARR_V{self.version}"} | self.options()
        if self.interleave:
            options["INTERLEAVE"] = self.interleave
        return [f"{key}={value}" for key, value in options.items()]

    def cube(self, scale):
        shape = tuple(program_stores.scaled(length, scale) for length in CUBE_SHAPE)
        chunk = tuple(map(int, self.chunk.split(",")))
        options = {key: value for key, value in self.options().items() if key != "BLOCKSIZE"}
        return Store(self.name, self.version, "", shape, chunk, options, dtype="float32")


NONE = "NONE"
ZSTD, ZSTD1 = "ZSTD ZSTD_LEVEL=3", "ZSTD ZSTD_LEVEL=1"
LAYOUTS = [
    Layout("v2-none", IMAGE, "512,512", NONE, 2),
    Layout("v2-zlib", IMAGE, "512,512", "ZLIB ZLIB_LEVEL=1", 2),
    Layout("v2-lz4", IMAGE, "512,512", "LZ4", 2),
    Layout("v2-blosc", IMAGE, "1024,1024", "BLOSC", 2),
    Layout("v2-zstd-2048", IMAGE, "2048,2048", ZSTD, 2),
    Layout("v2-strips", IMAGE, "64,8192", ZSTD, 2),
    Layout("v2-zstd-128", IMAGE, "128,128", ZSTD, 2),
    Layout("v3-none", IMAGE, "512,512", NONE),
    Layout("v3-gzip", IMAGE, "512,512", "GZIP GZIP_LEVEL=3"),
    Layout("v3-zstd-4096", IMAGE, "4096,4096", ZSTD),
    Layout("v3-odd", IMAGE, "500,700", ZSTD1),
    Layout("v3-shards", IMAGE, "2048,2048", ZSTD, inner="256,256"),
    Layout("v3-one-shard", IMAGE, "8192,8192", ZSTD, inner="512,512"),
    Layout("bands", BANDS, "1,512,512", ZSTD, interleave="BAND"),
    Layout("pixels", BANDS, "512,512,3", ZSTD, interleave="PIXEL"),
    Layout("cube-images", CUBE, "1,512,1024", ZSTD, 2),
    Layout("cube-boxes", CUBE, "30,128,128", ZSTD),
    Layout("cube-series", CUBE, "120,32,32", "BLOSC"),
    Layout("cube-none", CUBE, "10,256,256", NONE, 2),
]


def make_bands(path, image):
    from osgeo import gdal

    source = gdal.Open(str(image))
    bands = gdal.Translate("", source, format="MEM", bandList=[1, 1, 1],
                           outputType=gdal.GDT_Float32, width=source.RasterXSize // 2,
                           height=source.RasterYSize // 2)
    for band in range(2, 4):
        values = bands.GetRasterBand(band).ReadAsArray()
        bands.GetRasterBand(band).WriteArray(np.roll(values, band, axis=1))
    gdal.GetDriverByName("GTiff").CreateCopy(str(path), bands,
                                             options=["INTERLEAVE=BAND", "TILED=YES"])


def make(folder, scale, layout):
    path = folder / layout.name
    if path.exists():
        return
    if layout.kind == CUBE:
        array_stores.make(layout.cube(scale), folder)
        return
    partial = folder / "part" / layout.name  # the array is named after the file
    partial.parent.mkdir(exist_ok=True)
    program_stores.make_image(partial, folder / SOURCES[layout.kind], layout.creation_options())
    partial.rename(path)


def main(folder, scale, *names):
    from osgeo import gdal

    gdal.UseExceptions()
    folder, scale = Path(folder), float(scale)
    shutil.rmtree(folder / "part", ignore_errors=True)  # of a run that was interrupted
    program_stores.make(folder, scale, "image.tif")
    if not (folder / "bands.tif").exists():
        make_bands(folder / "bands.tif", folder / "image.tif")
    for layout in LAYOUTS:
        if layout.name in names:
            make(folder, scale, layout)
    shutil.rmtree(folder / "part", ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
