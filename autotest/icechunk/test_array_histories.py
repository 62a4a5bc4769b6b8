"""Random histories of repositories that GDAL's multidimensional API, and sessions of the
reference, have written: both find the arrays that NumPy has."""
import base64
import gc
import shutil

import numpy as np
import pytest
from arrays import CAN_CHANGE_NODES, ArrayChanges, ArrayTree, contents_of, perform
from history import History
from judge import CallError, Conflict
from model import for_call
from night import rounds
from osgeo import gdal
from repositories import closed, create_repository, open_root, open_to_write, refs_by_gdal
from verifier import verify


class ArrayHistory(History):
    def __init__(self, folder, seed, judge):
        super().__init__(folder, seed, judge, ArrayTree())
        if self.by_reference():
            judge.create(at=self.at, format=self.format)
        else:
            create_repository(folder, self.format)
            root = ArrayTree().apply([("group", "")])
            self.committed("main", root, verify(folder).branches["main"])

    def refs_side(self):
        return refs_by_gdal

    def changes(self, branch, by_reference=False):
        tree = self.tree(branch).copy()
        changes = ArrayChanges(self.random, tree, self.format, by_reference)
        return changes.make(self.random.integers(1, 9)), tree

    def begin(self, branch, actions, by_reference=False):
        name = self.new_name()
        if by_reference:
            session = self.judge.begin(at=self.at, branch=branch, changes=for_call(actions.keys))
            return lambda: self.judge.finish(session=session, message=name)
        dataset = [self.open(branch, f"COMMIT_MESSAGE={name}")]
        root = dataset[0].GetRootGroup()
        for action in actions:
            perform(root, *action)
        root = None
        gc.collect()

        def finish():
            if errors := closed(dataset):
                kind = Conflict if f"branch {branch} has changed: " in errors[0] else CallError
                raise kind("; ".join(errors))
            root = gdal.OpenEx(f"ICECHUNK:{self.at}?branch={branch}", gdal.OF_MULTIDIM_RASTER)
            return root.GetMetadataItem("SNAPSHOT", "ICECHUNK")

        return finish

    def open(self, branch, option):
        """Without a root group, there is nothing to open."""
        if self.tree(branch):
            return open_to_write(self.folder, branch, option)
        return gdal.GetDriverByName("Zarr").CreateMultiDimensional(
            f"ICECHUNK:{self.at}?branch={branch}", [], [option])

    # --- Steps ---

    def refs(self):
        if self.tree("main"):
            super().refs()

    def roll_back(self):
        branch = self.pick(self.branches)
        dataset = [self.open(branch, "COMMIT=NO")]
        root = dataset[0].GetRootGroup()
        for action in self.changes(branch)[0]:
            perform(root, *action)
        root = None
        closed(dataset)

    def classic(self):
        """A window of a raster."""
        branch = self.pick(self.branches)
        tree = self.tree(branch).copy()
        path = self.pick(sorted(path for path, node in tree.items()
                                if node.is_array and node.values.ndim == 2))
        if path is None:
            return
        rows, columns = tree[path].values.shape
        top, left = int(self.random.integers(rows)), int(self.random.integers(columns))
        values = self.random.integers(1, 99, (rows - top, columns - left)).astype(
            tree[path].values.dtype)
        dataset = [gdal.OpenEx(f'ZARR:"{self.at}":/{path}', gdal.OF_RASTER | gdal.OF_UPDATE,
                               open_options=[f"BRANCH={branch}"])]
        dataset[0].GetRasterBand(1).WriteArray(values, left, top)
        assert not closed(dataset)
        tree[path].values[top:, left:] = values
        self.committed(branch, tree, verify(self.folder, not self.is_mixed).branches[branch])

    # --- The end ---

    def check(self):
        repository = verify(self.folder, is_ours=not self.is_mixed)
        self.check_refs(vars(repository))
        assert set(repository.deleted_tags) == self.deleted_tags
        for kind, refs in (("branch", self.branches), ("tag", self.tags)):
            for name, snapshot in refs.items():
                if not self.snapshots[snapshot]:
                    continue
                root = open_root(f"ICECHUNK:{self.at}?{kind}={name}")
                assert contents_of(root) == self.snapshots[snapshot].contents()
        if self.judge is None:
            return
        found = self.judge.describe(at=self.at, history=True)
        self.check_ancestry(found)
        for name, snapshot in found["snapshots"].items():
            tree = self.snapshots[name]
            assert {path.lstrip("/") for path in snapshot["documents"]} == set(tree)
            for path, text in snapshot["values"].items():
                values = tree[path.lstrip("/")].values
                got = np.frombuffer(base64.b64decode(text), values.dtype).reshape(values.shape)
                np.testing.assert_array_equal(got, values, f"{name} {path}")
        for branch in self.branches:
            actions, tree = self.changes(branch, True)
            if tree.contents() == self.tree(branch).contents():
                continue
            self.judge.commit(at=self.at, branch=branch, changes=for_call(actions.keys))


@pytest.mark.parametrize("seed", range(rounds(20, 500)))
def test_a_history(tmp_path, judge_if_any, seed):
    history = ArrayHistory(tmp_path / "repository", seed, judge_if_any)
    history.run(rounds(6, 12), [history.commit] * 5 + [history.two_writers] * 3 +
                [history.roll_back, history.classic, history.refs, history.refs])
    history.check()
    shutil.rmtree(tmp_path / "repository")


def test_all_changes_are_made():
    """Of old versions of GDAL, a part."""
    random = np.random.default_rng(0)
    tree = ArrayTree()
    changes = ArrayChanges(random, tree, 2, False)
    kinds = {action[0] for action in changes.make(200)}
    assert kinds == {"group", "array", "write", "attribute"} | (
        {"remove", "resize", "move"} if CAN_CHANGE_NODES else set())
