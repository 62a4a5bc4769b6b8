"""Deleting groups, arrays and attributes: old handles fail, and bring nothing back."""
import os

import pytest
from multidim_stores import (
    BYTE,
    STORE_IDS,
    STORES,
    STRING,
    add_attribute,
    all_attributes,
    create,
    create_array,
    fails,
    open_store,
)
from osgeo import gdal

pytestmark = pytest.mark.gdal_since("3.8")


@pytest.fixture(params=STORES, ids=STORE_IDS)
def options(request):
    return request.param


def files_below(path):
    return sorted(name for _folder, folders, files in os.walk(path) for name in folders + files)


def uses_of_array(array):
    return [array.GetAttributes, lambda: array.GetAttribute("one"), array.Read,
            lambda: array.Write(b"\1\1"), lambda: array.CreateAttribute("new", [], STRING),
            lambda: array.DeleteAttribute("one"), lambda: array.Rename("new"),
            lambda: array.Resize([5]), lambda: array.SetNoDataValueDouble(3),
            lambda: array.SetUnit("m"), lambda: array.SetScale(2.0), lambda: array.SetOffset(2.0)]


def uses_of_group(group):
    return [group.GetAttributes, lambda: group.GetAttribute("one"),
            lambda: group.CreateAttribute("new", [], STRING), lambda: group.CreateGroup("new"),
            lambda: group.CreateMDArray("new", [], BYTE), lambda: group.Rename("new"),
            lambda: group.CreateDimension("new", "", "", 2), group.GetMDArrayNames,
            group.GetGroupNames, group.GetDimensions, lambda: group.OpenGroup("below"),
            lambda: group.OpenMDArray("a"), lambda: group.DeleteAttribute("one"),
            lambda: group.DeleteGroup("below"), lambda: group.DeleteMDArray("a")]


def uses_of_attribute(attribute):
    return [attribute.Read, lambda: attribute.Write("new"), lambda: attribute.Rename("new")]


def all_fail(*uses):
    for use in [one for some in uses for one in some]:
        assert "deleted" in fails(use)


@pytest.mark.builtin_since("3.13")
def test_attribute(options, tmp_path):
    dataset = create(tmp_path / "a.zarr", options)
    root = dataset.GetRootGroup()
    array = create_array(dataset, [2])
    for owner in (root, array):
        old = add_attribute(owner, "one", "old")
        assert owner.DeleteAttribute("one") == gdal.CE_None
        all_fail(uses_of_attribute(old))
        fails(lambda owner=owner: owner.DeleteAttribute("one"))
        assert owner.GetAttributes() == []
        new = add_attribute(owner, "one", "new")
        all_fail(uses_of_attribute(old))
        assert new.Read() == "new"
        del old, new
    del array, owner, root
    dataset.Close()
    root = open_store(tmp_path / "a.zarr").GetRootGroup()
    assert all_attributes(root) == {"one": "new"}
    assert all_attributes(root.OpenMDArray("a")) == {"one": "new"}


def test_array(options, tmp_path):
    dataset = create(tmp_path / "a.zarr", options)
    root = dataset.GetRootGroup()
    array = create_array(dataset, [2])
    attribute = add_attribute(array, "one", "1")
    array.Write(b"\1\1")
    for name in ("", "none"):
        fails(lambda name=name: root.DeleteMDArray(name))
    fails(lambda: root.DeleteGroup("a"))
    assert root.DeleteMDArray("a") == gdal.CE_None
    all_fail(uses_of_array(array), uses_of_attribute(attribute))
    assert root.GetMDArrayNames() == []
    del array, attribute, root
    dataset.Close()
    assert open_store(tmp_path / "a.zarr").GetRootGroup().GetMDArrayNames() == []
    assert "a" not in files_below(tmp_path / "a.zarr")


def test_array_of_the_same_name(options, tmp_path):
    dataset = create(tmp_path / "a.zarr", options)
    root = dataset.GetRootGroup()
    old = create_array(dataset, [2])
    attribute = add_attribute(old, "one", "1")
    root.DeleteMDArray("a")
    new = root.CreateMDArray("a", [], BYTE)
    all_fail(uses_of_array(old), uses_of_attribute(attribute))
    assert new.Write(b"\7") == gdal.CE_None
    del old, attribute, new, root
    dataset.Close()
    array = open_store(tmp_path / "a.zarr").GetRootGroup().OpenMDArray("a")
    assert array.GetAttributes() == []
    assert array.Read() == b"\7"


def test_group(options, tmp_path):
    dataset = create(tmp_path / "a.zarr", options)
    root = dataset.GetRootGroup()
    group = root.CreateGroup("g")
    below = group.CreateGroup("below")
    dimension = group.CreateDimension("x", "", "", 2)
    array = group.CreateMDArray("a", [dimension], BYTE)
    inner = below.CreateMDArray("i", [dimension], BYTE)
    attributes = [add_attribute(owner, "one", "1") for owner in (group, below, array, inner)]
    for name in ("", "none"):
        fails(lambda name=name: root.DeleteGroup(name))
    fails(lambda: root.DeleteMDArray("g"))
    assert root.DeleteGroup("g") == gdal.CE_None
    all_fail(uses_of_group(group), uses_of_group(below), uses_of_array(array),
             uses_of_array(inner), *map(uses_of_attribute, attributes))
    assert root.GetGroupNames() == []
    del group, below, dimension, array, inner, attributes, root
    dataset.Close()
    assert open_store(tmp_path / "a.zarr").GetRootGroup().GetGroupNames() == []
    assert "g" not in files_below(tmp_path / "a.zarr")


def test_read_only(options, tmp_path):
    dataset = create(tmp_path / "a.zarr", options)
    dataset.GetRootGroup().CreateGroup("g")
    add_attribute(create_array(dataset, [2]), "one", "1")
    add_attribute(dataset.GetRootGroup(), "one", "1")
    dataset.Close()
    root = open_store(tmp_path / "a.zarr").GetRootGroup()
    array = root.OpenMDArray("a")
    for use in (lambda: root.DeleteGroup("g"), lambda: root.DeleteMDArray("a"),
                lambda: root.DeleteAttribute("one"), lambda: array.DeleteAttribute("one")):
        fails(use)
    assert array.GetAttribute("one").Read() == "1"
