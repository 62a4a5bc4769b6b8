"""Every command of README.md and doc/*.md is run in its order, and does what the page says.

The blocks are parsed from the pages. Those of a page run in a folder with a copy of data/ and
nothing else, with the plugin under test. The commands that are not run are listed here.
"""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import icechunk_writer
import netCDF4
import numpy as np
import pytest
from classic import in_memory, open_raster
from osgeo import gdal
from webserver import serve

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", *sorted(f"doc/{page.name}" for page in (ROOT / "doc").glob("*.md"))]

# Other tests install, build and test the project, and choose the driver.
BUILDS = re.compile(r"(sudo +)?(cmake|apt-get|script/\w+)\b|export GDAL_DRIVER_PATH=")
# Languages of blocks that are not commands.
OTHER_LANGUAGES = {"cmake", "cpp", "text"}
# The server of the examples, which is replaced by one of this test.
HOST = "https://example.org"


def parse_blocks(text):
    """(language, lines) of each block. Indented blocks are shell commands."""
    blocks = []
    fence = None
    was_blank = True
    indented = False
    for line in text.splitlines():
        if fence is not None:
            if line.strip() == "```":
                fence = None
            else:
                blocks[-1][1].append(line)
        elif line.startswith("```"):
            fence = line[3:].strip()
            blocks.append((fence, []))
        elif line.startswith("    ") and (was_blank or indented):
            if not indented:
                blocks.append(("sh", []))
            blocks[-1][1].append(line[4:])
            indented = True
        else:
            indented = False
        was_blank = not line.strip()
    assert fence is None, "a block has no end"
    return blocks


def commands(text):
    """(language, command) in order: a block of Python is one command, a line of shell another."""
    for language, lines in parse_blocks(text):
        if language in ("sh", "bash", "shell", "console"):
            for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
                if command := re.sub(r"(^|\s+)#.*$", "", line).strip():
                    yield "sh", command
        elif language == "python":
            yield "python", "\n".join(lines)
        else:
            assert language in OTHER_LANGUAGES, f"a block of an unknown language: {language!r}"


def test_blocks():
    text = """Text

    one  # a comment
    two \\
      more

```python
three = 3

    four
```
- item

    five
    # nothing
```cpp
no
```
"""
    assert list(commands(text)) == [
        ("sh", "one"), ("sh", "two more"), ("python", "three = 3\n\n    four"), ("sh", "five")]


# --- what the commands must do -------------------------------------------------------------------

GEOID = gdal.Open("/usr/share/proj/egm96_15.gtx").ReadAsArray()[::2, ::2]


def prints(*texts):
    def check(output):
        for text in texts:
            assert text in output, f"no {text!r}"

    return check


def has_geoid(path, tolerance=0.0, driver="Zarr"):
    def check(_):
        dataset = open_raster(path)
        assert dataset.GetDriver().ShortName == driver
        assert dataset.GetSpatialRef().GetAuthorityCode(None) == "4326"
        assert dataset.GetGeoTransform() == (-180.25, 0.5, 0, 90.25, 0, -0.5)
        np.testing.assert_allclose(dataset.ReadAsArray(), GEOID, rtol=0, atol=tolerance)

    return check


def check_alps(_):
    dataset = open_raster("alps.tif")
    x, dx, _, y, _, dy = dataset.GetGeoTransform()
    row, column = round((90.25 - y) / 0.5), round((x + 180.25) / 0.5)
    assert (dx, dy) == (0.5, -0.5) and abs(x - 5) <= 0.5 and abs(y - 48) <= 0.5
    values = dataset.ReadAsArray()
    # If the edges of a window lie inside pixels, GDAL 3.11 and newer include these pixels.
    assert values.shape in ((6, 12), (7, 13))
    height, width = values.shape
    np.testing.assert_array_equal(values, GEOID[row:row + height, column:column + width])


def check_netcdf(_):
    with netCDF4.Dataset("geoid.nc") as copy:
        np.testing.assert_allclose(copy["geoid"][:], GEOID, rtol=0, atol=0.0026)


def check_world(_):
    has_geoid("world.zarr")(_)
    compressor = json.loads(Path("world.zarr/world/.zarray").read_text())["compressor"]
    assert (compressor["id"], compressor["level"]) == ("zstd", 3)


