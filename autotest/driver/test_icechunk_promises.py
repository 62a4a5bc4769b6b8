"""What options and commands of Icechunk repositories promise is kept, or refused."""
import json
import os
import shutil
import subprocess

import numpy as np
import pytest
from osgeo import gdal
from test_commands import output
from test_icechunk_writing import (
    DATA,
    MULTIDIM,
    UPDATE,
    arrays,
    item,
    made,
    read,
    repo,
    source,
    succeed,
    tiff,
    translate,
)
from test_write_faults import errors

__all__ = ["made", "repo", "tiff"]


@pytest.fixture
def plain(tmp_path, tiff):
    path = tmp_path / "plain.zarr"
    subprocess.run(["gdal_translate", "-q", "-of", "Zarr", tiff, str(path)], check=True)
    return path


@pytest.fixture
def two(made, tiff):
    """A repository with the rasters a and b."""
    succeed(translate(f"ICECHUNK:{made}", tiff, "ARRAY_NAME=b"))
    return made


def message(name):
    return json.loads(output("log", name, "--json"))["snapshots"][0]["message"]


# --- Options that cannot act ---------------------------------------------------------------------


@pytest.mark.parametrize("option", ["COMMIT=NO", "NEW_BRANCH=b", "SESSION={}"])
def test_plain_stores_are_not_changed(plain, option):
    with pytest.raises(RuntimeError, match=option.partition("=")[0]):
        gdal.OpenEx(str(plain), UPDATE, open_options=[option])
    if not option.startswith("SESSION"):
        with pytest.raises(RuntimeError, match=option.partition("=")[0]):
            gdal.GetDriverByName("Zarr").Create(f"{plain}2", 4, 4, 1, gdal.GDT_Byte, [option])
        assert not os.path.exists(f"{plain}2")


@pytest.mark.parametrize("option", ["NEW_BRANCH=b", "SESSION={}"])
def test_readers_make_no_branches(made, plain, option):
    for name in (made, plain):
        with pytest.raises(RuntimeError, match=option.partition("=")[0]):
            gdal.OpenEx(str(name), gdal.OF_RASTER, open_options=[option])


def test_options_without_effect_are_named(made, plain):
    for name, flags, option in ((made, gdal.OF_RASTER, "COMMIT=NO"),
                                (plain, gdal.OF_RASTER, "COMMIT=NO"),
                                (plain, UPDATE, "COMMIT_MESSAGE=text")):
        gdal.ErrorReset()
        dataset = gdal.OpenEx(str(name), flags, open_options=[option])
        expected = f"the option {option.partition('=')[0]} has no effect"
        assert expected in gdal.GetLastErrorMsg()
        dataset = None


# --- Several rasters -----------------------------------------------------------------------------


def test_commands_of_several_rasters(two):
    dataset = gdal.OpenEx(str(two), UPDATE)
    assert dataset.RasterCount == 0
    first = dataset.GetMetadataItem("SNAPSHOT", "ICECHUNK")
    assert dataset.GetMetadata("ICECHUNK")["BRANCH_1_NAME"] == "main"
    assert dataset.SetMetadataItem("CREATE_TAG", "v1", "ICECHUNK") == gdal.CE_None
    assert dataset.GetMetadata("ICECHUNK")["TAG_1_NAME"] == "v1"
    assert item(f"ICECHUNK:{two}?tag=v1", "SNAPSHOT") == first
    with pytest.raises(RuntimeError, match="takes the items"):
        dataset.SetMetadataItem("TAG", "v2", "ICECHUNK")
    dataset.SetMetadataItem("title", "two rasters")
    assert dataset.SetMetadataItem("COMMIT", "A title", "ICECHUNK") == gdal.CE_None
    assert item(two, "SNAPSHOT") != first
    assert gdal.Open(str(two)).GetMetadataItem("title") == "two rasters"
    dataset.SetMetadataItem("title", None)
    dataset = None
    assert gdal.Open(str(two)).GetMetadataItem("title") is None


