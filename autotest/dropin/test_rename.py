"""Rename of groups, arrays, attributes and dimensions: old handles continue under the new names."""
from types import SimpleNamespace

import numpy as np
import pytest
from multidim_stores import (
    BYTE,
    STORE_IDS,
    STORES,
    add_attribute,
    all_attributes,
    create,
    fails,
    open_store,
)
from osgeo import gdal

pytestmark = pytest.mark.gdal_since("3.8")


@pytest.fixture(params=STORES, ids=STORE_IDS)
def store(request, tmp_path):
    """Live handles of everything in a new store."""
    handles = SimpleNamespace(path=tmp_path / "a.zarr")
    handles.dataset = create(handles.path, request.param)
    handles.root = handles.dataset.GetRootGroup()
    handles.group = handles.root.CreateGroup("g")
    handles.other = handles.root.CreateGroup("other")
    handles.below = handles.group.CreateGroup("below")
    handles.y = handles.group.CreateDimension("y", "", "", 2)
    handles.x = handles.group.CreateDimension("x", "", "", 3)
    handles.array = handles.group.CreateMDArray("a", [handles.y, handles.x], BYTE)
    handles.inner = handles.below.CreateMDArray("i", [handles.y], BYTE)
    handles.of_array = add_attribute(handles.array, "one", "1")
    handles.of_group = add_attribute(handles.group, "two", "2")
    handles.of_inner = add_attribute(handles.inner, "three", "3")
    handles.of_below = add_attribute(handles.below, "four", "4")
    return handles


def close(store):
    """Drops all handles, and opens the store again."""
    path = store.path
    store.__dict__.clear()
    return open_store(path)


def full_names(*objects):
    return [one.GetFullName() for one in objects]


def test_names_of_attributes(store):
    add_attribute(store.root, "zero", "0")
    names = full_names(store.of_array, store.of_group, store.of_below,
                       store.root.GetAttribute("zero"), *store.group.GetAttributes())
    assert names == ["/g/a/one", "/g/_GLOBAL_/two", "/g/below/_GLOBAL_/four", "/_GLOBAL_/zero",
                     "/g/_GLOBAL_/two"]


def test_group_takes_everything_along(store):
    store.array.Write(b"\1" * 6)
    assert store.group.Rename("h") == gdal.CE_None
    assert full_names(store.group, store.below, store.array, store.inner, store.y, store.x) == [
        "/h", "/h/below", "/h/a", "/h/below/i", "/h/y", "/h/x"]
    assert full_names(store.of_array, store.of_group, store.of_inner, store.of_below) == [
        "/h/a/one", "/h/_GLOBAL_/two", "/h/below/i/three", "/h/below/_GLOBAL_/four"]
    assert sorted(store.root.GetGroupNames()) == ["h", "other"]
    assert full_names(*store.array.GetDimensions()) == ["/h/y", "/h/x"]
    for attribute in (store.of_array, store.of_group, store.of_inner, store.of_below):
        assert attribute.Write("new") == gdal.CE_None
        assert attribute.Read() == "new"
    store.array.Write(b"\2", [0, 0], [1, 1])
    store.inner.Write(b"\3\4")
    added = store.below.CreateMDArray("added", [store.y], BYTE)
    assert added.GetFullName() == "/h/below/added"
    del added
    root = close(store).GetRootGroup()
    assert sorted(root.GetGroupNames()) == ["h", "other"]
    group = root.OpenGroup("h")
    array = group.OpenMDArray("a")
    np.testing.assert_array_equal(array.ReadAsArray(), [[2, 1, 1], [1, 1, 1]])
    inner = root.OpenMDArrayFromFullname("/h/below/i")
    np.testing.assert_array_equal(inner.ReadAsArray(), [3, 4])
    for owner, name in ((array, "one"), (group, "two"), (inner, "three"),
                        (group.OpenGroup("below"), "four")):
        assert all_attributes(owner) == {name: "new"}


def test_group_names_that_are_refused(store):
    for name in ("", "a/b", "other", "g"):
        fails(lambda name=name: store.group.Rename(name))
    fails(lambda: store.root.Rename("r"))
    assert store.group.GetFullName() == "/g"
    assert sorted(close(store).GetRootGroup().GetGroupNames()) == ["g", "other"]


