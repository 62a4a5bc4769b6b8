"""Attributes that are JSON without a counterpart in GDAL."""
import json

import pytest
from multidim_stores import open_store
from osgeo import gdal

VALUES = {"yes": True, "no": False, "nothing": None, "list": [True, None]}


@pytest.fixture
def path(tmp_path):
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.zarr" / ".zgroup").write_text('{"zarr_format": 2}')
    (tmp_path / "a.zarr" / ".zattrs").write_text(json.dumps(VALUES))
    return tmp_path / "a.zarr"


@pytest.mark.builtin_since("3.13")
def test_texts_of_subtype_json(path):
    dataset = open_store(path)
    attributes = {one.GetName(): one for one in dataset.GetRootGroup().GetAttributes()}
    assert {one.GetDataType().GetSubType() for one in attributes.values()} == {gdal.GEDTST_JSON}
    assert attributes["yes"].ReadAsString() == "true"
    assert attributes["no"].ReadAsString() == "false"
    assert attributes["nothing"].ReadAsString() == ""


@pytest.mark.ours_only("null becomes the empty string")
def test_copies(path, tmp_path):
    copy = tmp_path / "b.zarr"
    gdal.MultiDimTranslate(str(copy), str(path), format="Zarr")
    assert json.loads((copy / ".zattrs").read_text()) == VALUES
