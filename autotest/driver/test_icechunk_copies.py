"""Copies into a repository that holds something already: what is replaced, and what stays."""
import json
import subprocess

import numpy as np
import pytest
from osgeo import gdal
from test_icechunk_writing import (
    DATA,
    MULTIDIM,
    UPDATE,
    arrays,
    item,
    read,
    source,
    succeed,
    translate,
)
from test_write_faults import errors

OTHER = DATA + 1000


@pytest.fixture
def repo(tmp_path):
    return tmp_path / "repo"


def hierarchy(path, values):
    """A store with these arrays, by their paths."""
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(str(path), [], ["FORMAT=ZARR_V3"])
    root = dataset.GetRootGroup()
    groups = {"": root}
    for name, data in values.items():
        group, _, own = name.rpartition("/")
        if group not in groups:
            groups[group] = root.CreateGroup(group)
        rows, columns = (groups[group].CreateDimension(f"{own}_{axis}", None, None, size)
                         for axis, size in zip("yx", data.shape, strict=True))
        array = groups[group].CreateMDArray(own, [rows, columns],
                                            gdal.ExtendedDataType.Create(gdal.GDT_UInt16))
        array.Write(data.tobytes())
    return str(path)


def copy(path, repo, *options):
    return subprocess.run(["gdalmdimtranslate", "-q", "-of", "Zarr", *options, path,
                           f"ICECHUNK:{repo}"], capture_output=True, text=True)


