"""The sample stores of data/ have, through GDAL, the values of the grid they were made from."""
import subprocess
import sys

import numpy as np
import pytest
from osgeo import gdal, osr

GEOID_GRID = "/usr/share/proj/egm96_15.gtx"
GEOIDS = ["geoid_v2.zarr", "geoid_v3.zarr", "geoid_v3_sharded.zarr"]


@pytest.fixture(scope="module")
def height():
    """The EGM96 geoid, every 15', as GDAL's GTX driver reads it."""
    dataset = gdal.Open(GEOID_GRID)
    assert dataset.GetDriver().ShortName == "GTX"
    return dataset.ReadAsArray()


@pytest.fixture(scope="module")
def vertical_deflection(height):
    """(eastward, northward, total) in arc seconds at whole degrees, the poles left out."""
    metres_per_step = 6371008.8 * np.pi / 180 / 4
    rows = slice(4, -4, 4)
    h = height.astype("f8")
    east_slope = (np.roll(h, -1, 1) - np.roll(h, 1, 1))[rows, ::4] / (2 * metres_per_step)
    east_slope /= np.cos(np.radians(np.arange(89, -90, -1)))[:, None]
    north_slope = (h[3:-5:4, ::4] - h[5:-3:4, ::4]) / (2 * metres_per_step)
    east, north = (np.degrees(-slope) * 3600 for slope in (east_slope, north_slope))
    return np.array([east, north, np.hypot(east, north)])


