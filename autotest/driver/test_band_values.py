"""Bands that differ in scale, offset, unit or nodata: GDAL restores the values of each band, and no
other program applies one band's to another."""
import json

import numpy as np
import pytest
import xarray
import zarr
from classic import GRID, in_memory, listed_arrays, open_raster, write_tiff
from osgeo import gdal
from test_programs import run

ITEMS = ("scale", "offset", "unit", "noDataValue")
BANDS = [{"scale": 0.1, "offset": 100, "unit": "K", "nodata": 7},
         {"scale": 0.5, "offset": 0, "unit": "Pa", "nodata": 9},
         {}]
DATA = np.stack([GRID, GRID + 1, GRID + 2])
FORMATS = ["ZARR_V2", "ZARR_V3"]


@pytest.fixture
def vrt(tmp_path):
    """Three bands of a GeoTIFF, whose values a VRT states."""
    write_tiff(tmp_path / "a.tif", DATA, place=(0, 1, 0, 50, 0, -1), crs=32632)
    dataset = gdal.Translate(str(tmp_path / "a.vrt"), str(tmp_path / "a.tif"))
    for index, values in enumerate(BANDS, 1):
        set_values(dataset.GetRasterBand(index), values)
    dataset = None
    return tmp_path / "a.vrt"


def set_values(band, values):
    if "scale" in values:
        band.SetScale(values["scale"])
    if "offset" in values:
        band.SetOffset(values["offset"])
    if "unit" in values:
        band.SetUnitType(values["unit"])
    if "nodata" in values:
        band.SetNoDataValue(values["nodata"])


def values_of(path):
    """gdalinfo's output for each band."""
    bands = json.loads(run("gdalinfo", "-json", path))["bands"]
    return [{item: band[item] for item in ITEMS if item in band} for band in bands]


def attributes(path, array):
    return dict(zarr.open_group(str(path), mode="r")[array].attrs)


@pytest.mark.parametrize("version", FORMATS)
def test_copies_have_an_array_for_each_band(tmp_path, vrt, version):
    path = tmp_path / "b.zarr"
    run("gdal_translate", "-q", "-of", "Zarr", "-co", "FORMAT=" + version, vrt, path)
    run("gdal_translate", "-q", path, tmp_path / "back.vrt", "-of", "VRT")
    run("gdal_translate", "-q", "-of", "Zarr", path, tmp_path / "c.zarr")
    for copy in (path, tmp_path / "back.vrt", tmp_path / "c.zarr"):
        assert values_of(copy) == values_of(vrt)
        np.testing.assert_array_equal(open_raster(copy).ReadAsArray(), DATA)
        assert open_raster(copy).GetGeoTransform() == (0, 1, 0, 50, 0, -1)
    if version == "ZARR_V3":
        return
    store = xarray.open_zarr(path)
    for index, values in enumerate(BANDS):
        want = np.where(DATA[index] == values.get("nodata"), np.nan, DATA[index].astype("f8"))
        want = want * values.get("scale", 1) + values.get("offset", 0)
        band = store[f"Band{index + 1}"]
        np.testing.assert_allclose(band.values, want, rtol=1e-5)
        assert band.attrs.get("units") == values.get("unit")


@pytest.mark.parametrize("item", ["scale", "offset", "unit", "nodata"])
def test_one_item_is_enough(tmp_path, item):
    source = in_memory(DATA)
    set_values(source.GetRasterBand(2), {item: BANDS[0][item]})
    gdal.Translate(str(tmp_path / "b.zarr"), source, format="Zarr")
    assert set(zarr.open_group(str(tmp_path / "b.zarr")).array_keys()) == {
        "Band1", "Band2", "Band3"}
    assert [len(values) for values in values_of(tmp_path / "b.zarr")] in ([0, 1, 0], [0, 2, 0])


def test_bands_that_agree_are_one_array(tmp_path):
    source = in_memory(DATA)
    for index in (1, 2, 3):
        set_values(source.GetRasterBand(index), BANDS[0])
    gdal.Translate(str(tmp_path / "b.zarr"), source, format="Zarr")
    assert values_of(tmp_path / "b.zarr") == [
        {"scale": 0.1, "offset": 100, "unit": "K", "noDataValue": 7}] * 3
    assert attributes(tmp_path / "b.zarr", "b")["scale_factor"] == 0.1
    assert "gdal:bands" not in attributes(tmp_path / "b.zarr", "b")


@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize("option, is_by_pixel", [
    ("SINGLE_ARRAY=YES", True), ("BLOCKSIZE=3,16,16", False)])
