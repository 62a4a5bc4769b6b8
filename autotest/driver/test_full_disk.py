"""A full disk is reported to every writer, on close at the latest, and every chunk and document is
either the old one or the new one.
"""
import gc
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from classic import open_raster, write_tiff
from night import each_value, night
from osgeo import gdal
from test_create_failures import driver, fail, snapshot

RANDOM = np.random.default_rng(12)
BEFORE, AFTER = RANDOM.integers(1, 255, (2, 1000, 1000), "u1")
LAYOUTS = {
    "chunks": ["BLOCKSIZE=100,100"],
    "compressed": ["BLOCKSIZE=100,100", "COMPRESS=ZSTD"],
    "one chunk": ["BLOCKSIZE=1000,1000"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=500,500", "SHARD_CHUNK_SHAPE=100,100"],
    "compressed shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=1000,1000", "SHARD_CHUNK_SHAPE=100,100",
                          "COMPRESS=ZSTD"],
}

# Errors while an object is deleted become exceptions that Python can only print.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(params=LAYOUTS)
def options(request):
    return LAYOUTS[request.param]


@contextmanager
def file_system(folder, size):
    folder.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder],
                           capture_output=True, text=True)
    if mount.returncode != 0:
        pytest.skip(f"NOT TESTED, a full disk: cannot mount a tmpfs ({mount.stderr.strip()})")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def small_disk(tmp_path):
    """Half of the data fits."""
    with file_system(tmp_path / "small", "500k") as folder:
        yield folder


@pytest.fixture
def disk(tmp_path):
    """Large enough, until fill() is called."""
    with file_system(tmp_path / "disk", "3m") as folder:
        yield folder


def fill(disk, free):
    """Leaves so many bytes free."""
    with open(disk / "filler", "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)) == 4096:
                pass
        except OSError:
            pass
        file.truncate(max(0, file.tell() - free))


def told_by(write):
    """The errors that GDAL raises or passes to the error handler until everything that `write` has
    opened is closed. Newer bindings raise the errors of closing where they are not caught."""
    told = []
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(sys, "unraisablehook", lambda thrown: told.append(str(thrown.exc_value)))
    gdal.PushErrorHandler(lambda level, _, text: level == gdal.CE_Failure and told.append(text))
    try:
        write()
    except RuntimeError as error:
        told.append(str(error))
    gc.collect()
    gdal.PopErrorHandler()
    monkeypatch.undo()
    return [text for text in told if "a.zarr" in text]


def create(folder, options, data=None):
    dataset = driver().Create(str(folder / "a.zarr"), 1000, 1000, options=options)
    if data is not None:
        dataset.WriteArray(data)
    return folder / "a.zarr"


def files(folder):
    return {name: content for name, content in snapshot(folder).items() if content is not None}


def assert_no_part(folder):
    """The name of the file that could not be written."""
    assert not list(folder.rglob("*partial*"))


# --- new stores ----------------------------------------------------------------------------------

def test_copy(tmp_path, small_disk, options):
    """It fails as a whole."""
    tif = write_tiff(tmp_path / "a.tif", AFTER)
    creation = [word for option in options for word in ("-co", option)]
    error = fail("gdal_translate", "-q", "-of", "Zarr", tif, small_disk / "a.zarr", *creation)
    assert "a.zarr" in error
    assert not snapshot(small_disk)
    with pytest.raises(RuntimeError):
        driver().CreateCopy(str(small_disk / "a.zarr"), gdal.Open(str(tif)), options=options)
    assert not snapshot(small_disk)


def test_multidimensional_copy(tmp_path, small_disk, options):
    source = create(tmp_path, options, AFTER)
    of_arrays = [word for option in options for word in (
        "-co", option if "FORMAT" in option else f"ARRAY:{option}")]
    error = fail("gdalmdimtranslate", "-q", "-of", "Zarr", *of_arrays, source,
                 small_disk / "b.zarr")
    assert "b.zarr" in error
    assert not snapshot(small_disk)


@each_value()
@pytest.mark.parametrize("options", [
    name if name.startswith("compressed") else pytest.param(name, marks=night)
    for name in LAYOUTS], indirect=True)
@pytest.mark.parametrize("is_flushed", [False, True], ids=["closed", "flushed"])
def test_new_raster(small_disk, options, is_flushed):
    """Each chunk of a piecewise write, whether it failed or not, is as written, or missing."""
    def write():
        dataset = driver().Create(str(small_disk / "a.zarr"), 1000, 1000, options=options)
        band = dataset.GetRasterBand(1)
        for y in range(0, 1000, 50):
            told.extend(told_by(lambda: band.WriteArray(AFTER[y:y + 50], 0, y)))
        if is_flushed:
            told.extend(told_by(dataset.FlushCache))
            assert told

    told = []
    told += told_by(write)
    assert told
    assert_no_part(small_disk)
    got = open_raster(small_disk / "a.zarr").ReadAsArray()
    assert ((got == AFTER) | (got == 0)).all()


# --- changes -------------------------------------------------------------------------------------

def open_to_write(path):
    return gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)


