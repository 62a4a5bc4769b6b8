"""The commands of the program gdal_zarr, and of `gdal driver zarr` where GDAL has it."""
import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import numcodecs
import numpy as np
import pytest
import zarr
from osgeo import gdal
from stores import BYTES, CRC32C, GZIP, ZSTD, crc32c, edit_json, sharding, write_array, write_group
from test_fixtures import ENTRIES, FIXTURES
from v2_stores import write_v2

PROGRAM = Path(os.environ["GDAL_DRIVER_PATH"]) / "gdal_zarr"
HAS_ALGORITHMS = hasattr(gdal, "Run")
DATA = np.arange(64, dtype="i4").reshape(8, 8) + 1
STORES = sorted({entry["store"] for entry in ENTRIES})


def run(*words, code=0):
    """The result of a command as JSON."""
    result = subprocess.run([PROGRAM, *map(str, words), "--json"], capture_output=True, text=True,
                            timeout=120)
    assert result.returncode == code, result.stderr
    return json.loads(result.stdout)


def failure(*words):
    """The message of a command that fails."""
    result = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True,
                            timeout=120)
    assert result.returncode == 2 and result.stdout == ""
    return result.stderr


def check(path, *options):
    """What check finds: the kind of each finding, and its place."""
    result = subprocess.run([PROGRAM, "check", str(path), "--json", *options],
                            capture_output=True, text=True, timeout=120)
    findings = json.loads(result.stdout)["findings"]
    assert result.returncode == (1 if findings else 0), result.stderr
    return [(finding["kind"], finding["place"]) for finding in findings]


def values(path, name):
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArrayFromFullname(name).ReadAsArray()


@pytest.fixture
def store(tmp_path):
    """With consolidated metadata of zarr-python's kind: a plain array, a sharded one, and one in a
    group."""
    path = tmp_path / "a.zarr"
    write_group(path)
    write_group(path / "g")
    write_array(path / "plain", DATA, (4, 4), [BYTES, GZIP, CRC32C])
    write_array(path / "shards", DATA, (4, 4), [sharding((2, 2), [BYTES, ZSTD, CRC32C])])
    write_array(path / "g/inner", DATA, (4, 4))
    run("consolidate", path)
    return path


@pytest.mark.parametrize("store", STORES)
def test_valid_stores_have_no_damage(store):
    """Those of other implementations, all chunks of which are decoded."""
    assert check(FIXTURES / store, "--read") == []


def test_a_sound_store(store):
    assert check(store, "--read") == []
    info = run("info", store)
    assert info["format"] == "Zarr v3" and info["consolidated"] and info["groups"] == ["/", "/g"]
    arrays = {array["path"]: array for array in info["arrays"]}
    assert arrays["/plain"]["stored_chunks"] == arrays["/plain"]["chunks"] == 4
    assert arrays["/plain"]["decoded_bytes"] == DATA.nbytes
    stored = sum(file.stat().st_size for file in (store / "plain/c").rglob("*") if file.is_file())
    assert arrays["/plain"]["stored_bytes"] == stored
    assert arrays["/plain"]["compression_ratio"] == pytest.approx(DATA.nbytes / stored)
    assert arrays["/shards"]["stored_inner_chunks"] == 16
    assert arrays["/shards"]["inner_chunk_shape"] == [2, 2]


def test_missing_chunks_are_counted(store):
    (store / "plain/c/1/1").unlink()
    result = run("check", store)
    assert result["findings"] == []
    assert {array["path"]: array["missing"] for array in result["arrays"]} == {
        "/g/inner": 0, "/plain": 1, "/shards": 0}


def test_broken_documents(store):
    (store / "plain/zarr.json").write_text("{")
    edit_json(store / "shards/zarr.json", shape="large")
    kinds = check(store)
    assert [item for item in kinds if item[0] == "document"] == [
        ("document", "plain"), ("document", "shards")]


def test_a_broken_root(store):
    (store / "zarr.json").write_text("{")
    assert check(store) == [("document", "")]


def test_unknown_codecs(store):
    edit_json(store / "plain/zarr.json", codecs=[BYTES, {"name": "made_up"}])
    assert ("document", "plain") in check(store)


def test_outdated_copies(store):
    edit_json(store / "g/zarr.json", attributes={"title": "new"})
    assert check(store) == [("copy", "zarr.json")]
    shutil.rmtree(store / "plain")
    assert len(check(store)) == 2
    write_array(store / "g/other", DATA, (4, 4))
    assert len(check(store)) == 3


