"""QGIS shows stores in their position, the right way up, with their values."""
import os
import shutil

import numpy as np
import picture
import pytest
import xarray
from osgeo import gdal, osr
from qgis.core import QgsPointXY, QgsProviderRegistry, QgsRasterBandStats
from stores import BYTES, ZSTD, sharding, write_array, write_group, write_multiscale

# An F has no symmetry: any rotation or mirroring makes a different picture.
LETTER = np.array([[int(c) for c in row] for row in (
    "00000000", "01111110", "01000000", "01000000", "01111000", "01000000", "01000000", "01000000",
    "01000000", "00000000",
)])
NODATA = -9999


def letter(dtype="i2"):
    """40 × 48 pixels: an F of 200 and more on a slope from 0 to 50, with a corner missing."""
    slope = np.linspace(0, 50, 40 * 48).reshape(40, 48)
    data = np.where(np.kron(LETTER, np.ones((4, 6))), slope + 200, slope).round()
    return np.ma.masked_where(np.indices(data.shape).sum(axis=0) > 80, data.astype(dtype))


def wkt(code):
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(code)
    return srs.ExportToWkt()


@pytest.fixture
def png(tmp_path):
    return tmp_path / "picture.png"


def assert_gray(layer, png, data, low, high, band=1, **options):
    picture.show_gray(layer, band, low, high)
    picture.assert_same_picture(picture.draw(layer, png, **options), picture.gray(data, low, high))


def assert_place(layer, authid, extent):
    assert layer.crs().authid() == authid
    got = layer.extent()
    sides = (got.xMinimum(), got.yMinimum(), got.xMaximum(), got.yMaximum())
    assert sides == pytest.approx(extent, abs=1e-6)


# --- The stores of data/ -------------------------------------------------------------------------

@pytest.fixture(scope="module")
def geoid():
    return gdal.Open("/usr/share/proj/egm96_15.gtx").ReadAsArray()[::2, ::2]


@pytest.mark.parametrize("name", [
    "{}/geoid_v2.zarr", "{}/geoid_v3.zarr", "{}/geoid_v3_sharded.zarr",
    'ZARR:"{}/geoid_v2.zarr":/geoid',
])
def test_geoid(data_dir, geoid, png, name):
    layer = picture.open_layer(name.format(data_dir))
    assert (layer.width(), layer.height(), layer.bandCount()) == (720, 361, 1)
    assert_place(layer, "EPSG:4326", (-180.25, -90.25, 179.75, 90.25))
    assert_gray(layer, png, geoid, -110, 90)


@pytest.mark.parametrize("name", ["ICECHUNK:{}", "{}"])
def test_geoid_in_a_repository(data_dir, tmp_path, geoid, png, name):
    """That GDAL has committed to."""
    assert gdal.Translate(f"ICECHUNK:{tmp_path}/r", str(data_dir / "geoid_v3.zarr"), format="Zarr")
    test_geoid(tmp_path, geoid, png, name.format(tmp_path / "r"))


def test_dropped_folder(data_dir):
    """QGIS's query about a file or folder that is dropped into its window."""
    for store in ("geoid_v2.zarr", "deflection_v2.zarr"):
        (offered,) = QgsProviderRegistry.instance().querySublayers(str(data_dir / store))
        assert (offered.driverName(), offered.uri()) == ("Zarr", str(data_dir / store))


def test_geoid_values(data_dir, geoid):
    """The queries of the tool that identifies features, and of the layer's properties; packed
    values are in metres."""
    layer = picture.open_layer(data_dir / "geoid_v3.zarr")
    provider = layer.dataProvider()
    assert (provider.bandScale(1), provider.bandOffset(1)) == (0.005, 0)
    for row, column in ((0, 0), (360, 719), (85, 377)):
        place = QgsPointXY(-180 + 0.5 * column, 90 - 0.5 * row)
        value, is_there = provider.sample(place, 1)
        assert is_there and value == pytest.approx(geoid[row, column], abs=0.003)
    statistics = provider.bandStatistics(1, QgsRasterBandStats.All)
    assert statistics.minimumValue == pytest.approx(geoid.min(), abs=0.003)
    assert statistics.maximumValue == pytest.approx(geoid.max(), abs=0.003)
    assert statistics.mean == pytest.approx(geoid.mean(dtype="f8"), abs=0.003)


