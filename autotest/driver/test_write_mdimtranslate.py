"""gdalmdimtranslate to Zarr: the copy equals the source, by gdalmdiminfo and by its values."""
import json
import subprocess

import numpy as np
import pytest
import xarray
import zarr
from multidim import open_root
from numcodecs import VLenUTF8
from osgeo import gdal
from stores import write_array, write_group, write_json
from test_programs import climate, run  # noqa: F401 (a fixture)
from v2_stores import IS_FIRST, write_objects, write_v2, write_v2_group

RANDOM = np.random.default_rng(8)
HEIGHT = RANDOM.integers(-500, 500, (45, 60)).astype("i2")


def write_tree(path):
    """Nested groups, arrays of several types and ranks, attributes of several kinds."""
    write_v2_group(path, {"title": "tree", "numbers": [1, 2], "nested": {"a": [None, True]}})
    write_v2(path, "y", np.linspace(60, 45, 45), {"_ARRAY_DIMENSIONS": ["y"]})
    write_v2(path, "x", np.linspace(0, 30, 60), {"_ARRAY_DIMENSIONS": ["x"]})
    write_v2(path, "height", HEIGHT, {"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m",
                                      "scale_factor": 0.5, "add_offset": 10.0},
             chunks=(16, 16), fill_value=-9999)
    write_v2(path, "sub/deep/speed", RANDOM.normal(0, 1, (3, 45, 60)).astype("f4"),
             {"_ARRAY_DIMENSIONS": ["level", "y", "x"]}, chunks=(2, 20, 30), fill_value=np.nan)
    write_v2(path, "sub/level", np.array([10, 20, 2**60]),
             {"_ARRAY_DIMENSIONS": ["level"], "positive": "up", "axis": "Z"})
    names = np.array([["a", "", "ü"], ["日本", "x" * 99, "z"]], object)
    write_objects(path / "sub/names", names, VLenUTF8())
    write_json(path / "sub/names/.zattrs", {"_ARRAY_DIMENSIONS": ["row", "column"]})
    write_v2(path, "sub/pairs", np.array([(1, 2.5), (3, 4.5)], [("a", "<i4"), ("b", "<f8")]),
             {"_ARRAY_DIMENSIONS": ["row"]})
    write_v2(path, "sub/complex", np.array([1 + 2j, np.nan, 3]), {"_ARRAY_DIMENSIONS": ["column"]})
    write_v2(path, "sub/scalar", np.array(5, "u8"))
    return path


@pytest.fixture
def tree(tmp_path):
    return write_tree(tmp_path / "tree.zarr")


def described(path, *array):
    """gdalmdiminfo's description of the content, without how it is stored. `_FillValue` tells
    xarray the nodata value, which gdalmdiminfo prints anyway."""
    def without_storage(node):
        if isinstance(node, list):
            return [without_storage(item) for item in node]
        if not isinstance(node, dict):
            return node
        return {key: without_storage(value) for key, value in node.items()
                if key not in ("block_size", "structural_info", "driver", "_FillValue")
                and not (key == "attributes" and list(value) == ["_FillValue"])}

    options = ["-array", *array] if array else []
    return without_storage(json.loads(run("gdalmdiminfo", "-detailed", *options, path)))


def same_values(got, want):
    """Of all arrays, whether gdalmdiminfo prints their values or not."""
    assert got.GetMDArrayNames() == want.GetMDArrayNames()
    for name in want.GetMDArrayNames() or []:
        arrays = got.OpenMDArray(name), want.OpenMDArray(name)
        types = [array.GetDataType() for array in arrays]
        assert types[0].Equals(types[1])
        if types[0].GetClass() != gdal.GEDTC_STRING:
            assert arrays[0].Read() == arrays[1].Read()
    assert got.GetGroupNames() == want.GetGroupNames()
    for name in want.GetGroupNames() or []:
        same_values(got.OpenGroup(name), want.OpenGroup(name))


VERSIONS = {"v2": [], "v3": ["-co", "FORMAT=ZARR_V3"]}


@pytest.mark.parametrize("version", VERSIONS)
def test_all_of_it(tree, tmp_path, version):
    copy = tmp_path / "copy.zarr"
    run("gdalmdimtranslate", "-q", "-of", "Zarr", *VERSIONS[version], tree, copy)
    assert described(copy) == described(tree)
    same_values(open_root(copy), open_root(tree))
    assert (copy / "zarr.json").exists() == (version == "v3")


def test_there_and_back(tree, tmp_path):
    run("gdalmdimtranslate", "-q", "-of", "Zarr", *VERSIONS["v3"], tree, tmp_path / "v3.zarr")
    run("gdalmdimtranslate", "-q", "-of", "Zarr", tmp_path / "v3.zarr", tmp_path / "v2.zarr")
    assert described(tmp_path / "v2.zarr") == described(tree)
    same_values(open_root(tmp_path / "v2.zarr"), open_root(tree))
    got, want = (zarr.open(str(path)) for path in (tmp_path / "v2.zarr", tree))
    names = ["height", "sub/deep/speed", "sub/names", "sub/pairs", "sub/complex"]
    if IS_FIRST:
        names.remove("sub/complex")  # it reads their fill value as two
    for name in names:
        np.testing.assert_array_equal(got[name][...], want[name][...])
        assert got[name].dtype == want[name].dtype


