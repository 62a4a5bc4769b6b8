"""rasterio reads stores like any raster: windows, masks, bands, other grids, other sizes. The
expected values come from a GeoTIFF with the same pixels.

Where a test asks what is right, a GeoTIFF with the same pixels answers.
"""
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import rasterio
import rasterio.mask
import rasterio.merge
import rasterio.shutil
import xarray
from osgeo import gdal
from rasterio.enums import ColorInterp, MaskFlags, Resampling
from rasterio.errors import RasterioIOError
from rasterio.vrt import WarpedVRT
from rasterio.windows import Window
from stores import BYTES, ZSTD, sharding, write_array, write_group, write_multiscale
from test_fixtures import FIXTURES
from v2_stores import write_v2

pytestmark = pytest.mark.filterwarnings("ignore:Dataset has no geotransform")

GRID = np.random.default_rng(5).integers(-500, 500, (45, 60)).astype("i2")
NODATA = -9999
TEMPERATURE = np.random.default_rng(6).normal(280, 10, (40, 30, 50)).round(2)


def write_located(path, rows, x0=300_000):
    """GRID with nodata in v3 shards, in UTM 33N; `rows` are the y of the pixels' centres."""
    write_group(path)
    data = np.where(GRID > 400, NODATA, GRID).astype("i2")
    crs = {"url": "http://www.opengis.net/def/crs/EPSG/0/32633"}
    write_array(path / "grid", data, (32, 32), [sharding((16, 16), [BYTES, ZSTD])],
                fill_value=NODATA, names=["y", "x"], attributes={"_CRS": crs, "units": "m"})
    write_array(path / "x", x0 + 5 + 10.0 * np.arange(60), names=["x"])
    write_array(path / "y", rows, names=["y"])
    return path


NORTH_UP = 5_000_445 - 10.0 * np.arange(45)


@pytest.fixture
def located(tmp_path):
    return write_located(tmp_path / "located.zarr", NORTH_UP)


@pytest.fixture(params=["north-up", "south-up"])
def twins(request, tmp_path):
    """A store, and a GeoTIFF with the same pixels and position."""
    rows = NORTH_UP if request.param == "north-up" else NORTH_UP[::-1]
    path = write_located(tmp_path / "located.zarr", rows)
    with rasterio.open(path) as dataset:
        profile = dataset.profile | {"driver": "GTiff", "tiled": False, "blockysize": 45}
        with rasterio.open(tmp_path / "twin.tif", "w", **profile) as twin:
            twin.write(np.where(GRID > 400, NODATA, GRID).astype("i2"), 1)
    with rasterio.open(path) as store, rasterio.open(tmp_path / "twin.tif") as twin:
        yield store, twin


@pytest.fixture
def climate(tmp_path):
    """xarray's form of a packed time series, in v2."""
    path = tmp_path / "climate.zarr"
    dataset = xarray.Dataset(
        {"t2m": (("time", "lat", "lon"), TEMPERATURE, {"units": "K"})},
        coords={
            "time": ("time", np.arange(40) * 6, {"units": "hours since 2000-01-01"}),
            "lat": ("lat", np.linspace(60, 45.5, 30), {"units": "degrees_north"}),
            "lon": ("lon", np.linspace(0, 24.5, 50), {"units": "degrees_east"}),
        },
    )
    packing = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768,
               "chunks": (7, 16, 16)}
    dataset.to_zarr(path, encoding={"t2m": packing})
    return path


def stored(path):
    return gdal.Open(str(path)).ReadAsArray()


# --- What a dataset says -------------------------------------------------------------------------

def test_the_plugin_is_taken(located):
    with rasterio.Env() as env:
        assert env.drivers()["Zarr"].startswith("Zarr (gdal-zarr ")
    with rasterio.open(located) as dataset:
        assert dataset.driver == "Zarr"


