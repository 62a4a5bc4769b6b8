"""GDAL's programs write into stores, and change what is there.

Each does the same to a GeoTIFF, which the store has to equal afterwards.
"""
import subprocess
import sys

import numpy as np
import pytest
from classic import open_raster, write_tiff
from osgeo import gdal, ogr, osr
from test_create import assert_same, translate
from test_programs import run

GRID = np.random.default_rng(8).integers(0, 500, (90, 120)).astype("i2")
PLACE = (500_000, 20, 0, 5_100_000, 0, -20)
LAYOUTS = {
    "v2": {"BLOCKSIZE": "32,32", "COMPRESS": "BLOSC"},
    "v3": {"FORMAT": "ZARR_V3", "BLOCKSIZE": "32,32"},
    "shards": {"FORMAT": "ZARR_V3", "BLOCKSIZE": "64,64", "SHARD_CHUNK_SHAPE": "16,32",
               "COMPRESS": "ZSTD"},
    "CF": {"GEOREFERENCING_CONVENTION": "CF"},
    "SPATIAL_PROJ": {"GEOREFERENCING_CONVENTION": "SPATIAL_PROJ", "FORMAT": "ZARR_V3"},
}


@pytest.fixture(params=LAYOUTS)
def twins(request, tmp_path):
    """A store and a GeoTIFF of the same raster."""
    tif = write_tiff(tmp_path / "a.tif", GRID, place=PLACE, crs=32633)
    translate(tif, tmp_path / "a.zarr", **LAYOUTS[request.param])
    return tmp_path / "a.zarr", tif


@pytest.fixture
def shapes(tmp_path):
    """Two polygons with a number each."""
    path = tmp_path / "shapes.geojson"
    source = ogr.GetDriverByName("GeoJSON").CreateDataSource(str(path))
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(32633)
    layer = source.CreateLayer("shapes", srs)
    layer.CreateField(ogr.FieldDefn("number", ogr.OFTInteger))
    for number, wkt in ((7, "POLYGON((500200 5099900,501500 5099700,500900 5098400,500200 5099900))"),
                        (9, "POLYGON((501000 5099000,502300 5099100,501700 5098300,501000 5099000))")):
        feature = ogr.Feature(layer.GetLayerDefn())
        feature.SetGeometry(ogr.CreateGeometryFromWkt(wkt))
        feature["number"] = number
        layer.CreateFeature(feature)
    return path


def on_both(twins, *command, ignore=("description", "color")):
    """Runs a program on each, in place of "{}", and compares."""
    for path in twins:
        run(*(str(word).replace("{}", str(path)) for word in command))
    assert_same(*twins, ignore)


# --- new rasters ---------------------------------------------------------------------------------

@pytest.mark.parametrize("options", [{}, {"FORMAT": "ZARR_V3", "COMPRESS": "ZSTD"}], ids=["v2", "v3"])
def test_gdalwarp(tmp_path, twins, options):
    arguments = ["-q", "-t_srs", "EPSG:4326", "-r", "bilinear", "-dstnodata", "-1", "-tr", "0.0003", "0.0002"]
    creation = [word for name, value in options.items() for word in ("-co", f"{name}={value}")]
    run("gdalwarp", *arguments, "-of", "Zarr", *creation, twins[0], tmp_path / "b.zarr")
    run("gdalwarp", *arguments, twins[1], tmp_path / "b.tif")
    got, want = (open_raster(tmp_path / name) for name in ("b.zarr", "b.tif"))
    np.testing.assert_array_equal(got.ReadAsArray(), want.ReadAsArray())
    np.testing.assert_allclose(got.GetGeoTransform(), want.GetGeoTransform(), rtol=1e-12)
    assert got.GetRasterBand(1).GetNoDataValue() == -1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gdal_rasterize_creates(tmp_path, shapes, layout):
    arguments = ["-q", "-a", "number", "-tr", 20, 20, "-ot", "Byte"]
    creation = [w for name, value in LAYOUTS[layout].items() for w in ("-co", f"{name}={value}")]
    run("gdal_rasterize", *arguments, "-of", "Zarr", *creation, shapes, tmp_path / "b.zarr")
    run("gdal_rasterize", *arguments, shapes, tmp_path / "b.tif")
    assert_same(tmp_path / "b.zarr", tmp_path / "b.tif", ["description", "color"])
    assert open_raster(tmp_path / "b.zarr").ReadAsArray().max() == 9


