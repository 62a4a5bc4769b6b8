"""Writing into Icechunk repositories: names, options, transactions, commits."""
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from night import rounds
from osgeo import gdal
from test_commands import HAS_ALGORITHMS, run
from test_write_faults import errors

DATA = np.arange(20 * 30, dtype=np.uint16).reshape(20, 30)
UPDATE = gdal.OF_UPDATE | gdal.OF_RASTER
MULTIDIM = gdal.OF_UPDATE | gdal.OF_MULTIDIM_RASTER


def source(path, data=DATA, transform=(10, 0.5, 0, 50, 0, -0.5)):
    dataset = gdal.GetDriverByName("GTiff").Create(
        str(path), data.shape[-1], data.shape[-2], 1, gdal.GDT_UInt16)
    dataset.SetGeoTransform(transform)
    dataset.GetRasterBand(1).WriteArray(data)
    dataset.FlushCache()
    return str(path)


@pytest.fixture
def tiff(tmp_path):
    return source(tmp_path / "in.tif")


@pytest.fixture
def repo(tmp_path):
    return tmp_path / "repo"


def translate(name, tiff, *options):
    return subprocess.run(
        ["gdal_translate", "-q", "-of", "Zarr",
         *(word for option in options for word in ("-co", option)), tiff, str(name)],
        capture_output=True, text=True)


def succeed(run):
    assert (run.returncode, run.stderr) == (0, ""), run.stderr


def read(name, array=None, options=()):
    dataset = gdal.OpenEx(f'ZARR:"{name}":/{array}' if array else str(name), gdal.OF_RASTER,
                          open_options=list(options))
    return dataset.ReadAsArray()


def item(name, key):
    return gdal.OpenEx(str(name), gdal.OF_MULTIDIM_RASTER).GetMetadataItem(key, "ICECHUNK")


def arrays(name):
    root = gdal.OpenEx(str(name), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    return sorted(root.GetMDArrayNames())


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# --- Programs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [["ICECHUNK_FORMAT=2"], ["ICECHUNK_FORMAT=1"],
                                     ["COMPRESS=ZSTD", "BLOCKSIZE=16,16", "SHARD_CHUNK_SHAPE=8,8"]])
def test_translate_makes_a_repository(repo, tiff, options):
    succeed(translate(f"ICECHUNK:{repo}", tiff, *options))
    dataset = gdal.Open(f"ICECHUNK:{repo}")
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    assert dataset.GetGeoTransform() == (10, 0.5, 0, 50, 0, -0.5)
    want = "1" if options[0].endswith("=1") else "2"
    assert dataset.GetMetadataItem("FORMAT", "ICECHUNK") == want
    np.testing.assert_array_equal(read(repo), DATA)
    assert arrays(repo) == ["X", "Y", "repo"]
    assert {path.name for path in repo.parent.iterdir()} == {"in.tif", "repo"}


def test_an_empty_folder_becomes_a_repository(repo, tiff):
    repo.mkdir()
    succeed(translate(f"ICECHUNK:{repo}", tiff))
    np.testing.assert_array_equal(read(repo), DATA)


def test_other_folders_do_not(repo, tiff):
    repo.mkdir()
    (repo / "a.txt").write_text("text")
    run = translate(f"ICECHUNK:{repo}", tiff)
    assert run.returncode == 1 and str(repo) in run.stderr
    assert files(repo) == ["a.txt"]
    run = translate(f"ICECHUNK:{repo}/none/below", tiff)
    assert run.returncode == 1 and f"{repo}/none" in run.stderr
    run = translate(f"ICECHUNK:{repo}2?branch=dev", tiff)
    assert run.returncode == 1 and "branch dev" in run.stderr
    assert not repo.with_name("repo2").exists()


