"""Kerchunk references in Parquet files that this system's fsspec, pyarrow and fastparquet write."""
import json

import numpy as np
import parquet_references
import pytest
from osgeo import gdal

ENGINES = parquet_references.engines()

pytestmark = pytest.mark.skipif(not ENGINES, reason="neither pyarrow nor fastparquet with kerchunk")


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("references") / "stores"
    parquet_references.make(folder)
    return folder


def test_fresh_stores(stores):
    expected = json.loads((stores / "expected.json").read_text())
    paths = sorted(stores.glob("*.parq"))
    assert len(paths) >= 2
    for path in paths:
        root = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        for array, values in expected.items():
            found = root.OpenMDArrayFromFullname("/" + array).ReadAsArray()
            np.testing.assert_array_equal(found, values, err_msg=f"{path.name}: {array}")
