"""Metadata that several handles, processes and programs change."""
import json
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr
from multidim import attributes, create_array, open_root, open_to_write
from osgeo import gdal
from stores import BYTES, consolidate, edit_json, write_array, write_group

SHAPE = (4, 6)
IS_ZARR_PYTHON_3 = not zarr.__version__.startswith("2.")
V2_FORMAT = {"zarr_format": 2} if IS_ZARR_PYTHON_3 else {"zarr_version": 2}
# It changes documents, and leaves old consolidated metadata as it is.
OWN_DOCUMENTS = {"use_consolidated": False} if IS_ZARR_PYTHON_3 else {}


class V2:
    """A store of v2 as zarr-python changes it."""

    def __init__(self, path):
        self.path = path
        root = zarr.open_group(str(path), mode="w", **V2_FORMAT)
        root.create_group("g")
        for name in ("a", "b", "g/c"):
            self.create(name)

    def node(self, name):
        root = zarr.open_group(str(self.path), mode="r+", **OWN_DOCUMENTS)
        return root[name] if name else root

    def create(self, name):
        group = self.node("")
        make = group.create_array if IS_ZARR_PYTHON_3 else group.create_dataset
        make(name, shape=SHAPE, chunks=(2, 3), dtype="u1")

    def set(self, name, attribute, value):
        self.node(name).attrs[attribute] = value

    def unset(self, name, attribute):
        del self.node(name).attrs[attribute]

    def resize(self, name, shape):
        self.node(name).resize(shape)

    def erase(self, name):
        del self.node("")[name]

    def rename(self, name, new):
        if IS_ZARR_PYTHON_3:  # zarr-python has no function for it yet
            (self.path / name).rename(self.path / new)
        else:
            self.node("").move(name, new)

    def consolidate(self):
        zarr.consolidate_metadata(str(self.path))

    def documents(self):
        files = [file for name in (".zgroup", ".zarray", ".zattrs")
                 for file in self.path.rglob(name)]
        return {str(file.relative_to(self.path)): json.loads(file.read_text()) for file in files}

    def consolidated(self):
        documents = json.loads((self.path / ".zmetadata").read_text())["metadata"]
        for document in documents.values():  # zarr-python 3 also writes the v3 member here
            document.pop("consolidated_metadata", None)
        return documents

    def state(self):
        documents = self.documents()
        return {str(Path(key).parent): (
                    tuple(content.get("shape", ())),
                    without_dimensions(documents.get(str(Path(key).parent / ".zattrs"), {})))
                for key, content in documents.items() if not key.endswith(".zattrs")}


class V3:
    """A store of v3, changed by a program that only knows JSON."""

    def __init__(self, path):
        self.path = path
        write_group(path)
        write_group(path / "g")
        for name in ("a", "b", "g/c"):
            self.create(name)

    def create(self, name):
        write_array(self.path / name, np.zeros(SHAPE, "u1"), (2, 3), [BYTES])

    def document(self, name):
        return json.loads((self.path / name / "zarr.json").read_text())

    def set(self, name, attribute, value):
        old = self.document(name).get("attributes", {})
        edit_json(self.path / name / "zarr.json", attributes=old | {attribute: value})

    def unset(self, name, attribute):
        old = self.document(name)["attributes"]
        edit_json(self.path / name / "zarr.json",
                  attributes={key: value for key, value in old.items() if key != attribute})

    def resize(self, name, shape):
        edit_json(self.path / name / "zarr.json", shape=list(shape))

    def erase(self, name):
        shutil.rmtree(self.path / name)

    def rename(self, name, new):
        (self.path / name).rename(self.path / new)

    def consolidate(self):
        consolidate(self.path, **{name: content for name, content in self.nodes().items() if name})

    def nodes(self):
        nodes = {str(file.parent.relative_to(self.path)): json.loads(file.read_text())
                 for file in self.path.rglob("zarr.json")}
        nodes[""] = nodes.pop(".")
        nodes[""].pop("consolidated_metadata", None)
        return nodes

    def documents(self):
        return {name: content for name, content in self.nodes().items() if name}

    def consolidated(self):
        return self.document("")["consolidated_metadata"]["metadata"]

    def state(self):
        return {name or ".": (tuple(content.get("shape", ())),
                              without_dimensions(content.get("attributes", {})))
                for name, content in self.nodes().items()}