@pytest.mark.parametrize("name", ["ICECHUNK:{}", 'ZARR:"{}"', "{}", "ICECHUNK:{}?branch=main"])
def test_arrays_of_one_repository(repo, tiff, tmp_path, name):
    succeed(translate(f"ICECHUNK:{repo}", tiff))
    name = name.format(repo)
    first = item(repo, "SNAPSHOT")
    # The same name again is an error, and changes nothing.
    run = translate(name, tiff)
    assert run.returncode == 1 and "OVERWRITE" in run.stderr and "repo" in run.stderr
    assert item(repo, "SNAPSHOT") == first
    other = source(tmp_path / "other.tif", DATA[:10] + 7, (0, 1, 0, 90, 0, -1))
    succeed(translate(name, other, "ARRAY_NAME=other"))
    np.testing.assert_array_equal(read(repo, "repo"), DATA)
    np.testing.assert_array_equal(read(repo, "other"), DATA[:10] + 7)
    assert item(repo, "SNAPSHOT") != first
    # Replacing one leaves the other.
    succeed(translate(name, other, "OVERWRITE=YES"))
    np.testing.assert_array_equal(read(repo, "repo"), DATA[:10] + 7)
    np.testing.assert_array_equal(read(repo, "other"), DATA[:10] + 7)
    dataset = gdal.Open(f'ZARR:"{repo}":/repo')
    assert dataset.GetGeoTransform() == (0, 1, 0, 90, 0, -1)
    # Older versions stay.
    np.testing.assert_array_equal(read(repo, options=["SNAPSHOT=" + first]), DATA)


