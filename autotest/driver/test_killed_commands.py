"""Commands that are killed before any operation on a file lose nothing: all values are readable at
any time, as they were or as they will be, and the same command then does the rest and leaves no
trace of it.

By day a sample of the operations; ZARR_ALL_KILLS=1 means all.
"""
import json
import os
import random
import shutil
import subprocess

import numpy as np
import pytest
import zarr
from night import IS_NIGHT
from osgeo import gdal
from stores import BYTES, GZIP, sharding, write_array, write_group
from test_commands import DATA, PROGRAM, leave_temporary_file, run
from test_fixtures import ENTRIES, FIXTURES
from v2_stores import write_v2

KILLS = None if IS_NIGHT or os.environ.get("ZARR_ALL_KILLS") == "1" else 2
IS_ZARR_3 = hasattr(zarr, "config")
# zarr-python 3.0 does not know fixed_length_utf32.
READS_MIGRATED = tuple(map(int, zarr.__version__.split(".")[:2])) >= (3, 1)
RASTER = np.random.default_rng(3).integers(1, 200, (40, 30), "u1")
VALUES = {"a": DATA, "g/b": DATA * 2, "g/raster": RASTER}


def write_store(path, version):
    if version == "v2":
        for name, data in VALUES.items():
            names = ["row", "column"] if data is RASTER else ["y", "x"]
            write_v2(path, name, data, {"_ARRAY_DIMENSIONS": names, "n": 1},
                     chunks=(10, 10) if data is RASTER else (4, 4))
        write_v2(path, "text", np.array(["a", "bc"], "U2"))
        write_v2(path, "sparse", np.zeros(8, "i4"), fill_value=0, chunks=4)
    else:
        write_group(path)
        write_group(path / "g")
        write_array(path / "a", DATA, (4, 4), [BYTES, GZIP], names=["y", "x"])
        write_array(path / "g/b", DATA * 2, (8, 4), [sharding((2, 2))])
        write_array(path / "g/raster", RASTER, (10, 10), [BYTES, GZIP], names=["row", "column"])
        write_array(path / "line", DATA[0], (8,))
    (path / "a/README").write_text("This file is nothing of Zarr.")
    return path


def damage(path):
    """A temporary file of a killed writer, chunks outside of an array, a wrong copy."""
    run("consolidate", path)
    leave_temporary_file(path / "a")
    (path / ("a/7.0" if (path / ".zgroup").exists() else "a/c/7")).parent.mkdir(exist_ok=True)
    if (path / ".zgroup").exists():
        (path / "a/7.0").write_bytes(b"x")
        (path / "a/9.9").write_bytes(b"x")
        copy, key = path / ".zmetadata", ".zattrs"
        (path / key).write_text('{"title": "new"}')
    else:
        (path / "a/c/7").mkdir()
        (path / "a/c/7/0").write_bytes(b"x")
        (path / "a/c/7/1").write_bytes(b"x")
        copy = path / "zarr.json"
        document = json.loads(copy.read_text())
        document["consolidated_metadata"]["metadata"]["line"]["attributes"] = {"title": "old"}
        copy.write_text(json.dumps(document))


def consolidate(path):
    run("consolidate", path)


def build_overviews(path):
    run("overviews", raster_name(path), 2, 4, "--resampling=average")


def raster_name(path, name="g/raster"):
    return f'ZARR:"{path}":/{name}'


def nothing(path):
    pass


def on(*words):
    return lambda path: [words[0], path, *words[1:]]


