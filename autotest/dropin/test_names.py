"""Names of new groups and arrays, names that stores hold, and names by which stores open."""
import json

import numpy as np
import pytest
from osgeo import gdal

DATA = np.arange(12, dtype="u1").reshape(3, 4)
FORMATS = ["ZARR_V2", "ZARR_V3"]
BYTE = gdal.ExtendedDataType.Create(gdal.GDT_Byte)


def create_store(path, format="ZARR_V2"):
    driver = gdal.GetDriverByName("Zarr")
    return driver.CreateMultiDimensional(str(path), [], [f"FORMAT={format}"])


def create_raster(path, *options, format="ZARR_V2"):
    dataset = gdal.GetDriverByName("Zarr").Create(str(path), 4, 3, 1, gdal.GDT_Byte,
                                                  [f"FORMAT={format}", *options])
    dataset.GetRasterBand(1).WriteArray(DATA)
    del dataset


def is_made(make):
    try:
        return make() is not None
    except RuntimeError:
        return False


@pytest.mark.builtin_since("3.8")  # the final version 3
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a:b", ".zarray", ".zgroup", "old",
                                  "folder"])
def test_names_that_no_new_node_can_have(tmp_path, format, name):
    dataset = create_store(tmp_path / "a.zarr", format)
    root = dataset.GetRootGroup()
    dimension = root.CreateDimension("d", None, None, 2)
    root.CreateGroup("old")
    (tmp_path / "a.zarr/folder").mkdir()
    assert not is_made(lambda: root.CreateGroup(name))
    assert not is_made(lambda: root.CreateMDArray(name, [dimension], BYTE))
    assert is_made(lambda: root.CreateGroup("new_group"))
    assert is_made(lambda: root.CreateMDArray("new_array", [dimension], BYTE))


@pytest.mark.parametrize("name", ["a b", "é", "x.", ".x", "_x", "c"])
def test_names_that_new_nodes_can_have(tmp_path, name):
    dataset = create_store(tmp_path / "a.zarr")
    root = dataset.GetRootGroup()
    dimension = root.CreateDimension("d", None, None, 2)
    assert root.CreateMDArray(name, [dimension], BYTE).GetFullName() == f"/{name}"


@pytest.mark.ours_only("it makes nodes whose names version 3 forbids")
@pytest.mark.parametrize("name, problem", [
    ("...", "it consists of periods only"), ("__x", "reserves the prefix __"),
])
def test_names_that_version_3_forbids(tmp_path, name, problem):
    dataset = create_store(tmp_path / "a.zarr", "ZARR_V3")
    root = dataset.GetRootGroup()
    dimension = root.CreateDimension("d", None, None, 2)
    for make in (lambda: root.CreateGroup(name), lambda: root.CreateMDArray(name, [dimension], BYTE)):
        with pytest.raises(RuntimeError, match=f'/{name}: "{name}" is not a valid name.*{problem}'):
            make()
    with pytest.raises(RuntimeError, match=problem):
        create_raster(tmp_path / "r.zarr", f"ARRAY_NAME={name}", format="ZARR_V3")
    assert not (tmp_path / "r.zarr").exists()
    create_raster(tmp_path / "r.zarr", f"ARRAY_NAME={name}")  # version 2 has no such rule


def store_with_array(path, name, consolidated):
    """A store of version 3 with the arrays `name` and `good`."""
    node = {"zarr_format": 3, "node_type": "array", "shape": [3, 4], "data_type": "uint8",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3, 4]}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": 7,
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}
    group = {"zarr_format": 3, "node_type": "group"}
    if consolidated:
        group["consolidated_metadata"] = {"kind": "inline", "must_understand": False,
                                          "metadata": {name: node, "good": node}}
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps(group))
    for child in (name, "good"):
        (path / child).mkdir()
        (path / child / "zarr.json").write_text(json.dumps(node))


@pytest.mark.ours_only("it lists them")
@pytest.mark.parametrize("consolidated", [False, True])
@pytest.mark.parametrize("name", ["...", "__x"])
def test_forbidden_names_that_are_found(tmp_path, name, consolidated):
    store_with_array(tmp_path / "a.zarr", name, consolidated)
    warnings = []
    gdal.PushErrorHandler(lambda severity, number, text: warnings.append(text))
    dataset = gdal.OpenEx(str(tmp_path / "a.zarr"), gdal.OF_MULTIDIM_RASTER)
    root = dataset.GetRootGroup()
    assert root.GetMDArrayNames() == ["good"]
    root.GetMDArrayNames()
    raster = gdal.Open(str(tmp_path / "a.zarr"))
    gdal.PopErrorHandler()
    assert raster.RasterXSize == 4
    assert len(warnings) == 2  # one for each dataset
    assert all(f"/{name} is not listed because of its name" in text for text in warnings)
    assert root.OpenMDArray(name).Read()[:1] == b"\7"  # it opens by its name


