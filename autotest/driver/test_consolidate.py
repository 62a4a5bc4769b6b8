"""The open option CONSOLIDATE_METADATA writes consolidated metadata of a store that has none."""
import json
import shutil

import numpy as np
import pytest
import xarray
from osgeo import gdal
from stores import write_array
from v2_stores import write_v2

DATA = np.arange(24, dtype="i2").reshape(4, 6)
OPTION = ["CONSOLIDATE_METADATA=YES"]


def make(path, version, *options):
    raster = gdal.GetDriverByName("Zarr").Create(
        str(path), 6, 4, 1, gdal.GDT_Int16, ["ARRAY_NAME=a", "FORMAT=" + version, *options])
    raster.SetGeoTransform((0, 1, 0, 4, 0, -1))
    raster.GetRasterBand(1).WriteArray(DATA)


def documents(path):
    """By node, as consolidated metadata has them; None without it."""
    if (path / "zarr.json").exists():
        return json.loads((path / "zarr.json").read_text()).get(
            "consolidated_metadata", {}).get("metadata")
    copy = path / ".zmetadata"
    return json.loads(copy.read_text())["metadata"] if copy.exists() else None


def open_for_update(path, flags=gdal.OF_RASTER):
    return gdal.OpenEx(str(path), flags | gdal.OF_UPDATE, open_options=OPTION)


@pytest.mark.parametrize("flags", [gdal.OF_RASTER, gdal.OF_MULTIDIM_RASTER])
@pytest.mark.parametrize("version", ["ZARR_V2", "ZARR_V3"])
def test_store_without(tmp_path, version, flags):
    make(tmp_path / "a.zarr", version, "CREATE_CONSOLIDATED_METADATA=NO")
    make(tmp_path / "b.zarr", version)
    assert documents(tmp_path / "a.zarr") is None
    dataset = open_for_update(tmp_path / "a.zarr", flags)
    assert documents(tmp_path / "a.zarr") == documents(tmp_path / "b.zarr")
    del dataset
    assert documents(tmp_path / "a.zarr") == documents(tmp_path / "b.zarr")
    assert not list(tmp_path.rglob(".zarr-*"))


def test_it_is_kept_in_sync(tmp_path):
    make(tmp_path / "a.zarr", "ZARR_V2", "CREATE_CONSOLIDATED_METADATA=NO")
    raster = open_for_update(tmp_path / "a.zarr")
    raster.SetMetadataItem("title", "new")
    del raster
    assert documents(tmp_path / "a.zarr")["a/.zattrs"]["title"] == "new"
    there = xarray.open_zarr(tmp_path / "a.zarr", consolidated=True, chunks=None)
    np.testing.assert_array_equal(there["a"], DATA)


def test_what_other_programs_changed_is_in_it(tmp_path):
    make(tmp_path / "a.zarr", "ZARR_V2")
    write_v2(tmp_path / "a.zarr", "b", DATA)
    shutil.rmtree(tmp_path / "a.zarr/X")
    assert open_for_update(tmp_path / "a.zarr")
    there = documents(tmp_path / "a.zarr")
    assert "b/.zarray" in there and "X/.zarray" not in there


def test_where_it_is_not_possible(tmp_path):
    make(tmp_path / "a.zarr", "ZARR_V2", "CREATE_CONSOLIDATED_METADATA=NO")
    with pytest.raises(RuntimeError, match="reading only"):
        gdal.OpenEx(str(tmp_path / "a.zarr"), gdal.OF_RASTER, open_options=OPTION)
    assert documents(tmp_path / "a.zarr") is None
    write_array(tmp_path / "b.zarr", DATA)
    with pytest.raises(RuntimeError, match="there is no group at the root"):
        open_for_update(tmp_path / "b.zarr")