# What is done before, and the command.
COMMANDS = {
    "repair": (damage, on("repair", "--apply")),
    "migrate": (nothing, on("migrate", "--apply")),
    "migrate consolidated": (consolidate, on("migrate", "--apply")),
    "consolidate": (nothing, on("consolidate")),
    "consolidate again": (damage, on("consolidate")),
    "unconsolidate": (consolidate, on("unconsolidate")),
    "rechunk": (consolidate, on("rechunk", "BLOCKSIZE=8,8", "COMPRESS=GZIP")),
    "rechunk without exchange": (consolidate, on("rechunk", "BLOCKSIZE=8,8")),
    "rechunk one": (nothing, on("rechunk", "BLOCKSIZE=2,8", "--array=/a")),
    "rechunk into": (consolidate, lambda path: [
        "rechunk", path, "BLOCKSIZE=8,8", "--into", f"{path}.into.zarr"]),
    "overviews": (consolidate, lambda path: [
        "overviews", raster_name(path), 2, 4, "--resampling=average"]),
    "overviews again": (build_overviews, lambda path: ["overviews", raster_name(path)]),
    "remove overviews": (build_overviews, lambda path: [
        "overviews", raster_name(path), "--remove"]),
}


def command(words, **environment):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=60,
                          env=os.environ | {"GDAL_NUM_THREADS": "1"} | environment)


def tree(path):
    """All files and folders, of a store and of what is beside it."""
    found = {}
    for root in path.parent.glob(path.name + "*"):
        for file in [root, *root.rglob("*")]:
            name = str(file.relative_to(path.parent)).removeprefix(path.name)
            found[name] = file.read_bytes() if file.is_file() else None
    return found


def name_in(path, name):
    """Between the two renames of rechunk, where names cannot be exchanged, the array has another
    name."""
    replaced = name + ".gdal-zarr-old"
    return replaced if (path / replaced).exists() and not (path / name).exists() else name


def assert_readable(path, is_judged):
    root = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    for name, data in VALUES.items():
        array = root.OpenMDArrayFromFullname(f"/{name_in(path, name)}")
        np.testing.assert_array_equal(array.ReadAsArray(), data)
    del root, array
    raster = gdal.Open(raster_name(path, name_in(path, "g/raster")))
    np.testing.assert_array_equal(raster.ReadAsArray(), RASTER)
    for level in range(raster.GetRasterBand(1).GetOverviewCount()):
        assert raster.GetRasterBand(1).GetOverview(level).ReadAsArray().all()
    del raster
    if not is_judged:
        return
    openers = [zarr.open_group]
    if (path / ".zmetadata").exists() and not (path / "zarr.json").exists():
        openers.append(zarr.open_consolidated)
    for opener in openers:
        judge = opener(str(path), mode="r")
        for name, data in VALUES.items():
            np.testing.assert_array_equal(judge[name_in(path, name)][:], data)


@pytest.fixture(scope="module")
def shim(build_shim):
    return build_shim("kill_shim")


def try_kills(tmp_path, shim, store, words, assert_readable, **environment):
    """Kills a command on copies of a store before each of its operations, or before some."""
    def killed(folder, n):
        """A copy of the store, and the result of the command."""
        path = tmp_path / folder / "a.zarr"
        shutil.rmtree(path.parent, ignore_errors=True)
        shutil.copytree(store, path)
        result = command(words(path), LD_PRELOAD=str(shim), KILL_AT_ANY=str(n), **environment)
        return path, result

    complete, result = killed("complete", 10**9)
    assert result.returncode == 0, result.stderr
    after = tree(complete)
    assert_readable(complete)
    count = 10**9 - int(result.stderr.split()[-2])
    kills = range(1, count + 1)
    if KILLS is not None:
        kills = random.Random(str(words(complete)[0])).sample(kills, min(KILLS, len(kills)))
    for n in kills:
        path, result = killed("killed", n)
        assert result.returncode == -9, result.stderr
        try:
            assert_readable(path)
            again = command(words(path))
            # The last operation may have been one that leaves nothing to migrate.
            assert again.returncode == 0 or "is Zarr v3, not" in again.stderr, again.stderr
            assert tree(path) == after
            assert_readable(path)
        except BaseException:
            print(f"kill {n} of {count}")
            raise


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("version", ["v2", "v3"])
def test_kills(tmp_path, shim, version, name):
    prepare, words = COMMANDS[name]
    if version == "v3" and "migrate" in name:
        pytest.skip("migrate is for older versions")
    store = write_store(tmp_path / "source" / "a.zarr", version)
    prepare(store)
    has_gap = name == "rechunk without exchange"

    def check(path):
        assert has_gap or all((path / array).exists() for array in VALUES)
        is_judged = READS_MIGRATED if "migrate" in name else IS_ZARR_3
        assert_readable(path, is_judged or not (path / "zarr.json").exists())

    try_kills(tmp_path, shim, store, words, check, **{"NO_EXCHANGE": "1"} if has_gap else {})