def test_metadata_of_several_rasters_of_a_store(plain, tiff):
    subprocess.run(["gdal_translate", "-q", "-of", "Zarr", "-co", "APPEND_SUBDATASET=YES", "-co",
                    "ARRAY_NAME=b", tiff, str(plain)], check=True)
    dataset = gdal.OpenEx(str(plain), UPDATE)
    dataset.SetMetadataItem("title", "two rasters")
    dataset = None
    assert gdal.Open(str(plain)).GetMetadataItem("title") == "two rasters"


# --- Commits -------------------------------------------------------------------------------------


def test_messages_say_what_is_new(made):
    dataset = gdal.OpenEx(str(made), MULTIDIM)
    root = dataset.GetRootGroup()
    root.CreateGroup("g")
    dataset.SetMetadataItem("COMMIT", "", "ICECHUNK")
    assert message(made).endswith(": create g")
    root.CreateAttribute("n", [], gdal.ExtendedDataType.CreateString()).Write("text")
    dataset.SetMetadataItem("COMMIT", "", "ICECHUNK")
    assert message(made).endswith(": update")
    root.CreateGroup("h")
    del root, dataset
    assert message(made).endswith(": create h")


def test_arrays_that_live_longer_commit_nothing(made):
    """Their dataset has failed to commit the other half of the changes."""
    datasets = [gdal.OpenEx(str(made), MULTIDIM) for _ in range(2)]
    roots = [dataset.GetRootGroup() for dataset in datasets]
    for root in roots:
        root.OpenMDArray("a").Write(DATA[:1] + 1, [0, 0], [1, 30])
    other = roots[1].OpenMDArray("Y")
    del root, roots
    datasets[0] = None
    with errors() as messages:
        datasets[1] = None
    assert "not committed" in messages[-1]
    first = item(made, "SNAPSHOT")
    with errors():
        other.Write(np.zeros(20))
        other = None
    assert item(made, "SNAPSHOT") == first


def test_copies_that_conflict_return_nothing(made, tiff):
    """Another program commits an array of the same name meanwhile."""
    driver, seen = gdal.GetDriverByName("Zarr"), []

    def progress(share, *_):
        if share > 0.5 and not seen:
            seen.append(translate(f"ICECHUNK:{made}", tiff, "ARRAY_NAME=b"))
        return 1

    with pytest.raises(RuntimeError, match="b was created, and others have created it"):
        driver.CreateCopy(f"ICECHUNK:{made}", gdal.Open(tiff),
                          options=["ARRAY_NAME=b", "BLOCKSIZE=5,30"], callback=progress)
    succeed(seen[0])
    np.testing.assert_array_equal(read(made, "b"), DATA)


def test_only_the_process_that_opened_commits(made):
    first = item(made, "SNAPSHOT")
    dataset = gdal.OpenEx(str(made), UPDATE)
    dataset.GetRasterBand(1).WriteArray(DATA + 1)
    dataset.FlushCache()
    child = os.fork()
    if child == 0:
        try:
            with pytest.raises(RuntimeError, match="only the process"):
                dataset.SetMetadataItem("COMMIT", "of the child", "ICECHUNK")
            dataset = None
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0 and item(made, "SNAPSHOT") == first
    dataset = None
    np.testing.assert_array_equal(read(made), DATA + 1)


def test_conflicts_are_told_once(made):
    datasets = [gdal.OpenEx(str(made), UPDATE) for _ in range(2)]
    for i, dataset in enumerate(datasets):
        dataset.GetRasterBand(1).WriteArray(DATA + i + 1)
        dataset.FlushCache()
    del dataset
    datasets[0] = None
    with errors() as messages:
        datasets[1].SetMetadataItem("COMMIT", "", "ICECHUNK")
        datasets[1] = None
    assert {text.count("a/c/0/0 was changed") for text in messages} == {1}
    sessions = list(made.parent.glob(f"{made.name}.session-*.json"))
    assert len(sessions) == 1 and all(sessions[0].name in text for text in messages)
    dataset = gdal.OpenEx(str(made), UPDATE,
                          open_options=[f"SESSION={sessions[0]}", "NEW_BRANCH=again"])
    dataset = None
    np.testing.assert_array_equal(read(f"ICECHUNK:{made}?branch=again"), DATA + 2)
    # Another failure of the same changes makes no other file.
    with errors() as messages:
        dataset = gdal.OpenEx(str(made), UPDATE, open_options=[f"SESSION={sessions[0]}"])
        dataset = None
    assert messages and sessions[0].name in messages[-1]
    assert list(made.parent.glob(f"{made.name}.session-*.json")) == sessions


