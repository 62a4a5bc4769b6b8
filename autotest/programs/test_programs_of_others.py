"""Other programs read and write stores by the lines of doc/programs.md."""
import shutil
import sys

import numpy as np
import pytest
from conftest import lines_of, need
from osgeo import gdal

# Longitude and latitude, not on an edge of a pixel.
PLACES = ((10.01, 49.99), (140.51, -30.01))
PACKED = [9606, 2769]  # data/geoid_v3.zarr, in units of 0.005 m
TRUTH = [48.02935, 13.84586]
NORTH_UP = (-180.25, 0.5, 0, 90.25, 0, -0.5)


def numbers(text):
    return [float(word) for word in text.split()]


def values_at(data):
    """Of an array from north to south."""
    return [float(data[round((90 - lat) / 0.5), round((lon + 180) / 0.5)]) for lon, lat in PLACES]


def assert_written(path, heights, version="v3"):
    assert (path / ("zarr.json" if version == "v3" else ".zgroup")).exists()
    dataset = gdal.Open(str(path))
    assert dataset.GetDriver().ShortName == "Zarr"
    assert dataset.GetGeoTransform() == NORTH_UP
    assert dataset.GetSpatialRef().IsGeographic()
    np.testing.assert_array_equal(dataset.ReadAsArray(), heights)


def test_truth(heights):
    assert values_at(heights) == pytest.approx(TRUTH, abs=1e-5)


def test_rioxarray(folder, heights):
    pytest.importorskip("rioxarray")
    more = ("\nprint(*heights.rio.bounds(), heights.rio.crs.to_epsg())\n"
            + "".join(f"print(float(heights.sel(band=1, x={lon}, y={lat}, method='nearest')))\n"
                      for lon, lat in PLACES))
    got = numbers(folder.run(sys.executable, "-c", lines_of("rasterio and rioxarray") + more))
    assert got == pytest.approx([-180.25, -90.25, 179.75, 90.25, 4326, *TRUTH], abs=1e-5)
    assert_written(folder.path / "rioxarray.zarr", heights)


def r(folder, package, lines):
    """The numbers that a program in R prints after the word RESULT."""
    rscript = need("Rscript")
    installed = folder.run(rscript, "-e", f'cat(nzchar(system.file(package = "{package}")))')
    if installed != "TRUE":
        pytest.skip(f"R has no package {package}")
    (folder.path / "lines.R").write_text(lines)
    return numbers(folder.run(rscript, "lines.R").split("RESULT")[1])


XY = "cbind(c(10.01, 140.51), c(49.99, -30.01))"
TERRA = f'cat("RESULT", as.vector(ext(x)), unlist(extract(x, {XY})))'


def test_terra(folder, heights):
    got = r(folder, "terra", f"{lines_of('terra (R)')}\nx <- heights\n{TERRA}")
    assert got == pytest.approx([-180.25, 179.75, -90.25, 90.25, *TRUTH], abs=1e-4)
    assert_written(folder.path / "terra.zarr", heights)


@pytest.mark.parametrize("call", [
    """rast('ZARR:"data/geoid_v3.zarr":/geoid')""", 'rast("data/geoid_v3.zarr/zarr.json")',
    'rast("south_up.zarr")', 'rast("south_up.zarr", opts = "NORTH_UP=YES")'])
@pytest.mark.usefixtures("south_up")
def test_terra_names(folder, call):
    got = r(folder, "terra", f"library(terra)\nx <- {call}\n{TERRA}")
    assert got == pytest.approx([-180.25, 179.75, -90.25, 90.25, *TRUTH], abs=0.003)


STARS = ('p <- st_sfc(st_point(c(10.01, 49.99)), st_point(c(140.51, -30.01)), crs = st_crs(x))\n'
         'cat("RESULT", as.vector(st_bbox(x)), as.numeric(st_extract(x, p)[[1]]))')


def test_stars(folder, heights):
    got = r(folder, "stars", f"{lines_of('stars (R)')}\nx <- heights\n{STARS}")
    assert got == pytest.approx([-180.25, -90.25, 179.75, 90.25, *TRUTH], abs=1e-4)
    assert_written(folder.path / "stars.zarr", heights)


@pytest.mark.parametrize("call", [
    """read_stars('ZARR:"data/geoid_v3.zarr":/geoid')""",
    'read_stars("south_up.zarr", options = "NORTH_UP=YES")'])
@pytest.mark.usefixtures("south_up")
def test_stars_names(folder, call):
    got = r(folder, "stars", f"library(stars)\nx <- {call}\n{STARS}")
    assert got == pytest.approx([-180.25, -90.25, 179.75, 90.25, *TRUTH], abs=0.003)


def grass(folder, lines):
    need("grass")
    if not (folder.path / "location").exists():
        folder.run("grass", "-c", "EPSG:4326", "location", "-e")
    (folder.path / "lines.sh").write_text("set -e\n" + lines)
    return folder.run("grass", "location/PERMANENT", "--exec", "bash", "lines.sh")


