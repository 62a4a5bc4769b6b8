"""Writes Icechunk repositories of format 2 or 1, as far as tests need them.

    repository = Repository(path)
    repository.commit({"": GROUP, "a": (document, {(0, 0): b"inline", (0, 1): native(b"…")})})
    repository.tags["v1"] = repository.commit(…)
    repository.write()

A table of a FlatBuffer is a dict: what each field id holds is `bytes` for what stands in the table
itself, Vector, str, a table, or a list of tables or strings.
"""
import json
import struct
from typing import NamedTuple

from numcodecs.zstd import Zstd

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
GROUP = {"zarr_format": 3, "node_type": "group"}
SNAPSHOT, MANIFEST, INFO = 1, 2, 6


def u8(number):
    return struct.pack("<B", number)


def u32(number):
    return struct.pack("<I", number)


def u64(number):
    return struct.pack("<Q", number)


class Vector(NamedTuple):
    content: bytes
    element_size: int = 1


class Inline(NamedTuple):
    """A chunk in the manifest."""
    content: bytes


class Native(NamedTuple):
    """A chunk in an object of its own, between other bytes."""
    content: bytes


class Virtual(NamedTuple):
    """A chunk in a file elsewhere."""
    url: str
    offset: int
    length: int
    etag: str = None
    last_modified: int = 0


def base32(raw):
    bits = len(raw) * 8
    padding = -bits % 5
    number = int.from_bytes(raw, "big") << padding
    return "".join(ALPHABET[number >> shift & 31] for shift in range(bits + padding - 5, -1, -5))


def flat_buffer(root):
    buffer = bytearray(8)
    add_table(buffer, 0, root)
    return bytes(buffer)


def align(buffer):
    buffer.extend(bytes(-len(buffer) % 8))


def lead_here(buffer, place):
    """Makes the offset at `place` lead to the end of the buffer."""
    buffer[place:place + 4] = u32(len(buffer) - place)


def add_vector(buffer, count, content):
    buffer.extend(u32(count) + content + b"\0")
    align(buffer)


