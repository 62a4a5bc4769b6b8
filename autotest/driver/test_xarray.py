"""xarray, rioxarray and zarr-python find the same in a store as GDAL: values, positions, CRS,
times. xarray and zarr-python read the store by themselves, rioxarray reads it through the driver.

xarray and zarr-python read the store by themselves, rioxarray reads it through the driver.
"""
import numpy as np
import pytest
import rioxarray
import xarray
import zarr
from numcodecs import Blosc, Delta
from osgeo import gdal, osr
from stores import BYTES, ZSTD, sharding, write_array, write_group

TIMES = np.array(["2000-01-01", "2000-01-02T06", "2000-02-29", "2024-12-31T23:59:59"], "M8[ns]")
LAT = np.linspace(60, 45.5, 30)
LON = np.linspace(0, 24.5, 50)
TEMPERATURE = np.random.default_rng(6).normal(280, 10, (4, 30, 50)).round(2)
TEMPERATURE[1, 3:7, 10:20] = np.nan


def climate(lat=LAT):
    return xarray.Dataset(
        {
            "t2m": (("time", "lat", "lon"), TEMPERATURE, {"units": "K", "source": "a sensor"}),
            "is_land": (("lat", "lon"), TEMPERATURE[0] > 280),
        },
        coords={
            "time": ("time", TIMES, {"standard_name": "time"}),
            "lat": ("lat", lat, {"units": "degrees_north"}),
            "lon": ("lon", LON, {"units": "degrees_east"}),
        },
        attrs={"title": "made for a test", "version": 3},
    )


PACKED = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768}
ENCODINGS = {
    "plain": {},
    "packed": PACKED,
    "packed-unsigned": {"dtype": "u2", "scale_factor": 0.01, "add_offset": 200.0,
                        "_FillValue": 65535},
    "big-endian": {"dtype": ">f4", "_FillValue": -9999.0},
    "float16": {"dtype": "f2"},
    "chunks": PACKED | {"chunks": (3, 7, 11)},
    "zstd": {"compressor": Blosc("zstd", shuffle=2), "filters": [Delta("<f8")]},
}


def write_climate(path, encoding=PACKED, lat=LAT, consolidated=True):
    climate(lat).to_zarr(path, encoding={"t2m": encoding}, consolidated=consolidated)
    return path


def open_root(path):
    return gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()


def decoded(array):
    """xarray's values of an array: unpacked, NaN for missing ones."""
    values = array.GetUnscaled().ReadAsArray()
    if array.GetNoDataValue() is None or values.dtype.kind != "f":
        return values
    return np.where(array.ReadAsArray() == array.GetNoDataValue(), np.nan, values)


# --- xarray --------------------------------------------------------------------------------------

@pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS)
@pytest.mark.parametrize("consolidated", [True, False], ids=["consolidated", "listed"])
def test_multidimensional(tmp_path, encoding, consolidated):
    path = write_climate(tmp_path / "a.zarr", encoding, consolidated=consolidated)
    there = xarray.open_dataset(path, engine="zarr", consolidated=consolidated, decode_times=False)
    root = open_root(path)
    assert {a.GetName(): a.Read() for a in root.GetAttributes()} == there.attrs
    assert sorted(root.GetMDArrayNames()) == sorted(there.variables)
    for name, variable in there.variables.items():
        array = root.OpenMDArray(name)
        assert [d.GetName() for d in array.GetDimensions()] == list(variable.dims)
        # xarray unpacks small integers to float32.
        np.testing.assert_allclose(decoded(array), variable.values, rtol=1e-6)
        for attribute, value in variable.attrs.items():
            assert array.GetAttribute(attribute).Read() == value
    block = list(encoding.get("chunks", root.OpenMDArray("t2m").GetBlockSize()))
    assert root.OpenMDArray("t2m").GetBlockSize() == block


@pytest.mark.parametrize("unit", ["seconds", "hours", "days", "microseconds"])
def test_times(tmp_path, unit):
    """The numbers and their unit, from which xarray computes the times."""
    units = f"{unit} since 1999-12-31T18:00:00"
    climate().to_zarr(tmp_path / "a.zarr", encoding={"time": {"units": units}})
    time = open_root(tmp_path / "a.zarr").OpenMDArray("time")
    attributes = {a.GetName(): a.Read() for a in time.GetAttributes()}
    assert "units" not in attributes and time.GetUnit() == units
    (dimension,) = time.GetDimensions()
    assert dimension.GetType() == gdal.DIM_TYPE_TEMPORAL
    stored = xarray.Variable("time", time.ReadAsArray(), attributes | {"units": units})
    times = xarray.decode_cf(xarray.Dataset({"time": stored}))["time"].values
    assert (abs(times - TIMES) < np.timedelta64(1, "ms")).all()


