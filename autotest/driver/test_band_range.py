"""A range of slices as bands, of arrays with more slices than a raster can have bands."""
import numpy as np
import pytest
from classic import open_raster
from osgeo import gdal
from stores import edit_json, write_array, write_group
from test_programs import run

DATA = np.arange(7 * 3 * 2 * 2, dtype="u2").reshape(7, 3, 2, 2)
SLICES = DATA.reshape(21, 2, 2)


@pytest.fixture
def store(tmp_path):
    write_group(tmp_path / "s.zarr")
    write_array(tmp_path / "s.zarr/a", DATA, chunks=(2, 2, 2, 1), names=["t", "z", "y", "x"])
    return str(tmp_path / "s.zarr")


@pytest.fixture
def long(tmp_path):
    """Of 70,000 slices, one of which is stored."""
    write_array(tmp_path / "long.zarr", np.full((1, 1, 1), 6, "u1"), fill_value=3)
    edit_json(tmp_path / "long.zarr/zarr.json", shape=[70000, 1, 1])
    return str(tmp_path / "long.zarr")


@pytest.mark.parametrize("first, last", [(1, 21), (1, 1), (21, 21), (5, 9), (2, 20), (4, 6)])
def test_values(store, first, last):
    expected = SLICES[first - 1:last]
    by_option = open_raster(store, f"BAND_RANGE={first}:{last}")
    by_name = gdal.Open(f'ZARR:"{store}":/a:bands={first}-{last}')
    for dataset in by_option, by_name:
        assert dataset.RasterCount == last - first + 1
        np.testing.assert_array_equal(dataset.ReadAsArray().reshape(expected.shape), expected)
        for band in range(1, dataset.RasterCount + 1):
            values = dataset.GetRasterBand(band).ReadAsArray()
            np.testing.assert_array_equal(values, expected[band - 1])
    t, z = divmod(first - 1, 3)
    assert by_option.GetRasterBand(1).GetDescription() == f"t={t}, z={z}"
    if last - first > 3:
        order = [4, 1, 2, 3]
        np.testing.assert_array_equal(by_name.ReadAsArray(band_list=order),
                                      expected[[i - 1 for i in order]])


def test_writing(store):
    dataset = gdal.OpenEx(store, gdal.OF_UPDATE, open_options=["BAND_RANGE=6:8"])
    dataset.WriteArray(np.full((3, 2, 2), 900, "u2"))
    del dataset
    expected = SLICES.copy()
    expected[5:8] = 900
    np.testing.assert_array_equal(gdal.Open(store).ReadAsArray(), expected)
    with pytest.raises(RuntimeError, match="for the array, not for a range of its bands"):
        gdal.OpenEx(store, gdal.OF_UPDATE, open_options=["BAND_RANGE=6:8"]).BuildOverviews(
            "NEAREST", [2])


def test_what_is_kept_beside_a_range_is_its_own(store):
    dataset = gdal.OpenEx(store, gdal.OF_UPDATE, open_options=["BAND_RANGE=6:8"])
    dataset.GetRasterBand(1).SetMetadataItem("mine", "6", "OTHER")
    del dataset
    item = [dataset.GetRasterBand(1).GetMetadataItem("mine", "OTHER")
            for dataset in (open_raster(store), open_raster(store, "BAND_RANGE=6:8"),
                            gdal.Open(f'ZARR:"{store}":/a:bands=6-8'))]
    assert item == [None, "6", "6"]


def test_slices_of_a_range_as_subdatasets(store):
    dataset = open_raster(store, "BAND_RANGE=6:8", "MULTIBAND=NO")
    names = [name for name, _ in dataset.GetSubDatasets()]
    assert names == [f'ZARR:"{store}":/a:{i}:{j}' for i, j in ((1, 2), (2, 0), (2, 1))]


def test_more_slices_than_bands(long, warnings):
    dataset = open_raster(long)
    names = [name for name, _ in dataset.GetSubDatasets()]
    assert names == [f'ZARR:"{long}":/long:bands=1-65536', f'ZARR:"{long}":/long:bands=65537-70000']
    assert len(warnings) == 1 and "with the open option BAND_RANGE=1:65536" in warnings[0]
    assert [gdal.Open(name).RasterCount for name in names] == [65536, 4464]
    assert open_raster(long, "BAND_RANGE=1:65536").GetRasterBand(2).ReadAsArray() == 3


def test_programs(long, tmp_path):
    target = tmp_path / "t.tif"
    run("gdal_translate", "-q", "-oo", "BAND_RANGE=1:3", long, target)
    assert gdal.Open(str(target)).ReadAsArray().ravel().tolist() == [6, 3, 3]
    assert "Band 4464" in run("gdalinfo", "-oo", "BAND_RANGE=65537:70000", long)


@pytest.mark.parametrize("text, problem", [
    ("x", 'open option BAND_RANGE is "x", not the first and the last band'),
    ("1-5", "not the first and the last band"),
    ("-1:5", "not the first and the last band"),
    ("0:5", "the range of bands 0:5 is not within 1:70000"),
    ("5:4", "the range of bands 5:4 is not within"),
    ("70000:70001", "the range of bands 70000:70001 is not within 1:70000"),
    ("1:65537", "the range of bands 1:65537 has more than 65536"),
])
def test_bad_ranges(long, text, problem):
    with pytest.raises(RuntimeError, match=problem):
        open_raster(long, f"BAND_RANGE={text}")


def test_ranges_that_make_no_sense(store, tmp_path):
    with pytest.raises(RuntimeError, match="the name says which bands to open"):
        open_raster(f'ZARR:"{store}":/a:bands=1-2', "BAND_RANGE=1:2")
    with pytest.raises(RuntimeError, match="a slice has one band"):
        open_raster(f'ZARR:"{store}":/a:0:0', "BAND_RANGE=1:1")
    write_group(tmp_path / "g.zarr")
    for name in "ab":
        write_array(tmp_path / "g.zarr" / name, DATA)
    with pytest.raises(RuntimeError, match="is for the slices of one array, not for a list"):
        open_raster(tmp_path / "g.zarr", "BAND_RANGE=1:2")


def test_colours_of_a_range(store):
    """One place in the list for each slice."""
    stored = gdal.Open(f'ZARR:"{store}":/a:bands=4-6', gdal.GA_Update)
    stored.GetRasterBand(2).SetColorInterpretation(gdal.GCI_AlphaBand)
    del stored
    dataset = gdal.Open(f'ZARR:"{store}":/a')
    colors = [dataset.GetRasterBand(i).GetColorInterpretation() for i in range(1, 22)]
    assert colors == [gdal.GCI_AlphaBand if i == 5 else gdal.GCI_Undefined for i in range(1, 22)]
    part = gdal.Open(f'ZARR:"{store}":/a:bands=5-6')
    assert part.GetRasterBand(1).GetColorInterpretation() == gdal.GCI_AlphaBand