def add_table(buffer, place, table):
    """Its field table, itself, and what its fields lead to."""
    places = [0] * (max(table, default=-1) + 1)
    content = bytearray(4)
    for field, value in table.items():
        align(content)
        places[field] = len(content)
        content.extend(value if isinstance(value, bytes) else bytes(4))
    field_table = len(buffer)
    buffer.extend(struct.pack(f"<HH{len(places)}H", 4 + 2 * len(places), len(content), *places))
    align(buffer)
    lead_here(buffer, place)
    start = len(buffer)
    content[:4] = u32(start - field_table)
    buffer.extend(content)
    align(buffer)
    for field, value in table.items():
        if isinstance(value, bytes):
            continue
        if isinstance(value, dict):
            add_table(buffer, start + places[field], value)
            continue
        lead_here(buffer, start + places[field])
        if isinstance(value, list):
            offsets = len(buffer) + 4
            add_vector(buffer, len(value), bytes(4 * len(value)))
            for i, item in enumerate(value):
                if isinstance(item, str):
                    lead_here(buffer, offsets + 4 * i)
                    add_vector(buffer, len(item.encode()), item.encode())
                else:
                    add_table(buffer, offsets + 4 * i, item)
        else:
            vector = Vector(value.encode()) if isinstance(value, str) else value
            add_vector(buffer, len(vector.content) // vector.element_size, vector.content)


def envelope(kind, root):
    header = "ICE🧊CHUNK".encode() + b"test".ljust(24) + bytes([2, kind, 1])
    return header + Zstd(3).encode(flat_buffer(root))


class Repository:
    def __init__(self, path, version=2):
        self.path, self.version = path, version
        self.branches, self.tags, self.deleted_tags, self.snapshots = {}, {}, [], []
        self.status = {0: u8(0)}
        self.id_count = 0
        self.manifest_files = []  # of the next snapshot
        for folder in ("snapshots", "manifests", "chunks"):
            (path / folder).mkdir(parents=True, exist_ok=True)

    def new_id(self, size=12):
        self.id_count += 1
        return self.id_count.to_bytes(size, "big")

    def commit(self, nodes, branch="main"):
        """Writes a snapshot of nodes by their paths: the document of a group, or that of an array
        with its chunks by their indexes. Returns its id."""
        tables = []
        for path, node in nodes.items():
            document, chunks = node if isinstance(node, tuple) else (node, None)
            node_id = self.new_id(8)
            data = {} if chunks is None else {2: self.manifests(node_id, chunks)}
            tables.append({0: node_id, 1: f"/{path}", 2: json.dumps(document),
                           3: u8(2 if chunks is None else 1), 4: data})
        files, self.manifest_files = self.manifest_files, []
        if self.version == 1:
            listing = {6: Vector(b"".join(struct.pack("<12s4xQI4x", *file) for file in files), 32)}
        else:
            listing = {7: [{0: name, 1: u64(size), 2: u32(count)} for name, size, count in files]}
        snapshot = self.new_id()
        tables.sort(key=lambda table: table[1].encode())
        (self.path / "snapshots" / base32(snapshot)).write_bytes(
            envelope(SNAPSHOT, {0: snapshot, 2: tables} | listing))
        self.snapshots.append(snapshot)
        self.branches[branch] = base32(snapshot)
        return base32(snapshot)

    def manifests(self, node_id, chunks):
        """Writes the manifest of an array. Returns the references to it: one or none."""
        if not chunks:
            return []
        manifest = self.new_id()
        references = [{0: Vector(b"".join(map(u32, index)), 4)} | self.reference(chunk)
                      for index, chunk in sorted(chunks.items())]
        content = envelope(MANIFEST, {0: manifest, 1: [{0: node_id, 1: references}]})
        (self.path / "manifests" / base32(manifest)).write_bytes(content)
        self.manifest_files.append((manifest, len(content), len(chunks)))
        extents = b"".join(u32(min(along)) + u32(max(along) + 1) for along in zip(*chunks))
        return [{0: manifest, 1: Vector(extents, 8)}]

    def reference(self, chunk):
        if isinstance(chunk, Inline):
            return {1: Vector(chunk.content)}
        if isinstance(chunk, Native):
            name = self.new_id()
            (self.path / "chunks" / base32(name)).write_bytes(b"---" + chunk.content + b"--")
            return {2: u64(3), 3: u64(len(chunk.content)), 4: name}
        fields = {2: u64(chunk.offset), 3: u64(chunk.length), 5: chunk.url,
                  7: u32(chunk.last_modified)}
        return fields | ({6: chunk.etag} if chunk.etag else {})

    def write(self):
        """Writes what says which snapshots branches and tags are. Returns the path."""
        if self.version == 1:
            refs = {f"branch.{name}": snapshot for name, snapshot in self.branches.items()}
            refs |= {f"tag.{name}": snapshot for name, snapshot in self.tags.items()}
            refs |= {f"tag.{name}": base32(self.snapshots[0]) for name in self.deleted_tags}
            for name, snapshot in refs.items():
                folder = self.path / "refs" / name
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "ref.json").write_text(json.dumps({"snapshot": snapshot}))
            for name in self.deleted_tags:
                (self.path / "refs" / f"tag.{name}" / "ref.json.deleted").touch()
            return self.path
        ids = [base32(snapshot) for snapshot in self.snapshots]

        def refs(names):
            return [{0: name, 1: u32(ids.index(names[name]))} for name in sorted(names)]

        info = {0: u8(2), 1: refs(self.tags), 2: refs(self.branches), 3: self.deleted_tags,
                4: [{0: snapshot, 3: ""} for snapshot in self.snapshots], 5: self.status}
        (self.path / "repo").write_bytes(envelope(INFO, info))
        return self.path
