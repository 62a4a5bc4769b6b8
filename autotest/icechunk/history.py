"""A random history of a repository: commits to branches, two writers at once, branches and tags.
Subclasses say what the changes are, and make them."""
import numpy as np
from judge import CallError, Conflict
from model import merge, relation

FIRST = "1CECHNKREP0F1RSTCMT0"  # the first snapshot of each repository


class History:
    """Of a seed. In those of odd seeds the reference commits as well, if it runs here; seeds
    take turns in formats."""

    def __init__(self, folder, seed, judge, empty):
        self.random = np.random.default_rng(seed)
        self.folder, self.at, self.judge = folder, str(folder), judge
        self.format = 1 + seed // 2 % 2
        self.is_mixed = bool(seed % 2) and judge is not None
        self.snapshots = {FIRST: empty}  # trees by the ids of snapshots
        self.branches, self.tags, self.deleted_tags = {"main": FIRST}, {}, set()
        self.count = 0
        self.done = []

    # changes(branch, by_reference): actions, and the tree that they lead to.
    # begin(branch, actions, by_reference): a function that commits them and returns the snapshot.

    def pick(self, values):
        values = list(values)
        return values[self.random.integers(len(values))] if values else None

    def new_name(self):
        self.count += 1
        return str(self.count)

    def by_reference(self):
        return self.is_mixed and self.random.random() < 0.5

    def tree(self, branch):
        return self.snapshots[self.branches[branch]]

    def committed(self, branch, tree, snapshot):
        assert snapshot not in self.snapshots
        self.snapshots[snapshot], self.branches[branch] = tree, snapshot

    def commit(self):
        branch, by_reference = self.pick(self.branches), self.by_reference()
        before = self.tree(branch)
        actions, tree = self.changes(branch, by_reference)
        try:
            snapshot = self.begin(branch, actions, by_reference)()
        except CallError as error:
            # Changes that cancel one another are none.
            assert before.contents() == tree.contents(), error
            return
        if snapshot == self.branches[branch]:
            assert before.contents() == tree.contents()
            return
        self.committed(branch, tree, snapshot)

    def two_writers(self):
        """The second one's changes are added to the first one's, or refused."""
        branch = self.pick(self.branches)
        base = self.tree(branch)
        first_is_reference = self.by_reference()
        second_is_reference = not first_is_reference and self.by_reference()
        first, first_tree = self.changes(branch, first_is_reference)
        second, second_tree = self.changes(branch, second_is_reference)
        if any(base.contents() == tree.contents() for tree in (first_tree, second_tree)):
            return
        merged = merge(base, first_tree, second_tree)
        expected = relation(base, first_tree, second_tree, merged)
        # Moves conflict with everything. Changes that cancel one another are changes nevertheless.
        if expected == "apart" and (any(action[0] == "move" for action in first + second) or
                                    {each[1] for each in first} & {each[1] for each in second}):
            expected = "near"
        second_is_reference &= expected == "apart"  # it accepts what it should not
        commit_first = self.begin(branch, first, first_is_reference)
        commit_second = self.begin(branch, second, second_is_reference)
        self.committed(branch, first_tree, commit_first())
        try:
            snapshot = commit_second()
        except CallError as error:
            assert isinstance(error, Conflict) and expected != "apart", (expected, error)
            return
        assert expected != "clash"
        if snapshot == self.branches[branch]:  # the first one has made all of its changes
            assert merged.contents() == self.tree(branch).contents()
            return
        self.committed(branch, merged, snapshot)

    def refs(self):
        side = self.judge if self.by_reference() else self.refs_side()
        snapshot = self.pick(self.snapshots)
        kind = self.pick(["create_branch", "create_tag", "delete_branch", "delete_tag",
                          "reset_branch"])
        if kind.startswith("create"):
            refs = self.branches if kind == "create_branch" else self.tags
            # Of other names in repositories of format 1, the reference lists some that it cannot
            # open.
            name = self.pick(["dev", "it works!", "é"][:self.format + 1])
            name = f"{name} {self.new_name()}"
            side.call(kind, at=self.at, name=name, snapshot=snapshot)
            refs[name] = snapshot
        elif kind == "reset_branch":
            name = self.pick(self.branches)
            side.reset_branch(at=self.at, name=name, snapshot=snapshot)
            self.branches[name] = snapshot
        else:
            refs = self.branches if kind == "delete_branch" else self.tags
            if name := self.pick(sorted(set(refs) - {"main"})):
                side.call(kind, at=self.at, name=name)
                del refs[name]
                if kind == "delete_tag":
                    self.deleted_tags.add(name)

    def run(self, count, steps):
        for _ in range(count):
            step = self.pick(steps)
            self.done.append(step.__name__)
            step()

    def check_refs(self, found):
        """Of the verifier or the reference: ids by names."""
        assert found["branches"] == self.branches
        assert found["tags"] == self.tags

    def check_ancestry(self, found):
        """Of describe() of the reference, which also knows how snapshots differ."""
        assert found["format"] == self.format
        self.check_refs({kind: {name: each["snapshot"] for name, each in found[kind].items()}
                         for kind in ("branches", "tags")})
        for chain in found["ancestry"].values():
            assert chain[-1]["id"] == FIRST
            for child in chain[:-1]:
                self.judge.diff(at=self.at, **{"from": child["parentId"], "to": child["id"]})
