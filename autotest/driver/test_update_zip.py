"""Arrays added to stores in existing ZIP archives: the archive is replaced at once."""
import os
import shutil
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import zarr
from bad_stores import message_of, open_root
from multidim import create_array
from osgeo import gdal
from reported_errors import reported_errors

pytestmark = pytest.mark.skipif(not zarr.__version__.startswith("2."),
                                reason="the stores are written by zarr-python 2")
DATA = np.arange(48, dtype="i2").reshape(6, 8)
OTHERS = {"README.txt": b"hello " * 100, "folder/other.bin": bytes(range(256)), "ü.txt": b"1"}


@pytest.fixture(params=["", "in/x.zarr"])
def prefix(request):
    return request.param


@pytest.fixture
def archive(tmp_path, prefix):
    """Deflated, with files of others and a comment."""
    store = zarr.storage.KVStore({})
    zarr.group(store).create_dataset("old", data=DATA, chunks=(4, 4))
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in OTHERS.items():
            file.writestr(name, content)
        for key, value in store.items():
            file.writestr(f"{prefix}/{key}".lstrip("/"), bytes(value))
        file.comment = b'{"ome": {"version": "0.5"}}'
    return path


def name_of(archive, prefix):
    return f"/vsizip/{{{archive}}}/{prefix}".rstrip("/") if prefix else str(archive)


def entries(path):
    """What the archive has of the files of others: records and compressed bytes."""
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        infos = {i.filename: i for i in file.infolist()}
        raw = {}
        for name in OTHERS:
            info = infos[name]
            file.fp.seek(info.header_offset)
            raw[name] = file.fp.read(30 + len(name.encode()) + info.compress_size)
        return raw, [(infos[n].date_time, infos[n].external_attr, infos[n].CRC) for n in OTHERS]


def read(name, array):
    return open_root(name).OpenMDArray(array).ReadAsArray()


def add(name, array="new"):
    dataset = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    new = create_array(dataset.GetRootGroup(), array, DATA.shape, gdal.GDT_Int16)
    new.Write(DATA + 1)
    del new, dataset


def test_an_array_is_added(archive, prefix, tmp_path):
    name, before = name_of(archive, prefix), entries(archive)
    add(name)
    np.testing.assert_array_equal(read(name, "old"), DATA)
    np.testing.assert_array_equal(read(name, "new"), DATA + 1)
    assert entries(archive) == before
    with zipfile.ZipFile(archive) as file:
        assert file.comment == b'{"ome": {"version": "0.5"}}'
        names = file.namelist()
        assert len(names) == len(set(names))
    store = zarr.ZipStore(str(archive), mode="r")
    np.testing.assert_array_equal(zarr.open_group(store, mode="r", path=prefix)["new"], DATA + 1)
    assert [p.name for p in tmp_path.iterdir()] == ["x.zip"]


def test_programs_append(archive, prefix, tmp_path):
    name, before = name_of(archive, prefix), entries(archive)
    source = tmp_path / "in.tif"
    gdal.GetDriverByName("GTiff").Create(str(source), 8, 6, 1, gdal.GDT_Int16).WriteArray(DATA)
    subprocess.run(["gdal_translate", "-q", "-of", "Zarr", "-co", "APPEND_SUBDATASET=YES", "-co",
                    "ARRAY_NAME=b", source, name], check=True)
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"{name}":/b').ReadAsArray(), DATA)
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"{name}":/old').ReadAsArray(), DATA)
    assert entries(archive) == before


def test_values_are_replaced(archive, prefix):
    name, before = name_of(archive, prefix), entries(archive)
    dataset = gdal.Open(f'ZARR:"{name}":/old', gdal.GA_Update)
    dataset.WriteArray(DATA[:2, :2] + 100, 1, 1)
    dataset.FlushCache()
    dataset.WriteArray(DATA[:1, :1] + 200, 7, 5)
    del dataset
    expected = DATA.copy()
    expected[1:3, 1:3] = DATA[:2, :2] + 100
    expected[5, 7] = 200
    np.testing.assert_array_equal(read(name, "old"), expected)
    assert entries(archive) == before