def without_dimensions(values):
    return {key: value for key, value in values.items() if key != "_ARRAY_DIMENSIONS"}


@pytest.fixture(params=[V2, V3])
def store(request, tmp_path):
    made = request.param(tmp_path / "s.zarr")
    made.consolidate()
    return made


def node(root, name):
    if not name:
        return root
    *groups, last = name.split("/")
    for group in groups:
        root = root.OpenGroup(group)
    return root.OpenGroup(last) if last in (root.GetGroupNames() or []) else root.OpenMDArray(last)


def set_attribute(target, name, value):
    attribute = target.GetAttribute(name) if name in attributes(target) else None
    attribute = attribute or target.CreateAttribute(
        name, [], gdal.ExtendedDataType.Create(gdal.GDT_Int32))
    attribute.Write(value)


def assert_consolidated(store):
    assert store.consolidated() == store.documents()


def test_two_handles_on_two_arrays(store):
    first, second = open_to_write(store.path), open_to_write(store.path)
    set_attribute(node(first.GetRootGroup(), "a"), "one", 1)
    set_attribute(node(second.GetRootGroup(), "b"), "two", 2)
    set_attribute(second.GetRootGroup(), "root", 3)
    del first, second
    assert store.state()["a"][1] == {"one": 1}
    assert store.state()["b"][1] == {"two": 2}
    assert store.state()["."][1] == {"root": 3}
    assert_consolidated(store)


def test_two_handles_on_one_array(store):
    first, second = open_to_write(store.path), open_to_write(store.path)
    set_attribute(node(first.GetRootGroup(), "a"), "one", 1)
    set_attribute(node(second.GetRootGroup(), "a"), "two", 2)
    first.FlushCache()
    second.FlushCache()
    set_attribute(node(first.GetRootGroup(), "a"), "three", 3)
    del first, second
    assert store.state()["a"][1] == {"one": 1, "two": 2, "three": 3}
    assert_consolidated(store)


@pytest.mark.parametrize("name", ["a", "g", "g/c"])
def test_a_node_opened_by_its_own_path(store, name):
    whole, part = open_to_write(store.path), open_to_write(store.path / name)
    root = part.GetRootGroup()
    target = root if name == "g" else root.OpenMDArray(root.GetMDArrayNames()[0])
    set_attribute(target, "one", 1)
    set_attribute(node(whole.GetRootGroup(), name), "two", 2)
    del target, root, part, whole
    assert store.state()[name][1] == {"one": 1, "two": 2}
    assert_consolidated(store)


def test_an_array_made_by_another_handle_stays(store):
    first, second = open_to_write(store.path), open_to_write(store.path)
    create_array(second.GetRootGroup(), "new", SHAPE, gdal.GDT_Byte)
    assert "new" in open_root(store.path).GetMDArrayNames()
    set_attribute(node(first.GetRootGroup(), "a"), "one", 1)
    del first
    assert "new" in open_root(store.path).GetMDArrayNames()
    del second
    assert store.state()["new"][0] == SHAPE
    assert_consolidated(store)


def test_an_array_appended_to_a_raster(store):
    handle = open_to_write(store.path)
    gdal.GetDriverByName("Zarr").Create(str(store.path), 8, 8, 1, gdal.GDT_Byte,
                                        ["APPEND_SUBDATASET=YES", "ARRAY_NAME=new"])
    set_attribute(node(handle.GetRootGroup(), "a"), "one", 1)
    del handle
    assert store.state()["new"][0] == (8, 8)
    assert store.state()["a"][1] == {"one": 1}
    assert_consolidated(store)


def test_what_another_program_changes_without_consolidating(store):
    handle = open_to_write(store.path)
    root = handle.GetRootGroup()
    attributes(node(root, "a"))
    store.resize("a", (10, 6))
    store.set("a", "theirs", 7)
    set_attribute(node(root, "a"), "ours", 1)
    del root, handle
    assert store.state()["a"] == ((10, 6), {"theirs": 7, "ours": 1})
    assert_consolidated(store)