def what(name):
    return f"r.what map={name} coordinates=10.01,49.99,140.51,-30.01\n"


def values(text):
    """That r.what prints."""
    return [float(line.split("|")[3]) for line in text.splitlines() if line.count("|") == 3]


def test_grass(folder, heights):
    got = grass(folder, lines_of("GRASS") + what("heights") + what("linked")
                + "r.info -g linked\nr.univar -g linked\n")
    assert values(got) == pytest.approx(2 * TRUTH, abs=1e-4)
    told = dict(line.split("=") for line in got.splitlines() if line.count("=") == 1)
    place = [float(told[side]) for side in ("west", "south", "east", "north")]
    assert place == [-180.25, -90.25, 179.75, 90.25]
    assert float(told["max"]) == pytest.approx(heights.max())
    assert float(told["min"]) == pytest.approx(heights.min())
    assert_written(folder.path / "grass.zarr", heights)


@pytest.mark.usefixtures("south_up")
def test_grass_names(folder, heights):
    need("grass")
    got = grass(
        folder,
        """r.in.gdal 'input=ZARR:"data/geoid_v3.zarr":/geoid' output=a\n"""
        "r.external input=data/geoid_v3.zarr/geoid output=b\n"
        "g.region raster=a\n" + what("a") + what("b"))
    assert values(got) == 2 * PACKED
    got = grass(folder, "r.in.gdal gdal_doo=NORTH_UP=YES input=south_up.zarr output=c\n"
                + what("c"))
    assert values(got) == pytest.approx(TRUTH, abs=1e-4)
    (folder.path / "out").mkdir()
    grass(folder, "r.in.gdal input=data/geoid_v3_sharded.zarr output=d\ng.region raster=d\n"
          'r.external.out format=Zarr extension=zarr "directory=$PWD/out"\n'
          "r.mapcalc 'twice = d * 2'\n")
    assert_written(folder.path / "out/twice.zarr", 2 * heights, "v2")


def test_gmt(folder, heights):
    need("gmt")
    got = folder.shell(lines_of("GMT"))
    assert "x_min: -180 x_max: 179.5" in got and "y_min: -90 y_max: 90" in got
    assert_written(folder.path / "gmt.zarr", heights)


@pytest.mark.parametrize("name, tolerance", [
    ("data/geoid_v3_sharded.zarr/zarr.json", 1e-4), ("data/geoid_v2.zarr/geoid/.zarray", 1e-4),
    ("data/geoid_v3.zarr/zarr.json", 0.003), ("north_up.vrt", 1e-4)])
@pytest.mark.usefixtures("south_up")
def test_gmt_names(folder, name, tolerance):
    need("gmt")
    folder.shell("gdal_translate -of VRT -oo NORTH_UP=YES south_up.zarr north_up.vrt")
    got = folder.run("gmt", "grdtrack", "-nn", f"-G{name}=gd", text="10 50\n140.5 -30\n")
    assert numbers(got)[2::3] == pytest.approx(TRUTH, abs=tolerance)


def test_gmt_bands(folder):
    need("gmt")
    got = folder.run("gmt", "grdtrack", "-nn", "-Gdata/deflection_v2.zarr/.zgroup=gd+b1",
                     text="10 50\n")
    assert numbers(got)[2] == pytest.approx(1.29)


def test_saga(folder, heights):
    need("saga_cmd")
    folder.shell(lines_of("SAGA"))
    dataset = gdal.Open(str(folder.path / "saga.sdat"))
    assert dataset.GetGeoTransform() == NORTH_UP
    np.testing.assert_array_equal(dataset.ReadAsArray(), heights)
    assert_written(folder.path / "saga.zarr", heights)


def test_saga_names(folder):
    need("saga_cmd")
    folder.run("saga_cmd", "io_gdal", "0", "-FILES", "data/geoid_v3.zarr/geoid", "-GRIDS", "a.sgrd")
    assert values_at(gdal.Open(str(folder.path / "a.sdat")).ReadAsArray()) == PACKED
    folder.run("saga_cmd", "io_gdal", "0", "-FILES", "data/deflection_v2.zarr", "-MULTIPLE", "0",
               "-GRIDS", "b.sgrd;c.sgrd;d.sgrd")
    want = gdal.Open(str(folder.path / "data/deflection_v2.zarr")).ReadAsArray()
    for name, band in zip("bcd", want):
        np.testing.assert_array_equal(
            gdal.Open(str(folder.path / f"{name}.sdat")).ReadAsArray(), band)


def test_octave(folder):
    octave = need("octave-cli")
    if "mapping" not in folder.run(octave, "-q", "--eval", "pkg list"):
        pytest.skip("Octave has no package mapping")
    more = ('printf("%.9g ", info.bbox, bands(1).data(281, 381), bands(1).data(121, 642))\n'
            'bands = rasterread("data/geoid_v3.zarr/zarr.json");\n'
            'printf("%.9g ", bands(1).data(281, 381))\n')
    (folder.path / "lines.m").write_text(lines_of("Octave") + more)
    got = numbers(folder.run(octave, "-q", "lines.m"))
    want = [-180.25, 179.75, -90.25, 90.25, *TRUTH, PACKED[0]]
    assert got == pytest.approx(want, abs=1e-4)