def test_flushes_between_arrays(archive, prefix):
    name = name_of(archive, prefix)
    dataset = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    for i in range(3):
        new = create_array(dataset.GetRootGroup(), f"n{i}", DATA.shape, gdal.GDT_Int16)
        new.Write(DATA + i)
        del new
        dataset.FlushCache()
        np.testing.assert_array_equal(read(name, f"n{i}"), DATA + i)
    if hasattr(gdal.Group, "DeleteMDArray"):  # GDAL 3.8
        dataset.GetRootGroup().DeleteMDArray("n1")
        del dataset
        assert open_root(name).GetMDArrayNames() == ["n0", "n2", "old"]


def test_opening_alone_changes_nothing(archive, prefix):
    before = archive.read_bytes(), os.stat(archive).st_ino
    dataset = gdal.Open(name_of(archive, prefix), gdal.GA_Update)
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    del dataset
    assert (archive.read_bytes(), os.stat(archive).st_ino) == before


def test_a_killed_process_leaves_the_old_archive(archive, prefix):
    before = archive.read_bytes()
    script = f"""
import os, signal, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
from test_update_zip import *
dataset = gdal.OpenEx({name_of(archive, prefix)!r}, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
new = create_array(dataset.GetRootGroup(), "new", (2000, 2000), gdal.GDT_Float64)
new.Write(np.random.rand(2000, 2000))
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert archive.read_bytes() == before


def test_an_archive_that_changes_meanwhile(archive, prefix):
    after = []

    def change():
        dataset = gdal.OpenEx(name_of(archive, prefix), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
        with zipfile.ZipFile(archive, "a") as file:
            file.writestr("more", b"more")
        after.append(archive.read_bytes())
        create_array(dataset.GetRootGroup(), "new", DATA.shape, gdal.GDT_Int16).Write(DATA)
        dataset.FlushCache()

    assert "x.zip was changed by another program" in reported_errors(change)
    assert archive.read_bytes() == after[0]


@pytest.mark.parametrize("damage", [
    lambda b: b[:-10], lambda b: b"#!/bin/sh\n" + b, lambda b: b.replace(b"PK\1\2", b"PK\1\3", 1),
    lambda b: b[:b.rindex(b"PK\5\6") + 8] + b"\xff\xff\xff\xff" + b[b.rindex(b"PK\5\6") + 12:],
    lambda b: b[:b.rindex(b"PK\5\6") + 12] + b"\xff\xff\xff\x7f" + b[b.rindex(b"PK\5\6") + 16:]])
def test_damaged_directories(archive, prefix, damage):
    damaged = damage(archive.read_bytes())
    archive.write_bytes(damaged)
    message_of(gdal.Open, name_of(archive, prefix), gdal.GA_Update)
    assert archive.read_bytes() == damaged


def test_in_memory():
    root = gdal.GetDriverByName("Zarr").CreateMultiDimensional("/vsimem/update/x.zip")
    create_array(root.GetRootGroup(), "old", DATA.shape, gdal.GDT_Int16).Write(DATA)
    del root
    add("/vsimem/update/x.zip")
    np.testing.assert_array_equal(read("/vsimem/update/x.zip", "old"), DATA)
    np.testing.assert_array_equal(read("/vsimem/update/x.zip", "new"), DATA + 1)
    gdal.Unlink("/vsimem/update/x.zip")


def test_the_file_stays_the_same_kind(archive, prefix, tmp_path):
    """Its permissions, and a link to it."""
    archive.chmod(0o640)
    link = tmp_path / "link.zip"
    link.symlink_to(archive)
    add(name_of(link, prefix))
    assert link.is_symlink() and archive.stat().st_mode & 0o777 == 0o640
    np.testing.assert_array_equal(read(name_of(archive, prefix), "new"), DATA + 1)


def append_again(archive, prefix, method):
    """A second value of the first chunk, as a program appends it."""
    chunk = np.zeros((4, 4), "i2")
    store = zarr.storage.KVStore({})
    zarr.group(store).create_dataset("old", data=chunk, chunks=(4, 4), fill_value=None)
    with (zipfile.ZipFile(archive, "a", method) as file,
          pytest.warns(UserWarning, match="Duplicate")):
        file.writestr(f"{prefix}/old/0.0".lstrip("/"), bytes(store["old/0.0"]))
    return np.vstack([np.hstack([chunk, DATA[:4, 4:]]), DATA[4:]])


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_last_of_two_entries_of_one_name_counts(archive, prefix, method):
    name, expected = name_of(archive, prefix), append_again(archive, prefix, method)
    store = zarr.ZipStore(str(archive), mode="r")
    np.testing.assert_array_equal(zarr.open_group(store, mode="r", path=prefix)["old"], expected)
    np.testing.assert_array_equal(read(name, "old"), expected)
    np.testing.assert_array_equal(gdal.Open(name).ReadAsArray(), expected)
    add(name)
    np.testing.assert_array_equal(read(name, "old"), expected)
    np.testing.assert_array_equal(read(name, "new"), DATA + 1)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_last_entry_is_damaged(archive, prefix, method):
    append_again(archive, prefix, method)
    with zipfile.ZipFile(archive) as file:
        info = file.getinfo(f"{prefix}/old/0.0".lstrip("/"))
    damaged = bytearray(archive.read_bytes())
    damaged[info.header_offset + 30 + len(info.filename) + 5] ^= 1
    archive.write_bytes(damaged)
    message = message_of(read, name_of(archive, prefix), "old")
    assert "old/0.0" in message and ("damaged" in message or "corrupt" in message)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_file_keeps_its_owner(archive, prefix):
    os.chown(archive, 1234, 2345)
    archive.chmod(0o640)
    add(name_of(archive, prefix))
    status = archive.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (1234, 2345, 0o640)


def test_what_a_killed_process_has_left_is_removed(archive, prefix, tmp_path):
    script = f"""