def test_overwriting_removes_overviews(repo, tiff):
    succeed(translate(f"ICECHUNK:{repo}", tiff, "ARRAY_NAME=a"))
    succeed(subprocess.run(["gdaladdo", "-q", f"ICECHUNK:{repo}", "2", "4"],
                           capture_output=True, text=True))
    dataset = gdal.Open(str(repo))
    assert dataset.GetRasterBand(1).GetOverviewCount() == 2
    assert files(repo.parent) == ["in.tif"] + [f"repo/{name}" for name in files(repo)]
    succeed(translate(f"ICECHUNK:{repo}", tiff, "ARRAY_NAME=a", "OVERWRITE=YES"))
    dataset = gdal.Open(str(repo))
    assert dataset.GetRasterBand(1).GetOverviewCount() == 0
    root = gdal.OpenEx(str(repo), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert sorted(root.GetMDArrayNames()) == ["X", "Y", "a"] and not root.GetGroupNames()


def test_branches_of_options(repo, tiff):
    succeed(translate(f"ICECHUNK:{repo}", tiff))
    succeed(translate(f"ICECHUNK:{repo}", tiff, "NEW_BRANCH=dev", "ARRAY_NAME=b"))
    succeed(translate(f"ICECHUNK:{repo}?branch=dev", tiff, "ARRAY_NAME=c"))
    succeed(translate(repo, tiff, "BRANCH=dev", "ARRAY_NAME=d"))
    assert arrays(repo) == ["X", "Y", "repo"]
    assert arrays(f"ICECHUNK:{repo}?branch=dev") == ["X", "Y", "b", "c", "d", "repo"]
    run = translate(f"ICECHUNK:{repo}", tiff, "BRANCH=none", "ARRAY_NAME=e")
    assert run.returncode == 1 and "none" in run.stderr
    run = translate(f"ICECHUNK:{repo}", tiff, "FORMAT=ZARR_V2", "ARRAY_NAME=e")
    assert run.returncode == 1 and "ZARR_V3" in run.stderr


def test_warp_makes_and_updates(repo, tiff):
    def warp(*options):
        return subprocess.run(["gdalwarp", "-q", *options, tiff,
                               f"ICECHUNK:{repo}"], capture_output=True, text=True)
    succeed(warp("-of", "Zarr", "-te", "10", "30", "40", "50", "-t_srs", "EPSG:4326",
                 "-s_srs", "EPSG:4326", "-tr", "0.5", "0.5"))
    dataset = gdal.Open(str(repo))
    assert (dataset.RasterXSize, dataset.RasterYSize) == (60, 40)
    np.testing.assert_array_equal(dataset.ReadAsArray()[:20, :30], DATA)
    first = item(repo, "SNAPSHOT")
    succeed(warp("-s_srs", "EPSG:4326"))
    assert item(repo, "SNAPSHOT") != first
    np.testing.assert_array_equal(read(repo)[:20, :30], DATA)


def test_mdimtranslate(repo, tmp_path, tiff):
    succeed(translate(tmp_path / "plain.zarr", tiff, "FORMAT=ZARR_V3", "ARRAY_NAME=a"))

    def copy(*options):
        return subprocess.run(["gdalmdimtranslate", "-q", "-of", "Zarr", *options,
                               str(tmp_path / "plain.zarr"), f"ICECHUNK:{repo}"],
                              capture_output=True, text=True)
    succeed(copy())
    assert arrays(repo) == ["X", "Y", "a"]
    np.testing.assert_array_equal(read(repo), DATA)
    first = item(repo, "SNAPSHOT")
    run = copy()
    assert "a" in run.stderr and item(repo, "SNAPSHOT") == first
    succeed(copy("-co", "OVERWRITE=YES"))
    np.testing.assert_array_equal(read(repo), DATA)


def test_rasterio(repo):
    rasterio = pytest.importorskip("rasterio")
    with rasterio.open(f"ICECHUNK:{repo}", "w", driver="Zarr", width=30, height=20, count=1,
                       dtype="uint16") as dataset:
        dataset.write(DATA, 1)
    with rasterio.open(f"ICECHUNK:{repo}", "r+") as dataset:
        dataset.write(DATA[:5] + 100, 1, window=((0, 5), (0, 30)))
        dataset.update_tags(title="example")
    with rasterio.open(f"ICECHUNK:{repo}") as dataset:
        np.testing.assert_array_equal(dataset.read(1)[:5], DATA[:5] + 100)
        np.testing.assert_array_equal(dataset.read(1)[5:], DATA[5:])
        assert dataset.tags()["title"] == "example"


# --- Nothing is deleted --------------------------------------------------------------------------


def test_nothing_is_deleted(repo, tiff):
    succeed(translate(f"ICECHUNK:{repo}", tiff))
    before = files(repo)
    driver = gdal.GetDriverByName("Zarr")
    for name in (f"ICECHUNK:{repo}", str(repo), f"/vsiicechunk/{{{repo}}}"):
        for action in (lambda name=name: driver.Delete(name),
                       lambda name=name: driver.Rename(f"{repo}2", name),
                       lambda name=name: driver.CopyFiles(f"{repo}2", name)):
            with pytest.raises(RuntimeError, match="Icechunk repository"):
                action()
        run = subprocess.run(["gdalmanage", "delete", name], capture_output=True, text=True)
        # In newer versions, it makes the calls that GDAL makes before it creates a dataset.
        assert int(gdal.VersionInfo()) >= 3100000 or "Icechunk repository" in run.stderr
    assert files(repo) == before and not repo.with_name("repo2").exists()


@pytest.mark.skipif(not HAS_ALGORITHMS, reason="needs GDAL 3.11")
def test_overwrite_and_append_of_algorithms(repo, tiff, tmp_path):
    def gdal_(*words):
        return subprocess.run(["gdal", *map(str, words)], capture_output=True, text=True)

    other = source(tmp_path / "other.tif", DATA[:10] + 7)
    succeed(gdal_("raster", "convert", "--quiet", "-f", "Zarr", tiff, f"ICECHUNK:{repo}"))
    before = files(repo)
    for options in ([], ["--overwrite"], ["--append"]):
        run = gdal_("raster", "convert", "--quiet", "-f", "Zarr", *options, other,
                    f"ICECHUNK:{repo}")
        assert run.returncode == 1 and run.stderr, (options, run)
        assert files(repo) == before, options
    gdal_("dataset", "delete", f"ICECHUNK:{repo}")
    assert files(repo) == before
    succeed(gdal_("raster", "convert", "--quiet", "-f", "Zarr", "--overwrite", "--co",
                  "OVERWRITE=YES", other, f"ICECHUNK:{repo}"))
    np.testing.assert_array_equal(read(repo), DATA[:10] + 7)


# --- Transactions --------------------------------------------------------------------------------


@pytest.fixture(params=rounds(["2"], ["2", "1"]))
def made(repo, tiff, request):
    succeed(translate(f"ICECHUNK:{repo}", tiff, "ARRAY_NAME=a", "ICECHUNK_FORMAT=" + request.param))
    return repo


def test_changes_are_seen_when_closed(made):
    first = item(made, "SNAPSHOT")
    dataset = gdal.OpenEx(str(made), UPDATE)
    dataset.GetRasterBand(1).WriteArray(DATA + 1)
    dataset.SetMetadataItem("title", "new")
    dataset.FlushCache()
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA + 1)
    np.testing.assert_array_equal(read(made), DATA)
    assert item(made, "SNAPSHOT") == first
    check = f"from osgeo import gdal; print(gdal.Open('{made}').ReadAsArray().sum())"
    assert int(subprocess.check_output([sys.executable, "-c", check])) == DATA.sum()
    dataset = None
    np.testing.assert_array_equal(read(made), DATA + 1)
    assert gdal.Open(str(made)).GetMetadataItem("title") == "new"
    assert item(made, "SNAPSHOT") != first