def test_gdal_calc_creates(tmp_path, twins):
    run("gdal_calc.py", "--quiet", "-A", twins[0], "--calc=A*2+1", "--format=Zarr",
        f"--outfile={tmp_path / 'b.zarr'}", "--type=Int32", "--co", "COMPRESS=ZLIB")
    got = open_raster(tmp_path / "b.zarr")
    np.testing.assert_array_equal(got.ReadAsArray(), GRID * 2 + 1)
    assert got.GetGeoTransform() == PLACE


def test_gdaldem(tmp_path, twins):
    for path, name in zip(twins, ("b.zarr", "b.tif")):
        run("gdaldem", "hillshade", "-q", "-of", "Zarr" if "zarr" in name else "GTiff", path,
            tmp_path / name)
    assert_same(tmp_path / "b.zarr", tmp_path / "b.tif", ["description", "color"])


def test_gdal_merge(tmp_path, twins):
    run("gdal_translate", "-q", "-srcwin", 60, 0, 60, 90, twins[1], tmp_path / "right.tif")
    for name in ("b.zarr", "b.tif"):
        run("gdal_merge.py", "-q", "-of", "Zarr" if "zarr" in name else "GTiff", "-o",
            tmp_path / name, tmp_path / "right.tif", twins[1])
    assert_same(tmp_path / "b.zarr", tmp_path / "b.tif", ["description", "color"])


# --- changes in place ----------------------------------------------------------------------------

def test_gdalwarp_onto(tmp_path, twins):
    other = write_tiff(tmp_path / "other.tif", -GRID, place=(500_700, 30, 0, 5_099_500, 0, -30),
                       crs=32633, nodata=0)
    on_both(twins, "gdalwarp", "-q", "-r", "near", other, "{}")


def test_gdalwarp_onto_an_array(tmp_path, twins):
    """One of several."""
    store, tif = twins
    translate(tif, store, ARRAY_NAME="b", APPEND_SUBDATASET="YES")
    other = write_tiff(tmp_path / "other.tif", -GRID, place=(15.0, 0.0003, 0, 46.05, 0, -0.0002),
                       crs=4326)
    before = gdal.Open(str(tif)).ReadAsArray()
    run("gdalwarp", "-q", other, f'ZARR:"{store}":/b')
    run("gdalwarp", "-q", other, tif)
    assert_same(f'ZARR:"{store}":/b', tif, ["description", "color"])
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"{store}":/a').ReadAsArray(), before)


def test_gdal_rasterize_onto(twins, shapes):
    on_both(twins, "gdal_rasterize", "-q", "-a", "number", "-at", shapes, "{}")
    on_both(twins, "gdal_rasterize", "-q", "-b", 1, "-burn", 3, "-i", shapes, "{}")


def test_gdal_fillnodata_in_place(tmp_path):
    data = np.where(np.random.default_rng(1).random(GRID.shape) < 0.2, -1, GRID).astype("i2")
    tif = write_tiff(tmp_path / "a.tif", data, place=PLACE, crs=32633, nodata=-1)
    translate(tif, tmp_path / "a.zarr", BLOCKSIZE="32,32")
    on_both((tmp_path / "a.zarr", tif), "gdal_fillnodata.py", "-q", "{}")


def test_gdal_sieve_in_place(twins, shapes):
    on_both(twins, "gdal_rasterize", "-q", "-burn", 3, shapes, "{}")
    on_both(twins, "gdal_sieve.py", "-q", "-st", 30, "{}")


@pytest.mark.parametrize("arguments", [
    "-a_srs EPSG:25832", "-a_ullr 0 100 240 -80", "-mo A=1 -mo B=two", "-unsetgt",
    "-a_srs EPSG:4326 -a_ullr 7 48 7.12 47.91", "-scale 0.5 -offset 3", "-units m",
    "-colorinterp_1 alpha", "-a_srs '' ", "-tr 5 5", "-unsetgt -a_srs EPSG:2056",
])
def test_gdal_edit(twins, arguments):
    words = [word.strip("'") for word in arguments.split()]
    on_both(twins, "gdal_edit.py", *words, "{}", ignore=["description"] + ["color"] * (
        "colorinterp" not in arguments))


