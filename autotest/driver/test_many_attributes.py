"""Nodes with very many attributes: the time for one does not depend on their number."""
import json
import random

import numpy as np
import pytest
from multidim import attributes, open_root
from osgeo import gdal
from stores import write_array, write_group

NAMES = [f"attribute {i}" for i in range(100_000)]
random.Random(1).shuffle(NAMES)
MANY = {name: i for i, name in enumerate(NAMES)}


@pytest.fixture
def store(tmp_path):
    write_group(tmp_path, attributes=MANY)
    write_array(tmp_path / "a", np.ones((4, 4), "u1"), attributes=MANY)
    return tmp_path


def stored_attributes(store):
    return json.loads((store / "a/zarr.json").read_text())["attributes"]


def test_multidimensional(store):
    root = open_root(store)
    array = root.OpenMDArray("a")
    assert attributes(root) == MANY
    assert attributes(array) == MANY
    for name in NAMES[:5000]:
        assert root.GetAttribute(name).Read() == MANY[name]
        assert array.GetAttribute(name).Read() == MANY[name]


def test_raster(store):
    assert gdal.Open(str(store)).GetMetadata() == {name: str(i) for name, i in MANY.items()}


def test_changes(store):
    """One is added, one removed, and then all but one."""
    dataset = gdal.Open(str(store), gdal.GA_Update)
    dataset.SetMetadataItem("new", "1")
    dataset.SetMetadataItem(NAMES[0], None)
    dataset.FlushCache()
    assert stored_attributes(store) == {name: MANY[name] for name in NAMES[1:]} | {"new": "1"}
    dataset.SetMetadata({NAMES[1]: "one"})
    dataset.FlushCache()
    assert stored_attributes(store) == {NAMES[1]: "one"}


def test_names_that_differ_in_case(tmp_path):
    """They are one name for GDAL: the last attribute, and the array's, is shown."""
    write_group(tmp_path, attributes={"Title": "root", "other": "root"})
    write_array(tmp_path / "a", np.ones((4, 4), "u1"),
                attributes={"title": "first", "TITLE": "last", "a\0b": "cut"})
    assert gdal.Open(str(tmp_path)).GetMetadata() == {
        "TITLE": "last", "other": "root", "a": "cut"}