def check_shards(_):
    has_geoid("shards.zarr")(_)
    document = json.loads(Path("shards.zarr/shards/zarr.json").read_text())
    (codec,) = document["codecs"]
    assert document["chunk_grid"]["configuration"]["chunk_shape"] == [256, 256]
    assert codec["name"] == "sharding_indexed" and codec["configuration"]["chunk_shape"] == [64, 64]
    assert "blosc" in [inner["name"] for inner in codec["configuration"]["codecs"]]


def check_europe(_):
    dataset = open_raster("europe.zarr")
    assert dataset.GetSpatialRef().GetAuthorityCode(None) == "3035"
    assert dataset.GetGeoTransform() == (2_500_000, 5000, 0, 5_500_000, 0, -5000)
    band = dataset.GetRasterBand(1)
    sizes = [(band.GetOverview(i).XSize, band.GetOverview(i).YSize)
             for i in range(band.GetOverviewCount())]
    assert sizes == [(500, 400), (250, 200)]
    # The centre of the projection, 10° E and 52° N, is a node of the geoid.
    assert dataset.ReadAsArray(364, 457, 1, 1)[0, 0] == pytest.approx(GEOID[76, 380], abs=0.2)


def check_slope(_):
    slope = open_raster("slope.tif").ReadAsArray()
    assert slope[1:-1, 1:-1].min() >= 0 and 0.001 < slope.max() < 1


def check_appended(_):
    has_geoid('ZARR:"world.zarr":/world')(_)
    np.testing.assert_array_equal(open_raster('ZARR:"world.zarr":/slope').ReadAsArray(),
                                  open_raster("slope.tif").ReadAsArray())


def check_overviews(_):
    check_appended(_)
    dataset = open_raster('ZARR:"world.zarr":/world')
    band = dataset.GetRasterBand(1)
    assert [band.GetOverview(i).XSize for i in range(band.GetOverviewCount())] == [360, 180]
    plain = in_memory(GEOID)
    plain.BuildOverviews("AVERAGE", [2])
    # With an odd number of rows, the weights of pixels depend on GDAL's windows.
    np.testing.assert_allclose(band.GetOverview(0).ReadAsArray(),
                               plain.GetRasterBand(1).GetOverview(0).ReadAsArray(), atol=0.01)
    assert band.GetOverview(1).ReadAsArray().mean() == pytest.approx(GEOID.mean(), abs=0.1)


def check_multidimensional_copy(_):
    root = gdal.OpenEx("geoid.zarr", gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    array = root.OpenMDArray("geoid")
    values = array.ReadAsArray() * array.GetScale() + (array.GetOffset() or 0)
    np.testing.assert_allclose(values, GEOID, rtol=0, atol=0.0026)
    codecs = json.loads(Path("geoid.zarr/geoid/zarr.json").read_text())["codecs"]
    assert {"name": "gzip", "configuration": {"level": 4}} in codecs


def check_changed_chunks(_):
    copy, source = (gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER)
                    for path in ("series.zarr", "data/deflection_v2.zarr"))
    arrays = [dataset.GetRootGroup().OpenMDArray("deflection") for dataset in (copy, source)]
    np.testing.assert_array_equal(*(array.ReadAsArray() for array in arrays))
    assert list(arrays[0].GetBlockSize()) == [3, 20, 20]


def check_consolidated(_):
    assert "plain/.zarray" in json.loads(Path("plain.zarr/.zmetadata").read_text())["metadata"]


def check_not_consolidated(_):
    assert open_raster("plain.zarr") and not Path("plain.zarr/.zmetadata").exists()


def check_cube(name, array):
    def check(output):
        assert "8 of 8 shards" in output
        root = json.loads(Path(name, "zarr.json").read_text())
        assert sorted(root["consolidated_metadata"]["metadata"]) == sorted(
            [array, "time", "x", "y"])
        assert open_raster(name).ReadAsArray().std() > 0.5

    return check


def is_removed(path):
    def check(_):
        assert not Path(path).exists()

    return check


def check_created(_):
    dataset = open_raster("new.zarr")
    assert dataset.GetGeoTransform() == (0, 0.1, 0, 20, 0, -0.1)
    assert (dataset.ReadAsArray() == 1.5).all()