def test_gdal_edit_one_after_another(twins):
    for arguments in ("-mo A=1", "-a_srs EPSG:25832", "-mo B=2", "-unsetmd", "-mo C=3", "-unsetgt",
                      "-a_ullr 1 2 3 0"):
        on_both(twins, "gdal_edit.py", *arguments.split(), "{}")


def test_statistics(twins):
    """gdalinfo keeps them beside the store; so does gdal_edit, and it takes them away."""
    store, tif = twins
    infos = [run("gdalinfo", "-stats", "-checksum", path) for path in twins]
    for line in ("Checksum", "STATISTICS_MEAN", "STATISTICS_STDDEV", "STATISTICS_VALID_PERCENT"):
        one, other = ([found for found in info.splitlines() if line in found] for info in infos)
        assert one == other and one
    dataset = open_raster(store)
    assert dataset.GetRasterBand(1).GetStatistics(False, False)[:2] == [GRID.min(), GRID.max()]
    dataset = None
    run("gdal_edit.py", "-unsetstats", store)
    assert "STATISTICS" not in run("gdalinfo", store)


def test_gdalmove(twins):
    """Another CRS and, as far as that goes without resampling, place."""
    for path in twins:
        run("gdalmove.py", "-t_srs", "EPSG:3857", path)
    got, want = (open_raster(path) for path in twins)
    np.testing.assert_allclose(got.GetGeoTransform(), want.GetGeoTransform(), rtol=1e-12)


# --- memory --------------------------------------------------------------------------------------

TRANSLATE = """
import resource, sys
from osgeo import gdal
gdal.UseExceptions()
gdal.SetCacheMax(64 << 20)
path, source, *options = sys.argv[1:]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
gdal.GetDriverByName("Zarr").CreateCopy(path, gdal.Open(source), options=options).FlushCache()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def pattern(folder, columns, rows):
    """A large raster of little size: a small one, over and over, with one pixel at the end."""
    tile = write_tiff(folder / "tile.tif", np.random.default_rng(1).integers(0, 99, (512, 512)).astype("u1"))
    vrt = folder / "large.vrt"
    sources = "".join(
        f"<SimpleSource><SourceFilename>{tile}</SourceFilename><SourceBand>1</SourceBand>"
        f"<SrcRect xOff='0' yOff='0' xSize='512' ySize='512'/>"
        f"<DstRect xOff='{x}' yOff='{y}' xSize='512' ySize='512'/></SimpleSource>"
        for y in range(0, rows, 4096) for x in range(0, columns, 4096))
    vrt.write_text(f"<VRTDataset rasterXSize='{columns}' rasterYSize='{rows}'><VRTRasterBand "
                   f"dataType='Byte' band='1'>{sources}</VRTRasterBand></VRTDataset>")
    return vrt


@pytest.mark.parametrize("options", [
    "BLOCKSIZE=256,256", "FORMAT=ZARR_V3 BLOCKSIZE=16384,16384 SHARD_CHUNK_SHAPE=512,512",
    "FORMAT=ZARR_V3 BLOCKSIZE=16384,16384 SHARD_CHUNK_SHAPE=512,512 COMPRESS=ZSTD ZSTD_LEVEL=1",
    "FORMAT=ZARR_V3 BLOCKSIZE=4096,65536 SHARD_CHUNK_SHAPE=1024,1024 COMPRESS=LZ4",
], ids=["chunks", "shards", "compressed shards", "flat shards"])
def test_memory(tmp_path, options):
    """What a copy takes does not grow with the raster: 1 GB, in shards of 256 MB."""
    vrt = pattern(tmp_path, 40_000, 27_000)
    result = subprocess.run([sys.executable, "-c", TRANSLATE, tmp_path / "a.zarr", vrt, *options.split()],
                            capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) < 512 * 1024
    got, want = open_raster(tmp_path / "a.zarr"), gdal.Open(str(vrt))
    for x, y in ((0, 0), (39_000, 24_400), (16_000, 16_300), (36_800, 0)):
        np.testing.assert_array_equal(got.ReadAsArray(x, y, 900, 900), want.ReadAsArray(x, y, 900, 900))
