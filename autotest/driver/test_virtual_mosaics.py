"""What mosaics and stacks must not get wrong: values of gaps, times, places, and other files."""
import os
import shutil
import subprocess

import numpy as np
import pytest
from foreign_chunks import grib_message
from osgeo import gdal
from test_commands import PROGRAM
from test_virtual_stacks import RANDOM, TILED, read, scene, virtualize
from virtual_sources import make_virtual, write_tiff


def raster(path):
    dataset = gdal.Open(str(path))
    return dataset.GetRasterBand(1).GetNoDataValue(), dataset.ReadAsArray()


def test_gaps_of_single_precision_are_nan(tmp_path):
    data = RANDOM.random((1, 32, 32), "f4")
    data[0, 3, 3] = np.nan
    data[0, 4, 4] = 0
    for i, x in enumerate([0, 640]):
        write_tiff(tmp_path / f"{i}.tif", data, *TILED, nodata=np.nan, place=(x, 10, 0, 0, 0, -10))
    virtualize(tmp_path / "a.json", tmp_path / "0.tif", tmp_path / "1.tif")
    nodata, pixels = raster(tmp_path / "a.json")
    expected = np.full((32, 96), np.nan, "f4")
    expected[:, :32] = expected[:, 64:] = data[0]
    assert np.isnan(nodata)
    np.testing.assert_array_equal(pixels, expected)
    write_tiff(tmp_path / "2.tif", data, *TILED, nodata=0, place=(320, 10, 0, 0, 0, -10))
    message = virtualize(tmp_path / "b.json", tmp_path / "0.tif", tmp_path / "2.tif", fails=True)
    assert "2.tif: it differs from the first file in its nodata value" in message


def test_a_type_without_nan_has_no_nodata(tmp_path):
    for i in range(2):
        write_tiff(tmp_path / f"{i}.tif", np.zeros((1, 32, 32), "u1"), *TILED, nodata=np.nan,
                   place=(320 * i, 10, 0, 0, 0, -10))
    virtualize(tmp_path / "a.json", tmp_path / "0.tif", tmp_path / "1.tif")
    assert raster(tmp_path / "a.json")[0] is None


def test_files_that_are_copied_leave_no_block_to_the_next(tmp_path):
    """The last strip of a file is padded: a value of our own, as its blocks are too short."""
    expected = []
    for step in range(3):
        names = []
        for column, codec in enumerate(["DEFLATE", "LZW" if step == 1 else "DEFLATE"]):
            path = tmp_path / f"{step}{column}.tif"
            data = RANDOM.integers(0, 250, (1, 20, 16)).astype("u1")
            write_tiff(path, data, f"COMPRESS={codec}", "BLOCKYSIZE=16",
                       place=(160 * column, 10, 0, 0, 0, -10))
            names.append(str(path))
        gdal.BuildVRT(str(tmp_path / f"{step}.vrt"), names).FlushCache()
        expected.append(gdal.Open(str(tmp_path / f"{step}.vrt")).ReadAsArray())
    virtualize(tmp_path / "a.json", *sorted(tmp_path.glob("*.vrt")), "--dim=t", "--auto")
    np.testing.assert_array_equal(read(tmp_path / "a.json"), np.stack(expected))


def test_messages_that_are_copied_have_nan_where_they_have_no_value(tmp_path):
    values = 250 + RANDOM.integers(0, 9, (16, 16)).astype("f8")
    values[3, 4] = 9999
    for i in range(2):
        (tmp_path / f"{i}.grb").write_bytes(grib_message(values, nodata=9999))
    virtualize(tmp_path / "a.json", tmp_path / "0.grb", tmp_path / "1.grb", "--dim=t", "--auto",
               "--var=data", "--config", "GRIB_NORMALIZE_UNITS", "YES",
               "--config", "GRIB_ADJUST_LONGITUDE_RANGE", "YES")
    shown = read(tmp_path / "a.json")
    missing = raster(tmp_path / "0.grb")[1] == 9999
    np.testing.assert_array_equal(np.isnan(shown), [missing, missing])