def test_geoid_colors(data_dir, geoid, png):
    colors = [(-110, (0, 0, 130)), (0, (255, 255, 255)), (90, (160, 0, 0))]
    layer = picture.open_layer(data_dir / "geoid_v3_sharded.zarr")
    picture.show_colors(layer, 1, colors)
    values, channels = [v for v, _ in colors], np.transpose([c for _, c in colors])
    want = np.stack([np.interp(geoid, values, channel) for channel in channels])
    picture.assert_same_picture(picture.draw(layer, png), want)


def test_geoid_in_parts(data_dir, geoid, png):
    """A zoom on a part, with four by four pixels for each."""
    layer = picture.open_layer(data_dir / "geoid_v3_sharded.zarr")
    picture.show_gray(layer, 1, -110, 90)
    got = picture.draw(layer, png, size=(320, 240), extent=(4.75, 29.75, 44.75, 59.75))
    want = np.kron(geoid[61:121, 370:450], np.ones((4, 4)))
    picture.assert_same_picture(got, picture.gray(want, -110, 90))


def test_geoid_from_afar(data_dir, geoid, png):
    """A third of its size: every pixel is one of the nine that it represents."""
    layer = picture.open_layer(data_dir / "geoid_v2.zarr")
    picture.show_gray(layer, 1, -110, 90)
    got = picture.draw(layer, png, size=(240, 120), extent=(-180.25, -89.75, 179.75, 90.25))[0]
    nine = picture.gray(geoid[:360], -110, 90)[0].reshape(120, 3, 240, 3).transpose(0, 2, 1, 3)
    nine = nine.reshape(120, 240, 9)
    assert (np.abs(nine - got[..., None]).min(axis=-1) <= 1.01).all()


def test_geoid_on_another_projection(data_dir, tmp_path, geoid, png):
    """QGIS interpolates positions between known ones, so it may choose the neighbouring pixel.

    Of rasters that cross 180° QGIS 3.40 draws the part on one side alone, also of a GeoTIFF.
    """
    gdal.Translate(str(tmp_path / "part.zarr"), str(data_dir / "geoid_v2.zarr"), format="Zarr",
                   srcWin=[200, 20, 400, 160])
    layer = picture.open_layer(tmp_path / "part.zarr")
    picture.show_gray(layer, 1, -110, 90)
    got = picture.draw(layer, png, size=(200, 160), crs="EPSG:3035",
                       extent=(2_500_000, 1_500_000, 7_500_000, 5_500_000))[0]
    x, y = np.meshgrid(2_500_000 + 25_000 * (np.arange(200) + 0.5),
                       5_500_000 - 25_000 * (np.arange(160) + 0.5))
    lat, lon = transform(3035, 4326, y, x)
    row, column = ((90.25 - lat) / 0.5).astype(int), ((lon + 180.25) / 0.5).astype(int)
    want = picture.gray(geoid, -110, 90)[0]
    around = [want[row + i, column + j] for i in (-1, 0, 1) for j in (-1, 0, 1)]
    assert (np.min(around, axis=0) - 1.01 <= got).all()
    assert (got <= np.max(around, axis=0) + 1.01).all()
    assert (np.abs(got - want[row, column]) <= 1.01).mean() > 0.8


def transform(code, to_code, *places):
    """Positions, in the axis order of their CRS, in another CRS."""
    srs, to_srs = osr.SpatialReference(), osr.SpatialReference()
    srs.ImportFromEPSG(code)
    to_srs.ImportFromEPSG(to_code)
    points = np.stack(places, axis=-1).reshape(-1, 2).tolist()
    got = osr.CoordinateTransformation(srs, to_srs).TransformPoints(points)
    return np.array(got)[:, :2].T.reshape(2, *places[0].shape)


