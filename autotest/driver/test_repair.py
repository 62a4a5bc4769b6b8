"""What gdal_zarr repair must not lose, and migrations that were interrupted."""
import json
import subprocess

import numcodecs
import numpy as np
import pytest
from osgeo import gdal
from stores import BYTES, crc32c, edit_json, sharding, write_array, write_group
from test_commands import DATA, PROGRAM, check, failure, leave_temporary_file, run, values
from v2_stores import write_v2


@pytest.fixture
def store(tmp_path):
    path = write_group(tmp_path / "a.zarr")
    write_group(path / "g")
    write_array(path / "plain", DATA, (4, 4))
    write_array(path / "g/inner", DATA, (4, 4))
    run("consolidate", path)
    return path


def files(path):
    return {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_nan_in_attributes(tmp_path):
    """xarray writes it as a bare word: a copy of it is equal to it."""
    (tmp_path / ".zgroup").write_text('{"zarr_format": 2}')
    (tmp_path / ".zattrs").write_text('{"missing_value": NaN}')
    run("consolidate", tmp_path)
    assert "NaN" in (tmp_path / ".zmetadata").read_text()
    assert check(tmp_path) == []


def test_the_only_good_copy_stays(store):
    """Of a node whose own document is broken."""
    document = store / "plain/zarr.json"
    document.write_text(document.read_text()[:50])
    before = files(store)
    result = run("repair", store, "--apply", code=1)
    assert result["actions"] == [] and result["left"] == 2
    assert files(store) == before


def test_chunks_that_a_copy_still_counts_stay(store):
    """A document with another shape than the consolidated metadata: either may be wrong."""
    edit_json(store / "plain/zarr.json", shape=[4, 8])
    before = files(store)
    assert [kind for kind, _ in check(store)] == ["copy", "leftover"]
    assert run("repair", store, "--apply", code=1)["actions"] == []
    assert files(store) == before


def test_nothing_is_removed_from_what_cannot_be_written(tmp_path):
    """From N5, which is read only."""
    path = tmp_path / "a.n5"
    for name in ("0/0", "2/0"):
        (path / name).parent.mkdir(parents=True)
        (path / name).write_bytes(bytes.fromhex("0000 0002 00000004 00000004") + bytes(64))
    (path / "attributes.json").write_text(json.dumps({
        "n5": "2.0.0", "dimensions": [8, 8], "blockSize": [4, 4], "dataType": "int32",
        "compression": {"type": "raw"}}))
    leave_temporary_file(path / "0")
    before = files(path)
    assert len(check(path)) == 2
    assert "cannot be written" in failure("repair", path, "--apply")
    assert files(path) == before


@pytest.mark.parametrize("command", ["repair", "migrate"])
def test_contradictory_options(store, command):
    before = files(store)
    assert "exclude each other" in failure(command, store, "--apply", "--dry-run")
    assert files(store) == before


def test_options_of_gdal_that_are_wrong(store):
    """Their exit code is not that of damage."""
    result = subprocess.run([PROGRAM, "check", store, "--config"], capture_output=True, timeout=120)
    assert result.returncode == 2


def test_an_array_that_grows_meanwhile(server, store):
    """Its new chunks are not those that were outside when the store was examined."""
    document = json.loads((store / "plain/zarr.json").read_text())
    edit_json(store / "plain/zarr.json", shape=[4, 8])
    run("consolidate", store)
    server.load(store, "a.zarr")
    listed = []

    def grow(method, path):
        if "prefix=" in path and "delimiter=" not in path:  # all values are listed
            listed.append(path)
            server.objects["a.zarr/plain/zarr.json"] = json.dumps(document).encode()

    server.fail = grow
    result = run("repair", "/vsis3/bucket/a.zarr", "--apply")
    assert listed and len(result["actions"]) == 2
    assert {key for key in server.objects if key.startswith("a.zarr/plain/c/")} == {
        f"a.zarr/plain/c/{i}/{j}" for i in (0, 1) for j in (0, 1)}


@pytest.mark.parametrize("command", [["consolidate"], ["repair", "--apply"]])
def test_outdated_copies_of_an_object_store(server, store, command):
    """They are made again from the documents, not from what they were."""
    edit_json(store / "g/zarr.json", attributes={"title": "new"})
    server.load(store, "a.zarr")
    run(*command, "/vsis3/bucket/a.zarr")
    root = json.loads(server.objects["a.zarr/zarr.json"])
    assert root["consolidated_metadata"]["metadata"]["g"]["attributes"] == {"title": "new"}
    assert check("/vsis3/bucket/a.zarr") == []


# --- migrate --------------------------------------------------------------------------------------


def test_nodata_of_v2_stays(tmp_path):
    """A fill value of zero is nodata in v2, but not in v3."""
    for name, options in {"zero": {"fill_value": 0}, "other": {"fill_value": -1},
                          "none": {"fill_value": None}}.items():
        write_v2(tmp_path / "a.zarr", name, DATA, chunks=(4, 4), **options)
    write_v2(tmp_path / "a.zarr", "float", DATA.astype("f4"), chunks=(4, 4), fill_value=0.0)

    def nodata():
        root = gdal.OpenEx(str(tmp_path / "a.zarr"), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        return {name: root.OpenMDArray(name).GetNoDataValue() for name in root.GetMDArrayNames()}

    before = nodata()
    assert before["zero"] == 0 and before["other"] == -1 and before["none"] is None
    run("migrate", tmp_path / "a.zarr", "--apply")
    assert nodata() == before


@pytest.mark.parametrize("filters,problem", [
    ([numcodecs.Shuffle(4), numcodecs.Delta("<i4")], "numcodecs.delta of encoded bytes"),
    ([numcodecs.Base64()], "no name for the codec numcodecs.base64"),
])
def test_codecs_that_v3_does_not_have(tmp_path, filters, problem):
    path = tmp_path / "a.zarr"
    if filters[0].codec_id == "shuffle":  # numcodecs cannot decode it in this order
        write_v2(path, "x", DATA, chunks=(4, 4), filters=filters[1:])
        edit_json(path / "x/.zarray", filters=[each.get_config() for each in filters])
    else:
        write_v2(path, "x", DATA, chunks=(4, 4), filters=filters)
    before = files(path)
    assert problem in failure("migrate", path, "--apply")
    assert files(path) == before


def test_a_migration_that_was_killed(tmp_path):
    """After the root's document of v3 was put: the documents of v2 are removed by the next one."""
    path = tmp_path / "a.zarr"
    write_v2(path, "x", DATA, {"units": "m"}, chunks=(4, 4))
    write_v2(path, "g/y", DATA, chunks=(4, 4))
    run("consolidate", path)
    old = {file: text for file, text in files(path).items() if file.name.startswith(".z")}
    run("migrate", path, "--apply")
    whole = files(path)
    assert not set(old) & set(whole) and "consolidated_metadata" in (path / "zarr.json").read_text()
    for file, text in old.items():
        file.write_bytes(text)
    edit_json(path / "zarr.json", consolidated_metadata=None)
    assert run("migrate", path)["continued"] and set(old) < set(files(path))
    run("migrate", path, "--apply")
    assert files(path).keys() == whole.keys() and check(path) == []
    assert run("info", path)["consolidated"]
    np.testing.assert_array_equal(values(path, "/g/y"), DATA)
    assert "not Zarr v2" in failure("migrate", path, "--apply")


def test_inner_chunks_that_overlap_the_index(tmp_path):
    path = write_array(tmp_path / "a.zarr", DATA, (4, 4), [sharding((2, 2), [BYTES])])
    shard = path / "c/0/0"
    data = bytearray(shard.read_bytes())
    index = np.frombuffer(bytes(data[-68:-4]), "<u8").reshape(4, 2).copy()
    index[3, 0] += 8  # its last elements are the start of the index
    shard.write_bytes(bytes(data[:-68]) + index.tobytes()
                      + crc32c(index.tobytes()).to_bytes(4, "little"))
    assert check(path) == [("index", "c/0/0")]
