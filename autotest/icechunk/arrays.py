"""Trees of arrays of NumPy, and random changes of them, which writers make through GDAL or, if
the arrays have no codecs, as documents and chunks.

Actions are ("group", path), ("array", path, ArrayNode), ("write", path, start, values),
("attribute", path, name, value), ("resize", path, shape), ("remove", path) and ("move", path,
new path, is same node).
"""
import itertools
import json
import math

import numpy as np
from changes import NAMES, Changes
from model import GROUP, Tree, identities
from osgeo import gdal

CAN_CHANGE_NODES = hasattr(gdal.Group, "Rename")  # since GDAL 3.8
TYPES = {"uint8": gdal.GDT_Byte, "uint16": gdal.GDT_UInt16, "int16": gdal.GDT_Int16,
         "uint32": gdal.GDT_UInt32, "float32": gdal.GDT_Float32, "float64": gdal.GDT_Float64}
CODECS = [[], [], ["COMPRESS=ZSTD"], ["COMPRESS=GZIP"], ["COMPRESS=BLOSC"]]


class GroupNode:
    is_array, chunks, home = False, {}, None

    def __init__(self):
        self.attributes, self.identity = {}, next(identities)

    @property
    def document(self):
        return json.dumps(self.attributes)

    def copy(self):
        made = GroupNode()
        made.__dict__ |= self.__dict__ | {"attributes": dict(self.attributes)}
        return made

    def take_document(self, other):
        self.attributes = dict(other.attributes)


class ArrayNode:
    is_array, home = True, None

    def __init__(self, shape, chunk, dtype, options=(), is_plain=False):
        self.values, self.chunk = np.zeros(shape, dtype), tuple(chunk)
        self.options, self.is_plain = options, is_plain
        self.attributes, self.identity = {}, next(identities)
        self.is_written = set()  # indexes of chunks

    @property
    def counts(self):
        return [math.ceil(size / chunk) for size, chunk in zip(self.values.shape, self.chunk)]

    @property
    def document(self):
        return json.dumps([self.values.shape, self.attributes])

    def window(self, index):
        return tuple(slice(i * size, (i + 1) * size) for i, size in zip(index, self.chunk))

    @property
    def chunks(self):
        return {index: self.values[self.window(index)].tobytes()
                for index in itertools.product(*map(range, self.counts))
                if self.values[self.window(index)].any()}

    def copy(self):
        made = ArrayNode((), (), "u1")
        made.__dict__ |= self.__dict__ | {"values": self.values.copy(),
                                          "attributes": dict(self.attributes)}
        return made

    def take_document(self, other):
        self.attributes = dict(other.attributes)
        self.resize(other.values.shape)

    def take_chunk(self, other, index):
        window = self.window(index)
        if self.values[window].shape == other.values[window].shape:
            self.values[window] = other.values[window]

    def resize(self, shape):
        values = np.zeros(shape, self.values.dtype)
        both = tuple(slice(min(sizes)) for sizes in zip(shape, self.values.shape))
        values[both] = self.values[both]
        self.values = values

    def json(self):
        """The document, if it has no codecs."""
        name = self.values.dtype.name
        codec = {"name": "bytes"} | ({} if name == "uint8" else
                                     {"configuration": {"endian": "little"}})
        return {"zarr_format": 3, "node_type": "array", "shape": self.values.shape,
                "data_type": name, "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": self.chunk}},
                "codecs": [codec], "attributes": self.attributes}

    def stored_chunk(self, index):
        whole = np.zeros(self.chunk, self.values.dtype)
        part = self.values[self.window(index)]
        whole[tuple(map(slice, part.shape))] = part
        return whole.tobytes()


class ArrayTree(Tree):
    def apply(self, actions):
        for kind, path, *words in actions:
            if kind == "group":
                self[path] = GroupNode()
            elif kind == "array":
                self[path] = words[0].copy()
            elif kind == "write":
                start, values = words
                window = tuple(slice(i, i + n) for i, n in zip(start, values.shape))
                self[path].values[window] = values
            elif kind == "attribute":
                self[path].attributes[words[0]] = words[1]
            elif kind == "resize":
                self[path].resize(words[0])
            else:
                super().apply([("delete_folder" if kind == "remove" else kind, path, *words)])
        return self

    def copy(self):
        return ArrayTree({path: node.copy() for path, node in self.items()})

    def contents(self):
        return {path: (node.attributes, node.values.shape, node.values.dtype.name,
                       node.values.tobytes()) if node.is_array else (node.attributes,)
                for path, node in self.items()}


class Actions(list):
    """For the reference, `keys` are the same in its terms."""


