"""Stores of v1 and of the draft of 2020 become stores of v3, as other readers see them, and keep
their bytes."""
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import zarr
from osgeo import gdal
from stores import edit_json, write_json
from test_commands import DATA, check, failure, output, run, values
from test_fixtures import ENTRIES, FIXTURES
from test_write_readers import read_zarrita
from v2_stores import write_v2

IS_ZARR_3 = hasattr(zarr, "config")
OLD = [entry for entry in ENTRIES if entry["store"].startswith(("stores/v1_", "stores/draft3_"))]
# Codecs that v3 has without numcodecs, for readers that have no others.
COMMON = [entry for entry in ENTRIES if entry["store"].removeprefix("stores/") in [
    "v1_blosc.zarr", "v1_none.zarr", "draft3_zarr213.zarr", "draft3_blosc_F.zarr",
    "draft3_gdal36.zarr", "v2_c_gzip.zarr", "v2_c_zstd.zarr", "v2_blosc_lz4_2.zarr",
    "v2_order_F.zarr", "v2_be_f8.zarr", "v2_nested_sep.zarr"]]
each_store = pytest.mark.parametrize("entry", OLD, ids=lambda entry: entry["store"][7:-5])
each_common = pytest.mark.parametrize("entry", COMMON, ids=lambda entry: entry["store"][7:-5])


def copy_of(entry, folder):
    return shutil.copytree(FIXTURES / entry["store"], folder / "a.zarr")


def expected(entry):
    return np.load(FIXTURES / entry["expected"])


def full_name(path, entry):
    """The name of the array for GDAL, which calls one at the root as its store."""
    return "/a" if entry["array"] == "/" else entry["array"]


def files(path):
    return {file.relative_to(path).as_posix(): file.read_bytes()
            for file in path.rglob("*") if file.is_file()}


def chunks(path):
    """Their bytes: of stores whose documents have these names."""
    return sorted(data for name, data in files(path).items()
                  if not name.endswith((".json", "attrs", "meta")))


@each_store
def test_older_versions(tmp_path, entry):
    path = copy_of(entry, tmp_path)
    before = files(path)
    planned = run("migrate", path)
    assert not planned["applied"] and files(path) == before
    assert run("migrate", path, "--apply")["nodes"] == planned["nodes"] >= 1
    info = run("info", path)
    assert info["format"] == "Zarr v3" and check(path, "--read") == []
    assert run("check", path)["foreign_values"] == 0
    np.testing.assert_array_equal(values(path, full_name(path, entry)), expected(entry))
    assert chunks(path) == chunks(FIXTURES / entry["store"])
    assert {name.rsplit("/")[-1] for name in files(path) if name.endswith("json")} == {"zarr.json"}
    assert not {"meta", "attrs"} & {file.name for file in path.rglob("*")}
    assert "is Zarr v3, not Zarr v1" in failure("migrate", path)
    document = json.loads((path / entry["array"].strip("/") / "zarr.json").read_text())
    assert entry.get("attributes", {}).items() <= document["attributes"].items()


@each_store
def test_copies(tmp_path, entry):
    """The old store stays, and the new one is what migration in place makes of it."""
    path = copy_of(entry, tmp_path)
    before = files(path)
    for name in ("b.zarr", "c.zarr.zip"):
        planned = run("migrate", path, "--copy", tmp_path / name, "--dry-run")
        assert not planned["applied"] and not (tmp_path / name).exists()
        assert run("migrate", path, "--copy", tmp_path / name)["applied"]
        assert check(tmp_path / name, "--read") == []
    assert files(path) == before
    run("migrate", path, "--apply")
    assert files(tmp_path / "b.zarr") == files(path)
    shutil.unpack_archive(tmp_path / "c.zarr.zip", tmp_path / "unpacked")
    assert files(tmp_path / "unpacked") == files(path)


@pytest.mark.skipif(not IS_ZARR_3, reason="needs zarr-python 3")
@each_store
def test_zarr_python_reads_them(tmp_path, entry):
    path = copy_of(entry, tmp_path)
    run("migrate", path, "--apply")
    array = zarr.open_array(str(path / entry["array"].strip("/")), mode="r", zarr_format=3)
    np.testing.assert_array_equal(array[...], expected(entry))


@each_common
def test_zarrita_reads_them(tmp_path, entry):
    path = copy_of(entry, tmp_path)
    run("migrate", path, "--apply")
    got = read_zarrita(path, entry["array"])[0][entry["array"]]
    np.testing.assert_array_equal(got, expected(entry))


BUILTIN = """
import sys
from osgeo import gdal
gdal.UseExceptions()
root = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER).GetRootGroup()
name = root.GetMDArrayNames()[0] if sys.argv[2] == "/" else sys.argv[2]
sys.stdout.buffer.write(root.OpenMDArrayFromFullname("/" + name.strip("/")).ReadAsArray().tobytes())
"""


@pytest.mark.skipif(int(gdal.VersionInfo()) < 3130000,
                    reason="needs Zarr v3 of the built-in driver")
@each_common
def test_the_builtin_driver_reads_them(tmp_path, entry):
    path = copy_of(entry, tmp_path)
    run("migrate", path, "--apply")
    result = subprocess.run([sys.executable, "-c", BUILTIN, str(path), entry["array"]],
                            env=os.environ | {"GDAL_DRIVER_PATH": "disable"}, timeout=120,
                            capture_output=True, check=True)
    want = expected(entry)
    assert result.stdout == want.astype(want.dtype.newbyteorder("=")).tobytes()