def check_references(_):
    dataset = gdal.Open("x.parq")
    start = Path("data/geoid_v2.zarr/.zmetadata").read_bytes()[:8]
    assert dataset.ReadAsArray().tobytes() == start


def check_edited(_):
    assert open_raster("new.zarr").GetMetadataItem("title") == "example"


WGS84 = ("Driver: Zarr/Zarr", "Size is 720, 361", 'ID["EPSG",4326]')
# The check of each command, by its beginning. Commands that make files must have one.
def check_archive(name):
    def check(_):
        np.testing.assert_array_equal(open_raster(name).ReadAsArray(),
                                      open_raster("data/geoid_v2.zarr").ReadAsArray())
    return check


def check_sharded(_):
    codecs = json.loads(Path("sharded.zarr/sharded/zarr.json").read_text())["codecs"]
    assert codecs[0]["configuration"]["index_location"] == "start"


def check_complete(_):
    (shards,) = json.loads(Path("complete.zarr/complete/zarr.json").read_text())["codecs"]
    assert [c["name"] for c in shards["configuration"]["codecs"]] == ["bytes", "blosc"]
    assert [c["name"] for c in shards["configuration"]["index_codecs"]] == ["bytes", "crc32c"]
    assert np.all(gdal.Open("complete.zarr").ReadAsArray() == 1)


def check_ratio(_):
    assert gdal.Open("ratio.zarr").GetRasterBand(1).GetBlockSize() == [1000, 500]


def check_filtered(_):
    document = json.loads(Path("filtered.zarr/filtered/.zarray").read_text())
    assert document["compressor"]["id"] == "zlib" and document["filters"][0]["id"] == "delta"


def check_chunks(name, shape, inner=None):
    def check(_):
        has_geoid(f"{name}.zarr")(_)
        if inner is None:
            assert json.loads(Path(f"{name}.zarr/{name}/.zarray").read_text())["chunks"] == shape
            return
        document = json.loads(Path(f"{name}.zarr/{name}/zarr.json").read_text())
        assert document["chunk_grid"]["configuration"]["chunk_shape"] == shape
        assert document["codecs"][0]["configuration"]["chunk_shape"] == inner

    return check


def check_series(_):
    np.testing.assert_array_equal(open_raster("series_auto.zarr").ReadAsArray(),
                                  open_raster("data/deflection_v2.zarr").ReadAsArray())
    document = json.loads(Path("series_auto.zarr/series_auto/.zarray").read_text())
    assert document["chunks"][0] == 3


def check_vrt(_):
    assert open_raster("mended.vrt").GetGeoTransform() == (-180.25, 0.5, 0, 90.25, 0, -0.5)


def check_convention(_):
    has_geoid("cf.zarr")(_)
    attributes = json.loads(Path("cf.zarr/cf/.zattrs").read_text())
    assert attributes["grid_mapping"] == "spatial_ref" and "_CRS" not in attributes


PREPARED = "from osgeo import gdal\n\ngdal.UseExceptions()\n"
OPENED = ('root = gdal.OpenEx("data/deflection_v2.zarr", gdal.OF_MULTIDIM_RASTER)'
          ".GetRootGroup()\n")
def has_rows(_):
    rows = gdal.Open("cube").ReadAsArray()
    assert (rows == np.repeat(np.arange(0, 40, 10), 10)[:, None]).all()


