"""New arrays in v1, and new nodes in stores of the draft of 2020, as zarr-python 2 reads them."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from multidim import create_array, open_root, open_to_write
from osgeo import gdal, osr
from test_commands import failure, run, values

zarr = pytest.importorskip("zarr")
DATA = np.arange(12, dtype="u2").reshape(3, 4)


@pytest.fixture(autouse=True)
def zarr_python_2():
    if not zarr.__version__.startswith("2."):
        pytest.skip("zarr-python 2 reads these formats")


def migrated(path):
    """The array of a v1 store, which zarr-python can only convert."""
    zarr.storage.migrate_1to2(zarr.DirectoryStore(str(path)))
    return zarr.open_array(str(path), mode="r")


@pytest.mark.parametrize("options", [
    [], ["COMPRESS=ZLIB"], ["COMPRESS=BLOSC", "BLOSC_SHUFFLE=BIT"], ["CHUNK_MEMORY_LAYOUT=F"],
    ['CODECS={"compressor": "bz2"}', "BLOCKSIZE=2,3"],
])
def test_a_raster_in_version_1(tmp_path, options):
    path = tmp_path / "a.zarr"
    dataset = gdal.GetDriverByName("Zarr").Create(str(path), 4, 3, 1, gdal.GDT_UInt16,
                                                  ["FORMAT=ZARR_V1", *options])
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(32632)
    dataset.SetSpatialRef(crs)
    dataset.SetGeoTransform([10, 1, 0, 50, 0, -1])
    dataset.SetMetadataItem("title", "example")
    dataset.GetRasterBand(1).SetNoDataValue(7)
    dataset.GetRasterBand(1).WriteArray(DATA)
    del dataset
    assert json.loads((path / "meta").read_text())["zarr_format"] == 1
    dataset = gdal.Open(str(path))
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    assert dataset.GetGeoTransform() == (10, 1, 0, 50, 0, -1)
    assert dataset.GetSpatialRef().GetAuthorityCode(None) == "32632"
    assert dataset.GetMetadataItem("title") == "example"
    assert dataset.GetRasterBand(1).GetNoDataValue() == 7
    del dataset
    array = migrated(path)
    np.testing.assert_array_equal(array[...], DATA)
    assert array.fill_value == 7
    assert array.attrs["title"] == "example"


def test_an_array_in_version_1(tmp_path):
    path = str(tmp_path / "a.zarr")
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(path, [], ["FORMAT=ZARR_V1"])
    root = dataset.GetRootGroup()
    assert not root.GetMDArrayNames()
    with pytest.raises(RuntimeError, match="the format Zarr v1 has no groups"):
        root.CreateGroup("g")
    array = create_array(root, "t", (3, 4), gdal.GDT_UInt16)
    array.CreateAttribute("units", [], gdal.ExtendedDataType.CreateString()).Write("K")
    assert array.WriteArray(DATA) == gdal.CE_None
    assert root.GetMDArrayNames() == ["t"]
    with pytest.raises(RuntimeError, match="is an array by itself"):
        create_array(root, "other", (3, 4), gdal.GDT_UInt16)
    del array, root, dataset
    root = open_root(path)
    assert root.GetMDArrayNames() == ["a"]
    assert root.OpenMDArray("a").GetAttribute("units").Read() == "K"
    np.testing.assert_array_equal(migrated(path)[...], DATA)


@pytest.mark.parametrize("bands, options, problem", [
    (1, ["FILTER=DELTA"], 'Zarr v1 cannot express the filter "delta"'),
    (1, ["CHECKSUM=CRC32C"], 'Zarr v1 cannot express the filter "crc32c"'),
    (1, ["DIM_SEPARATOR=/"], "Zarr v1 cannot express the chunk keys"),
    (1, ["SHARDING=AUTO"], "Zarr v1 has no shards"),
    (2, ["SINGLE_ARRAY=NO"], "has a single array, in no group: Band2 cannot be added"),
    (1, ["ARRAY_NAME=g/a"], "Zarr v1 has no groups"),
])
def test_what_version_1_does_not_have(tmp_path, bands, options, problem):
    with pytest.raises(RuntimeError, match=problem):
        gdal.GetDriverByName("Zarr").Create(str(tmp_path / "a.zarr"), 4, 3, bands, gdal.GDT_Int16,
                                            ["FORMAT=ZARR_V1", *options])
    assert not list(tmp_path.iterdir())


def zarr_python(code, *arguments):
    """What code prints as JSON in a process that knows the draft."""
    done = subprocess.run([sys.executable, "-c", "import json, sys, zarr\n" + code, *arguments],
                          env=os.environ | {"ZARR_V3_EXPERIMENTAL_API": "1"}, check=True,
                          stdout=subprocess.PIPE, text=True, timeout=120)
    return json.loads(done.stdout)


@pytest.fixture
def draft(tmp_path):
    """The path of a store of the draft, which zarr-python has made with the array "g/old"."""
    zarr_python("""
