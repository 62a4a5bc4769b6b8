"""Masks of rasters are arrays of the store, found under every name of the raster and by xarray."""
import json

import numpy as np
import pytest
import xarray
from classic import listed_arrays
from multidim import open_root
from osgeo import gdal
from stores import write_array
from test_programs import run

DATA = np.full((16, 16), 5, "u1")
MASK = np.zeros((16, 16), "u1")
MASK[:8, :8] = 255
NAMES = ["{store}", "{store}/", 'ZARR:"{store}"', 'ZARR:"{store}":/a', "{store}/a"]
FORMATS = ["ZARR_V2", "ZARR_V3"]


def masked(bands=1, has_mask=True):
    raster = gdal.GetDriverByName("MEM").Create("", 16, 16, bands)
    raster.SetGeoTransform((0, 1, 0, 16, 0, -1))
    for index in range(1, bands + 1):
        raster.GetRasterBand(index).WriteArray(DATA)
    if has_mask:
        raster.CreateMaskBand(gdal.GMF_PER_DATASET)
        raster.GetRasterBand(1).GetMaskBand().WriteArray(MASK)
    return raster


def copy(path, raster, *options):
    gdal.Translate(str(path), raster, format="Zarr", creationOptions=list(options))


def mask_of(name, band=1):
    dataset = gdal.Open(str(name))
    return dataset.GetRasterBand(band).GetMaskBand().ReadAsArray()


def mask_flags_of(name, band=1):
    dataset = gdal.Open(str(name))
    return dataset.GetRasterBand(band).GetMaskFlags()


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_under_every_name(tmp_path, zarr_format):
    store = tmp_path / "a.zarr"
    copy(store, masked(), "FORMAT=" + zarr_format)
    for name in NAMES:
        assert mask_flags_of(name.format(store=store)) == gdal.GMF_PER_DATASET
        np.testing.assert_array_equal(mask_of(name.format(store=store)), MASK)
    assert not gdal.Open(str(store)).GetSubDatasets()
    assert "ancillary_variables" not in gdal.Open(str(store)).GetMetadata()


def test_when_other_arrays_come_and_go(tmp_path):
    store = tmp_path / "a.zarr"
    copy(store, masked())
    for name, has_mask in (("b", False), ("c", True)):
        copy(store, masked(has_mask=has_mask), "APPEND_SUBDATASET=YES", f"ARRAY_NAME={name}")
    assert len(listed_arrays(store)) == 3
    for name, mask in (("a", MASK), ("b", np.full_like(MASK, 255)), ("c", MASK)):
        np.testing.assert_array_equal(mask_of(f'ZARR:"{store}":/{name}'), mask)


@pytest.mark.skipif(int(gdal.VersionInfo()) < 3_080_000, reason="GDAL 3.8 deletes arrays")
def test_deleted_with_the_array(tmp_path):
    store = tmp_path / "a.zarr"
    copy(store, masked())
    copy(store, masked(), "APPEND_SUBDATASET=YES", "ARRAY_NAME=b")
    root = gdal.OpenEx(str(store), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE).GetRootGroup()
    root.DeleteMDArray("b")
    assert "b_mask" not in root.GetMDArrayNames() and "a_mask" in root.GetMDArrayNames()


@pytest.mark.parametrize("program", ["gdal_translate", "gdalmdimtranslate"])
def test_copied_with_the_array(tmp_path, program):
    copy(tmp_path / "a.zarr", masked())
    run(program, "-q", "-of", "Zarr", tmp_path / "a.zarr", tmp_path / "b.zarr")
    np.testing.assert_array_equal(mask_of(tmp_path / "b.zarr"), MASK)
    assert not list(tmp_path.glob("*.msk"))


@pytest.mark.parametrize("options", [[], ["SINGLE_ARRAY=NO", "ARRAY_NAME=a"],
                                     ["INTERLEAVE=PIXEL"]], ids=str)
