"""What `script/bench --programs` measures: whole programs, and loops over GDAL's API as programs
have them.

A row reads one store of program_stores.py. Its floor is the same program on an uncompressed GeoTIFF
of the same blocks, writing to memory, or the codec alone on all processors, or the work of both
on all processors, whichever takes longest. The floor of programs that only open a store is GDAL's
own driver beside a plugin that does nothing.
"""
from dataclasses import dataclass
from pathlib import Path

from drivers import SHARDS_SINCE, V3_SINCE


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    kind: str  # program, api or chunks
    source: str  # a name of program_stores.py
    command: str = ""  # with {source} and {target}; empty: a case of program_probe.py
    target: str = ""  # what it creates: tif, zarr, or copy for a copy of the source that it changes
    floor_source: str = ""
    floor_options: str = ""  # of the program alone, in the place of {options}
    options: str = ""
    # The part of the source's chunks that the row needs, each of them once; those of overviews
    # count as chunks of the source.
    decodes: float = 0
    encodes: str = ""  # the store whose chunks the row writes
    since: int = V3_SINCE  # the version from which GDAL's own driver can do it
    compares: bool = True  # whether all programs must have the same result
    only_opens: bool = False  # its floor is a plugin that does nothing

    def arguments(self, source, target, is_floor, stores):
        """The command as words. The paths may have spaces."""
        options = (self.floor_options if is_floor else self.options).split()
        if self.encodes:
            depth = str(stores[self.encodes].shape[0])
            options = [option.format(depth=depth) for option in options]
        words = []
        for word in self.command.split():
            words += options if word == "{options}" else [
                word.format(source=source, target=target)]
        return words

    def environment_of(self, stores):
        """Memory is short where that is the subject: a quarter of the array, in MB."""
        if self.name != "rechunk-hard":
            return {}
        return {"GDAL_CACHEMAX": str(max(64, stores[self.source].byte_count >> 22))}


ZSTD = "-co FORMAT=ZARR_V3 -co BLOCKSIZE=512,512 -co COMPRESS=ZSTD -co ZSTD_LEVEL=3"
SHARDS = ("-co FORMAT=ZARR_V3 -co BLOCKSIZE=4096,4096 -co SHARD_CHUNK_SHAPE=256,256 "
          "-co COMPRESS=ZSTD -co ZSTD_LEVEL=3")
WARP = "gdalwarp -q -t_srs EPSG:3035 -r bilinear {options} {source} {target}"
TRANSLATE = "gdal_translate -q {options} {source} {target}"
MDIM = "gdalmdimtranslate {options} {source} {target}"

