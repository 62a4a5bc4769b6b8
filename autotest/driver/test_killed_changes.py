"""A process that is killed while it changes nodes leaves the state before or after, and never an
array that has lost chunks. The next writer makes consolidated metadata equal to the documents."""
from pathlib import Path

import numpy as np
import pytest
from killed_changes import stores_after_kills
from multidim import attributes, create_array, open_root, open_to_write
from multidim import create as create_store
from osgeo import gdal
from test_shared_metadata import V2, V3, set_attribute

DATA = np.random.default_rng(5).integers(1, 60000, (8, 12), "u2")
DOCUMENTS = {".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json"}
GDAL_MINOR = int(gdal.VersionInfo()) // 10000
changes_nodes = pytest.mark.skipif(GDAL_MINOR < 308, reason="nodes are changed since GDAL 3.8")


@pytest.fixture(scope="module")
def shim(build_shim):
    return build_shim("kill_shim")


class Opened:
    """A store that has been written, as test_shared_metadata sees it."""

    def __init__(self, path, version):
        self.path = path
        self.kind = {"ZARR_V2": V2, "ZARR_V3": V3}[version]

    def __getattr__(self, name):
        return getattr(self.kind, name).__get__(self)


def make(path, version):
    root = create_store(path, f"FORMAT={version}").GetRootGroup()
    group = root.CreateGroup("g")
    for name in ("a", "other"):
        array = create_array(group, name, DATA.shape, gdal.GDT_UInt16, "BLOCKSIZE=4,4")
        array.Write(DATA)


def state(path, *options):
    """The attributes of each node by path, and that no array has lost values."""
    def visit(group, name):
        nodes = {name: attributes(group)}
        for array in group.GetMDArrayNames() or []:
            opened = group.OpenMDArray(array)
            if opened.GetDataType().GetNumericDataType() == gdal.GDT_UInt16:
                np.testing.assert_array_equal(opened.ReadAsArray(), DATA)
            nodes[f"{name}/{array}"] = attributes(opened)
        for child in group.GetGroupNames() or []:
            nodes |= visit(group.OpenGroup(child), f"{name}/{child}")
        return nodes

    return visit(open_root(path, *options), "")


def documents_of_nodes(store):
    """Without those that a killed process has left of no node."""
    def node(key):
        return Path(key).parent if Path(key).name in DOCUMENTS else Path(key)

    documents = store.documents()
    nodes = {node(key) for key in documents if not key.endswith(".zattrs")} | {Path(".")}
    return {key: content for key, content in documents.items()
            if nodes.issuperset([node(key), *node(key).parents])}


def assert_no_array_alone(path):
    """Nor does one of the arrays opened by its own path lack values."""
    for name in ("g/a", "g/b", "h/a", "g/other", "h/other"):
        folder = path / name
        if (folder / ".zarray").exists() or (folder / "zarr.json").exists():
            root = open_root(folder)
            np.testing.assert_array_equal(root.OpenMDArray(folder.name).ReadAsArray(), DATA)


@pytest.mark.parametrize("change", [
    "set_attribute", "set_root_attribute", "create",
    *(pytest.param(name, marks=changes_nodes) for name in (
        "delete_array", "delete_group", "rename_array", "rename_group"))])
@pytest.mark.parametrize("version", ["ZARR_V2", "ZARR_V3"])
def test_before_or_after(tmp_path, shim, version, change):
    make(tmp_path / "a.zarr", version)
    stores = stores_after_kills(shim, tmp_path / "a.zarr", tmp_path / "after", change)
    assert len(stores) > 4
    before, after = state(stores[0]), state(stores[-1])
    assert before != after
    between = [before, after]
    if change == "create":  # the group, then the array
        between.insert(1, {name: node for name, node in after.items() if name != "/new/b"})
    seen = []
    for store in stores:
        for used in ("YES", "NO"):
            seen.append(state(store, f"USE_CONSOLIDATED_METADATA={used}"))
            assert_no_array_alone(store)
        assert seen[-1] == seen[-2]
        set_attribute(open_to_write(store).GetRootGroup(), "next", 1)
        opened = Opened(store, version)
        assert opened.consolidated() == documents_of_nodes(opened)
        assert not list(store.rglob(".zarr-*")) and not list(store.rglob("*.zarr-partial"))
        assert state(store) == state(store, "USE_CONSOLIDATED_METADATA=NO")
    assert seen == sorted(seen, key=between.index)  # never back


@pytest.mark.parametrize("version", ["ZARR_V2", "ZARR_V3"])
def test_a_store_that_is_deleted_has_no_array_without_its_chunks(tmp_path, shim, version):
    make(tmp_path / "a.zarr", version)
    stores = stores_after_kills(shim, tmp_path / "a.zarr", tmp_path / "after", "delete_store")
    assert len(stores) > 10
    for store in stores:
        assert_no_array_alone(store)
        for name in (store, store / "g"):
            try:
                root = open_root(name)
            except RuntimeError:
                continue
            for array in root.GetMDArrayNames() or []:
                np.testing.assert_array_equal(root.OpenMDArray(array).ReadAsArray(), DATA)
