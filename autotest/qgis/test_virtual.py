"""QGIS shows virtual stores of many files as one raster."""
import numpy as np
import picture
import pytest
from foreign_chunks import grib_message
from osgeo import gdal
from test_commands import run
from test_qgis import NODATA, assert_gray, assert_place, letter
from virtual_sources import chunks, make_virtual, write_tiff


def test_a_mosaic_of_files(tmp_path):
    """Of four TIFF files, one of which lacks the tiles that have no values."""
    data = letter()
    stored = data.filled(NODATA)
    files = []
    for row, column in [(0, 0), (0, 32), (32, 0), (32, 32)]:
        files.append(write_tiff(
            tmp_path / f"{row}-{column}.tif", stored[None, row:row + 32, column:column + 32],
            "TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16", "COMPRESS=DEFLATE", "SPARSE_OK=YES",
            nodata=NODATA,
            place=(500000 + column * 10, 10, 0, 5000000 - row * 10, 0, -10)))
    assert gdal.BuildVRT(str(tmp_path / "m.vrt"), files, outputSRS="EPSG:32633") is not None
    assert make_virtual(str(tmp_path / "m.vrt"), tmp_path / "m.json") is not None
    assert {value[0] for value in chunks(tmp_path / "m.json").values()} == set(files)
    layer = picture.open_layer(tmp_path / "m.json")
    assert (layer.width(), layer.height(), layer.bandCount()) == (48, 40, 1)
    assert_place(layer, "EPSG:32633", (500000, 4999600, 500480, 5000000))
    assert_gray(layer, tmp_path / "m.png", data, 0, 250)


@pytest.mark.skipif(gdal.GetDriverByName("GRIB") is None, reason="GDAL has no driver GRIB")
def test_a_cube_of_grib_files(tmp_path):
    """Each time is a band."""
    data = np.random.default_rng(1).integers(0, 100, (3, 12, 360)).astype("f8")
    for day, values in enumerate(data, 1):
        (tmp_path / f"{day}.grib2").write_bytes(
            grib_message(values, "DISCIPLINE=0", f"IDS_REF_TIME=2020-01-0{day}T00:00:00Z"))
    run("virtualize", tmp_path / "a.parq", *sorted(tmp_path.glob("*.grib2")), "--var=v")
    layer = picture.open_layer(f'ZARR:"{tmp_path}/a.parq":/v')
    assert (layer.width(), layer.height(), layer.bandCount()) == (360, 12, 3)
    for band, values in enumerate(data, 1):
        assert_gray(layer, tmp_path / f"{band}.png", values, 0, 100, band=band)