def test_profile(located):
    with rasterio.open(located) as dataset:
        assert dataset.profile == {
            "driver": "Zarr", "dtype": "int16", "nodata": NODATA, "width": 60, "height": 45,
            "count": 1, "crs": rasterio.CRS.from_epsg(32633), "blockxsize": 16, "blockysize": 16,
            "transform": rasterio.Affine(10, 0, 300_000, 0, -10, 5_000_450), "tiled": True,
            "compress": "zstd",
        }
        assert dataset.bounds == (300_000, 5_000_000, 300_600, 5_000_450)
        assert dataset.res == (10, 10)
        assert dataset.units == ("m",)
        assert dataset.mask_flag_enums == ([MaskFlags.nodata],)
        assert dataset.index(300_595, 5_000_005) == (44, 59)


def test_south_up_profile(tmp_path):
    with rasterio.open(write_located(tmp_path / "up.zarr", NORTH_UP[::-1])) as dataset:
        assert dataset.transform == rasterio.Affine(10, 0, 300_000, 0, 10, 5_000_000)
        # rasterio takes them from the first and the last row.
        assert (dataset.bounds.bottom, dataset.bounds.top) == (5_000_450, 5_000_000)
        np.testing.assert_array_equal(dataset.read(1)[GRID <= 400], GRID[GRID <= 400])


@pytest.mark.parametrize("store", [
    "gdal_crs_v2", "gdal_crs_v3", "gdal_spatialproj_v3", "rio_gridmapping_v2", "rio_gridmapping_v3",
    "draft3_gdal36",
])
def test_same_place_by_all_conventions(store):
    """GDAL's own, spatial: and proj:, and CF as rioxarray writes it."""
    with rasterio.open(FIXTURES / f"stores/{store}.zarr") as dataset:
        assert dataset.crs.to_epsg() == 32633
        assert dataset.bounds == (440_720, 3_750_120, 441_920, 3_751_320)


def test_tags_and_colors(tmp_path):
    attributes = {"COLOR_INTERPRETATION": ["Red", "Green", "Blue"], "source": "a camera"}
    write_array(tmp_path, np.zeros((3, 2, 2), "u1"), names=["band", "y", "x"],
                attributes=attributes | {"long_name": "reflected light"})
    with rasterio.open(tmp_path) as dataset:
        assert dataset.tags()["source"] == "a camera"
        assert dataset.descriptions == ("reflected light",) * 3
        assert dataset.colorinterp == (ColorInterp.red, ColorInterp.green, ColorInterp.blue)


# --- Reading -------------------------------------------------------------------------------------

def test_read(located):
    want = stored(located)
    with rasterio.open(located) as dataset:
        np.testing.assert_array_equal(dataset.read(1), want)
        np.testing.assert_array_equal(dataset.read(), want[None])
        np.testing.assert_array_equal(dataset.read(1, out_dtype="float64"), want.astype("f8"))
        into = np.zeros((45, 60), "i4")
        dataset.read(1, out=into)
        np.testing.assert_array_equal(into, want)


def test_masks(located):
    missing = GRID > 400
    with rasterio.open(located) as dataset:
        masked = dataset.read(1, masked=True)
        np.testing.assert_array_equal(masked.mask, missing)
        np.testing.assert_array_equal(masked.compressed(), GRID[~missing])
        np.testing.assert_array_equal(dataset.read_masks(1), np.where(missing, 0, 255))
        np.testing.assert_array_equal(dataset.dataset_mask(), np.where(missing, 0, 255))
        part = dataset.read(1, window=Window(3, 5, 50, 30), masked=True)
        np.testing.assert_array_equal(part.mask, missing[5:35, 3:53])


def test_windows(located):
    want = stored(located)
    with rasterio.open(located) as dataset:
        window = Window(30, 7, 20, 12)
        np.testing.assert_array_equal(dataset.read(1, window=window), want[7:19, 30:50])
        place = dataset.window(300_100, 5_000_200, 300_300, 5_000_300)
        np.testing.assert_array_equal(dataset.read(1, window=place), want[15:25, 10:30])


@pytest.mark.parametrize("window", [
    Window(50, 40, 20, 20), Window(-7, -3, 20, 20), Window(-5, 10, 70, 4), Window(80, 80, 3, 2),
], ids=str)
def test_boundless_windows(located, window):
    rows, columns = (np.arange(start, stop) for start, stop in window.toranges())
    is_row, is_column = (rows >= 0) & (rows < 45), (columns >= 0) & (columns < 60)
    want = np.full((len(rows), len(columns)), NODATA, "i2")
    want[np.ix_(is_row, is_column)] = stored(located)[np.ix_(rows[is_row], columns[is_column])]
    with rasterio.open(located) as dataset:
        got = dataset.read(1, window=window, boundless=True)
        np.testing.assert_array_equal(got, want)
        masked = dataset.read(1, window=window, boundless=True, masked=True)
        np.testing.assert_array_equal(masked.mask, want == NODATA)