def test_a_mosaic_of_several_times_is_not_one_step(tmp_path):
    for day, x in [("20200101", 0), ("20200202", 320)]:
        scene(tmp_path / f"s_{day}.tif", (1, 32, 32), (x, 10, 0, 0, 0, -10))
    names = sorted(map(str, tmp_path.glob("*.tif")))
    gdal.BuildVRT(str(tmp_path / "m.vrt"), names).FlushCache()
    message = virtualize(tmp_path / "a.json", tmp_path / "m.vrt", "--time-pattern=%Y%m%d",
                         fails=True)
    assert "m.vrt: band 1: it has files of several times" in message


@pytest.mark.parametrize("name", ["x", "LAT", "Y"])
def test_dimensions_that_would_be_taken_for_axes(tmp_path, name):
    scene(tmp_path / "a.tif")
    message = virtualize(tmp_path / "a.json", tmp_path / "a.tif", f"--dim={name}", fails=True)
    assert f"the name {name} is that of another dimension" in message


def test_hidden_nodata_values(tmp_path):
    for i, x in enumerate([0, 640]):
        scene(tmp_path / f"{i}.tif", (1, 32, 32), (x, 10, 0, 0, 0, -10))
    names = [str(tmp_path / f"{i}.tif") for i in range(2)]
    gdal.BuildVRT(str(tmp_path / "m.vrt"), names, VRTNodata=7, hideNodata=True).FlushCache()
    with pytest.raises(RuntimeError, match="hidden nodata value, 7"):
        make_virtual(str(tmp_path / "m.vrt"), tmp_path / "a.json")
    make_virtual(str(tmp_path / "m.vrt"), tmp_path / "a.json", mode="AUTO")
    np.testing.assert_array_equal(raster(tmp_path / "a.json")[1], raster(tmp_path / "m.vrt")[1])


def test_an_index_names_the_files_beside_it(tmp_path):
    for folder in [tmp_path, tmp_path / "index"]:
        folder.mkdir(exist_ok=True)
        expected = scene(folder / "a.tif")
    subprocess.run(["gdaltindex", "t.shp", "a.tif"], cwd=tmp_path / "index", check=True)
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        virtualize(tmp_path / "a.json", "--index=index/t.shp")
    finally:
        os.chdir(before)
    np.testing.assert_array_equal(read(tmp_path / "a.json"), expected[0])


def test_lists_with_a_byte_order_mark(tmp_path):
    data = scene(tmp_path / "a.tif")
    (tmp_path / "list.txt").write_text(f"{tmp_path}/a.tif\r\n", encoding="utf-8-sig")
    virtualize(tmp_path / "a.json", f"--list={tmp_path}/list.txt")
    np.testing.assert_array_equal(read(tmp_path / "a.json"), data[0])


def test_bands_that_show_parts_of_a_file(tmp_path):
    data = RANDOM.integers(1, 200, (2, 32, 32)).astype("u1")
    write_tiff(tmp_path / "a.tif", data, *TILED, "INTERLEAVE=PIXEL")
    gdal.BuildVRT(str(tmp_path / "m.vrt"), [str(tmp_path / "a.tif")]).FlushCache()
    text = (tmp_path / "m.vrt").read_text()
    head, second = text.split('<VRTRasterBand dataType="Byte" band="2"')
    second = second.replace('xSize="32" ySize="32"', 'xSize="16" ySize="16"')
    (tmp_path / "m.vrt").write_text(head + '<VRTRasterBand dataType="Byte" band="2"' + second)
    with pytest.raises(RuntimeError, match="interleaved by pixel, and the VRT has others"):
        make_virtual(str(tmp_path / "m.vrt"), tmp_path / "a.json")


def test_links_to_mosaics(tmp_path):
    for name, start in [("", 9), ("sub/", 5)]:
        (tmp_path / name).mkdir(exist_ok=True)
        write_tiff(tmp_path / f"{name}a.tif", np.full((1, 32, 32), start, "u1"), *TILED)
    gdal.BuildVRT(str(tmp_path / "sub/m.vrt"), [str(tmp_path / "sub/a.tif")]).FlushCache()
    os.symlink("sub/m.vrt", tmp_path / "m.vrt")
    make_virtual(str(tmp_path / "m.vrt"), tmp_path / "a.json")
    assert (raster(tmp_path / "a.json")[1] == 5).all()


