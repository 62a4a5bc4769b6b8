"""Random histories of repositories that transactions of zarrcore, and sessions of the reference,
have written: all that was committed is found by both, and each file is as the format demands."""
import shutil

import pytest
from changes import Changes
from history import History
from judge import CallError, Conflict, decoded
from model import Tree, for_call, merge, relation
from night import rounds
from verifier import verify


class StoreHistory(History):
    def __init__(self, folder, seed, core, judge):
        super().__init__(folder, seed, judge, Tree())
        self.core = core
        (judge if self.by_reference() else core).create(at=self.at, format=self.format)

    def refs_side(self):
        return self.core

    def changes(self, branch, by_reference=False):
        tree = self.tree(branch).copy()
        changes = Changes(self.random, tree, self.format, by_reference)
        return changes.make(self.random.integers(1, 9)), tree

    def begin(self, branch, actions, by_reference=False):
        name = self.new_name()
        if by_reference:
            session = self.judge.begin(at=self.at, branch=branch, changes=for_call(actions))
            return lambda: self.judge.finish(session=session, message=name)
        self.start(name, branch, actions)

        def finish():
            try:
                return self.core.commit(session=name, message=name)
            finally:
                self.core.end(session=name)

        return finish

    def start(self, session, branch, actions):
        self.core.begin(session=session, at=self.at, branch=branch)
        self.core.change(session=session, changes=for_call(actions))

    def dump(self, session):
        return {key: decoded(value) for key, value in self.core.dump(session=session).items()}

    # --- Steps ---

    def roll_back(self):
        branch = self.pick(self.branches)
        self.start("dropped", branch, self.changes(branch)[0])
        self.core.roll_back(session="dropped")
        assert self.dump("dropped") == self.tree(branch).contents()
        self.core.end(session="dropped")

    def workers(self):
        """One commits the changes of both."""
        branch = self.pick(self.branches)
        base = self.tree(branch)
        (first, tree), (second, second_tree) = self.changes(branch), self.changes(branch)
        merged = merge(base, tree, second_tree)
        if relation(base, tree, second_tree, merged) != "apart":
            return
        self.start("one", branch, first)
        self.start("two", branch, second)
        changes = self.core.changes(session="two")
        self.core.merge(session="one", changes=changes)
        self.core.end(session="two")
        assert self.dump("one") == merged.contents()
        if merged.contents() != base.contents():
            self.committed(branch, merged, self.core.commit(session="one"))
        self.core.end(session="one")

    def workers_that_go_on(self):
        """Four begin with the changes of a program, which commits what they make of them."""
        branch = self.pick(self.branches)
        actions, tree = self.changes(branch)
        self.start("program", branch, actions)
        given, results, seen = self.core.changes(session="program"), [], set()
        for _ in range(4):
            changes = Changes(self.random, tree.copy(), self.format)
            for _ in range(3):
                self.pick([changes.write, changes.erase, changes.rewrite])()
            actions = [action for action in changes.actions if action[1] not in seen]
            seen |= {action[1] for action in actions}
            results.append(self.result_of_worker(branch, given, actions))
            tree.apply(actions)
        for result in results:
            self.core.merge(session="program", changes=result)
        self.end_program(branch, tree)

    def a_worker_of_all_kinds(self):
        """Where it has moved, deleted or resized what it was given, that may be refused."""
        branch = self.pick(self.branches)
        actions, tree = self.changes(branch)
        self.start("program", branch, actions)
        given = self.core.changes(session="program")
        actions = Changes(self.random, tree, self.format).make(4)
        result = self.result_of_worker(branch, given, actions)
        try:
            self.core.merge(session="program", changes=result)
        except Conflict as error:
            assert any(action[0] in ("move", "delete_folder") or action[1].endswith("zarr.json")
                       for action in actions), error
            self.core.end(session="program")
        else:
            self.end_program(branch, tree)

    def result_of_worker(self, branch, given, actions):
        self.core.begin(session="worker", at=self.at, branch=branch)
        self.core.merge(session="worker", changes=given)
        self.core.change(session="worker", changes=for_call(actions))
        result = self.core.changes(session="worker")
        self.core.end(session="worker")
        return result

    def end_program(self, branch, tree):
        assert self.dump("program") == tree.contents()
        if tree.contents() != self.tree(branch).contents():
            self.committed(branch, tree, self.core.commit(session="program"))
        self.core.end(session="program")

    def refs(self):
        super().refs()
        for name in self.deleted_tags:
            with pytest.raises(CallError):
                self.core.create_tag(at=self.at, name=name, snapshot=self.branches["main"])

    # --- The end ---

    def check(self):
        repository = verify(self.folder, is_ours=not self.is_mixed)
        self.check_refs(vars(repository))
        assert set(repository.deleted_tags) == self.deleted_tags
        for branch in self.branches:
            self.core.begin(session="read", at=self.at, branch=branch)
            assert self.dump("read") == self.tree(branch).contents()
            self.core.end(session="read")
        if self.judge is None:
            return
        found = self.judge.describe(at=self.at, of="bytes", history=True)
        self.check_ancestry(found)
        for name, snapshot in found["snapshots"].items():
            contents = {key: decoded(value) for key, value in snapshot["bytes"].items()}
            assert contents == self.snapshots[name].contents(), name
        for branch in self.branches:
            actions, tree = self.changes(branch, True)
            if tree.contents() != self.tree(branch).contents():
                self.judge.commit(at=self.at, branch=branch, changes=for_call(actions))


@pytest.mark.parametrize("seed", range(rounds(20, 500)))
def test_a_history(tmp_path, core, judge_if_any, seed):
    history = StoreHistory(tmp_path / "repository", seed, core, judge_if_any)
    history.run(rounds(8, 15), [history.commit] * 5 + [history.two_writers] * 3 +
                [history.roll_back, history.workers, history.workers_that_go_on,
                 history.a_worker_of_all_kinds, history.refs, history.refs])
    history.check()
    shutil.rmtree(tmp_path / "repository")
