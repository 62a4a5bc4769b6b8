"""GDAL's programs write into stores, and change existing ones. Each does the same to a GeoTIFF,
which the store must equal afterwards.

Each does the same to a GeoTIFF, which the store has to equal afterwards.
"""
import shlex

import numpy as np
import pytest
from classic import open_raster, write_tiff
from night import each_value, night
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
# Metadata of every GeoTIFF, whatever wrote it, and bands that it has no names for.
IGNORED = ("AREA_OR_POINT", "color", "description")


@pytest.fixture
def tif(tmp_path):
    return write_tiff(tmp_path / "a.tif", GRID, place=PLACE, crs=32633)


# Two by day.
@pytest.fixture(params=[pytest.param(name, marks=[] if name in ("v2", "shards") else night)
                        for name in LAYOUTS])
def twins(request, tif):
    """A store and a GeoTIFF of the same raster."""
    store = tif.with_suffix(".zarr")
    translate(tif, store, **LAYOUTS[request.param])
    return store, tif


@pytest.fixture
def shapes(tmp_path):
    """Two polygons with a number each."""
    path = tmp_path / "shapes.geojson"
    source = ogr.GetDriverByName("GeoJSON").CreateDataSource(str(path))
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(32633)
    layer = source.CreateLayer("shapes", srs)
    layer.CreateField(ogr.FieldDefn("number", ogr.OFTInteger))
    polygons = {
        7: "POLYGON((500200 5099900,501500 5099700,500900 5098400,500200 5099900))",
        9: "POLYGON((501000 5099000,502300 5099100,501700 5098300,501000 5099000))",
    }
    for number, wkt in polygons.items():
        feature = ogr.Feature(layer.GetLayerDefn())
        feature.SetGeometry(ogr.CreateGeometryFromWkt(wkt))
        feature["number"] = number
        layer.CreateFeature(feature)
    return path


def on_both(twins, *command, ignore=IGNORED):
    """Runs a program on each, in place of "{}", and compares."""
    for path in twins:
        run(*(str(word).replace("{}", str(path)) for word in command))
    assert_same(*twins, ignore)


# --- new rasters ---------------------------------------------------------------------------------

NEW = {
    "gdalwarp": "gdalwarp -q -of {of} {co} -t_srs EPSG:4326 -r bilinear -dstnodata -1 {in} {out}",
    "gdal_rasterize": "gdal_rasterize -q -of {of} {co} -a number -tr 20 20 -ot Byte {shapes} {out}",
    "gdaldem hillshade": "gdaldem hillshade {in} {out} -q -of {of} {co}",
    "gdaldem slope": "gdaldem slope {in} {out} -q -of {of} {co}",
    "gdal_viewshed": "gdal_viewshed -q -f {of} {co} -ox 501000 -oy 5099000 -md 800 {in} {out}",
    "nearblack": "nearblack -q -of {of} {co} -near 250 -o {out} {in}",
    "gdal_grid":
    "gdal_grid -q -of {of} {co} -zfield number -outsize 60 40 -ot Float32 {shapes} {out}",
    "gdal_calc":
    "gdal_calc.py --quiet --format={of} -A {in} --calc=A*2+1 --type=Int32 --outfile={out}",
    "gdal_merge":
    "gdal_merge.py -q -of {of} {co} -ul_lr 499000 5101000 503000 5097000 -o {out} {in}",
    "gdal_fillnodata": "gdal_fillnodata.py -q -of {of} {holes} {out}",
    "gdal_sieve": "gdal_sieve.py -q -of {of} -st 30 {shown} {out}",
    "gdal_proximity": "gdal_proximity.py -q -of {of} {co} -values 7,8,9 -distunits GEO {in} {out}",
}


@pytest.fixture
def sources(tmp_path, tif, shapes):
    shown = tmp_path / "shown.tif"
    run("gdal_rasterize", "-q", "-a", "number", "-tr", 20, 20, "-ot", "Byte", shapes, shown)
    is_hole = np.random.default_rng(1).random(GRID.shape) < 0.2
    holes = write_tiff(tmp_path / "holes.tif", np.where(is_hole, -1, GRID).astype("i2"),
                       place=PLACE, crs=32633, nodata=-1)
    return {"in": tif, "shapes": shapes, "shown": shown, "holes": holes}


