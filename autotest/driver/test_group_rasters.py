"""Groups whose arrays are the bands of one raster, as in EOPF products of Sentinel-2."""
import numpy as np
import pytest
import rasterio
from classic import open_raster
from osgeo import gdal
from stores import write_array, write_group
from test_programs import run

NAMES = ["b02", "b03", "b04", "b08"]
BANDS = {name: np.arange(i, i + 24, dtype="u2").reshape(4, 6) for i, name in enumerate(NAMES)}
PRODUCT = {"stac_discovery": {"properties": {"proj:code": "EPSG:32632", "eo:bands": [
    {"name": "B04", "common_name": "red", "center_wavelength": 0.665, "full_width_half_max": 0.03},
    {"name": "B03", "common_name": "green", "center_wavelength": 0.56},
    {"name": "B02", "common_name": "blue"}, {"name": "none"}, 3]}}}


def write_coordinates(group, offset=0.0):
    write_array(group / "x", 600005 + offset + 10.0 * np.arange(6), names=["x"])
    write_array(group / "y", 5000035 - 10.0 * np.arange(4), names=["y"])


@pytest.fixture
def product(tmp_path):
    path = tmp_path / "S2.zarr"
    write_group(path, PRODUCT)
    write_group(path / "m")
    group = path / "m/r10m"
    write_group(group, {"multiscales": {"layout": [
        {"asset": "."}, {"asset": "coarse", "derived_from": "."}]}})
    write_group(group / "coarse")
    write_coordinates(group)
    for name, data in BANDS.items():
        write_array(group / name, data, (2, 3), names=["y", "x"], attributes={"_FillValue": 65535})
        write_array(group / "coarse" / name, data[::2, ::2], names=["v", "u"])
    write_array(group / "classes", np.zeros((4, 6), "u1"), names=["y", "x"])
    write_array(group / "series", np.zeros((2, 4, 6), "u2"), names=["t", "y", "x"])
    return path


def name_of(path, bands=""):
    return f'ZARR:"{path}":/m/r10m{bands}'


def descriptions(dataset):
    return [dataset.GetRasterBand(i + 1).GetDescription() for i in range(dataset.RasterCount)]


def test_all_bands(product):
    dataset = gdal.Open(name_of(product))
    assert descriptions(dataset) == ["b04", "b03", "b02", "b08"], "stated ones first"
    np.testing.assert_array_equal(dataset.ReadAsArray(), [BANDS[n] for n in descriptions(dataset)])
    assert dataset.GetGeoTransform() == (600000, 10, 0, 5000040, 0, -10)
    assert dataset.GetSpatialRef().GetAuthorityCode(None) == "32632"
    colors = [dataset.GetRasterBand(i).GetColorInterpretation() for i in (1, 2, 3, 4)]
    assert colors == [gdal.GCI_RedBand, gdal.GCI_GreenBand, gdal.GCI_BlueBand, gdal.GCI_Undefined]
    assert dataset.GetRasterBand(1).GetMetadata("IMAGERY") == {
        "CENTRAL_WAVELENGTH_UM": "0.665", "FWHM_UM": "0.03"}


def test_overviews(product):
    dataset = gdal.Open(name_of(product))
    band = dataset.GetRasterBand(2)
    assert band.GetOverviewCount() == 1
    np.testing.assert_array_equal(band.GetOverview(0).ReadAsArray(), BANDS["b03"][::2, ::2])


def test_chosen_bands(product):
    dataset = gdal.Open(name_of(product, "/{b08,b02}"))
    assert descriptions(dataset) == ["b08", "b02"]
    np.testing.assert_array_equal(dataset.ReadAsArray(), [BANDS["b08"], BANDS["b02"]])
    one = gdal.Open(name_of(product, "/{b03}"))
    np.testing.assert_array_equal(one.ReadAsArray(), BANDS["b03"])


def test_programs(product, tmp_path):
    run("gdalwarp", "-q", "-t_srs", "EPSG:32632", name_of(product, "/{b04,b03,b02}"),
        tmp_path / "a.tif")
    with rasterio.open(tmp_path / "a.tif") as warped:
        np.testing.assert_array_equal(warped.read(), [BANDS[n] for n in ("b04", "b03", "b02")])
        assert [color.name for color in warped.colorinterp] == ["red", "green", "blue"]
    with rasterio.open(name_of(product)) as opened:
        assert opened.descriptions == ("b04", "b03", "b02", "b08")


def test_listed_after_all_arrays(product):
    subdatasets = open_raster(product).GetSubDatasets()
    names = [name.rpartition(":")[2] for name, _ in subdatasets]
    assert names == [*(f"/m/r10m/{n}" for n in (*NAMES, "classes", "series")), "/m/r10m"]
    assert subdatasets[-1][1] == "[4x4x6] /m/r10m (UInt16), a band for each array"


def test_arrays_elsewhere(product):
    """The same shape at another place is not a band, and an error if it is named."""
    write_array(product / "m/r10m/moved", BANDS["b02"], names=["y", "x2"])
    write_array(product / "m/r10m/x2", 700005 + 10.0 * np.arange(6), names=["x2"])
    assert "moved" not in descriptions(gdal.Open(name_of(product)))
    with pytest.raises(RuntimeError, match="moved cannot be a band beside .*b02.*lies elsewhere"):
        gdal.Open(name_of(product, "/{b02,moved}"))


@pytest.mark.parametrize("bands, problem", [
    ("/{b02,none}", "group /m/r10m has no array none"),
    ("/{b02,series}", "series cannot be a band"),
    ("/{b02,classes}", "differ and cannot be bands"),
    ("/{}", "is not a list of names"),
    ("/{b02,}", "is not a list of names"),
    ("/{b02,../b03}", "is not a list of names"),
    ("/coarse/x{b02}", "does not exist"),
])
def test_useless_names(product, bands, problem):
    with pytest.raises(RuntimeError, match=problem):
        gdal.Open(name_of(product, bands))


def test_a_group_without_rasters(product):
    with pytest.raises(RuntimeError, match="group /m has no arrays of numbers"):
        gdal.Open(f'ZARR:"{product}":/m')


def test_at_most_64_bands(tmp_path):
    write_group(tmp_path / "a.zarr")
    for i in range(66):
        write_array(tmp_path / f"a.zarr/a{i:02}", np.full((2, 2), i, "u1"), names=["y", "x"])
    dataset = gdal.Open(f'ZARR:"{tmp_path}/a.zarr":/')
    assert descriptions(dataset) == [f"a{i:02}" for i in range(64)]


def test_writing(product):
    """Bands of a group are those arrays, also for programs that change pixels."""
    dataset = gdal.OpenEx(name_of(product, "/{b03,b02}"), gdal.OF_UPDATE)
    dataset.GetRasterBand(2).WriteArray(np.full((4, 6), 7, "u2"))
    del dataset
    for name, data in (("b02", np.full((4, 6), 7)), ("b03", BANDS["b03"])):
        found = gdal.Open(name_of(product, f"/{name}")).ReadAsArray()
        np.testing.assert_array_equal(found, data)
