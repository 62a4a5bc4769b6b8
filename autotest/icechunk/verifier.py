"""Checks every file of an Icechunk repository against the format's rules, which readers rely on
and rarely check: orders, extents, counts, sizes, ids, times and the log of operations.

    verify(path)   # the repository; AssertionError where a rule is broken

The reference also logs the deletion of nodes that a session has made itself: unless
`is_ours`, that is accepted.
"""
import json
import math
import re
from dataclasses import dataclass, field
from itertools import pairwise
from urllib.parse import unquote

from flat_buffers import LOG, MANIFEST, REPO, SNAPSHOT, base32, open_file

FIRST = bytes.fromhex("0b1cc8d6787580f0e33a6534")  # the id of the first snapshot
BACKUP = re.compile(r"repo\.\d{14}\.[0-9A-HJKMNP-TV-Z]{20}")
MOST_INLINE = 512  # bytes; the default of the format's configuration


@dataclass
class Node:
    id: bytes
    document: bytes
    refs: dict = None  # of an array: payloads by index
    counts: tuple = ()  # of chunks, along each dimension


@dataclass
class Snapshot:
    id: bytes
    parent: bytes
    time: int
    message: str
    metadata: dict
    nodes: dict = field(default_factory=dict)  # by path


@dataclass
class Repo:
    path: object
    format: int
    branches: dict
    tags: dict
    deleted_tags: list
    snapshots: dict  # by id


def ascends(values, what):
    assert all(a < b for a, b in pairwise(values)), f"{what} are not in order: {values}"


def metadata_of(table, field):
    items = table.tables(field)
    if items is None:
        return None
    names = [item.string(0) for item in items]
    ascends(names, "names of metadata")
    values = [item.raw(1) for item in items]
    assert None not in values
    return dict(zip(names, values))


def chunk_counts(document):
    grid = document["chunk_grid"]
    assert grid["name"] == "regular", grid
    return tuple(math.ceil(size / chunk) if chunk else 0 for size, chunk in
                 zip(document["shape"], grid["configuration"]["chunk_shape"], strict=True))


def payload(ref, path, files):
    """What tells a chunk from another, checked."""
    inline, offset, length = ref.raw(1), ref.number(2, "Q"), ref.number(3, "Q")
    chunk, location = ref.bytes(4, 12), ref.string(5)
    assert ref.raw(8) is None, "compressed locations"
    assert [inline, chunk, location].count(None) == 2, f"{path}: not one payload"
    if inline is not None:
        assert len(inline) <= MOST_INLINE and offset == length == 0, (path, len(inline))
        return inline
    assert length > 0, path
    if chunk is not None:
        file = files / "chunks" / base32(chunk)
        assert file.stat().st_size >= offset + length, file
        return chunk, offset, length
    assert "://" in location, location
    assert ref.string(6) is None or not ref.number(7, "I")
    return location, offset, length, ref.string(6), ref.number(7, "I")