group = zarr.group(store=zarr.DirectoryStoreV3(sys.argv[1]), path="g", zarr_version=3)
group.create_dataset("old", data=[[0, 1], [2, 3]])
print("null")
""", str(tmp_path / "d.zarr"))
    return str(tmp_path / "d.zarr")


def read_draft(path, group, name):
    """The data type, attributes and values of an array; complex ones as their real parts."""
    return zarr_python("""
store = zarr.DirectoryStoreV3(sys.argv[1])
array = zarr.open_group(store, path=sys.argv[2], mode="r", zarr_version=3)[sys.argv[3]]
values = array[...].real if array.dtype.kind == "c" else array[...]
print(json.dumps([array.dtype.str, dict(array.attrs), values.tolist()]))
""", path, group, name)


@pytest.mark.parametrize("gdal_type, dtype, options", [
    (gdal.GDT_Byte, "u1", []),
    (gdal.GDT_Int16, "i2", ["COMPRESS=ZLIB"]),
    (gdal.GDT_Int32, "i4", ["COMPRESS=BZ2", "FILTER=DELTA"]),
    (gdal.GDT_Float32, "f4", ["COMPRESS=BLOSC", "BLOSC_SHUFFLE=BIT", "BLOCKSIZE=2,3"]),
    (gdal.GDT_Float64, "f8", ["COMPRESS=GZIP", "CHUNK_MEMORY_LAYOUT=F"]),
    (gdal.GDT_CFloat32, "c8", ["COMPRESS=LZ4"]),
])
def test_new_arrays_of_the_draft(draft, gdal_type, dtype, options):
    dataset = open_to_write(draft)
    group = dataset.GetRootGroup().OpenGroup("g").CreateGroup("h")
    array = create_array(group, "a", (3, 4), gdal_type, *options)
    array.CreateAttribute("units", [], gdal.ExtendedDataType.CreateString()).Write("K")
    assert array.WriteArray(DATA.astype(dtype)) == gdal.CE_None
    del array, group, dataset
    np.testing.assert_array_equal(
        open_root(draft).OpenGroup("g").OpenGroup("h").OpenMDArray("a").ReadAsArray(), DATA)
    stored_type, attributes, values = read_draft(draft, "g/h", "a")
    assert np.dtype(stored_type) == np.dtype(dtype)
    assert attributes["units"] == "K"
    assert values == DATA.tolist()
    assert read_draft(draft, "g", "old")[2] == [[0, 1], [2, 3]]


def test_strings_of_the_draft(draft):
    dataset = open_to_write(draft)
    group = dataset.GetRootGroup().OpenGroup("g")
    array = group.CreateMDArray("s", [group.CreateDimension("x", None, None, 2)],
                                gdal.ExtendedDataType.CreateString())
    array.Write(["one", "twö"])
    del array, group, dataset
    assert read_draft(draft, "g", "s")[2] == ["one", "twö"]


def test_a_raster_is_appended_to_the_draft(draft):
    dataset = gdal.GetDriverByName("Zarr").Create(
        draft, 4, 3, 1, gdal.GDT_UInt16, ["APPEND_SUBDATASET=YES", "ARRAY_NAME=g/new"])
    dataset.GetRasterBand(1).WriteArray(DATA)
    del dataset
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"{draft}":/g/new').ReadAsArray(), DATA)
    assert read_draft(draft, "g", "new")[2] == DATA.tolist()


def test_layouts_that_updates_do_not_change(draft, tmp_path):
    source = zarr.open(str(tmp_path / "v2.zarr"), mode="w", shape=(3, 4), dtype="u2", order="F",
                       compressor=zarr.GZip())
    source[...] = DATA
    gdal.GetDriverByName("Zarr").CreateCopy(draft, gdal.Open(str(tmp_path / "v2.zarr")), options=[
        "APPEND_SUBDATASET=YES", "ARRAY_NAME=g/new"])
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"{draft}":/g/new').ReadAsArray(), DATA)
    assert read_draft(draft, "g", "new")[2] == DATA.tolist()
    assert "use --into" in failure("rechunk", draft, "BLOCKSIZE=1,1", "--array=/g/old")
    assert read_draft(draft, "g", "old")[2] == [[0, 1], [2, 3]]
    run("rechunk", draft, "BLOCKSIZE=1,1", "--into", tmp_path / "v3.zarr")
    np.testing.assert_array_equal(values(tmp_path / "v3.zarr", "/g/old"), [[0, 1], [2, 3]])