@pytest.mark.parametrize("lat", [LAT, LAT[::-1]], ids=["north-up", "south-up"])
def test_raster(tmp_path, lat):
    """Bands are times, and rows and columns match the coordinates."""
    path = write_climate(tmp_path / "a.zarr", lat=lat)
    there = xarray.open_dataset(path, engine="zarr", mask_and_scale=False, decode_times=False)
    dataset = gdal.Open(f'ZARR:"{path}":/t2m')
    np.testing.assert_array_equal(dataset.ReadAsArray(), there["t2m"].values)
    x0, dx, _, y0, _, dy = dataset.GetGeoTransform()
    np.testing.assert_allclose(x0 + dx * (np.arange(50) + 0.5), there["lon"])
    np.testing.assert_allclose(y0 + dy * (np.arange(30) + 0.5), there["lat"], atol=1e-9)
    bands = [dataset.GetRasterBand(i).GetMetadata() for i in (1, 2, 3, 4)]
    values = [float(metadata["DIM_time_VALUE"]) for metadata in bands]
    np.testing.assert_array_equal(values, there["time"])
    dates = [metadata["DIM_time_DATETIME"].removesuffix("Z") for metadata in bands]
    np.testing.assert_array_equal(np.array(dates, "M8[ns]"), xarray.decode_cf(there)["time"])
    part = there["t2m"].sel(lat=slice(lat[7], lat[26]), lon=slice(6.5, 21))
    got = dataset.ReadAsArray(13, 7, 30, 20)
    np.testing.assert_array_equal(got, part)


def test_regions_and_appends(tmp_path):
    """Data that xarray added to a store later."""
    path = tmp_path / "a.zarr"
    whole = climate()
    packed, seconds = PACKED | {"chunks": (1, 16, 16)}, {"units": "seconds since 2000-01-01"}
    whole.isel(time=slice(2)).to_zarr(path, encoding={"t2m": packed, "time": seconds})
    whole.isel(time=slice(2, 4)).to_zarr(path, append_dim="time")
    warmer = whole.isel(time=[0])[["t2m"]].drop_vars(["lat", "lon"]) + 5
    warmer.to_zarr(path, region={"time": slice(0, 1), "lat": slice(0, 30), "lon": slice(0, 50)})
    want = TEMPERATURE.copy()
    want[0] += 5
    got = decoded(open_root(path).OpenMDArray("t2m"))
    np.testing.assert_allclose(got, want, atol=0.006)
    assert gdal.Open(f'ZARR:"{path}":/t2m').RasterCount == 4


def test_groups(tmp_path):
    path = tmp_path / "a.zarr"
    climate().to_zarr(path, group="observed")
    (climate() + 1).to_zarr(path, group="model/run1", mode="a")
    for group, shift in (("observed", 0), ("model/run1", 1)):
        array = open_root(path).OpenMDArrayFromFullname(f"/{group}/t2m")
        want = xarray.open_zarr(path, group=group, chunks=None)["t2m"]
        np.testing.assert_array_equal(decoded(array), want)
        np.testing.assert_array_equal(want, TEMPERATURE + shift)
        assert array.GetDimensions()[0].GetIndexingVariable().GetFullName() == f"/{group}/time"


# --- rioxarray -----------------------------------------------------------------------------------

def test_geoid(data_dir):
    """All stores of the geoid through the driver, one of them by xarray itself."""
    want = xarray.open_dataset(data_dir / "geoid_v2.zarr", engine="zarr")["geoid"]
    for store, tolerance in (("geoid_v2", 0), ("geoid_v3_sharded", 0), ("geoid_v3", 0.0026)):
        there = rioxarray.open_rasterio(data_dir / f"{store}.zarr", mask_and_scale=True)
        np.testing.assert_allclose(there.squeeze("band"), want, rtol=0, atol=tolerance)
        np.testing.assert_allclose(there["x"], want["lon"], atol=1e-9)
        np.testing.assert_allclose(there["y"], want["lat"], atol=1e-9)
        assert there.rio.crs.to_epsg() == 4326
        assert there.attrs["standard_name"] == want.attrs["standard_name"]


@pytest.mark.parametrize("lat", [LAT, LAT[::-1]], ids=["north-up", "south-up"])
def test_same_store_twice(tmp_path, lat):
    path = write_climate(tmp_path / "a.zarr", lat=lat)
    want = xarray.open_dataset(path, engine="zarr")["t2m"]
    there = rioxarray.open_rasterio(f'ZARR:"{path}":/t2m', mask_and_scale=True)
    assert there.shape == want.shape and there.dims == ("band", "y", "x")
    np.testing.assert_allclose(there, want, rtol=1e-6)
    np.testing.assert_allclose(there["x"], want["lon"])
    np.testing.assert_allclose(there["y"], want["lat"])
    # Masked, the values are the packed ones.
    masked = rioxarray.open_rasterio(f'ZARR:"{path}":/t2m', masked=True)
    np.testing.assert_array_equal(np.isnan(masked), np.isnan(TEMPERATURE))
    # A part by position, which is a window for the driver.
    part = there.isel(band=2).sel(x=slice(3, 9), y=slice(lat[5], lat[20]))
    want = want.isel(time=2).sel(lon=slice(3, 9), lat=slice(lat[5], lat[20]))
    assert part.shape == (16, 13)
    np.testing.assert_allclose(part, want, rtol=1e-6)


