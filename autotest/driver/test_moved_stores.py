"""Stores and arrays that another program renames while they are open: the path decides. Every read
and change is an error that names the folder, and nothing is created or changed, neither in the
folder that was renamed nor where it was. Arrays that GDAL renames can be written to as before."""
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from osgeo import gdal
from reported_errors import reported_errors

FORMATS = {
    "v2": ["BLOCKSIZE=8,8"],
    "v3": ["FORMAT=ZARR_V3", "BLOCKSIZE=8,8"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=16,16", "SHARD_CHUNK_SHAPE=8,8"],
}
ONES = np.ones((8, 8), np.uint8)


def make(path, layout="v3", value=7):
    dataset = gdal.GetDriverByName("Zarr").Create(
        str(path), 32, 32, 1, gdal.GDT_Byte, [*FORMATS[layout], "ARRAY_NAME=a"])
    dataset.GetRasterBand(1).WriteArray(np.full((32, 32), value, np.uint8))


def move(source, target):
    subprocess.run(["mv", "-T", source, target], check=True)


# What another program does to in/a.zarr, and the folder that the error names.
def array_moved(place):
    move(place / "in/a.zarr/a", place / "in/a.zarr/b")
    return "in/a.zarr/a"


def array_replaced(place):
    array_moved(place)
    move(place / "other.zarr/a", place / "in/a.zarr/a")
    return "in/a.zarr/a"


def store_moved(place):
    move(place / "in/a.zarr", place / "in/b.zarr")
    return "in/a.zarr"


def store_replaced(place):
    store_moved(place)
    move(place / "other.zarr", place / "in/a.zarr")
    return "in/a.zarr"


def parent_moved(place):
    move(place / "in", place / "out")
    return "in/a.zarr"


def parent_replaced(place):
    parent_moved(place)
    os.mkdir(place / "in")
    move(place / "other.zarr", place / "in/a.zarr")
    return "in/a.zarr"


def store_removed_and_made_again(place):
    shutil.rmtree(place / "in/a.zarr")
    make(place / "in/a.zarr")
    return "in/a.zarr"


MOVES = [array_moved, array_replaced, store_moved, store_replaced, parent_moved, parent_replaced,
         store_removed_and_made_again]


@pytest.fixture(params=FORMATS)
def place(request, tmp_path):
    os.mkdir(tmp_path / "in")
    make(tmp_path / "in/a.zarr", request.param)
    make(tmp_path / "other.zarr", request.param, 9)
    return tmp_path


def content(place):
    """All files and folders, with what is in them. The consolidated metadata of a store follow its
    arrays."""
    copies = [place / "in/a.zarr/.zmetadata", place / "in/a.zarr/zarr.json"]
    return {path: path.is_file() and path not in copies and path.read_bytes()
            for path in place.rglob("*")}


class Classic:
    def __init__(self, path):
        self.dataset = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)

    def write(self, x=8):
        self.dataset.GetRasterBand(1).WriteArray(ONES, x, 0)

    def write_part(self):
        self.dataset.GetRasterBand(1).WriteArray(ONES[:3, :3], 9, 1)

    def set_metadata(self):
        self.dataset.SetMetadataItem("name", "value")

    def flush(self):
        self.dataset.FlushCache()

    def close(self):
        self.dataset = None


class Multidim(Classic):
    def __init__(self, path):
        self.dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
        self.array = self.dataset.GetRootGroup().OpenMDArray("a")

    def write(self, x=8):
        self.array.Write(ONES, [0, x])

    def write_part(self):
        self.array.Write(ONES[:3, :3].copy(), [1, 9])

    def set_metadata(self):
        self.array.CreateAttribute("name", [], gdal.ExtendedDataType.CreateString()).Write("value")

    def resize(self):
        self.array.Resize([8, 8])

    def delete(self):
        self.dataset.GetRootGroup().DeleteMDArray("a")

    def rename(self):
        self.array.Rename("c")

    def close(self):
        self.array = self.dataset = None


