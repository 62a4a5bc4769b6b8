"""Open handles see attributes that another program changes, and keep their own changes."""
import json
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import webserver
from multidim import create, create_array, open_array, open_root
from osgeo import gdal
from stores import edit_json, write_array

zarr = pytest.importorskip("zarr")
TEXT = gdal.ExtendedDataType.CreateString()

CODE = """
import json, sys
from osgeo import gdal
gdal.UseExceptions()
dataset = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
root = dataset.GetRootGroup()
for node in (root, root.OpenMDArray("a")):
    names = [attribute.GetName() for attribute in node.GetAttributes()]
    for name, value in json.loads(sys.argv[2]).items():
        if name in names:
            attribute = node.GetAttribute(name)
        else:
            attribute = node.CreateAttribute(name, [], gdal.ExtendedDataType.CreateString())
        attribute.Write(value)
del attribute, node, root, dataset
"""


def change(path, **attributes):
    """Of the root and of its array "a", in another process."""
    subprocess.run([sys.executable, "-c", CODE, str(path), json.dumps(attributes)], check=True,
                   timeout=120)


@pytest.fixture(params=["ZARR_V2", "ZARR_V3"])
def store(request, tmp_path):
    dataset = create(tmp_path / "s.zarr", f"FORMAT={request.param}")
    root = dataset.GetRootGroup()
    array = create_array(root, "a", (2, 3), gdal.GDT_Float32)
    array.WriteArray(np.ones((2, 3), "f4"))
    array.CreateAttribute("old", [], TEXT).Write("as it was")
    del array, root, dataset
    return tmp_path / "s.zarr"


def value(node, name):
    try:
        attribute = node.GetAttribute(name)
    except RuntimeError:  # before GDAL 3.8
        return None
    return attribute.Read() if attribute else None


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize("consolidated", ["YES", "NO"])
def test_multidimensional_handles(store, update, consolidated):
    dataset = gdal.OpenEx(str(store), gdal.OF_MULTIDIM_RASTER | (gdal.OF_UPDATE if update else 0),
                          open_options=[f"USE_CONSOLIDATED_METADATA={consolidated}"])
    root = dataset.GetRootGroup()
    array = root.OpenMDArray("a")
    assert (value(array, "old"), value(array, "k")) == ("as it was", None)
    for text in ("one", "two"):
        change(store, k=text)
        assert (value(array, "k"), value(root, "k")) == (text, text)
        assert "k" in [attribute.GetName() for attribute in array.GetAttributes()]
        assert value(array, "old") == "as it was"
    change(store, units="K")
    dataset.FlushCache()
    assert array.GetUnit() == ""  # other threads may be using the array
    assert open_root(store).OpenMDArray("a").GetUnit() == "K"
    assert array.ReadAsArray().tolist() == [[1] * 3] * 2


@pytest.mark.skipif(not zarr.__version__.startswith("2."), reason="writes v2")
def test_what_zarr_python_changes(store):
    if not (store / "a/.zattrs").exists():
        pytest.skip("zarr-python 2 writes v2")
    array = open_root(store, "USE_CONSOLIDATED_METADATA=NO").OpenMDArray("a")
    zarr.open_group(str(store), mode="r+")["a"].attrs.update(k="new", numbers=[1, 2])
    assert (value(array, "k"), value(array, "numbers")) == ("new", (1, 2))
    del zarr.open_group(str(store), mode="r+")["a"].attrs["k"]
    assert value(array, "k") is None