def test_broken_chunks(store):
    chunk = store / "plain/c/0/1"
    data = bytearray(chunk.read_bytes())
    data[-1] ^= 1
    chunk.write_bytes(data)
    shard = store / "shards/c/1/0"
    data = bytearray(shard.read_bytes())
    data[1] ^= 1  # of the first inner chunk
    shard.write_bytes(data)
    assert check(store) == []  # nothing was decoded
    assert check(store, "--read") == [("chunk", "plain/c/0/1"), ("chunk", "shards/c/1/0")]


def with_index(shard, change):
    """A shard whose index of four entries, without its checksum, is changed."""
    data = bytearray(shard.read_bytes())
    index = np.frombuffer(bytes(data[-68:-4]), "<u8").reshape(4, 2).copy()
    change(index)
    return bytes(data[:-68]) + index.tobytes() + crc32c(index.tobytes()).to_bytes(4, "little")


def test_shard_indexes(store):
    shards = store / "shards/c"
    outside = shards / "0/0"
    outside.write_bytes(with_index(outside, lambda index: index.__setitem__((0, 0), 1 << 40)))
    overlapping = shards / "0/1"
    overlapping.write_bytes(with_index(overlapping, lambda index: index.__setitem__(
        (1, 0), index[0, 0] + 1)))
    short = shards / "1/0"
    short.write_bytes(short.read_bytes()[:20])
    flipped = shards / "1/1"
    flipped.write_bytes(flipped.read_bytes()[:-1] + b"x")
    assert check(store) == [("index", f"shards/c/{name}") for name in ("0/0", "0/1", "1/0", "1/1")]


def leave_temporary_file(folder):
    """As a program does that is killed while it writes a chunk."""
    file = folder / ".1.2.zarr-partial"
    file.write_bytes(b"half")
    os.utime(file, (1, 1))  # long ago
    return file


def test_repair(store):
    """What is certain is mended, and what is listed before is what is done."""
    (store / "plain/c/2").mkdir()
    shutil.copy(store / "plain/c/0/0", store / "plain/c/2/0")
    edit_json(store / "g/zarr.json", attributes={"title": "new"})
    leftover = leave_temporary_file(store / "plain/c/0")
    before = sorted(check(store))
    assert before == [("copy", "zarr.json"), ("leftover", "plain/c/0/" + leftover.name),
                      ("leftover", "plain/c/2/0")]
    planned = run("repair", store, code=1)
    assert not planned["applied"] and sorted(check(store)) == before
    done = run("repair", store, "--apply")
    assert done["actions"] == planned["actions"] and len(done["actions"]) == 3
    assert check(store, "--read") == []
    assert run("repair", store, "--apply")["actions"] == []
    np.testing.assert_array_equal(values(store, "/plain"), DATA)
    copy = json.loads((store / "zarr.json").read_text())["consolidated_metadata"]["metadata"]
    assert copy["g"]["attributes"]["title"] == "new"


def test_repair_leaves_what_is_not_certain(store):
    (store / "plain/zarr.json").write_text("{")
    chunk = (store / "plain/c/0/0").read_bytes()
    result = run("repair", store, "--apply", code=1)
    assert result["left"] == 2  # the document, and the copy that may be the only good one
    assert (store / "plain/zarr.json").read_text() == "{"
    assert (store / "plain/c/0/0").read_bytes() == chunk


def test_owed_copies(store):
    """A program was killed between a change and the end of it."""
    root = json.loads((store / "zarr.json").read_text())
    del root["consolidated_metadata"]
    (store / "zarr.json").write_text(json.dumps(root))
    (store / ".zarr-consolidation-owed").write_text('{"groups": [""], "writer": "x"}')
    assert check(store) == [("copy", "")]
    run("repair", store, "--apply")
    assert check(store) == [] and run("info", store)["consolidated"]


def test_foreign_files(store):
    (store / "README.txt").write_text("about")
    result = run("check", store)
    assert result["findings"] == []
    assert result["foreign_values"] == 1
    assert result["first_foreign_values"] == ["README.txt"]


def test_unconsolidate(store):
    assert run("unconsolidate", store)["groups"] == [""]
    assert "consolidated_metadata" not in json.loads((store / "zarr.json").read_text())
    assert not run("info", store)["consolidated"]
    assert check(store, "--read") == []
    assert not list(store.glob(".zarr-*"))


