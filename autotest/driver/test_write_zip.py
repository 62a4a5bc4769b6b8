"""Stores in new ZIP archives: ways of writing, what other programs see meanwhile, and faults."""
import json
import os
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import zarr
from classic import open_raster
from osgeo import gdal

DATA = (np.arange(300 * 400) % 1000).astype("u2").reshape(300, 400)
PLACE = (10, 1, 0, 20, 0, -1)
FORMATS = ["ZARR_V2", "ZARR_V3"]
TARGETS = ["{}/out.zip", "{}/out.zarr.zip", "/vsizip/{}/out.zip/store.zarr", "/vsizip/{}/out.zip",
           "/vsizip/{{{}/out.zip}}/deep/store.zarr"]


def driver():
    return gdal.GetDriverByName("Zarr")


@pytest.fixture
def source(tmp_path):
    dataset = gdal.GetDriverByName("GTiff").Create(str(tmp_path / "a.tif"), 400, 300, 1,
                                                   gdal.GDT_UInt16)
    dataset.GetRasterBand(1).WriteArray(DATA)
    dataset.SetGeoTransform(PLACE)
    dataset = None
    return gdal.Open(str(tmp_path / "a.tif"))


def archive_in(folder):
    (archive,) = (p for p in folder.iterdir() if p.suffix == ".zip")
    with zipfile.ZipFile(archive) as file:
        assert file.testzip() is None
        names = file.namelist()
        assert len(names) == len(set(names))
    assert not list(folder.glob(".*"))
    return archive


def assert_holds(path, data=DATA):
    np.testing.assert_array_equal(open_raster(path).ReadAsArray(), data)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("target", TARGETS)
def test_copy(tmp_path, source, target, format):
    path = target.format(tmp_path)
    copy = driver().CreateCopy(path, source, options=[f"FORMAT={format}"])
    archive_in(tmp_path)  # complete as soon as the call returns
    assert_holds(path)
    copy.SetMetadataItem("name", "value")
    del copy
    archive_in(tmp_path)
    assert_holds(path)
    assert open_raster(path).GetMetadataItem("name") == "value"


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("target", TARGETS)
def test_create(tmp_path, target, format):
    path = target.format(tmp_path)
    dataset = driver().Create(path, 400, 300, 1, gdal.GDT_UInt16,
                              [f"FORMAT={format}", "OVERVIEWS=AUTO"])
    assert not list(tmp_path.glob("*.zip"))
    band = dataset.GetRasterBand(1)
    for row in range(0, 300, 100):
        band.WriteArray(DATA[row:row + 100], 0, row)
    np.testing.assert_array_equal(band.ReadAsArray(), DATA)
    del band, dataset
    archive_in(tmp_path)
    assert_holds(path)
    assert open_raster(path).GetRasterBand(1).GetOverviewCount() == 1


@pytest.mark.parametrize("options", [
    ["COMPRESS=ZSTD"], ["COMPRESS=NONE", "BLOCKSIZE=7,11"], ["FORMAT=ZARR_V3", "SHARDING=AUTO"],
    ["FORMAT=ZARR_V3", "SHARD_CHUNK_SHAPE=10,10", "BLOCKSIZE=100,100"],
    ["CREATE_CONSOLIDATED_METADATA=NO"], ["GEOREFERENCING_CONVENTION=SPATIAL_PROJ"],
], ids=" ".join)
def test_options(tmp_path, source, options):
    del_copy = driver().CreateCopy(f"{tmp_path}/out.zip", source, options=options)
    del del_copy
    archive_in(tmp_path)
    assert_holds(f"{tmp_path}/out.zip")
    assert open_raster(f"{tmp_path}/out.zip").GetGeoTransform() == PLACE


def test_chunks_that_are_written_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("ZARR_WRITE_BEHIND", "NO")
    dataset = driver().Create(f"{tmp_path}/out.zip", 400, 300, 1, gdal.GDT_UInt16)
    band = dataset.GetRasterBand(1)
    for value in (1, 2):
        band.WriteArray(np.full_like(DATA, value))
        dataset.FlushCache()
        assert_holds(f"{tmp_path}/out.zip", np.full_like(DATA, value))
    band.WriteArray(DATA)
    assert not list(tmp_path.glob("*.zip"))  # until it is complete again
    del band, dataset
    archive_in(tmp_path)
    assert_holds(f"{tmp_path}/out.zip")


def test_erased_chunks_are_not_in_the_archive(tmp_path):
    dataset = driver().Create(f"{tmp_path}/out.zip", 40, 30)
    dataset.GetRasterBand(1).SetNoDataValue(0)
    dataset.GetRasterBand(1).Fill(1)
    dataset.FlushCache()
    dataset.GetRasterBand(1).Fill(0)
    del dataset
    with zipfile.ZipFile(archive_in(tmp_path)) as file:
        assert "out/0.0" not in file.namelist()
    assert_holds(f"{tmp_path}/out.zip", np.zeros((30, 40), "u1"))