@pytest.mark.parametrize("version", VERSIONS)
def test_netcdf(climate, tmp_path, version):  # noqa: F811
    """And xarray reads the same from the copy as from netCDF."""
    run("gdalmdimtranslate", "-q", climate, tmp_path / "a.nc")
    copy = tmp_path / "copy.zarr"
    run("gdalmdimtranslate", "-q", "-of", "Zarr", *VERSIONS[version], tmp_path / "a.nc", copy)
    got, want = open_root(copy), open_root(tmp_path / "a.nc")
    assert sorted(got.GetMDArrayNames()) == sorted(want.GetMDArrayNames())
    for name in want.GetMDArrayNames():
        got_array, want_array = got.OpenMDArray(name), want.OpenMDArray(name)
        np.testing.assert_array_equal(got_array.ReadAsArray(), want_array.ReadAsArray())
        assert [d.GetFullName() for d in got_array.GetDimensions()] == [
            d.GetFullName() for d in want_array.GetDimensions()
        ]
        assert (got_array.GetUnit(), got_array.GetScale(), got_array.GetOffset()) == (
            want_array.GetUnit(), want_array.GetScale(), want_array.GetOffset()
        )
    if version == "v2":
        with xarray.open_zarr(str(copy)) as opened, xarray.open_dataset(tmp_path / "a.nc") as nc:
            np.testing.assert_allclose(opened.t2m.values, nc.t2m.values)
            np.testing.assert_array_equal(opened.time.values, nc.time.values)
            np.testing.assert_array_equal(opened.lat.values, nc.lat.values)


@pytest.mark.parametrize("options, name, index", [
    (["-array", "height"], "height", np.s_[:]),
    (["-array", "name=height,view=[3]"], "height", np.s_[3]),
    (["-array", "name=height,view=[:,7]"], "height", np.s_[:, 7]),
    (["-array", "name=height,transpose=[1,0]"], "height", "transpose"),
    (["-array", "name=height,dstname=other"], "other", np.s_[:]),
    (["-array", "height", "-scaleaxes", "x(3),y(2)"], "height", np.s_[:44:2, ::3]),
    (["-array", "height", "-subset", "x(0,6)"], "height", np.s_[:, :12]),
], ids=["array", "row", "column", "transpose", "dstname", "scaleaxes", "subset"])
@pytest.mark.parametrize("version", VERSIONS)
def test_parts(tree, tmp_path, version, options, name, index):
    copy = tmp_path / "copy.zarr"
    run("gdalmdimtranslate", "-q", "-of", "Zarr", *VERSIONS[version], *options, tree, copy)
    want = HEIGHT.T if index == "transpose" else HEIGHT[index]
    array = open_root(copy).OpenMDArray(name)
    np.testing.assert_array_equal(array.ReadAsArray(), want)
    assert (array.GetUnit(), array.GetScale(), array.GetNoDataValue()) == ("m", 0.5, -9999)
    for dimension in array.GetDimensions():
        variable = dimension.GetIndexingVariable()
        assert variable.GetDimensions()[0].GetSize() == dimension.GetSize()


def test_a_group(tree, tmp_path):
    copy = tmp_path / "copy.zarr"
    run("gdalmdimtranslate", "-q", "-of", "Zarr", "-group", "/sub", tree, copy)
    got, want = open_root(copy), open_root(tree).OpenGroup("sub")
    assert got.OpenMDArray("level").Read() == want.OpenMDArray("level").Read()
    assert (got.OpenGroup("deep").OpenMDArray("speed").Read()
            == want.OpenGroup("deep").OpenMDArray("speed").Read())


def test_options_of_arrays(tree, tmp_path):
    """For all arrays, and for those that a condition of GDAL's selects."""
    copy = tmp_path / "copy.zarr"
    run("gdalmdimtranslate", "-q", "-of", "Zarr", "-co", "FORMAT=ZARR_V3",
        "-co", "ARRAY:COMPRESS=ZSTD", "-co", "ARRAY:IF(NAME=height):BLOCKSIZE=32,32",
        "-co", "ARRAY:IF(NAME=height):SHARD_CHUNK_SHAPE=8,16", tree, copy)
    document = json.loads((copy / "height/zarr.json").read_text())
    (codec,) = document["codecs"]
    assert codec["configuration"]["chunk_shape"] == [8, 16]
    assert codec["configuration"]["codecs"][-1]["name"] == "zstd"
    assert json.loads((copy / "x/zarr.json").read_text())["codecs"][-1]["name"] == "zstd"
    same_values(open_root(copy), open_root(tree))


def test_bad_option_of_arrays(tree, tmp_path):
    """A copy that fails leaves no files."""
    result = subprocess.run(
        ["gdalmdimtranslate", "-q", "-of", "Zarr", "-co", "ARRAY:COMPRESS=RAR", tree,
         tmp_path / "copy.zarr"], capture_output=True, text=True)
    assert result.returncode != 0
    assert "COMPRESS" in result.stderr and "ZSTD" in result.stderr
    assert not (tmp_path / "copy.zarr").exists()


def test_unnamed_dimensions(tmp_path):
    write_group(tmp_path / "a.zarr")
    write_array(tmp_path / "a.zarr/grid", HEIGHT)
    run("gdalmdimtranslate", "-q", "-of", "Zarr", tmp_path / "a.zarr", tmp_path / "b.zarr")
    got = open_root(tmp_path / "b.zarr").OpenMDArray("grid")
    np.testing.assert_array_equal(got.ReadAsArray(), HEIGHT)