# --- New branches --------------------------------------------------------------------------------


def test_a_copy_that_fails_makes_no_branch(made, tiff):
    run = translate(f"ICECHUNK:{made}", tiff, "NEW_BRANCH=b", "ARRAY_NAME=a")
    assert run.returncode == 1 and "already exists" in run.stderr
    succeed(translate(f"ICECHUNK:{made}", tiff, "NEW_BRANCH=b", "ARRAY_NAME=b"))
    assert arrays(f"ICECHUNK:{made}?branch=b") == ["X", "Y", "a", "b"]
    run = translate(f"ICECHUNK:{made}", tiff, "NEW_BRANCH=b", "ARRAY_NAME=c")
    assert run.returncode == 1 and "branch b already exists" in run.stderr


def test_a_branch_of_copied_blocks(made, tmp_path):
    """Where blocks cannot be referred to, the second attempt makes the branch."""
    for name, compression in (("one", "LZW"), ("two", "DEFLATE")):
        source(tmp_path / f"{name}.tif", transform=(10 if name == "one" else 25, 0.5, 0, 50, 0,
                                                    -0.5))
        gdal.Translate(str(tmp_path / f"{name}2.tif"), str(tmp_path / f"{name}.tif"),
                       creationOptions=[f"COMPRESS={compression}"])
    subprocess.run(["gdalbuildvrt", "-q", "both.vrt", "one2.tif", "two2.tif"], cwd=tmp_path,
                   check=True)
    succeed(translate(f"ICECHUNK:{made}", tmp_path / "both.vrt", "VIRTUAL=AUTO", "NEW_BRANCH=b",
                      "ARRAY_NAME=both"))
    assert "both" in arrays(f"ICECHUNK:{made}?branch=b")


def test_a_branch_without_changes(made):
    dataset = gdal.OpenEx(str(made), UPDATE, open_options=["NEW_BRANCH=b"])
    assert dataset.GetMetadataItem("BRANCH", "ICECHUNK") == "b"
    dataset = None
    assert item(f"ICECHUNK:{made}?branch=b", "SNAPSHOT") == item(made, "SNAPSHOT")
    dataset = gdal.OpenEx(str(made), UPDATE, open_options=["NEW_BRANCH=c", "COMMIT=NO"])
    dataset = None
    with pytest.raises(RuntimeError, match="branch c does not exist"):
        gdal.Open(f"ICECHUNK:{made}?branch=c")


# --- Workers -------------------------------------------------------------------------------------