HAS_CHANGES_OF_NODES = hasattr(gdal.Group, "Rename")
CHANGES = [(Classic, "write"), (Classic, "write_part"), (Classic, "set_metadata"),
           (Multidim, "write"), (Multidim, "write_part"), (Multidim, "set_metadata")]
if HAS_CHANGES_OF_NODES:
    CHANGES += [(Multidim, "resize"), (Multidim, "delete"), (Multidim, "rename")]


@pytest.mark.parametrize("has_put", [False, True])
@pytest.mark.parametrize("api, change", CHANGES)
@pytest.mark.parametrize("moved", MOVES)
def test_a_change_is_an_error(place, moved, api, change, has_put):
    dataset = api(place / "in/a.zarr")
    if has_put:
        dataset.write(0)
        dataset.flush()
    folder = moved(place)
    before = content(place)

    def change_and_flush():
        getattr(dataset, change)()
        dataset.flush()

    # Documents that are gone are missed before anything is put.
    named = [str(place / folder), f"{place}/in/a.zarr: /a: a/"]
    text = reported_errors(change_and_flush)
    assert any(name in text for name in named), text
    assert content(place) == before
    reported_errors(dataset.close)
    assert content(place) == before


@pytest.mark.parametrize("api", [Classic, Multidim])
@pytest.mark.parametrize("moved", MOVES)
@pytest.mark.parametrize("end", ["flush", "close"])
def test_what_waits_to_be_put_is_an_error(place, moved, api, end):
    dataset = api(place / "in/a.zarr")
    dataset.write_part()
    folder = moved(place)
    before = content(place)
    assert str(place / folder) in reported_errors(getattr(dataset, end))
    reported_errors(dataset.close)
    assert content(place) == before


@pytest.mark.parametrize("has_read", [False, True])
@pytest.mark.parametrize("mode", [gdal.OF_READONLY, gdal.OF_UPDATE])
@pytest.mark.parametrize("api", [gdal.OF_RASTER, gdal.OF_MULTIDIM_RASTER])
@pytest.mark.parametrize("moved", MOVES)
def test_what_is_moved_is_not_read(place, moved, api, mode, has_read):
    """Neither as missing nor from the array that is now in its place."""
    dataset = source = gdal.OpenEx(str(place / "in/a.zarr"), api | mode)
    if api == gdal.OF_MULTIDIM_RASTER:
        source = dataset.GetRootGroup().OpenMDArray("a")
    if has_read:
        if source is dataset:
            source.ReadAsArray(0, 0, 8, 8)
        else:
            source.ReadAsArray([0, 0], [8, 8])
    folder = moved(place)
    for _ in range(2):
        assert str(place / folder) in reported_errors(source.ReadAsArray)


BACK = {
    array_moved: [("in/a.zarr/b", "in/a.zarr/a")],
    array_replaced: [("in/a.zarr/a", "other.zarr/a"), ("in/a.zarr/b", "in/a.zarr/a")],
    store_moved: [("in/b.zarr", "in/a.zarr")],
    store_replaced: [("in/a.zarr", "other.zarr"), ("in/b.zarr", "in/a.zarr")],
    parent_moved: [("out", "in")],
}


# A flush in between must not take what was missing, or stored by another program, for old elements.
@pytest.mark.parametrize("api", [Classic, Multidim])
@pytest.mark.parametrize("moved", BACK)
def test_what_is_moved_back_can_be_written(place, moved, api):
    dataset = api(place / "in/a.zarr")
    dataset.write_part()
    before = content(place)
    moved(place)
    assert reported_errors(dataset.flush)
    for source, target in BACK[moved]:
        move(place / source, place / target)
    assert content(place) == before
    dataset.flush()
    dataset.write(16)
    dataset.close()
    want = np.full((32, 32), 7)
    want[1:4, 9:12] = want[:8, 16:24] = 1
    np.testing.assert_array_equal(gdal.Open(str(place / "in/a.zarr")).ReadAsArray(), want)


