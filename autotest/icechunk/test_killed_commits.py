"""A process that is killed at any operation on a file leaves each branch old or new, and a
repository that the next writer, and the reference, can change."""
import numpy as np
import pytest
from arrays import CAN_CHANGE_NODES, ArrayNode, contents_of, perform
from judge import CallError
from killed_commits import copy_raster, repositories_after_kills
from model import GROUP, for_call
from night import rounds
from repositories import closed, create_repository, open_root, open_to_write
from verifier import verify

CHANGES = ["write", "copy_raster", "create_branch", "create_tag", "delete_branch",
           pytest.param("remove", marks=pytest.mark.skipif(
               not CAN_CHANGE_NODES, reason="nodes are deleted since GDAL 3.8"))]


def make(path, version):
    create_repository(path, version)
    dataset = [open_to_write(path)]
    root = dataset[0].GetRootGroup()
    perform(root, "group", "g")
    perform(root, "array", "g/a", ArrayNode([32, 32], [8, 16], "u2"))  # chunks of 256 bytes
    perform(root, "write", "g/a", [0, 0], np.full((32, 32), 3, "u2"))
    perform(root, "array", "g/large", ArrayNode([64], [32], "f8"))
    perform(root, "write", "g/large", [0], np.arange(64.0))
    root = None
    assert not closed(dataset)
    dataset = [open_to_write(path)]
    dataset[0].SetMetadataItem("CREATE_BRANCH", "old", "ICECHUNK")
    assert not closed(dataset)


def state(path):
    """Of all refs."""
    repository = verify(path, may_have_leftovers=True)
    return {kind: {name: contents_of(open_root(f"ICECHUNK:{path}?{kind}={name}")) for name in refs}
            for kind, refs in (("branch", repository.branches), ("tag", repository.tags))}


def commit_again(path):
    dataset = [open_to_write(path)]
    perform(dataset[0].GetRootGroup(), "group", "next")
    assert not closed(dataset)
    assert "next" in state(path)["branch"]["main"]


def steps(change):
    """Refs take a dozen operations, commits several dozen."""
    return rounds(4 if "_" in change and change != "copy_raster" else 12, 1)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("version", [1, 2])
def test_old_or_new(tmp_path, build_shim, judge_if_any, version, change):
    make(tmp_path / "repository", version)
    before = state(tmp_path / "repository")
    copies = repositories_after_kills(build_shim("kill_shim"), tmp_path / "repository",
                                      tmp_path / "after", change, step=steps(change))
    assert len(copies) > 1
    after = state(copies[-1])
    assert after != before
    seen = [state(copy) for copy in copies]
    assert seen == sorted(seen, key=[before, after].index)  # never back
    assert before in seen
    for copy in copies:
        commit_again(copy)
        if judge_if_any:
            judge_if_any.describe(at=copy, history=True)
            judge_if_any.commit(at=copy, branch="main",
                                changes=for_call([("set", "theirs/zarr.json", GROUP)]))


@pytest.mark.parametrize("change", ["copy_raster"])
def test_new_repository(tmp_path, build_shim, judge_if_any, change):
    """There is none, or one that can be written to."""
    copies = repositories_after_kills(build_shim("kill_shim"), tmp_path / "none",
                                      tmp_path / "after", change, step=rounds(12, 1))
    complete = state(copies[-1])
    for copy in copies:
        if (copy / "repo").exists():
            main = state(copy)["branch"]["main"]
            assert main in ({"": ({},)}, complete["branch"]["main"])
            if main != complete["branch"]["main"]:
                copy_raster(copy)
                assert state(copy)["branch"]["main"] == complete["branch"]["main"]
            commit_again(copy)
        if judge_if_any:
            try:
                judge_if_any.describe(at=copy)
                exists = True
            except CallError:
                exists = False
            assert exists == (copy / "repo").exists()
