"""Nodes opened by their own path: coordinates are looked for in the folders above."""
import json
import os

import numpy as np
import pytest
from multidim_stores import open_store
from osgeo import gdal, osr

TRANSFORM = (5, 10, 0, 350, 0, -100)
DATA = np.arange(12, dtype="<i2").reshape(3, 4)
X = np.array([10, 20, 30, 40], "<f8")
Y = np.array([300, 200, 100], "<f8")


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def write_group(path, version, attributes=None):
    if version == 2:
        write_json(path / ".zgroup", {"zarr_format": 2})
        write_json(path / ".zattrs", attributes or {})
    else:
        write_json(path / "zarr.json", {"zarr_format": 3, "node_type": "group",
                                        "attributes": attributes or {}})


def write_array(path, version, data, names, attributes=None):
    attributes = dict(attributes or {})
    data = np.asarray(data)
    shape = list(data.shape)
    if version == 2:
        write_json(path / ".zarray", {
            "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": data.dtype.str,
            "compressor": None, "fill_value": None, "filters": None, "order": "C"})
        write_json(path / ".zattrs", attributes | {"_ARRAY_DIMENSIONS": names})
        chunk = path / ".".join("0" * max(1, data.ndim))
    else:
        write_json(path / "zarr.json", {
            "zarr_format": 3, "node_type": "array", "shape": shape,
            "data_type": data.dtype.name, "fill_value": 0, "attributes": attributes,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "dimension_names": names})
        chunk = path.joinpath("c", *"0" * data.ndim)
    chunk.parent.mkdir(parents=True, exist_ok=True)
    chunk.write_bytes(data.tobytes())


def utm():
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(32631)
    return crs


@pytest.fixture(params=[2, 3])
def store(request, tmp_path):
    """/a and /g/h/b, whose coordinates x and y and grid mapping are in the root."""
    version = request.param
    root = tmp_path / "s.zarr"
    for group in (root, root / "g", root / "g" / "h"):
        write_group(group, version)
    write_array(root / "x", version, X, ["x"], {"standard_name": "projection_x_coordinate"})
    write_array(root / "y", version, Y, ["y"], {"standard_name": "projection_y_coordinate"})
    write_array(root / "crs", version, np.int16(0), [], {"spatial_ref": utm().ExportToWkt()})
    for array in (root / "a", root / "g" / "h" / "b"):
        write_array(array, version, DATA, ["y", "x"], {"grid_mapping": "crs"})
    return root


def names_of(path):
    """All the ways to name an array by its own path."""
    documents = [name for name in (".zarray", "zarr.json") if (path / name).exists()]
    return [str(path), f'ZARR:"{path}"', str(path / documents[0])]


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("array", ["a", "g/h/b"])
def test_raster(store, array):
    for name in names_of(store / array):
        dataset = gdal.Open(name)
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
        assert dataset.GetGeoTransform() == TRANSFORM


@pytest.mark.ours_only("it does not find the grid mapping")
@pytest.mark.parametrize("array", ["a", "g/h/b"])
def test_crs(store, array):
    for name in [*names_of(store / array), f'ZARR:"{store}":/{array}']:
        dataset = gdal.Open(name)
        assert dataset.GetSpatialRef().IsSame(utm())
        multidim = open_store(name)
        if ":/" not in name:
            found = multidim.GetRootGroup().OpenMDArray(os.path.basename(array))
            assert found.GetSpatialRef().GetAuthorityCode(None) == "32631"


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("array", ["a", "g/h/b"])
def test_multidim(store, array):
    for name in names_of(store / array):
        dataset = open_store(name)
        root = dataset.GetRootGroup()
        own_name = os.path.basename(array)
        assert root.GetFullName() == "/"
        assert sorted(root.GetMDArrayNames()) == sorted([own_name, "x", "y"])
        dimensions = {one.GetFullName(): one for one in root.GetDimensions()}
        assert {name: one.GetType() for name, one in dimensions.items()} == {
            "/x": "HORIZONTAL_X", "/y": "HORIZONTAL_Y"}
        np.testing.assert_array_equal(dimensions["/y"].GetIndexingVariable().ReadAsArray(), Y)
        found = root.OpenMDArray(own_name)
        assert found.GetFullName() == f"/{own_name}"
        assert [one.GetFullName() for one in found.GetDimensions()] == ["/y", "/x"]
        variable = found.GetDimensions()[1].GetIndexingVariable()
        assert variable.GetFullName() == "/x"
        np.testing.assert_array_equal(variable.ReadAsArray(), X)
        np.testing.assert_array_equal(root.OpenMDArray("x").ReadAsArray(), X)
        np.testing.assert_array_equal(found.ReadAsArray(), DATA)


@pytest.mark.builtin_since("3.13")
def test_group(store):
    dataset = gdal.Open(str(store / "g" / "h"))
    assert dataset.GetGeoTransform() == TRANSFORM
    multidim = open_store(store / "g" / "h")
    root = multidim.GetRootGroup()
    assert root.GetMDArrayNames() == ["b"]
    dimensions = root.OpenMDArray("b").GetDimensions()
    assert [one.GetFullName() for one in dimensions] == ["/y", "/x"]
    np.testing.assert_array_equal(dimensions[0].GetIndexingVariable().ReadAsArray(), Y)


