"""How many requests programs make to open and read a store on the network, and how often they wait
for an answer: counted at the server, with no assertion about time."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import rasterio
from osgeo import gdal, osr
from request_log import RequestLog, log_requests, round_trips
from stores import BYTES, sharding, write_array, write_group, write_multiscale
from webserver import HTTP_OPTIONS, serve

DATA = np.arange(64 * 64, dtype="u2").reshape(64, 64)


def make_store(path, version, consolidated=True, group="", names="yx", grid_mapping=False):
    """The array /image, or one of the group, with coordinates."""
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(
        str(path), [], [f"FORMAT=ZARR_V{version}",
                        f"CREATE_CONSOLIDATED_METADATA={'YES' if consolidated else 'NO'}"])
    parent = dataset.GetRootGroup()
    if group:
        parent = parent.CreateGroup(group)
    text, number = gdal.ExtendedDataType.CreateString(), gdal.ExtendedDataType.Create
    dimensions = []
    for name in names:
        dimension = parent.CreateDimension(name, None, None, 3 if name == "t" else 64)
        values = np.arange(float(dimension.GetSize()))
        coordinate = parent.CreateMDArray(name, [dimension], number(gdal.GDT_Float64))
        coordinate.Write(values)
        dimension.SetIndexingVariable(coordinate)
        dimensions.append(dimension)
    block = ",".join(["1"] * (len(names) - 2) + ["16", "16"])
    array = parent.CreateMDArray("image", dimensions, number(gdal.GDT_UInt16),
                                 [f"BLOCKSIZE={block}"])
    array.Write(np.broadcast_to(DATA, [d.GetSize() for d in dimensions]).copy())
    if grid_mapping:
        attribute = array.CreateAttribute("grid_mapping", [], text)
        attribute.Write("projection")
        variable = parent.CreateMDArray("projection", [], number(gdal.GDT_Int32))
        crs = osr.SpatialReference()
        crs.ImportFromEPSG(32633)
        attribute = variable.CreateAttribute("crs_wkt", [], text)
        attribute.Write(crs.ExportToWkt())


@pytest.fixture
def server(tmp_path, monkeypatch):
    with serve(tmp_path, monkeypatch) as server:
        server.folder = tmp_path
        server.path = f"/vsicurl/{server.url}/a.zarr"
        yield server


def counts(log):
    return log.count, log.round_trips


def test_the_measure():
    """The longest chain of requests of which each starts after the one before has ended."""
    assert round_trips([]) == 0
    assert round_trips([(1, 4), (2, 5), (3, 6)]) == 1
    assert round_trips([(1, 2), (3, 4), (5, 6)]) == 3
    assert round_trips([(1, 10), (2, 3), (4, 5), (11, 12)]) == 3
    log = RequestLog(0)
    for path in "ab":
        log.hold("GET", path)
    assert (counts(log), log.waves) == ((2, 2), [["GET a"], ["GET b"]])


# What is requested in each round trip, with "/image" and its coordinates at the root.
DOCUMENTS = {2: [".zarray", ".zattrs"], 3: ["zarr.json"]}
CHUNK = {2: "0", 3: "c/0"}


def documents(version, *nodes):
    return [f"{node}/{name}" for node in nodes for name in DOCUMENTS[version]]


def opening(version, consolidated, names="yx", further=()):
    waves = [["zarr.json", ".zmetadata"]]
    if not consolidated:
        root = [".zgroup", ".zattrs"] if version == 2 else []
        waves += [root + documents(version, "image"), documents(version, *names, *further)]
    return [*waves, [f"{name}/{CHUNK[version]}" for name in "yx"]]


def waves_of(log):
    return [sorted(path.split(" ")[1].removeprefix("/a.zarr/") for path in wave)
            for wave in log.waves]


@pytest.mark.parametrize("consolidated", [True, False])
@pytest.mark.parametrize("version", [2, 3])
def test_classic(server, version, consolidated):
    make_store(server.folder / "a.zarr", version, consolidated)
    with log_requests(server) as log:
        dataset = gdal.Open(f'ZARR:"{server.path}":/image')
        assert dataset.GetGeoTransform() == (-0.5, 1, 0, -0.5, 0, 1)
    assert waves_of(log) == [sorted(wave) for wave in opening(version, consolidated)], str(log)
    assert counts(log) == {(2, True): (4, 2), (3, True): (4, 2),
                           (2, False): (12, 4), (3, False): (7, 4)}[version, consolidated]
    with log_requests(server) as log:
        np.testing.assert_array_equal(dataset.ReadAsArray(8, 8, 30, 20), DATA[8:28, 8:38])
    assert counts(log) == (6, 1)


@pytest.mark.parametrize("version", [2, 3])
def test_cube_with_a_grid_mapping(server, version):
    make_store(server.folder / "a.zarr", version, False, names="tyx", grid_mapping=True)
    with log_requests(server) as log:
        dataset = gdal.Open(f'ZARR:"{server.path}":/image')
        assert dataset.RasterCount == 3
        assert dataset.GetSpatialRef().GetAuthorityCode(None) == "32633"
    want = opening(version, False, "tyx", ["projection"])
    assert waves_of(log) == [sorted(wave) for wave in want], str(log)


@pytest.mark.parametrize("version", [2, 3])
def test_array_in_a_group(server, version):
    make_store(server.folder / "a.zarr", version, False, group="level")
    with log_requests(server) as log:
        assert gdal.Open(f'ZARR:"{server.path}":/level/image').GetGeoTransform()
    assert counts(log) == ((14, 4) if version == 2 else (8, 4)), str(log)


@pytest.mark.parametrize("consolidated", [True, False])
@pytest.mark.parametrize("version", [2, 3])
def test_multidim(server, version, consolidated):
    make_store(server.folder / "a.zarr", version, consolidated)
    with log_requests(server) as log:
        root = gdal.OpenEx(f'ZARR:"{server.path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        array = root.OpenMDArray("image")
        variables = [d.GetIndexingVariable().GetName() for d in array.GetDimensions()]
    assert variables == ["y", "x"]
    if consolidated:
        assert counts(log) == (2, 1), str(log)
    else:
        assert counts(log) == ((11, 4) if version == 2 else (5, 3)), str(log)
    with log_requests(server) as log:
        np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    assert counts(log) == (16, 1)


@pytest.mark.parametrize("readdir", [None, "TRUE", "EMPTY_DIR"])
@pytest.mark.parametrize("version", [2, 3])
def test_path_without_prefix(server, version, readdir):
    """GDAL itself asks for the path, and for a listing of the folder around it unless that is ruled
    out. Then the driver looks for documents, each of which is requested once."""
    make_store(server.folder / "a.zarr", version)
    gdal.SetConfigOption("GDAL_DISABLE_READDIR_ON_OPEN", readdir)
    with log_requests(server) as log:
        dataset = gdal.Open(server.path)
    assert dataset.GetDriver().ShortName == "Zarr"
    assert len(log.paths) == len(set(log.paths))
    of_driver = [wave for wave in waves_of(log) if wave not in (["/a.zarr"], ["/"])]
    beside = [] if readdir == "EMPTY_DIR" else ["/a.zarr.aux.xml", "image/gdal.aux.xml"]
    values = [f"{name}/{CHUNK[version]}" for name in "xy"]
    assert of_driver == [[".zmetadata", "zarr.json"], sorted(beside + values)], str(log)


def run(server, *command, quiet_seconds=0.25, **options):
    """A program, with the driver under test and configuration options."""
    environment = os.environ | HTTP_OPTIONS | options
    with log_requests(server, quiet_seconds) as log:
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout, log


def test_sidecars_of_several_arrays(server):
    """All at once, although each band has its own; GDAL asks for the size of a file before it reads
    it."""
    source = gdal.GetDriverByName("MEM").Create("", 8, 6, 3)
    for number in (1, 2, 3):
        source.GetRasterBand(number).SetScale(number)  # which an array has once
        source.GetRasterBand(number).SetCategoryNames([f"of {number}"])
    gdal.GetDriverByName("Zarr").CreateCopy(str(server.folder / "a.zarr"), source,
                                            options=["FORMAT=ZARR_V3"])
    # In a program of its own, whose threads have nothing else to do. Four begin, which takes
    # long on a busy machine.
    shown, log = run(server, sys.executable, "-c", (
        "from osgeo import gdal\n"
        f"dataset = gdal.Open('ZARR:\"{server.path}\"')\n"
        "print(*(dataset.GetRasterBand(i).GetCategoryNames()[0] for i in (1, 2, 3)), sep=', ')"),
        quiet_seconds=2, GDAL_DISABLE_READDIR_ON_OPEN="TRUE")
    assert shown.strip() == "of 1, of 2, of 3"
    of_bands = [f"Band{i}/gdal.aux.xml" for i in (1, 2, 3)]
    assert waves_of(log)[1:] == [["/a.zarr.aux.xml", *of_bands], of_bands], str(log)


@pytest.mark.parametrize("version", [2, 3])
def test_looking_for_nodes(server, version):
    """Documents of all arrays at once; the server lists no folders: consolidated metadata does."""
    make_store(server.folder / "a.zarr", version, names="tyx")
    with log_requests(server) as log:
        root = gdal.OpenEx(f'ZARR:"{server.path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        assert root.GetMDArrayNames() == ["t", "x", "y", "image"]
    assert counts(log) == (2, 1)


def test_gdalinfo(server):
    make_store(server.folder / "a.zarr", 3)
    shown, log = run(server, "gdalinfo", "-json", f'ZARR:"{server.path}":/image')
    assert json.loads(shown)["size"] == [64, 64]
    # gdalinfo lists the files of the dataset, which have been requested before.
    assert log.round_trips <= 3 + shown.count("zarr.json"), str(log)
    assert [path for path in log.paths if "/c/" in path and "image" in path] == []


@pytest.mark.parametrize("version", [2, 3])
def test_rasterio(server, version):
    """rasterio opens a dataset once; what it reads of it needs no further request."""
    make_store(server.folder / "a.zarr", version)
    with log_requests(server) as log, rasterio.Env(**HTTP_OPTIONS), \
            rasterio.open(f'ZARR:"{server.path}":/image') as dataset:
        assert dataset.transform.a == 1
        np.testing.assert_array_equal(dataset.read(1, window=((0, 16), (0, 32))), DATA[:16, :32])
    assert counts(log) == (6, 3), str(log)


def test_pyramid(server):
    """The levels of a pyramid without consolidated metadata are found at once."""
    write_multiscale(server.folder / "a.zarr")
    dataset = gdal.Open(f'ZARR:"{server.path}":/data')
    with log_requests(server) as log:
        assert dataset.GetRasterBand(1).GetOverviewCount() == 2
    assert log.round_trips <= 2, str(log)


# --- Chunks and shards ----------------------------------------------------------------------------

def test_shards(server):
    """All indexes, then all inner chunks."""
    write_group(server.folder / "a.zarr")
    codecs = [sharding([4, 4], [BYTES])]
    write_array(server.folder / "a.zarr/image", DATA, [32, 32], codecs)
    root = gdal.OpenEx(f'ZARR:"{server.path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    array = root.OpenMDArray("image")
    with log_requests(server) as log:
        np.testing.assert_array_equal(array.ReadAsArray([30, 30], [4, 4]), DATA[30:34, 30:34])
    assert counts(log) == (8, 2), str(log)
    with log_requests(server) as log:
        np.testing.assert_array_equal(array.ReadAsArray([8, 8], [40, 40]), DATA[8:48, 8:48])
    assert log.round_trips == 1, str(log)


WIDE = np.random.default_rng(1).integers(0, 1 << 16, (4, 1024, 640), "u2")  # 1.25 MB each


@pytest.mark.parametrize("codecs, want", [
    ([sharding([1, 128, 128], [BYTES])], (5, 2)), ([BYTES], (4, 1)),
    ([sharding([4, 1024, 640], [BYTES])], (5, 2)),
], ids=["inner chunks", "elements", "elements of an inner chunk"])
def test_series(server, codecs, want):
    """Inner chunks of a shard, or elements of a chunk, that are more than a megabyte apart."""
    write_group(server.folder / "a.zarr")
    write_array(server.folder / "a.zarr/image", WIDE, WIDE.shape, codecs)
    root = gdal.OpenEx(f'ZARR:"{server.path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    array = root.OpenMDArray("image")
    with log_requests(server) as log:
        np.testing.assert_array_equal(array.ReadAsArray([0, 5, 7], [4, 1, 1]), WIDE[:, 5:6, 7:8])
    assert counts(log) == want, str(log)


# --- One probe does not hide what another one finds ----------------------------------------------

@pytest.mark.parametrize("status", [401, 403, 500])
@pytest.mark.parametrize("version, document", [(3, ".zmetadata"), (2, "zarr.json")])
def test_faults_of_other_documents(server, version, document, status):
    """401 and 403 are how some servers answer for what does not exist."""
    make_store(server.folder / "a.zarr", version)
    server.faults[f"a.zarr/{document}"] = status
    if version == 2 and status == 500:
        with pytest.raises(RuntimeError, match=r"a\.zarr/zarr\.json: HTTP response code: 500"):
            gdal.Open(f'ZARR:"{server.path}":/image')
        return
    for name in (f'ZARR:"{server.path}":/image', server.path):
        np.testing.assert_array_equal(gdal.Open(name).ReadAsArray(), DATA)


def test_attributes_that_cannot_be_read(server):
    """The array is refused as before, with the document that is at fault; others can be read."""
    make_store(server.folder / "a.zarr", 2, False)
    (server.folder / "a.zarr/x/.zattrs").write_text("{")
    root = gdal.OpenEx(f'ZARR:"{server.path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert root.OpenMDArray("y").GetDimensionCount() == 1
    with pytest.raises(RuntimeError, match=r"x/\.zattrs"):
        root.OpenMDArray("x")


def test_what_is_identified_is_not_kept(server):
    """A store that changes between two calls of GDALOpen is read again."""
    make_store(server.folder / "a.zarr", 3)
    assert gdal.IdentifyDriver(server.path).ShortName == "Zarr"
    document = server.folder / "a.zarr/zarr.json"
    document.write_text(document.read_text().replace('"image"', '"other"'))
    (server.folder / "a.zarr/image").rename(server.folder / "a.zarr/other")
    assert gdal.Open(server.path).GetMetadata() is not None
    root = gdal.OpenEx(server.path, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert "other" in root.GetMDArrayNames()