ROWS = [
    Row("info", "gdalinfo, v3 zstd", "program", "zstd", "gdalinfo {source}",
        only_opens=True, compares=False),
    Row("mdiminfo", "gdalmdiminfo, v3 zstd", "program", "zstd", "gdalmdiminfo {source}",
        only_opens=True, compares=False),
    Row("stats", "gdalinfo -stats, v3 zstd", "program", "zstd", "gdalinfo -stats {source}",
        floor_source="image.tif", decodes=1),
    Row("translate", "gdal_translate, v3 zstd → GeoTIFF", "program", "zstd", TRANSLATE, "tif",
        "image.tif", "-of MEM", decodes=1),
    Row("translate-lzw", "gdal_translate, shards → tiled GeoTIFF, LZW", "program", "shards",
        TRANSLATE, "tif", "image.tif",
        *["-co TILED=YES -co COMPRESS=LZW -co NUM_THREADS=2"] * 2, decodes=1, since=SHARDS_SINCE),
    Row("translate-10", "gdal_translate, shards, 10 %, average", "program", "shards",
        "gdal_translate -q -outsize 10% 10% -r average {options} {source} {target}", "tif",
        "image.tif", "-of MEM", decodes=1, since=SHARDS_SINCE),
    Row("translate-10-nearest", "gdal_translate, v3 zstd, 10 %", "program", "zstd",
        "gdal_translate -q -outsize 10% 10% {options} {source} {target}", "tif", "image.tif",
        "-of MEM", decodes=1),
    Row("warp", "gdalwarp, v3 zstd → GeoTIFF, bilinear", "program", "zstd", WARP, "tif",
        "image.tif", "-of MEM", decodes=1),
    Row("hillshade", "gdaldem hillshade, v3 zstd → GeoTIFF", "program", "zstd",
        "gdaldem hillshade -q {options} {source} {target}", "tif", "image.tif", "-of MEM",
        decodes=1),
    Row("to-zstd", "gdal_translate, GeoTIFF → v3 zstd", "program", "image.tif", TRANSLATE, "zarr",
        "image.tif", "-of MEM", f"-of Zarr {ZSTD}", encodes="zstd", since=SHARDS_SINCE),
    Row("to-shards", "gdal_translate, GeoTIFF → v3 shards", "program", "image.tif", TRANSLATE,
        "zarr", "image.tif", "-of MEM", f"-of Zarr {SHARDS}", encodes="shards",
        since=SHARDS_SINCE),
    Row("to-v2", "gdal_translate, GeoTIFF → v2 Blosc", "program", "image.tif", TRANSLATE, "zarr",
        "image.tif", "-of MEM", "-of Zarr -co BLOCKSIZE=512,512 -co COMPRESS=BLOSC",
        encodes="blosc", since=0),
    Row("warp-to-zstd", "gdalwarp, GeoTIFF → v3 zstd, bilinear", "program", "image.tif", WARP,
        "zarr", "image.tif", "-of MEM", f"-of Zarr {ZSTD}", encodes="zstd", since=SHARDS_SINCE),
    Row("rechunk", "gdalmdimtranslate, v2 (24,180,360) → v3 (96,32,32)", "program", "cube",
        MDIM, "zarr", options="-co FORMAT=ZARR_V3 -co ARRAY:BLOCKSIZE=96,32,32 "
        "-co ARRAY:COMPRESS=ZSTD -co ARRAY:ZSTD_LEVEL=3", decodes=1, encodes="cube-rechunked",
        since=SHARDS_SINCE),
    Row("rechunk-hard", "gdalmdimtranslate, (1,n,n) → (n,20,20)", "program", "images-of-cube",
        MDIM, "zarr", options="-co FORMAT=ZARR_V3 -co ARRAY:BLOCKSIZE={depth},20,20 "
        "-co ARRAY:COMPRESS=ZSTD -co ARRAY:ZSTD_LEVEL=3", decodes=1, encodes="series-of-cube",
        since=SHARDS_SINCE),
    Row("addo", "gdaladdo -r average, shards, 2 4 8 16", "program", "shards",
        "gdaladdo -q -r average {source} 2 4 8 16", "copy", "image.tif", decodes=1,
        since=SHARDS_SINCE),
    Row("blocks", "rasterio, block windows of v3 zstd", "program", "zstd",
        floor_source="image.tif", decodes=1),
    Row("pans", "QGIS-like pans over overviews", "program", "overviews",
        floor_source="overviews.tif", decodes=0.25, since=SHARDS_SINCE),
    Row("tiles", "tile server: 500 tiles of 256² by rasterio, overviews", "program", "overviews",
        floor_source="overviews.tif", decodes=0.43, since=SHARDS_SINCE),
    Row("dask", "rioxarray with chunks of dask, v3 zstd", "program", "zstd",
        floor_source="image.tif", decodes=1),
    Row("windows", "400 windows of 256² in chunks of 1024², Blosc-zstd", "api", "blosc-zstd",
        floor_source="image.tif", decodes=0.72),
    Row("scanlines", "each row of pixels of v3 zstd by itself", "api", "zstd",
        floor_source="image.tif", decodes=1),
    Row("slices", "10 slices of a sharded cube", "api", "cube-sharded",
        decodes=7 / 8, since=SHARDS_SINCE),  # the slices are in seven of eight layers of chunks
    Row("open-v2", "opening 10,000 arrays, v2", "api", "v2-many-consolidated", since=0),
    Row("open-v3", "opening 10,000 arrays, v3", "api", "v3-many-consolidated"),
    Row("small-shard", "reading 10⁶ chunks of 1 KB in one shard", "chunks", "small-shard",
        decodes=1, since=SHARDS_SINCE),
    Row("small-files", "reading 10⁵ files of 1 KB", "chunks", "small-files", decodes=1, since=0),
    Row("write-small-shard", "writing 10⁶ chunks of 1 KB into one shard", "chunks", "small-shard",
        target="zarr", encodes="small-shard", since=SHARDS_SINCE),
    Row("write-small-files", "writing 10⁵ files of 1 KB", "chunks", "small-files", target="zarr",
        encodes="small-files", since=0),
]


def is_geotiff(path):
    return Path(path).suffix == ".tif"