import os, signal, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
from test_update_zip import *
dataset = gdal.OpenEx({name_of(archive, prefix)!r}, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
new = create_array(dataset.GetRootGroup(), "new", (2000, 2000), gdal.GDT_Float64)
new.Write(np.random.rand(2000, 2000))
print([path.name for path in __import__("pathlib").Path({str(tmp_path)!r}).iterdir()], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL and "zarr-partial" in done.stdout, done.stderr
    assert len(list(tmp_path.iterdir())) == 2
    dataset = gdal.OpenEx(name_of(archive, prefix), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    other = create_array(dataset.GetRootGroup(), "new", (2000, 2000), gdal.GDT_Float64)
    other.Write(np.random.default_rng(1).random((2000, 2000)))
    add(name_of(archive, prefix), "more")  # leaves what the other dataset is writing
    left = [path.name for path in tmp_path.iterdir()]
    assert len(left) == 2 and "x.zip" in left

    def close():
        nonlocal other, dataset
        other = dataset = None

    assert "was changed by another program" in reported_errors(close)
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


@pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace")
def test_the_bytes_are_on_the_disk_before_the_archive_is_replaced(archive, prefix, tmp_path):
    log = tmp_path / "log"
    code = f"from test_update_zip import *; add({name_of(archive, prefix)!r})"
    subprocess.run(["strace", "-f", "-y", "-o", log, "-e", "trace=fsync,rename", sys.executable,
                    "-c", code], check=True, cwd=os.path.dirname(__file__))
    calls = [line.split(None, 1)[1] for line in log.read_text().splitlines() if " = 0" in line]
    calls = [call for call in calls if str(tmp_path) in call]
    assert [call.split("(")[0] for call in calls] == ["fsync", "rename", "fsync"]
    assert "zarr-partial" in calls[0] and "x.zip" in calls[1]
