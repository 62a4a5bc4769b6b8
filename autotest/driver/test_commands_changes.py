"""Commands that change arrays and repositories: rechunk, overviews, branches, commits."""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
from osgeo import gdal
from stores import BYTES, GZIP, edit_json, write_array, write_group
from test_commands import DATA, PROGRAM, check, failure, output, run, values
from v2_stores import write_v2


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "a.zarr"
    write_group(path)
    write_group(path / "g")
    write_array(path / "a", DATA, (4, 4), [BYTES, GZIP], names=["y", "x"])
    write_array(path / "g/b", DATA * 2, (8, 1))
    write_array(path / "line", DATA[0], (8,))
    run("consolidate", path)
    return path


def chunks(path):
    return {array["path"]: array["chunk_shape"] for array in run("info", path)["arrays"]}


# --- rechunk --------------------------------------------------------------------------------------

def test_rechunk_in_place(store):
    assert run("rechunk", store, "BLOCKSIZE=8,8")["arrays"] == ["/a", "/g/b"]
    assert chunks(store) == {"/a": [8, 8], "/g/b": [8, 8], "/line": [8]}
    np.testing.assert_array_equal(values(store, "/a"), DATA)
    np.testing.assert_array_equal(values(store, "/g/b"), DATA * 2)
    document = json.loads((store / "a/zarr.json").read_text())
    assert document["dimension_names"] == ["y", "x"]
    unnamed = json.loads((store / "g/b/zarr.json").read_text())
    assert unnamed.get("dimension_names", [None, None]) == [None, None]
    assert unnamed["attributes"] == {}
    assert check(store, "--read") == [] and run("info", store)["consolidated"]


def test_rechunk_one_array_into_shards_and_other_codecs(store):
    run("rechunk", store, "BLOCKSIZE=8,8", "SHARD_CHUNK_SHAPE=2,2", "COMPRESS=ZSTD", "--array=/a")
    assert chunks(store)["/g/b"] == [8, 1]
    arrays = {array["path"]: array for array in run("info", store)["arrays"]}
    assert arrays["/a"]["inner_chunk_shape"] == [2, 2]
    np.testing.assert_array_equal(values(store, "/a"), DATA)
    assert check(store, "--read") == []


def codecs(store, array):
    document = json.loads((store / array / "zarr.json").read_text())
    return [codec["name"] for codec in document["codecs"]], document["codecs"][0].get(
        "configuration", {})


def test_rechunk_keeps_what_options_leave_open(store):
    run("rechunk", store, "BLOCKSIZE=8,8", "--array=/a")
    assert codecs(store, "a")[0] == ["bytes", "gzip"]
    run("rechunk", store, "SHARD_CHUNK_SHAPE=2,4", "BLOCKSIZE=4,4", "--array=/a")
    inner = codecs(store, "a")[1]
    assert inner["chunk_shape"] == [2, 4]
    assert [codec["name"] for codec in inner["codecs"]] == ["bytes", "gzip"]
    run("rechunk", store, "COMPRESS=ZSTD", "--array=/a")
    inner = codecs(store, "a")[1]
    assert inner["chunk_shape"] == [2, 4] and chunks(store)["/a"] == [4, 4]
    assert [codec["name"] for codec in inner["codecs"]] == ["bytes", "zstd"]
    run("rechunk", store, "BLOCKSIZE=8,2", "--array=/a")
    assert codecs(store, "a")[0] == ["bytes", "zstd"]
    np.testing.assert_array_equal(values(store, "/a"), DATA)
    assert "BLOKSIZE is not a creation option" in failure("rechunk", store, "BLOKSIZE=8,8")
    assert "FORMAT is not a creation option" in failure("rechunk", store, "FORMAT=ZARR_V2")


def test_rechunk_keeps_sidecars_and_statistics(tmp_path):
    path = tmp_path / "a.zarr"
    raster = gdal.GetDriverByName("Zarr").Create(str(path), 8, 8, 1, gdal.GDT_Byte)
    raster.SetGCPs([gdal.GCP(1, 2, 0, 3, 4)], "")
    colors = gdal.ColorTable()
    colors.SetColorEntry(3, (1, 2, 3, 255))
    raster.GetRasterBand(1).SetColorTable(colors)
    del raster
    root = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    array = root.OpenMDArray("a")
    array.ComputeStatistics()
    del array, root
    run("rechunk", path, "BLOCKSIZE=4,4")
    raster = gdal.Open(str(path))
    assert raster.GetGCPCount() == 1
    assert raster.GetRasterBand(1).GetColorTable().GetColorEntry(3) == (1, 2, 3, 255)
    root = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert root.OpenMDArray("a").GetStatistics() is not None