def test_own_changes_stay_until_they_are_merged(store):
    dataset = gdal.OpenEx(str(store), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray("a")
    array.CreateAttribute("mine", [], TEXT).Write("own")
    array.GetAttribute("old").Write("own")
    change(store, old="of the other", theirs="other")
    assert (value(array, "mine"), value(array, "old")) == ("own", "own")
    dataset.FlushCache()
    assert [value(array, name) for name in ("mine", "old", "theirs")] == ["own", "own", "other"]
    other = open_root(store).OpenMDArray("a")
    assert [value(other, name) for name in ("mine", "old", "theirs")] == ["own", "own", "other"]


@pytest.mark.parametrize("access", [gdal.GA_ReadOnly, gdal.GA_Update])
def test_classic_handles(store, access):
    dataset = gdal.Open(str(store), access)
    assert dataset.GetMetadata() == {"old": "as it was"}
    dataset.SetMetadataItem("mine", "own")
    change(store, k="new", old="other", scale_factor="no number")
    dataset.FlushCache()
    shown = dataset.GetMetadata()
    assert (shown["k"], shown["old"], shown["mine"]) == ("new", "other", "own")
    dataset.SetMetadataItem("k", "own")
    dataset.FlushCache()
    change(store, k="newer")
    dataset.FlushCache()
    # In a store that is open for reading, an item is kept beside it.
    assert dataset.GetMetadataItem("k") == ("own" if access == gdal.GA_ReadOnly else "newer")


def test_scale_and_nodata_of_a_band(store):
    dataset = gdal.Open(str(store))
    band = dataset.GetRasterBand(1)
    assert (band.GetScale(), band.GetNoDataValue()) == (None, None) or band.GetScale() == 1
    subprocess.run([sys.executable, "-c", """
import sys
from osgeo import gdal
dataset = gdal.Open(sys.argv[1], gdal.GA_Update)
dataset.GetRasterBand(1).SetScale(0.5)
del dataset
""", str(store)], check=True, timeout=120)
    dataset.FlushCache()
    assert band.GetScale() == 0.5


def test_an_array_that_has_another_shape_keeps_its_own(tmp_path):
    write_array(tmp_path / "a.zarr", np.ones((2, 3), "u1"))
    array = open_array(tmp_path / "a.zarr")
    edit_json(tmp_path / "a.zarr/zarr.json", shape=[4, 3], attributes={"k": "new"})
    assert value(array, "k") == "new"

    assert [d.GetSize() for d in array.GetDimensions()] == [2, 3]
    assert [d.GetSize() for d in open_array(tmp_path / "a.zarr").GetDimensions()] == [4, 3]


def test_a_document_that_is_broken_meanwhile(tmp_path):
    write_array(tmp_path / "a.zarr", np.ones((2, 3), "u1"), attributes={"k": "old"})
    array = open_array(tmp_path / "a.zarr")
    (tmp_path / "a.zarr/zarr.json").write_text("{")
    messages = []
    gdal.PushErrorHandler(lambda *error: messages.append(error[2]))
    try:
        assert value(array, "k") == "old"
    finally:
        gdal.PopErrorHandler()
    assert len(messages) == 1 and "its attributes are as they were read before" in messages[0]


def test_over_the_network(tmp_path, monkeypatch):
    write_array(tmp_path / "a.zarr", np.ones((2, 3), "u1"), attributes={"k": "old"})
    with webserver.serve(tmp_path, monkeypatch) as server:
        dataset = gdal.OpenEx(f'ZARR:"/vsicurl/{server.url}/a.zarr"', gdal.OF_MULTIDIM_RASTER)
        array = dataset.GetRootGroup().OpenMDArray("a")
        assert value(array, "k") == "old"
        edit_json(tmp_path / "a.zarr/zarr.json", attributes={"k": "new"})
        assert value(array, "k") == "old"
        dataset.FlushCache()
        assert value(array, "k") == "new"
        del array, dataset


def test_a_node_that_is_read_after_a_change_of_consolidated_metadata(store):
    dataset = gdal.OpenEx(str(store), gdal.OF_MULTIDIM_RASTER)
    root = dataset.GetRootGroup()
    change(store, k="new")
    assert value(root.OpenMDArray("a"), "k") == "new"


@pytest.mark.parametrize("version", ["2", "3"])
@pytest.mark.parametrize("status", [404, 500])
def test_consolidated_metadata_that_a_server_does_not_send_for_a_while(tmp_path, monkeypatch,
                                                                       version, status):
    """A store whose folders the server does not list has no other list of its arrays."""
    dataset = create(tmp_path / "s.zarr", f"FORMAT=ZARR_V{version}")
    create_array(dataset.GetRootGroup(), "a", (2, 3), gdal.GDT_Float32)
    del dataset
    change(tmp_path / "s.zarr", k="old")
    document = {"2": ".zmetadata", "3": "s.zarr/zarr.json"}[version]
    with webserver.serve(tmp_path, monkeypatch) as server:
        dataset = gdal.OpenEx(f'ZARR:"/vsicurl/{server.url}/s.zarr"', gdal.OF_MULTIDIM_RASTER)
        root = dataset.GetRootGroup()
        array = root.OpenMDArray("a")
        assert value(array, "k") == "old"
        change(tmp_path / "s.zarr", k="new")
        server.faults[document] = status
        dataset.FlushCache()
        gdal.PushErrorHandler("CPLQuietErrorHandler")
        try:
            assert value(array, "k") == "old"
        finally:
            gdal.PopErrorHandler()
        assert root.GetMDArrayNames() == ["a"]
        server.faults.clear()
        dataset.FlushCache()
        assert value(array, "k") == "new" and root.GetMDArrayNames() == ["a"]
        del array, root, dataset


@pytest.mark.parametrize("whole", [True, False])
def test_an_item_that_is_set_leaves_the_others(store, whole):
    """Those that another program has changed and added are not written back."""
    dataset = gdal.Open(str(store), gdal.GA_Update)
    dataset.SetMetadataItem("mine", "a")
    change(store, old="other", new="new")
    dataset.GetRasterBand(1).WriteArray(np.zeros((2, 3), "f4"))  # puts the metadata before
    for text in ("b", "c"):
        if whole:
            dataset.SetMetadata({"old": "as it was", "mine": text})
        else:
            dataset.SetMetadataItem("mine", text)
    assert dataset.GetMetadata() == {"old": "as it was", "mine": "c"}
    dataset.FlushCache()
    expected = {"old": "other", "new": "new", "mine": "c"}
    assert dataset.GetMetadata() == expected
    del dataset
    assert gdal.Open(str(store)).GetMetadata() == expected


def test_bands_whose_values_two_programs_change(tmp_path):
    path = str(tmp_path / "b.zarr")
    dataset = gdal.GetDriverByName("Zarr").Create(path, 3, 2, 3, gdal.GDT_Byte)
    for number in (1, 2, 3):
        dataset.GetRasterBand(number).SetScale(number / 8)
    del dataset
    first, second = (gdal.Open(path, gdal.GA_Update) for _ in range(2))
    other = gdal.Open(path)
    scales = lambda d: [d.GetRasterBand(i).GetScale() for i in (1, 2, 3)]  # noqa: E731
    assert scales(first) == scales(second) == scales(other) == [0.125, 0.25, 0.375]
    first.GetRasterBand(1).SetScale(7)
    second.GetRasterBand(2).SetScale(9)
    first.FlushCache()
    second.FlushCache()
    first.GetRasterBand(3).SetScale(5)
    first.FlushCache()
    other.FlushCache()
    assert scales(first) == scales(other) == [7, 9, 5]
    second.FlushCache()
    assert scales(second) == [7, 9, 5]


@pytest.mark.parametrize("access", [gdal.GA_ReadOnly, gdal.GA_Update])
def test_the_registration(tmp_path, access):
    attributes = {"spatial:dimensions": ["y", "x"], "spatial:transform": [1, 0, 0, 0, -1, 9],
                  "spatial:registration": "pixel"}
    write_array(tmp_path / "a.zarr", np.ones((2, 3), "u1"), names=["y", "x"],
                attributes=attributes)
    dataset = gdal.Open(str(tmp_path / "a.zarr"), access)
    assert dataset.GetMetadataItem("AREA_OR_POINT") == "Area"
    edit_json(tmp_path / "a.zarr/zarr.json",
              attributes={**attributes, "spatial:registration": "node"})
    dataset.FlushCache()
    assert dataset.GetMetadata() == {"AREA_OR_POINT": "Point"}


def test_the_rest_of_the_document_keeps_its_spelling(tmp_path):
    """zarr-python 3 does not know the data type r16, nor other readers every name of the others."""
    write_array(tmp_path / "a.zarr", np.ones((2, 3), "u2"), attributes={"k": "old"})
    document = tmp_path / "a.zarr/zarr.json"
    edit_json(document, fill_value="AAA=", codecs=["bytes"], dimension_names=[None, None],
              data_type={"name": "raw_bytes", "configuration": {"length_bytes": 2}},
              chunk_key_encoding={"name": "default"})
    before = json.loads(document.read_text())
    dataset = gdal.OpenEx(str(tmp_path / "a.zarr"), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    array = dataset.GetRootGroup().OpenMDArray(dataset.GetRootGroup().GetMDArrayNames()[0])
    array.GetAttribute("k").Write("new")
    del array, dataset
    assert json.loads(document.read_text()) == {**before, "attributes": {"k": "new"}}


def test_arrays_over_the_network_are_asked_at_once(tmp_path, monkeypatch):
    path = tmp_path / "s.zarr"
    gdal.GetDriverByName("Zarr").Create(str(path), 3, 2, 8, gdal.GDT_Byte,
                                        ["SINGLE_ARRAY=NO"])
    (path / ".zmetadata").unlink()
    links = "".join(f'<a href="{child.name}/">{child.name}/</a>\n' for child in path.glob("*/"))
    (tmp_path / "list").write_text(f"<title>Index of /s.zarr</title>\n<body>\n{links}</body>\n")
    running, most, lock = set(), [0], threading.Lock()

    def rewrite(target):
        with lock:
            running.add(target)
            most[0] = max(most[0], len(running))
        time.sleep(0.1)
        with lock:
            running.discard(target)
        return "list" if target == "/s.zarr/" else target.partition("?")[0]

    with webserver.serve(tmp_path, monkeypatch) as server:
        server.html, server.rewrite = "list", rewrite
        dataset = gdal.OpenEx(f'ZARR:"/vsicurl/{server.url}/s.zarr":/', gdal.OF_RASTER,
                              open_options=["USE_CONSOLIDATED_METADATA=NO"])
        assert dataset.RasterCount == 8
        for document in path.glob("*/.zattrs"):
            document.write_text(json.dumps({**json.loads(document.read_text()), "k": "new"}))
        most[0] = 0
        dataset.FlushCache()
        assert dataset.GetMetadataItem("k") == "new"
        assert most[0] >= 4
        del dataset
