"""Programs on GDAL and readers that share no code with it find the same in the same store."""
import numpy as np
import pytest
import rasterio
import rasterio.windows
import xarray
import zarr
from osgeo import gdal
from stores import BYTES, ZSTD, sharding, write_array, write_group

GRID = np.random.default_rng(5).integers(-500, 500, (45, 60)).astype("i2")
TEMPERATURE = np.random.default_rng(6).normal(280, 10, (4, 30, 50)).round(2)


def osgeo_array(name):
    return gdal.Open(str(name)).ReadAsArray()


@pytest.fixture
def located(tmp_path):
    """A v3 raster in shards, with nodata, CRS and coordinates."""
    path = tmp_path / "located.zarr"
    write_group(path)
    data = np.where(GRID > 400, -9999, GRID).astype("i2")
    crs = {"url": "http://www.opengis.net/def/crs/EPSG/0/32633"}
    write_array(path / "grid", data, (16, 32), [sharding((8, 16), [BYTES, ZSTD])],
                fill_value=-9999, names=["y", "x"], attributes={"_CRS": crs, "units": "m"})
    write_array(path / "x", 300_005 + 10.0 * np.arange(60), names=["x"])
    write_array(path / "y", 5_000_445 - 10.0 * np.arange(45), names=["y"])
    return path


@pytest.fixture(params=["consolidated", "listed"])
def climate(request, tmp_path):
    """What xarray writes for packed data on three axes, in v2."""
    path = tmp_path / "climate.zarr"
    dataset = xarray.Dataset(
        {"t2m": (("time", "lat", "lon"), TEMPERATURE, {"units": "K"})},
        coords={
            "time": ("time", np.arange(4), {"units": "days since 2000-01-01"}),
            "lat": ("lat", np.linspace(60, 45.5, 30), {"units": "degrees_north"}),
            "lon": ("lon", np.linspace(0, 24.5, 50), {"units": "degrees_east"}),
        },
    )
    packing = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768,
               "chunks": (2, 16, 16)}
    dataset.to_zarr(path, encoding={"t2m": packing}, consolidated=request.param == "consolidated")
    return path


# --- rasterio ------------------------------------------------------------------------------------

def test_rasterio_takes_the_plugin(located):
    with rasterio.Env() as env:
        assert env.drivers()["Zarr"] == "Zarr"
    with rasterio.open(located) as dataset:
        assert dataset.driver == "Zarr"


def test_rasterio_profile(located):
    with rasterio.open(located) as dataset:
        assert dataset.shape == (45, 60)
        assert (dataset.count, dataset.dtypes, dataset.nodata) == (1, ("int16",), -9999)
        assert dataset.crs.to_epsg() == 32633
        assert dataset.transform == rasterio.Affine(10, 0, 300_000, 0, -10, 5_000_450)
        assert dataset.bounds == (300_000, 5_000_000, 300_600, 5_000_450)
        assert dataset.block_shapes == [(8, 16)]
        assert dataset.units == ("m",)


def test_rasterio_read(located):
    want = osgeo_array(located)
    with rasterio.open(located) as dataset:
        np.testing.assert_array_equal(dataset.read(1), want)
        np.testing.assert_array_equal(dataset.read(), want[None])
        np.testing.assert_array_equal(dataset.read(1, out_dtype="float64"), want.astype("f8"))
        masked = dataset.read(1, masked=True)
    np.testing.assert_array_equal(masked.mask, GRID > 400)
    np.testing.assert_array_equal(masked.compressed(), GRID[GRID <= 400])


def test_rasterio_windows(located):
    want = osgeo_array(located)
    with rasterio.open(located) as dataset:
        window = rasterio.windows.Window(30, 7, 20, 12)
        np.testing.assert_array_equal(dataset.read(1, window=window), want[7:19, 30:50])
        place = dataset.window(300_100, 5_000_200, 300_300, 5_000_300)
        np.testing.assert_array_equal(dataset.read(1, window=place), want[15:25, 10:30])
        beyond = rasterio.windows.Window(50, 40, 20, 20)
        filled = dataset.read(1, window=beyond, boundless=True)
        np.testing.assert_array_equal(filled[:5, :10], want[40:, 50:])
        assert (filled[5:] == -9999).all() and (filled[:, 10:] == -9999).all()

        blocks = list(dataset.block_windows(1))
        assert len(blocks) == 6 * 4
        mosaic = np.zeros_like(want)
        for _, block in blocks:
            mosaic[block.toslices()] = dataset.read(1, window=block)
        np.testing.assert_array_equal(mosaic, want)