@pytest.mark.builtin_since("3.13")
def test_array(store):
    store.array.Write(b"\1" * 6)
    for name in ("", "b/c", "below", "a"):
        fails(lambda name=name: store.array.Rename(name))
    assert store.array.Rename("b") == gdal.CE_None
    assert full_names(store.array, store.of_array, store.y) == ["/g/b", "/g/b/one", "/g/y"]
    assert store.of_array.Write("new") == gdal.CE_None
    store.array.Write(b"\2", [0, 0], [1, 1])
    assert store.group.GetMDArrayNames() == ["b"]
    fails(lambda: store.group.OpenMDArray("a").GetFullName())
    group = close(store).GetRootGroup().OpenGroup("g")
    assert group.GetMDArrayNames() == ["b"]
    array = group.OpenMDArray("b")
    np.testing.assert_array_equal(array.ReadAsArray(), [[2, 1, 1], [1, 1, 1]])
    assert array.GetAttribute("one").Read() == "new"


def test_attributes(store):
    second = add_attribute(store.array, "second", "s")
    for name in ("", "second"):
        fails(lambda name=name: store.of_array.Rename(name))
    other_handle = store.array.GetAttribute("one")
    assert store.of_array.Rename("first") == gdal.CE_None
    assert store.of_group.Rename("of group") == gdal.CE_None
    assert full_names(store.of_array, store.of_group) == ["/g/a/first", "/g/_GLOBAL_/of group"]
    assert store.of_array.Write("new") == gdal.CE_None
    assert (other_handle.GetName(), other_handle.Read()) == ("first", "new")
    del second, other_handle
    group = close(store).GetRootGroup().OpenGroup("g")
    assert all_attributes(group) == {"of group": "2"}
    assert all_attributes(group.OpenMDArray("a")) == {"first": "new", "second": "s"}


def test_dimension_lasts(store):
    for name in ("", "a/b", "x"):
        fails(lambda name=name: store.y.Rename(name))
    assert store.y.Rename("z") == gdal.CE_None
    assert store.y.GetFullName() == "/g/z"
    assert sorted(full_names(*store.group.GetDimensions())) == ["/g/x", "/g/z"]
    assert full_names(*store.array.GetDimensions()) == ["/g/z", "/g/x"]
    group = close(store).GetRootGroup().OpenGroup("g")
    assert full_names(*group.OpenMDArray("a").GetDimensions()) == ["/g/z", "/g/x"]
    assert group.OpenGroup("below").OpenMDArray("i").GetDimensions()[0].GetName() == "z"


def test_dimension_of_a_reopened_store(store):
    path = store.path
    close(store)
    dataset = open_store(path, update=True)
    array = dataset.GetRootGroup().OpenMDArrayFromFullname("/g/a")
    assert array.GetDimensions()[1].Rename("columns") == gdal.CE_None
    del array
    dataset.Close()
    array = open_store(path).GetRootGroup().OpenMDArrayFromFullname("/g/a")
    assert [one.GetName() for one in array.GetDimensions()] == ["y", "columns"]


def test_dimension_without_array(store):
    free = store.group.CreateDimension("free", "HORIZONTAL_X", "EAST", 5)
    assert free.Rename("renamed") == gdal.CE_None
    assert (free.GetFullName(), free.GetType()) == ("/g/renamed", "HORIZONTAL_X")
    assert "renamed" in [one.GetName() for one in store.group.GetDimensions()]
    array = store.group.CreateMDArray("of renamed", [free], BYTE)
    assert array.GetDimensions()[0].GetFullName() == "/g/renamed"


def test_read_only(store):
    root = close(store).GetRootGroup()
    group = root.OpenGroup("g")
    array = group.OpenMDArray("a")
    dimension = array.GetDimensions()[0]
    for one in (group, array, dimension):
        fails(lambda one=one: one.Rename("new"))
    assert full_names(group, array, dimension) == ["/g", "/g/a", "/g/y"]


@pytest.mark.ours_only("it says that the name is changed")
def test_attributes_of_a_read_only_store(store):
    group = close(store).GetRootGroup().OpenGroup("g")
    fails(lambda: group.GetAttribute("two").Rename("new"))
    fails(lambda: group.OpenMDArray("a").GetAttribute("one").Rename("new"))


@pytest.mark.ours_only("it writes the attributes of the group to where it was")
def test_twice_and_back(store):
    for name in ("h", "k", "g"):
        assert store.group.Rename(name) == gdal.CE_None
        assert store.of_below.Write(name) == gdal.CE_None
    assert store.of_below.GetFullName() == "/g/below/_GLOBAL_/four"
    root = close(store).GetRootGroup()
    assert sorted(root.GetGroupNames()) == ["g", "other"]
    assert root.OpenGroup("g").OpenGroup("below").GetAttribute("four").Read() == "g"
