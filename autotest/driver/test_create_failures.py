"""Writes that fail are refused or reported, and leave no files."""
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
import rasterio
from classic import REPLACES_STORES, open_raster, write_tiff
from night import rounds
from osgeo import gdal
from stores import write_array, write_group
from test_create import PLACE
from test_programs import run

RANDOM = np.random.default_rng(12)
DATA = RANDOM.integers(0, 60_000, (3, 300, 400)).astype("u2")


def driver():
    return gdal.GetDriverByName("Zarr")


def fail(*command):
    """The error output of a program, which must fail."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            timeout=120)
    assert result.returncode > 0
    return result.stderr


def snapshot(folder):
    return {path.relative_to(folder): path.read_bytes() if path.is_file() else None
            for path in sorted(folder.rglob("*"))}


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    return write_tiff(folder / "a.tif", DATA, place=PLACE, crs=32633)


@pytest.fixture
def target(tmp_path):
    """A folder that must stay empty."""
    folder = tmp_path / "target"
    folder.mkdir()
    return folder


# --- creation options ----------------------------------------------------------------------------

BAD_OPTIONS = [
    ("FORMAT=ZARR_V4", "one of ZARR_V1, ZARR_V2, ZARR_V3"),
    ("INTERLEAVE=LINE", "one of BAND, PIXEL"),
    ("SINGLE_ARRAY=MAYBE", "YES or NO"),
    ("CREATE_CONSOLIDATED_METADATA=2", "YES or NO"),
    ("GEOREFERENCING_CONVENTION=ESRI", "one of GDAL, SPATIAL_PROJ, CF"),
    ("COMPRESS=RAR", "one of NONE, BLOSC,.* ZSTD"),
    ("FILTER=SEPIA", "one of NONE, DELTA"),
    ("BLOCKSIZE=-2,16,16", "a positive length"),
    ("BLOCKSIZE=16,x,16", "a positive length"),
    ("BLOCKSIZE=16,16", "3"),
    ("BLOCKSIZE=1,-16,16", "a positive length"),
    ("BLOCKSIZE=4294967296,4294967296,4294967296", "BLOCKSIZE|chunk"),
    ("CHUNK_MEMORY_LAYOUT=K", "one of C, F"),
    ("DIM_SEPARATOR=-", "one of ., /"),
    ("COMPRESS=ZSTD,ZSTD_LEVEL=23", "an integer from -131072 to 22"),
    ("COMPRESS=ZLIB,ZLIB_LEVEL=fast", "an integer from 0 to 9"),
    ("COMPRESS=BLOSC,BLOSC_CNAME=zip", "one of blosclz, lz4"),
    ("COMPRESS=BLOSC,BLOSC_SHUFFLE=MAYBE", "one of NONE, BYTE, BIT"),
    ("COMPRESS=LZMA,LZMA_PRESET=-1", "an integer from 0 to 9"),
    ("SHARD_CHUNK_SHAPE=1,16,16", "Zarr v2 has no shards.*SHARD_CHUNK_SHAPE"),
    ("FORMAT=ZARR_V3,BLOCKSIZE=1,64,64,SHARD_CHUNK_SHAPE=1,60,16", "multiple|divide"),
    ("FORMAT=ZARR_V3,BLOCKSIZE=1,64,64,SHARD_CHUNK_SHAPE=16,16", "3"),
    ("SHARDING=AUTO", "Zarr v2 has no shards.*SHARDING=AUTO"),
    ("OVERVIEWS=SOME", "one of NONE, AUTO"),
    ("APPEND_SUBDATASET=YES", "ARRAY_NAME"),
    ("ARRAY_NAME=../elsewhere", r"\.\./elsewhere"),
    ("ARRAY_NAME=a//../c", "a//../c"),
    ("ARRAY_NAME=zarr.json,FORMAT=ZARR_V3", "zarr.json"),
]


def split_options(text):
    """Parses `A=1,B=2,3` as A=1 and B=2,3."""
    options = []
    for part in text.split(","):
        if "=" in part:
            options.append(part)
        else:
            options[-1] += f",{part}"
    return options


@pytest.mark.parametrize("text, message", BAD_OPTIONS)
def test_bad_options(source, target, text, message):
    """The message lists the allowed values, and no store is made."""
    options = split_options(text)
    with pytest.raises(RuntimeError, match=message):
        driver().Create(str(target / "a.zarr"), 400, 300, 3, gdal.GDT_UInt16, options)
    with pytest.raises(RuntimeError, match=message):
        driver().CreateCopy(str(target / "a.zarr"), gdal.Open(str(source)), options=options)
    assert not snapshot(target)


@pytest.mark.parametrize("text", ["COMPRESS=RAR", "BLOCKSIZE=16,16", "FORMAT=ZARR_V4"])
def test_bad_options_of_gdal_translate(source, target, text):
    error = fail("gdal_translate", "-q", "-of", "Zarr", source, target / "a.zarr", "-co", text)
    assert "ERROR" in error and text.partition("=")[0] in error
    assert not snapshot(target)


@pytest.mark.parametrize("text", ["BLOCKSIZE=16,16", "ARRAY_NAME=a/b"])
def test_bad_options_when_appending(source, target, text):
    """The store is then unchanged."""
    driver().CreateCopy(str(target / "a.zarr"), gdal.Open(str(source)))
    before = snapshot(target)
    options = ["APPEND_SUBDATASET=YES", text] + ["ARRAY_NAME=b"] * ("NAME" not in text)
    with pytest.raises(RuntimeError):
        driver().CreateCopy(str(target / "a.zarr"), gdal.Open(str(source)), options=options)
    assert snapshot(target) == before


def test_no_bands(target):
    with pytest.raises(RuntimeError, match="at least one band"):
        driver().Create(str(target / "a.zarr"), 5, 5, 0)
    with pytest.raises(RuntimeError, match="no bands"):
        driver().CreateCopy(str(target / "a.zarr"), gdal.GetDriverByName("MEM").Create("", 5, 5, 0))
    assert not snapshot(target)


# --- copies that end early -----------------------------------------------------------------------

LAYOUTS = {
    "one array": [],
    "arrays": ["SINGLE_ARRAY=NO"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=1,64,64", "SHARD_CHUNK_SHAPE=1,16,16"],
    "overviews": ["OVERVIEWS=AUTO", "BLOCKSIZE=1,32,32"],
    "CF": ["GEOREFERENCING_CONVENTION=CF"],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("is_appended", [False, True], ids=["new", "appended"])
def test_cancelled(source, target, layout, is_appended):
    """Cancelled at each call of the progress function."""
    options = list(LAYOUTS[layout])
    path = target / "a.zarr"
    if is_appended:
        first_options = options[:1] if "FORMAT" in str(options) else []
        driver().CreateCopy(str(path), gdal.Open(str(source)), options=first_options)
        options += ["APPEND_SUBDATASET=YES", "ARRAY_NAME=b"]
    before = snapshot(target)
    described = gdal.Open(str(source))
    described.GetRasterBand(2).SetCategoryNames(["what", "goes", "to PAM"])
    # By day at some calls, the first ones among them.
    for moment in sorted({*range(3), *range(0, 200, rounds(7, 1)), 199}):
        calls = []

        def progress(share, text, data):
            calls.append(share)
            return len(calls) <= moment

        try:
            driver().CreateCopy(str(path), described, options=options, callback=progress)
        except RuntimeError as error:
            assert "User" in str(error) or "user" in str(error)
            assert snapshot(target) == before
        else:
            break
    assert moment >= 1 and calls == sorted(calls) and calls[-1] == 1
    assert snapshot(target) != before


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("is_appended", [False, True], ids=["new", "appended"])
def test_source_that_fails(source, target, layout, is_appended):
    """A truncated GeoTIFF."""
    options = list(LAYOUTS[layout])
    path = target / "a.zarr"
    if is_appended:
        run("gdal_translate", "-q", "-of", "Zarr", source, path, "-co",
            next((o for o in options if "FORMAT" in o), "FORMAT=ZARR_V2"))
        options += ["APPEND_SUBDATASET=YES", "ARRAY_NAME=b"]
    before = snapshot(target)
    os.truncate(source, source.stat().st_size * 2 // 3)
    creation = [word for option in options for word in ("-co", option)]
    error = fail("gdal_translate", "-q", "-of", "Zarr", source, path, *creation)
    assert "a.tif" in error
    assert snapshot(target) == before
    with pytest.raises(RuntimeError):
        driver().CreateCopy(str(path), gdal.Open(str(source)), options=options)
    assert snapshot(target) == before


# --- places where nothing can be written ---------------------------------------------------------

def test_path_that_exists(source, target):
    """A folder, empty or not, and a store do not change, unless GDAL removes them first."""
    (target / "empty").mkdir()
    (target / "full").mkdir()
    (target / "full/file").write_text("mine")
    driver().CreateCopy(str(target / "a.zarr"), gdal.Open(str(source)))
    before = snapshot(target)
    for name in ("empty", "full", 'ZARR:"{}/a.zarr"', *([] if REPLACES_STORES else ["a.zarr"])):
        path = name.format(target) if ":" in name else str(target / name)
        with pytest.raises(RuntimeError, match="already exists|whole store"):
            driver().CreateCopy(path, gdal.Open(str(source)))
        with pytest.raises(RuntimeError, match="already exists|whole store"):
            driver().Create(path, 5, 5)
        assert "ERROR" in fail("gdal_translate", "-q", "-of", "Zarr", source, path)
        assert snapshot(target) == before


@pytest.mark.skipif(REPLACES_STORES, reason="GDAL removes the store")
def test_what_to_do_about_a_store_that_exists(source, target):
    """Each command that the error suggests works as it is printed."""
    path = target / "a.zarr"
    run("gdal_translate", "-q", "-of", "Zarr", source, path)
    error = fail("gdal_translate", "-q", "-of", "Zarr", source, path)
    assert f"{path} already exists; remove it first" in error
    command = re.search(r"\((gdalmanage delete .*?)\)", error).group(1)
    options = re.search(r"\((APPEND_SUBDATASET=YES), (ARRAY_NAME=name)\)", error).groups()
    run("gdal_translate", "-q", "-of", "Zarr", "-co", options[0], "-co", options[1], source, path)
    np.testing.assert_array_equal(open_raster(f'ZARR:"{path}":/name').ReadAsArray(), DATA)
    run(*shlex.split(command))
    assert not path.exists()


@pytest.mark.parametrize("name", ["none/a.zarr", "none/of/these/a.zarr", "file/a.zarr"])
def test_folder_that_does_not_exist(source, target, name):
    """A mistyped name does not create folders, with any API."""
    (target / "file").write_text("mine")
    path = target / name
    before = snapshot(target)
    error = f"{path} cannot be created: the folder {path.parent} does not exist"
    hierarchy = target.parent / "source.zarr"
    write_array(hierarchy, DATA[0])
    for act in (
        lambda: driver().Create(str(path), 5, 5),
        lambda: driver().CreateCopy(str(path), gdal.Open(str(source))),
        lambda: driver().CreateMultiDimensional(str(path)),
        lambda: driver().CopyFiles(str(path), str(hierarchy)),
        lambda: driver().Rename(str(path), str(hierarchy)),
    ):
        with pytest.raises(RuntimeError, match=re.escape(str(path))):
            act()
        assert snapshot(target) == before
    assert error in fail("gdal_translate", "-q", "-of", "Zarr", source, path)
    assert error in fail("gdalmdimtranslate", "-q", "-of", "Zarr", hierarchy, path)
    assert error in fail("gdalwarp", "-q", "-of", "Zarr", source, path)
    with pytest.raises(rasterio.errors.RasterioIOError, match="does not exist"):
        rasterio.open(path, "w", driver="Zarr", width=5, height=5, count=1, dtype="uint8")
    assert snapshot(target) == before


def test_folders_that_exist(source, target, monkeypatch):
    """In the working directory, above it, through a link, and in GDAL's memory file system, which
    makes folders by itself; inside a store, groups are made with their arrays."""
    (target / "folder").mkdir()
    (target / "link").symlink_to("folder")
    monkeypatch.chdir(target / "folder")
    for path in ("a.zarr", "./b.zarr", "../c.zarr", f"{target}/link/d.zarr/",
                 "/vsimem/test_create_failures/none/e.zarr"):
        driver().CreateCopy(path, gdal.Open(str(source)))
        np.testing.assert_array_equal(open_raster(path).ReadAsArray(), DATA)
        root = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE).GetRootGroup()
        group = root.CreateGroup("group").CreateGroup("of")
        x = group.CreateDimension("x", None, None, 3)
        group.CreateMDArray("a", [x], gdal.ExtendedDataType.Create(gdal.GDT_Byte))
        del group, root, x
        root = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        assert root.OpenMDArrayFromFullname("/group/of/a").GetDimensions()[0].GetSize() == 3
    assert sorted(p.name for p in (target / "folder").iterdir()) == ["a.zarr", "b.zarr", "d.zarr"]
    gdal.RmdirRecursive("/vsimem/test_create_failures")


@pytest.mark.skipif(not REPLACES_STORES, reason="GDAL before 3.11 replaces no folders")
def test_store_that_is_replaced(source, target):
    """Nothing of the old store is left, nor of its sidecar."""
    path = target / "a.zarr"
    run("gdal_translate", "-q", "-of", "Zarr", source, path)
    want = snapshot(target)
    driver().Create(str(path), 5, 5, options=["ARRAY_NAME=other", "FORMAT=ZARR_V3"])
    assert open_raster(path).RasterXSize == 5
    (target / "a.zarr.aux.xml").write_text("<PAMDataset/>")
    run("gdal_translate", "-q", "-of", "Zarr", source, path)
    assert snapshot(target) == want


@pytest.mark.parametrize("file", [".zgroup", "a/.zarray", ".zmetadata"])
def test_file_of_a_store(source, target, file):
    """GDAL would remove a file that a copy replaces."""
    driver().CreateCopy(str(target / "a.zarr"), gdal.Open(str(source)))
    before = snapshot(target)
    with pytest.raises(RuntimeError):
        driver().CreateCopy(str(target / "a.zarr" / file), gdal.Open(str(source)))
    assert snapshot(target) == before


def test_name_of_an_array(source, target):
    """The name of an array is an option, not a part of the path."""
    with pytest.raises(RuntimeError):
        driver().Create(f'ZARR:"{target}/a.zarr":/b', 5, 5)
    assert not snapshot(target)


def test_folder_that_is_not_there(source, target):
    """Folders above a store are made with it, or not at all."""
    path = target / "not" / "there" / "a.zarr"
    try:
        driver().CreateCopy(str(path), gdal.Open(str(source)))
    except RuntimeError:
        assert not snapshot(target)
    else:
        np.testing.assert_array_equal(open_raster(path).ReadAsArray(), DATA)


def without_privileges():
    """root can write everywhere, so a child process changes its user."""
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


def run_unprivileged(code, *arguments):
    return subprocess.run(["/usr/bin/python3", "-c", code, *map(str, arguments)], text=True,
                          capture_output=True, preexec_fn=without_privileges, timeout=120)


@pytest.fixture
def readable(tmp_path_factory, monkeypatch):
    """A folder that others can read but not write; they can load the plugin as well."""
    folder = tmp_path_factory.mktemp("readable")
    for parent in [folder, *folder.parents]:
        if parent == Path(tempfile.gettempdir()):
            break
        os.chmod(parent, 0o755)

    def is_not_plugin(_, names):
        return [name for name in names if not name.startswith("gdal_")]

    plugin = shutil.copytree(os.environ["GDAL_DRIVER_PATH"], folder / "plugin",
                             ignore=is_not_plugin)
    monkeypatch.setenv("GDAL_DRIVER_PATH", str(plugin))
    return folder


def test_path_not_writable(readable):
    write_tiff(readable / "a.tif", DATA)
    result = subprocess.run(
        ["gdal_translate", "-q", "-of", "Zarr", readable / "a.tif", readable / "a.zarr"],
        capture_output=True, text=True, preexec_fn=without_privileges)
    assert result.returncode > 0 and "a.zarr" in result.stderr
    assert not (readable / "a.zarr").exists()


def test_update_not_permitted(readable):
    """The failure is reported when the dataset is flushed, or closed at the latest."""
    driver().Create(str(readable / "a.zarr"), 40, 30, options=["BLOCKSIZE=16,16"]).WriteArray(
        np.ones((30, 40), "u1"))
    before = snapshot(readable)
    result = run_unprivileged("""