class ArrayChanges(Changes):
    """The same for arrays."""

    def __init__(self, random, tree, version, by_reference):
        super().__init__(random, tree, version, by_reference)
        self.actions = Actions()
        self.actions.keys = []

    def act(self, *action, keys=()):
        self.tree.apply([action])
        self.actions.append(action)
        self.actions.keys.extend(keys)

    def paths(self, is_array):
        return [path for path in super().paths(is_array)
                if not (self.by_reference and is_array and not self.tree[path].is_plain)]

    def make(self, count):
        if "" not in self.tree:
            self.act("group", "", keys=[("set", "zarr.json", GROUP)])
        kinds = [self.new_group, self.new_array, *[self.write] * 4]
        if CAN_CHANGE_NODES:
            kinds += [self.remove]
        if not self.by_reference:
            kinds += [self.set_attribute] + [self.resize, self.move] * CAN_CHANGE_NODES
        while len(self.actions) < count:
            self.pick(kinds)()
        return self.actions

    def new_group(self):
        if path := self.new_path():
            self.act("group", path, keys=[("set", f"{path}/zarr.json", GROUP)])

    def new_array(self):
        path = self.new_path()
        if not path:
            return
        rank = self.random.integers(1, 4)
        shape = [int(size) for size in self.random.integers(1, 20, rank)]
        chunk = [int(size) for size in self.random.integers(1, 5, rank)]
        is_plain = self.by_reference or self.random.random() < 0.3
        options = [] if is_plain else self.pick(CODECS)
        if not is_plain and self.random.random() < 0.3:
            options = [*options, "SHARD_CHUNK_SHAPE=" + ",".join(map(str, chunk))]
            chunk = [2 * size for size in chunk]
        node = ArrayNode(shape, chunk, self.pick(TYPES), options, is_plain)
        self.act("array", path, node,
                 keys=[("set", f"{path}/zarr.json", json.dumps(node.json()).encode())])

    def write(self):
        path = self.pick(self.paths(True))
        if not path:
            return
        node = self.tree[path]
        if self.by_reference:
            index = tuple(int(self.random.integers(count)) for count in node.counts)
            start = [i * size for i, size in zip(index, node.chunk)]
            count = node.values[node.window(index)].shape
        else:
            start = [int(self.random.integers(size)) for size in node.values.shape]
            count = [int(self.random.integers(1, size - first + 1))
                     for first, size in zip(start, node.values.shape)]
        values = self.random.integers(0, 100, count).astype(node.values.dtype)
        if self.random.random() < 0.1:
            values[...] = 0
        self.act("write", path, start, values)
        if self.by_reference:
            key = "/".join([path, "c", *map(str, index)])
            self.actions.keys.append(("set", key, node.stored_chunk(index)))

    def set_attribute(self):
        self.act("attribute", self.pick(sorted(self.tree)), self.pick("mn"),
                 int(self.random.integers(1000)))

    def resize(self):
        if path := self.pick(self.paths(True)):
            shape = [max(1, size + int(self.random.integers(-5, 6)))
                     for size in self.tree[path].values.shape]
            self.act("resize", path, tuple(shape))

    def remove(self):
        if path := self.pick(sorted(path for path in self.tree if path)):
            self.act("remove", path, keys=[("delete_folder", path)])

    def move(self):
        path = self.pick(sorted(path for path in self.tree if path))
        if not path:
            return
        above = path.rpartition("/")[0]
        target = f"{above}/{self.pick(NAMES)}".lstrip("/")
        if target not in self.tree:
            self.act("move", path, target, self.version == 2)


# --- Through GDAL --------------------------------------------------------------------------------

def perform(root, kind, path, *words):
    """An action, in the dataset of the root group."""
    above, _, name = path.rpartition("/")
    group = root.OpenGroupFromFullname("/" + above) if above else root
    if kind == "group":
        if path:
            group.CreateGroup(name)
    elif kind == "array":
        node, = words
        dimensions = [group.CreateDimension(f"{name}{i} {node.identity}", None, None, size)
                      for i, size in enumerate(node.values.shape)]
        gdal_type = gdal.ExtendedDataType.Create(TYPES[node.values.dtype.name])
        group.CreateMDArray(name, dimensions, gdal_type, [
            "BLOCKSIZE=" + ",".join(map(str, node.chunk)), *node.options])
    elif kind == "write":
        start, values = words
        root.OpenMDArrayFromFullname("/" + path).Write(
            values.tobytes(), [int(i) for i in start], list(values.shape))
    elif kind == "attribute":
        set_attribute(node_at(root, path), *words)
    elif kind == "resize":
        root.OpenMDArrayFromFullname("/" + path).Resize(list(words[0]))
    elif kind == "move":
        node_at(root, path).Rename(words[0].rpartition("/")[2])
    elif name in (group.GetMDArrayNames() or []):
        group.DeleteMDArray(name)
    else:
        group.DeleteGroup(name)


def node_at(root, path):
    if not path:
        return root
    above, _, name = path.rpartition("/")
    group = root.OpenGroupFromFullname("/" + above) if above else root
    is_array = name in (group.GetMDArrayNames() or [])
    return group.OpenMDArray(name) if is_array else group.OpenGroup(name)


def set_attribute(node, name, value):
    old = [each for each in node.GetAttributes() if each.GetName() == name]
    attribute = old[0] if old else node.CreateAttribute(
        name, [], gdal.ExtendedDataType.Create(gdal.GDT_Int32))
    attribute.Write(value)


def contents_of(root):
    """As ArrayTree.contents()."""
    found = {}

    def attributes(node):
        return {each.GetName(): each.Read() for each in node.GetAttributes()}

    def visit(group, path):
        found[path] = (attributes(group),)
        for name in group.GetMDArrayNames() or []:
            array = group.OpenMDArray(name)
            values = array.ReadAsArray()
            found[f"{path}/{name}".lstrip("/")] = (
                attributes(array), values.shape, values.dtype.name, values.tobytes())
        for name in group.GetGroupNames() or []:
            visit(group.OpenGroup(name), f"{path}/{name}".lstrip("/"))

    visit(root, "")
    return found
