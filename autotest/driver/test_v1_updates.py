"""Updates of arrays of v1."""
import json
import shutil

import numpy as np
import pytest
from multidim import open_array, open_to_write
from osgeo import gdal
from test_fixtures import FIXTURES


@pytest.fixture(params=["v1_blosc", "v1_zlib_F", "v1_none"])
def store(request, tmp_path):
    """A copy of a fixture, and its values."""
    path = tmp_path / f"{request.param}.zarr"
    shutil.copytree(FIXTURES / "stores" / path.name, path)
    return path, np.load(FIXTURES / "expected" / f"{request.param}.npy")


def document(path, name="meta"):
    return json.loads((path / name).read_text())


def array_to_write(path):
    """The dataset (to be kept) and its array."""
    dataset = open_to_write(path)
    root = dataset.GetRootGroup()
    return dataset, root.OpenMDArray(root.GetMDArrayNames()[0])


def test_values_and_attributes(store):
    path, values = store
    before, attributes = document(path), document(path, "attrs")
    dataset, array = array_to_write(path)
    part = np.arange(6).reshape(2, 3).astype(values.dtype)
    assert array.WriteArray(part, [1, 2]) == gdal.CE_None
    attribute = array.CreateAttribute("new", [], gdal.ExtendedDataType.CreateString())
    assert attribute.Write("value") == gdal.CE_None
    del attribute, array, dataset
    values[1:3, 2:5] = part
    np.testing.assert_array_equal(open_array(path).ReadAsArray(), values)
    assert document(path) == before
    assert document(path, "attrs") == {**attributes, "new": "value"}


@pytest.mark.skipif(not hasattr(gdal.MDArray, "Resize"), reason="GDAL before 3.7 has no such call")
@pytest.mark.parametrize("rows", [3, 90])
def test_shapes(store, rows):
    path, values = store
    before = document(path)
    for shape in (rows, len(values)):  # what shrinks away is gone when it grows again
        dataset, array = array_to_write(path)
        assert array.Resize([shape, values.shape[1]]) == gdal.CE_None
        del array, dataset
        assert document(path) == {**before, "shape": [shape, values.shape[1]]}
    values[rows:] = before["fill_value"] or 0
    np.testing.assert_array_equal(open_array(path).ReadAsArray(), values)
