"""What an Icechunk repository should hold: trees of nodes with documents and chunks, as bytes.

Changes are lists of actions: ("set", key, bytes), ("delete", key), ("delete_folder", path)
and ("move", path, new path, is same node), without a leading slash.
"""
import copy
import itertools
import json
import math
from dataclasses import dataclass, field

from judge import encoded

GROUP = json.dumps({"zarr_format": 3, "node_type": "group"}).encode()
identities = itertools.count()


def array(shape, chunk, **members):
    """A document of bytes without codecs that would change their size."""
    return json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 7,
        "codecs": [{"name": "bytes"}]} | members).encode()


@dataclass
class Node:
    document: bytes
    chunks: dict = field(default_factory=dict)  # by index
    identity: int = field(default_factory=lambda: next(identities))
    home: tuple = None  # its path and identity before a transaction has moved it

    def __post_init__(self):
        self.read()

    def read(self):
        self.json = json.loads(self.document)
        self.is_array = self.json["node_type"] == "array"

    @property
    def chunk_shape(self):
        return self.json["chunk_grid"]["configuration"]["chunk_shape"]

    @property
    def counts(self):
        return [math.ceil(size / chunk) for size, chunk in zip(self.json["shape"],
                                                               self.chunk_shape)]


    def copy(self):
        return copy.deepcopy(self)

    def take_document(self, other):
        self.document = other.document
        self.read()
        self.drop_outside()

    def take_chunk(self, other, index):
        if index in other.chunks:
            self.chunks[index] = other.chunks[index]
        else:
            self.chunks.pop(index, None)

    def drop_outside(self):
        if self.is_array:
            self.chunks = {index: chunk for index, chunk in self.chunks.items()
                           if all(i < count for i, count in zip(index, self.counts))}


class Tree(dict):
    """Nodes by their paths, of which the root's is empty."""

    def apply(self, actions):
        for action, key, *more in actions:
            if action == "set":
                self.set(key, *more)
            elif action == "delete":
                path, index = self.place(key)
                self[path].chunks.pop(index, None)
            elif action == "delete_folder":
                for path in self.below(key):
                    del self[path]
            else:
                for path in self.below(key):
                    node = self.pop(path)
                    place = more[0] + path.removeprefix(key)
                    if not more[1]:
                        node.home = node.home or (path, node.identity)
                        is_back = place == node.home[0]
                        node.identity = node.home[1] if is_back else next(identities)
                    self[place] = node
        return self

    def set(self, key, content):
        if key.endswith("zarr.json"):
            path = key.removesuffix("zarr.json").rstrip("/")
            if path not in self:
                self[path] = Node(content)
                return
            node = self[path]
            node.document = content
            node.read()
            node.drop_outside()
        else:
            path, index = self.place(key)
            self[path].chunks[index] = content

    def place(self, key):
        """The array and the index of a chunk's key."""
        path, _, index = ("/" + key).rpartition("/c")
        return path.lstrip("/"), tuple(int(i) for i in index.split("/")[1:])

    def below(self, path):
        return [name for name in self if name == path or name.startswith(path + "/")]

    def is_sound(self):
        """Whether all nodes but the root are in groups."""
        return all(not path or ((above := self.get(path.rpartition("/")[0])) and not above.is_array)
                   for path in self)

    def copy(self):
        """For another transaction."""
        tree = copy.deepcopy(self)
        for node in tree.values():
            node.home = None
        return tree

    def contents(self):
        found = {}
        for path, node in self.items():
            folder = path and path + "/"
            found[folder + "zarr.json"] = node.document
            for index, chunk in node.chunks.items():
                found[folder + "/".join(["c", *map(str, index)])] = chunk
        return found


def for_call(actions):
    """As JSON."""
    return [[encoded(word) if isinstance(word, bytes) else word for word in action]
            for action in actions]


def touched(base, changed):
    """What a transaction has changed: nodes whose place or document is new, old or other, by their
    paths; and chunks."""
    old, new = by_identity(base), by_identity(changed)
    nodes, chunks = set(), set()
    for identity in {*old, *new}:
        here, there = old.get(identity), new.get(identity)
        if here is None or there is None or here[0] != there[0]:
            nodes |= {each[0] for each in (here, there) if each}
            continue
        (path, before), (_, after) = here, there
        if before.document != after.document:
            nodes.add(path)
        chunks |= {(path, index) for index in {*before.chunks, *after.chunks}
                   if before.chunks.get(index) != after.chunks.get(index)}
    return nodes, chunks


def merge(base, first, second):
    """`first`, with the changes that have led from `base` to `second`; None if there is no such
    tree."""
    merged = first.copy()
    old, new = by_identity(base), by_identity(second)
    for identity in old:
        if identity not in new:
            found = by_identity(merged).get(identity)
            if found:
                del merged[found[0]]
    moved = {}
    for identity, (path, node) in new.items():
        before = old.get(identity)
        here = by_identity(merged).get(identity)
        if before is None:
            moved[path] = node.copy()
            continue
        if here is None:
            continue
        if before[1].document != node.document:
            here[1].take_document(node)
        for index in {*before[1].chunks, *node.chunks}:
            if before[1].chunks.get(index) != node.chunks.get(index):
                here[1].take_chunk(node, index)
        if before[0] != path:
            moved[path] = merged.pop(here[0])
    for path in set(moved) & set(merged):
        both = moved[path], merged[path]
        if any(node.is_array for node in both) or both[0].document != both[1].document:
            return None
        del moved[path]
    merged.update(moved)
    return merged if merged.is_sound() else None


def by_identity(tree):
    return {node.identity: (path, node) for path, node in tree.items()}


def relation(base, first, second, merged):
    """Of two transactions that started from `base`: "apart" if both must be possible, "clash" if
    they cannot both be, else "near". `merged` is that of merge()."""
    (nodes, chunks), (others, other_chunks) = touched(base, first), touched(base, second)
    paths = nodes | {path for path, _ in chunks}
    other_paths = others | {path for path, _ in other_chunks}
    if not any(is_near(one, other) for one, other in itertools.chain(
            itertools.product(nodes, other_paths), itertools.product(paths, others))):
        return "clash" if chunks & other_chunks else "apart"
    if merged is None:
        return "clash"
    # A node that one has deleted and whose chunks the other has changed.
    is_lost = any(path in base and base[path].identity not in
                  {node.identity for node in tree.values()}
                  for tree, changed in ((first, other_chunks), (second, chunks))
                  for path, _ in changed)
    return "clash" if is_lost else "near"


def is_near(one, other):
    return one == other or (one + "/").startswith(other + "/") or (other + "/").startswith(
        one + "/") or one == "" or other == ""