def test_an_attribute_that_was_deleted_elsewhere_stays_away(store):
    handle = open_to_write(store.path)
    target = node(handle.GetRootGroup(), "a")
    set_attribute(target, "one", 1)
    handle.FlushCache()
    store.unset("a", "one")
    set_attribute(target, "two", 2)
    del target, handle
    assert store.state()["a"][1] == {"two": 2}


# Closing reports it once more.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_node_that_was_removed_elsewhere_is_an_error(store):
    handle = open_to_write(store.path)
    target = node(handle.GetRootGroup(), "a")
    store.erase("a")
    handle.FlushCache()
    set_attribute(target, "one", 1)
    with pytest.raises(RuntimeError, match="/a: .*another program has removed it"):
        handle.FlushCache()
    del target, handle
    assert not (store.path / "a").exists()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_store_that_was_removed_stays_away(store):
    handle = open_to_write(store.path)
    target = node(handle.GetRootGroup(), "a")
    shutil.rmtree(store.path)
    handle.FlushCache()
    set_attribute(target, "one", 1)
    with pytest.raises(RuntimeError, match=str(store.path)):
        handle.FlushCache()
    del target, handle
    assert not store.path.exists()


SET_FIVE = """
import sys
from osgeo import gdal
gdal.UseExceptions()
path, process = sys.argv[1:]
for i in range(5):
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    group = dataset.GetRootGroup()
    for target in group, group.OpenMDArray("a"):
        target.CreateAttribute(f"p{process}_{i}", [],
                               gdal.ExtendedDataType.Create(gdal.GDT_Int32)).Write(i)
    del target, group
    dataset = None
"""


def test_attributes_of_several_processes(store):
    workers = [subprocess.Popen([sys.executable, "-c", SET_FIVE, str(store.path), str(process)])
               for process in range(4)]
    assert [worker.wait() for worker in workers] == [0] * 4
    expected = {f"p{process}_{i}": i for process in range(4) for i in range(5)}
    assert store.state()["a"][1] == expected
    assert store.state()["."][1] == expected
    assert_consolidated(store)


MAKE = """
import os, signal, sys
from osgeo import gdal
gdal.UseExceptions()
dataset = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
group = dataset.GetRootGroup()
group.CreateMDArray("new", [group.CreateDimension("n", None, None, 4)],
                    gdal.ExtendedDataType.Create(gdal.GDT_Byte))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_consolidated_metadata_that_a_killed_process_owes(store):
    killed = subprocess.run([sys.executable, "-c", MAKE, str(store.path)])
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises(KeyError if isinstance(store, V3) else FileNotFoundError):
        store.consolidated()
    assert "new" in open_root(store.path).GetMDArrayNames()
    open_to_write(store.path)
    assert "new" in store.state()
    assert_consolidated(store)
    assert not [file.name for file in store.path.iterdir() if "owed" in file.name]


CHANGE = """
import sys, time
from osgeo import gdal
gdal.UseExceptions()
i = 0
print("ready", flush=True)
while True:
    i += 1
    dataset = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    group = dataset.GetRootGroup()
    array = group.OpenMDArray("a")
    attribute = array.GetAttribute("n") or array.CreateAttribute(
        "n", [], gdal.ExtendedDataType.Create(gdal.GDT_Int32))
    attribute.Write(i)
    del attribute, array, group
    dataset = None
