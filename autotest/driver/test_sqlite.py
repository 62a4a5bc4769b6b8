"""Stores in SQLite databases, as zarr-python 2 writes them."""
import sqlite3
import subprocess
import threading

import numpy as np
import pytest
import zarr
from bad_stores import assert_fails, message_of, open_root
from osgeo import gdal, ogr
from test_commands import failure, run

pytestmark = pytest.mark.skipif(not zarr.__version__.startswith("2."),
                                reason="the stores are written by zarr-python 2")
DATA = np.arange(48, dtype="i2").reshape(6, 8)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.sqlite"
    with zarr.SQLiteStore(str(path)) as store:
        root = zarr.group(store)
        root.create_dataset("g/it's", data=DATA, chunks=(4, 4))
        root.create_dataset("raw", data=DATA, chunks=(2, 8), compressor=None)
        root.create_dataset("empty", shape=(3, 3), dtype="u1", fill_value=7)
        root.attrs["title"] = "packed"
    return path


def change(path, sql, *values):
    connection = sqlite3.connect(path)
    connection.execute(sql, values)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("form", ["{}", 'ZARR:"{}"'])
def test_it_reads(path, form):
    root = open_root(form.format(path))
    assert root.GetMDArrayNames() == ["empty", "raw"] and root.GetGroupNames() == ["g"]
    assert root.GetAttribute("title").Read() == "packed"
    np.testing.assert_array_equal(root.OpenMDArrayFromFullname("/g/it's").ReadAsArray(), DATA)
    np.testing.assert_array_equal(root.OpenMDArray("raw").ReadAsArray([3, 2], [2, 3]),
                                  DATA[3:5, 2:5])
    assert (root.OpenMDArray("empty").ReadAsArray() == 7).all()


def test_programs_read_it(path, tmp_path):
    info = subprocess.run(["gdalinfo", path], capture_output=True, text=True, check=True).stdout
    assert f'ZARR:"{path}":/raw' in info
    name, copy = f'ZARR:"{path}":/raw', tmp_path / "copy.tif"
    subprocess.run(["gdal_translate", "-q", name, copy], check=True)
    np.testing.assert_array_equal(gdal.Open(str(copy)).ReadAsArray(), DATA)


def test_several_threads(path):
    array = open_root(path).OpenMDArray("raw")
    results = []

    def read():
        results.extend(np.array_equal(array.ReadAsArray(), DATA) for _ in range(20))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 80 and all(results)


@pytest.mark.parametrize("driver, name", [("GPKG", "x.gpkg"), ("SQLite", "x.sqlite")])
def test_other_databases_are_left_alone(tmp_path, driver, name):
    path = str(tmp_path / name)
    dataset = ogr.GetDriverByName(driver).CreateDataSource(path)
    dataset.CreateLayer("zarr")
    del dataset
    assert gdal.IdentifyDriverEx(path, allowed_drivers=["Zarr"]) is None
    assert gdal.OpenEx(path, gdal.OF_VECTOR).GetDriver().ShortName == driver
    message_of(gdal.Open, f'ZARR:"{path}"')


def test_it_is_not_written(path):
    assert_fails(message_of(gdal.OpenEx, str(path), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE),
                 "cannot be written: it is an SQLite database")


def test_a_locked_database(path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    assert_fails(message_of(gdal.Open, str(path)), "x.sqlite", "locked")
    connection.rollback()
    connection.close()
    assert open_root(path).GetMDArrayNames() == ["empty", "raw"]


def test_a_database_that_cannot_be_read_is_no_damage_of_chunks(path):
    """It is an error of the command, which names the database."""
    with zarr.SQLiteStore(str(path)) as store:
        zarr.open_group(store)["g"].create_dataset(
            "long", data=np.random.default_rng(1).integers(0, 255, 200_000, "u1"),
            chunks=200_000, compressor=None)
    run("check", path, "--read")
    data = path.read_bytes()
    path.write_bytes(data[:-100_000] + bytes(100_000))  # the chain of its pages ends there
    assert "x.sqlite" in failure("check", path, "--read")


def test_damaged_databases(path, tmp_path):
    whole = path.read_bytes()
    for size in (100, 600, 4096, len(whole) // 2):
        path.write_bytes(whole[:size])
        assert_fails(message_of(read_raw, path), "x.sqlite")
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    assert_fails(message_of(read_raw, damaged), "damaged.sqlite")


def read_raw(path):
    return open_root(f'ZARR:"{path}"').OpenMDArray("raw").ReadAsArray()


@pytest.mark.parametrize("value, problem", [
    (b"123", "raw/1.0.*3"), (b"", "raw/1.0"), ("text", "raw/1.0.*4"), (bytes(33), "raw/1.0.*33")])
def test_values_of_a_wrong_size(path, value, problem):
    change(path, "UPDATE zarr SET v = ? WHERE k = 'raw/1.0'", value)
    assert_fails(message_of(read_raw, path), problem)


def test_a_missing_value_is_a_missing_chunk(path):
    change(path, "DELETE FROM zarr WHERE k = 'raw/1.0'")
    assert (read_raw(path)[2:4] == 0).all()