def test_one_for_all_bands(tmp_path, options):
    copy(tmp_path / "a.zarr", masked(bands=3), *options)
    names = [name for name, _ in gdal.Open(str(tmp_path / "a.zarr")).GetSubDatasets()]
    for name in names or [tmp_path / "a.zarr"]:
        assert mask_flags_of(name) == gdal.GMF_PER_DATASET
        np.testing.assert_array_equal(mask_of(name), MASK)
    assert len(list((tmp_path / "a.zarr").glob("*_mask"))) == 1


def test_of_one_band(tmp_path):
    copy(tmp_path / "a.zarr", masked(bands=3, has_mask=False))
    raster = gdal.Open(str(tmp_path / "a.zarr"), gdal.GA_Update)
    raster.GetRasterBand(2).CreateMaskBand(0)
    raster.GetRasterBand(2).GetMaskBand().WriteArray(MASK)
    raster = None
    assert mask_flags_of(tmp_path / "a.zarr", 2) == 0
    np.testing.assert_array_equal(mask_of(tmp_path / "a.zarr", 2), MASK)
    assert np.all(mask_of(tmp_path / "a.zarr", 1) == 255)


def test_read_by_xarray(tmp_path):
    copy(tmp_path / "a.zarr", masked())
    with xarray.open_zarr(tmp_path / "a.zarr") as dataset:
        mask = dataset[dataset["a"].attrs["ancillary_variables"]]
        assert mask.attrs["flag_meanings"] == "invalid valid"
        valid = dataset["a"].where(mask == mask.attrs["flag_values"][1])
        np.testing.assert_array_equal(np.isnan(valid), MASK == 0)


def test_other_ancillary_variables_stay(tmp_path):
    copy(tmp_path / "a.zarr", masked())
    root = gdal.OpenEx(str(tmp_path / "a.zarr"), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    array = root.GetRootGroup().OpenMDArray("a")
    array.GetAttribute("ancillary_variables").Write("quality a_mask")
    del array, root
    copy(tmp_path / "a.zarr", masked(has_mask=False), "APPEND_SUBDATASET=YES",
         "ARRAY_NAME=quality")
    raster = gdal.Open(f'ZARR:"{tmp_path}/a.zarr":/a')
    assert raster.GetMetadataItem("ancillary_variables") == "quality"
    np.testing.assert_array_equal(raster.GetRasterBand(1).GetMaskBand().ReadAsArray(), MASK)
    assert gdal.Open(f'ZARR:"{tmp_path}/a.zarr":/quality') is not None
    # They describe the raster, which is the only one.
    np.testing.assert_array_equal(gdal.Open(str(tmp_path / "a.zarr")).ReadAsArray(), DATA)


def test_files_beside_the_store_are_still_read(tmp_path):
    """As the built-in driver leaves them."""
    copy(tmp_path / "a.zarr", masked(has_mask=False))
    raster = gdal.Open(str(tmp_path / "a.zarr"))
    with pytest.raises(RuntimeError):
        raster.WriteArray(DATA)
    raster.CreateMaskBand(gdal.GMF_PER_DATASET)
    raster.GetRasterBand(1).GetMaskBand().WriteArray(MASK)
    raster = None
    assert (tmp_path / "a.zarr.msk").exists()
    np.testing.assert_array_equal(mask_of(tmp_path / "a.zarr"), MASK)


def test_a_name_without_a_mask_is_no_mask(tmp_path):
    write_array(tmp_path / "a.zarr/a", DATA, attributes={"ancillary_variables": "nothing ../b"})
    (tmp_path / "a.zarr/zarr.json").write_text(json.dumps(
        {"zarr_format": 3, "node_type": "group"}))
    assert np.all(mask_of(tmp_path / "a.zarr") == 255)
    assert open_root(tmp_path / "a.zarr").GetMDArrayNames() == ["a"]