def test_one_array_where_it_is_asked_for(tmp_path, vrt, option, is_by_pixel, version):
    """Other programs find numbers without a scale, and never a wrong one."""
    path = tmp_path / "b.zarr"
    run("gdal_translate", "-q", "-of", "Zarr", "-co", "FORMAT=" + version, "-co", option,
        "-co", "INTERLEAVE=" + ("PIXEL" if is_by_pixel else "BAND"), vrt, path)
    assert values_of(path) == values_of(vrt)
    run("gdal_translate", "-q", "-of", "VRT", path, tmp_path / "back.vrt")
    assert values_of(tmp_path / "back.vrt") == values_of(vrt)
    if version == "ZARR_V3":
        return
    found = attributes(path, "b")
    assert found["gdal:bands"] == {"scale": [0.1, 0.5, None], "offset": [100, None, None],
                                   "unit": ["K", "Pa", None], "nodata": [7, 9, None]}
    assert not {"scale_factor", "add_offset", "units", "_FillValue"} & set(found)
    array = xarray.open_zarr(path)["b"]
    bands = np.moveaxis(array.values, -1, 0) if is_by_pixel else array.values
    np.testing.assert_array_equal(bands, DATA)
    assert "scale_factor" not in array.encoding


def test_a_copy_through_the_multidimensional_api(tmp_path, vrt):
    run("gdal_translate", "-q", "-of", "Zarr", "-co", "SINGLE_ARRAY=YES", vrt, tmp_path / "b.zarr")
    for source, copy in (("b.zarr", "c.zarr"), ("c.zarr", "d.zarr")):
        run("gdalmdimtranslate", tmp_path / source, tmp_path / copy, "-of", "Zarr")
    assert values_of(tmp_path / "d.zarr") == values_of(vrt)


def test_as_subdatasets(tmp_path, vrt):
    """If they are requested, or if the store has other arrays as well."""
    path = tmp_path / "b.zarr"
    gdal.Translate(str(path), str(vrt), format="Zarr")
    assert open_raster(path, "MULTIBAND=NO").RasterCount == 0
    assert values_of(f'ZARR:"{path}":/Band2') == values_of(vrt)[1:2]
    gdal.Translate(str(path), str(vrt), format="Zarr", bandList=[1],
                   creationOptions=["APPEND_SUBDATASET=YES", "ARRAY_NAME=other"])
    assert len(listed_arrays(path)) == 4


def test_what_lies_beside_the_arrays(tmp_path, vrt):
    source = gdal.Translate("", str(vrt), format="MEM")
    source.GetRasterBand(2).SetCategoryNames(["one", "two"])
    gdal.Translate(str(tmp_path / "b.zarr"), source, format="Zarr")
    bands = open_raster(tmp_path / "b.zarr")
    assert bands.GetRasterBand(2).GetCategoryNames() == ["one", "two"]
    assert not bands.GetRasterBand(1).GetCategoryNames()
    bands = gdal.Open(str(tmp_path / "b.zarr"), gdal.GA_Update)
    bands.GetRasterBand(3).SetCategoryNames(["three"])
    bands = None
    bands = open_raster(tmp_path / "b.zarr")
    assert bands.GetRasterBand(3).GetCategoryNames() == ["three"]


# --- Bands of an array that exists ---------------------------------------------------------------

@pytest.fixture(params=FORMATS)
def store(tmp_path, request):
    path = tmp_path / "a.zarr"
    gdal.Translate(str(path), in_memory(DATA), format="Zarr",
                   creationOptions=["FORMAT=" + request.param])
    return path


def update(path, band, **values):
    dataset = gdal.Open(str(path), gdal.GA_Update)
    set_values(dataset.GetRasterBand(band), values)


def stated(path):
    """The attributes that give numbers their meaning."""
    root = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    found = {a.GetName() for a in root.OpenMDArray("a").GetAttributes(["SHOW_ALL=YES"])}
    return found & {"scale_factor", "add_offset", "units", "_FillValue", "gdal:bands"}


def test_each_band_has_what_it_was_given(store):
    update(store, 2, scale=0.5, nodata=9)
    assert values_of(store) == [{}, {"scale": 0.5, "offset": 0, "noDataValue": 9}, {}]
    assert stated(store) == {"gdal:bands"}
    slices = [open_raster(f'ZARR:"{store}":/a:{i}') for i in (0, 1)]
    assert [one.GetRasterBand(1).GetScale() for one in slices] == [None, 0.5]
    np.testing.assert_array_equal(open_raster(store).ReadAsArray(), DATA)
    # Once the bands agree, the array has the attribute.
    update(store, 1, scale=0.5)
    update(store, 3, scale=0.5, nodata=9)
    update(store, 1, nodata=9)
    assert [v["noDataValue"] for v in values_of(store)] == [9, 9, 9]
    assert stated(store) == {"scale_factor", "_FillValue"}
    # And until they differ.
    update(store, 3, scale=0.25, unit="m")
    assert stated(store) == {"_FillValue", "gdal:bands"}
    got = open_raster(store)
    assert [got.GetRasterBand(i).GetScale() for i in (1, 2, 3)] == [0.5, 0.5, 0.25]
    assert [got.GetRasterBand(i).GetUnitType() for i in (1, 2, 3)] == ["", "", "m"]


def test_a_slice_changes_itself_alone(store):
    dataset = gdal.Open(f'ZARR:"{store}":/a:1', gdal.GA_Update)
    dataset.GetRasterBand(1).SetOffset(5)
    dataset = None
    got = open_raster(store)
    assert [got.GetRasterBand(i).GetOffset() for i in (1, 2, 3)] == [None, 5, None]