V2_ARRAYS = {
    "plain": {"compressor": None},
    "blosc": {"compressor": numcodecs.Blosc("zstd", 3, numcodecs.Blosc.BITSHUFFLE)},
    "auto": {"compressor": numcodecs.Blosc(shuffle=-1)},
    "zlib": {"compressor": numcodecs.Zlib(1), "dimension_separator": "/"},
    "gzip": {"compressor": numcodecs.GZip(1), "order": "F"},
    "zstd": {"compressor": numcodecs.Zstd(1), "fill_value": None},
    "delta": {"compressor": numcodecs.LZ4(), "filters": [numcodecs.Delta("<i4")]},
    "shuffle": {"compressor": numcodecs.BZ2(), "filters": [numcodecs.Shuffle(4)]},
}


@pytest.fixture
def v2_store(tmp_path):
    path = tmp_path / "v2.zarr"
    for name, options in V2_ARRAYS.items():
        write_v2(path, name, DATA, {"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m"}, chunks=(4, 4),
                 **options)
    write_v2(path, "g/big", DATA.astype(">f8"), chunks=(3, 5))
    write_v2(path, "g/text", np.array([["a", "bc"]], "U2"), chunks=(1, 1))
    return path


def chunks_of(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*")
            if file.is_file() and not file.name.startswith(".z") and file.name != "zarr.json"}


def test_migrate(v2_store):
    before = chunks_of(v2_store)
    planned = run("migrate", v2_store)
    assert not planned["applied"] and not list(v2_store.rglob("zarr.json"))
    assert run("migrate", v2_store, "--apply")["nodes"] == planned["nodes"] == len(V2_ARRAYS) + 4
    assert not list(v2_store.rglob(".z*"))
    assert chunks_of(v2_store) == before
    assert run("info", v2_store)["format"] == "Zarr v3"
    assert check(v2_store, "--read") == []
    for name in V2_ARRAYS:
        np.testing.assert_array_equal(values(v2_store, "/" + name), DATA)
    np.testing.assert_array_equal(values(v2_store, "/g/big"), DATA)
    document = json.loads((v2_store / "blosc/zarr.json").read_text())
    assert document["dimension_names"] == ["y", "x"]
    assert document["attributes"] == {"units": "m", "_FillValue": 0}
    assert document["chunk_key_encoding"] == {"name": "v2", "configuration": {"separator": "."}}
    assert document["codecs"][-1]["configuration"]["shuffle"] == "bitshuffle"


def test_migrate_of_archives_parts_and_times(v2_store):
    times = np.arange(4).astype("M8[s]")
    write_v2(v2_store, "time", times, {"_ARRAY_DIMENSIONS": ["time"]}, chunks=(2,), fill_value=0)
    archive = shutil.make_archive(str(v2_store.with_name("packed")), "zip", v2_store)
    run("migrate", archive, "--apply")
    assert run("info", archive)["format"] == "Zarr v3"
    assert check(archive, "--read") == []
    np.testing.assert_array_equal(values(archive, "/gzip"), DATA)
    with zipfile.ZipFile(archive) as opened:
        assert not [name for name in opened.namelist() if "partial" in name or ".z" in name]
    assert "is part of the store" in failure("migrate", v2_store / "g", "--apply")
    run("migrate", v2_store, "--apply")
    assert "_FillValue" not in json.loads((v2_store / "time/zarr.json").read_text())["attributes"]


@pytest.mark.skipif(not hasattr(zarr, "config"), reason="needs zarr-python 3")
def test_zarr_python_reads_what_was_migrated(v2_store):
    run("migrate", v2_store, "--apply")
    group = zarr.open_group(str(v2_store), mode="r", zarr_format=3)
    for name in V2_ARRAYS:
        np.testing.assert_array_equal(group[name][...], DATA)
    np.testing.assert_array_equal(group["g/big"][...], DATA)


@pytest.mark.parametrize("dtype, filter_dtype, problem", [
    (">i4", ">i4", "big-endian"), ("<f4", "<i4", "elements of another type"),
    ("<i4", "<i2", "elements of 2 bytes where there are .* of 4")])
def test_what_v3_cannot_have_is_an_error_before_any_change(v2_store, dtype, filter_dtype, problem):
    write_v2(v2_store, "g/bad", DATA.astype(dtype), chunks=(4, 4),
             filters=[numcodecs.Delta(filter_dtype)])
    before = {file: file.read_bytes() for file in v2_store.rglob("*") if file.is_file()}
    message = failure("migrate", v2_store, "--apply")
    assert "/g/bad" in message and "nothing was changed" in message
    assert re.search(problem, message)
    assert {file: file.read_bytes() for file in v2_store.rglob("*") if file.is_file()} == before