CHECKS = {
    "gdalinfo data/geoid_v3_sharded.zarr": prints(*WGS84, "Block=64x64"),
    "gdal_translate data/geoid_v3_sharded.zarr geoid.tif": has_geoid("geoid.tif", driver="GTiff"),
    "gdal_translate -projwin 5 48 11 45 data/geoid_v2.zarr alps.tif": check_alps,
    "gdalinfo 'ZARR:\"data/geoid_v2.zarr\":/geoid'": prints(*WGS84, "Description = "),
    "gdalmdiminfo data/deflection_v2.zarr": prints('"deflection": {', '"component"'),
    "gdalmdimtranslate data/geoid_v3.zarr geoid.nc": check_netcdf,
    "gdalinfo 'ZARR:\"/vsicurl/https://example.org": prints(*WGS84),
    "gdalinfo 'https://example.org/geoid_v2.zarr/|zarr2:": prints(*WGS84),
    "gdalinfo --config AWS_NO_SIGN_REQUEST YES 'ZARR:\"/vsis3/": prints(*WGS84),
    f"{PREPARED}for name in gdal.ReadDirRecursive(": prints("a/0.0 8\n"),
    "gdal_translate -of Zarr -co CONVERT_TO_KERCHUNK_PARQUET_REFERENCE=YES": check_references,
    "gdal_translate -of Zarr -co COMPRESS=ZSTD": check_world,
    "gdal_translate -of Zarr -co FORMAT=ZARR_V3": check_shards,
    "gdalwarp -of Zarr": check_europe,
    "gdaldem slope": check_slope,
    "gdal_translate -of Zarr -co APPEND_SUBDATASET=YES": check_appended,
    "gdaladdo -r average": check_overviews,
    "gdalmdimtranslate -co FORMAT=ZARR_V3": check_multidimensional_copy,
    "gdalmdimtranslate -of Zarr -co \"ARRAY:IF(DIM=3)": check_changed_chunks,
    "gdalmanage delete world.zarr": is_removed("world.zarr"),
    "gdalinfo 'ZARR:\"data/deflection_v2.zarr\":/deflection:1'": prints("Size is 360, 181"),
    "gdalinfo -oo MULTIBAND=NO": prints("SUBDATASET_3_NAME=ZARR:"),
    "gdal_create -of Zarr -outsize 300 200 -bands 1 -ot Float32": check_created,
    "gdal_create -of Zarr -outsize 300 200 -bands 1 -ot Int16": check_filtered,
    "gdal_create -of Zarr -outsize 2000 1000 -bands 1 -ot Int16": check_complete,
    "gdal_create -of Zarr -outsize 4000 4000 -bands 1 -ot Byte": check_ratio,
    "gdal_translate -q -of Zarr data/geoid_v2.zarr output.zip": check_archive("output.zip"),
    "gdal_translate -q -of Zarr data/geoid_v2.zarr /vsizip/": check_archive(
        "/vsizip/archive.zip/folder/output.zarr"),
    "import json": check_sharded,
    "gdal_edit.py -mo title": check_edited,
    "gdalmanage delete new.zarr": is_removed("new.zarr"),
    "import rasterio\nfrom": prints("EPSG:4326", "BoundingBox(left=-180.25", "nan"),
    "import rasterio\n\nwith": prints("EPSG:4326 (361, 720)", "-106.97 84.63"),
    "gdal_translate -q -of Zarr -co CREATE_CONSOLIDATED_METADATA=NO": check_not_consolidated,
    f"{PREPARED}gdal.OpenEx(\"plain.zarr\"": check_consolidated,
    "/usr/bin/python3 examples/dask/anomalies.py make": check_cube("cube.zarr", "temperature"),
    "/usr/bin/python3 examples/dask/anomalies.py run": check_cube("anomalies.zarr", "anomaly"),
    "gdalinfo -mdd ICECHUNK ICECHUNK:earth": prints("BRANCH=main", "FORMAT=2"),
    "gdalinfo -mdd ICECHUNK 'ICECHUNK:repo": prints(
        "TAG=v1", "BRANCH_1_NAME=main", "TAG_1_SNAPSHOT="),
    "from rasterio.windows": prints("(100, 200)"),
    "gdalinfo data/geoid_v2.zarr": prints(*WGS84),
    "gdalinfo -oo LIST_ALL_ARRAYS=YES": prints("/lat", "/deflection"),
    "gdalinfo -oo DIM_X=component": prints("Size is 3, 181", "Band 360 "),
    "gdal_translate -q -unscale": has_geoid("unpacked.tif", 0.0026, driver="GTiff"),
    "gdal_translate -q -of Zarr -co CHUNKS=AUTO -co COMPRESS": check_chunks("auto", [361, 720]),
    "gdal_translate -q -of Zarr -co BLOCKSIZE=128,128": check_chunks("blocks", [128, 128]),
    "gdal_translate -q -of Zarr -co FORMAT=ZARR_V3 -co SHARDING": check_chunks(
        "sharded_auto", [384, 768], [64, 64]),
    "gdal_translate -q -of Zarr -co FORMAT=ZARR_V3 -co BLOCKSIZE": check_chunks(
        "sharded_64", [256, 256], [64, 64]),
    "gdal_translate -q -of Zarr -co CHUNKS=AUTO -co ACCESS=SERIES": check_series,
    "gdal_translate -q -of Zarr -co COMPRESS=ZSTD -co ZSTD_LEVEL=3 -co KEEPBITS": has_geoid(
        "rounded.zarr", 0.1),
    "gdal_translate -q -of Zarr -co COMPRESS=ZLIB": has_geoid("for_all.zarr"),
    "gdal_translate -q -of Zarr -co GEOREFERENCING_CONVENTION=CF": check_convention,
    "gdal_translate -q -of VRT": check_vrt,
    "import rioxarray\nimport xarray": prints("EPSG:4326 (-180.25, -90.25, 179.75, 90.25)"),
    "gdal_translate -q -of Zarr data/geoid_v3_sharded.zarr ICECHUNK:earth": has_geoid("earth"),
    "gdal_zarr info data/geoid_v3_sharded.zarr": prints("Zarr v3", "  geoid  float32  361 x 720",
                                                                "CRS WGS 84 from"),
    "gdal_zarr check data/geoid_v2.zarr": prints("No damage was found."),
    "gdal_zarr check --read --json data/geoid_v2.zarr": prints('"findings": []'),
    "gdal_zarr repair data/geoid_v2.zarr": prints("There is nothing that can be mended."),
    "gdal_zarr repair --apply data/geoid_v2.zarr": prints("nothing that can be mended."),
    "gdal_zarr migrate data/deflection_v2.zarr": prints("Zarr v3 would be written for"),
    "gdal_zarr migrate --copy=deflection_v3.zarr": prints("Zarr v3 was written for"),
    "gdal_zarr migrate --apply data/deflection_v2.zarr": prints("Zarr v3 was written for"),
    "gdal_zarr rechunk data/geoid_v2.zarr": prints("/geoid has the new layout"),
    "gdal_zarr rechunk data/geoid_v3.zarr": prints("/geoid has the new layout"),
    "gdal_zarr overviews data/geoid_v2.zarr": prints(": overviews at 2"),
    "gdal_zarr overviews --remove data/geoid_v2.zarr": prints("there are no overviews"),
    "gdal_zarr benchmark data/geoid_v2.zarr": prints("/geoid in chunks of", "  window of "),
    "gdal_translate -q -co TILED=YES data/geoid_v2.zarr geoid_20200101": has_geoid(
        "geoid_20200101.tif", driver="GTiff"),
    "gdal_translate -q -co TILED=YES data/geoid_v2.zarr geoid_20200201": has_geoid(
        "geoid_20200201.tif", driver="GTiff"),
    "gdal_zarr virtualize geoid.json": prints("geoid.json refers to 2 inputs"),
    "gdalinfo geoid.json": prints(*WGS84, "time=2020-02-01T00:00"),
    "gdal_zarr log earth": prints("gdal_translate"),
    "gdal_zarr tag earth --create v1": prints("v1"),
    "gdal_zarr tag --json earth": prints('"v1"'),
    "gdal_zarr repair --apply --older-than=30": prints("0 younger files"),
    "import dask\nimport numpy": has_rows,
    "import rioxarray\n\nstack": prints("EPSG:4326", "'y': 361"),
    "from osgeo import gdal\nimport numpy": prints("7 7"),
    f"{PREPARED}{OPENED}print": prints("'deflection'", "arcsec 12"),
    f"{PREPARED}dataset = gdal.Open(\"data/deflection_v2.zarr\")\nfor": prints("1 ", "3 "),
    f"{PREPARED}dataset = gdal.Open(\"data/deflection_v2.zarr\")\nvalues": prints("(3, 60, 60)"),
    f"{PREPARED}gdal.SetPathSpecificOption": prints("720 361"),
    f"{PREPARED}{OPENED}array": prints("('lat', 181)", "(91, 180)"),
}


