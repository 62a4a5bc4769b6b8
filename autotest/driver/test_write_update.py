"""Changing existing stores: the changed and the unchanged parts, and consolidated metadata."""
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import zarr
from multidim import attributes, create, create_array, numeric, open_root, open_to_write
from osgeo import gdal, osr
from stores import BYTES, GZIP, consolidate, edit_json, write_array, write_group, write_json
from v2_stores import IS_FIRST, write_v2, write_v2_group

DATA = np.arange(12 * 10, dtype="i4").reshape(12, 10)
STRING = gdal.ExtendedDataType.CreateString()


def write_v2_store(path):
    write_v2_group(path, {"title": "root", "nested": {"a": [1, None]}})
    write_v2(path, "a", DATA, {"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m", "keep": [1.0, 2]},
             chunks=(5, 4), fill_value=-1)
    write_v2(path, "g/b", DATA[0], {"_ARRAY_DIMENSIONS": ["x"]})
    edit_json(path / "a/.zarray", mine={"z": 1, "a": 2})
    edit_json(path / ".zgroup", mine="too")


def write_v3_store(path):
    write_group(path, {"title": "root", "nested": {"a": [1, None]}},
                mine={"must_understand": False, "a": "too"})
    attributes = {"units": "m", "keep": [1.0, 2]}
    write_array(path / "a", DATA, (5, 4), [BYTES, GZIP], -1, ["y", "x"], attributes,
                mine={"must_understand": False, "z": 1, "a": 2},
                chunk_key_encoding={"name": "default", "configuration": {"separator": "/"}})
    write_group(path / "g")
    write_array(path / "g/b", DATA[0], names=["x"])


WRITERS = {"v2": write_v2_store, "v3": write_v3_store}


@pytest.fixture(params=WRITERS)
def version(request):
    return request.param


@pytest.fixture
def path(tmp_path, version):
    path = tmp_path / "a.zarr"
    WRITERS[version](path)
    return path


def with_separator(name, document):
    """v2's separator is a dot by default, which zarr-python 3 applies and others do not."""
    return {"dimension_separator": "."} | document if name.endswith(".zarray") else document


def documents(path):
    """All metadata of a store by name, except consolidated metadata."""
    found = {}
    for file in path.rglob("*"):
        if file.name in (".zarray", ".zgroup", ".zattrs", "zarr.json"):
            document = json.loads(file.read_text())
            document.pop("consolidated_metadata", None)
            found[str(file.relative_to(path))] = with_separator(file.name, document)
    return found


def change_attributes(path, version, node, change):
    """The result of documents() after attributes of a node have been changed in its document."""
    want = documents(path)
    key = f"{node}/zarr.json" if version == "v3" else f"{node}/.zattrs"
    change(want[key.lstrip("/")]["attributes"] if version == "v3" else want[key.lstrip("/")])
    return want


# --- Changes and what they leave -----------------------------------------------------------------

def test_opening_changes_nothing(path):
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*")}
    root = open_to_write(path).GetRootGroup()
    array = root.OpenMDArray("a")
    array.ReadAsArray()
    array.GetAttributes()
    del root, array
    assert {file: file.stat().st_mtime_ns for file in path.rglob("*")} == before


def test_values_leave_metadata(path, version):
    before = {name: file.read_bytes() for name in documents(path) for file in [path / name]}
    array = open_to_write(path).GetRootGroup().OpenMDArray("a")
    array.Write(np.full((3, 3), 7, "i4"), [4, 3])
    del array
    assert {name: (path / name).read_bytes() for name in before} == before
    want = DATA.copy()
    want[4:7, 3:6] = 7
    np.testing.assert_array_equal(open_root(path).OpenMDArray("a").ReadAsArray(), want)


def test_unknown_members_stay(path, version):
    """Other members of a document."""
    def change(attributes):
        attributes.update(units="km", new=5)

    want = change_attributes(path, version, "a", change)
    array = open_to_write(path).GetRootGroup().OpenMDArray("a")
    array.SetUnit("km")
    array.CreateAttribute("new", [], numeric(gdal.GDT_Int32)).Write(5)
    del array
    assert documents(path) == want