def test_rasterio_engine(tmp_path):
    path = write_climate(tmp_path / "a.zarr").resolve()
    there = xarray.open_dataset(f'ZARR:"{path}":/t2m', engine="rasterio", mask_and_scale=True)
    np.testing.assert_allclose(there["band_data"], TEMPERATURE, atol=0.006)


def write_projected(path, code):
    """rioxarray's form: a `spatial_ref` with the CRS as WKT and a GeoTransform."""
    x, y = 5 + 10.0 * np.arange(50), 5_000_295 - 10.0 * np.arange(30)
    dataset = xarray.Dataset(
        {"t2m": (("time", "y", "x"), TEMPERATURE)},
        coords={"time": TIMES, "y": y, "x": x},
    )
    dataset = dataset.rio.write_crs(code).rio.write_transform()
    dataset["t2m"].rio.write_nodata(-1.0, encoded=True, inplace=True)
    dataset.to_zarr(path)
    return path


@pytest.mark.parametrize("code", [32633, 3035, 2193, 27700, 3857])
def test_what_rioxarray_writes(tmp_path, code):
    path = write_projected(tmp_path / "a.zarr", code)
    dataset = gdal.Open(str(path))
    want = osr.SpatialReference()
    want.ImportFromEPSG(code)
    assert dataset.GetSpatialRef().IsSame(want, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"])
    assert dataset.GetGeoTransform() == (0, 10, 0, 5_000_300, 0, -10)
    assert dataset.GetRasterBand(1).GetNoDataValue() == -1

    there = rioxarray.open_rasterio(path, masked=True)
    here = xarray.open_dataset(path, engine="zarr", decode_coords="all")["t2m"]
    assert there.rio.crs == here.rio.crs
    assert there.rio.transform() == here.rio.transform()
    assert there.rio.bounds() == here.rio.bounds()
    np.testing.assert_array_equal(there, here)
    np.testing.assert_array_equal(there["x"], here["x"])
    np.testing.assert_array_equal(there["y"], here["y"])


def test_reprojected(tmp_path):
    """The same warp of the data from the driver and from xarray."""
    path = write_projected(tmp_path / "a.zarr", 32633)
    through_driver = rioxarray.open_rasterio(path, masked=True)
    by_xarray = xarray.open_dataset(path, engine="zarr", decode_coords="all")["t2m"]
    got, want = (array.rio.reproject("EPSG:3035") for array in (through_driver, by_xarray))
    assert np.isfinite(want).mean() > 0.5
    np.testing.assert_array_equal(got, want)
    box = through_driver.rio.clip_box(100, 5_000_050, 250, 5_000_150)
    assert box.rio.bounds() == (100, 5_000_050, 250, 5_000_150)
    np.testing.assert_array_equal(box, by_xarray[:, 15:25, 10:25])


def test_shards_with_rioxarray(tmp_path):
    """Rows and columns by index intersect single inner chunks."""
    data = np.random.default_rng(1).integers(0, 1000, (3, 40, 60)).astype("u2")
    crs = "http://www.opengis.net/def/crs/EPSG/0/32633"
    write_group(tmp_path)
    write_array(tmp_path / "a", data, (3, 20, 32), [sharding((1, 10, 16), [BYTES, ZSTD])],
                names=["t", "y", "x"], attributes={"_CRS": {"url": crs}})
    write_array(tmp_path / "x", 10.0 * np.arange(60), names=["x"])
    write_array(tmp_path / "y", -10.0 * np.arange(40), names=["y"])
    there = rioxarray.open_rasterio(tmp_path)
    for index in (np.s_[1, 5:33, 7:50], np.s_[:, ::3, ::-1], np.s_[2, [0, 39, 8], 17], np.s_[-1]):
        np.testing.assert_array_equal(there[index], data[index])


# --- zarr-python ---------------------------------------------------------------------------------

@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", ["|b1", "<i8", ">u4", "<f2", ">f8", "<c16"])
def test_zarr_python(tmp_path, dtype, order):
    """Regions that were written in any order, some of them twice and some never."""
    random = np.random.default_rng(9)
    store = zarr.open_array(str(tmp_path), mode="w", shape=(40, 31, 6), chunks=(8, 10, 4),
                            dtype=dtype, order=order, fill_value=1)
    for _ in range(12):
        region = tuple(slice(*sorted(random.integers(n + 1, size=2))) for n in store.shape)
        shape = store[region].shape
        store[region] = (random.normal(size=shape) * 100).astype(dtype)
    root = open_root(tmp_path)
    (name,) = root.GetMDArrayNames()
    array = root.OpenMDArray(name)
    np.testing.assert_array_equal(array.ReadAsArray(), store[:])
    got = array.ReadAsArray([39, 2, 1], [10, 9, 3], [-3, 3, 2])
    np.testing.assert_array_equal(got, store[:][39:10:-3, 2:27:3, 1::2])