def find_check(command):
    found = [check for beginning, check in CHECKS.items() if command.startswith(beginning)]
    assert len(found) <= 1, f"several checks for {command}"
    return found[0] if found else None


def write_repository(path):
    document = {"zarr_format": 3, "node_type": "array", "shape": [256, 256], "data_type": "uint8",
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [256, 256]}},
                "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
                "codecs": [{"name": "bytes"}]}
    repository = icechunk_writer.Repository(path)
    chunks = {(0, 0): icechunk_writer.Native(bytes(256 * 256))}
    nodes = {"": icechunk_writer.GROUP, "a": (document, chunks)}
    repository.tags["v1"] = repository.commit(nodes)
    repository.write()


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """The environment of the commands, in their folder, with a server for the network."""
    (tmp_path / "here").mkdir()
    shutil.copytree(ROOT / "data", tmp_path / "here/data")
    shutil.copytree(ROOT / "examples/dask", tmp_path / "here/examples/dask")
    for folder in (".", "bucket"):
        shutil.copytree(ROOT / "data", tmp_path / "server" / folder, dirs_exist_ok=True)
    array = {"zarr_format": 2, "shape": [1, 8], "chunks": [1, 8], "dtype": "|u1",
             "compressor": None, "filters": None, "order": "C", "fill_value": 0}
    references = {".zgroup": '{"zarr_format": 2}', "a/.zarray": array,
                  "a/0.0": ["data/geoid_v2.zarr/.zmetadata", 0, 8]}
    (tmp_path / "here/x.json").write_text(json.dumps({"version": 1, "refs": references}))
    write_repository(tmp_path / "here/repo")
    monkeypatch.chdir(tmp_path / "here")
    with serve(tmp_path / "server", monkeypatch) as server:
        s3 = {"AWS_S3_ENDPOINT": server.url.removeprefix("http://"), "AWS_HTTPS": "NO",
              "AWS_VIRTUAL_HOSTING": "FALSE", "AWS_EC2_METADATA_DISABLED": "true"}
        path = f"{os.environ['GDAL_DRIVER_PATH']}:{os.environ['PATH']}"
        yield server, os.environ | s3 | {"PATH": path}