def test_opening_alone_commits_nothing(made):
    first, before = item(made, "SNAPSHOT"), files(made)
    for flags in (UPDATE, MULTIDIM):
        dataset = gdal.OpenEx(str(made), flags)
        dataset.FlushCache()
        dataset = None
    assert item(made, "SNAPSHOT") == first and files(made) == before


@pytest.mark.parametrize("how", ["option", "command"])
def test_rollback(made, how):
    first = item(made, "SNAPSHOT")
    dataset = gdal.OpenEx(str(made), UPDATE,
                          open_options=["COMMIT=NO"] if how == "option" else [])
    dataset.GetRasterBand(1).WriteArray(DATA + 1)
    if how == "command":
        assert dataset.SetMetadataItem("ROLLBACK", "YES", "ICECHUNK") == gdal.CE_None
        dataset.GetRasterBand(1).WriteArray(DATA + 2)
    dataset = None
    assert item(made, "SNAPSHOT") == first
    np.testing.assert_array_equal(read(made), DATA)


def test_copies_without_commit(repo, tiff):
    run = translate(f"ICECHUNK:{repo}", tiff, "COMMIT=NO")
    # The root, the array with its chunk, and two coordinates with theirs.
    assert run.returncode == 0 and "changes of 7 nodes and chunks are dropped" in run.stderr
    with pytest.raises(RuntimeError):
        gdal.Open(str(repo))


def test_commits_at_flushes(made):
    dataset = gdal.OpenEx(str(made), UPDATE, open_options=["COMMIT=FLUSH"])
    snapshots = {item(made, "SNAPSHOT")}
    for step in (1, 2):
        dataset.GetRasterBand(1).WriteArray(DATA + step)
        dataset.FlushCache()
        np.testing.assert_array_equal(read(made), DATA + step)
        snapshots.add(item(made, "SNAPSHOT"))
        assert dataset.GetMetadataItem("SNAPSHOT", "ICECHUNK") == item(made, "SNAPSHOT")
    assert len(snapshots) == 3


def test_created_arrays_are_committed_when_closed(made):
    driver = gdal.GetDriverByName("Zarr")
    dataset = driver.Create(f"ICECHUNK:{made}", 30, 20, 1, gdal.GDT_UInt16, ["ARRAY_NAME=b"])
    dataset.GetRasterBand(1).WriteArray(DATA)
    dataset.FlushCache()
    assert arrays(made) == ["X", "Y", "a"]
    dataset = None
    assert arrays(made) == ["X", "Y", "a", "b"]


