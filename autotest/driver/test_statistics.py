"""Statistics that GDAL keeps beside a store are true of its pixels: changed pixels drop them, and
nothing else does."""
import numpy as np
import pytest
from osgeo import gdal
from test_programs import run

DATA = np.arange(48 * 64, dtype="i2").reshape(48, 64)
EXPECTED = [0, DATA.max()]


def make(path, bands=1):
    dataset = gdal.GetDriverByName("Zarr").Create(str(path), 64, 48, bands, gdal.GDT_Int16,
                                                  ["BLOCKSIZE=16,16"] if bands == 1 else [])
    for band in range(1, bands + 1):
        dataset.GetRasterBand(band).WriteArray(DATA)
    dataset = None


def compute(path):
    dataset = gdal.Open(str(path))
    for index in range(1, dataset.RasterCount + 1):
        band = dataset.GetRasterBand(index)
        assert band.ComputeStatistics(False)[:2] == EXPECTED
        assert band.GetDefaultHistogram(force=1)[0] < 0
    dataset = None


def statistics(path, index=1):
    """As kept, without computing them; empty if there are none."""
    dataset = gdal.Open(str(path))
    band = dataset.GetRasterBand(index)
    kept = band.GetMetadata()
    histogram = band.GetDefaultHistogram(force=0)
    return sorted(name for name in kept if name.startswith("STATISTICS_")), histogram


def by_pixels(band):
    band.WriteArray(np.array([[-5]], "i2"), 3, 4)


def by_fill(band):
    band.Fill(7)


@pytest.mark.parametrize("write", [by_pixels, by_fill])
def test_changed_pixels_drop_statistics(tmp_path, write):
    path = tmp_path / "a.zarr"
    make(path)
    compute(path)
    names, histogram = statistics(path)
    assert "STATISTICS_MEAN" in names and histogram is not None
    dataset = gdal.Open(str(path), gdal.GA_Update)
    band = dataset.GetRasterBand(1)
    write(band)
    band = dataset = None
    names, histogram = statistics(path)
    assert names == [] and histogram is None


def test_other_bands_keep_theirs(tmp_path):
    path = tmp_path / "a.zarr"
    make(path, bands=3)
    compute(path)
    dataset = gdal.Open(str(path), gdal.GA_Update)
    band = dataset.GetRasterBand(2)
    by_pixels(band)
    band = dataset = None
    kept = [bool(statistics(path, index)[0]) for index in (1, 2, 3)]
    assert kept == [True, False, True]


@pytest.mark.parametrize("write", [by_pixels, by_fill])
def test_statistics_of_the_new_pixels_stay(tmp_path, write):
    path = tmp_path / "a.zarr"
    make(path)
    dataset = gdal.Open(str(path), gdal.GA_Update)
    band = dataset.GetRasterBand(1)
    write(band)
    computed = band.ComputeStatistics(False)
    band = dataset = None
    dataset = gdal.Open(str(path))
    band = dataset.GetRasterBand(1)
    assert band.GetStatistics(False, False) == pytest.approx(computed)
    assert computed[0] == band.ReadAsArray().min() != EXPECTED[0]


def test_changed_metadata_keeps_them(tmp_path):
    path = tmp_path / "a.zarr"
    make(path)
    compute(path)
    dataset = gdal.Open(str(path), gdal.GA_Update)
    dataset.SetMetadataItem("title", "one")
    dataset = None
    assert "STATISTICS_MEAN" in statistics(path)[0]


def test_programs(tmp_path):
    """A copy has the statistics of its source, and gdalwarp onto it drops them."""
    path = tmp_path / "a.zarr"
    run("gdal_create", "-q", "-outsize", "64", "48", "-ot", "Int16", "-burn", "9", "-a_srs",
        "EPSG:32633", "-a_ullr", "0", "480", "640", "0", tmp_path / "a.tif")
    run("gdalinfo", "-stats", tmp_path / "a.tif")
    run("gdal_translate", "-q", "-of", "Zarr", tmp_path / "a.tif", path)
    assert "STATISTICS_MEAN=9" in run("gdalinfo", path)
    run("gdal_create", "-q", "-outsize", "64", "48", "-ot", "Int16", "-burn", "11", "-a_srs",
        "EPSG:32633", "-a_ullr", "0", "480", "640", "0", tmp_path / "b.tif")
    run("gdalwarp", "-q", tmp_path / "b.tif", path)
    assert "STATISTICS" not in run("gdalinfo", path)
    assert "STATISTICS_MEAN=11" in run("gdalinfo", "-stats", path)


def test_arrays(tmp_path):
    path = tmp_path / "a.zarr"
    make(path)

    def array(flags=0):
        dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER | flags)
        return dataset, dataset.GetRootGroup().OpenMDArray("a")

    dataset, opened = array()
    assert opened.ComputeStatistics(False).max == EXPECTED[1]
    del opened, dataset
    dataset, opened = array()
    assert opened.GetStatistics(False, False).max == EXPECTED[1]
    del opened, dataset
    dataset, opened = array(gdal.OF_UPDATE)
    assert opened.Write(np.array([[30000]], "i2"), [0, 0], [1, 1]) == gdal.CE_None
    del opened, dataset
    dataset, opened = array()
    assert opened.GetStatistics(False, False) is None
    assert opened.ComputeStatistics(False).max == 30000