def test_workers_change_what_the_program_has_made(repo):
    program = gdal.GetDriverByName("Zarr").CreateMultiDimensional(f"ICECHUNK:{repo}")
    root = program.GetRootGroup()
    x = root.CreateDimension("x", None, None, 4)
    byte, string = gdal.ExtendedDataType.Create(gdal.GDT_Byte), gdal.ExtendedDataType.CreateString()
    for name in ("a", "b"):
        root.CreateMDArray(name, [x], byte, ["BLOCKSIZE=2"]).Write(b"\1\2\3\4")
    given = program.GetMetadataItem("CHANGES", "ICECHUNK")

    def result(work):
        dataset = gdal.OpenEx(str(repo), MULTIDIM, open_options=["SESSION=" + given, "COMMIT=NO"])
        work(dataset.GetRootGroup())
        return dataset.GetMetadataItem("CHANGES", "ICECHUNK")

    def title(root):
        root.OpenMDArray("a").CreateAttribute("title", [], string).Write("t")

    results = [result(title),
               result(lambda root: root.OpenMDArray("a").Write(b"\7\7", [2], [2]))]
    names = ["a", "b"]
    if hasattr(gdal.MDArray, "Rename"):
        names = ["a", "c"]
        results.append(result(lambda root: root.OpenMDArray("b").Rename("c")))
    for each in results:
        program.SetMetadataItem("MERGE", each, "ICECHUNK")
    if len(results) == 3:
        deleted = result(lambda root: root.DeleteMDArray("b"))
        with pytest.raises(RuntimeError, match="/b was deleted, and others have changed it"):
            program.SetMetadataItem("MERGE", deleted, "ICECHUNK")
    program.SetMetadataItem("COMMIT", "", "ICECHUNK")
    del root, x
    program = None
    root = gdal.OpenEx(str(repo), MULTIDIM).GetRootGroup()
    assert [name for name in root.GetMDArrayNames() if name != "x"] == names
    assert bytes(root.OpenMDArray("a").Read()) == b"\1\2\7\7"
    assert root.OpenMDArray("a").GetAttribute("title").Read() == "t"
    assert bytes(root.OpenMDArray(names[1]).Read()) == b"\1\2\3\4"


# --- Folders -------------------------------------------------------------------------------------


def test_a_store_that_is_a_repository_as_well_is_kept(made, plain):
    for child in made.iterdir():
        (shutil.copytree if child.is_dir() else shutil.copy)(child, plain / child.name)
    with pytest.raises(RuntimeError, match="Icechunk repository"):
        gdal.GetDriverByName("Zarr").Delete(str(plain))
    assert (plain / "repo").exists()


def test_sources_that_have_changed_within_two_seconds(repo, tmp_path):
    path = tmp_path / "source.tif"
    source(path)
    os.utime(path, ns=(10**18 + 2 * 10**8,) * 2)
    succeed(translate(f"ICECHUNK:{repo}", path, "VIRTUAL=YES", "ARRAY_NAME=a"))
    np.testing.assert_array_equal(read(repo, "a"), DATA)
    os.utime(path, ns=(10**18 + 15 * 10**8,) * 2)
    with pytest.raises(RuntimeError, match="has changed"):
        gdal.OpenEx(f"ICECHUNK:{repo}").ReadAsArray()


# --- Names of bands ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["repository", "store"])
def test_names_of_bands(tmp_path, kind):
    three = np.arange(3 * 20 * 30, dtype=np.uint16).reshape(3, 20, 30)
    dataset = gdal.GetDriverByName("GTiff").Create(str(tmp_path / "in.tif"), 30, 20, 3,
                                                   gdal.GDT_UInt16)
    dataset.WriteArray(three)
    for band, name in ((1, "red"), (3, "near infrared")):
        dataset.GetRasterBand(band).SetDescription(name)
    dataset = None
    path = tmp_path / "out.zarr"
    name = f"ICECHUNK:{path}" if kind == "repository" else str(path)

    def names():
        dataset = gdal.Open(name)
        return [dataset.GetRasterBand(band + 1).GetDescription() for band in range(3)]

    succeed(translate(name, tmp_path / "in.tif", "FORMAT=ZARR_V3", "ARRAY_NAME=a"))
    assert names() == ["red", "", "near infrared"]
    root = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert root.OpenMDArray("a").GetAttribute("long_name").Read() == ["red", "", "near infrared"]
    rasterio = pytest.importorskip("rasterio")
    with rasterio.open(name, "r+") as dataset:
        dataset.set_band_description(2, "green")
    assert names() == ["red", "green", "near infrared"]
    dataset = gdal.OpenEx(name, UPDATE)
    for band in range(3):
        dataset.GetRasterBand(band + 1).SetDescription("")
    dataset = None
    assert names() == ["", "", ""]
    assert not list(tmp_path.rglob("*.aux.xml"))