def write_all(path):
    open_to_write(path).WriteArray(AFTER)


def write_a_pixel(path):
    """Nothing is put before the dataset is closed."""
    dataset = open_to_write(path)
    assert not told_by(lambda: dataset.GetRasterBand(1).WriteArray(AFTER[77:78, 33:34], 33, 77))


def write_through_multidimensional_api(path):
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    dataset.GetRootGroup().OpenMDArray("a").Write(AFTER)


def write_metadata(path):
    dataset = open_to_write(path)
    dataset.SetMetadataItem("long", "text" * 5000)
    dataset.SetGeoTransform((7, 1, 0, 48, 0, -1))


def write_overviews(path):
    open_to_write(path).BuildOverviews("AVERAGE", [2, 4])


@pytest.mark.parametrize("write", [
    write_all, write_a_pixel, write_through_multidimensional_api, write_metadata, write_overviews])
def test_not_a_byte(disk, options, write):
    """Nothing changes. Writes succeed again once there is space."""
    path = create(disk, options, BEFORE)
    fill(disk, 0)
    before = files(path)
    assert told_by(lambda: write(path))
    assert files(path) == before
    (disk / "filler").unlink()
    assert not told_by(lambda: write_all(path))
    np.testing.assert_array_equal(open_raster(path).ReadAsArray(), AFTER)


@pytest.mark.parametrize("write", [write_all, write_through_multidimensional_api])
def test_some_bytes(disk, options, write):
    """Each chunk is as before or as written, and half of the data is not stored."""
    path = create(disk, options, BEFORE[:500])
    half = open_raster(path).ReadAsArray()
    fill(disk, 100_000)
    assert told_by(lambda: write(path))
    assert_no_part(disk)
    got, before, after = (
        raster.reshape(10, 100, 10, 100).swapaxes(1, 2).reshape(100, -1)
        for raster in (open_raster(path).ReadAsArray(), half, AFTER))
    is_as_before, is_as_written = (got == before).all(axis=1), (got == after).all(axis=1)
    assert (is_as_before | is_as_written).all() and is_as_before.any()


def test_programs(tmp_path, disk, options):
    """They report it; their exit code may be decided before the store is closed."""
    path = create(disk, options, BEFORE)
    place = (0, 1, 0, 1000, 0, -1)
    open_to_write(path).SetGeoTransform(place)
    tif = write_tiff(tmp_path / "a.tif", AFTER, place=place)
    fill(disk, 0)
    before = files(path)
    for command in (["gdalwarp", "-q", tif, path], ["gdal_edit.py", "-mo", "A=" + "b" * 9999, path],
                    ["gdaladdo", "-q", path, "2", "4"]):
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        assert "No space left" in result.stderr and "a.zarr" in result.stderr
        assert files(path) == before
