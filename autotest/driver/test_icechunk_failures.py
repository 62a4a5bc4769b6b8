"""What fails is not committed to an Icechunk repository; repositories without a commit."""
import subprocess

import numpy as np
import pytest
from osgeo import gdal
from test_icechunk_writing import (
    DATA,
    MULTIDIM,
    UPDATE,
    arrays,
    files,
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

FIRST = "1CECHNKREP0F1RSTCMT0"  # the first snapshot of each repository

__all__ = ["made", "repo", "tiff"]


@pytest.fixture
def truncated(tmp_path):
    """Rasters whose first half can be read: of the classic, and of the multidimensional API."""
    path = tmp_path / "truncated.tif"
    source(path, np.random.default_rng(1).integers(0, 9000, (400, 300)).astype(np.uint16))
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size // 2)
    plain = tmp_path / "plain.zarr"
    subprocess.run(["gdal_translate", "-q", "-of", "Zarr", "-co", "FORMAT=ZARR_V3", "-co",
                    "BLOCKSIZE=5,30", str(tmp_path / "in.tif"), str(plain)], check=True)
    (plain / "plain/c/2/0").write_bytes(b"damaged")
    return path, plain


# --- Failures ------------------------------------------------------------------------------------


def test_copies_of_damaged_sources(made, truncated):
    first = item(made, "SNAPSHOT")
    classic, plain = truncated
    run = translate(f"ICECHUNK:{made}", classic, "ARRAY_NAME=b", "BLOCKSIZE=10,300")
    assert run.returncode == 1 and item(made, "SNAPSHOT") == first
    run = subprocess.run(["gdalmdimtranslate", "-q", "-of", "Zarr", "-co", "OVERWRITE=YES",
                          str(plain), f"ICECHUNK:{made}"], capture_output=True, text=True)
    assert "plain" in run.stderr and item(made, "SNAPSHOT") == first
    assert arrays(made) == ["X", "Y", "a"]


@pytest.mark.parametrize("flags", [gdal.OF_RASTER, gdal.OF_MULTIDIM_RASTER])
def test_cancelled_copies(made, repo, flags):
    copy = f"ICECHUNK:{repo}2"
    seen = []

    def progress(share, *_):
        seen.append(share)
        return share < 0.3

    with pytest.raises(RuntimeError):
        gdal.GetDriverByName("Zarr").CreateCopy(copy, gdal.OpenEx(str(made), flags),
                                                callback=progress)
    assert seen and item(copy, "SNAPSHOT") == FIRST


def test_cancelled_overviews(made):
    first = item(made, "SNAPSHOT")
    dataset = gdal.OpenEx(str(made), UPDATE)
    dataset.GetRasterBand(1).WriteArray(DATA + 1)
    with pytest.raises(RuntimeError):
        dataset.BuildOverviews("AVERAGE", [2, 4], callback=lambda share, *_: share < 0.3)
    with errors() as messages:
        dataset = None
    assert "nothing is committed" in messages[-1] and item(made, "SNAPSHOT") == first


def test_exceptions_of_rasterio_are_not_seen(made):
    """The dataset is closed as after success. With COMMIT=NO, only a command commits."""
    rasterio = pytest.importorskip("rasterio")
    first = item(made, "SNAPSHOT")

    def fail(**options):
        with (pytest.raises(ZeroDivisionError),
              rasterio.open(f"ICECHUNK:{made}", "r+", **options) as dataset):
            dataset.write(DATA[:5] + 100, 1, window=((0, 5), (0, 30)))
            raise ZeroDivisionError

    fail(COMMIT="NO")
    assert item(made, "SNAPSHOT") == first
    fail()
    assert item(made, "SNAPSHOT") != first
    with rasterio.open(f"ICECHUNK:{made}", "r+", COMMIT="NO") as dataset:
        dataset.write(DATA + 7, 1)
        dataset.update_tags(ns="ICECHUNK", COMMIT="by a command")
    np.testing.assert_array_equal(read(made), DATA + 7)


def test_a_branch_for_programs_that_may_fail(made, tiff):
    """gdalwarp closes what it has begun to write, like any other."""
    first = item(made, "SNAPSHOT")
    succeed(subprocess.run(["gdalwarp", "-q", "-overwrite", "-of", "Zarr",
                            "-co", "ARRAY_NAME=b", "-co",
                            "NEW_BRANCH=new", "-s_srs", "EPSG:4326", "-t_srs", "EPSG:4326", tiff,
                            f"ICECHUNK:{made}"], capture_output=True, text=True))
    assert item(made, "SNAPSHOT") == first
    tip = item(f"ICECHUNK:{made}?branch=new", "SNAPSHOT")
    dataset = gdal.OpenEx(str(made), MULTIDIM)
    dataset.SetMetadataItem("RESET_BRANCH", f"main={tip}", "ICECHUNK")
    assert arrays(made) == ["X", "Y", "a", "b"]


# --- Repositories that cannot be used ---


@pytest.mark.parametrize("damage", ["newer format", "half a file", "empty file", "no snapshot"])
def test_damaged_repositories_stay_as_they_are(made, tiff, damage):
    snapshot = made / "snapshots" / item(made, "SNAPSHOT")
    file = made / "repo" if (made / "repo").exists() else snapshot
    content = file.read_bytes()
    if damage == "no snapshot":
        snapshot.unlink()
    elif damage == "newer format":
        file.write_bytes(content[:36] + b"\3" + content[37:])
    else:
        file.write_bytes(content[:len(content) // 2] if damage == "half a file" else b"")
    before = {path: (made / path).read_bytes() for path in files(made)}
    for flags in (UPDATE, MULTIDIM):
        with pytest.raises(RuntimeError, match="version 3" if "newer" in damage else str(made)):
            gdal.OpenEx(f"ICECHUNK:{made}", flags)
    run = translate(f"ICECHUNK:{made}", tiff, "ARRAY_NAME=b")
    assert run.returncode == 1 and run.stderr
    assert {path: (made / path).read_bytes() for path in files(made)} == before


# --- A repository without a commit ---------------------------------------------------------------


@pytest.fixture(params=[1, 2])
def empty(repo, request):
    gdal.GetDriverByName("Zarr").CreateMultiDimensional(
        f"ICECHUNK:{repo}", [], [f"ICECHUNK_FORMAT={request.param}", "COMMIT=NO"])
    return repo


def test_it_is_an_empty_group(empty):
    first, before = item(empty, "SNAPSHOT"), files(empty)
    for name in (empty, f"ICECHUNK:{empty}?branch=main"):
        root = gdal.OpenEx(str(name), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        assert not root.GetMDArrayNames() and not root.GetGroupNames()
        dataset = gdal.OpenEx(str(name), MULTIDIM)
        assert not dataset.GetRootGroup().GetMDArrayNames()
        dataset = None
    assert item(empty, "SNAPSHOT") == first and files(empty) == before
    with pytest.raises(RuntimeError):
        gdal.OpenEx(f"/vsiicechunk/{{{empty}}}/none", MULTIDIM)


@pytest.mark.parametrize("change", ["group", "attribute"])
def test_its_first_commit(empty, change):
    first = item(empty, "SNAPSHOT")
    dataset = gdal.OpenEx(str(empty), MULTIDIM)
    root = dataset.GetRootGroup()
    if change == "group":
        root.CreateGroup("g")
    else:
        root.CreateAttribute("n", [], gdal.ExtendedDataType.CreateString()).Write("text")
    del root, dataset
    assert item(empty, "SNAPSHOT") != first
    root = gdal.OpenEx(str(empty), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    if change == "group":
        assert root.GetGroupNames() == ["g"]
    else:
        assert root.GetAttribute("n").Read() == "text"


def test_commands_before_the_first_commit(empty):
    dataset = gdal.OpenEx(str(empty), MULTIDIM)
    assert dataset.SetMetadataItem("CREATE_BRANCH", "b", "ICECHUNK") == gdal.CE_None
    dataset = None
    dataset = gdal.OpenEx(f"ICECHUNK:{empty}?branch=b", MULTIDIM)
    assert dataset.SetMetadataItem("COMMIT", "a root group", "ICECHUNK") == gdal.CE_None
    dataset = None
    assert item(empty, "SNAPSHOT") != item(f"ICECHUNK:{empty}?branch=b", "SNAPSHOT")


# --- Onto repositories that exist ----------------------------------------------------------------


def test_rasterio_replaces_what_it_is_told_to(made):
    rasterio = pytest.importorskip("rasterio")

    def write(**options):
        with rasterio.open(f"ICECHUNK:{made}", "w", driver="Zarr", width=30, height=20, count=1,
                           dtype="uint16", **options) as dataset:
            dataset.write(DATA + 1, 1)

    first = item(made, "SNAPSHOT")
    with pytest.raises(Exception, match="OVERWRITE"):
        write(ARRAY_NAME="a")
    assert item(made, "SNAPSHOT") == first
    write(ARRAY_NAME="b")
    np.testing.assert_array_equal(read(made, "a"), DATA)
    np.testing.assert_array_equal(read(made, "b"), DATA + 1)
    write(ARRAY_NAME="a", OVERWRITE="YES")
    np.testing.assert_array_equal(read(made, "a"), DATA + 1)


@pytest.mark.parametrize("flags", [UPDATE, MULTIDIM])
def test_commands_in_a_list(made, flags):
    first = item(made, "SNAPSHOT")
    dataset = gdal.OpenEx(str(made), flags, open_options=["COMMIT=NO"])
    dataset.SetMetadata({"CREATE_TAG": "v1"} | dataset.GetMetadata("ICECHUNK"), "ICECHUNK")
    assert item(f"ICECHUNK:{made}?tag=v1", "SNAPSHOT") == first
    with pytest.raises(RuntimeError, match="takes the items"):
        dataset.SetMetadata({"TAG": "v2"}, "ICECHUNK")


@pytest.mark.parametrize("changes_again", [False, True])
def test_changes_after_a_session_are_dropped_with_a_warning(made, changes_again):
    """Also if as many nodes and chunks are changed as in the session."""
    dataset = gdal.OpenEx(str(made), UPDATE, open_options=["COMMIT=NO"])
    dataset.GetRasterBand(1).Fill(2)
    dataset.FlushCache()
    assert dataset.GetMetadataItem("CHANGES", "ICECHUNK")
    if changes_again:
        dataset.GetRasterBand(1).Fill(7)
    gdal.ErrorReset()
    dataset = None
    assert ("are dropped" in gdal.GetLastErrorMsg()) == changes_again
