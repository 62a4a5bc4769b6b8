"""Stores of one raster and of other arrays: the raster opens, and is listed as a subdataset."""
import pytest
from multidim_stores import BYTE, FORMATS, create
from osgeo import gdal


@pytest.fixture(params=FORMATS)
def version(request):
    return request.param


def listed(path):
    dataset = gdal.Open(path)
    assert (dataset.RasterXSize, dataset.RasterYSize, dataset.RasterCount) == (6, 4, 1)
    return dataset.GetMetadata("SUBDATASETS") or {}


def create_store(path, version, arrays):
    """A store with these arrays: their names, and the names of their dimensions."""
    dataset = create(path, [f"FORMAT={version}"])
    root = dataset.GetRootGroup()
    sizes = {"y": 4, "x": 6, "t": 2}
    dimensions = {name: root.CreateDimension(name, "", "", size) for name, size in sizes.items()}
    for array, names in arrays.items():
        root.CreateMDArray(array, [dimensions[name] for name in names], BYTE)
    return str(path)


@pytest.mark.builtin_since("3.8")
@pytest.mark.parametrize("arrays", [{"a": "yx"}, {"a": "yx", "y": "y", "x": "x"}])
def test_alone(tmp_path, version, arrays):
    assert listed(create_store(tmp_path / "a.zarr", version, arrays)) == {}


@pytest.mark.builtin_since("3.8")
@pytest.mark.parametrize("arrays", [
    {"a": "yx", "other": "t"},
    {"a": "yx", "t": "t"},
])
@pytest.mark.builtin_since("3.13")
def test_with_others(tmp_path, version, arrays):
    path = create_store(tmp_path / "a.zarr", version, arrays)
    assert listed(path) == {"SUBDATASET_1_NAME": f'ZARR:"{path}":/a',
                            "SUBDATASET_1_DESC": "[4x6] /a (Byte)"}
    assert gdal.Open(f'ZARR:"{path}":/a').RasterXSize == 6


# Programs such as rioxarray would take it for a collection of rasters.
@pytest.mark.ours_only("it lists the raster beside any array but all of its coordinates")
@pytest.mark.parametrize("arrays", [{"a": "yx", "crs": ""}, {"a": "yx", "x": "x"}])
def test_with_arrays_that_describe_it(tmp_path, version, arrays):
    assert listed(create_store(tmp_path / "a.zarr", version, arrays)) == {}


@pytest.mark.builtin_since("3.13")
def test_with_overviews(tmp_path):
    path = create_store(tmp_path / "a.zarr", "ZARR_V3", {"a": "yx"})
    dataset = gdal.Open(path, gdal.GA_Update)
    assert dataset.BuildOverviews("NEAREST", [2]) == 0
    dataset = None
    assert listed(path)["SUBDATASET_1_NAME"] == f'ZARR:"{path}":/a'
    dataset = gdal.Open(path)
    assert dataset.GetRasterBand(1).GetOverviewCount() == 1


def test_nothing_is_kept_beside_the_store(tmp_path, version):
    path = create_store(tmp_path / "a.zarr", version, {"a": "yx", "other": "t"})
    listed(path)
    assert [file.name for file in tmp_path.iterdir()] == ["a.zarr"]


@pytest.mark.builtin_since("3.13")
def test_all_arrays(tmp_path, version):
    path = create_store(tmp_path / "a.zarr", version, {"a": "yx"})
    dataset = gdal.OpenEx(path, gdal.OF_RASTER, open_options=["LIST_ALL_ARRAYS=YES"])
    assert dataset.RasterCount == 0
    assert [name for name, _ in dataset.GetSubDatasets()] == [f'ZARR:"{path}":/a']
    array = gdal.OpenEx(f'ZARR:"{path}":/a', gdal.OF_RASTER, open_options=["LIST_ALL_ARRAYS=YES"])
    assert array.RasterCount == 1
