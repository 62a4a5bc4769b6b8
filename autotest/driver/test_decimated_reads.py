"""Windows read to smaller buffers by nearest neighbour: the pixels that GDAL takes from a GeoTIFF,
in a few requests for all chunks."""
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from osgeo import gdal

LAYOUTS = {
    "one band": (1, ["BLOCKSIZE=64,50"]),
    "band by band": (3, ["BLOCKSIZE=1,64,50", "INTERLEAVE=BAND"]),
    "pixel by pixel": (3, ["BLOCKSIZE=50,64,3", "INTERLEAVE=PIXEL"]),
}
ROWS, COLUMNS = 512, 614


@pytest.fixture(autouse=True)
def exceptions():
    gdal.UseExceptions()


@pytest.fixture(params=LAYOUTS)
def paths(request, tmp_path):
    """The same image as a Zarr store and as a GeoTIFF."""
    bands, options = LAYOUTS[request.param]
    image = gdal.GetDriverByName("MEM").Create("", COLUMNS, ROWS, bands, gdal.GDT_UInt16)
    values = np.random.default_rng(5).integers(0, 1 << 15, (bands, ROWS, COLUMNS), "u2")
    image.WriteArray(values if bands > 1 else values[0])
    gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "a.zarr"), image, options=options)
    gdal.GetDriverByName("GTiff").CreateCopy(str(tmp_path / "a.tif"), image,
                                             options=["TILED=YES", "BLOCKXSIZE=64",
                                                      "BLOCKYSIZE=64"])
    return str(tmp_path / "a.zarr"), str(tmp_path / "a.tif")


def windows():
    """Each with the size of its buffer: of steps that are the same, nearly so, and others."""
    yield (0, 0, COLUMNS, ROWS), (61, 51)
    yield (0, 0, COLUMNS, ROWS), (307, 171)
    yield (0, 0, COLUMNS, ROWS), (COLUMNS, 51)
    yield (0, 0, COLUMNS, ROWS), (1, 1)
    yield (3, 5, 500, 500), (50, 49)
    source = random.Random(6)
    for _ in range(60):
        x, y = source.randrange(COLUMNS), source.randrange(ROWS)
        columns, rows = source.randint(1, COLUMNS - x), source.randint(1, ROWS - y)
        step = source.choice([1, 2, 9.9, 10.02, 70])
        yield (x, y, columns, rows), (max(1, int(columns / step)), max(1, int(rows / step)))


@pytest.mark.parametrize("buffer_type", [gdal.GDT_UInt16, gdal.GDT_Float64])
def test_same_pixels_as_of_a_geotiff(paths, buffer_type):
    ours, reference = map(gdal.Open, paths)
    for window, (columns, rows) in windows():
        options = {"buf_xsize": columns, "buf_ysize": rows, "buf_type": buffer_type}
        np.testing.assert_array_equal(ours.ReadAsArray(*window, **options),
                                      reference.ReadAsArray(*window, **options))
        ours_band, reference_band = (dataset.GetRasterBand(dataset.RasterCount)
                                     for dataset in (ours, reference))
        np.testing.assert_array_equal(ours_band.ReadAsArray(*window, **options),
                                      reference_band.ReadAsArray(*window, **options))


def test_gdal_translate(paths, tmp_path):
    for path, name in zip(paths, ("ours.tif", "reference.tif")):
        subprocess.run(["gdal_translate", "-q", "-outsize", "61", "51", path, tmp_path / name],
                       check=True)
    ours, reference = (gdal.Open(str(tmp_path / name)).ReadAsArray()
                       for name in ("ours.tif", "reference.tif"))
    np.testing.assert_array_equal(ours, reference)


def test_few_requests(paths):
    """The steps of 10 and of 11 pixels lie in a few runs; there are over 100 blocks."""
    code = ("from osgeo import gdal; gdal.UseExceptions(); import sys;"
            "dataset = gdal.Open(sys.argv[1]);"
            "dataset.GetRasterBand(1).ReadAsArray(buf_xsize=61, buf_ysize=51)")
    text = subprocess.run([sys.executable, "-c", code, paths[0]], capture_output=True, text=True,
                          env=os.environ | {"CPL_DEBUG": "ZARR"}, check=True).stderr
    assert 1 <= text.count("ZARR: read /") <= 16


def test_blocks_that_were_just_written(paths):
    for path in paths:
        dataset = gdal.Open(path, gdal.GA_Update)
        values = np.full((30, 40), 7, "u2")
        for i in range(dataset.RasterCount):
            dataset.GetRasterBand(i + 1).WriteArray(values, 100, 200)
        found = dataset.ReadAsArray(buf_xsize=61, buf_ysize=51)
        if path == paths[0]:
            expected = found
    np.testing.assert_array_equal(expected, found)
    assert (found == 7).sum() >= 6


def test_progress(paths):
    dataset = gdal.Open(paths[0])
    told = []
    dataset.ReadAsArray(buf_xsize=61, buf_ysize=51,
                        callback=lambda done, text, data: told.append(done) or 1)
    assert told == sorted(told) and told[-1] == pytest.approx(1)
    with pytest.raises(RuntimeError, match="stopped by the user"):
        dataset.ReadAsArray(buf_xsize=61, buf_ysize=51, callback=lambda *_: 0)