@pytest.mark.ours_only("it does not find attributes of groups above")
def test_conventions_of_the_group_above(tmp_path):
    write_group(tmp_path / "s.zarr", 3, {
        "proj:code": "EPSG:32631", "spatial:dimensions": ["rows", "columns"],
        "spatial:shape": [3, 4], "spatial:transform": [10, 0, 5, 0, -100, 350],
        "zarr_conventions": []})
    write_array(tmp_path / "s.zarr" / "a", 3, DATA, ["rows", "columns"])
    expected = gdal.Open(f'ZARR:"{tmp_path}/s.zarr":/a')
    dataset = gdal.Open(str(tmp_path / "s.zarr" / "a"))
    assert dataset.GetGeoTransform(can_return_null=True) == expected.GetGeoTransform(
        can_return_null=True)
    assert dataset.GetSpatialRef().IsSame(expected.GetSpatialRef())


@pytest.fixture
def netcdf(tmp_path):
    """As netCDF 4.8 writes a group with dimensions and a group below it."""
    root = tmp_path / "s.zarr"
    write_json(root / ".zgroup", {"zarr_format": 2, "_NCZARR_GROUP": {
        "dims": {}, "vars": [], "groups": ["MyGroup", "Missing"]}})
    write_json(root / "MyGroup" / ".zgroup", {"zarr_format": 2, "_NCZARR_GROUP": {
        "dims": {"lat": 3, "lon": 4}, "vars": ["d", "lat"], "groups": ["Below"]}})
    write_json(root / "MyGroup" / "Below" / ".zgroup", {"zarr_format": 2, "_NCZARR_GROUP": {
        "dims": {}, "vars": ["e"], "groups": []}})
    for name, data, dimensions in (("lat", Y, ["lat"]), ("d", DATA, ["lat", "lon"]),
                                   ("Below/e", DATA, ["lat", "lon"])):
        path = root / "MyGroup" / name
        write_array(path, 2, data, [])
        os.remove(path / ".zattrs")
        document = json.loads((path / ".zarray").read_text())
        document["_NCZARR_ARRAY"] = {"dimrefs": [f"/MyGroup/{one}" for one in dimensions]}
        write_json(path / ".zarray", document)
    return root


@pytest.mark.builtin_since("3.8")
@pytest.mark.parametrize("group,array", [("", "/MyGroup/d"), ("MyGroup", "d"),
                                         ("MyGroup/Below", "e"), ("MyGroup/d", "d"),
                                         ("MyGroup/Below/e", "e")])
def test_netcdf_keeps_full_names(netcdf, group, array):
    root = open_store(netcdf / group).GetRootGroup()
    found = root.OpenMDArrayFromFullname(array) if "/" in array else root.OpenMDArray(array)
    dimensions = found.GetDimensions()
    assert [one.GetFullName() for one in dimensions] == ["/MyGroup/lat", "/MyGroup/lon"]
    variable = dimensions[0].GetIndexingVariable()
    assert variable.GetName() == "lat"
    np.testing.assert_array_equal(variable.ReadAsArray(), Y)
    assert dimensions[1].GetIndexingVariable() is None


@pytest.mark.builtin_since("3.8")
def test_netcdf_names_its_groups(netcdf):
    root = open_store(netcdf).GetRootGroup()
    assert root.GetGroupNames() == ["MyGroup", "Missing"]
    assert root.OpenGroup("MyGroup").GetGroupNames() == ["Below"]


@pytest.mark.parametrize("below, path", [("MyGroup", "MyGroup"), ("MyGroup/Below", "MyGroup/Below"),
                                         ("", "")])
def test_netcdf_names_the_group_that_is_opened(netcdf, below, path):
    root = open_store(netcdf / below).GetRootGroup()
    assert root.GetName() == (os.path.basename(path) or "/")
    # The built-in driver leaves out the slash of groups that are opened.
    assert root.GetFullName().removeprefix("/") == path
    expected = ["MyGroup/lat", "MyGroup/lon"] if path == "MyGroup" else []
    assert [one.GetFullName().removeprefix("/") for one in root.GetDimensions() or []] == expected
    if path == "MyGroup":
        assert root.OpenGroup("Below").GetFullName().removeprefix("/") == "MyGroup/Below"


@pytest.mark.ours_only("it gives the group the name of the array, and no path to the array")
@pytest.mark.parametrize("name", ["d", "lat"])
def test_netcdf_array_has_its_group(netcdf, name):
    root = open_store(netcdf / "MyGroup" / name).GetRootGroup()
    assert root.GetFullName() == "/MyGroup"
    array = root.OpenMDArray(name)
    assert root.OpenMDArrayFromFullname(array.GetFullName()).GetName() == name
    assert {one.GetFullName() for one in array.GetDimensions()} == {
        one.GetFullName() for one in root.GetDimensions()}


@pytest.mark.ours_only("full names do not lead anywhere in groups that are opened")
@pytest.mark.parametrize("below", ["MyGroup", "MyGroup/Below", "MyGroup/d"])
def test_netcdf_full_names_are_found(netcdf, below):
    root = open_store(netcdf / below).GetRootGroup()
    variable = root.OpenMDArrayFromFullname("/MyGroup/lat")
    np.testing.assert_array_equal(variable.ReadAsArray(), Y)
    assert root.OpenGroupFromFullname("/MyGroup/Below").GetMDArrayNames() == ["e"]
    for absent in ("/My", "/Missing", "/MyGroup/x"):
        gdal.PushErrorHandler("CPLQuietErrorHandler")
        with pytest.raises(RuntimeError):
            root.OpenGroupFromFullname(absent).GetName()
        gdal.PopErrorHandler()