@pytest.mark.parametrize("format", FORMATS)
def test_read_by_zarr_python(tmp_path, source, format):
    copy = driver().CreateCopy(f"{tmp_path}/out.zip", source, options=[f"FORMAT={format}"])
    del copy
    if format == "ZARR_V3" and zarr.__version__.startswith("2."):
        pytest.skip("this zarr-python knows no version 3")
    store = zarr.storage.ZipStore(str(tmp_path / "out.zip"), mode="r")
    group = zarr.open_group(store, mode="r")
    np.testing.assert_array_equal(group["out"][...], DATA)
    store.close()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("target", TARGETS[:3])
def test_read_by_the_built_in_driver(tmp_path, source, target, format):
    if format == "ZARR_V3" and int(gdal.VersionInfo()) < 3130000:
        pytest.skip("its version 3 is older than the specification: 3.10 has no codec bytes")
    copy = driver().CreateCopy(target.format(tmp_path), source, options=[f"FORMAT={format}"])
    del copy
    archive = archive_in(tmp_path)
    path = f"/vsizip/{archive}" + ("/store.zarr" if "store" in target else "")
    code = ("import sys; from osgeo import gdal; gdal.UseExceptions()\n"
            "dataset = gdal.Open(sys.argv[1]); print(dataset.GetRasterBand(1).Checksum())")
    result = subprocess.run([sys.executable, "-c", code, f'ZARR:"{path}"'], capture_output=True,
                            text=True, env=os.environ | {"GDAL_DRIVER_PATH": "disable"})
    assert int(result.stdout) == source.GetRasterBand(1).Checksum(), result.stderr


def test_programs(tmp_path, source):
    def run(*command):
        subprocess.run(command, check=True, capture_output=True)
    run("gdal_translate", "-q", "-of", "Zarr", tmp_path / "a.tif", tmp_path / "t.zip")
    assert zipfile.is_zipfile(tmp_path / "t.zip")
    assert_holds(tmp_path / "t.zip")
    run("gdalmdimtranslate", "-of", "Zarr", tmp_path / "t.zip", tmp_path / "m.zarr.zip")
    assert_holds(tmp_path / "m.zarr.zip")
    run("gdalmdimtranslate", "-of", "Zarr", "-co", "ARRAY:COMPRESS=ZSTD", tmp_path / "t.zip",
        f"/vsizip/{tmp_path}/n.zip/store.zarr")
    assert_holds(f"/vsizip/{tmp_path}/n.zip/store.zarr")
    run("gdalwarp", "-q", "-of", "Zarr", tmp_path / "a.tif", tmp_path / "w.zip")
    assert_holds(tmp_path / "w.zip")
    run("gdalmanage", "rename", tmp_path / "w.zip", tmp_path / "v.zip")
    run("gdalmanage", "delete", tmp_path / "v.zip")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tif", "m.zarr.zip", "n.zip", "t.zip"]


def test_translating_again_replaces_the_archive(tmp_path, source):
    for _ in range(2):
        subprocess.run(["gdal_translate", "-q", "-of", "Zarr", tmp_path / "a.tif",
                        tmp_path / "t.zip"], check=True)
    archive_in(tmp_path)


@pytest.mark.parametrize("target", ["{}/out.zip", "/vsizip/{}/out.zip/store.zarr"])
def test_rasterio(tmp_path, target):
    rasterio = pytest.importorskip("rasterio")
    path = target.format(tmp_path)
    with rasterio.open(path, "w", driver="Zarr", width=400, height=300, count=1,
                       dtype="uint16") as raster:
        raster.write(DATA, 1)
    archive_in(tmp_path)
    assert_holds(path)


def test_sidecar(tmp_path):
    """GDAL keeps color tables beside the store, also if that is in the archive."""
    for path in (f"{tmp_path}/out.zip", f"/vsizip/{tmp_path}/in.zip/store.zarr"):
        source = gdal.GetDriverByName("MEM").Create("", 4, 3)
        colors = gdal.ColorTable()
        colors.SetColorEntry(1, (10, 20, 30, 255))
        source.GetRasterBand(1).SetColorTable(colors)
        copy = driver().CreateCopy(path, source)
        del copy
        dataset = open_raster(path)
        assert dataset.GetRasterBand(1).GetColorTable().GetColorEntry(1) == (10, 20, 30, 255)
    for archive in tmp_path.glob("*.zip"):
        with zipfile.ZipFile(archive) as file:
            assert file.testzip() is None
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.zip", "out.zip", "out.zip.aux.xml"]


# --- What goes wrong -----------------------------------------------------------------------------

@pytest.mark.parametrize("target", TARGETS[:3])
def test_archives_that_exist_are_not_replaced(tmp_path, source, target):
    path = target.format(tmp_path)
    copy = driver().CreateCopy(path, source)
    del copy
    archive = archive_in(tmp_path)
    before = archive.read_bytes()
    other = f"/vsizip/{archive}/other.zarr"
    with pytest.raises(RuntimeError, match="exists already"):
        driver().Create(other, 4, 3)
    with pytest.raises(RuntimeError, match="exists already"):
        driver().CreateMultiDimensional(other)
    with pytest.raises(RuntimeError, match="exists already|already exists"):
        driver().CreateMultiDimensional(path)
    assert archive_in(tmp_path).read_bytes() == before


