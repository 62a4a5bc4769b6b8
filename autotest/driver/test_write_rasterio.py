"""rasterio writes stores, whole and by windows, and changes them in place."""
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import numpy as np
import pytest
import rasterio
import rasterio.shutil
from rasterio.enums import ColorInterp, Resampling
from rasterio.errors import RasterioIOError
from rasterio.transform import Affine, from_origin
from rasterio.warp import calculate_default_transform, reproject
from rasterio.windows import Window

DATA = np.random.default_rng(21).integers(0, 3000, (3, 130, 170)).astype("u2")
PROFILE = {
    "driver": "Zarr", "width": 170, "height": 130, "count": 3, "dtype": "uint16",
    "crs": "EPSG:32632", "transform": from_origin(400_000, 5_300_000, 30, 30), "nodata": 65535,
}
LAYOUTS = {
    "v2": {"blocksize": "1,64,64", "compress": "blosc"},
    "v3": {"format": "ZARR_V3", "blocksize": "3,32,32", "compress": "zstd", "zstd_level": 3},
    "by pixel": {"interleave": "pixel", "blocksize": "64,64,3"},
    "shards": {"format": "ZARR_V3", "blocksize": "1,64,96", "shard_chunk_shape": "1,32,32",
               "compress": "zstd"},
}


@pytest.fixture(params=LAYOUTS)
def profile(request):
    return PROFILE | LAYOUTS[request.param]


@pytest.fixture
def path(tmp_path, profile):
    with rasterio.open(tmp_path / "a.zarr", "w", **profile) as dataset:
        dataset.write(DATA)
    return tmp_path / "a.zarr"


def test_write(path):
    with rasterio.open(path) as dataset:
        np.testing.assert_array_equal(dataset.read(), DATA)
        assert dataset.crs == rasterio.CRS.from_epsg(32632)
        assert dataset.transform == PROFILE["transform"]
        assert dataset.nodata == 65535
        assert dataset.driver == "Zarr"


def test_write_by_blocks(tmp_path, profile):
    """In the order of block_windows(), and in another one."""
    for order in (1, -1):
        path = tmp_path / f"{order}.zarr"
        with rasterio.open(path, "w", **profile) as dataset:
            for band in (1, 2, 3):
                for _, window in list(dataset.block_windows(band))[::order]:
                    dataset.write(DATA[band - 1][window.toslices()], band, window=window)
        with rasterio.open(path) as dataset:
            np.testing.assert_array_equal(dataset.read(), DATA)


@pytest.mark.parametrize("mode", ["w+", "r+"])
def test_windows(tmp_path, path, profile, mode):
    """Written and read alternately."""
    random = np.random.default_rng(4)
    want = DATA.copy() if mode == "r+" else np.full_like(DATA, 65535)
    target = path if mode == "r+" else tmp_path / "new.zarr"
    with rasterio.open(target, mode, **(profile if mode == "w+" else {})) as dataset:
        for _ in range(40):
            column, row = int(random.integers(170)), int(random.integers(130))
            window = Window(column, row, int(random.integers(1, 171 - column)),
                            int(random.integers(1, 131 - row)))
            data = random.integers(0, 3000, (3, window.height, window.width)).astype("u2")
            dataset.write(data, window=window)
            want[(slice(None), *window.toslices())] = data
            np.testing.assert_array_equal(dataset.read(2), want[1])
    with rasterio.open(target) as dataset:
        np.testing.assert_array_equal(dataset.read(), want)


def test_unwritten_is_nodata(tmp_path, profile):
    with rasterio.open(tmp_path / "a.zarr", "w", **profile) as dataset:
        dataset.write(DATA[:, :10, :10], window=Window(0, 0, 10, 10))
    with rasterio.open(tmp_path / "a.zarr") as dataset:
        masked = dataset.read(masked=True)
        assert not masked.mask[:, :10, :10].any() and masked.mask[:, 10:].all()


def test_update_what_is_said(path):
    with rasterio.open(path, "r+") as dataset:
        dataset.crs = "EPSG:2056"
        dataset.transform = Affine(10, 2, 2_600_000, 1, -10, 1_200_000)
        dataset.update_tags(TITLE="a test", number=3)
        dataset.update_tags(2, sensor="eye")
        dataset.update_tags(ns="mine", key="value")
        dataset.descriptions = ("one", "two", "three")
        dataset.scales = (0.1,) * 3
        dataset.offsets = (2.0,) * 3
        dataset.units = ("m",) * 3
        dataset.colorinterp = (ColorInterp.blue, ColorInterp.green, ColorInterp.red)
    with rasterio.open(path) as dataset:
        assert dataset.crs == rasterio.CRS.from_epsg(2056)
        assert dataset.transform.almost_equals(Affine(10, 2, 2_600_000, 1, -10, 1_200_000))
        assert dataset.tags().items() >= {"TITLE": "a test", "number": "3"}.items()
        assert dataset.tags(2)["sensor"] == "eye" and "sensor" not in dataset.tags(1)
        assert dataset.tags(ns="mine") == {"key": "value"}
        assert dataset.descriptions == ("one", "two", "three")
        assert (dataset.scales, dataset.offsets) == ((0.1,) * 3, (2.0,) * 3)
        assert dataset.units == ("m",) * 3
        assert dataset.colorinterp == (ColorInterp.blue, ColorInterp.green, ColorInterp.red)
        np.testing.assert_array_equal(dataset.read(), DATA)