def test_everything_of_the_multidimensional_api(made):
    dataset = gdal.OpenEx(str(made), MULTIDIM)
    root = dataset.GetRootGroup()
    group = root.CreateGroup("g")
    dimension = group.CreateDimension("n", None, None, 5)
    array = group.CreateMDArray("v", [dimension], gdal.ExtendedDataType.Create(gdal.GDT_Float64))
    array.Write(np.arange(5.0))
    array.CreateAttribute("name", [], gdal.ExtendedDataType.CreateString()).Write("text")
    assert arrays(made) == ["X", "Y", "a"]
    del array, dimension, group, root, dataset
    root = gdal.OpenEx(str(made), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    array = root.OpenMDArrayFromFullname("/g/v")
    np.testing.assert_array_equal(array.ReadAsArray(), np.arange(5.0))
    assert array.GetAttribute("name").Read() == "text"


@pytest.mark.skipif(not hasattr(gdal.Group, "DeleteMDArray"), reason="needs GDAL 3.8")
def test_deleting_renaming_and_resizing(made):
    dataset = gdal.OpenEx(str(made), MULTIDIM)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray("a")
    copy = root.CreateMDArray("b", array.GetDimensions(), array.GetDataType())
    copy.Write(DATA)
    assert copy.Rename("c") == gdal.CE_None
    assert root.DeleteMDArray("a") == gdal.CE_None
    assert arrays(made) == ["X", "Y", "a"]
    del copy, array, root, dataset
    assert arrays(made) == ["X", "Y", "c"]
    np.testing.assert_array_equal(read(made), DATA)


def test_a_failed_write_is_not_committed(made):
    first = item(made, "SNAPSHOT")
    dataset = gdal.OpenEx(str(made), UPDATE)
    dataset.GetRasterBand(1).WriteArray(DATA + 1)
    dataset.FlushCache()  # no thread puts a chunk meanwhile, which would make the folder again
    shutil.move(made / "chunks", made / "hidden")
    (made / "chunks").write_text("no folder")
    with pytest.raises(RuntimeError):
        dataset.GetRasterBand(1).WriteArray(DATA.repeat(2, 0)[:20] * 3)
        dataset.FlushCache()
    (made / "chunks").unlink()
    shutil.move(made / "hidden", made / "chunks")
    gdal.ErrorReset()
    with errors() as messages:
        dataset = None
    assert "nothing is committed" in messages[-1]
    assert item(made, "SNAPSHOT") == first
    np.testing.assert_array_equal(read(made), DATA)


def test_read_only_versions(made):
    first = item(made, "SNAPSHOT")
    dataset = gdal.OpenEx(str(made), MULTIDIM)
    assert dataset.SetMetadataItem("CREATE_TAG", "v1", "ICECHUNK") == gdal.CE_None
    for name in (f"ICECHUNK:{made}?tag=v1", f"ICECHUNK:{made}?snapshot={first}"):
        with pytest.raises(RuntimeError, match="NEW_BRANCH"):
            gdal.OpenEx(name, MULTIDIM)
    dataset = gdal.OpenEx(f"ICECHUNK:{made}?tag=v1", UPDATE, open_options=["NEW_BRANCH=b"])
    dataset.GetRasterBand(1).WriteArray(DATA + 1)
    dataset = None
    np.testing.assert_array_equal(read(f"ICECHUNK:{made}?branch=b"), DATA + 1)
    np.testing.assert_array_equal(read(made), DATA)


def test_branches_and_tags(made):
    first = item(made, "SNAPSHOT")
    dataset = gdal.OpenEx(str(made), UPDATE)

    def run(name, value):
        assert dataset.SetMetadataItem(name, value, "ICECHUNK") == gdal.CE_None

    dataset.GetRasterBand(1).WriteArray(DATA + 1)
    run("COMMIT", "one more")
    np.testing.assert_array_equal(read(made), DATA + 1)
    run("CREATE_TAG", "v2")
    run("CREATE_TAG", f"v1={first}")
    run("CREATE_BRANCH", f"old={first}")
    metadata = dataset.GetMetadata("ICECHUNK")
    assert metadata["BRANCH_2_NAME"] == "old" and metadata["BRANCH_2_SNAPSHOT"] == first
    assert metadata["TAG_1_SNAPSHOT"] == first
    assert metadata["TAG_2_SNAPSHOT"] == metadata["SNAPSHOT"] == metadata["BRANCH_1_SNAPSHOT"]
    run("RESET_BRANCH", "old")
    np.testing.assert_array_equal(read(f"ICECHUNK:{made}?branch=old"), DATA + 1)
    run("DELETE_BRANCH", "old")
    run("DELETE_TAG", "v2")
    assert "BRANCH_2_NAME" not in dataset.GetMetadata("ICECHUNK")
    np.testing.assert_array_equal(read(f"ICECHUNK:{made}?tag=v1"), DATA)
    with pytest.raises(RuntimeError, match="CREATE_TAG"):
        dataset.SetMetadataItem("TAG", "v3", "ICECHUNK")
    with pytest.raises(RuntimeError, match="update"):
        gdal.Open(str(made)).SetMetadataItem("CREATE_TAG", "v3", "ICECHUNK")


def test_messages(made):
    from_json = json.dumps({"author": "me", "run": 7})
    dataset = gdal.OpenEx(str(made), UPDATE, open_options=[
        "COMMIT_MESSAGE=ein Wörtchen", "COMMIT_PROPERTIES=" + from_json])
    dataset.GetRasterBand(1).WriteArray(DATA + 1)
    dataset = None
    newest = run("log", made)["snapshots"][0]
    assert newest["message"] == "ein Wörtchen"
    assert newest["properties"] == {"author": "me", "run": "7"}
    with pytest.raises(RuntimeError, match="COMMIT_PROPERTIES"):
        gdal.OpenEx(str(made), UPDATE, open_options=["COMMIT_PROPERTIES=[1]"])


def test_conflicts(made, tmp_path):
    first = gdal.OpenEx(str(made), UPDATE)
    second = gdal.OpenEx(str(made), UPDATE)
    first.GetRasterBand(1).WriteArray(DATA + 1)
    second.GetRasterBand(1).WriteArray(DATA + 2)
    first = None
    with errors() as messages:
        second = None
    np.testing.assert_array_equal(read(made), DATA + 1)
    message = "\n".join(messages)
    assert "not committed" in message and "/a" in message, message
    session = message.split("SESSION=")[1].split()[0]
    first, second = (gdal.OpenEx(str(made), UPDATE) for _ in range(2))
    first.GetRasterBand(1).WriteArray(DATA + 1)
    second.GetRasterBand(1).WriteArray(DATA + 3)
    first = None
    with errors() as messages:
        second = None
    assert session not in messages[0]  # which is still needed
    retry = gdal.OpenEx(str(made), UPDATE, open_options=["SESSION=" + session, "NEW_BRANCH=retry"])
    np.testing.assert_array_equal(retry.ReadAsArray(), DATA + 2)
    retry = None
    np.testing.assert_array_equal(read(f"ICECHUNK:{made}?branch=retry"), DATA + 2)
    np.testing.assert_array_equal(read(made), DATA + 1)


def test_changes_of_different_arrays_do_not_conflict(made):
    names = ("one", "two")
    datasets = [gdal.GetDriverByName("Zarr").Create(
        f"ICECHUNK:{made}", 4, 4, 1, gdal.GDT_Byte, ["ARRAY_NAME=" + name]) for name in names]
    for i, dataset in enumerate(datasets):
        dataset.GetRasterBand(1).Fill(i + 1)
    del dataset
    while datasets:
        datasets.pop()
    for i, name in enumerate(names):
        assert (read(made, name) == i + 1).all()


def test_workers_of_one_session(made):
    """Others write chunks; one dataset commits all of it."""
    dataset = gdal.OpenEx(str(made), MULTIDIM)
    root = dataset.GetRootGroup()
    dimensions = [root.CreateDimension(name, None, None, 40) for name in "yx"]
    array = root.CreateMDArray("big", dimensions, gdal.ExtendedDataType.Create(gdal.GDT_UInt16),
                               ["BLOCKSIZE=10,40"])
    array.Write(np.full((20, 40), 7, np.uint16), [0, 0])  # in chunks of the first two workers
    changes = dataset.GetMetadataItem("CHANGES", "ICECHUNK")
    worker = """
import sys
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
path, changes, row = sys.argv[1], sys.stdin.read(), int(sys.argv[2])
dataset = gdal.OpenEx(path, gdal.OF_UPDATE | gdal.OF_MULTIDIM_RASTER,
                      open_options=["SESSION=" + changes, "COMMIT=NO"])
array = dataset.GetRootGroup().OpenMDArray("big")
array.Write(np.full((10 - row, 40) if row < 10 else (10, 40), row + 1000, np.uint16), [row, 0])
print(dataset.GetMetadataItem("CHANGES", "ICECHUNK"))
gdal.ErrorReset()
del array, dataset
assert not gdal.GetLastErrorMsg()
"""
    workers = [subprocess.Popen([sys.executable, "-c", worker, str(made), str(row)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
               for row in (5, 10, 20, 30)]
    answers = [worker.communicate(changes)[0] for worker in workers]
    assert all(worker.returncode == 0 for worker in workers)
    for answer in answers:
        assert dataset.SetMetadataItem("MERGE", answer, "ICECHUNK") == gdal.CE_None
    assert "big" not in arrays(made)
    del array, dimensions, root, dataset
    want = np.repeat([7, 1005, 1010, 1020, 1030], [5, 5, 10, 10, 10])[:, None]
    np.testing.assert_array_equal(read(made, "big"), np.broadcast_to(want, (40, 40)))