def is_wgs84(srs):
    wgs84 = osr.SpatialReference()
    wgs84.ImportFromEPSG(4326)
    return srs is not None and srs.IsSame(wgs84, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"])


def assert_heights(stored, scale, want):
    """The packed store rounds each height to a multiple of `scale`; the others are exact."""
    if scale is None:
        np.testing.assert_array_equal(stored, want)
    else:
        np.testing.assert_allclose(stored * scale, want, rtol=0, atol=scale / 2 * 1.001)


@pytest.mark.parametrize("store", GEOIDS)
@pytest.mark.parametrize("name", ["{}", 'ZARR:"{}"', 'ZARR:"{}":/geoid'])
def test_geoid_raster(data_dir, height, store, name):
    dataset = gdal.Open(name.format(data_dir / store))
    assert dataset.GetDriver().ShortName == "Zarr"
    assert (dataset.RasterXSize, dataset.RasterYSize, dataset.RasterCount) == (720, 361, 1)
    assert dataset.GetGeoTransform() == pytest.approx((-180.25, 0.5, 0, 90.25, 0, -0.5), abs=1e-9)
    assert is_wgs84(dataset.GetSpatialRef())
    assert list(dataset.GetSpatialRef().GetDataAxisToSRSAxisMapping()) == [2, 1]

    band = dataset.GetRasterBand(1)
    assert band.GetUnitType() == "m"
    if store == "geoid_v3.zarr":
        assert band.DataType == gdal.GDT_Int16
        assert (band.GetScale(), band.GetOffset(), band.GetNoDataValue()) == (0.005, 0, -32768)
    else:
        assert band.DataType == gdal.GDT_Float32
        assert (band.GetScale(), band.GetOffset()) == (None, None)
        assert np.isnan(band.GetNoDataValue())
    assert_heights(band.ReadAsArray(), band.GetScale(), height[::2, ::2])


@pytest.mark.parametrize("store", GEOIDS)
@pytest.mark.parametrize(
    "window",
    [
        (0, 0, 1, 1),
        (63, 63, 2, 2),  # four inner chunks of a shard
        (250, 250, 12, 12),  # four chunks, or shards
        (100, 7, 600, 300),
        (719, 360, 1, 1),  # in a chunk that reaches beyond the array
        (512, 256, 208, 105),
    ],
)
def test_geoid_window(data_dir, height, store, window):
    x, y, width, rows = window
    dataset = gdal.Open(str(data_dir / store))
    band = dataset.GetRasterBand(1)
    want = height[::2, ::2][y : y + rows, x : x + width]
    assert_heights(band.ReadAsArray(x, y, width, rows), band.GetScale(), want)


@pytest.mark.parametrize("store", GEOIDS)
def test_geoid_multidim(data_dir, height, store):
    dataset = gdal.OpenEx(str(data_dir / store), gdal.OF_MULTIDIM_RASTER)
    root = dataset.GetRootGroup()
    assert root.GetAttribute("Conventions").Read() == "CF-1.10"
    assert sorted(root.GetMDArrayNames()) == ["crs", "geoid", "lat", "lon"]

    geoid = root.OpenMDArray("geoid")
    lat, lon = geoid.GetDimensions()
    assert (lat.GetName(), lat.GetType(), lat.GetSize()) == ("lat", gdal.DIM_TYPE_HORIZONTAL_Y, 361)
    assert (lon.GetName(), lon.GetType(), lon.GetSize()) == ("lon", gdal.DIM_TYPE_HORIZONTAL_X, 720)
    np.testing.assert_array_equal(
        lat.GetIndexingVariable().ReadAsArray(), np.linspace(90, -90, 361)
    )
    np.testing.assert_array_equal(
        lon.GetIndexingVariable().ReadAsArray(), np.arange(-180, 180, 0.5)
    )
    assert lat.GetIndexingVariable().GetUnit() == "degrees_north"
    assert lon.GetIndexingVariable().GetUnit() == "degrees_east"

    assert geoid.GetUnit() == "m"
    assert geoid.GetAttribute("standard_name").Read() == "geoid_height_above_reference_ellipsoid"
    assert list(geoid.GetBlockSize()) == ([64, 64] if "sharded" in store else [256, 256])
    assert is_wgs84(geoid.GetSpatialRef())
    assert list(geoid.GetSpatialRef().GetDataAxisToSRSAxisMapping()) == [1, 2]
    assert_heights(geoid.ReadAsArray(), geoid.GetScale(), height[::2, ::2])


@pytest.mark.parametrize("store", GEOIDS)
def test_geoid_multidim_steps(data_dir, height, store):
    """Every third row upwards from the last, every seventh column from the sixth."""
    dataset = gdal.OpenEx(str(data_dir / store), gdal.OF_MULTIDIM_RASTER)
    geoid = dataset.GetRootGroup().OpenMDArray("geoid")
    got = geoid.ReadAsArray(array_start_idx=[360, 5], count=[121, 103], array_step=[-3, 7])
    assert_heights(got, geoid.GetScale(), height[::2, ::2][::-3, 5::7])


def test_deflection_raster(data_dir, vertical_deflection):
    dataset = gdal.Open(str(data_dir / "deflection_v2.zarr"))
    assert (dataset.RasterXSize, dataset.RasterYSize, dataset.RasterCount) == (360, 181, 3)
    assert dataset.GetGeoTransform() == pytest.approx((-180.5, 1, 0, 90.5, 0, -1), abs=1e-9)
    assert is_wgs84(dataset.GetSpatialRef())
    for i, want in enumerate(vertical_deflection):
        band = dataset.GetRasterBand(i + 1)
        assert band.GetUnitType() == "arcsec"
        assert band.GetBlockSize() == [128, 64]
        assert band.GetMetadataItem("DIM_component_INDEX") == str(i)
        assert band.GetMetadataItem("DIM_component_VALUE") == str(i + 1)
        got = band.ReadAsArray()
        assert np.isnan(got[[0, -1]]).all()
        np.testing.assert_allclose(got[1:-1], want, rtol=0, atol=0.00501)


def test_deflection_multidim(data_dir, vertical_deflection):
    dataset = gdal.OpenEx(str(data_dir / "deflection_v2.zarr"), gdal.OF_MULTIDIM_RASTER)
    deflection = dataset.GetRootGroup().OpenMDArray("deflection")
    component, lat, lon = deflection.GetDimensions()
    assert [d.GetFullName() for d in (component, lat, lon)] == ["/component", "/lat", "/lon"]
    assert component.GetIndexingVariable().ReadAsArray().tolist() == [1, 2, 3]
    assert list(deflection.GetBlockSize()) == [1, 64, 128]
    assert list(deflection.GetSpatialRef().GetDataAxisToSRSAxisMapping()) == [2, 3]
    np.testing.assert_allclose(
        deflection.ReadAsArray()[:, 1:-1], vertical_deflection, rtol=0, atol=0.00501
    )


@pytest.mark.parametrize("component", range(3))
def test_deflection_slice(data_dir, vertical_deflection, component):
    dataset = gdal.Open(f'ZARR:"{data_dir / "deflection_v2.zarr"}":/deflection:{component}')
    assert dataset.RasterCount == 1
    np.testing.assert_allclose(
        dataset.ReadAsArray()[1:-1], vertical_deflection[component], rtol=0, atol=0.00501
    )


@pytest.mark.parametrize("store", ["geoid_v3.zarr", "geoid_v3_sharded.zarr"])
def test_map_of_the_demo(data_dir, tmp_path, store):
    """Low places are blue and high ones red, on white."""
    picture = tmp_path / "map.png"
    subprocess.run([sys.executable, data_dir / "draw_map.py", data_dir / store, picture],
                   check=True)
    red, green, blue = gdal.Open(str(picture)).ReadAsArray().astype(int)
    # In the Robinson projection, longitudes are equidistant along the equator.
    equator, greenwich, degree = 492, 800, 1500 / 360
    low, high = (int(greenwich + longitude * degree) for longitude in (77, 132))
    assert blue[equator, low] > red[equator, low] + 50
    assert red[equator, high] > blue[equator, high] + 50
    for band in (red, green, blue):
        assert (band[:, :20] == 255).all() and (band[880:900] == 255).all()