# --- The draft -----------------------------------------------------------------------------------

@pytest.fixture
def draft(tmp_path):
    return shutil.copytree(FIXTURES / "stores/draft3_zarr213.zarr", tmp_path / "a.zarr")


def add_draft_array(path, name, data, chunk, separator="/"):
    """One chunk, at this name."""
    write_json(path / f"meta/root/{name}.array.json", {
        "shape": data.shape, "data_type": data.dtype.str, "fill_value": 0, "extensions": [],
        "chunk_grid": {"type": "regular", "chunk_shape": data.shape, "separator": separator},
        "chunk_memory_layout": "C", "attributes": {}})
    file = path / f"data/root/{name}/{chunk}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.tobytes())


def test_keys_of_the_draft(draft):
    add_draft_array(draft, "dots", DATA, "c0.0", ".")
    add_draft_array(draft, "line", DATA[0], "c0")
    add_draft_array(draft, "meta", DATA, "c0/0")  # a name that folders of the draft have
    add_draft_array(draft, "data", np.array(5, "<i4"), "c0")
    (draft / "data/root/line/notes.txt").write_text("of nobody")
    run("migrate", draft, "--apply")
    assert check(draft, "--read") == []
    names = set(files(draft))
    assert {"dots/c.0.0", "line/c/0", "meta/c/0/0", "data/c", "grp/arr/c/2/2"} <= names
    assert (draft / "data/root/line/notes.txt").exists()
    for name, data in {"dots": DATA, "line": DATA[0], "meta": DATA, "data": 5}.items():
        np.testing.assert_array_equal(values(draft, "/" + name), data)


def test_what_the_draft_has_and_v3_has_not(draft):
    before = files(draft)

    def fails(message):
        changed = files(draft)
        text = failure("migrate", draft, "--apply")
        assert message in text and "nothing was changed" in text
        assert files(draft) == changed
        shutil.rmtree(draft)
        for name, data in before.items():
            (draft / name).parent.mkdir(parents=True, exist_ok=True)
            (draft / name).write_bytes(data)

    add_draft_array(draft, "grp/arr/below", DATA, "c0/0")
    fails("no nodes below an array")
    (draft / "grp/arr").mkdir(parents=True)
    (draft / "grp/arr/zarr.json").write_text("{}")
    fails("those of other values")
    (draft / "grp/arr/c").mkdir(parents=True)
    (draft / "grp/arr/c/7").write_text("x")
    fails("those of other values")
    add_draft_array(draft, "meta/root", DATA, "c0/0")
    fails("those of other values")
    add_draft_array(draft, "__x", DATA, "c0/0")
    fails("reserves the prefix __")
    edit_json(draft / "meta/root/grp/arr.array.json", data_type="|O")
    fails("/grp/arr")


def test_a_plan_that_is_damaged(draft):
    """It is an error, as is the store for all readers meanwhile."""
    for documents in (None, {}, {"zarr.json": {}, "a/zarr.json": {}}):
        plan = {"documents": documents, "moves": {}, "old_documents": []}
        write_json(draft / "zarr.json", {
            "zarr_format": "interrupted: run gdal_zarr migrate --apply again",
            "gdal_zarr_migration": plan})
        assert "damaged" in failure("migrate", draft, "--apply")
    assert check(draft) == [("document", "")]
    assert "run gdal_zarr migrate --apply again" in output("check", draft, code=1)


# --- Files with the names of documents -----------------------------------------------------------

def test_files_that_v1_does_not_own_stay(tmp_path):
    """v1 has names that other files have as well."""
    path = shutil.copytree(FIXTURES / "stores/v1_none.zarr", tmp_path / "a.zarr")
    document = (path / "meta").read_text()
    run("migrate", path, "--apply")
    for text in ("of a museum", document.replace("25", "26")):
        (path / "meta").write_text(text)
        assert "is Zarr v3, not" in failure("migrate", path, "--apply")
        assert (path / "meta").read_text() == text
    (path / "meta").write_text(document)  # as a command leaves it that was killed
    assert run("migrate", path, "--apply")["continued"] and not (path / "meta").exists()


def test_names_that_v3_cannot_have(tmp_path):
    write_v2(tmp_path / "a.zarr", "g/__a", DATA)
    before = files(tmp_path)
    text = failure("migrate", tmp_path / "a.zarr", "--apply")
    assert "/g/__a" in text and "reserves the prefix __" in text and "nothing was changed" in text
    assert files(tmp_path) == before


def test_copies_have_all_but_old_documents(tmp_path):
    write_v2(tmp_path / "a.zarr", "g/a", DATA, chunks=(4, 4))
    (tmp_path / "a.zarr/g/README").write_text("of nobody")
    run("consolidate", tmp_path / "a.zarr")
    run("migrate", tmp_path / "a.zarr", "--copy", tmp_path / "b.zarr")
    assert run("info", tmp_path / "b.zarr")["consolidated"]
    names = set(files(tmp_path / "b.zarr"))
    assert names == {"zarr.json", "g/zarr.json", "g/a/zarr.json", "g/README",
                     *(f"g/a/{chunk}" for chunk in ("0.0", "0.1", "1.0", "1.1"))}
    np.testing.assert_array_equal(values(tmp_path / "b.zarr", "/g/a"), DATA)
    assert "already exists" in failure(
        "migrate", tmp_path / "a.zarr", "--copy", tmp_path / "b.zarr")
    assert "rechunk --into" in failure(
        "migrate", tmp_path / "a.zarr", "--copy", f"ICECHUNK:{tmp_path}/c")