MAP = """MAP
  SIZE 720 361
  EXTENT -180 -90 179.5 90
  IMAGETYPE PNG
  PROJECTION "init=epsg:4326" END
{}
END
"""


def assert_drawn(picture, data):
    """Drawn in grey from -110 to 90."""
    dataset = gdal.Open(str(picture))
    band = dataset.GetRasterBand(1)
    got = band.ReadAsArray().astype(float)
    table = band.GetColorTable()
    if table is not None:
        got = np.array([table.GetColorEntry(i)[0] for i in range(256)], float)[got.astype(int)]
    assert np.abs(got - np.clip((data + 110) / 200 * 256, 0, 255)).max() <= 1.01


def test_mapserver(folder, heights):
    need("map2img")
    layer = lines_of("MapServer")
    packed = layer.replace("SCALE=-110,90", "SCALE=-22000,18000").replace(
        '"data/geoid_v3_sharded.zarr"', """'ZARR:"data/geoid_v3.zarr":/geoid'""")
    for name, lines in (("a", layer), ("b", packed)):
        (folder.path / f"{name}.map").write_text(MAP.format(lines))
        folder.run("map2img", "-m", f"{name}.map", "-o", f"{name}.png")
        assert_drawn(folder.path / f"{name}.png", heights)


def test_mapserver_replaced_store(folder):
    """By another program, between two pictures of a process. Without CLOSE_CONNECTION, the process
    reads the new chunks by the old metadata."""
    pytest.importorskip("mapscript", reason="python3-mapscript is not installed")
    layer = lines_of("MapServer").replace("data/geoid_v3_sharded.zarr", "a.zarr")
    closing = '  PROCESSING "CLOSE_CONNECTION=ALWAYS"\n'
    assert closing in layer
    program = """
import subprocess, sys
import mapscript
subprocess.run("gdal_translate -q -of Zarr data/geoid_v2.zarr a.zarr", shell=True, check=True)
drawn = mapscript.fromstring(sys.argv[1])
drawn.draw()
subprocess.run(
    "rm -r a.zarr; gdal_create -q -of Zarr -ot Float32 -outsize 72 36 -bands 1 -a_srs EPSG:4326 "
    "-a_ullr -180 90 180 -90 -burn 60 -co COMPRESS=ZSTD a.zarr", shell=True, check=True)
try:
    drawn.draw()
    print("drawn")
except mapscript.MapServerError:
    print("refused")
"""
    for lines, want in ((layer, "drawn"), (layer.replace(closing, ""), "refused")):
        shutil.rmtree(folder.path / "a.zarr", ignore_errors=True)
        got = folder.run(sys.executable, "-c", program, MAP.format(lines))
        assert got.split()[-1] == want


@pytest.fixture
def database(folder):
    """The variables for a server of this test, which a user other than root must run."""
    need("raster2pgsql")
    programs = "/usr/lib/postgresql/15/bin"
    if not shutil.which(f"{programs}/initdb"):
        pytest.skip("PostgreSQL 15 is not installed")
    home = folder.run("mktemp", "-d", "-p", "/tmp", "pg-XXXXXXXX").strip()
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    if folder.run("id", "-u").strip() != "0":
        pytest.skip("a server of its own needs root, to become postgres")
    folder.run("chown", "postgres", home)
    for path in (folder.path, *list(folder.path.parents)[:-2]):
        path.chmod(0o755)
    variables = {"PGHOST": home, "PGUSER": "postgres", "PGDATABASE": "postgres"}
    folder.run(*user, f"{programs}/initdb", "-D", f"{home}/data", "-A", "trust")
    server = [*user, f"{programs}/pg_ctl", "-D", f"{home}/data"]
    folder.run(*server, "-w", "-l", f"{home}/log", "-o",
               f"-c listen_addresses= -c unix_socket_directories={home} -c fsync=off", "start")
    try:
        folder.run("psql", "-q", "-c", "CREATE EXTENSION postgis", "-c",
                   "CREATE EXTENSION postgis_raster", **variables)
        yield variables
    finally:
        folder.run(*server, "-m", "fast", "stop")
        shutil.rmtree(home)


def test_postgis(folder, heights, database):
    folder.shell(lines_of("PostGIS"), **database)
    for table in ("heights", "linked"):
        queries = ["SET postgis.enable_outdb_rasters = on",
                   "SET postgis.gdal_enabled_drivers = 'Zarr'"]
        for lon, lat in PLACES:
            place = f"st_setsrid(st_point({lon}, {lat}), 4326)"
            queries.append(f"SELECT st_value(rast, {place}) FROM {table} "
                           f"WHERE st_intersects(rast, {place})")
        got = folder.run("psql", "-qAt", text=";\n".join(queries) + ";\n", **database)
        assert numbers(got) == pytest.approx(TRUTH, abs=1e-4)
    assert_written(folder.path / "postgis.zarr", heights, "v2")