@pytest.mark.parametrize("has_put", [False, True])
@pytest.mark.parametrize("api", [Classic, Multidim])
@pytest.mark.parametrize("turned", ["target moved", "link moved", "link turned"])
def test_a_link_to_a_store(place, api, turned, has_put):
    link = place / "link.zarr"
    os.symlink(place / "in/a.zarr", link)
    dataset = api(link)
    if has_put:
        dataset.write(0)
        dataset.flush()
    if turned == "target moved":
        store_moved(place)
    elif turned == "link moved":
        move(link, place / "other link.zarr")
    else:
        os.remove(link)
        os.symlink(place / "other.zarr", link)
    before = content(place)

    def write_and_flush():
        dataset.write()
        dataset.flush()

    assert str(link) in reported_errors(write_and_flush)
    reported_errors(dataset.close)
    assert content(place) == before


@pytest.mark.skipif(not HAS_CHANGES_OF_NODES, reason="GDAL cannot rename arrays")
def test_an_array_that_gdal_renames_can_be_written(place):
    dataset = Multidim(place / "in/a.zarr")
    dataset.write_part()
    dataset.array.Rename("c")
    dataset.write(16)
    dataset.flush()
    dataset.array.Rename("d")
    dataset.write(24)
    dataset.close()
    want = np.full((32, 32), 7)
    want[1:4, 9:12] = want[:8, 16:] = 1
    store = gdal.OpenEx(str(place / "in/a.zarr"), gdal.OF_MULTIDIM_RASTER)
    np.testing.assert_array_equal(store.GetRootGroup().OpenMDArray("d").ReadAsArray(), want)
    assert store.GetRootGroup().GetMDArrayNames() == ["d"]


@pytest.mark.skipif(not HAS_CHANGES_OF_NODES, reason="GDAL cannot rename groups")
def test_arrays_of_a_group_that_gdal_renames_can_be_written(tmp_path):
    path = str(tmp_path / "a.zarr")
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(path, [], ["FORMAT=ZARR_V3"])
    group = dataset.GetRootGroup().CreateGroup("g")
    size = dataset.GetRootGroup().CreateDimension("x", None, None, 8)
    array = group.CreateMDArray("a", [size], gdal.ExtendedDataType.Create(gdal.GDT_Byte),
                                ["BLOCKSIZE=4"])
    array.Write(ONES[0, :4].copy(), [0])
    group.Rename("h")
    array.Write(ONES[0, :4].copy(), [4])
    del group, size, array
    dataset = None
    assert os.listdir(path + "/h/a/c") and not os.path.exists(path + "/g")
    found = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenGroup("h")
    np.testing.assert_array_equal(found.OpenMDArray("a").ReadAsArray(), ONES[0])


# --- many stores ---------------------------------------------------------------------------------

MANY = """
import resource, sys
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
most, folder = int(sys.argv[1]), sys.argv[2]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
ones = np.ones((8, 8), np.uint8)
stores = [gdal.Open(f"{folder}/{i}.zarr", gdal.GA_Update) for i in range(500)]
for step in range(3):
    for store in stores:
        store.GetRasterBand(1).WriteArray(ones[step:] + step, 8 * step, 0)
        store.FlushCache()
for store in stores:
    store.SetMetadataItem("name", "value")
stores.clear()
"""


@pytest.mark.parametrize("most", [64, 256, 1024])
def test_more_stores_than_files_may_be_open(tmp_path, most):
    make(tmp_path / "0.zarr")
    for i in range(1, 500):
        shutil.copytree(tmp_path / "0.zarr", tmp_path / f"{i}.zarr")
    subprocess.run([sys.executable, "-c", MANY, str(most), str(tmp_path)], check=True)
    want = np.full((32, 32), 7)
    for step in range(3):
        want[:8 - step, 8 * step:8 * step + 8] = step + 1
    for i in range(500):
        store = gdal.Open(str(tmp_path / f"{i}.zarr"))
        np.testing.assert_array_equal(store.ReadAsArray(), want)
        assert store.GetMetadataItem("name") == "value"
