"""Memory that GDAL's programs need to write more than fits: 768 MB, in shards of 256 MB."""
import json
import subprocess
import sys

import numpy as np
import pytest
from classic import open_raster
from multidim import open_root
from night import night
from osgeo import gdal

LIMIT = 512 << 10  # in kilobytes, as getrusage() counts
TILE = 1024
WIDTH, HEIGHT = 16 * TILE, 12 * TILE
SHARDS = ["FORMAT=ZARR_V3", "BLOCKSIZE=8192,8192", "SHARD_CHUNK_SHAPE=512,512"]
COMPRESSIONS = {"plain": [], "compressed": ["COMPRESS=ZSTD", "ZSTD_LEVEL=1"]}


@pytest.fixture(scope="module")
def tile():
    """Floats that compression shrinks to a quarter."""
    return np.random.default_rng(1).integers(0, 200, (TILE, TILE)).astype("f4")


@pytest.fixture(scope="module")
def raster(tile, tmp_path_factory):
    """A raster that repeats one tile."""
    folder = tmp_path_factory.mktemp("memory")
    path = folder / "tile.tif"
    dataset = gdal.GetDriverByName("GTiff").Create(str(path), TILE, TILE, 1, gdal.GDT_Float32)
    dataset.WriteArray(tile)
    sources = "".join(
        f"<SimpleSource><SourceFilename>{path}</SourceFilename><SourceBand>1</SourceBand>"
        f"<SrcRect xOff='0' yOff='0' xSize='{TILE}' ySize='{TILE}'/>"
        f"<DstRect xOff='{x}' yOff='{y}' xSize='{TILE}' ySize='{TILE}'/></SimpleSource>"
        for y in range(0, HEIGHT, TILE) for x in range(0, WIDTH, TILE))
    vrt = folder / "large.vrt"
    vrt.write_text(
        f"<VRTDataset rasterXSize='{WIDTH}' rasterYSize='{HEIGHT}'>"
        "<GeoTransform>0, 1, 0, 9000, 0, -1</GeoTransform>"
        f"<VRTRasterBand dataType='Float32' band='1'>{sources}</VRTRasterBand></VRTDataset>")
    return vrt


@pytest.fixture
def store(tmp_path):
    yield tmp_path / "a.zarr"
    subprocess.run(["rm", "-r", tmp_path / "a.zarr"], check=True)


MEASURED = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak(*command):
    """Of a program, in kilobytes."""
    words = [str(word) for word in (sys.executable, "-c", MEASURED, *command)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    return int(result.stdout)


def creation(options):
    return ["--config", "GDAL_CACHEMAX", "64", "-of", "Zarr"] + [
        word for option in options for word in ("-co", option)]


def assert_is_tiled(path, tile):
    got = open_raster(path)
    assert (got.RasterXSize, got.RasterYSize) == (WIDTH, HEIGHT)
    for y in range(0, HEIGHT, TILE):
        strip = got.ReadAsArray(0, y, WIDTH, TILE).reshape(TILE, -1, TILE)
        assert (strip == tile[:, None]).all(), y


@pytest.mark.parametrize("compression", [pytest.param("plain", marks=night), "compressed"])
def test_copy(raster, store, tile, compression):
    options = creation(SHARDS + COMPRESSIONS[compression])
    assert peak("gdal_translate", "-q", *options, raster, store) < LIMIT
    assert_is_tiled(store, tile)


@night
def test_warp_onto(raster, store, tile):
    dataset = gdal.GetDriverByName("Zarr").Create(
        str(store), WIDTH, HEIGHT, 1, gdal.GDT_Float32, SHARDS + COMPRESSIONS["compressed"])
    dataset.SetGeoTransform((0, 1, 0, 9000, 0, -1))
    dataset = None
    assert peak("gdalwarp", "-q", "--config", "GDAL_CACHEMAX", "64", "-wm", "64", raster,
                store) < LIMIT
    assert_is_tiled(store, tile)


ROWS = """
import sys
from osgeo import gdal
gdal.UseExceptions()
path, source, *options = sys.argv[1:]
source = gdal.Open(source)
width, height = source.RasterXSize, source.RasterYSize
dataset = gdal.GetDriverByName("Zarr").Create(path, width, height, 1, gdal.GDT_Float32, options)
for y in range(0, height, 16):
    dataset.WriteRaster(0, y, width, 16, source.ReadRaster(0, y, width, 16))
"""


def test_rows(raster, store, tile):
    """All shards of a row are started before one is complete."""
    options = SHARDS + COMPRESSIONS["compressed"]
    assert peak(sys.executable, "-c", ROWS, store, raster, *options) < LIMIT
    assert_is_tiled(store, tile)


@pytest.mark.parametrize("compression", ["plain", pytest.param("compressed", marks=night)])
def test_multidimensional_copy(store, tile, tmp_path, compression):
    """Chunks of other shapes than the source, which is references to one file, repeated: the data
    read is buffered as well."""
    chunk = tile[:512, :512]
    chunk.tofile(tmp_path / "chunk.bin")
    shape = 16, 4096, 4096
    document = {"zarr_format": 2, "shape": shape, "chunks": (1, 512, 512), "dtype": "<f4",
                "compressor": None, "filters": None, "fill_value": None, "order": "C"}
    references = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(document)}
    for index in np.ndindex(16, 8, 8):
        references["a/" + ".".join(map(str, index))] = [str(tmp_path / "chunk.bin")]
    (tmp_path / "a.json").write_text(json.dumps({"version": 1, "refs": references}))
    options = ["FORMAT=ZARR_V3", "ARRAY:BLOCKSIZE=16,2048,2048",
               "ARRAY:SHARD_CHUNK_SHAPE=4,256,256"]
    options += [f"ARRAY:{option}" for option in COMPRESSIONS[compression]]
    assert peak("gdalmdimtranslate", "-q", *creation(options), tmp_path / "a.json", store) < LIMIT
    array = open_root(store).OpenMDArray("a")
    for t in range(shape[0]):
        plane = array.ReadAsArray([t, 0, 0], [1, *shape[1:]]).reshape(8, 512, 8, 512)
        assert (plane == chunk[None, :, None]).all(), t