def test_rechunk_into_a_new_store(store, tmp_path):
    before = {file: file.read_bytes() for file in store.rglob("*") if file.is_file()}
    run("rechunk", store, "BLOCKSIZE=2,8", "--into", tmp_path / "b.zarr")
    assert chunks(tmp_path / "b.zarr") == {"/a": [2, 8], "/g/b": [2, 8], "/line": [8]}
    np.testing.assert_array_equal(values(tmp_path / "b.zarr", "/a"), DATA)
    np.testing.assert_array_equal(values(tmp_path / "b.zarr", "/g/b"), DATA * 2)
    assert {file: file.read_bytes() for file in store.rglob("*") if file.is_file()} == before
    assert "exists" in failure("rechunk", store, "BLOCKSIZE=2,8", "--into", tmp_path / "b.zarr")
    for name in (f"{tmp_path}/c.zarr/", f"{tmp_path}/d.zip", f"ICECHUNK:{tmp_path}/repo"):
        run("rechunk", store, "BLOCKSIZE=2,8", "--into", name)
        np.testing.assert_array_equal(values(name, "/a"), DATA)
    assert {path.name for path in tmp_path.iterdir()} == {
        "a.zarr", "b.zarr", "c.zarr", "d.zip", "repo"}


@pytest.mark.parametrize("version", ["v2", "v3"])
def test_rechunk_into_of_dimensions_of_several_lengths(tmp_path, version):
    """Arrays of a group may have dimensions of one name and other lengths."""
    data = {"a": DATA, "b": DATA[:4, :6], "g/c": DATA[:6]}
    if version == "v3":
        write_group(tmp_path / "a.zarr")
        write_group(tmp_path / "a.zarr/g")
    for name, array in data.items():
        if version == "v2":
            write_v2(tmp_path / "a.zarr", name, array, {"_ARRAY_DIMENSIONS": ["y", "x"]})
        else:
            write_array(tmp_path / "a.zarr" / name, array, names=["y", "x"])
    run("rechunk", tmp_path / "a.zarr", "BLOCKSIZE=2,2", "--into", tmp_path / "b.zarr")
    for name, array in data.items():
        np.testing.assert_array_equal(values(tmp_path / "b.zarr", f"/{name}"), array)
        if version == "v2":
            attributes = json.loads((tmp_path / "b.zarr" / name / ".zattrs").read_text())
            assert attributes["_ARRAY_DIMENSIONS"] == ["y", "x"]
        else:
            document = json.loads((tmp_path / "b.zarr" / name / "zarr.json").read_text())
            assert document["dimension_names"] == ["y", "x"]


def test_rechunk_keeps_files_of_others(store):
    (store / "a/notes").mkdir()
    (store / "a/notes/README").write_text("of nobody")
    (store / "a/thumbnail.png").write_bytes(bytes(1000))
    run("rechunk", store, "BLOCKSIZE=8,8", "--array=/a")
    assert (store / "a/notes/README").read_text() == "of nobody"
    assert (store / "a/thumbnail.png").read_bytes() == bytes(1000)
    assert sorted(file.name for file in (store / "a").iterdir()) == [
        "c", "notes", "thumbnail.png", "zarr.json"]