@pytest.mark.parametrize("component", [1, 2, 3])
def test_deflection(data_dir, png, component):
    """Bands of an array with three dimensions; there is no data at the poles."""
    path = data_dir / "deflection_v2.zarr"
    want = np.ma.masked_invalid(gdal.Open(str(path)).ReadAsArray()[component - 1])
    assert want.mask[[0, -1]].all() and not want.mask[1:-1].any()
    layer = picture.open_layer(path)
    assert layer.bandCount() == 3 and layer.dataProvider().sourceHasNoDataValue(component)
    assert_place(layer, "EPSG:4326", (-180.5, -90.5, 179.5, 90.5))
    assert_gray(layer, png, want, -30, 30, band=component)


# --- Stores that are made here -------------------------------------------------------------------

def write_projected(path, code, y_step):
    """The letter in v3 shards, on a grid in metres, so that it is upright on the map."""
    write_group(path)
    data = letter().filled(NODATA)[:: 1 if y_step < 0 else -1]
    write_array(path / "letter", data, (20, 24),
                [sharding((10, 12), [BYTES, ZSTD])], fill_value=NODATA, names=["y", "x"],
                attributes={"_CRS": {"wkt": wkt(code)}})
    write_array(path / "x", 1_500_050 + 100.0 * np.arange(48), names=["x"])
    write_array(path / "y", 5_200_000 + y_step * (np.arange(40) + 0.5), names=["y"])
    return path


@pytest.mark.parametrize("y_step", [-100.0, 100.0], ids=["north-up", "south-up"])
@pytest.mark.parametrize("code", [32633, 2193])  # easting first; northing first
def test_projected(tmp_path, png, code, y_step):
    layer = picture.open_layer(write_projected(tmp_path / "a.zarr", code, y_step))
    low, high = sorted((5_200_000, 5_200_000 + 40 * y_step))
    assert_place(layer, f"EPSG:{code}", (1_500_000, low, 1_504_800, high))
    assert (layer.width(), layer.height()) == (48, 40)
    assert layer.dataProvider().sourceNoDataValue(1) == NODATA
    assert_gray(layer, png, letter(), 0, 300)
    for row, column in ((5, 9), (39, 0), (20, 30)):
        place = QgsPointXY(1_500_050 + 100 * column, high - 100 * (row + 0.5))
        value, is_there = layer.dataProvider().sample(place, 1)
        assert is_there and value == letter()[row, column]


PACKING = {"dtype": "i2", "scale_factor": 0.5, "add_offset": 100.0, "_FillValue": -32768,
           "chunks": (2, 16, 16)}


@pytest.mark.parametrize("lat", [50 - 0.25 * np.arange(40), 40 + 0.25 * np.arange(40)],
                         ids=["north-up", "south-up"])
def test_time_series(tmp_path, png, lat):
    """xarray's form: packed, masked, times as bands."""
    frames = np.array([np.roll(letter("f8").filled(np.nan), 5 * i, axis=1) for i in range(5)])
    stored = frames if lat[0] > lat[-1] else frames[:, ::-1]
    xarray.Dataset(
        {"t2m": (("time", "lat", "lon"), stored, {"grid_mapping": "crs"})},
        coords={"time": ("time", np.arange(5), {"units": "days since 2024-01-01"}),
                "lat": ("lat", lat, {"units": "degrees_north"}),
                "lon": ("lon", 0.25 * np.arange(48), {"units": "degrees_east"}),
                "crs": ((), 0, {"grid_mapping_name": "latitude_longitude", "crs_wkt": wkt(4326)})},
    ).to_zarr(tmp_path / "a.zarr", encoding={"t2m": PACKING})
    layer = picture.open_layer(tmp_path / "a.zarr")
    assert_place(layer, "EPSG:4326", (-0.125, lat.min() - 0.125, 11.875, lat.max() + 0.125))
    assert layer.bandCount() == 5
    provider = layer.dataProvider()
    assert provider.sourceNoDataValue(5) == -32768
    assert (provider.bandScale(5), provider.bandOffset(5)) == (0.5, 100)
    for band, frame in enumerate(frames, 1):
        assert f"time=2024-01-0{band}T00:00" in layer.bandName(band)
        assert_gray(layer, png, np.ma.masked_invalid(frame), 0, 300, band=band)


