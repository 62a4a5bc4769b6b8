"""The commands for Icechunk: log, branch, tag and commit, and what info shows of a repository."""
import json

import numpy as np
import pytest
from icechunk_stores import DATA
from osgeo import gdal
from test_commands import HAS_ALGORITHMS, failure, output, run

OPTIONS = ["COMMIT_MESSAGE=first", 'COMMIT_PROPERTIES={"author": "me", "run": 7}']


@pytest.fixture(params=[1, 2])
def repo(request, tmp_path):
    """Two commits to main, the first of which has properties."""
    path = tmp_path / "repo"
    source = gdal.GetDriverByName("MEM").Create("", 6, 4, 1, gdal.GDT_UInt16)
    source.SetGeoTransform((10, 1, 0, 50, 0, -1))
    source.GetRasterBand(1).WriteArray(DATA)
    gdal.GetDriverByName("Zarr").CreateCopy(
        f"ICECHUNK:{path}", source,
        options=[f"ICECHUNK_FORMAT={request.param}", "ARRAY_NAME=a",
                 "BLOCKSIZE=1,6", *OPTIONS])
    change(path, "title", "one", "COMMIT_MESSAGE=second\nwith more")
    return path


def change(name, key, value, *options):
    dataset = gdal.OpenEx(str(name), gdal.OF_UPDATE, open_options=list(options))
    dataset.SetMetadataItem(key, value)
    del dataset


def session(name, file, row):
    """What a worker leaves that has written a row, and commits nothing."""
    dataset = gdal.OpenEx(str(name), gdal.OF_UPDATE, open_options=["COMMIT=NO"])
    dataset.GetRasterBand(1).WriteArray(np.full((1, 6), 99, "u2"), 0, row)
    dataset.FlushCache()
    file.write_text(dataset.GetMetadataItem("CHANGES", "ICECHUNK"))
    return file


def snapshots(*words):
    return [snapshot["id"] for snapshot in run("log", *words)["snapshots"]]


def refs(kind, repo):
    plural = {"branch": "branches", "tag": "tags"}[kind]
    return {ref["name"]: ref["snapshot"] for ref in run(kind, repo)[plural]}


def metadata(name, key):
    return gdal.OpenEx(str(name), gdal.OF_RASTER).GetMetadataItem(key)


def values(name):
    return gdal.OpenEx(str(name), gdal.OF_RASTER).ReadAsArray()


def test_log(repo):
    result = run("log", repo)
    assert result["version"] == "branch main"
    second, first, start = result["snapshots"]
    assert (second["message"], first["message"]) == ("second\nwith more", "first")
    assert first["properties"]["author"] == "me" and second["parent"] == first["id"]
    assert start["parent"] is None
    assert second["time"] >= first["time"] and second["time"].endswith("Z")
    text = output("log", repo)
    assert f"{second['id']}  {second['time']}\n    second\n    with more\n" in text
    assert "    author: me\n" in text
    assert snapshots(f"ICECHUNK:{repo}?snapshot={first['id']}") == [first["id"], start["id"]]


def test_branches(repo):
    second, first, _ = snapshots(repo)
    assert refs("branch", repo) == {"main": second}
    assert run("branch", repo, "--create", "dev")["snapshot"] == second
    run("branch", repo, "--create=old", "--from", first)
    change(f"ICECHUNK:{repo}?branch=dev", "title", "two")
    assert refs("branch", repo) == {
        "dev": snapshots(repo, "--branch", "dev")[0], "main": second, "old": first}
    assert len(snapshots(repo, "--branch", "dev")) == 4
    assert run("branch", repo, "--reset", "main", "--to", "dev")["reset"] == "main"
    assert metadata(repo, "title") == "two"
    run("branch", repo, "--delete", "old")
    assert sorted(refs("branch", repo)) == ["dev", "main"]
    assert f"main  {refs('branch', repo)['main']}\n" in output("branch", repo)


def test_tags(repo):
    second, first, _ = snapshots(repo)
    assert refs("tag", repo) == {}
    run("tag", repo, "--create", "v1", "--from", first)
    run("tag", f"ICECHUNK:{repo}?tag=v1", "--create", "v1b")
    run("tag", repo, "--create", "v2")
    assert refs("tag", repo) == {"v1": first, "v1b": first, "v2": second}
    assert metadata(f"ICECHUNK:{repo}?tag=v1", "title") is None
    run("tag", repo, "--delete", "v1b")
    assert refs("tag", repo) == {"v1": first, "v2": second}
    assert "v1b" in failure("tag", repo, "--create", "v1b")