def test_mask_and_colormap(tmp_path):
    profile = PROFILE | {"count": 1, "dtype": "uint8", "nodata": None}
    mask = DATA[0] > 1500
    with rasterio.open(tmp_path / "a.zarr", "w", **profile) as dataset:
        dataset.write((DATA[:1] % 4).astype("u1"))
        dataset.write_colormap(1, {0: (255, 0, 0, 255), 1: (0, 255, 0, 255), 3: (0, 0, 255, 0)})
        dataset.write_mask(mask)
    with rasterio.open(tmp_path / "a.zarr") as dataset:
        assert dataset.colormap(1)[1] == (0, 255, 0, 255)
        np.testing.assert_array_equal(dataset.read_masks(1) == 255, mask)


@pytest.mark.parametrize("colors_first", [True, False])
def test_a_palette_reads_back_as_one(tmp_path, colors_first):
    """rasterio calls a new band gray before it gets its colours."""
    profile = PROFILE | {"count": 1, "dtype": "uint8", "nodata": None}
    with rasterio.open(tmp_path / "a.zarr", "w", **profile) as dataset:
        if colors_first:
            dataset.write_colormap(1, {0: (255, 0, 0, 255), 1: (0, 255, 0, 255)})
        dataset.write((DATA[:1] % 2).astype("u1"))
        if not colors_first:
            dataset.write_colormap(1, {0: (255, 0, 0, 255), 1: (0, 255, 0, 255)})
    with rasterio.open(tmp_path / "a.zarr") as dataset:
        assert dataset.colorinterp == (ColorInterp.palette,)
        assert dataset.colormap(1)[1] == (0, 255, 0, 255)


@pytest.mark.parametrize("dtype",
                         ["uint8", "int16", "uint32", "int32", "float32", "float64", "complex64"])
def test_types(tmp_path, dtype):
    data = (DATA[:1] % 200).astype(dtype)
    profile = PROFILE | {"count": 1, "dtype": dtype, "nodata": None}
    with rasterio.open(tmp_path / "a.zarr", "w", **profile) as dataset:
        dataset.write(data)
    with rasterio.open(tmp_path / "a.zarr") as dataset:
        assert dataset.dtypes == (dtype,)
        np.testing.assert_array_equal(dataset.read(), data)


def test_rasterio_copy(tmp_path, path):
    rasterio.shutil.copy(path, tmp_path / "b.tif", driver="GTiff")
    rasterio.shutil.copy(tmp_path / "b.tif", tmp_path / "c.zarr", driver="Zarr", format="ZARR_V3")
    with rasterio.open(tmp_path / "c.zarr") as dataset:
        np.testing.assert_array_equal(dataset.read(), DATA)
        assert (dataset.crs, dataset.transform) == (PROFILE["crs"], PROFILE["transform"])
    rasterio.shutil.delete(tmp_path / "c.zarr")
    assert not (tmp_path / "c.zarr").exists()


def test_reproject_into(tmp_path, path):
    with rasterio.open(path) as source:
        transform, width, height = calculate_default_transform(
            source.crs, "EPSG:3857", source.width, source.height, *source.bounds)
        profile = PROFILE | {"crs": "EPSG:3857", "transform": transform, "width": width,
                             "height": height}
        results = []
        for driver in ("Zarr", "GTiff"):
            target = tmp_path / f"b.{driver}"
            with rasterio.open(target, "w", **profile | {"driver": driver}) as dataset:
                reproject(rasterio.band(source, [1, 2, 3]), rasterio.band(dataset, [1, 2, 3]),
                          resampling=Resampling.bilinear)
            with rasterio.open(target) as dataset:
                results.append(dataset.read())
    np.testing.assert_array_equal(*results)


def test_threads(tmp_path, profile):
    """As in rasterio's manual: workers compute, and one at a time reads and writes."""
    lock = Lock()
    with rasterio.open(tmp_path / "a.zarr", "w", **profile) as dataset:
        windows = [window for _, window in dataset.block_windows(1)]

        def work(window):
            data = DATA[(slice(None), *window.toslices())]
            with lock:
                dataset.write(data, window=window)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, windows))
    with rasterio.open(tmp_path / "a.zarr") as dataset:
        np.testing.assert_array_equal(dataset.read(), DATA)


def test_refused(tmp_path, path):
    with pytest.raises(RasterioIOError):
        rasterio.open(path, "r+").write(DATA[:, :5, :5], window=Window(168, 128, 5, 5))
    with pytest.raises(RasterioIOError, match="one of NONE, BLOSC"):
        rasterio.open(tmp_path / "b.zarr", "w", **PROFILE | {"compress": "rar"})
    assert not (tmp_path / "b.zarr").exists()