@each_value("program", "layout")
@pytest.mark.parametrize("program, layout", [
    (program, layout) for program in NEW for layout in ("v2", "shards", "CF")
    if "{co}" in NEW[program] or layout == "v2"
])
def test_new(tmp_path, sources, program, layout):
    options = [word for name, value in LAYOUTS[layout].items()
               for word in ("-co", f"{name}={value}")]
    for driver, out, creation in (("Zarr", "b.zarr", options), ("GTiff", "b.tif", [])):
        names = {**sources, "of": driver, "out": tmp_path / out}
        before, _, after = NEW[program].partition("{co}")
        run(*before.format(**names).split(), *creation * ("{co}" in NEW[program]),
            *after.format(**names).split())
    assert_same(tmp_path / "b.zarr", tmp_path / "b.tif", IGNORED)
    assert np.ptp(open_raster(tmp_path / "b.tif").ReadAsArray()) > 0


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
    run("gdalwarp", "-q", other, f'ZARR:"{store}":/b')
    run("gdalwarp", "-q", other, tif)
    assert_same(f'ZARR:"{store}":/b', tif, IGNORED)
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"{store}":/a').ReadAsArray(), GRID)
    assert (gdal.Open(str(tif)).ReadAsArray() != GRID).any()


def test_gdal_rasterize_onto(twins, shapes):
    on_both(twins, "gdal_rasterize", "-q", "-a", "number", "-at", shapes, "{}")
    on_both(twins, "gdal_rasterize", "-q", "-b", 1, "-burn", 3, "-i", shapes, "{}")


def test_gdal_sieve_in_place(twins, shapes):
    on_both(twins, "gdal_rasterize", "-q", "-burn", 3, shapes, "{}")
    on_both(twins, "gdal_sieve.py", "-q", "-st", 30, "{}")


@pytest.mark.parametrize("layout", ["v2", "shards"])
def test_fillnodata_in_place(tmp_path, sources, layout):
    """gdal_fillnodata.py always made a new raster until GDAL 3.7."""
    store = tmp_path / "holes.zarr"
    translate(sources["holes"], store, **LAYOUTS[layout])
    for path in (store, sources["holes"]):
        band = (dataset := gdal.OpenEx(str(path), gdal.OF_UPDATE)).GetRasterBand(1)
        gdal.FillNodata(band, band.GetMaskBand(), 100, 0)
        band = dataset = None
    assert_same(store, sources["holes"], IGNORED)
    assert open_raster(store).ReadAsArray().min() >= 0


@each_value()
@pytest.mark.parametrize("arguments", [
    "-a_srs EPSG:25832", "-a_ullr 0 100 240 -80", "-mo A=1 -mo B=two", "-unsetgt",
    "-a_srs EPSG:4326 -a_ullr 7 48 7.12 47.91", "-scale 0.5 -offset 3", "-units m",
    "-colorinterp_1 alpha", "-a_srs ''", "-tr 5 5", "-unsetgt -a_srs EPSG:2056", "-a_nodata 7",
])
def test_gdal_edit(twins, arguments):
    ignored = [key for key in IGNORED if not (key == "color" and "colorinterp" in arguments)]
    on_both(twins, "gdal_edit.py", *shlex.split(arguments), "{}", ignore=ignored)


def test_gdal_edit_one_after_another(twins):
    for arguments in ("-mo A=1", "-a_srs EPSG:25832", "-mo B=2", "-unsetmd", "-mo C=3", "-unsetgt",
                      "-a_ullr 1 2 3 0", "-a_nodata 7", "-unsetnodata"):
        on_both(twins, "gdal_edit.py", *arguments.split(), "{}")


def test_statistics(twins):
    """gdalinfo keeps them in the sidecar; so does gdal_edit, which can also remove them."""
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
    """Another CRS and, as far as possible without resampling, another position."""
    on_both(twins, "gdalmove.py", "-t_srs", "EPSG:3857", "-et", 1, "{}")
    assert open_raster(twins[0]).GetSpatialRef().GetAuthorityCode(None) == "3857"
