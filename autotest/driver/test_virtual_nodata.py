"""Virtual stores of rasters with missing blocks and nodata: each band reads as in the source."""
import numpy as np
import pytest
from foreign_chunks import grib_message
from osgeo import gdal, gdal_array
from virtual_sources import check_same, chunks, make_virtual, write_tiff

TILES = ["TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16", "COMPRESS=DEFLATE", "SPARSE_OK=YES"]


def write_sparse(path, dtype, nodata=None):
    """Of 48 x 32 pixels in 3 x 2 tiles, of which only the first exists."""
    data = np.arange(1, 257).reshape(16, 16).astype(dtype)
    dataset = gdal.GetDriverByName("GTiff").Create(
        str(path), 48, 32, 1, gdal_array.NumericTypeCodeToGDALTypeCode(data.dtype), TILES)
    dataset.SetGeoTransform((500, 10, 0, 900, 0, -10))
    if nodata is not None:
        dataset.GetRasterBand(1).SetNoDataValue(nodata)
    dataset.GetRasterBand(1).WriteArray(data)
    dataset = None
    return str(path)


def check_copied(source, target, *options, problem, references=()):
    """VIRTUAL=YES is an error, VIRTUAL=AUTO copies all chunks but some."""
    with pytest.raises(RuntimeError, match=problem):
        make_virtual(source, target, *options)
    assert not target.exists()
    assert make_virtual(source, target, *options, mode="AUTO") is not None
    check_same(target, source)
    found = chunks(target)
    assert {key for key in found if isinstance(found[key], list)} == set(references)


@pytest.mark.parametrize("dtype, nodata", [
    ("u1", 300), ("i2", 65535), ("i2", -9999.5), ("c8", 7)])
def test_nodata_that_the_array_cannot_have(tmp_path, dtype, nodata):
    source = write_sparse(tmp_path / "a.tif", dtype, nodata)
    check_copied(source, tmp_path / "a.json", problem="lacks blocks")
    full = write_tiff(tmp_path / "full.tif", np.ones((1, 32, 48), dtype), *TILES, nodata=nodata)
    assert make_virtual(full, tmp_path / "full.json") is not None
    check_same(tmp_path / "full.json", full)


@pytest.mark.parametrize("dtype, nodata", [
    ("u1", -5), ("f4", np.nan), ("f4", 0.1), ("f8", -1e300), ("i2", -32768)])
def test_nodata_that_the_array_has(tmp_path, dtype, nodata):
    source = write_sparse(tmp_path / "a.tif", dtype, nodata)
    assert make_virtual(source, tmp_path / "a.json") is not None
    check_same(tmp_path / "a.json", source)
    assert list(chunks(tmp_path / "a.json")) == ["a/0.0"]


def stack(tmp_path, nodata, change=None):
    """Of files with their own nodata."""
    files = [write_sparse(tmp_path / f"{i}.tif", "i2", value) for i, value in enumerate(nodata)]
    assert gdal.BuildVRT(str(tmp_path / "s.vrt"), files, separate=True) is not None
    text = (tmp_path / "s.vrt").read_text()
    if change:
        assert change(text) != text
        (tmp_path / "s.vrt").write_text(change(text))
    return str(tmp_path / "s.vrt")


def test_stacks_whose_bands_have_their_own_nodata(tmp_path):
    source = stack(tmp_path, [7, None, -3])
    assert make_virtual(source, tmp_path / "s.json") is not None
    check_same(tmp_path / "s.json", source)
    assert sorted(chunks(tmp_path / "s.json")) == ["Band1/0.0", "Band2/0.0", "Band3/0.0"]
    check_copied(source, tmp_path / "one.json", "SINGLE_ARRAY=YES", problem="lacks blocks")


def test_missing_blocks_under_the_nodata_of_a_later_band(tmp_path):
    source = stack(tmp_path, [None, None], lambda text: text.replace(
        'band="2">', 'band="2"><NoDataValue>5</NoDataValue>'))
    dataset = gdal.Open(source)
    assert [dataset.GetRasterBand(i).GetNoDataValue() for i in (1, 2)] == [None, 5]
    check_copied(source, tmp_path / "s.json", problem="missing blocks have another value",
                 references=["Band1/0.0"])


def test_a_vrt_with_a_band_of_another_type(tmp_path):
    source = stack(tmp_path, [None, None], lambda text: text.replace(
        'dataType="Int16" band="2"', 'dataType="Byte" band="2"'))
    dataset = gdal.Open(source)
    assert dataset.GetRasterBand(2).DataType == gdal.GDT_Byte
    check_copied(source, tmp_path / "s.json", problem="different data types")


def test_mosaics_whose_nodata_is_nan(tmp_path):
    write_sparse(tmp_path / "0.tif", "f4", np.nan)
    source = str(tmp_path / "m.vrt")
    assert gdal.BuildVRT(source, [str(tmp_path / "0.tif")], srcNodata="nan") is not None
    assert "<NODATA>" in (tmp_path / "m.vrt").read_text()
    assert make_virtual(source, tmp_path / "m.json") is not None
    check_same(tmp_path / "m.json", source)


@pytest.fixture
def plain_grib():
    """GDAL shows the values and longitudes that are stored."""
    options = ("GRIB_NORMALIZE_UNITS", "GRIB_ADJUST_LONGITUDE_RANGE")
    for option in options:
        gdal.SetConfigOption(option, "NO")
    yield
    for option in options:
        gdal.SetConfigOption(option, None)


@pytest.mark.usefixtures("plain_grib")
@pytest.mark.skipif(gdal.GetDriverByName("GRIB") is None, reason="GDAL has no driver GRIB")
def test_missing_points_of_grib(tmp_path):
    data = np.arange(48.0).reshape(6, 8) + 200
    messages = []
    for nodata in (9999, 8888):
        data[1, nodata % 7] = nodata
        messages.append(grib_message(data, "DATA_ENCODING=COMPLEX_PACKING", nodata=nodata))
        data[1] = 100
    (tmp_path / "a.grib").write_bytes(b"".join(messages))
    assert make_virtual(str(tmp_path / "a.grib"), tmp_path / "a.json") is not None
    source, copy = (gdal.Open(str(tmp_path / name)) for name in ("a.grib", "a.json"))
    assert [source.GetRasterBand(i).GetNoDataValue() for i in (1, 2)] == [9999, 8888]
    for i in (1, 2):
        a, b = source.GetRasterBand(i), copy.GetRasterBand(i)
        assert a.GetMaskFlags() == b.GetMaskFlags() == gdal.GMF_NODATA
        mask = a.GetMaskBand().ReadAsArray()
        assert (mask == 0).sum() == 1
        np.testing.assert_array_equal(b.GetMaskBand().ReadAsArray(), mask)
        np.testing.assert_allclose(b.ReadAsArray()[mask > 0], a.ReadAsArray()[mask > 0], 1e-6)
        assert np.isnan(b.GetNoDataValue()) and np.isnan(b.ReadAsArray()[mask == 0]).all()