def test_attributes_of_the_root(path, version):
    def change(attributes):
        attributes.update(title="new", more=["a", "b"])

    want = change_attributes(path, version, "", change)
    root = open_to_write(path).GetRootGroup()
    root.GetAttribute("title").Write("new")
    root.CreateAttribute("more", [2], STRING).Write(["a", "b"])
    assert root.GetAttribute("more").Read() == ["a", "b"]
    del root
    assert documents(path) == want
    assert attributes(open_root(path))["title"] == "new"


def test_attributes_of_a_group_without_any(path, version):
    group = open_to_write(path).GetRootGroup().OpenGroup("g")
    group.CreateAttribute("title", [], STRING).Write("inner")
    del group
    assert attributes(open_root(path).OpenGroup("g")) == {"title": "inner"}
    if version == "v2":
        assert zarr.open(str(path))["g"].attrs.asdict() == {"title": "inner"}


def test_attribute_of_another_type(path):
    """It keeps its own, as an attribute does in GDAL."""
    array = open_to_write(path).GetRootGroup().OpenMDArray("a")
    attribute = array.GetAttribute("keep")
    attribute.Write([3.5, 4.0])
    assert array.GetAttribute("keep").Read() == (3.5, 4.0)
    del array, attribute
    assert open_root(path).OpenMDArray("a").GetAttribute("keep").Read() == (3.5, 4.0)


@pytest.mark.skipif(not hasattr(gdal.Group, "DeleteAttribute"), reason="GDAL 3.8")
def test_attributes_are_removed(path, version):
    want = change_attributes(path, version, "a", lambda attributes: attributes.pop("keep"))
    root = open_to_write(path).GetRootGroup()
    array = root.OpenMDArray("a")
    array.DeleteAttribute("keep")
    with pytest.raises(RuntimeError, match="keep"):
        array.DeleteAttribute("keep")
    del root, array
    assert documents(path) == want


def test_packing_and_place(path, version):
    array = open_to_write(path).GetRootGroup().OpenMDArray("a")
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(32633)
    array.SetScale(0.5)
    array.SetOffset(-3)
    array.SetSpatialRef(srs)
    del array
    array = open_root(path).OpenMDArray("a")
    assert (array.GetUnit(), array.GetScale(), array.GetOffset()) == ("m", 0.5, -3)
    assert array.GetSpatialRef().GetAuthorityCode(None) == "32633"
    assert array.GetNoDataValue() == -1
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    assert documents(path)["a/.zarray" if version == "v2" else "a/zarr.json"]["mine"]


def test_nodata_of_an_array_with_holes(path, version):
    """With another nodata value, missing chunks would have valid values, unless they are stored."""
    (path / ("a/1.1" if version == "v2" else "a/c/1/1")).unlink()
    want = DATA.copy()
    want[5:10, 4:8] = -1
    array = open_to_write(path).GetRootGroup().OpenMDArray("a")
    with pytest.raises(RuntimeError, match="WRITE_EMPTY_CHUNKS=YES"):
        array.SetNoDataValueDouble(99)
    assert array.GetNoDataValue() == -1
    del array
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE,
                          open_options=["WRITE_EMPTY_CHUNKS=YES"])
    array = dataset.GetRootGroup().OpenMDArray("a")
    array.SetNoDataValueDouble(99)
    assert array.GetNoDataValue() == 99
    del array, dataset
    array = open_root(path).OpenMDArray("a")
    assert array.GetNoDataValue() == 99
    np.testing.assert_array_equal(array.ReadAsArray(), want)


def test_nodes_are_added(path, version):
    before = documents(path)
    root = open_to_write(path).GetRootGroup()
    y, x = root.OpenMDArray("a").GetDimensions()
    array = root.CreateMDArray("c", [y, x], numeric(gdal.GDT_Float32))
    array.Write(DATA.astype("f4") / 2)
    create_array(root.OpenGroup("g").CreateGroup("h"), "d", [3], gdal.GDT_Byte)
    assert sorted(root.GetMDArrayNames()) == ["a", "c"]
    del root, array, y, x
    got = documents(path)
    assert before.items() <= got.items()
    root = open_root(path)
    assert [d.GetFullName() for d in root.OpenMDArray("c").GetDimensions()] == ["/y", "/x"]
    np.testing.assert_array_equal(root.OpenMDArray("c").ReadAsArray(), DATA / 2)
    assert root.OpenMDArrayFromFullname("/g/h/d").ReadAsArray().tolist() == [0, 0, 0]
    if version == "v2":
        np.testing.assert_array_equal(zarr.open(str(path))["c"][:], DATA / 2)