def values(repo, name):
    root = gdal.OpenEx(str(repo), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    return root.OpenMDArrayFromFullname(name).ReadAsArray()


@pytest.mark.parametrize("name", ["a", "g/a"])
def test_what_is_in_the_way_of_a_hierarchy(repo, tmp_path, name):
    """Nothing of the copy is committed, not even what is new."""
    succeed(copy(hierarchy(tmp_path / "first.zarr", {name: DATA}), repo))
    first = item(repo, "SNAPSHOT")
    run = copy(hierarchy(tmp_path / "second.zarr", {name: OTHER, "new": OTHER}), repo)
    assert run.returncode != 0 and "already exists" in run.stderr
    assert item(repo, "SNAPSHOT") == first
    assert "new" not in (gdal.OpenEx(str(repo), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
                         .GetMDArrayNames() or [])


def test_only_arrays_of_the_source_are_replaced(repo, tmp_path):
    succeed(copy(hierarchy(tmp_path / "first.zarr", {"g/a": DATA, "g/b": DATA}), repo))
    second = hierarchy(tmp_path / "second.zarr", {"g/a": OTHER, "g/c": OTHER})
    succeed(copy(second, repo, "-co", "OVERWRITE=YES"))
    np.testing.assert_array_equal(values(repo, "/g/a"), OTHER)
    np.testing.assert_array_equal(values(repo, "/g/b"), DATA)
    np.testing.assert_array_equal(values(repo, "/g/c"), OTHER)
    run = copy(hierarchy(tmp_path / "third.zarr", {"g": DATA}), repo, "-co", "OVERWRITE=YES")
    assert run.returncode != 0 and "another kind" in run.stderr
    np.testing.assert_array_equal(values(repo, "/g/b"), DATA)


def test_an_array_does_not_replace_a_group(repo, tmp_path):
    succeed(copy(hierarchy(tmp_path / "first.zarr", {"g/a": DATA}), repo))
    run = translate(f"ICECHUNK:{repo}", source(tmp_path / "in.tif"), "ARRAY_NAME=g",
                    "OVERWRITE=YES")
    assert run.returncode != 0 and "is a group" in run.stderr
    np.testing.assert_array_equal(values(repo, "/g/a"), DATA)


def test_coordinates_that_groups_below_use_stay(repo, tmp_path):
    """The array in the group has the coordinates of the root."""
    tiff = source(tmp_path / "in.tif")
    succeed(translate(f"ICECHUNK:{repo}", tiff, "ARRAY_NAME=a"))
    succeed(translate(f"ICECHUNK:{repo}", tiff, "ARRAY_NAME=g/b"))
    assert arrays(repo) == ["X", "Y", "a"]
    moved = source(tmp_path / "moved.tif", OTHER, (90, 0.5, 0, 50, 0, -0.5))
    succeed(translate(f"ICECHUNK:{repo}", moved, "ARRAY_NAME=a", "OVERWRITE=YES"))
    for name, west, data in [("a", 90, OTHER), ("g/b", 10, DATA)]:
        dataset = gdal.Open(f'ZARR:"{repo}":/{name}')
        assert dataset.GetGeoTransform()[0] == west
        np.testing.assert_array_equal(dataset.ReadAsArray(), data)


def test_the_domain_of_a_repository_stays_there(repo, tmp_path):
    succeed(translate(f"ICECHUNK:{repo}", source(tmp_path / "in.tif")))
    succeed(translate(tmp_path / "out.zarr", f"ICECHUNK:{repo}"))
    assert not gdal.Open(str(tmp_path / "out.zarr")).GetMetadata("ICECHUNK")


def test_interrupted_overviews_are_not_committed(repo, tmp_path):
    data = np.arange(512 * 512, dtype=np.uint16).reshape(512, 512)
    succeed(translate(f"ICECHUNK:{repo}", source(tmp_path / "in.tif", data), "BLOCKSIZE=64,64"))
    dataset = gdal.OpenEx(str(repo), UPDATE)
    dataset.BuildOverviews("AVERAGE", [2])
    del dataset
    before = item(repo, "SNAPSHOT")
    dataset = gdal.OpenEx(str(repo), UPDATE)
    with pytest.raises(RuntimeError):
        dataset.BuildOverviews("AVERAGE", [2, 4], callback=lambda *_: 0)
    with errors():
        dataset = None
    assert item(repo, "SNAPSHOT") == before
    assert gdal.Open(str(repo)).GetRasterBand(1).GetOverviewCount() == 1
    np.testing.assert_array_equal(read(repo), data)


def test_bands_that_another_program_changed(tmp_path):
    """Their scales are not dropped when this one sets an offset."""
    path = tmp_path / "a.zarr"
    gdal.GetDriverByName("Zarr").Create(str(path), 4, 4, 2, gdal.GDT_UInt16,
                                        ["FORMAT=ZARR_V3", "SINGLE_ARRAY=YES"])
    ours = gdal.OpenEx(str(path), UPDATE)
    ours.GetRasterBand(1).SetOffset(5)
    theirs = gdal.OpenEx(str(path), UPDATE)
    theirs.GetRasterBand(1).SetScale(2)
    theirs.GetRasterBand(2).SetScale(3)
    del theirs
    del ours
    dataset = gdal.Open(str(path))
    bands = [dataset.GetRasterBand(i) for i in (1, 2)]
    assert [band.GetScale() for band in bands] == [2, 3]
    assert [band.GetOffset() or 0 for band in bands] == [5, 0]
    documents = [json.loads(file.read_text()) for file in path.rglob("zarr.json")]
    stored, = (each["attributes"]["gdal:bands"] for each in documents
               if "gdal:bands" in each.get("attributes", {}))
    assert set(stored) == {"scale", "offset"}


def test_a_hierarchy_does_not_move_rasters_that_stay(repo, tmp_path):
    """Whose coordinates have the names of those that are copied."""
    first = source(tmp_path / "a.tif")
    succeed(translate(f"ICECHUNK:{repo}", first, "ARRAY_NAME=a"))
    succeed(translate(f"ICECHUNK:{repo}", first, "ARRAY_NAME=b"))
    place = gdal.Open(f'ZARR:"{repo}":/b').GetGeoTransform()
    for name, transform in {"there": (900, 5, 0, 800, 0, -5), "here": place}.items():
        moved = source(tmp_path / f"{name}.tif", OTHER, transform)
        assert subprocess.run(["gdal_translate", "-q", "-of", "Zarr", "-co", "FORMAT=ZARR_V3",
                               "-co", "ARRAY_NAME=a", moved, str(tmp_path / f"{name}.zarr")],
                              check=False).returncode == 0
    run = copy(str(tmp_path / "there.zarr"), repo, "-co", "OVERWRITE=YES")
    assert run.returncode != 0 and "X has other values" in run.stderr
    np.testing.assert_array_equal(read(repo, "a"), DATA)
    succeed(copy(str(tmp_path / "here.zarr"), repo, "-co", "OVERWRITE=YES"))
    np.testing.assert_array_equal(read(repo, "a"), OTHER)
    assert gdal.Open(f'ZARR:"{repo}":/b').GetGeoTransform() == place


def test_attributes_of_groups_are_replaced(repo, tmp_path):
    for name, title in {"first": "old", "second": "new"}.items():
        path = hierarchy(tmp_path / f"{name}.zarr", {"g/a": DATA})
        group = gdal.OpenEx(path, MULTIDIM).GetRootGroup().OpenGroup("g")
        group.CreateAttribute("title", [], gdal.ExtendedDataType.CreateString()).Write(title)
        group.CreateAttribute(name, [], gdal.ExtendedDataType.CreateString()).Write("kept")
        del group
        succeed(copy(path, repo, "-co", "OVERWRITE=YES"))
    group = gdal.OpenEx(str(repo), gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenGroup("g")
    assert {each.GetName(): each.Read() for each in group.GetAttributes()} == {
        "title": "new", "first": "kept", "second": "kept"}