@pytest.mark.builtin_since("3.8")
@pytest.mark.parametrize("consolidated", [False, True])
def test_name_that_xarray_gives(tmp_path, consolidated):
    name = "__xarray_dataarray_variable__"
    store_with_array(tmp_path / "a.zarr", name, consolidated)
    dataset = gdal.OpenEx(str(tmp_path / "a.zarr"), gdal.OF_MULTIDIM_RASTER)
    assert sorted(dataset.GetRootGroup().GetMDArrayNames()) == [name, "good"]


# --- ARRAY_NAME ----------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["", "a:b", ".."])
def test_array_names_that_are_refused(tmp_path, name):
    with pytest.raises(RuntimeError):
        create_raster(tmp_path / "a.zarr", f"ARRAY_NAME={name}")


@pytest.mark.ours_only("it refuses names with a slash")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["group/array", "/one/two/array"])
@pytest.mark.parametrize("way", ["create", "copy"])
def test_array_name_makes_its_groups(tmp_path, format, name, way):
    path = tmp_path / "a.zarr"
    options = [f"ARRAY_NAME={name}"]
    if way == "create":
        create_raster(path, *options, format=format)
    else:
        source = gdal.GetDriverByName("MEM").Create("", 4, 3)
        source.GetRasterBand(1).WriteArray(DATA)
        source.SetGeoTransform([10, 1, 0, 20, 0, -1])
        gdal.Translate(str(path), source, format="Zarr",
                       creationOptions=options + [f"FORMAT={format}"])
    full_name = "/" + name.strip("/")
    np.testing.assert_array_equal(gdal.Open(str(path)).ReadAsArray(), DATA)
    dataset = gdal.Open(f'ZARR:"{path}":{full_name}')
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    if way == "copy":
        assert dataset.GetGeoTransform() == (10, 1, 0, 20, 0, -1)
    hierarchy = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    assert hierarchy.GetRootGroup().OpenMDArrayFromFullname(full_name) is not None


@pytest.mark.ours_only("it refuses names with a slash")
@pytest.mark.parametrize("format", FORMATS)
def test_appended_array_makes_its_groups(tmp_path, format):
    path = tmp_path / "a.zarr"
    create_raster(path, "ARRAY_NAME=first", format=format)
    append = "APPEND_SUBDATASET=YES"
    create_raster(path, append, "ARRAY_NAME=group/second", format=format)
    create_raster(path, append, "ARRAY_NAME=group/third", format=format)
    names = [name for name, _ in gdal.Open(str(path)).GetSubDatasets()]
    assert [name.rpartition(":")[2] for name in names] == ["/first", "/group/second",
                                                           "/group/third"]
    with pytest.raises(RuntimeError, match="/first"):
        create_raster(path, append, "ARRAY_NAME=first/below")
    with pytest.raises(RuntimeError, match="BLOCKSIZE"):
        create_raster(path, append, "ARRAY_NAME=new/array", "BLOCKSIZE=1")
    assert not (path / "new").exists()


# --- Connection strings --------------------------------------------------------------------------

@pytest.fixture
def store(tmp_path):
    create_raster(tmp_path / "the store.zarr", "ARRAY_NAME=a")
    return tmp_path / "the store.zarr"


@pytest.mark.parametrize("name", ['ZARR:"{}"', 'ZARR:"{}":', 'ZARR:"{}":/a', 'ZARR:"{}/a"'])
def test_names_that_open(store, name):
    dataset = gdal.Open(name.format(store))
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)


@pytest.mark.ours_only("it needs the slash")
def test_array_without_a_slash(tmp_path, store):
    dataset = gdal.Open(f'ZARR:"{store}":a')
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    create_raster(tmp_path / "b.zarr", "ARRAY_NAME=g/b")
    assert gdal.Open(f'ZARR:"{tmp_path}/b.zarr":g/b').RasterXSize == 4
    with pytest.raises(RuntimeError, match="array /none does not exist"):
        gdal.Open(f'ZARR:"{store}":none')


@pytest.mark.ours_only("it takes no URLs of files")
@pytest.mark.parametrize("name", [
    "file://{}", "file://localhost{}", "FILE://{}", "file://{}/", "file://{}/.zgroup",
    'ZARR:"file://{}"', 'ZARR:"file://{}":/a', "file://{}/a",
])
def test_urls_of_files(store, name):
    dataset = gdal.Open(name.format(str(store).replace(" ", "%20")))
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)


@pytest.mark.ours_only("it takes no URLs of files")
def test_creating_and_deleting_by_url(tmp_path):
    url = f"file://{tmp_path}/new%20one.zarr"
    create_raster(url)
    np.testing.assert_array_equal(gdal.Open(url).ReadAsArray(), DATA)
    assert (tmp_path / "new one.zarr/.zgroup").exists()
    driver = gdal.GetDriverByName("Zarr")
    driver.Rename(f"file://{tmp_path}/renamed.zarr", url)
    assert (tmp_path / "renamed.zarr/.zgroup").exists()
    driver.Delete(f"file://{tmp_path}/renamed.zarr")
    assert not list(tmp_path.iterdir())