def test_errors_of_use(tmp_path, store):
    assert "there is no command chek" in failure("chek", store)
    assert "--raed" in failure("check", store, "--raed")
    assert "store is missing" in failure("check")
    assert "one argument too many" in failure("check", store, "b")
    assert "takes no value" in failure("check", store, "--read=1")
    assert "b.zarr" in failure("check", tmp_path / "b.zarr")
    assert "not Zarr v1, Zarr v2 or the draft" in failure("migrate", store)
    assert failure() != ""


def output(*words, code=0):
    result = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True,
                            timeout=120)
    assert result.returncode == code, result.stderr
    return result.stdout


def test_help_and_completion(store):
    listed = output("--help")
    for command in output("completion", "").split():
        assert f"  {command} " in listed
        assert output(command, "--help").startswith(f"gdal_zarr {command} store")
    assert output("completion", "ch") == "check\n"
    assert "--read\n" in output("completion", "check", str(store), "--r")
    assert "gdal-zarr" in output("--version")


def test_texts(store):
    text = output("check", store, "--quiet")
    assert text.endswith("No damage was found.\n") and "/plain: 4 of 4 chunks" in text
    text = output("info", store)
    lines = text.splitlines()
    assert lines[0] == f"{store}: Zarr v3, consolidated, 2 groups, 3 arrays"
    assert [line for line in lines[1:] if not line.endswith(")")] == [
        "/",
        "  g/",
        "    inner  int32  8 x 8 in chunks of 4 x 4",
        "  plain  int32  8 x 8 in chunks of 4 x 4",
        "  shards  int32  8 x 8 in chunks of 4 x 4 of 2 x 2",
    ]
    run("unconsolidate", store)
    shutil.rmtree(store / "g")
    shutil.rmtree(store / "plain")
    text = output("info", store)
    assert text.startswith(f"{store}: Zarr v3, not consolidated, 1 group, 1 array\n")


def test_the_order_of_nodes(tmp_path):
    """What is in a group follows it, whatever other names there are."""
    path = tmp_path / "a.zarr"
    for group in ("", "a", "a/b", "a-b"):
        write_group(path / group)
    write_array(path / "a/b/c", DATA, (4, 4))
    lines = output("info", path).splitlines()[1:]
    assert [line for line in lines if ";" not in line] == [
        "/", "  a/", "    b/", "      c  int32  8 x 8 in chunks of 4 x 4", "  a-b/"]


def test_sources_of_crs_and_position():
    data = Path(__file__).resolve().parents[2] / "data"
    arrays = run("info", data / "geoid_v3_sharded.zarr")["arrays"]
    assert {array["path"]: array["georeferencing"] for array in arrays
            if "georeferencing" in array} == {
        "/geoid": {"crs": 'the grid mapping "crs"', "crs_name": "WGS 84",
                   "geotransform": "coordinates of lon and lat"}}
    assert ('CRS WGS 84 from the grid mapping "crs"; position from coordinates of lon and lat\n'
            in output("info", data / "geoid_v3_sharded.zarr"))


def in_terminal(*words):
    """What a command prints to a terminal."""
    main, end = os.openpty()
    command = [PROGRAM, *map(str, words)]
    with subprocess.Popen(command, stdout=end, stderr=subprocess.PIPE):
        os.close(end)
        text = b""
        while True:
            try:
                part = os.read(main, 4096)
            except OSError:  # the end, on Linux
                break
            if not part:
                break
            text += part
    os.close(main)
    return text.decode()


def test_progress(store):
    """On terminals only, and not for what takes no time."""
    assert in_terminal("check", store).startswith("0...10")
    for words in (("check", store, "--quiet"), ("check", store, "--json"), ("info", store),
                  ("consolidate", store)):
        assert "100 - done" not in in_terminal(*words)
    assert "100 - done" not in output("check", store)


@pytest.mark.skipif(not HAS_ALGORITHMS, reason="needs GDAL 3.11")
def test_algorithms(store):
    result = json.loads(
        gdal.Run("driver", "zarr", "check", store=str(store), json=True)["output-string"])
    assert result["findings"] == []
    edit_json(store / "g/zarr.json", attributes={"title": "new"})
    printed = subprocess.run(["gdal", "driver", "zarr", "check", store], capture_output=True,
                             text=True, timeout=120)
    assert printed.returncode == 1 and printed.stdout.count("copy /zarr.json") == 1
    assert printed.stdout.endswith("1 finding.\n") and printed.stderr.count("findings") == 1
    with pytest.raises(RuntimeError, match="findings"):
        gdal.Run("driver", "zarr", "check", store=str(store))
    gdal.Run("driver", "zarr", "repair", store=str(store), apply=True)
    assert check(store) == []