import sys
from osgeo import gdal
gdal.UseExceptions()
failures = []
gdal.PushErrorHandler(lambda level, number, text: failures.append((level, text)))
try:
    dataset = gdal.Open(sys.argv[1], gdal.GA_Update)
    dataset.GetRasterBand(1).Fill(7)
    dataset.FlushCache()
    dataset = None
except RuntimeError as error:
    failures.append((gdal.CE_Failure, str(error)))
assert any(level == gdal.CE_Failure and "a.zarr" in text for level, text in failures), failures
""", readable / "a.zarr")
    assert result.returncode == 0, result.stderr
    assert snapshot(readable) == before


def test_opened_for_reading(source, target):
    driver().CreateCopy(str(target / "a.zarr"), gdal.Open(str(source)))
    before = snapshot(target)
    dataset = open_raster(target / "a.zarr")
    with pytest.raises(RuntimeError):
        dataset.GetRasterBand(1).WriteArray(DATA[1])
    with pytest.raises(RuntimeError):
        dataset.WriteArray(DATA)
    with pytest.raises(RuntimeError):
        dataset.GetRasterBand(1).Fill(3)
    dataset = None
    assert snapshot(target) == before


def test_updating_nothing(target):
    """Opening for update does not make a store, and a broken store is not an error."""
    with pytest.raises(RuntimeError):
        gdal.OpenEx(f'ZARR:"{target / "a.zarr"}"', gdal.OF_UPDATE)
    (target / "b.zarr").mkdir()
    (target / "b.zarr/zarr.json").write_text("{")
    with pytest.raises(RuntimeError, match="zarr.json"):
        gdal.OpenEx(str(target / "b.zarr"), gdal.OF_UPDATE)
    assert sorted(p.name for p in target.iterdir()) == ["b.zarr"]


# --- delete, rename, copy ------------------------------------------------------------------------

@pytest.fixture
def store(source, target):
    described = gdal.Open(str(source))
    described.GetRasterBand(1).SetCategoryNames(["kept beside the store"])
    driver().CreateCopy(str(target / "a.zarr"), described)
    assert (target / "a.zarr/a/gdal.aux.xml").exists()
    (target / "a.zarr.aux.xml").write_text("<PAMDataset/>")  # of an older version
    return target / "a.zarr"


def test_delete(store, target):
    run("gdalmanage", "delete", store)
    assert not snapshot(target)


def test_rename(store, target):
    before = snapshot(store)
    run("gdalmanage", "rename", store, target / "b.zarr")
    assert sorted(p.name for p in target.iterdir()) == ["b.zarr", "b.zarr.aux.xml"]
    assert snapshot(target / "b.zarr") == before
    dataset = gdal.Open(str(target / "b.zarr"))
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    assert dataset.GetRasterBand(1).GetCategoryNames() == ["kept beside the store"]


def test_copy(store, target):
    run("gdalmanage", "copy", store, target / "b.zarr")
    assert snapshot(target / "b.zarr") == snapshot(store)
    dataset = gdal.Open(str(target / "b.zarr"))
    assert dataset.GetRasterBand(1).GetCategoryNames() == ["kept beside the store"]


def test_what_is_not_deleted(store, target):
    """Parts of a store, other folders, and paths that do not exist."""
    (target / "other").mkdir()
    (target / "other/file").write_text("mine")
    before = snapshot(target)
    for name in (f'ZARR:"{store}"', f'ZARR:"{store}":/a', f"{store}/.zgroup", f"{store}/a/.zarray",
                 f"{store}/.zmetadata", target / "other", target / "other/file", target / "none",
                 f"{store}/a/0.0.0", target, f"{store}/.."):
        with pytest.raises(RuntimeError):
            driver().Delete(str(name))
        assert snapshot(target) == before


def test_other_places_of_a_store(store, target):
    """An existing new name, or the name of a part, does not move or copy it."""
    (target / "other").mkdir()
    before = snapshot(target)
    for old, new in [(store, target / "other"), (store, store), (f'ZARR:"{store}"', target / "b"),
                     (f"{store}/.zgroup", target / "b"), (target / "none", target / "b")]:
        with pytest.raises(RuntimeError):
            driver().Rename(str(new), str(old))
        with pytest.raises(RuntimeError):
            driver().CopyFiles(str(new), str(old))
        assert snapshot(target) == before
    with pytest.raises(RuntimeError):
        driver().CopyFiles(str(store / "inside"), str(store))
    assert snapshot(target) == before


def test_links_are_not_followed(store, target, tmp_path):
    """The target of a link in a store does not belong to the store."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine")
    (store / "link").symlink_to(outside)
    driver().Delete(str(store))
    assert (outside / "file").read_text() == "mine" and not store.exists()


def test_delete_an_archive(store, target):
    shutil.make_archive(target / "b", "zip", store)
    driver().Delete(str(target / "b.zip"))
    assert not (target / "b.zip").exists() and store.exists()


def test_delete_an_array_by_itself(target):
    """A Zarr without a group is also a store."""
    write_array(target / "a.zarr", DATA)
    write_group(target / "b.zarr")
    for name in ("a.zarr", "b.zarr"):
        driver().Delete(str(target / name))
    assert not snapshot(target)