def test_wrong_use(repo, tmp_path):
    before = {file: file.read_bytes() for file in repo.rglob("*") if file.is_file()}
    for words, message in {
            ("branch", "--create", "a", "--delete", "a"): "--create and --delete",
            ("branch", "--create", "a", "--from", "none"): "there is no branch or tag none",
            ("branch", "--create", "main"): "main",
            ("branch", "--delete", "main"): "main",
            ("branch", "--reset", "main"): "needs --to",
            ("branch", "--from", "main"): "--from is for --create",
            ("branch", "--create", "../a"): "cannot be the name",
            ("tag", "--reset", "v1"): "no option --reset",
            ("tag", "--delete", "v1"): "v1",
            ("log", "--branch", "none"): "none",
            ("commit",): "session is missing",
            ("commit", tmp_path / "none.json"): "none.json",
    }.items():
        assert message in failure(words[0], repo, *words[1:]), words
    assert {file: file.read_bytes() for file in repo.rglob("*") if file.is_file()} == before
    assert "no Icechunk repository" in failure("log", tmp_path)


def test_one_name_for_two_snapshots(repo):
    second, first, _ = snapshots(repo)
    run("tag", repo, "--create", "x", "--from", first)
    run("branch", repo, "--create", "x", "--from", second)
    assert "a branch and a tag" in failure("branch", repo, "--create", "y", "--from", "x")


def test_sessions_of_workers(repo, tmp_path):
    files = [session(repo, tmp_path / f"{row}.json", row) for row in (0, 3)]
    result = run("commit", repo, *files, "--message", "two rows")
    assert result["branch"] == "main"
    want = DATA.copy()
    want[[0, 3]] = 99
    np.testing.assert_array_equal(values(repo), want)
    newest = run("log", repo)["snapshots"][0]
    assert newest["id"] == result["snapshot"] and newest["message"] == "two rows"


def test_a_session_that_failed(repo, tmp_path):
    """Others have committed the same chunk: it goes to a branch of its own."""
    file = session(repo, tmp_path / "mine.json", 0)
    dataset = gdal.OpenEx(str(repo), gdal.OF_UPDATE)
    dataset.GetRasterBand(1).WriteArray(np.full((1, 6), 5, "u2"))
    del dataset
    newest = refs("branch", repo)
    assert "not committed" in failure("commit", repo, file)
    assert "cannot be given together" in failure("commit", repo, file, "--branch", "main",
                                                 "--new-branch", "mine")
    assert refs("branch", repo) == newest
    assert run("commit", repo, file, "--new-branch", "mine")["branch"] == "mine"
    assert refs("branch", repo)["main"] == newest["main"]
    assert (values(f"ICECHUNK:{repo}?branch=mine")[0] == 99).all()
    assert (values(repo)[0] == 5).all()
    assert "gdal_zarr: changes of 1 session\n" in output("log", repo, "--branch", "mine")


def test_info(repo):
    second, first, start = snapshots(repo)
    run("tag", repo, "--create", "v1", "--from", first)
    shown = run("info", repo)["repository"]
    assert shown["branches"] == [{"name": "main", "snapshot": second}]
    assert shown["tags"] == [{"name": "v1", "snapshot": first}]
    assert [snapshot["id"] for snapshot in shown["last_snapshots"]] == [second, first, start]
    text = output("info", f"ICECHUNK:{repo}?tag=v1")
    assert "branches: main\ntags: v1\n" in text and ", tag v1\n" in text
    assert first in text and second not in text
    assert "\n/\n" in text and "\n  a  uint16  4 x 6" in text
    for number in range(4):
        change(repo, "number", str(number))
    assert len(run("info", repo)["repository"]["last_snapshots"]) == 5


def test_stores_of_another_writer(repository):
    """Those of icechunk_writer.py, which writes no history."""
    path = repository.path
    assert refs("branch", path).keys() == {"dev", "main"}
    assert refs("tag", path).keys() == {"it works!"}
    info = run("info", f"ICECHUNK:{path}?tag=it%20works!")
    assert info["groups"] == ["/", "/g"] and info["repository"]["history_problem"]
    assert "no history: " in output("info", path)
    assert "it has no" in failure("log", path)


def test_control_characters_stay_out_of_the_terminal(repo):
    change(repo, "title", "x", "COMMIT_MESSAGE=a\x1b[31mb")
    assert "a [31mb" in output("log", repo)
    assert run("log", repo)["snapshots"][0]["message"] == "a\x1b[31mb"


@pytest.mark.skipif(not HAS_ALGORITHMS, reason="needs GDAL 3.11")
def test_algorithms(repo, tmp_path):
    file = session(repo, tmp_path / "a,b.json", 0)
    gdal.Run("driver", "zarr", "commit", store=str(repo), session=[str(file)], message="row")
    gdal.Run("driver", "zarr", "tag", store=str(repo), create="v1")
    shown = gdal.Run("driver", "zarr", "log", store=str(repo), json=True)["output-string"]
    assert json.loads(shown)["snapshots"][0]["message"] == "row"
    assert refs("tag", repo).keys() == {"v1"}