@pytest.mark.parametrize("store", ["geoid_v2.zarr", "geoid_v3.zarr", "geoid_v3_sharded.zarr",
                                   "deflection_v2.zarr"])
def test_block_windows(data_dir, store):
    """Blocks are chunks, or inner chunks if the array has shards, and cover the whole raster."""
    with rasterio.open(data_dir / store) as dataset:
        want = dataset.read()
        rows, columns = dataset.block_shapes[0]
        blocks = dict(dataset.block_windows())
        assert len(blocks) == -(-dataset.height // rows) * -(-dataset.width // columns)
        mosaic = np.empty_like(want)
        for index, window in blocks.items():
            assert (window.row_off, window.col_off) == (index[0] * rows, index[1] * columns)
            mosaic[(slice(None), *window.toslices())] = dataset.read(window=window)
        np.testing.assert_array_equal(mosaic, want)


RESAMPLINGS = [Resampling.nearest, Resampling.bilinear, Resampling.cubic, Resampling.lanczos,
               Resampling.average, Resampling.mode, Resampling.gauss, Resampling.rms]


@pytest.mark.parametrize("resampling", RESAMPLINGS, ids=lambda r: r.name)
def test_other_sizes(twins, resampling):
    """Decimated, magnified, and from windows that start within a pixel."""
    for options in (
        {"out_shape": (15, 20)},
        {"out_shape": (1, 1)},
        {"out_shape": (90, 77)},
        {"out_shape": (11, 13), "window": Window(7, 3, 41, 37)},
        {"out_shape": (20, 30), "window": Window(10.25, 9.5, 40.5, 30.75)},
    ):
        got, want = (
            dataset.read(1, resampling=resampling, masked=True, **options) for dataset in twins
        )
        np.testing.assert_array_equal(got.mask, want.mask)
        np.testing.assert_array_equal(got.data, want.data)


@pytest.mark.parametrize("resampling", [Resampling.nearest, Resampling.cubic, Resampling.average],
                         ids=lambda r: r.name)
@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:3857", "+proj=robin"])
def test_warped(twins, crs, resampling):
    vrts = [WarpedVRT(dataset, crs=crs, resampling=resampling) for dataset in twins]
    assert vrts[0].profile == vrts[1].profile
    got, want = (vrt.read(1) for vrt in vrts)
    assert (got != NODATA).sum() > 2000
    np.testing.assert_array_equal(got, want)
    for window in (Window(10, 5, 20, 30), Window(3.5, 4.25, 30, 20)):
        got, want = (vrt.read(1, window=window, out_shape=(15, 15)) for vrt in vrts)
        np.testing.assert_array_equal(got, want)


def test_fractional_window(located):
    """On the store's own grid, half a pixel out: the mean of four."""
    data = np.ma.masked_equal(stored(located), NODATA).astype("f8")
    with rasterio.open(located) as dataset:
        transform = rasterio.Affine(10, 0, 300_205, 0, -10, 5_000_345)
        with WarpedVRT(dataset, transform=transform, width=9, height=7, dtype="float64",
                       resampling=Resampling.bilinear) as vrt:
            got = vrt.read(1, masked=True)
    four = [data[10 + i : 17 + i, 20 + j : 29 + j] for i in (0, 1) for j in (0, 1)]
    whole = ~np.any([part.mask for part in four], axis=0)
    np.testing.assert_allclose(got[whole], np.mean([part.data for part in four], 0)[whole])


def test_sample(located):
    """Single pixels by position."""
    indices = [(0, 0), (44, 59), (20, 33), (7, 15), (8, 16)]
    with rasterio.open(located) as dataset:
        places = [dataset.xy(*index) for index in indices]
        got = [value[0] for value in dataset.sample(places)]
        masked = [value[0] for value in dataset.sample(places, masked=True)]
        (outside,) = dataset.sample([(0, 0)])
    want = stored(located)
    assert got == [want[index] for index in indices]
    assert [value is np.ma.masked for value in masked] == [v == NODATA for v in got]
    assert outside == [NODATA]


def test_clip(twins):
    corners = [(300_105, 5_000_105), (300_405, 5_000_155), (300_255, 5_000_395)]
    triangle = {"type": "Polygon", "coordinates": [[*corners, corners[0]]]}
    (got, got_transform), (want, want_transform) = (
        rasterio.mask.mask(dataset, [triangle], crop=True) for dataset in twins
    )
    assert got_transform == want_transform
    assert 200 < (got != NODATA).sum() < 600
    np.testing.assert_array_equal(got, want)


def test_merge(tmp_path):
    """A mosaic of two stores that overlap."""
    paths = [write_located(tmp_path / f"{x0}.zarr", NORTH_UP, x0) for x0 in (300_000, 300_500)]
    mosaic, transform = rasterio.merge.merge([str(path) for path in paths])
    data = stored(paths[0])
    right = np.where(data[:, 50:] == NODATA, data[:, :10], data[:, 50:])
    assert (transform.c, transform.f) == (300_000, 5_000_450)
    np.testing.assert_array_equal(mosaic[0], np.hstack([data[:, :50], right, data[:, 10:]]))


def test_copy(located, tmp_path):
    rasterio.shutil.copy(str(located), str(tmp_path / "copy.tif"), driver="GTiff")
    with rasterio.open(located) as store, rasterio.open(tmp_path / "copy.tif") as copy:
        for what in ("crs", "transform", "nodata", "dtypes", "units"):
            assert getattr(copy, what) == getattr(store, what)
        np.testing.assert_array_equal(copy.read(), store.read())


# --- Many bands ----------------------------------------------------------------------------------

def test_bands(climate):
    with rasterio.open(climate) as dataset:
        assert (dataset.count, dataset.shape) == (40, (30, 50))
        assert dataset.indexes == tuple(range(1, 41))
        assert dataset.dtypes == ("int16",) * 40 and dataset.nodatavals == (-32768,) * 40
        assert dataset.scales == (0.01,) * 40 and dataset.offsets == (280.0,) * 40
        assert dataset.tags(3)["DIM_time_INDEX"] == "2"
        assert dataset.tags(40)["DIM_time_VALUE"] == "234"
        assert dataset.tags(40)["DIM_time_UNIT"] == "hours since 2000-01-01"
        assert dataset.tags(40)["DIM_time_DATETIME"] == "2000-01-10T18:00:00Z"

        def values(*args, **options):
            return dataset.read(*args, **options) * 0.01 + 280

        np.testing.assert_allclose(values(), TEMPERATURE, atol=0.006)
        got = values([40, 1, 8, 7], window=((10, 20), (5, 45)))
        np.testing.assert_allclose(got, TEMPERATURE[[39, 0, 7, 6], 10:20, 5:45], atol=0.006)
        (got,) = dataset.sample([dataset.xy(13, 37)])
        np.testing.assert_allclose(got * 0.01 + 280, TEMPERATURE[:, 13, 37], atol=0.006)


def test_open_options(climate):
    with rasterio.open(climate, DIM_X="time", DIM_Y="lon") as dataset:
        assert (dataset.count, dataset.shape) == (30, (50, 40))
        want = TEMPERATURE[:, 29].T
        np.testing.assert_allclose(dataset.read(30) * 0.01 + 280, want, atol=0.006)
    with rasterio.open(climate, MULTIBAND="NO") as dataset:
        assert dataset.count == 0 and len(dataset.subdatasets) == 40
        (last,) = (name for name in dataset.subdatasets if name.endswith(":/t2m:39"))
    with rasterio.open(last) as dataset:
        np.testing.assert_allclose(dataset.read(1) * 0.01 + 280, TEMPERATURE[-1], atol=0.006)


def test_subdatasets(tmp_path):
    """As many as the store has rasters, at any depth, each with its own band count and type."""
    halves = (GRID + 0.5).astype("f4")
    arrays = {"/a": GRID, "/deep/b": halves, "/deep/er/c": GRID.reshape(3, 15, 60)}
    for name, data in arrays.items():
        write_v2(tmp_path / "some.zarr", name.lstrip("/"), data)
    with rasterio.open(tmp_path / "some.zarr") as dataset:
        assert dataset.count == 0
        names = dataset.subdatasets
        listed = dataset.tags(ns="SUBDATASETS")
    want_names = [f'ZARR:"{tmp_path}/some.zarr":{name}' for name in arrays]
    assert [listed[f"SUBDATASET_{i}_NAME"] for i in (1, 2, 3)] == want_names
    # rasterio before 1.4 removes the quotation marks, and they open nevertheless.
    assert names in (want_names, [name.replace('"', "") for name in want_names])
    for name, want in zip(names, arrays.values()):
        with rasterio.open(name) as dataset:
            assert dataset.dtypes[0] == want.dtype
            np.testing.assert_array_equal(dataset.read().squeeze(), want)


# --- Threads, options, errors --------------------------------------------------------------------

def test_threads(climate):
    """A dataset for each thread, as rasterio requires, on chunks that they share."""
    windows = [Window(x, y, 13, 11) for x in range(0, 37, 4) for y in range(0, 19, 3)]

    def read(window):
        with rasterio.Env(GDAL_NUM_THREADS="2"), rasterio.open(climate) as dataset:
            return dataset.read(window=window) * 0.01 + 280

    with ThreadPoolExecutor(8) as pool:
        for window, got in zip(windows, pool.map(read, windows)):
            want = TEMPERATURE[(slice(None), *window.toslices())]
            np.testing.assert_allclose(got, want, atol=0.006)


def test_errors(located):
    with pytest.raises(RasterioIOError, match="array /nothing does not exist"):
        rasterio.open(f'ZARR:"{located}":/nothing')
    (located / "grid/c/0/0").write_bytes(b"damage")
    with rasterio.open(located) as dataset:
        with pytest.raises(RasterioIOError):
            dataset.read(1)
        # Undamaged parts can still be read.
        got = dataset.read(1, window=Window(32, 16, 28, 29))
        np.testing.assert_array_equal(got, np.where(GRID > 400, NODATA, GRID)[16:, 32:])


# --- Overviews -----------------------------------------------------------------------------------

@pytest.fixture
def multiscale(tmp_path):
    """96 × 64 pixels of 10, and overviews of 20 and 40."""
    return write_multiscale(tmp_path / "multiscale.zarr")


def test_overviews(multiscale):
    with rasterio.open(multiscale) as dataset:
        assert dataset.count == 1
        name, = dataset.subdatasets
        assert name.replace('"', "") == f"ZARR:{multiscale}:/data"
        assert dataset.overviews(1) == [2, 4]
        assert (dataset.read(1) == 10).all()


def test_overview_level(multiscale):
    for level, factor in enumerate((2, 4)):
        with rasterio.open(multiscale, OVERVIEW_LEVEL=level) as dataset:
            assert dataset.shape == (64 // factor, 96 // factor)
            assert dataset.transform.a == 10 * factor and dataset.nodata == 255
            assert (dataset.read(1) == factor * 10).all()


@pytest.mark.parametrize("shape, factor", [((64, 96), 1), ((54, 80), 1), ((32, 48), 2),
                                           ((20, 30), 2), ((16, 24), 4), ((8, 12), 4)])
def test_decimated_reads_take_overviews(multiscale, shape, factor):
    with rasterio.open(multiscale) as dataset:
        assert (dataset.read(1, out_shape=shape) == factor * 10).all()
        window = Window(0, 0, 48, 32)
        half = dataset.read(1, out_shape=(shape[0] // 2, shape[1] // 2), window=window)
        assert (half == factor * 10).all()


def test_warped_from_overviews(multiscale):
    with rasterio.open(multiscale) as dataset, WarpedVRT(dataset, crs="EPSG:3857") as vrt:
        for factor in (1, 2, 4):
            shape = (vrt.height // factor, vrt.width // factor)
            got = vrt.read(1, out_shape=shape, masked=True).compressed()
            assert set(got) == {factor * 10}