"""


def test_kills_at_any_time(store):
    moments = random.Random(1)
    for _ in range(12):
        process = subprocess.Popen([sys.executable, "-c", CHANGE, str(store.path)],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdout.readline()
        try:
            process.wait(moments.uniform(0.001, 0.06))
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait()
        roots = [open_root(store.path, f"USE_CONSOLIDATED_METADATA={used}")
                 for used in ("YES", "NO")]
        values = [attributes(node(root, "a")).get("n") for root in roots]
        assert values[0] == values[1]
        open_to_write(store.path)
        assert_consolidated(store)


class History:
    """Random changes, alternately through handles of GDAL and by another program."""

    def __init__(self, store, seed):
        self.store = store
        self.random = random.Random(seed)
        self.model = store.state()
        self.handles = {}  # datasets by the path they were opened with
        self.count = 0

    def arrays(self):
        return [name for name, (shape, _) in self.model.items() if shape]

    def handle(self, name):
        """A dataset in which the node exists, and the node."""
        places = [""] + (["g"] if name.startswith("g/") else []) + ([name] if name != "." else [])
        place = self.random.choice(places)
        if place not in self.handles:
            self.handles[place] = open_to_write(self.store.path / place)
        root = self.handles[place].GetRootGroup()
        if place == name:
            names = root.GetMDArrayNames()
            return root.OpenMDArray(names[0]) if self.model[name][0] else root
        return node(root, "" if name == "." else name[len(place):].strip("/"))

    def close_all(self):
        self.handles.clear()

    def set_attribute(self):
        name = self.random.choice(list(self.model))
        self.count += 1
        # Concurrent changes of one attribute: the last one wins, which this history cannot test.
        attribute = f"n{self.random.randrange(3)}_{self.count}"
        set_attribute(self.handle(name), attribute, self.count)
        self.model[name][1][attribute] = self.count

    def make_array(self):
        self.count += 1
        group = self.random.choice(["", "g"])
        name = f"{group}/new{self.count}".strip("/")
        target = self.handle(group or ".")
        create_array(target, f"new{self.count}", SHAPE, gdal.GDT_Byte)
        self.model[name] = (SHAPE, {})

    def flush(self):
        if self.handles:
            self.handles[self.random.choice(list(self.handles))].FlushCache()

    def close(self):
        if self.handles:
            del self.handles[self.random.choice(list(self.handles))]

    def set_elsewhere(self):
        name = self.random.choice(list(self.model))
        self.count += 1
        self.store.set("" if name == "." else name, f"their{self.count}", self.count)
        self.model[name][1][f"their{self.count}"] = self.count
        self.store.consolidate()

    def unset_elsewhere(self):
        self.close_all()
        for name, (_, values) in self.model.items():
            if values:
                gone = self.random.choice(list(values))
                self.store.unset("" if name == "." else name, gone)
                del values[gone]
                break
        self.store.consolidate()

    def resize_elsewhere(self):
        name = self.random.choice(self.arrays())
        shape = (self.random.randrange(1, 9), 6)
        self.store.resize(name, shape)
        self.model[name] = (shape, self.model[name][1])

    def erase_elsewhere(self):
        self.close_all()
        name = self.random.choice(self.arrays())
        self.store.erase(name)
        del self.model[name]
        self.store.consolidate()

    def rename_elsewhere(self):
        self.close_all()
        self.count += 1
        name = self.random.choice(self.arrays())
        self.store.rename(name, f"moved{self.count}")
        self.model[f"moved{self.count}"] = self.model.pop(name)
        self.store.consolidate()

    def erase(self):
        self.close_all()
        name = self.random.choice(self.arrays())
        self.handle_of_group(name).DeleteMDArray(Path(name).name)
        del self.model[name]

    def rename(self):
        self.close_all()
        self.count += 1
        name = self.random.choice(self.arrays())
        node(self.handle_of_group(name), Path(name).name).Rename(f"moved{self.count}")
        self.model[str(Path(name).with_name(f"moved{self.count}"))] = self.model.pop(name)

    def handle_of_group(self, name):
        return self.handle(str(Path(name).parent))

    def make_elsewhere(self):
        self.count += 1
        self.store.create(f"their{self.count}")
        self.model[f"their{self.count}"] = (SHAPE, {})

    def step(self):
        steps = [self.set_attribute] * 6 + [
            self.make_array, self.flush, self.flush, self.close, self.set_elsewhere,
            self.unset_elsewhere, self.resize_elsewhere, self.make_elsewhere]
        if len(self.arrays()) > 2:
            steps += [self.erase_elsewhere, self.rename_elsewhere]
            if hasattr(gdal.Group, "DeleteMDArray"):
                steps += [self.erase, self.rename]
        self.random.choice(steps)()


@pytest.mark.parametrize("seed", range(12))
def test_random_changes(store, seed):
    history = History(store, seed)
    for _ in range(40):
        history.step()
    history.close_all()
    set_attribute(history.handle("."), "last", 1)
    history.model["."][1]["last"] = 1
    history.close_all()
    assert store.state() == history.model
    assert_consolidated(store)