def test_rechunk_goes_by_the_chunks_that_are_stored(tmp_path):
    write_group(tmp_path)
    write_array(tmp_path / "a", np.full((8, 8), 7, "u2"), (8, 8))
    edit_json(tmp_path / "a/zarr.json", shape=[2**28, 2**28])
    chunk = tmp_path / "a/c/0/0"
    (tmp_path / "a/c/30000000").mkdir()
    chunk.rename(tmp_path / "a/c/30000000/5")
    run("rechunk", tmp_path, "BLOCKSIZE=16,16")
    array = gdal.OpenEx(str(tmp_path), gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("a")
    start = [8 * 30000000, 40]
    np.testing.assert_array_equal(array.ReadAsArray(start, [8, 8]), np.full((8, 8), 7))
    assert run("info", tmp_path)["arrays"][0]["stored_chunks"] == 1


def test_rechunk_keeps_all_bits(tmp_path):
    data = np.frombuffer(np.arange(16, dtype="u4").tobytes(), "f4").reshape(4, 4).copy()
    data.view("u4")[0] = [0x7fc00001, 0x7f800001, 0xffc12345, 0x80000000]  # NaNs, minus zero
    write_v2(tmp_path / "a.zarr", "a", data, chunks=(2, 2), fill_value=None)
    run("rechunk", tmp_path / "a.zarr", "BLOCKSIZE=4,3")
    assert values(tmp_path / "a.zarr", "/a").tobytes() == data.tobytes()
    assert chunks(tmp_path / "a.zarr") == {"/a": [4, 3]}


@pytest.mark.parametrize("shape, side", [((1400, 3000), 1000), ((2068, 2068), 1024)])
def test_rechunk_to_chunks_larger_than_the_memory(tmp_path, shape, side):
    data = np.arange(1, np.prod(shape) + 1, dtype="<u4").reshape(shape)
    write_group(tmp_path)
    write_array(tmp_path / "a", data, (100, 3000))
    run("rechunk", tmp_path, f"BLOCKSIZE={side},{side}",
        "--config", "ZARR_COPY_MEMORY", "1000000")
    assert chunks(tmp_path) == {"/a": [side, side]}
    np.testing.assert_array_equal(values(tmp_path, "/a"), data)


def test_errors_of_rechunk(store):
    before = {file: file.read_bytes() for file in store.rglob("*") if file.is_file()}
    assert "there is no array /c" in failure("rechunk", store, "BLOCKSIZE=8,8", "--array=/c")
    assert "not a creation option" in failure("rechunk", store, "8,8")
    assert "/a" in failure("rechunk", store, "BLOCKSIZE=8,8,8")
    assert {file: file.read_bytes() for file in store.rglob("*") if file.is_file()} == before


def test_rechunk_does_not_lose_what_others_write(tmp_path):
    """While it copies: the array stays as the other program has left it."""
    data = np.random.default_rng(1).integers(0, 9, (6000, 1000), "u2")
    write_group(tmp_path / "a.zarr")
    write_array(tmp_path / "a.zarr/a", data, (100, 100), [BYTES, GZIP])
    running = subprocess.Popen([PROGRAM, "rechunk", tmp_path / "a.zarr", "BLOCKSIZE=500,500",
                                "COMPRESS=LZMA"], stderr=subprocess.PIPE, text=True)
    new = tmp_path / "a.zarr/a.gdal-zarr-new"
    while not list(new.glob("c/*/*")):
        assert running.poll() is None
    array = gdal.OpenEx(str(tmp_path / "a.zarr"), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE
                        ).GetRootGroup().OpenMDArray("a")
    array.Write(np.full((1, 1), 77, "u2"), [0, 0], [1, 1])
    del array
    message = running.communicate()[1]
    assert running.returncode == 2 and "was changed while it was copied" in message
    data[0, 0] = 77
    np.testing.assert_array_equal(values(tmp_path / "a.zarr", "/a"), data)
    assert not new.exists()


def test_one_rechunk_of_a_store_at_a_time(store):
    (store / ".gdal-zarr-rechunk").mkdir()
    folder = os.open(store / ".gdal-zarr-rechunk", os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    arguments = "rechunk", store, "BLOCKSIZE=8,8", "--config", "ZARR_LOCK_TIMEOUT", "0.1"
    assert "gdal-zarr-rechunk" in failure(*arguments) and chunks(store)["/a"] == [4, 4]
    os.close(folder)
    run(*arguments)
    assert chunks(store)["/a"] == [8, 8] and not (store / ".gdal-zarr-rechunk").exists()


def test_a_rechunk_that_has_waited_has_the_lock(store):
    """The command before removes the folder of the lock when it ends."""
    lock = store / ".gdal-zarr-rechunk"
    lock.mkdir()
    folder = os.open(lock, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    write_array(store / "large", np.ones((3000, 1000), "u2"), (100, 100))
    with subprocess.Popen([PROGRAM, "rechunk", store, "BLOCKSIZE=500,500", "COMPRESS=LZMA",
                           "--array=/large"]) as waiting:
        time.sleep(0.5)
        lock.rmdir()
        os.close(folder)
        while waiting.poll() is None and not list(store.glob("large.gdal-zarr-new/c/*/*")):
            time.sleep(0.01)
        assert lock.exists()
        assert "leftover" not in dict(check(store))  # its copy is none while it runs
        assert waiting.wait() == 0
    assert not lock.exists()


def test_rechunk_checks_all_arrays_first(store):
    write_array(store / "z", np.zeros((2, 2, 2)), (2, 2, 2))
    run("consolidate", store)
    message = failure("rechunk", store, "BLOCKSIZE=8,8")
    assert "/z: BLOCKSIZE has 2 lengths, but the array has 3 dimensions" in message
    assert chunks(store)["/a"] == [4, 4]


def test_rechunk_of_all_needs_all(store):
    """And of one array, none of the others."""
    (store / "line/zarr.json").write_text("{")
    (store / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    assert "line" in failure("rechunk", store, "BLOCKSIZE=8,8")
    run("rechunk", store, "BLOCKSIZE=8,8", "--array=/a")
    assert "use --into" in failure("rechunk", store / "a", "BLOCKSIZE=4,4")


@pytest.fixture(scope="module")
def shim(build_shim):
    return build_shim("kill_shim")


@pytest.mark.parametrize("exchange", [{"STOP_BEFORE": ".gdal-zarr-new"},
                                      {"STOP_BEFORE": ".gdal-zarr-old", "NO_EXCHANGE": "1"}])
def test_rechunk_does_not_lose_what_is_written_at_its_end(store, shim, exchange):
    """Between the copy and the exchange of names."""
    running = subprocess.Popen(
        [PROGRAM, "rechunk", store, "BLOCKSIZE=8,8", "--array=/a"], stderr=subprocess.PIPE,
        text=True, env=os.environ | {"LD_PRELOAD": str(shim)} | exchange)
    os.waitid(os.P_PID, running.pid, os.WSTOPPED | os.WNOWAIT)
    array = gdal.OpenEx(str(store), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE
                        ).GetRootGroup().OpenMDArray("a")
    array.Write(np.full((1, 1), 77, DATA.dtype), [0, 0], [1, 1])
    del array
    while running.poll() is None:  # it stops before other names as well
        running.send_signal(signal.SIGCONT)
        time.sleep(0.01)
    assert running.returncode == 2 and "was changed while it was copied" in running.stderr.read()
    changed = DATA.copy()
    changed[0, 0] = 77
    np.testing.assert_array_equal(values(store, "/a"), changed)
    assert chunks(store)["/a"] == [4, 4]
    assert not list(store.glob("a.*"))


def test_killed_rechunk_loses_nothing(store, shim, tmp_path):
    """Before any change of a file; the next command ends or undoes it."""
    copy = tmp_path / "copy.zarr"
    kills = 0
    while True:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(store, copy)
        killed = subprocess.run(
            [PROGRAM, "rechunk", copy, "BLOCKSIZE=8,8", "--array=/a"], capture_output=True,
            env=os.environ | {"LD_PRELOAD": str(shim), "KILL_AT": str(kills + 1)}, timeout=60)
        if killed.returncode == 0:
            break
        assert killed.returncode == -9, killed.stderr
        kills += 1
        listed = gdal.OpenEx(str(copy), gdal.OF_MULTIDIM_RASTER).GetRootGroup().GetMDArrayNames()
        assert sorted(name.partition(".")[0] for name in listed)[:1] == ["a"]
        assert "a" not in listed or listed == ["a", "line"]
        run("rechunk", copy, "BLOCKSIZE=8,4", "--array=/a")
        np.testing.assert_array_equal(values(copy, "/a"), DATA)
        assert chunks(copy) == {"/a": [8, 4], "/g/b": [8, 1], "/line": [8]}
        run("repair", copy, "--apply")
        assert not [finding for finding in check(copy, "--read") if finding[0] != "leftover"]
    assert kills > 5


def test_overviews_of_classes_are_no_averages(tmp_path):
    classes = np.random.default_rng(1).choice(np.array([10, 200], "u1"), (64, 64))
    for name in ("made.zarr", "colors.zarr"):
        raster = gdal.GetDriverByName("Zarr").Create(
            str(tmp_path / name), 64, 64, 1, gdal.GDT_Byte)
        raster.GetRasterBand(1).WriteArray(classes)
        if name == "colors.zarr":
            raster.GetRasterBand(1).SetColorTable(gdal.ColorTable())
        else:
            raster.BuildOverviews("nearest", [2])
        del raster
        run("overviews", tmp_path / name, "2")
        raster = gdal.Open(str(tmp_path / name))
        level = raster.GetRasterBand(1).GetOverview(0).ReadAsArray()
        assert sorted(set(level.flat)) == [10, 200]
    assert "none" in failure("overviews", tmp_path / "made.zarr", "--resampling=none")


# --- overviews and benchmark ----------------------------------------------------------------------

def test_overviews(tmp_path):
    path = tmp_path / "r.zarr"
    data = np.arange(1024 * 512, dtype="f4").reshape(1024, 512)
    gdal.GetDriverByName("Zarr").CreateCopy(
        str(path), gdal.GetDriverByName("MEM").CreateCopy("", gdal.GetDriverByName("MEM").Create(
            "", 512, 1024, 1, gdal.GDT_Float32)), options=["ARRAY_NAME=r"])
    dataset = gdal.Open(str(path), gdal.GA_Update)
    dataset.GetRasterBand(1).WriteArray(data)
    dataset = None
    assert run("overviews", path)["levels"] == [2, 4, 8]
    dataset = gdal.Open(str(path), gdal.GA_Update)
    band = dataset.GetRasterBand(1)
    assert band.GetOverview(0).ReadAsArray()[0, 0] == data[:2, :2].mean()
    band.WriteArray(data + 1)
    dataset = None
    assert run("overviews", path, "--resampling=nearest")["levels"] == [2, 4, 8]
    dataset = gdal.Open(str(path))
    assert dataset.GetRasterBand(1).GetOverview(0).ReadAsArray()[0, 0] == data[0, 0] + 1
    dataset = None
    run("overviews", path, "--remove")
    assert gdal.Open(str(path)).GetRasterBand(1).GetOverviewCount() == 0
    assert run("overviews", path, 3)["levels"] == [3]
    assert "levels are numbers" in failure("overviews", path, "x")


def test_overviews_keep_arrays_of_others(store):
    write_array(store / "ovr_2x/mine", DATA * 3, (4, 4))  # in a group without a document
    files = {path: path.read_bytes() for path in (store / "ovr_2x").rglob("*") if path.is_file()}
    (store / "ovr_4x/a").mkdir(parents=True)
    (store / "ovr_4x/a/leftover").write_text("")
    name = f'ZARR:"{store}":/a'
    assert "/ovr_2x: something else than a node exists here" in failure("overviews", name, "2")
    run("overviews", name, "4")
    assert (store / "ovr_4x/a/zarr.json").exists() and not (store / "ovr_4x/a/leftover").exists()
    run("overviews", name, "--remove")
    assert len(files) > 1 and all(path.read_bytes() == text for path, text in files.items())
    assert not (store / "ovr_4x").exists()


def levels_of(path):
    raster = gdal.Open(str(path))
    band = raster.GetRasterBand(1)
    return [band.GetOverview(i).ReadAsArray() for i in range(band.GetOverviewCount())]


@pytest.mark.parametrize("method", ["nearest", "average", "cubic", "gauss"])
@pytest.mark.parametrize("part", ["--window=150,100,60,50", "--bbox=1500,-1500,2100,-1000"])
def test_overviews_of_a_part(tmp_path, part, method):
    """The same as if all were built again, and other chunks are not touched."""
    path = tmp_path / "a.zarr"
    data = np.random.default_rng(2).integers(1, 1000, (517, 301), "u2")
    raster = gdal.GetDriverByName("Zarr").Create(str(path), 301, 517, 1, gdal.GDT_UInt16,
                                                 ["BLOCKSIZE=32,32"])
    raster.SetGeoTransform([0, 10, 0, 0, 0, -10])
    raster.GetRasterBand(1).SetNoDataValue(0)
    raster.WriteArray(data)
    del raster
    run("overviews", path, 2, 4, f"--resampling={method}")
    raster = gdal.Open(str(path), gdal.GA_Update)
    raster.WriteArray(data[:50, :60] + 1000, 150, 100)
    del raster
    chunks_of_levels = [file for file in path.glob("ovr_*/a/*.*") if file.name[0].isdigit()]
    before = {file: file.stat().st_mtime_ns for file in chunks_of_levels}
    outdated = levels_of(path)
    assert run("overviews", path, part)["levels"] == [2, 4]
    changed = {str(file.relative_to(path)) for file in chunks_of_levels
               if file.stat().st_mtime_ns != before[file]}
    refreshed = levels_of(path)
    assert not np.array_equal(refreshed[1], outdated[1])
    run("overviews", path)
    for got, expected in zip(refreshed, levels_of(path)):
        np.testing.assert_array_equal(got, expected)
    if method in ("nearest", "average"):  # pixels 75 to 105 by 50 to 75, and half of that
        assert changed == {f"ovr_2x/a/{row}.{column}" for row in (1, 2) for column in (2, 3)} | {
            f"ovr_4x/a/{row}.1" for row in (0, 1)}
    assert len(changed) < len(before) / 2


def test_overviews_that_are_filled_again_have_the_scale_of_the_raster(tmp_path):
    write_v2(tmp_path / "a.zarr", "a", np.full((8, 8), 10, "i2"), {"scale_factor": 2.0})
    run("overviews", tmp_path / "a.zarr", 2)
    edit_json(tmp_path / "a.zarr/a/.zattrs", scale_factor=3.0)
    run("overviews", tmp_path / "a.zarr", 2)
    raster = gdal.Open(str(tmp_path / "a.zarr"))
    level = raster.GetRasterBand(1).GetOverview(0)
    assert level.GetScale() == 3 and (level.ReadAsArray() == 10).all()


def test_errors_of_overviews_of_a_part(tmp_path):
    path = tmp_path / "a.zarr"
    gdal.GetDriverByName("Zarr").Create(str(path), 64, 64, 1, gdal.GDT_Byte)
    assert "no overviews" in failure("overviews", path, "--window=0,0,9,9")
    run("overviews", path, 2)
    assert "no geotransform" in failure("overviews", path, "--bbox=0,0,9,9")
    assert "no pixel there" in failure("overviews", path, "--window=64,0,9,9")
    assert "not 4 numbers" in failure("overviews", path, "--window=0,0,9")
    assert "exclude" in failure("overviews", path, "--window=0,0,9,9", "--bbox=0,0,9,9")
    assert "all levels" in failure("overviews", path, 2, "--window=0,0,9,9")


def test_benchmark(tmp_path):
    path = tmp_path / "a.zarr"
    write_group(path)
    write_array(path / "a", np.zeros((64, 64, 64), "u1") + 1, (1, 64, 64))
    result = run("benchmark", path)["arrays"][0]
    assert result["series"]["count"] == [64, 1, 1] and result["series"]["chunks"] == 64
    assert result["window"]["chunks"] == result["row"]["chunks"] == 1
    better = result["better_chunk_shape"]
    assert better[0] > 1 and np.prod(better) <= 64 * 64 * 1.01
    assert "would serve all of these better" in output("benchmark", path)


def test_benchmark_is_bounded(tmp_path):
    write_group(tmp_path)
    write_array(tmp_path / "many", np.ones((2,) * 16, "u1"), (1,) * 4 + (2,) * 12)
    write_array(tmp_path / "wide", np.ones((1, 4), "c16"), (1, 4))
    document = json.loads((tmp_path / "wide/zarr.json").read_text())
    document["shape"] = [1, 2**28]
    document["chunk_grid"]["configuration"]["chunk_shape"] = [1, 2**20]
    (tmp_path / "wide/zarr.json").write_text(json.dumps(document))
    shutil.rmtree(tmp_path / "wide/c")
    many, wide = run("benchmark", tmp_path)["arrays"]
    assert "better_chunk_shape" not in many
    assert "row" not in wide and wide["window"]["count"] == [1, 512]


# --- Icechunk -------------------------------------------------------------------------------------

@pytest.fixture(params=["1", "2"])
def repository(request, tmp_path):
    path = tmp_path / "repo"
    source = gdal.GetDriverByName("MEM").Create("", 8, 8, 1, gdal.GDT_Int32)
    source.GetRasterBand(1).WriteArray(DATA)
    gdal.GetDriverByName("Zarr").CreateCopy(f"ICECHUNK:{path}", source, options=[
        "ARRAY_NAME=a", "COMMIT_MESSAGE=first", f"ICECHUNK_FORMAT={request.param}"])
    return path


def change(repository, number, *options):
    dataset = gdal.OpenEx(f"ICECHUNK:{repository}", gdal.OF_UPDATE | gdal.OF_RASTER,
                          open_options=[f"COMMIT_MESSAGE=change {number}", *options])
    dataset.GetRasterBand(1).WriteArray(DATA + number)
    return dataset


def names(refs):
    return [ref["name"] for ref in refs]


def age(path):
    for file in path.rglob("*"):
        if file.is_file():
            os.utime(file, (1, 1))


def test_unreferenced_files_are_removed(repository):
    run("tag", repository, "--create", "v1")
    change(repository, 1).FlushCache()
    reached = {file for file in repository.rglob("*") if file.is_file()}
    dataset = change(repository, 2, "COMMIT=NO")
    dataset.FlushCache()
    dataset = None  # the changes are dropped, their chunks stay
    chunk = repository / "chunks" / ("0" * 20)
    chunk.parent.mkdir(exist_ok=True)
    chunk.write_bytes(b"x")
    (repository / "chunks/notes.txt").write_text("no file of Icechunk")
    assert run("repair", repository, "--apply")["actions"] == []  # all are young
    age(repository)
    planned = run("repair", repository)
    assert f"chunks/{chunk.name}" in [action["place"] for action in planned["actions"]]
    assert chunk.exists()
    assert run("repair", repository, "--apply")["actions"] == planned["actions"]
    left = {file for file in repository.rglob("*") if file.is_file()}
    assert left - {repository / "chunks/notes.txt"} >= reached and not chunk.exists()
    np.testing.assert_array_equal(values(f"ICECHUNK:{repository}", "/a"), DATA + 1)
    np.testing.assert_array_equal(values(f"ICECHUNK:{repository}?tag=v1", "/a"), DATA)
    assert run("repair", repository, "--apply")["actions"] == []
    assert "number of days" in failure("repair", repository, "--older-than=x")


def test_rechunk_is_one_commit(repository):
    before = len(run("log", repository)["snapshots"])
    run("rechunk", repository, "BLOCKSIZE=4,2")
    snapshots = run("log", repository)["snapshots"]
    assert len(snapshots) == before + 1 and snapshots[0]["message"].endswith(": rechunk /a")
    assert chunks(repository) == {"/a": [4, 2]}
    np.testing.assert_array_equal(values(f"ICECHUNK:{repository}", "/a"), DATA)


# --- conventions ----------------------------------------------------------------------------------

def test_conventions(tmp_path):
    path = tmp_path / "a.zarr"
    write_group(path, {"multiscales": {"layout": [{"asset": "a"}, {"asset": "level1"}]},
                       "proj:code": 4326})
    write_array(path / "crs", np.int32(0))
    sound = {"grid_mapping": "crs", "_ARRAY_DIMENSIONS": ["y", "x"], "coordinates": "lat"}
    write_array(path / "a", DATA, attributes=sound | {"spatial:transform": [1, 0, 0, 0, 1, 0]})
    write_array(path / "lat", DATA)
    write_array(path / "x", DATA[0])
    write_array(path / "g", DATA, attributes=sound | {"grid_mapping": "other: x lat"})
    write_array(path / "d", DATA, attributes=sound | {"_ARRAY_DIMENSIONS": ["x"]})
    write_array(path / "short", DATA[:, :4], attributes=sound | {"spatial:bbox": [1, 2]})
    problems = [(finding["place"], finding["problem"]) for finding in run(
        "check", path, code=1)["findings"]]
    assert problems == [
        ("d", "_ARRAY_DIMENSIONS has 1 names, and the array 2 dimensions"),
        ("g", "its grid_mapping names other, which does not exist"),
        ("short", "spatial:bbox is not an array of 4 or 6 numbers"),
        ("short", "its dimension x has 4 elements, and the coordinates of this name 8"),
        ("", "proj:code is not a text such as EPSG:4326"),
        ("", "its multiscales name level1, which does not exist")]