def fill_values(path):
    """The fill value and the attribute `_FillValue` of array /a, which the consolidated metadata
    repeat."""
    array, attributes = (json.loads((path / "a" / name).read_text())
                         for name in (".zarray", ".zattrs"))
    copies = json.loads((path / ".zmetadata").read_text())["metadata"]
    assert (copies["a/.zarray"], copies["a/.zattrs"]) == (array, attributes)
    return array["fill_value"], attributes.get("_FillValue")


def set_nodata(path, value, *options):
    dataset = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE, open_options=options)
    for index in range(1, dataset.RasterCount + 1):
        dataset.GetRasterBand(index).SetNoDataValue(value)


def test_nodata_changes_where_all_chunks_are_stored(tmp_path):
    gdal.Translate(str(tmp_path / "a.zarr"), in_memory(DATA, nodata=7), format="Zarr")
    set_nodata(tmp_path / "a.zarr", 8)
    assert fill_values(tmp_path / "a.zarr") == (8, 8)
    assert [v["noDataValue"] for v in values_of(tmp_path / "a.zarr")] == [8, 8, 8]
    np.testing.assert_array_equal(open_raster(tmp_path / "a.zarr").ReadAsArray(), DATA)
    dataset = gdal.Open(str(tmp_path / "a.zarr"), gdal.GA_Update)
    for index in (1, 2, 3):
        dataset.GetRasterBand(index).DeleteNoDataValue()
    dataset = None
    assert fill_values(tmp_path / "a.zarr") == (None, None)


def test_nodata_changes_where_no_chunk_is_stored(tmp_path):
    gdal.GetDriverByName("Zarr").Create(str(tmp_path / "a.zarr"), 30, 20, 3, gdal.GDT_Int16)
    for value in (7, 8):
        set_nodata(tmp_path / "a.zarr", value)
        assert fill_values(tmp_path / "a.zarr") == (value, value)
    assert np.all(open_raster(tmp_path / "a.zarr").ReadAsArray() == 8)


def test_zeros_that_were_written_stay_zeros(tmp_path):
    """In v3, where chunks of zeros are not stored."""
    dataset = gdal.GetDriverByName("Zarr").Create(str(tmp_path / "a.zarr"), 30, 20, 1,
                                                  gdal.GDT_Int16, ["FORMAT=ZARR_V3"])
    dataset.WriteArray(np.zeros((20, 30)))
    dataset = None
    set_nodata(tmp_path / "a.zarr", 8)
    raster = open_raster(tmp_path / "a.zarr")
    assert not raster.ReadAsArray().any()
    assert raster.GetRasterBand(1).GetNoDataValue() == 8


def test_missing_chunks_do_not_become_valid(tmp_path):
    data = np.full((3, 32, 32), 7, "i2")
    data[:, :16] = 1
    gdal.Translate(str(tmp_path / "a.zarr"), in_memory(data, nodata=7), format="Zarr",
                   creationOptions=["BLOCKSIZE=1,16,16"])
    with pytest.raises(RuntimeError, match="chunks that are not stored.*WRITE_EMPTY_CHUNKS=YES"):
        set_nodata(tmp_path / "a.zarr", 8)
    assert fill_values(tmp_path / "a.zarr") == (7, 7)
    assert not (tmp_path / "a.zarr/a/0.1.1").exists()
    set_nodata(tmp_path / "a.zarr", 8, "WRITE_EMPTY_CHUNKS=YES")
    assert fill_values(tmp_path / "a.zarr") == (8, 8)
    assert (tmp_path / "a.zarr/a/0.1.1").exists()
    np.testing.assert_array_equal(open_raster(tmp_path / "a.zarr").ReadAsArray(), data)


def test_overviews_know_them(store):
    update(store, 2, scale=0.5, nodata=9)
    dataset = gdal.Open(str(store), gdal.GA_Update)
    dataset.BuildOverviews("NEAREST", [2])
    dataset = None
    dataset = open_raster(store)
    coarse = dataset.GetRasterBand(2).GetOverview(0)
    assert (coarse.GetScale(), coarse.GetNoDataValue()) == (0.5, 9)


def test_lists_that_do_not_fit_are_ignored(store):
    document = store / ("a/.zattrs" if (store / ".zgroup").exists() else "a/zarr.json")
    for consolidated in (store / ".zmetadata",):
        consolidated.unlink(missing_ok=True)
    content = json.loads(document.read_text())
    attributes = content if document.name == ".zattrs" else content["attributes"]
    attributes["gdal:bands"] = {"scale": [1, 2], "unit": 5, "offset": [1, "x", None],
                                "nodata": [2.5, 1, 1]}
    document.write_text(json.dumps(content))
    dataset = open_raster(store, "USE_CONSOLIDATED_METADATA=NO")
    for index in (1, 2, 3):
        band = dataset.GetRasterBand(index)
        assert (band.GetScale(), band.GetOffset(), band.GetNoDataValue()) == (None, None, None)