class Verifier:
    def __init__(self, path, is_ours):
        self.path, self.is_ours = path, is_ours
        self.format = 2 if (path / "repo").exists() else 1
        self.manifests = {}  # by id: (refs by node, number of refs)

    def file(self, folder, name, kind):
        path = self.path / folder / base32(name)
        table = open_file(path, kind, self.format)
        assert table.required_id(0) == name, path
        return table

    def manifest(self, name):
        if name in self.manifests:
            return self.manifests[name]
        table = self.file("manifests", name, MANIFEST)
        assert table.number(3, "B", 1) == 0 and not table.raw(2)
        arrays, count = {}, 0
        for array in table.tables(1):
            refs = {}
            for ref in array.tables(1):
                index = tuple(ref.vector(0, "I"))
                assert index not in refs
                refs[index] = payload(ref, table.path, self.path)
            assert refs, f"{table.path}: an array without refs"
            ascends(list(refs), "indexes of chunks")
            arrays[array.required_id(0, 8)] = refs
            count += len(refs)
        ascends(list(arrays), "arrays of a manifest")
        self.manifests[name] = arrays, count
        return arrays, count

    def array(self, table, document, node_id, used):
        data = table.table(4)
        shape, counts = document["shape"], chunk_counts(document)
        if self.format == 2:
            assert data.vector(0, "QQ") == []
            sizes = [(each.number(0, "Q"), each.number(1, "I")) for each in data.tables(3)]
            assert sizes == list(zip(shape, counts)), (document, sizes)
        else:
            assert data.leads_to(3) is None
            assert data.vector(0, "QQ") == [
                (size, math.ceil(size / count) if count else 0)
                for size, count in zip(shape, counts)], (document, data.vector(0, "QQ"))
        names = data.tables(1)
        names = None if names is None else [each.string(0) for each in names]
        stated = document.get("dimension_names")
        assert names == stated or (names is None and not any(stated or [])), (names, document)
        refs, boxes = {}, []
        for reference in data.tables(2):
            name = reference.required_id(0)
            extents = reference.vector(1, "II")
            own = self.manifest(name)[0].get(node_id, {})
            assert own, f"manifest {base32(name)} has no chunks of its array"
            assert extents == [(min(along), max(along) + 1) for along in zip(*own)], \
                (document, extents, list(own))
            for other in boxes:
                assert any(a >= d or c >= b for (a, b), (c, d) in zip(extents, other)), boxes
            assert not set(refs) & set(own)
            boxes.append(extents)
            refs |= own
            used.add(name)
        for index in refs:
            assert len(index) == len(counts), index
            assert all(i < count for i, count in zip(index, counts)), (index, counts)
        return Node(node_id, table.raw(2), refs, counts)

    def snapshot(self, name, parent=None):
        table = self.file("snapshots", name, SNAPSHOT)
        if self.format == 1:
            parent = table.bytes(1, 12)
            assert (parent is None) == (name == FIRST)
        found = Snapshot(name, parent, table.number(3, "Q"), table.string(4), metadata_of(table, 5))
        assert found.message is not None and found.metadata is not None
        used, ids = set(), set()
        for node in table.tables(2):
            node_id, path, document = node.required_id(0, 8), node.string(1), node.raw(2)
            assert node_id not in ids and path not in found.nodes
            ids.add(node_id)
            assert path == "/" or re.fullmatch("(/[^/]+)+", path), path
            parsed, kind = json.loads(document), node.number(3, "B")
            assert parsed["zarr_format"] == 3
            assert kind == {"array": 1, "group": 2}[parsed["node_type"]], path
            assert node.table(4) is not None, path
            found.nodes[path] = (self.array(node, parsed, node_id, used) if kind == 1 else
                                 Node(node_id, document))
        ascends([path.encode() for path in found.nodes], "paths")
        for path in found.nodes:
            if path != "/":
                above = found.nodes.get(path.rpartition("/")[0] or "/")
                assert above is not None and above.refs is None, f"{path} is not in a group"
        self.check_manifests(table, used)
        return found

    def check_manifests(self, table, used):
        structs = table.vector(6, "12s4xQI4x")
        if self.format == 2:
            assert structs == []
            files = [(each.required_id(0), each.number(1, "Q"), each.number(2, "I"))
                     for each in table.tables(7)]
        else:
            assert table.leads_to(7) is None
            files = structs
        ascends([name for name, _, _ in files], "manifests")
        assert {name for name, _, _ in files} == used, table.path
        for name, size, count in files:
            assert size == (self.path / "manifests" / base32(name)).stat().st_size
            assert count == self.manifest(name)[1]

    def refs_of_format_1(self):
        branches, tags, deleted = {}, {}, []
        for folder in (self.path / "refs").iterdir():
            kind, _, name = unquote(folder.name).partition(".")
            if (folder / "ref.json.deleted").exists():
                assert kind == "tag"
                deleted.append(name)
                continue
            if not (folder / "ref.json").exists():
                continue  # a branch that was deleted
            ref = json.loads((folder / "ref.json").read_bytes())
            assert list(ref) == ["snapshot"]
            {"branch": branches, "tag": tags}[kind][name] = ref["snapshot"]
        return branches, tags, deleted

    def chain(self, tip, snapshots):
        """Adds the snapshots of format 1 from the tip to the first."""
        by_text = {base32(name): name for name in snapshots}
        name = by_text.get(tip) or open_file(self.path / "snapshots" / tip, SNAPSHOT,
                                             1).required_id(0)
        while name is not None and name not in snapshots:
            snapshots[name] = self.snapshot(name)
            name = snapshots[name].parent

    def verify(self):
        if self.format == 1:
            branches, tags, deleted = self.refs_of_format_1()
            snapshots = {}
            for tip in [*branches.values(), *tags.values()]:
                self.chain(tip, snapshots)
            repo = Repo(self.path, 1, branches, tags, deleted, snapshots)
        else:
            repo = self.repo_of_format_2()
        assert "main" in repo.branches
        assert FIRST in repo.snapshots and not repo.snapshots[FIRST].nodes
        for snapshot in repo.snapshots.values():
            if snapshot.id != FIRST:
                parent = repo.snapshots[snapshot.parent]
                assert snapshot.time > parent.time, (snapshot.message, snapshot.time, parent.time)
                self.check_log(snapshot, parent)
            elif self.format == 2:
                self.check_log(snapshot, Snapshot(None, None, 0, "", {}))
        return repo

    # --- Format 2 --------------------------------------------------------------------------------

    def repo_of_format_2(self):
        assert not (self.path / "refs").exists()
        table = open_file(self.path / "repo", REPO, 2)
        ids, branches, tags = self.check_repo(table)
        snapshots = {}
        for name, info in zip(ids, table.tables(4)):
            parent = info.number(1, "i")
            snapshot = self.snapshot(name, None if parent == -1 else ids[parent])
            assert (snapshot.time, snapshot.message, snapshot.metadata) == (
                info.number(2, "Q"), info.string(3), metadata_of(info, 4) or {})
            snapshots[name] = snapshot
        names = {name: base32(ids[index]) for name, index in branches.items()}
        self.check_operations(table, names | {}, {name: base32(ids[index])
                                                  for name, index in tags.items()})
        return Repo(self.path, 2, names, {name: base32(ids[index]) for name, index in tags.items()},
                    table.strings(3), snapshots)

    def check_repo(self, table):
        """Of the present and of each older `repo`."""
        assert table.number(0, "B") == 2
        ids = [info.required_id(0) for info in table.tables(4)]
        ascends(ids, "snapshots")
        for index, info in enumerate(table.tables(4)):
            parent = info.number(1, "i")
            assert parent != index and -1 <= parent < len(ids)
            assert (parent == -1) == (ids[index] == FIRST)
        refs = []
        for number in (2, 1):
            names = [ref.string(0) for ref in table.tables(number)]
            ascends([name.encode() for name in names], "refs")
            refs.append(dict(zip(names, [ref.number(1, "I") for ref in table.tables(number)])))
            assert all(index < len(ids) for index in refs[-1].values())
        ascends([name.encode() for name in table.strings(3)], "deleted tags")
        assert not set(table.strings(3)) & set(refs[1])
        assert table.table(5) is not None and table.number(5, "I")
        updates = table.tables(7)
        assert updates and updates[0].string(3) is None
        assert all(BACKUP.fullmatch(update.string(3) or "") for update in updates[1:])
        times = [update.number(2, "Q") for update in updates]
        ascends(times[::-1], "times of operations")
        return ids, *refs

    def check_operations(self, table, branches, tags):
        """Repeated from the first on, they lead to the present refs. Each older `repo` exists, and
        its log is the rest of this one."""
        updates = table.tables(7)
        operations = [operation(update) for update in updates]
        names = [update.string(3) for update in updates[1:]]
        older = table.string(8)
        for position, name in enumerate(names, 1):
            backup = open_file(self.path / "overwritten" / name, REPO, 2)
            self.check_repo(backup)
            theirs = [operation(update) for update in backup.tables(7)]
            common = min(len(theirs), len(operations) - position)
            assert theirs[:common] == operations[position:position + common], name
            assert len(theirs) == len(operations) - position or older is not None
        if older is not None:
            assert BACKUP.fullmatch(older)
            return
        assert operations[-1][1] == 1
        state = {"branch": {"main": base32(FIRST)}, "tag": {}}
        known = {base32(info.required_id(0)) for info in table.tables(4)}
        for _, kind, words in reversed(operations[:-1]):
            self.repeat(kind, words, state, known)
        # A new branch or tag, or a reset one: the log does not say where it leads.
        for kind, refs in (("branch", branches), ("tag", tags)):
            assert set(state[kind]) == set(refs)
            for name, snapshot in state[kind].items():
                assert snapshot in (None, refs[name]), (name, snapshot, refs[name])

    @staticmethod
    def repeat(kind, words, state, known):
        branches, tags = state["branch"], state["tag"]
        if kind in (5, 7):
            refs = tags if kind == 5 else branches
            assert words[0] not in refs
            refs[words[0]] = None
        elif kind in (6, 8, 9):
            refs = tags if kind == 6 else branches
            assert refs[words[0]] in (None, base32(words[1]))
            if kind == 9:
                refs[words[0]] = None
            else:
                del refs[words[0]]
        elif kind in (10, 11):
            assert words[0] in branches and base32(words[-1]) in known
            if kind == 11:
                assert branches[words[0]] in (None, base32(words[1]))
            branches[words[0]] = base32(words[-1])

    # --- Logs of transactions --------------------------------------------------------------------

    def check_log(self, snapshot, parent):
        log = self.file("transactions", snapshot.id, LOG)
        names = ["new_groups", "new_arrays", "deleted_groups", "deleted_arrays", "updated_arrays",
                 "updated_groups"]
        logged = {}
        for number, name in enumerate(names, 1):
            ids = log.vector(number, "8s")
            assert ids is not None, name
            ascends(ids, name)
            logged[name] = set(ids)
        old = {node.id: (path, node) for path, node in parent.nodes.items()}
        new = {node.id: (path, node) for path, node in snapshot.nodes.items()}
        kinds = {name: node.refs is not None for name, (_, node) in (old | new).items()}
        arrays = {name for name, is_array in kinds.items() if is_array}
        for kind, among in (("arrays", arrays), ("groups", set(kinds) - arrays)):
            assert logged[f"new_{kind}"] == (set(new) - set(old)) & among, (kind, snapshot.message)
            deleted = logged[f"deleted_{kind}"]
            if not self.is_ours:
                deleted &= set(kinds)
            assert deleted == (set(old) - set(new)) & among, (kind, snapshot.message)
            changed = {name for name in set(old) & set(new) & among
                       if old[name][1].document != new[name][1].document}
            assert logged[f"updated_{kind}"] >= changed, (kind, snapshot.message)
            assert logged[f"updated_{kind}"] <= set(old) & set(new) & among, kind
        self.check_moves(log, old, new)
        updated = {}
        for array in log.tables(7):
            indexes = [tuple(each.vector(0, "I")) for each in array.tables(1)]
            ascends(indexes, "updated chunks")
            assert indexes
            updated[array.required_id(0, 8)] = set(indexes)
        ascends(list(updated), "arrays of updated chunks")
        assert set(updated) <= arrays & set(new)
        for name in arrays & set(new):
            node = new[name][1]
            before = old[name][1].refs if name in old else {}
            changed = {index for index in {*before, *node.refs}
                       if before.get(index) != node.refs.get(index)
                       and all(i < count for i, count in zip(index, node.counts))}
            assert updated.get(name, set()) >= changed, (new[name][0], snapshot.message)

    def check_moves(self, log, old, new):
        moves = log.tables(8) or []
        targets = [move.string(1).split("/") for move in moves]
        ascends(targets, "moves")
        stated = {move.required_id(2, 8): (move.string(0), move.string(1), move.number(3, "B"))
                  for move in moves}
        moved = {name: (old[name][0], new[name][0], int(new[name][1].refs is not None))
                 for name in set(old) & set(new) if old[name][0] != new[name][0]}
        assert stated == moved
        assert not moved or self.format == 2


def operation(update):
    kind = update.number(0, "B")
    table = update.table(1)
    words = {5: "s", 6: "si", 7: "s", 8: "si", 9: "si", 10: "si", 11: "sii", 12: "i"}.get(kind, "")
    values = [table.string(i) if code == "s" else table.required_id(i)
              for i, code in enumerate(words)]
    return update.number(2, "Q"), kind, values


def verify(path, is_ours=True, may_have_leftovers=False):
    if not may_have_leftovers:
        names = [name for name in path.rglob("*") if "#" in name.name or "partial" in name.name]
        assert not names
    return Verifier(path, is_ours).verify()
