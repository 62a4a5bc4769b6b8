"""Random changes of a tree, as actions (model.py)."""
import json

from model import GROUP, array

NAMES = ["a", "b", "a-b", "A", "é", "x.y", "a b"]
SIZES = [1, 20, 511, 512, 513, 700]  # of chunks: at and around what is stored inline


class Changes:
    """Collects the actions of a transaction and applies them to its tree."""

    def __init__(self, random, tree, version, by_reference=False):
        self.random, self.tree, self.actions = random, tree, []
        # In format 1, a moved node is another one.
        self.version = version
        self.can_move = version == 2 or not by_reference
        # Moves and other changes exclude one another in its sessions, and chunks that it has put
        # itself outlive a smaller shape.
        self.by_reference = by_reference
        self.resized = set()

    def pick(self, values):
        values = list(values)
        return values[self.random.integers(len(values))] if values else None

    def act(self, *action):
        self.tree.apply([action])
        self.actions.append(action)

    def paths(self, is_array):
        return sorted(path for path, node in self.tree.items() if node.is_array == is_array)

    def new_path(self):
        above = self.pick(self.paths(False))
        names = [f"{above}/{name}".lstrip("/") for name in NAMES]
        return self.pick(path for path in names if path not in self.tree)

    def make(self, count):
        if "" not in self.tree:
            self.act("set", "zarr.json", GROUP)
        if self.by_reference and self.can_move and self.random.random() < 0.2:
            self.move()
            if self.actions:
                return self.actions
        kinds = [self.new_group, self.new_array, self.write, self.write, self.write, self.erase,
                 self.rewrite, self.resize, self.remove]
        if self.can_move and not self.by_reference:
            kinds.append(self.move)
        while len(self.actions) < count:
            self.pick(kinds)()
        return self.actions

    def new_group(self):
        if path := self.new_path():
            self.act("set", f"{path}/zarr.json", GROUP)

    def new_array(self):
        if path := self.new_path():
            self.resized.add(path)
            rank = self.random.integers(4)
            shape = [int(size) for size in self.random.integers(0, 9, rank)]
            chunk = [int(size) for size in self.random.integers(1, 4, rank)]
            names = self.pick([{}, {"dimension_names": [self.pick(["x", None])] * rank}])
            self.act("set", f"{path}/zarr.json", array(shape, chunk, **names))
            for _ in range(self.random.integers(3)):
                self.put(path)

    def put(self, path):
        node = self.tree[path]
        if 0 in node.counts:
            return
        index = [str(self.random.integers(count)) for count in node.counts]
        self.resized.add(path)
        self.act("set", "/".join([path, "c", *index]), self.random.bytes(self.pick(SIZES)))

    def write(self):
        if path := self.pick(self.paths(True)):
            for _ in range(self.random.integers(1, 5)):
                self.put(path)

    def erase(self):
        written = [(path, index) for path in self.paths(True)
                   for index in sorted(self.tree[path].chunks)]
        if written:
            path, index = self.pick(written)
            self.act("delete", "/".join([path, "c", *map(str, index)]))

    def rewrite(self):
        path = self.pick(sorted(self.tree))
        document = self.tree[path].json | {"attributes": {"n": int(self.random.integers(1000))}}
        self.act("set", f"{path}/zarr.json".lstrip("/"), json.dumps(document).encode())

    def resize(self):
        path = self.pick(self.paths(True))
        if path and not (self.by_reference and path in self.resized):
            self.resized.add(path)
            shape = [max(0, size + int(self.random.integers(-4, 5)))
                     for size in self.tree[path].json["shape"]]
            document = self.tree[path].json | {"shape": shape}
            self.act("set", f"{path}/zarr.json", json.dumps(document).encode())

    def remove(self):
        if path := self.pick(sorted(path for path in self.tree if path)):
            self.act("delete_folder", path)

    def move(self):
        path, target = self.pick(sorted(path for path in self.tree if path)), self.new_path()
        if path and target and not f"{target}/".startswith(f"{path}/"):
            self.act("move", path, target, self.version == 2)