def test_colours_that_gdal_converts(tmp_path):
    for name, *options in [("rgba.tif", "ALPHA=YES", "PHOTOMETRIC=RGB"),
                           ("c.tif", "PHOTOMETRIC=CMYK")]:
        scene(tmp_path / name, (4, 32, 32), options=[*TILED, "INTERLEAVE=PIXEL", *options])
    message = virtualize(tmp_path / "a.json", tmp_path / "rgba.tif", tmp_path / "c.tif", "--dim=t",
                         fails=True)
    assert "c.tif: GDAL converts its colours" in message


def test_copied_files_are_no_gaps(tmp_path):
    """And a warning says why they are copied."""
    expected = np.concatenate([
        scene(tmp_path / f"{i}.tif", (1, 32, 32), (320 * i, 10, 0, 0, 0, -10),
              options=[*TILED[:3], f"COMPRESS={codec}"], nodata=300)[0]
        for i, codec in enumerate(["DEFLATE", "LZW"])], axis=1)
    done = subprocess.run([PROGRAM, "virtualize", "a.json", "0.tif", "1.tif", "--auto"],
                          cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "1.tif is copied" in done.stderr and "than those of the first" in done.stderr
    np.testing.assert_array_equal(read(tmp_path / "a.json"), expected)


def test_a_source_that_is_open_for_update(tmp_path):
    """Blocks that are written again move to the end of the file."""
    data = RANDOM.integers(0, 200, (1, 64, 64)).astype("u1")
    write_tiff(tmp_path / "a.tif", data, *TILED)
    source = gdal.Open(str(tmp_path / "a.tif"), gdal.GA_Update)
    data[0, :40, :40] = RANDOM.integers(0, 99, (40, 40))
    source.WriteArray(data[0])
    with pytest.raises(RuntimeError, match="open for update"):
        make_virtual(source, tmp_path / "a.json")
    assert make_virtual(source, tmp_path / "a.json", mode="AUTO") is not None
    source = None
    np.testing.assert_array_equal(raster(tmp_path / "a.json")[1], data[0])


def test_arrays_are_added_to_a_repository(tmp_path):
    """Those at the same place share their coordinates, which stay as they are."""
    target = f"ICECHUNK:{tmp_path}/repository"
    data = [scene(tmp_path / f"{i}.tif", options=[*TILED[:3], f"COMPRESS={codec}"])[0]
            for i, codec in enumerate(["DEFLATE", "LZW"])]
    virtualize(target, tmp_path / "0.tif", "--dim=t", "--var=a")
    virtualize(target, tmp_path / "1.tif", "--dim=t", "--var=b")
    for name, expected in zip("ab", data):
        np.testing.assert_array_equal(read(target, name)[0], expected)
    assert "already exists" in virtualize(target, tmp_path / "0.tif", "--dim=t", "--var=b",
                                          fails=True)
    virtualize(target, tmp_path / "0.tif", "--dim=t", "--var=b", "--overwrite")
    np.testing.assert_array_equal(read(target, "b")[0], data[0])
    message = virtualize(f"{target}/inside", tmp_path / "0.tif", fails=True)
    assert "inside of the repository" in message
    scene(tmp_path / "2.tif", place=(7, 10, 0, 900, 0, -10))
    assert "X already exists" in virtualize(target, tmp_path / "2.tif", "--dim=t", "--var=c",
                                            fails=True)


def test_overviews_of_codecs_that_only_decode(tmp_path):
    data = scene(tmp_path / "a.tif", options=[*TILED[:3], "COMPRESS=LZW"])
    target = f"ICECHUNK:{tmp_path}/repository"
    virtualize(target, tmp_path / "a.tif", "--dim=t", "--var=a")
    subprocess.run(["gdaladdo", "-q", "-r", "nearest", target, "2"], check=True)
    dataset = gdal.Open(target)
    overview = dataset.GetRasterBand(1).GetOverview(0)
    np.testing.assert_array_equal(overview.ReadAsArray(), data[0, ::2, ::2])


def test_archives_as_sources_of_a_repository(tmp_path):
    """No URL names what is in them."""
    data = scene(tmp_path / "a.tif")
    shutil.make_archive(str(tmp_path / "z"), "zip", tmp_path, "a.tif")
    words = (f"ICECHUNK:{tmp_path}/repository", f"/vsizip/{tmp_path}/z.zip/a.tif", "--dim=t")
    virtualize(*words, "--auto")
    np.testing.assert_array_equal(read(words[0])[0], data[0])
