"""Updates of stores of the draft of v3 of 2020, by programs that wrote them before.

The built-in driver before GDAL 3.8 writes such stores: there, each test ends with what it reads.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from multidim_stores import add_attribute, open_store
from osgeo import gdal
from tested_driver import BUILTIN, older_than

FIXTURES = Path(__file__).parents[1] / "fixtures"
ARRAYS = {"draft3_zarr213": "/grp/arr", "draft3_blosc_F": "/f", "draft3_gdal36": "/data"}
IS_READ_BY_BUILTIN = older_than("3.8")

pytestmark = pytest.mark.skipif(BUILTIN and not IS_READ_BY_BUILTIN,
                                reason="the built-in driver has not read the draft since GDAL 3.8")

READER = """
import json, sys
from osgeo import gdal
gdal.UseExceptions()
dataset = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER)
array = dataset.GetRootGroup().OpenMDArrayFromFullname(sys.argv[2])
print(json.dumps({
    "values": array.ReadAsArray().tolist(),
    "attributes": {one.GetName(): one.Read() for one in array.GetAttributes()},
    "nodata": array.GetNoDataValueAsDouble()}))
"""


def seen(path, name):
    """What the judge reads: the built-in driver, or ours where that does not read the draft."""
    environment = dict(os.environ)
    if IS_READ_BY_BUILTIN:
        environment["GDAL_DRIVER_PATH"] = "disable"
    done = subprocess.run([sys.executable, "-c", READER, str(path), name], env=environment,
                          check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


@pytest.fixture(params=ARRAYS)
def store(request, tmp_path):
    """A copy of a fixture, the name of its array, and its values."""
    path = tmp_path / f"{request.param}.zarr"
    shutil.copytree(FIXTURES / "stores" / path.name, path)
    return path, ARRAYS[request.param], np.load(FIXTURES / "expected" / f"{request.param}.npy")


@pytest.fixture
def suffixed(tmp_path):
    """A store whose documents end with .js."""
    path = tmp_path / "suffixed.zarr"
    shutil.copytree(FIXTURES / "stores" / "draft3_gdal36.zarr", path)
    entry = json.loads((path / "zarr.json").read_text())
    (path / "zarr.json").write_text(json.dumps({**entry, "metadata_key_suffix": ".js"}))
    for document in list(path.glob("meta/**/*.json")):
        document.rename(document.with_suffix(".js"))
    return path


def array_of(dataset, name):
    return dataset.GetRootGroup().OpenMDArrayFromFullname(name)


def document(path, name):
    return json.loads((path / f"meta/root{name}.array.json").read_text())


def files(path):
    return {file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()}


@pytest.mark.ours_only("it drops the compressor from the document")
def test_attributes(store):
    path, name, values = store
    before, old = document(path, name), seen(path, name)
    dataset = open_store(path, update=True)
    array = array_of(dataset, name)
    add_attribute(array, "new", "value")
    number = array.CreateAttribute("number", [], gdal.ExtendedDataType.Create(gdal.GDT_Float64))
    assert number.Write(1.5) == gdal.CE_None
    del number, array, dataset
    new = seen(path, name)
    np.testing.assert_array_equal(new["values"], values)
    assert new == {**old, "attributes": {**old["attributes"], "new": "value", "number": 1.5}}
    after = document(path, name)
    assert {**after, "attributes": 0} == {**before, "attributes": 0}
    assert after["attributes"].items() >= before["attributes"].items()


def test_attributes_of_groups(store):
    path, name, values = store
    dataset = open_store(path, update=True)
    add_attribute(dataset.GetRootGroup(), "title", "root")
    del dataset
    dataset = open_store(path)
    assert dataset.GetRootGroup().GetAttribute("title").Read() == "root"
    np.testing.assert_array_equal(seen(path, name)["values"], values)
    assert json.loads((path / "meta/root.group.json").read_text())["attributes"]["title"] == "root"


def test_values(store):
    path, name, values = store
    before = document(path, name)
    dataset = open_store(path, update=True)
    array = array_of(dataset, name)
    part = np.arange(6).reshape(2, 3).astype(values.dtype)
    assert array.WriteArray(part, [1, 2]) == gdal.CE_None
    del array, dataset
    values[1:3, 2:5] = part
    np.testing.assert_array_equal(seen(path, name)["values"], values)
    assert document(path, name) == before


@pytest.mark.ours_only("it does not open rasters for updates")
def test_rasters(store):
    path, name, values = store
    dataset = gdal.OpenEx(f'ZARR:"{path}":{name}', gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.SetMetadataItem("title", "changed")
    values[:2] = 7
    assert dataset.WriteArray(values) == gdal.CE_None
    del dataset
    new = seen(path, name)
    np.testing.assert_array_equal(new["values"], values)
    assert new["attributes"]["title"] == "changed"


@pytest.mark.gdal_since("3.7")
@pytest.mark.parametrize("rows", [3, 60])
def test_shapes(store, rows):
    path, name, values = store
    before = document(path, name)
    dataset = open_store(path, update=True)
    assert array_of(dataset, name).Resize([rows, values.shape[1]]) == gdal.CE_None
    del dataset
    resized = np.zeros((rows, values.shape[1]), values.dtype)
    resized[:] = before["fill_value"] or 0
    kept = min(rows, len(values))
    resized[:kept] = values[:kept]
    np.testing.assert_array_equal(seen(path, name)["values"], resized)
    assert document(path, name) == {**before, "shape": [rows, values.shape[1]]}


@pytest.mark.ours_only("it ignores the suffix")
def test_other_suffixes(suffixed):
    dataset = open_store(suffixed, update=True)
    array = array_of(dataset, "/data")
    add_attribute(array, "new", "value")
    assert array.WriteArray(np.full((1, 1), 9, np.uint8), [0, 0]) == gdal.CE_None
    before = files(suffixed)
    del array, dataset
    assert files(suffixed) == before
    dataset = open_store(suffixed)
    array = array_of(dataset, "/data")
    assert array.GetAttribute("new").Read() == "value"
    assert array.ReadAsArray()[0, 0] == 9
    assert json.loads((suffixed / "meta/root/data.array.js").read_text())["attributes"]["new"]


@pytest.mark.ours_only("it makes them in another format")
def test_new_nodes(store):
    path, name, values = store
    dataset = open_store(path, update=True)
    root = dataset.GetRootGroup()
    array = root.CreateGroup("new").CreateMDArray(
        "a", [root.CreateDimension("n", "", "", 2)],
        gdal.ExtendedDataType.Create(gdal.GDT_Byte))
    array.Write(np.array([3, 4], "u1"))
    del array, root, dataset
    assert "meta/root/new/a.array.json" in {str(p) for p in files(path)}
    array = array_of(open_store(path), "/new/a")
    np.testing.assert_array_equal(array.ReadAsArray(), [3, 4])
    np.testing.assert_array_equal(seen(path, name)["values"], values)


@pytest.mark.gdal_since("3.8")
def test_arrays_are_deleted_with_their_chunks(store):
    path, name, _ = store
    dataset = open_store(path, update=True)
    root = dataset.GetRootGroup()
    group = root.OpenGroup("grp") if name.startswith("/grp") else root
    assert group.DeleteMDArray(name.split("/")[-1]) == gdal.CE_None
    del group, root, dataset
    assert not [file for file in files(path)
                if file.startswith((f"meta/root{name}.", f"meta/root{name}/", f"data/root{name}/"))]