def test_archives_of_other_things(tmp_path):
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as file:
        file.writestr("a", "b")
    before = (tmp_path / "other.zip").read_bytes()
    for path in (f"{tmp_path}/other.zip", f"/vsizip/{tmp_path}/other.zip/store.zarr"):
        with pytest.raises(RuntimeError, match="exists"):
            driver().Create(path, 4, 3)
    assert (tmp_path / "other.zip").read_bytes() == before


@pytest.mark.parametrize("path, problem", [
    ("/vsizip/{}/store.zarr", "the name of a ZIP archive ends with .zip or is in braces"),
    ("/vsizip/{{{}/out.zip/store.zarr", "the name of a ZIP archive"),
    ("/vsizip/{}/none/out.zip/store.zarr", "the folder .*none does not exist"),
    ("{}/none/out.zip", "the folder .*none does not exist"),
    ("/vsizip/{}/out.zip/../store.zarr", "not a valid node path"),
])
def test_bad_targets(tmp_path, path, problem):
    for create in (lambda name: driver().Create(name, 4, 3), driver().CreateMultiDimensional):
        with pytest.raises(RuntimeError, match=problem):
            create(path.format(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", TARGETS[:3])
def test_cancelled(tmp_path, source, target):
    with pytest.raises(RuntimeError):
        driver().CreateCopy(target.format(tmp_path), source, callback=lambda *arguments: 0)
    assert [p.name for p in tmp_path.iterdir()] == ["a.tif"]


def test_bad_option(tmp_path, source):
    with pytest.raises(RuntimeError, match="BLOCKSIZE"):
        driver().CreateCopy(f"{tmp_path}/out.zip", source, options=["BLOCKSIZE=1"])
    assert [p.name for p in tmp_path.iterdir()] == ["a.tif"]


WRITER = """
import os, resource, signal, sys
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
dataset = gdal.GetDriverByName("Zarr").Create(sys.argv[1], 1000, 1000, 1, gdal.GDT_UInt16)
data = np.random.default_rng(1).integers(0, 1000, (1000, 1000)).astype("u2")
if sys.argv[2] == "limit":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000000, 1000000))
dataset.GetRasterBand(1).WriteArray(data)
if sys.argv[2] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
dataset.FlushCache()
dataset = None
"""


def write_in_a_process(tmp_path, target, how):
    return subprocess.run([sys.executable, "-c", WRITER, target.format(tmp_path), how],
                          capture_output=True, text=True)


@pytest.mark.parametrize("target", TARGETS[:3])
def test_killed_writer(tmp_path, target):
    assert write_in_a_process(tmp_path, target, "kill").returncode == -signal.SIGKILL
    assert not list(tmp_path.glob("*.zip"))
    (partial,) = tmp_path.iterdir()
    assert partial.name.endswith(".zarr-partial")


@pytest.mark.parametrize("target", TARGETS[:3])
def test_full_disk(tmp_path, target):
    result = write_in_a_process(tmp_path, target, "limit")
    assert "writing" in result.stderr and "failed" in result.stderr, result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_archive_that_appears_meanwhile(tmp_path):
    errors = []
    dataset = driver().Create(f"{tmp_path}/out.zip", 4, 3)
    (tmp_path / "out.zip").write_text("other")
    gdal.PushErrorHandler(lambda severity, number, text: errors.append(text))
    try:
        dataset.FlushCache()
    except RuntimeError as error:  # with a newer GDAL
        errors.append(str(error))
    del dataset
    gdal.PopErrorHandler()
    assert errors and all("out.zip exists already" in text for text in errors)
    assert (tmp_path / "out.zip").read_text() == "other"
    assert [p.name for p in tmp_path.iterdir()] == ["out.zip"]


def test_many_entries(tmp_path):
    """More than 65535 entries need the records of ZIP64."""
    shape = (70000,)
    dataset = driver().CreateMultiDimensional(f"{tmp_path}/out.zip")
    root = dataset.GetRootGroup()
    dimension = root.CreateDimension("x", None, None, shape[0])
    array = root.CreateMDArray("a", [dimension], gdal.ExtendedDataType.Create(gdal.GDT_Byte),
                               ["BLOCKSIZE=1"])
    data = np.full(shape, 7, "u1")
    array.Write(data)
    del array, dimension, root, dataset
    with zipfile.ZipFile(tmp_path / "out.zip") as file:
        assert len(file.namelist()) > 65535
        assert json.loads(file.read("a/.zarray"))["chunks"] == [1]
    dataset = gdal.OpenEx(f"{tmp_path}/out.zip", gdal.OF_MULTIDIM_RASTER)
    part = dataset.GetRootGroup().OpenMDArray("a").ReadAsArray([69990], [10])
    np.testing.assert_array_equal(part, data[:10])
