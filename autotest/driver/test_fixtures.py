"""Stores of other implementations have the values that their writers meant (fixtures/README.md)."""
import json
from pathlib import Path

import numpy as np
import pytest
from osgeo import gdal, osr

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"

# Some versions of GDAL have no type for these, so they are read as the next wider one.
WIDENED = {"bool": ["uint8"], "int8": ["int8", "int16"], "float16": ["float16", "float32"]}

ENTRIES = json.loads((FIXTURES / "manifest.json").read_text())
CASES = [pytest.param(entry, id=entry["store"].removeprefix("stores/")) for entry in ENTRIES]


def open_array(entry):
    """The dataset (to be kept while the array is used) and the array of a manifest entry."""
    dataset = gdal.OpenEx(str(FIXTURES / entry["store"]), gdal.OF_MULTIDIM_RASTER)
    root = dataset.GetRootGroup()
    name = entry["array"]
    if name == "/":
        # `v2_bool.zarr` lists its root array as `v2_bool`.
        assert root.GetMDArrayNames() == [Path(entry["store"]).stem]
        name += root.GetMDArrayNames()[0]
    array = root.OpenMDArrayFromFullname(name)
    assert array is not None, f"no array {name}"
    return dataset, array


def classic_view(array):
    rank = array.GetDimensionCount()
    return array.AsClassicDataset(rank - 1, rank - 2)


def assert_values(array, want):
    assert [d.GetSize() for d in array.GetDimensions()] == list(want.shape)
    if want.size == 0:
        return  # osgeo cannot make an empty numpy array
    got = np.asarray(array.ReadAsArray()).reshape(want.shape)
    # Times are numbers, in the units of the array.
    want = want.view(want.dtype.str[0] + "i8") if want.dtype.kind in "mM" else want
    native = want.dtype.newbyteorder("=")
    assert got.dtype.name in WIDENED.get(native.name, [native.name])
    # Compared in the writer's type, where NaN equals NaN.
    np.testing.assert_array_equal(got.astype(native), want)


def assert_records(array, want):
    for field in want[0]:
        got = array.GetView(f"['{field}']").ReadAsArray()
        assert got.tolist() == [record[field] for record in want], f"field {field}"


def assert_strings(array, want):
    assert list(array.Read()) == want


@pytest.mark.parametrize("entry", CASES)
def test_fixture(entry):
    dataset, array = open_array(entry)

    if "expected" in entry:
        assert_values(array, np.load(FIXTURES / entry["expected"]))
    if "expected_json" in entry:
        want = json.loads((FIXTURES / entry["expected_json"]).read_text())
        (assert_records if isinstance(want[0], dict) else assert_strings)(array, want)

    if "dims" in entry:
        assert [d.GetName() for d in array.GetDimensions()] == entry["dims"]
    if "scale" in entry:
        assert array.GetScale() == entry["scale"]
        assert array.GetOffset() == entry["offset"]
        assert array.GetNoDataValueAsDouble() == entry["nodata"]
    for name, value in entry.get("attributes", {}).items():
        got = array.GetAttribute(name).Read()
        assert (list(got) if isinstance(got, (list, tuple)) else got) == value, f"attribute {name}"

    if "epsg" in entry:
        want = osr.SpatialReference()
        want.ImportFromEPSG(entry["epsg"])
        got = array.GetSpatialRef()
        assert got is not None, "no CRS"
        assert got.IsSame(want, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"]), got.ExportToWkt()
    if "geotransform" in entry:
        assert_geotransform(array, entry["geotransform"])
    if "geotransform_from" in entry:
        x, dx, y, dy = (entry[k] for k in ("x", "dx", "y", "dy"))
        assert_geotransform(array, [x - dx / 2, dx, 0, y - dy / 2, 0, dy])

    if "overviews" in entry:
        classic = classic_view(array)
        band = classic.GetRasterBand(1)
        assert band.GetOverviewCount() == len(entry["overviews"])
        for i, path in enumerate(entry["overviews"]):
            got = band.GetOverview(i).ReadAsArray()
            np.testing.assert_array_equal(got, np.load(FIXTURES / path))
    if "bands" in entry:
        assert gdal.Open(str(FIXTURES / entry["store"])).RasterCount == entry["bands"]


def assert_geotransform(array, want):
    got = classic_view(array).GetGeoTransform(can_return_null=True)
    assert got is not None, "no geotransform"
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)


def test_every_store_is_listed():
    listed = {Path(entry["store"]).parts[1] for entry in ENTRIES}
    # Its values are in its expected.json; test_parquet_references.py reads it.
    listed.add("kerchunk_parquet")
    assert {path.name for path in (FIXTURES / "stores").iterdir()} == listed
