"""The open option NORTH_UP turns rasters that have the south at their top."""
import numpy as np
import pytest
import rasterio
from classic import open_raster
from osgeo import gdal
from stores import write_array, write_group
from test_programs import run

DATA = np.arange(2 * 7 * 5, dtype="u2").reshape(2, 7, 5)


@pytest.fixture
def south_up(tmp_path):
    path = tmp_path / "a.zarr"
    write_group(path)
    write_array(path / "a", DATA, (1, 3, 2), names=["band", "y", "x"],
                attributes={"_CRS": {"url": "http://www.opengis.net/def/crs/EPSG/0/32632"}})
    write_array(path / "x", 5e5 + 10.0 * np.arange(5), names=["x"])
    write_array(path / "y", 5e6 + 10.0 * np.arange(7), names=["y"])
    return path


def turned(path, array="/a"):
    return gdal.OpenEx(f'ZARR:"{path}":{array}', gdal.OF_RASTER, open_options=["NORTH_UP=YES"])


def test_pixels(south_up):
    dataset = turned(south_up)
    assert dataset.GetGeoTransform() == (499995, 10, 0, 5000065, 0, -10)
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA[:, ::-1])
    band = dataset.GetRasterBand(2)
    np.testing.assert_array_equal(band.ReadAsArray(1, 2, 3, 4), DATA[1, ::-1][2:6, 1:4])
    np.testing.assert_array_equal(band.ReadAsArray(0, 1, 4, 6, 2, 3), DATA[1, ::-1][2::2, 1:5:2])
    columns, rows = band.GetBlockSize()
    block = np.frombuffer(band.ReadBlock(0, 1), "u2").reshape(rows, columns)
    np.testing.assert_array_equal(block, DATA[1, ::-1][rows:2 * rows, :columns])
    assert open_raster(f'ZARR:"{south_up}":/a').GetGeoTransform() == (499995, 10, 0, 4999995, 0, 10)


def test_overviews_and_masks(south_up):
    write_group(south_up, {"multiscales": {"layout": [
        {"asset": "a"}, {"asset": "coarse", "derived_from": "a"}]}})
    coarse = DATA[:, ::2, ::2][:, :3, :2]
    write_array(south_up / "coarse", coarse, (1, 2, 2), names=["band", "v", "u"])
    updated = gdal.OpenEx(f'ZARR:"{south_up}":/a', gdal.OF_UPDATE)
    updated.CreateMaskBand(gdal.GMF_PER_DATASET)
    mask = (DATA[0] % 3 * 100).astype("u1")
    updated.GetRasterBand(1).GetMaskBand().WriteArray(mask)
    del updated
    dataset = turned(south_up)
    band = dataset.GetRasterBand(1)
    np.testing.assert_array_equal(band.GetMaskBand().ReadAsArray(), mask[::-1])
    assert band.GetOverviewCount() == 1
    np.testing.assert_array_equal(band.GetOverview(0).ReadAsArray(), coarse[0, ::-1])


@pytest.mark.parametrize("threads", ["1", "4"])
def test_as_another_program_turns_it(south_up, tmp_path, threads):
    run("gdalwarp", "-q", f'ZARR:"{south_up}":/a', tmp_path / "warped.tif")
    run("gdal_translate", "-q", "-oo", "NORTH_UP=YES", "--config", "GDAL_NUM_THREADS", threads,
        f'ZARR:"{south_up}":/a', tmp_path / "turned.tif")
    with rasterio.open(tmp_path / "warped.tif") as warped, \
            rasterio.open(tmp_path / "turned.tif") as found:
        assert found.transform == warped.transform
        np.testing.assert_array_equal(found.read(), warped.read())


def test_gdalbuildvrt(south_up, tmp_path):
    run("gdalbuildvrt", "-q", "-oo", "NORTH_UP=YES", tmp_path / "a.vrt", f'ZARR:"{south_up}":/a')
    np.testing.assert_array_equal(gdal.Open(str(tmp_path / "a.vrt")).ReadAsArray(), DATA[:, ::-1])


def test_others_stay(south_up):
    """Those that have the north at their top, and those that have no place."""
    write_array(south_up / "y", 5e6 - 10.0 * np.arange(7), names=["y"])
    np.testing.assert_array_equal(turned(south_up).ReadAsArray(), DATA)
    write_array(south_up / "b", DATA[0], names=["v", "u"])
    np.testing.assert_array_equal(turned(south_up, "/b").ReadAsArray(), DATA[0])


def test_not_for_update(south_up):
    with pytest.raises(RuntimeError, match="NORTH_UP is for reading only"):
        gdal.OpenEx(f'ZARR:"{south_up}":/a', gdal.OF_UPDATE, open_options=["NORTH_UP=YES"])