def test_an_array_alone(tmp_path, version):
    """A store whose root is an array can be written, but nothing can be added beside it."""
    path = tmp_path / "alone.zarr"
    if version == "v2":
        write_v2(path, "", DATA, chunks=(5, 4))
    else:
        write_array(path, DATA, (5, 4))
    root = open_to_write(path).GetRootGroup()
    array = root.OpenMDArray("alone")
    array.Write(np.full((2, 2), -7, "i4"), [4, 3])
    array.SetUnit("m")
    for make in (lambda: root.CreateGroup("g"), lambda: create_array(root, "b", [2], gdal.GDT_Byte),
                 lambda: root.CreateAttribute("title", [], STRING)):
        with pytest.raises(RuntimeError):
            make()
    root = array = None
    array = open_root(path).OpenMDArray("alone")
    want = DATA.copy()
    want[4:6, 3:5] = -7
    np.testing.assert_array_equal(array.ReadAsArray(), want)
    assert array.GetUnit() == "m"


# --- Steps, strides and types of buffers ---------------------------------------------------------

def test_buffers(path):
    """Transposed, every second element, of other types, from the end to the start."""
    array = open_to_write(path).GetRootGroup().OpenMDArray("a")
    array.Write(np.asfortranarray(DATA + 1))
    np.testing.assert_array_equal(array.ReadAsArray(), DATA + 1)
    array.Write(np.repeat(DATA * 2, 2, axis=1)[:, ::2])
    np.testing.assert_array_equal(array.ReadAsArray(), DATA * 2)
    array.Write(DATA.astype("f8") + 0.4)
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    array.Write(DATA, [11, 9], array_step=[-1, -1])
    np.testing.assert_array_equal(array.ReadAsArray(), DATA[::-1, ::-1])
    array.Write(np.full((1, 10), 5.0), [3, 0], array_step=[0, 1])
    assert (array.ReadAsArray()[3] == 5).all()


def test_views(path):
    """Through views and transposed arrays of GDAL."""
    want = DATA.copy()
    array = open_to_write(path).GetRootGroup().OpenMDArray("a")
    array.GetView("[::-2,3:9]").Write(DATA[:6, :6] + 100)
    want[::-2, 3:9] = DATA[:6, :6] + 100
    np.testing.assert_array_equal(array.ReadAsArray(), want)
    array.Transpose([1, 0]).Write(np.ascontiguousarray(DATA.T))
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    array.GetView("[4]").Write(np.full(10, -9, "i4"))
    want = DATA.copy()
    want[4] = -9
    np.testing.assert_array_equal(array.ReadAsArray(), want)


@pytest.mark.parametrize("start, count, step", [
    ([0, 8], [1, 3], [1, 1]), ([12, 0], [1, 1], [1, 1]), ([0, 0], [7, 1], [2, 1]),
    ([3, 0], [5, 1], [-1, 1]), ([0, 0], [0, 1], [1, 1]),
])
def test_outside(path, start, count, step):
    array = open_to_write(path).GetRootGroup().OpenMDArray("a")
    with pytest.raises(RuntimeError):
        array.Write(np.zeros(max(1, np.prod(count)), "i4").tobytes(), start, count, step)
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)


# --- Consolidated metadata -----------------------------------------------------------------------

def consolidate_store(path, version):
    if version == "v3":
        consolidate(path)
    elif IS_FIRST:  # It omits unknown members, and adds missing ones.
        write_json(path / ".zmetadata",
                   {"zarr_consolidated_format": 1, "metadata": documents(path)})
    else:
        zarr.consolidate_metadata(str(path))


def consolidated(path):
    """The stored content; None if there is none."""
    if (path / ".zmetadata").exists():
        document = json.loads((path / ".zmetadata").read_text())
        for part in document["metadata"].values():
            # zarr-python 3 also has v3's member in the groups of v2, without any nodes.
            part.pop("consolidated_metadata", None)
            # Of arrays, it omits unknown members.
            if not IS_FIRST and "shape" in part:
                part.pop("mine", None)
        # It also lists attributes where none exist.
        document["metadata"] = {
            name: with_separator(name, part) for name, part in document["metadata"].items() if part
        }
        return document
    if (path / "zarr.json").exists():
        return json.loads((path / "zarr.json").read_text()).get("consolidated_metadata")
    return None