OLD_STORES = {"v1": ["v1_blosc"], "draft": ["draft3_zarr213", "draft3_blosc_F", "draft3_gdal36"]}


@pytest.mark.parametrize("makes_copy", [False, True])
@pytest.mark.parametrize("version", OLD_STORES)
def test_kills_of_migrations(tmp_path, shim, version, makes_copy):
    """Readers find all values, or an error that says what to do: never missing chunks."""
    store = tmp_path / "source"
    expected = {}
    for entry in ENTRIES:
        name = entry["store"].removeprefix("stores/").removesuffix(".zarr")
        if name in OLD_STORES[version]:
            shutil.copytree(FIXTURES / entry["store"], store, dirs_exist_ok=True)
            expected[entry["array"].strip("/")] = np.load(FIXTURES / entry["expected"])

    def check(path):
        try:
            root = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        except RuntimeError as error:
            assert "run gdal_zarr migrate --apply again" in str(error)
            root = None
        for name, data in expected.items():
            if root is not None:
                array = root.OpenMDArrayFromFullname(f"/{name or 'a'}")
                np.testing.assert_array_equal(array.ReadAsArray(), data)
            if IS_ZARR_3 and name != "" and (path / name / "zarr.json").exists():
                judge = zarr.open_array(str(path / name), mode="r", zarr_format=3)
                np.testing.assert_array_equal(judge[...], data)

    def words(path):
        return ["migrate", path, *(["--copy", f"{path}.copy"] if makes_copy else ["--apply"])]

    try_kills(tmp_path, shim, store, words, check)


def chunk_files(folder):
    """The file of each chunk, as the system tells it from others."""
    return {file.relative_to(folder): (file.stat().st_ino, file.stat().st_mtime_ns)
            for file in folder.rglob("c/*/*")}


@pytest.mark.parametrize("meanwhile", ["nothing", "other values", "other options"])
@pytest.mark.parametrize("options", [["COMPRESS=ZSTD"], ["SHARD_CHUNK_SHAPE=64,64"]])
def test_rechunk_continues_where_it_was_killed(tmp_path, shim, options, meanwhile):
    """In the middle of an array, unless the array or the options are others now."""
    data = np.random.default_rng(1).integers(1, 1000, (2048, 1024), "u2")
    path = write_group(tmp_path / "a.zarr")
    write_array(path / "a", data, (64, 1024))
    words = ["rechunk", path, "BLOCKSIZE=256,256", *options, "--config", "ZARR_COPY_MEMORY", "1"]
    assert command(words, LD_PRELOAD=str(shim), KILL_AT="25").returncode == -9
    copy = path / "a.gdal-zarr-new"
    complete = int((copy / ".gdal-zarr-progress").read_text().splitlines()[-1])
    before = chunk_files(copy)
    assert 1 < complete < 8 and len(before) >= 4 * complete
    if meanwhile == "other values":
        data[0, 0] = 1001
        chunk = path / "a/c/0/0"
        chunk.write_bytes(data[0, :1].tobytes() + chunk.read_bytes()[2:])
    elif meanwhile == "other options":
        words[3] = "COMPRESS=GZIP"
    again = command(words)
    assert again.returncode == 0, again.stderr
    after = chunk_files(path / "a")
    same = [name for name in after if after[name] == before.get(name)]
    assert len(after) == 32
    assert len(same) >= 4 * complete if meanwhile == "nothing" else not same
    array = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("a")
    np.testing.assert_array_equal(array.ReadAsArray(), data)
    assert {file.name for file in path.rglob(".*")} == set()
