"""Stores that are damaged at random, with what check must say of them and what repair can mend.

    store = DamagedStore(folder, seed)
    store.path, store.findings, store.remaining, store.values
"""
import json
import os
import shutil
import zipfile

import numcodecs
import numpy as np
from stores import (
    ABSENT,
    BYTES,
    CRC32C,
    GZIP,
    ZSTD,
    crc32c,
    edit_json,
    sharding,
    write_array,
    write_group,
)
from v2_stores import write_v2, write_v2_group

NEW, OLD = ".gdal-zarr-new", ".gdal-zarr-old"
CODECS = [[BYTES, GZIP], [BYTES, ZSTD, CRC32C], [BYTES], [sharding((2, 2), [BYTES, GZIP, CRC32C])]]
COMPRESSORS = [numcodecs.Zlib(1), numcodecs.GZip(1), None]
FOREIGN = ["README.md", "g0/notes.txt", ".DS_Store"]


class DamagedStore:
    def __init__(self, folder, seed):
        self.random = np.random.default_rng(seed)
        self.folder = self.path = folder / "a.zarr"
        self.is_v2 = self.chance(0.4)
        self.findings = set()  # of check --read
        self.remaining = set()  # after repair
        self.missing = {}  # how many chunks, by array
        self.changed, self.outside, self.rechunks = set(), {}, {}  # arrays, and their findings
        self.values = {}  # of the arrays that can be read after repair
        self.codecs = {}
        self.in_order = []  # for messages
        self.make()
        self.is_consolidated = self.chance(0.6)
        if self.is_consolidated:
            self.consolidate()
        self.copy_key = ".zmetadata" if self.is_v2 else "zarr.json"
        self.whole = list(self.values)  # arrays that nothing has damaged yet
        self.random.shuffle(self.whole)
        self.was_consolidated, self.is_unknown = self.is_consolidated, False
        self.is_root_broken = self.has_wrong_copy = self.has_broken_nodes = False
        self.is_copy_cut = False
        is_zip = self.chance(0.25)
        damages = self.DAMAGES + (() if is_zip else self.OF_FOLDERS)
        for _ in range(int(self.random.integers(1, 5))):
            damage = damages[int(self.random.integers(len(damages)))]
            if self.whole and damage(self) is not False:
                self.in_order.append(damage.__name__)
        if self.chance(0.04):
            self.break_root()
        if self.is_consolidated and (self.has_wrong_copy or self.has_broken_nodes):
            self.findings.add(("copy", self.copy_key))
            # The copy may say that chunks are not outside.
            uncertain = {array for array in self.outside
                         if self.is_copy_cut or array in self.changed}
            self.remaining |= {self.outside[array] for array in uncertain}
            if self.has_broken_nodes or uncertain:
                self.remaining.add(("copy", self.copy_key))
                self.keep_rechunks()
        if self.is_root_broken:
            self.findings = self.remaining = {("document", "")}
        if is_zip:
            self.zip()

    def chance(self, probability):
        return self.random.random() < probability

    def choose(self, items):
        return items[int(self.random.integers(len(items)))]

    # --- The sound store -------------------------------------------------------------------------

    def make(self):
        (write_v2_group if self.is_v2 else write_group)(self.path)
        for number in range(int(self.random.integers(2, 6))):
            name = self.choose(["", "g0/", "g0/h/"]) + f"a{number}"
            data = self.random.integers(1, 100, tuple(self.random.integers(5, 13, 2)), "i4")
            self.values[name] = data
            codecs = self.choose(COMPRESSORS if self.is_v2 else CODECS + CODECS[3:])
            self.codecs[name] = codecs
            if self.is_v2:
                write_v2(self.path, name, data, {"title": name}, chunks=(4, 4), compressor=codecs,
                         fill_value=0, dimension_separator=self.choose("./"))
            else:
                for group in ("g0", "g0/h"):
                    if name.startswith(group + "/"):
                        write_group(self.path / group)
                write_array(self.path / name, data, (4, 4), codecs, attributes={"title": name})

    def consolidate(self):
        """As zarr-python does."""
        names = (".zarray", ".zgroup", ".zattrs") if self.is_v2 else ("zarr.json",)
        found = {file.relative_to(self.path).as_posix(): json.loads(file.read_text())
                 for file in sorted(self.path.rglob("*")) if file.name in names}
        if self.is_v2:
            document = {"zarr_consolidated_format": 1, "metadata": found}
            (self.path / ".zmetadata").write_text(json.dumps(document))
            return
        nodes = {key.removesuffix("/zarr.json"): node for key, node in found.items()
                 if key != "zarr.json"}
        edit_json(self.path / "zarr.json", consolidated_metadata={
            "kind": "inline", "must_understand": False, "metadata": nodes})

    def zip(self):
        self.path = self.folder.with_suffix(".zip")
        with zipfile.ZipFile(self.path, "w", self.choose([zipfile.ZIP_STORED,
                                                          zipfile.ZIP_DEFLATED])) as archive:
            for file in sorted(self.folder.rglob("*")):
                if file.is_file():
                    archive.write(file, file.relative_to(self.folder).as_posix())

    # --- Damages: False when they are impossible here --------------------------------------------

    def document(self, array):
        return self.folder / array / (".zarray" if self.is_v2 else "zarr.json")

    def key(self, file):
        return file.relative_to(self.folder).as_posix()

    def chunk(self, array):
        """The file of a chunk."""
        return self.choose(self.chunks(array))

    def chunks(self, array):
        """Those inside of the shape."""
        documents = (".zarray", ".zattrs", "zarr.json")
        return sorted(file for file in (self.folder / array).rglob("*")
                      if file.is_file() and file.name not in documents
                      and not file.name.startswith(".")
                      and self.position(array, file)[0].start < 16)

    def position(self, array, file):
        name = self.key(file).removeprefix(array + "/").removeprefix("c/")
        return tuple(slice(4 * int(i), 4 * int(i) + 4) for i in name.replace(".", "/").split("/"))

    def lose(self, array, kind, place):
        """What a user has to decide on."""
        self.values.pop(array)
        if kind == "document":  # nobody knows what is outside
            self.findings.discard(self.outside.pop(array, None))
        self.findings.add((kind, place))
        self.remaining.add((kind, place))

    def missing_chunk(self):
        array = self.choose(self.whole)
        if len(self.chunks(array)) < 2:
            return False
        file = self.chunk(array)
        self.values[array][self.position(array, file)] = 0
        file.unlink()
        self.missing[array] = self.missing.get(array, 0) + 1
        return True

    def cut_document(self):
        array = self.whole.pop()
        file = self.document(array)
        if self.is_v2 and self.chance(0.3):
            file = file.with_name(".zattrs")
        text = file.read_text().rstrip()
        file.write_text(text[:int(self.random.integers(len(text)))])
        self.lose(array, "document", array)
        self.has_broken_nodes = True

    def wrong_document(self):
        array = self.whole.pop()
        codecs = {"compressor": {"id": "made_up"}} if self.is_v2 else {
            "codecs": [BYTES, {"name": "made_up"}]}
        types = {"dtype": "<q9"} if self.is_v2 else {"data_type": "int33"}
        edit_json(self.document(array), **self.choose([codecs, types, {"shape": [-1, 3]},
                                                       {"shape": "large"}, {"zarr_format": 9}]))
        self.is_unknown = True  # but perhaps of use to others
        self.lose(array, "document", array)
        self.has_broken_nodes = True

    def changed_attributes(self):
        """Which the copies do not have."""
        array = self.choose(self.whole)
        if self.is_v2:
            edit_json(self.folder / array / ".zattrs", title="new")
        else:
            edit_json(self.document(array), attributes={"title": "new"})
        self.changed.add(array)
        self.has_wrong_copy = True

    def removed_array(self):
        if len(self.whole) < 2:
            return False
        array = self.whole.pop()
        shutil.rmtree(self.folder / array)
        del self.values[array]
        self.findings.discard(self.outside.pop(array, None))
        self.has_wrong_copy = True
        return True

    def cut_copy(self):
        if not self.is_consolidated:
            return False
        if self.is_v2:
            file = self.folder / ".zmetadata"
            file.write_bytes(file.read_bytes()[:int(self.random.integers(40, 90))])
        else:
            edit_json(self.folder / "zarr.json", consolidated_metadata={"metadata": "lost"})
        self.has_wrong_copy = True
        self.is_copy_cut = True
        return True

    def owed_copy(self):
        """As a program leaves it that is killed between a change and its end."""
        if not self.is_consolidated or (self.folder / ".zarr-consolidation-owed").exists():
            return False
        if self.is_v2:
            (self.folder / ".zmetadata").unlink()
        else:
            edit_json(self.folder / "zarr.json", consolidated_metadata=ABSENT)
        (self.folder / ".zarr-consolidation-owed").write_text('{"groups": [""], "writer": "x"}')
        self.findings.add(("copy", ""))
        self.is_consolidated = False
        return True

    def wrong_chunk(self):
        array = self.whole.pop()
        file = self.chunk(array)
        content = file.read_bytes()
        if not self.is_v2 and self.codecs[array] == CODECS[3]:  # the first inner chunk
            content = content[:12] + bytes([content[12] ^ 1]) + content[13:]
        elif self.codecs[array] and self.codecs[array] != [BYTES] and self.chance(0.5):
            at = int(self.random.integers(len(content) - 8, len(content) - 4))
            content = content[:at] + bytes([content[at] ^ 1]) + content[at + 1:]
        else:
            content = content[:int(self.random.integers(len(content)))]
        file.write_bytes(content)
        self.lose(array, "chunk", self.key(file))

    def wrong_index(self):
        shards = [array for array in self.whole if not self.is_v2
                  and self.codecs[array] == CODECS[3]]
        if not shards:
            return False
        array = self.choose(shards)
        self.whole.remove(array)
        file = self.chunk(array)
        content = file.read_bytes()
        index = np.frombuffer(content[-68:-4], "<u8").reshape(4, 2).copy()
        match int(self.random.integers(4)):
            case 0:
                index[0, 0] = 1 << 40
            case 1:
                index[1, 0] = index[0, 0] + 1
            case 2:
                content = content[:int(self.random.integers(67))]
            case 3:
                content = content[:-1] + bytes([content[-1] ^ 1])
        if len(content) > 67 and crc32c(content[-68:-4]) == int.from_bytes(content[-4:], "little"):
            content = content[:-68] + index.tobytes() + crc32c(index.tobytes()).to_bytes(
                4, "little")
        file.write_bytes(content)
        self.lose(array, "index", self.key(file))
        return True

    def chunks_outside(self):
        """As after an interrupted change of the shape."""
        array = self.choose(self.whole)
        file = self.chunk(array)
        document = json.loads(self.document(array).read_text())
        separator = document.get("dimension_separator", ".") if self.is_v2 else "/"
        places = []
        for number in range(4, 4 + int(self.random.integers(1, 4))):
            name = f"{number}{separator}0"
            outside = self.folder / array / (name if self.is_v2 else "c/" + name)
            if outside.exists():
                return False
            outside.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, outside)
            places.append(self.key(outside))
        self.outside[array] = "leftover", min(places)
        self.findings.add(self.outside[array])
        return True

    def foreign_file(self):
        file = self.folder / self.choose(FOREIGN)
        if file.parent.is_dir():
            file.write_text("not Zarr")

    def temporary_file(self):
        folder = self.folder / self.choose(["", self.whole.pop()])
        file = folder / f".1-{int(self.random.integers(99))}-3.zarr-partial"
        file.write_bytes(b"half")
        os.utime(file, (1, 1))  # long ago
        self.findings.add(("leftover", self.key(file)))

    def interrupted_rechunk(self):
        array = self.whole.pop()
        path = self.folder / array
        new, old = path.with_name(path.name + NEW), path.with_name(path.name + OLD)
        match int(self.random.integers(4)):
            case 0:  # the copy is not complete
                shutil.copytree(path, new)
                if self.chance(0.5):
                    self.chunk(array + NEW).unlink()
                if self.chance(0.5):
                    self.document(array + NEW).unlink()
            case 1:
                shutil.copytree(path, new)
                path.rename(old)
                self.has_wrong_copy = True
            case 2:
                path.rename(old)
                self.has_wrong_copy = True
            case 3:
                shutil.copytree(path, old)
        left = {("leftover", self.key(left)) for left in (new, old) if left.exists()}
        self.findings |= left
        self.rechunks[array] = left

    def keep_rechunks(self):
        """To end one would make the copy again, which may hold the only good documents."""
        for array, left in self.rechunks.items():
            self.remaining |= left
            del self.values[array]

    def break_root(self):
        file = self.folder / (".zgroup" if self.is_v2 else "zarr.json")
        file.write_text("{")
        self.is_root_broken = True
        self.in_order.append("break_root")

    DAMAGES = (missing_chunk, cut_document, wrong_document, changed_attributes, removed_array,
               cut_copy, owed_copy, wrong_chunk, wrong_index, chunks_outside, foreign_file)
    OF_FOLDERS = (temporary_file, interrupted_rechunk)