@pytest.mark.parametrize("page", PAGES)
def test_every_command(page, environment):
    if page == "doc/dask.md":
        pytest.importorskip("distributed", reason="python3-distributed is not installed")
    if page == "doc/quick_start.md":
        pytest.importorskip("dask", reason="python3-dask is not installed")
    server, variables = environment
    for language, command in commands((ROOT / page).read_text()):
        if language == "sh" and BUILDS.match(command):
            continue
        before = set(Path.cwd().iterdir())
        text = command.replace(HOST, server.url)
        program = ["bash", "-c", text] if language == "sh" else [sys.executable, "-c", text]
        result = subprocess.run(program, capture_output=True, text=True, env=variables, timeout=300)
        # Newer GDALs warn of programs that do not say whether they want exceptions.
        assert (result.returncode == 0 and "ERROR" not in result.stderr
                and "FutureWarning" not in result.stderr), (
            f"{command}\n{result.stdout}\n{result.stderr}")
        check = find_check(command)
        new = {path.name for path in set(Path.cwd().iterdir()) - before}
        assert check or not new, f"{command!r} made {new}, which no check looks at"
        if check:
            check(result.stdout)
    if any("/vsis3/bucket/" in command for _, command in commands((ROOT / page).read_text())):
        assert {path for path, _ in server.requests if path.startswith("/bucket/geoid_v2.zarr/")}


def test_every_check_has_its_command():
    known = [command for page in PAGES for _, command in commands((ROOT / page).read_text())]
    for beginning in CHECKS:
        assert [command for command in known if command.startswith(beginning)], beginning


# --- the short tables of options -----------------------------------------------------------------

@pytest.mark.parametrize("heading, item", [
    ("open option", "DMD_OPENOPTIONLIST"), ("creation option", "DMD_CREATIONOPTIONLIST")])
def test_options_exist(heading, item):
    """autotest/source/test_options.py checks the complete tables of doc/options.md."""
    text = (ROOT / "README.md").read_text()
    table = re.search(rf"\| {heading} \|.*?\n\n", text, re.DOTALL).group()
    first_cells = [row.split("|")[1] for row in table.splitlines()[2:] if row]
    named = re.findall(r"`([A-Z_]+)=", " ".join(first_cells))
    driver = gdal.GetDriverByName("Zarr")
    known = re.findall(r"Option name=['\"](\w+)", driver.GetMetadataItem(item))
    assert len(named) > 3 and set(named) <= set(known)