def made_anew(path, version, tmp_path):
    """How other libraries read the documents."""
    copy = tmp_path / "copy.zarr"
    subprocess.run(["rm", "-rf", copy], check=True)
    subprocess.run(["cp", "-r", path, copy], check=True)
    (copy / ".zmetadata").unlink(missing_ok=True)
    if version == "v3":
        document = json.loads((copy / "zarr.json").read_text())
        document.pop("consolidated_metadata", None)
        (copy / "zarr.json").write_text(json.dumps(document))
    consolidate_store(copy, version)
    return consolidated(copy)


def change_unit(root):
    root.OpenMDArray("a").SetUnit("km")


def change_title(root):
    root.GetAttribute("title").Write("other")


def change_inner(root):
    root.OpenGroup("g").CreateAttribute("title", [], STRING).Write("inner")


def add_group(root):
    root.CreateGroup("new").CreateGroup("newer")


def add_array(root):
    create_array(root.OpenGroup("g"), "new", [4, 4], gdal.GDT_Byte).Write(np.ones((4, 4), "u1"))


def change_values(root):
    root.OpenMDArray("a").Write(-DATA)


def remove_array(root):
    root.DeleteMDArray("a")


def remove_group(root):
    root.DeleteGroup("g")


def rename_array(root):
    root.OpenMDArray("a").Rename("z")


CHANGES = [change_unit, change_title, change_inner, add_group, add_array, change_values]
if hasattr(gdal.Group, "DeleteGroup"):
    CHANGES += [remove_array, remove_group, rename_array]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_consolidated_metadata_is_true(path, version, tmp_path, change):
    consolidate_store(path, version)
    dataset = open_to_write(path)
    change(dataset.GetRootGroup())
    dataset.FlushCache()
    assert consolidated(path) == made_anew(path, version, tmp_path)
    change_title(dataset.GetRootGroup())
    del dataset
    assert consolidated(path) == made_anew(path, version, tmp_path)
    assert attributes(open_root(path))["title"] == "other"


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_consolidated_metadata_is_not_invented(path, change):
    change(open_to_write(path).GetRootGroup())
    assert consolidated(path) is None


def test_consolidated_metadata_is_updated_though_it_was_not_used(path, version, tmp_path):
    consolidate_store(path, version)
    root = open_to_write(path, "USE_CONSOLIDATED_METADATA=NO").GetRootGroup()
    change_unit(root)
    add_group(root)
    del root
    assert consolidated(path) == made_anew(path, version, tmp_path)


@pytest.mark.parametrize("name", ["ZARR_V2", "ZARR_V3"])
def test_consolidated_metadata_of_a_new_store(tmp_path, name):
    path = tmp_path / "a.zarr"
    root = create(path, "FORMAT=" + name).GetRootGroup()
    root.CreateAttribute("title", [], STRING).Write("new")
    add_group(root)
    create_array(root, "a", [3], gdal.GDT_Int16).SetUnit("m")
    del root
    version = "v" + name[-1]
    assert consolidated(path) == made_anew(path, version, tmp_path)


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
import test_write_update
from multidim import open_to_write
dataset = open_to_write(sys.argv[1])
root = dataset.GetRootGroup()
getattr(test_write_update, sys.argv[3])(root)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_killed_before_flushing(path, version, tmp_path, change):
    """Consolidated metadata is true or missing; the store opens."""
    consolidate_store(path, version)
    folder = os.path.dirname(__file__)
    result = subprocess.run([sys.executable, "-c", KILLED, path, folder, change.__name__])
    assert result.returncode == -signal.SIGKILL
    assert consolidated(path) in (None, made_anew(path, version, tmp_path))
    root = open_root(path)
    assert root.GetAttribute("title").Read() in ("root", "other")
    for name in root.GetMDArrayNames():
        got = root.OpenMDArray(name).ReadAsArray()
        assert (np.abs(got) == DATA).all()  # the old or the new state