def test_rasterio_sample(located):
    """Single pixels at places."""
    with rasterio.open(located) as dataset:
        places = [dataset.xy(row, column) for row, column in ((0, 0), (44, 59), (20, 33))]
        got = [value[0] for value in dataset.sample(places)]
    assert got == [osgeo_array(located)[i] for i in ((0, 0), (44, 59), (20, 33))]


def test_rasterio_bands(climate):
    with rasterio.open(climate) as dataset:
        assert (dataset.count, dataset.shape) == (4, (30, 50))
        assert dataset.scales == (0.01,) * 4 and dataset.offsets == (280.0,) * 4
        assert dataset.tags(3)["DIM_time_INDEX"] == "2"
        stored = dataset.read([4, 1], window=((10, 20), (5, 45)))
        want = TEMPERATURE[[3, 0], 10:20, 5:45]
        np.testing.assert_allclose(stored * 0.01 + 280, want, atol=0.006)


@pytest.mark.filterwarnings("ignore:Dataset has no geotransform")
def test_rasterio_subdatasets(tmp_path):
    group = zarr.open_group(str(tmp_path / "two.zarr"), "w")
    group.create_dataset("a", data=GRID)
    group.create_dataset("deep/b", data=GRID + 1)
    with rasterio.open(tmp_path / "two.zarr") as dataset:
        assert dataset.count == 0
        names = dataset.subdatasets
    assert len(names) == 2
    for name, want in zip(names, (GRID, GRID + 1)):
        assert name.startswith("ZARR:")
        with rasterio.open(name) as dataset:
            np.testing.assert_array_equal(dataset.read(1), want)


def test_rasterio_options_and_errors(located):
    """Its options are thread-local; our errors become its exceptions."""
    with rasterio.Env(GDAL_NUM_THREADS="2"), rasterio.open(located) as dataset:
        np.testing.assert_array_equal(dataset.read(1), osgeo_array(located))
    with pytest.raises(rasterio.errors.RasterioIOError, match="array /nothing is not there"):
        rasterio.open(f'ZARR:"{located}":/nothing')
    (located / "grid/c/0/0").write_bytes(b"damage")
    with rasterio.open(located) as dataset, pytest.raises(rasterio.errors.RasterioIOError):
        dataset.read(1)


# --- xarray and zarr-python ----------------------------------------------------------------------

def open_with_xarray(path, **options):
    return xarray.open_zarr(path, consolidated=(path / ".zmetadata").exists(), **options)


def test_xarray(climate):
    """Decoded values, coordinates and units of the same store."""
    there = open_with_xarray(climate, decode_times=False)
    root = gdal.OpenEx(str(climate), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert sorted(root.GetMDArrayNames()) == sorted(there.variables)
    for name, variable in there.variables.items():
        array = root.OpenMDArray(name)
        assert [d.GetName() for d in array.GetDimensions()] == list(variable.dims)
        # xarray unpacks small integers to float32.
        np.testing.assert_allclose(array.GetUnscaled().ReadAsArray(), variable.values, rtol=1e-6)
        assert array.GetAttribute("units").Read() == variable.attrs["units"]
    packed = root.OpenMDArray("t2m")
    assert packed.GetNoDataValue() == -32768
    assert packed.GetBlockSize() == [2, 16, 16]


def test_xarray_window(climate):
    there = open_with_xarray(climate, mask_and_scale=False)["t2m"]
    dataset = gdal.Open(str(climate))
    for i in range(4):
        got = dataset.GetRasterBand(i + 1).ReadAsArray(13, 7, 30, 20)
        np.testing.assert_array_equal(got, there.isel(time=i, lat=slice(7, 27), lon=slice(13, 43)))


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", ["|b1", "<i8", ">u4", "<f2", ">f8", "<c16"])
def test_zarr_python(tmp_path, dtype, order):
    """Regions that were written in any order, some of them twice and some never."""
    random = np.random.default_rng(9)
    store = zarr.open_array(str(tmp_path), "w", shape=(40, 31, 6), chunks=(8, 10, 4), dtype=dtype,
                            order=order, fill_value=1)
    for _ in range(12):
        region = tuple(slice(*sorted(random.integers(n + 1, size=2))) for n in store.shape)
        shape = store[region].shape
        store[region] = (random.normal(size=shape) * 100).astype(dtype)
    root = gdal.OpenEx(str(tmp_path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    (name,) = root.GetMDArrayNames()
    array = root.OpenMDArray(name)
    np.testing.assert_array_equal(array.ReadAsArray(), store[:])
    got = array.ReadAsArray([39, 2, 1], [10, 9, 3], [-3, 3, 2])
    np.testing.assert_array_equal(got, store[:][39:10:-3, 2:27:3, 1::2])