def test_subdatasets(tmp_path, png):
    """A store with several rasters offers them and their group, and each opens by its name."""
    path = write_projected(tmp_path / "a.zarr", 32633, -100.0)
    write_array(path / "twice", 2 * letter().filled(0), names=["y", "x"],
                attributes={"_CRS": {"wkt": wkt(32633)}})
    names = [f'ZARR:"{path}":/letter', f'ZARR:"{path}":/twice']
    offered = QgsProviderRegistry.instance().querySublayers(str(path))
    assert [sublayer.uri() for sublayer in offered] == [*names, f'ZARR:"{path}":/']
    for name, data in zip(names, (letter(), 2 * letter().filled(0))):
        layer = picture.open_layer(name)
        assert_place(layer, "EPSG:32633", (1_500_000, 5_196_000, 1_504_800, 5_200_000))
        assert_gray(layer, png, data, 0, 600)


@pytest.mark.parametrize("folder", ["", "with its folder"])
def test_zipped(tmp_path, png, folder):
    """For an archive, QGIS 3.22 offers one file for each raster, and QGIS 3.40 the rasters."""
    path = write_projected(tmp_path / "store" / folder, 32633, -100.0)
    one = shutil.make_archive(str(tmp_path / "one.zarr"), "zip", tmp_path / "store")
    write_array(path / "twice", 2 * letter().filled(0), names=["y", "x"],
                attributes={"_CRS": {"wkt": wkt(32633)}})
    two = shutil.make_archive(str(tmp_path / "two"), "zip", tmp_path / "store")
    for archive, documents, rasters in (
            (one, ["zarr.json"], [one]),
            (two, ["letter/zarr.json", "twice/zarr.json"],
             [f'ZARR:"{two}":/letter', f'ZARR:"{two}":/twice'])):
        offered = QgsProviderRegistry.instance().querySublayers(archive)
        assert {sublayer.driverName() for sublayer in offered} == {"Zarr"}
        names = sorted(sublayer.uri() for sublayer in offered)
        assert names in (
            [os.path.join("/vsizip/" + archive, folder, name) for name in documents], rasters)
        for name, data in zip(names, (letter(), 2 * letter().filled(0))):
            layer = picture.open_layer(name)
            assert_place(layer, "EPSG:32633", (1_500_000, 5_196_000, 1_504_800, 5_200_000))
            assert_gray(layer, png, data, 0, 600)
    (offered,) = QgsProviderRegistry.instance().querySublayers(f'ZARR:"{one}"')
    assert_gray(picture.open_layer(f'ZARR:"{one}"'), png, letter(), 0, 600)


def test_slice(tmp_path, png):
    cube = np.stack([letter().filled(0), 2 * letter().filled(0)])
    write_array(tmp_path / "a.zarr", cube, (1, 16, 16), names=["t", "y", "x"])
    layer = picture.open_layer(f'ZARR:"{tmp_path}/a.zarr":/a:1')
    assert layer.bandCount() == 1
    assert_gray(layer, png, cube[1], 0, 600)


def test_true_colors(tmp_path, png):
    """Three bands of bytes are shown in colour by default."""
    data = letter("u1").data
    rgb = np.stack([data, data[:, ::-1], np.full_like(data, 30)])
    write_array(tmp_path, rgb, (3, 16, 16), names=["band", "y", "x"],
                attributes={"COLOR_INTERPRETATION": ["Red", "Green", "Blue"]})
    layer = picture.open_layer(tmp_path)
    assert layer.renderer().type() == "multibandcolor"
    picture.assert_same_picture(picture.draw(layer, png), rgb, tolerance=0)


def test_overviews(tmp_path, png):
    """The smaller the picture, the coarser the level that it is drawn from."""
    layer = picture.open_layer(write_multiscale(tmp_path / "a.zarr"))
    assert_place(layer, "EPSG:32633", (300_000, 4_999_360, 300_960, 5_000_000))
    for size, factor in (((96, 64), 1), ((48, 32), 2), ((24, 16), 4), ((12, 8), 4)):
        want = np.full(size[::-1], 10.0 * factor)
        assert_gray(layer, png, want, 0, 100, size=size)
